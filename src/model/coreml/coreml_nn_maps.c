/* coreml_nn_maps.c - layers that compute: convolutions, pooling, products, normalization,
 * activations, recurrent cells. Field numbers are NeuralNetwork.proto's. Recurrent layers become ML
 * programs' lstm, gru and rnn: the gates' matrices, which lie apart here, are inputs in the order W
 * (per gate), R (per gate), b (per gate). */
#include "model/coreml/coreml_nn.h"

#include <string.h>

/* --- windows ---------------------------------------------------------------------------------- */

/* BorderAmounts: 10 borderAmounts[] {1 startEdgeSize, 2 endEdgeSize}, height then width. */
static size_t read_borders(const struct assay__wire_field *message, int64_t *begin, int64_t *end,
                           size_t limit)
{
    struct assay__wire wire = assay__wire_over(message->data, message->size);
    struct assay__wire_field field;
    size_t count = 0;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD && count < limit) {
        if (field.number != 10 || field.type != ASSAY__WIRE_BYTES) continue;
        begin[count] = assay__nn_int(&field, 1, 0);
        end[count++] = assay__nn_int(&field, 2, 0);
    }
    return count;
}

/* valid {1 paddingAmounts} in field `valid`, same {1 asymmetryMode} in the next. */
static int set_padding(struct assay__nn_layer *layer, struct assay__node *node, uint32_t valid)
{
    struct assay__wire_field field, amounts;
    int64_t begin[2] = {0, 0}, end[2] = {0, 0};
    if (assay__nn_message(&layer->params, valid + 1, &field))
        return assay__nn_done(
            layer,
            assay__node_set_string(assay__nn_model(layer), node, "auto_pad",
                                   assay__nn_int(&field, 1, 0) ? "SAME_LOWER" : "SAME_UPPER"));
    if (!assay__nn_message(&layer->params, valid, &field) ||
        !assay__nn_message(&field, 1, &amounts) || read_borders(&amounts, begin, end, 2) != 2)
        return 0;
    const int64_t pads[4] = {begin[0], begin[1], end[0], end[1]};
    return assay__nn_done(layer,
                          assay__node_set_ints(assay__nn_model(layer), node, "pads", pads, 4));
}

/* Two numbers, as stated or the default. */
static int pair(struct assay__nn_layer *layer, uint32_t field, int64_t otherwise, int64_t out[2])
{
    out[0] = out[1] = otherwise;
    size_t count = assay__nn_ints(&layer->params, field, out, 2);
    if (count == 0) out[0] = out[1] = otherwise;
    return count == 0 || count == 2 ? 0 : assay__nn_fail(layer, "a window that is not flat");
}

struct windows {
    size_t axes;
    const int64_t *kernel, *stride, *dilation;
};

/* inputs: x, the weights, the bias. NULL: *code says why. */
static struct assay__node *emit_convolution(struct assay__nn_layer *layer, bool transposed,
                                            const char *const inputs[3], int64_t groups,
                                            const struct windows *windows, int *code)
{
    struct assay__model *model = assay__nn_model(layer);
    size_t axes = windows->axes;
    struct assay__node *node = assay__nn_emit(layer, transposed ? "ConvTranspose" : "Conv", "", "",
                                              inputs, 3, NULL, 0, code);
    if (!node) return NULL;
    *code = assay__node_set_int(model, node, "group", groups);
    if (!*code) *code = assay__node_set_ints(model, node, "kernel_shape", windows->kernel, axes);
    if (!*code) *code = assay__node_set_ints(model, node, "strides", windows->stride, axes);
    if (!*code) *code = assay__node_set_ints(model, node, "dilations", windows->dilation, axes);
    if (*code) *code = assay__nn_done(layer, *code);
    return *code ? NULL : node;
}

static int map_convolution(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    int64_t out = assay__nn_int(params, 1, 0), in = assay__nn_int(params, 2, 0);
    int64_t groups = assay__nn_int(params, 10, 1), kernel[2], stride[2], dilation[2], shape[2];
    const char *inputs[3] = {assay__nn_input(layer, 0), "", ""};
    bool transposed = assay__nn_int(params, 60, 0);
    int code = pair(layer, 20, 3, kernel);
    if (!code) code = pair(layer, 30, 1, stride);
    if (!code) code = pair(layer, 40, 1, dilation);
    if (groups < 1) groups = 1;
    const int64_t dims[4] = {transposed ? in : out, transposed ? out / groups : in, kernel[0],
                             kernel[1]};
    if (!code) code = assay__nn_weights(layer, params, 90, "weight", 4, dims, &inputs[1]);
    if (!code && assay__nn_int(params, 70, 0))
        code = assay__nn_weights(layer, params, 91, "bias", 1, &out, &inputs[2]);
    if (code) return code;
    if (!*inputs[1]) inputs[1] = assay__nn_input(layer, 1); /* weights as an input */
    const struct windows windows = {2, kernel, stride, dilation};
    struct assay__node *node = emit_convolution(layer, transposed, inputs, groups, &windows, &code);
    if (!node) return code;
    if (transposed && assay__nn_ints(params, 100, shape, 2) == 2)
        code = assay__node_set_ints(assay__nn_model(layer), node, "output_shape", shape, 2);
    return code ? assay__nn_done(layer, code) : set_padding(layer, node, 50);
}

/* Three numbers in fields first, first + 1, first + 2. */
static void triple(const struct assay__nn_layer *layer, uint32_t first, int64_t otherwise,
                   int64_t out[3])
{
    for (uint32_t i = 0; i < 3; i++)
        out[i] = assay__nn_int(&layer->params, first + i, otherwise);
}

/* Padding of three axes: type in one field (0 custom, 1 valid, 2 same), the amounts in six. */
static int set_padding3d(struct assay__nn_layer *layer, struct assay__node *node, uint32_t type,
                         uint32_t first)
{
    int64_t kind = assay__nn_int(&layer->params, type, 0), pads[6];
    if (kind == 2)
        return assay__nn_done(
            layer, assay__node_set_string(assay__nn_model(layer), node, "auto_pad", "SAME_UPPER"));
    if (kind == 1) return 0;
    for (uint32_t i = 0; i < 3; i++) {
        pads[i] = assay__nn_int(&layer->params, first + 2 * i, 0);
        pads[3 + i] = assay__nn_int(&layer->params, first + 2 * i + 1, 0);
    }
    return assay__nn_done(layer,
                          assay__node_set_ints(assay__nn_model(layer), node, "pads", pads, 6));
}

static int map_convolution3d(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    int64_t out = assay__nn_int(params, 1, 0), in = assay__nn_int(params, 2, 0);
    int64_t groups = assay__nn_int(params, 10, 1), kernel[3], stride[3], dilation[3];
    const char *inputs[3] = {assay__nn_input(layer, 0), "", ""};
    bool transposed = assay__nn_int(params, 86, 0);
    if (groups < 1) groups = 1;
    triple(layer, 20, 3, kernel);
    triple(layer, 31, 1, stride);
    triple(layer, 40, 1, dilation);
    const int64_t dims[5] = {transposed ? in : out, transposed ? out / groups : in / groups,
                             kernel[0], kernel[1], kernel[2]};
    int code = assay__nn_weights(layer, params, 60, "weight", 5, dims, &inputs[1]);
    if (!code && assay__nn_int(params, 50, 0))
        code = assay__nn_weights(layer, params, 61, "bias", 1, &out, &inputs[2]);
    if (code) return code;
    const struct windows windows = {3, kernel, stride, dilation};
    struct assay__node *node = emit_convolution(layer, transposed, inputs, groups, &windows, &code);
    return node ? set_padding3d(layer, node, 70, 80) : code;
}

static int map_pooling(struct assay__nn_layer *layer)
{
    static const char *const local[] = {"MaxPool", "AveragePool", "LpPool"};
    static const char *const global[] = {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"};
    struct assay__model *model = assay__nn_model(layer);
    const struct assay__wire_field *params = &layer->params;
    int64_t type = assay__nn_int(params, 1, 0), kernel[2], stride[2], amounts[2] = {0, 0};
    bool whole = assay__nn_int(params, 60, 0);
    struct assay__wire_field last;
    int code = pair(layer, 10, 3, kernel);
    if (!code) code = pair(layer, 20, 1, stride);
    if (!code && (type < 0 || type > 2)) code = assay__nn_fail(layer, "pooling of an unknown kind");
    if (code) return code;
    struct assay__node *node = assay__nn_emit(layer, whole ? global[type] : local[type], "", "",
                                              layer->inputs, layer->input_count, NULL, 0, &code);
    if (!node) return code;
    if (type == 2) code = assay__node_set_int(model, node, "p", 2);
    if (whole) return assay__nn_done(layer, code);
    if (!code) code = assay__node_set_ints(model, node, "kernel_shape", kernel, 2);
    if (!code) code = assay__node_set_ints(model, node, "strides", stride, 2);
    if (!code && type == 1)
        code = assay__node_set_int(model, node, "count_include_pad", !assay__nn_int(params, 50, 0));
    if (code) return assay__nn_done(layer, code);
    if (!assay__nn_message(params, 32, &last)) return set_padding(layer, node, 30);
    /* includeLastPixel {10 paddingAmounts[]}: a window that is cut off counts */
    if (assay__nn_ints(&last, 10, amounts, 2) != 2) amounts[0] = amounts[1] = 0;
    const int64_t pads[4] = {amounts[0], amounts[1], amounts[0], amounts[1]};
    code = assay__node_set_ints(model, node, "pads", pads, 4);
    if (!code) code = assay__node_set_int(model, node, "ceil_mode", 1);
    return assay__nn_done(layer, code);
}

static int map_pooling3d(struct assay__nn_layer *layer)
{
    struct assay__model *model = assay__nn_model(layer);
    bool average = assay__nn_int(&layer->params, 1, 0), whole = layer->kind == 1466;
    int64_t kernel[3], stride[3];
    const char *op = whole ? (average ? "GlobalAveragePool" : "GlobalMaxPool")
                           : (average ? "AveragePool" : "MaxPool");
    int code = 0;
    triple(layer, 2, 1, kernel);
    triple(layer, 5, 1, stride);
    struct assay__node *node = assay__nn_emit(layer, op, "", "", layer->inputs, layer->input_count,
                                              NULL, 0, &code);
    if (!node || whole) return code;
    code = assay__node_set_ints(model, node, "kernel_shape", kernel, 3);
    if (!code) code = assay__node_set_ints(model, node, "strides", stride, 3);
    return code ? assay__nn_done(layer, code) : set_padding3d(layer, node, 15, 8);
}

/* --- activations ------------------------------------------------------------------------------ */

static int map_activation(struct assay__nn_layer *layer)
{
    static const struct {
        uint32_t field;
        const char *op;
        bool kept;
        const char *first, *second; /* attributes in fields 1 and 2 */
    } kinds[] = {
        {5, "linear_activation", true, "alpha", "beta"},
        {10, "Relu", false, NULL, NULL},
        {15, "LeakyRelu", false, "alpha", NULL},
        {20, "ThresholdedRelu", false, "alpha", NULL},
        {25, "PRelu", false, NULL, NULL},
        {30, "Tanh", false, NULL, NULL},
        {31, "scaled_tanh", true, "alpha", "beta"},
        {40, "Sigmoid", false, NULL, NULL},
        {41, "HardSigmoid", false, "alpha", "beta"},
        {50, "Elu", false, "alpha", NULL},
        {60, "Softsign", false, NULL, NULL},
        {70, "Softplus", false, NULL, NULL},
        {71, "softplus_parametric", true, NULL, NULL},
    };
    struct assay__wire wire = assay__wire_over(layer->params.data, layer->params.size);
    struct assay__wire_field field = {.number = 0}, weights, numbers;
    const char *inputs[3] = {assay__nn_input(layer, 0), "", ""};
    size_t kind = 0, count = sizeof kinds / sizeof kinds[0];
    int code = 0;
    if (assay__wire_next(&wire, &field) != ASSAY__WIRE_FIELD || field.type != ASSAY__WIRE_BYTES)
        return assay__nn_fail(layer, "an activation of no kind");
    while (kind < count && kinds[kind].field != field.number)
        kind++;
    if (kind == count) return assay__nn_fail(layer, "an activation of kind %u", field.number);
    for (uint32_t i = 1; i <= 2 && (field.number == 25 || field.number == 71) && !code; i++) {
        /* a number per channel; their count is what is there */
        if (!assay__nn_message(&field, i, &weights)) continue;
        int64_t size = 0;
        if (assay__nn_message(&weights, 1, &numbers)) size = (int64_t)(numbers.size / 4);
        if (assay__nn_message(&weights, 2, &numbers)) size = (int64_t)(numbers.size / 2);
        const int64_t dims[3] = {size, 1, 1};
        code = assay__nn_weights(layer, &field, i, i == 1 ? "alpha" : "beta", 3, dims, &inputs[i]);
    }
    if (code) return code;
    struct assay__node *node = assay__nn_emit(layer, kinds[kind].op,
                                              kinds[kind].kept ? ASSAY__COREML_DOMAIN : "", "",
                                              inputs, 3, NULL, 0, &code);
    if (node && kinds[kind].first)
        code = assay__node_set_float(assay__nn_model(layer), node, kinds[kind].first,
                                     assay__nn_float(&field, 1, 0));
    if (node && !code && kinds[kind].second)
        code = assay__node_set_float(assay__nn_model(layer), node, kinds[kind].second,
                                     assay__nn_float(&field, 2, 0));
    return node ? assay__nn_done(layer, code) : code;
}

static int map_gelu(struct assay__nn_layer *layer)
{
    int64_t mode = assay__nn_int(&layer->params, 1, 0); /* 0 exact, 1 tanh, 2 sigmoid */
    int code = 0;
    struct assay__node *node = assay__nn_emit(layer, mode == 2 ? "QuickGelu" : "Gelu",
                                              mode == 2 ? "com.microsoft" : "", "", layer->inputs,
                                              layer->input_count, NULL, 0, &code);
    if (!node || mode != 1) return code;
    return assay__nn_done(
        layer, assay__node_set_string(assay__nn_model(layer), node, "approximate", "tanh"));
}

/* --- products --------------------------------------------------------------------------------- */

/* The first input as a matrix, through a Flatten when it is a flat image [N, C, 1, 1]. */
static int as_matrix(struct assay__nn_layer *layer, const char **name)
{
    int code = 0;
    *name = assay__nn_input(layer, 0);
    if (!layer->input_count || layer->ranks[0] == 2) return 0;
    const char *flat = assay__nn_text(layer, "flat");
    if (!flat) return assay__nn_done(layer, ASSAY_ENOMEM);
    struct assay__node *node = assay__nn_emit(layer, "Flatten", "", "flat", layer->inputs, 1, &flat,
                                              1, &code);
    if (!node) return code;
    *name = flat;
    return assay__nn_done(layer, assay__node_set_int(assay__nn_model(layer), node, "axis", 1));
}

/* y = x W^T + b over the last axis: Gemm on matrices, "linear" over more axes. */
static int map_inner_product(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    int64_t in = assay__nn_int(params, 1, 0), out = assay__nn_int(params, 2, 0);
    const int64_t dims[2] = {out, in};
    const char *inputs[3] = {"", "", ""};
    bool matrix = !layer->nn->exact || (layer->input_count && layer->ranks[0] == 2);
    int code = assay__nn_weights(layer, params, 20, "weight", 2, dims, &inputs[1]);
    if (!code && assay__nn_int(params, 10, 0))
        code = assay__nn_weights(layer, params, 21, "bias", 1, &out, &inputs[2]);
    inputs[0] = assay__nn_input(layer, 0);
    if (!code && matrix) code = as_matrix(layer, &inputs[0]);
    if (code) return code;
    if (matrix) layer->out_rank = 2;
    struct assay__node *node = assay__nn_emit(layer, matrix ? "Gemm" : "linear",
                                              matrix ? "" : ASSAY__COREML_DOMAIN, "", inputs, 3,
                                              NULL, 0, &code);
    if (!node || !matrix) return code;
    return assay__nn_done(layer, assay__node_set_int(assay__nn_model(layer), node, "transB", 1));
}

static int map_matmul(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    int64_t a = assay__nn_int(params, 1, 0), b = assay__nn_int(params, 2, 0);
    const int64_t dims[2] = {assay__nn_int(params, 5, 0), assay__nn_int(params, 6, 0)};
    const char *inputs[2] = {assay__nn_input(layer, 0), assay__nn_input(layer, 1)}, *bias = "",
               *product = NULL;
    bool plain = !a && !b;
    int code = 0;
    if (layer->input_count == 1) {
        code = assay__nn_weights(layer, params, 8, "weight", 2, dims, &inputs[1]);
        if (!code && assay__nn_int(params, 7, 0))
            code = assay__nn_weights(layer, params, 9, "bias", 1, &dims[1], &bias);
    }
    if (!code && *bias && !(product = assay__nn_text(layer, "product")))
        code = assay__nn_done(layer, ASSAY_ENOMEM);
    if (code) return code;
    struct assay__node *node = assay__nn_emit(
        layer, plain ? "MatMul" : "FusedMatMul", plain ? "" : "com.microsoft",
        product ? "product" : "", inputs, 2, product ? &product : NULL, product ? 1 : 0, &code);
    if (node && !plain) {
        code = assay__node_set_int(assay__nn_model(layer), node, "transA", a != 0);
        if (!code) code = assay__node_set_int(assay__nn_model(layer), node, "transB", b != 0);
        code = assay__nn_done(layer, code);
    }
    if (code || !product) return code;
    const char *sum[2] = {product, bias};
    assay__nn_emit(layer, "Add", "", "", sum, 2, NULL, 0, &code);
    return code;
}

/* Rows of a table. Old networks: [N, 1, 1, 1] of indices; ND: [..., 1]. */
static int look_up(struct assay__nn_layer *layer, int64_t rows, int64_t columns, bool has_bias,
                   bool nd)
{
    const int64_t dims[2] = {rows, columns}, axis[1] = {-1};
    const char *inputs[2] = {assay__nn_input(layer, 0), ""}, *table = "", *bias = "", *ids,
               *found = NULL;
    int code = assay__nn_weights(layer, &layer->params, 20, "weight", 2, dims, &table);
    if (!code && has_bias)
        code = assay__nn_weights(layer, &layer->params, 21, "bias", 1, &columns, &bias);
    if (!code) code = assay__nn_int64s(layer, nd ? "axes" : "shape", axis, 1, &inputs[1]);
    ids = assay__nn_text(layer, "ids");
    if (!code && *bias) found = assay__nn_text(layer, "rows");
    if (!code && (!ids || (*bias && !found))) code = assay__nn_done(layer, ASSAY_ENOMEM);
    if (code) return code;
    if (!assay__nn_emit(layer, nd ? "Squeeze" : "Reshape", "", "ids", inputs, 2, &ids, 1, &code))
        return code;
    const char *gather[2] = {table, ids}, *sum[2] = {found, bias};
    if (!nd) layer->out_rank = 2;
    if (!assay__nn_emit(layer, "Gather", "", found ? "rows" : "", gather, 2, found ? &found : NULL,
                        found ? 1 : 0, &code) ||
        !found)
        return code;
    assay__nn_emit(layer, "Add", "", "", sum, 2, NULL, 0, &code);
    return code;
}

static int map_embedding(struct assay__nn_layer *layer)
{
    return look_up(layer, assay__nn_int(&layer->params, 1, 0), assay__nn_int(&layer->params, 2, 0),
                   assay__nn_int(&layer->params, 10, 0) != 0, false);
}

static int map_embedding_nd(struct assay__nn_layer *layer)
{
    return look_up(layer, assay__nn_int(&layer->params, 1, 0), assay__nn_int(&layer->params, 2, 0),
                   assay__nn_int(&layer->params, 3, 0) != 0, true);
}

/* --- normalization ---------------------------------------------------------------------------- */

static int map_batchnorm(struct assay__nn_layer *layer)
{
    static const char *const parts[4] = {"gamma", "beta", "mean", "variance"};
    const struct assay__wire_field *params = &layer->params;
    int64_t channels = assay__nn_int(params, 1, 0);
    bool instance = assay__nn_int(params, 5, 0) && assay__nn_int(params, 6, 0);
    const char *inputs[5] = {assay__nn_input(layer, 0), "", "", "", ""};
    int code = 0;
    for (uint32_t i = 0; i < (instance ? 2u : 4u) && !code; i++)
        code = assay__nn_weights(layer, params, 15 + i, parts[i], 1, &channels, &inputs[1 + i]);
    if (code) return code;
    struct assay__node *node = assay__nn_emit(
        layer, instance ? "InstanceNormalization" : "BatchNormalization", "", "", inputs,
        instance ? 3 : 5, NULL, 0, &code);
    if (!node) return code;
    return assay__nn_done(layer, assay__node_set_float(assay__nn_model(layer), node, "epsilon",
                                                       assay__nn_float(params, 10, 1e-5f)));
}

static int map_mvn(struct assay__nn_layer *layer)
{
    const int64_t axes[3] = {1, 2, 3};
    bool across = assay__nn_int(&layer->params, 1, 0);
    int code = 0;
    struct assay__node *node = assay__nn_emit(layer, "MeanVarianceNormalization", "", "",
                                              layer->inputs, layer->input_count, NULL, 0, &code);
    if (!node) return code;
    return assay__nn_done(layer, assay__node_set_ints(assay__nn_model(layer), node, "axes",
                                                      across ? axes : axes + 1, across ? 3 : 2));
}

/* Over channels: the third axis from the end, or the last of a matrix. */
static int map_softmax(struct assay__nn_layer *layer)
{
    int rank = layer->input_count ? layer->ranks[0] : -1, code = 0;
    struct assay__node *node = assay__nn_emit(layer, "Softmax", "", "", layer->inputs,
                                              layer->input_count, NULL, 0, &code);
    if (!node) return code;
    return assay__nn_done(layer, assay__node_set_int(assay__nn_model(layer), node, "axis",
                                                     rank >= 0 && rank < 3 ? -1 : -3));
}

static int map_layer_norm(struct assay__nn_layer *layer)
{
    const struct assay__wire_field *params = &layer->params;
    int64_t shape[8];
    const char *inputs[3] = {assay__nn_input(layer, 0), "", ""};
    size_t rank = assay__nn_ints(params, 1, shape, 8);
    if (rank == SIZE_MAX || !rank) return assay__nn_fail(layer, "a shape cannot be read");
    int code = assay__nn_weights(layer, params, 3, "gamma", (int)rank, shape, &inputs[1]);
    if (!code) code = assay__nn_weights(layer, params, 4, "beta", (int)rank, shape, &inputs[2]);
    if (code) return code;
    struct assay__node *node = assay__nn_emit(layer, "LayerNormalization", "", "", inputs, 3, NULL,
                                              0, &code);
    if (!node) return code;
    code = assay__node_set_int(assay__nn_model(layer), node, "axis", -(int64_t)rank);
    if (!code)
        code = assay__node_set_float(assay__nn_model(layer), node, "epsilon",
                                     assay__nn_float(params, 2, 1e-5f));
    return assay__nn_done(layer, code);
}

const struct assay__nn_row assay__nn_rows_maps[] = {
    {100, "convolution", "Conv", false, "", map_convolution},
    {120, "pooling", "MaxPool", false, "", map_pooling},
    {130, "activation", "Relu", false, "", map_activation},
    {140, "innerProduct", "Gemm", false, "", map_inner_product},
    {150, "embedding", "Gather", false, "", map_embedding},
    {160, "batchnorm", "BatchNormalization", false, "", map_batchnorm},
    {165, "mvn", "MeanVarianceNormalization", false, "", map_mvn},
    {175, "softmax", "Softmax", false, "", map_softmax},
    {795, "gelu", "Gelu", false, "", map_gelu},
    {1040, "embeddingND", "Gather", false, "", map_embedding_nd},
    {1045, "batchedMatmul", "MatMul", false, "", map_matmul},
    {1350, "layerNormalization", "LayerNormalization", false, "", map_layer_norm},
    {1465, "pooling3d", "MaxPool", false, "", map_pooling3d},
    {1466, "globalPooling3d", "GlobalMaxPool", false, "", map_pooling3d},
    {1471, "convolution3d", "Conv", false, "", map_convolution3d},
    {0},
};
