/* section_comparison.c - trials against each other: one row each, the verdict by launches, what to choose and why. */
#include "report/sections.h"

#include "advise/comparison.h"
#include "base/text.h"
#include "report/figure_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_LEAST = 12, LABEL_MOST = 30 };

static size_t label_width(const struct assay__comparison *all)
{
    size_t width = LABEL_LEAST;
    for (size_t i = 0; i < all->count; i++) {
        size_t own = assay__text_width(all->rows[i].label);
        if (own > width) width = own;
    }
    return width < LABEL_MOST ? width : LABEL_MOST;
}

static void put_cell(struct assay__page *page, double value, const char *unit, int width)
{
    char scaled[64] = "—";
    if (isfinite(value)) assay__text_scaled(scaled, sizeof scaled, value, unit);
    assay__page_right(page, scaled, (size_t)width);
}

static void put_speed(struct assay__buf *out, const struct assay__comparison *all, size_t i)
{
    const struct assay__comparison_row *row = &all->rows[i];
    if (i == all->reference)
        assay__buf_puts(out, "reference");
    else if (isfinite(row->speed.ratio))
        assay__buf_printf(out, "=%.3g × (%.3g to %.3g) %s", row->speed.ratio, row->speed.ci.low,
                          row->speed.ci.high, assay__verdict_name(row->verdict));
    else
        assay__buf_printf(out, "— %s", row->reason);
    if (*row->role && strcmp(row->role, "reference") != 0)
        assay__buf_printf(out, " [%s]", row->role);
}

static void put_row(struct assay__page *page, const struct assay__comparison *all, size_t i,
                    size_t width)
{
    const struct assay__comparison_row *row = &all->rows[i];
    struct assay__buf first = {0}, safe = {0}, speed = {0};
    assay__buf_puts(&first, "  ");
    assay__text_safe(&safe, row->label);
    assay__text_fit(&first, safe.data ? safe.data : "", width, 0);
    struct assay__page line = *page;
    line.out = &first;
    put_cell(&line, row->latency_s, "s", 10);
    put_cell(&line, row->throughput, "1/s", 11);
    put_cell(&line, row->energy_j, "J", 10);
    assay__buf_puts(&first, "  ");
    put_speed(&speed, all, i);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, first.data ? first.data : "",
                     speed.data ? speed.data : "");
    assay__buf_free(&first);
    assay__buf_free(&safe);
    assay__buf_free(&speed);
}

/* The latencies once more, to look at. */
static void put_bars(struct assay__page *page, const struct assay_profile *profile,
                     struct assay__arena *arena)
{
    struct assay__figure figure;
    int code = assay__figure_row_find("compare")->make(profile, profile->trials, 0, arena, &figure,
                                                       NULL);
    if (code == ASSAY_ENOMEM) page->out->failed = true;
    if (code) return;
    assay__buf_putc(page->out, '\n');
    assay__text_bars(page, &figure);
    assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", "p50: shorter is faster");
}

static void put_drift(struct assay__page *page, const struct assay_profile *profile,
                      const struct assay__comparison *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__trial *trial = &profile->trials[all->rows[i].trial];
        const struct assay_metric *l2 = assay__render_known(trial, "drift.relative_l2"),
                                  *cosine = assay__render_known(trial, "drift.cosine"),
                                  *top1 = assay__render_known(trial, "drift.top1");
        struct assay__buf text = {0};
        if (!l2) continue;
        assay__buf_printf(&text, "%s: relative L2 %.2g", all->rows[i].label, l2->value);
        if (cosine) assay__buf_printf(&text, ", cosine %.6f", cosine->value);
        if (top1) assay__buf_printf(&text, ", same first class in %.3g %%", top1->value * 100);
        assay__page_row(page, "drift", text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

void assay__section_comparison(struct assay__page *page, const struct assay_profile *profile,
                               const struct assay__trial *trial)
{
    static const char *const goals[] = {"latency", "throughput", "energy"};
    struct assay__arena *arena = NULL;
    struct assay__comparison all;
    if (trial != profile->trials || strcmp(profile->command, "compare") != 0) return;
    arena = assay__arena_new();
    if (!arena || assay__comparison(profile, arena, &all)) {
        page->out->failed = true;
        goto out;
    }
    assay__page_heading(page, "Comparison",
                        "p50 over launches; speed-up against the reference, 95 % interval");
    size_t width = label_width(&all);
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_printf(page->out, "  %-*s%10s%11s%10s  %s\n", (int)width, "", "p50", "per second",
                      "energy", "speed-up");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    for (size_t i = 0; i < all.count; i++)
        put_row(page, &all, i, width);
    put_bars(page, profile, arena);
    put_drift(page, profile, &all);
    for (size_t i = 0; i < ASSAY__FOR_COUNT; i++) {
        struct assay__buf text = {0};
        const struct assay__recommendation *r = &all.recommendations[i];
        if (r->row != SIZE_MAX) assay__buf_printf(&text, "%s: ", all.rows[r->row].label);
        assay__buf_puts(&text, r->why);
        assay__page_row(page, goals[i], text.data ? text.data : "");
        assay__buf_free(&text);
    }
out:
    assay__arena_free(arena);
}
