/* inputs_axes.c - which axis of an input is the batch, where no symbol says it.
 *
 * By custom it is the first. Recurrent cells with layout 0 take X as [time, batch, features] and
 * their states as [directions, batch, hidden], and Scan runs along axis 0 of what it scans: an
 * input that gets there with its axes where they were has its batch on axis 1. */
#include "model/inputs/inputs.h"
#include "model/inputs/inputs_plan.h"
#include "model/op_words.h"

#include <string.h>

static bool one_of(const struct assay__node *node, const char *ops)
{
    return assay__has_word(ops, node->op);
}

static bool is_cell(const struct assay__node *node)
{
    return one_of(node, "LSTM GRU RNN") && assay__node_int(node, "layout", 0) == 0;
}

bool assay__inputs_time_first(const struct assay__node *node, size_t index)
{
    if (is_cell(node)) return index == 0;
    int64_t scanned = strcmp(node->op, "Scan") == 0 ? assay__node_int(node, "num_scan_inputs", 0)
                                                    : 0;
    return scanned > 0 && !assay__node_attr(node, "scan_input_axes") &&
           (int64_t)index >= (int64_t)node->input_count - scanned;
}

bool assay__inputs_keeps_axes(const struct assay__node *node, size_t index)
{
    if (one_of(node, "Add Sub Mul Div Relu Tanh Sigmoid Clip Neg Exp Gelu Erf Sqrt Pow"))
        return true;
    if (strcmp(node->op, "Gather") == 0)
        return index == 1 && assay__node_int(node, "axis", 0) == 0; /* an embedding */
    return index == 0 && one_of(node, "MatMul LayerNormalization Softmax LeakyRelu");
}

/* initial_h, initial_c */
static bool is_state(const struct assay__node *node, size_t index)
{
    return is_cell(node) && (index == 5 || index == 6);
}

struct assay__map *assay__inputs_batch_second(const struct assay__model *model)
{
    const struct assay__graph *graph = &model->graph;
    struct assay__map *second = assay__map_new();
    bool failed = !second;
    for (size_t i = graph->node_count; i-- > 0 && !failed;) { /* from what reads to what is read */
        const struct assay__node *node = &graph->nodes[i];
        bool found = node->output_count && *node->outputs[0] &&
                     assay__map_get(second, node->outputs[0]) != ASSAY__MAP_NONE;
        for (size_t k = 0; k < node->input_count && !failed; k++) {
            bool keeps = assay__inputs_keeps_axes(node, k) ||
                         (k == 0 && one_of(node, "Identity Cast Dropout"));
            if (*node->inputs[k] &&
                ((found && keeps) || assay__inputs_time_first(node, k) || is_state(node, k)))
                failed = assay__map_set(second, node->inputs[k], 1) != 0;
        }
    }
    if (!failed) return second;
    assay__map_free(second);
    return NULL;
}

int assay__inputs_batch_axis(const struct assay__model *model, const char *input)
{
    struct assay__map *second = assay__inputs_batch_second(model);
    int axis = second && assay__map_get(second, input) != ASSAY__MAP_NONE;
    assay__map_free(second);
    return axis;
}
