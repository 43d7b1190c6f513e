/* inspect_markdown.c - inspect as GitHub-flavoured Markdown: the sentence, the metrics,
 * operators, parameters, the largest layers and what is not known. Text from the model is
 * escaped. */
#include "base/text.h"
#include "report/inspect.h"

#include <inttypes.h>
#include <stdlib.h>

static void cell(struct assay__buf *out, const char *text)
{
    assay__buf_putc(out, ' ');
    assay__markdown_text(out, text);
    assay__buf_puts(out, " |");
}

static void cell_scaled(struct assay__buf *out, double value, const char *unit)
{
    char text[64];
    assay__text_scaled(text, sizeof text, value, unit);
    cell(out, text);
}

static void cell_op(struct assay__buf *out, const char *domain, const char *op)
{
    struct assay__buf text = {0};
    assay__inspect_op(&text, domain, op);
    cell(out, text.data);
    if (text.failed) out->failed = true;
    assay__buf_free(&text);
}

static void put_metrics(const struct assay__inspect *doc, struct assay__buf *out)
{
    assay__buf_puts(out, "\n| metric | value | state | note |\n|---|---|---|---|\n");
    for (size_t i = 0; i < assay_metrics_count(doc->metrics); i++) {
        const struct assay_metric *m = assay_metrics_at(doc->metrics, i);
        assay__buf_putc(out, '|');
        cell(out, m->name);
        cell_scaled(out, m->value, m->unit);
        cell(out, assay_state_name(m->state));
        cell(out, m->note);
        assay__buf_putc(out, '\n');
    }
}

static void put_operators(const struct assay__analysis *a, struct assay__buf *out)
{
    assay__buf_puts(out, "\n| operator | count | FLOPs | bytes |\n|---|---:|---:|---:|\n");
    for (size_t i = 0; i < a->op_count; i++) {
        assay__buf_putc(out, '|');
        cell_op(out, a->ops[i].domain, a->ops[i].op);
        assay__buf_printf(out, " %zu |", a->ops[i].count);
        cell_scaled(out, a->ops[i].flops, "FLOP");
        cell_scaled(out, a->ops[i].bytes, "B");
        assay__buf_putc(out, '\n');
    }
    assay__buf_puts(out, "\n| parameters | stored as | elements | bytes |\n|---|---|---:|---:|\n");
    for (size_t i = 0; i < a->parameter_type_count; i++) {
        const struct assay__parameter_total *p = &a->parameters_by_type[i];
        assay__buf_putc(out, '|');
        cell(out, assay__dtype_name(p->dtype));
        cell(out, p->storage ? p->storage : "dense");
        assay__buf_printf(out, " %" PRId64 " |", p->elements);
        cell_scaled(out, (double)p->bytes, "B");
        assay__buf_putc(out, '\n');
    }
}

static void put_layers(const struct assay__inspect *doc, const struct assay__inspect_view *view,
                       struct assay__buf *out)
{
    size_t *order = assay__inspect_order(doc, view->sort);
    size_t shown = view->top < 0 || (size_t)view->top > doc->layer_count ? doc->layer_count
                                                                         : (size_t)view->top;
    if (!order) out->failed = true;
    assay__buf_puts(out, "\n| # | operator | layer | FLOPs | bytes | memory | FLOP/B |\n"
                         "|---:|---|---|---:|---:|---:|---:|\n");
    for (size_t i = 0; order && i < shown; i++) {
        const struct assay__inspect_layer *l = &doc->layers[order[i]];
        assay__buf_printf(out, "| %zu |", order[i]);
        cell_op(out, l->node->domain, l->node->op);
        cell(out, l->name);
        cell_scaled(out, l->cost->flops, "FLOP");
        cell_scaled(out, l->bytes, "B");
        cell_scaled(out, l->memory_bytes, "B");
        cell_scaled(out, l->intensity, "FLOP/B");
        assay__buf_putc(out, '\n');
    }
    free(order);
}

void assay__inspect_markdown(const struct assay__inspect *doc,
                             const struct assay__inspect_view *view, struct assay__buf *out)
{
    const struct assay__analysis *a = doc->analysis;
    struct assay__buf answer = {0};
    assay__buf_puts(out, "# ");
    assay__markdown_text(out, doc->name);
    assay__buf_puts(out, "\n\n");
    for (size_t i = 0; i < a->conflict_count; i++) {
        assay__buf_puts(out, "**Shape conflict:** ");
        assay__markdown_text(out, a->conflicts[i].node);
        assay__buf_puts(out, " and ");
        assay__markdown_text(out, a->conflicts[i].other);
        assay__buf_puts(out, ": ");
        assay__markdown_text(out, a->conflicts[i].message);
        assay__buf_puts(out, "\n\n");
    }
    assay__inspect_answer(&answer, doc);
    assay__markdown_text(out, answer.data);
    assay__buf_putc(out, '\n');
    put_metrics(doc, out);
    put_operators(a, out);
    put_layers(doc, view, out);
    if (a->unknown_count) assay__buf_puts(out, "\n| not known | count | why |\n|---|---:|---|\n");
    for (size_t i = 0; i < a->unknown_count; i++) {
        assay__buf_putc(out, '|');
        cell_op(out, a->unknown[i].domain, a->unknown[i].op);
        assay__buf_printf(out, " %zu |", a->unknown[i].count);
        cell(out, a->unknown[i].why);
        assay__buf_putc(out, '\n');
    }
    if (answer.failed) out->failed = true;
    assay__buf_free(&answer);
}
