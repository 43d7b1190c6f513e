/* analysis.c - collects what is known about a model: inlines functions, infers shapes, computes
 * costs and memory, and adds up by operator and by kind of parameter. Everything but the shapes is
 * in one arena. */
#include "cost/analysis.h"

#include "cost/cost_walk.h"

#include "base/checked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 64 /* of bodies whose parameters are counted */

/* --- operators -------------------------------------------------------------------------------- */

struct tally {
    struct assay__analysis *analysis;
    struct assay__map *plain; /* op -> index, of ONNX's own domain: most nodes need no scan */
};

/* Few kinds: a scan. NULL: out of memory. */
static struct assay__unknown_op *unknown_op(struct assay__analysis *all,
                                            const struct assay__node *node, const char *why)
{
    for (size_t i = 0; i < all->unknown_count; i++) {
        struct assay__unknown_op *own = &all->unknown[i];
        if (strcmp(own->op, node->op) == 0 && strcmp(own->domain, node->domain) == 0 &&
            strcmp(own->why, why) == 0)
            return own;
    }
    size_t at = all->unknown_count;
    all->unknown = assay__arena_grow(all->arena, all->unknown, at, sizeof *all->unknown);
    if (!all->unknown) return NULL;
    all->unknown_count++;
    all->unknown[at] = (struct assay__unknown_op){
        .op = node->op, .domain = node->domain, .why = why};
    return &all->unknown[at];
}

static struct assay__op_total *op_total(struct tally *tally, const struct assay__node *node)
{
    struct assay__analysis *all = tally->analysis;
    bool plain = !*node->domain;
    size_t at = plain ? assay__map_get(tally->plain, node->op) : 0;
    while (
        !plain && at < all->op_count &&
        (strcmp(all->ops[at].op, node->op) != 0 || strcmp(all->ops[at].domain, node->domain) != 0))
        at++;
    if (at < all->op_count) return &all->ops[at];
    at = all->op_count;
    all->ops = assay__arena_grow(all->arena, all->ops, at, sizeof *all->ops);
    if (!all->ops || (plain && assay__map_set(tally->plain, node->op, at))) return NULL;
    all->op_count++;
    all->ops[at] = (struct assay__op_total){
        .op = node->op, .domain = node->domain, .flops = NAN, .macs = NAN, .bytes = NAN};
    return &all->ops[at];
}

/* NaN means "none known yet". */
static void add_known(double *sum, double value)
{
    if (!isnan(value)) *sum = isnan(*sum) ? value : *sum + value;
}

/* What costs nothing costs nothing however often it runs. */
static double scaled(double times, double value)
{
    return value == 0 ? 0 : times * value;
}

static int keep_node(struct assay__analysis *all, const struct assay__cost_visited *visited)
{
    all->nodes = assay__arena_grow(all->arena, all->nodes, all->node_count, sizeof *all->nodes);
    if (!all->nodes) return ASSAY_ENOMEM;
    all->nodes[all->node_count++] = *visited;
    return 0;
}

static int note_unknown(struct assay__analysis *analysis, struct assay__op_total *total,
                        const struct assay__cost_visited *visited, bool flops, bool bytes)
{
    const char *why = visited->own.why ? visited->own.why : visited->why;
    struct assay__unknown_op *unknown = unknown_op(analysis, visited->node,
                                                   why ? why : "shape unknown");
    if (!unknown) return ASSAY_ENOMEM;
    total->unknown++;
    total->without_flops += flops;
    total->without_bytes += bytes;
    unknown->count++;
    unknown->without_flops += flops;
    unknown->without_bytes += bytes;
    return 0;
}

static int visit(void *context, const struct assay__cost_visited *visited)
{
    struct tally *tally = context;
    struct assay__analysis *analysis = tally->analysis;
    const struct assay__cost *own = &visited->own;
    double times = visited->times;
    struct assay__op_total *total = op_total(tally, visited->node);
    if (!total) return ASSAY_ENOMEM;
    total->count++;
    total->skipped += times == 0;
    analysis->constant_nodes += own->constant;
    if (times == 0 || own->constant) { /* it does not run: its cost is known to be zero */
        add_known(&total->flops, 0);
        add_known(&total->macs, 0);
        add_known(&total->bytes, 0);
        return 0;
    }
    if (keep_node(analysis, visited)) return ASSAY_ENOMEM;
    double flops = scaled(times, own->flops), macs = scaled(times, own->macs);
    double bytes = scaled(times, own->bytes_read + own->bytes_written);
    add_known(&total->flops, flops);
    add_known(&total->macs, macs);
    add_known(&total->bytes, bytes);
    if (!isnan(flops)) {
        analysis->flops += flops;
        analysis->macs += macs;
    }
    if (!isnan(bytes)) {
        analysis->bytes_read += scaled(times, own->bytes_read);
        analysis->bytes_written += scaled(times, own->bytes_written);
        analysis->bytes_weights += scaled(times, own->bytes_weights);
    }
    analysis->unknown_flops += isnan(flops);
    analysis->unknown_bytes += isnan(bytes);
    if (!isnan(flops + bytes)) return 0;
    return note_unknown(analysis, total, visited, isnan(flops), isnan(bytes));
}

/* An operator is unknown if its known part is zero. */
static void drop_false_zeros(struct assay__op_total *total)
{
    if (total->without_flops && total->flops == 0) total->flops = NAN;
    if (total->without_flops && total->macs == 0) total->macs = NAN;
    if (total->without_bytes && total->bytes == 0) total->bytes = NAN;
}

/* Unknown last. */
static int compare_down(double a, double b)
{
    a = isnan(a) ? -1 : a;
    b = isnan(b) ? -1 : b;
    return a < b ? 1 : a > b ? -1 : 0;
}

static int by_flops(const void *left, const void *right)
{
    const struct assay__op_total *a = left, *b = right;
    int order = compare_down(a->flops, b->flops);
    if (!order) order = compare_down(a->bytes, b->bytes);
    if (!order) order = strcmp(a->op, b->op);
    return order ? order : strcmp(a->domain, b->domain);
}

static int by_count(const void *left, const void *right)
{
    const struct assay__unknown_op *a = left, *b = right;
    if (a->count != b->count) return a->count < b->count ? 1 : -1;
    int order = strcmp(a->op, b->op);
    if (!order) order = strcmp(a->domain, b->domain);
    return order ? order : strcmp(a->why, b->why);
}

static int total_operators(struct assay__analysis *analysis, struct assay_error *error)
{
    struct tally tally = {analysis, assay__map_over(analysis->model->names)};
    int code = tally.plain ? 0 : ASSAY_ENOMEM;
    if (!code)
        code = assay__cost_walk(analysis->model, analysis->shapes, analysis->costs, visit, &tally,
                                error);
    for (size_t i = 0; i < analysis->op_count && !code; i++)
        drop_false_zeros(&analysis->ops[i]);
    if (!code && analysis->op_count)
        qsort(analysis->ops, analysis->op_count, sizeof *analysis->ops, by_flops);
    if (!code && analysis->unknown_count)
        qsort(analysis->unknown, analysis->unknown_count, sizeof *analysis->unknown, by_count);
    assay__map_free(tally.plain);
    return code;
}

/* --- parameters ------------------------------------------------------------------------------- */

struct parameters {
    struct assay__analysis *analysis;
    struct assay__map *rows;    /* operator -> its first row of `unpackers` */
    struct assay__map *storage; /* name -> row of `unpackers` of the node that reads it */
};

enum storage { DENSE, SPARSE, QUANTISED, PALETTISED };

/* Which operators read a stored form of weights, at which inputs (bit mask), and in what form. */
static const struct unpacker {
    const char *op, *domain;
    unsigned inputs;
    enum storage storage;
} unpackers[] = {
    {"DequantizeLinear", "", 1, QUANTISED},
    {"DequantizeLinear", "com.microsoft", 1, QUANTISED},
    {"QLinearConv", "", 1u << 3, QUANTISED},
    {"QLinearMatMul", "", 1u << 3, QUANTISED},
    {"ConvInteger", "", 1u << 1, QUANTISED},
    {"MatMulInteger", "", 1u << 1, QUANTISED},
    {"MatMulIntegerToFloat", "com.microsoft", 1u << 1, QUANTISED},
    {"DynamicQuantizeMatMul", "com.microsoft", 1u << 1, QUANTISED},
    {"DynamicQuantizeLSTM", "com.microsoft", 3u << 1, QUANTISED},
    {"QAttention", "com.microsoft", 1u << 1, QUANTISED},
    {"QGemm", "com.microsoft", 1u << 3, QUANTISED},
    {"MatMulNBits", "com.microsoft", 1u << 1, QUANTISED},
    {"MatMulBnb4", "com.microsoft", 1u << 1, QUANTISED},
    {"GatherBlockQuantized", "com.microsoft", 1, QUANTISED},
    {"QMoE", "com.microsoft", 1u << 2 | 1u << 5 | 1u << 8, QUANTISED},
    {"constexpr_affine_dequantize", "coreml", 1, QUANTISED},
    {"constexpr_blockwise_shift_scale", "coreml", 1, QUANTISED},
    {"constexpr_lut_to_dense", "coreml", 1, PALETTISED},
    {"constexpr_lut_to_sparse", "coreml", 3, PALETTISED},
    {"constexpr_sparse_to_dense", "coreml", 3, SPARSE},
    {"constexpr_sparse_blockwise_shift_scale", "coreml", 3, QUANTISED},
};

enum { UNPACKERS = sizeof unpackers / sizeof unpackers[0] };

static int mark_unpackers(struct parameters *all, const struct assay__graph *graph, int depth)
{
    int code = 0;
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        for (size_t u = assay__map_get(all->rows, node->op); u < UNPACKERS; u++) {
            if (strcmp(node->op, unpackers[u].op) || strcmp(node->domain, unpackers[u].domain))
                continue;
            for (size_t k = 0; k < node->input_count && k < 32 && !code; k++)
                if (unpackers[u].inputs >> k & 1)
                    code = assay__map_set(all->storage, node->inputs[k], u);
        }
        for (size_t k = 0; k < node->attr_count && depth < DEPTH && !code; k++)
            if (node->attrs[k].g) code = mark_unpackers(all, node->attrs[k].g, depth + 1);
    }
    return code;
}

static int add_stored(struct parameters *all, const struct assay__tensor *tensor,
                      const char *storage, size_t size)
{
    struct assay__analysis *analysis = all->analysis;
    struct assay__parameter_total *totals = analysis->parameters_by_type;
    size_t at = 0, count = analysis->parameter_type_count; /* few kinds: a scan */
    while (at < count &&
           (totals[at].dtype != tensor->dtype || strcmp(totals[at].storage, storage) != 0))
        at++;
    if (at == count) {
        totals = assay__arena_grow(analysis->arena, totals, count, sizeof *totals);
        if (!totals) return ASSAY_ENOMEM;
        totals[at] = (struct assay__parameter_total){.dtype = tensor->dtype, .storage = storage};
        analysis->parameters_by_type = totals;
        analysis->parameter_type_count++;
    }
    int64_t bytes, elements;
    if (size > INT64_MAX || assay__add_i64_overflows(totals[at].bytes, (int64_t)size, &bytes) ||
        assay__add_i64_overflows(totals[at].elements, tensor->elements, &elements))
        return ASSAY_ELIMIT;
    totals[at].tensors++;
    totals[at].bytes = bytes;
    totals[at].elements = elements;
    return 0;
}

static int add_parameter(struct parameters *all, const struct assay__tensor *tensor,
                         const char *name)
{
    static const char *const names[][2] = {{"dense", "dense, external"},
                                           {"sparse", "sparse, external"},
                                           {"quantised", "quantised, external"},
                                           {"palettised", "palettised, external"}};
    bool sparse = !isnan(assay__cost_sparse_bytes(tensor));
    size_t row = assay__map_get(all->storage, name);
    enum storage storage = sparse                   ? SPARSE
                           : row != ASSAY__MAP_NONE ? unpackers[row].storage
                                                    : DENSE;
    size_t size = sparse ? (size_t)tensor->sparse_bytes
                         : assay__dtype_bytes(tensor->dtype, tensor->elements);
    return add_stored(all, tensor, names[storage][tensor->external], size);
}

/* Generated by ConstantOfShape: the file contains one number. Absurd shapes are left out; the
 * number of parameters is then unknown. */
static int add_filled(void *context, const struct assay__tensor *tensor)
{
    int code = add_stored(context, tensor, "constant", 0);
    return code == ASSAY_ELIMIT ? 0 : code;
}

static int add_parameters(struct parameters *all, const struct assay__graph *graph, int depth)
{
    int code = 0;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = add_parameter(all, &graph->initializers[i], graph->initializers[i].name);
    for (size_t i = 0; graph->sparse_tensors && i < graph->sparse_count && !code; i++)
        code = add_parameter(all, &graph->sparse_tensors[i], graph->sparse_tensors[i].name);
    for (size_t i = 0; i < graph->node_count && !code; i++) {
        const struct assay__node *node = &graph->nodes[i];
        const struct assay__attr *value = strcmp(node->op, "Constant") == 0 && !*node->domain
                                              ? assay__node_attr(node, "value")
                                              : NULL;
        if (value && value->t)
            code = add_parameter(all, value->t, node->output_count ? node->outputs[0] : "");
        struct assay__tensor list;
        int64_t trained;
        for (size_t k = 0; !code && assay__node_learned(node, k, &list, &trained); k++)
            code = add_stored(all, &list, "attribute",
                              assay__dtype_bytes(list.dtype, list.elements));
        for (size_t k = 0; k < node->attr_count && depth < DEPTH && !code; k++)
            if (node->attrs[k].g) code = add_parameters(all, node->attrs[k].g, depth + 1);
    }
    return code;
}

static int by_bytes(const void *left, const void *right)
{
    const struct assay__parameter_total *a = left, *b = right;
    if (a->bytes != b->bytes) return a->bytes < b->bytes ? 1 : -1;
    if (a->dtype != b->dtype) return a->dtype < b->dtype ? -1 : 1;
    return strcmp(a->storage, b->storage);
}

static int total_parameters(struct assay__analysis *analysis, struct assay_error *error)
{
    struct parameters all = {.analysis = analysis,
                             .rows = assay__map_over(analysis->model->names),
                             .storage = assay__map_over(analysis->model->names)};
    int code = all.rows && all.storage ? 0 : ASSAY_ENOMEM;
    for (size_t i = UNPACKERS; i-- > 0 && !code;)
        code = assay__map_set(all.rows, unpackers[i].op, i);
    if (!code) code = mark_unpackers(&all, &analysis->model->graph, 0);
    if (!code) code = add_parameters(&all, &analysis->model->graph, 0);
    if (!code) code = assay__model_filled(analysis->model, add_filled, &all);
    if (code == ASSAY_ELIMIT)
        assay_error_set(error, code, "the sizes of the initializers overflow when added up");
    if (!code && analysis->parameter_type_count)
        qsort(analysis->parameters_by_type, analysis->parameter_type_count,
              sizeof *analysis->parameters_by_type, by_bytes);
    if (!assay__model_parameters(analysis->model, &analysis->parameters,
                                 &analysis->parameter_bytes))
        analysis->parameters = analysis->parameter_bytes = -1;
    assay__map_free(all.rows);
    assay__map_free(all.storage);
    return code;
}

int assay__analysis_plan(const struct assay__model *model,
                         const struct assay__workload_options *options, struct assay__arena *arena,
                         struct assay__workload **workload, const char **unplanned,
                         struct assay_error *error)
{
    const struct assay__workload_options *o = options;
    bool chosen = o->batch || o->sequence || o->dim_count || o->shape_count || o->file_count;
    struct assay_error detail = {0};
    int code = assay__workload_plan(model, options, workload, &detail);
    *unplanned = NULL;
    if (!code) return 0;
    if (code == ASSAY_ENOMEM || chosen) {
        if (error) *error = detail;
        return code;
    }
    *workload = assay__arena_alloc(arena, sizeof **workload);
    *unplanned = assay__arena_strdup(arena, detail.message);
    if (!*workload || !*unplanned) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    (*workload)->arena = arena;
    (*workload)->batch = (*workload)->sequence = -1;
    return 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int fill(struct assay__analysis *analysis, struct assay_error *error)
{
    const struct assay__workload *workload = analysis->workload;
    size_t count = workload ? workload->input_count : 0;
    struct assay__value *fixed = NULL;
    analysis->costs = assay__arena_array(analysis->arena, analysis->model->graph.node_count,
                                         sizeof *analysis->costs);
    if (!analysis->costs ||
        assay__workload_values(workload ? workload->inputs : NULL, count, analysis->arena, &fixed))
        return ASSAY_ENOMEM;
    int code = assay__shapes_infer(analysis->model, fixed, count, &analysis->shapes, error);
    if (!code) analysis->order = assay__shapes_order(analysis->shapes);
    if (!code) code = total_operators(analysis, error);
    if (!code)
        code = assay__liveness(analysis->model, analysis->shapes, analysis->order, analysis->arena,
                               &analysis->live, error);
    if (!code) code = total_parameters(analysis, error);
    if (!code)
        analysis->conflict_count = assay__shapes_conflicts(analysis->shapes, &analysis->conflicts);
    return code;
}

int assay__analyse(struct assay__model *model, const struct assay__workload *workload,
                   struct assay__analysis **out, struct assay_error *error)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__analysis *analysis = arena ? assay__arena_alloc(arena, sizeof *analysis) : NULL;
    *out = NULL;
    if (!analysis) {
        assay__arena_free(arena);
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    }
    *analysis = (struct assay__analysis){.arena = arena, .model = model, .workload = workload};
    int code = assay__model_inline(model, error);
    if (!code) code = fill(analysis, error);
    if (code == ASSAY_ENOMEM) assay_error_set(error, code, "out of memory");
    if (code)
        assay__analysis_free(analysis);
    else
        *out = analysis;
    return code;
}

void assay__analysis_free(struct assay__analysis *analysis)
{
    if (!analysis) return;
    assay__shapes_free(analysis->shapes);
    assay__arena_free(analysis->arena);
}
