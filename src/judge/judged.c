/* judged.c - reads what a trial is judged by: its launches, its numbers, its limits. */
#include "judge/judged.h"

#include "base/metric_value.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct assay__launch_values assay__launch_metric(const struct assay__trial *trial,
                                                 const char *metric, struct assay__arena *arena)
{
    struct assay__launch_values values = {0};
    double *read = assay__trial_values(trial, metric, &values.count);
    values.items = read ? assay__arena_array(arena, values.count + 1, sizeof *read) : NULL;
    if (values.items)
        memcpy(values.items, read, values.count * sizeof *read);
    else
        values.count = 0;
    if (!read) assay__arena_fail(arena);
    free(read);
    return values;
}

static double launch_load(const struct assay__launch *launch)
{
    bool good = launch->state == ASSAY__TRIAL_OK && launch->metrics;
    return good ? assay__metrics_value(launch->metrics, "disturbance.cpu_other") : (double)NAN;
}

static bool is_disturbed(const struct assay__launch *launch)
{
    return launch_load(launch) >= ASSAY__BUSY_SHARE;
}

/* Whether there are enough launches without other load for a verdict based on them alone: as many
 * as were requested, at most five; a tuning requests one at a time. */
static bool quiet_suffice(const struct assay__trial *trial)
{
    int asked = trial->protocol.launches;
    size_t needed = asked >= 3 && asked < ASSAY__COMPARISON_LAUNCHES ? (size_t)asked
                                                                     : ASSAY__COMPARISON_LAUNCHES;
    size_t quiet = 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        quiet += trial->launches[i].state == ASSAY__TRIAL_OK && !is_disturbed(&trial->launches[i]);
    return quiet >= needed;
}

/* The launches of a trial that count: without the disturbed ones, if the others suffice. */
static struct assay__trial quiet_part(const struct assay__trial *trial, struct assay__arena *arena)
{
    struct assay__trial part = *trial;
    if (!quiet_suffice(trial)) return part;
    part.launches = assay__arena_array(arena, trial->launch_count, sizeof *part.launches);
    part.launch_count = 0;
    for (size_t i = 0; part.launches && i < trial->launch_count; i++)
        if (!is_disturbed(&trial->launches[i]))
            part.launches[part.launch_count++] = trial->launches[i];
    return part;
}

struct assay__launch_values assay__launch_values(const struct assay__trial *trial,
                                                 const char *metric, struct assay__arena *arena)
{
    struct assay__trial counted = quiet_part(trial, arena);
    struct assay__launch_values values = assay__launch_metric(&counted, metric, arena);
    size_t kept = 0;
    for (size_t i = 0; i < values.count; i++)
        if (values.items[i] > 0) values.items[kept++] = values.items[i];
    values.count = kept;
    return values;
}

struct assay__launch_values assay__launch_sorted(const struct assay__launch_values *values,
                                                 struct assay__arena *arena)
{
    struct assay__launch_values sorted = {
        assay__arena_array(arena, values->count + 1, sizeof *sorted.items), values->count};
    if (!sorted.items) return (struct assay__launch_values){0};
    if (sorted.count) memcpy(sorted.items, values->items, sorted.count * sizeof *sorted.items);
    assay__stats_sort(sorted.items, sorted.count);
    return sorted;
}

struct assay__ratio assay__launch_ratio(const struct assay__launch_values *a,
                                        const struct assay__launch_values *b,
                                        struct assay__arena *arena)
{
    struct assay__ratio ratio = ASSAY__RATIO_UNKNOWN;
    if (a->count >= ASSAY__COMPARISON_LAUNCHES && b->count >= ASSAY__COMPARISON_LAUNCHES &&
        assay__stats_compare(a->items, a->count, b->items, b->count, &ratio) == ASSAY_ENOMEM)
        assay__arena_fail(arena);
    return ratio;
}

double assay__trial_load(const struct assay__trial *trial, size_t *left_out)
{
    bool leave = quiet_suffice(trial);
    double sum = 0;
    size_t known = 0, left = 0;
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *launch = &trial->launches[i];
        if (!isfinite(launch_load(launch))) continue;
        if (leave && is_disturbed(launch)) {
            left++;
            continue;
        }
        sum += launch_load(launch);
        known++;
    }
    if (left_out) *left_out = left;
    if (known) return sum / (double)known;
    return strcmp(trial->target.engine, "fake") == 0
               ? (double)NAN
               : assay__trial_value(trial, "disturbance.cpu_other");
}

double assay__other_load(const struct assay__trial *trials, size_t count)
{
    double most = NAN;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, assay__trial_load(&trials[i], NULL));
    return most;
}

/* During the trials that a verdict is based on: in a tuning its finalists, if it has any. */
static double verdict_load(const struct assay_profile *profile, size_t *left_out)
{
    double most = NAN;
    bool finalists = false;
    for (size_t i = 0; i < profile->trial_count; i++)
        finalists |= profile->trials[i].role == ASSAY__ROLE_FINALIST;
    *left_out = 0;
    for (size_t i = 0; i < profile->trial_count; i++) {
        size_t left = 0;
        if (finalists && profile->trials[i].role != ASSAY__ROLE_FINALIST) continue;
        most = fmax(most, assay__trial_load(&profile->trials[i], &left));
        *left_out += left;
    }
    return most;
}

const char *assay__load_caveat(const struct assay_profile *profile, struct assay__arena *arena)
{
    size_t left_out;
    double load = verdict_load(profile, &left_out);
    if (!(load >= ASSAY__BUSY_SHARE) && left_out)
        return assay__arena_text(arena,
                                 "; %zu launch%s during which other processes used much of the CPU "
                                 "time %s not counted",
                                 left_out, left_out == 1 ? "" : "es", left_out == 1 ? "is" : "are");
    if (!(load >= ASSAY__BUSY_SHARE)) return "";
    return assay__arena_text(arena,
                             "; other processes used up to %.0f %% of the CPU time: measure again "
                             "when they have finished",
                             load * 100);
}

const char *assay__load_withdraws(const struct assay_profile *profile, struct assay__arena *arena)
{
    size_t left_out;
    double load = verdict_load(profile, &left_out);
    if (!(load >= ASSAY__BUSY_MUCH)) return "";
    return assay__arena_text(arena, "withdrawn: machine busy (%.0f %% used by others)", load * 100);
}

/* A trial that was stopped (two failures in a row, too slow) is not relied on, whatever it did
 * before. */
bool assay__trial_went_on(const struct assay__trial *trial, size_t needed)
{
    size_t failed = 0; /* in a row, at the end */
    for (size_t i = 0; i < trial->launch_count; i++)
        failed = trial->launches[i].state == ASSAY__TRIAL_OK ? 0 : failed + 1;
    return assay__trial_good_launches(trial) >= needed && failed < 2 &&
           trial->launch_count >= (size_t)trial->protocol.launches;
}

void assay__axes_add(struct assay__axes *axes, const struct assay__trial *trial)
{
    for (size_t a = 0; a < trial->axis_count; a++) {
        size_t at = 0;
        while (at < axes->count && axes->items[at] != trial->axes[a].axis)
            at++;
        if (at == axes->count && at < ASSAY__AXIS_COUNT)
            axes->items[axes->count++] = trial->axes[a].axis;
    }
}

/* --- what it is judged by --------------------------------------------------------------------- */

/* Of the metric, or of `other` (NULL: none) if only that is known. */
static struct assay__number number(const struct assay__trial *trial, const char *name,
                                   const char *other)
{
    const struct assay_metric *known = assay__trial_metric(trial, name);
    if (!known && other) known = assay__trial_metric(trial, other);
    return (struct assay__number){known ? known->value : (double)NAN,
                                  known ? known : assay_metrics_get(trial->metrics, name)};
}

struct assay__judged assay__judged_read(const struct assay_profile *profile, size_t index,
                                        struct assay__arena *arena)
{
    const struct assay__trial *t = &profile->trials[index];
    return (struct assay__judged){
        .trial = index,
        .label = t->label,
        .role = t->role,
        .reason = t->reason ? t->reason : "",
        .lost = "",
        .latency = number(t, "latency.p50", NULL),
        .p99 = number(t, "latency.p99", NULL),
        .throughput = number(t, "throughput.samples", "throughput.inferences"),
        .memory = number(t, "memory.peak.worker", NULL),
        .device_memory = number(t, "memory.peak.device", NULL),
        .power = number(t, "power.average", NULL),
        .energy = number(t, "energy.inference.gross", NULL),
        .tops_per_watt = number(t, "efficiency.tops_per_watt", NULL),
        .score = number(t, "score.efficiency", NULL),
        .bandwidth = number(t, "memory.bandwidth", NULL),
        .compute = number(t, "compute.rate", NULL),
        .utilization = number(t, "compute.utilization", NULL),
        .drift = number(t, "drift.relative_l2", NULL),
        .nonfinite = number(t, "drift.nonfinite", NULL),
        .own_nonfinite = number(t, "outputs.nonfinite", NULL),
        .medians = assay__launch_values(t, "latency.p50", arena),
    };
}

/* --- limits ----------------------------------------------------------------------------------- */

const char *assay__limits_broken(const struct assay__plan *plan, const struct assay__trial *trial,
                                 struct assay__arena *arena)
{
    const char *names[] = {plan->slo_metric,
                           isfinite(plan->memory_bytes) ? "memory.peak.worker" : NULL};
    const double limits[] = {plan->slo_s, plan->memory_bytes};
    for (int i = 0; i < 2; i++) {
        double value = assay__trial_value(trial, names[i]);
        if (!names[i] || value <= limits[i]) continue;
        if (isfinite(value)) return i ? "memory above the budget" : "latency above the limit";
        const struct assay_metric *m = assay_metrics_get(trial->metrics, names[i]);
        return assay__arena_text(arena, "%s is unknown: %s",
                                 i ? "its memory" : "the limited percentile",
                                 m && m->note && *m->note ? m->note : "run longer");
    }
    return "";
}

/* Used / allowed, for latency and for memory; 0 without a limit. */
static void limit_shares(const struct assay__plan *plan, const struct assay__trial *trial,
                         double *latency, double *memory)
{
    *latency = plan->slo_metric ? assay__trial_value(trial, plan->slo_metric) / plan->slo_s : 0;
    *memory = isfinite(plan->memory_bytes)
                  ? assay__trial_value(trial, "memory.peak.worker") / plan->memory_bytes
                  : 0;
}

double assay__limits_excess(const struct assay__plan *plan, const struct assay__trial *trial)
{
    double latency, memory;
    limit_shares(plan, trial, &latency, &memory);
    return isnan(latency) || isnan(memory) ? (double)NAN : fmax(latency, memory);
}

const char *assay__limits_missed(const struct assay__plan *plan, const struct assay__trial *trial,
                                 struct assay__arena *arena)
{
    double latency, memory;
    limit_shares(plan, trial, &latency, &memory);
    bool slow = latency >= memory;
    double over = slow ? latency : memory, limit = slow ? plan->slo_s : plan->memory_bytes;
    const char *unit = slow ? "s" : "B";
    return assay__arena_text(
        arena, "%s: %s is %s, the limit is %s (%s %s)", trial->label,
        slow ? plan->slo_metric : "memory", assay__scaled(over * limit, unit).text,
        assay__scaled(limit, unit).text, assay__digits(over < 2 ? (over - 1) * 100 : over, 3).text,
        over < 2 ? "% over" : "times as much");
}
