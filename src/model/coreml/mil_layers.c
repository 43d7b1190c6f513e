/* mil_layers.c - layers whose parameters have a different form in ONNX: convolutions, pooling,
 * matrix products, normalization, activations with modes. Padding: MIL lists begin and end per
 * axis, ONNX all begins and then all ends; "same" is ONNX's SAME_UPPER. A mapping first queries
 * everything it needs and only then adds the node. */
#include "model/coreml/mil.h"

#include <string.h>

#define SPATIAL 8 /* axes of a window */

struct window {
    int64_t *kernel, *strides, *dilations, *pad;
    size_t kernels, stride_count, dilation_count, pad_count;
    const char *pad_type;
};

/* All but the kernel. */
static void read_window(struct assay__mil_call *call, struct window *window)
{
    *window = (struct window){.pad_type = assay__mil_string(call, "pad_type", "valid")};
    window->strides = assay__mil_ints(call, "strides", &window->stride_count);
    window->dilations = assay__mil_ints(call, "dilations", &window->dilation_count);
    window->pad = assay__mil_ints(call, "pad", &window->pad_count);
    call->unknown |= window->pad_count > 2 * SPATIAL || window->pad_count % 2;
}

static int set_window(struct assay__mil_call *call, struct assay__node *node,
                      const struct window *window)
{
    int64_t pads[2 * SPATIAL];
    size_t axes = window->pad_count / 2;
    if (window->kernels)
        assay__node_set_ints(call->model, node, "kernel_shape", window->kernel, window->kernels);
    if (window->stride_count)
        assay__node_set_ints(call->model, node, "strides", window->strides, window->stride_count);
    if (window->dilation_count)
        assay__node_set_ints(call->model, node, "dilations", window->dilations,
                             window->dilation_count);
    if (strcmp(window->pad_type, "same") == 0)
        return assay__node_set_string(call->model, node, "auto_pad", "SAME_UPPER");
    if (strcmp(window->pad_type, "same_lower") == 0)
        return assay__node_set_string(call->model, node, "auto_pad", "SAME_LOWER");
    if (strcmp(window->pad_type, "custom") != 0) return 0;
    for (size_t i = 0; i < axes; i++) {
        pads[i] = window->pad[2 * i];
        pads[axes + i] = window->pad[2 * i + 1];
    }
    return assay__node_set_ints(call->model, node, "pads", pads, 2 * axes);
}

/* conv and conv_transpose; only the second has an output_shape. */
static int map_conv(struct assay__mil_call *call)
{
    const struct assay__mil_type *weight = assay__mil_type_of(call, "weight");
    struct window window;
    size_t rank;
    read_window(call, &window);
    int64_t groups = assay__mil_int(call, "groups", 1);
    int64_t *shape = assay__mil_ints(call, "output_shape", &rank);
    if (call->unknown) return ASSAY__MIL_KEEP;
    /* the kernel is given by the weights' shape after the two channel axes */
    if (weight && weight->rank > 2 && weight->rank <= 2 + SPATIAL) {
        window.kernel = weight->dims + 2;
        window.kernels = (size_t)weight->rank - 2;
        for (size_t i = 0; i < window.kernels; i++)
            if (window.kernel[i] < 0) window.kernels = 0;
    }
    struct assay__node *node = assay__mil_emit(call, call->onnx, "x weight bias", NULL);
    assay__node_set_int(call->model, node, "group", groups);
    if (rank > 2) /* MIL's includes the batch and the channels */
        assay__node_set_ints(call->model, node, "output_shape", shape + 2, rank - 2);
    return set_window(call, node, &window);
}

static int map_pool(struct assay__mil_call *call)
{
    struct window window;
    read_window(call, &window);
    window.kernel = assay__mil_ints(call, "kernel_sizes", &window.kernels);
    int64_t ceil_mode = assay__mil_int(call, "ceil_mode", 0);
    int64_t exclude = assay__mil_int(call, "exclude_padding_from_average", 0);
    if (call->unknown || !window.kernels) return ASSAY__MIL_KEEP;
    struct assay__node *node = assay__mil_emit(call, call->onnx, "x", NULL);
    assay__node_set_int(call->model, node, "ceil_mode", ceil_mode);
    if (strcmp(call->onnx, "AveragePool") == 0)
        assay__node_set_int(call->model, node, "count_include_pad", !exclude);
    if (strcmp(call->onnx, "LpPool") == 0) assay__node_set_int(call->model, node, "p", 2);
    return set_window(call, node, &window);
}

/* y = x W^T + b. Gemm needs matrices; with more axes it is kept as "linear" (x, weight, bias). */
static int map_linear(struct assay__mil_call *call)
{
    const struct assay__mil_type *x = assay__mil_type_of(call, "x");
    if (!x || x->rank != 2) return ASSAY__MIL_KEEP;
    return assay__node_set_int(call->model, assay__mil_emit(call, "Gemm", "x weight bias", NULL),
                               "transB", 1);
}

static int map_matmul(struct assay__mil_call *call)
{
    int64_t x = assay__mil_int(call, "transpose_x", 0), y = assay__mil_int(call, "transpose_y", 0);
    if (call->unknown) return ASSAY__MIL_KEEP;
    bool plain = !x && !y;
    struct assay__node *node = assay__mil_emit(call, plain ? "MatMul" : "FusedMatMul", "x y", NULL);
    if (!node || plain) return 0;
    node->domain = "com.microsoft";
    assay__node_set_int(call->model, node, "transA", x != 0);
    return assay__node_set_int(call->model, node, "transB", y != 0);
}

/* LayerNormalization only works over the last axes; for others the operator is kept. */
static int map_layer_norm(struct assay__mil_call *call)
{
    const struct assay__mil_type *x = assay__mil_type_of(call, "x");
    size_t count;
    int64_t *axes = assay__mil_ints(call, "axes", &count);
    double epsilon = assay__mil_float(call, "epsilon", 1e-5);
    if (call->unknown || !x || x->rank < 1 || count > (size_t)x->rank) return ASSAY__MIL_KEEP;
    uint64_t seen = 0; /* which of the last axes */
    for (size_t i = 0; i < count; i++) {
        int64_t axis = axes[i] + (axes[i] < 0 ? (int64_t)count : (int64_t)count - x->rank);
        if (axis < 0 || axis >= (int64_t)count || seen >> axis & 1) return ASSAY__MIL_KEEP;
        seen |= (uint64_t)1 << axis;
    }
    struct assay__node *node = assay__mil_emit(call, "LayerNormalization", "x gamma beta", NULL);
    assay__node_set_int(call->model, node, "axis", count ? -(int64_t)count : -(int64_t)x->rank);
    return assay__node_set_float(call->model, node, "epsilon", (float)epsilon);
}

static int map_gelu(struct assay__mil_call *call)
{
    const char *mode = assay__mil_string(call, "mode", "EXACT");
    if (call->unknown) return ASSAY__MIL_KEEP;
    bool quick = strcmp(mode, "SIGMOID_APPROXIMATION") == 0; /* x sigmoid(1.702 x) */
    struct assay__node *node = assay__mil_emit(call, quick ? "QuickGelu" : "Gelu", "x", NULL);
    if (!quick)
        return assay__node_set_string(call->model, node, "approximate",
                                      strcmp(mode, "TANH_APPROXIMATION") == 0 ? "tanh" : "none");
    if (node) node->domain = "com.microsoft";
    return assay__node_set_float(call->model, node, "alpha", 1.702f);
}

/* clip(alpha, beta) and relu6. The bounds are attributes, as in Clip before operator set 11: they
 * are numbers, not tensors. */
static int map_clip(struct assay__mil_call *call)
{
    bool six = strcmp(call->op->type, "relu6") == 0;
    double low = assay__mil_float(call, "alpha", 0),
           high = assay__mil_float(call, "beta", six ? 6 : 1);
    if (call->unknown) return ASSAY__MIL_KEEP;
    struct assay__node *node = assay__mil_emit(call, "Clip", "x", NULL);
    assay__node_set_float(call->model, node, "min", (float)low);
    return assay__node_set_float(call->model, node, "max", (float)high);
}

static int map_cast(struct assay__mil_call *call)
{
    enum assay__dtype dtype = call->op->outputs[0].type.dtype; /* stated, so no text is parsed */
    if (dtype == ASSAY__UNDEFINED) return ASSAY__MIL_KEEP;
    return assay__node_set_int(call->model, assay__mil_emit(call, "Cast", "x", NULL), "to", dtype);
}

const struct assay__mil_row assay__mil_rows_layers[] = {
    {"gelu>Gelu", "x", "mode", map_gelu},
    {"relu6>Clip", "x", "", map_clip},
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
