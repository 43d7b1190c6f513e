/* shapes_nn.c - shape rows of neural-network layers: convolutions, pools, matrix products,
 * norms, recurrent cells. */
#include "base/checked.h"
#include "model/shape_call.h"

#include <string.h>

static void infer_same(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 0, ASSAY__UNDEFINED);
}

/* --- windows ---------------------------------------------------------------------------------- */

struct window {
    int spatial;
    int64_t kernel[ASSAY__SHAPE_RANK], stride[ASSAY__SHAPE_RANK], dilation[ASSAY__SHAPE_RANK];
    int64_t pad_begin[ASSAY__SHAPE_RANK], pad_end[ASSAY__SHAPE_RANK];
    bool same, valid, ceil;
};

static bool read_list(const struct assay__node *node, const char *name, int count,
                      int64_t otherwise, int64_t *out)
{
    const struct assay__attr *attr = assay__node_attr(node, name);
    bool there = attr && attr->type == ASSAY__ATTR_INTS && attr->count > 0;
    if (there && attr->count != (size_t)count) return false;
    for (int i = 0; i < count; i++)
        out[i] = there ? attr->ints[i] : otherwise;
    return true;
}

/* kernel may be NULL: then kernel_shape must be there. Everything that could overflow is
 * refused. */
static bool read_window(const struct assay__node *node, int spatial, const int64_t *kernel,
                        struct window *window)
{
    int64_t pads[2 * ASSAY__SHAPE_RANK];
    const struct assay__attr *auto_pad = assay__node_attr(node, "auto_pad");
    const char *mode = auto_pad ? auto_pad->s : "NOTSET";
    if (spatial < 1 || 2 * spatial > ASSAY__SHAPE_RANK) return false;
    *window = (struct window){.spatial = spatial,
                              .same = strncmp(mode, "SAME", 4) == 0,
                              .valid = strcmp(mode, "VALID") == 0,
                              .ceil = assay__node_int(node, "ceil_mode", 0) != 0};
    if (!read_list(node, "kernel_shape", spatial, -1, window->kernel) ||
        !read_list(node, "strides", spatial, 1, window->stride) ||
        !read_list(node, "dilations", spatial, 1, window->dilation) ||
        !read_list(node, "pads", 2 * spatial, 0, pads))
        return false;
    for (int i = 0; i < spatial; i++) {
        window->pad_begin[i] = window->valid ? 0 : pads[i];
        window->pad_end[i] = window->valid ? 0 : pads[spatial + i];
        if (window->kernel[i] < 0 && kernel) window->kernel[i] = kernel[i];
        int64_t limits[] = {window->kernel[i], window->stride[i], window->dilation[i]};
        for (int k = 0; k < 3; k++)
            if (limits[k] < 1 || limits[k] > 1 << 30) return false;
        if (pads[i] < -(1 << 30) || pads[i] > 1 << 30 || pads[spatial + i] < -(1 << 30) ||
            pads[spatial + i] > 1 << 30)
            return false;
    }
    return true;
}

/* floor or ceil((in + pads - ((k - 1) d + 1)) / s) + 1; SAME: ceil(in / s). -1 unknown. */
static int64_t window_count(const struct window *window, int i, int64_t in)
{
    int64_t stride = window->stride[i];
    if (in < 0 || in > INT64_MAX / 4) return -1;
    if (window->same) return (in + stride - 1) / stride;
    int64_t extent = (window->kernel[i] - 1) * window->dilation[i] + 1;
    int64_t room = in + window->pad_begin[i] + window->pad_end[i] - extent;
    if (room < 0) return -1;
    int64_t count = (window->ceil ? (room + stride - 1) / stride : room / stride) + 1;
    /* The last window of ceil_mode must begin inside the input or its leading padding. */
    if (window->ceil && (count - 1) * stride >= in + window->pad_begin[i]) count--;
    return count;
}

static void infer_conv(struct assay__shape_call *call)
{
    /* QLinearConv: x, scale, zero, w, …; ConvInteger and the others: X, W. */
    bool quantized = strcmp(call->node->op, "QLinearConv") == 0;
    size_t w = quantized ? 3 : 1;
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK];
    struct window window;
    enum assay__dtype dtype = quantized ? assay__shape_dtype(call, 7) : assay__shape_dtype(call, 0);
    if (strcmp(call->node->op, "ConvInteger") == 0) dtype = ASSAY__INT32;
    assay__shape_set(call, 0, dtype, rank >= 3 ? rank : -1, NULL);
    if (rank < 3 || assay__shape_rank(call, w) != rank) return;
    const int64_t *dims = assay__shape_dims(call, 0), *weights = assay__shape_dims(call, w);
    if (!read_window(call->node, rank - 2, weights + 2, &window)) return;
    out[0] = dims[0];
    out[1] = weights[0];
    for (int i = 0; i < rank - 2; i++)
        out[2 + i] = window_count(&window, i, dims[2 + i]);
    assay__shape_set(call, 0, dtype, rank, out);
}

/* stride (in - 1) + output_padding + ((k - 1) d + 1) - pads; output_shape overrides; SAME: in *
 * stride */
static void infer_conv_transpose(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK], extra[ASSAY__SHAPE_RANK], shape[ASSAY__SHAPE_RANK];
    struct window window;
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, NULL);
    if (rank < 3 || assay__shape_rank(call, 1) != rank) return;
    const int64_t *dims = assay__shape_dims(call, 0), *weights = assay__shape_dims(call, 1);
    int64_t groups = assay__node_int(call->node, "group", 1);
    if (!read_window(call->node, rank - 2, weights + 2, &window) || groups < 1 ||
        !read_list(call->node, "output_padding", rank - 2, 0, extra) ||
        !read_list(call->node, "output_shape", rank - 2, -1, shape))
        return;
    out[0] = dims[0];
    if (weights[1] < 0 || assay__mul_i64_overflows(weights[1], groups, &out[1])) out[1] = -1;
    for (int i = 0; i < rank - 2; i++) {
        int64_t in = dims[2 + i], extent = (window.kernel[i] - 1) * window.dilation[i] + 1;
        if (shape[i] >= 0)
            out[2 + i] = shape[i];
        else if (in < 0 || in > 1 << 30 || extra[i] < 0 || extra[i] > 1 << 30)
            out[2 + i] = -1;
        else if (window.same)
            out[2 + i] = in * window.stride[i];
        else
            out[2 + i] = window.stride[i] * (in - 1) + extra[i] + extent - window.pad_begin[i] -
                         window.pad_end[i];
    }
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, out);
}

static void infer_pool(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK];
    struct window window;
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    assay__shape_set(call, 0, dtype, rank, NULL);
    assay__shape_set(call, 1, ASSAY__INT64, rank, NULL); /* MaxPool's indices */
    if (rank < 3 || !read_window(call->node, rank - 2, NULL, &window)) return;
    const int64_t *dims = assay__shape_dims(call, 0);
    out[0] = dims[0];
    out[1] = dims[1];
    for (int i = 0; i < rank - 2; i++)
        out[2 + i] = window_count(&window, i, dims[2 + i]);
    assay__shape_set(call, 0, dtype, rank, out);
    assay__shape_set(call, 1, ASSAY__INT64, rank, out);
}

static void infer_global_pool(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (rank < 2) return;
    for (int i = 0; i < rank; i++)
        out[i] = i < 2 ? assay__shape_dims(call, 0)[i] : 1;
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, out);
}

/* --- products --------------------------------------------------------------------------------- */

static void infer_gemm(struct assay__shape_call *call)
{
    int64_t out[2] = {-1, -1};
    bool trans_a = assay__node_int(call->node, "transA", 0) != 0;
    bool trans_b = assay__node_int(call->node, "transB", 0) != 0;
    if (assay__shape_rank(call, 0) == 2) out[0] = assay__shape_dims(call, 0)[trans_a ? 1 : 0];
    if (assay__shape_rank(call, 1) == 2) out[1] = assay__shape_dims(call, 1)[trans_b ? 0 : 1];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 2, out);
}

/* NumPy's matmul of input a and input b; transposed swaps the last two axes (FusedMatMul). */
static void product(struct assay__shape_call *call, size_t a, size_t b, bool trans_a, bool trans_b,
                    enum assay__dtype dtype)
{
    int ra = assay__shape_rank(call, a), rb = assay__shape_rank(call, b);
    int64_t left[ASSAY__SHAPE_RANK], out[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, 0, dtype);
    if (ra < 1 || rb < 1 || (trans_a && ra < 2) || (trans_b && rb < 2)) return;
    const int64_t *da = assay__shape_dims(call, a), *db = assay__shape_dims(call, b);
    int rank = ra > 2 ? ra - 2 : 0;
    memcpy(left, da, (size_t)rank * sizeof *left);
    if (rb > 2 && !assay__shape_broadcast(left, &rank, db, rb - 2)) return;
    if (rank + 2 > ASSAY__SHAPE_RANK) return;
    memcpy(out, left, (size_t)rank * sizeof *out);
    if (ra > 1) out[rank++] = da[trans_a ? ra - 1 : ra - 2];
    if (rb > 1) out[rank++] = db[trans_b ? rb - 2 : rb - 1];
    assay__shape_set(call, 0, dtype, rank, out);
}

static void infer_matmul(struct assay__shape_call *call)
{
    product(call, 0, 1, false, false, assay__shape_dtype(call, 0));
}

static void infer_matmul_integer(struct assay__shape_call *call)
{
    product(call, 0, 1, false, false, ASSAY__INT32);
}

static void infer_matmul_integer_to_float(struct assay__shape_call *call)
{
    product(call, 0, 1, false, false, assay__shape_dtype(call, 2));
}

static void infer_dynamic_matmul(struct assay__shape_call *call)
{
    product(call, 0, 1, false, false, assay__shape_dtype(call, 0));
}

static void infer_qlinear_matmul(struct assay__shape_call *call)
{
    product(call, 0, 3, false, false, assay__shape_dtype(call, 7));
}

static void infer_fused_matmul(struct assay__shape_call *call)
{
    if (assay__node_int(call->node, "transBatchA", 0) ||
        assay__node_int(call->node, "transBatchB", 0)) {
        assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
        return;
    }
    product(call, 0, 1, assay__node_int(call->node, "transA", 0) != 0,
            assay__node_int(call->node, "transB", 0) != 0, assay__shape_dtype(call, 0));
}

/* A[…, K] with weights packed as K, N attributes (block-quantised). */
static void infer_matmul_nbits(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (rank < 1) return;
    memcpy(out, assay__shape_dims(call, 0), (size_t)rank * sizeof *out);
    out[rank - 1] = assay__node_int(call->node, "N", -1);
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, out);
}

/* --- Einsum ----------------------------------------------------------------------------------- */

struct einsum {
    int64_t size[128]; /* of each letter; -1 unknown, 0-initialised + seen */
    bool seen[128];
};

/* One operand's letters against its dimensions. false: an ellipsis or a mismatch, which we leave
 * unknown. */
static bool einsum_operand(struct einsum *einsum, const char **at, const int64_t *dims, int rank)
{
    int i = 0;
    for (; **at && **at != ',' && **at != '-'; ++*at) {
        unsigned char letter = (unsigned char)**at;
        if (letter == ' ') continue;
        if (letter == '.' || letter >= 128 || i >= rank) return false;
        if (!einsum->seen[letter] || einsum->size[letter] < 0 || einsum->size[letter] == 1)
            einsum->size[letter] = dims[i];
        einsum->seen[letter] = true;
        i++;
    }
    return i == rank;
}

static void infer_einsum(struct assay__shape_call *call)
{
    const struct assay__attr *equation = assay__node_attr(call->node, "equation");
    struct einsum einsum = {.seen = {false}};
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = 0;
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (!equation) return;
    const char *at = equation->s;
    for (size_t i = 0; i < call->in_count; i++) {
        int operand = assay__shape_rank(call, i);
        if (operand < 0 || !einsum_operand(&einsum, &at, assay__shape_dims(call, i), operand))
            return;
        if (i + 1 < call->in_count && *at++ != ',') return;
    }
    if (strncmp(at, "->", 2) != 0) return; /* the implicit form is left unknown */
    for (at += 2; *at; at++) {
        unsigned char letter = (unsigned char)*at;
        if (letter == ' ') continue;
        if (letter == '.' || letter >= 128 || !einsum.seen[letter] || rank == ASSAY__SHAPE_RANK)
            return;
        out[rank++] = einsum.size[letter];
    }
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, out);
}

/* --- norms ------------------------------------------------------------------------------------ */

/* Outputs after the first are per-channel statistics of training; known only by type. */
static void infer_batch_norm(struct assay__shape_call *call)
{
    infer_same(call);
    for (size_t o = 1; o < call->out_count; o++)
        assay__shape_set_dtype(call, o, assay__shape_dtype(call, 0));
}

static void layer_norm_statistics(struct assay__shape_call *call, size_t first)
{
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    if (rank < 0 || !assay__shape_axis(assay__node_int(call->node, "axis", -1), rank, &axis))
        return;
    for (int i = 0; i < rank; i++)
        out[i] = i < axis ? assay__shape_dims(call, 0)[i] : 1;
    for (size_t o = first; o < first + 2; o++)
        assay__shape_set(call, o, ASSAY__FLOAT32, rank, out);
}

static void infer_layer_norm(struct assay__shape_call *call)
{
    infer_same(call);
    layer_norm_statistics(call, 1);
}

/* Output 3 is the sum of input and skip. */
static void infer_skip_layer_norm(struct assay__shape_call *call)
{
    infer_same(call);
    layer_norm_statistics(call, 1);
    assay__shape_like(call, 3, 0, ASSAY__UNDEFINED);
}

/* input_ids, segment_ids, word_embedding [V, H], …: [batch, sequence, H] and mask_index [batch] */
static void infer_embed_layer_norm(struct assay__shape_call *call)
{
    int64_t out[3];
    assay__shape_set(call, 0, assay__shape_dtype(call, 2), 3, NULL);
    if (assay__shape_rank(call, 0) != 2 || assay__shape_rank(call, 2) != 2) return;
    out[0] = assay__shape_dims(call, 0)[0];
    out[1] = assay__shape_dims(call, 0)[1];
    out[2] = assay__shape_dims(call, 2)[1];
    assay__shape_set(call, 0, assay__shape_dtype(call, 2), 3, out);
    assay__shape_set(call, 1, ASSAY__INT32, 1, out);
    assay__shape_set(call, 2, assay__shape_dtype(call, 2), 3, out);
}

/* input [B, S, …], weights […, 3 H]: [B, S, H] where Q, K and V are of one size */
static void infer_attention(struct assay__shape_call *call)
{
    int64_t out[3] = {-1, -1, -1};
    if (*call->node->domain == 0) return; /* ai.onnx Attention is another operator */
    if (assay__shape_rank(call, 0) == 3) memcpy(out, assay__shape_dims(call, 0), 2 * sizeof *out);
    bool split = assay__node_attr(call->node, "qkv_hidden_sizes") != NULL;
    if (!split && assay__shape_rank(call, 1) == 2 && assay__shape_dims(call, 1)[1] >= 0)
        out[2] = assay__shape_dims(call, 1)[1] / 3;
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 3, out);
}

/* --- recurrent -------------------------------------------------------------------------------- */

/* X [seq, batch, in] (layout 1: [batch, seq, in]), W [directions, gates × hidden, in]. Y [seq,
 * directions, batch, hidden] (layout 1: [batch, seq, directions, hidden]), Y_h and Y_c without
 * seq. */
static void infer_recurrent(struct assay__shape_call *call)
{
    bool batch_first = assay__node_int(call->node, "layout", 0) == 1;
    int64_t hidden = assay__node_int(call->node, "hidden_size", -1), directions = -1;
    int64_t sequence = -1, batch = -1;
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    if (assay__shape_rank(call, 0) == 3) {
        sequence = assay__shape_dims(call, 0)[batch_first ? 1 : 0];
        batch = assay__shape_dims(call, 0)[batch_first ? 0 : 1];
    }
    const struct assay__attr *direction = assay__node_attr(call->node, "direction");
    directions = direction && strcmp(direction->s, "bidirectional") == 0 ? 2 : 1;
    if (hidden < 0 && assay__shape_rank(call, 2) == 3) hidden = assay__shape_dims(call, 2)[2];
    int64_t y[4] = {sequence, directions, batch, hidden}, state[3] = {directions, batch, hidden};
    if (batch_first) {
        int64_t y_first[4] = {batch, sequence, directions, hidden};
        int64_t state_first[3] = {batch, directions, hidden};
        memcpy(y, y_first, sizeof y);
        memcpy(state, state_first, sizeof state);
    }
    assay__shape_set(call, 0, dtype, 4, y);
    assay__shape_set(call, 1, dtype, 3, state);
    assay__shape_set(call, 2, dtype, 3, state);
}

const struct assay__shape_row assay__shape_rows_nn[] = {
    {"Attention", "ms", infer_attention},
    {"AveragePool", "*", infer_pool},
    {"BatchNormalization", "", infer_batch_norm},
    {"Conv", "*", infer_conv},
    {"ConvInteger", "", infer_conv},
    {"ConvTranspose", "", infer_conv_transpose},
    {"DynamicQuantizeMatMul", "ms", infer_dynamic_matmul},
    {"Einsum", "", infer_einsum},
    {"EmbedLayerNormalization", "ms", infer_embed_layer_norm},
    {"FusedConv", "ms", infer_conv},
    {"FusedGemm", "ms", infer_gemm},
    {"FusedMatMul", "ms", infer_fused_matmul},
    {"GRU", "", infer_recurrent},
    {"Gemm", "", infer_gemm},
    {"GlobalAveragePool", "*", infer_global_pool},
    {"GlobalLpPool", "", infer_global_pool},
    {"GlobalMaxPool", "*", infer_global_pool},
    {"GroupNormalization", "", infer_same},
    {"InstanceNormalization", "", infer_same},
    {"LRN", "", infer_same},
    {"LSTM", "", infer_recurrent},
    {"LayerNormalization", "", infer_layer_norm},
    {"LpNormalization", "", infer_same},
    {"LpPool", "", infer_pool},
    {"MatMul", "", infer_matmul},
    {"MatMulInteger", "", infer_matmul_integer},
    {"MatMulIntegerToFloat", "ms", infer_matmul_integer_to_float},
    {"MatMulNBits", "ms", infer_matmul_nbits},
    {"MaxPool", "*", infer_pool},
    {"MeanVarianceNormalization", "", infer_same},
    {"QLinearConv", "", infer_conv},
    {"QLinearMatMul", "", infer_qlinear_matmul},
    {"RMSNormalization", "", infer_same},
    {"RNN", "", infer_recurrent},
    {"SimplifiedLayerNormalization", "*", infer_same},
    {"SkipLayerNormalization", "ms", infer_skip_layer_norm},
    {"SkipSimplifiedLayerNormalization", "ms", infer_skip_layer_norm},
    {NULL, NULL, NULL},
};
