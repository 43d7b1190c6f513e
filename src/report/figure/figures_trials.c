/* figures_trials.c - trials beside each other: latency, throughput and energy of a comparison; what
 * devices reach of what they can; a sweep along its axis; latency against throughput with the front
 * of the best points. Pure functions of the profile (judge/comparison.h, sweep.h). */
#include "report/figure/figures.h"

#include "judge/comparison.h"
#include "judge/sweep.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- bars per trial --------------------------------------------------------------------------- */

struct trial_bars {
    const char **names;
    unsigned char *flags;
    double *values[2], *low, *high;
    size_t count, known;
};

static bool bars_new(struct trial_bars *b, size_t count, struct assay__arena *arena)
{
    *b = (struct trial_bars){
        .names = assay__arena_array(arena, count + 1, sizeof *b->names),
        .flags = assay__arena_array(arena, count + 1, 1),
        .values = {assay__figure_values(arena, count), assay__figure_values(arena, count)},
        .low = assay__figure_values(arena, count),
        .high = assay__figure_values(arena, count),
        .count = count};
    return b->names && b->flags && b->values[0] && b->values[1] && b->low && b->high;
}

static bool make_bars(struct trial_bars *b, size_t series_count, const char *const *names,
                      bool intervals, struct assay__arena *arena, struct assay__figure *figure)
{
    figure->series = assay__arena_array(arena, series_count, sizeof *figure->series);
    for (size_t s = 0; figure->series && s < series_count; s++)
        figure->series[s] = (struct assay__figure_series){.name = names[s],
                                                          .y = b->values[s],
                                                          .names = b->names,
                                                          .flags = b->flags,
                                                          .low = intervals ? b->low : NULL,
                                                          .high = intervals ? b->high : NULL,
                                                          .count = b->count};
    figure->series_count = series_count;
    figure->categories = b->names;
    figure->y_zero = true;
    return figure->series != NULL;
}

/* "cpu 1.20 ms, cuda:0 310 µs." */
static const char *describe(const struct trial_bars *b, const char *unit,
                            struct assay__arena *arena)
{
    struct assay__buf text = {0};
    for (size_t i = 0; i < b->count; i++)
        assay__buf_printf(&text, "%s%s %s", i ? ", " : "", assay__figure_short(arena, b->names[i]),
                          assay__figure_scaled(arena, b->values[0][i], unit));
    assay__buf_putc(&text, '.');
    const char *copy = text.failed ? NULL : assay__arena_strdup(arena, text.data);
    assay__buf_free(&text);
    return copy;
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

struct quantity {
    const char *title, *y_title, *unit, *caption;
};

static const struct quantity compared[] = {
    {"Latency", "latency (p50)", "s",
     "Shorter is faster; the thin line is the 95 % interval of the launch medians, or their range "
     "where there are fewer than five: bars whose lines overlap may be tied."},
    {"Throughput", "per second", "1/s", "Longer is more work per second."},
    {"Energy", "gross energy per inference", "J",
     "Shorter is less energy per inference, including what the machine draws when idle."},
};

static double compared_value(const struct assay__comparison_row *row, size_t quantity)
{
    return quantity == 0   ? row->judged.latency.value
           : quantity == 1 ? row->judged.throughput.value
                           : row->judged.energy.value;
}

static int make_compared(const struct assay_profile *profile, const struct assay__comparison *all,
                         size_t quantity, struct assay__arena *arena, struct assay__figure *figure,
                         struct assay_error *error)
{
    static const char *const names[] = {""};
    struct trial_bars b;
    if (!bars_new(&b, all->count, arena)) return assay__figure_no_memory(error);
    for (size_t i = 0; i < all->count; i++) {
        const struct assay__comparison_row *row = &all->rows[i];
        b.names[i] = row->judged.label;
        b.values[0][i] = compared_value(row,
                                        quantity); /* also what was measured before it failed */
        b.known += isfinite(b.values[0][i]);
        if (i == all->reference) b.flags[i] = ASSAY__POINT_MARKED;
        if (quantity == 0 && isfinite(row->judged.latency.value) &&
            !spread_of(&profile->trials[row->judged.trial], &b.low[i], &b.high[i]))
            return assay__figure_no_memory(error);
    }
    if (!b.known) return ASSAY_ENOTFOUND;
    *figure = assay__figure_begin(ASSAY__FIGURE_BARS, "compare");
    figure->title = compared[quantity].title;
    figure->y_title = compared[quantity].y_title, figure->y_unit = compared[quantity].unit;
    figure->caption = compared[quantity].caption;
    figure->description = describe(&b, figure->y_unit, arena);
    return figure->description && make_bars(&b, 1, names, quantity == 0, arena, figure)
               ? 0
               : assay__figure_no_memory(error);
}

int assay__figure_compare(struct assay__study *study, const struct assay__trial *trial, size_t part,
                          struct assay__arena *arena, struct assay__figure *figure,
                          struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    (void)trial;
    if (profile->trial_count < 2 || profile->kind == ASSAY__PROFILE_SWEEP)
        return assay_error_set(
            error, ASSAY_ENOTFOUND,
            "this profile compares nothing; 'assay compare' makes one that does");
    const struct assay__comparison *all = assay__study_comparison(study);
    if (study->failed) return assay__figure_no_memory(error);
    for (size_t q = 0; q < sizeof compared / sizeof compared[0]; q++) {
        int code = make_compared(profile, all, q, arena, figure, error);
        if (code == ASSAY_ENOTFOUND) continue;
        if (code || part == 0) return code;
        part--;
    }
    return assay_error_set(error, ASSAY_ENOTFOUND, "no trial of the comparison could be measured");
}

/* --- devices ---------------------------------------------------------------------------------- */

static int make_devices(const struct assay_profile *profile, size_t which,
                        struct assay__arena *arena, struct assay__figure *figure,
                        struct assay_error *error)
{
    static const char *const metrics[][2] = {
        {"compute.rate", NULL},
        {"memory.bandwidth", NULL},
        {"compute.utilization", "memory.bandwidth_utilization"}};
    static const struct quantity shown[] = {
        {"Operations per second", "operations per second (compute.rate)", "FLOP/s",
         "Longer is more: the FLOPs of one inference over its median time."},
        {"Bytes per second", "bytes per second (memory.bandwidth)", "B/s",
         "Longer is more: the bytes that the layers move in one inference over its median time."},
        {"Utilisation", "share of the measured ceiling", "ratio",
         "How much of what the device was measured to do the model reaches; 100 % is all of it."}};
    static const char *const names[] = {"compute", "memory bandwidth"};
    struct trial_bars b;
    size_t series = metrics[which][1] ? 2 : 1;
    if (!bars_new(&b, profile->trial_count, arena)) return assay__figure_no_memory(error);
    for (size_t i = 0; i < profile->trial_count; i++) {
        b.names[i] = assay__figure_label(&profile->trials[i]);
        for (size_t s = 0; s < series; s++) {
            b.values[s][i] = assay__trial_value(&profile->trials[i], metrics[which][s]);
            b.known += isfinite(b.values[s][i]);
        }
    }
    if (!b.known) return ASSAY_ENOTFOUND;
    *figure = assay__figure_begin(ASSAY__FIGURE_BARS, "devices");
    figure->title = shown[which].title, figure->y_title = shown[which].y_title;
    figure->y_unit = shown[which].unit, figure->caption = shown[which].caption;
    figure->description = describe(&b, figure->y_unit, arena);
    return figure->description && make_bars(&b, series, names, false, arena, figure)
               ? 0
               : assay__figure_no_memory(error);
}

int assay__figure_devices(struct assay__study *study, const struct assay__trial *trial, size_t part,
                          struct assay__arena *arena, struct assay__figure *figure,
                          struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    (void)trial;
    for (size_t which = 0; which < 3; which++) {
        int code = make_devices(profile, which, arena, figure, error);
        if (code == ASSAY_ENOTFOUND) continue;
        if (code || part == 0) return code;
        part--;
    }
    return assay_error_set(error, ASSAY_ENOTFOUND,
                           "no trial has FLOPs or bytes and a latency to divide them by");
}

/* --- pareto ----------------------------------------------------------------------------------- */

struct point {
    double latency_s, throughput;
};

static int by_latency(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    if (a->latency_s != b->latency_s) return a->latency_s < b->latency_s ? -1 : 1;
    return a->throughput < b->throughput ? 1 : a->throughput > b->throughput ? -1 : 0;
}

/* Those that no other is better than in both: sorted by latency, each with more throughput than all
 * before. */
static size_t find_front(const double *x, const double *y, size_t count, double *front_x,
                         double *front_y, struct point *points)
{
    size_t used = 0, kept = 0;
    double most = -INFINITY;
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && isfinite(y[i])) points[used++] = (struct point){x[i], y[i]};
    qsort(points, used, sizeof *points, by_latency);
    for (size_t i = 0; i < used; i++) {
        if (!(points[i].throughput > most)) continue;
        most = points[i].throughput;
        front_x[kept] = points[i].latency_s, front_y[kept++] = points[i].throughput;
    }
    return kept;
}

/* Marks the best of a sweep, by its trial. *best: whether there is one. */
static int mark_best(struct assay__study *study, const struct assay__comparison *all,
                     struct assay__arena *arena, const char **names, unsigned char *flags,
                     bool *best)
{
    *best = false;
    if (study->profile->kind != ASSAY__PROFILE_SWEEP) return 0;
    const struct assay__sweep *sweep = assay__study_sweep(study);
    for (size_t i = 0; i < all->count && sweep->best < sweep->count; i++) {
        if (all->rows[i].judged.trial != sweep->points[sweep->best].judged.trial) continue;
        flags[i] = ASSAY__POINT_MARKED;
        names[i] = assay__arena_printf(arena, "best: %s", names[i]);
        *best = true;
        if (!names[i]) return ASSAY_ENOMEM;
    }
    return 0;
}

int assay__figure_pareto(struct assay__study *study, const struct assay__trial *trial, size_t part,
                         struct assay__arena *arena, struct assay__figure *figure,
                         struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    (void)trial;
    if (profile->kind == ASSAY__PROFILE_TUNE)
        return part ? ASSAY_ENOTFOUND : assay__figure_tune_front(study, arena, figure, error);
    const struct assay__comparison *all = assay__study_comparison(study);
    if (study->failed) return assay__figure_no_memory(error);
    double *x = assay__figure_values(arena, all->count),
           *y = assay__figure_values(arena, all->count),
           *front_x = assay__figure_values(arena, all->count),
           *front_y = assay__figure_values(arena, all->count);
    const char **names = assay__arena_array(arena, all->count + 1, sizeof *names);
    unsigned char *flags = assay__arena_array(arena, all->count + 1, 1);
    struct point *points = assay__arena_array(arena, all->count + 1, sizeof *points);
    struct assay__figure_series *series = assay__arena_array(arena, 2, sizeof *series);
    size_t known = 0;
    bool best = false;
    if (!x || !y || !front_x || !front_y || !names || !flags || !points || !series)
        return assay__figure_no_memory(error);
    for (size_t i = 0; i < all->count; i++) {
        names[i] = all->rows[i].judged.label;
        if (!all->rows[i].judged.usable) continue;
        x[i] = all->rows[i].judged.latency.value, y[i] = all->rows[i].judged.throughput.value;
        known += isfinite(x[i]) && isfinite(y[i]);
    }
    if (part || known < 2)
        return assay_error_set(error, ASSAY_ENOTFOUND,
                               "fewer than two trials have a latency and a throughput");
    if (mark_best(study, all, arena, names, flags, &best)) return assay__figure_no_memory(error);
    size_t kept = find_front(x, y, all->count, front_x, front_y, points);
    series[0] = (struct assay__figure_series){.name = "configurations",
                                              .x = x,
                                              .y = y,
                                              .names = names,
                                              .flags = flags,
                                              .count = all->count};
    series[1] = (struct assay__figure_series){
        .name = "front", .x = front_x, .y = front_y, .count = kept, .joined = true};
    *figure = assay__figure_begin(ASSAY__FIGURE_SCATTER, "pareto");
    figure->title = "Latency against throughput";
    figure->x_title = "p50 latency", figure->x_unit = "s";
    figure->y_title = "throughput", figure->y_unit = "1/s", figure->y_zero = true;
    figure->x_log = points[0].latency_s > 0 &&
                    points[known - 1].latency_s > 8 * points[0].latency_s;
    figure->series = series, figure->series_count = 2;
    figure->caption = assay__arena_printf(
        arena,
        "Left is faster, up is more; for every point below the line another is better in "
        "both.%s",
        best ? ASSAY__FIGURE_BEST : "");
    figure->description = assay__arena_printf(
        arena, "%zu of %zu configurations are on the front, from %s to %s.", kept, known,
        assay__figure_scaled(arena, front_x[0], "s"),
        assay__figure_scaled(arena, front_x[kept - 1], "s"));
    return figure->description && figure->caption ? 0 : assay__figure_no_memory(error);
}
