/* cost_quantised.c - costs of quantised operators, of ai.onnx and com.microsoft. An integer product
 * counts like a floating-point one. Scaling the sums back to integers is folded into the product,
 * as engines do; if numbers are quantised or dequantised individually, that is 2 each ((x - zero) ×
 * scale; x / scale, rounded). */
#include "cost/cost_table.h"

#define EACH ASSAY__COST_EACH
#define EACH_IN ASSAY__COST_EACH_IN
#define QUANT ASSAY__COST_QUANT
#define QUANT_IN ASSAY__COST_QUANT_IN
#define WORK ASSAY__COST_WORK
#define PRODUCT ASSAY__COST_PRODUCT

/* DynamicQuantizeMatMul A, B, b_scale, b_zero_point, bias: A quantised (4: minimum, maximum,
 * x / scale, round), each output dequantised (1). */
static void count_dynamic_matmul(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    assay__cost_matmul(call, work);
    work->other = 4 * assay__cost_in_elements(call, 0) + assay__cost_out_elements(call);
}

/* MatMulIntegerToFloat A, B, scales, zero points, bias: each output dequantised (1). */
static void count_to_float(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    assay__cost_matmul(call, work);
    work->other = assay__cost_out_elements(call);
}

/* QOrderedMatMul A, s, B, s, s, bias, C */
static void count_qordered(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    assay__cost_matmul(call, work);
    if (assay__cost_has(call, 6)) work->other += assay__cost_out_elements(call);
}

/* MatMulNBitsMlp A […, K], skip, norm_scale, gate B, scales, bias, up B, scales, bias: two products
 * of K × N, Swish of one × the other (6 per output); before it the sum and an RMS norm (5). */
static void count_nbits_mlp(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double outputs = assay__cost_out_elements(call);
    double before = (double)assay__cost_has(call, 1) + 5 * (double)assay__cost_has(call, 2);
    work->multiply_adds = 2 * outputs * assay__cost_in_dim(call, 0, -1);
    work->bias_adds = outputs *
                      ((double)assay__cost_has(call, 5) + (double)assay__cost_has(call, 8));
    work->other = 6 * outputs + before * assay__cost_in_elements(call, 0);
}

/* MatMulNBitsQkv A […, K], skip, norm_scale, q B, scales, bias, k …, v …: three products of K ×
 * (Nq, Nkv, Nkv); before it the sum and an RMS norm (5). */
static void count_nbits_qkv(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double inner = assay__cost_in_dim(call, 0, -1);
    double before = (double)assay__cost_has(call, 1) + 5 * (double)assay__cost_has(call, 2);
    for (size_t i = 0; i < 3; i++) {
        double outputs = assay__cost_elements(assay__cost_out(call, i));
        work->multiply_adds += outputs * inner;
        if (assay__cost_has(call, 5 + 3 * i)) work->bias_adds += outputs;
    }
    work->other = before * assay__cost_in_elements(call, 0);
}

/* DynamicQuantizeLSTM X [S, B, I], W [D, I, 4 H], R [D, H, 4 H], B: as LSTM with transposed
 * weights; X quantised (4 each). */
static void count_dynamic_lstm(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *x = assay__cost_in(call, 0), *w = assay__cost_in(call, 1);
    double steps = assay__cost_dim(x, 0) * assay__cost_dim(x, 1) * assay__cost_dim(w, 0);
    double gates = assay__cost_dim(w, 2), hidden = gates / 4;
    work->multiply_adds = steps * gates * (assay__cost_dim(w, 1) + hidden);
    work->bias_adds = assay__cost_has(call, 3) ? 2 * steps * gates : 0;
    work->other = 9 * steps * hidden + 4 * assay__cost_elements(x);
}

/* QOrderedAttention input [B, S, D], …, Q_weight [D, q] (5), K_weight, V_weight, …, Q_bias (11): as
 * Attention. */
static void count_attention(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *x = assay__cost_in(call, 0);
    double q = assay__cost_in_dim(call, 5, 1), v = assay__cost_in_dim(call, 7, 1);
    double all = q + assay__cost_in_dim(call, 6, 1) + v;
    double batch = assay__cost_dim(x, 0), length = assay__cost_dim(x, 1);
    double heads = assay__cost_attr(call, "num_heads");
    work->multiply_adds = batch * length * assay__cost_dim(x, 2) * all;
    work->bias_adds = assay__cost_has(call, 11) ? batch * length * all : 0;
    assay__cost_attend(batch * heads, length, length, q / heads, v / heads, 1, work);
}

/* QLinearAveragePool: k additions per output, dequantising and quantising 4. */
static void count_qlinear_pool(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    work->other = assay__cost_out_elements(call) *
                  (assay__cost_attr_product(call, "kernel_shape") + 4);
}

/* QEmbedLayerNormalization: as EmbedLayerNormalization, each number of each table dequantised (2).
 */
static void count_qembed(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double tables = assay__cost_has(call, 1) ? 3 : 2;
    work->other = assay__cost_out_elements(call) * (3 * tables - 1 + 8);
}

const struct assay__cost_row assay__cost_rows_quantised[] = {
    ASSAY__COST_UNPACK("DequantizeLinear", "*", 2), /* (x - zero) × scale */
    EACH_IN("DynamicQuantizeLinear", "", 4),        /* minimum, maximum, x / scale, round */
    EACH_IN("QuantizeLinear", "*", 2),              /* x / scale, round */
    ASSAY__COST_UNPACK("DequantizeBFP", "ms", 2),   /* × the block's scale, as DequantizeLinear */
    ASSAY__COST_UNPACK("DequantizeWithOrder", "ms", 2),
    EACH_IN("QuantizeBFP QuantizeWithOrder", "ms", 2),
    /* products */
    PRODUCT("ConvInteger", "", assay__cost_conv, 1, 0),
    WORK("DynamicQuantizeLSTM", "ms", count_dynamic_lstm),
    PRODUCT("DynamicQuantizeMatMul", "ms", count_dynamic_matmul, 1, 4),
    /* A […, K], B, scales, zero_points, g_idx, bias */
    PRODUCT("MatMulBlockQuantizedFp4Weight MatMulNBits", "ms", assay__cost_matmul, 1, 5),
    /* A, B, b_scale, a_scale, bias */
    PRODUCT("MatMulBlockQuantizedFp8Weight", "ms", assay__cost_matmul, 1, 4),
    WORK("MatMulBnb4 MatMulFpQ4 MatMulInteger16", "ms", assay__cost_matmul),
    WORK("MatMulInteger", "", assay__cost_matmul),
    PRODUCT("MatMulIntegerToFloat", "ms", count_to_float, 1, 6),
    WORK("MatMulNBitsMlp", "ms", count_nbits_mlp),
    WORK("MatMulNBitsQkv", "ms", count_nbits_qkv),
    PRODUCT("QGemm", "ms", assay__cost_matmul, 3, 6),    /* A, s, z, B, s, z, C */
    PRODUCT("QLinearConv", "*", assay__cost_conv, 3, 8), /* x, s, z, w, s, z, s, z, B */
    PRODUCT("QLinearConvTranspose", "ms", assay__cost_conv_transpose, 3, 8),
    WORK("QLinearMatMul", "", assay__cost_matmul), /* output elements × the inner axis of A */
    WORK("QOrderedAttention", "ms", count_attention),
    PRODUCT("QOrderedMatMul", "ms", count_qordered, 2, 5),
    /* element by element: dequantising 2 per operand, the operation, quantising 2 */
    QUANT("MulInteger", "ms", 1),
    QUANT("QLinearAdd QLinearMul", "ms", 7),
    WORK("QLinearAveragePool", "ms", count_qlinear_pool),
    QUANT("QLinearConcat QLinearWhere", "ms", 4),
    QUANT_IN("QLinearGlobalAveragePool", "ms", 1), /* an addition per input element */
    QUANT("QLinearLeakyRelu", "ms", 6),            /* comparison, × */
    QUANT_IN("QLinearReduceMean ReduceSumInteger", "ms", 1),
    QUANT("QLinearSigmoid", "ms", 8),              /* Sigmoid 4 */
    QUANT("QLinearSoftmax", "ms", 9),              /* Softmax 5 */
    QUANT("QOrderedGelu", "ms", 9),                /* Gelu 5 */
    QUANT("QOrderedLayerNormalization", "ms", 12), /* LayerNormalization 8 */
    /* look-ups of quantised tables */
    {.ops = "GatherBlockQuantized", .domain = "ms", .flops = 2, .partial = 1},
    {.ops = "QEmbedLayerNormalization", .domain = "ms", .partial = 7u << 2, .count = count_qembed},
    {.ops = NULL},
};
