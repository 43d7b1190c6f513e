/* cost.c - what each node computes and moves, from the shapes.
 *
 * Counting rules:
 *  - a multiply-add is one MAC and two FLOPs; adding a bias is one MAC (as profilers of networks
 *    count it) and one FLOP;
 *  - the count is of the textbook algorithm (direct convolution), not of what a library does
 *    (Winograd, FFT);
 *  - padded positions count like others; integer (quantised) products count like floating-point
 *    ones;
 *  - element-wise work on integers and booleans (shapes, indices, masks) is not floating-point:
 *    zero;
 *  - bytes are compulsory traffic: every input and output once, at its data type's size.
 *
 * What cannot be told from the shapes is NaN: an operator without a row, an unknown dimension,
 * control flow. */
#include "cost/cost.h"

#include "cost/cost_table.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* --- helpers of the rows ---------------------------------------------------------------------- */

double assay__cost_elements(const struct assay__shape_entry *entry)
{
    int64_t product = 1;
    if (!entry || entry->rank < 0) return NAN;
    for (int i = 0; i < entry->rank; i++)
        if (entry->dims[i] < 0 || assay__mul_i64_overflows(product, entry->dims[i], &product))
            return NAN;
    return (double)product;
}

double assay__cost_dim(const struct assay__shape_entry *entry, int axis)
{
    if (!entry || entry->rank < 0) return NAN;
    if (axis < 0) axis += entry->rank;
    if (axis < 0 || axis >= entry->rank || entry->dims[axis] < 0) return NAN;
    return (double)entry->dims[axis];
}

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

/* --- bytes ------------------------------------------------------------------------------------ */

static double entry_bytes(const struct assay__shape_entry *entry)
{
    int bits = entry ? assay__dtype_bits(entry->dtype) : 0;
    double elements = assay__cost_elements(entry);
    return bits > 0 ? ceil(elements * bits / 8) : NAN; /* strings and unknown types have no size */
}

/* Reading the same input twice (x * x) moves it once. */
static bool seen_before(const struct assay__node *node, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(node->inputs[k], node->inputs[i]) == 0) return true;
    return false;
}

static void count_bytes(const struct assay__cost_call *call, const struct assay__cost_row *row,
                        const struct assay__map *constants, struct assay__cost *cost)
{
    const struct assay__node *node = call->node;
    cost->bytes_read = cost->bytes_written = cost->bytes_weights = 0;
    if (row && row->view) return; /* relabels: reads a shape, moves nothing */
    for (size_t i = 0; i < node->input_count; i++) {
        if (!*node->inputs[i] || seen_before(node, i)) continue;
        double bytes = entry_bytes(assay__cost_in(call, i));
        bool partial = row && i < 32 && (row->partial >> i & 1);
        double most = partial ? entry_bytes(assay__cost_out(call, 0)) : INFINITY;
        if (partial && !(bytes <= most)) bytes = most;
        cost->bytes_read += bytes;
        if (assay__map_get(constants, node->inputs[i]) != ASSAY__MAP_NONE)
            cost->bytes_weights += bytes;
    }
    for (size_t i = 0; i < node->output_count; i++)
        if (*node->outputs[i]) cost->bytes_written += entry_bytes(assay__cost_out(call, i));
}

/* --- the graph -------------------------------------------------------------------------------- */

static bool domain_matches(const char *row, const char *domain)
{
    if (!*domain) return !*row || *row == '*';
    if (strcmp(domain, "com.microsoft") == 0) return strcmp(row, "ms") == 0 || *row == '*';
    if (strcmp(domain, "com.microsoft.nchwc") == 0) return strcmp(row, "nchwc") == 0 || *row == '*';
    return false;
}

static const struct assay__cost_row *find_row(const struct assay__node *node)
{
    for (const struct assay__cost_row *row = assay__cost_rows; row->op; row++)
        if (strcmp(row->op, node->op) == 0 && domain_matches(row->domain, node->domain)) return row;
    return NULL;
}

static bool is_float(enum assay__dtype dtype)
{
    switch (dtype) {
    case ASSAY__UINT8:
    case ASSAY__INT8:
    case ASSAY__UINT16:
    case ASSAY__INT16:
    case ASSAY__INT32:
    case ASSAY__INT64:
    case ASSAY__STRING:
    case ASSAY__BOOL:
    case ASSAY__UINT32:
    case ASSAY__UINT64:
    case ASSAY__UINT4:
    case ASSAY__INT4:
    case ASSAY__UINT2:
    case ASSAY__INT2: return false;
    default:
        return true; /* unknown types count: the result is NaN when the shape is unknown, too */
    }
}

static void cost_node(const struct assay__cost_call *call, const struct assay__map *constants,
                      struct assay__cost *cost)
{
    const struct assay__cost_row *row = find_row(call->node);
    *cost = (struct assay__cost){NAN, NAN, NAN, NAN, NAN};
    count_bytes(call, row, constants, cost);
    if (!row) return;
    if (row->count) {
        struct assay__cost_work work = {0, 0, 0};
        row->count(call, &work);
        cost->macs = work.multiply_adds + work.bias_adds;
        cost->flops = 2 * work.multiply_adds + work.bias_adds + work.other;
        return;
    }
    const struct assay__shape_entry *subject = row->per == ASSAY__PER_INPUT
                                                   ? assay__cost_in(call, 0)
                                                   : assay__cost_out(call, 0);
    cost->macs = 0;
    bool counts = row->flops > 0 && (!subject || is_float(subject->dtype));
    if (row->per == ASSAY__PER_OUTPUT && row->flops > 0 && !counts) {
        /* A comparison of floats gives booleans: what it works on decides. */
        const struct assay__shape_entry *first = assay__cost_in(call, 0);
        counts = subject->dtype == ASSAY__BOOL && first && is_float(first->dtype);
    }
    cost->flops = counts ? row->flops * assay__cost_elements(subject) : 0;
    if (row->variadic && counts) cost->flops *= (double)call->node->input_count - 1;
}

/* Names that do not change between runs: initializers, and what is made from nothing else (light
 * models and some exporters make weights with ConstantOfShape; engines fold them). Random
 * operators are not constant. */
static int find_constants(const struct assay__graph *graph, const size_t *order,
                          struct assay__map *constants)
{
    int code = 0;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = assay__map_set(constants, graph->initializers[i].name, 1);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[order[i]];
        bool constant = strncmp(node->op, "Random", 6) != 0 && strcmp(node->op, "Bernoulli") != 0 &&
                        strcmp(node->op, "Multinomial") != 0;
        for (size_t k = 0; k < node->input_count; k++)
            if (*node->inputs[k] && assay__map_get(constants, node->inputs[k]) == ASSAY__MAP_NONE)
                constant = false;
        for (size_t k = 0; k < node->attr_count; k++)
            if (node->attrs[k].g || node->attrs[k].graphs) constant = false;
        for (size_t k = 0; k < node->output_count && constant && !code; k++)
            code = assay__map_set(constants, node->outputs[k], 1);
    }
    return code;
}

int assay__cost_graph(const struct assay__model *model, const struct assay__shapes *shapes,
                      struct assay__cost *costs, struct assay_error *error)
{
    const struct assay__graph *graph = &model->graph;
    struct assay__map *constants = assay__map_new();
    struct assay__arena *arena = assay__arena_new();
    size_t *order = arena ? assay__arena_array(arena, graph->node_count, sizeof *order) : NULL;
    int code = ASSAY_ENOMEM;
    if (!constants || !order) {
        assay_error_set(error, code, "out of memory");
        goto out;
    }
    code = assay__graph_order(graph, order, error);
    if (code) goto out;
    code = find_constants(graph, order, constants);
    if (code) assay_error_set(error, code, "out of memory");
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        struct assay__cost_call call = {&graph->nodes[i], shapes};
        cost_node(&call, constants, &costs[i]);
    }
out:
    assay__arena_free(arena);
    assay__map_free(constants);
    return code;
}
