/* text_layers.c - the layer table of the text report: the slowest layers with bars, then the rest
 * in one row, the engine's fixed cost, what could not be attributed, and their total, which is
 * latency.p50 by construction. Columns by page width: from 56 on the operator has its own column,
 * from 64 on there are bars, from 72 on what bounds a layer, where that is known of any. */
#include "report/page.h"

#include "base/text.h"
#include "cost/roofline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
    struct assay__page *page;
    const struct assay__trial *trial;
    const struct assay__layers *layers;
    double p50_ns;            /* NaN unknown */
    double longest;           /* share of the slowest layer, the full bar */
    bool enqueue;             /* no layer times, host enqueue times instead of shares */
    int op, name, bar, bound; /* columns; 0: not shown */
};

#define INDEX_COLUMNS 5
#define TIME_COLUMNS 10
#define SHARE_COLUMNS 8
#define BOUND_COLUMNS 6

static bool bound_known(const struct assay__layer *l)
{
    return assay__bound_parse(l->bound) != ASSAY__BOUND_UNKNOWN;
}

static void plan(struct table *t)
{
    int columns = t->page->columns;
    t->op = columns >= 72 ? 16 : columns >= 56 ? 12 : 0;
    for (size_t i = 0; i < t->layers->count && columns >= 72 && !t->bound; i++)
        t->bound = bound_known(&t->layers->items[i]) ? BOUND_COLUMNS : 0;
    t->bar = columns >= 72 && !t->bound ? 12 : columns >= 64 ? 8 : 0;
    int fixed = INDEX_COLUMNS + 1 + (t->op ? t->op + 1 : 0) + TIME_COLUMNS + SHARE_COLUMNS +
                t->bound + (t->bar ? t->bar + 1 : 0);
    t->name = columns - fixed;
    if (t->name > 60) t->name = 60;
    bool times = false;
    for (size_t i = 0; i < t->layers->count; i++) {
        const struct assay__layer *l = &t->layers->items[i];
        bool known = l->state != ASSAY_UNAVAILABLE && isfinite(l->time_ns);
        times |= known;
        t->enqueue |= isfinite(l->host_enqueue_ns);
        if (known && l->time_ns / t->p50_ns > t->longest) t->longest = l->time_ns / t->p50_ns;
    }
    t->enqueue = t->enqueue && !times;
}

static void put_head(const struct table *t)
{
    struct assay__page *page = t->page;
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__page_right(page, "#", INDEX_COLUMNS);
    assay__buf_putc(page->out, ' ');
    if (t->op) assay__page_fit(page, "operator", t->op + 1, 0);
    assay__page_fit(page, "layer", t->name, 0);
    assay__page_right(page, "time", TIME_COLUMNS);
    assay__page_right(page, t->enqueue ? "enqueue" : "share", SHARE_COLUMNS + (t->enqueue ? 1 : 0));
    if (t->bound && !t->enqueue) assay__page_right(page, "bound", t->bound);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

/* time, share, bound and bar of any row; the mark stands directly before the number */
static void put_numbers(const struct table *t, double time_ns, const char *mark, const char *bound,
                        double bar_share)
{
    struct assay__buf cell = {0};
    char share[32];
    if (isfinite(time_ns)) assay__buf_puts(&cell, mark);
    assay__render_ns(&cell, time_ns);
    assay__page_right(t->page, cell.data ? cell.data : "", TIME_COLUMNS);
    double ratio = time_ns / t->p50_ns;
    snprintf(share, sizeof share, fabs(ratio) < 0.9995 ? "%.1f %%" : "%.0f %%", ratio * 100);
    assay__page_right(t->page, isfinite(ratio) ? share : "—", SHARE_COLUMNS);
    if (t->bound && bound[0]) assay__page_right(t->page, bound, t->bound);
    if (t->bar && bar_share * t->bar > (t->page->ascii ? 0.5 : 0)) {
        assay__buf_putc(t->page->out, ' ');
        assay__page_bar(t->page, bar_share, t->bar);
    }
    assay__buf_putc(t->page->out, '\n');
    assay__buf_free(&cell);
}

static void put_layer(const struct table *t, const struct assay__layer *l)
{
    struct assay__page *page = t->page;
    struct assay__buf cell = {0};
    bool known = l->state != ASSAY_UNAVAILABLE && isfinite(l->time_ns);
    assay__buf_printf(&cell, "%d", l->index);
    assay__page_right(page, cell.data ? cell.data : "", INDEX_COLUMNS);
    assay__buf_putc(page->out, ' ');
    assay__buf_clear(&cell);
    assay__buf_puts(&cell, l->op);
    if (l->from_count > 1) assay__buf_printf(&cell, "+%zu", l->from_count - 1);
    if (t->op) {
        assay__page_fit(page, cell.data, t->op, 0);
        assay__buf_putc(page->out, ' ');
    }
    assay__page_fit_middle(page, assay__render_layer_title(l), t->name);
    if (t->enqueue) {
        assay__page_right(page, "—", TIME_COLUMNS);
        assay__buf_clear(&cell);
        assay__render_ns(&cell, l->host_enqueue_ns);
        assay__page_right(page, cell.data ? cell.data : "", SHARE_COLUMNS + 1);
        assay__buf_putc(page->out, '\n');
    } else {
        double time_ns = known ? l->time_ns : (double)NAN;
        double bar = t->longest > 0 ? time_ns / t->p50_ns / t->longest : 0;
        static const char *const bounds[] = {"comp", "mem", "over", "?"};
        put_numbers(t, time_ns, assay__render_mark(l->state), bounds[assay__bound_parse(l->bound)],
                    bar);
    }
    assay__buf_free(&cell);
}

static void put_summary_row(const struct table *t, const char *label, double time_ns,
                            const char *mark)
{
    struct assay__page *page = t->page;
    assay__buf_repeat(page->out, " ", INDEX_COLUMNS + 1);
    assay__page_fit(page, label, (t->op ? t->op + 1 : 0) + t->name, 0);
    put_numbers(t, time_ns, mark, "", 0);
}

static void put_rest(const struct table *t, const size_t *order, size_t shown)
{
    const struct assay__layers *layers = t->layers;
    char label[64];
    if (shown < layers->count) {
        size_t more = layers->count - shown;
        snprintf(label, sizeof label, "%s %zu more layer%s", t->page->ascii ? "+" : "…", more,
                 more > 1 ? "s" : "");
        bool all =
            true; /* a sum of derived times is derived, of measured ones too: it is computed */
        for (size_t i = shown; i < layers->count; i++)
            all &= layers->items[order[i]].state == ASSAY_MEASURED;
        put_summary_row(t, label, assay__render_layer_sum(layers, order, shown, layers->count),
                        all ? "" : "=");
    }
    if (t->enqueue) return;
    put_summary_row(t, "engine per run", layers->engine_ns, "");
    put_summary_row(t, "unattributed", layers->unattributed_ns, "=");
    const char *mark = "";
    double total = assay__render_layer_total(t->trial, &mark);
    assay__page_style(t->page, ASSAY__STYLE_BOLD);
    static const char whole[] = "total (the unprofiled median)";
    int room = (t->op ? t->op + 1 : 0) + t->name;
    put_summary_row(t, (int)strlen(whole) <= room ? whole : "total (median)", total, mark);
    assay__page_style(t->page, ASSAY__STYLE_PLAIN);
}

/* "alone, hot cache" once for all layers that say it, not in every row. */
static void put_notes(struct assay__page *page, const struct assay__layers *layers)
{
    enum { KINDS = 8 };
    const char *notes[KINDS] = {0};
    size_t counts[KINDS] = {0}, kinds = 0;
    for (size_t i = 0; i < layers->count; i++) {
        const char *note = layers->items[i].note;
        if (!note || !*note) continue;
        size_t k = 0;
        while (k < kinds && strcmp(notes[k], note) != 0)
            k++;
        if (k == KINDS) continue; /* the JSON and CSV reports have them all */
        if (k == kinds) notes[kinds++] = note;
        counts[k]++;
    }
    for (size_t k = 0; k < kinds; k++) {
        struct assay__buf text = {0};
        if (counts[k] == layers->count && layers->count > 1)
            assay__buf_printf(&text, "all layers: %s", notes[k]);
        else
            assay__buf_printf(&text, "%zu layer%s: %s", counts[k], counts[k] > 1 ? "s" : "",
                              notes[k]);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

/* What timing the layers cost, and how far to trust it. */
static void put_cost(struct assay__page *page, const struct assay__layers *layers)
{
    struct assay__buf items = {0};
    if (isfinite(layers->slowdown))
        assay__page_item(&items, "the instrumented run took %.2f × the plain one",
                         layers->slowdown);
    if (isfinite(layers->scale_factor))
        assay__page_item(&items, "layer times scaled by %.4f to the bracket", layers->scale_factor);
    if (layers->sessions > 0)
        assay__page_item(&items, "%d session%s", layers->sessions, layers->sessions > 1 ? "s" : "");
    if (layers->discarded > 0)
        assay__page_item(&items, "%d discarded as disturbed", layers->discarded);
    if (isfinite(layers->spread))
        assay__page_item(&items, "spread of their sums %.1f %%", layers->spread * 100);
    if (layers->contention <= ASSAY__CONTENTION_LIMIT) /* else the sentence above has it */
        assay__page_item(&items, "means over medians %+.1f %%", layers->contention * 100);
    if (items.length) assay__page_row(page, "method cost", items.data);
    assay__buf_free(&items);
}

void assay__page_layers(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    struct table t = {.page = page, .trial = trial, .layers = layers};
    t.p50_ns = p50 && p50->value > 0 ? p50->value * 1e9 : (double)NAN;
    size_t *order = assay__render_layer_order(layers);
    if (!order) {
        if (layers->count) page->out->failed = true;
        if (layers->reason && *layers->reason) {
            assay__page_heading(page, "Layers", "");
            assay__page_row(page, "—", layers->reason);
        }
        return;
    }
    size_t shown = page->top < 0 || (size_t)page->top > layers->count ? layers->count
                                                                      : (size_t)page->top;
    if (shown + 1 == layers->count)
        shown++; /* a row that says "1 more" is no shorter than the layer */
    bool fused = false;
    for (size_t i = 0; i < shown; i++)
        fused |= layers->items[order[i]].from_count > 1;
    struct assay__buf remark = {0};
    assay__buf_printf(&remark, "%zu, slowest first; ", layers->count);
    assay__render_layer_method(&remark, layers);
    assay__page_heading(page, "Layers", remark.data ? remark.data : "");
    assay__buf_free(&remark);
    plan(&t);
    put_head(&t);
    for (size_t i = 0; i < shown; i++)
        put_layer(&t, &layers->items[order[i]]);
    put_rest(&t, order, shown);
    free(order);
    if (fused && t.op)
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ",
                         "operator+n: n more nodes of the model are fused into it");
    if (t.bound)
        assay__page_wrap(
            page, ASSAY__STYLE_DIM, "  ",
            "bound: comp by computing, mem by moving bytes, over: the cost of running any "
            "layer, ? unknown");
    put_notes(page, layers);
    if (layers->reason && *layers->reason)
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", layers->reason);
    put_cost(page, layers);
}
