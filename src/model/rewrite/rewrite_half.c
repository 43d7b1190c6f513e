/* rewrite_half.c - the operators that a float16 rewrite converts, by the type constraints of the
 * ONNX operator specification. What is not listed stays float32 with Casts around it, on purpose:
 *   Range, CumSum, RandomNormal…, NonMaxSuppression, RoiAlign, GridSample, Celu, Det, Multinomial,
 *     ImageDecoder: no float16 in the specification's older sets, or results that would be wrong in
 * float16 (long sums, coordinates); Sin, Cos, Tan and what their arguments are calculated with: an
 * angle of 2,000 has a step of 1 in float16; MeanVarianceNormalization: ONNX Runtime expands it
 * with float32 constants; BatchNormalization that trains: its running mean and variance are of
 * another type; QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, MatMulInteger, …: their
 * scales are float32; If, Loop, Scan, sequences and optionals: what crosses their border stays
 * float32, the bodies are converted inside. An engine without a float16 kernel (ONNX Runtime's CPU
 * provider has few) adds its own Casts. */
#include "model/rewrite/rewrite_graph.h"

#include "model/op_words.h"

#include <string.h>

#define ALL 0xffffffffu

static const struct assay__half_row rows[] = {
    /* arithmetic */
    {"Add Sub Mul Div Pow", "", 7, ALL, 1, false},
    {"Mod", "", 10, ALL, 1, false},
    {"Max Min Mean Sum", "", 8, ALL, 1, false},
    {"Abs Neg Exp Log Sqrt Reciprocal Floor Ceil Clip", "", 6, ALL, 1, false},
    {"Round", "", 11, ALL, 1, false},
    {"Sign", "", 9, ALL, 1, true},
    {"Where", "", 9, ALL, 1, false},
    {"Less Greater", "", 7, ALL, 0, true},
    {"LessOrEqual GreaterOrEqual", "", 12, ALL, 0, true},
    {"Equal", "", 11, ALL, 0, true},
    /* activations */
    {"Relu LeakyRelu Elu Selu", "", 6, ALL, 1, false},
    {"PRelu", "", 7, ALL, 1, false},
    {"ThresholdedRelu", "", 10, ALL, 1, false},
    {"Sigmoid HardSigmoid Tanh", "", 6, ALL, 1, true},
    {"HardSwish", "", 14, ALL, 1, false},
    {"Swish", "", 24, ALL, 1, false},
    {"Mish", "", 18, ALL, 1, false},
    {"Gelu", "", 20, ALL, 1, false},
    {"Erf", "", 9, ALL, 1, true},
    {"Softplus LogSoftmax", "", 1, ALL, 1, false},
    {"Softsign Softmax Hardmax", "", 1, ALL, 1, true},
    {"Shrink", "", 9, ALL, 1, false},
    {"Dropout", "", 7, 1, 1, false},
    /* products */
    {"MatMul Conv ConvTranspose", "", 1, ALL, 1, false},
    {"Gemm", "", 7, ALL, 1, false},
    {"Einsum", "", 12, ALL, 1, false},
    {"RNN GRU LSTM", "", 7, ALL, ALL, true},
    {"Attention", "", 23, 0x37, ALL, false}, /* Q K V, past K and V; the mask keeps its type */
    {"RotaryEmbedding", "", 23, ALL, 1, false},
    /* normalisation: the result has the magnitude of its scale */
    {"BatchNormalization", "", 7, ALL, 1, false},
    {"InstanceNormalization", "", 6, ALL, 1, true},
    {"LayerNormalization", "", 17, ALL, 1, true}, /* mean and deviation stay float32 */
    {"GroupNormalization", "", 18, ALL, 1, true},
    {"RMSNormalization", "", 23, ALL, 1, true},
    {"LpNormalization", "", 1, ALL, 1, true},
    {"LRN", "", 1, ALL, 1, false},
    /* pooling and reduction */
    {"MaxPool GlobalAveragePool GlobalMaxPool ReduceMax ReduceMin ReduceMean ReduceSum ReduceL1 "
     "ReduceL2 ReduceLogSumExp ReduceProd TopK",
     "", 1, ALL, 1, false},
    {"AveragePool", "", 7, ALL, 1, false},
    {"LpPool GlobalLpPool", "", 2, ALL, 1, false},
    {"ArgMax ArgMin", "", 1, ALL, 0, true},
    /* movement */
    {"Identity Flatten Transpose DepthToSpace SpaceToDepth", "", 1, ALL, 1, false},
    {"Reshape", "", 5, 1, 1, false},
    {"Squeeze Unsqueeze Slice Gather", "", 1, 1, 1, false},
    {"Concat", "", 4, ALL, 1, false},
    {"Split", "", 2, 1, ALL, false},
    {"GatherElements GatherND", "", 11, 1, 1, false},
    {"ScatterElements ScatterND", "", 11, 5, 1, false},
    {"Expand", "", 8, 1, 1, false},
    {"Tile", "", 6, 1, 1, false},
    {"Pad", "", 2, 5, 1, false},
    {"Resize", "", 10, 1, 1, false}, /* roi and scales stay float32 */
    {"Upsample", "", 7, 1, 1, false},
    {"ReverseSequence", "", 10, 1, 1, false},
    {"Trilu", "", 14, 1, 1, false},
    {"Compress", "", 9, 1, 1, false},
    /* com.microsoft, as written by ONNX Runtime's optimiser */
    {"Gelu FastGelu BiasGelu QuickGelu FusedMatMul FusedGemm FusedConv", "ms", 1, ALL, 1, false},
    {"SkipLayerNormalization SkipSimplifiedLayerNormalization", "ms", 1, ALL, 9, false},
    {"LayerNormalization", "", 1, ALL, 1, true}, /* the form from before set 17 */
    {"SimplifiedLayerNormalization", "", 1, ALL, 1, true},
    {"MultiHeadAttention Attention", "ms", 1, ALL, ALL, false},
};

const struct assay__half_row *assay__half_find(const struct assay__node *node, int64_t opset)
{
    bool standard = !*node->domain || strcmp(node->domain, "ai.onnx") == 0;
    bool microsoft = strcmp(node->domain, "com.microsoft") == 0;
    if (standard && strcmp(node->op, "BatchNormalization") == 0)
        for (size_t k = 1; k < node->output_count; k++)
            if (*node->outputs[k]) return NULL;
    for (size_t i = 0; (standard || microsoft) && i < sizeof rows / sizeof rows[0]; i++)
        if (assay__has_word(rows[i].ops, node->op) && (*rows[i].domain != '\0') == microsoft &&
            (microsoft || opset >= rows[i].opset))
            return &rows[i];
    return NULL;
}
