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

double assay__sweep_value(const struct assay__sweep_point *point, enum assay__sweep_column column)
{
    switch (column) {
    case ASSAY__SWEEP_P50: return point->latency_s;
    case ASSAY__SWEEP_P99: return point->p99_s;
    case ASSAY__SWEEP_RATE: return point->throughput;
    case ASSAY__SWEEP_MEMORY: return point->memory_bytes;
    case ASSAY__SWEEP_JOULES: return point->energy_j;
    case ASSAY__SWEEP_BANDWIDTH: return point->bandwidth;
    case ASSAY__SWEEP_UTILIZATION: return point->utilization;
    case ASSAY__SWEEP_FLOPS: return point->rate;
    case ASSAY__SWEEP_COLUMNS: break;
    }
    return NAN;
}

const char *assay__sweep_metric(enum assay__sweep_column column)
{
    static const char *const names[ASSAY__SWEEP_COLUMNS] = {"latency.p50",
                                                            "latency.p99",
                                                            "throughput.inferences",
                                                            "memory.peak.worker",
                                                            "energy.inference.gross",
                                                            "memory.bandwidth",
                                                            "compute.utilization",
                                                            "compute.rate"};
    return column < ASSAY__SWEEP_COLUMNS ? names[column] : "";
}

/* --- points ----------------------------------------------------------------------------------- */

/* The axes that any point has, in the order of the first that has them; each point's values. */
static void read_axes(const struct assay_profile *profile, struct assay__sweep *sweep)
{
    for (size_t i = 0; i < sweep->count; i++) {
        const struct assay__trial *trial = &profile->trials[sweep->points[i].trial];
        for (size_t a = 0; a < trial->axis_count; a++)
            if (assay__sweep_axis(sweep, trial->axes[a].axis) == SIZE_MAX)
                sweep->axes[sweep->axis_count++] = trial->axes[a].axis;
    }
    for (size_t i = 0; i < sweep->count; i++) {
        struct assay__sweep_point *point = &sweep->points[i];
        for (size_t a = 0; a < sweep->axis_count; a++)
            point->values[a] = assay__trial_axis(&profile->trials[point->trial], sweep->axes[a]);
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
    if (plan->slo_metric && point->within && !(point->slo_s <= plan->slo_s)) {
        point->within = false;
        point->reason = isfinite(point->slo_s)
                            ? "beyond the latency that is allowed"
                            : assay__arena_printf(arena,
                                                  "the percentile of the limit is not known: %s",
                                                  note_of(trial, plan->slo_metric));
    }
    if (isfinite(plan->memory_bytes) && point->within &&
        !(point->memory_bytes <= plan->memory_bytes)) {
        point->within = false;
        point->reason = isfinite(point->memory_bytes)
                            ? "beyond the memory budget"
                            : assay__arena_printf(arena, "its memory is not known: %s",
                                                  note_of(trial, "memory.peak.worker"));
    }
    return point->reason ? 0 : ASSAY_ENOMEM;
}

/* What the outputs say against the point. What is not known of them says nothing. */
static int judge_outputs(double limit, struct assay__arena *arena, struct assay__sweep_point *point)
{
    point->sound = point->usable && !(point->nonfinite > 0) && !(point->drift > limit);
    point->within = point->sound;
    if (!point->usable || point->sound) return 0;
    point->reason = point->nonfinite > 0
                        ? assay__arena_printf(arena,
                                              "its outputs are not all numbers: %.0f of them are "
                                              "NaN or infinite",
                                              point->nonfinite)
                        : assay__arena_printf(arena,
                                              "its outputs drift: relative L2 is %.2g, more than "
                                              "%.2g (--allow-drift)",
                                              point->drift, limit);
    return point->reason ? 0 : ASSAY_ENOMEM;
}

/* A capture that did not end has launches that did: the point stands on those, and says so. So does
 * one that lost a launch. */
static int judge_state(const struct assay__trial *trial, size_t launches,
                       struct assay__arena *arena, struct assay__sweep_point *point)
{
    bool partial = trial->state == ASSAY__TRIAL_INTERRUPTED || trial->state == ASSAY__TRIAL_RUNNING;
    bool lost = trial->state == ASSAY__TRIAL_FAILED &&
                assay__trial_went_on(trial, ASSAY__SWEEP_LAUNCHES);
    point->usable = (trial->state == ASSAY__TRIAL_OK || (partial && launches) || lost) &&
                    isfinite(point->latency_s);
    point->lost = "";
    if (lost && point->usable) {
        point->lost = assay__arena_printf(arena, "%s; it is judged by the %zu that are left",
                                          point->reason, launches);
        if (!point->lost) return ASSAY_ENOMEM;
        point->reason = "";
    }
    if (partial)
        point->reason = launches ? assay__arena_printf(arena, "interrupted after %zu launch%s",
                                                       launches, launches == 1 ? "" : "es")
                                 : "interrupted before it was measured";
    return point->reason ? 0 : ASSAY_ENOMEM;
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
    double *numbers = assay__trial_costs(trial, name, &known);
    *direct = numbers && known == *count && known > 0;
    for (size_t i = 0; *direct && i < known; i++)
        costs[i] = rate ? 1 / numbers[i] : numbers[i];
    for (size_t i = 0; numbers && i < *count; i++)
        costs[i] /= batch;
    if (!numbers) free(costs);
    free(numbers);
    return numbers ? costs : NULL;
}

/* Between which costs its launches lie. Where only medians of an unknown batch are there, the
 * trial's own throughput gives the scale. */
static int fill_costs(const struct assay__trial *trial, enum assay__plan_goal goal,
                      struct assay__sweep_point *point)
{
    size_t count = 0;
    bool direct = false;
    double *costs = assay__sweep_launch_costs(trial, goal, &count, &direct);
    point->cost_low = point->cost_high = NAN;
    if (!costs) return ASSAY_ENOMEM;
    assay__stats_sort(costs, count);
    double scale = direct || trial->batch > 0 ? 1 : 1 / (point->throughput * point->latency_s);
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
    size_t count = 0, costs_count = 0;
    bool direct = false;
    double *medians = assay__trial_costs(trial, "latency.p50", &count),
           *costs = assay__sweep_launch_costs(trial, ASSAY__PLAN_THROUGHPUT, &costs_count, &direct),
           *merits = assay__arena_array(arena, count + 1, sizeof *merits);
    int code = medians && costs && merits ? 0 : ASSAY_ENOMEM;
    double scale = direct || trial->batch > 0 ? 1 : 1 / (point->throughput * point->latency_s);
    point->merits = merits;
    point->merit_count = count == costs_count && scale > 0 ? count : 0;
    for (size_t i = 0; i < point->merit_count && !code; i++)
        merits[i] = 1 / (costs[i] * scale * medians[i]);
    if (!code) assay__stats_sort(merits, point->merit_count);
    if (!code) assay__stats_sort(costs, costs_count);
    bool ranged = !code && costs_count && isfinite(scale);
    point->sample_low_s = ranged ? costs[0] * scale : NAN;
    point->sample_high_s = ranged ? costs[costs_count - 1] * scale : NAN;
    free(medians);
    free(costs);
    return code;
}

static int fill_point(const struct assay_profile *profile, size_t index, struct assay__arena *arena,
                      struct assay__sweep_point *point)
{
    const struct assay__plan *plan = &profile->plan;
    const struct assay__trial *trial = &profile->trials[index];
    double samples = assay__trial_value(trial, "throughput.samples");
    size_t count = 0;
    double *medians = assay__trial_costs(trial, "latency.p50", &count);
    if (!medians) return ASSAY_ENOMEM;
    assay__stats_sort(medians, count);
    *point = (struct assay__sweep_point){
        .trial = index,
        .label = trial->label,
        .device = trial->target.device,
        .device_class = trial->target.device_class,
        .software = trial->target.software,
        .reason = trial->reason ? trial->reason : "",
        .latency_s = count ? assay__stats_median(medians, count) : NAN,
        .low_s = count ? medians[0] : NAN,
        .high_s = count ? medians[count - 1] : NAN,
        .throughput = isfinite(samples) ? samples
                                        : assay__trial_value(trial, "throughput.inferences"),
        .slo_s = assay__trial_value(trial, plan->slo_metric),
        .p99_s = assay__trial_value(trial, "latency.p99"),
        .memory_bytes = assay__trial_value(trial, "memory.peak.worker"),
        .energy_j = assay__trial_value(trial, "energy.inference.gross"),
        .bandwidth = assay__trial_value(trial, "memory.bandwidth"),
        .utilization = assay__trial_value(trial, "compute.utilization"),
        .rate = assay__trial_value(trial, "compute.rate"),
        .nonfinite = assay__trial_value(trial, "outputs.nonfinite"),
        .drift = assay__trial_value(trial, "drift.relative_l2"),
        .efficiency = NAN,
        .sequence = 1,
    };
    free(medians);
    int code = fill_costs(trial, plan->goal, point);
    if (!code) code = fill_merits(trial, arena, point);
    if (!code) code = judge_state(trial, count, arena, point);
    if (!code) code = judge_outputs(plan->drift_limit, arena, point);
    return code ? code : apply_limits(trial, plan, arena, point);
}

size_t assay__sweep_axis(const struct assay__sweep *sweep, enum assay__axis axis)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
        if (sweep->axes[i] == axis) return i;
    return SIZE_MAX;
}

bool assay__sweep_is_matrix(const struct assay__sweep *sweep)
{
    return assay__sweep_axis(sweep, ASSAY__AXIS_DEVICE) != SIZE_MAX &&
           assay__sweep_axis(sweep, ASSAY__AXIS_OPT) != SIZE_MAX;
}

bool assay__sweep_same_but(const struct assay__sweep *sweep, size_t axis, size_t a, size_t b)
{
    for (size_t i = 0; i < sweep->axis_count; i++)
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
            if (sweep->points[k].usable && assay__sweep_same_but(sweep, axis, i, k) &&
                (!sweep->points[least].usable ||
                 assay__axis_number(sweep->points[k].values[axis]) <
                     assay__axis_number(sweep->points[least].values[axis])))
                least = k;
        point->base = least;
        point->efficiency = point->throughput / sweep->points[least].throughput /
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
