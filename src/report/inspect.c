/* inspect.c - makes the document of inspect.h: the workload is planned, the model analysed, and
 * what the formats share (layers in execution order, metrics with their state, counts of
 * functions, bodies and external tensors) is put beside.
 *
 * A model whose inputs cannot be planned (a sequence, an input of unknown rank) is still
 * inspected, with the shapes as the file has them. So is one whose external data is missing: no
 * weight is read here. */
#include "report/inspect.h"

#include "base/text.h"
#include "model/onnx/onnx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct assay_error *error)
{
    return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
}

/* --- counts ----------------------------------------------------------------------------------- */

static void count_graph(struct assay__inspect *doc, const struct assay__graph *graph, int depth);

static void count_body(struct assay__inspect *doc, const struct assay__graph *body, int depth)
{
    doc->subgraphs++;
    doc->inner_nodes += body->node_count;
    count_graph(doc, body, depth + 1);
}

static void count_graph(struct assay__inspect *doc, const struct assay__graph *graph, int depth)
{
    if (depth > 100) return; /* the reader's limit is lower */
    for (size_t i = 0; i < graph->initializer_count; i++) {
        const struct assay__tensor *t = &graph->initializers[i];
        if (!t->external) continue;
        doc->external_tensors++;
        doc->external_bytes += t->length ? (double)t->length
                                         : (double)assay__dtype_bytes(t->dtype, t->elements);
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->attr_count; k++) {
            const struct assay__attr *attr = &node->attrs[k];
            if (attr->g) count_body(doc, attr->g, depth);
            for (size_t n = 0; attr->graphs && n < attr->count; n++)
                if (attr->graphs[n]) count_body(doc, attr->graphs[n], depth);
        }
    }
}

static bool has_symbols(const struct assay__graph *graph)
{
    for (size_t i = 0; i < graph->input_count; i++)
        for (int d = 0; d < graph->inputs[i].rank; d++)
            if (graph->inputs[i].dims[d].value < 0) return true;
    return false;
}

/* --- layers and metrics ----------------------------------------------------------------------- */

static int fill_layers(struct assay__inspect *doc)
{
    const struct assay__analysis *a = doc->analysis;
    const struct assay__graph *graph = &doc->model->graph;
    doc->layers = assay__arena_array(doc->arena, graph->node_count, sizeof *doc->layers);
    if (!doc->layers) return ASSAY_ENOMEM;
    doc->layer_count = graph->node_count;
    for (size_t i = 0; i < graph->node_count; i++) {
        size_t n = a->order[i];
        struct assay__inspect_layer *layer = &doc->layers[i];
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

/* Where some nodes lack only one of the two: "1 of 4 nodes has no known FLOPs and 3 no known
 * bytes". */
static void put_lack(struct assay__buf *out, const struct assay__analysis *a,
                     enum assay__inspect_lack lack, size_t left, size_t nodes)
{
    size_t flops = a->unknown_flops, bytes = a->unknown_bytes;
    if (lack == ASSAY__LACK_ANY && flops && bytes && (flops < left || bytes < left)) {
        assay__buf_printf(out, "%zu of %zu nodes ha%s no known FLOPs and %zu no known bytes", flops,
                          nodes, flops == 1 ? "s" : "ve", bytes);
        return;
    }
    const char *what = lack == ASSAY__LACK_FLOPS || !bytes   ? "FLOPs"
                       : lack == ASSAY__LACK_BYTES || !flops ? "bytes"
                                                             : "cost";
    assay__buf_printf(out, "%zu of %zu node%s ha%s no known %s", left, nodes, nodes == 1 ? "" : "s",
                      left == 1 ? "s" : "ve", what);
}

void assay__inspect_left_out(struct assay__buf *out, const struct assay__inspect *doc,
                             enum assay__inspect_lack lack)
{
    const struct assay__analysis *a = doc->analysis;
    size_t left = assay__inspect_left(a, lack), shown = 0;
    if (!left) return;
    put_lack(out, a, lack, left, doc->layer_count + doc->inner_nodes);
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

static int put(struct assay_metrics *set, const char *name, double value, const char *formula,
               const char *reason)
{
    if (reason || !isfinite(value))
        return assay_metrics_unavailable(set, name,
                                         reason && *reason ? reason : "not known from the graph");
    return assay_metrics_derived(set, name, value, "graph", formula);
}

static int fill_metrics(struct assay__inspect *doc)
{
    const struct assay__analysis *a = doc->analysis;
    struct assay__buf no_flops = {0}, no_bytes = {0}, unsized = {0};
    doc->metrics = assay_metrics_new();
    if (!doc->metrics) return ASSAY_ENOMEM;
    assay__inspect_left_out(&no_flops, doc, ASSAY__LACK_FLOPS);
    assay__inspect_left_out(&no_bytes, doc, ASSAY__LACK_BYTES);
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
    int code = no_flops.failed || no_bytes.failed || unsized.failed ? ASSAY_ENOMEM : 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && !code; i++)
        code = put(doc->metrics, rows[i].name, rows[i].value, rows[i].formula, rows[i].reason);
    assay__buf_free(&no_flops);
    assay__buf_free(&no_bytes);
    assay__buf_free(&unsized);
    return code;
}

/* --- the document ----------------------------------------------------------------------------- */

static bool chosen(const struct assay__workload_options *o)
{
    return o->batch || o->sequence || o->dim_count || o->shape_count || o->file_count;
}

static int plan(struct assay__inspect *doc, const struct assay__workload_options *options,
                struct assay_error *error)
{
    struct assay_error detail = {0};
    int code = assay__workload_plan(doc->model, options, &doc->workload, &detail);
    doc->planned = code == 0;
    if (!code) return 0;
    if (code == ASSAY_ENOMEM || chosen(options))
        return assay_error_set(error, code, "%s", detail.message);
    doc->workload = assay__arena_alloc(doc->arena, sizeof *doc->workload);
    doc->unplanned = assay__arena_strdup(doc->arena, detail.message);
    if (!doc->workload || !doc->unplanned) return no_memory(error);
    doc->workload->arena = doc->arena;
    doc->workload->batch = doc->workload->sequence = -1;
    return 0;
}

/* Missing weights do not matter here; anything else that the check finds does. */
static int check(struct assay__inspect *doc, struct assay_error *error)
{
    struct assay_error detail = {0};
    int code = assay__model_check(doc->model, &detail);
    if (code == ASSAY_ENOTFOUND || (code && doc->external_tensors && code == ASSAY_EIO)) {
        doc->missing = assay__arena_strdup(doc->arena, detail.message);
        return doc->missing ? 0 : no_memory(error);
    }
    return code ? assay_error_set(error, code, "%s", detail.message) : 0;
}

/* Metadata that contradicts itself is said, not obeyed: the rest of the document stands. */
static int fill_ncp(struct assay__inspect *doc)
{
    struct assay_error detail = {0};
    int code = assay__ncp_facts(doc->model, doc->analysis, doc->arena, &doc->has_ncp, &doc->ncp,
                                &detail);
    if (!code || code == ASSAY_ENOMEM) return code;
    doc->has_ncp = false;
    doc->ncp_fault = assay__arena_strdup(doc->arena, detail.message);
    return doc->ncp_fault ? 0 : ASSAY_ENOMEM;
}

#define OLDEST_OPSET 7 /* before it operators broadcast by attributes */

/* Versions beyond what the tables were written for are read all the same, and that is said. */
static int note_versions(struct assay__inspect *doc)
{
    const struct assay__model *m = doc->model;
    struct assay__buf text = {0};
    if (doc->zoo || !assay__model_is_onnx(doc->model)) return 0;
    for (size_t i = 0; i < m->opset_count; i++) {
        const struct assay__opset *set = &m->opsets[i];
        if (*set->domain && strcmp(set->domain, "ai.onnx") != 0) continue;
        if (set->version > ASSAY__ONNX_OPSET)
            assay__buf_printf(&text,
                              "operator set %lld is newer than %d, the newest known here: an "
                              "operator that changed since is taken as it was; ",
                              (long long)set->version, ASSAY__ONNX_OPSET);
        if (set->version < OLDEST_OPSET)
            assay__buf_printf(&text,
                              "operator set %lld is older than %d, the oldest known here: "
                              "operators are taken as they are from there on; ",
                              (long long)set->version, OLDEST_OPSET);
    }
    if (m->ir_version > ASSAY__ONNX_IR)
        assay__buf_printf(&text,
                          "IR version %lld is newer than %d, the newest known here: what it added "
                          "is not seen; ",
                          (long long)m->ir_version, ASSAY__ONNX_IR);
    if (text.length > 2) {
        doc->version_note = assay__arena_printf(doc->arena, "NOTE: %.*s", (int)text.length - 2,
                                                text.data);
        if (!doc->version_note) text.failed = true;
    }
    bool failed = text.failed;
    assay__buf_free(&text);
    return failed ? ASSAY_ENOMEM : 0;
}

static int index_weights(struct assay__inspect *doc)
{
    const struct assay__graph *graph = &doc->model->graph;
    doc->weights = assay__map_over(graph->names);
    int code = doc->weights ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < graph->initializer_count && !code; i++)
        code = assay__map_set(doc->weights, graph->initializers[i].name, i);
    for (size_t i = 0; graph->sparse_tensors && i < graph->sparse_count && !code; i++)
        code = assay__map_set(doc->weights, graph->sparse_tensors[i].name, i);
    return code;
}

static int fill(struct assay__inspect *doc, const struct assay__workload_options *options,
                struct assay_error *error)
{
    doc->functions = doc->model->function_count;
    int code = assay__model_intern(doc->model);
    if (!code) code = assay__model_fingerprint(doc->model, doc->fingerprint);
    if (code) return assay_error_set(error, code, "the model's fingerprint cannot be made");
    count_graph(doc, &doc->model->graph, 0);
    code = doc->zoo ? 0 : check(doc, error); /* what was built here holds together */
    if (!code) code = plan(doc, options, error);
    if (!code) code = assay__analyse(doc->model, doc->workload, &doc->analysis, error);
    if (code) return code;
    doc->subgraphs = doc->inner_nodes = doc->external_tensors = 0;
    doc->external_bytes = 0;
    count_graph(doc, &doc->model->graph, 0); /* again: inlined bodies count too */
    if (has_symbols(&doc->model->graph) &&
        assay__shapes_infer(doc->model, NULL, 0, &doc->symbolic, NULL))
        doc->symbolic = NULL; /* the numbers are there all the same */
    code = fill_layers(doc);
    if (!code) code = fill_metrics(doc);
    if (!code) code = index_weights(doc);
    if (!code) code = note_versions(doc);
    if (!code) code = fill_ncp(doc);
    return code ? assay_error_set(error, code, "%s", assay_error_text(code)) : 0;
}

int assay__inspect_new(struct assay__model *model, const char *name, bool zoo,
                       const struct assay__workload_options *options, struct assay__inspect **out,
                       struct assay_error *error)
{
    struct assay__inspect *doc = calloc(1, sizeof *doc);
    int code = 0;
    *out = NULL;
    if (!doc) {
        assay__model_free(model);
        return no_memory(error);
    }
    doc->model = model;
    doc->zoo = zoo;
    doc->arena = assay__arena_new();
    if (doc->arena) doc->name = assay__arena_strdup(doc->arena, name);
    doc->path = zoo || !model->path ? "" : model->path;
    code = doc->name ? fill(doc, options, error) : no_memory(error);
    if (code)
        assay__inspect_free(doc);
    else
        *out = doc;
    return code;
}

void assay__inspect_free(struct assay__inspect *doc)
{
    if (!doc) return;
    assay__shapes_free(doc->symbolic);
    assay__analysis_free(doc->analysis);
    if (doc->planned) assay__workload_free(doc->workload);
    assay_metrics_free(doc->metrics);
    assay__map_free(doc->weights);
    assay__model_free(doc->model);
    assay__arena_free(doc->arena);
    free(doc);
}

int assay__inspect_render(const struct assay__inspect *doc, const struct assay__inspect_view *view,
                          struct assay__buf *out, struct assay_error *error)
{
    const char *format = view->format ? view->format : "text";
    if (strcmp(format, "json") == 0)
        assay__inspect_json(doc, out);
    else if (strcmp(format, "dot") == 0)
        assay__inspect_dot(doc, out);
    else if (strcmp(format, "csv") == 0)
        assay__inspect_csv(doc, view, out);
    else if (strcmp(format, "markdown") == 0)
        assay__inspect_markdown(doc, view, out);
    else
        assay__inspect_text(doc, view, out);
    return out->failed ? no_memory(error) : 0;
}
