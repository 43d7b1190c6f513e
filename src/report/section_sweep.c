/* section_sweep.c - the points of a sweep: a table, bars of throughput and latency, the
 * configuration matrix, and what is best in words. */
#include "report/sections.h"

#include "judge/sweep.h"
#include "base/text.h"
#include "report/render.h"
#include "report/sweep_words.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { KEY_MOST = 44, CHART_POINTS = 40 };

static const char *const titles[ASSAY__SWEEP_COLUMNS] = {
    [ASSAY__SWEEP_P50] = "p50",          [ASSAY__SWEEP_P99] = "p99",
    [ASSAY__SWEEP_RATE] = "1/s",         [ASSAY__SWEEP_MEMORY] = "memory",
    [ASSAY__SWEEP_JOULES] = "energy",    [ASSAY__SWEEP_BANDWIDTH] = "B/s",
    [ASSAY__SWEEP_UTILIZATION] = "util", [ASSAY__SWEEP_FLOPS] = "FLOP/s",
};

/* --- the key of a point: its values, one column per axis -------------------------------------- */

struct keys {
    int widths[ASSAY__AXIS_COUNT];
    int width;   /* of all, blanks between them included */
    bool labels; /* too wide: the label, cut in its middle */
};

/* What the parts of the section are made from. */
struct table {
    struct assay__page *page;
    const struct assay_profile *profile;
    const struct assay__sweep *sweep;
    struct keys keys;
    int widths[ASSAY__SWEEP_COLUMNS];
};

static struct keys measure_keys(const struct assay__sweep *sweep, int page_columns)
{
    struct keys keys = {.width = 0};
    int most = page_columns / 2 < KEY_MOST ? page_columns / 2 : KEY_MOST;
    for (size_t a = 0; a < sweep->axis_count; a++) {
        size_t width = assay__text_width(assay__axis_name(sweep->axes[a]));
        for (size_t i = 0; i < sweep->count; i++) {
            size_t own = assay__text_width(sweep->points[i].values[a]);
            if (own > width) width = own;
        }
        keys.widths[a] = (int)width;
        keys.width += (int)width + (a ? 1 : 0);
    }
    keys.labels = keys.width > most || !sweep->axis_count;
    if (keys.labels) keys.width = most;
    return keys;
}

static void put_key(struct assay__page *page, const struct assay__sweep *sweep,
                    const struct keys *keys, size_t i)
{
    const struct assay__sweep_point *p = i == SIZE_MAX ? NULL : &sweep->points[i];
    assay__buf_puts(page->out, p && i == sweep->best ? ">" : p && i == sweep->knee ? "^" : " ");
    assay__buf_puts(page->out, p && i == sweep->best && i == sweep->knee ? "^" : " ");
    if (keys->labels) {
        assay__page_fit_middle(page, p ? p->label : "", keys->width);
        return;
    }
    for (size_t a = 0; a < sweep->axis_count; a++) {
        if (a) assay__buf_putc(page->out, ' ');
        assay__page_fit(page, p ? p->values[a] : assay__axis_name(sweep->axes[a]), keys->widths[a],
                        0);
    }
}

/* --- the table -------------------------------------------------------------------------------- */

struct cell {
    char text[64];
};

/* With the mark of what was not measured itself: "=" derived, "~" estimated. */
static struct cell cell_of(const struct assay_profile *profile, const struct assay__sweep_point *p,
                           enum assay__sweep_column c)
{
    static const char *const units[ASSAY__SWEEP_COLUMNS] = {
        [ASSAY__SWEEP_P50] = "s",         [ASSAY__SWEEP_P99] = "s",
        [ASSAY__SWEEP_RATE] = "/s",       [ASSAY__SWEEP_MEMORY] = "B",
        [ASSAY__SWEEP_JOULES] = "J",      [ASSAY__SWEEP_BANDWIDTH] = "B/s",
        [ASSAY__SWEEP_UTILIZATION] = "%", [ASSAY__SWEEP_FLOPS] = "FLOP/s",
    };
    struct cell cell = {"—"};
    char number[48];
    double value = assay__sweep_value(p, c);
    if (!isfinite(value)) return cell;
    if (c == ASSAY__SWEEP_RATE && value >= 100)
        snprintf(number, sizeof number, "%.0f", value);
    else if (c == ASSAY__SWEEP_RATE)
        assay__text_scaled(number, sizeof number, value, "1/s");
    else if (c == ASSAY__SWEEP_UTILIZATION)
        snprintf(number, sizeof number, "%.1f %%", value * 100);
    else
        assay__text_scaled(number, sizeof number, value, units[c]);
    if (c == ASSAY__SWEEP_BANDWIDTH || c == ASSAY__SWEEP_FLOPS ||
        c == ASSAY__SWEEP_RATE) { /* the title has the unit */
        char *unit = strstr(number, units[c]);
        if (unit) *unit = '\0';
        if (unit > number && unit[-1] == ' ') unit[-1] = '\0';
    }
    snprintf(cell.text, sizeof cell.text, "%s%s",
             assay__render_mark(assay__sweep_state(profile, p, c)), number);
    return cell;
}

static void put_value(const struct table *t, const struct assay__sweep_point *p,
                      enum assay__sweep_column c)
{
    assay__page_right(t->page, cell_of(t->profile, p, c).text, t->widths[c]);
}

/* Every column as wide as its widest cell, and two blanks before it; one where all columns fit
 * then. */
static void measure_columns(struct table *t)
{
    int used = t->keys.width + 2;
    for (int c = 0; c < ASSAY__SWEEP_COLUMNS; c++) {
        size_t width = assay__text_width(titles[c]);
        for (size_t i = 0; i < t->sweep->count; i++) {
            struct cell cell = cell_of(t->profile, &t->sweep->points[i],
                                       (enum assay__sweep_column)c);
            size_t own = t->sweep->points[i].usable ? assay__text_width(cell.text) : 0;
            if (own > width) width = own;
        }
        t->widths[c] = (int)width + 1;
        used += t->widths[c];
    }
    bool tight = used <= t->page->columns && used + ASSAY__SWEEP_COLUMNS > t->page->columns;
    for (int c = 0; c < ASSAY__SWEEP_COLUMNS && !tight; c++)
        t->widths[c]++;
}

/* As many columns as the page has room for, from `first` on. The column after them. */
static int put_part(const struct table *t, int first)
{
    struct assay__page *page = t->page;
    const struct assay__sweep *sweep = t->sweep;
    int end = first, used = t->keys.width + 2;
    while (end < ASSAY__SWEEP_COLUMNS && (end == first || used + t->widths[end] <= page->columns))
        used += t->widths[end++];
    assay__page_style(page, ASSAY__STYLE_DIM);
    put_key(page, sweep, &t->keys, SIZE_MAX);
    for (int c = first; c < end; c++)
        assay__page_right(page, titles[c], t->widths[c]);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    for (size_t i = 0; i < sweep->count; i++) {
        const struct assay__sweep_point *p = &sweep->points[i];
        if (first && !p->usable) continue;
        put_key(page, sweep, &t->keys, i);
        for (int c = first; c < end && p->usable; c++)
            put_value(t, p, (enum assay__sweep_column)c);
        if (!p->usable) {
            assay__page_right(page, "—", t->widths[first]);
            assay__buf_puts(page->out, "  see below");
        }
        assay__buf_putc(page->out, '\n');
    }
    return end;
}

/* Why points have no row of numbers, each reason once. */
static void put_failures(struct assay__page *page, const struct assay__sweep *sweep)
{
    for (size_t i = 0; i < sweep->count; i++) {
        const struct assay__sweep_point *p = &sweep->points[i];
        struct assay__buf text = {0};
        bool said = p->usable && p->within;
        for (size_t k = 0; k < i && !said; k++)
            said = sweep->points[k].usable == p->usable && !sweep->points[k].within &&
                   strcmp(sweep->points[k].reason, p->reason) == 0;
        if (said) continue;
        for (size_t k = i; k < sweep->count; k++)
            if (sweep->points[k].usable == p->usable && !sweep->points[k].within &&
                strcmp(sweep->points[k].reason, p->reason) == 0)
                assay__buf_printf(&text, "%s%s", text.length ? ", " : "", sweep->points[k].label);
        assay__buf_printf(&text, ": %s", *p->reason ? p->reason : "not measured");
        assay__page_row(page,
                        !p->usable  ? "not run"
                        : !p->sound ? "not best"
                                    : "not within",
                        text.data ? text.data : "");
        if (text.failed) page->out->failed = true;
        assay__buf_free(&text);
    }
    for (size_t i = 0; i < sweep->count; i++) {
        struct assay__buf text = {0};
        if (!*sweep->points[i].lost) continue;
        assay__buf_printf(&text, "%s: %s", sweep->points[i].label, sweep->points[i].lost);
        assay__page_row(page, "lost", text.data ? text.data : "");
        if (text.failed) page->out->failed = true;
        assay__buf_free(&text);
    }
}

/* Why a column has gaps: the reason of the first point that has none, once. */
static void put_gaps(struct assay__page *page, const struct assay_profile *profile,
                     const struct assay__sweep *sweep)
{
    for (int c = 0; c < ASSAY__SWEEP_COLUMNS; c++) {
        const char *why = assay__sweep_gap(profile, sweep, (enum assay__sweep_column)c);
        if (!why) continue;
        struct assay__buf text = {0};
        assay__buf_printf(&text, "%s: %s", titles[c], why);
        const char *help = assay__sweep_help(profile, (enum assay__sweep_column)c);
        if (*help) assay__buf_printf(&text, " (%s)", help);
        assay__page_row(page, "—", text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

/* --- bars ------------------------------------------------------------------------------------- */

static void put_bar(struct assay__page *page, double share, int width)
{
    size_t before = page->out->length;
    assay__page_bar(page, share, width);
    int used = !(share > 0)  ? 0
               : page->ascii ? (int)(share * width + 0.5)
                             : ((int)(share * width * 8 + 0.5) + 7) / 8;
    if (used == 0 && page->out->length > before && !page->ascii) used = 1;
    if (used < width) assay__buf_repeat(page->out, " ", (size_t)(width - used));
}

static void put_bars(const struct table *t)
{
    struct assay__page *page = t->page;
    const struct assay__sweep *sweep = t->sweep;
    double most = 0, slowest = 0;
    int rates = t->widths[ASSAY__SWEEP_RATE] + 1, times = t->widths[ASSAY__SWEEP_P50];
    int width = (page->columns - t->keys.width - 2 - rates - times - 3) / 2;
    size_t shown = sweep->count < CHART_POINTS ? sweep->count : CHART_POINTS;
    for (size_t i = 0; i < sweep->count; i++) {
        if (sweep->points[i].throughput > most) most = sweep->points[i].throughput;
        if (sweep->points[i].latency_s > slowest) slowest = sweep->points[i].latency_s;
    }
    if (!(most > 0) || !(slowest > 0) || width < 3) return;
    assay__page_heading(page, "Curves", "throughput, and latency (p50)");
    for (size_t i = 0; i < shown; i++) {
        const struct assay__sweep_point *p = &sweep->points[i];
        char rate[72];
        if (!p->usable) continue;
        put_key(page, sweep, &t->keys, i);
        snprintf(rate, sizeof rate, "%s/s", cell_of(t->profile, p, ASSAY__SWEEP_RATE).text);
        assay__page_right(page, rate, rates);
        assay__buf_putc(page->out, ' ');
        put_bar(page, p->throughput / most, width);
        put_value(t, p, ASSAY__SWEEP_P50);
        assay__buf_putc(page->out, ' ');
        assay__page_bar(page, p->latency_s / slowest, width);
        assay__buf_putc(page->out, '\n');
    }
    if (shown < sweep->count)
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", "the first 40 points; the table has all");
}

/* --- the configuration matrix ----------------------------------------------------------------- */

/* Of the column of devices: what its cells need, within what the others leave. */
static int device_width(const struct table *t, int room)
{
    int width = 6;
    for (size_t i = 0; i < t->sweep->count; i++) {
        int own = (int)assay__text_width(assay__sweep_rest(t->sweep, i).text);
        if (own > width) width = own;
    }
    return width <= room ? width : room > 8 ? room : 8;
}

static void put_matrix(const struct table *t)
{
    static const enum assay__sweep_column cells[] = {ASSAY__SWEEP_FLOPS, ASSAY__SWEEP_BANDWIDTH,
                                                     ASSAY__SWEEP_UTILIZATION};
    struct assay__page *page = t->page;
    if (!assay__sweep_is_matrix(t->sweep)) return;
    int room = page->columns - 2 - 9 - 12 - 9; /* " software" */
    for (size_t c = 0; c < 3; c++)
        room -= t->widths[cells[c]];
    bool narrow = room < 8;
    size_t shown = narrow ? 2 : 3;
    if (narrow) room = page->columns - 2 - 8 - 2 - t->widths[cells[0]] - t->widths[cells[1]];
    int width = device_width(t, room);
    assay__page_heading(page, "Configurations",
                        "compiled: graph optimisation on; accelerator: not the CPU");
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_printf(page->out, narrow ? "  %-4s%-4s" : "  %-9s%-12s", narrow ? "opt" : "compiled",
                      narrow ? "acc" : "accelerator");
    assay__page_fit(page, "device", width, 0);
    for (size_t c = 0; c < shown; c++)
        assay__page_right(page, titles[cells[c]], t->widths[cells[c]]);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    for (size_t i = 0; i < t->sweep->count; i++) {
        const struct assay__sweep_point *p = &t->sweep->points[i];
        assay__buf_printf(page->out, narrow ? "  %-4s%-4s" : "  %-9s%-12s",
                          assay__sweep_compiled(t->sweep, i), assay__sweep_accelerated(p));
        assay__page_fit(page, assay__sweep_rest(t->sweep, i).text, width, 0);
        for (size_t c = 0; c < shown && p->usable; c++)
            put_value(t, p, cells[c]);
        if (!p->usable) assay__buf_puts(page->out, "  — see above");
        if (p->software && p->usable) assay__buf_puts(page->out, narrow ? " *" : " software");
        assay__buf_putc(page->out, '\n');
    }
}

/* --- words ------------------------------------------------------------------------------------ */

static void put_labels(struct assay__page *page, const struct assay__sweep *sweep)
{
    struct assay__buf alike = {0}, pairs = {0};
    assay__sweep_alike(&alike, sweep);
    assay__sweep_pairs(&pairs, sweep);
    if (alike.length) assay__page_row(page, "not apart", alike.data);
    if (pairs.length) assay__page_row(page, alike.length ? "nor" : "not apart", pairs.data);
    if (alike.failed || pairs.failed) page->out->failed = true;
    assay__buf_free(&alike);
    assay__buf_free(&pairs);
}

static void put_wall(struct assay__page *page, const struct assay__sweep_wall *wall)
{
    struct assay__buf text = {0};
    if (!isfinite(wall->total) || !(wall->total > 0)) return;
    assay__buf_printf(
        &text,
        "%.1f s: measuring %.1f s (%.0f %%), loading %.1f s (%.0f %%), overhead %.1f s "
        "(%.1f %%)",
        wall->total, wall->measuring, wall->measuring / wall->total * 100, wall->loading,
        wall->loading / wall->total * 100, wall->overhead, wall->overhead / wall->total * 100);
    assay__page_row(page, "time", text.data ? text.data : "");
    assay__buf_free(&text);
}

static void put_words(struct assay__page *page, const struct assay__sweep *sweep)
{
    struct assay__buf text = {0};
    assay__page_row(page, "best", sweep->why);
    put_labels(page, sweep);
    if (sweep->confirmation.asked) assay__page_row(page, "confirm", sweep->confirmation.why);
    assay__page_row(page, "knee", sweep->knee_why);
    if (*sweep->gain) assay__page_row(page, "gain", sweep->gain);
    const struct assay__sweep_point *to = sweep->scaled != SIZE_MAX ? &sweep->points[sweep->scaled]
                                                                    : NULL;
    if (to && isfinite(to->efficiency) && to->base != sweep->scaled) {
        const struct assay__sweep_point *from = &sweep->points[to->base];
        if (assay__sweep_overlap(from, to))
            assay__buf_printf(&text, "%s is not told from %s: their launches overlap", to->label,
                              from->label);
        else
            assay__buf_printf(&text, "%s %% of linear from %s to %s",
                              assay__digits(to->efficiency * 100, 3).text, from->label, to->label);
        assay__page_row(page, "scaling", text.data ? text.data : "");
    }
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->points[i].software && sweep->points[i].usable) {
            assay__page_row(page, "software",
                            "a device that is emulated in software is measured, not recommended");
            break;
        }
    put_wall(page, &sweep->wall);
    assay__buf_free(&text);
}

void assay__section_sweep(struct assay__page *page, const struct assay_profile *profile,
                          const struct assay__trial *trial)
{
    struct assay__sweep sweep;
    if (trial != profile->trials || profile->kind != ASSAY__PROFILE_SWEEP) return;
    struct assay__arena *arena = assay__arena_new();
    if (!arena || assay__sweep(profile, arena, &sweep)) {
        page->out->failed = true;
        goto out;
    }
    struct table table = {page, profile, &sweep, measure_keys(&sweep, page->columns), {0}};
    measure_columns(&table);
    assay__page_heading(page, "Sweep", "> best, ^ knee; 1/s: samples; energy: gross");
    for (int c = 0; c < ASSAY__SWEEP_COLUMNS;)
        c = put_part(&table, c);
    put_failures(page, &sweep);
    put_gaps(page, profile, &sweep);
    put_bars(&table);
    put_matrix(&table);
    assay__page_heading(page, "What it says", "");
    put_words(page, &sweep);
out:
    assay__arena_free(arena);
}
