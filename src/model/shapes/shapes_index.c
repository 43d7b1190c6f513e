/* shapes_index.c - shape rows of operators that select: Slice, Gather, Scatter and those whose
 * result size depends on the data. */
#include "model/shapes/shape_call.h"

#include <string.h>

/* --- Slice ------------------------------------------------------------------------------------ */

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The elements of one axis selected by start:end:step. */
static int64_t slice_count(int64_t size, int64_t start, int64_t end, int64_t step, int64_t *first)
{
    if (start < 0) start = start < -size ? (step < 0 ? -1 : 0) : start + size;
    if (end < 0) end = end < -size ? -1 : end + size;
    if (step > 0) {
        start = clamp(start, 0, size);
        end = clamp(end, 0, size);
    } else {
        start = clamp(start, -1, size - 1);
        end = clamp(end, -1, size - 1);
    }
    *first = start;
    int64_t span = step > 0 ? end - start : start - end;
    int64_t stride = step > 0 ? step : step == INT64_MIN ? INT64_MAX : -step;
    return span <= 0 ? 0 : (span - 1) / stride + 1;
}

/* A bound of a forward slice: negative ones count from the end, then it is clamped to [0, size]. */
static int64_t slice_bound(struct assay__symbols *symbols, int64_t size, int64_t bound)
{
    if (assay__num_known(bound) && bound < 0) {
        bound = bound < -INT32_MAX ? 0 : assay__num_add(symbols, size, bound);
        return assay__num_at_least(symbols, bound, 0) ? bound : assay__num_max(symbols, bound, 0);
    }
    if (assay__num_known(bound) && bound >= INT32_MAX) return size; /* "to the end" */
    /* an expression of unknown sign may count from either end */
    if (!assay__num_at_least(symbols, bound, 0)) return ASSAY__NUM_ANY;
    return assay__num_min(symbols, size, bound);
}

/* Forward slices with symbols: ceil((end - start) / step), both clamped to the axis. */
static int64_t slice_symbolic(struct assay__symbols *symbols, int64_t size, int64_t start,
                              int64_t end, int64_t step)
{
    if (size == ASSAY__NUM_ANY || !assay__num_known(step)) return ASSAY__NUM_ANY;
    if (step == -1 && start == -1 && assay__num_known(end) && end < -INT32_MAX) return size;
    if (step < 1) return ASSAY__NUM_ANY;
    bool to_end = assay__num_known(end) && end >= INT32_MAX;
    bool from_end = assay__num_known(start) && start < 0 && start >= -INT32_MAX;
    if (to_end && from_end) /* the last ones; all if there are fewer */
        return assay__num_ceil_div(symbols, assay__num_min(symbols, size, -start), step);
    int64_t from = slice_bound(symbols, size, start), to = slice_bound(symbols, size, end);
    int64_t span = assay__num_sub(symbols, to, from);
    /* clamping both to the axis keeps their order */
    bool ordered = to == size || assay__num_at_least(symbols, span, 0) ||
                   (assay__num_at_least(symbols, end, start) &&
                    assay__num_at_least(symbols, start, 0));
    if (!ordered) span = assay__num_max(symbols, span, 0);
    return assay__num_ceil_div(symbols, span, step);
}

/* Elements selected from a small tensor along one axis. */
static void slice_values(struct assay__shape_call *call, int axis, int64_t first, int64_t step,
                         int64_t taken)
{
    size_t count = 0, outer = 1, inner = 1, n = 0;
    const int64_t *nums = assay__shape_nums(call, 0, &count), *dims = assay__shape_dims(call, 0);
    int64_t values[ASSAY__SHAPE_VALUES];
    int rank = assay__shape_rank(call, 0);
    if (!nums) return;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0 || dims[i] > ASSAY__SHAPE_VALUES) return;
        if (i < axis) outer *= (size_t)dims[i];
        if (i > axis) inner *= (size_t)dims[i];
    }
    size_t size = (size_t)dims[axis];
    if (outer * size * inner != count || taken > (int64_t)size) return;
    for (size_t o = 0; o < outer; o++)
        for (int64_t k = 0; k < taken; k++)
            for (size_t i = 0; i < inner; i++) {
                int64_t at = first + k * step; /* in range: slice_count clamped it */
                if (at < 0 || (size_t)at >= size) return;
                values[n++] = nums[(o * size + (size_t)at) * inner + i];
            }
    assay__shape_set_values(call, 0, values, n);
}

static void infer_slice(struct assay__shape_call *call)
{
    size_t count = 0, ends_count = 0, axes_count = 0, steps_count = 0;
    bool axes_given;
    const int64_t *starts = assay__shape_list(call, "starts", 1, &count);
    const int64_t *ends = assay__shape_list(call, "ends", 2, &ends_count);
    const int64_t *axes = assay__shape_axes(call, "axes", 3, &axes_count, &axes_given);
    const int64_t *steps = assay__shape_list(call, "steps", 4, &steps_count);
    int64_t out[ASSAY__SHAPE_RANK], first = 0, step = 1;
    int rank = assay__shape_copy(call, 0, out), axis = 0;
    assay__shape_set_same(call, rank, NULL);
    if (rank < 0 || (axes_given && !axes)) return;
    bool known = starts && ends && count == ends_count && (!axes_given || axes_count == count) &&
                 (!assay__shape_has(call, 4) || (steps && steps_count == count));
    if (!known) count = axes_given ? axes_count : (size_t)rank;
    if (!axes_given && count > (size_t)rank) return;
    for (size_t i = 0; i < count; i++) {
        int64_t wanted = axes_given ? axes[i] : (int64_t)i;
        if (!assay__shape_axis(wanted, rank, &axis)) {
            assay__shape_conflict(call, 0, "axis %lld of %s", (long long)wanted,
                                  assay__shape_text(call, 0));
            return;
        }
        step = known && steps ? steps[i] : 1;
        bool numbers = known && out[axis] >= 0 && assay__num_known(starts[i]) &&
                       assay__num_known(ends[i]) && assay__num_known(step);
        if (!known || step == 0)
            out[axis] = ASSAY__NUM_ANY;
        else if (numbers)
            out[axis] = slice_count(out[axis], starts[i], ends[i], step, &first);
        else
            out[axis] = slice_symbolic(call->symbols, out[axis], starts[i], ends[i], step);
    }
    assay__shape_set_same(call, rank, out);
    if (known && count == 1 && rank > 0 && out[axis] >= 0 &&
        assay__shape_dims(call, 0)[axis] >= 0 && assay__num_known(starts[0]) &&
        assay__num_known(step))
        slice_values(call, axis, first, step, out[axis]);
}

/* --- Gather and Scatter ----------------------------------------------------------------------- */

static void infer_gather(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), indices = assay__shape_rank(call, 1), axis = 0, n = 0;
    int64_t out[ASSAY__SHAPE_RANK], picked[ASSAY__SHAPE_VALUES];
    assay__shape_same_type(call);
    if (rank < 0 || !assay__shape_axis_attr(call, "axis", 0, rank, &axis)) return;
    if (indices < 0 || rank + indices - 1 > ASSAY__SHAPE_RANK) return;
    for (int i = 0; i < axis; i++)
        out[n++] = assay__shape_dims(call, 0)[i];
    for (int i = 0; i < indices; i++)
        out[n++] = assay__shape_dims(call, 1)[i];
    for (int i = axis + 1; i < rank; i++)
        out[n++] = assay__shape_dims(call, 0)[i];
    assay__shape_set_same(call, n, out);
    /* the elements, along the first axis */
    size_t count = 0, total = 0;
    const int64_t *data = assay__shape_nums(call, 0, &total);
    const int64_t *at = assay__shape_values(call, 1, &count);
    int64_t size = assay__shape_dim(call, 0, 0);
    if (axis != 0 || !data || !at || size <= 0 || total % (size_t)size) return;
    size_t inner = total / (size_t)size;
    if (count * inner > ASSAY__SHAPE_VALUES) return;
    for (size_t i = 0; i < count; i++) {
        int64_t index = at[i] < 0 ? at[i] + size : at[i];
        if (index < 0 || index >= size) {
            assay__shape_conflict(call, 0, "element %lld of %s", (long long)at[i],
                                  assay__shape_text(call, 0));
            return;
        }
        memcpy(picked + i * inner, data + (size_t)index * inner, inner * sizeof *picked);
    }
    assay__shape_set_values(call, 0, picked, count * inner);
}

static void infer_like_indices(struct assay__shape_call *call)
{
    assay__shape_as(call, 0, 1, assay__shape_dtype(call, 0));
}

static void infer_gather_nd(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), indices = assay__shape_rank(call, 1), total = 0;
    int64_t batch = assay__node_int(call->node, "batch_dims", 0), out[ASSAY__SHAPE_RANK];
    assay__shape_same_type(call);
    if (rank < 1 || indices < 1 || batch < 0) return;
    int64_t depth = assay__shape_dim(call, 1, -1);
    if (depth < 0 || batch > rank) return;
    if (depth > rank - batch) {
        assay__shape_conflict(call, 0, "indices of %lld dimensions into %s", (long long)depth,
                              assay__shape_text(call, 0));
        return;
    }
    if (indices - 1 + rank - (int)batch - (int)depth > ASSAY__SHAPE_RANK) return;
    for (int i = 0; i < indices - 1; i++)
        out[total++] = assay__shape_dims(call, 1)[i];
    for (int i = (int)(batch + depth); i < rank; i++)
        out[total++] = assay__shape_dims(call, 0)[i];
    assay__shape_set_same(call, total, out);
}

/* A vector of small integers with elements replaced (shapes are modified like that). */
static void infer_scatter_nd(struct assay__shape_call *call)
{
    size_t count = 0, at_count = 0, new_count = 0;
    const int64_t *data = assay__shape_nums(call, 0, &count);
    const int64_t *at = assay__shape_values(call, 1, &at_count);
    const int64_t *updates = assay__shape_nums(call, 2, &new_count);
    int64_t values[ASSAY__SHAPE_VALUES];
    assay__shape_row_same(call);
    if (!data || !at || !updates || assay__shape_rank(call, 0) != 1 || at_count != new_count ||
        assay__node_attr(call->node, "reduction"))
        return;
    memcpy(values, data, count * sizeof *values);
    for (size_t i = 0; i < at_count; i++) {
        int64_t index = at[i] < 0 ? at[i] + (int64_t)count : at[i];
        if (index < 0 || (size_t)index >= count) return;
        values[index] = updates[i];
    }
    assay__shape_set_values(call, 0, values, count);
}

/* --- size depends on the data ----------------------------------------------------------------- */

static void infer_compress(struct assay__shape_call *call)
{
    int64_t out[ASSAY__SHAPE_RANK], some = ASSAY__NUM_ANY;
    int rank = assay__shape_copy(call, 0, out), axis = 0;
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    size_t count = 0;
    const int64_t *chosen = assay__shape_values(call, 1, &count);
    if (chosen) some = 0;
    for (size_t i = 0; chosen && i < count; i++)
        some += chosen[i] != 0;
    assay__shape_set_dtype(call, 0, dtype);
    if (!assay__node_attr(call->node, "axis")) {
        assay__shape_set(call, 0, dtype, 1, &some);
        return;
    }
    if (!assay__shape_axis_attr(call, "axis", 0, rank, &axis)) return;
    out[axis] = some;
    assay__shape_set(call, 0, dtype, rank, out);
}

/* Y, indices, inverse_indices, counts */
static void infer_unique(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t out[ASSAY__SHAPE_RANK], some = ASSAY__NUM_ANY, inverse = some;
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    bool by_axis = assay__node_attr(call->node, "axis") != NULL;
    assay__shape_set_dtype(call, 0, dtype);
    if (!by_axis) {
        assay__shape_set(call, 0, dtype, 1, &some);
        if (rank >= 0) inverse = assay__shape_product(call, assay__shape_dims(call, 0), 0, rank);
    } else if (assay__shape_axis_attr(call, "axis", 0, rank, &axis)) {
        memcpy(out, assay__shape_dims(call, 0), (size_t)rank * sizeof *out);
        inverse = out[axis];
        out[axis] = some;
        assay__shape_set(call, 0, dtype, rank, out);
    }
    assay__shape_set(call, 1, ASSAY__INT64, 1, &some);
    assay__shape_set(call, 2, ASSAY__INT64, 1, &inverse);
    assay__shape_set(call, 3, ASSAY__INT64, 1, &some);
}

/* com.microsoft: the values of a vector, where each element went, counts */
static void infer_unique_vector(struct assay__shape_call *call)
{
    int64_t some = ASSAY__NUM_ANY, all = assay__shape_dim(call, 0, 0);
    assay__shape_set_same(call, 1, &some);
    assay__shape_set(call, 1, ASSAY__INT64, 1, &all);
    assay__shape_set(call, 2, ASSAY__INT64, 1, &some);
}

static void infer_non_max_suppression(struct assay__shape_call *call)
{
    int64_t dims[2] = {ASSAY__NUM_ANY, 3};
    assay__shape_set(call, 0, ASSAY__INT64, 2, dims);
}

const struct assay__shape_row assay__shape_rows_index[] = {
    {"Compress", "", infer_compress},
    {"Gather", "", infer_gather},
    {"GatherElements", "", infer_like_indices},
    {"GatherND", "*", infer_gather_nd},
    {"NonMaxSuppression", "", infer_non_max_suppression},
    {"Scatter ScatterElements TensorScatter", "", assay__shape_row_same},
    {"ScatterND", "", infer_scatter_nd},
    {"Slice", "", infer_slice},
    {"Unique", "", infer_unique},
    {"Unique", "ms", infer_unique_vector},
    {NULL, NULL, NULL},
};
