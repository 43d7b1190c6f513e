/* rewrite_weights_int8.c - weight-only int8: a weight W becomes W_q (int8), W_scale, and
 * DequantizeLinear(W_q, W_scale) whose result has the weight's name, so that nothing else changes.
 * Scales are per output channel: the columns of MatMul's and Gemm's second operand (rows with
 * transB), the filters of Conv, axis 1 of ConvTranspose, the rows of a table read by Gather, the
 * gates of LSTM, GRU and RNN. Before operator set 13 DequantizeLinear has no axis: the set is
 * raised, or, from set 10 on, one scale is used for a whole tensor. */
#include "model/rewrite/rewrite_graph.h"
#include "model/tensor_data.h"

#include <stdlib.h>

struct weights_rewrite {
    struct assay__model *model;
    struct assay__namer namer;
    bool per_tensor;
    size_t converted, skipped;
    size_t bytes_before, bytes_after;
    struct assay_error *error;
};

/* Which axis of input i has the output channels; -1: input i is not a weight. */
static int channel_axis(const struct assay__node *node, size_t i,
                        const struct assay__tensor *tensor)
{
    if (tensor->rank < 2) return -1;
    if (assay__node_is(node, "MatMul"))
        return i == 1 ? tensor->rank - 1 : i == 0 ? tensor->rank - 2 : -1;
    if (assay__node_is(node, "Gemm") && i == 1) return assay__node_int(node, "transB", 0) ? 0 : 1;
    if (assay__node_is(node, "Conv") && i == 1) return 0;
    if (assay__node_is(node, "ConvTranspose") && i == 1) return 1;
    if (assay__node_is_any(node, "LSTM GRU RNN") && (i == 1 || i == 2)) return 1;
    if (assay__node_is(node, "Gather") && i == 0 && assay__node_int(node, "axis", 0) == 0) return 0;
    return -1;
}

static int quantize(struct weights_rewrite *rewrite, struct assay__graph *graph,
                    struct assay__graph *fresh, const struct assay__tensor *tensor,
                    const char *name, int axis, bool *done)
{
    struct assay__model *model = rewrite->model;
    size_t count = (size_t)tensor->elements;
    int64_t channels = axis < 0 ? 1 : tensor->dims[axis];
    float *numbers = malloc(count * sizeof *numbers + 1),
          *scales = malloc((size_t)channels * sizeof *scales + 1);
    int8_t *data = assay__arena_alloc(model->arena, count);
    int code = numbers && scales && data ? 0 : assay__rewrite_no_memory(rewrite->error);
    *done = false;
    if (!code) code = assay__tensor_floats(model, tensor, numbers, rewrite->error);
    if (!code && !assay__quantize(numbers, tensor->rank, tensor->dims, axis, data, scales)) {
        rewrite->skipped++;
        goto out;
    }
    if (code) goto out;
    const char *quantized = assay__namer_make(&rewrite->namer, name, "_q");
    const char *scale = assay__rewrite_constant(graph, &rewrite->namer, name, "_scale",
                                                ASSAY__FLOAT32, axis < 0 ? 0 : 1, &channels,
                                                scales);
    const char *label = assay__namer_make(&rewrite->namer, name, "_dequantize");
    const char *const inputs[] = {quantized, scale};
    assay__graph_add_initializer(model, graph, quantized, ASSAY__INT8, tensor->rank, tensor->dims,
                                 data, count);
    struct assay__node *node = assay__graph_add_node(model, fresh, "DequantizeLinear", label,
                                                     inputs, 2, &name, 1);
    if (axis >= 0) assay__node_set_int(model, node, "axis", axis);
    code = assay__rewrite_end(model, 0, rewrite->error);
    *done = !code;
    rewrite->converted++;
    rewrite->bytes_before += 4 * count;
    rewrite->bytes_after += count + 4 * (size_t)channels;
out:
    free(numbers);
    free(scales);
    return code;
}

/* One graph while its weights are replaced. */
struct replacing {
    struct weights_rewrite *rewrite;
    struct assay__graph *graph;
    struct assay__graph fresh;   /* the DequantizeLinear nodes, one per weight */
    struct assay__graph ordered; /* the nodes in their final order */
    struct assay__weights weights;
    struct assay__map *replaced; /* name -> its node in fresh, or PLACED */
};

#define PLACED ((size_t)-2)

/* The weights of this graph that a node or the nodes of its bodies read. Growing a list of
 * initializers leaves the old one in the arena, so what was found stays readable. */
static int replace_reads(struct replacing *work, const struct assay__node *node)
{
    struct weights_rewrite *rewrite = work->rewrite;
    int code = 0;
    for (size_t i = 0; i < node->input_count && !code; i++) {
        const char *name = node->inputs[i];
        const struct assay__tensor *tensor = assay__weights_find(&work->weights, name);
        int axis = tensor ? channel_axis(node, i, tensor) : -1;
        bool done = false;
        if (axis < 0 || assay__map_has(work->replaced, name)) continue;
        if (rewrite->per_tensor) axis = -1;
        /* worthwhile if one byte each plus 4 per scale are less than 4 bytes each */
        int64_t channels = axis < 0 ? 1 : tensor->dims[axis];
        if (tensor->elements <= channels || tensor->elements - channels <= channels / 3) continue;
        code = quantize(rewrite, work->graph, &work->fresh, tensor, name, axis, &done);
        if (!code && done && assay__map_set(work->replaced, name, work->fresh.node_count - 1))
            code = assay__rewrite_no_memory(rewrite->error);
    }
    for (size_t a = 0; a < node->attr_count && !code; a++) {
        const struct assay__graph *body = node->attrs[a].g;
        for (size_t n = 0; body && n < body->node_count && !code; n++)
            code = replace_reads(work, &body->nodes[n]);
    }
    return code;
}

/* Puts the node that dequantizes a weight before its first reader, not all of them at the start:
 * each dense weight is then alive only while it is needed. */
static int emit_before_reader(void *context, const char *name)
{
    struct replacing *work = context;
    size_t index = assay__map_get(work->replaced, name);
    if (index == ASSAY__MAP_NONE || index == PLACED) return 0;
    if (!assay__graph_push_node(work->rewrite->model, &work->ordered, &work->fresh.nodes[index]) ||
        assay__map_set(work->replaced, name, PLACED))
        return assay__rewrite_no_memory(work->rewrite->error);
    return 0;
}

static int convert_graph(void *context, struct assay__graph *graph)
{
    struct weights_rewrite *rewrite = context;
    struct replacing work = {.rewrite = rewrite, .graph = graph, .replaced = assay__map_new()};
    size_t kept = 0;
    int code = assay__weights_open(&work.weights, graph);
    if (!work.replaced || code) code = assay__rewrite_no_memory(rewrite->error);
    for (size_t n = 0; n < graph->node_count && !code; n++)
        code = replace_reads(&work, &graph->nodes[n]);
    if (code || !assay__map_count(work.replaced)) goto out;
    /* the weights are removed, and the nodes that restore them are inserted */
    for (size_t i = 0; i < graph->initializer_count; i++) {
        if (assay__map_has(work.replaced, graph->initializers[i].name))
            assay__graph_drop_input(graph, graph->initializers[i].name);
        else
            graph->initializers[kept++] = graph->initializers[i];
    }
    graph->initializer_count = kept;
    for (size_t n = 0; n < graph->node_count && !code; n++) {
        const struct assay__node *node = &graph->nodes[n];
        if (assay__node_is(node, "Constant") && node->output_count == 1 &&
            assay__map_has(work.replaced, node->outputs[0]))
            continue;
        code = assay__rewrite_reads(node, emit_before_reader, &work);
        assay__graph_push_node(rewrite->model, &work.ordered, node);
    }
    for (size_t i = 0; i < graph->output_count && !code; i++) /* what only the caller reads */
        code = emit_before_reader(&work, graph->outputs[i].name);
    if (!code) assay__graph_take_nodes(graph, &work.ordered);
    code = assay__rewrite_end(rewrite->model, code, rewrite->error);
out:
    assay__weights_close(&work.weights);
    assay__map_free(work.replaced);
    return code;
}

int assay__rewrite_weights_int8(struct assay__model *model, struct assay__rewrite_notes *notes,
                                struct assay_error *error)
{
    struct assay_error why = {0};
    struct weights_rewrite rewrite = {.model = model, .error = error};
    int code = assay__rewrite_begin(model, false, notes, error);
    if (code) return code;
    code = assay__rewrite_opset(model, 13, notes, &why);
    if (code == ASSAY_EUNSUPPORTED && assay__model_opset(model, "") >= 10) {
        rewrite.per_tensor = true;
        assay__rewrite_note(notes, "one scale per tensor instead of one per channel: %s",
                            why.message);
        code = 0;
    }
    if (code) return assay_error_set(error, code, "%s", why.message);
    code = assay__namer_open(&rewrite.namer, model, error);
    if (!code) code = assay__rewrite_each_graph(&model->graph, convert_graph, &rewrite);
    assay__namer_close(&rewrite.namer);
    if (code) return code;
    if (rewrite.converted)
        assay__rewrite_note(notes, "%zu weights to int8, %zu bytes to %zu", rewrite.converted,
                            rewrite.bytes_before, rewrite.bytes_after);
    else
        assay__rewrite_note(
            notes, "nothing to convert: no MatMul, Gemm, Conv, ConvTranspose, Gather or recurrent "
                   "layer with constant float32 weights");
    if (rewrite.skipped)
        assay__rewrite_note(notes, "%zu weights contain infinities or NaN and stay float32",
                            rewrite.skipped);
    return 0;
}
