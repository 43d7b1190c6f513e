/* coreml_nn_moves.c - layers that combine or move numbers: arithmetic with constants, reductions,
 * slices, reshapes, resizing. Field numbers are those of NeuralNetwork.proto. */
#include "model/coreml/coreml_nn.h"

#include <string.h>

/* The layer's node, with its row's operator, over its first input and another one. */
static struct assay__node *emit_two(struct assay__nn_layer *layer, const char *second)
{
    const char *inputs[2] = {assay__nn_input(layer, 0), second};
    return assay__nn_emit(layer, layer->row->op, inputs, 2);
}

/* As an operator of ML programs, with only its name known. */
static void keep(struct assay__nn_layer *layer, const char *op)
{
    layer->out_rank = -1;
    assay__nn_emit_plain(layer, op);
}

static int64_t param(const struct assay__nn_layer *layer, uint32_t field, int64_t otherwise)
{
    return assay__nn_int(&layer->params, field, otherwise);
}

/* --- arithmetic ------------------------------------------------------------------------------- */

static void with_number(struct assay__nn_layer *layer, const char *op, uint32_t field)
{
    float number = assay__nn_float(&layer->params, field, 0);
    const char *inputs[2] = {assay__nn_input(layer, 0), assay__nn_number(layer, "alpha", number)};
    assay__nn_emit(layer, op, inputs, 2);
}

/* Arithmetic and comparisons: with the number alpha (one input; lessThan and its like have it in
 * field 2), two inputs, or, in add and multiply, more. */
static void map_arithmetic(struct assay__nn_layer *layer)
{
    const char *op = layer->row->op;
    if (layer->input_count == 1) {
        with_number(layer, op, layer->kind < 825 ? 1 : 2);
        return;
    }
    if (layer->input_count > 2 && strcmp(op, "Add") == 0) op = "Sum";
    if (layer->input_count > 2 && strcmp(op, "Mul") == 0) op = "multiply";
    assay__nn_emit_plain(layer, op);
}

/* 0 sqrt, 1 rsqrt, 2 inverse, 3 power alpha, 4 exp, 5 log, 6 abs, 7 threshold alpha */
static void map_unary(struct assay__nn_layer *layer)
{
    static const char *const ops[] = {"Sqrt", "rsqrt", "Reciprocal", "Pow",
                                      "Exp",  "Log",   "Abs",        "Max"};
    int64_t type = param(layer, 1, 0);
    if (type < 0 || type > 7)
        assay__nn_fail(layer, "a function of an unknown kind");
    else if (type == 3 || type == 7)
        with_number(layer, ops[type], 2);
    else
        assay__nn_emit_plain(layer, ops[type]);
}

/* A constant of the shape in a field, 1 to 8 axes. */
static const char *shaped_weights(struct assay__nn_layer *layer, uint32_t shape, uint32_t weights,
                                  const char *suffix)
{
    int64_t dims[10];
    size_t rank;
    if (!assay__nn_list(layer, shape, dims, 8, &rank)) return "";
    /* [C] of an old network comes before height and width, unless its input is flat */
    bool flat = assay__nn_rank(layer) == 2;
    if (rank == 1 && !layer->nn->exact && !flat) {
        dims[1] = dims[2] = 1;
        rank = 3;
    }
    if (rank == 3 && flat && dims[1] == 1 && dims[2] == 1) rank = 1;
    return assay__nn_weights(layer, &layer->params, weights, suffix, (int)rank, dims);
}

static void map_scale(struct assay__nn_layer *layer)
{
    const char *inputs[2] = {assay__nn_input(layer, 0), shaped_weights(layer, 1, 2, "scale")};
    const char *bias = param(layer, 3, 0) ? shaped_weights(layer, 4, 5, "bias") : "";
    struct assay__node *node = *bias ? assay__nn_step(layer, "Mul", "product", inputs, 2)
                                     : assay__nn_emit(layer, "Mul", inputs, 2);
    assay__nn_add_bias(layer, node, bias);
}

static void map_bias(struct assay__nn_layer *layer)
{
    emit_two(layer, shaped_weights(layer, 1, 2, "bias"));
}

/* --- constants -------------------------------------------------------------------------------- */

/* The value is an initializer; an Identity gives it the name that layers use. loadConstant has [C,
 * H, W], loadConstantND any shape. */
static void map_constant(struct assay__nn_layer *layer)
{
    bool nd = layer->kind == 1070;
    int64_t dims[9] = {1};
    size_t rank;
    if (!assay__nn_list(layer, 1, nd ? dims : dims + 1, 8, &rank)) return;
    if (!nd && rank != 3) assay__nn_fail(layer, "a constant of rank %zu instead of 3", rank);
    layer->out_rank = (int)rank + !nd;
    const char *name = assay__nn_weights(layer, &layer->params, 2, "value", layer->out_rank, dims);
    assay__nn_emit(layer, "Identity", &name, 1);
}

/* --- reductions ------------------------------------------------------------------------------- */

static void reduce(struct assay__nn_layer *layer, const char *op, const int64_t *axes, size_t count,
                   bool keep_dims)
{
    const char *inputs[2] = {assay__nn_input(layer, 0),
                             count ? assay__nn_int64s(layer, "axes", axes, count) : ""};
    if (!keep_dims) layer->out_rank = -1;
    assay__node_set_int(layer->model, assay__nn_emit(layer, op, inputs, 2), "keepdims", keep_dims);
}

static void map_reduce(struct assay__nn_layer *layer)
{
    static const char *const ops[] = {"ReduceSum",       "ReduceMean", "ReduceProd", "ReduceLogSum",
                                      "ReduceSumSquare", "ReduceL1",   "ReduceL2",   "ReduceMax",
                                      "ReduceMin",       "ArgMax"};
    static const int64_t all[3] = {-3, -2, -1};
    static const struct {
        size_t first, count;
    } axes[] = {{0, 3}, {1, 2}, {0, 1}, {1, 1}, {2, 1}}; /* CHW, HW, C, H, W */
    int64_t mode = param(layer, 1, 0), axis = param(layer, 3, 0);
    const char *input = assay__nn_input(layer, 0);
    if (mode < 0 || mode > 9 || axis < 0 || axis > 4)
        assay__nn_fail(layer, "a reduction of an unknown kind");
    else if (mode == 9)
        assay__node_set_int(layer->model, assay__nn_emit(layer, "ArgMax", &input, 1), "axis",
                            all[axes[axis].first]);
    else
        reduce(layer, ops[mode], all + axes[axis].first, axes[axis].count, true);
}

static void map_reduce_axes(struct assay__nn_layer *layer)
{
    int64_t axes[64];
    size_t count;
    if (!assay__nn_list(layer, 1, axes, 64, &count)) return;
    if (param(layer, 3, 0)) count = 0;
    reduce(layer, layer->row->op, axes, count, param(layer, 2, 0) != 0);
}

static void map_arg(struct assay__nn_layer *layer)
{
    bool keep_dims = !param(layer, 2, 0);
    if (!keep_dims) layer->out_rank = -1;
    struct assay__node *node = emit_two(layer, "");
    assay__node_set_int(layer->model, node, "axis", param(layer, 1, 0));
    assay__node_set_int(layer->model, node, "keepdims", keep_dims);
}

/* --- shapes ----------------------------------------------------------------------------------- */

static void map_reshape(struct assay__nn_layer *layer)
{
    int64_t shape[4] = {-1, 0, 0, 0}, target[4];
    size_t count = assay__nn_ints(&layer->params, 1, target, 4);
    if (count != 3 && count != 4) {
        assay__nn_fail(layer, "a shape whose rank is not 3 or 4");
        return;
    }
    memcpy(shape + 4 - count, target, count * sizeof *target);
    layer->out_rank = 4;
    emit_two(layer, assay__nn_int64s(layer, "shape", shape, 4));
}

static void map_flatten(struct assay__nn_layer *layer)
{
    layer->out_rank = 2;
    assay__node_set_int(layer->model, assay__nn_emit_plain(layer, "Flatten"), "axis", 1);
}

/* Layers with one list in field 1 that is an input in ONNX: tile, squeeze, expandDims, reshapes,
 * broadcasts. */
static void map_axes_input(struct assay__nn_layer *layer)
{
    int64_t values[64];
    size_t count;
    int rank = assay__nn_rank(layer);
    if (!assay__nn_list(layer, 1, values, 64, &count)) return;
    if (layer->kind == 1140 || layer->kind == 1105) layer->out_rank = (int)count;
    if (layer->kind == 1120) layer->out_rank = rank >= (int)count ? rank - (int)count : -1;
    if (layer->kind == 1125) layer->out_rank = rank >= 0 ? rank + (int)count : -1;
    if (!count) /* squeezeAll */
        keep(layer, layer->row->op);
    else
        emit_two(layer,
                 assay__nn_int64s(layer, layer->kind == 920 ? "repeats" : "axes", values, count));
}

static void map_concat(struct assay__nn_layer *layer)
{
    int64_t axis = param(layer, 100, 0) ? 0 : 1; /* the sequence, or channels */
    if (axis && assay__nn_rank(layer) > 3) axis = assay__nn_rank(layer) - 3;
    assay__node_set_int(layer->model, assay__nn_emit_plain(layer, "Concat"), "axis", axis);
}

/* split {1 nOutputs} over channels; splitND {1 axis, 2 numSplits, 3 splitSizes[]} */
static void map_split(struct assay__nn_layer *layer)
{
    int64_t sizes[64];
    bool nd = layer->kind == 975;
    size_t count = 0;
    if (nd && !assay__nn_list(layer, 3, sizes, 64, &count)) return;
    struct assay__node *node = emit_two(
        layer, count ? assay__nn_int64s(layer, "sizes", sizes, count) : "");
    assay__node_set_int(layer->model, node, "axis", nd ? param(layer, 1, 0) : 1);
    if (!count)
        assay__node_set_int(layer->model, node, "num_outputs", (int64_t)layer->output_count);
}

static void map_reorganize(struct assay__nn_layer *layer)
{
    int64_t mode = param(layer, 1, 0); /* 0 to depth, 1 to space, 2 pixel shuffle */
    struct assay__node *node = assay__nn_emit_plain(layer, mode ? "DepthToSpace" : "SpaceToDepth");
    assay__node_set_int(layer->model, node, "blocksize", param(layer, 2, 1));
    if (mode == 2) assay__node_set_string(layer->model, node, "mode", "CRD");
}

static void map_triangular(struct assay__nn_layer *layer)
{
    int64_t k = param(layer, 1, 0);
    struct assay__node *node = emit_two(layer, assay__nn_int64s(layer, "k", &k, 1));
    assay__node_set_int(layer->model, node, "upper", layer->kind == 1325);
}

/* A parameter that may be the second input instead. */
static const char *input_or(struct assay__nn_layer *layer, const char *suffix, int64_t value)
{
    return layer->input_count > 1 ? assay__nn_input(layer, 1)
                                  : assay__nn_int64s(layer, suffix, &value, 1);
}

/* cumSum {1 axis, 2 excludeFinalSum, 3 reverse} */
static void map_cumsum(struct assay__nn_layer *layer)
{
    struct assay__node *node = emit_two(layer, input_or(layer, "axis", param(layer, 1, 0)));
    assay__node_set_int(layer->model, node, "exclusive", param(layer, 2, 0));
    assay__node_set_int(layer->model, node, "reverse", param(layer, 3, 0));
}

/* topK {1 axis, 2 K, 3 useBottomK} */
static void map_topk(struct assay__nn_layer *layer)
{
    struct assay__node *node = emit_two(layer, input_or(layer, "k", param(layer, 2, 1)));
    assay__node_set_int(layer->model, node, "axis", param(layer, 1, 0));
    assay__node_set_int(layer->model, node, "largest", !param(layer, 3, 0));
}

static void map_custom(struct assay__nn_layer *layer)
{
    struct assay__wire_field name;
    const char *op = "custom";
    if (assay__nn_message(&layer->params, 10, &name) && name.size)
        op = assay__reader_text(layer->reader, &name);
    layer->out_rank = -1;
    struct assay__node *node = assay__nn_emit_plain(layer, op);
    if (node) node->domain = ASSAY__COREML_DOMAIN;
}

/* --- slices ----------------------------------------------------------------------------------- */

static void slice(struct assay__nn_layer *layer, const int64_t *starts, const int64_t *ends,
                  const int64_t *axes, const int64_t *steps, size_t count)
{
    const char *inputs[5] = {
        assay__nn_input(layer, 0), assay__nn_int64s(layer, "starts", starts, count),
        assay__nn_int64s(layer, "ends", ends, count), assay__nn_int64s(layer, "axes", axes, count),
        assay__nn_int64s(layer, "steps", steps, count)};
    assay__nn_emit(layer, "Slice", inputs, 5);
}

/* slice {1 start, 2 end, 3 stride, 4 axis: 0 C, 1 H, 2 W} */
static void map_slice(struct assay__nn_layer *layer)
{
    int64_t start = param(layer, 1, 0), end = param(layer, 2, 0);
    int64_t step = param(layer, 3, 1), axis = param(layer, 4, 0) - 3;
    if (step < 1) step = 1;
    slice(layer, &start, &end, &axis, &step, 1);
}

/* 1 beginIds 2 beginMasks 3 endIds 4 endMasks 5 strides 6 squeezeMasks */
static void map_slice_static(struct assay__nn_layer *layer)
{
    enum { BEGIN, BEGIN_MASK, END, END_MASK, STRIDE, SQUEEZE, PARTS };
    int64_t part[PARTS][64] = {{0}}, axes[64];
    size_t count[PARTS];
    bool squeezes = false;
    for (uint32_t i = 0; i < PARTS; i++)
        if (!assay__nn_list(layer, i + 1, part[i], 64, &count[i])) return;
    for (size_t i = 0; i < count[SQUEEZE]; i++)
        squeezes = squeezes || part[SQUEEZE][i];
    if (squeezes || count[END] != count[BEGIN] || count[STRIDE] != count[BEGIN]) {
        keep(layer, "slice_by_index");
        return;
    }
    for (size_t i = 0; i < count[BEGIN]; i++) {
        bool back = part[STRIDE][i] < 0;
        axes[i] = (int64_t)i;
        if (part[BEGIN_MASK][i]) part[BEGIN][i] = back ? INT64_MAX : 0;
        if (part[END_MASK][i]) part[END][i] = back ? INT64_MIN + 1 : INT64_MAX;
    }
    slice(layer, part[BEGIN], part[END], axes, part[STRIDE], count[BEGIN]);
}

/* crop {1 cropAmounts, 5 offset[]}: by amounts, or to the size of a second input. */
static void map_crop(struct assay__nn_layer *layer)
{
    const int64_t axes[2] = {-2, -1}, steps[2] = {1, 1};
    int64_t begin[2] = {0, 0}, end[2] = {0, 0};
    struct assay__wire_field amounts;
    if (layer->input_count > 1) {
        assay__nn_emit_plain(layer, "crop");
        return;
    }
    if (assay__nn_message(&layer->params, 1, &amounts)) assay__nn_borders(&amounts, begin, end);
    for (int i = 0; i < 2; i++)
        end[i] = end[i] > 0 ? -end[i] : INT64_MAX;
    slice(layer, begin, end, axes, steps, 2);
}

/* padding {1 constant, 2 reflection, 3 replication, 10 paddingAmounts} of height and width */
static void map_padding(struct assay__nn_layer *layer)
{
    struct assay__wire_field field, amounts;
    const char *mode = assay__nn_field(&layer->params, 2, &field)   ? "reflect"
                       : assay__nn_field(&layer->params, 3, &field) ? "edge"
                                                                    : "constant";
    int rank = assay__nn_rank(layer);
    int64_t pads[2 * ASSAY__ONNX_RANK] = {0};
    if (rank < 2 || rank > ASSAY__ONNX_RANK) rank = 4;
    if (assay__nn_message(&layer->params, 10, &amounts))
        assay__nn_borders(&amounts, &pads[rank - 2], &pads[2 * rank - 2]);
    assay__node_set_string(layer->model,
                           emit_two(layer, assay__nn_int64s(layer, "pads", pads, 2 * (size_t)rank)),
                           "mode", mode);
}

/* constantPad {1 value, 2 padAmounts[]: begin and end of every axis, 3 padToGivenOutputSizeMode} */
static void map_constant_pad(struct assay__nn_layer *layer)
{
    int64_t amounts[64], pads[64];
    size_t count;
    if (!assay__nn_list(layer, 2, amounts, 64, &count)) return;
    if (count % 2) assay__nn_fail(layer, "a list cannot be read");
    if (!count || param(layer, 3, 0)) { /* to a size, or amounts as an input */
        keep(layer, "pad");
        return;
    }
    for (size_t i = 0; i < count / 2; i++) {
        pads[i] = amounts[2 * i];
        pads[count / 2 + i] = amounts[2 * i + 1];
    }
    emit_two(layer, assay__nn_int64s(layer, "pads", pads, count));
}

/* --- resizing --------------------------------------------------------------------------------- */

/* upsample {1 scalingFactor[] 7 fractionalScalingFactor[] 5 mode: 0 nearest, 1 bilinear} of [N, C,
 * H, W] */
static void map_upsample(struct assay__nn_layer *layer)
{
    const int64_t four = 4;
    int64_t factors[2] = {1, 1};
    struct assay__wire_field real;
    float *scales = assay__reader_array(layer->reader, 4, sizeof *scales);
    const char *inputs[3] = {assay__nn_input(layer, 0), "", assay__nn_text(layer, "scales")};
    if (!scales) return;
    if (assay__nn_ints(&layer->params, 1, factors, 2) != 2) factors[0] = factors[1] = 1;
    scales[0] = scales[1] = 1;
    scales[2] = (float)factors[0];
    scales[3] = (float)factors[1];
    if (assay__nn_message(&layer->params, 7, &real) && real.size == 8)
        memcpy(scales + 2, real.data, 8);
    assay__graph_add_initializer(layer->model, layer->nn->graph, inputs[2], ASSAY__FLOAT32, 1,
                                 &four, scales, 16);
    assay__node_set_string(layer->model, assay__nn_emit(layer, "Resize", inputs, 3), "mode",
                           param(layer, 5, 0) ? "linear" : "nearest");
}

/* resizeBilinear {1 targetSize[]: height, width} */
static void map_resize(struct assay__nn_layer *layer)
{
    const int64_t axes[2] = {2, 3};
    int64_t sizes[2] = {1, 1};
    if (assay__nn_ints(&layer->params, 1, sizes, 2) != 2)
        assay__nn_fail(layer, "a size cannot be read");
    const char *inputs[4] = {assay__nn_input(layer, 0), "", "",
                             assay__nn_int64s(layer, "sizes", sizes, 2)};
    struct assay__node *node = assay__nn_emit(layer, "Resize", inputs, 4);
    assay__node_set_ints(layer->model, node, "axes", axes, 2);
    assay__node_set_string(layer->model, node, "mode", "linear");
}

const struct assay__nn_row assay__nn_rows_moves[] = {
    {190, "crop", "Slice", "", map_crop},
    {200, "padding", "Pad", "", map_padding},
    {210, "upsample", "Resize", "", map_upsample},
    {211, "resizeBilinear", "Resize", "", map_resize},
    {220, "unary", "Sqrt", "", map_unary},
    {230, "add", "Add", "", map_arithmetic},
    {231, "multiply", "Mul", "", map_arithmetic},
    {245, "scale", "Mul", "", map_scale},
    {250, "bias", "Add", "", map_bias},
    {280, "reduce", "ReduceSum", "", map_reduce},
    {290, "loadConstant", "", "", map_constant},
    {300, "reshape", "Reshape", "", map_reshape},
    {301, "flatten", "Flatten", "", map_flatten},
    {320, "concat", "Concat", "", map_concat},
    {330, "split", "Split", "", map_split},
    {345, "reorganizeData", "DepthToSpace", "", map_reorganize},
    {350, "slice", "Slice", "", map_slice},
    {500, "custom", "custom", "", map_custom},
    {815, "equal", "Equal", "", map_arithmetic},
    {820, "notEqual", "not_equal", "", map_arithmetic},
    {825, "lessThan", "Less", "", map_arithmetic},
    {827, "lessEqual", "LessOrEqual", "", map_arithmetic},
    {830, "greaterThan", "Greater", "", map_arithmetic},
    {832, "greaterEqual", "GreaterOrEqual", "", map_arithmetic},
    {920, "tile", "Tile", "", map_axes_input},
    {975, "splitND", "Split", "", map_split},
    {995, "sliceStatic", "Slice", "", map_slice_static},
    {1015, "topK", "TopK", "", map_topk},
    {1020, "argMin", "ArgMin", "", map_arg},
    {1025, "argMax", "ArgMax", "", map_arg},
    {1070, "loadConstantND", "", "", map_constant},
    {1105, "broadcastToStatic", "Expand", "", map_axes_input},
    {1120, "squeeze", "Squeeze", "", map_axes_input},
    {1125, "expandDims", "Unsqueeze", "", map_axes_input},
    {1140, "reshapeStatic", "Reshape", "", map_axes_input},
    {1150, "rankPreservingReshape", "Reshape", "", map_axes_input},
    {1155, "constantPad", "Pad", "", map_constant_pad},
    {1250, "reduceL1", "ReduceL1", "", map_reduce_axes},
    {1255, "reduceL2", "ReduceL2", "", map_reduce_axes},
    {1260, "reduceMax", "ReduceMax", "", map_reduce_axes},
    {1265, "reduceMin", "ReduceMin", "", map_reduce_axes},
    {1270, "reduceSum", "ReduceSum", "", map_reduce_axes},
    {1275, "reduceProd", "ReduceProd", "", map_reduce_axes},
    {1280, "reduceMean", "ReduceMean", "", map_reduce_axes},
    {1285, "reduceLogSum", "ReduceLogSum", "", map_reduce_axes},
    {1290, "reduceSumSquare", "ReduceSumSquare", "", map_reduce_axes},
    {1295, "reduceLogSumExp", "ReduceLogSumExp", "", map_reduce_axes},
    {1320, "lowerTriangular", "Trilu", "", map_triangular},
    {1325, "upperTriangular", "Trilu", "", map_triangular},
    {1455, "cumSum", "CumSum", "", map_cumsum},
    {0},
};
