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
        return assay__refuse_option(error, "slo",
                                    "'%s' has several limits, but only one is allowed, such as "
                                    "p99=20ms: give the strictest",
                                    text);
    if (equals && assay__text_duration_s(equals + 1, &seconds) == 0 && seconds > 0 &&
        equals[strlen(equals) - 1] < 'a')
        return assay__refuse_option(error, "slo",
                                    "'%s' has no unit: write %sms, or use ns, us or s", text, text);
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
                                    "'%s' has no unit: write %sMB, or use B, kB, GB, MiB or GiB",
                                    text, text);
    return 0;
}

/* --- points ----------------------------------------------------------------------------------- */

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

/* Factor for medians with an unknown batch, from the trial's throughput. */
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

/* A point that was interrupted or lost a launch is judged by its launches that succeeded, and says
 * so. One that was interrupted in its first launch is not judged. */
static void judge_state(const struct assay__trial *trial, struct assay__arena *arena,
                        struct assay__sweep_point *point)
{
    struct assay__judged *j = &point->judged;
    size_t launches = j->medians.count;
    bool partial = trial->state == ASSAY__TRIAL_INTERRUPTED || trial->state == ASSAY__TRIAL_RUNNING;
    bool lost = trial->state == ASSAY__TRIAL_FAILED &&
                assay__trial_went_on(trial, ASSAY__SWEEP_LAUNCHES);
    j->usable = (trial->state == ASSAY__TRIAL_OK || (partial && launches) || lost) &&
                isfinite(j->latency.value);
    point->unreached = partial && !launches;
    for (size_t i = 0; i < trial->launch_count; i++)
        point->unreached &= !trial->launches[i].sample_count;
    point->interrupted = partial && !j->usable;
    if (lost && j->usable) {
        j->lost = assay__arena_text(arena, "%s; judged by the other %zu", j->reason, launches);
        j->reason = "";
    }
    if (partial)
        j->reason = launches ? assay__arena_text(arena, "interrupted after %zu launch%s", launches,
                                                 launches == 1 ? "" : "es")
                    : point->unreached ? "interrupted before it was measured"
                                       : "interrupted in its first launch";
}

/* The range of the costs according to the goal. */
static void take_costs(const struct assay__trial *trial, enum assay__plan_goal goal,
                       struct assay__arena *arena, struct assay__sweep_point *point)
{
    bool direct = false;
    struct assay__launch_values costs = assay__sweep_launch_costs(trial, goal, arena, &direct);
    double scale = scale_of(trial, &point->judged, direct);
    if (!direct && goal == ASSAY__PLAN_ENERGY) costs.count = 0;
    take_range(&costs, scale, arena, &point->cost_low, &point->cost_high);
}

/* The range of the seconds per sample, and the merits: samples per second over seconds of latency,
 * launch by launch. A step of the batch that raises them raises throughput by a larger factor than
 * latency. */
static void take_samples(const struct assay__trial *trial, struct assay__arena *arena,
                         struct assay__sweep_point *point)
{
    bool direct = false;
    const struct assay__launch_values *latencies = &point->judged.medians;
    struct assay__launch_values times = assay__sweep_launch_costs(trial, ASSAY__PLAN_THROUGHPUT,
                                                                  arena, &direct);
    double scale = scale_of(trial, &point->judged, direct);
    if (latencies->count == times.count && scale > 0) {
        struct assay__launch_values merits = {
            assay__arena_array(arena, times.count + 1, sizeof *merits.items), times.count};
        if (!merits.items) return; /* the arena has failed */
        for (size_t i = 0; i < merits.count; i++)
            merits.items[i] = 1 / (times.items[i] * scale * latencies->items[i]);
        assay__stats_sort(merits.items, merits.count);
        point->merits = merits;
    }
    if (!isfinite(scale)) times.count = 0;
    take_range(&times, scale, arena, &point->sample_low_s, &point->sample_high_s);
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
    const struct assay__launch_values medians = assay__launch_sorted(&j->medians, arena);
    j->latency.value = assay__stats_median(medians.items, medians.count);
    take_range(&medians, 1, arena, &point.low_s, &point.high_s);
    take_costs(trial, plan->goal, arena, &point);
    take_samples(trial, arena, &point);
    judge_state(trial, arena, &point);
    point.sound = j->usable && !(j->own_nonfinite.value > 0) &&
                  !(j->drift.value > plan->drift_limit);
    const char *limit = point.sound ? assay__limits_broken(plan, trial, arena) : "";
    point.within = point.sound && !*limit;
    if (*limit)
        j->reason = limit;
    else if (j->usable && j->own_nonfinite.value > 0)
        j->reason = assay__arena_text(arena, "%.0f of its output values are NaN or infinite",
                                      j->own_nonfinite.value);
    else if (j->usable && !point.sound)
        j->reason = assay__arena_text(arena,
                                      "its outputs drift: relative L2 is %.2g, the limit is %.2g",
                                      j->drift.value, plan->drift_limit);
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

/* Throughput relative to that of the smallest batch (else the fewest threads) at the same values of
 * the other axes, divided by the ratio of the batches: 1 is linear. */
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

/* Samples of different sequence lengths are not comparable: the shortest would always win. Their
 * costs are compared per token. */
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

int assay__sweep(const struct assay_profile *profile, struct assay__arena *arena,
                 struct assay__sweep *out)
{
    const struct assay__trial none = {0}, *first = profile->trial_count ? profile->trials : &none;
    *out = (struct assay__sweep){
        .best = SIZE_MAX,
        .next = SIZE_MAX,
        .base = SIZE_MAX,
        .base_gain = NAN,
        .knee = SIZE_MAX,
        .scaled = SIZE_MAX,
        .why = "",
        .knee_why = "",
        .gain = "",
        .wall = {.total = assay__trial_value(first, "sweep.wall.total"),
                 .measuring = assay__trial_value(first, "sweep.wall.measuring"),
                 .loading = assay__trial_value(first, "sweep.wall.loading"),
                 .overhead = assay__trial_value(first, "sweep.wall.overhead")}};
    out->points = assay__arena_array(arena, profile->trial_count, sizeof *out->points);
    if (!out->points) return ASSAY_ENOMEM;
    for (size_t i = 0; i < profile->trial_count; i++) {
        if (profile->trials[i].role == ASSAY__ROLE_CONFIRM) continue;
        out->points[out->count++] = read_point(profile, i, arena);
        assay__axes_add(&out->axes, &profile->trials[i]);
    }
    for (size_t i = 0; i < out->count; i++)
        for (size_t a = 0; a < out->axes.count; a++)
            out->points[i].values[a] = assay__trial_axis(
                &profile->trials[out->points[i].judged.trial], out->axes.items[a]);
    fill_efficiency(out);
    count_tokens(out, profile->plan.goal);
    assay__sweep_judge(profile, arena, out);
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}
