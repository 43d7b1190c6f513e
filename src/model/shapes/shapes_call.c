/* shapes_call.c - helpers for the rows of the shape tables: reading inputs, setting outputs,
 * broadcasting, reporting contradictions. */
#include "model/shapes/shape_call.h"

#include "base/buf.h"
#include "base/vec.h"
#include "model/shapes/shapes_scope.h"
#include "model/tensor_data.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- inputs ----------------------------------------------------------------------------------- */

bool assay__shape_has(const struct assay__shape_call *call, size_t i)
{
    return i < call->in_count && *call->node->inputs[i];
}

static const struct assay__fact *tensor_fact(const struct assay__shape_call *call, size_t i)
{
    return i < call->in_count && !call->in[i]->sequence && !call->in[i]->optional ? call->in[i]
                                                                                  : NULL;
}

int assay__shape_rank(const struct assay__shape_call *call, size_t i)
{
    const struct assay__fact *fact = tensor_fact(call, i);
    return fact ? fact->entry.rank : -1;
}

const int64_t *assay__shape_dims(const struct assay__shape_call *call, size_t i)
{
    const struct assay__fact *fact = tensor_fact(call, i);
    return fact ? fact->dims : NULL;
}

int assay__shape_copy(const struct assay__shape_call *call, size_t i, int64_t *dims)
{
    int rank = assay__shape_rank(call, i);
    if (rank > 0) memcpy(dims, assay__shape_dims(call, i), (size_t)rank * sizeof *dims);
    return rank;
}

int64_t assay__shape_dim(const struct assay__shape_call *call, size_t i, int axis)
{
    int at = 0;
    return assay__shape_axis(axis, assay__shape_rank(call, i), &at) ? assay__shape_dims(call, i)[at]
                                                                    : ASSAY__SHAPE_ANY;
}

enum assay__dtype assay__shape_dtype(const struct assay__shape_call *call, size_t i)
{
    const struct assay__fact *fact = tensor_fact(call, i);
    return fact ? fact->entry.dtype : ASSAY__UNDEFINED;
}

const int64_t *assay__shape_nums(const struct assay__shape_call *call, size_t i, size_t *count)
{
    const struct assay__fact *fact = tensor_fact(call, i);
    if (!fact || !fact->values) return NULL;
    *count = fact->value_count;
    return fact->values;
}

const int64_t *assay__shape_values(const struct assay__shape_call *call, size_t i, size_t *count)
{
    const int64_t *nums = assay__shape_nums(call, i, count);
    for (size_t k = 0; nums && k < *count; k++)
        if (!assay__num_known(nums[k])) return NULL;
    return nums;
}

int64_t assay__shape_num(const struct assay__shape_call *call, size_t i)
{
    size_t count = 0;
    const int64_t *nums = assay__shape_nums(call, i, &count);
    return nums && count == 1 ? nums[0] : ASSAY__SHAPE_ANY;
}

const int64_t *assay__shape_ints(const struct assay__shape_call *call, const char *name,
                                 size_t *count)
{
    static const int64_t none[1];
    const struct assay__attr *attr = assay__node_attr(call->node, name);
    bool there = attr && attr->type == ASSAY__ATTR_INTS;
    *count = there ? attr->count : 0;
    return *count ? attr->ints : there ? none : NULL;
}

const int64_t *assay__shape_list(const struct assay__shape_call *call, const char *name, size_t i,
                                 size_t *count)
{
    const int64_t *ints = assay__shape_ints(call, name, count);
    return ints ? ints : assay__shape_nums(call, i, count);
}

const int64_t *assay__shape_axes(const struct assay__shape_call *call, const char *name, size_t i,
                                 size_t *count, bool *given)
{
    const int64_t *ints = assay__shape_ints(call, name, count);
    *given = assay__node_attr(call->node, name) || assay__shape_has(call, i);
    return ints ? ints : assay__shape_values(call, i, count);
}

bool assay__shape_scalar(const struct assay__shape_call *call, size_t i, double *value)
{
    int64_t num = assay__shape_num(call, i);
    if (assay__num_known(num)) {
        *value = (double)num;
        return true;
    }
    const struct assay__fact *fact = tensor_fact(call, i);
    const struct assay__tensor *tensor = fact ? fact->tensor : NULL;
    return tensor && tensor->elements == 1 && assay__tensor_number(tensor, 0, value);
}

enum assay__dtype assay__shape_dtype_attr(const struct assay__shape_call *call, const char *name,
                                          enum assay__dtype otherwise)
{
    int64_t value = assay__node_int(call->node, name, (int64_t)otherwise);
    return value >= 0 && value <= ASSAY__INT2 ? (enum assay__dtype)value : ASSAY__UNDEFINED;
}

bool assay__shape_attr_is(const struct assay__shape_call *call, const char *name, const char *value)
{
    const struct assay__attr *attr = assay__node_attr(call->node, name);
    return attr && attr->type == ASSAY__ATTR_STRING && strcmp(attr->s, value) == 0;
}

bool assay__shape_op_is(const struct assay__shape_call *call, const char *op)
{
    return strcmp(call->node->op, op) == 0;
}

/* --- outputs ---------------------------------------------------------------------------------- */

void assay__fact_set(struct assay__shape_state *state, struct assay__fact *fact,
                     enum assay__dtype dtype, int rank, const int64_t *nums)
{
    fact->entry.dtype = dtype;
    if (rank < 0 || rank > ASSAY__SHAPE_RANK) return;
    bool numbers = nums != NULL; /* then nums and dims are the same, and one array is enough */
    for (int i = 0; i < rank && numbers; i++)
        numbers = nums[i] >= 0;
    size_t arrays = numbers ? 1 : 2;
    int64_t *copy = assay__arena_array(state->arena, arrays * (size_t)rank, sizeof *copy);
    if (!copy) return;
    fact->entry.rank = rank;
    fact->entry.dims = copy;
    fact->dims = numbers ? copy : copy + rank;
    if (numbers) {
        if (rank) memcpy(copy, nums, (size_t)rank * sizeof *copy);
        return;
    }
    for (int i = 0; i < rank; i++) {
        bool there = nums && (nums[i] >= 0 || assay__num_symbolic(nums[i]));
        copy[rank + i] = there ? nums[i] : ASSAY__SHAPE_ANY;
        copy[i] = assay__dim_of_num(copy[rank + i]);
    }
}

void assay__shape_set(struct assay__shape_call *call, size_t o, enum assay__dtype dtype, int rank,
                      const int64_t *dims)
{
    if (o < call->out_count) assay__fact_set(call->scope->state, call->out[o], dtype, rank, dims);
}

void assay__shape_set_dtype(struct assay__shape_call *call, size_t o, enum assay__dtype dtype)
{
    if (o < call->out_count) call->out[o]->entry.dtype = dtype;
}

void assay__shape_set_values(struct assay__shape_call *call, size_t o, const int64_t *values,
                             size_t count)
{
    if (o >= call->out_count || count > ASSAY__SHAPE_VALUES) return;
    int64_t *copy = assay__arena_array(call->arena, count, sizeof *copy);
    if (!copy) return;
    if (count) memcpy(copy, values, count * sizeof *copy);
    call->out[o]->values = copy;
    call->out[o]->value_count = count;
}

void assay__shape_keep_values(struct assay__shape_call *call, size_t o, size_t i)
{
    const struct assay__fact *fact = tensor_fact(call, i);
    if (!fact || !fact->values || o >= call->out_count) return;
    call->out[o]->values = fact->values; /* facts never modify what they point to */
    call->out[o]->value_count = fact->value_count;
}

void assay__shape_like(struct assay__shape_call *call, size_t o, size_t i, enum assay__dtype dtype)
{
    const struct assay__fact *fact = tensor_fact(call, i);
    if (o >= call->out_count) return;
    struct assay__fact *out = call->out[o];
    if (dtype == ASSAY__UNDEFINED && fact) dtype = fact->entry.dtype;
    out->entry.dtype = dtype;
    if (!fact || fact->entry.rank < 0) return;
    /* completing it from the file writes into the copy, so each fact has its own */
    assay__shape_set(call, o, dtype, fact->entry.rank, fact->dims);
}

void assay__shape_pass(struct assay__shape_call *call, size_t o, const struct assay__fact *fact)
{
    if (o >= call->out_count) return;
    const struct assay__node *maker = call->out[o]->maker;
    *call->out[o] = *fact;
    call->out[o]->maker = maker;
}

bool assay__fact_join(struct assay__shape_call *call, struct assay__fact *fact,
                      const struct assay__fact *other)
{
    int64_t dims[ASSAY__SHAPE_RANK];
    bool changed = false;
    fact->values = NULL;
    fact->tensor = NULL;
    if (fact->entry.dtype == ASSAY__UNDEFINED) fact->entry.dtype = other->entry.dtype;
    fact->sequence = fact->sequence || other->sequence;
    fact->optional = fact->optional || other->optional;
    if (fact->entry.rank < 0) return false;
    if (other->entry.rank != fact->entry.rank) {
        fact->entry.rank = -1;
        fact->entry.dims = NULL;
        fact->dims = NULL;
        return true;
    }
    for (int i = 0; i < fact->entry.rank; i++) {
        dims[i] = fact->dims[i] == other->dims[i] ? fact->dims[i] : ASSAY__NUM_ANY;
        changed = changed || dims[i] != fact->dims[i];
    }
    if (changed)
        assay__fact_set(call->scope->state, fact, fact->entry.dtype, fact->entry.rank, dims);
    return changed;
}

void assay__shape_as(struct assay__shape_call *call, size_t o, size_t i, enum assay__dtype dtype)
{
    assay__shape_like(call, o, i, dtype);
    assay__shape_set_dtype(call, o, dtype);
}

void assay__shape_same_type(struct assay__shape_call *call)
{
    assay__shape_set_dtype(call, 0, assay__shape_dtype(call, 0));
}

void assay__shape_set_same(struct assay__shape_call *call, int rank, const int64_t *dims)
{
    assay__shape_set(call, 0, assay__shape_dtype(call, 0), rank, dims);
}

/* --- contradictions --------------------------------------------------------------------------- */

static const char *node_label(const struct assay__node *node)
{
    if (*node->name) return node->name;
    for (size_t i = 0; i < node->output_count; i++)
        if (*node->outputs[i]) return node->outputs[i];
    return "";
}

/* "2×4", "batch×?"; "" if the rank is unknown */
static void put_shape(struct assay__shape_state *state, struct assay__buf *buf,
                      const struct assay__fact *fact, const char *between)
{
    for (int k = 0; k < fact->entry.rank; k++) {
        int64_t num = fact->dims[k];
        if (k) assay__buf_puts(buf, between);
        if (num >= 0)
            assay__buf_printf(buf, "%lld", (long long)num);
        else
            assay__buf_puts(buf,
                            assay__num_symbolic(num) ? assay__num_text(state->symbols, num) : "?");
    }
}

static const char *text_in_arena(struct assay__shape_state *state, struct assay__buf *buf)
{
    const char *text = buf->failed || !buf->data ? NULL
                                                 : assay__arena_strdup(state->arena, buf->data);
    assay__buf_free(buf);
    return text;
}

void assay__state_conflict(struct assay__shape_state *state, const struct assay__node *node,
                           const struct assay__fact *other, const char *name, const char *message)
{
    const struct assay__node *maker = other ? other->maker : NULL;
    if (state->quiet || !message) return;
    struct assay__shape_conflict conflict = {.node = node_label(node),
                                             .op = node->op,
                                             .producer = maker ? node_label(maker) : name,
                                             .producer_op = maker ? maker->op : ""};
    struct assay__buf words = {0};
    if (!other) {
        assay__buf_printf(&words, "the file's declaration of '%s'", name);
    } else if (maker) {
        assay__buf_printf(&words, "'%s' (%s)", conflict.producer, maker->op);
    } else {
        assay__buf_printf(&words, "%s '%s'", other->tensor ? "initializer" : "input", name);
        if (other->entry.rank == 0) assay__buf_puts(&words, " (a scalar)");
        if (other->entry.rank > 0) assay__buf_puts(&words, " (");
        put_shape(state, &words, other, "×");
        if (other->entry.rank > 0) assay__buf_putc(&words, ')');
    }
    conflict.other = text_in_arena(state, &words);
    conflict.message = assay__arena_strdup(state->arena, message);
    char *text = conflict.other && conflict.message
                     ? assay__arena_printf(state->arena, "%s\n%s\n%s", conflict.node,
                                           conflict.other, message)
                     : NULL;
    if (!state->said) state->said = assay__map_new();
    if (!text || !state->said || assay__map_get(state->said, text) != ASSAY__MAP_NONE ||
        assay__map_set(state->said, text, 1) ||
        assay__vec_grow((void **)&state->conflicts, &state->conflict_capacity,
                        state->conflict_count + 1, sizeof *state->conflicts))
        return;
    state->conflicts[state->conflict_count++] = conflict;
}

void assay__shape_conflict(struct assay__shape_call *call, size_t i, const char *format, ...)
{
    char text[512];
    va_list args;
    if (call->scope->state->quiet || !call->in_count) return;
    size_t other = i < call->in_count ? i : 0;
    /* A weight is not informative: the operator before the node is named instead. */
    for (size_t k = 0; k < call->in_count && !call->in[other]->maker; k++)
        if (call->in[k]->maker && strcmp(call->in[k]->maker->op, "Constant") != 0) other = k;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assay__state_conflict(call->scope->state, call->node, call->in[other],
                          call->node->inputs[other], text);
}

const char *assay__shape_text(struct assay__shape_call *call, size_t i)
{
    struct assay__buf buf = {0};
    const struct assay__fact *fact = tensor_fact(call, i);
    if (!fact || fact->entry.rank < 0) return "?";
    assay__buf_putc(&buf, '[');
    put_shape(call->scope->state, &buf, fact, ", ");
    assay__buf_putc(&buf, ']');
    const char *text = text_in_arena(call->scope->state, &buf);
    return text ? text : "?";
}

/* Operators of other formats are mapped to ONNX operators, which are stricter about types. */
bool assay__shape_types_differ(struct assay__shape_call *call, size_t a, size_t b)
{
    enum assay__dtype left = assay__shape_dtype(call, a), right = assay__shape_dtype(call, b);
    bool onnx = assay__model_is_onnx(call->scope->state->model);
    if (!onnx || *call->node->domain || !left || !right || left == right) return false;
    assay__shape_conflict(call, b, "%s of '%.80s' (%s) and '%.80s' (%s): the types differ",
                          call->node->op, call->node->inputs[a], assay__dtype_name(left),
                          call->node->inputs[b], assay__dtype_name(right));
    return true;
}

bool assay__shape_differ(struct assay__shape_call *call, size_t i, const char *what, int64_t a,
                         int64_t b)
{
    if (!assay__num_known(a) || !assay__num_known(b) || a == b) return false;
    assay__shape_conflict(call, i, "%s: %lld and %lld", what, (long long)a, (long long)b);
    return true;
}

/* --- shapes ----------------------------------------------------------------------------------- */

bool assay__shape_axis(int64_t axis, int rank, int *out)
{
    if (rank < 0 || axis < -(int64_t)rank || axis >= rank) return false;
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

bool assay__shape_axis_attr(struct assay__shape_call *call, const char *name, int64_t otherwise,
                            int rank, int *out)
{
    int64_t axis = assay__node_int(call->node, name, otherwise);
    if (rank < 0) return false;
    if (assay__shape_axis(axis, rank, out)) return true;
    assay__shape_conflict(call, 0, "axis %lld of a tensor of rank %d", (long long)axis, rank);
    return false;
}

bool assay__shape_broadcast(int64_t *a, int *a_rank, const int64_t *b, int b_rank)
{
    if (b_rank > ASSAY__SHAPE_RANK) return false;
    if (b_rank > *a_rank) {
        int shift = b_rank - *a_rank;
        memmove(a + shift, a, (size_t)*a_rank * sizeof *a);
        for (int i = 0; i < shift; i++)
            a[i] = 1;
        *a_rank = b_rank;
    }
    for (int i = 0; i < b_rank; i++) {
        int64_t *mine = &a[*a_rank - b_rank + i], other = b[i];
        if (*mine == other || other == 1) continue;
        if (*mine == 1)
            *mine = other;
        else if (*mine >= 0 && other >= 0)
            return false;
        else if (*mine < 0) /* one is a number: the other must be it, or 1 */
            *mine = other >= 0 ? other : ASSAY__SHAPE_ANY;
    }
    return true;
}

void assay__shape_broadcast_inputs(struct assay__shape_call *call, const size_t *which,
                                   size_t count, enum assay__dtype dtype)
{
    int64_t dims[ASSAY__SHAPE_RANK];
    int rank = 0;
    assay__shape_set_dtype(call, 0, dtype);
    for (size_t k = 0; k < count; k++)
        if (assay__shape_rank(call, which ? which[k] : k) < 0) return;
    for (size_t k = 0; k < count; k++) {
        size_t i = which ? which[k] : k;
        if (assay__shape_broadcast(dims, &rank, assay__shape_dims(call, i),
                                   assay__shape_rank(call, i)))
            continue;
        assay__shape_conflict(call, i, "%s and %s cannot be broadcast",
                              assay__shape_text(call, which ? which[0] : 0),
                              assay__shape_text(call, i));
        return;
    }
    assay__shape_set(call, 0, dtype, rank, dims);
}

int64_t assay__shape_product(const struct assay__shape_call *call, const int64_t *dims, int from,
                             int to)
{
    int64_t product = 1;
    for (int i = from; i < to; i++)
        product = assay__num_mul(call->symbols, product, dims[i] == -1 ? ASSAY__NUM_ANY : dims[i]);
    return product;
}

void assay__shape_matmul(struct assay__shape_call *call, size_t a, size_t b, bool trans_a,
                         bool trans_b, enum assay__dtype dtype)
{
    int ra = assay__shape_rank(call, a), rb = assay__shape_rank(call, b);
    int64_t out[ASSAY__SHAPE_RANK];
    assay__shape_set_dtype(call, 0, dtype);
    if (ra < 1 || rb < 1 || (trans_a && ra < 2) || (trans_b && rb < 2)) return;
    const int64_t *da = assay__shape_dims(call, a), *db = assay__shape_dims(call, b);
    int64_t inner_a = da[trans_a ? ra - 2 : ra - 1];
    int64_t inner_b = db[rb == 1 ? 0 : trans_b ? rb - 1 : rb - 2];
    int rank = ra > 2 ? ra - 2 : 0;
    if (rank) memcpy(out, da, (size_t)rank * sizeof *out);
    bool fits = rb <= 2 || assay__shape_broadcast(out, &rank, db, rb - 2);
    if (!fits || (assay__num_known(inner_a) && assay__num_known(inner_b) && inner_a != inner_b))
        assay__shape_conflict(call, b, "%s of %s and %s%s%s", call->node->op,
                              assay__shape_text(call, a), assay__shape_text(call, b),
                              trans_a ? ", the first transposed" : "",
                              trans_b ? ", the second transposed" : "");
    if (!fits || rank + 2 > ASSAY__SHAPE_RANK) return;
    if (ra > 1) out[rank++] = da[trans_a ? ra - 1 : ra - 2];
    if (rb > 1) out[rank++] = db[trans_b ? rb - 2 : rb - 1];
    assay__shape_set(call, 0, dtype, rank, out);
}

void assay__shape_row_same(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 0, ASSAY__UNDEFINED);
}

void assay__shape_row_same_bool(struct assay__shape_call *call)
{
    assay__shape_like(call, 0, 0, ASSAY__BOOL);
}

void assay__shape_row_to(struct assay__shape_call *call)
{
    assay__shape_as(call, 0, 0, assay__shape_dtype_attr(call, "to", ASSAY__UNDEFINED));
}

void assay__shape_row_sequence(struct assay__shape_call *call)
{
    for (size_t o = 0; o < call->out_count; o++)
        call->out[o]->sequence = true;
}
