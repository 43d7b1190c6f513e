/* coreml_nn_names.c - names of values in neural networks.
 *
 * A network may write a name again (`copy` does: it is an assignment), and the networks in branches
 * and loops write names of the networks around them. A graph has one value to a name, so every
 * assignment is a separate value: "NAME", "NAME.again7"; in inner networks "LAYER.then/NAME". What
 * the model gives out keeps its name. */
#include "model/coreml/coreml_nn.h"

#include <string.h>

struct assay__nn_value *assay__nn_find(const struct assay__nn *nn, const char *source)
{
    for (; nn; nn = nn->outer) {
        size_t i = assay__map_get(nn->names, source);
        if (i != ASSAY__MAP_NONE) return &nn->values[i];
    }
    return NULL;
}

const char *assay__nn_fresh(struct assay__nn *nn, const char *stem)
{
    struct assay__reader *reader = &nn->coreml->reader;
    const char *name = stem;
    while (!reader->code && assay__map_get(nn->shared->taken, name) != ASSAY__MAP_NONE)
        name = assay__reader_printf(reader, "%s.again%zu", stem, ++nn->shared->serial);
    if (assay__map_set(nn->shared->taken, name, 0)) assay__reader_no_memory(reader);
    return name;
}

const char *assay__nn_define(struct assay__nn *nn, const char *source, int rank)
{
    struct assay__reader *reader = &nn->coreml->reader;
    const char *stem = *nn->prefix ? assay__reader_printf(reader, "%s%s", nn->prefix, source)
                                   : source;
    const char *name = assay__nn_fresh(nn, stem);
    void *values = assay__arena_grow(reader->arena, nn->values, nn->count, sizeof *nn->values);
    if (!values || assay__map_set(nn->names, source, nn->count) ||
        (nn->outer && assay__map_set(nn->shared->written, source, 0))) {
        assay__reader_no_memory(reader);
        return "";
    }
    nn->values = values;
    nn->values[nn->count++] = (struct assay__nn_value){source, name, rank, false};
    return name;
}

/* --- the names of outputs --------------------------------------------------------------------- */

struct renames {
    struct assay__map *map; /* a name in the graphs -> index in to */
    const char **to;
    size_t count;
};

static void rename_names(const struct renames *renames, const char **names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = assay__map_get(renames->map, names[i]);
        if (at != ASSAY__MAP_NONE) names[i] = renames->to[at];
    }
}

static void rename_values(const struct renames *renames, struct assay__value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rename_names(renames, &values[i].name, 1);
}

/* Names of values are unique in all graphs of the model, so they are replaced wherever they are. */
static void rename_graph(const struct renames *renames, struct assay__graph *graph)
{
    rename_values(renames, graph->inputs, graph->input_count);
    rename_values(renames, graph->outputs, graph->output_count);
    rename_values(renames, graph->values, graph->value_count);
    for (size_t i = 0; i < graph->node_count; i++) {
        struct assay__node *node = &graph->nodes[i];
        rename_names(renames, node->inputs, node->input_count);
        rename_names(renames, node->outputs, node->output_count);
        for (size_t k = 0; k < node->attr_count; k++)
            if (node->attrs[k].g) rename_graph(renames, node->attrs[k].g);
    }
}

static int add_rename(struct renames *renames, const char *from, const char *to)
{
    renames->to[renames->count] = to;
    return assay__map_set(renames->map, from, renames->count++);
}

void assay__nn_name_outputs(struct assay__nn *nn)
{
    const struct assay__coreml_features *outputs = &nn->coreml->description.outputs;
    struct assay__reader *reader = &nn->coreml->reader;
    struct renames renames = {
        assay__map_new(), assay__reader_array(reader, 2 * outputs->count, sizeof *renames.to), 0};
    if (!renames.map) assay__reader_no_memory(reader);
    for (size_t i = 0; i < outputs->count && !reader->code; i++) {
        const char *name = outputs->items[i].name;
        size_t index = assay__map_get(nn->names, name);
        if (index == ASSAY__MAP_NONE || strcmp(nn->values[index].name, name) == 0) continue;
        /* an input keeps its name; an output is named once */
        if (assay__coreml_feature(&nn->coreml->description.inputs, name) ||
            assay__map_get(renames.map, nn->values[index].name) != ASSAY__MAP_NONE)
            continue;
        if (add_rename(&renames, name, assay__nn_fresh(nn, name)) ||
            add_rename(&renames, nn->values[index].name, name))
            assay__reader_no_memory(reader);
    }
    if (!reader->code && renames.count) rename_graph(&renames, nn->graph);
    assay__map_free(renames.map);
}
