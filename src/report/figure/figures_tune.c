/* figures_tune.c - the configurations of a tuning as points, latency against throughput: each
 * appears once, with the launches that count for it (judge/tune_report.h); those on the front are a
 * separate series. A finalist's short search launches are not shown. */
#include "report/figure/figures.h"

#include "judge/tune_report.h"

#include <math.h>
#include <string.h>

/* Whether a setting is the same in every configuration. */
static bool is_common(const struct assay__tune_result *result, const char *word, size_t length)
{
    for (size_t i = 0; i < result->count; i++) {
        const char *at = result->rows[i].judged.label;
        bool found = false;
        while (!found && *at) {
            size_t own = strcspn(at, " ");
            found = own == length && memcmp(at, word, length) == 0;
            at += own;
            at += *at == ' ';
        }
        if (!found) return false;
    }
    return true;
}

/* "float16 all 2 on": the values of what differs, without their axes. */
static const char *short_label(struct assay__sketch *k, const struct assay__tune_result *result,
                               const char *label)
{
    struct assay__buf text = {0};
    for (const char *at = label; *at;) {
        size_t length = strcspn(at, " "), name = strcspn(at, "=");
        name = name < length ? name + 1 : 0;
        if (!is_common(result, at, length)) {
            if (text.length) assay__buf_putc(&text, ' ');
            assay__buf_add(&text, at + name, length - name);
        }
        at += length;
        at += *at == ' ';
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
        p.names[p.count] = short_label(k, result, j->label);
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
    f->y_title = "throughput", f->y_unit = "1/s", f->y_zero = true;
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
