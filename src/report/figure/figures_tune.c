/* figures_tune.c - the configurations of a tuning as points, latency against throughput: each
 * appears once, with the launches that count for it (judge/tune_report.h); those on the front are a
 * separate series. A finalist's short search launches are not shown. */
#include "report/figure/figures.h"

#include "judge/tune_report.h"
#include "profile/trial_values.h"

#include <math.h>
#include <string.h>

/* "float16 all 2 on": the values of the axes on which the configurations differ. */
static const char *short_label(struct assay__sketch *k, const struct assay__tune_result *result,
                               const struct assay__judged *row)
{
    const struct assay__trial *trials = k->study->profile->trials;
    struct assay__buf text = {0};
    for (size_t a = 0; a < result->axes.count; a++) {
        enum assay__axis axis = result->axes.items[a];
        const char *value = assay__trial_axis(&trials[row->trial], axis);
        bool differs = false;
        for (size_t i = 0; i < result->count && !differs; i++)
            differs = strcmp(assay__trial_axis(&trials[result->rows[i].judged.trial], axis),
                             value) != 0;
        if (differs) assay__buf_printf(&text, "%s%s", text.length ? " " : "", value);
    }
    return assay__sketch_take(k, &text);
}

/* Adds those on the front, or the others; returns how many. No series if none: it would show up in
 * the legend. */
static size_t add_points(struct assay__sketch *k, const struct assay__tune_result *result,
                         bool front)
{
    struct assay__points p;
    if (!assay__sketch_points(k, &p, result->count, ASSAY__WITH_NAMES)) return 0;
    for (size_t i = 0; i < result->count; i++) {
        const struct assay__judged *j = &result->rows[i].judged;
        if (result->rows[i].front != front || !isfinite(j->latency.value) ||
            !isfinite(j->throughput.value))
            continue;
        p.x[p.count] = j->latency.value, p.y[p.count] = j->throughput.value;
        p.names[p.count] = short_label(k, result, j);
        if (i == result->best) {
            p.flags[p.count] = ASSAY__POINT_MARKED;
            p.names[p.count] = assay__sketch_printf(k, "best: %s", p.names[p.count]);
        }
        p.count++;
    }
    if (p.count) assay__sketch_add(k, front ? "on the front" : "others", &p);
    return p.count;
}

int assay__figure_tune_front(struct assay__sketch *k)
{
    const struct assay__tune_result *result = assay__study_tune(k->study);
    if (k->study->failed) return assay__sketch_end(k);
    struct assay__figure *f = assay__sketch_begin(k, ASSAY__FIGURE_SCATTER, "pareto",
                                                  "Latency against throughput");
    size_t front = add_points(k, result, true), known = front + add_points(k, result, false);
    if (!k->failed && known < 2)
        return assay__sketch_none(
            k, "fewer than two configurations of the tuning have a latency and a throughput");
    f->x_title = "p50 latency", f->x_unit = "s";
    f->y_title = "throughput", f->y_unit = "1/s", f->y_zero = f->half = true;
    f->caption = assay__sketch_printf(
        k,
        "Left is faster, up is more. A point is on the front if no other is better in one of "
        "latency, throughput, memory and energy and as good in the rest; points with fewer than "
        "two launches are not on it.%s",
        result->best < result->count ? ASSAY__FIGURE_BEST : "");
    f->description = assay__sketch_printf(k, "%zu configurations, %zu of them on the front.", known,
                                          front);
    return assay__sketch_end(k);
}
