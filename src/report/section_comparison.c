/* section_comparison.c - trials against each other, at any width: the numbers of each in as many
 * short tables as the page needs, the ratios to the reference with their intervals, whether the
 * outputs agree, who ran the nodes, and what to choose. What is not known of any row is one line
 * with its reason instead of a column of dashes. */
#include "report/sections.h"

#include "judge/comparison.h"
#include "base/metric_value.h"
#include "base/text.h"
#include "report/figure/figure_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_LEAST = 8, LABEL_MOST = 28, LABEL_NARROW = 16, NARROW = 60, NAMES_MOST = 20 };

struct view {
    struct assay__page *page;
    const struct assay_profile *profile;
    const struct assay__comparison *all;
    size_t width; /* of the labels */
};

static const struct assay__trial *trial_of(const struct view *v, size_t i)
{
    return &v->profile->trials[v->all->rows[i].trial];
}

static size_t label_width(const struct view *v)
{
    size_t width = LABEL_LEAST, most = v->page->columns < NARROW ? LABEL_NARROW : LABEL_MOST;
    for (size_t i = 0; i < v->all->count; i++) {
        size_t own = assay__text_width(v->all->rows[i].label);
        if (own > width) width = own;
    }
    return width < most ? width : most;
}

/* "  label " into a buffer of its own, for what is wrapped under it. */
static void put_label(const struct view *v, size_t i, struct assay__buf *out)
{
    struct assay__page line = *v->page;
    line.out = out;
    assay__buf_puts(out, "  ");
    assay__page_fit_middle(&line, v->all->rows[i].label, (int)v->width);
    assay__buf_puts(out, "  ");
}

static void put_line(const struct view *v, size_t i, const char *text)
{
    struct assay__buf first = {0};
    put_label(v, i, &first);
    assay__page_wrap(v->page, ASSAY__STYLE_PLAIN, first.data ? first.data : "", text);
    assay__buf_free(&first);
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

/* --- the numbers ------------------------------------------------------------------------------ */

static const struct column {
    const char *head, *metric, *other; /* other: where the first is not known */
    int width;
} columns[] = {
    {"p50", "latency.p50", NULL, 10},
    {"p99", "latency.p99", NULL, 10},
    {"per second", "throughput.samples", "throughput.inferences", 12},
    {"memory", "memory.peak.worker", NULL, 10},
    {"on device", "memory.peak.device", NULL, 11},
    {"power", "power.average", NULL, 10},
    {"gross energy", "energy.inference.gross", NULL, 14}, /* the idle machine's part included */
    {"OPS/W", "efficiency.tops_per_watt", NULL, 10},
    {"score", "score.efficiency", NULL, 8},
};
#define COLUMN_COUNT (sizeof columns / sizeof columns[0])
enum { ON_DEVICE = 4, POWER = 5, ENERGY = 6, OPS_PER_WATT = 7 };

static const struct assay_metric *metric_of(const struct view *v, size_t i, size_t column)
{
    const struct assay__trial *trial = trial_of(v, i);
    const struct column *c = &columns[column];
    if (!trial->metrics) return NULL;
    const struct assay_metric *m = assay__trial_metric(trial, c->metric);
    if (!m && c->other) m = assay__trial_metric(trial, c->other);
    return m ? m : assay_metrics_get(trial->metrics, c->metric);
}

static bool any_known(const struct view *v, size_t column)
{
    for (size_t i = 0; i < v->all->count; i++)
        if (assay__metric_is_known(metric_of(v, i, column))) return true;
    return false;
}

static void put_cell(struct assay__page *page, const struct assay__comparison_row *row,
                     const struct assay_metric *m, size_t column)
{
    struct assay__buf text = {0};
    struct assay_metric own;
    const char *unit = "";
    if (assay__metric_is_known(m) &&
        (column == ENERGY || column == OPS_PER_WATT)) { /* over launches */
        own = *m;
        own.value = column == ENERGY ? row->energy_j : row->tops_per_watt;
        m = &own;
    }
    if (assay__metric_is_known(m) && strcmp(m->unit, "points") == 0)
        assay__buf_printf(&text, "%s%.1f", assay__render_mark(m->state), m->value);
    else
        assay__render_metric(&text, m);
    /* what the heading says already */
    if (strcmp(columns[column].head, "per second") == 0) unit = "/s";
    if (strcmp(columns[column].head, "OPS/W") == 0) unit = "OPS/W";
    size_t length = text.data ? strlen(text.data) : 0, cut = strlen(unit);
    if (cut && length > cut && strcmp(text.data + length - cut, unit) == 0)
        text.data[length -= cut] = '\0';
    while (cut && length && text.data[length - 1] == ' ')
        text.data[--length] = '\0';
    assay__page_right(page, text.data ? text.data : "", columns[column].width);
    assay__buf_free(&text);
}

/* Columns first … end of those in `shown`. */
static void put_table(const struct view *v, const size_t *shown, size_t first, size_t end)
{
    struct assay__page *page = v->page;
    assay__buf_putc(page->out, '\n');
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_repeat(page->out, " ", v->width + 2);
    for (size_t c = first; c < end; c++)
        assay__page_right(page, columns[shown[c]].head, columns[shown[c]].width);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    for (size_t i = 0; i < v->all->count; i++) {
        assay__buf_puts(page->out, "  ");
        assay__page_fit_middle(page, v->all->rows[i].label, (int)v->width);
        for (size_t c = first; c < end; c++)
            put_cell(page, &v->all->rows[i], metric_of(v, i, shown[c]), shown[c]);
        assay__buf_putc(page->out, '\n');
    }
}

/* How many samples a percentile needs, where a launch has fewer; 0: that is not what is wrong. How
 * many there are differs from row to row and matters to none. */
static size_t samples_needed(const struct assay__trial *trial, size_t column)
{
    size_t needs = assay__stats_percentile_needs(0.99);
    if (strcmp(columns[column].metric, "latency.p99") != 0) return 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        if (trial->launches[i].sample_count < needs + trial->launches[i].warmup) return needs;
    return 0;
}

static void put_reason(struct assay__buf *out, const struct view *v, size_t row, size_t column)
{
    const struct assay__trial *trial = trial_of(v, row);
    size_t needs = samples_needed(trial, column);
    if (needs)
        assay__buf_printf(out, "needs %zu samples in a launch: run longer (--iters, --time)",
                          needs);
    else
        assay__buf_puts(out, metric_of(v, row, column)->note);
    if ((column == POWER || column == ENERGY) && trial->power.gap == ASSAY__POWER_UNREAD)
        assay__buf_puts(out, " (--no-power)");
}

static bool same_reason(const struct view *v, size_t a, size_t b, size_t column)
{
    struct assay__buf x = {0}, y = {0};
    put_reason(&x, v, a, column);
    put_reason(&y, v, b, column);
    bool same = x.data && y.data && strcmp(x.data, y.data) == 0;
    assay__buf_free(&x);
    assay__buf_free(&y);
    return same;
}

/* What follows from power is not told again of a row whose power is not known. */
static bool is_told(const struct view *v, size_t row, size_t column)
{
    const struct assay_metric *power = metric_of(v, row, POWER);
    return column > POWER && !(power && assay__metric_is_known(power));
}

/* Why a row has no number there: the same reason is told once, with the rows it is of. */
static void put_reasons(const struct view *v, size_t column)
{
    for (size_t i = 0; i < v->all->count; i++) {
        const struct assay_metric *m = metric_of(v, i, column);
        struct assay__buf text = {0}, labels = {0};
        bool told = false, alone = true;
        if (!v->all->rows[i].usable || !m || assay__metric_is_known(m) || is_told(v, i, column))
            continue;
        for (size_t k = 0; k < v->all->count; k++) {
            const struct assay_metric *other = metric_of(v, k, column);
            if (!v->all->rows[k].usable) continue;
            bool same = other && !assay__metric_is_known(other) && !is_told(v, k, column) &&
                        same_reason(v, k, i, column);
            told |= same && k < i;
            alone &= same;
            if (same)
                assay__buf_printf(&labels, "%s%s", labels.length ? ", " : "",
                                  v->all->rows[k].label);
        }
        assay__buf_puts(&text, "— ");
        if (!alone) assay__buf_printf(&text, "%s: ", labels.data ? labels.data : "");
        put_reason(&text, v, i, column);
        if (!told)
            assay__page_row(v->page, column == ENERGY ? "energy" : columns[column].head,
                            text.data ? text.data : "");
        assay__buf_free(&text);
        assay__buf_free(&labels);
    }
}

static void put_numbers(const struct view *v)
{
    size_t shown[COLUMN_COUNT], count = 0;
    int room = v->page->columns - (int)v->width - 2;
    for (size_t c = 0; c < COLUMN_COUNT; c++)
        if (any_known(v, c)) shown[count++] = c;
    if (count) assay__page_heading(v->page, "Comparison", "medians over launches that take turns");
    for (size_t first = 0, end; first < count; first = end) {
        int used = columns[shown[first]].width;
        for (end = first + 1; end < count && used + columns[shown[end]].width <= room; end++)
            used += columns[shown[end]].width;
        put_table(v, shown, first, end);
    }
}

/* --- against the reference -------------------------------------------------------------------- */

/* "=1.34 × as fast (1.31 to 1.36)"; three digits, but no powers of ten. */
static void put_interval(struct assay__buf *out, const char *what, double ratio, double low,
                         double high)
{
    assay__buf_printf(out, "=%s ×%s (%s)", assay__digits(ratio, 3).text, what,
                      assay__digits_range(low, high).text);
}

static void put_speed(struct assay__buf *out, const struct assay__comparison_row *row)
{
    const struct assay__ratio *s = &row->speed;
    if (!isfinite(s->ratio)) {
        assay__buf_printf(out, "— %s", row->reason);
    } else if (row->verdict == ASSAY__VERDICT_SLOWER) {
        assay__buf_puts(out, "slower: takes ");
        put_interval(out, " as long", 1 / s->ratio, 1 / s->ci.high, 1 / s->ci.low);
    } else {
        assay__buf_printf(out, "%s: ", assay__verdict_name(row->verdict));
        put_interval(out, " as fast", s->ratio, s->ci.low, s->ci.high);
    }
    if (isfinite(s->ratio)) assay__buf_puts(out, assay__ratio_by_words(s->by));
}

/* Of one that never came to be measured. */
static void put_first(struct assay__buf *out, const struct assay__trial *trial)
{
    const struct assay_metric *first = assay__trial_metric(trial, "timing.first");
    if (!first || assay__trial_metric(trial, "latency.p50")) return;
    assay__buf_puts(out, "; its first inference took ");
    assay__render_metric(out, first);
}

static void put_energy(struct assay__buf *out, const struct assay__comparison_row *row)
{
    static const char *const words[] = {"", "no difference of energy shown", "less energy",
                                        "more energy"};
    const struct assay__ratio *e = &row->energy;
    if (!isfinite(row->energy_ratio)) return;
    if (isfinite(e->ratio)) {
        assay__buf_printf(out, "; %s: ", words[row->energy_verdict]);
        put_interval(out, "", e->ratio, e->ci.low, e->ci.high);
    } else {
        assay__buf_printf(out, "; energy =%s ×, no interval: %s",
                          assay__digits(row->energy_ratio, 3).text, row->energy_reason);
    }
}

static void put_ratios(const struct view *v)
{
    struct assay__buf remark = {0};
    const struct assay__comparison *all = v->all;
    if (all->reference == SIZE_MAX) {
        assay__page_heading(v->page, "Why nothing can be compared", "");
    } else {
        bool energy = false;
        for (size_t i = 0; i < all->count; i++)
            energy |= i != all->reference && isfinite(all->rows[i].energy_ratio);
        assay__buf_printf(&remark, "against %s; %s95 %% intervals, a launch counts once",
                          all->rows[all->reference].label, energy ? "gross energy; " : "");
        assay__page_heading(v->page, all->count > 1 ? "Speed and energy" : "One row only",
                            remark.data ? remark.data : "");
    }
    if (*all->batches) assay__page_wrap(v->page, ASSAY__STYLE_WARN, "  ", all->batches);
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__comparison_row *row = &all->rows[i];
        struct assay__buf text = {0};
        bool lost = row->usable && trial_of(v, i)->state == ASSAY__TRIAL_FAILED;
        if (i == all->reference && !lost) continue;
        if (i == all->reference) {
            assay__buf_puts(&text, "the reference");
        } else {
            put_speed(&text, row);
            put_first(&text, trial_of(v, i));
            put_energy(&text, row);
        }
        if (lost && strstr(text.data ? text.data : "", row->reason) == NULL)
            assay__buf_printf(&text, "; %s; the others count", row->reason);
        if (row->role && row->role != ASSAY__ROLE_REFERENCE)
            assay__buf_printf(&text, " [%s]", assay__role_name(row->role));
        put_line(v, i, text.data ? text.data : "");
        assay__buf_free(&text);
    }
    assay__buf_free(&remark);
}

/* --- outputs and nodes ------------------------------------------------------------------------ */

static void put_distances(struct assay__buf *out, const struct assay__trial *trial)
{
    double l2 = assay__trial_value(trial, "drift.relative_l2"),
           most = assay__trial_value(trial, "drift.max_absolute"),
           cosine = assay__trial_value(trial, "drift.cosine"),
           top1 = assay__trial_value(trial, "drift.top1");
    assay__buf_printf(out, "relative L2 =%.2g", l2);
    if (isfinite(most)) assay__buf_printf(out, ", at most =%s apart", assay__digits(most, 2).text);
    if (isfinite(cosine)) assay__buf_printf(out, ", cosine =%.6f", cosine);
    if (isfinite(top1))
        assay__buf_printf(out, ", same first class in =%s %%", assay__digits(top1 * 100, 3).text);
}

static void put_drift(const struct view *v)
{
    bool headed = false;
    for (size_t i = 0; i < v->all->count; i++) {
        const struct assay__trial *trial = trial_of(v, i);
        const struct assay_metric *l2 = assay__trial_metric(trial, "drift.relative_l2"),
                                  *most = assay__trial_metric(trial, "drift.max_absolute"), *any;
        struct assay__buf text = {0};
        any = trial->metrics ? assay_metrics_get(trial->metrics, "drift.relative_l2") : NULL;
        const struct assay__comparison_row *row = &v->all->rows[i];
        bool reference = i == v->all->reference && row->own_nonfinite > 0;
        if (!reference && (!any || (!row->usable && !l2))) continue;
        if (!headed)
            assay__page_heading(v->page, "Outputs",
                                "of the first inference, against the reference's");
        headed = true;
        if (*row->unadvised || row->nonfinite > 0 || row->relative_l2 > ASSAY__DRIFT_LIMIT)
            assay__buf_puts(&text, "warning: ");
        if (reference)
            assay__buf_printf(&text, "%.0f of its own values are NaN or infinite",
                              row->own_nonfinite);
        else if (!l2)
            assay__buf_puts(&text, any->note);
        else if (most && most->value <= 0)
            assay__buf_puts(&text, "the same numbers");
        else
            put_distances(&text, trial);
        if (l2 && row->nonfinite > 0)
            assay__buf_printf(&text, "; %.0f values are NaN or infinite", row->nonfinite);
        if (*row->unadvised) assay__buf_puts(&text, "; it is not advised");
        put_line(v, i, text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

static void put_crossings(struct assay__buf *out, const struct assay__placement_summary *f)
{
    char bytes[64], time[64];
    assay__text_scaled(bytes, sizeof bytes, f->crossing_bytes, "B");
    assay__buf_printf(out, "; =%.0f crossing%s of =%s", f->crossings, f->crossings == 1 ? "" : "s",
                      bytes);
    assay__text_scaled(time, sizeof time, f->crossing_time_s, "s");
    if (isfinite(f->crossing_time_s))
        assay__buf_printf(out, " took =%s", time);
    else
        assay__buf_printf(out, ", their time — %s", f->time_reason);
}

static void put_names(struct assay__buf *out, const struct assay__placement_summary *f)
{
    size_t shown = f->name_count < NAMES_MOST ? f->name_count : NAMES_MOST;
    assay__buf_printf(out, "; %s ran", f->provider);
    for (size_t i = 0; i < shown; i++)
        assay__buf_printf(out, "%s %s", i ? "," : "", f->names[i]);
    if (shown < f->name_count)
        assay__buf_printf(out, " and %zu more (--json names all)", f->name_count - shown);
}

static void put_placement(const struct view *v)
{
    bool headed = false;
    for (size_t i = 0; i < v->all->count; i++) {
        const struct assay__placement_summary *f = &v->all->rows[i].placement;
        struct assay__buf text = {0};
        if (!f->asked || (!v->all->rows[i].usable && *f->reason)) continue;
        if (!headed)
            assay__page_heading(v->page, "Who ran the nodes", "by the engine's own record");
        headed = true;
        if (*f->reason) {
            assay__buf_printf(&text, "— %s", f->reason);
        } else if (assay__placement_is_elsewhere(f)) {
            assay__buf_printf(&text,
                              "warning: none of the %.0f nodes ran on it, all on %s: this row is "
                              "no measurement of the device",
                              f->elsewhere, *f->provider ? f->provider : "another provider");
        } else {
            assay__buf_printf(&text, "%s%.0f of %.0f nodes on it, in =%.0f piece%s",
                              f->inferred > 0 ? "=" : "", f->nodes, f->nodes + f->elsewhere,
                              f->partitions, f->partitions == 1 ? "" : "s");
            if (isfinite(f->flops_share))
                assay__buf_printf(&text, ", =%s %% of the FLOPs",
                                  assay__digits(f->flops_share * 100, 3).text);
            if (f->crossings > 0) put_crossings(&text, f);
            if (f->name_count) put_names(&text, f);
            if (f->inferred > 0)
                assay__buf_printf(&text,
                                  "; %.0f of its nodes by exclusion: the record leaves out what "
                                  "the provider runs in another layout",
                                  f->inferred);
        }
        put_line(v, i, text.data ? text.data : "");
        assay__buf_free(&text);
    }
}

/* What the tables leave out, and what would provide it. */
static void put_unknown(const struct view *v)
{
    struct assay__buf rows = {0}, text = {0};
    size_t usable = 0, powerless = 0;
    for (size_t i = 0; i < v->all->count; i++) {
        if (!v->all->rows[i].usable) continue;
        usable++;
        if (!is_told(v, i, POWER + 1)) continue;
        powerless++;
        assay__buf_printf(&rows, "%s%s", rows.length ? ", " : " of ", v->all->rows[i].label);
    }
    assay__buf_printf(&text,
                      "so energy, OPS/W and the score%s, which needs it, are not known either",
                      powerless < usable && rows.data ? rows.data : "");
    if (usable) assay__page_heading(v->page, "Not known", "");
    for (size_t c = 0; c < COLUMN_COUNT && usable; c++) {
        if (c != ON_DEVICE) put_reasons(v, c);
        if (c == POWER && powerless)
            assay__page_wrap(v->page, ASSAY__STYLE_PLAIN, "              ",
                             text.data ? text.data : "");
    }
    assay__buf_free(&rows);
    assay__buf_free(&text);
}

/* --- together --------------------------------------------------------------------------------- */

static void put_choice(const struct view *v)
{
    assay__page_heading(v->page, "What to choose", "");
    for (size_t i = 0; i < ASSAY__FOR_COUNT; i++)
        assay__page_row(v->page, assay__goal_name((enum assay__goal_kind)i),
                        v->all->recommendations[i].why);
}

/* What was said of a trial and is no metric: a launch less, an assumption of the workload. The same
 * of several is said once. */
static void put_notes(const struct view *v)
{
    bool headed = false;
    for (size_t i = 0; i < v->all->count; i++) {
        const struct assay__trial *trial = trial_of(v, i);
        for (size_t n = 0; n < trial->note_count; n++) {
            bool told = false;
            for (size_t k = 0; k < i; k++)
                for (size_t m = 0; m < trial_of(v, k)->note_count; m++)
                    told |= strcmp(trial_of(v, k)->notes[m], trial->notes[n]) == 0;
            if (told) continue;
            if (!headed) assay__page_heading(v->page, "Notes", "");
            headed = true;
            put_line(v, i, trial->notes[n]);
        }
    }
}

void assay__section_comparison(struct assay__page *page, const struct assay_profile *profile,
                               const struct assay__trial *trial)
{
    struct assay__arena *arena = NULL;
    struct assay__comparison all;
    if (trial != profile->trials || profile->kind != ASSAY__PROFILE_COMPARE) return;
    arena = assay__arena_new();
    if (!arena || assay__comparison(profile, arena, &all)) {
        page->out->failed = true;
        goto out;
    }
    struct view v = {page, profile, &all, 0};
    v.width = label_width(&v);
    put_numbers(&v);
    put_bars(page, profile, arena);
    put_ratios(&v);
    put_drift(&v);
    put_placement(&v);
    put_notes(&v);
    put_choice(&v);
    put_unknown(&v);
out:
    assay__arena_free(arena);
}
