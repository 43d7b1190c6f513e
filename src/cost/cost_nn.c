/* cost_nn.c - costs of the layers of networks in ai.onnx: products, convolutions, pools, norms,
 * attention, recurrent cells, resampling, losses. */
#include "cost/cost_table.h"

#include <math.h>
#include <string.h>

#define EACH ASSAY__COST_EACH
#define EACH_IN ASSAY__COST_EACH_IN
#define WORK ASSAY__COST_WORK
#define PRODUCT ASSAY__COST_PRODUCT

/* --- products --------------------------------------------------------------------------------- */

/* DeformConv X, W, offset, B, mask: the convolution, and before it every sample (image × position ×
 * kernel element × channel) interpolated from 2^d neighbours, a multiplication and an addition
 * each, and × mask. */
static void count_deform_conv(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *x = assay__cost_in(call, 0), *w = assay__cost_in(call, 1);
    assay__cost_conv(call, work);
    double samples = assay__cost_out_elements(call) / assay__cost_dim(w, 0) *
                     assay__cost_dim(x, 1) * assay__cost_inner(w, 2);
    double axes = x && x->rank > 2 ? x->rank - 2 : NAN;
    work->other = samples * (2 * pow(2, axes) + (double)assay__cost_has(call, 4));
}

/* Attention Q, K, V, mask, past_key, past_value: per head queries × keys × (width of q + of v);
 * softmax 5, scale 1, mask 1, softcap 3 (÷, tanh, ×) per score. 4-D inputs are [B, H, L, D], 3-D
 * ones [B, L, H D] with the heads as attributes. */
static void count_attention(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *q = assay__cost_in(call, 0), *k = assay__cost_in(call, 1),
                                    *v = assay__cost_in(call, 2), *past = assay__cost_in(call, 4);
    bool flat = q && q->rank == 3;
    double heads = flat ? assay__cost_attr(call, "q_num_heads") : assay__cost_dim(q, 1);
    double kv_heads = flat ? assay__cost_attr(call, "kv_num_heads") : assay__cost_dim(k, 1);
    double width = assay__cost_dim(q, -1) / (flat ? heads : 1);
    double value_width = assay__cost_dim(v, -1) / (flat ? kv_heads : 1);
    double keys = assay__cost_dim(k, flat ? 1 : -2);
    if (assay__cost_has(call, 4)) keys += assay__cost_dim(past, 2);
    double capped = assay__node_float(call->node, "softcap", 0) > 0 ? 3 : 0;
    assay__cost_attend(assay__cost_dim(q, 0) * heads, assay__cost_dim(q, flat ? 1 : 2), keys, width,
                       value_width, 1 + (double)assay__cost_has(call, 3) + capped, work);
}

/* LinearAttention q [B, T, H Dk], k, v [B, T, Hkv Dv], past_state, decay, beta. Per token and
 * key-value head a state of Dk × Dv: + k vᵀ (a multiply-add per element), × decay when there is
 * one, read by each query head (a multiply-add per element); the delta rules first read it with k
 * (one more) and correct v (2 per value). */
static void count_linear(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *q = assay__cost_in(call, 0), *v = assay__cost_in(call, 2);
    double heads = assay__cost_attr(call, "q_num_heads"),
           kv_heads = assay__cost_attr(call, "kv_num_heads");
    double tokens = assay__cost_dim(q, 0) * assay__cost_dim(q, 1);
    double state = assay__cost_dim(q, 2) / heads * (assay__cost_dim(v, 2) / kv_heads);
    const struct assay__attr *rule = assay__node_attr(call->node, "update_rule");
    bool delta = !rule || !rule->s || strstr(rule->s, "delta");
    work->multiply_adds = tokens * state * (kv_heads * (delta ? 2 : 1) + heads);
    work->other = assay__cost_has(call, 4) ? tokens * state * kv_heads : 0;
    if (delta) work->other += 2 * tokens * assay__cost_dim(v, 2);
}

/* --- pools, norms ----------------------------------------------------------------------------- */

/* LpPool: a power and an addition per window element, a root. */
static void count_lp_pool(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    work->other = assay__cost_out_elements(call) *
                  (2 * assay__cost_attr_product(call, "kernel_shape") + 1);
}

/* BatchNormalization: in inference scale and shift, folded: x a + b: 2. In training the mean and
 * variance are computed, as in LayerNormalization: 8. */
static void count_batch_norm(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    bool training = assay__node_int(call->node, "training_mode", 0) != 0;
    work->other = (training ? 8 : 2) * assay__cost_out_elements(call);
}

/* --- resampling ------------------------------------------------------------------------------- */

static void count_resize(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__attr *mode = assay__node_attr(call->node, "mode");
    assay__cost_resize(call, mode ? mode->s : "nearest", work);
}

/* GridSample X [N, C, …], grid […, d]: t^d taps per output element, a multiplication and an
 * addition each (nearest: none); per grid number 3 (+ 1, × size, / 2). */
static void count_grid_sample(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__attr *mode = assay__node_attr(call->node, "mode");
    const struct assay__shape_entry *grid = assay__cost_in(call, 1);
    const char *name = mode && mode->s ? mode->s : "bilinear";
    double axes = assay__cost_dim(grid, -1);
    double taps = strstr(name, "nearest") ? 0 : pow(strstr(name, "cubic") ? 4 : 2, axes);
    work->other = 2 * taps * assay__cost_out_elements(call) + 3 * assay__cost_elements(grid);
}

/* RoiAlign: sampling_ratio² samples per output element, each from 4 neighbours (8) and added (1).
 * With sampling_ratio 0 it depends on the regions. */
static void count_roi_align(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double ratio = (double)assay__node_int(call->node, "sampling_ratio", 0);
    if (ratio > 0)
        work->other = 9 * ratio * ratio * assay__cost_out_elements(call);
    else
        assay__cost_by_data(call, work);
}

/* AffineGrid theta [N, d, d + 1]: each coordinate is a row of d + 1 numbers × (x, y, …, 1): d
 * multiply-adds and the shift. */
static void count_affine_grid(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double outputs = assay__cost_out_elements(call);
    work->multiply_adds = outputs * assay__cost_in_dim(call, 0, 1);
    work->bias_adds = outputs;
}

/* --- losses ----------------------------------------------------------------------------------- */

/* SoftmaxCrossEntropyLoss scores, labels: LogSoftmax 6 per score; weight and sum 2 per label. */
static void count_cross_entropy(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    work->other = 6 * assay__cost_in_elements(call, 0) + 2 * assay__cost_in_elements(call, 1);
}

/* NegativeLogLikelihoodLoss input, target: weight and sum 2 per label. */
static void count_nll(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    work->other = 2 * assay__cost_in_elements(call, 1);
}

const struct assay__cost_row assay__cost_rows_nn[] = {
    /* products */
    WORK("AffineGrid", "", count_affine_grid),
    WORK("Attention", "", count_attention),
    PRODUCT("CausalConvWithState Conv", "*", assay__cost_conv, 1, 2), /* X, W, B */
    PRODUCT("ConvTranspose", "*", assay__cost_conv_transpose, 1, 2),
    PRODUCT("DeformConv", "", count_deform_conv, 1, 3),
    WORK("GRU LSTM RNN", "", assay__cost_recurrent),
    PRODUCT("Gemm", "", assay__cost_matmul, 1, 2), /* A, B, C */
    WORK("LinearAttention", "*", count_linear),
    WORK("MatMul", "", assay__cost_matmul), /* output elements × the inner axis */
    {.ops = "RotaryEmbedding", .domain = "", .partial = 3u << 1, .count = assay__cost_rotary},
    /* pools */
    WORK("AveragePool MaxPool", "*", assay__cost_pool),
    EACH_IN("GlobalAveragePool", "*", 1), /* an addition per input element */
    EACH_IN("GlobalLpPool", "", 2),       /* power, addition */
    EACH_IN("GlobalMaxPool", "*", 1),     /* a comparison per input element */
    WORK("LpPool", "", count_lp_pool),
    WORK("MaxRoiPool", "", assay__cost_by_data), /* how many numbers a region contains */
    ASSAY__COST_MOVE("MaxUnpool", ""),           /* puts numbers back where they came from */
    /* norms */
    WORK("BatchNormalization", "", count_batch_norm),
    EACH("GroupNormalization InstanceNormalization", "", 8), /* as LayerNormalization */
    WORK("LRN", "", assay__cost_lrn),
    /* mean 1, deviation 1, square 1, sum 1, × 1/σ 1, scale 1, shift 1, + ε and root ≈ 1 */
    EACH("LayerNormalization", "*", 8),
    EACH("LpNormalization", "", 3),               /* power, sum, division */
    EACH("MeanVarianceNormalization", "", 6),     /* mean, deviation, square, sum, division, root */
    EACH("RMSNormalization", "", 5),              /* square, sum, × 1/rms, scale, root */
    EACH("SimplifiedLayerNormalization", "*", 5), /* as RMSNormalization */
    /* resampling */
    EACH_IN("Col2Im", "", 1), /* every number is added in its place */
    WORK("GridSample", "*", count_grid_sample),
    WORK("Resize Upsample", "*", count_resize),
    WORK("RoiAlign", "", count_roi_align),
    WORK("ImageDecoder", "", assay__cost_by_data), /* how large an image is */
    /* losses, detection */
    WORK("NegativeLogLikelihoodLoss", "", count_nll),
    WORK("NonMaxSuppression", "", assay__cost_by_data), /* how many boxes are compared */
    WORK("SoftmaxCrossEntropyLoss", "", count_cross_entropy),
    {.ops = NULL},
};
