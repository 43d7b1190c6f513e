/* shapes_attention.c - shape rows of attention, position embeddings and other fused layers of
 * transformers: ai.onnx from opset 23 on, and ONNX Runtime's (com.microsoft). */
#include "model/shapes/shape_call.h"

/* The new length plus that of the past, if there is one. */
static int64_t with_past(struct assay__shape_call *call, size_t past, int axis, int64_t fresh)
{
    if (!assay__shape_has(call, past)) return fresh;
    return assay__num_add(call->symbols, assay__shape_dim(call, past, axis), fresh);
}

/* --- ai.onnx ---------------------------------------------------------------------------------- */

/* Q, K, V as [batch, heads, sequence, size] or [batch, sequence, heads × size]. */
struct heads {
    int64_t batch, heads, sequence, size;
};

static struct heads read_heads(struct assay__shape_call *call, size_t i, const char *attr)
{
    struct heads heads = {assay__shape_dim(call, i, 0), ASSAY__NUM_ANY, ASSAY__NUM_ANY,
                          ASSAY__NUM_ANY};
    if (assay__shape_rank(call, i) == 4) {
        heads.heads = assay__shape_dim(call, i, 1);
        heads.sequence = assay__shape_dim(call, i, 2);
        heads.size = assay__shape_dim(call, i, 3);
    } else if (assay__shape_rank(call, i) == 3) {
        heads.heads = assay__node_int(call->node, attr, ASSAY__NUM_ANY);
        heads.sequence = assay__shape_dim(call, i, 1);
        if (heads.heads > 0)
            heads.size = assay__num_exact_div(call->symbols, assay__shape_dim(call, i, 2),
                                              heads.heads);
    }
    return heads;
}

/* Each key head serves this many query heads. */
static void check_heads(struct assay__shape_call *call, int64_t query, int64_t key)
{
    if (query > 0 && key > 0 && query % key != 0)
        assay__shape_conflict(call, 1, "%lld query heads are not a multiple of %lld key heads",
                              (long long)query, (long long)key);
}

/* Q, K, V, attn_mask, past_key, past_value: Y, present_key, present_value, qk_matmul_output */
static void infer_onnx_attention(struct assay__shape_call *call)
{
    struct heads q = read_heads(call, 0, "q_num_heads"), k = read_heads(call, 1, "kv_num_heads");
    struct heads v = read_heads(call, 2, "kv_num_heads");
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    int rank = assay__shape_rank(call, 0);
    int64_t total = with_past(call, 4, 2, k.sequence);
    int64_t out4[4] = {q.batch, q.heads, q.sequence, v.size};
    int64_t out3[3] = {q.batch, q.sequence, assay__num_mul(call->symbols, q.heads, v.size)};
    int64_t key[4] = {k.batch, k.heads, total, k.size},
            value[4] = {v.batch, v.heads, total, v.size};
    int64_t product[4] = {q.batch, q.heads, q.sequence, total};
    assay__shape_set(call, 0, dtype, rank == 4 || rank == 3 ? rank : -1, rank == 4 ? out4 : out3);
    check_heads(call, q.heads, k.heads);
    if (k.size != ASSAY__NUM_ANY && q.size != ASSAY__NUM_ANY)
        assay__shape_differ(call, 1, "head sizes of query and key", q.size, k.size);
    assay__shape_set(call, 1, assay__shape_dtype(call, 1), 4, key);
    assay__shape_set(call, 2, assay__shape_dtype(call, 2), 4, value);
    assay__shape_set(call, 3, dtype, 4, product);
}

/* Q, K, V as four dimensions: Y has the shape of Q with the width of V */
static void infer_flex_attention(struct assay__shape_call *call)
{
    struct heads q = read_heads(call, 0, "q_num_heads"), v = read_heads(call, 2, "kv_num_heads");
    int64_t out[4] = {q.batch, q.heads, q.sequence, v.size};
    assay__shape_set_same(call, 4, out);
}

/* Q, K, V [B, T, H × D]: output [B, T, Hq × dv], state [B, Hkv, dk, dv] */
static void infer_linear_attention(struct assay__shape_call *call)
{
    struct heads q = read_heads(call, 0, "q_num_heads"), k = read_heads(call, 1, "kv_num_heads");
    struct heads v = read_heads(call, 2, "kv_num_heads");
    int64_t out[3] = {q.batch, q.sequence, assay__num_mul(call->symbols, q.heads, v.size)};
    int64_t state[4] = {q.batch, k.heads, k.size, v.size};
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    if (*call->node->domain) { /* com.microsoft's may pack Q, K and V */
        assay__shape_set(call, 0, dtype, 3, NULL);
        assay__shape_like(call, 1, 3, ASSAY__UNDEFINED);
        return;
    }
    assay__shape_set(call, 0, dtype, 3, out);
    assay__shape_set(call, 1, assay__shape_has(call, 3) ? assay__shape_dtype(call, 3) : dtype, 4,
                     state);
}

/* input [B, C, L], weight [C, 1, k]: the same shape, and a state [B, C, k - 1] */
static void infer_causal_conv(struct assay__shape_call *call)
{
    int64_t state[3] = {assay__shape_dim(call, 0, 0), assay__shape_dim(call, 0, 1),
                        assay__num_sub(call->symbols, assay__shape_dim(call, 1, 2), 1)};
    assay__shape_row_same(call);
    assay__shape_set(call, 1, assay__shape_dtype(call, 0), 3, state);
}

/* --- com.microsoft ---------------------------------------------------------------------------- */

/* input [B, S, in], weights [in, q + k + v], bias: [B, S, v]; past and present [2, B, heads, …,
 * size]. QAttention: input, weight, bias, input_scale, weight_scale, mask, zero points, past: of
 * the type of the scales. */
static void infer_attention(struct assay__shape_call *call)
{
    bool quantised = assay__shape_op_is(call, "QAttention");
    size_t past = quantised ? 8 : 4;
    enum assay__dtype dtype = assay__shape_dtype(call, quantised ? 3 : 0);
    size_t size_count = 0;
    const int64_t *sizes = assay__shape_ints(call, "qkv_hidden_sizes", &size_count);
    int64_t heads = assay__node_int(call->node, "num_heads", ASSAY__NUM_ANY);
    int64_t out[3] = {assay__shape_dim(call, 0, 0), assay__shape_dim(call, 0, 1), ASSAY__NUM_ANY};
    int64_t width = assay__shape_rank(call, 1) == 2 ? assay__shape_dim(call, 1, 1)
                                                    : assay__shape_dim(call, 2, 0);
    int64_t hidden = assay__num_exact_div(call->symbols, width, 3), key = hidden;
    out[2] = hidden;
    if (size_count == 3) {
        out[2] = sizes[2];
        key = sizes[1];
    }
    if (assay__shape_rank(call, 0) == 3 && assay__shape_rank(call, 1) == 2)
        assay__shape_differ(call, 0, "features of the input and rows of the weights",
                            assay__shape_dim(call, 0, 2), assay__shape_dim(call, 1, 0));
    assay__shape_set(call, 0, dtype, 3, out);
    int64_t total = with_past(call, past, 3, out[1]);
    if (assay__node_int(call->node, "past_present_share_buffer", 0))
        total = assay__shape_dim(call, past, 3);
    int64_t present[5] = {2, out[0], heads, total,
                          heads > 0 ? assay__num_exact_div(call->symbols, key, heads)
                                    : ASSAY__NUM_ANY};
    assay__shape_set(call, 1, dtype, 5, present);
}

/* query, key, value …: [B, S, v hidden] and, from the past at `past`, present key and value. */
static void infer_multi_head(struct assay__shape_call *call)
{
    size_t past = assay__shape_op_is(call, "MultiHeadAttention") ? 6 : 5;
    struct assay__symbols *symbols = call->symbols;
    int64_t heads = assay__node_int(call->node, "num_heads", ASSAY__NUM_ANY);
    int rank = assay__shape_rank(call, 0), value = assay__shape_rank(call, 2);
    int64_t out[3] = {assay__shape_dim(call, 0, 0), assay__shape_dim(call, 0, 1), ASSAY__NUM_ANY};
    int64_t fresh = out[1]; /* keys of this call */
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    bool cross = value == 4;
    if (rank == 5)
        out[2] = assay__num_mul(symbols, assay__shape_dim(call, 0, 2),
                                assay__shape_dim(call, 0, 4));
    else if (value == 3)
        out[2] = assay__shape_dim(call, 2, 2);
    else if (cross)
        out[2] = assay__num_mul(symbols, assay__shape_dim(call, 2, 1),
                                assay__shape_dim(call, 2, 3));
    else if (assay__shape_rank(call, 1) == 5)
        out[2] = assay__shape_dim(call, 0, 2);
    else if (rank == 3 && !assay__shape_has(call, 1)) /* decoding step, Q, K and V packed */
        out[2] = assay__num_exact_div(symbols, assay__shape_dim(call, 0, 2), 3);
    if (value == 3) fresh = assay__shape_dim(call, 2, 1);
    assay__shape_set(call, 0, dtype, rank == 3 || rank == 5 ? 3 : -1, out);
    int64_t size = heads > 0 ? assay__num_exact_div(symbols, out[2], heads) : ASSAY__NUM_ANY;
    int64_t total = cross ? assay__shape_dim(call, 2, 2) : with_past(call, past, 2, fresh);
    if (assay__node_int(call->node, "past_present_share_buffer", 0))
        total = assay__shape_dim(call, past, 2);
    else if (assay__shape_has(call, past) && assay__shape_has(call, past + 2))
        total = ASSAY__NUM_ANY; /* the buffer may be shared */
    int64_t present[4] = {out[0], heads, total, size};
    assay__shape_set(call, 1, dtype, 4, present);
    assay__shape_set(call, 2, dtype, 4, present);
}

/* query [B, S, heads × size] (packed: heads + 2 kv heads), key, value, past_key, past_value. The
 * cache may be one buffer of the maximum size, so that only its other dimensions are known. */
static void infer_group_query(struct assay__shape_call *call)
{
    struct assay__symbols *symbols = call->symbols;
    int64_t heads = assay__node_int(call->node, "num_heads", -1);
    int64_t kv = assay__node_int(call->node, "kv_num_heads", -1);
    int64_t out[3] = {assay__shape_dim(call, 0, 0), assay__shape_dim(call, 0, 1),
                      assay__shape_dim(call, 0, 2)};
    int64_t size = ASSAY__NUM_ANY;
    bool packed = !assay__shape_has(call, 2);
    check_heads(call, heads, kv);
    if (heads > 0 && heads < 1 << 20 && kv > 0 && kv < 1 << 20)
        size = assay__num_exact_div(symbols, out[2], packed ? heads + 2 * kv : heads);
    if (packed) out[2] = assay__num_mul(symbols, size, heads);
    assay__shape_set_same(call, 3, out);
    int64_t present[4] = {out[0], kv, assay__shape_has(call, 3) ? ASSAY__NUM_ANY : out[1], size};
    for (size_t o = 1; o < 3; o++) {
        bool past = assay__shape_has(call, 2 + o);
        assay__shape_set(call, o, assay__shape_dtype(call, past ? 2 + o : 0), 4, present);
    }
}

/* input_ids [B, S], segment_ids, word_embedding [V, H], …: [B, S, H] and mask_index [B] */
static void infer_embed_layer_norm(struct assay__shape_call *call)
{
    enum assay__dtype dtype = assay__shape_dtype(
        call, assay__shape_op_is(call, "QEmbedLayerNormalization") ? 8 : 2);
    int64_t out[3] = {assay__shape_dim(call, 0, 0), assay__shape_dim(call, 0, 1),
                      assay__shape_dim(call, 2, 1)};
    assay__shape_set(call, 0, dtype, 3, out);
    assay__shape_set(call, 1, ASSAY__INT32, 1, out);
    assay__shape_set(call, 2, dtype, 3, out);
}

/* X [N, S, D], bias: half the channels */
static void infer_bias_split_gelu(struct assay__shape_call *call)
{
    int64_t out[3] = {assay__shape_dim(call, 0, 0), assay__shape_dim(call, 0, 1),
                      assay__num_exact_div(call->symbols, assay__shape_dim(call, 0, 2), 2)};
    assay__shape_set_same(call, 3, out);
}

/* bias_table [buckets, heads], query_length, key_length: [1, heads, q, k] */
static void infer_relative_position(struct assay__shape_call *call)
{
    int64_t out[4] = {1, assay__shape_dim(call, 0, 1), assay__shape_num(call, 1),
                      assay__shape_num(call, 2)};
    assay__shape_set_same(call, 4, out);
}

/* X, bias, residual, ratio, …: the shape of X, and the mask */
static void infer_bias_dropout(struct assay__shape_call *call)
{
    assay__shape_row_same(call);
    assay__shape_like(call, 1, 0, ASSAY__BOOL);
}

#define SAME assay__shape_row_same

const struct assay__shape_row assay__shape_rows_attention[] = {
    {"Attention", "", infer_onnx_attention},
    {"Attention DecoderMaskedSelfAttention", "ms", infer_attention},
    {"BiasAdd BiasGelu BiasSoftmax FastGelu GatedRMSNorm GemmaRotaryEmbedding LongformerAttention "
     "MRotaryEmbedding MoE QMoE QuickGelu",
     "ms", SAME},
    {"BiasDropout", "ms", infer_bias_dropout},
    {"BiasSplitGelu", "ms", infer_bias_split_gelu},
    {"CausalConvWithState", "*", infer_causal_conv},
    {"DecoderMaskedMultiHeadAttention", "ms", infer_multi_head},
    {"EmbedLayerNormalization", "ms", infer_embed_layer_norm},
    {"FlexAttention", "preview", infer_flex_attention},
    {"GroupQueryAttention SparseAttention", "ms", infer_group_query},
    {"LinearAttention", "*", infer_linear_attention},
    {"MultiHeadAttention", "ms", infer_multi_head},
    {"QAttention", "ms", infer_attention},
    {"QEmbedLayerNormalization", "ms", infer_embed_layer_norm},
    {"RelativePositionBias", "ms", infer_relative_position},
    {"RotaryEmbedding", "*", SAME},
    {"SwiGLU", "", SAME},
    {NULL, NULL, NULL},
};
