/* intern.c - gathers the names of a model (values of all graphs, operators) in one table and lets
 * the model point there. A walk over the graphs counts, a second one replaces; both are linear in
 * the number of names. */
#include "model/graph.h"
#include "model/onnx/onnx.h"

#include <string.h>

struct interning {
    struct assay__names *names; /* NULL: counting */
    size_t count, length;
};

static void take(struct interning *all, const char **name)
{
    if (!*name || !**name) return; /* "" is tested by looking at it: nothing to gain */
    if (all->names) {
        *name = assay__names_add(all->names, *name);
        return;
    }
    all->count++;
    all->length += strlen(*name) + 1;
}

static void take_values(struct interning *all, struct assay__value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        take(all, &values[i].name);
}

static void take_tensors(struct interning *all, struct assay__tensor *tensors, size_t count)
{
    for (size_t i = 0; i < count; i++)
        take(all, &tensors[i].name);
}

static void take_graph(struct interning *all, struct assay__graph *graph, int depth)
{
    if (!graph || depth > ASSAY__ONNX_DEPTH) return;
    take_values(all, graph->inputs, graph->input_count);
    take_tensors(all, graph->initializers, graph->initializer_count);
    if (graph->sparse_tensors) take_tensors(all, graph->sparse_tensors, graph->sparse_count);
    for (size_t i = 0; i < graph->node_count; i++) {
        struct assay__node *node = &graph->nodes[i];
        take(all, &node->op);
        for (size_t k = 0; k < node->input_count; k++)
            take(all, &node->inputs[k]);
        for (size_t k = 0; k < node->output_count; k++)
            take(all, &node->outputs[k]);
        for (size_t k = 0; k < node->attr_count; k++) {
            const struct assay__attr *attr = &node->attrs[k];
            take_graph(all, attr->g, depth + 1);
            for (size_t g = 0; attr->graphs && g < attr->count; g++)
                take_graph(all, attr->graphs[g], depth + 1);
        }
    }
    take_values(all, graph->values, graph->value_count);
    take_values(all, graph->outputs, graph->output_count);
}

int assay__model_intern(struct assay__model *model)
{
    struct interning all = {.names = NULL};
    if (model->names) return 0;
    take_graph(&all, &model->graph, 0);
    all.names = assay__names_new(all.count, all.length);
    if (!all.names) return ASSAY_ENOMEM;
    take_graph(&all, &model->graph, 0);
    model->names = all.names;
    model->graph.names = all.names;
    return 0;
}
