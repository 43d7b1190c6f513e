/* shapes_make.c - shape rows of operators that generate numbers: from shapes, from attributes, or
 * depending on the data. */
#include "model/shapes/shape_call.h"
#include "model/wire.h"

#include <math.h>

static void infer_shape(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t start = assay__node_int(call->node, "start", 0);
    int64_t end = assay__node_int(call->node, "end", INT64_MAX);
    assay__shape_set(call, 0, ASSAY__INT64, 1, NULL);
    if (rank < 0) return;
    if (start < 0) start = start + rank < 0 ? 0 : start + rank;
    if (end < 0) end += rank;
    if (start > rank) start = rank;
    if (end > rank) end = rank;
    int64_t count = end > start ? end - start : 0;
    assay__shape_set(call, 0, ASSAY__INT64, 1, &count);
    assay__shape_set_values(call, 0, assay__shape_dims(call, 0) + start, (size_t)count);
}

static void infer_size(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    assay__shape_set(call, 0, ASSAY__INT64, 0, NULL);
    if (rank < 0) return;
    int64_t count = assay__shape_product(call, assay__shape_dims(call, 0), 0, rank);
    assay__shape_set_values(call, 0, &count, 1);
}

/* The integer that ConstantOfShape repeats; ASSAY__SHAPE_ANY for others. */
static int64_t fill_value(const struct assay__attr *value)
{
    if (!value || !value->t || !value->t->data || value->t->elements != 1) return ASSAY__SHAPE_ANY;
    if (value->t->dtype == ASSAY__INT64 && value->t->data_size >= 8)
        return assay__num_from_file((int64_t)assay__wire_u64(value->t->data));
    if (value->t->dtype == ASSAY__BOOL && value->t->data_size >= 1) return value->t->data[0] != 0;
    return ASSAY__SHAPE_ANY;
}

static void infer_constant_of_shape(struct assay__shape_call *call)
{
    const struct assay__attr *value = assay__node_attr(call->node, "value");
    enum assay__dtype dtype = value && value->t ? value->t->dtype : ASSAY__FLOAT32;
    size_t count = 0;
    const int64_t *dims = assay__shape_nums(call, 0, &count);
    assay__shape_set_dtype(call, 0, dtype);
    if (!dims && assay__shape_rank(call, 0) == 1) {
        int64_t rank = assay__shape_dim(call, 0, 0);
        if (rank >= 0 && rank <= ASSAY__SHAPE_RANK)
            assay__shape_set(call, 0, dtype, (int)rank, NULL);
    }
    if (!dims || count > ASSAY__SHAPE_RANK) return;
    for (size_t i = 0; i < count; i++) {
        if (!assay__num_known(dims[i]) || dims[i] >= 0) continue;
        assay__shape_conflict(call, 0, "a shape with a dimension of %lld", (long long)dims[i]);
        return;
    }
    assay__shape_set(call, 0, dtype, (int)count, dims);
    /* A vector of one integer repeated: exporters pad and expand shapes with it. */
    int64_t one = fill_value(value), values[ASSAY__SHAPE_VALUES];
    int64_t total = assay__shape_product(call, dims, 0, (int)count);
    if (one == ASSAY__SHAPE_ANY || total < 0 || total > ASSAY__SHAPE_VALUES) return;
    for (int64_t i = 0; i < total; i++)
        values[i] = one;
    assay__shape_set_values(call, 0, values, (size_t)total);
}

/* start, limit, delta: max(ceil((limit - start) / delta), 0) elements; with symbols for integers
 * and a delta of at least 1 */
static void infer_range(struct assay__shape_call *call)
{
    struct assay__symbols *symbols = call->symbols;
    double start = 0, limit = 0, delta = 0;
    assay__shape_set_same(call, 1, NULL);
    if (!assay__shape_scalar(call, 0, &start) || !assay__shape_scalar(call, 1, &limit) ||
        !assay__shape_scalar(call, 2, &delta) || delta == 0) {
        int64_t span = assay__num_sub(symbols, assay__shape_num(call, 1),
                                      assay__shape_num(call, 0));
        int64_t step = assay__shape_num(call, 2);
        if (!assay__num_known(step) || step < 1 || span == ASSAY__NUM_ANY) return;
        int64_t steps = assay__num_ceil_div(symbols, span, step);
        if (!assay__num_at_least(symbols, span, 0)) steps = assay__num_max(symbols, steps, 0);
        assay__shape_set_same(call, 1, &steps);
        return;
    }
    double count = ceil((limit - start) / delta);
    if (!(count < 9e15)) return;
    int64_t n = count > 0 ? (int64_t)count : 0, values[ASSAY__SHAPE_VALUES];
    assay__shape_set_same(call, 1, &n);
    bool integer = assay__shape_dtype(call, 0) == ASSAY__INT64 ||
                   assay__shape_dtype(call, 0) == ASSAY__INT32;
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
    double depth = 0;
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 2));
    if (rank < 0 || rank + 1 > ASSAY__SHAPE_RANK ||
        !assay__shape_axis_attr(call, "axis", -1, rank + 1, &axis))
        return;
    int64_t size = assay__shape_num(call, 1);
    if (size == ASSAY__NUM_ANY && assay__shape_scalar(call, 1, &depth) && depth >= 0 &&
        depth < 9e15)
        size = (int64_t)depth;
    for (int i = 0, from = 0; i <= rank; i++)
        dims[i] = i == axis ? size : assay__shape_dims(call, 0)[from++];
    assay__shape_set(call, 0, assay__shape_dtype(call, 2), rank + 1, dims);
}

static void infer_non_zero(struct assay__shape_call *call)
{
    int rank = assay__shape_rank(call, 0);
    int64_t dims[2] = {rank < 0 ? ASSAY__NUM_ANY : rank, ASSAY__NUM_ANY};
    assay__shape_set(call, 0, ASSAY__INT64, 2, dims);
}

/* RandomNormal, RandomUniform: the shape is an attribute. */
static void infer_random(struct assay__shape_call *call)
{
    size_t count = 0;
    const int64_t *shape = assay__shape_ints(call, "shape", &count);
    enum assay__dtype dtype = assay__shape_dtype_attr(call, "dtype", ASSAY__FLOAT32);
    assay__shape_set_dtype(call, 0, dtype);
    if (shape) assay__shape_set(call, 0, dtype, (int)count, shape);
}

static void infer_like_typed(struct assay__shape_call *call)
{
    enum assay__dtype dtype = assay__shape_dtype_attr(call, "dtype", ASSAY__UNDEFINED);
    assay__shape_like(call, 0, 0, dtype);
}

/* [batch, classes] -> [batch, sample_size] */
static void infer_multinomial(struct assay__shape_call *call)
{
    int64_t dims[2] = {assay__shape_dim(call, 0, 0), assay__node_int(call->node, "sample_size", 1)};
    assay__shape_set(call, 0, assay__shape_dtype_attr(call, "dtype", ASSAY__INT32), 2, dims);
}

/* BlackmanWindow and the like: `size` numbers */
static void infer_window(struct assay__shape_call *call)
{
    int64_t size = assay__shape_num(call, 0);
    assay__shape_set(call, 0, assay__shape_dtype_attr(call, "output_datatype", ASSAY__FLOAT32), 1,
                     &size);
}

/* num_mel_bins, dft_length, …: [floor(dft_length / 2) + 1, num_mel_bins] */
static void infer_mel_weights(struct assay__shape_call *call)
{
    int64_t half = assay__num_floor_div(call->symbols, assay__shape_num(call, 1), 2);
    int64_t dims[2] = {assay__num_add(call->symbols, half, 1), assay__shape_num(call, 0)};
    assay__shape_set(call, 0, assay__shape_dtype_attr(call, "output_datatype", ASSAY__FLOAT32), 2,
                     dims);
}

const struct assay__shape_row assay__shape_rows_make[] = {
    {"Bernoulli EyeLike RandomNormalLike RandomUniformLike", "", infer_like_typed},
    {"BlackmanWindow HammingWindow HannWindow", "", infer_window},
    {"ConstantOfShape", "", infer_constant_of_shape},
    {"MelWeightMatrix", "", infer_mel_weights},
    {"Multinomial", "", infer_multinomial},
    {"NonZero", "", infer_non_zero},
    {"OneHot", "", infer_one_hot},
    {"RandomNormal RandomUniform", "", infer_random},
    {"Range", "*", infer_range},
    {"Shape", "", infer_shape},
    {"Size", "", infer_size},
    {NULL, NULL, NULL},
};
