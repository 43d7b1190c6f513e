/* sweep.c - reads the points of a sweep from a profile; sweep_judge.c says which is best. */
#include "judge/sweep.h"

#include "base/options_read.h"

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
        return assay__refuse_option(
            error, "slo",
            "'%s' has several limits, it takes one, such as p99=20ms: give the strictest", text);
    if (equals && assay__text_duration_s(equals + 1, &seconds) == 0 && seconds > 0 &&
        equals[strlen(equals) - 1] < 'a')
        return assay__refuse_option(error, "slo", "'%s' has no unit: write %sms, or with ns, us, s",
                                    text, text);
    return assay__refuse_option(
        error, "slo", "'%s' is not of the form p99=20ms (p50, p90, p95, p99, p99.9, max or mean)",
        text);
}

int assay__sweep_memory_read(const char *text, uint64_t *bytes, struct assay_error *error)
{
    if (assay__text_bytes(text, bytes) || !*bytes)
        return assay__refuse_option(error, "memory_budget", "'%s' is not a size such as 500MB",
                                    text);
    if (text[strlen(text) - 1] >= '0' && text[strlen(text) - 1] <= '9') /* 10 of what? */
        return assay__refuse_option(error, "memory_budget",
                                    "'%s' has no unit: write %sMB, or with B, kB, GB, MiB, GiB",
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

/* What is known against its outputs; "" nothing. */
static const char *output_fault(const struct assay__judged *j, double limit,
                                struct assay__arena *arena)
{
    double nonfinite = j->own_nonfinite.value, drift = j->drift.value;
    if (nonfinite > 0)
        return assay__arena_text(arena, "%.0f of its output values are NaN or infinite", nonfinite);
    if (drift > limit)
        return assay__arena_text(arena, "its outputs drift: relative L2 is %.2g, the limit is %.2g",
                                 drift, limit);
    return "";
}

/* A point that was interrupted or lost a launch is judged by its launches that succeeded, and says
 * so. */
static void judge_state(const struct assay__trial *trial, struct assay__arena *arena,
                        struct assay__judged *j)
{
    size_t launches = j->medians.count;
    bool partial = trial->state == ASSAY__TRIAL_INTERRUPTED || trial->state == ASSAY__TRIAL_RUNNING;
    bool lost = trial->state == ASSAY__TRIAL_FAILED &&
                assay__trial_went_on(trial, ASSAY__SWEEP_LAUNCHES);
    j->usable = (trial->state == ASSAY__TRIAL_OK || (partial && launches) || lost) &&
                isfinite(j->latency.value);
    if (lost && j->usable) {
        j->lost = assay__arena_text(arena, "%s; judged by the other %zu", j->reason, launches);
        j->reason = "";
    }
    if (partial)
        j->reason = launches ? assay__arena_text(arena, "interrupted after %zu launch%s", launches,
                                                 launches == 1 ? "" : "es")
                             : "interrupted before it was measured";
}

struct assay__launch_values assay__sweep_launch_costs(const struct assay__trial *trial,
                                                      enum assay__plan_goal goal,
                                                      struct assay__arena *arena, bool *direct)
{
    bool rate = goal == ASSAY__PLAN_THROUGHPUT;
    struct assay__launch_values costs = assay__launch_values(trial, "latency.p50", arena);
    double batch = rate && trial->batch > 0 ? (double)trial->batch : 1;
    *direct = goal == ASSAY__PLAN_LATENCY;
    if (*direct) return costs;
    struct assay__launch_values values = assay__launch_values(
        trial, rate ? "throughput.inferences" : "energy.inference.gross", arena);
    *direct = values.count == costs.count && values.count > 0;
    for (size_t i = 0; i < costs.count; i++) {
        if (*direct) costs.items[i] = rate ? 1 / values.items[i] : values.items[i];
        costs.items[i] /= batch;
    }
    return costs;
}

/* Medians of an unknown batch are multiplied by this: the trial's throughput gives the scale. */
static double scale_of(const struct assay__trial *trial, const struct assay__judged *j, bool direct)
{
    return direct || trial->batch > 0 ? 1 : 1 / (j->throughput.value * j->latency.value);
}

static void take_range(const struct assay__launch_values *values, double scale,
                       struct assay__arena *arena, double *low, double *high)
{
    struct assay__launch_values sorted = assay__launch_sorted(values, arena);
    *low = sorted.count ? sorted.items[0] * scale : NAN;
    *high = sorted.count ? sorted.items[sorted.count - 1] * scale : NAN;
}

static void read_costs(const struct assay__trial *trial, enum assay__plan_goal goal,
                       struct assay__arena *arena, struct assay__sweep_point *point)
{
    bool direct = false;
    struct assay__launch_values costs = assay__sweep_launch_costs(trial, goal, arena, &direct);
    if (!direct && goal == ASSAY__PLAN_ENERGY) costs.count = 0;
    take_range(&costs, scale_of(trial, &point->judged, direct), arena, &point->cost_low,
               &point->cost_high);
}

/* Merits are samples per second over seconds of latency, launch by launch: a step of the batch that
 * raises them raises throughput by a larger factor than latency. */
static void read_merits(const struct assay__trial *trial, struct assay__arena *arena,
                        struct assay__sweep_point *point)
{
    const struct assay__judged *j = &point->judged;
    bool direct = false;
    struct assay__launch_values costs = assay__sweep_launch_costs(trial, ASSAY__PLAN_THROUGHPUT,
                                                                  arena, &direct),
                                merits = assay__launch_sorted(&j->medians, arena);
    double scale = scale_of(trial, j, direct);
    merits.count = merits.count == costs.count && scale > 0 ? merits.count : 0;
    for (size_t i = 0; i < merits.count; i++)
        merits.items[i] = 1 / (costs.items[i] * scale * j->medians.items[i]);
    assay__stats_sort(merits.items, merits.count);
    point->merits = merits;
    if (!isfinite(scale)) costs.count = 0;
    take_range(&costs, scale, arena, &point->sample_low_s, &point->sample_high_s);
}

static void read_latency(struct assay__arena *arena, struct assay__sweep_point *point)
{
    struct assay__launch_values sorted = assay__launch_sorted(&point->judged.medians, arena);
    point->judged.latency.value = assay__stats_median(sorted.items, sorted.count);
    take_range(&sorted, 1, arena, &point->low_s, &point->high_s);
}

static struct assay__sweep_point read_point(const struct assay_profile *profile, size_t index,
                                            struct assay__arena *arena)
{
    const struct assay__plan *plan = &profile->plan;
    const struct assay__trial *trial = &profile->trials[index];
    struct assay__sweep_point point = {
        .judged = assay__judged_read(profile, index, arena),
        .device = trial->target.device,
        .device_class = trial->target.device_class,
        .software = trial->target.software,
        .slo_s = plan->slo_metric ? assay__trial_value(trial, plan->slo_metric) : (double)NAN,
        .efficiency = NAN,
        .sequence = 1,
    };
    struct assay__judged *j = &point.judged;
    read_latency(arena, &point);
    read_costs(trial, plan->goal, arena, &point);
    read_merits(trial, arena, &point);
    judge_state(trial, arena, j);
    const char *fault = j->usable ? output_fault(j, plan->drift_limit, arena) : "";
    point.sound = j->usable && !*fault;
    if (point.sound) fault = assay__limits_broken(plan, trial, arena);
    point.within = point.sound && !*fault;
    if (*fault) j->reason = fault;
    return point;
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

const char *assay__sweep_compiled(const struct assay__sweep *sweep, size_t point)
{
    size_t axis = assay__sweep_axis(sweep, ASSAY__AXIS_OPT);
    bool off = axis != SIZE_MAX && strcmp(sweep->points[point].values[axis], "none") == 0;
    return off ? "no" : "yes";
}

const char *assay__sweep_accelerated(const struct assay__sweep_point *point)
{
    if (point->device_class == ASSAY__CLASS_UNKNOWN) return "?";
    return point->device_class == ASSAY__CLASS_CPU ? "no" : "yes";
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

/* Samples of several sequence lengths are not alike: the shortest would always win. Their costs are
 * compared per token. */
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
    const struct assay__trial *first = profile->trials;
    if (!profile->trial_count) return (struct assay__sweep_wall){NAN, NAN, NAN, NAN};
    return (struct assay__sweep_wall){assay__trial_value(first, "sweep.wall.total"),
                                      assay__trial_value(first, "sweep.wall.measuring"),
                                      assay__trial_value(first, "sweep.wall.loading"),
                                      assay__trial_value(first, "sweep.wall.overhead")};
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
    for (size_t i = 0; i < profile->trial_count; i++)
        if (profile->trials[i].role != ASSAY__ROLE_CONFIRM)
            out->points[out->count++] = read_point(profile, i, arena);
    read_axes(profile, out);
    fill_efficiency(out);
    count_tokens(out, profile->plan.goal);
    assay__sweep_judge(profile, arena, out);
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}
