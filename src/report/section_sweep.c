/* section_sweep.c - the points of a sweep as a table with bars, the best one, those like it, the knee. */
#include "report/sections.h"

#include "advise/sweep.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LABEL_LEAST = 10, LABEL_MOST = 34, BAR = 12 };

static void put_cell(struct assay__page *page, double value, const char *unit, int width)
{
    char scaled[64] = "—";
    if (isfinite(value)) assay__text_scaled(scaled, sizeof scaled, value, unit);
    assay__page_right(page, scaled, width);
}

static void put_point(struct assay__page *page, const struct assay__sweep *sweep, size_t i,
                      int width, double most)
{
    const struct assay__sweep_point *p = &sweep->points[i];
    assay__buf_puts(page->out, i == sweep->best ? "> " : i == sweep->knee ? "^ " : "  ");
    assay__page_fit(page, p->label, width, 0);
    if (!p->usable) {
        assay__buf_puts(page->out, "  — ");
        assay__page_fit(page, p->reason, page->columns - width - 6, 0);
        assay__buf_putc(page->out, '\n');
        return;
    }
    put_cell(page, p->latency_s, "s", 10);
    put_cell(page, p->throughput, "1/s", 11);
    put_cell(page, p->memory_bytes, "B", 9);
    put_cell(page, p->energy_j, "J", 9);
    assay__buf_putc(page->out, ' ');
    assay__page_bar(page, most > 0 ? p->throughput / most : 0, BAR);
    assay__buf_putc(page->out, '\n');
}

static void put_words(struct assay__page *page, const struct assay__sweep *sweep)
{
    struct assay__buf text = {0};
    assay__page_row(page, "best", sweep->why);
    for (size_t i = 0; i < sweep->alike_count; i++)
        assay__buf_printf(&text, "%s%s", i ? ", " : "", sweep->points[sweep->alike[i]].label);
    if (sweep->alike_count) {
        assay__page_row(page, "not apart", text.data ? text.data : "");
        assay__page_row(
            page, "",
            "their launches overlap those of the best: more launches (--launches 10) could tell them apart");
    }
    assay__page_row(page, "knee", sweep->knee_why);
    assay__buf_clear(&text);
    const struct assay__sweep_point *best = sweep->best != SIZE_MAX ? &sweep->points[sweep->best]
                                                                    : NULL;
    if (best && isfinite(best->efficiency) && best->base != sweep->best) {
        assay__buf_printf(&text, "%.3g %% of linear from %s to %s", best->efficiency * 100,
                          sweep->points[best->base].label, best->label);
        assay__page_row(page, "scaling", text.data ? text.data : "");
    }
    assay__buf_free(&text);
}

void assay__section_sweep(struct assay__page *page, const struct assay_profile *profile,
                          const struct assay__trial *trial)
{
    struct assay__sweep sweep;
    struct assay__sweep_limits limits = assay__sweep_limits_of(profile);
    double most = 0;
    int width = LABEL_LEAST;
    if (trial != profile->trials || strcmp(profile->command, "sweep") != 0) return;
    struct assay__arena *arena = assay__arena_new();
    if (!arena || assay__sweep(profile, &limits, arena, &sweep)) {
        page->out->failed = true;
        goto out;
    }
    for (size_t i = 0; i < sweep.count; i++) {
        int own = (int)assay__text_width(sweep.points[i].label);
        if (own > width) width = own;
        if (sweep.points[i].throughput > most) most = sweep.points[i].throughput;
    }
    if (width > LABEL_MOST) width = LABEL_MOST;
    assay__page_heading(page, "Sweep", "median of the launches' medians; > best, ^ knee");
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_printf(page->out, "  %-*s%10s%11s%9s%9s\n", width, "", "p50", "per second", "memory",
                      "energy");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    for (size_t i = 0; i < sweep.count; i++)
        put_point(page, &sweep, i, width, most);
    put_words(page, &sweep);
out:
    assay__arena_free(arena);
}
