/* predict_work.c - a model as a list of work: each operator's class, operations and bytes, from the
 * analysis of its graph (no weight is read). What engines fuse counts once: an addition, activation
 * or batch normalisation that is the only reader of a convolution's or product's result is done on
 * the way out of it, and the parts of a GELU or of x sigmoid(x) are one function. Bodies of loops
 * count as one recurrent operator with all their trips. Limits: other fusions of an engine are not
 * modelled; an operator without a known cost is left out and counted. */
#include "predict/predict.h"

#include "base/map.h"
#include "base/no_memory.h"
#include "base/text.h"
#include "cost/cost_table.h"
#include "zoo/model_open.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- classes ---------------------------------------------------------------------------------- */

#define CONVOLUTIONS \
    "Conv ConvTranspose FusedConv ConvInteger QLinearConv conv conv_transpose conv_quantized"

/* Operators of ONNX, and, with a lower-case first letter, of Core ML; any other is elementwise. */
static const struct {
    enum assay__work_class class;
    const char *ops;
} classes[] = {
    {ASSAY__WORK_CONV, CONVOLUTIONS},
    {ASSAY__WORK_GEMM,
     "MatMul Gemm FusedMatMul FusedGemm Einsum MatMulNBits QGemm MatMulInteger QLinearMatMul "
     "MatMulIntegerToFloat DynamicQuantizeMatMul linear matmul einsum"},
    {ASSAY__WORK_ATTENTION, "Attention MultiHeadAttention GroupQueryAttention QAttention "
                            "DecoderMaskedMultiHeadAttention scaled_dot_product_attention"},
    {ASSAY__WORK_RECURRENT, "LSTM GRU RNN DynamicQuantizeLSTM Loop Scan If lstm gru rnn"},
    {ASSAY__WORK_NORMALISATION,
     "Softmax softmax LogSoftmax LayerNormalization BatchNormalization InstanceNormalization "
     "GroupNormalization RMSNormalization SimplifiedLayerNormalization SkipLayerNormalization "
     "LpNormalization MaxPool AveragePool GlobalAveragePool GlobalMaxPool LpPool ReduceMean "
     "ReduceSum ReduceMax ReduceMin ReduceL2 ReduceSumSquare ArgMax ArgMin TopK CumSum"},
    {ASSAY__WORK_MOVEMENT, "Transpose Concat Split Slice Gather Pad Expand Resize Tile "
                           "GatherElements GatherND ScatterND Upsample ScatterElements Where Cast "
                           "Range Trilu OneHot DepthToSpace SpaceToDepth NonZero Compress"},
    {ASSAY__WORK_VIEW,
     "Reshape Squeeze Unsqueeze Flatten Identity Dropout Constant ConstantOfShape Shape"},
    {ASSAY__WORK_FUNCTION,
     "Tanh Erf LRN Exp Log Sigmoid Pow Gelu Sin Cos Softplus Mish Elu Selu Celu FastGelu QuickGelu "
     "Swish gelu silu sigmoid erf exp tanh scaled_tanh"},
};

const char *assay__work_class_name(enum assay__work_class class)
{
    static const char *const names[ASSAY__WORK_CLASSES] = {
        [ASSAY__WORK_CONV] = "convolutions",
        [ASSAY__WORK_DEPTHWISE] = "depthwise convolutions",
        [ASSAY__WORK_GEMM] = "matrix products",
        [ASSAY__WORK_ATTENTION] = "products of attention",
        [ASSAY__WORK_ELEMENTWISE] = "elementwise operators",
        [ASSAY__WORK_FUNCTION] = "functions such as tanh",
        [ASSAY__WORK_NORMALISATION] = "normalisation and pooling",
        [ASSAY__WORK_MOVEMENT] = "operators that move data",
        [ASSAY__WORK_RECURRENT] = "recurrent cells",
        [ASSAY__WORK_VIEW] = "operators that move nothing",
    };
    return names[class];
}

static double dimension(const struct assay__shape_entry *entry, int axis)
{
    if (!entry || axis < 0 || axis >= entry->rank || entry->dims[axis] < 0) return 0;
    return (double)entry->dims[axis];
}

/* Weights of a convolution are [out, in / groups, kernel …], of a transposed one [in, out / groups,
 * kernel …]. */
static void convolution(const struct assay__shapes *shapes, const struct assay__node *node,
                        struct assay__work_item *item)
{
    size_t weights = strcmp(node->op, "QLinearConv") == 0 ? 3 : 1;
    const struct assay__shape_entry *w = NULL;
    if (weights < node->input_count) w = assay__shapes_get(shapes, node->inputs[weights]);
    double groups = (double)assay__node_int(node, "group", 1);
    bool transposed = assay__text_is_one_of(node->op, "ConvTranspose conv_transpose");
    double channels = transposed ? dimension(w, 0) / (groups > 0 ? groups : 1) : dimension(w, 1);
    item->class = groups > 1 && channels <= 1 ? ASSAY__WORK_DEPTHWISE : ASSAY__WORK_CONV;
    item->depth = item->channels = channels;
    for (int i = 2; w && i < w->rank; i++)
        item->depth *= dimension(w, i);
}

/* The cost of a function depends on the numbers it produces, not on its nominal FLOPs. A local
 * response normalisation raises each to a power with the scalar library: about 40 vectorised
 * functions. */
#define LRN_FUNCTIONS 40

static void classify(const struct assay__shapes *shapes, const struct assay__node *node,
                     struct assay__work_item *item)
{
    const struct assay__shape_entry *y = NULL;
    if (node->output_count) y = assay__shapes_get(shapes, node->outputs[0]);
    item->class = ASSAY__WORK_ELEMENTWISE;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (!assay__text_is_one_of(node->op, classes[i].ops)) continue;
        item->class = classes[i].class;
        break;
    }
    if (item->class == ASSAY__WORK_CONV) convolution(shapes, node, item);
    if (item->class == ASSAY__WORK_FUNCTION) {
        item->depth = strcmp(node->op, "LRN") == 0 ? LRN_FUNCTIONS : 1;
        for (int i = 0; y && i < y->rank; i++)
            item->depth *= dimension(y, i);
    }
    if (item->class == ASSAY__WORK_GEMM) {
        if (item->weight_bytes <= 0) item->class = ASSAY__WORK_ATTENTION;
        item->depth = y && y->rank > 0;
        for (int i = 0; y && i + 1 < y->rank; i++) /* rows */
            item->depth *= dimension(y, i);
    }
}

/* --- fusion ----------------------------------------------------------------------------------- */

enum fusion { NOT_FUSED, BEHIND_PRODUCT, IN_FUNCTION };

struct fusing {
    const struct assay__cost_visited *nodes;
    struct assay__map *producer, *uses, *reader; /* of values; reader: one of its readers */
    enum fusion *fused;                          /* by node */
};

static int fusing_start(struct fusing *f, const struct assay__analysis *a,
                        struct assay__arena *arena)
{
    const struct assay__graph *graph = &a->model->graph;
    int code = 0;
    f->nodes = a->nodes;
    f->producer = assay__map_over(graph->names);
    f->uses = assay__map_over(graph->names);
    f->reader = assay__map_over(graph->names);
    f->fused = assay__arena_array(arena, a->node_count + 1, sizeof *f->fused);
    if (!f->producer || !f->uses || !f->reader || !f->fused) return ASSAY_ENOMEM;
    for (size_t i = 0; i < a->node_count && !code; i++) {
        const struct assay__node *node = a->nodes[i].node;
        for (size_t k = 0; k < node->output_count && !code; k++)
            code = assay__map_set(f->producer, node->outputs[k], i);
        for (size_t k = 0; k < node->input_count && !code; k++) {
            size_t uses = assay__map_get(f->uses, node->inputs[k]);
            code = assay__map_set(f->uses, node->inputs[k], uses == ASSAY__MAP_NONE ? 1 : uses + 1);
            if (!code) code = assay__map_set(f->reader, node->inputs[k], i);
        }
    }
    for (size_t i = 0; i < graph->output_count && !code; i++) /* a result is kept whole */
        code = assay__map_set(f->uses, graph->outputs[i].name, SIZE_MAX / 2);
    return code;
}

/* The producer of the value, if there is only one reader; SIZE_MAX if there are more readers or no
 * producer. */
static size_t sole_producer(const struct fusing *f, const char *value)
{
    size_t p = assay__map_get(f->producer, value);
    return p != ASSAY__MAP_NONE && assay__map_get(f->uses, value) == 1 ? p : SIZE_MAX;
}

/* A bias, activation, residual or batch normalisation on the way out of a convolution or
 * product. */
static bool follows_product(const struct fusing *f, const struct assay__node *node,
                            double weight_bytes)
{
    if (!assay__text_is_one_of(node->op, "Relu Clip LeakyRelu BatchNormalization Add"))
        return false;
    for (size_t k = 0; k < node->input_count; k++) {
        size_t p = sole_producer(f, node->inputs[k]);
        if (p == SIZE_MAX) continue;
        const char *op = f->nodes[p].node->op;
        if (assay__text_is_one_of(op, CONVOLUTIONS " Gemm") || f->fused[p] == BEHIND_PRODUCT)
            return true;
        if (strcmp(op, "MatMul") == 0 && strcmp(node->op, "Add") == 0 && weight_bytes > 0)
            return true;
    }
    return false;
}

/* x / sqrt(2), erf, + 1, times x, times 0.5 are one function, GELU; and so are a sigmoid and its
 * product with x. */
static bool part_of_function(const struct fusing *f, const struct assay__node *node)
{
    bool product = strcmp(node->op, "Mul") == 0, sum = strcmp(node->op, "Add") == 0;
    for (size_t k = 0; (product || sum) && k < node->input_count; k++) {
        size_t p = sole_producer(f, node->inputs[k]);
        if (p == SIZE_MAX) continue;
        const char *op = f->nodes[p].node->op;
        if (f->fused[p] == IN_FUNCTION || (sum && strcmp(op, "Erf") == 0)) return true;
        if (product && strcmp(op, "Sigmoid") == 0) return true;
    }
    if (!product && strcmp(node->op, "Div") != 0) return false;
    size_t reader = node->output_count && assay__map_get(f->uses, node->outputs[0]) == 1
                        ? assay__map_get(f->reader, node->outputs[0])
                        : ASSAY__MAP_NONE;
    return reader != ASSAY__MAP_NONE && strcmp(f->nodes[reader].node->op, "Erf") == 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static double known(double value)
{
    return isfinite(value) ? value : 0;
}

static bool same(const struct assay__work_item *a, const struct assay__work_item *b)
{
    return a->class == b->class && a->fused == b->fused && a->flops == b->flops &&
           a->weight_bytes == b->weight_bytes && a->read_bytes == b->read_bytes &&
           a->written_bytes == b->written_bytes && a->depth == b->depth &&
           a->channels == b->channels;
}

/* One node that runs; false if it does nothing, or what it does is unknown. */
static bool item_of(const struct assay__cost_visited *visited, struct assay__work *work,
                    struct assay__work_item *item)
{
    const struct assay__cost *cost = &visited->own;
    if (visited->depth && isnan(visited->times)) return false; /* counted with the node around it */
    if (isnan(cost->flops) || isnan(cost->bytes_read) || isnan(cost->bytes_written)) {
        work->unknown++;
        return false;
    }
    double weights = known(cost->bytes_weights);
    *item = (struct assay__work_item){.flops = cost->flops,
                                      .weight_bytes = weights,
                                      .read_bytes = cost->bytes_read - weights,
                                      .written_bytes = cost->bytes_written,
                                      .node = visited->node,
                                      .repeats = (size_t)fmin(visited->times, 1e15)};
    return item->flops != 0 || cost->bytes_read != 0 || cost->bytes_written != 0;
}

static int fill(const struct assay__analysis *a, bool merge, struct assay__arena *arena,
                struct assay__work *work)
{
    struct fusing fusing = {0};
    int code = fusing_start(&fusing, a, arena);
    work->items = assay__arena_array(arena, a->node_count + 1, sizeof *work->items);
    if (!work->items) code = ASSAY_ENOMEM;
    for (size_t n = 0; n < a->node_count && !code; n++) {
        const struct assay__cost_visited *visited = &a->nodes[n];
        struct assay__work_item item;
        if (!item_of(visited, work, &item)) continue;
        classify(visited->shapes, visited->node, &item);
        fusing.fused[n] = follows_product(&fusing, visited->node, item.weight_bytes)
                              ? BEHIND_PRODUCT
                          : part_of_function(&fusing, visited->node) ? IN_FUNCTION
                                                                     : NOT_FUSED;
        item.fused = fusing.fused[n] != NOT_FUSED;
        size_t at = merge ? work->count : 0;
        while (at > 0 && !same(&work->items[at - 1], &item))
            at--;
        if (at > 0)
            work->items[at - 1].repeats += item.repeats;
        else
            work->items[work->count++] = item;
    }
    assay__map_free(fusing.producer);
    assay__map_free(fusing.uses);
    assay__map_free(fusing.reader);
    return code;
}

int assay__work_of(const struct assay__analysis *analysis, bool merge, struct assay__arena *arena,
                   struct assay__work **work, struct assay_error *error)
{
    struct assay__work *made = assay__arena_alloc(arena, sizeof *made);
    if (!made || fill(analysis, merge, arena, made)) return assay__no_memory(error);
    made->weight_bytes = analysis->parameter_bytes >= 0 ? (double)analysis->parameter_bytes
                                                        : (double)NAN;
    made->activation_bytes = analysis->live.peak_bytes;
    made->weight_bits = made->activation_bits = 32;
    for (size_t i = 0; i < analysis->parameter_type_count; i++) { /* the one of most bytes */
        enum assay__dtype t = analysis->parameters_by_type[i].dtype;
        if (t == ASSAY__INT64 || t == ASSAY__BOOL || assay__dtype_bits(t) == 0) continue;
        made->weight_bits = assay__dtype_bits(t);
        break;
    }
    const struct assay__graph *g = &analysis->model->graph;
    bool found = false; /* a floating-point input or output: activations are of its type */
    for (size_t i = 0; i < g->input_count + g->output_count; i++) {
        bool input = i < g->input_count;
        const struct assay__value *v = input ? &g->inputs[i] : &g->outputs[i - g->input_count];
        bool real = v->dtype == ASSAY__FLOAT32 || v->dtype == ASSAY__FLOAT16 ||
                    v->dtype == ASSAY__BFLOAT16;
        if (real && !found) made->activation_bits = assay__dtype_bits(v->dtype);
        found |= real;
        /* old models also list their weights among the inputs */
        if (!input || !assay__graph_initializer(g, v->name))
            made->io_bytes += known(
                assay__cost_bytes(assay__shapes_get(analysis->shapes, v->name)));
    }
    *work = made;
    return 0;
}

/* --- by name ---------------------------------------------------------------------------------- */

static int64_t parameter(const char *text, const char *key, int64_t otherwise)
{
    size_t length = strlen(key);
    const char *at = strchr(text, ':');
    while (at) {
        at++;
        if (strncmp(at, key, length) == 0 && at[length] == '=')
            return strtoll(at + length + 1, NULL, 10);
        at = strchr(at, ',');
    }
    return otherwise;
}

/* One convolution of C channels to C, or a stack: without padding if it is a single one, so that
 * the output is smaller. float16. */
static int convolutions(const char *name, struct assay__arena *arena, struct assay__work **work,
                        struct assay_error *error)
{
    double c = (double)parameter(name, "channels", 64), k = (double)parameter(name, "kernel", 3);
    double n = (double)parameter(name, "size", 64), depth = (double)parameter(name, "depth", 1);
    bool padded = parameter(name, "padded", depth > 1) != 0;
    double out = padded ? n : n - (k - 1);
    struct assay__work *made = assay__arena_alloc(arena, sizeof *made);
    struct assay__work_item *item = assay__arena_alloc(arena, sizeof *item);
    if (!made || !item) return assay__no_memory(error);
    *item = (struct assay__work_item){
        .class = ASSAY__WORK_CONV,
        .flops = 2 * c * c * k * k * out * out,
        .weight_bytes = 2 * c * c * k * k,
        .read_bytes = 2 * c * n * n,
        .written_bytes = 2 * c * out * out,
        .channels = c,
        .depth = c * k * k,
        .repeats = (size_t)depth,
    };
    *made = (struct assay__work){
        .items = item,
        .count = 1,
        .weight_bytes = item->weight_bytes * depth,
        .io_bytes = item->read_bytes + item->written_bytes,
        .activation_bytes = item->read_bytes + item->written_bytes,
        .weight_bits = 16,
        .activation_bits = 16,
    };
    *work = made;
    return 0;
}

int assay__work_named(const char *name, struct assay__arena *arena, struct assay__work **work,
                      struct assay_error *error)
{
    struct assay__model *model = NULL;
    struct assay__workload *workload = NULL;
    struct assay__analysis *analysis = NULL;
    const struct assay__workload_options options = {.shapes_only = true};
    if (strncmp(name, "conv:", 5) == 0) return convolutions(name, arena, work, error);
    int code = assay__model_open(name, &model, NULL, error);
    if (!code) code = assay__workload_plan(model, &options, &workload, error);
    if (!code) code = assay__analyse(model, workload, &analysis, error);
    if (!code) code = assay__work_of(analysis, true, arena, work, error);
    assay__analysis_free(analysis);
    assay__workload_free(workload);
    assay__model_free(model);
    return code;
}
