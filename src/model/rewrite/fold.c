/* fold.c - producers and readers of the values of a graph, for the finders of fold.h. */
#include "model/rewrite/fold.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct assay__fold_graph *fold;
    size_t reader;
};

static int note_read(void *context, const char *value)
{
    const struct reading *reading = context;
    size_t made = assay__fold_producer(reading->fold, value);
    if (made == SIZE_MAX) return 0;
    reading->fold->readers[made]++;
    reading->fold->reader[made] = reading->reader;
    return 0;
}

int assay__fold_open(struct assay__fold_graph *fold, const struct assay__graph *graph)
{
    size_t room = graph->node_count + 1;
    *fold = (struct assay__fold_graph){.graph = graph,
                                       .producer = assay__map_new(),
                                       .readers = calloc(room, sizeof(size_t)),
                                       .reader = calloc(room, sizeof(size_t)),
                                       .gone = calloc(room, sizeof(bool))};
    int code = assay__weights_open(&fold->weights, graph);
    if (!fold->producer || !fold->readers || !fold->reader || !fold->gone) code = ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        fold->reader[i] = SIZE_MAX;
        for (size_t k = 0; k < graph->nodes[i].output_count && !code; k++)
            if (graph->nodes[i].outputs[k] && *graph->nodes[i].outputs[k])
                code = assay__map_set(fold->producer, graph->nodes[i].outputs[k], i);
    }
    for (size_t i = 0; i < graph->node_count && !code; i++)
        code = assay__rewrite_reads(&graph->nodes[i], note_read, &(struct reading){fold, i});
    for (size_t i = 0; i < graph->output_count && !code; i++)
        code = note_read(&(struct reading){fold, SIZE_MAX}, graph->outputs[i].name);
    if (code) assay__fold_close(fold);
    return code;
}

void assay__fold_close(struct assay__fold_graph *fold)
{
    assay__weights_close(&fold->weights);
    assay__map_free(fold->producer);
    free(fold->readers);
    free(fold->reader);
    free(fold->gone);
    *fold = (struct assay__fold_graph){0};
}

size_t assay__fold_producer(const struct assay__fold_graph *fold, const char *value)
{
    size_t made = value && *value ? assay__map_get(fold->producer, value) : ASSAY__MAP_NONE;
    return made == ASSAY__MAP_NONE ? SIZE_MAX : made;
}

size_t assay__fold_only_reader(const struct assay__fold_graph *fold, size_t node)
{
    return node != SIZE_MAX && fold->readers[node] == 1 ? fold->reader[node] : SIZE_MAX;
}

const struct assay__tensor *assay__fold_constant(const struct assay__fold_graph *fold,
                                                 const char *name)
{
    const struct assay__tensor *tensor = assay__weights_find(&fold->weights, name);
    for (size_t i = 0; tensor && i < fold->graph->input_count; i++)
        if (strcmp(fold->graph->inputs[i].name, name) == 0) return NULL;
    return tensor;
}

const char *assay__fold_operand(const struct assay__fold_graph *fold,
                                const struct assay__node *node,
                                const struct assay__tensor **constant)
{
    if (node->input_count != 2 || node->output_count != 1) return NULL;
    const struct assay__tensor *first = assay__fold_constant(fold, node->inputs[0]),
                               *second = assay__fold_constant(fold, node->inputs[1]);
    *constant = first ? first : second;
    return !first == !second ? NULL : first ? node->inputs[1] : node->inputs[0];
}

int assay__fold_take(struct assay__fold_graph *fold, const struct assay__fold_group *group,
                     struct assay__map *read)
{
    int code = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct assay__node *node = &fold->graph->nodes[group->nodes[i]];
        fold->gone[group->nodes[i]] = true;
        for (size_t k = 0; k < node->input_count && !code; k++)
            if (*node->inputs[k]) code = assay__map_set(read, node->inputs[k], 1);
    }
    return code;
}
