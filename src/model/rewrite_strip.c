/* rewrite_strip.c - a model's shape without its weights. Every initializer and Constant of numbers with more elements than
 * `keep_small` becomes ConstantOfShape: one number in the file, the same tensor in memory once an engine has folded it, so
 * that cost, memory and run time stay. int64 and bool tensors stay (shapes, indices, masks: the model would not run).
 *
 * The number is not taken from the weights. For a matrix it is 1 / fan-in, so that a layer's result is about the mean of
 * its input: activations neither grow nor fade through the layers and no denormal slows the run down; for a vector 0.5
 * (as a variance, a scale or a bias it does no harm); for integers 1. What cannot be stripped (sparse initializers, 4-bit
 * types) is an error, not a silent leak. */
#include "model/rewrite_graph.h"
#include "model/tensor_data.h"

#include <math.h>
#include <string.h>

struct stripping {
    struct assay__model *model;
    struct assay__namer namer;
    struct assay__graph *graph, fresh;
    int64_t keep_small;
    size_t stripped;
    int64_t elements;
    struct assay_error *error;
};

/* How many inputs one output of the operator that reads it sums up. */
static int64_t fan_in(const struct assay__graph *graph, const char *name,
                      const struct assay__tensor *tensor)
{
    int64_t rows = tensor->dims[0], rest = rows > 0 ? tensor->elements / rows : 1;
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct assay__node *node = &graph->nodes[n];
        if (node->input_count < 2 || strcmp(node->inputs[1], name) != 0) continue;
        if (assay__node_is(node, "MatMul")) return tensor->dims[tensor->rank - 2];
        if (assay__node_is(node, "Gemm"))
            return assay__node_int(node, "transB", 0) ? tensor->dims[1] : rows;
        if (assay__node_is(node, "Conv")) return rest;
    }
    return rows > rest ? rows : rest;
}

/* The number in the tensor's own type; its size, 0 when the type has none. */
static size_t filler(const struct assay__graph *graph, const char *name,
                     const struct assay__tensor *tensor, uint8_t out[8])
{
    int64_t fan = tensor->rank >= 2 ? fan_in(graph, name, tensor) : 2;
    float number = 1.0f / (float)(fan > 0 ? fan : 1);
    double wide = number;
    uint32_t bits;
    switch (tensor->dtype) {
    case ASSAY__FLOAT32: memcpy(out, &number, 4); return 4;
    case ASSAY__FLOAT64: memcpy(out, &wide, 8); return 8;
    case ASSAY__FLOAT16: {
        uint16_t half = assay__float_to_half(number > 1e-4f ? number : 1e-4f); /* no denormal */
        memcpy(out, &half, 2);
        return 2;
    }
    case ASSAY__BFLOAT16:
        memcpy(&bits, &number, 4);
        out[0] = (uint8_t)(bits >> 16);
        out[1] = (uint8_t)(bits >> 24);
        return 2;
    case ASSAY__INT8:
    case ASSAY__UINT8: out[0] = 1; return 1;
    case ASSAY__INT16:
    case ASSAY__UINT16: out[0] = 1; return 2;
    case ASSAY__INT32:
    case ASSAY__UINT32: out[0] = 1; return 4;
    default: return 0;
    }
}

static bool large(const struct stripping *work, const struct assay__tensor *tensor)
{
    bool data = tensor->dtype != ASSAY__INT64 && tensor->dtype != ASSAY__UINT64 &&
                tensor->dtype != ASSAY__BOOL && tensor->dtype != ASSAY__STRING;
    return data && tensor->elements > work->keep_small;
}

static int strip(struct stripping *work, const char *name, const struct assay__tensor *tensor)
{
    struct assay__model *model = work->model;
    uint8_t number[8] = {0};
    int64_t one = 1, rank = tensor->rank;
    size_t size = filler(work->graph, name, tensor, number);
    if (!size)
        return assay_error_set(work->error, ASSAY_EUNSUPPORTED,
                               "'%.100s' is of type %s, which cannot be stripped: the weights "
                               "would stay in the file",
                               name, assay__dtype_name(tensor->dtype));
    const char *shape = assay__rewrite_constant(model, work->graph, &work->namer, name, "_shape",
                                                ASSAY__INT64, 1, &rank, tensor->dims);
    const char *label = assay__namer_make(&work->namer, name, "_stripped");
    struct assay__node *node = shape && label
                                   ? assay__graph_add_node(model, &work->fresh, "ConstantOfShape",
                                                           label, &shape, 1, &name, 1)
                                   : NULL;
    if (!node || assay__node_set_tensor(model, node, "value", tensor->dtype, 1, &one, number, size))
        return assay__rewrite_no_memory(work->error);
    work->stripped++;
    work->elements += tensor->elements;
    return 0;
}

static int strip_graph(void *context, struct assay__graph *graph)
{
    struct stripping *work = context;
    size_t count = graph->initializer_count, kept = 0;
    int code = 0;
    work->graph = graph;
    work->fresh = (struct assay__graph){.name = ""};
    if (graph->sparse_count)
        return assay_error_set(work->error, ASSAY_EUNSUPPORTED,
                               "the model has %zu sparse initializers, which cannot be stripped",
                               graph->sparse_count);
    for (size_t i = 0; i < count && !code; i++) {
        struct assay__tensor tensor = graph->initializers[i]; /* adding one may move them */
        if (large(work, &tensor)) code = strip(work, tensor.name, &tensor);
    }
    for (size_t i = 0; i < graph->initializer_count && !code; i++) {
        if (i < count && large(work, &graph->initializers[i]))
            assay__graph_drop_input(graph, graph->initializers[i].name);
        else
            graph->initializers[kept++] = graph->initializers[i];
    }
    if (!code) graph->initializer_count = kept;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        const struct assay__tensor *tensor = assay__node_constant(node);
        if (tensor && node->output_count == 1 && large(work, tensor))
            code = strip(work, node->outputs[0], tensor);
        else if (!assay__graph_push_node(work->model, &work->fresh, node))
            code = assay__rewrite_no_memory(work->error);
    }
    if (code) return code;
    graph->nodes = work->fresh.nodes;
    graph->node_count = work->fresh.node_count;
    graph->node_capacity = work->fresh.node_capacity;
    return 0;
}

int assay__rewrite_strip(struct assay__model *model, int64_t keep_small,
                         struct assay__rewrite_notes *notes, struct assay_error *error)
{
    struct stripping work = {.model = model, .keep_small = keep_small, .error = error};
    int code = assay__rewrite_begin(model, true, notes, error);
    if (!code) code = assay__rewrite_opset(model, 9, notes, error); /* ConstantOfShape */
    if (!code) code = assay__namer_open(&work.namer, model, error);
    if (!code) code = assay__rewrite_each_graph(&model->graph, strip_graph, &work);
    assay__namer_close(&work.namer);
    if (!code)
        assay__rewrite_note(notes,
                            "%zu weights of %lld numbers taken out; tensors of at most %lld "
                            "elements, integers of 64 bits and truth values stay",
                            work.stripped, (long long)work.elements, (long long)keep_small);
    return code;
}
