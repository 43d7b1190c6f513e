/* inspect_document.c - the contents of a model, as a document: shape conflicts, the one sentence,
 * what the file is, its inputs and outputs, the totals, operators, parameters, memory in order of
 * execution, the largest layers, the wiring of a Neural Circuit Policy, and what is not known and
 * why. */
#include "report/subject/inspect_document.h"

#include "base/text.h"
#include "report/report_model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *assay__doc_op(struct assay__doc *doc, const char *domain, const char *op)
{
    struct assay__buf text = {0};
    assay__inspect_op(&text, domain, op);
    return assay__doc_take(doc, &text);
}

/* --- what comes first ------------------------------------------------------------------------- */

static void add_alerts(struct assay__doc *doc, const struct assay__inspect *inspect)
{
    enum { CONFLICTS_SHOWN = 10 };
    const struct assay__analysis *a = inspect->analysis;
    const char *how = doc->hint ? doc->hint("assumed") : NULL;
    for (size_t i = 0; i < a->conflict_count && i < CONFLICTS_SHOWN; i++) {
        const struct assay__shape_conflict *c = &a->conflicts[i];
        assay__doc_alert(doc, "SHAPE CONFLICT: '%s' (%s) and %s: %s", c->node, c->op, c->other,
                         c->message);
    }
    if (a->conflict_count > CONFLICTS_SHOWN)
        assay__doc_alert(doc, "and %zu more conflicts", a->conflict_count - CONFLICTS_SHOWN);
    if (inspect->workload->conflicts)
        assay__doc_warn(
            doc,
            "The layers do not fit the assumed sizes: specify those that the model was made for.");
    assay__doc_say(doc, ASSAY__TONE_WARN, inspect->version_note);
    if (inspect->missing)
        assay__doc_warn(doc, "MISSING: %s; not needed here, but needed to run the model",
                        inspect->missing);
    if (inspect->unplanned)
        assay__doc_warn(doc, "The inputs keep the shapes in the file: %s%s%s%s", inspect->unplanned,
                        how ? " (" : "", how ? how : "", how ? ")" : "");
    if (inspect->ncp_fault)
        assay__doc_warn(doc, "The wiring in the metadata is ignored: %s", inspect->ncp_fault);
}

/* "25.6 M parameters, 8.22 GFLOP per inference, 99.5 % of them in 53 Conv nodes." and what is left
 * out.
 */
static void add_answer(struct assay__doc *doc, const struct assay__inspect *inspect)
{
    const struct assay__analysis *a = inspect->analysis;
    struct assay__buf text = {0}, left = {0};
    if (a->parameters >= 0) {
        assay__print_short_count(&text, a->parameters);
        assay__buf_printf(&text, " parameter%s, ", assay__plural(a->parameters));
    }
    if (a->flops > 0 || !a->unknown_flops)
        assay__buf_printf(&text, "%s%s per inference", a->unknown_flops ? "at least " : "",
                          assay__scaled(a->flops, "FLOP").text);
    else
        assay__buf_puts(&text, "FLOPs unknown");
    if (a->flops > 0 && a->op_count && a->ops[0].flops > 0) {
        const struct assay__op_total *top = &a->ops[0]; /* ", 99.2 % of them in 26 Conv nodes" */
        /* bodies that run several times are in both */
        double share = fmin(top->flops / a->flops, 1);
        assay__buf_printf(&text, ", %.*f %% of %s in %zu ", share < 0.9995 ? 1 : 0, share * 100,
                          a->unknown_flops ? "that" : "them", top->count - top->skipped);
        assay__inspect_op(&text, top->domain, top->op);
        assay__buf_puts(&text, top->count - top->skipped == 1 ? " node" : " nodes");
    }
    if (isfinite(a->live.peak_bytes))
        assay__buf_printf(&text, "; activations peak at %s",
                          assay__scaled(a->live.peak_bytes, "B").text);
    assay__buf_putc(&text, '.');
    assay__doc_verdict(doc, assay__doc_take(doc, &text));
    assay__inspect_left_out(&left, inspect, ASSAY__LACK_ANY);
    if (left.length) assay__doc_plain(doc, "%s: not in the totals.", assay__buf_text(&left));
    if (left.failed) doc->failed = true;
    assay__buf_free(&left);
    assay__doc_assumed(doc, assay__workload_assumed(inspect->workload, doc->arena));
}

static void add_numbers(struct assay__doc *doc, const struct assay__inspect *inspect)
{
    const struct assay__analysis *a = inspect->analysis;
    double moved = a->bytes_read + a->bytes_written;
    bool known = moved > 0 && !a->unknown_bytes && !a->unknown_flops && a->flops > 0;
    assay__doc_kpis(doc, "numbers");
    assay__doc_item(doc, "nodes",
                    assay__datum_count((double)(inspect->layer_count + inspect->inner_nodes)));
    assay__doc_item(doc, "operators", assay__datum_count((double)a->op_count));
    if (a->flops > 0) assay__doc_item(doc, "compute", assay__derived(a->flops, "FLOP"));
    if (known) assay__doc_item(doc, "intensity", assay__derived(a->flops / moved, "FLOP/B"));
    if (a->parameter_bytes >= 0)
        assay__doc_item(doc, "weights", assay__derived((double)a->parameter_bytes, "B"));
    if (isfinite(a->live.peak_bytes))
        assay__doc_item(doc, "peak activations", assay__derived(a->live.peak_bytes, "B"));
}

/* --- what the file is ------------------------------------------------------------------------- */

static void add_model(struct assay__doc *doc, const struct assay__inspect *inspect)
{
    const struct assay__model *m = inspect->model;
    bool onnx = assay__model_is_onnx(m);
    assay__doc_fact(doc, "model");
    if (*inspect->path && strcmp(inspect->path, inspect->name) != 0)
        assay__doc_item_text(doc, "%s", inspect->path);
    assay__doc_item_text(doc, "%s", m->format && *m->format ? m->format : "ONNX");
    if (inspect->zoo) assay__doc_item_text(doc, "built in memory");
    for (size_t i = 0; onnx && i < m->opset_count; i++)
        assay__doc_item_text(doc, "opset %s%s%" PRId64, m->opsets[i].domain,
                             *m->opsets[i].domain ? " " : "", m->opsets[i].version);
    if (onnx && m->ir_version > 0) assay__doc_item_text(doc, "IR %" PRId64, m->ir_version);
    if (m->producer && *m->producer)
        assay__doc_item_text(doc, "by %s%s%s", m->producer,
                             m->producer_version && *m->producer_version ? " " : "",
                             m->producer_version ? m->producer_version : "");
    if (inspect->functions)
        assay__doc_item_text(doc, "%zu function%s inlined", inspect->functions,
                             assay__plural(inspect->functions));
    if (inspect->subgraphs)
        assay__doc_item_text(doc, "%zu subgraph%s with %zu node%s", inspect->subgraphs,
                             assay__plural(inspect->subgraphs), inspect->inner_nodes,
                             assay__plural(inspect->inner_nodes));
    if (inspect->external_tensors)
        assay__doc_item_after(doc, NULL, assay__measured(inspect->external_bytes, "B"),
                              assay__doc_printf(doc, "in %zu external tensor%s",
                                                inspect->external_tensors,
                                                assay__plural(inspect->external_tensors)));
    assay__doc_item_text(doc, "fingerprint %s", inspect->fingerprint);
}

enum { SOURCE_KINDS = 64 };
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
        if (k < SOURCE_KINDS && k == ops->kinds) ops->names[ops->kinds++] = node->source_op;
        if (k < SOURCE_KINDS)
            ops->counts[k]++;
        else
            ops->beyond++;
    }
}

/* --- inputs and outputs ----------------------------------------------------------------------- */

static const struct assay__column value_columns[] = {
    {"role", .title = "role"},       {"name", "name", .flags = ASSAY__COLUMN_NAME},
    {"dtype", .title = "type"},      {"shape", .title = "shape"},
    {"shape_here", .title = "here"}, /* with its symbols fixed, if it has any */
};

static const char *fixed_shape(struct assay__doc *doc, const struct assay__inspect *inspect,
                               const struct assay__value *value)
{
    const struct assay__shape_entry *entry = assay__shapes_get(inspect->analysis->shapes,
                                                               value->name);
    bool open = value->rank < 0;
    struct assay__buf shape = {0};
    for (int d = 0; d < value->rank; d++)
        open |= value->dims[d].value < 0;
    if (!open || !entry || entry->rank < 0 || value->kind != ASSAY__KIND_TENSOR) return NULL;
    assay__inspect_shape(&shape, inspect->analysis->shapes, entry);
    return assay__doc_take(doc, &shape);
}

static void put_values(struct assay__table *t, const struct assay__inspect *inspect,
                       const char *role, const struct assay__value *values, size_t count)
{
    bool inputs = values == inspect->model->graph.inputs;
    for (size_t i = 0; i < count; i++) {
        struct assay__buf shape = {0};
        if (inputs && !assay__inspect_is_input(inspect, &values[i])) continue;
        assay__inspect_value_shape(&shape, &values[i]);
        assay__table_row(t, 0, NULL);
        assay__table_texts(
            t, role, values[i].name,
            values[i].kind == ASSAY__KIND_TENSOR ? assay__dtype_name(values[i].dtype) : NULL,
            assay__doc_take(t->doc, &shape), fixed_shape(t->doc, inspect, &values[i]));
    }
}

/* --- totals ----------------------------------------------------------------------------------- */

/* A total that leaves out nodes is unknown, but at least the sum of the others. The reasons are
 * given where these operators are listed. */
static void put_total(struct assay__doc *doc, const struct assay__inspect *inspect,
                      const char *label, const char *name, double known_part)
{
    const struct assay_metric *metric = assay_metrics_get(inspect->metrics, name);
    struct assay__datum value = assay__datum_metric(metric);
    const char *after = NULL;
    if (!assay__datum_is_known(&value)) {
        value.note = NULL;
        if (metric && known_part > 0)
            after = assay__doc_printf(doc, "(at least %s)",
                                      assay__scaled(known_part, metric->unit).text);
    }
    assay__doc_item_after(doc, label, value, after);
}

static const struct assay__column metric_columns[] = {
    {"metric", "metric", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {"value", "value", "", .flags = ASSAY__COLUMN_KEEP},
    {.key = "unit"},
    {"state", .title = "state"},
    {"source", "source", .priority = 1},
    {"note", "formula or reason", .flags = ASSAY__COLUMN_PROSE},
};

static void add_totals(struct assay__doc *doc, const struct assay__inspect *inspect)
{
    const struct assay__analysis *a = inspect->analysis;
    assay__doc_section(doc, "totals", "Totals", "of one inference, from the graph and its shapes",
                       ASSAY__TAB_EVIDENCE);
    assay__doc_fact(doc, "compute");
    put_total(doc, inspect, NULL, "compute.flops", a->flops);
    put_total(doc, inspect, NULL, "compute.macs", a->macs);
    put_total(doc, inspect, "intensity", "compute.intensity", NAN);
    assay__doc_fact(doc, "traffic");
    put_total(doc, inspect, "read", "memory.read", a->bytes_read);
    put_total(doc, inspect, "of which weights", "memory.read_weights", a->bytes_weights);
    put_total(doc, inspect, "written", "memory.written", a->bytes_written);
    assay__doc_fact(doc, "memory");
    put_total(doc, inspect, "weights", "memory.model", NAN);
    put_total(doc, inspect, "peak activations", "memory.activation.predicted", NAN);
    assay__doc_fold(doc, "metrics", "Metrics with state and formula", NULL);
    struct assay__table *t = assay__doc_table(doc, "metrics", "Metrics", metric_columns);
    for (size_t i = 0; i < assay_metrics_count(inspect->metrics); i++) {
        assay__table_row(t, 0, NULL);
        assay__table_metric_row(t, assay_metrics_at(inspect->metrics, i));
    }
    assay__doc_end(doc);
    assay__doc_end(doc);
}

/* --- operators -------------------------------------------------------------------------------- */

static const struct assay__column operator_columns[] = {
    {.title = "operator", .flags = ASSAY__COLUMN_NAME},
    {.key = "op"},
    {.key = "domain"},
    {"count", "count", .unit = ASSAY__UNIT_COUNT},
    {.title = "not run", .unit = ASSAY__UNIT_COUNT, .priority = 4}, /* empty if none */
    {.key = "unknown"},
    {.title = "cost unknown", .unit = ASSAY__UNIT_COUNT, .priority = 2}, /* empty if none */
    {"flops", "FLOPs", "FLOP", .flags = ASSAY__COLUMN_SUM},
    {.title = "share", .unit = "ratio", .flags = ASSAY__COLUMN_SUM},
    {"macs", "MACs", "MAC", .priority = 6, .flags = ASSAY__COLUMN_SUM},
    {"bytes", "bytes", "B", .priority = 1, .flags = ASSAY__COLUMN_SUM},
    {.title = "bar", .unit = "ratio", .priority = 5, .flags = ASSAY__COLUMN_BAR},
    {.key = "not_run"}, /* new since 0.1.0: existing columns keep their position */
};

static void add_operators(struct assay__doc *doc, const struct assay__analysis *a)
{
    double most = a->op_count && a->ops[0].flops > 0 ? a->ops[0].flops : (double)NAN;
    const char *remark = assay__doc_printf(doc, "%zu, by FLOPs%s", a->op_count,
                                           a->unknown_flops ? "; shares of what is known" : "");
    assay__doc_section(doc, "operators", "Operators", remark, ASSAY__SECTION_HALF);
    struct assay__table *t = assay__doc_table(doc, "operators", "Operators", operator_columns);
    t->more = "operators";
    t->limit = 30;
    for (size_t i = 0; i < a->op_count; i++) {
        const struct assay__op_total *op = &a->ops[i];
        assay__table_row_of(t, 0, assay__doc_op(doc, op->domain, op->op), op->op, op->domain);
        assay__table_number(t, (double)op->count, ASSAY_MEASURED);
        assay__table_cell(t, op->skipped ? assay__datum_count((double)op->skipped)
                                         : assay__datum_none());
        assay__table_number(t, (double)op->unknown, ASSAY_MEASURED);
        assay__table_cell(t, op->unknown ? assay__datum_count((double)op->unknown)
                                         : assay__datum_none());
        assay__table_number(t, op->flops, ASSAY_DERIVED);
        assay__table_number(t, a->flops > 0 ? op->flops / a->flops : (double)NAN, ASSAY_MEASURED);
        assay__table_numbers(t, ASSAY_DERIVED, op->macs, op->bytes, op->flops / most);
        assay__table_number(t, (double)op->skipped, ASSAY_MEASURED);
    }
    assay__doc_end(doc);
}

/* --- parameters ------------------------------------------------------------------------------- */

static const struct assay__column parameter_columns[] = {
    {"dtype", "type", .flags = ASSAY__COLUMN_NAME},
    {"storage", "stored as", .priority = 2},
    {"tensors", "tensors", ASSAY__UNIT_COUNT, .priority = 3},
    {"elements", "elements", .unit = ASSAY__UNIT_COUNT},
    {"bytes", "bytes", .unit = "B"},
    {.title = "share", .unit = "ratio", .priority = 1},
    {.title = "bar", .unit = "ratio", .priority = 5, .flags = ASSAY__COLUMN_BAR},
};

static void put_parameters(struct assay__doc *doc, const struct assay__analysis *a)
{
    struct assay__table *t = assay__doc_table(doc, "parameters", "Parameters by type",
                                              parameter_columns);
    for (size_t i = 0; i < a->parameter_type_count; i++) {
        const struct assay__parameter_total *p = &a->parameters_by_type[i];
        double share = a->parameter_bytes > 0 ? (double)p->bytes / (double)a->parameter_bytes
                                              : (double)NAN;
        assay__table_row_of(t, 0, assay__dtype_name(p->dtype), p->storage ? p->storage : "dense");
        assay__table_numbers(t, ASSAY_MEASURED, p->tensors, p->elements);
        assay__table_number(t, (double)p->bytes, ASSAY_DERIVED);
        assay__table_numbers(t, ASSAY_MEASURED, share, share);
    }
}

/* Weights that are compressed in the file (Core ML: palettised, quantised, sparse), by scheme. */
static const struct assay__column compressed_columns[] = {
    {"scheme", "compressed", .flags = ASSAY__COLUMN_NAME},
    {"bits", "bits", .unit = ASSAY__UNIT_PLAIN},
    {"tensors", "tensors", ASSAY__UNIT_COUNT, .priority = 1},
    {"elements", "weights", .unit = ASSAY__UNIT_COUNT},
    {"stored_bytes", "stored", .unit = "B"},
    {"dense_bytes", "dense", "B", .priority = 1},
    {"dtype", "type", .priority = 2},
    {"detail", "detail", .flags = ASSAY__COLUMN_PROSE},
};

static bool alike(const struct assay__stored_weight *a, const struct assay__stored_weight *b)
{
    return strcmp(a->scheme, b->scheme) == 0 && a->bits == b->bits && a->dtype == b->dtype;
}

static void add_parameters(struct assay__doc *doc, const struct assay__inspect *inspect)
{
    const struct assay__analysis *a = inspect->analysis;
    const struct assay__model *model = inspect->model;
    struct assay__buf remark = {0};
    if (a->parameters >= 0) {
        assay__print_count(&remark, a->parameters);
        assay__buf_puts(&remark, " trainable; ");
    }
    assay__buf_puts(&remark, "by type, as stored");
    assay__doc_section(doc, "parameters", "Parameters", assay__doc_take(doc, &remark),
                       ASSAY__TAB_EVIDENCE);
    put_parameters(doc, a);
    if (!a->parameter_type_count) assay__doc_plain(doc, "none");
    struct assay__table *t = assay__doc_table(doc, "compressed", "Compressed weights by scheme",
                                              compressed_columns);
    for (size_t i = 0; i < model->stored_count; i++) {
        const struct assay__stored_weight *weight = &model->stored[i];
        double tensors = 0, elements = 0, stored = 0, dense = 0;
        size_t k = 0;
        while (!alike(&model->stored[k], weight))
            k++;
        if (k < i) continue; /* its scheme has a row */
        for (; k < model->stored_count; k++) {
            const struct assay__stored_weight *one = &model->stored[k];
            if (!alike(one, weight)) continue;
            tensors++;
            elements += (double)one->logical_elements;
            stored += (double)one->stored_bytes;
            dense += (double)assay__dtype_bytes(weight->dtype, one->logical_elements);
        }
        assay__table_row_of(t, 0, weight->scheme);
        assay__table_numbers(t, ASSAY_MEASURED, weight->bits > 0 ? weight->bits : NAN, tensors,
                             elements, stored);
        assay__table_number(t, dense, ASSAY_DERIVED);
        assay__table_texts(t, assay__dtype_name(weight->dtype),
                           tensors < 2 ? weight->detail : NULL);
    }
    assay__doc_end(doc);
}

/* --- what is not known ------------------------------------------------------------------------ */

static const struct assay__column unknown_columns[] = {
    {.title = "operator", .flags = ASSAY__COLUMN_NAME},
    {.key = "op"},
    {.key = "domain"},
    {"count", "nodes", .unit = ASSAY__UNIT_COUNT},
    {"without_flops", "without FLOPs", .unit = ASSAY__UNIT_COUNT},
    {"without_bytes", "without bytes", .unit = ASSAY__UNIT_COUNT},
    {"why", "why", .flags = ASSAY__COLUMN_PROSE},
};

static void add_unknown(struct assay__doc *doc, const struct assay__analysis *a)
{
    size_t left = assay__inspect_left(a, ASSAY__LACK_ANY);
    const char *remark = assay__doc_printf(doc, "%zu node%s not included in the totals", left,
                                           assay__plural(left));
    assay__doc_section(doc, "unknown", "Not known", remark, ASSAY__TAB_EVIDENCE);
    struct assay__table *t = assay__doc_table(doc, "unknown", "Operators of unknown cost",
                                              unknown_columns);
    t->more = "operators";
    t->limit = 20;
    for (size_t i = 0; i < a->unknown_count; i++) {
        const struct assay__unknown_op *u = &a->unknown[i];
        assay__table_row_of(t, 0, assay__doc_op(doc, u->domain, u->op), u->op, u->domain);
        assay__table_numbers(t, ASSAY_MEASURED, u->count, u->without_flops, u->without_bytes);
        assay__table_text(t, u->why);
    }
    assay__doc_end(doc);
}

int assay__inspect_document(const struct assay__inspect *inspect, enum assay__inspect_sort sort,
                            const char *(*hint)(const char *), struct assay__doc **made)
{
    struct assay__doc *doc = assay__doc_open(made, "inspect", inspect->name);
    if (!doc) return ASSAY_ENOMEM;
    doc->hint = hint;
    doc->table = "layers";
    assay__doc_section(doc, "summary", "Summary", NULL, ASSAY__SECTION_QUIET);
    add_alerts(doc, inspect);
    add_answer(doc, inspect);
    add_numbers(doc, inspect);
    add_model(doc, inspect);
    /* What the nodes are called in a file of another format, if the tables below use ONNX names. */
    struct source_ops ops = {.kinds = 0};
    count_source_ops(&ops, &inspect->model->graph, 0);
    assay__doc_fact(doc, "made of");
    for (size_t k = 0; k < ops.kinds; k++)
        if (ops.counts[k] > 1)
            assay__doc_item_text(doc, "%s × %zu", ops.names[k], ops.counts[k]);
        else
            assay__doc_item_text(doc, "%s", ops.names[k]);
    if (ops.beyond) assay__doc_item_text(doc, "and %zu nodes of other kinds", ops.beyond);
    assay__doc_end(doc);
    const struct assay__graph *graph = &inspect->model->graph;
    assay__doc_section(doc, "values", "Inputs and outputs", NULL, ASSAY__SECTION_HALF);
    struct assay__table *t = assay__doc_table(doc, "values", "Inputs and outputs", value_columns);
    t->more = "values";
    t->limit = 16;
    put_values(t, inspect, "input", graph->inputs, graph->input_count);
    put_values(t, inspect, "output", graph->outputs, graph->output_count);
    for (size_t i = 0; i < inspect->workload->note_count; i++)
        assay__doc_say(doc, ASSAY__TONE_NOTE, inspect->workload->notes[i]);
    assay__doc_end(doc);
    add_operators(doc, inspect->analysis);
    assay__inspect_add_layers(doc, inspect, sort);
    assay__inspect_add_wiring(doc, inspect);
    add_totals(doc, inspect);
    add_parameters(doc, inspect);
    assay__inspect_add_memory(doc, inspect);
    add_unknown(doc, inspect->analysis);
    return 0;
}
