/* figures_trials.c - trials side by side: latency, throughput and energy of a comparison; what
 * share of their peaks devices reach; a sweep along its axis; latency against throughput with the
 * front of the best points. Pure functions of the profile (judge/comparison.h, sweep.h). */
#include "report/figure/figures.h"

#include "judge/comparison.h"
#include "judge/sweep.h"

#include <math.h>
#include <stdlib.h>

/* --- bars per trial --------------------------------------------------------------------------- */

struct quantity {
    const char *title, *y_title, *unit, *caption;
};

static void begin_bars(struct assay__sketch *k, const char *name, const struct quantity *q)
{
    struct assay__figure *f = assay__sketch_begin(k, ASSAY__FIGURE_BARS, name, q->title);
    f->y_title = q->y_title, f->y_unit = q->unit, f->caption = q->caption;
    f->y_zero = f->small = true;
}

/* "cpu 1.20 ms, cuda:0 310 µs.": for the first series. */
static int end_bars(struct assay__sketch *k, const struct assay__points *p)
{
    struct assay__buf text = {0};
    for (size_t i = 0; i < p->count; i++)
        assay__buf_printf(&text, "%s%s %s", i ? ", " : "", assay__sketch_short(k, p->names[i]),
                          assay__scaled(p->y[i], k->figure->y_unit).text);
    assay__buf_putc(&text, '.');
    k->figure->description = assay__sketch_take(k, &text);
    k->figure->categories = p->names;
    return assay__sketch_end(k);
}

/* --- compare ---------------------------------------------------------------------------------- */

/* Interval of the launches' medians, else their range. */
static bool spread_of(const struct assay__trial *trial, double *low, double *high)
{
    size_t count = 0;
    double coverage, *medians = assay__trial_costs(trial, "latency.p50", &count);
    if (!medians) return false;
    assay__stats_sort(medians, count);
    struct assay__interval interval = assay__stats_launch_interval(medians, count, &coverage);
    if (interval.known)
        *low = interval.low, *high = interval.high;
    else if (count > 1)
        *low = medians[0], *high = medians[count - 1];
    free(medians);
    return true;
}

static const struct quantity compared[] = {
    {"Latency", "latency (p50)", "s",
     "Shorter is faster; the thin line is the 95 % interval of the launch medians, or their range "
     "where there are fewer than five: bars whose lines overlap may be tied."},
    {"Throughput", "per second", "1/s", "Longer bars mean more work per second."},
    {"Energy", "gross energy per inference", "J",
     "Shorter is less energy per inference, including what the machine draws when idle."},
};

static double compared_value(const struct assay__comparison_row *row, size_t quantity)
{
    return quantity == 0   ? row->judged.latency.value
           : quantity == 1 ? row->judged.throughput.value
                           : row->judged.energy.value;
}

static int make_compared(struct assay__sketch *k, const struct assay__comparison *all,
                         size_t quantity)
{
    struct assay__points p;
    size_t known = 0;
    bool latency = quantity == 0;
    if (!assay__sketch_points(k, &p, all->count,
                              ASSAY__WITH_NAMES | (latency ? ASSAY__WITH_INTERVALS : 0)))
        return assay__sketch_end(k);
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__judged *j = &all->rows[i].judged;
        p.names[i] = j->label;
        p.y[i] = compared_value(&all->rows[i], quantity); /* also measured before it failed */
        known += isfinite(p.y[i]);
        if (i == all->reference) p.flags[i] = ASSAY__POINT_MARKED;
        if (latency && isfinite(j->latency.value) &&
            !spread_of(&k->study->profile->trials[j->trial], &p.low[i], &p.high[i]))
            k->failed = true;
    }
    if (!known) return ASSAY_ENOTFOUND;
    p.count = all->count;
    begin_bars(k, "compare", &compared[quantity]);
    assay__sketch_add(k, "", &p);
    return end_bars(k, &p);
}

int assay__figure_compare(struct assay__sketch *k, size_t part)
{
    const struct assay_profile *profile = k->study->profile;
    if (profile->trial_count < 2 || profile->kind == ASSAY__PROFILE_SWEEP)
        return assay__sketch_none(k, "this profile is not from a comparison");
    const struct assay__comparison *all = assay__study_comparison(k->study);
    if (k->study->failed) return assay__sketch_end(k);
    for (size_t q = 0; q < sizeof compared / sizeof compared[0]; q++) {
        int code = make_compared(k, all, q);
        if (code == ASSAY_ENOTFOUND) continue;
        if (code || part-- == 0) return code;
    }
    return assay__sketch_none(k, "no trial of the comparison could be measured");
}

/* --- devices ---------------------------------------------------------------------------------- */

static const struct {
    const char *metrics[2], *names[2];
    struct quantity shown;
} reached[] = {
    {{"compute.rate"},
     {"compute"},
     {"Operations per second", "operations per second", "FLOP/s",
      "Longer is more: the FLOPs of one inference over its median time."}},
    {{"memory.bandwidth"},
     {"memory bandwidth"},
     {"Bytes per second", "bytes per second", "B/s",
      "Longer is more: the bytes that the layers move in one inference over its median time."}},
    {{"compute.utilization", "memory.bandwidth_utilization"},
     {"compute", "memory bandwidth"},
     {"Utilisation", "share of the measured ceiling", "ratio",
      "Share of the device's measured ceilings that the model reaches."}},
};

static int make_devices(struct assay__sketch *k, size_t which)
{
    const struct assay_profile *profile = k->study->profile;
    struct assay__points points[2];
    size_t known = 0, series = reached[which].metrics[1] ? 2 : 1;
    begin_bars(k, "devices", &reached[which].shown);
    for (size_t s = 0; s < series; s++) {
        struct assay__points *p = &points[s];
        if (!assay__sketch_points(k, p, profile->trial_count, ASSAY__WITH_NAMES))
            return assay__sketch_end(k);
        for (; p->count < profile->trial_count; p->count++) {
            const struct assay__trial *trial = &profile->trials[p->count];
            p->names[p->count] = assay__figure_label(trial);
            p->y[p->count] = assay__trial_value(trial, reached[which].metrics[s]);
            known += isfinite(p->y[p->count]);
        }
        assay__sketch_add(k, reached[which].names[s], p);
    }
    return known ? end_bars(k, &points[0]) : ASSAY_ENOTFOUND;
}

int assay__figure_devices(struct assay__sketch *k, size_t part)
{
    for (size_t which = 0; which < sizeof reached / sizeof reached[0]; which++) {
        int code = make_devices(k, which);
        if (code == ASSAY_ENOTFOUND) continue;
        if (code || part-- == 0) return code;
    }
    return assay__sketch_none(k, "no trial has FLOPs or bytes and a latency to divide them by");
}

/* --- pareto ----------------------------------------------------------------------------------- */

static int by_latency(const void *left, const void *right)
{
    const double *a = left, *b = right; /* latency, throughput */
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    return a[1] < b[1] ? 1 : a[1] > b[1] ? -1 : 0;
}

/* Those that no other beats in both: sorted by latency, each with more throughput than all before.
 * Returns the quotient of the largest and the smallest latency. */
static double find_front(const struct assay__points *p, double (*sorted)[2],
                         struct assay__points *front)
{
    size_t used = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < p->count; i++)
        if (isfinite(p->x[i]) && isfinite(p->y[i])) {
            sorted[used][0] = p->x[i];
            sorted[used++][1] = p->y[i];
        }
    qsort(sorted, used, sizeof *sorted, by_latency);
    for (size_t i = 0; i < used; i++) {
        if (!(sorted[i][1] > most)) continue;
        most = sorted[i][1];
        front->x[front->count] = sorted[i][0], front->y[front->count++] = most;
    }
    return sorted[0][0] > 0 ? sorted[used - 1][0] / sorted[0][0] : 1;
}

/* Marks the best of a sweep by its trial; returns whether there is one. */
static bool mark_best(struct assay__sketch *k, const struct assay__comparison *all,
                      struct assay__points *p)
{
    bool found = false;
    if (k->study->profile->kind != ASSAY__PROFILE_SWEEP) return false;
    const struct assay__sweep *sweep = assay__study_sweep(k->study);
    for (size_t i = 0; i < all->count && sweep->best < sweep->count; i++) {
        if (all->rows[i].judged.trial != sweep->points[sweep->best].judged.trial) continue;
        p->flags[i] = ASSAY__POINT_MARKED;
        p->names[i] = assay__sketch_printf(k, "best: %s", p->names[i]);
        found = true;
    }
    return found;
}

int assay__figure_pareto(struct assay__sketch *k, size_t part)
{
    if (k->study->profile->kind == ASSAY__PROFILE_TUNE)
        return part ? ASSAY_ENOTFOUND : assay__figure_tune_front(k);
    const struct assay__comparison *all = assay__study_comparison(k->study);
    struct assay__points p, front;
    double(*sorted)[2] = assay__arena_array(k->arena, all->count + 1, sizeof *sorted);
    size_t known = 0;
    if (!sorted || !assay__sketch_points(k, &p, all->count, ASSAY__WITH_NAMES) ||
        !assay__sketch_points(k, &front, all->count, 0))
        k->failed = true;
    if (k->failed || k->study->failed) return assay__sketch_end(k);
    for (; p.count < all->count; p.count++) {
        const struct assay__judged *j = &all->rows[p.count].judged;
        p.names[p.count] = j->label;
        if (!j->usable) continue;
        p.x[p.count] = j->latency.value, p.y[p.count] = j->throughput.value;
        known += isfinite(j->latency.value) && isfinite(j->throughput.value);
    }
    if (part || known < 2)
        return assay__sketch_none(k, "fewer than two trials have a latency and a throughput");
    struct assay__figure *f = assay__sketch_begin(k, ASSAY__FIGURE_SCATTER, "pareto",
                                                  "Latency against throughput");
    bool best = mark_best(k, all, &p);
    f->x_log = find_front(&p, sorted, &front) > 8;
    assay__sketch_add(k, "configurations", &p);
    assay__sketch_add(k, "front", &front)->joined = true;
    f->x_title = "p50 latency", f->x_unit = "s";
    f->y_title = "throughput", f->y_unit = "1/s", f->y_zero = f->small = true;
    f->caption = assay__sketch_printf(
        k, "Left is faster, up is more; every point below the line is beaten by another in both.%s",
        best ? ASSAY__FIGURE_BEST : "");
    f->description = assay__sketch_printf(
        k, "%zu of %zu configurations are on the front, from %s to %s.", front.count, known,
        assay__scaled(front.x[0], "s").text, assay__scaled(front.x[front.count - 1], "s").text);
    return assay__sketch_end(k);
}
