/* trial_latency.c - latency over launches. One launch: its own statistics. Several: p50 is the
 * median of the launches' medians; every other percentile, the mean and the spread are medians over
 * the launches; min and max are over all samples. Iterations of different processes are never
 * pooled. */
#include "run/trial/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN_LAUNCHES 5u
#define LOAD_MORE 0.15 /* of the CPU time, than beside the quieter launches */
#define SLOWER 0.08    /* that a fixed loop took longer than beside the faster launches */

/* Leaves out the launches with a value much above one of the lowest, while enough are left for an
 * interval. The values are of the machine, never of the latency. */
static size_t keep_low(const struct assay__outcome **used, size_t count, const double *values,
                       double lowest_share, double more)
{
    double *sorted = malloc((count + 1) * sizeof *sorted), limit = INFINITY;
    bool known = sorted != NULL;
    size_t kept = 0, low = 0;
    for (size_t i = 0; known && i < count; i++)
        known = isfinite(sorted[i] = values[i]);
    if (known) {
        assay__stats_sort(sorted, count);
        limit = sorted[(size_t)((double)count * lowest_share)] + more;
    }
    free(sorted);
    for (size_t i = 0; i < count && known; i++)
        low += values[i] <= limit;
    if (low < BETWEEN_LAUNCHES) return count;
    for (size_t i = 0; i < count; i++)
        if (values[i] <= limit) used[kept++] = used[i];
    return kept;
}

/* Launches beside which others used much more of the CPU time, or the machine was slower. */
static size_t without_disturbed(const struct assay__outcome **used, size_t count)
{
    double *values = malloc((count + 1) * sizeof *values);
    struct assay__speed best = assay__speed_unknown();
    if (!values) return count;
    for (size_t i = 0; i < count; i++) {
        values[i] = assay__outcome_load(used[i]);
        best = assay__speed_best(&best, &used[i]->speed);
    }
    count = keep_low(used, count, values, 0.25, LOAD_MORE);
    for (size_t i = 0; i < count; i++)
        values[i] = assay__speed_slowdown(&used[i]->speed, &best);
    count = keep_low(used, count, values, 0, SLOWER);
    free(values);
    return count;
}

size_t assay__trial_used(const struct assay__trial_input *input, const struct assay__outcome **used)
{
    size_t count = 0;
    for (size_t i = 0; i < input->outcome_count; i++)
        if (input->outcomes[i].code == 0 && input->outcomes[i].total > 0)
            used[count++] = &input->outcomes[i];
    if (count > 0) return input->brief ? without_disturbed(used, count) : count;
    for (size_t i = 0; i < input->outcome_count; i++)
        if (input->outcomes[i].total > 0) used[count++] = &input->outcomes[i];
    return count;
}

double assay__median_finite(double *values, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) values[known++] = values[i];
    assay__stats_sort(values, known);
    return known ? assay__stats_median(values, known) : NAN;
}

double assay__trial_median_of(const struct assay__outcome *const *used, size_t count,
                              double (*value)(const struct assay__outcome *outcome))
{
    double *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = value(used[i]);
    double median = values ? assay__median_finite(values, count) : NAN;
    free(values);
    return median;
}

double assay__trial_median(const struct assay__outcome *const *used, size_t count, size_t offset)
{
    double *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        memcpy(&values[i], (const char *)used[i] + offset, sizeof *values);
    double median = values ? assay__median_finite(values, count) : NAN;
    free(values);
    return median;
}

double assay__trial_p50(const struct assay__outcome *const *used, size_t count)
{
    return assay__trial_median(used, count, offsetof(struct assay__outcome, summary.p50));
}

double assay__trial_half_width(const struct assay__outcome *const *used, size_t count)
{
    double *values = malloc((count + 1) * sizeof *values), coverage;
    if (!values) return NAN;
    for (size_t i = 0; i < count; i++)
        values[i] = used[i]->summary.p50;
    assay__stats_sort(values, count);
    struct assay__interval interval = assay__stats_launch_interval(values, count, &coverage);
    double middle = count ? assay__stats_median(values, count) : NAN;
    free(values);
    return interval.known ? (interval.high - interval.low) / 2 / middle : NAN;
}

void assay__outcomes_so_far(const struct assay__outcome *outcomes, size_t count, double *p50_ns,
                            double *half_width)
{
    const struct assay__outcome **used = calloc(count + 1, sizeof *used);
    const struct assay__trial_input input = {
        .outcomes = outcomes, .outcome_count = count, .brief = true};
    size_t known = used ? assay__trial_used(&input, used) : 0;
    *p50_ns = known ? assay__trial_p50(used, known) : NAN;
    *half_width = known ? assay__trial_half_width(used, known) : NAN;
    free(used);
}

static int between(const struct assay__outcome *const *used, size_t count,
                   struct assay_metrics *metrics)
{
    char note[256];
    double *values = malloc((count + 1) * sizeof *values), coverage = NAN;
    if (!values) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        values[i] = used[i]->summary.p50;
    assay__stats_sort(values, count);
    struct assay__interval interval = {0};
    if (count >= BETWEEN_LAUNCHES)
        interval = assay__stats_launch_interval(values, count, &coverage);
    free(values);
    if (!interval.known) {
        snprintf(note, sizeof note,
                 "needs at least %u launches, there %s %zu: the process is the unit of "
                 "replication",
                 BETWEEN_LAUNCHES, count == 1 ? "is" : "are", count);
        assay_metrics_unavailable(metrics, "latency.between_low", note);
        assay_metrics_unavailable(metrics, "latency.between_high", note);
        return 0;
    }
    snprintf(note, sizeof note, "order statistics of %zu launch medians, coverage %.4g %%", count,
             coverage * 100);
    assay_metrics_derived(metrics, "latency.between_low", interval.low / 1e9, "clock", note);
    assay_metrics_derived(metrics, "latency.between_high", interval.high / 1e9, "clock", note);
    return 0;
}

/* A summary in which every field is the median over the launches (min and max: over all samples;
 * samples: of the launch with the fewest). */
static struct assay__summary over_launches(const struct assay__outcome *const *used, size_t count)
{
    struct assay__summary all = used[0]->summary;
    const size_t fields[] = {
        offsetof(struct assay__summary, mean), offsetof(struct assay__summary, stddev),
        offsetof(struct assay__summary, p05),  offsetof(struct assay__summary, p25),
        offsetof(struct assay__summary, p50),  offsetof(struct assay__summary, p75),
        offsetof(struct assay__summary, p90),  offsetof(struct assay__summary, p95),
        offsetof(struct assay__summary, p99),  offsetof(struct assay__summary, p999),
    };
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        double *field = (double *)(void *)((char *)&all + fields[f]);
        *field = assay__trial_median(used, count,
                                     offsetof(struct assay__outcome, summary) + fields[f]);
    }
    size_t least = used[0]->summary.samples;
    for (size_t i = 0; i < count; i++) {
        const struct assay__summary *one = &used[i]->summary;
        all.min = fmin(all.min, one->min);
        all.max = fmax(all.max, one->max);
        if (one->samples < least) least = one->samples;
    }
    all.samples = least;
    /* A percentile counts only if every launch supports it. */
    for (size_t p = 0; assay__percentile_at(p); p++)
        if (least < assay__stats_percentile_needs(assay__percentile_at(p)->q))
            *(double *)(void *)((char *)&all + assay__percentile_at(p)->offset) = NAN;
    return all;
}

static void several(const struct assay__outcome *const *used, size_t count,
                    struct assay_metrics *metrics)
{
    static const char *const within =
        "an interval within one process does not describe several: see latency.between_low and "
        "_high";
    char prefix[96];
    struct assay__summary all = over_launches(used, count);
    snprintf(prefix, sizeof prefix, "median over %zu launches of each launch's value; ", count);
    all.interval.known = false;
    size_t samples = 0;
    for (size_t i = 0; i < count; i++)
        samples += used[i]->summary.samples;
    assay__summary_metrics(&all, prefix, metrics);
    assay_metrics_measured(metrics, "latency.samples", (double)samples, "clock",
                           "warm samples, all launches and streams");
    assay_metrics_measured(metrics, "latency.min", all.min / 1e9, "clock", "over all launches");
    assay_metrics_measured(metrics, "latency.max", all.max / 1e9, "clock", "over all launches");
    assay_metrics_unavailable(metrics, "latency.ci_low", within);
    assay_metrics_unavailable(metrics, "latency.ci_high", within);
}

int assay__trial_latency(const struct assay__trial_input *input,
                         const struct assay__outcome *const *used, size_t count)
{
    struct assay_metrics *metrics = input->trial->metrics;
    struct assay__summary none = {0};
    size_t found = 0, prerun = 0;
    if (count == 0)
        assay__summary_metrics(&none, "", metrics);
    else if (count == 1)
        assay__summary_metrics(&used[0]->summary,
                               used[0]->code ? "from the samples before the launch failed; " : "",
                               metrics);
    else
        several(used, count, metrics);
    for (size_t i = 0; i < count; i++) {
        found += used[i]->summary.warmup;
        prerun += used[i]->prerun;
    }
    assay__summary_warmup_metric(prerun, input->warmup_forced, input->streams, found, metrics);
    return between(used, count, metrics);
}
