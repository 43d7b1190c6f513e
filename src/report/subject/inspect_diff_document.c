/* inspect_diff_document.c - two models side by side: the verdict, the totals with their ratio, the
 * operators and parameters that differ, and the layers that were changed, removed or added. */
#include "report/report_model.h"
#include "report/subject/inspect_document.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A row is one quantity of one thing; people read the name of the thing in its first row only. */
static const struct assay__column columns[] = {
    {.key = "name"},
    {.title = "name", .flags = ASSAY__COLUMN_NAME},
    {"quantity", "", .flags = ASSAY__COLUMN_NAME},
    {.key = "unit"},
    {"first", "first", "", .flags = ASSAY__COLUMN_KEEP},
    {"second", "second", "", .flags = ASSAY__COLUMN_KEEP},
    {"ratio", "ratio", ASSAY__UNIT_TIMES, .priority = 1},
};

/* name NULL: the same thing as in the previous row, which is called `of`. */
static void put_row(struct assay__table *t, const char *of, const char *name, const char *quantity,
                    const char *unit, double a, double b)
{
    bool count = strcmp(unit, ASSAY__UNIT_COUNT) == 0;
    enum assay_state state = count ? ASSAY_MEASURED : ASSAY_DERIVED;
    assay__table_row_of(t, 0, of, name, quantity, unit);
    assay__table_cell(t, assay__datum_number(a, unit, state));
    assay__table_cell(t, assay__datum_number(b, unit, state));
    assay__table_number(t, a > 0 ? b / a : (double)NAN, ASSAY_DERIVED);
}

static double metric(const struct assay__inspect *inspect, const char *name)
{
    const struct assay_metric *m = assay_metrics_get(inspect->metrics, name);
    return m ? m->value : (double)NAN;
}

static double known_count(int64_t count)
{
    return count < 0 ? (double)NAN : (double)count;
}

static void add_totals(struct assay__doc *doc, const struct assay__inspect_diff *diff)
{
    static const char *const rows[][3] = {
        {"FLOPs", "compute.flops", "FLOP"},
        {"MACs", "compute.macs", "MAC"},
        {"intensity", "compute.intensity", "FLOP/B"},
        {"bytes read", "memory.read", "B"},
        {"bytes written", "memory.written", "B"},
        {"weights", "memory.model", "B"},
        {"peak activations", "memory.activation.predicted", "B"},
    };
    const struct assay__inspect *a = diff->a, *b = diff->b;
    assay__doc_section(doc, "totals", "Totals", "of one inference, from the graph and its shapes",
                       0);
    struct assay__table *t = assay__doc_table(doc, "totals", "Totals", columns);
    put_row(t, "model", NULL, "nodes", ASSAY__UNIT_COUNT, /* those of bodies too */
            (double)(a->layer_count + a->inner_nodes), (double)(b->layer_count + b->inner_nodes));
    put_row(t, "model", NULL, "parameters", ASSAY__UNIT_COUNT, known_count(a->analysis->parameters),
            known_count(b->analysis->parameters));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_row(t, "model", NULL, rows[i][0], rows[i][2], metric(a, rows[i][1]),
                metric(b, rows[i][1]));
    assay__doc_end(doc);
}

static void add_operators(struct assay__doc *doc, const struct assay__inspect_diff *diff)
{
    static const struct assay__op_total none = {0};
    assay__doc_section(doc, "operators", "Operators", "that differ", 0);
    struct assay__table *t = assay__doc_table(doc, "operators", "Operators", columns);
    for (size_t i = 0; i < diff->operator_count; i++) {
        const struct assay__inspect_both *both = &diff->operators[i];
        if (!assay__inspect_diff_operator(diff, i)) continue;
        const struct assay__op_total *a = both->a == SIZE_MAX ? &none
                                                              : &diff->a->analysis->ops[both->a],
                                     *b = both->b == SIZE_MAX ? &none
                                                              : &diff->b->analysis->ops[both->b],
                                     *either = both->a == SIZE_MAX ? b : a;
        const char *name = assay__doc_op(doc, either->domain, either->op);
        put_row(t, name, name, "nodes", ASSAY__UNIT_COUNT, (double)a->count, (double)b->count);
        if (a->flops > 0 || b->flops > 0)
            put_row(t, name, NULL, "FLOPs", "FLOP", a->flops, b->flops);
        put_row(t, name, NULL, "bytes", "B", a->bytes, b->bytes);
    }
    assay__doc_end(doc);
}

static void add_parameters(struct assay__doc *doc, const struct assay__inspect_diff *diff)
{
    static const struct assay__parameter_total none = {0};
    assay__doc_section(doc, "parameters", "Parameters", "by type, where they differ", 0);
    struct assay__table *t = assay__doc_table(doc, "parameters", "Parameters", columns);
    for (size_t i = 0; i < diff->parameter_count; i++) {
        const struct assay__inspect_both *both = &diff->parameters[i];
        if (!assay__inspect_diff_parameter(diff, i)) continue;
        const struct assay__parameter_total
            *a = both->a == SIZE_MAX ? &none : &diff->a->analysis->parameters_by_type[both->a],
            *b = both->b == SIZE_MAX ? &none : &diff->b->analysis->parameters_by_type[both->b],
            *either = both->a == SIZE_MAX ? b : a;
        const char *name = assay__doc_printf(doc, "%s, %s", assay__dtype_name(either->dtype),
                                             either->storage);
        put_row(t, name, name, "tensors", ASSAY__UNIT_COUNT, (double)a->tensors,
                (double)b->tensors);
        put_row(t, name, NULL, "elements", ASSAY__UNIT_COUNT, (double)a->elements,
                (double)b->elements);
        put_row(t, name, NULL, "bytes", "B", (double)a->bytes, (double)b->bytes);
    }
    assay__doc_end(doc);
}

static const struct assay__column layer_columns[] = {
    {.key = "change"},
    {"name", "layer", .flags = ASSAY__COLUMN_NAME},
    {.title = "operator", .priority = 2}, /* of both if they differ: "Relu to Tanh" */
    {.title = "output", .priority = 3},
    {.key = "first_op"},
    {.key = "second_op"},
    {.key = "first_output"},
    {.key = "second_output"},
    {"first_flops", "first FLOPs", .unit = "FLOP"},
    {"second_flops", "second FLOPs", .unit = "FLOP"},
    {"first_bytes", "first bytes", "B", .priority = 1},
    {"second_bytes", "second bytes", "B", .priority = 1},
};

/* A layer of one side; op NULL: that side has none. */
struct side {
    const char *name, *op, *output;
    struct assay__datum flops, bytes;
};

static struct side side_of(struct assay__doc *doc, const struct assay__inspect *inspect,
                           size_t index)
{
    struct side side = {.flops = assay__datum_none(), .bytes = assay__datum_none()};
    struct assay__buf shape = {0};
    if (index == SIZE_MAX) return side;
    const struct assay__inspect_layer *layer = &inspect->layers[index];
    assay__inspect_output_shape(&shape, inspect, layer);
    side.name = layer->name;
    side.op = assay__doc_op(doc, layer->node->domain, layer->node->op);
    side.output = assay__doc_take(doc, &shape);
    side.flops = assay__derived(layer->cost->flops, NULL);
    side.bytes = assay__derived(layer->bytes, NULL);
    return side;
}

/* "a", or "a to b" */
static const char *joined(struct assay__doc *doc, const char *a, const char *b)
{
    if (!a || !b) return a ? a : b;
    return strcmp(a, b) == 0 ? a : assay__doc_printf(doc, "%s to %s", a, b);
}

static void add_layers(struct assay__doc *doc, const struct assay__inspect_diff *diff)
{
    static const struct {
        enum assay__inspect_change change;
        const char *key, *title;
    } parts[] = {{ASSAY__LAYER_CHANGED, "changed", "Layers changed"},
                 {ASSAY__LAYER_REMOVED, "removed", "Layers only in the first"},
                 {ASSAY__LAYER_ADDED, "added", "Layers only in the second"}};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        const char *remark = assay__doc_printf(doc, "%zu", diff->counts[parts[p].change]);
        assay__doc_section(doc, parts[p].key, parts[p].title, remark, 0);
        struct assay__table *t = assay__doc_table(doc, "layers", parts[p].title, layer_columns);
        t->more = "layers";
        for (size_t i = 0; i < diff->pair_count; i++) {
            const struct assay__inspect_pair *pair = &diff->pairs[i];
            if (pair->change != parts[p].change) continue;
            struct side a = side_of(doc, diff->a, pair->a), b = side_of(doc, diff->b, pair->b);
            assay__table_row_of(t, 0, parts[p].key, a.op ? a.name : b.name, joined(doc, a.op, b.op),
                                joined(doc, a.output, b.output), a.op, b.op, a.output, b.output);
            assay__table_cell(t, a.flops);
            assay__table_cell(t, b.flops);
            assay__table_cell(t, a.bytes);
            assay__table_cell(t, b.bytes);
        }
        assay__doc_end(doc);
    }
}

static void add_ends(struct assay__doc *doc, const char *label,
                     const struct assay__inspect *inspect)
{
    const struct assay__graph *g = &inspect->model->graph;
    const struct assay__shapes *shapes = inspect->analysis->shapes;
    assay__doc_fact(doc, label);
    for (size_t i = 0; i < g->input_count + g->output_count; i++) {
        bool input = i < g->input_count;
        const struct assay__value *v = input ? &g->inputs[i] : &g->outputs[i - g->input_count];
        struct assay__buf shape = {0};
        if (input && !assay__inspect_is_input(inspect, v)) continue;
        assay__inspect_shape(&shape, shapes, assay__shapes_get(shapes, v->name));
        assay__doc_item_text(doc, "%s%s %s %s", input ? "" : "→ ", v->name,
                             assay__dtype_name(v->dtype), assay__doc_take(doc, &shape));
    }
}

int assay__inspect_diff_document(const struct assay__inspect_diff *diff, struct assay__doc **made)
{
    struct assay__buf answer = {0};
    struct assay__doc *doc = assay__doc_open(made, "inspect", "Difference between two models");
    if (!doc) return ASSAY_ENOMEM;
    doc->table = "layers";
    assay__doc_section(doc, "summary", "Summary", NULL, ASSAY__SECTION_QUIET);
    if (diff->a->analysis->conflict_count + diff->b->analysis->conflict_count)
        assay__doc_alert(doc, "SHAPE CONFLICTS: inspect each model separately to see them");
    assay__inspect_diff_answer(&answer, diff);
    assay__doc_say(doc, ASSAY__TONE_LEAD, assay__doc_take(doc, &answer));
    assay__doc_fact_text(doc, "first", diff->a->name);
    assay__doc_fact_text(doc, "second", diff->b->name);
    assay__doc_end(doc);
    add_totals(doc, diff);
    assay__doc_section(doc, "values", "Inputs and outputs", NULL, 0);
    if (!diff->ends_equal) {
        add_ends(doc, "first", diff->a);
        add_ends(doc, "second", diff->b);
    }
    assay__doc_end(doc);
    add_operators(doc, diff);
    add_parameters(doc, diff);
    add_layers(doc, diff);
    return 0;
}
