/* inspect_diff_text.c - two models beside each other, for people: the verdict, the totals with
 * their ratio, the operators and parameters that differ, and the layers that changed, went or
 * came. */
#include "base/text.h"
#include "report/inspect_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NUMBER 11
#define RATIO 9 /* one more than the longest ratio: no two cells touch */

struct side {
    struct assay__page *page;
    int name;
};

static void put_head(const struct side *s, const char *title)
{
    assay__page_style(s->page, ASSAY__STYLE_DIM);
    assay__buf_puts(s->page->out, "  ");
    assay__page_fit(s->page, title, s->name, 0);
    assay__page_right(s->page, "first", NUMBER);
    assay__page_right(s->page, "second", NUMBER);
    assay__page_right(s->page, "ratio", RATIO);
    assay__page_style(s->page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(s->page->out, '\n');
}

/* unit "": a plain count */
static void put_value(struct assay__page *page, double value, const char *unit)
{
    struct assay__buf text = {0};
    char scaled[64];
    if (*unit) {
        assay__text_scaled(scaled, sizeof scaled, value, unit);
        char *behind = strstr(scaled, " FLOP/B"); /* the label says it, the column is narrow */
        if (behind) *behind = 0;
        assay__buf_puts(&text, scaled);
    } else if (isfinite(value) && fabs(value) < 9e15) {
        assay__render_short_count(&text, (int64_t)value);
    } else {
        assay__buf_puts(&text, "—");
    }
    assay__page_right(page, text.data ? text.data : "", NUMBER);
    assay__buf_free(&text);
}

/* At most 8 columns: "× 0.0244", "< 0.001", "> 99999". */
static void put_ratio(char *out, size_t size, double ratio)
{
    if (!isfinite(ratio))
        snprintf(out, size, "—");
    else if (ratio < 0.001 && ratio > 0)
        snprintf(out, size, "< 0.001");
    else if (ratio >= 99999.5)
        snprintf(out, size, "> 99999");
    else
        snprintf(out, size, ratio >= 99.95 ? "× %.0f" : ratio < 0.01 ? "× %.2g" : "× %.3g", ratio);
}

static void put_row(const struct side *s, const char *label, double a, double b, const char *unit)
{
    char ratio[32];
    assay__buf_puts(s->page->out, "  ");
    assay__page_fit_middle(s->page, label, s->name);
    put_value(s->page, a, unit);
    put_value(s->page, b, unit);
    double r = a > 0 ? b / a : (double)NAN;
    put_ratio(ratio, sizeof ratio, r);
    assay__page_right(s->page, isfinite(r) && a == b ? "=" : ratio, RATIO);
    assay__buf_putc(s->page->out, '\n');
}

static double metric(const struct assay__inspect *doc, const char *name)
{
    const struct assay_metric *m = assay_metrics_get(doc->metrics, name);
    return m ? m->value : (double)NAN;
}

static void put_totals(const struct side *s, const struct assay__inspect_diff *diff)
{
    static const struct {
        const char *label, *name, *unit;
    } rows[] = {{"FLOPs", "compute.flops", "FLOP"},
                {"MACs", "compute.macs", "MAC"},
                {"FLOP/B", "compute.intensity", "FLOP/B"},
                {"bytes read", "memory.read", "B"},
                {"bytes written", "memory.written", "B"},
                {"weights", "memory.model", "B"},
                {"peak memory", "memory.activation.predicted", "B"}};
    const struct assay__analysis *a = diff->a->analysis, *b = diff->b->analysis;
    assay__page_heading(s->page, "Totals", "of one inference, from the graph and its shapes");
    put_head(s, "");
    put_row(s, "nodes", (double)(diff->a->layer_count + diff->a->inner_nodes),
            (double)(diff->b->layer_count + diff->b->inner_nodes), ""); /* bodies too */
    put_row(s, "parameters", a->parameters < 0 ? (double)NAN : (double)a->parameters,
            b->parameters < 0 ? (double)NAN : (double)b->parameters, "");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_row(s, rows[i].label, metric(diff->a, rows[i].name), metric(diff->b, rows[i].name),
                rows[i].unit);
}

static void put_operators(const struct side *s, const struct assay__inspect_diff *diff)
{
    bool any = false;
    for (size_t i = 0; i < diff->operator_count; i++) {
        const struct assay__inspect_both *both = &diff->operators[i];
        if (!assay__inspect_diff_operator(diff, i)) continue;
        const struct assay__op_total none = {0};
        const struct assay__op_total *a = both->a == SIZE_MAX ? &none
                                                              : &diff->a->analysis->ops[both->a];
        const struct assay__op_total *b = both->b == SIZE_MAX ? &none
                                                              : &diff->b->analysis->ops[both->b];
        struct assay__buf name = {0};
        if (!any) {
            assay__page_heading(s->page, "Operators", "that differ");
            put_head(s, "");
        }
        any = true;
        assay__inspect_op(&name, (both->a == SIZE_MAX ? b : a)->domain,
                          (both->a == SIZE_MAX ? b : a)->op);
        put_row(s, name.data ? name.data : "", (double)a->count, (double)b->count, "");
        if (a->flops > 0 || b->flops > 0) put_row(s, "  FLOPs", a->flops, b->flops, "FLOP");
        put_row(s, "  bytes", a->bytes, b->bytes, "B");
        assay__buf_free(&name);
    }
}

static void put_parameters(const struct side *s, const struct assay__inspect_diff *diff)
{
    bool any = false;
    for (size_t i = 0; i < diff->parameter_count; i++) {
        const struct assay__inspect_both *both = &diff->parameters[i];
        if (!assay__inspect_diff_parameter(diff, i)) continue;
        const struct assay__parameter_total none = {0};
        const struct assay__parameter_total *a =
            both->a == SIZE_MAX ? &none : &diff->a->analysis->parameters_by_type[both->a];
        const struct assay__parameter_total *b =
            both->b == SIZE_MAX ? &none : &diff->b->analysis->parameters_by_type[both->b];
        const struct assay__parameter_total *either = both->a == SIZE_MAX ? b : a;
        struct assay__buf name = {0};
        if (!any) {
            assay__page_heading(s->page, "Parameters", "by type, where they differ");
            put_head(s, "");
        }
        any = true;
        assay__buf_printf(&name, "%s, %s", assay__dtype_name(either->dtype), either->storage);
        put_row(s, name.data ? name.data : "", (double)a->elements, (double)b->elements, "");
        put_row(s, "  bytes", (double)a->bytes, (double)b->bytes, "B");
        assay__buf_free(&name);
    }
}

/* --- layers ----------------------------------------------------------------------------------- */

static void put_layer(struct assay__buf *text, const struct assay__inspect *doc, size_t layer)
{
    char scaled[64];
    const struct assay__inspect_layer *l = &doc->layers[layer];
    assay__inspect_op(text, l->node->domain, l->node->op);
    assay__buf_putc(text, ' ');
    assay__inspect_diff_shape(text, doc, layer);
    assay__text_scaled(scaled, sizeof scaled, l->cost->flops, "FLOP");
    assay__buf_printf(text, ", %s", scaled);
    assay__text_scaled(scaled, sizeof scaled, l->bytes, "B");
    assay__buf_printf(text, ", %s", scaled);
}

static void put_pair(struct assay__page *page, const struct assay__inspect_diff *diff,
                     const struct assay__inspect_pair *pair)
{
    static const char *const marks[] = {"", "~ ", "- ", "+ "};
    struct assay__buf text = {0};
    const struct assay__inspect *first = pair->a == SIZE_MAX ? diff->b : diff->a;
    size_t index = pair->a == SIZE_MAX ? pair->b : pair->a;
    assay__buf_printf(&text, "%s: ", first->layers[index].name);
    put_layer(&text, first, index);
    if (pair->change == ASSAY__LAYER_CHANGED) {
        assay__buf_puts(&text, " → ");
        put_layer(&text, diff->b, pair->b);
    }
    char lead[8];
    snprintf(lead, sizeof lead, "  %s", marks[pair->change]);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, lead, text.data ? text.data : "");
    if (text.failed) page->out->failed = true;
    assay__buf_free(&text);
}

static void put_layers(struct assay__page *page, const struct assay__inspect_diff *diff)
{
    static const struct {
        enum assay__inspect_change change;
        const char *title;
    } parts[] = {{ASSAY__LAYER_CHANGED, "changed"},
                 {ASSAY__LAYER_REMOVED, "only in the first"},
                 {ASSAY__LAYER_ADDED, "only in the second"}};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        char remark[96];
        size_t shown = 0, count = diff->counts[parts[p].change];
        size_t limit = page->top < 0 ? SIZE_MAX : (size_t)page->top;
        if (!count || !limit) continue;
        snprintf(remark, sizeof remark, "%zu %s", count, parts[p].title);
        assay__page_heading(page, "Layers", remark);
        for (size_t i = 0; i < diff->pair_count && shown < limit; i++) {
            if (diff->pairs[i].change != parts[p].change) continue;
            put_pair(page, diff, &diff->pairs[i]);
            shown++;
        }
        snprintf(remark, sizeof remark, "… %zu more (--top 0 shows all)", count - shown);
        if (shown < count) assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", remark);
    }
}

/* --- inputs and outputs ----------------------------------------------------------------------- */

static void put_ends_of(struct assay__page *page, const char *label,
                        const struct assay__inspect *doc)
{
    const struct assay__graph *g = &doc->model->graph;
    struct assay__buf items = {0};
    for (size_t i = 0; i < g->input_count + g->output_count && i < 32; i++) {
        bool input = i < g->input_count;
        const struct assay__value *v = input ? &g->inputs[i] : &g->outputs[i - g->input_count];
        struct assay__buf shape = {0};
        if (input && !assay__inspect_is_input(doc, v)) continue;
        assay__inspect_shape(&shape, doc->analysis->shapes,
                             assay__shapes_get(doc->analysis->shapes, v->name));
        assay__page_item(&items, "%s%s %s %s", input ? "" : "→ ", v->name,
                         assay__dtype_name(v->dtype), shape.data ? shape.data : "");
        assay__buf_free(&shape);
    }
    assay__page_row(page, label, items.data ? items.data : "none");
    assay__buf_free(&items);
}

void assay__inspect_diff_text(const struct assay__inspect_diff *diff,
                              const struct assay__inspect_view *view, struct assay__buf *out)
{
    struct assay__buf text = {0};
    size_t start = out->length,
           conflicts = diff->a->analysis->conflict_count + diff->b->analysis->conflict_count;
    struct assay__page page = assay__inspect_page(view, "the difference of two models", out);
    struct side s = {.page = &page, .name = page.columns - 2 - 2 * NUMBER - RATIO};
    if (s.name > 40) s.name = 40;
    if (conflicts)
        assay__page_wrap(&page, ASSAY__STYLE_FAULT, "",
                         "SHAPE CONFLICTS: inspect each model alone to see them");
    assay__page_row(&page, "first", diff->a->name);
    assay__page_row(&page, "second", diff->b->name);
    assay__buf_putc(out, '\n');
    assay__inspect_diff_answer(&text, diff);
    assay__page_wrap(&page, ASSAY__STYLE_BOLD, "", text.data ? text.data : "");
    if (text.failed) out->failed = true;
    assay__buf_free(&text);
    put_totals(&s, diff);
    if (!diff->ends_equal) {
        assay__page_heading(&page, "Inputs and outputs", "");
        put_ends_of(&page, "first", diff->a);
        put_ends_of(&page, "second", diff->b);
    }
    put_operators(&s, diff);
    put_parameters(&s, diff);
    put_layers(&page, diff);
    if (view->ascii) assay__page_to_ascii(out, start);
}
