/* inspect_text.c - inspect for people: a page of 40 columns or more. From top to bottom: shape
 * conflicts, what the file is, inputs and outputs, the one sentence, the totals, operators,
 * parameters, memory over time, the largest layers, the wiring of a Neural Circuit Policy, and
 * what is not known and why. Marks as in the report of a run: "=" derived, "—" unavailable. */
#include "base/text.h"
#include "report/inspect.h"

#include <assay/profile.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define VALUES_SHOWN 8
#define CONFLICTS_SHOWN 10

struct assay__page assay__inspect_page(const struct assay__inspect_view *view, const char *title,
                                       struct assay__buf *out)
{
    bool narrow = view->columns < ASSAY__PAGE_MIN_COLUMNS;
    struct assay__page page = {.out = out,
                               .columns = narrow ? ASSAY__PAGE_MIN_COLUMNS : view->columns,
                               .color = view->color,
                               .ascii = view->ascii,
                               .top = view->top};
    struct assay__buf right = {0};
    assay__buf_printf(&right, "assay %s", assay_version());
    assay__page_title(&page, title, right.data ? right.data : "");
    if (right.failed) out->failed = true;
    assay__buf_free(&right);
    return page;
}

/* --- conflicts -------------------------------------------------------------------------------- */

/* The message names both operators; the remark says where else the fault may lie. */
static void put_conflicts(struct assay__page *page, const struct assay__inspect *doc)
{
    const struct assay__analysis *a = doc->analysis;
    for (size_t i = 0; i < a->conflict_count && i < CONFLICTS_SHOWN; i++) {
        const struct assay__shape_conflict *c = &a->conflicts[i];
        struct assay__buf text = {0};
        assay__buf_printf(&text, "SHAPE CONFLICT: '%s' (%s) and %s: %s", c->node, c->op, c->other,
                          c->message);
        assay__page_wrap(page, ASSAY__STYLE_FAULT, "", text.data ? text.data : "");
        assay__buf_free(&text);
    }
    if (a->conflict_count > CONFLICTS_SHOWN) {
        char more[64];
        snprintf(more, sizeof more, "and %zu more conflicts", a->conflict_count - CONFLICTS_SHOWN);
        assay__page_wrap(page, ASSAY__STYLE_FAULT, "", more);
    }
}

/* --- what it is ------------------------------------------------------------------------------- */

static void put_model(struct assay__page *page, const struct assay__inspect *doc)
{
    const struct assay__model *m = doc->model;
    struct assay__buf items = {0};
    char scaled[64];
    if (*doc->path && strcmp(doc->path, doc->name) != 0) assay__page_item(&items, "%s", doc->path);
    assay__page_item(&items, "%s", m->format && *m->format ? m->format : "ONNX");
    if (doc->zoo) assay__page_item(&items, "built in memory");
    for (size_t i = 0; assay__model_is_onnx(doc->model) && i < m->opset_count && i < 6; i++)
        assay__page_item(&items, "opset %s%s%" PRId64, m->opsets[i].domain,
                         *m->opsets[i].domain ? " " : "", m->opsets[i].version);
    if (assay__model_is_onnx(doc->model) && m->ir_version > 0)
        assay__page_item(&items, "IR %" PRId64, m->ir_version);
    if (m->producer && *m->producer)
        assay__page_item(&items, "by %s%s%s", m->producer,
                         m->producer_version && *m->producer_version ? " " : "",
                         m->producer_version ? m->producer_version : "");
    if (doc->functions)
        assay__page_item(&items, "%zu function%s inlined", doc->functions,
                         doc->functions == 1 ? "" : "s");
    if (doc->subgraphs)
        assay__page_item(&items, "%zu subgraph%s with %zu node%s", doc->subgraphs,
                         doc->subgraphs == 1 ? "" : "s", doc->inner_nodes,
                         doc->inner_nodes == 1 ? "" : "s");
    if (doc->external_tensors) {
        assay__text_scaled(scaled, sizeof scaled, doc->external_bytes, "B");
        assay__page_item(&items, "%zu tensor%s in external data, %s", doc->external_tensors,
                         doc->external_tensors == 1 ? "" : "s", scaled);
    }
    assay__page_item(&items, "fingerprint %s", doc->fingerprint);
    assay__page_row(page, "model", items.data ? items.data : "—");
    assay__buf_free(&items);
}

#define SOURCE_KINDS 64

struct source_ops {
    const char *names[SOURCE_KINDS];
    size_t counts[SOURCE_KINDS], kinds, beyond;
};

/* Of a graph and its bodies. */
static void count_source_ops(struct source_ops *ops, const struct assay__graph *graph, int depth)
{
    for (size_t i = 0; depth < 100 && i < graph->node_count; i++) {
        const struct assay__node *node = &graph->nodes[i];
        for (size_t a = 0; a < node->attr_count; a++) {
            const struct assay__attr *attr = &node->attrs[a];
            if (attr->g) count_source_ops(ops, attr->g, depth + 1);
            for (size_t n = 0; attr->graphs && n < attr->count; n++)
                if (attr->graphs[n]) count_source_ops(ops, attr->graphs[n], depth + 1);
        }
        size_t k = 0;
        if (!node->source_op || !*node->source_op) continue;
        while (k < ops->kinds && strcmp(ops->names[k], node->source_op) != 0)
            k++;
        if (k == SOURCE_KINDS) {
            ops->beyond++;
            continue;
        }
        if (k == ops->kinds) ops->names[ops->kinds++] = node->source_op;
        ops->counts[k]++;
    }
}

/* What the nodes are called in a file of another format, where the tables below use ONNX' names. */
static void put_source_ops(struct assay__page *page, const struct assay__inspect *doc)
{
    struct source_ops ops = {.kinds = 0};
    struct assay__buf items = {0};
    count_source_ops(&ops, &doc->model->graph, 0);
    for (size_t k = 0; k < ops.kinds; k++) {
        if (ops.counts[k] > 1)
            assay__page_item(&items, "%s × %zu", ops.names[k], ops.counts[k]);
        else
            assay__page_item(&items, "%s", ops.names[k]);
    }
    if (ops.beyond) assay__page_item(&items, "and %zu nodes of other kinds", ops.beyond);
    if (ops.kinds) assay__page_row(page, "made of", items.data ? items.data : "");
    assay__buf_free(&items);
}

static int64_t fixed_to(const struct assay__inspect *doc, const char *symbol)
{
    for (size_t i = 0; i < doc->workload->dim_count; i++)
        if (strcmp(doc->workload->dims[i].symbol, symbol) == 0) return doc->workload->dims[i].value;
    return -1;
}

/* Symbols that were explained already are not explained again. */
struct said {
    const char *symbols[32];
    size_t count;
};

static bool say_once(struct said *said, const char *symbol)
{
    for (size_t i = 0; i < said->count; i++)
        if (strcmp(said->symbols[i], symbol) == 0) return false;
    if (said->count < sizeof said->symbols / sizeof said->symbols[0])
        said->symbols[said->count++] = symbol;
    return true;
}

/* "batch×3×224×224, batch = 1"; unnamed dimensions by the numbers they became. */
static void put_fixed(struct assay__buf *text, const struct assay__inspect *doc,
                      const struct assay__value *value, struct said *said)
{
    bool unnamed = false;
    for (int d = 0; d < value->rank; d++) {
        const char *symbol = value->dims[d].value < 0 ? value->dims[d].symbol : NULL;
        if (symbol && !*symbol) unnamed = true;
        int64_t number = symbol && *symbol ? fixed_to(doc, symbol) : -1;
        if (number >= 0 && say_once(said, symbol))
            assay__buf_printf(text, ", %s" ASSAY__PAGE_NBSP "=" ASSAY__PAGE_NBSP "%" PRId64, symbol,
                              number);
    }
    const struct assay__shape_entry *entry = assay__shapes_get(doc->analysis->shapes, value->name);
    bool known = entry && entry->rank >= 0;
    for (int d = 0; known && d < entry->rank; d++)
        known = entry->dims[d] >= 0;
    if (known && (unnamed || value->rank < 0) && value->kind == ASSAY__KIND_TENSOR) {
        assay__buf_puts(text, ", here ");
        assay__inspect_shape(text, doc->analysis->shapes, entry);
    }
}

static void put_values(struct assay__page *page, const struct assay__inspect *doc,
                       const char *label, const struct assay__value *values, size_t count,
                       struct said *said)
{
    bool inputs = values == doc->model->graph.inputs;
    size_t shown = 0, wanted = 0;
    for (size_t i = 0; i < count; i++)
        wanted += !inputs || assay__inspect_is_input(doc, &values[i]);
    for (size_t i = 0; i < count && shown < VALUES_SHOWN; i++) {
        struct assay__buf text = {0};
        if (inputs && !assay__inspect_is_input(doc, &values[i])) continue;
        assay__buf_printf(&text, "%s ", values[i].name);
        if (values[i].kind == ASSAY__KIND_TENSOR)
            assay__buf_printf(&text, "%s ", assay__dtype_name(values[i].dtype));
        assay__inspect_value_shape(&text, &values[i]);
        put_fixed(&text, doc, &values[i], said);
        assay__page_row(page, shown++ ? "" : label, text.data ? text.data : "");
        assay__buf_free(&text);
    }
    if (wanted > shown) {
        char more[48];
        snprintf(more, sizeof more, "and %zu more", wanted - shown);
        assay__page_row(page, "", more);
    }
    if (!wanted) assay__page_row(page, label, "none");
}

/* --- totals ----------------------------------------------------------------------------------- */

static void put_metric(struct assay__buf *items, const struct assay__inspect *doc,
                       const char *label, const char *name, double known_part)
{
    struct assay__buf value = {0};
    const struct assay_metric *metric = assay_metrics_get(doc->metrics, name);
    assay__render_metric(&value, metric);
    if (metric && metric->state == ASSAY_UNAVAILABLE && known_part > 0) {
        char scaled[64];
        assay__text_scaled(scaled, sizeof scaled, known_part, metric->unit);
        assay__buf_clear(&value);
        assay__buf_printf(&value, "— (at least %s)", scaled);
    }
    assay__page_item(items, "%s%s%s", label, *label ? " " : "", value.data ? value.data : "—");
    assay__buf_free(&value);
}

static void put_totals(struct assay__page *page, const struct assay__inspect *doc)
{
    const struct assay__analysis *a = doc->analysis;
    struct assay__buf items = {0};
    assay__page_heading(page, "Totals", "of one inference, from the graph and its shapes");
    put_metric(&items, doc, "", "compute.flops", a->flops);
    put_metric(&items, doc, "", "compute.macs", a->macs);
    put_metric(&items, doc, "intensity", "compute.intensity", NAN);
    assay__page_row(page, "compute", items.data ? items.data : "—");
    assay__buf_clear(&items);
    put_metric(&items, doc, "read", "memory.read", a->bytes_read);
    put_metric(&items, doc, "of that weights", "memory.read_weights", a->bytes_weights);
    put_metric(&items, doc, "written", "memory.written", a->bytes_written);
    assay__page_row(page, "traffic", items.data ? items.data : "—");
    assay__buf_clear(&items);
    put_metric(&items, doc, "weights", "memory.model", NAN);
    put_metric(&items, doc, "activations at the peak", "memory.activation.predicted", NAN);
    assay__page_row(page, "memory", items.data ? items.data : "—");
    assay__buf_free(&items);
}

/* --- what is not known ------------------------------------------------------------------------ */

static void put_unknown(struct assay__page *page, const struct assay__inspect *doc)
{
    const struct assay__analysis *a = doc->analysis;
    if (!a->unknown_count) return;
    char remark[96];
    size_t left = assay__inspect_left(a, ASSAY__LACK_ANY);
    snprintf(remark, sizeof remark, "the totals leave out %zu node%s", left, left == 1 ? "" : "s");
    assay__page_heading(page, "Not known", remark);
    for (size_t i = 0; i < a->unknown_count && i < 20; i++) {
        const struct assay__unknown_op *u = &a->unknown[i];
        struct assay__buf text = {0};
        assay__inspect_op(&text, u->domain, u->op);
        assay__buf_printf(&text, " × %zu: %s", u->count, u->why ? u->why : "");
        if (!u->without_flops) assay__buf_puts(&text, " (bytes; FLOPs are known)");
        if (!u->without_bytes) assay__buf_puts(&text, " (FLOPs; bytes are known)");
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text.data ? text.data : "");
        assay__buf_free(&text);
    }
    if (a->unknown_count > 20) {
        snprintf(remark, sizeof remark, "and %zu more kinds (--json has them all)",
                 a->unknown_count - 20);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", remark);
    }
}

static void put_notes(struct assay__page *page, const struct assay__inspect *doc)
{
    if (doc->version_note) assay__page_wrap(page, ASSAY__STYLE_WARN, "", doc->version_note);
    if (doc->missing) {
        struct assay__buf text = {0};
        assay__buf_printf(&text, "MISSING: %s; nothing here needs it, running does", doc->missing);
        assay__page_wrap(page, ASSAY__STYLE_WARN, "", text.data ? text.data : "");
        assay__buf_free(&text);
    }
    if (doc->unplanned) {
        struct assay__buf text = {0};
        assay__buf_printf(&text, "inputs are left as the file has them: %s", doc->unplanned);
        assay__page_wrap(page, ASSAY__STYLE_WARN, "", text.data ? text.data : "");
        assay__buf_free(&text);
    }
    if (doc->ncp_fault) {
        struct assay__buf text = {0};
        assay__buf_printf(&text, "the wiring in the metadata is not used: %s", doc->ncp_fault);
        assay__page_wrap(page, ASSAY__STYLE_WARN, "", text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

void assay__inspect_text(const struct assay__inspect *doc, const struct assay__inspect_view *view,
                         struct assay__buf *out)
{
    const struct assay__graph *graph = &doc->model->graph;
    struct assay__buf answer = {0};
    struct said said = {0};
    size_t start = out->length;
    struct assay__page page = assay__inspect_page(view, doc->name, out);
    put_conflicts(&page, doc);
    put_notes(&page, doc);
    put_model(&page, doc);
    put_source_ops(&page, doc);
    put_values(&page, doc, "inputs", graph->inputs, graph->input_count, &said);
    put_values(&page, doc, "outputs", graph->outputs, graph->output_count, &said);
    for (size_t i = 0; i < doc->workload->note_count; i++)
        assay__page_row(&page, i ? "" : "assumed", doc->workload->notes[i]);
    assay__buf_putc(out, '\n');
    assay__inspect_answer(&answer, doc);
    assay__page_wrap(&page, ASSAY__STYLE_BOLD, "", answer.data ? answer.data : "");
    if (answer.failed) out->failed = true;
    assay__buf_free(&answer);
    put_totals(&page, doc);
    assay__inspect_page_operators(&page, doc);
    assay__inspect_page_parameters(&page, doc);
    assay__inspect_page_stored(&page, doc);
    assay__inspect_page_memory(&page, doc);
    assay__inspect_page_layers(&page, doc, view->sort);
    assay__inspect_page_ncp(&page, doc);
    put_unknown(&page, doc);
    if (view->ascii) assay__page_to_ascii(out, start);
}
