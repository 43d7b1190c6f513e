/* shapes_move.c - shape rows of operators that move, cut, join or reinterpret data without
 * computing. */
#include "base/checked.h"
#include "model/shape_call.h"
#include "model/wire.h"

#include <math.h>
#include <string.h>

static void keep_values(struct assay__shape_call *call)
{
    if (call->in_count && call->in[0]->values)
        assay__shape_set_values(call, 0, call->in[0]->values, call->in[0]->value_count);
}

static void infer_same(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 0, ASSAY__UNDEFINED);
}

/* --- Reshape, Flatten, Squeeze, Unsqueeze ----------------------------------------------------- */

/* 0 copies the input's dimension (unless allowzero), -1 is what is left over. */
static void reshape_to(struct assay__shape_call *call, const int64_t *target, size_t count)
{
    int rank = assay__shape_rank(call, 0), open = -1;
    const int64_t *dims = assay__shape_dims(call, 0);
    bool allow_zero = assay__node_int(call->node, "allowzero", 0) != 0, known = true;
    int64_t out[ASSAY__SHAPE_RANK], product = 1;
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    if (count > ASSAY__SHAPE_RANK) return;
    for (size_t i = 0; i < count; i++) {
        out[i] = target[i];
        if (target[i] == 0 && !allow_zero) out[i] = rank > (int)i ? dims[i] : -1;
        if (target[i] == -1) {
            open = (int)i;
            out[i] = -1;
            continue;
        }
        if (out[i] < 0 || assay__mul_i64_overflows(product, out[i], &product)) known = false;
    }
    int64_t elements = rank >= 0 ? assay__shape_product(dims, 0, rank) : -1;
    if (open >= 0 && known && elements >= 0 && product > 0 && elements % product == 0)
        out[open] = elements / product;
    assay__shape_set(call, 0, dtype, (int)count, out);
}

static void infer_reshape(struct assay__shape_call *call)
{
    const struct assay__attr *attr = assay__node_attr(call->node, "shape"); /* opset 1 */
    const struct assay__fact *shape = call->in_count > 1 ? call->in[1] : NULL;
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (attr && attr->type == ASSAY__ATTR_INTS)
        reshape_to(call, attr->ints, attr->count);
    else if (shape && shape->values)
        reshape_to(call, shape->values, shape->value_count);
    else if (shape && shape->entry.rank == 1 && shape->entry.dims[0] >= 0)
        assay__shape_set(call, 0, assay__shape_dtype(call, 0), (int)shape->entry.dims[0], NULL);
    if (call->out_count && call->out[0]->entry.rank >= 0 && call->out[0]->entry.rank <= 1)
        keep_values(call);
}

static void infer_flatten(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t axis = assay__node_int(call->node, "axis", 1), dims[2];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 2, NULL);
    if (rank < 0) return;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank) return;
    dims[0] = assay__shape_product(assay__shape_dims(call, 0), 0, (int)axis);
    dims[1] = assay__shape_product(assay__shape_dims(call, 0), (int)axis, rank);
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 2, dims);
}

static void infer_unsqueeze(struct assay__shape_call *call)
{
    size_t count = 0;
    bool given, added[ASSAY__SHAPE_RANK] = {false};
    const int64_t *axes = assay__shape_axes(call, "axes", 1, &count, &given);
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (!axes || rank < 0 || count > ASSAY__SHAPE_RANK || rank + (int)count > ASSAY__SHAPE_RANK)
        return;
    int total = rank + (int)count;
    for (size_t i = 0; i < count; i++) {
        if (!assay__shape_axis(axes[i], total, &axis) || added[axis]) return;
        added[axis] = true;
    }
    for (int i = 0, from = 0; i < total; i++)
        out[i] = added[i] ? 1 : assay__shape_dims(call, 0)[from++];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), total, out);
    if (total <= 1) keep_values(call);
}

static void infer_squeeze(struct assay__shape_call *call)
{
    size_t count = 0;
    bool given, removed[ASSAY__SHAPE_RANK] = {false};
    const int64_t *axes = assay__shape_axes(call, "axes", 1, &count, &given);
    int rank = assay__shape_rank(call, 0), axis = 0, kept = 0;
    const int64_t *dims = assay__shape_dims(call, 0);
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (rank < 0 || (given && !axes)) return;
    for (size_t i = 0; i < count; i++) {
        if (!assay__shape_axis(axes[i], rank, &axis)) return;
        removed[axis] = true;
    }
    for (int i = 0; i < rank; i++) {
        if (!given && dims[i] < 0) return; /* whether it goes depends on its size */
        if (!given) removed[i] = dims[i] == 1;
        if (!removed[i]) out[kept++] = dims[i];
    }
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), kept, out);
    if (kept <= 1) keep_values(call);
}

/* --- Concat, Split, Slice --------------------------------------------------------------------- */

static void concat_values(struct assay__shape_call *call)
{
    int64_t values[ASSAY__SHAPE_VALUES];
    size_t count = 0;
    for (size_t i = 0; i < call->in_count; i++) {
        const struct assay__fact *fact = call->in[i];
        bool vector = fact->entry.rank == 1 && fact->entry.dims[0] >= 0;
        if (!vector || count + (size_t)fact->entry.dims[0] > ASSAY__SHAPE_VALUES) return;
        for (int64_t k = 0; k < fact->entry.dims[0]; k++)
            values[count++] = fact->values ? fact->values[k] : ASSAY__SHAPE_ANY;
    }
    assay__shape_set_values(call, 0, values, count);
}

static void infer_concat(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    assay__shape_set_dtype(call, 0, dtype);
    if (rank < 0 || !assay__shape_axis(assay__node_int(call->node, "axis", 1), rank, &axis)) return;
    memcpy(out, assay__shape_dims(call, 0), (size_t)rank * sizeof *out);
    for (size_t i = 1; i < call->in_count; i++) {
        const int64_t *dims = assay__shape_dims(call, i);
        if (assay__shape_rank(call, i) != rank) return;
        for (int k = 0; k < rank; k++) {
            if (k != axis)
                out[k] = out[k] < 0 ? dims[k] : out[k];
            else if (out[k] < 0 || dims[k] < 0 ||
                     assay__add_i64_overflows(out[k], dims[k], &out[k]))
                out[k] = -1;
        }
    }
    assay__shape_set(call, 0, dtype, rank, out);
    bool integer = dtype == ASSAY__INT64 || dtype == ASSAY__INT32;
    if (rank == 1 && integer) concat_values(call);
}

static void infer_split(struct assay__shape_call *call)
{
    size_t count = 0, parts = call->out_count;
    bool given;
    const int64_t *sizes = assay__shape_axes(call, "split", 1, &count, &given);
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    for (size_t i = 0; i < parts; i++)
        assay__shape_set_dtype(call, i, dtype);
    if (rank < 0 || !assay__shape_axis(assay__node_int(call->node, "axis", 0), rank, &axis)) return;
    memcpy(out, assay__shape_dims(call, 0), (size_t)rank * sizeof *out);
    int64_t whole = out[axis];
    for (size_t i = 0; i < parts; i++) {
        /* Equal parts, the last one smaller (opset 18 with num_outputs). */
        int64_t each = whole < 0 ? -1 : (whole + (int64_t)parts - 1) / (int64_t)parts;
        out[axis] = each;
        if (each >= 0 && i + 1 == parts) out[axis] = whole - each * (int64_t)(parts - 1);
        if (given) out[axis] = sizes && count == parts ? sizes[i] : -1;
        assay__shape_set(call, i, dtype, rank, out);
    }
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The elements of one axis that start:end:step takes. */
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

static void slice_values(struct assay__shape_call *call, int64_t first, int64_t step, int64_t count)
{
    const struct assay__fact *data = call->in[0];
    int64_t values[ASSAY__SHAPE_VALUES];
    if (!data->values || count > ASSAY__SHAPE_VALUES) return;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = first + i * step; /* in range: slice_count clamped it */
        if (at < 0 || (size_t)at >= data->value_count) return;
        values[i] = data->values[at];
    }
    assay__shape_set_values(call, 0, values, (size_t)count);
}

static void infer_slice(struct assay__shape_call *call)
{
    size_t n = 0, ends_n = 0, axes_n = 0, steps_n = 0;
    bool g, axes_given, steps_given;
    const int64_t *starts = assay__shape_axes(call, "starts", 1, &n, &g);
    const int64_t *ends = assay__shape_axes(call, "ends", 2, &ends_n, &g);
    const int64_t *axes = assay__shape_axes(call, "axes", 3, &axes_n, &axes_given);
    const int64_t *steps = assay__shape_axes(call, "steps", 4, &steps_n, &steps_given);
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK], first = 0, step = 1;
    enum assay__dtype dtype = assay__shape_dtype(call, 0);
    assay__shape_set(call, 0, dtype, rank, NULL);
    if (rank < 0 || (axes_given && !axes)) return;
    memcpy(out, assay__shape_dims(call, 0), (size_t)rank * sizeof *out);
    bool known = starts && ends && n == ends_n && (!axes_given || axes_n == n) &&
                 (!steps_given || (steps && steps_n == n));
    size_t touched = known ? n : axes_given ? axes_n : (size_t)rank;
    for (size_t i = 0; i < touched; i++) {
        int axis = 0;
        if (!assay__shape_axis(axes ? axes[i] : (int64_t)i, rank, &axis)) return;
        step = known && steps ? steps[i] : 1;
        bool can = known && out[axis] >= 0 && step != 0;
        out[axis] = can ? slice_count(out[axis], starts[i], ends[i], step, &first) : -1;
    }
    assay__shape_set(call, 0, dtype, rank, out);
    if (rank == 1 && known && n == 1 && out[0] >= 0) slice_values(call, first, step, out[0]);
}

/* --- Transpose, Gather, Expand, Tile, Pad ----------------------------------------------------- */

static void infer_transpose(struct assay__shape_call *call)
{
    const struct assay__attr *perm = assay__node_attr(call->node, "perm");
    int rank = assay__shape_rank(call, 0), from = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (rank < 0 || (perm && perm->count != (size_t)rank)) return;
    for (int i = 0; i < rank; i++) {
        if (!assay__shape_axis(perm && perm->ints ? perm->ints[i] : rank - 1 - i, rank, &from))
            return;
        out[i] = assay__shape_dims(call, 0)[from];
    }
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, out);
}

static void infer_gather(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), indices = assay__shape_rank(call, 1), axis = 0,
        total = 0;
    int64_t out[ASSAY__SHAPE_RANK], picked[ASSAY__SHAPE_VALUES];
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (rank < 0 || indices < 0 || rank + indices - 1 > ASSAY__SHAPE_RANK ||
        !assay__shape_axis(assay__node_int(call->node, "axis", 0), rank, &axis))
        return;
    for (int i = 0; i < axis; i++)
        out[total++] = assay__shape_dims(call, 0)[i];
    for (int i = 0; i < indices; i++)
        out[total++] = assay__shape_dims(call, 1)[i];
    for (int i = axis + 1; i < rank; i++)
        out[total++] = assay__shape_dims(call, 0)[i];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), total, out);
    size_t count = 0;
    const struct assay__fact *data = call->in[0];
    const int64_t *at = assay__shape_values(call, 1, &count);
    if (rank != 1 || indices > 1 || !data->values || !at) return;
    for (size_t i = 0; i < count; i++) {
        int64_t index = at[i] < 0 ? at[i] + (int64_t)data->value_count : at[i];
        if (index < 0 || (size_t)index >= data->value_count) return;
        picked[i] = data->values[index];
    }
    assay__shape_set_values(call, 0, picked, count);
}

static void infer_like_indices(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 1, assay__shape_dtype(call, 0));
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
}

static void infer_gather_nd(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0), indices = assay__shape_rank(call, 1), total = 0;
    int64_t batch = assay__node_int(call->node, "batch_dims", 0), out[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (rank < 1 || indices < 1 || batch < 0) return;
    int64_t depth = assay__shape_dims(call, 1)[indices - 1];
    if (depth < 0 || batch > rank || depth > rank - batch ||
        indices - 1 + rank - (int)batch - (int)depth > ASSAY__SHAPE_RANK)
        return;
    for (int i = 0; i < indices - 1; i++)
        out[total++] = assay__shape_dims(call, 1)[i];
    for (int i = (int)(batch + depth); i < rank; i++)
        out[total++] = assay__shape_dims(call, 0)[i];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), total, out);
}

static void infer_expand(struct assay__shape_call *call)
{
    const struct assay__fact *shape = call->in_count > 1 ? call->in[1] : NULL;
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK], target[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
    if (!shape || !shape->values || rank < 0 || shape->value_count > ASSAY__SHAPE_RANK) return;
    for (size_t i = 0; i < shape->value_count; i++)
        target[i] = shape->values[i] == ASSAY__SHAPE_ANY ? -1 : shape->values[i];
    memcpy(out, assay__shape_dims(call, 0), (size_t)rank * sizeof *out);
    if (!assay__shape_broadcast(out, &rank, target, (int)shape->value_count)) return;
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, out);
}

static void infer_tile(struct assay__shape_call *call)
{
    size_t count = 0;
    const int64_t *repeats = assay__shape_values(call, 1, &count);
    int rank = assay__shape_rank(call, 0);
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, NULL);
    if (rank < 0 || !repeats || count != (size_t)rank) return;
    for (int i = 0; i < rank; i++) {
        int64_t dim = assay__shape_dims(call, 0)[i];
        if (dim < 0 || assay__mul_i64_overflows(dim, repeats[i], &out[i])) out[i] = -1;
    }
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, out);
}

static void infer_pad(struct assay__shape_call *call)
{
    size_t count = 0, axes_count = 0;
    bool given, axes_given;
    const int64_t *pads = assay__shape_axes(call, "pads", 1, &count, &given);
    const int64_t *axes = assay__shape_axes(call, "axes", 3, &axes_count, &axes_given);
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, NULL);
    if (rank < 0 || !pads || (axes_given && !axes)) return;
    size_t n = axes_given ? axes_count : (size_t)rank;
    if (count != 2 * n) return;
    memcpy(out, assay__shape_dims(call, 0), (size_t)rank * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        if (!assay__shape_axis(axes_given ? axes[i] : (int64_t)i, rank, &axis)) return;
        if (out[axis] < 0 || assay__add_i64_overflows(out[axis], pads[i], &out[axis]) ||
            assay__add_i64_overflows(out[axis], pads[n + i], &out[axis]))
            out[axis] = -1;
    }
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, out);
}

/* --- images ----------------------------------------------------------------------------------- */

static void block_move(struct assay__shape_call *call, bool to_depth)
{
    int64_t block = assay__node_int(call->node, "blocksize", 0), out[4];
    const int64_t *dims = assay__shape_dims(call, 0);
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 4, NULL);
    if (assay__shape_rank(call, 0) != 4 || block < 1 || block > 1 << 20) return;
    out[0] = dims[0];
    int64_t area = block * block;
    for (int i = 1; i < 4; i++) {
        int64_t factor = i == 1 ? area : block;
        bool grows = (i == 1) == to_depth;
        if (dims[i] < 0 || (grows && assay__mul_i64_overflows(dims[i], factor, &out[i])))
            out[i] = -1;
        else if (!grows)
            out[i] = dims[i] / factor;
    }
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 4, out);
}

static void infer_space_to_depth(struct assay__shape_call *call)
{
    block_move(call, true);
}

static void infer_depth_to_space(struct assay__shape_call *call)
{
    block_move(call, false);
}

static bool scale_at(const struct assay__tensor *scales, size_t i, double *scale)
{
    float value;
    if (!scales || scales->dtype != ASSAY__FLOAT32 || !scales->data ||
        i * 4 + 4 > scales->data_size)
        return false;
    uint32_t bits = assay__wire_u32(scales->data + 4 * i);
    memcpy(&value, &bits, sizeof value);
    *scale = (double)value;
    return true;
}

/* Upsample: X, scales; Resize: X, roi, scales, sizes (opset 10: X, scales). floor(in * scale),
 * or the sizes. */
static void infer_resize(struct assay__shape_call *call)
{
    bool old = strcmp(call->node->op, "Upsample") == 0 || call->opset < 11;
    size_t scales_at = old ? 1 : 2, count = 0, axes_count = 0;
    const int64_t *sizes = old ? NULL : assay__shape_values(call, 3, &count);
    const struct assay__tensor *scales = call->in_count > scales_at ? call->in[scales_at]->tensor
                                                                    : NULL;
    const struct assay__attr *attr = assay__node_attr(call->node, "scales"); /* Upsample 7 */
    const struct assay__attr *axes = assay__node_attr(call->node, "axes");
    const struct assay__attr *policy = assay__node_attr(call->node, "keep_aspect_ratio_policy");
    int rank = assay__shape_rank(call, 0), axis = 0;
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, NULL);
    if (rank < 0 || (policy && strcmp(policy->s, "stretch") != 0)) return;
    memcpy(out, assay__shape_dims(call, 0), (size_t)rank * sizeof *out);
    axes_count = axes ? axes->count : (size_t)rank;
    for (size_t i = 0; i < axes_count; i++) {
        double scale = 0;
        if (!assay__shape_axis(axes ? axes->ints[i] : (int64_t)i, rank, &axis)) return;
        bool by_attr = attr && attr->type == ASSAY__ATTR_FLOATS && i < attr->count;
        if (by_attr) scale = (double)attr->floats[i];
        if (sizes && count == axes_count)
            out[axis] = sizes[i];
        else if (out[axis] >= 0 && (by_attr || scale_at(scales, i, &scale)) && scale > 0 &&
                 (double)out[axis] * scale < 9e15)
            out[axis] = (int64_t)floor((double)out[axis] * scale);
        else
            out[axis] = -1;
    }
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, out);
}

/* Into the blocked layout: channels are padded to the block of the machine's vector unit, which
 * is not known here. */
static void infer_reorder_input(struct assay__shape_call *call)
{
    int64_t out[4];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 4, NULL);
    if (assay__shape_rank(call, 0) != 4) return;
    memcpy(out, assay__shape_dims(call, 0), sizeof out);
    if (assay__node_int(call->node, "channels_last", 0)) {
        out[3] = out[2];
        out[2] = out[1];
    }
    out[1] = -1;
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 4, out);
}

/* ONNX Runtime's blocked layout keeps the logical N, C, H, W; ReorderOutput cuts the padding of
 * C. */
static void infer_reorder_output(struct assay__shape_call *call)
{
    int64_t channels = assay__node_int(call->node, "channels", -1), out[4];
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 4, NULL);
    if (assay__shape_rank(call, 0) != 4) return;
    memcpy(out, assay__shape_dims(call, 0), sizeof out);
    out[1] = channels;
    if (assay__node_int(call->node, "channels_last", 0)) {
        int64_t h = out[2], w = out[3];
        out[1] = h;
        out[2] = w;
        out[3] = channels;
    }
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), 4, out);
}

const struct assay__shape_row assay__shape_rows_move[] = {
    {"Concat", "", infer_concat},
    {"DepthToSpace", "", infer_depth_to_space},
    {"Expand", "", infer_expand},
    {"Flatten", "", infer_flatten},
    {"Gather", "", infer_gather},
    {"GatherElements", "", infer_like_indices},
    {"GatherND", "", infer_gather_nd},
    {"Pad", "", infer_pad},
    {"ReorderInput", "nchwc", infer_reorder_input},
    {"ReorderOutput", "nchwc", infer_reorder_output},
    {"Reshape", "", infer_reshape},
    {"Resize", "", infer_resize},
    {"ReverseSequence", "", infer_same},
    {"Scatter", "", infer_same},
    {"ScatterElements", "", infer_same},
    {"ScatterND", "", infer_same},
    {"Slice", "", infer_slice},
    {"SpaceToDepth", "", infer_space_to_depth},
    {"Split", "", infer_split},
    {"Squeeze", "", infer_squeeze},
    {"Tile", "", infer_tile},
    {"Transpose", "", infer_transpose},
    {"Trilu", "", infer_same},
    {"Unsqueeze", "", infer_unsqueeze},
    {"Upsample", "", infer_resize},
    {NULL, NULL, NULL},
};
