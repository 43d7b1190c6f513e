/* sweep.c - see sweep.h.
 *
 * Knee. Along the batch axis, at the other axes' values of the best point, from the smallest batch on: the last point up to which each
 * step raised throughput by a larger factor than latency. Beyond it a larger batch buys throughput with more latency than it is
 * worth. It needs three points. */
#include "advise/sweep.h"

#include "advise/comparison.h"
#include "base/stats.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool assay__sweep_slo_parse(const char *text, const char **metric, double *seconds)
{
    static const struct {
        const char *word, *metric;
    } known[] = {{"p50", "latency.p50"},  {"p90", "latency.p90"},    {"p95", "latency.p95"},
                 {"p99", "latency.p99"},  {"p99.9", "latency.p999"}, {"max", "latency.max"},
                 {"mean", "latency.mean"}};
    const char *equals = text ? strchr(text, '=') : NULL;
    for (size_t i = 0; equals && i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].word) == (size_t)(equals - text) &&
            strncmp(known[i].word, text, (size_t)(equals - text)) == 0) {
            *metric = known[i].metric;
            return assay__text_duration_s(equals + 1, seconds) == 0 && *seconds > 0;
        }
    return false;
}

struct assay__sweep_limits assay__sweep_limits_of(const struct assay_profile *profile)
{
    struct assay__sweep_limits limits = {ASSAY__SWEEP_THROUGHPUT, NULL, NAN, NAN};
    if (!profile->trial_count) return limits;
    const char *goal = assay__trial_option(profile->trials, "goal"),
               *slo = assay__trial_option(profile->trials, "slo"),
               *memory = assay__trial_option(profile->trials, "memory_budget");
    if (strcmp(goal, "latency") == 0) limits.goal = ASSAY__SWEEP_LATENCY;
    if (strcmp(goal, "energy") == 0) limits.goal = ASSAY__SWEEP_ENERGY;
    if (*slo && !assay__sweep_slo_parse(slo, &limits.slo_metric, &limits.slo_s))
        limits.slo_metric = NULL;
    char *end = NULL;
    double bytes = *memory ? strtod(memory, &end) : NAN;
    if (end && end != memory && bytes > 0) limits.memory_bytes = bytes;
    return limits;
}

/* --- points ----------------------------------------------------------------------------------- */

static size_t axis_of(struct assay__sweep *sweep, const char *name, size_t length,
                      struct assay__arena *arena)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
        if (strlen(sweep->axes[i]) == length && strncmp(sweep->axes[i], name, length) == 0)
            return i;
    const char *copy = sweep->axis_count < ASSAY__SWEEP_AXES
                           ? assay__arena_strndup(arena, name, length)
                           : NULL;
    if (!copy) return SIZE_MAX;
    sweep->axes[sweep->axis_count] = copy;
    return sweep->axis_count++;
}

/* "batch=8 threads=2" */
static void read_label(struct assay__sweep *sweep, struct assay__sweep_point *point,
                       struct assay__arena *arena)
{
    for (size_t i = 0; i < ASSAY__SWEEP_AXES; i++)
        point->values[i] = "";
    for (const char *at = point->label; *at;) {
        size_t length = strcspn(at, " ");
        const char *equals = memchr(at, '=', length);
        size_t axis = equals ? axis_of(sweep, at, (size_t)(equals - at), arena) : SIZE_MAX;
        const char *value = equals ? assay__arena_strndup(arena, equals + 1,
                                                          length - (size_t)(equals - at) - 1)
                                   : NULL;
        if (axis != SIZE_MAX && value) point->values[axis] = value;
        at += length;
        at += *at == ' ';
    }
}

static int fill_point(const struct assay_profile *profile, size_t index,
                      const struct assay__sweep_limits *limits, struct assay__sweep_point *point)
{
    const struct assay__trial *trial = &profile->trials[index];
    double samples = assay__trial_known(trial, "throughput.samples");
    size_t count = 0;
    double *medians = assay__trial_medians(trial, &count);
    if (!medians) return ASSAY_ENOMEM;
    assay__stats_sort(medians, count);
    *point = (struct assay__sweep_point){
        .trial = index,
        .label = assay__trial_option(trial, "label"),
        .reason = trial->reason ? trial->reason : "",
        .latency_s = count ? assay__stats_median(medians, count) : NAN,
        .low_s = count ? medians[0] : NAN,
        .high_s = count ? medians[count - 1] : NAN,
        .throughput = isfinite(samples) ? samples
                                        : assay__trial_known(trial, "throughput.inferences"),
        .slo_s = assay__trial_known(trial, limits->slo_metric),
        .memory_bytes = assay__trial_known(trial, "memory.peak.worker"),
        .energy_j = assay__trial_known(trial, "energy.inference.gross"),
        .bandwidth = assay__trial_known(trial, "memory.bandwidth"),
        .utilization = assay__trial_known(trial, "compute.utilization"),
        .efficiency = NAN,
    };
    free(medians);
    point->usable = trial->state == ASSAY__TRIAL_OK && isfinite(point->latency_s);
    point->within = point->usable;
    if (limits->slo_metric && point->within && !(point->slo_s <= limits->slo_s)) {
        point->within = false;
        point->reason = isfinite(point->slo_s)
                            ? "beyond the latency that is allowed"
                            : "the percentile of the limit is not known: run longer";
    }
    if (isfinite(limits->memory_bytes) && point->within &&
        !(point->memory_bytes <= limits->memory_bytes)) {
        point->within = false;
        point->reason = isfinite(point->memory_bytes) ? "beyond the memory budget"
                                                      : "its memory is not known";
    }
    return 0;
}

static double number(const char *text)
{
    char *end = NULL;
    double value = *text ? strtod(text, &end) : NAN;
    return end && end != text && *end == '\0' ? value : NAN;
}

static size_t find_axis(const struct assay__sweep *sweep, const char *name)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
        if (strcmp(sweep->axes[i], name) == 0) return i;
    return SIZE_MAX;
}

static bool same_but(const struct assay__sweep *sweep, size_t axis, size_t a, size_t b)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
        if (i != axis && strcmp(sweep->points[a].values[i], sweep->points[b].values[i]) != 0)
            return false;
    return true;
}

/* Throughput against that of the smallest batch (else the fewest threads) at the same values of the other axes, over the ratio of
 * the two: 1 is linear. */
static void fill_efficiency(struct assay__sweep *sweep)
{
    size_t axis = find_axis(sweep, "batch");
    if (axis == SIZE_MAX) axis = find_axis(sweep, "threads");
    for (size_t i = 0; i < sweep->count && axis != SIZE_MAX; i++) {
        struct assay__sweep_point *point = &sweep->points[i];
        size_t least = i;
        for (size_t k = 0; k < sweep->count; k++)
            if (sweep->points[k].usable && same_but(sweep, axis, i, k) &&
                number(sweep->points[k].values[axis]) < number(sweep->points[least].values[axis]))
                least = k;
        point->base = least;
        point->efficiency = point->throughput / sweep->points[least].throughput /
                            (number(point->values[axis]) /
                             number(sweep->points[least].values[axis]));
    }
}

/* --- the best --------------------------------------------------------------------------------- */

/* Smaller is better. */
static double cost_of(const struct assay__sweep_point *point, enum assay__sweep_goal goal)
{
    if (goal == ASSAY__SWEEP_LATENCY) return point->latency_s;
    if (goal == ASSAY__SWEEP_ENERGY) return point->energy_j;
    return point->throughput > 0 ? 1 / point->throughput : NAN;
}

/* Launches of the one do not reach into those of the other: per sample where batches differ. */
static bool apart(const struct assay__sweep_point *a, const struct assay__sweep_point *b,
                  enum assay__sweep_goal goal)
{
    double x = 1, y = 1;
    if (goal == ASSAY__SWEEP_THROUGHPUT) {
        x = 1 / (a->throughput * a->latency_s);
        y = 1 / (b->throughput * b->latency_s);
    }
    return a->high_s * x < b->low_s * y || b->high_s * y < a->low_s * x;
}

static int find_best(struct assay__sweep *sweep, const struct assay__sweep_limits *limits,
                     struct assay__arena *arena)
{
    static const char *const goals[] = {"throughput", "latency", "energy per inference"};
    sweep->best = SIZE_MAX;
    size_t usable = 0, within = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct assay__sweep_point *point = &sweep->points[i];
        usable += point->usable;
        within += point->within;
        if (!point->within || !isfinite(cost_of(point, limits->goal))) continue;
        if (sweep->best == SIZE_MAX ||
            cost_of(point, limits->goal) < cost_of(&sweep->points[sweep->best], limits->goal))
            sweep->best = i;
    }
    sweep->alike = assay__arena_array(arena, sweep->count, sizeof *sweep->alike);
    if (!sweep->alike) return ASSAY_ENOMEM;
    if (sweep->best == SIZE_MAX) {
        sweep->why = !usable   ? "no point could be measured"
                     : !within ? "no point keeps the limits"
                               : "what the goal asks for is not known of any point";
        return 0;
    }
    const struct assay__sweep_point *best = &sweep->points[sweep->best];
    for (size_t i = 0; i < sweep->count; i++)
        if (i != sweep->best && sweep->points[i].within && limits->goal != ASSAY__SWEEP_ENERGY &&
            !apart(best, &sweep->points[i], limits->goal))
            sweep->alike[sweep->alike_count++] = i;
    double gain = cost_of(sweep->points, limits->goal) / cost_of(best, limits->goal);
    const char *why =
        isfinite(gain)
            ? assay__arena_printf(arena, "best %s: %s, %.3g × as good as %s", goals[limits->goal],
                                  best->label, gain, sweep->points[0].label)
            : assay__arena_printf(arena, "best %s: %s", goals[limits->goal], best->label);
    sweep->why = why ? why : "";
    return why ? 0 : ASSAY_ENOMEM;
}

/* --- the knee --------------------------------------------------------------------------------- */

/* The next larger batch after `from` (0: the smallest) among the points like `like`; SIZE_MAX: none. */
static size_t next_batch(const struct assay__sweep *sweep, size_t axis, size_t like, double from)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < sweep->count; i++) {
        double batch = number(sweep->points[i].values[axis]);
        if (!sweep->points[i].usable || !same_but(sweep, axis, like, i) || !(batch > from))
            continue;
        if (best == SIZE_MAX || batch < number(sweep->points[best].values[axis])) best = i;
    }
    return best;
}

static int find_knee(struct assay__sweep *sweep, struct assay__arena *arena)
{
    size_t axis = find_axis(sweep, "batch"), points = 0;
    sweep->knee = SIZE_MAX;
    sweep->knee_why = "a knee needs at least three batch sizes that ran";
    if (axis == SIZE_MAX || sweep->best == SIZE_MAX) return 0;
    bool rising = true;
    size_t knee = SIZE_MAX;
    for (size_t at = next_batch(sweep, axis, sweep->best, 0), last = SIZE_MAX; at != SIZE_MAX;
         last = at,
                at = next_batch(sweep, axis, sweep->best, number(sweep->points[at].values[axis]))) {
        const struct assay__sweep_point *now = &sweep->points[at];
        points++;
        if (last != SIZE_MAX) {
            const struct assay__sweep_point *before = &sweep->points[last];
            rising = rising &&
                     now->throughput / before->throughput > now->latency_s / before->latency_s;
        }
        if (rising) knee = at;
    }
    if (points < 3) return 0;
    sweep->knee = knee;
    const char *why = assay__arena_printf(
        arena, "up to %s each step raised throughput by a larger factor than latency",
        sweep->points[knee].label);
    sweep->knee_why = why ? why : "";
    return why ? 0 : ASSAY_ENOMEM;
}

int assay__sweep(const struct assay_profile *profile, const struct assay__sweep_limits *limits,
                 struct assay__arena *arena, struct assay__sweep *out)
{
    *out = (struct assay__sweep){.best = SIZE_MAX, .knee = SIZE_MAX, .why = "", .knee_why = ""};
    out->points = assay__arena_array(arena, profile->trial_count, sizeof *out->points);
    if (!out->points) return ASSAY_ENOMEM;
    out->count = profile->trial_count;
    for (size_t i = 0; i < out->count; i++) {
        if (fill_point(profile, i, limits, &out->points[i])) return ASSAY_ENOMEM;
        read_label(out, &out->points[i], arena);
    }
    if (out->count) fill_efficiency(out);
    int code = find_best(out, limits, arena);
    return code ? code : find_knee(out, arena);
}
