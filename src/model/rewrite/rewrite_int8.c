/* rewrite_int8.c - shared by the two int8 rewrites; see rewrite_graph.h. */
#include "model/rewrite/rewrite_graph.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

static int add(struct assay__weights *weights, const char *name, const struct assay__tensor *tensor)
{
    if (tensor->dtype != ASSAY__FLOAT32 || tensor->nonzeros >= 0) return 0;
    if (assay__vec_grow((void **)&weights->tensors, &weights->capacity, weights->count + 1,
                        sizeof *weights->tensors))
        return ASSAY_ENOMEM;
    weights->tensors[weights->count] = tensor;
    return assay__map_set(weights->names, name, weights->count++);
}

int assay__weights_open(struct assay__weights *weights, const struct assay__graph *graph)
{
    *weights = (struct assay__weights){.names = assay__map_new()};
    int code = weights->names ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = add(weights, graph->initializers[i].name, &graph->initializers[i]);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__tensor *tensor = assay__node_constant(&graph->nodes[i]);
        if (tensor && graph->nodes[i].output_count == 1)
            code = add(weights, graph->nodes[i].outputs[0], tensor);
    }
    return code;
}

void assay__weights_close(struct assay__weights *weights)
{
    assay__map_free(weights->names);
    free(weights->tensors);
    *weights = (struct assay__weights){.count = 0};
}

const struct assay__tensor *assay__weights_find(const struct assay__weights *weights,
                                                const char *name)
{
    size_t at = *name ? assay__map_get(weights->names, name) : ASSAY__MAP_NONE;
    return at == ASSAY__MAP_NONE ? NULL : weights->tensors[at];
}

static int note_use(void *context, const char *name)
{
    return assay__map_set(context, name, 1);
}

int assay__weights_sweep(struct assay__graph *graph, const struct assay__map *replaced)
{
    struct assay__map *used = assay__map_new();
    int code = used ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->node_count && !code; i++)
        code = assay__rewrite_reads(&graph->nodes[i], note_use, used);
    for (size_t i = 0; i < graph->output_count && !code; i++)
        code = note_use(used, graph->outputs[i].name);
    size_t kept = 0;
    for (size_t i = 0; i < graph->initializer_count && !code; i++) {
        const char *name = graph->initializers[i].name;
        if (assay__map_has(replaced, name) && !assay__map_has(used, name))
            assay__graph_drop_input(graph, name);
        else
            graph->initializers[kept++] = graph->initializers[i];
    }
    if (!code) graph->initializer_count = kept;
    kept = 0;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        if (assay__node_is(node, "Constant") && node->output_count == 1 &&
            assay__map_has(replaced, node->outputs[0]) && !assay__map_has(used, node->outputs[0]))
            continue;
        graph->nodes[kept++] = *node;
    }
    if (!code) graph->node_count = kept;
    assay__map_free(used);
    return code;
}

static int apply_int8(struct assay__model *model, const struct assay__rewrite_request *request,
                      struct assay__rewrite_notes *notes, struct assay_error *error)
{
    bool weights = request->argument_count && strcmp(request->arguments[0], "weights") == 0;
    return weights ? assay__rewrite_weights_int8(model, notes, error)
                   : assay__rewrite_dynamic_int8(model, notes, error);
}

const struct assay__rewriter assay__rewriter_int8 = {.step = "int8", .apply = apply_int8};
