/* shapes_window.c - shape rows of operators that slide a window over an image: convolutions and
 * pools, in the layouts N C … and N … C, and of those that resample one. */
#include "base/checked.h"
#include "model/shapes/shape_call.h"
#include "model/shapes/shapes_scope.h"
#include "model/tensor_data.h"

#include <math.h>
#include <string.h>

struct window {
    int spatial;
    int64_t kernel[ASSAY__SHAPE_RANK], stride[ASSAY__SHAPE_RANK], dilation[ASSAY__SHAPE_RANK];
    int64_t pad_begin[ASSAY__SHAPE_RANK], pad_end[ASSAY__SHAPE_RANK];
    bool same, valid, ceil;
};

#define LARGEST (1 << 30) /* limit for a window, step or padding; larger ones are refused */

/* One number per axis from an attribute, `otherwise` if it is missing. false: it is invalid, a list
 * of another length or a number below `least` or above LARGEST. Reported under the name `what`;
 * without one only the length is checked, and nothing is reported. */
static bool read_list(struct assay__shape_call *call, const char *name, const char *what, int count,
                      int64_t least, int64_t otherwise, int64_t *out)
{
    size_t given = 0;
    const int64_t *ints = assay__shape_ints(call, name, &given);
    if (given && given != (size_t)count) {
        if (what)
            assay__shape_conflict(call, 0, "%zu %s where %s needs %d", given, name,
                                  assay__shape_text(call, 0), count);
        return false;
    }
    for (int i = 0; i < count; i++) {
        out[i] = given ? ints[i] : otherwise;
        if (!given || !what || (out[i] >= least && out[i] <= LARGEST)) continue;
        assay__shape_conflict(call, 0, "a %s of %lld over %s", what, (long long)out[i],
                              assay__shape_text(call, 0));
        return false;
    }
    return true;
}

/* kernel may be NULL: then kernel_shape is required. Everything that could overflow is refused. */
static bool read_window(struct assay__shape_call *call, int spatial, const int64_t *kernel,
                        struct window *window)
{
    const struct assay__node *node = call->node;
    int64_t pads[2 * ASSAY__SHAPE_RANK];
    const struct assay__attr *auto_pad = assay__node_attr(node, "auto_pad");
    const char *mode = auto_pad && auto_pad->type == ASSAY__ATTR_STRING ? auto_pad->s : "NOTSET";
    if (spatial < 1 || 2 * spatial > ASSAY__SHAPE_RANK) return false;
    *window = (struct window){.spatial = spatial,
                              .same = strncmp(mode, "SAME", 4) == 0,
                              .valid = strcmp(mode, "VALID") == 0,
                              .ceil = assay__node_int(node, "ceil_mode", 0) != 0};
    if (!read_list(call, "kernel_shape", "window", spatial, 1, -1, window->kernel) ||
        !read_list(call, "strides", "stride", spatial, 1, 1, window->stride) ||
        !read_list(call, "dilations", "dilation", spatial, 1, 1, window->dilation) ||
        !read_list(call, "pads", "padding", 2 * spatial, -LARGEST, 0, pads))
        return false;
    for (int i = 0; i < spatial; i++) {
        window->pad_begin[i] = window->valid ? 0 : pads[i];
        window->pad_end[i] = window->valid ? 0 : pads[spatial + i];
        if (window->kernel[i] < 0 && kernel) window->kernel[i] = kernel[i];
        if (window->kernel[i] < 1 || window->kernel[i] > LARGEST) return false;
    }
    return true;
}

static int64_t window_extent(const struct window *window, int i)
{
    return (window->kernel[i] - 1) * window->dilation[i] + 1;
}

/* floor or ceil((in + pads - ((k - 1) d + 1)) / s) + 1; SAME: ceil(in / s). */
static int64_t window_count(struct assay__symbols *symbols, const struct window *window, int i,
                            int64_t in)
{
    int64_t stride = window->stride[i];
    if (in == ASSAY__NUM_ANY || in > INT64_MAX / 4) return ASSAY__NUM_ANY;
    if (window->same) return assay__num_ceil_div(symbols, in, stride);
    int64_t pads = window->pad_begin[i] + window->pad_end[i];
    int64_t room = assay__num_add(symbols, in, pads - window_extent(window, i));
    if (assay__num_symbolic(in)) {
        /* ceil_mode may drop a window that begins in the padding at the end */
        if (window->ceil && stride > 1 && pads) return ASSAY__NUM_ANY;
        int64_t steps = window->ceil ? assay__num_ceil_div(symbols, room, stride)
                                     : assay__num_floor_div(symbols, room, stride);
        return assay__num_add(symbols, steps, 1);
    }
    if (room < 0 && window->ceil && room > -stride && in > 0) return 1;
    if (room < 0) return ASSAY__NUM_ANY;
    int64_t count = (window->ceil ? (room + stride - 1) / stride : room / stride) + 1;
    /* The last window of ceil_mode must begin inside the input or its leading padding. */
    if (window->ceil && (count - 1) * stride >= in + window->pad_begin[i]) count--;
    return count;
}

/* Reports the first axis on which the window does not fit. */
static void check_fit(struct assay__shape_call *call, const struct window *window, int space)
{
    const int64_t *dims = assay__shape_dims(call, 0);
    struct assay__shape_state *state = call->scope->state;
    for (int i = 0; i < window->spatial && !window->same; i++) {
        int64_t in = dims[space + i], pads = window->pad_begin[i] + window->pad_end[i];
        if (in < 0 || in > INT64_MAX / 4 ||
            window_count(call->symbols, window, i, in) != ASSAY__NUM_ANY)
            continue;
        size_t before = state->conflict_count;
        assay__shape_conflict(call, 0, "a window of %lld over %lld %s %lld of padding",
                              (long long)window_extent(window, i), (long long)in,
                              pads < 0 ? "and" : "with", (long long)pads);
        if (state->conflict_count > before) state->conflicts[before].by_size = true;
        return;
    }
}

/* The first spatial axis: 2 for N C …, 1 for N … C. */
static int first_spatial(const struct assay__shape_call *call)
{
    bool last = strncmp(call->node->op, "Nhwc", 4) == 0 ||
                (strcmp(call->node->domain, "com.microsoft") == 0 &&
                 assay__node_int(call->node, "channels_last", 0) != 0);
    return last ? 1 : 2;
}

/* --- convolutions ----------------------------------------------------------------------------- */

/* One bias per filter. The other operators have something else in its place. */
static void check_bias(struct assay__shape_call *call, int64_t filters)
{
    bool plain = assay__shape_op_is(call, "Conv") || assay__shape_op_is(call, "FusedConv") ||
                 assay__shape_op_is(call, "ConvTranspose");
    int64_t biases = assay__shape_rank(call, 2) == 1 ? assay__shape_dim(call, 2, 0) : -1;
    if (!plain || strcmp(call->node->domain, "com.microsoft.nchwc") == 0) return;
    if (filters < 0 || biases < 0 || filters == biases) return;
    assay__shape_conflict(call, 2, "a bias of %lld ('%.80s') for %lld filters", (long long)biases,
                          call->node->inputs[2], (long long)filters);
}

static void infer_conv(struct assay__shape_call *call)
{
    /* QLinearConv: x, scale, zero, w, …; ConvInteger and the others: X, W. */
    bool quantized = assay__shape_op_is(call, "QLinearConv");
    size_t w = quantized ? 3 : 1;
    int rank = assay__shape_rank(call, 0), space = first_spatial(call);
    int64_t out[ASSAY__SHAPE_RANK];
    struct window window;
    enum assay__dtype dtype = quantized ? assay__shape_dtype(call, 7) : assay__shape_dtype(call, 0);
    if (assay__shape_op_is(call, "ConvInteger")) dtype = ASSAY__INT32;
    assay__shape_set(call, 0, dtype, rank >= 3 ? rank : -1, NULL);
    if (rank < 3 || assay__shape_rank(call, w) < 0) return;
    if (assay__shape_rank(call, w) != rank) {
        assay__shape_conflict(call, 0, "%s with weights %s", assay__shape_text(call, 0),
                              assay__shape_text(call, w));
        return;
    }
    const int64_t *dims = assay__shape_dims(call, 0), *weights = assay__shape_dims(call, w);
    if (assay__shape_op_is(call, "Conv")) assay__shape_types_differ(call, 0, w);
    /* channels of x are those of the weights times the groups; the blocked layout pads them */
    int64_t channels = dims[space == 1 ? rank - 1 : 1];
    int64_t groups = assay__node_int(call->node, "group", 1);
    if (strcmp(call->node->domain, "com.microsoft.nchwc") != 0 && channels >= 0 &&
        weights[1] >= 0 && channels != assay__num_mul(call->symbols, weights[1], groups))
        assay__shape_conflict(call, 0, "%lld channels of %s, weights %s in %lld group%s",
                              (long long)channels, assay__shape_text(call, 0),
                              assay__shape_text(call, w), (long long)groups,
                              groups == 1 ? "" : "s");
    check_bias(call, weights[0]);
    out[0] = dims[0];
    out[space == 1 ? rank - 1 : 1] = weights[0];
    bool known = read_window(call, rank - 2, weights + 2, &window);
    for (int i = 0; i < rank - 2; i++) {
        int64_t in = dims[space + i];
        out[space + i] = known ? window_count(call->symbols, &window, i, in) : ASSAY__NUM_ANY;
    }
    if (known) check_fit(call, &window, space);
    assay__shape_set(call, 0, dtype, rank, out);
}

/* stride (in - 1) + output_padding + ((k - 1) d + 1) - pads; output_shape overrides; SAME: in *
 * stride */
static int64_t transposed_count(struct assay__symbols *symbols, const struct window *window, int i,
                                int64_t in, int64_t extra)
{
    if (window->same) return assay__num_mul(symbols, in, window->stride[i]);
    if (extra < 0 || extra > LARGEST) return ASSAY__NUM_ANY;
    int64_t steps = assay__num_mul(symbols, assay__num_sub(symbols, in, 1), window->stride[i]);
    int64_t more = extra + window_extent(window, i) - window->pad_begin[i] - window->pad_end[i];
    return assay__num_add(symbols, steps, more);
}

static void infer_conv_transpose(struct assay__shape_call *call)
{
    bool quantized = assay__shape_op_is(call, "QLinearConvTranspose");
    size_t w = quantized ? 3 : 1;
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK], extra[ASSAY__SHAPE_RANK], shape[ASSAY__SHAPE_RANK];
    struct window window;
    enum assay__dtype dtype = assay__shape_dtype(call, quantized ? 7 : 0);
    assay__shape_set(call, 0, dtype, rank, NULL);
    if (rank < 3 || assay__shape_rank(call, w) != rank) return;
    const int64_t *dims = assay__shape_dims(call, 0), *weights = assay__shape_dims(call, w);
    int64_t groups = assay__node_int(call->node, "group", 1);
    assay__shape_differ(call, 0, "channels of the input and of the weights", dims[1], weights[0]);
    /* output_shape may contain only the spatial sizes, or all of them */
    size_t sizes = 0;
    const int64_t *whole = assay__shape_ints(call, "output_shape", &sizes);
    if (!read_window(call, rank - 2, weights + 2, &window) || groups < 1 ||
        !read_list(call, "output_padding", NULL, rank - 2, 0, 0, extra))
        return;
    if (sizes == (size_t)rank)
        memcpy(shape, whole + 2, (size_t)(rank - 2) * sizeof *shape);
    else if (!read_list(call, "output_shape", NULL, rank - 2, 0, -1, shape))
        return;
    out[0] = dims[0];
    out[1] = assay__num_mul(call->symbols, weights[1], groups);
    check_bias(call, assay__num_known(out[1]) ? out[1] : -1);
    for (int i = 0; i < rank - 2; i++)
        out[2 + i] = shape[i] >= 0
                         ? shape[i]
                         : transposed_count(call->symbols, &window, i, dims[2 + i], extra[i]);
    assay__shape_set(call, 0, dtype, rank, out);
}

/* --- pools ------------------------------------------------------------------------------------ */

static void infer_pool(struct assay__shape_call *call)
{
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out), space = first_spatial(call);
    struct window window;
    bool quantized = assay__shape_op_is(call, "QLinearAveragePool");
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    assay__shape_set(call, 0, dtype, rank, NULL);
    if (!quantized) assay__shape_set_dtype(call, 1, ASSAY__INT64);
    if (rank < 3 || !read_window(call, rank - 2, NULL, &window)) return;
    for (int i = 0; i < rank - 2; i++)
        out[space + i] = window_count(call->symbols, &window, i, out[space + i]);
    check_fit(call, &window, space);
    assay__shape_set(call, 0, dtype, rank, out);
    if (!quantized) assay__shape_set(call, 1, ASSAY__INT64, rank, out);
}

static void infer_global_pool(struct assay__shape_call *call)
{
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out), space = first_spatial(call);
    assay__shape_same_type(call);
    if (rank < 2) return;
    for (int i = 0; i < rank - 2; i++)
        out[space + i] = 1;
    assay__shape_set_same(call, rank, out);
}

/* X, indices, output_shape: (in - 1) stride + kernel - pads */
static void infer_max_unpool(struct assay__shape_call *call)
{
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out);
    struct window window;
    size_t count = 0;
    const int64_t *shape = assay__shape_nums(call, 2, &count);
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    assay__shape_set(call, 0, dtype, rank, NULL);
    if (rank < 3) return;
    if (assay__shape_has(call, 2)) {
        if (shape && count == (size_t)rank) assay__shape_set(call, 0, dtype, rank, shape);
        return;
    }
    if (!read_window(call, rank - 2, NULL, &window)) return;
    for (int i = 0; i < rank - 2; i++)
        out[2 + i] = transposed_count(call->symbols, &window, i, out[2 + i], 0);
    assay__shape_set(call, 0, dtype, rank, out);
}

/* X, rois [n, …]: [n, C, h, w]. com.microsoft's CropAndResize has the size as an input. */
static void infer_roi(struct assay__shape_call *call)
{
    bool crop = assay__shape_op_is(call, "CropAndResize");
    int64_t otherwise = crop ? ASSAY__NUM_ANY : 1;
    size_t count = 0;
    const int64_t *size = crop ? assay__shape_nums(call, 3, &count)
                               : assay__shape_ints(call, "pooled_shape", &count);
    int64_t out[4] = {assay__shape_dim(call, 1, 0), assay__shape_dim(call, 0, 1),
                      assay__node_int(call->node, "output_height", otherwise),
                      assay__node_int(call->node, "output_width", otherwise)};
    if (size && count == 2) memcpy(out + 2, size, 2 * sizeof *out);
    assay__shape_set_same(call, 4, out);
}

/* input [N, C * kernel, L], image_shape, block_shape: [N, C, image…] */
static void infer_col2im(struct assay__shape_call *call)
{
    size_t count = 0, block_count = 0;
    const int64_t *image = assay__shape_nums(call, 1, &count);
    const int64_t *block = assay__shape_nums(call, 2, &block_count);
    int64_t out[ASSAY__SHAPE_RANK], area = ASSAY__NUM_ANY, spatial = assay__shape_dim(call, 1, 0);
    assay__shape_same_type(call);
    if (!image) count = spatial >= 1 && spatial < ASSAY__SHAPE_RANK ? (size_t)spatial : 0;
    if (count == 0 || count + 2 > ASSAY__SHAPE_RANK) return;
    if (block && count == block_count) area = assay__shape_product(call, block, 0, (int)count);
    out[0] = assay__shape_dim(call, 0, 0);
    out[1] = assay__num_exact_div(call->symbols, assay__shape_dim(call, 0, 1), area);
    for (size_t i = 0; i < count; i++)
        out[2 + i] = image ? image[i] : ASSAY__NUM_ANY;
    assay__shape_set_same(call, (int)count + 2, out);
}

/* --- resampling ------------------------------------------------------------------------------- */

/* floor(in * scale); a symbol is multiplied by a whole scale, or divided if 1 / scale is whole. */
static int64_t scaled(struct assay__symbols *symbols, int64_t in, double scale)
{
    if (!(scale > 0) || scale > 1e6) return ASSAY__NUM_ANY;
    if (in >= 0)
        return (double)in * scale < 9e15 ? (int64_t)floor((double)in * scale) : ASSAY__NUM_ANY;
    if (scale == floor(scale)) return assay__num_mul(symbols, in, (int64_t)scale);
    double part = 1 / scale;
    return part < 9e15 && part == floor(part) && 1 / part == scale
               ? assay__num_floor_div(symbols, in, (int64_t)part)
               : ASSAY__NUM_ANY;
}

struct resize {
    const int64_t *sizes, *axes;
    size_t size_count, axis_count;
    const struct assay__tensor *scales;
    const struct assay__attr *factors; /* Upsample 7, and the blocked layout's */
    bool not_larger, not_smaller;
};

/* keep_aspect_ratio_policy: one scale for all axes, the smallest or the largest of sizes / in */
static void keep_ratio(struct assay__shape_call *call, const struct resize *resize, int64_t *out)
{
    double best = 0;
    int axis = 0, rank = assay__shape_rank(call, 0);
    for (size_t i = 0; i < resize->axis_count; i++) {
        if (!assay__shape_axis(resize->axes ? resize->axes[i] : (int64_t)i, rank, &axis)) return;
        int64_t in = assay__shape_dims(call, 0)[axis], want = resize->sizes[i];
        double scale = in > 0 && want >= 0 ? (double)want / (double)in : -1;
        if (scale < 0) {
            best = -1;
            break;
        }
        bool better = resize->not_larger ? scale < best : scale > best;
        if (i == 0 || better) best = scale;
    }
    for (size_t i = 0; i < resize->axis_count; i++) {
        if (!assay__shape_axis(resize->axes ? resize->axes[i] : (int64_t)i, rank, &axis)) return;
        double exact = best * (double)assay__shape_dims(call, 0)[axis];
        out[axis] = best < 0 || !(exact < 9e15) ? ASSAY__NUM_ANY : (int64_t)floor(exact + 0.5);
    }
}

static void apply_resize(struct assay__shape_call *call, const struct resize *resize)
{
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out), axis = 0;
    bool by_size = resize->sizes && resize->size_count == resize->axis_count;
    for (size_t i = 0; i < resize->axis_count; i++) {
        double scale = 0;
        const struct assay__attr *factors = resize->factors;
        if (!assay__shape_axis(resize->axes ? resize->axes[i] : (int64_t)i, rank, &axis)) return;
        bool by_attr = factors && i < factors->count;
        if (by_attr && factors->type == ASSAY__ATTR_FLOATS)
            scale = (double)factors->floats[i];
        else if (by_attr && factors->type == ASSAY__ATTR_INTS)
            scale = (double)factors->ints[i];
        if (by_size)
            out[axis] = resize->sizes[i];
        else if (by_attr || assay__tensor_number(resize->scales, i, &scale))
            out[axis] = scaled(call->symbols, out[axis], scale);
        else
            out[axis] = ASSAY__NUM_ANY;
    }
    if (by_size && (resize->not_larger || resize->not_smaller)) keep_ratio(call, resize, out);
    assay__shape_set_same(call, rank, out);
}

/* Upsample: X, scales; Resize: X, roi, scales, sizes (opset 10: X, scales). floor(in * scale),
 * or the sizes. */
static void infer_resize(struct assay__shape_call *call)
{
    bool old = assay__shape_op_is(call, "Upsample") || call->opset < 11;
    size_t at = old ? 1 : 2;
    int rank = assay__shape_rank(call, 0);
    struct resize resize = {.scales = call->in_count > at ? call->in[at]->tensor : NULL,
                            .factors = assay__node_attr(call->node, "scales")};
    const char *policy = "keep_aspect_ratio_policy";
    resize.not_larger = assay__shape_attr_is(call, policy, "not_larger");
    resize.not_smaller = assay__shape_attr_is(call, policy, "not_smaller");
    if (!old) resize.sizes = assay__shape_nums(call, 3, &resize.size_count);
    resize.axes = assay__shape_ints(call, "axes", &resize.axis_count);
    if (!resize.axes) resize.axis_count = rank < 0 ? 0 : (size_t)rank;
    assay__shape_set_same(call, rank, NULL);
    if (rank >= 0) apply_resize(call, &resize);
}

/* X [N, C, …], grid [N, …out, n]: [N, C, …out] */
static void infer_grid_sample(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set_same(call, rank, NULL);
    if (rank < 3 || assay__shape_rank(call, 1) != rank) return;
    memcpy(out, assay__shape_dims(call, 0), 2 * sizeof *out);
    memcpy(out + 2, assay__shape_dims(call, 1) + 1, (size_t)(rank - 2) * sizeof *out);
    assay__shape_set_same(call, rank, out);
}

/* theta, size (N, C, H, W or N, C, D, H, W): the size without C, then 2 or 3 */
static void infer_affine_grid(struct assay__shape_call *call)
{
    size_t count = 0;
    const int64_t *size = assay__shape_nums(call, 1, &count);
    int64_t out[5], length = assay__shape_dim(call, 1, 0);
    assay__shape_same_type(call);
    if (!size) count = length == 4 || length == 5 ? (size_t)length : 0;
    if (count != 4 && count != 5) return;
    out[0] = size ? size[0] : ASSAY__NUM_ANY;
    for (size_t i = 2; i < count; i++)
        out[i - 1] = size ? size[i] : ASSAY__NUM_ANY;
    out[count - 1] = (int64_t)count - 2;
    assay__shape_set_same(call, (int)count, out);
}

/* --- the blocked layout ----------------------------------------------------------------------- */

#define READERS_NEAR 4096 /* nodes searched for readers of a value */

/* Input channels of a convolution in the blocked layout: those of its weights times the groups; -1:
 * the node is not one, or they are unknown. */
static int64_t blocked_channels(const struct assay__shape_call *call,
                                const struct assay__node *node)
{
    int64_t group = assay__node_int(node, "group", 1), channels = -1;
    if (strcmp(node->op, "Conv") != 0 || strcmp(node->domain, call->node->domain) != 0) return -1;
    const struct assay__fact *weight = node->input_count > 1
                                           ? assay__scope_find(call->scope, node->inputs[1])
                                           : NULL;
    if (!weight || weight->entry.rank != 4 || weight->dims[1] < 0 || group < 1) return -1;
    return assay__mul_i64_overflows(weight->dims[1], group, &channels) ? -1 : channels;
}

/* Channels are padded to the block of the machine's vector unit (8 or 16), which the node does not
 * state. Multiples of 16 do not change; otherwise the reader of the result decides: a convolution
 * by its weights, and pooling is only moved into this layout if nothing is padded. */
static int64_t padded_channels(const struct assay__shape_call *call, int64_t channels)
{
    const struct assay__graph *graph = call->scope->graph;
    const char *name = call->node->output_count ? call->node->outputs[0] : "";
    if (channels >= 0 && channels % 16 == 0) return channels;
    size_t at = (size_t)(call->node - graph->nodes), end = graph->node_count;
    if (end - at > READERS_NEAR) end = at + READERS_NEAR;
    for (; at < end && *name; at++) {
        const struct assay__node *node = &graph->nodes[at];
        if (!node->input_count || strcmp(node->inputs[0], name) != 0) continue;
        if (strstr(node->op, "Pool")) return channels >= 0 ? channels : ASSAY__NUM_ANY;
        int64_t takes = blocked_channels(call, node);
        /* a block is at most 16 */
        if (takes >= 0 && (channels < 0 || (takes >= channels && takes - channels < 16)))
            return takes;
    }
    return ASSAY__NUM_ANY;
}

/* Into this layout: [N, C, H, W] or, with channels_last, [N, H, W, C]. */
static void infer_reorder_input(struct assay__shape_call *call)
{
    bool last = assay__node_int(call->node, "channels_last", 0) != 0;
    assay__shape_set_same(call, 4, NULL);
    if (assay__shape_rank(call, 0) != 4) return;
    const int64_t *dims = assay__shape_dims(call, 0);
    int64_t channels = padded_channels(call, dims[last ? 3 : 1]);
    int64_t out[4] = {dims[0], channels, dims[last ? 1 : 2], dims[last ? 2 : 3]};
    assay__shape_set_same(call, 4, out);
}

/* ONNX Runtime's blocked layout keeps the logical N, C, H, W; ReorderOutput cuts the padding of
 * C. */
static void infer_reorder_output(struct assay__shape_call *call)
{
    int64_t channels = assay__node_int(call->node, "channels", -1);
    assay__shape_set_same(call, 4, NULL);
    if (assay__shape_rank(call, 0) != 4) return;
    const int64_t *dims = assay__shape_dims(call, 0);
    int64_t first[4] = {dims[0], channels, dims[2], dims[3]};
    int64_t last[4] = {dims[0], dims[2], dims[3], channels};
    assay__shape_set_same(call, 4, assay__node_int(call->node, "channels_last", 0) ? last : first);
}

const struct assay__shape_row assay__shape_rows_window[] = {
    {"AffineGrid", "", infer_affine_grid},
    {"AveragePool MaxPool", "*", infer_pool},
    {"Col2Im", "", infer_col2im},
    {"Conv QLinearConv", "*", infer_conv},
    {"ConvInteger DeformConv", "", infer_conv},
    {"ConvTranspose", "", infer_conv_transpose},
    {"CropAndResize", "ms", infer_roi},
    {"FusedConv NhwcConv NhwcFusedConv", "ms", infer_conv},
    {"GlobalAveragePool GlobalMaxPool", "*", infer_global_pool},
    {"GlobalLpPool", "", infer_global_pool},
    {"GridSample", "*", infer_grid_sample},
    {"LpPool", "", infer_pool},
    {"MaxRoiPool RoiAlign", "", infer_roi},
    {"MaxUnpool", "", infer_max_unpool},
    {"MaxpoolWithMask NhwcMaxPool QLinearAveragePool", "ms", infer_pool},
    {"QLinearConvTranspose", "ms", infer_conv_transpose},
    {"QLinearGlobalAveragePool", "ms", infer_global_pool},
    {"ReorderInput", "nchwc", infer_reorder_input},
    {"ReorderOutput", "nchwc", infer_reorder_output},
    {"Resize Upsample", "", infer_resize},
    {"Upsample", "nchwc", infer_resize},
    {NULL, NULL, NULL},
};
