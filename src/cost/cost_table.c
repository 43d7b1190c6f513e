/* cost_table.c - the table of costs, one row per operator, the formula beside it. Functions
 * first, then the rows. exp, log, sqrt, tanh, erf, pow and the trigonometric functions count as
 * one FLOP each: what they cost depends on the library, and it is the number of operations of
 * the formula that is counted. */
#include "cost/cost_table.h"

#include <math.h>
#include <string.h>

/* FusedConv, FusedMatMul and the like apply an activation to each output: one more operation per
 * element. */
static double activation(const struct assay__cost_call *call)
{
    const struct assay__attr *attr = assay__node_attr(call->node, "activation");
    return attr && attr->s_size ? assay__cost_elements(assay__cost_out(call, 0)) : 0;
}

/* Conv: output elements × (C / group) × kernel elements multiply-adds; W is [M, C / group, k…].
 * A bias adds one per output element. FusedConv may add a second input (Z). */
static void conv(const struct assay__cost_call *call, size_t w, size_t bias,
                 struct assay__cost_work *work)
{
    double outputs = assay__cost_elements(assay__cost_out(call, 0));
    const struct assay__shape_entry *weights = assay__cost_in(call, w);
    work->multiply_adds = outputs * assay__cost_elements(weights) / assay__cost_dim(weights, 0);
    work->bias_adds = assay__cost_has(call, bias) ? outputs : 0;
    work->other = activation(call);
    if (strcmp(call->node->op, "FusedConv") == 0 && assay__cost_has(call, 3))
        work->other += outputs;
}

static void count_conv(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    conv(call, 1, 2, work);
}

/* ConvInteger: x, w, x_zero_point, w_zero_point: no bias. */
static void count_conv_integer(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    conv(call, 1, SIZE_MAX, work);
}

/* QLinearConv: x, s, z, w, s, z, s, z, B */
static void count_qlinear_conv(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    conv(call, 3, 8, work);
}

/* ConvTranspose: each input element meets (M / group) × kernel weights; W is [C, M / group, k…]. */
static void count_conv_transpose(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *weights = assay__cost_in(call, 1);
    work->multiply_adds = assay__cost_elements(assay__cost_in(call, 0)) *
                          assay__cost_elements(weights) / assay__cost_dim(weights, 0);
    if (assay__cost_has(call, 2)) work->bias_adds = assay__cost_elements(assay__cost_out(call, 0));
}

/* Gemm: M × N × K; C adds one per output element. alpha and beta are folded into the weights by
 * every engine: not counted. */
static void count_gemm(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double outputs = assay__cost_elements(assay__cost_out(call, 0));
    bool trans_a = assay__node_int(call->node, "transA", 0) != 0;
    work->multiply_adds = outputs * assay__cost_dim(assay__cost_in(call, 0), trans_a ? 0 : 1);
    work->bias_adds = assay__cost_has(call, 2) ? outputs : 0;
    work->other = activation(call);
}

/* MatMul: output elements × K, the last axis of A (the one before it when A is transposed). */
static void matmul(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *a = assay__cost_in(call, 0);
    bool transposed = assay__node_int(call->node, "transA", 0) != 0;
    double inner = assay__cost_dim(a, transposed && a && a->rank > 1 ? -2 : -1);
    work->multiply_adds = assay__cost_elements(assay__cost_out(call, 0)) * inner;
}

static void count_matmul(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    matmul(call, work);
    work->other = activation(call);
}

/* A[…, K] × the K and N of the attributes; bias is input 5. */
static void count_matmul_nbits(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    matmul(call, work);
    if (assay__cost_has(call, 5)) work->bias_adds = assay__cost_elements(assay__cost_out(call, 0));
}

/* Einsum of one or two operands: the product of the sizes of all letters, one multiply-add each
 * (one operand: an addition). */
static void count_einsum(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__attr *equation = assay__node_attr(call->node, "equation");
    bool seen[128] = {false};
    double total = call->node->input_count <= 2 && equation ? 1 : NAN;
    const char *at = equation ? equation->s : "";
    for (size_t i = 0; i < call->node->input_count; i++) {
        int axis = 0;
        for (; *at && *at != ',' && *at != '-'; at++) {
            unsigned char letter = (unsigned char)*at;
            if (letter == ' ') continue;
            if (letter == '.' || letter >= 128) total = NAN;
            double size = assay__cost_dim(assay__cost_in(call, i), axis++);
            if (letter < 128 && !seen[letter]) total *= size;
            if (letter < 128) seen[letter] = true;
        }
        at += *at == ',';
    }
    if (call->node->input_count == 2)
        work->multiply_adds = total;
    else
        work->other = total;
}

/* Window elements of a pool; NaN without kernel_shape. */
static double window(const struct assay__cost_call *call)
{
    const struct assay__attr *kernel = assay__node_attr(call->node, "kernel_shape");
    double elements = kernel && kernel->type == ASSAY__ATTR_INTS ? 1 : NAN;
    for (size_t i = 0; kernel && kernel->ints && i < kernel->count; i++)
        elements *= (double)kernel->ints[i];
    return elements;
}

/* MaxPool: k - 1 comparisons; AveragePool: k - 1 additions and a division: counted as k per
 * output for both. */
static void count_pool(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    work->other = assay__cost_elements(assay__cost_out(call, 0)) * window(call);
}

/* LpPool: a power and an addition per window element, a root. */
static void count_lp_pool(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    work->other = assay__cost_elements(assay__cost_out(call, 0)) * (2 * window(call) + 1);
}

/* LRN over `size` channels: a square and `size` additions, then bias + alpha/size × sum (2), a
 * power and a division. */
static void count_lrn(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    double size = (double)assay__node_int(call->node, "size", -1);
    work->other = assay__cost_elements(assay__cost_out(call, 0)) * (size > 0 ? size + 5 : NAN);
}

/* Recurrent cells, per step, direction and batch element: gates × hidden × (input + hidden)
 * multiply-adds; biases Wb and Rb one addition each; element-wise work: RNN 1 (activation), GRU
 * 3 activations + 7, LSTM 5 activations + 4 per hidden unit. */
static void count_recurrent(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *x = assay__cost_in(call, 0), *w = assay__cost_in(call, 1),
                                    *r = assay__cost_in(call, 2);
    double steps = assay__cost_dim(x, 0) *
                   assay__cost_dim(x, 1); /* sequence × batch in either layout */
    double directions = assay__cost_dim(w, 0), gates_hidden = assay__cost_dim(w, 1);
    double hidden = assay__cost_dim(r, 2), input = assay__cost_dim(w, 2);
    double pointwise = call->node->op[0] == 'L' ? 9 : call->node->op[0] == 'G' ? 10 : 1;
    work->multiply_adds = steps * directions * gates_hidden * (input + hidden);
    work->bias_adds = assay__cost_has(call, 3) ? 2 * steps * directions * gates_hidden : 0;
    work->other = steps * directions * hidden * pointwise;
}

/* com.microsoft Attention, input [B, S, D], weights [D, 3 H]: projections B S D 3 H + bias,
 * scores B S S H, softmax 5 per score over `num_heads` heads, context B S S H. Past key/value
 * states make the length unknown here. */
static void count_attention(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *x = assay__cost_in(call, 0), *w = assay__cost_in(call, 1);
    double batch = assay__cost_dim(x, 0), length = assay__cost_dim(x, 1),
           width = assay__cost_dim(x, 2);
    double three = assay__cost_dim(w, 1),
           heads = (double)assay__node_int(call->node, "num_heads", -1);
    if (assay__cost_has(call, 4) || heads < 1 || assay__node_attr(call->node, "qkv_hidden_sizes"))
        batch = NAN;
    work->multiply_adds = batch * length * width * three + 2 * batch * length * length * three / 3;
    work->bias_adds = assay__cost_has(call, 2) ? batch * length * three : 0;
    work->other = 5 * batch * heads * length * length;
}

/* EmbedLayerNormalization: two or three embeddings added, then a layer norm (8). */
static void count_embed_layer_norm(const struct assay__cost_call *call,
                                   struct assay__cost_work *work)
{
    double sums = assay__cost_has(call, 1) ? 2 : 1;
    work->other = assay__cost_elements(assay__cost_out(call, 0)) * (sums + 8);
}

/* Short forms of the rows. */
#define EACH(op, domain, flops)                                     \
    {                                                               \
        op, domain, flops, ASSAY__PER_OUTPUT, false, false, 0, NULL \
    }
#define EACH_IN(op, domain, flops)                                 \
    {                                                              \
        op, domain, flops, ASSAY__PER_INPUT, false, false, 0, NULL \
    }
#define MANY(op)                                           \
    {                                                      \
        op, "", 1, ASSAY__PER_OUTPUT, true, false, 0, NULL \
    }
#define MOVE(op, domain)                                        \
    {                                                           \
        op, domain, 0, ASSAY__PER_OUTPUT, false, false, 0, NULL \
    }
#define PICK(op)                                            \
    {                                                       \
        op, "", 0, ASSAY__PER_OUTPUT, false, false, 1, NULL \
    }
#define VIEW(op)                                           \
    {                                                      \
        op, "", 0, ASSAY__PER_OUTPUT, false, true, 0, NULL \
    }
#define WORK(op, domain, count)                                  \
    {                                                            \
        op, domain, 0, ASSAY__PER_OUTPUT, false, false, 0, count \
    }

const struct assay__cost_row assay__cost_rows[] = {
    /* products */
    WORK("Attention", "ms", count_attention),
    WORK("Conv", "*", count_conv),
    WORK("ConvInteger", "", count_conv_integer),
    WORK("ConvTranspose", "", count_conv_transpose),
    WORK("DynamicQuantizeMatMul", "ms", count_matmul),
    WORK("Einsum", "", count_einsum),
    WORK("FusedConv", "ms", count_conv),
    WORK("FusedGemm", "ms", count_gemm),
    WORK("FusedMatMul", "ms", count_matmul),
    WORK("GRU", "", count_recurrent),
    WORK("Gemm", "", count_gemm),
    WORK("LSTM", "", count_recurrent),
    WORK("MatMul", "", count_matmul),
    WORK("MatMulInteger", "", count_matmul),
    WORK("MatMulIntegerToFloat", "ms", count_matmul),
    WORK("MatMulNBits", "ms", count_matmul_nbits),
    WORK("QLinearConv", "", count_qlinear_conv),
    WORK("QLinearMatMul", "", count_matmul),
    WORK("RNN", "", count_recurrent),
    /* pools */
    WORK("AveragePool", "*", count_pool),
    EACH_IN("GlobalAveragePool", "*", 1), /* an addition per input element */
    EACH_IN("GlobalLpPool", "", 2),       /* power, addition */
    EACH_IN("GlobalMaxPool", "*", 1),     /* a comparison per input element */
    WORK("LpPool", "", count_lp_pool),
    WORK("MaxPool", "*", count_pool),
    /* norms */
    EACH("BatchNormalization", "", 2), /* inference: scale and shift, folded: x a + b */
    /* three tables, looked up */
    {"EmbedLayerNormalization", "ms", 0, ASSAY__PER_OUTPUT, false, false,
     1u << 2 | 1u << 3 | 1u << 4, count_embed_layer_norm},
    EACH("GroupNormalization", "", 8),    /* as LayerNormalization */
    EACH("InstanceNormalization", "", 8), /* as LayerNormalization */
    WORK("LRN", "", count_lrn),
    EACH("LayerNormalization", "",
         8), /* mean 1, deviation 1, square 1, sum 1, × 1/σ 1, scale 1, shift 1, + ε and root ≈ 1 */
    EACH("LpNormalization", "", 3),               /* power, sum, division */
    EACH("MeanVarianceNormalization", "", 6),     /* mean, deviation, square, sum, division, root */
    EACH("RMSNormalization", "", 5),              /* square, sum, × 1/rms, scale, root */
    EACH("SimplifiedLayerNormalization", "*", 5), /* as RMSNormalization */
    EACH("SkipLayerNormalization", "ms", 9),      /* the sum of input and skip, then 8 */
    EACH("SkipSimplifiedLayerNormalization", "ms", 6), /* the sum, then 5 */
    EACH("LogSoftmax", "", 6),                         /* Softmax and a logarithm */
    EACH("Softmax", "", 5), /* maximum, subtraction, exponential, sum, division */
    /* activations, per element */
    EACH("BiasGelu", "ms", 6), /* + bias, then Gelu */
    EACH("Celu", "", 5), /* max, exp, /, -, ×, min: at most one side is taken; 5 as written */
    EACH("Clip", "", 2), /* two comparisons */
    EACH("Elu", "", 3),  /* exp, -, × */
    EACH("FastGelu", "ms", 8),  /* 0.5 x (1 + tanh(c (x + 0.044715 x³))) */
    EACH("Gelu", "*", 5),       /* 0.5 x (1 + erf(x / √2)) */
    EACH("HardSigmoid", "", 4), /* × + and two comparisons */
    EACH("HardSwish", "", 5),   /* HardSigmoid and × */
    EACH("LeakyRelu", "", 2),   /* comparison, × */
    EACH("Mish", "", 4),        /* exp, log, tanh, × */
    EACH("PRelu", "", 2),       /* comparison, × */
    EACH("QuickGelu", "ms", 6), /* x σ(1.702 x) */
    EACH("Relu", "", 1),        /* comparison */
    EACH("Selu", "", 4),        /* exp, -, ×, × */
    EACH("Shrink", "", 2),      /* comparison, subtraction */
    EACH("Sigmoid", "", 4),     /* negate, exp, +, / */
    EACH("Softplus", "", 3),    /* exp, +, log */
    EACH("Softsign", "", 3),    /* abs, +, / */
    EACH("Swish", "", 5),       /* sigmoid and × */
    EACH("Tanh", "", 1),        /* one function */
    EACH("ThresholdedRelu", "", 1),
    /* arithmetic, per output element */
    EACH("Abs", "", 1),
    EACH("Acos", "", 1),
    EACH("Acosh", "", 1),
    EACH("Add", "", 1),
    EACH("Asin", "", 1),
    EACH("Asinh", "", 1),
    EACH("Atan", "", 1),
    EACH("Atanh", "", 1),
    EACH("Ceil", "", 1),
    EACH("Cos", "", 1),
    EACH("Cosh", "", 1),
    EACH("CumSum", "", 1),
    EACH("Div", "", 1),
    EACH("Equal", "", 1),
    EACH("Erf", "", 1),
    EACH("Exp", "", 1),
    EACH("Floor", "", 1),
    EACH("Greater", "", 1),
    EACH("GreaterOrEqual", "", 1),
    EACH("Less", "", 1),
    EACH("LessOrEqual", "", 1),
    EACH("Log", "", 1),
    EACH("Mod", "", 1),
    EACH("Mul", "", 1),
    EACH("Neg", "", 1),
    EACH("Pow", "", 1),
    EACH("Reciprocal", "", 1),
    EACH("Round", "", 1),
    EACH("Sign", "", 1),
    EACH("Sin", "", 1),
    EACH("Sinh", "", 1),
    EACH("Sqrt", "", 1),
    EACH("Sub", "", 1),
    EACH("Tan", "", 1),
    MANY("Max"),
    MANY("Mean"),
    MANY("Min"),
    MANY("Sum"),                             /* n - 1 operations for n inputs */
    EACH("DequantizeLinear", "*", 2),        /* (x - zero) × scale */
    EACH_IN("DynamicQuantizeLinear", "", 4), /* minimum, maximum, x / scale, round */
    EACH_IN("QuantizeLinear", "*", 2),       /* x / scale, round */
    /* reductions, per input element */
    EACH_IN("ArgMax", "", 1),
    EACH_IN("ArgMin", "", 1),
    EACH_IN("ReduceL1", "", 2),
    EACH_IN("ReduceL2", "", 2),
    EACH_IN("ReduceLogSum", "", 1),
    EACH_IN("ReduceLogSumExp", "", 2),
    EACH_IN("ReduceMax", "", 1),
    EACH_IN("ReduceMean", "", 1),
    EACH_IN("ReduceMin", "", 1),
    EACH_IN("ReduceProd", "", 1),
    EACH_IN("ReduceSum", "", 1),
    EACH_IN("ReduceSumSquare", "", 2),
    /* moving data: no arithmetic, known zero */
    MOVE("And", ""),
    MOVE("BitShift", ""),
    MOVE("BitwiseAnd", ""),
    MOVE("BitwiseNot", ""),
    MOVE("BitwiseOr", ""),
    MOVE("BitwiseXor", ""),
    MOVE("Cast", ""),
    MOVE("CastLike", ""),
    PICK("Compress"),
    MOVE("Concat", ""),
    MOVE("Constant", ""),
    MOVE("ConstantOfShape", ""),
    MOVE("DepthToSpace", ""),
    MOVE("Dropout", ""),
    MOVE("Expand", ""),
    MOVE("EyeLike", ""),
    PICK("Gather"),
    PICK("GatherElements"),
    PICK("GatherND"),
    MOVE("IsInf", ""),
    MOVE("IsNaN", ""),
    MOVE("NonZero", ""),
    MOVE("Not", ""),
    MOVE("OneHot", ""),
    MOVE("Or", ""),
    MOVE("Pad", ""),
    MOVE("Range", ""),
    MOVE("ReorderInput", "nchwc"),
    MOVE("ReorderOutput", "nchwc"),
    MOVE("ReverseSequence", ""),
    MOVE("Scatter", ""),
    MOVE("ScatterElements", ""),
    MOVE("ScatterND", ""),
    PICK("Slice"),
    MOVE("SpaceToDepth", ""),
    MOVE("Split", ""),
    MOVE("Tile", ""),
    MOVE("Transpose", ""),
    MOVE("Trilu", ""),
    MOVE("Unique", ""),
    MOVE("Where", ""),
    MOVE("Xor", ""),
    /* relabelling: not even bytes */
    VIEW("Flatten"),
    VIEW("Identity"),
    VIEW("Reshape"),
    VIEW("Shape"),
    VIEW("Size"),
    VIEW("Squeeze"),
    VIEW("Unsqueeze"),
    {NULL, NULL, 0, ASSAY__PER_OUTPUT, false, false, 0, NULL},
};
