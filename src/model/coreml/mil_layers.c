/* mil_layers.c - layers whose parameters ONNX writes differently: convolutions, pooling, matrix
 * products, normalization, activations with modes. Padding: MIL lists begin and end per axis, ONNX
 * all begins and then all ends; "same" is ONNX's SAME_UPPER. A mapping first asks for all it needs
 * and only then adds the node. */
#include "model/coreml/mil.h"

#include <stdlib.h>
#include <string.h>

#define SPATIAL 8 /* axes of a window */

/* --- windows ---------------------------------------------------------------------------------- */

struct window {
    int64_t *kernel, *strides, *dilations, *pad;
    size_t kernels, stride_count, dilation_count, pad_count;
    const char *pad_type;
};

static bool read_window(const struct assay__mil_call *call, const char *kernel,
                        struct window *window)
{
    memset(window, 0, sizeof *window);
    return (!kernel || assay__mil_ints(call, kernel, &window->kernel, &window->kernels)) &&
           assay__mil_ints(call, "strides", &window->strides, &window->stride_count) &&
           assay__mil_ints(call, "dilations", &window->dilations, &window->dilation_count) &&
           assay__mil_ints(call, "pad", &window->pad, &window->pad_count) &&
           assay__mil_string(call, "pad_type", "valid", &window->pad_type) &&
           window->pad_count <= 2 * SPATIAL && window->pad_count % 2 == 0;
}

static int set_window(struct assay__mil_call *call, struct assay__node *node,
                      const struct window *window)
{
    struct assay__model *model = call->coreml->model;
    int64_t pads[2 * SPATIAL];
    size_t axes = window->pad_count / 2;
    if (window->kernels)
        assay__node_set_ints(model, node, "kernel_shape", window->kernel, window->kernels);
    if (window->stride_count)
        assay__node_set_ints(model, node, "strides", window->strides, window->stride_count);
    if (window->dilation_count)
        assay__node_set_ints(model, node, "dilations", window->dilations, window->dilation_count);
    if (strcmp(window->pad_type, "same") == 0)
        return assay__mil_set_string(call, node, "auto_pad", "SAME_UPPER");
    if (strcmp(window->pad_type, "same_lower") == 0)
        return assay__mil_set_string(call, node, "auto_pad", "SAME_LOWER");
    if (strcmp(window->pad_type, "custom") != 0) return 0;
    for (size_t i = 0; i < axes; i++) {
        pads[i] = window->pad[2 * i];
        pads[axes + i] = window->pad[2 * i + 1];
    }
    return assay__node_set_ints(model, node, "pads", pads, 2 * axes);
}

/* The kernel of a convolution is what its weights' shape says after the two channel axes. */
static void weights_kernel(const struct assay__mil_call *call, struct window *window)
{
    const struct assay__mil_type *type = assay__mil_type_of(call, "weight");
    if (!type || type->rank <= 2 || type->rank > 2 + SPATIAL) return;
    for (int i = 2; i < type->rank; i++)
        if (type->dims[i] < 0) return;
    window->kernel = type->dims + 2;
    window->kernels = (size_t)type->rank - 2;
}

/* conv and conv_transpose; only the second has an output_shape. */
static int map_conv(struct assay__mil_call *call)
{
    struct window window;
    int64_t groups, *shape;
    size_t rank;
    if (!read_window(call, NULL, &window) || !assay__mil_int(call, "groups", 1, &groups) ||
        !assay__mil_ints(call, "output_shape", &shape, &rank))
        return ASSAY__MIL_KEEP;
    weights_kernel(call, &window);
    struct assay__node *node = assay__mil_emit(call, call->onnx, "x weight bias", NULL);
    assay__mil_set_int(call, node, "group", groups);
    if (rank > 2) /* MIL's has the batch and the channels too */
        assay__node_set_ints(call->coreml->model, node, "output_shape", shape + 2, rank - 2);
    return set_window(call, node, &window);
}

static int map_pool(struct assay__mil_call *call)
{
    struct window window;
    int64_t ceil_mode, exclude;
    if (!read_window(call, "kernel_sizes", &window) || !window.kernels ||
        !assay__mil_int(call, "ceil_mode", 0, &ceil_mode) ||
        !assay__mil_int(call, "exclude_padding_from_average", 0, &exclude))
        return ASSAY__MIL_KEEP;
    struct assay__node *node = assay__mil_emit(call, call->onnx, "x", NULL);
    assay__mil_set_int(call, node, "ceil_mode", ceil_mode);
    if (strcmp(call->onnx, "AveragePool") == 0)
        assay__mil_set_int(call, node, "count_include_pad", !exclude);
    if (strcmp(call->onnx, "LpPool") == 0) assay__mil_set_int(call, node, "p", 2);
    return set_window(call, node, &window);
}

/* --- matrix products -------------------------------------------------------------------------- */

/* y = x W^T + b. Gemm takes matrices; over more axes it is kept as "linear" (x, weight, bias). */
static int map_linear(struct assay__mil_call *call)
{
    const struct assay__mil_type *x = assay__mil_type_of(call, "x");
    if (!x || x->rank != 2) return ASSAY__MIL_KEEP;
    return assay__mil_set_int(call, assay__mil_emit(call, "Gemm", "x weight bias", NULL), "transB",
                              1);
}

static int map_matmul(struct assay__mil_call *call)
{
    int64_t x, y;
    if (!assay__mil_int(call, "transpose_x", 0, &x) || !assay__mil_int(call, "transpose_y", 0, &y))
        return ASSAY__MIL_KEEP;
    bool plain = !x && !y;
    struct assay__node *node = assay__mil_emit(call, plain ? "MatMul" : "FusedMatMul", "x y", NULL);
    if (!node || plain) return 0;
    node->domain = "com.microsoft";
    assay__mil_set_int(call, node, "transA", x != 0);
    return assay__mil_set_int(call, node, "transB", y != 0);
}

/* --- normalization and activation ------------------------------------------------------------- */

static int compare_axes(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* LayerNormalization works over the last axes only; over others the operator is kept. */
static int map_layer_norm(struct assay__mil_call *call)
{
    const struct assay__mil_type *x = assay__mil_type_of(call, "x");
    int64_t *axes;
    size_t count;
    double epsilon;
    if (!x || x->rank < 1 || !assay__mil_ints(call, "axes", &axes, &count) ||
        !assay__mil_float(call, "epsilon", 1e-5, &epsilon) || count > (size_t)x->rank)
        return ASSAY__MIL_KEEP;
    for (size_t i = 0; i < count; i++)
        if (axes[i] < 0) axes[i] += x->rank;
    if (count) qsort(axes, count, sizeof *axes, compare_axes);
    for (size_t i = 0; i < count; i++)
        if (axes[i] != x->rank - (int64_t)count + (int64_t)i) return ASSAY__MIL_KEEP;
    struct assay__node *node = assay__mil_emit(call, "LayerNormalization", "x gamma beta", NULL);
    assay__mil_set_int(call, node, "axis", count ? -(int64_t)count : -(int64_t)x->rank);
    return assay__mil_set_float(call, node, "epsilon", epsilon);
}

static int map_gelu(struct assay__mil_call *call)
{
    const char *mode;
    if (!assay__mil_string(call, "mode", "EXACT", &mode)) return ASSAY__MIL_KEEP;
    bool quick = strcmp(mode, "SIGMOID_APPROXIMATION") == 0; /* x sigmoid(1.702 x) */
    struct assay__node *node = assay__mil_emit(call, quick ? "QuickGelu" : "Gelu", "x", NULL);
    if (!quick)
        return assay__mil_set_string(call, node, "approximate",
                                     strcmp(mode, "TANH_APPROXIMATION") == 0 ? "tanh" : "none");
    if (node) node->domain = "com.microsoft";
    return assay__mil_set_float(call, node, "alpha", 1.702);
}

/* Bounds are attributes here, as Clip had them before its eleventh version: they are numbers, not
 * tensors. */
static int clip_between(struct assay__mil_call *call, double low, double high)
{
    struct assay__node *node = assay__mil_emit(call, "Clip", "x", NULL);
    assay__mil_set_float(call, node, "min", low);
    return assay__mil_set_float(call, node, "max", high);
}

static int map_relu6(struct assay__mil_call *call)
{
    return clip_between(call, 0, 6);
}

static int map_clip(struct assay__mil_call *call)
{
    double low, high;
    if (!assay__mil_float(call, "alpha", 0, &low) || !assay__mil_float(call, "beta", 1, &high))
        return ASSAY__MIL_KEEP;
    return clip_between(call, low, high);
}

static int map_cast(struct assay__mil_call *call)
{
    enum assay__dtype dtype = call->op->outputs[0].type.dtype; /* stated, so no text is parsed */
    if (dtype == ASSAY__UNDEFINED) return ASSAY__MIL_KEEP;
    return assay__mil_set_int(call, assay__mil_emit(call, "Cast", "x", NULL), "to", dtype);
}

const struct assay__mil_row assay__mil_rows_layers[] = {
    {"gelu>Gelu", "x", "mode", map_gelu},
    {"relu6>Clip", "x", "", map_relu6},
    {"conv>Conv", "x weight bias", "strides pad_type pad dilations groups", map_conv},
    {"conv_transpose>ConvTranspose", "x weight bias",
     "strides pad_type pad dilations groups output_shape", map_conv},
    {"cast>Cast", "x", "dtype", map_cast},
    {"clip>Clip", "x", "alpha beta", map_clip},
    {"linear>Gemm", "x weight bias", "", map_linear},
    {"matmul>MatMul", "x y", "transpose_x transpose_y", map_matmul},
    {"layer_norm>LayerNormalization", "x gamma beta", "axes epsilon", map_layer_norm},
    {"avg_pool>AveragePool l2_pool>LpPool max_pool>MaxPool", "x",
     "kernel_sizes strides pad_type pad", map_pool},
    {0},
};
