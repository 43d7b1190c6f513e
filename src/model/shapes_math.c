/* shapes_math.c - shape rows of operators that compute element by element, reduce, or make numbers.
 * Integer vectors are computed along, element by element. */
#include "base/checked.h"
#include "model/shape_call.h"

#include <math.h>
#include <string.h>

static void infer_same(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 0, ASSAY__UNDEFINED);
}

static void infer_identity(struct assay__shape_call *call)
{
    infer_same(call);
    if (call->in_count && call->in[0]->values)
        assay__shape_set_values(call, 0, call->in[0]->values, call->in[0]->value_count);
    if (call->in_count && call->out_count) call->out[0]->tensor = call->in[0]->tensor;
}

static void infer_same_bool(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 0, ASSAY__BOOL);
}

/* Dropout: output 1 is the mask. */
static void infer_dropout(struct assay__shape_call *call)
{
    infer_same(call);
    assay__shape_like(call, 1, 0, call->opset >= 10 ? ASSAY__BOOL : ASSAY__UNDEFINED);
}

static enum assay__dtype dtype_attr(const struct assay__shape_call *call, const char *name,
                                    enum assay__dtype otherwise)
{
    int64_t value = assay__node_int(call->node, name, (int64_t)otherwise);
    return value >= 0 && value <= ASSAY__INT2 ? (enum assay__dtype)value : ASSAY__UNDEFINED;
}

static void infer_cast(struct assay__shape_call *call)
{
    enum assay__dtype to = dtype_attr(call, "to", ASSAY__UNDEFINED);
    assay__shape_like(call, 0, 0, to);
    assay__shape_set_dtype(call, 0, to);
    bool integer = to == ASSAY__INT64 || to == ASSAY__INT32;
    if (integer && call->in_count && call->in[0]->values)
        assay__shape_set_values(call, 0, call->in[0]->values, call->in[0]->value_count);
}

static void infer_cast_like(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 0, ASSAY__UNDEFINED);
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 1));
}

/* X, scale, zero point: the type of the zero point, uint8 without one. */
static void infer_quantize(struct assay__shape_call *call)
{
    enum assay__dtype otherwise = assay__shape_has(call, 2) ? assay__shape_dtype(call, 2)
                                                            : ASSAY__UINT8;
    assay__shape_like(call, 0, 0, ASSAY__UNDEFINED);
    assay__shape_set_dtype(
        call, 0,
        assay__shape_has(call, 2) ? otherwise : dtype_attr(call, "output_dtype", ASSAY__UINT8));
}

static void infer_dequantize(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 0, ASSAY__UNDEFINED);
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 1));
}

static void infer_dynamic_quantize(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 0, ASSAY__UINT8);
    assay__shape_set(call, 1, ASSAY__FLOAT32, 0, NULL);
    assay__shape_set(call, 2, ASSAY__UINT8, 0, NULL);
}

/* --- broadcasting ----------------------------------------------------------------------------- */

/* All inputs from `first` on, NumPy's rules. Before opset 7 the second input broadcast into the
 * first. */
static void broadcast_inputs(struct assay__shape_call *call, size_t first, enum assay__dtype dtype)
{
    int64_t dims[ASSAY__SHAPE_RANK];
    int rank = 0;
    assay__shape_set_dtype(call, 0, dtype);
    if (assay__node_attr(call->node, "broadcast") || (call->opset < 7 && call->opset > 0)) {
        assay__shape_set(call, 0, dtype, assay__shape_rank(call, first),
                         assay__shape_dims(call, first));
        return;
    }
    for (size_t i = first; i < call->in_count; i++) {
        int other = assay__shape_rank(call, i);
        if (other < 0 || !assay__shape_broadcast(dims, &rank, assay__shape_dims(call, i), other))
            return;
    }
    assay__shape_set(call, 0, dtype, rank, dims);
}

static bool compute(const char *op, int64_t a, int64_t b, int64_t *out)
{
    if (strcmp(op, "Add") == 0) return !assay__add_i64_overflows(a, b, out);
    if (strcmp(op, "Sub") == 0) return !__builtin_sub_overflow(a, b, out);
    if (strcmp(op, "Mul") == 0) return !assay__mul_i64_overflows(a, b, out);
    bool whole = a >= 0 &&
                 b > 0; /* signs are treated differently by different operators: leave those out */
    if (strcmp(op, "Div") == 0 && whole) return *out = a / b, true;
    if (strcmp(op, "Mod") == 0 && whole) return *out = a % b, true;
    if (strcmp(op, "Max") == 0) return *out = a > b ? a : b, true;
    if (strcmp(op, "Min") == 0) return *out = a < b ? a : b, true;
    return false;
}

/* Two small integer vectors, of one length or one of length 1. */
static void compute_values(struct assay__shape_call *call)
{
    const struct assay__fact *a = call->in_count == 2 ? call->in[0] : NULL;
    const struct assay__fact *b = call->in_count == 2 ? call->in[1] : NULL;
    int64_t values[ASSAY__SHAPE_VALUES], probe;
    if (!a || !a->values || !b->values || !compute(call->node->op, 1, 1, &probe)) return;
    size_t count = a->value_count > b->value_count ? a->value_count : b->value_count;
    if ((a->value_count != count && a->value_count != 1) ||
        (b->value_count != count && b->value_count != 1) || a->value_count * b->value_count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        int64_t left = a->values[a->value_count == 1 ? 0 : i];
        int64_t right = b->values[b->value_count == 1 ? 0 : i];
        bool known = left != ASSAY__SHAPE_ANY && right != ASSAY__SHAPE_ANY;
        if (!known || !compute(call->node->op, left, right, &values[i]))
            values[i] = ASSAY__SHAPE_ANY;
    }
    assay__shape_set_values(call, 0, values, count);
}

static void infer_broadcast(struct assay__shape_call *call)
{
    broadcast_inputs(call, 0, assay__shape_dtype(call, 0));
    compute_values(call);
}

static void infer_broadcast_bool(struct assay__shape_call *call)
{
    broadcast_inputs(call, 0, ASSAY__BOOL);
}

/* condition, X, Y */
static void infer_where(struct assay__shape_call *call)
{
    broadcast_inputs(call, 0, assay__shape_dtype(call, 1));
}

/* --- reductions ------------------------------------------------------------------------------- */

static void reduce(struct assay__shape_call *call, const int64_t *axes, size_t count, bool keep,
                   enum assay__dtype dtype)
{
    int rank = assay__shape_rank(call, 0), kept = 0, axis = 0;
    const int64_t *dims = assay__shape_dims(call, 0);
    bool reduced[ASSAY__SHAPE_RANK] = {false};
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, 0, dtype);
    if (rank < 0) return;
    for (size_t i = 0; i < count; i++) {
        if (!assay__shape_axis(axes[i], rank, &axis)) return;
        reduced[axis] = true;
    }
    for (int i = 0; i < rank; i++) {
        if (!reduced[i])
            out[kept++] = dims[i];
        else if (keep)
            out[kept++] = 1;
    }
    assay__shape_set(call, 0, dtype, kept, out);
}

static void infer_reduce(struct assay__shape_call *call)
{
    size_t count = 0;
    bool given = false, keep = assay__node_int(call->node, "keepdims", 1) != 0;
    const int64_t *axes = assay__shape_axes(call, "axes", 1, &count, &given);
    int64_t all[ASSAY__SHAPE_RANK];
    int rank = assay__shape_rank(call, 0);
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (rank < 0 || (given && !axes)) return;
    if (count == 0) {
        if (assay__node_int(call->node, "noop_with_empty_axes", 0)) {
            infer_same(call);
            return;
        }
        for (int i = 0; i < rank; i++)
            all[i] = i;
        axes = all;
        count = (size_t)rank;
    }
    reduce(call, axes, count, keep, assay__shape_dtype(call, 0));
    /* The number of elements of a shape, as exporters compute it. */
    size_t n = 0;
    const int64_t *values = assay__shape_values(call, 0, &n);
    if (values && strcmp(call->node->op, "ReduceProd") == 0 && rank == 1) {
        int64_t product = 1;
        for (size_t i = 0; i < n; i++)
            if (assay__mul_i64_overflows(product, values[i], &product)) return;
        assay__shape_set_values(call, 0, &product, 1);
    }
}

static void infer_arg_reduce(struct assay__shape_call *call)
{
    int64_t axis = assay__node_int(call->node, "axis", 0);
    reduce(call, &axis, 1, assay__node_int(call->node, "keepdims", 1) != 0, ASSAY__INT64);
}

static void infer_topk(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t dims[ASSAY__SHAPE_RANK];
    size_t count = 0;
    const int64_t *k = assay__shape_values(call, 1, &count);
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    assay__shape_set_dtype(call, 1, ASSAY__INT64);
    if (rank < 0 || !assay__shape_axis(assay__node_int(call->node, "axis", -1), rank, &axis))
        return;
    memcpy(dims, assay__shape_dims(call, 0), (size_t)rank * sizeof *dims);
    dims[axis] = k && count == 1 ? k[0] : assay__node_int(call->node, "k", -1);
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, dims);
    assay__shape_set(call, 1, ASSAY__INT64, rank, dims);
}

/* --- making numbers --------------------------------------------------------------------------- */

static void infer_shape(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    const int64_t *dims = assay__shape_dims(call, 0);
    int64_t start = assay__node_int(call->node, "start", 0);
    int64_t end = assay__node_int(call->node, "end", INT64_MAX), values[ASSAY__SHAPE_RANK];
    assay__shape_set(call, 0, ASSAY__INT64, 1, NULL);
    if (rank < 0) return;
    if (start < 0) start = start + rank < 0 ? 0 : start + rank;
    if (end < 0) end += rank;
    if (start > rank) start = rank;
    if (end > rank) end = rank;
    int64_t count = end > start ? end - start : 0;
    for (int64_t i = 0; i < count; i++)
        values[i] = dims[start + i] < 0 ? ASSAY__SHAPE_ANY : dims[start + i];
    assay__shape_set(call, 0, ASSAY__INT64, 1, &count);
    assay__shape_set_values(call, 0, values, (size_t)count);
}

static void infer_size(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    assay__shape_set(call, 0, ASSAY__INT64, 0, NULL);
    if (rank < 0) return;
    int64_t count = assay__shape_product(assay__shape_dims(call, 0), 0, rank);
    if (count >= 0) assay__shape_set_values(call, 0, &count, 1);
}

static void infer_constant_of_shape(struct assay__shape_call *call)
{
    const struct assay__attr *value = assay__node_attr(call->node, "value");
    enum assay__dtype dtype = value && value->t ? value->t->dtype : ASSAY__FLOAT32;
    size_t count = 0;
    const int64_t *dims = assay__shape_values(call, 0, &count);
    assay__shape_set_dtype(call, 0, dtype);
    if (!dims || count > ASSAY__SHAPE_RANK) return;
    assay__shape_set(call, 0, dtype, (int)count, dims);
    /* A vector of one integer repeated: exporters pad and expand shapes with it. */
    bool wide = value && value->t && dtype == ASSAY__INT64 && value->t->data &&
                value->t->elements == 1;
    if (wide && count <= 1 && (count == 0 || dims[0] <= ASSAY__SHAPE_VALUES)) {
        int64_t values[ASSAY__SHAPE_VALUES], one;
        size_t n = count ? (size_t)dims[0] : 1;
        memcpy(&one, value->t->data, sizeof one);
        for (size_t i = 0; i < n; i++)
            values[i] = one;
        assay__shape_set_values(call, 0, values, n);
    }
}

/* start, limit, delta: max(ceil((limit - start) / delta), 0) elements */
static void infer_range(struct assay__shape_call *call)
{
    double start = 0, limit = 0, delta = 0;
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 1, NULL);
    if (!assay__shape_scalar(call, 0, &start) || !assay__shape_scalar(call, 1, &limit) ||
        !assay__shape_scalar(call, 2, &delta) || delta == 0)
        return;
    double count = ceil((limit - start) / delta);
    if (!(count < 9e15)) return;
    int64_t n = count > 0 ? (int64_t)count : 0, values[ASSAY__SHAPE_VALUES];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 1, &n);
    bool integer = assay__shape_dtype(call, 0) == ASSAY__INT64;
    if (!integer || n > ASSAY__SHAPE_VALUES || fabs(start) > 9e15 || fabs(limit) > 9e15 ||
        fabs(delta) > 9e15)
        return;
    for (int64_t i = 0; i < n; i++)
        values[i] = (int64_t)start + i * (int64_t)delta;
    assay__shape_set_values(call, 0, values, (size_t)n);
}

/* indices, depth, values */
static void infer_one_hot(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t dims[ASSAY__SHAPE_RANK];
    double depth = -1;
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 2));
    if (rank < 0 || rank + 1 > ASSAY__SHAPE_RANK ||
        !assay__shape_axis(assay__node_int(call->node, "axis", -1), rank + 1, &axis))
        return;
    if (!assay__shape_scalar(call, 1, &depth) || !(depth >= 0 && depth < 9e15)) depth = -1;
    for (int i = 0, from = 0; i <= rank; i++)
        dims[i] = i == axis ? (int64_t)depth : assay__shape_dims(call, 0)[from++];
    assay__shape_set(call, 0, assay__shape_dtype(call, 2), rank + 1, dims);
}

static void infer_non_zero(struct assay__shape_call *call)
{
    int64_t dims[2] = {assay__shape_rank(call, 0), -1};
    assay__shape_set(call, 0, ASSAY__INT64, 2, dims);
}

/* RandomNormal, RandomUniform: the shape is an attribute. */
static void infer_random(struct assay__shape_call *call)
{
    const struct assay__attr *shape = assay__node_attr(call->node, "shape");
    enum assay__dtype dtype = dtype_attr(call, "dtype", ASSAY__FLOAT32);
    assay__shape_set_dtype(call, 0, dtype);
    if (shape && shape->type == ASSAY__ATTR_INTS && shape->count <= ASSAY__SHAPE_RANK)
        assay__shape_set(call, 0, dtype, (int)shape->count, shape->ints);
}

static void infer_like_typed(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 0, dtype_attr(call, "dtype", ASSAY__UNDEFINED));
}

const struct assay__shape_row assay__shape_rows_math[] = {
    {"Abs", "", infer_same},
    {"Acos", "", infer_same},
    {"Acosh", "", infer_same},
    {"Add", "", infer_broadcast},
    {"And", "", infer_broadcast_bool},
    {"ArgMax", "", infer_arg_reduce},
    {"ArgMin", "", infer_arg_reduce},
    {"Asin", "", infer_same},
    {"Asinh", "", infer_same},
    {"Atan", "", infer_same},
    {"Atanh", "", infer_same},
    {"Bernoulli", "", infer_like_typed},
    {"BiasGelu", "ms", infer_same},
    {"BitShift", "", infer_broadcast},
    {"BitwiseAnd", "", infer_broadcast},
    {"BitwiseNot", "", infer_same},
    {"BitwiseOr", "", infer_broadcast},
    {"BitwiseXor", "", infer_broadcast},
    {"Cast", "", infer_cast},
    {"CastLike", "", infer_cast_like},
    {"Ceil", "", infer_same},
    {"Celu", "", infer_same},
    {"Clip", "", infer_same},
    {"ConstantOfShape", "", infer_constant_of_shape},
    {"Cos", "", infer_same},
    {"Cosh", "", infer_same},
    {"CumSum", "", infer_same},
    {"DequantizeLinear", "*", infer_dequantize},
    {"Div", "", infer_broadcast},
    {"Dropout", "", infer_dropout},
    {"DynamicQuantizeLinear", "", infer_dynamic_quantize},
    {"Elu", "", infer_same},
    {"Equal", "", infer_broadcast_bool},
    {"Erf", "", infer_same},
    {"Exp", "", infer_same},
    {"EyeLike", "", infer_like_typed},
    {"FastGelu", "ms", infer_same},
    {"Floor", "", infer_same},
    {"Gelu", "*", infer_same},
    {"Greater", "", infer_broadcast_bool},
    {"GreaterOrEqual", "", infer_broadcast_bool},
    {"HardSigmoid", "", infer_same},
    {"HardSwish", "", infer_same},
    {"Hardmax", "", infer_same},
    {"Identity", "", infer_identity},
    {"IsInf", "", infer_same_bool},
    {"IsNaN", "", infer_same_bool},
    {"LeakyRelu", "", infer_same},
    {"Less", "", infer_broadcast_bool},
    {"LessOrEqual", "", infer_broadcast_bool},
    {"Log", "", infer_same},
    {"LogSoftmax", "", infer_same},
    {"Max", "", infer_broadcast},
    {"Mean", "", infer_broadcast},
    {"Min", "", infer_broadcast},
    {"Mish", "", infer_same},
    {"Mod", "", infer_broadcast},
    {"Mul", "", infer_broadcast},
    {"Neg", "", infer_same},
    {"NonZero", "", infer_non_zero},
    {"Not", "", infer_same},
    {"OneHot", "", infer_one_hot},
    {"Or", "", infer_broadcast_bool},
    {"PRelu", "", infer_same},
    {"Pow", "", infer_broadcast},
    {"QuantizeLinear", "*", infer_quantize},
    {"QuickGelu", "ms", infer_same},
    {"RandomNormal", "", infer_random},
    {"RandomNormalLike", "", infer_like_typed},
    {"RandomUniform", "", infer_random},
    {"RandomUniformLike", "", infer_like_typed},
    {"Range", "", infer_range},
    {"Reciprocal", "", infer_same},
    {"ReduceL1", "", infer_reduce},
    {"ReduceL2", "", infer_reduce},
    {"ReduceLogSum", "", infer_reduce},
    {"ReduceLogSumExp", "", infer_reduce},
    {"ReduceMax", "", infer_reduce},
    {"ReduceMean", "", infer_reduce},
    {"ReduceMin", "", infer_reduce},
    {"ReduceProd", "", infer_reduce},
    {"ReduceSum", "", infer_reduce},
    {"ReduceSumSquare", "", infer_reduce},
    {"Relu", "", infer_same},
    {"Round", "", infer_same},
    {"Selu", "", infer_same},
    {"Shape", "", infer_shape},
    {"Shrink", "", infer_same},
    {"Sigmoid", "", infer_same},
    {"Sign", "", infer_same},
    {"Sin", "", infer_same},
    {"Sinh", "", infer_same},
    {"Size", "", infer_size},
    {"Softmax", "", infer_same},
    {"Softplus", "", infer_same},
    {"Softsign", "", infer_same},
    {"Sqrt", "", infer_same},
    {"Sub", "", infer_broadcast},
    {"Sum", "", infer_broadcast},
    {"Swish", "", infer_same},
    {"Tan", "", infer_same},
    {"Tanh", "", infer_same},
    {"ThresholdedRelu", "", infer_same},
    {"TopK", "", infer_topk},
    {"Where", "", infer_where},
    {"Xor", "", infer_broadcast_bool},
    {NULL, NULL, NULL},
};
