/* rewrite_strip.c - a model's shape without its weights. Every initializer and Constant of numbers
 * with more elements than `keep_small` becomes ConstantOfShape: one number in the file, the same
 * tensor in memory once an engine has folded it, so that cost, memory and run time stay the same.
 * int64 and bool tensors stay (shapes, indices, masks: otherwise the model would not run).
 *
 * What defines a shape or an index stays too (scales of Resize, bounds of Slice and Range, …), and
 * so does everything it is computed from up to a Shape: see `defining`.
 *
 * The number is not taken from the weights. For a matrix it is 1 / fan-in, so that a layer's result
 * is about the mean of its input: activations neither grow nor vanish through the layers and no
 * denormal slows the run down; for a vector 0.5 (harmless as a variance, a scale or a bias); for
 * integers 1, as zero points 0. A quantised weight is 1 times its scale, so the scale is 1 / fan-in
 * there: that of DequantizeLinear, and the factor that the sums of MatMulInteger and ConvInteger
 * are multiplied by. What cannot be stripped (sparse initializers, 4-bit types) is an error, not a
 * silent leak. */
#include "base/text.h"
#include "model/rewrite/rewrite_graph.h"
#include "model/tensor_data.h"

#include <string.h>

#define TRACE_DEPTH 3 /* operators between an integer product and its scale */

/* Inputs that determine the shape or position of the output: bit i is input i. */
static const struct {
    const char *op;
    unsigned inputs;
} defining[] = {
    {"Resize", 0xe},
    {"Upsample", 2},
    {"Range", 7},
    {"Slice", 0x1e},
    {"Gather", 2},
    {"GatherElements", 2},
    {"ScatterElements", 2},
    {"CumSum", 2},
    {"OneHot", 2},
    {"TopK", 2},
    {"Pad", 0xa},
    {"Tile", 6},
    {"NonMaxSuppression", 0x1c},
    {"MelWeightMatrix", 0x1f},
    {"HannWindow", 1},
    {"HammingWindow", 1},
    {"BlackmanWindow", 1},
    {"STFT", 0xa},
    {"RoiAlign", 4},
    {"SequenceAt", 2},
    {"SplitToSequence", 2},
};

struct stripping {
    struct assay__model *model;
    struct assay__map *shaping;         /* values that define shapes, in the current graph */
    const struct assay__tensor *before; /* its initializers as they were */
    size_t before_count;
    struct assay__namer namer;
    struct assay__graph *graph, fresh;
    int64_t keep_small;
    size_t stripped;
    int64_t elements;
    struct assay_error *error;
};

static const struct assay__tensor *constant_of(const struct stripping *work, const char *name)
{
    for (size_t i = 0; *name && i < work->before_count; i++)
        if (strcmp(work->before[i].name, name) == 0) return &work->before[i];
    for (size_t n = 0; *name && n < work->graph->node_count; n++) {
        const struct assay__node *node = &work->graph->nodes[n];
        if (node->output_count == 1 && strcmp(node->outputs[0], name) == 0)
            return assay__node_constant(node);
    }
    return NULL;
}

/* How many inputs are summed for one output of the operator that reads it. */
static int64_t fan_in(const struct stripping *work, const char *name,
                      const struct assay__tensor *tensor, int depth)
{
    const struct assay__graph *graph = work->graph;
    int64_t rows = tensor->rank ? tensor->dims[0] : 1,
            rest = rows > 0 ? tensor->elements / rows : 1;
    for (size_t n = 0; tensor->rank >= 2 && n < graph->node_count; n++) {
        const struct assay__node *node = &graph->nodes[n];
        if (depth && node->input_count == 1 && node->output_count == 1 &&
            assay__node_is_any(node, "Cast Identity") && strcmp(node->inputs[0], name) == 0)
            return fan_in(work, node->outputs[0], tensor, depth - 1);
        if (node->input_count < 2 || strcmp(node->inputs[1], name) != 0) continue;
        if (assay__node_is_any(node, "MatMul MatMulInteger")) return tensor->dims[tensor->rank - 2];
        if (assay__node_is(node, "Gemm"))
            return assay__node_int(node, "transB", 0) ? tensor->dims[1] : rows;
        if (assay__node_is_any(node, "Conv ConvInteger")) return rest;
    }
    return rows > rest ? rows : rest;
}

/* Fan-in of the integer product that `name` is computed from, a few operators back; 0: there is
 * none. */
static int64_t product_fan_in(const struct stripping *work, const char *name, int depth)
{
    const struct assay__node *node = NULL;
    for (size_t n = 0; *name && n < work->graph->node_count && !node; n++)
        for (size_t k = 0; k < work->graph->nodes[n].output_count; k++)
            if (strcmp(work->graph->nodes[n].outputs[k], name) == 0) node = &work->graph->nodes[n];
    if (!node) return 0;
    if (assay__node_is_any(node, "MatMulInteger ConvInteger")) {
        const struct assay__tensor *weight = node->input_count > 1
                                                 ? constant_of(work, node->inputs[1])
                                                 : NULL;
        return weight ? fan_in(work, node->inputs[1], weight, 0) : 0;
    }
    bool passes = assay__node_is_any(node, "Cast Mul");
    int64_t fan = 0;
    for (size_t i = 0; passes && depth && !fan && i < node->input_count; i++)
        fan = product_fan_in(work, node->inputs[i], depth - 1);
    return fan;
}

/* Fan-in of the quantised weight whose scale is `name`, found forwards through the operators that
 * read it; 0: there is none. */
static int64_t scaled_fan_in(const struct stripping *work, const char *name, int depth)
{
    int64_t fan = 0;
    for (size_t n = 0; !fan && n < work->graph->node_count; n++) {
        const struct assay__node *node = &work->graph->nodes[n];
        for (size_t i = 0; !fan && i < node->input_count; i++) {
            if (strcmp(node->inputs[i], name) != 0 || !node->output_count) continue;
            const struct assay__tensor *weight = node->input_count > 1
                                                     ? constant_of(work, node->inputs[i ? 0 : 1])
                                                     : NULL;
            if (assay__node_is(node, "DequantizeLinear") && i == 1)
                fan = weight ? fan_in(work, node->outputs[0], weight, 1) : 1;
            if (assay__node_is(node, "Mul"))
                fan = product_fan_in(work, node->inputs[!i], TRACE_DEPTH);
            bool passes = assay__node_is_any(node, "Mul Cast");
            if (!fan && passes && depth) fan = scaled_fan_in(work, node->outputs[0], depth - 1);
            /* as ONNX Runtime fuses them: A, B, scale of B; A, B, scale of A, scale of B */
            weight = node->input_count > 1 ? constant_of(work, node->inputs[1]) : NULL;
            if ((strcmp(node->op, "DynamicQuantizeMatMul") == 0 && i == 2) ||
                (strcmp(node->op, "MatMulIntegerToFloat") == 0 && i == 3))
                fan = weight && weight->rank >= 2 ? weight->dims[weight->rank - 2] : 1;
            if (strcmp(node->op, "MatMulNBits") == 0 && i == 2)
                fan = 8 * assay__node_int(node, "K", 1); /* a nibble of 0 or 1 means -8 or -7 */
        }
    }
    return fan;
}

/* --- what defines shapes ---------------------------------------------------------------------- */

/* Nodes from the last to the first: whatever such a value is computed from also counts, up to a
 * Shape. */
static int mark_shaping(struct stripping *work)
{
    const struct assay__graph *graph = work->graph;
    int code = 0;
    for (size_t n = graph->node_count; n-- > 0 && !code;) {
        const struct assay__node *node = &graph->nodes[n];
        bool shaping = false;
        for (size_t k = 0; k < node->output_count; k++)
            shaping |= *node->outputs[k] && assay__map_has(work->shaping, node->outputs[k]);
        shaping = shaping && !assay__node_is_any(node, "Shape Size");
        unsigned inputs = 0;
        for (size_t d = 0; d < sizeof defining / sizeof defining[0]; d++)
            if (assay__node_is(node, defining[d].op)) inputs |= defining[d].inputs;
        for (size_t i = 0; i < node->input_count && !code; i++)
            if (*node->inputs[i] && (shaping || (i < 32 && inputs >> i & 1)))
                code = assay__map_set(work->shaping, node->inputs[i], 1);
    }
    return code ? assay__rewrite_no_memory(work->error) : 0;
}

/* --- stripping -------------------------------------------------------------------------------- */

/* The number in the tensor's own type; returns its size, 0 if the type has none. */
static size_t filler(const struct stripping *work, const char *name,
                     const struct assay__tensor *tensor, uint8_t out[8])
{
    int64_t fan = scaled_fan_in(work, name, TRACE_DEPTH);
    uint8_t whole = 1; /* 0 for a zero point */
    for (size_t n = 0; n < work->graph->node_count; n++) {
        const struct assay__node *node = &work->graph->nodes[n];
        if (!assay__node_is_any(node, "DequantizeLinear QuantizeLinear MatMulInteger ConvInteger"))
            continue;
        for (size_t i = 2; i < node->input_count; i++)
            if (strcmp(node->inputs[i], name) == 0) whole = 0;
    }
    if (!fan) fan = tensor->rank >= 2 ? fan_in(work, name, tensor, 1) : 2;
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
    case ASSAY__UINT8: out[0] = whole; return 1;
    case ASSAY__INT16:
    case ASSAY__UINT16: out[0] = whole; return 2;
    case ASSAY__INT32:
    case ASSAY__UINT32: out[0] = whole; return 4;
    default: return 0;
    }
}

static bool large(const struct stripping *work, const char *name,
                  const struct assay__tensor *tensor)
{
    bool data = tensor->dtype != ASSAY__INT64 && tensor->dtype != ASSAY__UINT64 &&
                tensor->dtype != ASSAY__BOOL && tensor->dtype != ASSAY__STRING;
    return data && tensor->elements > work->keep_small && !assay__map_has(work->shaping, name);
}

static int strip(struct stripping *work, const char *name, const struct assay__tensor *tensor)
{
    struct assay__model *model = work->model;
    uint8_t number[8] = {0};
    int64_t one = 1, rank = tensor->rank;
    size_t size = filler(work, name, tensor, number);
    if (!size)
        return assay_error_set(
            work->error, ASSAY_EUNSUPPORTED,
            "'%.100s' has type %s, which cannot be stripped: the weights would stay in the file",
            name, assay__dtype_name(tensor->dtype));
    const char *shape = assay__rewrite_constant(work->graph, &work->namer, name, "_shape",
                                                ASSAY__INT64, 1, &rank, tensor->dims);
    const char *label = assay__namer_make(&work->namer, name, "_stripped");
    struct assay__node *node = assay__graph_add_node(model, &work->fresh, "ConstantOfShape", label,
                                                     &shape, 1, &name, 1);
    assay__rewrite_set_tensor(model, node, "value", tensor->dtype, 1, &one, number, size);
    work->stripped++;
    work->elements += tensor->elements;
    return 0;
}

static int strip_initializers(struct stripping *work)
{
    struct assay__graph *graph = work->graph;
    size_t count = graph->initializer_count, kept = 0;
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        struct assay__tensor tensor = graph->initializers[i]; /* adding one may move them */
        if (large(work, tensor.name, &tensor)) code = strip(work, tensor.name, &tensor);
    }
    for (size_t i = 0; i < graph->initializer_count && !code; i++) {
        const struct assay__tensor *tensor = &graph->initializers[i];
        if (i < count && large(work, tensor->name, tensor))
            assay__graph_drop_input(graph, tensor->name);
        else
            graph->initializers[kept++] = *tensor;
    }
    if (!code) graph->initializer_count = kept;
    return code;
}

static int strip_graph(void *context, struct assay__graph *graph)
{
    struct stripping *work = context;
    size_t count = graph->initializer_count;
    struct assay__tensor *before = assay__arena_array(work->model->arena, count, sizeof *before);
    work->graph = graph;
    work->fresh = (struct assay__graph){.name = ""};
    if (graph->sparse_count)
        return assay_error_set(work->error, ASSAY_EUNSUPPORTED,
                               "the model has %zu sparse initializers, which cannot be stripped",
                               graph->sparse_count);
    work->shaping = assay__map_new();
    if (!before || !work->shaping) {
        assay__map_free(work->shaping);
        return assay__rewrite_no_memory(work->error);
    }
    if (count) memcpy(before, graph->initializers, count * sizeof *before);
    work->before = before;
    work->before_count = count;
    int code = mark_shaping(work);
    if (!code) code = strip_initializers(work);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        const struct assay__tensor *tensor = assay__node_constant(node);
        if (tensor && node->output_count == 1 && large(work, node->outputs[0], tensor))
            code = strip(work, node->outputs[0], tensor);
        else
            assay__graph_push_node(work->model, &work->fresh, node);
    }
    if (!code) assay__graph_take_nodes(graph, &work->fresh);
    assay__map_free(work->shaping);
    return code;
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
    code = assay__rewrite_end(model, code, error);
    if (!code)
        assay__rewrite_note(notes,
                            "%zu weights with %lld numbers removed; tensors of at most %lld "
                            "elements, 64-bit integers, booleans and what defines shapes stay",
                            work.stripped, (long long)work.elements, (long long)keep_small);
    return code;
}

/* --- the rewrite: KEEP elements stay ---------------------------------------------------------- */

static int check_strip(const char *const *arguments, size_t count, struct assay_error *error)
{
    int64_t keep = 0;
    if (count == 1 && assay__text_int64(arguments[0], &keep) == 0 && keep >= 0) return 0;
    return assay_error_set(error, ASSAY_EINVAL, "'%.100s' is not a number of elements",
                           count ? arguments[0] : "");
}

static int apply_strip(struct assay__model *model, const struct assay__rewrite_request *request,
                       struct assay__rewrite_notes *notes, struct assay_error *error)
{
    int64_t keep = 0;
    int code = check_strip(request->arguments, request->argument_count, error);
    if (!code) assay__text_int64(request->arguments[0], &keep);
    return code ? code : assay__rewrite_strip(model, keep, notes, error);
}

const struct assay__rewriter assay__rewriter_strip = {
    .step = "strip",
    .no_drift = "the weights were removed",
    .check = check_strip,
    .apply = apply_strip,
};
