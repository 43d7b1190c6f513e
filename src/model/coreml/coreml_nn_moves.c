/* coreml_nn_moves.c - layers that add numbers or move them: arithmetic with constants, reductions,
 * slices, reshapes, resizing. Field numbers are NeuralNetwork.proto's. */
#include "model/coreml/coreml_nn.h"

#include <string.h>

/* The layer's node with its row's operator. */
static struct assay__node *emit(struct assay__nn_layer *layer, const char *const *inputs,
                                size_t count, int *code)
{
    return assay__nn_emit(layer, layer->row->op, layer->row->kept ? ASSAY__COREML_DOMAIN : "", "",
                          inputs, count, NULL, 0, code);
}

static int emit_with_ints(struct assay__nn_layer *layer, const char *suffix, const int64_t *values,
                          size_t count)
{
    const char *inputs[2] = {assay__nn_input(layer, 0), ""};
    int code = assay__nn_int64s(layer, suffix, values, count, &inputs[1]);
    if (!code) emit(layer, inputs, 2, &code);
    return code;
}

/* --- arithmetic ------------------------------------------------------------------------------- */

static int with_number(struct assay__nn_layer *layer, const char *op, const char *domain,
                       float value)
{
    const char *inputs[2] = {assay__nn_input(layer, 0), ""};
    int code = assay__nn_number(layer, "alpha", value, &inputs[1]);
    if (!code) assay__nn_emit(layer, op, domain, "", inputs, 2, NULL, 0, &code);
    return code;
}

/* add and multiply: with the number alpha (one input), two inputs, or more. */
static int map_arithmetic(struct assay__nn_layer *layer)
{
    bool add = strcmp(layer->row->op, "Add") == 0;
    int code = 0;
    if (layer->input_count == 1)
        return with_number(layer, layer->row->op, "", assay__nn_float(&layer->params, 1, 0));
    bool many = layer->input_count > 2;
    assay__nn_emit(layer,
                   !many ? layer->row->op
                   : add ? "Sum"
                         : "multiply",
                   many && !add ? ASSAY__COREML_DOMAIN : "", "", layer->inputs, layer->input_count,
                   NULL, 0, &code);
    return code;
}

static int map_compare(struct assay__nn_layer *layer)
{
    int code = 0;
    uint32_t field = layer->kind < 825 ? 1 : 2;
    if (layer->input_count == 1)
        return with_number(layer, layer->row->op, layer->row->kept ? ASSAY__COREML_DOMAIN : "",
                           assay__nn_float(&layer->params, field, 0));
    emit(layer, layer->inputs, layer->input_count, &code);
    return code;
}

/* 0 sqrt, 1 rsqrt, 2 inverse, 3 power alpha, 4 exp, 5 log, 6 abs, 7 threshold alpha */
static int map_unary(struct assay__nn_layer *layer)
{
    static const char *const ops[] = {"Sqrt", "rsqrt", "Reciprocal", "Pow",
                                      "Exp",  "Log",   "Abs",        "Max"};
    int64_t type = assay__nn_int(&layer->params, 1, 0);
    int code = 0;
    if (type < 0 || type > 7) return assay__nn_fail(layer, "a function of an unknown kind");
    if (type == 3 || type == 7)
        return with_number(layer, ops[type], "", assay__nn_float(&layer->params, 2, 0));
    assay__nn_emit(layer, ops[type], type == 1 ? ASSAY__COREML_DOMAIN : "", "", layer->inputs,
                   layer->input_count, NULL, 0, &code);
    return code;
}

/* A constant of the shape in a field, 1 to 8 axes. */
static int shaped_weights(struct assay__nn_layer *layer, uint32_t shape, uint32_t weights,
                          const char *suffix, const char **name)
{
    int64_t dims[8];
    size_t rank = assay__nn_ints(&layer->params, shape, dims, 8);
    if (rank == SIZE_MAX) return assay__nn_fail(layer, "a shape cannot be read");
    /* [C] of an old network stands before height and width, unless its input is flat */
    bool flat = layer->input_count && layer->ranks[0] == 2;
    if (rank == 1 && !layer->nn->exact && !flat) dims[rank++] = 1, dims[rank++] = 1;
    if (rank == 3 && flat && dims[1] == 1 && dims[2] == 1) rank = 1;
    return assay__nn_weights(layer, &layer->params, weights, suffix, (int)rank, dims, name);
}

static int map_scale(struct assay__nn_layer *layer)
{
    const char *inputs[2] = {assay__nn_input(layer, 0), ""}, *bias = "", *product = NULL;
    int code = shaped_weights(layer, 1, 2, "scale", &inputs[1]);
    if (!code && assay__nn_int(&layer->params, 3, 0))
        code = shaped_weights(layer, 4, 5, "bias", &bias);
    if (!code && *bias && !(product = assay__nn_text(layer, "product")))
        code = assay__nn_done(layer, ASSAY_ENOMEM);
    if (code) return code;
    if (!assay__nn_emit(layer, "Mul", "", product ? "product" : "", inputs, 2,
                        product ? &product : NULL, product ? 1 : 0, &code) ||
        !product)
        return code;
    const char *sum[2] = {product, bias};
    assay__nn_emit(layer, "Add", "", "", sum, 2, NULL, 0, &code);
    return code;
}

static int map_bias(struct assay__nn_layer *layer)
{
    const char *inputs[2] = {assay__nn_input(layer, 0), ""};
    int code = shaped_weights(layer, 1, 2, "bias", &inputs[1]);
    if (!code) emit(layer, inputs, 2, &code);
    return code;
}

/* --- constants -------------------------------------------------------------------------------- */

/* The value is an initializer; an Identity gives it the name that layers read. */
static int constant(struct assay__nn_layer *layer, int rank, const int64_t *dims)
{
    const char *name = "";
    int code = assay__nn_weights(layer, &layer->params, 2, "value", rank, dims, &name);
    if (code) return code;
    layer->out_rank = rank;
    assay__nn_emit(layer, "Identity", "", "", &name, 1, NULL, 0, &code);
    return code;
}

static int map_constant(struct assay__nn_layer *layer)
{
    int64_t dims[4] = {1, 1, 1, 1};
    if (assay__nn_ints(&layer->params, 1, dims + 1, 3) != 3)
        return assay__nn_fail(layer, "a constant of another rank than 3");
    return constant(layer, 4, dims);
}

static int map_constant_nd(struct assay__nn_layer *layer)
{
    int64_t dims[8];
    size_t rank = assay__nn_ints(&layer->params, 1, dims, 8);
    if (rank == SIZE_MAX) return assay__nn_fail(layer, "a shape cannot be read");
    return constant(layer, (int)rank, dims);
}

/* --- reductions ------------------------------------------------------------------------------- */

static int reduce(struct assay__nn_layer *layer, const char *op, const int64_t *axes, size_t count,
                  bool keep)
{
    const char *inputs[2] = {assay__nn_input(layer, 0), ""};
    int code = count ? assay__nn_int64s(layer, "axes", axes, count, &inputs[1]) : 0;
    if (code) return code;
    if (!keep) layer->out_rank = -1;
    struct assay__node *node = assay__nn_emit(layer, op, "", "", inputs, 2, NULL, 0, &code);
    if (!node) return code;
    return assay__nn_done(layer,
                          assay__node_set_int(assay__nn_model(layer), node, "keepdims", keep));
}

static int map_reduce(struct assay__nn_layer *layer)
{
    static const char *const ops[] = {"ReduceSum",       "ReduceMean", "ReduceProd", "ReduceLogSum",
                                      "ReduceSumSquare", "ReduceL1",   "ReduceL2",   "ReduceMax",
                                      "ReduceMin",       "ArgMax"};
    static const int64_t all[3] = {-3, -2, -1};
    static const struct {
        size_t first, count;
    } axes[] = {{0, 3}, {1, 2}, {0, 1}, {1, 1}, {2, 1}}; /* CHW, HW, C, H, W */
    int64_t mode = assay__nn_int(&layer->params, 1, 0), axis = assay__nn_int(&layer->params, 3, 0);
    int code = 0;
    if (mode < 0 || mode > 9 || axis < 0 || axis > 4)
        return assay__nn_fail(layer, "a reduction of an unknown kind");
    if (mode != 9) return reduce(layer, ops[mode], all + axes[axis].first, axes[axis].count, true);
    const char *input = assay__nn_input(layer, 0);
    struct assay__node *node = assay__nn_emit(layer, "ArgMax", "", "", &input, 1, NULL, 0, &code);
    if (!node) return code;
    return assay__nn_done(
        layer, assay__node_set_int(assay__nn_model(layer), node, "axis", all[axes[axis].first]));
}

static int map_reduce_axes(struct assay__nn_layer *layer)
{
    int64_t axes[64];
    size_t count = assay__nn_ints(&layer->params, 1, axes, 64);
    if (count == SIZE_MAX) return assay__nn_fail(layer, "a list of axes cannot be read");
    if (assay__nn_int(&layer->params, 3, 0)) count = 0;
    return reduce(layer, layer->row->op, axes, count, assay__nn_int(&layer->params, 2, 0) != 0);
}

static int map_arg(struct assay__nn_layer *layer)
{
    bool keep = !assay__nn_int(&layer->params, 2, 0);
    int code = 0;
    if (!keep) layer->out_rank = -1;
    const char *input = assay__nn_input(layer, 0);
    struct assay__node *node = emit(layer, &input, 1, &code);
    if (!node) return code;
    code = assay__node_set_int(assay__nn_model(layer), node, "axis",
                               assay__nn_int(&layer->params, 1, 0));
    if (!code) code = assay__node_set_int(assay__nn_model(layer), node, "keepdims", keep);
    return assay__nn_done(layer, code);
}

/* --- shapes ----------------------------------------------------------------------------------- */

static int map_reshape(struct assay__nn_layer *layer)
{
    int64_t shape[4] = {-1, 0, 0, 0}, target[4];
    size_t count = assay__nn_ints(&layer->params, 1, target, 4);
    if (count != 3 && count != 4)
        return assay__nn_fail(layer, "a shape of another rank than 3 or 4");
    memcpy(shape + 4 - count, target, count * sizeof *target);
    layer->out_rank = 4;
    return emit_with_ints(layer, "shape", shape, 4);
}

static int map_flatten(struct assay__nn_layer *layer)
{
    int code = 0;
    layer->out_rank = 2;
    struct assay__node *node = emit(layer, layer->inputs, layer->input_count, &code);
    if (!node) return code;
    return assay__nn_done(layer, assay__node_set_int(assay__nn_model(layer), node, "axis", 1));
}

/* Layers with one list in field 1 that is an input in ONNX: tile, squeeze, expandDims, reshapes,
 * broadcasts. */
static int map_axes_input(struct assay__nn_layer *layer)
{
    int64_t values[64];
    size_t count = assay__nn_ints(&layer->params, 1, values, 64);
    int code = 0, rank = layer->input_count ? layer->ranks[0] : -1;
    if (count == SIZE_MAX) return assay__nn_fail(layer, "a list cannot be read");
    if (layer->kind == 1140 || layer->kind == 1105) layer->out_rank = (int)count;
    if (layer->kind == 1120) layer->out_rank = rank >= (int)count ? rank - (int)count : -1;
    if (layer->kind == 1125) layer->out_rank = rank >= 0 ? rank + (int)count : -1;
    if (!count) { /* squeezeAll */
        layer->out_rank = -1;
        emit(layer, layer->inputs, layer->input_count, &code);
        return code;
    }
    return emit_with_ints(layer, layer->kind == 920 ? "repeats" : "axes", values, count);
}

static int map_concat(struct assay__nn_layer *layer)
{
    int64_t axis = assay__nn_int(&layer->params, 100, 0) ? 0 : 1; /* the sequence, or channels */
    int code = 0;
    if (axis && layer->input_count && layer->ranks[0] > 3) axis = layer->ranks[0] - 3;
    struct assay__node *node = emit(layer, layer->inputs, layer->input_count, &code);
    if (!node) return code;
    return assay__nn_done(layer, assay__node_set_int(assay__nn_model(layer), node, "axis", axis));
}

/* split {1 nOutputs} over channels; splitND {1 axis, 2 numSplits, 3 splitSizes[]} */
static int map_split(struct assay__nn_layer *layer)
{
    int64_t sizes[64];
    bool nd = layer->kind == 975;
    size_t count = nd ? assay__nn_ints(&layer->params, 3, sizes, 64) : 0;
    const char *inputs[2] = {assay__nn_input(layer, 0), ""};
    int code = 0;
    if (count == SIZE_MAX) return assay__nn_fail(layer, "a list cannot be read");
    if (count) code = assay__nn_int64s(layer, "sizes", sizes, count, &inputs[1]);
    struct assay__node *node = code ? NULL : emit(layer, inputs, 2, &code);
    if (!node) return code;
    code = assay__node_set_int(assay__nn_model(layer), node, "axis",
                               nd ? assay__nn_int(&layer->params, 1, 0) : 1);
    if (!code && !count)
        code = assay__node_set_int(assay__nn_model(layer), node, "num_outputs",
                                   (int64_t)layer->output_count);
    return assay__nn_done(layer, code);
}

static int map_reorganize(struct assay__nn_layer *layer)
{
    int64_t mode = assay__nn_int(&layer->params, 1,
                                 0); /* 0 to depth, 1 to space, 2 pixel shuffle */
    int code = 0;
    struct assay__node *node = assay__nn_emit(layer, mode ? "DepthToSpace" : "SpaceToDepth", "", "",
                                              layer->inputs, layer->input_count, NULL, 0, &code);
    if (!node) return code;
    code = assay__node_set_int(assay__nn_model(layer), node, "blocksize",
                               assay__nn_int(&layer->params, 2, 1));
    if (!code && mode == 2)
        code = assay__node_set_string(assay__nn_model(layer), node, "mode", "CRD");
    return assay__nn_done(layer, code);
}

static int map_triangular(struct assay__nn_layer *layer)
{
    int64_t k = assay__nn_int(&layer->params, 1, 0);
    const char *inputs[2] = {assay__nn_input(layer, 0), ""};
    int code = assay__nn_int64s(layer, "k", &k, 1, &inputs[1]);
    struct assay__node *node = code ? NULL : emit(layer, inputs, 2, &code);
    if (!node) return code;
    return assay__nn_done(
        layer, assay__node_set_int(assay__nn_model(layer), node, "upper", layer->kind == 1325));
}

/* cumSum {1 axis, 2 excludeFinalSum, 3 reverse}; the axis may be an input. */
static int map_cumsum(struct assay__nn_layer *layer)
{
    int64_t axis = assay__nn_int(&layer->params, 1, 0);
    const char *inputs[2] = {assay__nn_input(layer, 0), assay__nn_input(layer, 1)};
    int code = layer->input_count > 1 ? 0 : assay__nn_int64s(layer, "axis", &axis, 1, &inputs[1]);
    struct assay__node *node = code ? NULL : emit(layer, inputs, 2, &code);
    if (!node) return code;
    code = assay__node_set_int(assay__nn_model(layer), node, "exclusive",
                               assay__nn_int(&layer->params, 2, 0));
    if (!code)
        code = assay__node_set_int(assay__nn_model(layer), node, "reverse",
                                   assay__nn_int(&layer->params, 3, 0));
    return assay__nn_done(layer, code);
}

static int map_topk(struct assay__nn_layer *layer)
{
    int64_t k = assay__nn_int(&layer->params, 2, 1);
    const char *inputs[2] = {assay__nn_input(layer, 0), assay__nn_input(layer, 1)};
    int code = layer->input_count > 1 ? 0 : assay__nn_int64s(layer, "k", &k, 1, &inputs[1]);
    struct assay__node *node = code ? NULL : emit(layer, inputs, 2, &code);
    if (!node) return code;
    code = assay__node_set_int(assay__nn_model(layer), node, "axis",
                               assay__nn_int(&layer->params, 1, 0));
    if (!code)
        code = assay__node_set_int(assay__nn_model(layer), node, "largest",
                                   !assay__nn_int(&layer->params, 3, 0));
    return assay__nn_done(layer, code);
}

static int map_custom(struct assay__nn_layer *layer)
{
    struct assay__wire_field name;
    const char *op = "custom";
    int code = 0;
    if (assay__nn_message(&layer->params, 10, &name) && name.size)
        code = assay__onnx_text(&layer->nn->coreml->reader, &name, &op);
    if (code) return code;
    layer->out_rank = -1;
    assay__nn_emit(layer, op, ASSAY__COREML_DOMAIN, "", layer->inputs, layer->input_count, NULL, 0,
                   &code);
    return code;
}

/* --- slices ----------------------------------------------------------------------------------- */

static int slice(struct assay__nn_layer *layer, const int64_t *starts, const int64_t *ends,
                 const int64_t *axes, const int64_t *steps, size_t count)
{
    const char *inputs[5] = {assay__nn_input(layer, 0), "", "", "", ""};
    int code = assay__nn_int64s(layer, "starts", starts, count, &inputs[1]);
    if (!code) code = assay__nn_int64s(layer, "ends", ends, count, &inputs[2]);
    if (!code) code = assay__nn_int64s(layer, "axes", axes, count, &inputs[3]);
    if (!code) code = assay__nn_int64s(layer, "steps", steps, count, &inputs[4]);
    if (!code) assay__nn_emit(layer, "Slice", "", "", inputs, 5, NULL, 0, &code);
    return code;
}

/* slice {1 start, 2 end, 3 stride, 4 axis: 0 C, 1 H, 2 W} */
static int map_slice(struct assay__nn_layer *layer)
{
    int64_t start = assay__nn_int(&layer->params, 1, 0), end = assay__nn_int(&layer->params, 2, 0);
    int64_t step = assay__nn_int(&layer->params, 3, 1),
            axis = assay__nn_int(&layer->params, 4, 0) - 3;
    if (step < 1) step = 1;
    return slice(layer, &start, &end, &axis, &step, 1);
}

static bool flag(const int64_t *flags, size_t count, size_t i)
{
    return i < count && flags[i];
}

/* 1 beginIds 2 beginMasks 3 endIds 4 endMasks 5 strides 6 squeezeMasks */
static int map_slice_static(struct assay__nn_layer *layer)
{
    int64_t part[6][64], axes[64];
    size_t count[6];
    bool squeezes = false;
    int code = 0;
    for (uint32_t i = 0; i < 6; i++)
        if ((count[i] = assay__nn_ints(&layer->params, i + 1, part[i], 64)) == SIZE_MAX)
            return assay__nn_fail(layer, "a list cannot be read");
    for (size_t i = 0; i < count[5]; i++)
        squeezes = squeezes || part[5][i];
    if (squeezes || count[2] != count[0] || count[4] != count[0]) {
        layer->out_rank = -1;
        assay__nn_emit(layer, "slice_by_index", ASSAY__COREML_DOMAIN, "", layer->inputs,
                       layer->input_count, NULL, 0, &code);
        return code;
    }
    for (size_t i = 0; i < count[0]; i++) {
        bool back = part[4][i] < 0;
        axes[i] = (int64_t)i;
        if (flag(part[1], count[1], i)) part[0][i] = back ? INT64_MAX : 0;
        if (flag(part[3], count[3], i)) part[2][i] = back ? INT64_MIN + 1 : INT64_MAX;
    }
    return slice(layer, part[0], part[2], axes, part[4], count[0]);
}

static size_t read_borders(const struct assay__wire_field *message, int64_t *begin, int64_t *end)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t count = 0;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD && count < 2) {
        if (field.number != 10 || field.type != ASSAY__WIRE_BYTES) continue;
        begin[count] = assay__nn_int(&field, 1, 0);
        end[count++] = assay__nn_int(&field, 2, 0);
    }
    return count;
}

/* crop {1 cropAmounts, 5 offset[]}: by amounts, or to the size of a second input. */
static int map_crop(struct assay__nn_layer *layer)
{
    const int64_t axes[2] = {-2, -1}, steps[2] = {1, 1};
    int64_t begin[2] = {0, 0}, end[2] = {0, 0};
    struct assay__wire_field amounts;
    int code = 0;
    if (layer->input_count > 1) {
        assay__nn_emit(layer, "crop", ASSAY__COREML_DOMAIN, "", layer->inputs, layer->input_count,
                       NULL, 0, &code);
        return code;
    }
    if (assay__nn_message(&layer->params, 1, &amounts)) read_borders(&amounts, begin, end);
    for (int i = 0; i < 2; i++)
        end[i] = end[i] > 0 ? -end[i] : INT64_MAX;
    return slice(layer, begin, end, axes, steps, 2);
}

/* padding {1 constant, 2 reflection, 3 replication, 10 paddingAmounts} of height and width */
static int map_padding(struct assay__nn_layer *layer)
{
    struct assay__wire_field field, amounts;
    int64_t begin[2] = {0, 0}, end[2] = {0, 0};
    const char *mode = assay__nn_field(&layer->params, 2, &field)   ? "reflect"
                       : assay__nn_field(&layer->params, 3, &field) ? "edge"
                                                                    : "constant";
    if (assay__nn_message(&layer->params, 10, &amounts)) read_borders(&amounts, begin, end);
    int rank = layer->input_count ? layer->ranks[0] : 4;
    int64_t pads[2 * ASSAY__ONNX_RANK] = {0};
    const char *inputs[2] = {assay__nn_input(layer, 0), ""};
    if (rank < 2 || rank > ASSAY__ONNX_RANK) rank = 4;
    for (int i = 0; i < 2; i++) {
        pads[rank - 2 + i] = begin[i];
        pads[2 * rank - 2 + i] = end[i];
    }
    int code = assay__nn_int64s(layer, "pads", pads, 2 * (size_t)rank, &inputs[1]);
    struct assay__node *node = code ? NULL : emit(layer, inputs, 2, &code);
    if (!node) return code;
    return assay__nn_done(layer,
                          assay__node_set_string(assay__nn_model(layer), node, "mode", mode));
}

/* constantPad {1 value, 2 padAmounts[]: begin and end of every axis} */
static int map_constant_pad(struct assay__nn_layer *layer)
{
    int64_t amounts[64], pads[64];
    size_t count = assay__nn_ints(&layer->params, 2, amounts, 64);
    int code = 0;
    if (count == SIZE_MAX || count % 2) return assay__nn_fail(layer, "a list cannot be read");
    if (!count || assay__nn_int(&layer->params, 3, 0)) { /* to a size, or amounts as an input */
        layer->out_rank = -1;
        assay__nn_emit(layer, "pad", ASSAY__COREML_DOMAIN, "", layer->inputs, layer->input_count,
                       NULL, 0, &code);
        return code;
    }
    for (size_t i = 0; i < count / 2; i++) {
        pads[i] = amounts[2 * i];
        pads[count / 2 + i] = amounts[2 * i + 1];
    }
    return emit_with_ints(layer, "pads", pads, count);
}

/* --- resizing --------------------------------------------------------------------------------- */

/* upsample {1 scalingFactor[] 7 fractionalScalingFactor[] 5 mode: 0 nearest, 1 bilinear} of [N, C,
 * H, W] */
static int map_upsample(struct assay__nn_layer *layer)
{
    struct assay__model *model = assay__nn_model(layer);
    int64_t factors[2] = {1, 1};
    struct assay__wire_field real;
    float *scales = assay__arena_array(model->arena, 4, sizeof *scales);
    const char *inputs[3] = {assay__nn_input(layer, 0), "", assay__nn_text(layer, "scales")};
    const int64_t four = 4;
    int code = 0;
    if (!scales || !inputs[2]) return assay__nn_done(layer, ASSAY_ENOMEM);
    if (assay__nn_ints(&layer->params, 1, factors, 2) != 2) factors[0] = factors[1] = 1;
    scales[0] = scales[1] = 1;
    scales[2] = (float)factors[0];
    scales[3] = (float)factors[1];
    if (assay__nn_message(&layer->params, 7, &real) && real.size == 8)
        memcpy(scales + 2, real.data, 8);
    if (!assay__graph_add_initializer(model, layer->nn->graph, inputs[2], ASSAY__FLOAT32, 1, &four,
                                      scales, 16))
        return assay__nn_done(layer, ASSAY_ENOMEM);
    struct assay__node *node = emit(layer, inputs, 3, &code);
    if (!node) return code;
    bool linear = assay__nn_int(&layer->params, 5, 0);
    return assay__nn_done(
        layer, assay__node_set_string(model, node, "mode", linear ? "linear" : "nearest"));
}

/* resizeBilinear {1 targetSize[]: height, width} */
static int map_resize(struct assay__nn_layer *layer)
{
    const int64_t axes[2] = {2, 3};
    int64_t sizes[2] = {1, 1};
    const char *inputs[4] = {assay__nn_input(layer, 0), "", "", ""};
    if (assay__nn_ints(&layer->params, 1, sizes, 2) != 2)
        return assay__nn_fail(layer, "a size cannot be read");
    int code = assay__nn_int64s(layer, "sizes", sizes, 2, &inputs[3]);
    struct assay__node *node = code ? NULL : emit(layer, inputs, 4, &code);
    if (!node) return code;
    code = assay__node_set_ints(assay__nn_model(layer), node, "axes", axes, 2);
    if (!code) code = assay__node_set_string(assay__nn_model(layer), node, "mode", "linear");
    return assay__nn_done(layer, code);
}

const struct assay__nn_row assay__nn_rows_moves[] = {
    {190, "crop", "Slice", false, "", map_crop},
    {200, "padding", "Pad", false, "", map_padding},
    {210, "upsample", "Resize", false, "", map_upsample},
    {211, "resizeBilinear", "Resize", false, "", map_resize},
    {220, "unary", "Sqrt", false, "", map_unary},
    {230, "add", "Add", false, "", map_arithmetic},
    {231, "multiply", "Mul", false, "", map_arithmetic},
    {245, "scale", "Mul", false, "", map_scale},
    {250, "bias", "Add", false, "", map_bias},
    {280, "reduce", "ReduceSum", false, "", map_reduce},
    {290, "loadConstant", "", false, "", map_constant},
    {300, "reshape", "Reshape", false, "", map_reshape},
    {301, "flatten", "Flatten", false, "", map_flatten},
    {320, "concat", "Concat", false, "", map_concat},
    {330, "split", "Split", false, "", map_split},
    {345, "reorganizeData", "DepthToSpace", false, "", map_reorganize},
    {350, "slice", "Slice", false, "", map_slice},
    {500, "custom", "custom", true, "", map_custom},
    {815, "equal", "Equal", false, "", map_compare},
    {820, "notEqual", "not_equal", true, "", map_compare},
    {825, "lessThan", "Less", false, "", map_compare},
    {827, "lessEqual", "LessOrEqual", false, "", map_compare},
    {830, "greaterThan", "Greater", false, "", map_compare},
    {832, "greaterEqual", "GreaterOrEqual", false, "", map_compare},
    {920, "tile", "Tile", false, "", map_axes_input},
    {975, "splitND", "Split", false, "", map_split},
    {995, "sliceStatic", "Slice", false, "", map_slice_static},
    {1015, "topK", "TopK", false, "", map_topk},
    {1020, "argMin", "ArgMin", false, "", map_arg},
    {1025, "argMax", "ArgMax", false, "", map_arg},
    {1070, "loadConstantND", "", false, "", map_constant_nd},
    {1105, "broadcastToStatic", "Expand", false, "", map_axes_input},
    {1120, "squeeze", "Squeeze", false, "", map_axes_input},
    {1125, "expandDims", "Unsqueeze", false, "", map_axes_input},
    {1140, "reshapeStatic", "Reshape", false, "", map_axes_input},
    {1150, "rankPreservingReshape", "Reshape", false, "", map_axes_input},
    {1155, "constantPad", "Pad", false, "", map_constant_pad},
    {1250, "reduceL1", "ReduceL1", false, "", map_reduce_axes},
    {1255, "reduceL2", "ReduceL2", false, "", map_reduce_axes},
    {1260, "reduceMax", "ReduceMax", false, "", map_reduce_axes},
    {1265, "reduceMin", "ReduceMin", false, "", map_reduce_axes},
    {1270, "reduceSum", "ReduceSum", false, "", map_reduce_axes},
    {1275, "reduceProd", "ReduceProd", false, "", map_reduce_axes},
    {1280, "reduceMean", "ReduceMean", false, "", map_reduce_axes},
    {1285, "reduceLogSum", "ReduceLogSum", false, "", map_reduce_axes},
    {1290, "reduceSumSquare", "ReduceSumSquare", false, "", map_reduce_axes},
    {1295, "reduceLogSumExp", "ReduceLogSumExp", false, "", map_reduce_axes},
    {1320, "lowerTriangular", "Trilu", false, "", map_triangular},
    {1325, "upperTriangular", "Trilu", false, "", map_triangular},
    {1455, "cumSum", "CumSum", false, "", map_cumsum},
    {0},
};
