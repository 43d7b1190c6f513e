/* judged.c - see judged.h. */
#include "judge/judged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int assay__trial_times(const struct assay__trial *trial, struct assay__trial_times *out)
{
    size_t count = 0, known = 0;
    *out = (struct assay__trial_times){
        .typical = assay__trial_costs(trial, "latency.p50", &count),
        .undisturbed = assay__trial_costs(trial, "latency.p5", &known)};
    if (!out->typical || !out->undisturbed) {
        assay__trial_times_free(out);
        return ASSAY_ENOMEM;
    }
    out->times = (struct assay__launch_times){out->typical,
                                              known == count ? out->undisturbed : NULL, count};
    return 0;
}

void assay__trial_times_free(struct assay__trial_times *times)
{
    free(times->typical);
    free(times->undisturbed);
    *times = (struct assay__trial_times){0};
}

/* A trial that was ended (two failures in a row, too slow) is not relied on, whatever it did
 * before. */
bool assay__trial_went_on(const struct assay__trial *trial, size_t least)
{
    size_t failed = 0; /* in a row, at the end */
    for (size_t i = 0; i < trial->launch_count; i++)
        failed = trial->launches[i].state == ASSAY__TRIAL_OK ? 0 : failed + 1;
    return assay__trial_good_launches(trial) >= least && failed < 2 &&
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

/* --- what is judged of it --------------------------------------------------------------------- */

/* Of the metric, or of `other` (NULL: none) where that alone is known. */
static struct assay__number number(const struct assay__trial *trial, const char *name,
                                   const char *other)
{
    const struct assay_metric *known = assay__trial_metric(trial, name);
    if (!known && other) known = assay__trial_metric(trial, other);
    return (struct assay__number){
        known ? known->value : (double)NAN,
        known || !trial->metrics ? known : assay_metrics_get(trial->metrics, name)};
}

int assay__judged_read(const struct assay_profile *profile, size_t index,
                       struct assay__arena *arena, struct assay__judged *out)
{
    const struct assay__trial *t = &profile->trials[index];
    size_t count = 0;
    double *costs = assay__trial_costs(t, "latency.p50", &count),
           *medians = costs ? assay__arena_array(arena, count + 1, sizeof *medians) : NULL;
    if (medians) memcpy(medians, costs, count * sizeof *medians);
    free(costs);
    if (!medians) return ASSAY_ENOMEM;
    *out = (struct assay__judged){
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
        .medians_s = medians,
        .median_count = count,
    };
    return 0;
}
