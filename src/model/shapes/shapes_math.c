/* shapes_math.c - shape rows of operators that compute element by element or reduce. The elements
 * of small integer tensors are computed too, with symbols. */
#include "model/shapes/shape_call.h"

#include <string.h>

static void infer_identity(struct assay__shape_call *call)
{
    if (!call->in_count || !call->out_count) return;
    if (call->in[0]->sequence || call->in[0]->optional) {
        assay__shape_pass(call, 0, call->in[0]);
        return;
    }
    assay__shape_row_same(call);
    assay__shape_keep_values(call, 0, 0);
    call->out[0]->tensor = call->in[0]->tensor;
}

/* Dropout: output 1 is the mask. */
static void infer_dropout(struct assay__shape_call *call)
{
    assay__shape_row_same(call);
    assay__shape_like(call, 1, 0, call->opset >= 10 ? ASSAY__BOOL : ASSAY__UNDEFINED);
    assay__shape_set_dtype(call, 1, call->opset >= 10 ? ASSAY__BOOL : assay__shape_dtype(call, 0));
}

/* Values are whole numbers, so that a cast keeps them; to bool they become 0 or 1. */
static void infer_cast(struct assay__shape_call *call)
{
    enum assay__dtype to = assay__shape_op_is(call, "CastLike")
                               ? assay__shape_dtype(call, 1)
                               : assay__shape_dtype_attr(call, "to", ASSAY__UNDEFINED);
    size_t count = 0;
    const int64_t *nums = assay__shape_nums(call, 0, &count);
    bool followed = to == ASSAY__INT64 || to == ASSAY__INT32 || to == ASSAY__BOOL ||
                    to == ASSAY__FLOAT32 || to == ASSAY__FLOAT64;
    assay__shape_as(call, 0, 0, to);
    if (!nums || !followed) return;
    int64_t values[ASSAY__SHAPE_VALUES];
    for (size_t i = 0; i < count; i++) {
        bool wide = nums[i] > INT32_MAX || nums[i] < INT32_MIN;
        values[i] = nums[i];
        if (to == ASSAY__BOOL)
            values[i] = assay__num_known(nums[i]) ? nums[i] != 0 : ASSAY__NUM_ANY;
        if (to == ASSAY__INT32 && assay__num_known(nums[i]) && wide) values[i] = ASSAY__NUM_ANY;
    }
    assay__shape_set_values(call, 0, values, count);
}

/* --- broadcasting ----------------------------------------------------------------------------- */

/* Before opset 7 the second input broadcast into the first. */
static void broadcast_all(struct assay__shape_call *call, enum assay__dtype dtype)
{
    if (assay__node_attr(call->node, "broadcast") || (call->opset < 7 && call->opset > 0)) {
        assay__shape_as(call, 0, 0, dtype);
        return;
    }
    assay__shape_broadcast_inputs(call, NULL, call->in_count, dtype);
}

/* A number that float32 has exactly. */
static bool is_exact_float(int64_t num)
{
    return assay__num_known(num) && num >= -(1 << 24) && num <= 1 << 24;
}

/* a < b, a == b and so on, if it can be proven. */
static int64_t compare(struct assay__shape_call *call, const char *op, int64_t a, int64_t b)
{
    struct assay__symbols *symbols = call->symbols;
    bool ge = assay__num_at_least(symbols, a, b), le = assay__num_at_least(symbols, b, a);
    int64_t b_next = assay__num_add(symbols, b, 1), a_next = assay__num_add(symbols, a, 1);
    bool gt = assay__num_at_least(symbols, a, b_next), lt = assay__num_at_least(symbols, b, a_next);
    bool integer = assay__shape_dtype(call, 0) != ASSAY__FLOAT32 ||
                   (is_exact_float(a) && is_exact_float(b));
    if (a == ASSAY__NUM_ANY || b == ASSAY__NUM_ANY) return ASSAY__NUM_ANY;
    if (strcmp(op, "Equal") == 0)
        return a == b                                                     ? 1
               : gt || lt || (assay__num_known(a) && assay__num_known(b)) ? 0
                                                                          : ASSAY__NUM_ANY;
    if (!integer) return ASSAY__NUM_ANY;
    if (strcmp(op, "Greater") == 0) return gt || le ? (int64_t)gt : ASSAY__NUM_ANY;
    if (strcmp(op, "Less") == 0) return lt || ge ? (int64_t)lt : ASSAY__NUM_ANY;
    if (strcmp(op, "GreaterOrEqual") == 0) return ge || lt ? (int64_t)ge : ASSAY__NUM_ANY;
    if (strcmp(op, "LessOrEqual") == 0) return le || gt ? (int64_t)le : ASSAY__NUM_ANY;
    return ASSAY__NUM_ANY;
}

/* Integer division truncates and floor division does not: only if both agree. Whole floats must
 * divide exactly. */
static int64_t divide(struct assay__shape_call *call, int64_t a, int64_t b)
{
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    int64_t exact = assay__num_exact_div(call->symbols, a, b);
    if (exact != ASSAY__NUM_ANY || (dtype != ASSAY__INT64 && dtype != ASSAY__INT32)) return exact;
    if (!assay__num_at_least(call->symbols, a, 0) || !assay__num_at_least(call->symbols, b, 0) ||
        b == 0)
        return ASSAY__NUM_ANY;
    return assay__num_floor_div(call->symbols, a, b);
}

static int64_t compute(struct assay__shape_call *call, const char *op, int64_t a, int64_t b)
{
    struct assay__symbols *symbols = call->symbols;
    if (strcmp(op, "Add") == 0) return assay__num_add(symbols, a, b);
    if (strcmp(op, "Sub") == 0) return assay__num_sub(symbols, a, b);
    if (strcmp(op, "Mul") == 0) return assay__num_mul(symbols, a, b);
    if (strcmp(op, "Div") == 0) return divide(call, a, b);
    if (strcmp(op, "Max") == 0) return assay__num_max(symbols, a, b);
    if (strcmp(op, "Min") == 0) return assay__num_min(symbols, a, b);
    if (strcmp(op, "Mod") == 0)
        return assay__num_at_least(symbols, a, 0) && assay__num_at_least(symbols, b, 1)
                   ? assay__num_mod(symbols, a, b)
                   : ASSAY__NUM_ANY;
    if (strcmp(op, "And") == 0) return a == 0 || b == 0 ? 0 : a == 1 && b == 1 ? 1 : ASSAY__NUM_ANY;
    if (strcmp(op, "Or") == 0) return a == 1 || b == 1 ? 1 : a == 0 && b == 0 ? 0 : ASSAY__NUM_ANY;
    return compare(call, op, a, b);
}

/* Which element of an input broadcast to `rank` dims is at `index` of the result; -1: some dims are
 * not numbers. */
static int64_t source_index(const struct assay__fact *fact, const int64_t *dims, int rank,
                            size_t index)
{
    int64_t at = 0, stride = 1;
    for (int i = rank - 1, k = fact->entry.rank - 1; i >= 0; i--, k--) {
        int64_t here = (int64_t)(index % (size_t)dims[i]);
        index /= (size_t)dims[i];
        if (k < 0) continue;
        if (fact->dims[k] < 0) return -1;
        if (fact->dims[k] != 1) at += here * stride;
        stride *= fact->dims[k];
    }
    return (size_t)at < fact->value_count ? at : -1;
}

/* The number of elements of output 0 if it is small and known; false otherwise. */
static bool small_output(const struct assay__shape_call *call, size_t *count)
{
    const struct assay__fact *out = call->out_count ? call->out[0] : NULL;
    if (!out || out->entry.rank < 0) return false;
    *count = 1;
    for (int i = 0; i < out->entry.rank; i++) {
        if (out->dims[i] < 0 || out->dims[i] > ASSAY__SHAPE_VALUES) return false;
        *count *= (size_t)out->dims[i];
        if (*count > ASSAY__SHAPE_VALUES) return false;
    }
    return true;
}

/* Operands of the same type, with their elements. */
static void broadcast_values(struct assay__shape_call *call, enum assay__dtype dtype)
{
    int64_t values[ASSAY__SHAPE_VALUES];
    size_t count = 0, known = 0;
    for (size_t i = 1; i < call->in_count; i++)
        if (assay__shape_types_differ(call, 0, i)) break;
    broadcast_all(call, dtype);
    if (call->in_count != 2 || !call->in[0]->values || !call->in[1]->values ||
        !small_output(call, &count))
        return;
    const struct assay__fact *a = call->in[0], *b = call->in[1], *out = call->out[0];
    for (size_t i = 0; i < count; i++) {
        int64_t left = source_index(a, out->dims, out->entry.rank, i);
        int64_t right = source_index(b, out->dims, out->entry.rank, i);
        values[i] = left < 0 || right < 0
                        ? ASSAY__SHAPE_ANY
                        : compute(call, call->node->op, a->values[left], b->values[right]);
        known += values[i] != ASSAY__SHAPE_ANY;
    }
    if (known || !count) assay__shape_set_values(call, 0, values, count);
}

static void infer_broadcast(struct assay__shape_call *call)
{
    broadcast_values(call, assay__shape_dtype(call, 0));
}

static void infer_broadcast_bool(struct assay__shape_call *call)
{
    broadcast_values(call, ASSAY__BOOL);
}

/* Pow and BitShift: the type of the first, no values. */
static void infer_broadcast_plain(struct assay__shape_call *call)
{
    broadcast_all(call, assay__shape_dtype(call, 0));
}

/* Neg and Not */
static void infer_negation(struct assay__shape_call *call)
{
    bool logical = assay__shape_op_is(call, "Not");
    size_t count = 0;
    const int64_t *nums = assay__shape_nums(call, 0, &count);
    int64_t values[ASSAY__SHAPE_VALUES];
    assay__shape_like(call, 0, 0, logical ? ASSAY__BOOL : ASSAY__UNDEFINED);
    for (size_t i = 0; nums && i < count; i++)
        values[i] = !logical                    ? assay__num_sub(call->symbols, 0, nums[i])
                    : assay__num_known(nums[i]) ? nums[i] == 0
                                                : ASSAY__NUM_ANY;
    if (nums) assay__shape_set_values(call, 0, values, count);
}

/* Softmax and the like work along an axis (before opset 13 from an axis on, which may be past the
 * last). */
static void infer_along_axis(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), axis = 0;
    bool old = call->opset > 0 && call->opset < 13;
    assay__shape_row_same(call);
    if (rank < 1 || !assay__node_attr(call->node, "axis") ||
        (old && assay__node_int(call->node, "axis", 1) == rank))
        return;
    assay__shape_axis_attr(call, "axis", -1, rank, &axis);
}

/* Floor, Ceil, Round: whole numbers do not change. */
static void infer_rounding(struct assay__shape_call *call)
{
    assay__shape_row_same(call);
    assay__shape_keep_values(call, 0, 0);
}

/* condition, X, Y */
static void infer_where(struct assay__shape_call *call)
{
    int64_t values[ASSAY__SHAPE_VALUES];
    size_t count = 0;
    assay__shape_types_differ(call, 1, 2);
    assay__shape_broadcast_inputs(call, NULL, call->in_count, assay__shape_dtype(call, 1));
    if (call->in_count != 3 || !call->in[0]->values || !small_output(call, &count)) return;
    for (size_t i = 0; i < count; i++) {
        const int64_t *dims = call->out[0]->dims;
        int rank = call->out[0]->entry.rank;
        int64_t at = source_index(call->in[0], dims, rank, i);
        int64_t which = at < 0 ? ASSAY__NUM_ANY : call->in[0]->values[at];
        const struct assay__fact *from = which == 1 ? call->in[1] : call->in[2];
        int64_t source = from->values ? source_index(from, dims, rank, i) : -1;
        values[i] = source < 0 || !assay__num_known(which) ? ASSAY__NUM_ANY : from->values[source];
    }
    assay__shape_set_values(call, 0, values, count);
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
        if (!assay__shape_axis(axes[i], rank, &axis)) {
            assay__shape_conflict(call, 0, "axis %lld of %s", (long long)axes[i],
                                  assay__shape_text(call, 0));
            return;
        }
        reduced[axis] = true;
    }
    for (int i = 0; i < rank; i++)
        if (!reduced[i] || keep) out[kept++] = reduced[i] ? 1 : dims[i];
    assay__shape_set(call, 0, dtype, kept, out);
}

static void infer_reduce(struct assay__shape_call *call)
{
    size_t count = 0;
    bool given = false, keep = assay__node_int(call->node, "keepdims", 1) != 0;
    const int64_t *axes = assay__shape_axes(call, "axes", 1, &count, &given);
    int64_t all[ASSAY__SHAPE_RANK];
    int rank = assay__shape_rank(call, 0);
    assay__shape_same_type(call);
    if (rank < 0) return;
    if (given && !axes) {
        if (keep) assay__shape_set_same(call, rank, NULL);
        return;
    }
    if (count == 0) {
        if (assay__node_int(call->node, "noop_with_empty_axes", 0)) {
            assay__shape_row_same(call);
            return;
        }
        for (int i = 0; i < rank; i++)
            all[i] = i;
        axes = all;
        count = (size_t)rank;
    }
    reduce(call, axes, count, keep, assay__shape_dtype(call, 0));
    /* product, sum, maximum, minimum of all elements of a vector, as exporters compute with shapes
     */
    size_t n = 0;
    const int64_t *nums = assay__shape_nums(call, 0, &n);
    bool product = assay__shape_op_is(call, "ReduceProd"),
         sum = assay__shape_op_is(call, "ReduceSum");
    bool largest = assay__shape_op_is(call, "ReduceMax"),
         least = assay__shape_op_is(call, "ReduceMin");
    if (!nums || rank != 1 || !(product || sum || ((largest || least) && n))) return;
    int64_t total = product ? 1 : sum ? 0 : nums[0];
    for (size_t i = 0; i < n; i++)
        total = product   ? assay__num_mul(call->symbols, total, nums[i])
                : sum     ? assay__num_add(call->symbols, total, nums[i])
                : largest ? assay__num_max(call->symbols, total, nums[i])
                          : assay__num_min(call->symbols, total, nums[i]);
    assay__shape_set_values(call, 0, &total, 1);
}

static void infer_arg_reduce(struct assay__shape_call *call)
{
    int64_t axis = assay__node_int(call->node, "axis", 0);
    reduce(call, &axis, 1, assay__node_int(call->node, "keepdims", 1) != 0, ASSAY__INT64);
}

/* One axis changes its size to k. */
static void infer_topk(struct assay__shape_call *call)
{
    int64_t dims[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, dims), axis = 0;
    assay__shape_same_type(call);
    assay__shape_set_dtype(call, 1, ASSAY__INT64);
    if (!assay__shape_axis_attr(call, "axis", -1, rank, &axis)) return;
    int64_t k = assay__shape_has(call, 1) ? assay__shape_num(call, 1)
                                          : assay__node_int(call->node, "k", -1);
    if (assay__num_known(k) && dims[axis] >= 0 && k > dims[axis])
        assay__shape_conflict(call, 0, "the %lld largest of axis %d of %s", (long long)k, axis,
                              assay__shape_text(call, 0));
    dims[axis] = k;
    assay__shape_set_same(call, rank, dims);
    assay__shape_set(call, 1, ASSAY__INT64, rank, dims);
}

/* […, n, n] -> […] */
static void infer_det(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    assay__shape_set_same(call, rank < 2 ? -1 : rank - 2, assay__shape_dims(call, 0));
}

#define SAME assay__shape_row_same

const struct assay__shape_row assay__shape_rows_math[] = {
    {"Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Celu Clip Cos Cosh CumProd CumSum Elu Erf "
     "Exp HardSigmoid HardSwish LeakyRelu Log Mish PRelu Reciprocal Relu Selu Shrink Sigmoid Sign "
     "Sin "
     "Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu",
     "", SAME},
    {"Add Div Max Min Mod Mul Sub", "", infer_broadcast},
    {"And Equal Greater GreaterOrEqual Less LessOrEqual Or Xor", "", infer_broadcast_bool},
    {"ArgMax ArgMin", "", infer_arg_reduce},
    {"BitCast", "", assay__shape_row_to}, /* the types are of one size */
    {"BitShift BitwiseAnd BitwiseOr BitwiseXor Mean Pow Sum", "", infer_broadcast_plain},
    {"Cast CastLike", "", infer_cast},
    {"Ceil Floor Round", "", infer_rounding},
    {"Det", "", infer_det},
    {"Dropout", "", infer_dropout},
    {"Gelu", "*", SAME},
    {"Hardmax LogSoftmax Softmax", "", infer_along_axis},
    {"Identity", "", infer_identity},
    {"Inverse", "ms", SAME},
    {"IsInf IsNaN", "", assay__shape_row_same_bool},
    {"Neg Not", "", infer_negation},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd "
     "ReduceSum ReduceSumSquare",
     "", infer_reduce},
    {"TopK", "", infer_topk},
    {"Where", "", infer_where},
    {NULL, NULL, NULL},
};
