/* shapes_quant.c - shape rows of quantisation: QDQ, and ONNX Runtime's operators on 8-bit tensors
 * with their scales and zero points as inputs. */
#include "model/shapes/shape_call.h"

#include <string.h>

/* X, scale, zero point: the type of the zero point, else `output_dtype`, else uint8. */
static void infer_quantize(struct assay__shape_call *call)
{
    enum assay__dtype dtype = assay__shape_has(call, 2)
                                  ? assay__shape_dtype(call, 2)
                                  : assay__shape_dtype_attr(call, "output_dtype", ASSAY__UINT8);
    if (!assay__shape_has(call, 2) && dtype == ASSAY__UNDEFINED) dtype = ASSAY__UINT8;
    assay__shape_as(call, 0, 0, dtype);
}

static void infer_dequantize(struct assay__shape_call *call)
{
    enum assay__dtype dtype = assay__shape_dtype_attr(call, "output_dtype", ASSAY__UNDEFINED);
    if (dtype == ASSAY__UNDEFINED) dtype = assay__shape_dtype(call, 1);
    assay__shape_as(call, 0, 0, dtype);
}

static void infer_dynamic_quantize(struct assay__shape_call *call)
{
    assay__shape_as(call, 0, 0, ASSAY__UINT8);
    assay__shape_set(call, 1, ASSAY__FLOAT32, 0, NULL);
    assay__shape_set(call, 2, ASSAY__UINT8, 0, NULL);
}

/* A, A_scale, A_zero, B, …; Where: condition, X, x_scale, x_zero, Y, … */
static void infer_qlinear_broadcast(struct assay__shape_call *call)
{
    static const size_t two[] = {0, 3}, three[] = {0, 1, 4};
    bool where = assay__shape_op_is(call, "QLinearWhere");
    assay__shape_broadcast_inputs(call, where ? three : two, where ? 3 : 2,
                                  assay__shape_dtype(call, where ? 1 : 0));
}

/* Y_scale, Y_zero, then (tensor, scale, zero) for each part */
static void infer_qlinear_concat(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 2), axis = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    enum assay__dtype dtype = assay__shape_dtype(call, 1);
    assay__shape_set_dtype(call, 0, dtype);
    if (!assay__shape_axis_attr(call, "axis", 1, rank, &axis)) return;
    memcpy(out, assay__shape_dims(call, 2), (size_t)rank * sizeof *out);
    for (size_t i = 5; i < call->in_count; i += 3) {
        if (assay__shape_rank(call, i) != rank) return;
        const int64_t *dims = assay__shape_dims(call, i);
        for (int k = 0; k < rank; k++)
            if (k == axis)
                out[k] = assay__num_add(call->symbols, out[k], dims[k]);
            else if (dims[k] >= 0 || out[k] == ASSAY__NUM_ANY)
                out[k] = dims[k];
    }
    assay__shape_set(call, 0, dtype, rank, out);
}

/* X, scale, zero, …: the axes are an attribute */
static void infer_qlinear_reduce(struct assay__shape_call *call)
{
    size_t count = 0;
    const int64_t *axes = assay__shape_ints(call, "axes", &count);
    bool keep = assay__node_int(call->node, "keepdims", 1) != 0, gone[ASSAY__SHAPE_RANK] = {false};
    int rank = assay__shape_rank(call, 0), axis = 0, kept = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    enum assay__dtype dtype = assay__shape_op_is(call, "ReduceSumInteger")
                                  ? ASSAY__INT32
                                  : assay__shape_dtype(call, 0);
    assay__shape_set_dtype(call, 0, dtype);
    for (size_t i = 0; i < count; i++) {
        if (!assay__shape_axis(axes[i], rank, &axis)) return;
        gone[axis] = true;
    }
    for (int i = 0; i < rank; i++) {
        bool reduced = count == 0 || gone[i];
        if (!reduced || keep) out[kept++] = reduced ? 1 : assay__shape_dims(call, 0)[i];
    }
    assay__shape_set(call, 0, dtype, rank < 0 ? -1 : kept, out);
}

static void infer_quantize_with_order(struct assay__shape_call *call)
{
    assay__shape_as(call, 0, 0, ASSAY__INT8);
}

/* input, scale, weights such as [in, 3 hidden]: as wide as the input */
static void infer_qordered_attention(struct assay__shape_call *call)
{
    assay__shape_set_same(call, 3, NULL);
}

/* data, indices, scales, zero points: Gather in the type of the scales; sub-byte data may be packed
 * in uint8; then the quantised axis is longer than it looks. */
static void infer_gather_block(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), indices = assay__shape_rank(call, 1), axis = 0, n = 0;
    int64_t out[ASSAY__SHAPE_RANK], bits = assay__node_int(call->node, "bits", 4);
    enum assay__dtype dtype = assay__shape_dtype(call, 2);
    bool packed = assay__shape_dtype(call, 0) == ASSAY__UINT8 && bits > 0 && bits < 8;
    assay__shape_set_dtype(call, 0, dtype);
    if (rank < 1 || indices < 0 || rank + indices - 1 > ASSAY__SHAPE_RANK ||
        !assay__shape_axis_attr(call, "gather_axis", 0, rank, &axis))
        return;
    for (int i = 0; i < rank; i++) {
        int64_t size = assay__shape_dims(call, 0)[i];
        if (packed && i == rank - 1) size = assay__num_mul(call->symbols, size, 8 / bits);
        for (int k = 0; i == axis && k < indices; k++)
            out[n++] = assay__shape_dims(call, 1)[k];
        if (i != axis) out[n++] = size;
    }
    assay__shape_set(call, 0, dtype, n, out);
}

#define SAME assay__shape_row_same

const struct assay__shape_row assay__shape_rows_quant[] = {
    {"DequantizeLinear", "*", infer_dequantize},
    {"DequantizeWithOrder", "ms", assay__shape_row_to},
    {"DynamicQuantizeLinear", "", infer_dynamic_quantize},
    {"GatherBlockQuantized", "ms", infer_gather_block},
    {"MulInteger QLinearAdd QLinearMul QLinearWhere", "ms", infer_qlinear_broadcast},
    {"QLinearConcat", "ms", infer_qlinear_concat},
    {"QLinearLeakyRelu QLinearSigmoid QLinearSoftmax QOrderedGelu QOrderedLayerNormalization "
     "QOrderedLongformerAttention",
     "ms", SAME},
    {"QLinearReduceMean ReduceSumInteger", "ms", infer_qlinear_reduce},
    {"QOrderedAttention", "ms", infer_qordered_attention},
    {"QuantizeLinear", "*", infer_quantize},
    {"QuantizeWithOrder", "ms", infer_quantize_with_order},
    {NULL, NULL, NULL},
};
