/* cost_count.c - building blocks for the functions of the cost tables: sizes, attributes, and the
 * counts that more than one family uses. Everything unknown is NaN, and NaN propagates through
 * arithmetic: no function checks twice. */
#include "cost/cost_table.h"

#include "base/checked.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* --- shapes ----------------------------------------------------------------------------------- */

static double product(const struct assay__shape_entry *entry, int from)
{
    int64_t elements = 1;
    for (int i = from; i < entry->rank; i++)
        if (entry->dims[i] < 0 || assay__mul_i64_overflows(elements, entry->dims[i], &elements))
            return NAN;
    return (double)elements;
}

double assay__cost_elements(const struct assay__shape_entry *entry)
{
    return !entry || entry->rank < 0 ? NAN : product(entry, 0);
}

double assay__cost_bytes(const struct assay__shape_entry *entry)
{
    int bits = entry ? assay__dtype_bits(entry->dtype) : 0;
    double elements = assay__cost_elements(entry);
    return bits > 0 ? ceil(elements * bits / 8) : NAN; /* strings and unknown types have no size */
}

double assay__cost_dim(const struct assay__shape_entry *entry, int axis)
{
    if (!entry || entry->rank < 0) return NAN;
    if (axis < 0) axis += entry->rank;
    if (axis < 0 || axis >= entry->rank || entry->dims[axis] < 0) return NAN;
    return (double)entry->dims[axis];
}

double assay__cost_inner(const struct assay__shape_entry *entry, int from)
{
    if (!entry || entry->rank < 0) return NAN;
    if (from < 0) from += entry->rank;
    return from < 0 || from > entry->rank ? NAN : product(entry, from);
}

bool assay__cost_is_float(enum assay__dtype dtype)
{
    const unsigned others = 1u << ASSAY__UINT8 | 1u << ASSAY__INT8 | 1u << ASSAY__UINT16 |
                            1u << ASSAY__INT16 | 1u << ASSAY__INT32 | 1u << ASSAY__INT64 |
                            1u << ASSAY__STRING | 1u << ASSAY__BOOL | 1u << ASSAY__UINT32 |
                            1u << ASSAY__UINT64 | 1u << ASSAY__UINT4 | 1u << ASSAY__INT4 |
                            1u << ASSAY__UINT2 | 1u << ASSAY__INT2;
    return (unsigned)dtype >= 32 || !(others >> dtype & 1);
}

/* --- the node --------------------------------------------------------------------------------- */

bool assay__cost_has(const struct assay__cost_call *call, size_t i)
{
    return i < call->node->input_count && *call->node->inputs[i];
}

const struct assay__shape_entry *assay__cost_in(const struct assay__cost_call *call, size_t i)
{
    return assay__cost_has(call, i) ? assay__shapes_get(call->shapes, call->node->inputs[i]) : NULL;
}

const struct assay__shape_entry *assay__cost_out(const struct assay__cost_call *call, size_t i)
{
    if (i >= call->node->output_count || !*call->node->outputs[i]) return NULL;
    return assay__shapes_get(call->shapes, call->node->outputs[i]);
}

double assay__cost_in_elements(const struct assay__cost_call *call, size_t i)
{
    return assay__cost_elements(assay__cost_in(call, i));
}

double assay__cost_in_dim(const struct assay__cost_call *call, size_t i, int axis)
{
    return assay__cost_dim(assay__cost_in(call, i), axis);
}

double assay__cost_out_elements(const struct assay__cost_call *call)
{
    return assay__cost_elements(assay__cost_out(call, 0));
}

double assay__cost_attr(const struct assay__cost_call *call, const char *name)
{
    const struct assay__attr *attr = assay__node_attr(call->node, name);
    return attr && attr->type == ASSAY__ATTR_INT && attr->i >= 0 ? (double)attr->i : NAN;
}

int assay__cost_axis(const struct assay__cost_call *call, int64_t otherwise)
{
    int64_t axis = assay__node_int(call->node, "axis", otherwise);
    return axis < -1000 || axis > 1000 ? INT_MAX : (int)axis;
}

double assay__cost_attr_product(const struct assay__cost_call *call, const char *name)
{
    const struct assay__attr *attr = assay__node_attr(call->node, name);
    double elements = attr && attr->type == ASSAY__ATTR_INTS ? 1 : NAN;
    for (size_t i = 0; attr && attr->ints && i < attr->count; i++)
        elements *= attr->ints[i] >= 0 ? (double)attr->ints[i] : NAN;
    return elements;
}

bool assay__cost_attr_is(const struct assay__cost_call *call, const char *name, const char *text)
{
    const struct assay__attr *attr = assay__node_attr(call->node, name);
    return attr && attr->s && strcmp(attr->s, text) == 0;
}

double assay__cost_value(const struct assay__cost_call *call, size_t i)
{
    size_t count = 0;
    const int64_t *values = assay__cost_has(call, i)
                                ? assay__shapes_values(call->shapes, call->node->inputs[i], &count)
                                : NULL;
    return values && count > 0 && values[0] >= 0 ? (double)values[0] : NAN;
}

/* --- shared counts ---------------------------------------------------------------------------- */

void assay__cost_by_data(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    (void)call;
    work->other = NAN;
    work->why = ASSAY__COST_BY_DATA;
}

/* LRN over `size` channels: a square and `size` additions, then bias + alpha/size × sum (2), a
 * power and a division. */
void assay__cost_lrn(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    work->other = assay__cost_out_elements(call) * (assay__cost_attr(call, "size") + 5);
}

/* An `activation` attribute: one more operation per output element. */
static double activation(const struct assay__cost_call *call)
{
    const struct assay__attr *attr = assay__node_attr(call->node, "activation");
    bool some = attr && attr->s_size && strcmp(attr->s, "none") != 0;
    return some ? assay__cost_out_elements(call) : 0;
}

/* A bias adds one per output element. */
static double bias_adds(const struct assay__cost_call *call)
{
    size_t bias = call->row->bias;
    return bias && assay__cost_has(call, bias) ? assay__cost_out_elements(call) : 0;
}

/* Output elements × (C / group) × kernel elements multiply-adds; W is [M, C / group, k…]. */
void assay__cost_conv(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *weights = assay__cost_in(call, call->row->weights);
    work->multiply_adds = assay__cost_out_elements(call) * assay__cost_inner(weights, 1);
    work->bias_adds = bias_adds(call);
    work->other = activation(call);
}

/* Each input element meets (M / group) × kernel weights; W is [C, M / group, k…]. */
void assay__cost_conv_transpose(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *weights = assay__cost_in(call, call->row->weights);
    work->multiply_adds = assay__cost_in_elements(call, 0) * assay__cost_inner(weights, 1);
    work->bias_adds = bias_adds(call);
}

/* K is the last axis of A (the one before it when A is transposed). Every engine folds Gemm's alpha
 * and beta into the weights: not counted. */
void assay__cost_matmul(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *a = assay__cost_in(call, 0);
    bool transposed = assay__node_int(call->node, "transA", 0) != 0;
    double inner = assay__cost_dim(a, transposed && a && a->rank > 1 ? -2 : -1);
    work->multiply_adds = assay__cost_out_elements(call) * inner;
    work->bias_adds = bias_adds(call);
    work->other = activation(call);
}

/* MaxPool: k - 1 comparisons; AveragePool: k - 1 additions and a division: counted as k per output
 * for both. */
void assay__cost_pool(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    work->other = assay__cost_out_elements(call) * assay__cost_attr_product(call, "kernel_shape");
}

/* Scores: batch × heads × queries × keys, each `width` multiply-adds; the same number of scores
 * weight `value_width` values each. Softmax: maximum, subtraction, exponential, sum, division. A
 * causal mask saves nothing in the textbook algorithm. */
void assay__cost_attend(double batch_heads, double queries, double keys, double width,
                        double value_width, double extra, struct assay__cost_work *work)
{
    double scores = batch_heads * queries * keys;
    work->multiply_adds += scores * (width + value_width);
    work->other += scores * (5 + extra);
}

/* Each rotated number x cos ∓ y sin: 3. rotary_embedding_dim of a
 * head's numbers are rotated; 0 means all. */
void assay__cost_rotary(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *x = assay__cost_in(call, 0);
    double rotated = (double)assay__node_int(call->node, "rotary_embedding_dim", 0), share = 1;
    double head = assay__cost_dim(x, -1);
    if (x && x->rank == 3) head /= assay__cost_attr(call, "num_heads");
    if (rotated > 0) share = rotated / head;
    work->other = 3 * share * assay__cost_elements(x);
}

/* RNN, GRU, LSTM: X [S, B, I] (or [B, S, I]), W [D, G H, I], R [D, G H, H]: per step, batch and
 * direction G H (I + H) multiply-adds, two bias vectors of G H. Point-wise: RNN 1 activation, GRU
 * 3 activations + 7, LSTM 5 activations + 4 per hidden unit. */
void assay__cost_recurrent(const struct assay__cost_call *call, struct assay__cost_work *work)
{
    const struct assay__shape_entry *x = assay__cost_in(call, 0), *w = assay__cost_in(call, 1),
                                    *r = assay__cost_in(call, 2);
    double steps = assay__cost_dim(x, 0) * assay__cost_dim(x, 1); /* in either layout */
    double directions = assay__cost_dim(w, 0), gates_hidden = assay__cost_dim(w, 1);
    double hidden = assay__cost_dim(r, 2), input = assay__cost_dim(w, 2);
    const char *op = call->node->op;
    double pointwise = strstr(op, "LSTM") ? 9 : strstr(op, "GRU") ? 10 : 1;
    work->multiply_adds = steps * directions * gates_hidden * (input + hidden);
    work->bias_adds = assay__cost_has(call, 3) ? 2 * steps * directions * gates_hidden : 0;
    work->other = steps * directions * hidden * pointwise;
}

double assay__cost_sort_depth(double n)
{
    return isnan(n) ? NAN : n > 2 ? ceil(log2(n)) : 1;
}

/* Interpolation over the d axes whose size changes: t taps per axis (nearest 1, linear 2, cubic 4),
 * t^d taps per output element, a multiplication and an addition each. Nearest only moves. */
void assay__cost_resize(const struct assay__cost_call *call, const char *mode,
                        struct assay__cost_work *work)
{
    const struct assay__shape_entry *in = assay__cost_in(call, 0), *out = assay__cost_out(call, 0);
    double taps = mode && strstr(mode, "cubic") ? 4 : mode && strstr(mode, "linear") ? 2 : 1;
    double all = 1;
    if (!in || !out || in->rank < 0 || in->rank != out->rank) all = NAN;
    for (int i = 0; in && out && i < in->rank && in->rank == out->rank; i++) {
        if (in->dims[i] < 0 || out->dims[i] < 0) all = NAN;
        if (in->dims[i] != out->dims[i]) all *= taps;
    }
    work->other = taps > 1 ? 2 * all * assay__cost_out_elements(call) : 0;
    if (all == 1) work->other = 0; /* no axis changes: a copy */
}
