/* rewrite_half.c - the operators that a float16 rewrite converts, by the type constraints of the
 * ONNX operator specification. What is not here stays float32 with Casts around it, on purpose:
 *   Range, CumSum, RandomNormal…, NonMaxSuppression, RoiAlign, GridSample, Celu, Det, Multinomial,
 *     ImageDecoder: no float16
 *   in the specification's older sets, or results that float16 would make wrong (long sums,
 *     coordinates);
 *   Sin, Cos, Tan and what their arguments are calculated with: an angle of 2,000 has a step of 1
 *     in float16;
 *   MeanVarianceNormalization: ONNX Runtime expands it with float32 constants;
 *   BatchNormalization that trains: its running mean and variance are of another type;
 *   QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, MatMulInteger, …: their scales are
 *     float32;
 *   If, Loop, Scan, sequences and optionals: what crosses their border stays float32, the bodies
 *     are converted inside.
 * An engine without a float16 kernel (ONNX Runtime's CPU provider has few) adds its own Casts. */
#include "model/rewrite/rewrite_half.h"

#include <string.h>

#define ALL 0xffffffffu

static const struct assay__half_row rows[] = {
    /* arithmetic */
    {"Add", "", 7, ALL, 1, false},
    {"Sub", "", 7, ALL, 1, false},
    {"Mul", "", 7, ALL, 1, false},
    {"Div", "", 7, ALL, 1, false},
    {"Pow", "", 7, ALL, 1, false},
    {"Mod", "", 10, ALL, 1, false},
    {"Max", "", 8, ALL, 1, false},
    {"Min", "", 8, ALL, 1, false},
    {"Mean", "", 8, ALL, 1, false},
    {"Sum", "", 8, ALL, 1, false},
    {"Abs", "", 6, ALL, 1, false},
    {"Neg", "", 6, ALL, 1, false},
    {"Exp", "", 6, ALL, 1, false},
    {"Log", "", 6, ALL, 1, false},
    {"Sqrt", "", 6, ALL, 1, false},
    {"Reciprocal", "", 6, ALL, 1, false},
    {"Floor", "", 6, ALL, 1, false},
    {"Ceil", "", 6, ALL, 1, false},
    {"Round", "", 11, ALL, 1, false},
    {"Sign", "", 9, ALL, 1, true},
    {"Clip", "", 6, ALL, 1, false},
    {"Where", "", 9, ALL, 1, false},
    {"Less", "", 7, ALL, 0, true},
    {"Greater", "", 7, ALL, 0, true},
    {"LessOrEqual", "", 12, ALL, 0, true},
    {"GreaterOrEqual", "", 12, ALL, 0, true},
    {"Equal", "", 11, ALL, 0, true},
    /* activations */
    {"Relu", "", 6, ALL, 1, false},
    {"LeakyRelu", "", 6, ALL, 1, false},
    {"PRelu", "", 7, ALL, 1, false},
    {"Elu", "", 6, ALL, 1, false},
    {"Selu", "", 6, ALL, 1, false},
    {"ThresholdedRelu", "", 10, ALL, 1, false},
    {"Sigmoid", "", 6, ALL, 1, true},
    {"HardSigmoid", "", 6, ALL, 1, true},
    {"HardSwish", "", 14, ALL, 1, false},
    {"Swish", "", 24, ALL, 1, false},
    {"Mish", "", 18, ALL, 1, false},
    {"Gelu", "", 20, ALL, 1, false},
    {"Tanh", "", 6, ALL, 1, true},
    {"Erf", "", 9, ALL, 1, true},
    {"Softplus", "", 1, ALL, 1, false},
    {"Softsign", "", 1, ALL, 1, true},
    {"Softmax", "", 1, ALL, 1, true},
    {"LogSoftmax", "", 1, ALL, 1, false},
    {"Hardmax", "", 1, ALL, 1, true},
    {"Shrink", "", 9, ALL, 1, false},
    {"Dropout", "", 7, 1, 1, false},
    /* products */
    {"MatMul", "", 1, ALL, 1, false},
    {"Gemm", "", 7, ALL, 1, false},
    {"Einsum", "", 12, ALL, 1, false},
    {"Conv", "", 1, ALL, 1, false},
    {"ConvTranspose", "", 1, ALL, 1, false},
    {"RNN", "", 7, ALL, ALL, true},
    {"GRU", "", 7, ALL, ALL, true},
    {"LSTM", "", 7, ALL, ALL, true},
    {"Attention", "", 23, 0x37, ALL, false}, /* Q K V, past K and V; the mask keeps its type */
    {"RotaryEmbedding", "", 23, ALL, 1, false},
    /* normalisation: the result is of the size of its scale */
    {"BatchNormalization", "", 7, ALL, 1, false},
    {"InstanceNormalization", "", 6, ALL, 1, true},
    {"LayerNormalization", "", 17, ALL, 1, true}, /* mean and deviation stay float32 */
    {"GroupNormalization", "", 18, ALL, 1, true},
    {"RMSNormalization", "", 23, ALL, 1, true},
    {"LpNormalization", "", 1, ALL, 1, true},
    {"LRN", "", 1, ALL, 1, false},
    /* pooling and reduction */
    {"MaxPool", "", 1, ALL, 1, false},
    {"AveragePool", "", 7, ALL, 1, false},
    {"LpPool", "", 2, ALL, 1, false},
    {"GlobalAveragePool", "", 1, ALL, 1, false},
    {"GlobalMaxPool", "", 1, ALL, 1, false},
    {"GlobalLpPool", "", 2, ALL, 1, false},
    {"ReduceMax", "", 1, ALL, 1, false},
    {"ReduceMin", "", 1, ALL, 1, false},
    {"ReduceMean", "", 1, ALL, 1, false},
    {"ReduceSum", "", 1, ALL, 1, false},
    {"ReduceL1", "", 1, ALL, 1, false},
    {"ReduceL2", "", 1, ALL, 1, false},
    {"ReduceLogSumExp", "", 1, ALL, 1, false},
    {"ReduceProd", "", 1, ALL, 1, false},
    {"ArgMax", "", 1, ALL, 0, true},
    {"ArgMin", "", 1, ALL, 0, true},
    {"TopK", "", 1, ALL, 1, false},
    /* movement */
    {"Identity", "", 1, ALL, 1, false},
    {"Reshape", "", 5, 1, 1, false},
    {"Flatten", "", 1, ALL, 1, false},
    {"Squeeze", "", 1, 1, 1, false},
    {"Unsqueeze", "", 1, 1, 1, false},
    {"Transpose", "", 1, ALL, 1, false},
    {"Concat", "", 4, ALL, 1, false},
    {"Split", "", 2, 1, ALL, false},
    {"Slice", "", 1, 1, 1, false},
    {"Gather", "", 1, 1, 1, false},
    {"GatherElements", "", 11, 1, 1, false},
    {"GatherND", "", 11, 1, 1, false},
    {"ScatterElements", "", 11, 5, 1, false},
    {"ScatterND", "", 11, 5, 1, false},
    {"Expand", "", 8, 1, 1, false},
    {"Tile", "", 6, 1, 1, false},
    {"Pad", "", 2, 5, 1, false},
    {"Resize", "", 10, 1, 1, false}, /* roi and scales stay float32 */
    {"Upsample", "", 7, 1, 1, false},
    {"DepthToSpace", "", 1, ALL, 1, false},
    {"SpaceToDepth", "", 1, ALL, 1, false},
    {"ReverseSequence", "", 10, 1, 1, false},
    {"Trilu", "", 14, 1, 1, false},
    {"Compress", "", 9, 1, 1, false},
    /* com.microsoft, as ONNX Runtime's optimiser writes them */
    {"Gelu", "ms", 1, ALL, 1, false},
    {"FastGelu", "ms", 1, ALL, 1, false},
    {"BiasGelu", "ms", 1, ALL, 1, false},
    {"QuickGelu", "ms", 1, ALL, 1, false},
    {"FusedMatMul", "ms", 1, ALL, 1, false},
    {"FusedGemm", "ms", 1, ALL, 1, false},
    {"FusedConv", "ms", 1, ALL, 1, false},
    {"SkipLayerNormalization", "ms", 1, ALL, 9, false},
    {"SkipSimplifiedLayerNormalization", "ms", 1, ALL, 9, false},
    {"LayerNormalization", "", 1, ALL, 1, true}, /* the form from before set 17 */
    {"SimplifiedLayerNormalization", "", 1, ALL, 1, true},
    {"MultiHeadAttention", "ms", 1, ALL, ALL, false},
    {"Attention", "ms", 1, ALL, ALL, false},
};

const struct assay__half_row *assay__half_find(const struct assay__node *node, int64_t opset)
{
    bool standard = !*node->domain || strcmp(node->domain, "ai.onnx") == 0;
    bool microsoft = strcmp(node->domain, "com.microsoft") == 0;
    if (standard && strcmp(node->op, "BatchNormalization") == 0)
        for (size_t k = 1; k < node->output_count; k++)
            if (*node->outputs[k]) return NULL;
    for (size_t i = 0; (standard || microsoft) && i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].op, node->op) == 0 && (*rows[i].domain != '\0') == microsoft &&
            (microsoft || opset >= rows[i].opset))
            return &rows[i];
    return NULL;
}
