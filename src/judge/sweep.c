/* sweep.c - reads the points of a sweep and their numbers from a profile; sweep_judge.c says which
 * is best. */
#include "judge/sweep.h"

#include "judge/comparison.h"
#include "base/stats.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int assay__sweep_slo_check(const char *text, struct assay_error *error)
{
    const char *equals = strchr(text, '=');
    struct assay__plan plan = assay__plan_unknown();
    double seconds = 0;
    if (assay__plan_set_slo(&plan, text)) return 0;
    if (strchr(text, ','))
        return assay_error_set(
            error, ASSAY_EINVAL,
            "--slo: '%s' has several limits, it takes one, such as p99=20ms: give "
            "the strictest",
            text);
    if (equals && assay__text_duration_s(equals + 1, &seconds) == 0 && seconds > 0 &&
        equals[strlen(equals) - 1] < 'a')
        return assay_error_set(error, ASSAY_EINVAL,
                               "--slo: '%s' has no unit: write %sms, or with ns, us, s", text,
                               text);
    return assay_error_set(
        error, ASSAY_EINVAL,
        "--slo: '%s' is not of the form p99=20ms (p50, p90, p95, p99, p99.9, max "
        "or mean)",
        text);
}

int assay__sweep_memory_read(const char *text, uint64_t *bytes, struct assay_error *error)
{
    if (assay__text_bytes(text, bytes) || !*bytes)
        return assay_error_set(error, ASSAY_EINVAL,
                               "--memory-budget: '%s' is not a size such as 500MB", text);
    if (text[strlen(text) - 1] >= '0' && text[strlen(text) - 1] <= '9') /* 10 of what? */
        return assay_error_set(error, ASSAY_EINVAL,
                               "--memory-budget: '%s' has no unit: write %sMB, or with B, kB, GB, "
                               "MiB, GiB",
                               text, text);
    return 0;
}

/* --- points ----------------------------------------------------------------------------------- */

/* The axes that any point has, in the order of the first that has them; each point's values. */
static void read_axes(const struct assay_profile *profile, struct assay__sweep *sweep)
{
    for (size_t i = 0; i < sweep->count; i++)
        assay__axes_add(&sweep->axes, &profile->trials[sweep->points[i].judged.trial]);
    for (size_t i = 0; i < sweep->count; i++) {
        struct assay__sweep_point *point = &sweep->points[i];
        for (size_t a = 0; a < sweep->axes.count; a++)
            point->values[a] = assay__trial_axis(&profile->trials[point->judged.trial],
                                                 sweep->axes.items[a]);
    }
}

static const char *note_of(const struct assay__trial *trial, const char *name)
{
    const struct assay_metric *m = trial->metrics ? assay_metrics_get(trial->metrics, name) : NULL;
    return m && m->note && *m->note ? m->note : "run longer";
}

/* What of the limits the point breaks. */
static int apply_limits(const struct assay__trial *trial, const struct assay__plan *plan,
                        struct assay__arena *arena, struct assay__sweep_point *point)
{
    struct assay__judged *j = &point->judged;
    if (plan->slo_metric && point->within && !(point->slo_s <= plan->slo_s)) {
        point->within = false;
        j->reason = isfinite(point->slo_s)
                        ? "latency beyond the limit"
                        : assay__arena_printf(arena, "the limited percentile is not known: %s",
                                              note_of(trial, plan->slo_metric));
    }
    if (isfinite(plan->memory_bytes) && point->within && !(j->memory.value <= plan->memory_bytes)) {
        point->within = false;
        j->reason = isfinite(j->memory.value)
                        ? "memory beyond the budget"
                        : assay__arena_printf(arena, "its memory is not known: %s",
                                              note_of(trial, "memory.peak.worker"));
    }
    return j->reason ? 0 : ASSAY_ENOMEM;
}

/* What the outputs say against the point. What is not known of them says nothing. */
static int judge_outputs(double limit, struct assay__arena *arena, struct assay__sweep_point *point)
{
    struct assay__judged *j = &point->judged;
    double nonfinite = j->own_nonfinite.value, drift = j->drift.value;
    point->sound = j->usable && !(nonfinite > 0) && !(drift > limit);
    point->within = point->sound;
    if (!j->usable || point->sound) return 0;
    j->reason = nonfinite > 0
                    ? assay__arena_printf(arena, "%.0f of its output values are NaN or infinite",
                                          nonfinite)
                    : assay__arena_printf(arena,
                                          "its outputs drift: relative L2 is %.2g, the limit is "
                                          "%.2g",
                                          drift, limit);
    return j->reason ? 0 : ASSAY_ENOMEM;
}

/* A capture that did not end has launches that did: the point stands on those, and says so. So does
 * one that lost a launch. */
static int judge_state(const struct assay__trial *trial, struct assay__arena *arena,
                       struct assay__judged *j)
{
    size_t launches = j->median_count;
    bool partial = trial->state == ASSAY__TRIAL_INTERRUPTED || trial->state == ASSAY__TRIAL_RUNNING;
    bool lost = trial->state == ASSAY__TRIAL_FAILED &&
                assay__trial_went_on(trial, ASSAY__SWEEP_LAUNCHES);
    j->usable = (trial->state == ASSAY__TRIAL_OK || (partial && launches) || lost) &&
                isfinite(j->latency.value);
    if (lost && j->usable) {
        j->lost = assay__arena_printf(arena, "%s; judged by the other %zu", j->reason, launches);
        if (!j->lost) return ASSAY_ENOMEM;
        j->reason = "";
    }
    if (partial)
        j->reason = launches ? assay__arena_printf(arena, "interrupted after %zu launch%s",
                                                   launches, launches == 1 ? "" : "es")
                             : "interrupted before it was measured";
    return j->reason ? 0 : ASSAY_ENOMEM;
}

double *assay__sweep_launch_costs(const struct assay__trial *trial, enum assay__plan_goal goal,
                                  size_t *count, bool *direct)
{
    bool rate = goal == ASSAY__PLAN_THROUGHPUT;
    const char *name = rate ? "throughput.inferences" : "energy.inference.gross";
    double *costs = assay__trial_costs(trial, "latency.p50", count);
    double batch = rate && trial->batch > 0 ? (double)trial->batch : 1;
    size_t known = 0;
    *direct = goal == ASSAY__PLAN_LATENCY;
    if (!costs || *direct) return costs;
    double *values = assay__trial_costs(trial, name, &known);
    if (!values) {
        free(costs);
        return NULL;
    }
    *direct = known == *count && known > 0;
    for (size_t i = 0; i < *count; i++) {
        if (*direct) costs[i] = rate ? 1 / values[i] : values[i];
        costs[i] /= batch;
    }
    free(values);
    return costs;
}

/* What medians of an unknown batch are multiplied by: the trial's own throughput gives the scale.
 */
static double scale_of(const struct assay__trial *trial, const struct assay__judged *j, bool direct)
{
    return direct || trial->batch > 0 ? 1 : 1 / (j->throughput.value * j->latency.value);
}

/* Between which costs its launches lie. */
static int fill_costs(const struct assay__trial *trial, enum assay__plan_goal goal,
                      struct assay__sweep_point *point)
{
    size_t count = 0;
    bool direct = false;
    double *costs = assay__sweep_launch_costs(trial, goal, &count, &direct);
    point->cost_low = point->cost_high = NAN;
    if (!costs) return ASSAY_ENOMEM;
    assay__stats_sort(costs, count);
    double scale = scale_of(trial, &point->judged, direct);
    if (count && (direct || goal != ASSAY__PLAN_ENERGY)) {
        point->cost_low = costs[0] * scale;
        point->cost_high = costs[count - 1] * scale;
    }
    free(costs);
    return 0;
}

/* Samples per second over seconds of latency, launch by launch: a step of the batch that raises it
 * raises throughput by a larger factor than latency. */
static int fill_merits(const struct assay__trial *trial, struct assay__arena *arena,
                       struct assay__sweep_point *point)
{
    const struct assay__judged *j = &point->judged;
    size_t count = j->median_count, costs_count = 0;
    bool direct = false;
    double *costs = assay__sweep_launch_costs(trial, ASSAY__PLAN_THROUGHPUT, &costs_count, &direct),
           *merits = assay__arena_array(arena, count + 1, sizeof *merits);
    int code = costs && merits ? 0 : ASSAY_ENOMEM;
    double scale = scale_of(trial, j, direct);
    point->merits = merits;
    point->merit_count = count == costs_count && scale > 0 ? count : 0;
    for (size_t i = 0; i < point->merit_count && !code; i++)
        merits[i] = 1 / (costs[i] * scale * j->medians_s[i]);
    if (!code) assay__stats_sort(merits, point->merit_count);
    if (!code) assay__stats_sort(costs, costs_count);
    bool ranged = !code && costs_count && isfinite(scale);
    point->sample_low_s = ranged ? costs[0] * scale : NAN;
    point->sample_high_s = ranged ? costs[costs_count - 1] * scale : NAN;
    free(costs);
    return code;
}

/* The median of the launches' medians, the least and the greatest of them. */
static int fill_latency(struct assay__sweep_point *point)
{
    const struct assay__judged *j = &point->judged;
    double *sorted = malloc((j->median_count + 1) * sizeof *sorted);
    if (!sorted) return ASSAY_ENOMEM;
    memcpy(sorted, j->medians_s, j->median_count * sizeof *sorted);
    assay__stats_sort(sorted, j->median_count);
    bool any = j->median_count > 0;
    point->judged.latency.value = any ? assay__stats_median(sorted, j->median_count) : NAN;
    point->low_s = any ? sorted[0] : NAN;
    point->high_s = any ? sorted[j->median_count - 1] : NAN;
    free(sorted);
    return 0;
}

static int fill_point(const struct assay_profile *profile, size_t index, struct assay__arena *arena,
                      struct assay__sweep_point *point)
{
    const struct assay__plan *plan = &profile->plan;
    const struct assay__trial *trial = &profile->trials[index];
    *point = (struct assay__sweep_point){
        .device = trial->target.device,
        .device_class = trial->target.device_class,
        .software = trial->target.software,
        .slo_s = plan->slo_metric ? assay__trial_value(trial, plan->slo_metric) : (double)NAN,
        .efficiency = NAN,
        .sequence = 1,
    };
    int code = assay__judged_read(profile, index, arena, &point->judged);
    if (code) return code;
    code = fill_latency(point);
    if (!code) code = fill_costs(trial, plan->goal, point);
    if (!code) code = fill_merits(trial, arena, point);
    if (!code) code = judge_state(trial, arena, &point->judged);
    if (!code) code = judge_outputs(plan->drift_limit, arena, point);
    return code ? code : apply_limits(trial, plan, arena, point);
}

size_t assay__sweep_axis(const struct assay__sweep *sweep, enum assay__axis axis)
{
    for (size_t i = 0; i < sweep->axes.count; i++)
        if (sweep->axes.items[i] == axis) return i;
    return SIZE_MAX;
}

bool assay__sweep_is_matrix(const struct assay__sweep *sweep)
{
    return assay__sweep_axis(sweep, ASSAY__AXIS_DEVICE) != SIZE_MAX &&
           assay__sweep_axis(sweep, ASSAY__AXIS_OPT) != SIZE_MAX;
}

bool assay__sweep_same_but(const struct assay__sweep *sweep, size_t axis, size_t a, size_t b)
{
    for (size_t i = 0; i < sweep->axes.count; i++)
        if (i != axis && strcmp(sweep->points[a].values[i], sweep->points[b].values[i]) != 0)
            return false;
    return true;
}

/* Throughput against that of the smallest batch (else the fewest threads) at the same values of the
 * other axes, over the ratio of the two: 1 is linear. */
static void fill_efficiency(struct assay__sweep *sweep)
{
    size_t axis = assay__sweep_axis(sweep, ASSAY__AXIS_BATCH);
    if (axis == SIZE_MAX) axis = assay__sweep_axis(sweep, ASSAY__AXIS_THREADS);
    for (size_t i = 0; i < sweep->count; i++) {
        struct assay__sweep_point *point = &sweep->points[i];
        size_t least = point->base = i;
        if (axis == SIZE_MAX) continue;
        for (size_t k = 0; k < sweep->count; k++)
            if (sweep->points[k].judged.usable && assay__sweep_same_but(sweep, axis, i, k) &&
                (!sweep->points[least].judged.usable ||
                 assay__axis_number(sweep->points[k].values[axis]) <
                     assay__axis_number(sweep->points[least].values[axis])))
                least = k;
        point->base = least;
        point->efficiency = point->judged.throughput.value /
                            sweep->points[least].judged.throughput.value /
                            (assay__axis_number(point->values[axis]) /
                             assay__axis_number(sweep->points[least].values[axis]));
    }
}

/* Samples of several sequence lengths are not alike: the shortest would always win. What they cost
 * is compared by the token. */
static void count_tokens(struct assay__sweep *sweep, enum assay__plan_goal goal)
{
    size_t axis = assay__sweep_axis(sweep, ASSAY__AXIS_SEQ);
    if (axis == SIZE_MAX || goal == ASSAY__PLAN_LATENCY) return;
    bool varies = false;
    for (size_t i = 0; i < sweep->count; i++) {
        if (!(assay__axis_number(sweep->points[i].values[axis]) > 0)) return;
        varies |= strcmp(sweep->points[i].values[axis], sweep->points[0].values[axis]) != 0;
    }
    sweep->per_token = varies;
    for (size_t i = 0; i < sweep->count && varies; i++) {
        struct assay__sweep_point *point = &sweep->points[i];
        point->sequence = assay__axis_number(point->values[axis]);
        point->cost_low /= point->sequence;
        point->cost_high /= point->sequence;
    }
}

static struct assay__sweep_wall wall_of(const struct assay_profile *profile)
{
    struct assay__sweep_wall wall = {NAN, NAN, NAN, NAN};
    if (!profile->trial_count) return wall;
    wall.total = assay__trial_value(profile->trials, "sweep.wall.total");
    wall.measuring = assay__trial_value(profile->trials, "sweep.wall.measuring");
    wall.loading = assay__trial_value(profile->trials, "sweep.wall.loading");
    wall.overhead = assay__trial_value(profile->trials, "sweep.wall.overhead");
    return wall;
}

int assay__sweep(const struct assay_profile *profile, struct assay__arena *arena,
                 struct assay__sweep *out)
{
    *out = (struct assay__sweep){.best = SIZE_MAX,
                                 .next = SIZE_MAX,
                                 .knee = SIZE_MAX,
                                 .scaled = SIZE_MAX,
                                 .why = "",
                                 .knee_why = "",
                                 .gain = "",
                                 .wall = wall_of(profile)};
    out->points = assay__arena_array(arena, profile->trial_count, sizeof *out->points);
    if (!out->points) return ASSAY_ENOMEM;
    for (size_t i = 0; i < profile->trial_count; i++) {
        if (profile->trials[i].role == ASSAY__ROLE_CONFIRM) continue;
        if (fill_point(profile, i, arena, &out->points[out->count++])) return ASSAY_ENOMEM;
    }
    read_axes(profile, out);
    fill_efficiency(out);
    count_tokens(out, profile->plan.goal);
    int code = assay__sweep_judge(&profile->plan, arena, out);
    return code ? code : assay__sweep_confirm(profile, arena, out);
}
