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

static void take_graph(struct interning *all, struct assay__graph *graph, int depth)
{
    if (depth > ASSAY__ONNX_DEPTH) return;
    for (size_t i = 0; i < graph->input_count; i++)
        take(all, &graph->inputs[i].name);
    for (size_t i = 0; i < graph->initializer_count; i++)
        take(all, &graph->initializers[i].name);
    for (size_t i = 0; graph->sparse_tensors && i < graph->sparse_count; i++)
        take(all, &graph->sparse_tensors[i].name);
    for (size_t i = 0; i < graph->node_count; i++) {
        struct assay__node *node = &graph->nodes[i];
        take(all, &node->op);
        for (size_t k = 0; k < node->input_count; k++)
            take(all, &node->inputs[k]);
        for (size_t k = 0; k < node->output_count; k++)
            take(all, &node->outputs[k]);
        struct assay__graph *body;
        for (size_t k = 0; (body = assay__node_body(node, k)); k++)
            take_graph(all, body, depth + 1);
    }
    for (size_t i = 0; i < graph->value_count; i++)
        take(all, &graph->values[i].name);
    for (size_t i = 0; i < graph->output_count; i++)
        take(all, &graph->outputs[i].name);
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
