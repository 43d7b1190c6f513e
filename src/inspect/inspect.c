/* inspect.c - see inspect.h: the workload is planned, the model analysed, and everything that the
 * views need is added.
 *
 * A model whose inputs cannot be planned (a sequence, an input of unknown rank) is still inspected,
 * with the shapes of the file. So is one whose external data is missing: no weights are read. */
#include "inspect/inspect.h"

#include "base/metric_value.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "model/onnx/onnx.h"
#include "zoo/model_open.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void count_graph(struct assay__inspect *inspect, const struct assay__graph *graph, int depth)
{
    if (depth > 100) return; /* the reader's limit is lower */
    for (size_t i = 0; i < graph->initializer_count; i++) {
        const struct assay__tensor *t = &graph->initializers[i];
        if (!t->external) continue;
        inspect->external_tensors++;
        inspect->external_bytes += t->length ? (double)t->length
                                             : (double)assay__dtype_bytes(t->dtype, t->elements);
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__graph *body;
        for (size_t k = 0; (body = assay__node_body(&graph->nodes[i], k)); k++) {
            inspect->subgraphs++;
            inspect->inner_nodes += body->node_count;
            count_graph(inspect, body, depth + 1);
        }
    }
}

/* --- layers and metrics ----------------------------------------------------------------------- */

static int fill_layers(struct assay__inspect *inspect)
{
    const struct assay__analysis *a = inspect->analysis;
    const struct assay__graph *graph = &inspect->model->graph;
    inspect->layers = assay__arena_array(inspect->arena, graph->node_count,
                                         sizeof *inspect->layers);
    if (!inspect->layers) return ASSAY_ENOMEM;
    inspect->layer_count = graph->node_count;
    for (size_t i = 0; i < graph->node_count; i++) {
        size_t n = a->order[i];
        struct assay__inspect_layer *layer = &inspect->layers[i];
        layer->node = &graph->nodes[n];
        layer->name = layer->node->name && *layer->node->name ? layer->node->name
                      : layer->node->output_count             ? layer->node->outputs[0]
                                                              : "";
        layer->cost = &a->costs[n];
        layer->bytes = layer->cost->bytes_read + layer->cost->bytes_written;
        layer->intensity = layer->bytes > 0 ? layer->cost->flops / layer->bytes : (double)NAN;
        layer->memory_bytes = a->live.node_bytes ? a->live.node_bytes[n] : (double)NAN;
        layer->live_bytes = a->live.live_bytes ? a->live.live_bytes[i] : (double)NAN;
    }
    return 0;
}

static size_t left_of(const struct assay__unknown_op *u, enum assay__inspect_lack lack)
{
    return lack == ASSAY__LACK_FLOPS   ? u->without_flops
           : lack == ASSAY__LACK_BYTES ? u->without_bytes
                                       : u->count;
}

size_t assay__inspect_left(const struct assay__analysis *a, enum assay__inspect_lack lack)
{
    size_t left = 0;
    for (size_t i = 0; i < a->unknown_count; i++)
        left += left_of(&a->unknown[i], lack);
    return left;
}

void assay__inspect_left_out(struct assay__buf *out, const struct assay__inspect *inspect,
                             enum assay__inspect_lack lack)
{
    const struct assay__analysis *a = inspect->analysis;
    size_t left = assay__inspect_left(a, lack), shown = 0;
    size_t nodes = inspect->layer_count + inspect->inner_nodes;
    size_t flops = a->unknown_flops, bytes = a->unknown_bytes;
    if (!left) return;
    const char *what = lack == ASSAY__LACK_FLOPS || !bytes   ? "FLOPs"
                       : lack == ASSAY__LACK_BYTES || !flops ? "bytes"
                                                             : "cost";
    if (lack == ASSAY__LACK_ANY && flops && bytes && (flops < left || bytes < left))
        assay__buf_printf(out, "%zu of %zu nodes ha%s no known FLOPs and %zu no known bytes", flops,
                          nodes, flops == 1 ? "s" : "ve", bytes);
    else
        assay__buf_printf(out, "%zu of %zu node%s ha%s no known %s", left, nodes,
                          nodes == 1 ? "" : "s", left == 1 ? "s" : "ve", what);
    for (size_t i = 0; i < a->unknown_count; i++) {
        const struct assay__unknown_op *u = &a->unknown[i];
        size_t count = left_of(u, lack);
        if (!count) continue;
        if (shown++ == 3) {
            assay__buf_puts(out, ", …");
            break;
        }
        assay__buf_puts(out, shown > 1 ? ", " : " (");
        assay__inspect_op(out, u->domain, u->op);
        if (count > 1) assay__buf_printf(out, " × %zu", count);
        assay__buf_printf(out, ": %s", u->why ? u->why : "");
    }
    assay__buf_puts(out, ")");
}

static int fill_metrics(struct assay__inspect *inspect)
{
    const struct assay__analysis *a = inspect->analysis;
    struct assay__buf no_flops = {0}, no_bytes = {0}, unsized = {0};
    inspect->metrics = assay_metrics_new();
    if (!inspect->metrics) return ASSAY_ENOMEM;
    assay__inspect_left_out(&no_flops, inspect, ASSAY__LACK_FLOPS);
    assay__inspect_left_out(&no_bytes, inspect, ASSAY__LACK_BYTES);
    if (a->live.unknown_count)
        assay__buf_printf(&unsized, "%zu activation%s ha%s no known size", a->live.unknown_count,
                          a->live.unknown_count == 1 ? "" : "s",
                          a->live.unknown_count == 1 ? "s" : "ve");
    const char *flops = a->unknown_flops ? no_flops.data : NULL;
    const char *bytes = a->unknown_bytes ? no_bytes.data : NULL;
    const char *sizes = a->live.unknown_count ? unsized.data : NULL;
    const struct {
        const char *name;
        double value;
        const char *formula, *reason;
    } rows[] = {
        {"compute.flops", a->flops, "sum over the nodes; a multiply-add is 2", flops},
        {"compute.macs", a->macs, "sum over the nodes; a bias addition counts as one", flops},
        {"compute.intensity",
         a->bytes_read + a->bytes_written > 0 ? a->flops / (a->bytes_read + a->bytes_written)
                                              : (double)NAN,
         "FLOPs / (bytes read + bytes written)", flops ? flops : bytes},
        {"memory.model", a->parameter_bytes < 0 ? (double)NAN : (double)a->parameter_bytes,
         "bytes of initializers and constants as stored", NULL},
        {"memory.read", a->bytes_read, "sum over the nodes, weights included", bytes},
        {"memory.written", a->bytes_written, "sum over the nodes", bytes},
        {"memory.read_weights", a->bytes_weights, "sum over the nodes", bytes},
        {"memory.activation.predicted", a->live.peak_bytes,
         "largest sum of live activations in execution order", sizes},
    };
    bool failed = no_flops.failed || no_bytes.failed || unsized.failed;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !failed; i++)
        assay__metrics_put_known(
            inspect->metrics, rows[i].name, ASSAY_DERIVED,
            rows[i].reason ? (double)NAN : rows[i].value, "graph", rows[i].formula,
            rows[i].reason ? rows[i].reason : "cannot be derived from the graph");
    assay__buf_free(&no_flops);
    assay__buf_free(&no_bytes);
    assay__buf_free(&unsized);
    return failed ? ASSAY_ENOMEM : assay_metrics_failed(inspect->metrics);
}

/* --- the document ----------------------------------------------------------------------------- */

/* Missing weights do not matter here; anything else that the check finds does. */
static int check(struct assay__inspect *inspect, struct assay_error *error)
{
    struct assay_error detail = {0};
    int code = assay__model_check(inspect->model, &detail);
    if (code == ASSAY_ENOTFOUND || (code && inspect->external_tensors && code == ASSAY_EIO)) {
        inspect->missing = assay__arena_strdup(inspect->arena, detail.message);
        return inspect->missing ? 0 : assay__no_memory(error);
    }
    return code ? assay_error_set(error, code, "%s", detail.message) : 0;
}

/* Metadata that contradicts itself is reported; the rest of the document stays valid. */
static int fill_ncp(struct assay__inspect *inspect)
{
    struct assay_error detail = {0};
    int code = assay__ncp_facts(inspect->model, inspect->analysis, inspect->arena,
                                &inspect->has_ncp, &inspect->ncp, &detail);
    if (!code || code == ASSAY_ENOMEM) return code;
    inspect->has_ncp = false;
    inspect->ncp_fault = assay__arena_strdup(inspect->arena, detail.message);
    return inspect->ncp_fault ? 0 : ASSAY_ENOMEM;
}

#define OLDEST_OPSET 7 /* before it operators broadcast by attributes */

/* Versions newer than the tables are still read, with a note. */
static int note_versions(struct assay__inspect *inspect)
{
    const struct assay__model *m = inspect->model;
    struct assay__buf text = {0};
    if (inspect->zoo || !assay__model_is_onnx(inspect->model)) return 0;
    for (size_t i = 0; i < m->opset_count; i++) {
        const struct assay__opset *set = &m->opsets[i];
        if (*set->domain && strcmp(set->domain, "ai.onnx") != 0) continue;
        if (set->version > ASSAY__ONNX_OPSET)
            assay__buf_printf(&text,
                              "operator set %lld is newer than %d, the newest known here: an "
                              "operator that changed since then is treated as before; ",
                              (long long)set->version, ASSAY__ONNX_OPSET);
        if (set->version < OLDEST_OPSET)
            assay__buf_printf(&text,
                              "operator set %lld is older than %d, the oldest known here: "
                              "operators are treated as in that version; ",
                              (long long)set->version, OLDEST_OPSET);
    }
    if (m->ir_version > ASSAY__ONNX_IR)
        assay__buf_printf(
            &text,
            "IR version %lld is newer than %d, the newest known here: what it added is ignored; ",
            (long long)m->ir_version, ASSAY__ONNX_IR);
    if (text.length > 2) {
        inspect->version_note = assay__arena_printf(inspect->arena, "NOTE: %.*s",
                                                    (int)text.length - 2, text.data);
        if (!inspect->version_note) text.failed = true;
    }
    bool failed = text.failed;
    assay__buf_free(&text);
    return failed ? ASSAY_ENOMEM : 0;
}

static int fill(struct assay__inspect *inspect, const struct assay__workload_options *options,
                struct assay_error *error)
{
    const struct assay__graph *graph = &inspect->model->graph;
    inspect->functions = inspect->model->function_count;
    int code = assay__model_intern(inspect->model);
    if (!code) code = assay__model_fingerprint(inspect->model, inspect->fingerprint);
    if (code) return assay_error_set(error, code, "the model's fingerprint cannot be computed");
    count_graph(inspect, graph, 0);
    code = inspect->zoo ? 0 : check(inspect, error); /* what was built here is consistent */
    if (!code)
        code = assay__analysis_plan(inspect->model, options, inspect->arena, &inspect->workload,
                                    &inspect->unplanned, error);
    inspect->planned = !code && !inspect->unplanned;
    if (!code) code = assay__analyse(inspect->model, inspect->workload, &inspect->analysis, error);
    if (code) return code;
    if (inspect->functions) { /* again: inlined bodies count too */
        inspect->subgraphs = inspect->inner_nodes = inspect->external_tensors = 0;
        inspect->external_bytes = 0;
        count_graph(inspect, graph, 0);
    }
    inspect->weights = assay__map_over(graph->names);
    if (!inspect->weights) code = ASSAY_ENOMEM;
    const struct assay__tensor *weight;
    for (size_t i = 0; !code && (weight = assay__graph_tensor(graph, i)); i++)
        code = assay__map_set(inspect->weights, weight->name, i);
    if (!code) code = fill_layers(inspect);
    if (!code) code = fill_metrics(inspect);
    if (!code) code = note_versions(inspect);
    if (!code) code = fill_ncp(inspect);
    return code ? assay_error_set(error, code, "%s", assay_error_text(code)) : 0;
}

int assay__inspect_new(struct assay__model *model, const char *name, bool zoo,
                       const struct assay__workload_options *options, struct assay__inspect **out,
                       struct assay_error *error)
{
    struct assay__inspect *inspect = calloc(1, sizeof *inspect);
    int code = 0;
    *out = NULL;
    if (!inspect) {
        assay__model_free(model);
        return assay__no_memory(error);
    }
    inspect->model = model;
    inspect->zoo = zoo;
    inspect->arena = assay__arena_new();
    if (inspect->arena) inspect->name = assay__arena_strdup(inspect->arena, name);
    inspect->path = zoo || !model->path ? "" : model->path;
    code = inspect->name ? fill(inspect, options, error) : assay__no_memory(error);
    if (code)
        assay__inspect_free(inspect);
    else
        *out = inspect;
    return code;
}

void assay__inspect_free(struct assay__inspect *inspect)
{
    if (!inspect) return;
    assay__shapes_free(inspect->symbolic);
    assay__analysis_free(inspect->analysis);
    if (inspect->planned) assay__workload_free(inspect->workload);
    assay_metrics_free(inspect->metrics);
    assay__map_free(inspect->weights);
    assay__model_free(inspect->model);
    assay__arena_free(inspect->arena);
    free(inspect);
}

/* --- words, unescaped ------------------------------------------------------------------------- */

void assay__inspect_op(struct assay__buf *out, const char *domain, const char *op)
{
    if (domain && *domain && strcmp(domain, "ai.onnx") != 0) {
        assay__buf_puts(out, domain);
        assay__buf_putc(out, '.');
    }
    assay__buf_puts(out, op ? op : "");
}

static void put_dim(struct assay__buf *out, int d, int64_t value, const char *symbol)
{
    if (d) assay__buf_puts(out, "×");
    if (value >= 0)
        assay__buf_printf(out, "%" PRId64, value);
    else if (symbol && strpbrk(symbol, "+-*/ "))
        assay__buf_printf(out, "(%s)", symbol);
    else
        assay__buf_puts(out, symbol && *symbol ? symbol : "?");
}

void assay__inspect_shape(struct assay__buf *out, const struct assay__shapes *shapes,
                          const struct assay__shape_entry *entry)
{
    if (!entry || entry->rank < 0) assay__buf_puts(out, "unknown shape");
    if (entry && entry->rank == 0) assay__buf_puts(out, "scalar");
    for (int d = 0; entry && d < entry->rank; d++)
        put_dim(out, d, entry->dims[d],
                entry->dims[d] < 0 ? assay__shapes_symbol(shapes, entry->dims[d]) : "");
}

void assay__inspect_value_shape(struct assay__buf *out, const struct assay__value *value)
{
    static const char *const kinds[] = {"", "", "sequence", "map", "optional", "unknown type"};
    if (value->kind > ASSAY__KIND_SPARSE) {
        assay__buf_puts(out, kinds[value->kind]);
        return;
    }
    if (value->rank < 0) assay__buf_puts(out, "unknown shape");
    if (value->rank == 0) assay__buf_puts(out, "scalar");
    for (int d = 0; d < value->rank; d++)
        put_dim(out, d, value->dims[d].value, value->dims[d].symbol);
}

void assay__inspect_output_shape(struct assay__buf *out, const struct assay__inspect *inspect,
                                 const struct assay__inspect_layer *layer)
{
    const struct assay__shapes *shapes = inspect->analysis->shapes;
    assay__inspect_shape(
        out, shapes,
        layer->node->output_count ? assay__shapes_get(shapes, layer->node->outputs[0]) : NULL);
}

const struct assay__shapes *assay__inspect_symbolic(const struct assay__inspect *inspect)
{
    struct assay__inspect *own = (struct assay__inspect *)inspect; /* cached for the next request */
    const struct assay__graph *graph = &inspect->model->graph;
    bool symbols = false;
    if (inspect->symbolic_tried) return inspect->symbolic;
    own->symbolic_tried = true;
    for (size_t i = 0; i < graph->input_count; i++)
        for (int d = 0; d < graph->inputs[i].rank; d++)
            symbols = symbols || graph->inputs[i].dims[d].value < 0;
    if (symbols && assay__shapes_infer(inspect->model, NULL, 0, &own->symbolic, NULL))
        own->symbolic = NULL; /* the numbers still exist */
    return inspect->symbolic;
}
bool assay__inspect_is_input(const struct assay__inspect *inspect, const struct assay__value *value)
{
    return assay__map_get(inspect->weights, value->name) == ASSAY__MAP_NONE;
}

/* --- order ------------------------------------------------------------------------------------ */

double assay__inspect_weight(const struct assay__inspect_layer *layer,
                             enum assay__inspect_sort sort)
{
    if (sort == ASSAY__SORT_BYTES) return layer->bytes;
    return sort == ASSAY__SORT_MEMORY ? layer->memory_bytes : layer->cost->flops;
}

struct rank {
    double weight;
    size_t position;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    bool known_a = isfinite(a->weight), known_b = isfinite(b->weight);
    if (known_a != known_b) return known_a ? -1 : 1;
    if (known_a && a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

size_t *assay__inspect_order(const struct assay__inspect *inspect, enum assay__inspect_sort sort,
                             struct assay__arena *arena)
{
    size_t count = inspect->layer_count;
    struct rank *ranks = calloc(count + 1, sizeof *ranks);
    size_t *order = assay__arena_array(arena, count + 1, sizeof *order);
    for (size_t i = 0; ranks && i < count; i++)
        ranks[i] = (struct rank){assay__inspect_weight(&inspect->layers[i], sort), i};
    if (ranks) qsort(ranks, count, sizeof *ranks, compare_ranks);
    for (size_t i = 0; ranks && order && i < count; i++)
        order[i] = ranks[i].position;
    if (!ranks) order = NULL;
    free(ranks);
    return order;
}

/* --- public: struct assay_inspection is struct assay__inspect --------------------------------- */

int assay__inspect_model(const struct assay_workload_options *options, struct assay__inspect **out,
                         struct assay_error *error)
{
    struct assay__workload_options workload = assay__workload_options_of(options);
    struct assay__model *model = NULL;
    bool zoo = false;
    workload.shapes_only = true;
    *out = NULL;
    int code = assay__model_named(options->model, &model, &zoo, error);
    return code ? code : assay__inspect_new(model, options->model, zoo, &workload, out, error);
}

int assay_inspect(const struct assay_inspect_options *given, struct assay_inspection **inspection,
                  struct assay_error *error)
{
    struct assay_inspect_options options;
    if (!inspection) return assay_error_set(error, ASSAY_EINVAL, "nowhere to put the inspection");
    *inspection = NULL;
    int code = assay__options_read(given, &options, sizeof options, "inspect", error);
    return code ? code
                : assay__inspect_model(&options.workload,
                                       (struct assay__inspect **)(void *)inspection, error);
}

void assay_inspection_free(struct assay_inspection *inspection)
{
    assay__inspect_free((struct assay__inspect *)(void *)inspection);
}

const struct assay_metrics *assay_inspection_metrics(const struct assay_inspection *inspection)
{
    return inspection ? ((const struct assay__inspect *)(const void *)inspection)->metrics : NULL;
}

size_t assay_inspection_conflicts(const struct assay_inspection *inspection)
{
    const struct assay__inspect *own = (const struct assay__inspect *)(const void *)inspection;
    return own ? own->analysis->conflict_count : 0;
}
