/* cost_fused.c - costs of the com.microsoft operators that ONNX Runtime writes into an optimised
 * model, and of those of its blocked and channels-last layouts. The order of inputs is that of ONNX
 * Runtime's operator schemas; each function lists it. */
#include "cost/cost_table.h"

#include <math.h>

#define EACH ASSAY__COST_EACH
#define EACH_IN ASSAY__COST_EACH_IN
#define MOVE ASSAY__COST_MOVE
#define PICK ASSAY__COST_PICK
#define EACH_AND ASSAY__COST_EACH_AND
#define WORK ASSAY__COST_WORK
#define PRODUCT ASSAY__COST_PRODUCT

static const char by_past[] = "the length of the past depends on data";

/* A product: its multiply-adds are unknown too. */
static void count_by_data(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    (void)call;
    work->multiply_adds = NAN;
    work->why = ASSAY__COST_BY_DATA;
}

/* --- convolutions, products ------------------------------------------------------------------- */

/* FusedConv X, W, B, Z: Z is added to each output; an activation is one more operation. */
static void count_fused_conv(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    assay__cost_conv(call, work);
    if (assay__cost_has(call, 3)) work->other += assay__cost_out_elements(call);
}

/* GemmFastGelu X, W, bias: the product, the bias, FastGelu 8. */
static void count_gemm_gelu(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    assay__cost_matmul(call, work);
    work->other = 8 * assay__cost_out_elements(call);
}

/* CDist A [m, k], B [n, k]: (a - b)² summed: 3 k per pair, a root unless it is squared. */
static void count_cdist(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double root = assay__cost_attr_is(call, "metric", "sqeuclidean") ? 0 : 1;
    work->other = assay__cost_out_elements(call) * (3 * assay__cost_in_dim(call, 0, -1) + root);
}

/* Inverse by Gauss-Jordan elimination: n³ multiply-adds per matrix. */
static void count_inverse(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *in = assay__cost_in(call, 0);
    work->multiply_adds = assay__cost_elements(in) * assay__cost_dim(in, -1);
}

/* --- attention -------------------------------------------------------------------------------- */

/* Attention input [B, S, D], weights [D, q + k + v], bias, mask_index, past [2, B, H, P, Dh],
 * attention_bias, past_sequence_length; QAttention has its past at 8, its bias at 2. The
 * projections B S D (q + k + v) and bias; then heads × S × (S + P) scores. */
static void count_attention(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    bool quantised = call->node->op[0] == 'Q';
    size_t past = quantised ? 8 : 4, mask = quantised ? SIZE_MAX : 5;
    const struct assay__shape_entry *x = assay__cost_in(call, 0), *w = assay__cost_in(call, 1);
    const struct assay__attr *sizes = assay__node_attr(call->node, "qkv_hidden_sizes");
    double batch = assay__cost_dim(x, 0), length = assay__cost_dim(x, 1), keys = length;
    double all = assay__cost_dim(w, 1), heads = assay__cost_attr(call, "num_heads");
    double q = all / 3, v = q;
    if (sizes && sizes->ints && sizes->count == 3) {
        q = (double)sizes->ints[0];
        v = (double)sizes->ints[2];
    }
    if (assay__cost_has(call, past)) {
        bool shared = assay__node_int(call->node, "past_present_share_buffer", 0) != 0;
        keys += shared ? assay__cost_value(call, 6) : assay__cost_in_dim(call, past, 3);
        if (shared && isnan(keys)) work->why = by_past;
    }
    work->multiply_adds = batch * length * assay__cost_dim(x, 2) * all;
    work->bias_adds = assay__cost_has(call, 2) ? batch * length * all : 0;
    assay__cost_attend(batch * heads, length, keys, q / heads, v / heads,
                       1 + (double)assay__cost_has(call, mask), work);
}

/* MultiHeadAttention query, key, value, bias, key_padding_mask, attention_bias, past_key,
 * past_value. query is [B, S, H D] or packed [B, S, H, 3, D]; key [B, L, H D], packed with value
 * [B, L, H, 2, D], or [B, H, L, D]. */
static void count_multi_head(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *q = assay__cost_in(call, 0), *k = assay__cost_in(call, 1),
                                    *v = assay__cost_in(call, 2);
    double heads = assay__cost_attr(call, "num_heads"), length = assay__cost_dim(q, 1);
    bool packed = q && q->rank == 5;
    double width = packed ? assay__cost_dim(q, 4) : assay__cost_dim(q, 2) / heads;
    double keys = !k && packed ? length : assay__cost_dim(k, k && k->rank == 4 ? 2 : 1);
    double value_width = !v             ? width
                         : v->rank == 4 ? assay__cost_dim(v, 3)
                                        : assay__cost_dim(v, 2) / heads;
    if (assay__cost_has(call, 6)) keys += assay__cost_in_dim(call, 6, 2);
    if (assay__cost_has(call, 8)) { /* the past is in a buffer of the maximum length */
        keys = NAN;
        work->why = by_past;
    }
    if (assay__cost_has(call, 3))
        work->bias_adds = assay__cost_elements(q) + (packed ? 0 : 2 * assay__cost_elements(k));
    assay__cost_attend(assay__cost_dim(q, 0) * heads, length, keys, width, value_width,
                       1 + (double)assay__cost_has(call, 5), work);
}

/* GroupQueryAttention query [B, S, H D] (packed with key and value: [B, S, (H + 2 K) D]), key,
 * value, past_key [B, K, P, D], past_value, seqlens_k, total_sequence_length. The keys are
 * total_sequence_length where that is known, else what present_key (output 1) holds; rotary
 * embedding 3 per number of query and key. */
static void count_group_query(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *q = assay__cost_in(call, 0);
    double heads = assay__cost_attr(call, "num_heads"), kv = assay__cost_attr(call, "kv_num_heads");
    bool packed = !assay__cost_has(call, 1);
    double width = assay__cost_dim(q, 2) / (packed ? heads + 2 * kv : heads);
    double batch = assay__cost_dim(q, 0), length = assay__cost_dim(q, 1);
    double keys = assay__cost_value(call, 6);
    if (isnan(keys)) keys = assay__cost_dim(assay__cost_out(call, 1), 2);
    if (isnan(keys) && !assay__cost_has(call, 3)) keys = length;
    if (isnan(keys)) work->why = by_past;
    double capped = assay__node_float(call->node, "softcap", 0) > 0 ? 3 : 0;
    assay__cost_attend(batch * heads, length, keys, width, width,
                       1 + capped + (double)assay__cost_has(call, 10), work);
    if (assay__node_int(call->node, "do_rotary", 0))
        work->other += 3 * batch * length * (heads + kv) * width;
}

/* DecoderMaskedMultiHeadAttention query [B, 1, H D], key, value, mask, attention_bias, past_key …:
 * the past is in a buffer whose filled length depends on data. */
static void count_by_past(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    (void)call;
    work->multiply_adds = NAN;
    work->why = by_past;
}

/* GemmaRotaryEmbedding emb, q, q_rot, k, k_rot: x cos + x_rot sin for q and k: 3 each; sin and cos
 * of emb. */
static void count_gemma_rotary(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    work->other = 2 * assay__cost_in_elements(call, 0) +
                  3 * (assay__cost_in_elements(call, 1) + assay__cost_in_elements(call, 3));
}

/* --- norms, embeddings, activations ----------------------------------------------------------- */

/* GroupNorm X, gamma, beta: 8, and Swish (5) when activation is 1. SkipGroupNorm adds skip (3) and
 * bias (4) first. */
static void count_group_norm(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double each = 8 + (assay__node_int(call->node, "activation", 0) == 1 ? 5 : 0);
    if (call->node->op[0] == 'S')
        each += (double)assay__cost_has(call, 3) + (double)assay__cost_has(call, 4);
    work->other = each * assay__cost_out_elements(call);
}

/* CropAndResize: 4 neighbours of each output element, a multiplication and an addition each. */
static void count_crop_resize(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    work->other = assay__cost_attr_is(call, "mode", "nearest") ? 0
                                                               : 8 * assay__cost_out_elements(call);
}

/* --- mixture of experts ----------------------------------------------------------------------- */

/* MoE input […, D], router_probs [rows, E], fc1 [E, I1, D], bias, fc2 [E, D, I], bias, fc3, bias:
 * each row passes k experts: I1 D + D I (+ I D with fc3) multiply-adds, the biases, an activation
 * of I1 (1 each), the weighted sum of k outputs (2 D k); routing is a softmax. The weights of all
 * experts count as read: which ones actually are depends on data. QMoE has scales before each bias,
 * and 8 / expert_weight_bits numbers in a byte of weights; the bias of its fc3 is not counted. */
static void count_moe(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    bool quantised = call->node->op[0] == 'Q';
    size_t step = quantised ? 3 : 2, first = 2, second = first + step, third = second + step;
    double bits = (double)assay__node_int(call->node, "expert_weight_bits", 4), pack = 1;
    if (quantised) pack = bits > 0 ? 8 / bits : NAN;
    double width = assay__cost_in_dim(call, 0, -1), wide = assay__cost_in_dim(call, first, 1);
    double rows = assay__cost_in_elements(call, 0) / width;
    double passes = rows * (double)assay__node_int(call->node, "k", 1);
    double products = assay__cost_inner(assay__cost_in(call, first), 1) +
                      assay__cost_inner(assay__cost_in(call, second), 1);
    if (assay__cost_has(call, third)) products += assay__cost_inner(assay__cost_in(call, third), 1);
    work->multiply_adds = passes * pack * products;
    if (assay__cost_has(call, second - 1)) work->bias_adds += passes * wide;
    if (assay__cost_has(call, third - 1)) work->bias_adds += passes * width;
    if (!quantised && assay__cost_has(call, third + 1))
        work->bias_adds += passes * assay__cost_in_dim(call, third, 1);
    work->other = passes * (wide + 2 * width) + 5 * assay__cost_in_elements(call, 1);
}

const struct assay__cost_row assay__cost_rows_fused[] = {
    /* convolutions, products */
    WORK("CDist", "ms", count_cdist),
    /* X, W, Pads, B */
    PRODUCT("ConvTransposeWithDynamicPads", "ms", assay__cost_conv_transpose, 1, 3),
    PRODUCT("FusedConv NhwcFusedConv", "ms", count_fused_conv, 1, 2),
    PRODUCT("FusedGemm GemmFloat8", "ms", assay__cost_matmul, 1, 2),
    WORK("FusedMatMul FusedMatMulActivation TransposeMatMul", "ms", assay__cost_matmul),
    PRODUCT("GemmFastGelu", "ms", count_gemm_gelu, 1, 2),
    WORK("Inverse", "ms", count_inverse),
    WORK("SparseToDenseMatMul", "ms",
         count_by_data), /* how many numbers are stored depends on data */
    /* attention */
    WORK("Attention DecoderMaskedSelfAttention QAttention", "ms", count_attention),
    WORK("DecoderMaskedMultiHeadAttention", "ms", count_by_past),
    WORK("GroupQueryAttention", "ms", count_group_query),
    WORK("LongformerAttention", "ms", count_by_data), /* which tokens are global depends on data */
    WORK("MultiHeadAttention", "ms", count_multi_head),
    WORK("PackedAttention", "ms", count_by_data), /* the lengths of the sequences depend on data */
    WORK("PackedMultiHeadAttention PagedAttention", "ms", count_by_data),
    WORK("SparseAttention", "ms", count_by_data), /* which blocks exist depends on data */
    WORK("GemmaRotaryEmbedding", "ms", count_gemma_rotary),
    {.ops = "MRotaryEmbedding", .domain = "ms", .partial = 3u << 2, .count = assay__cost_rotary},
    {.ops = "RotaryEmbedding", .domain = "ms", .partial = 3u << 2, .count = assay__cost_rotary},
    PICK("RelativePositionBias", "ms", 1),
    /* mixture of experts */
    WORK("MoE QMoE", "ms", count_moe),
    /* norms, embeddings */
    /* two or three tables, looked up and added, then a layer norm (8) */
    {.ops = "EmbedLayerNormalization",
     .domain = "ms",
     .partial = 7u << 2,
     .flops = 9,
     .optional = 1},
    EACH("GatedRMSNorm", "ms", 11), /* RMSNormalization 5, Swish of the gate 5, × */
    WORK("GroupNorm SkipGroupNorm", "ms", count_group_norm),
    EACH_AND("SkipLayerNormalization", "ms", 9, 4), /* input, skip, gamma, beta, bias: sums and 8 */
    EACH_AND("SkipSimplifiedLayerNormalization", "ms", 6, 3), /* input, skip, gamma, bias: and 5 */
    PICK("TorchEmbedding", "ms", 1),
    /* activations */
    EACH_AND("BiasAdd BiasDropout", "ms", 1, 2), /* + bias, + residual; BiasDropout in inference */
    EACH("BiasGelu", "ms", 6),                   /* + bias, then Gelu */
    EACH("BiasSoftmax", "ms", 6),                /* + bias, then Softmax */
    EACH("BiasSplitGelu", "ms", 8), /* per output: two biases, Gelu of one half, × the other */
    /* X, bias: 0.5 x (1 + tanh(c (x + 0.044715 x³))) */
    EACH_AND("FastGelu", "ms", 8, 1),
    EACH("GatedAdd", "ms", 6),  /* x + σ(gate) y */
    EACH("Gelu", "ms", 5),      /* 0.5 x (1 + erf(x / √2)) */
    EACH("QuickGelu", "ms", 6), /* x σ(1.702 x) */
    /* images */
    WORK("CropAndResize", "ms", count_crop_resize),
    WORK("MaxpoolWithMask NhwcMaxPool", "ms", assay__cost_pool),
    /* moves */
    ASSAY__COST_NAME("BitmaskDropout", "ms"), /* in inference */
    ASSAY__COST_NAME("ExpandDims", "ms"),
    PICK("GatherND", "ms", 1),
    EACH_IN("IsAllFinite", "ms", 1), /* a comparison */
    MOVE("MurmurHash3 NGramRepeatBlock RemovePadding RestorePadding UnfoldTensor", "ms"),
    MOVE("ReorderInput ReorderOutput", "nchwc"),
    /* generation: how often the bodies run depends on data */
    WORK("BeamSearch GreedySearch Sampling WhisperBeamSearch", "ms", count_by_data),
    {.ops = NULL},
};
