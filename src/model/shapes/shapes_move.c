/* shapes_move.c - shape rows of operators that reinterpret, split, join or repeat data without
 * computing. */
#include "model/shapes/shape_call.h"

#include <string.h>

/* --- Reshape, Flatten, Squeeze, Unsqueeze ----------------------------------------------------- */

/* The only unknown element of a target, if no other is open: the number of elements does not
 * change, so it must be the remaining factor. -1: none. */
static int single_open(const int64_t *target, size_t count)
{
    int found = -1;
    for (size_t i = 0; i < count; i++) {
        if (target[i] != ASSAY__SHAPE_ANY && target[i] != -1) continue;
        if (found >= 0) return -1;
        found = (int)i;
    }
    return found;
}

/* A target may leave one dimension open; false: impossible. */
static bool check_target(struct assay__shape_call *call, const int64_t *target, size_t count)
{
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        open += target[i] == -1;
        if (assay__num_known(target[i]) && target[i] < -1) {
            assay__shape_conflict(call, 0, "a new shape with a dimension of %lld",
                                  (long long)target[i]);
            return false;
        }
    }
    if (open > 1)
        assay__shape_conflict(call, 0, "%zu dimensions of the new shape are -1: only one may be",
                              open);
    return open <= 1;
}

/* 0 copies the input's dimension (unless allowzero), -1 is the remaining factor. Dimensions that
 * cancel (a 0 that copies) are left out of the division, so that unknown ones do not matter. */
static void reshape_to(struct assay__shape_call *call, const int64_t *target, size_t count)
{
    int rank = assay__shape_rank(call, 0), open = -1;
    bool allow_zero = assay__node_int(call->node, "allowzero", 0) != 0;
    bool copied[ASSAY__SHAPE_RANK] = {false};
    int64_t out[ASSAY__SHAPE_RANK], product = 1, elements = 1;
    if (count > ASSAY__SHAPE_RANK || !check_target(call, target, count)) return;
    int single = single_open(target, count);
    for (size_t i = 0; i < count; i++) {
        out[i] = target[i];
        if (target[i] == -1 || single == (int)i) {
            if (open >= 0) return;
            open = (int)i;
            continue;
        }
        if (target[i] == 0 && !allow_zero) {
            out[i] = assay__shape_dim(call, 0, (int)i);
            if (rank > (int)i) copied[i] = true;
            if (copied[i]) continue;
        }
        product = assay__num_mul(call->symbols, product, out[i]);
    }
    for (int i = 0; i < rank; i++)
        if (!copied[i])
            elements = assay__num_mul(call->symbols, elements, assay__shape_dims(call, 0)[i]);
    if (rank < 0) elements = ASSAY__NUM_ANY;
    bool numbers = assay__num_known(elements) && assay__num_known(product);
    /* an open dimension next to a product of 0 is left to the engine: some allow it */
    bool fits = !numbers ||
                (open < 0 ? elements == product : product == 0 || elements % product == 0);
    if (!fits)
        assay__shape_conflict(call, 0, "%s has %lld elements, the new shape %s%lld",
                              assay__shape_text(call, 0), (long long)elements,
                              open >= 0 ? "a multiple of " : "", (long long)product);
    if (open >= 0) out[open] = assay__num_exact_div(call->symbols, elements, product);
    /* the result of a division is a whole number */
    if (open >= 0 && out[open] == ASSAY__NUM_ANY && elements != ASSAY__NUM_ANY && product != 0 &&
        !numbers)
        out[open] = assay__num_floor_div(call->symbols, elements, product);
    assay__shape_set_same(call, (int)count, out);
}

static void infer_reshape(struct assay__shape_call *call)
{
    size_t count = 0;
    const int64_t *shape = assay__shape_list(call, "shape", 1, &count); /* opset 1: an attribute */
    int64_t rank = assay__shape_rank(call, 1) == 1 ? assay__shape_dim(call, 1, 0) : -1;
    assay__shape_same_type(call);
    if (shape)
        reshape_to(call, shape, count);
    else if (rank >= 0 && rank <= ASSAY__SHAPE_RANK)
        assay__shape_set_same(call, (int)rank, NULL);
    assay__shape_keep_values(call, 0, 0);
}

static void infer_flatten(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t axis = assay__node_int(call->node, "axis", 1), dims[2];
    assay__shape_set_same(call, 2, NULL);
    if (rank < 0) return;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank) {
        assay__shape_conflict(call, 0, "axis %lld of %s", (long long)axis,
                              assay__shape_text(call, 0));
        return;
    }
    dims[0] = assay__shape_product(call, assay__shape_dims(call, 0), 0, (int)axis);
    dims[1] = assay__shape_product(call, assay__shape_dims(call, 0), (int)axis, rank);
    assay__shape_set_same(call, 2, dims);
}

static void infer_unsqueeze(struct assay__shape_call *call)
{
    size_t count = 0;
    bool given, added[ASSAY__SHAPE_RANK] = {false};
    const int64_t *axes = assay__shape_axes(call, "axes", 1, &count, &given);
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    if (assay__shape_op_is(call, "ExpandDims")) /* the axis of com.microsoft's is a scalar */
        axes = assay__shape_values(call, 1, &count);
    assay__shape_same_type(call);
    if (!axes || rank < 0 || count > ASSAY__SHAPE_RANK || rank + (int)count > ASSAY__SHAPE_RANK)
        return;
    int total = rank + (int)count;
    for (size_t i = 0; i < count; i++) {
        if (!assay__shape_axis(axes[i], total, &axis) || added[axis]) {
            assay__shape_conflict(call, 0, "axis %lld of a result of rank %d", (long long)axes[i],
                                  total);
            return;
        }
        added[axis] = true;
    }
    for (int i = 0, from = 0; i < total; i++)
        out[i] = added[i] ? 1 : assay__shape_dims(call, 0)[from++];
    assay__shape_set_same(call, total, out);
    assay__shape_keep_values(call, 0, 0);
}

static void infer_squeeze(struct assay__shape_call *call)
{
    size_t count = 0;
    bool given, removed[ASSAY__SHAPE_RANK] = {false};
    const int64_t *axes = assay__shape_axes(call, "axes", 1, &count, &given);
    int rank = assay__shape_rank(call, 0), axis = 0, kept = 0;
    const int64_t *dims = assay__shape_dims(call, 0);
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_same_type(call);
    if (rank < 0 || (given && !axes)) return;
    for (size_t i = 0; i < count; i++) {
        bool there = assay__shape_axis(axes[i], rank, &axis);
        if (!there || dims[axis] == 0 || dims[axis] > 1) {
            assay__shape_conflict(call, 0, "axis %lld of %s is not of size 1", (long long)axes[i],
                                  assay__shape_text(call, 0));
            return;
        }
        removed[axis] = true;
    }
    for (int i = 0; i < rank; i++) {
        if (!given && dims[i] < 0) return; /* whether it is removed depends on its size */
        if (!given) removed[i] = dims[i] == 1;
        if (!removed[i]) out[kept++] = dims[i];
    }
    assay__shape_set_same(call, kept, out);
    assay__shape_keep_values(call, 0, 0);
}

/* --- Concat, Split ---------------------------------------------------------------------------- */

/* Along the first axis the elements follow each other. */
static void concat_values(struct assay__shape_call *call)
{
    int64_t values[ASSAY__SHAPE_VALUES];
    size_t count = 0;
    for (size_t i = 0; i < call->in_count; i++) {
        const struct assay__fact *fact = call->in[i];
        int64_t size = assay__shape_product(call, fact->dims, 0, fact->entry.rank);
        if (size < 0 || size > ASSAY__SHAPE_VALUES || count + (size_t)size > ASSAY__SHAPE_VALUES ||
            (fact->values && fact->value_count != (size_t)size))
            return;
        for (int64_t k = 0; k < size; k++)
            values[count++] = fact->values ? fact->values[k] : ASSAY__SHAPE_ANY;
    }
    assay__shape_set_values(call, 0, values, count);
}

/* Joins input i into out; false if that is impossible. */
static bool concat_one(struct assay__shape_call *call, size_t i, int axis, int64_t *out)
{
    const int64_t *dims = assay__shape_dims(call, i);
    for (int k = 0; k < assay__shape_rank(call, 0); k++) {
        if (k == axis) {
            out[k] = assay__num_add(call->symbols, out[k], dims[k]);
            continue;
        }
        if (out[k] >= 0 && dims[k] >= 0 && out[k] != dims[k]) {
            assay__shape_conflict(call, i, "%s and %s cannot be joined along axis %d",
                                  assay__shape_text(call, 0), assay__shape_text(call, i), axis);
            return false;
        }
        /* they must be equal: the more specific one */
        if (dims[k] >= 0 || out[k] == ASSAY__SHAPE_ANY) out[k] = dims[k];
    }
    return true;
}

static void infer_concat(struct assay__shape_call *call)
{
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out), axis = 0;
    for (size_t i = 1; i < call->in_count; i++)
        if (assay__shape_types_differ(call, 0, i)) break;
    assay__shape_set_dtype(call, 0, dtype);
    for (size_t i = 0; i < call->in_count; i++) {
        if (assay__shape_rank(call, i) < 0) return;
        if (assay__shape_rank(call, i) == rank) continue;
        assay__shape_conflict(call, i, "%s and %s cannot be joined", assay__shape_text(call, 0),
                              assay__shape_text(call, i));
        return;
    }
    if (!assay__shape_axis_attr(call, "axis", 1, rank, &axis)) return;
    for (size_t i = 1; i < call->in_count; i++)
        if (!concat_one(call, i, axis, out)) return;
    assay__shape_set(call, 0, dtype, rank, out);
    if (axis == 0 && (dtype == ASSAY__INT64 || dtype == ASSAY__INT32)) concat_values(call);
}

static void infer_split(struct assay__shape_call *call)
{
    size_t count = 0, parts = call->out_count;
    bool given;
    const int64_t *sizes = assay__shape_axes(call, "split", 1, &count, &given);
    int64_t out[ASSAY__SHAPE_RANK], sum = 0;
    int rank = assay__shape_copy(call, 0, out), axis = 0;
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    int64_t wanted = assay__node_int(call->node, "num_outputs", 1);
    for (size_t i = 0; i < parts; i++)
        assay__shape_set_dtype(call, i, dtype);
    if (wanted < 1) {
        assay__shape_conflict(call, 0, "%s in %lld parts", assay__shape_text(call, 0),
                              (long long)wanted);
        return;
    }
    if (!parts || !assay__shape_axis_attr(call, "axis", 0, rank, &axis)) return;
    int64_t whole = out[axis];
    /* Equal parts, the last one smaller (opset 18 with num_outputs). */
    int64_t each = assay__num_ceil_div(call->symbols, whole, (int64_t)parts);
    int64_t before = assay__num_mul(call->symbols, each, (int64_t)parts - 1);
    for (size_t i = 0; i < parts; i++) {
        out[axis] = i + 1 == parts ? assay__num_sub(call->symbols, whole, before) : each;
        if (given) out[axis] = sizes && count == parts ? sizes[i] : ASSAY__SHAPE_ANY;
        sum = assay__num_add(call->symbols, sum, out[axis]);
        assay__shape_set(call, i, dtype, rank, out);
    }
    if (given && sizes && count == parts)
        assay__shape_differ(call, 0, "size of the axis and sum of its parts", whole, sum);
    size_t at = 0;
    const int64_t *nums = assay__shape_nums(call, 0, &count);
    for (size_t i = 0; nums && rank == 1 && i < parts; i++) {
        int64_t size = call->out[i]->dims[0];
        if (size < 0 || at + (size_t)size > count) return;
        assay__shape_set_values(call, i, nums + at, (size_t)size);
        at += (size_t)size;
    }
}

/* --- Transpose, Expand, Tile, Pad ------------------------------------------------------------- */

static void transpose_values(struct assay__shape_call *call, const int *from, int rank)
{
    size_t count = 0, stride[ASSAY__SHAPE_RANK], step = 1;
    const int64_t *nums = assay__shape_nums(call, 0, &count), *dims = assay__shape_dims(call, 0);
    int64_t values[ASSAY__SHAPE_VALUES];
    if (!nums) return;
    for (int i = rank - 1; i >= 0; i--) {
        if (dims[i] < 0) return;
        stride[i] = step;
        step *= (size_t)dims[i]; /* value_count at the end, which is small */
    }
    if (step != count) return;
    for (size_t i = 0; i < count; i++) {
        size_t rest = i, at = 0;
        for (int k = rank - 1; k >= 0; k--) {
            at += rest % (size_t)dims[from[k]] * stride[from[k]];
            rest /= (size_t)dims[from[k]];
        }
        values[i] = nums[at];
    }
    assay__shape_set_values(call, 0, values, count);
}

static void infer_transpose(struct assay__shape_call *call)
{
    const struct assay__attr *perm = assay__node_attr(call->node, "perm");
    int rank = assay__shape_rank(call, 0), from[ASSAY__SHAPE_RANK] = {0};
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_same_type(call);
    if (rank < 0) return;
    if (perm && perm->type == ASSAY__ATTR_INTS && perm->count != (size_t)rank) {
        assay__shape_conflict(call, 0, "%zu axes to permute %s", perm->count,
                              assay__shape_text(call, 0));
        return;
    }
    for (int i = 0; i < rank; i++) {
        if (!assay__shape_axis(perm && perm->ints ? perm->ints[i] : rank - 1 - i, rank, &from[i]))
            return;
        out[i] = assay__shape_dims(call, 0)[from[i]];
    }
    assay__shape_set_same(call, rank, out);
    transpose_values(call, from, rank);
}

static void infer_expand(struct assay__shape_call *call)
{
    size_t count = 0;
    const int64_t *shape = assay__shape_nums(call, 1, &count);
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out);
    assay__shape_same_type(call);
    if (rank < 0 || (shape && count > ASSAY__SHAPE_RANK)) return;
    int64_t length = assay__shape_rank(call, 1) == 1 ? assay__shape_dim(call, 1, 0) : -1;
    int64_t unknown[ASSAY__SHAPE_RANK];
    if (!shape && length >= 0 && length <= ASSAY__SHAPE_RANK) {
        for (int64_t i = 0; i < length; i++)
            unknown[i] = ASSAY__SHAPE_ANY;
        shape = unknown;
        count = (size_t)length;
    }
    if (!shape) return;
    for (size_t i = 0; i < count; i++)
        if (assay__num_known(shape[i]) && shape[i] < 0) return;
    if (!assay__shape_broadcast(out, &rank, shape, (int)count)) {
        assay__shape_conflict(call, 0, "%s cannot be expanded to the requested shape",
                              assay__shape_text(call, 0));
        return;
    }
    assay__shape_set_same(call, rank, out);
    /* one element repeated */
    int64_t one = assay__shape_num(call, 0), values[ASSAY__SHAPE_VALUES];
    int64_t total = assay__shape_product(call, out, 0, rank);
    if (one == ASSAY__NUM_ANY || total < 0 || total > ASSAY__SHAPE_VALUES) return;
    for (int64_t i = 0; i < total; i++)
        values[i] = one;
    assay__shape_set_values(call, 0, values, (size_t)total);
}

static void infer_tile(struct assay__shape_call *call)
{
    size_t count = 0;
    const int64_t *repeats = assay__shape_nums(call, 1, &count);
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set_same(call, rank, NULL);
    if (rank < 0 || !repeats || count != (size_t)rank) return;
    for (int i = 0; i < rank; i++)
        out[i] = assay__num_mul(call->symbols, assay__shape_dims(call, 0)[i], repeats[i]);
    assay__shape_set_same(call, rank, out);
}

static void infer_pad(struct assay__shape_call *call)
{
    size_t count = 0, axes_count = 0;
    bool axes_given;
    const int64_t *pads = assay__shape_list(call, "pads", 1, &count);
    const int64_t *axes = assay__shape_axes(call, "axes", 3, &axes_count, &axes_given);
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out), axis = 0;
    assay__shape_set_same(call, rank, NULL);
    if (rank < 0 || !pads || (axes_given && !axes)) return;
    size_t n = axes_given ? axes_count : (size_t)rank;
    if (count != 2 * n) return;
    for (size_t i = 0; i < n; i++) {
        if (!assay__shape_axis(axes_given ? axes[i] : (int64_t)i, rank, &axis)) return;
        out[axis] = assay__num_add(call->symbols, out[axis], pads[i]);
        out[axis] = assay__num_add(call->symbols, out[axis], pads[n + i]);
    }
    assay__shape_set_same(call, rank, out);
}

/* input, shape (of `axes`): those axes get the requested sizes */
static void infer_center_crop_pad(struct assay__shape_call *call)
{
    size_t count = 0, axes_count = 0;
    const int64_t *shape = assay__shape_nums(call, 1, &count);
    const int64_t *axes = assay__shape_ints(call, "axes", &axes_count);
    int64_t out[ASSAY__SHAPE_RANK];
    int rank = assay__shape_copy(call, 0, out), axis = 0;
    assay__shape_set_same(call, rank, NULL);
    if (rank < 0 || !shape || count != (axes ? axes_count : (size_t)rank)) return;
    for (size_t i = 0; i < count; i++) {
        if (!assay__shape_axis(axes ? axes[i] : (int64_t)i, rank, &axis)) return;
        out[axis] = shape[i];
    }
    assay__shape_set_same(call, rank, out);
}

/* SpaceToDepth, DepthToSpace */
static void infer_block_move(struct assay__shape_call *call)
{
    bool to_depth = assay__shape_op_is(call, "SpaceToDepth");
    int64_t block = assay__node_int(call->node, "blocksize", 0), out[4];
    const int64_t *dims = assay__shape_dims(call, 0);
    int rank = assay__shape_rank(call, 0);
    assay__shape_set_same(call, 4, NULL);
    if (rank != 4 || block < 1 || block > 1 << 20) return;
    out[0] = dims[0];
    for (int i = 1; i < 4; i++) {
        int64_t factor = i == 1 ? block * block : block;
        bool grows = (i == 1) == to_depth;
        if (!grows && dims[i] >= 0 && dims[i] % factor != 0)
            assay__shape_conflict(call, 0, "axis %d of %s is not a multiple of %lld", i,
                                  assay__shape_text(call, 0), (long long)factor);
        out[i] = grows ? assay__num_mul(call->symbols, dims[i], factor)
                       : assay__num_floor_div(call->symbols, dims[i], factor);
    }
    assay__shape_set_same(call, 4, out);
}

const struct assay__shape_row assay__shape_rows_move[] = {
    {"CenterCropPad", "", infer_center_crop_pad},
    {"Concat", "", infer_concat},
    {"Expand", "", infer_expand},
    {"ExpandDims", "ms", infer_unsqueeze},
    {"Flatten", "", infer_flatten},
    {"Pad", "*", infer_pad},
    {"Reshape", "", infer_reshape},
    {"ReverseSequence", "", assay__shape_row_same},
    {"DepthToSpace SpaceToDepth", "", infer_block_move},
    {"Split", "", infer_split},
    {"Squeeze", "", infer_squeeze},
    {"Tile", "", infer_tile},
    {"Transpose", "", infer_transpose},
    {"Trilu", "*", assay__shape_row_same},
    {"Unsqueeze", "", infer_unsqueeze},
    {NULL, NULL, NULL},
};
