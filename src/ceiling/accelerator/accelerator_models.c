/* accelerator_models.c - builds the small models that measure an accelerator.
 *
 * The matrices of a chain: W = a bᵀ, so W W = (bᵀa) W. With bᵀa = 1 every product of the chain
 * equals W: nothing overflows, vanishes or becomes denormal, however long it is. a and b have
 * random signs; |a| is about 1 and |b| about 1/√N, so that the elements of W, about 1/√N, are
 * ordinary float16 numbers even at N = 16384, and the bits are as mixed as those of real operands
 * (bit patterns affect power, and power affects the clock). bᵀa is made 1 by adding to b a multiple
 * of a: b ← b + (1 − bᵀa) ÷ (aᵀa) · a.
 *
 * Copies in memory: whether a provider merges neighbouring operators is determined by measuring two
 * lengths (accelerator_rows.c). Rolling moves every element, so two operators cannot be merged into
 * one loop over the elements.
 *
 * The last operator selects one element of the result: little to transfer back, and a reduction
 * would take extra time. */
#include "ceiling/accelerator/accelerator_models.h"

#include "base/no_memory.h"
#include "base/stats.h"
#include "zoo/net.h"

#include <math.h>
#include <stdlib.h>

#define ROW_ELEMENTS 1024 /* of the tensors that are copied */

static const char *cast(struct assay__net *net, const char *x, enum assay__dtype dtype)
{
    const char *made = assay__net_1(net, "Cast", x);
    assay__net_attr_int(net, "to", (int64_t)dtype);
    return made;
}

/* The first element of a tensor, as float32 [1] or [1,1]. */
static const char *first_element(struct assay__net *net, const char *x, int rank,
                                 enum assay__dtype dtype)
{
    static const int64_t zeros[] = {0, 0}, ones[] = {1, 1}, axes[] = {0, 1};
    size_t count = (size_t)rank;
    const char *one = assay__net_node(net, "Slice",
                                      ASSAY__NET_IN(x, assay__net_shape(net, zeros, count),
                                                    assay__net_shape(net, ones, count),
                                                    assay__net_shape(net, axes, count)));
    if (dtype == ASSAY__FLOAT32) return one;
    return cast(net, one, ASSAY__FLOAT32);
}

/* ±[0.5, 1.5) · scale; whole: −8 … 8 */
static void fill(struct assay__random *random, float *values, int64_t count, bool whole,
                 double scale)
{
    for (int64_t i = 0; i < count; i++) {
        if (whole) {
            values[i] = (float)((int)assay__random_below(random, 17) - 8);
            continue;
        }
        double size = scale * (0.5 + assay__random_unit(random));
        values[i] = (float)(assay__random_u64(random) >> 63 ? size : -size);
    }
}

/* The matrix a bᵀ with `rows` and `columns`, generated on the device: (a · input) · b. */
static const char *outer(struct assay__net *net, const char *input, const float *a, int64_t rows,
                         const float *b, int64_t columns)
{
    const char *tall = assay__net_floats(net, "a", 2, (const int64_t[]){rows, 1}, a);
    const char *wide = assay__net_floats(net, "b", 2, (const int64_t[]){1, columns}, b);
    return assay__net_2(net, "Mul", assay__net_2(net, "Mul", tall, input), wide);
}

static const char *put_matmul(struct assay__net *net, const struct assay__accelerator_model *model,
                              const char *input, const float *a, const float *b)
{
    const char *w = outer(net, input, a, model->size, b, model->size);
    if (model->dtype != ASSAY__FLOAT32) w = cast(net, w, model->dtype);
    const char *x = w;
    for (int64_t i = 0; i < model->length; i++)
        x = assay__net_2(net, "MatMul", x, w);
    return first_element(net, x, 2, model->dtype);
}

/* Rows `from` … `to` − 1. */
static const char *rows_of(struct assay__net *net, const char *x, int64_t from, int64_t to)
{
    static const int64_t axis = 0;
    return assay__net_node(net, "Slice",
                           ASSAY__NET_IN(x, assay__net_shape(net, &from, 1),
                                         assay__net_shape(net, &to, 1),
                                         assay__net_shape(net, &axis, 1)));
}

/* Each product has a different left operand: the rows i … i + N − 1 of a slightly taller matrix. */
static const char *put_matmul_integer(struct assay__net *net,
                                      const struct assay__accelerator_model *model,
                                      const char *input, const float *a, const float *b)
{
    int64_t n = model->size, taller = n + model->length;
    const char *tall = cast(net, outer(net, input, a, taller, b, n), ASSAY__INT8);
    const char *parts[64 + 1] = {0}, *w = NULL;
    for (int64_t i = 0; i <= model->length && i < 64; i++) {
        const char *x = rows_of(net, tall, i, i + n);
        if (i == 0)
            w = x;
        else
            parts[i - 1] = first_element(net, assay__net_2(net, "MatMulInteger", x, w), 2,
                                         ASSAY__INT32);
    }
    if (model->length == 1) return parts[0];
    const char *all = assay__net_node(net, "Concat", parts);
    assay__net_attr_int(net, "axis", 0);
    return first_element(net, all, 2, ASSAY__FLOAT32);
}

static const char *put_copy(struct assay__net *net, const struct assay__accelerator_model *model,
                            const char *input, const float *a, const float *b)
{
    int64_t rows = model->size / ROW_ELEMENTS;
    const char *x = outer(net, input, a, rows, b, ROW_ELEMENTS);
    for (int64_t i = 0; i < model->length; i++) {
        if (model->shape == ASSAY__SHAPE_COPY_NEGATE) {
            x = assay__net_1(net, "Neg", x);
            continue;
        }
        const char *low = rows_of(net, x, 0, rows / 3), *high = rows_of(net, x, rows / 3, rows);
        x = assay__net_2(net, "Concat", high, low);
        assay__net_attr_int(net, "axis", 0);
    }
    return first_element(net, x, 2, ASSAY__FLOAT32);
}

static int64_t tall_of(const struct assay__accelerator_model *model)
{
    switch (model->shape) {
    case ASSAY__SHAPE_MATMUL: return model->size;
    case ASSAY__SHAPE_MATMUL_INTEGER: return model->size + model->length;
    case ASSAY__SHAPE_COPY_NEGATE:
    case ASSAY__SHAPE_COPY_ROLL: return model->size / ROW_ELEMENTS;
    default: return 0;
    }
}

static void put_model(struct assay__net *net, const struct assay__accelerator_model *model,
                      const char *input, float *a, float *b)
{
    struct assay__random random;
    const char *y = "", *dims = "1,1";
    int64_t tall = tall_of(model), wide = tall ? model->size : 0;
    assay__random_seed(&random, 1);
    if (model->shape == ASSAY__SHAPE_COPY_NEGATE || model->shape == ASSAY__SHAPE_COPY_ROLL)
        wide = ROW_ELEMENTS;
    bool whole = model->shape == ASSAY__SHAPE_MATMUL_INTEGER;
    fill(&random, a, tall, whole, 1);
    fill(&random, b, wide, whole, wide ? 1 / sqrt((double)wide) : 0);
    double aa = 0, ba = 0; /* b ← b + (1 − bᵀa) ÷ (aᵀa) · a */
    for (int64_t i = 0; i < wide && model->shape == ASSAY__SHAPE_MATMUL; i++) {
        aa += (double)a[i] * (double)a[i];
        ba += (double)b[i] * (double)a[i];
    }
    for (int64_t i = 0; i < wide && model->shape == ASSAY__SHAPE_MATMUL; i++)
        b[i] = (float)((double)b[i] + (1 - ba) / aa * (double)a[i]);
    switch (model->shape) {
    case ASSAY__SHAPE_LAUNCH:
        y = assay__net_2(net, "Add", input, assay__net_scalar(net, 1));
        dims = "1";
        break;
    case ASSAY__SHAPE_MATMUL: y = put_matmul(net, model, input, a, b); break;
    case ASSAY__SHAPE_MATMUL_INTEGER: y = put_matmul_integer(net, model, input, a, b); break;
    case ASSAY__SHAPE_COPY_NEGATE:
    case ASSAY__SHAPE_COPY_ROLL: y = put_copy(net, model, input, a, b); break;
    case ASSAY__SHAPE_TRANSFER_IN:
        y = first_element(net, input, 1, ASSAY__FLOAT32);
        dims = "1";
        break;
    case ASSAY__SHAPE_TRANSFER_OUT:
        y = assay__net_2(net, "Expand", input, assay__net_shape(net, &model->size, 1));
        dims = assay__net_dim(net, model->size, "");
        break;
    }
    assay__net_output(net, y, "y", ASSAY__FLOAT32, dims);
}

int assay__accelerator_model_write(const struct assay__accelerator_model *model,
                                   struct assay__arena *arena, const char *path,
                                   struct assay__input_plan *input, struct assay_error *error)
{
    struct assay__net net;
    if (model->size < 1 || model->length < 1 || model->length > 63 ||
        model->size > (int64_t)1 << 31)
        return assay_error_set(error, ASSAY_EINVAL, "a model of that size cannot be built");
    struct assay__model *graph = assay__model_new();
    float *a = calloc((size_t)tall_of(model) + 1, sizeof *a);
    float *b = calloc(
        (size_t)(model->size > ROW_ELEMENTS && tall_of(model) ? model->size : ROW_ELEMENTS),
        sizeof *b);
    int64_t *dims = assay__arena_array(arena, 1, sizeof *dims);
    int code = graph && a && b && dims ? 0 : assay__no_memory(error);
    if (code) goto out;
    dims[0] = model->shape == ASSAY__SHAPE_TRANSFER_IN ? model->size : 1;
    *input = (struct assay__input_plan){.name = "x",
                                        .dtype = ASSAY__FLOAT32,
                                        .rank = 1,
                                        .dims = dims,
                                        .bytes = (size_t)dims[0] * sizeof(float),
                                        .fill = ASSAY__FILL_CONSTANT,
                                        .low = 1,
                                        .high = 1,
                                        .why = ""};
    assay__net_begin(&net, graph, "ceiling", 1, error);
    const char *x = assay__net_input(&net, "x", ASSAY__FLOAT32,
                                     assay__net_dim(&net, input->dims[0], ""));
    put_model(&net, model, x, a, b);
    code = assay__net_end(&net);
    if (!code) code = assay__model_write(graph, path, error);
out:
    free(a);
    free(b);
    assay__model_free(graph);
    return code;
}
