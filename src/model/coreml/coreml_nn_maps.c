/* coreml_nn_maps.c - layers that compute: convolutions, pooling, products, normalization,
 * activations. Field numbers are those of NeuralNetwork.proto. */
#include "model/coreml/coreml_nn.h"

#include <string.h>

/* --- windows ---------------------------------------------------------------------------------- */

/* valid {1 paddingAmounts} in field `valid`, same {1 asymmetryMode} in the next. */
static void set_padding(struct assay__nn_layer *layer, struct assay__node *node, uint32_t valid)
{
    struct assay__wire_field field, amounts;
    int64_t pads[4] = {0, 0, 0, 0};
    if (assay__nn_message(&layer->params, valid + 1, &field))
        assay__node_set_string(layer->model, node, "auto_pad",
                               assay__nn_int(&field, 1, 0) ? "SAME_LOWER" : "SAME_UPPER");
    else if (assay__nn_message(&layer->params, valid, &field) &&
             assay__nn_message(&field, 1, &amounts) &&
             assay__nn_borders(&amounts, pads, pads + 2) == 2)
        assay__node_set_ints(layer->model, node, "pads", pads, 4);
}

/* Two numbers, as stated or the default. */
static void pair(struct assay__nn_layer *layer, uint32_t field, int64_t otherwise, int64_t *out)
{
    size_t count = assay__nn_ints(&layer->params, field, out, 2);
    if (count != 2) out[0] = out[1] = otherwise;
    if (count != 0 && count != 2) assay__nn_fail(layer, "a window that is not two-dimensional");
}

/* Three numbers in fields first, first + 1, first + 2. */
static void triple(const struct assay__nn_layer *layer, uint32_t first, int64_t otherwise,
                   int64_t *out)
{
    for (uint32_t i = 0; i < 3; i++)
        out[i] = assay__nn_int(&layer->params, first + i, otherwise);
}

struct windows {
    size_t axes;
    int64_t kernel[3], stride[3], dilation[3];
    bool transposed;
    uint32_t weights, has_bias, bias; /* fields */
};

static struct assay__node *emit_convolution(struct assay__nn_layer *layer,
                                            const struct windows *windows)
{
    const struct assay__wire_field *params = &layer->params;
    int64_t out = assay__nn_int(params, 1, 0), in = assay__nn_int(params, 2, 0);
    int64_t groups = assay__nn_int(params, 10, 1), dims[5];
    const char *inputs[3] = {assay__nn_input(layer, 0), "", ""};
    if (groups < 1) groups = 1;
    dims[0] = windows->transposed ? in : out;
    /* Core ML counts the channels of a 2-D kernel per group, those of a 3-D one for all groups */
    dims[1] = windows->transposed ? out / groups : windows->axes == 2 ? in : in / groups;
    memcpy(dims + 2, windows->kernel, windows->axes * sizeof *dims);
    inputs[1] = assay__nn_weights(layer, params, windows->weights, "weight", 2 + (int)windows->axes,
                                  dims);
    if (assay__nn_int(params, windows->has_bias, 0))
        inputs[2] = assay__nn_weights(layer, params, windows->bias, "bias", 1, &out);
    if (!*inputs[1] && windows->axes == 2)
        inputs[1] = assay__nn_input(layer, 1); /* weights as an input */
    struct assay__node *node = assay__nn_emit(layer, windows->transposed ? "ConvTranspose" : "Conv",
                                              inputs, 3);
    assay__node_set_int(layer->model, node, "group", groups);
    assay__node_set_ints(layer->model, node, "kernel_shape", windows->kernel, windows->axes);
    assay__node_set_ints(layer->model, node, "strides", windows->stride, windows->axes);
    assay__node_set_ints(layer->model, node, "dilations", windows->dilation, windows->axes);
    return node;
}

static void map_convolution(struct assay__nn_layer *layer)
{
    struct windows windows = {.axes = 2, .weights = 90, .has_bias = 70, .bias = 91};
    int64_t shape[2];
    windows.transposed = assay__nn_int(&layer->params, 60, 0);
    pair(layer, 20, 3, windows.kernel);
    pair(layer, 30, 1, windows.stride);
    pair(layer, 40, 1, windows.dilation);
    struct assay__node *node = emit_convolution(layer, &windows);
    if (windows.transposed && assay__nn_ints(&layer->params, 100, shape, 2) == 2)
        assay__node_set_ints(layer->model, node, "output_shape", shape, 2);
    set_padding(layer, node, 50);
}

/* Padding of three axes: type in one field (0 custom, 1 valid, 2 same), the amounts in six. */
static void set_padding3d(struct assay__nn_layer *layer, struct assay__node *node, uint32_t type,
                          uint32_t first)
{
    int64_t kind = assay__nn_int(&layer->params, type, 0), pads[6];
    for (uint32_t i = 0; i < 6; i++)
        pads[i / 2 + 3 * (i % 2)] = assay__nn_int(&layer->params, first + i, 0);
    if (kind == 2)
        assay__node_set_string(layer->model, node, "auto_pad", "SAME_UPPER");
    else if (kind != 1)
        assay__node_set_ints(layer->model, node, "pads", pads, 6);
}

static void map_convolution3d(struct assay__nn_layer *layer)
{
    struct windows windows = {.axes = 3, .weights = 60, .has_bias = 50, .bias = 61};
    windows.transposed = assay__nn_int(&layer->params, 86, 0);
    triple(layer, 20, 3, windows.kernel);
    triple(layer, 31, 1, windows.stride);
    triple(layer, 40, 1, windows.dilation);
    set_padding3d(layer, emit_convolution(layer, &windows), 70, 80);
}

static const char *const pools[2][3] = {{"MaxPool", "AveragePool", "LpPool"},
                                        {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"}};

static void map_pooling(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    int64_t type = assay__nn_int(params, 1, 0), kernel[2], stride[2], pads[4] = {0, 0, 0, 0};
    bool whole = assay__nn_int(params, 60, 0);
    struct assay__wire_field last;
    pair(layer, 10, 3, kernel);
    pair(layer, 20, 1, stride);
    if (type < 0 || type > 2) {
        assay__nn_fail(layer, "pooling of an unknown kind");
        return;
    }
    struct assay__node *node = assay__nn_emit_plain(layer, pools[whole][type]);
    if (type == 2) assay__node_set_int(layer->model, node, "p", 2);
    if (whole) return;
    assay__node_set_ints(layer->model, node, "kernel_shape", kernel, 2);
    assay__node_set_ints(layer->model, node, "strides", stride, 2);
    if (type == 1)
        assay__node_set_int(layer->model, node, "count_include_pad", !assay__nn_int(params, 50, 0));
    if (!assay__nn_message(params, 32, &last)) {
        set_padding(layer, node, 30);
        return;
    }
    /* includeLastPixel {10 paddingAmounts[]}: a partial window counts */
    if (assay__nn_ints(&last, 10, pads, 2) != 2) pads[0] = pads[1] = 0;
    pads[2] = pads[0];
    pads[3] = pads[1];
    assay__node_set_ints(layer->model, node, "pads", pads, 4);
    assay__node_set_int(layer->model, node, "ceil_mode", 1);
}

static void map_pooling3d(struct assay__nn_layer *layer)
{
    bool average = assay__nn_int(&layer->params, 1, 0), whole = layer->kind == 1466;
    int64_t kernel[3], stride[3];
    triple(layer, 2, 1, kernel);
    triple(layer, 5, 1, stride);
    struct assay__node *node = assay__nn_emit_plain(layer, pools[whole][average]);
    if (whole) return;
    assay__node_set_ints(layer->model, node, "kernel_shape", kernel, 3);
    assay__node_set_ints(layer->model, node, "strides", stride, 3);
    set_padding3d(layer, node, 15, 8);
}

/* --- activations ------------------------------------------------------------------------------ */

/* A number per channel in field i; their count is that of the field. */
static const char *channel_numbers(struct assay__nn_layer *layer,
                                   const struct assay__wire_field *field, uint32_t i)
{
    struct assay__wire_field weights, numbers;
    int64_t size = 0;
    if (!assay__nn_message(field, i, &weights)) return "";
    if (assay__nn_message(&weights, 1, &numbers)) size = (int64_t)(numbers.size / 4);
    if (assay__nn_message(&weights, 2, &numbers)) size = (int64_t)(numbers.size / 2);
    const int64_t dims[3] = {size, 1, 1};
    return assay__nn_weights(layer, field, i, i == 1 ? "alpha" : "beta", 3, dims);
}

static void map_activation(struct assay__nn_layer *layer)
{
    static const struct {
        uint32_t field;
        const char *op;
        int numbers; /* attributes alpha and beta in fields 1 and 2; -1: inputs, per channel */
    } kinds[] = {
        {5, "linear_activation", 2},
        {10, "Relu", 0},
        {15, "LeakyRelu", 1},
        {20, "ThresholdedRelu", 1},
        {25, "PRelu", -1},
        {30, "Tanh", 0},
        {31, "scaled_tanh", 2},
        {40, "Sigmoid", 0},
        {41, "HardSigmoid", 2},
        {50, "Elu", 1},
        {60, "Softsign", 0},
        {70, "Softplus", 0},
        {71, "softplus_parametric", -1},
    };
    struct assay__wire wire = assay__wire_in(&layer->params);
    struct assay__wire_field field = {.number = 0};
    const char *inputs[3] = {assay__nn_input(layer, 0), "", ""};
    size_t kind = 0, count = sizeof kinds / sizeof kinds[0];
    if (assay__wire_next(&wire, &field) != ASSAY__WIRE_FIELD || field.type != ASSAY__WIRE_BYTES) {
        assay__nn_fail(layer, "an activation without a kind");
        return;
    }
    while (kind < count && kinds[kind].field != field.number)
        kind++;
    if (kind == count) {
        assay__nn_fail(layer, "an activation of kind %u", field.number);
        return;
    }
    for (uint32_t i = 1; i <= 2 && kinds[kind].numbers < 0; i++)
        inputs[i] = channel_numbers(layer, &field, i);
    struct assay__node *node = assay__nn_emit(layer, kinds[kind].op, inputs, 3);
    for (int i = 1; i <= kinds[kind].numbers; i++)
        assay__node_set_float(layer->model, node, i == 1 ? "alpha" : "beta",
                              assay__nn_float(&field, (uint32_t)i, 0));
}

static void map_gelu(struct assay__nn_layer *layer)
{
    int64_t mode = assay__nn_int(&layer->params, 1, 0); /* 0 exact, 1 tanh, 2 sigmoid */
    struct assay__node *node = assay__nn_emit_plain(layer, mode == 2 ? "QuickGelu" : "Gelu");
    if (node && mode == 2) node->domain = "com.microsoft";
    if (mode == 1) assay__node_set_string(layer->model, node, "approximate", "tanh");
}

/* --- products --------------------------------------------------------------------------------- */

/* y = x W^T + b over the last axis: Gemm on matrices, "linear" over more axes. */
static void map_inner_product(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    int64_t out = assay__nn_int(params, 2, 0);
    const int64_t dims[2] = {out, assay__nn_int(params, 1, 0)};
    bool matrix = !layer->nn->exact || assay__nn_rank(layer) == 2;
    const char *inputs[3] = {assay__nn_input(layer, 0),
                             assay__nn_weights(layer, params, 20, "weight", 2, dims), ""};
    if (assay__nn_int(params, 10, 0))
        inputs[2] = assay__nn_weights(layer, params, 21, "bias", 1, &out);
    if (matrix && layer->input_count && layer->ranks[0] != 2) { /* a flat image [N, C, 1, 1] */
        struct assay__node *flat = assay__nn_step(layer, "Flatten", "flat", layer->inputs, 1);
        assay__node_set_int(layer->model, flat, "axis", 1);
        inputs[0] = assay__nn_result(flat);
    }
    if (matrix) layer->out_rank = 2;
    struct assay__node *node = assay__nn_emit(layer, matrix ? "Gemm" : "linear", inputs, 3);
    if (matrix) assay__node_set_int(layer->model, node, "transB", 1);
}

static void map_matmul(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    int64_t a = assay__nn_int(params, 1, 0), b = assay__nn_int(params, 2, 0);
    const int64_t dims[2] = {assay__nn_int(params, 5, 0), assay__nn_int(params, 6, 0)};
    const char *inputs[2] = {assay__nn_input(layer, 0), assay__nn_input(layer, 1)}, *bias = "";
    bool plain = !a && !b;
    if (layer->input_count == 1) {
        inputs[1] = assay__nn_weights(layer, params, 8, "weight", 2, dims);
        if (assay__nn_int(params, 7, 0))
            bias = assay__nn_weights(layer, params, 9, "bias", 1, &dims[1]);
    }
    const char *op = plain ? "MatMul" : "FusedMatMul";
    struct assay__node *node = *bias ? assay__nn_step(layer, op, "product", inputs, 2)
                                     : assay__nn_emit(layer, op, inputs, 2);
    if (node && !plain) {
        node->domain = "com.microsoft";
        assay__node_set_int(layer->model, node, "transA", a != 0);
        assay__node_set_int(layer->model, node, "transB", b != 0);
    }
    assay__nn_add_bias(layer, node, bias);
}

/* Rows of a table. Old networks: [N, 1, 1, 1] of indices; ND: [..., 1]. */
static void map_embedding(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    bool nd = layer->kind == 1040;
    const int64_t dims[2] = {assay__nn_int(params, 1, 0), assay__nn_int(params, 2, 0)}, axis = -1;
    const char *table = assay__nn_weights(layer, params, 20, "weight", 2, dims), *bias = "";
    if (assay__nn_int(params, nd ? 3 : 10, 0))
        bias = assay__nn_weights(layer, params, 21, "bias", 1, &dims[1]);
    const char *inputs[2] = {assay__nn_input(layer, 0),
                             assay__nn_int64s(layer, nd ? "axes" : "shape", &axis, 1)};
    struct assay__node *ids = assay__nn_step(layer, nd ? "Squeeze" : "Reshape", "ids", inputs, 2);
    const char *gather[2] = {table, assay__nn_result(ids)};
    if (!nd) layer->out_rank = 2;
    struct assay__node *node = *bias ? assay__nn_step(layer, "Gather", "rows", gather, 2)
                                     : assay__nn_emit(layer, "Gather", gather, 2);
    assay__nn_add_bias(layer, node, bias);
}

/* --- normalization ---------------------------------------------------------------------------- */

static void map_batchnorm(struct assay__nn_layer *layer)
{
    static const char *const parts[4] = {"gamma", "beta", "mean", "variance"};
    const struct assay__wire_field *params = &layer->params;
    int64_t channels = assay__nn_int(params, 1, 0);
    bool instance = assay__nn_int(params, 5, 0) && assay__nn_int(params, 6, 0);
    const char *inputs[5] = {assay__nn_input(layer, 0), "", "", "", ""};
    for (uint32_t i = 0; i < (instance ? 2u : 4u); i++)
        inputs[1 + i] = assay__nn_weights(layer, params, 15 + i, parts[i], 1, &channels);
    struct assay__node *node = assay__nn_emit(
        layer, instance ? "InstanceNormalization" : "BatchNormalization", inputs, instance ? 3 : 5);
    assay__node_set_float(layer->model, node, "epsilon", assay__nn_float(params, 10, 1e-5f));
}

static void map_mvn(struct assay__nn_layer *layer)
{
    const int64_t axes[3] = {1, 2, 3};
    bool across = assay__nn_int(&layer->params, 1, 0);
    struct assay__node *node = assay__nn_emit_plain(layer, "MeanVarianceNormalization");
    assay__node_set_ints(layer->model, node, "axes", across ? axes : axes + 1, across ? 3 : 2);
}

/* Over channels: the third axis from the end, or the last of a matrix. */
static void map_softmax(struct assay__nn_layer *layer)
{
    int rank = assay__nn_rank(layer);
    struct assay__node *node = assay__nn_emit_plain(layer, "Softmax");
    assay__node_set_int(layer->model, node, "axis", rank >= 0 && rank < 3 ? -1 : -3);
}

static void map_layer_norm(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    int64_t shape[8];
    size_t rank;
    if (!assay__nn_list(layer, 1, shape, 8, &rank)) return;
    if (!rank) assay__nn_fail(layer, "a shape cannot be read");
    const char *inputs[3] = {assay__nn_input(layer, 0),
                             assay__nn_weights(layer, params, 3, "gamma", (int)rank, shape),
                             assay__nn_weights(layer, params, 4, "beta", (int)rank, shape)};
    struct assay__node *node = assay__nn_emit(layer, "LayerNormalization", inputs, 3);
    assay__node_set_int(layer->model, node, "axis", -(int64_t)rank);
    assay__node_set_float(layer->model, node, "epsilon", assay__nn_float(params, 2, 1e-5f));
}

const struct assay__nn_row assay__nn_rows_maps[] = {
    {100, "convolution", "Conv", "", map_convolution},
    {120, "pooling", "MaxPool", "", map_pooling},
    {130, "activation", "Relu", "", map_activation},
    {140, "innerProduct", "Gemm", "", map_inner_product},
    {150, "embedding", "Gather", "", map_embedding},
    {160, "batchnorm", "BatchNormalization", "", map_batchnorm},
    {165, "mvn", "MeanVarianceNormalization", "", map_mvn},
    {175, "softmax", "Softmax", "", map_softmax},
    {795, "gelu", "Gelu", "", map_gelu},
    {1040, "embeddingND", "Gather", "", map_embedding},
    {1045, "batchedMatmul", "MatMul", "", map_matmul},
    {1350, "layerNormalization", "LayerNormalization", "", map_layer_norm},
    {1465, "pooling3d", "MaxPool", "", map_pooling3d},
    {1466, "globalPooling3d", "GlobalMaxPool", "", map_pooling3d},
    {1471, "convolution3d", "Conv", "", map_convolution3d},
    {0},
};
