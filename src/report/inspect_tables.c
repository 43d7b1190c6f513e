/* inspect_tables.c - the tables of inspect's text: operators, parameters and the largest layers.
 * Columns are dropped as the page gets narrower: bars below 72, the operator's own column below
 * 56, bytes below 48. */
#include "base/text.h"
#include "report/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER 11
#define SHARE 8
#define OPERATORS_SHOWN 30

static void put_scaled(struct assay__page *page, double value, const char *unit, int columns)
{
    char text[64];
    assay__text_scaled(text, sizeof text, value, unit);
    assay__page_right(page, text, columns);
}

static void put_share(struct assay__page *page, double share)
{
    char text[32];
    snprintf(text, sizeof text, fabs(share) < 0.9995 ? "%.1f %%" : "%.0f %%", share * 100);
    assay__page_right(page, isfinite(share) ? text : "—", SHARE);
}

static void put_bar(struct assay__page *page, double share, int columns)
{
    if (!columns || !(share * columns > (page->ascii ? 0.5 : 0))) return;
    assay__buf_putc(page->out, ' ');
    assay__page_bar(page, share, columns);
}

static void put_dim(struct assay__page *page, bool on)
{
    assay__page_style(page, on ? ASSAY__STYLE_DIM : ASSAY__STYLE_PLAIN);
    if (!on) assay__buf_putc(page->out, '\n');
}

/* --- operators -------------------------------------------------------------------------------- */

struct operator_columns {
    int name, bar;
    bool bytes;
};

static void operator_row(struct assay__page *page, const struct assay__op_total *op,
                         const struct assay__analysis *a, struct operator_columns c)
{
    struct assay__buf text = {0};
    assay__buf_puts(page->out, "  ");
    assay__inspect_op(&text, op->domain, op->op);
    assay__page_fit_middle(page, text.data ? text.data : "", c.name);
    assay__buf_clear(&text);
    assay__render_count(&text, (int64_t)op->count);
    assay__page_right(page, text.data ? text.data : "", 7);
    put_scaled(page, op->flops, "FLOP", NUMBER + 1);
    double share = a->flops > 0 ? op->flops / a->flops : (double)NAN;
    put_share(page, share);
    if (c.bytes) put_scaled(page, op->bytes, "B", NUMBER - 1);
    double most = a->op_count && a->ops[0].flops > 0 ? a->ops[0].flops : (double)NAN;
    put_bar(page, op->flops / most, c.bar);
    assay__buf_putc(page->out, '\n');
    assay__buf_free(&text);
}

void assay__inspect_page_operators(struct assay__page *page, const struct assay__inspect *doc)
{
    const struct assay__analysis *a = doc->analysis;
    char remark[64];
    struct operator_columns c = {.bytes = page->columns >= 48, .bar = page->columns >= 72 ? 12 : 0};
    c.name = page->columns - 2 - 7 - NUMBER - 1 - SHARE - (c.bytes ? NUMBER - 1 : 0) -
             (c.bar ? c.bar + 1 : 0);
    if (c.name > 40) c.name = 40;
    if (!a->op_count) return;
    snprintf(remark, sizeof remark, "%zu, by FLOPs%s", a->op_count,
             a->unknown_flops ? "; shares of what is known" : "");
    assay__page_heading(page, "Operators", remark);
    put_dim(page, true);
    assay__page_fit(page, "  operator", c.name + 2, 0);
    assay__page_right(page, "count", 7);
    assay__page_right(page, "FLOPs", NUMBER + 1);
    assay__page_right(page, "share", SHARE);
    if (c.bytes) assay__page_right(page, "bytes", NUMBER - 1);
    put_dim(page, false);
    size_t shown = page->top < 0 || a->op_count <= OPERATORS_SHOWN ? a->op_count : OPERATORS_SHOWN;
    for (size_t i = 0; i < shown; i++)
        operator_row(page, &a->ops[i], a, c);
    if (shown < a->op_count) {
        snprintf(remark, sizeof remark, "… %zu more operators", a->op_count - shown);
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", remark);
    }
}

/* --- parameters ------------------------------------------------------------------------------- */

void assay__inspect_page_parameters(struct assay__page *page, const struct assay__inspect *doc)
{
    const struct assay__analysis *a = doc->analysis;
    struct assay__buf text = {0};
    int name = page->columns >= 56 ? 26 : page->columns - 32;
    int bar = page->columns >= 72 ? 12 : 0;
    if (a->parameters >= 0) {
        assay__render_count(&text, a->parameters);
        assay__buf_puts(&text, " trainable; by type, as stored");
    }
    assay__page_heading(page, "Parameters", text.data ? text.data : "by type, as stored");
    if (!a->parameter_type_count) assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", "none");
    for (size_t i = 0; i < a->parameter_type_count; i++) {
        const struct assay__parameter_total *p = &a->parameters_by_type[i];
        assay__buf_clear(&text);
        assay__buf_printf(&text, "%s%s%s", assay__dtype_name(p->dtype),
                          p->storage && strcmp(p->storage, "dense") != 0 ? ", " : "",
                          p->storage && strcmp(p->storage, "dense") != 0 ? p->storage : "");
        assay__buf_puts(page->out, "  ");
        assay__page_fit(page, text.data ? text.data : "", name, 0);
        assay__buf_clear(&text);
        assay__render_short_count(&text, p->elements);
        assay__page_right(page, text.data ? text.data : "", 9);
        put_scaled(page, (double)p->bytes, "B", NUMBER);
        double share = a->parameter_bytes > 0 ? (double)p->bytes / (double)a->parameter_bytes
                                              : (double)NAN;
        put_share(page, share);
        put_bar(page, share, bar);
        assay__buf_putc(page->out, '\n');
    }
    if (text.failed) page->out->failed = true;
    assay__buf_free(&text);
}

/* --- layers ----------------------------------------------------------------------------------- */

struct layer_columns {
    int op, name, bar;
    bool bytes, intensity;
    enum assay__inspect_sort sort;
    double total, most;
};

static void layer_head(struct assay__page *page, const struct layer_columns *c)
{
    put_dim(page, true);
    assay__page_right(page, "#", 5);
    assay__buf_putc(page->out, ' ');
    if (c->op) assay__page_fit(page, "operator", c->op + 1, 0);
    assay__page_fit(page, "layer", c->name, 0);
    assay__page_right(page, "FLOPs", NUMBER);
    if (c->sort != ASSAY__SORT_MEMORY) assay__page_right(page, "share", SHARE);
    if (c->bytes)
        assay__page_right(page, c->sort == ASSAY__SORT_MEMORY ? "memory" : "bytes", NUMBER - 2);
    if (c->intensity) assay__page_right(page, "FLOP/B", 8);
    put_dim(page, false);
}

static void layer_row(struct assay__page *page, const struct assay__inspect_layer *layer,
                      size_t position, const struct layer_columns *c)
{
    char text[64];
    struct assay__buf op = {0};
    double weight = assay__inspect_weight(layer, c->sort);
    snprintf(text, sizeof text, "%zu", position);
    assay__page_right(page, text, 5);
    assay__buf_putc(page->out, ' ');
    assay__inspect_op(&op, layer->node->domain, layer->node->op);
    if (c->op) {
        assay__page_fit_middle(page, op.data ? op.data : "", c->op);
        assay__buf_putc(page->out, ' ');
    }
    assay__page_fit_middle(page, layer->name, c->name);
    put_scaled(page, layer->cost->flops, "FLOP", NUMBER);
    if (c->sort != ASSAY__SORT_MEMORY) put_share(page, weight / c->total);
    if (c->bytes)
        put_scaled(page, c->sort == ASSAY__SORT_MEMORY ? layer->memory_bytes : layer->bytes, "B",
                   NUMBER - 2);
    if (c->intensity) {
        assay__text_scaled(text, sizeof text, layer->intensity, "FLOP/B");
        char *unit = strstr(text, " FLOP/B");
        if (unit) *unit = 0;
        assay__page_right(page, text, 8);
    }
    put_bar(page, weight / c->most, c->bar);
    assay__buf_putc(page->out, '\n');
    assay__buf_free(&op);
}

static struct layer_columns plan_layers(const struct assay__page *page,
                                        const struct assay__inspect *doc,
                                        enum assay__inspect_sort sort)
{
    const struct assay__analysis *a = doc->analysis;
    struct layer_columns c = {.sort = sort,
                              .op = page->columns >= 72   ? 14
                                    : page->columns >= 56 ? 10
                                                          : 0,
                              .bar = page->columns >= 88 ? 10 : 0,
                              .bytes = page->columns >= 64 || sort == ASSAY__SORT_MEMORY,
                              .intensity = page->columns >= 76};
    c.name = page->columns - 6 - (c.op ? c.op + 1 : 0) - NUMBER -
             (sort != ASSAY__SORT_MEMORY ? SHARE : 0) - (c.bytes ? NUMBER - 2 : 0) -
             (c.intensity ? 8 : 0) - (c.bar ? c.bar + 1 : 0);
    if (c.name > 60) c.name = 60;
    c.total = sort == ASSAY__SORT_FLOPS ? a->flops : a->bytes_read + a->bytes_written;
    if (!(c.total > 0)) c.total = NAN;
    return c;
}

void assay__inspect_page_layers(struct assay__page *page, const struct assay__inspect *doc,
                                enum assay__inspect_sort sort)
{
    static const char *const by[] = {"FLOPs", "bytes", "memory"};
    size_t *order = assay__inspect_order(doc, sort);
    struct layer_columns c = plan_layers(page, doc, sort);
    char remark[96];
    size_t shown = page->top < 0 || (size_t)page->top > doc->layer_count ? doc->layer_count
                                                                         : (size_t)page->top;
    if (!order) {
        page->out->failed = true;
        return;
    }
    if (shown + 1 == doc->layer_count) shown++; /* "1 more" is no shorter than the layer */
    if (shown) {
        snprintf(remark, sizeof remark, "%zu, largest first by %s; # is the order of execution",
                 doc->layer_count, by[sort]);
        assay__page_heading(page, "Layers", remark);
        c.most = assay__inspect_weight(&doc->layers[order[0]], sort);
        layer_head(page, &c);
        for (size_t i = 0; i < shown; i++)
            layer_row(page, &doc->layers[order[i]], order[i], &c);
        if (shown < doc->layer_count) {
            snprintf(remark, sizeof remark, "… %zu more layers (--top 0 shows all)",
                     doc->layer_count - shown);
            assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", remark);
        }
    }
    free(order);
}
