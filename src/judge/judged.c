/* judged.c - see judged.h. */
#include "judge/judged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what a trial holds ----------------------------------------------------------------------- */

const char *assay__trial_option(const struct assay__trial *trial, const char *key)
{
    for (size_t i = 0; i < trial->option_count; i++)
        if (strcmp(trial->options[i].key, key) == 0) return trial->options[i].value;
    return "";
}

static const struct assay_metric *find(const struct assay_metrics *metrics, const char *name)
{
    return metrics && name ? assay_metrics_get(metrics, name) : NULL;
}

static bool has_value(const struct assay_metric *metric)
{
    return metric && metric->state != ASSAY_UNAVAILABLE && isfinite(metric->value);
}

const struct assay_metric *assay__trial_metric(const struct assay__trial *trial, const char *name)
{
    const struct assay_metric *metric = find(trial->metrics, name);
    return has_value(metric) ? metric : NULL;
}

double assay__trial_known(const struct assay__trial *trial, const char *name)
{
    const struct assay_metric *metric = assay__trial_metric(trial, name);
    return metric ? metric->value : (double)NAN;
}

double *assay__trial_values(const struct assay__trial *trial, const char *metric, size_t *count,
                            const char **why)
{
    double *values = calloc(trial->launch_count + 1, sizeof *values);
    *count = 0;
    if (why) *why = "";
    for (size_t i = 0; values && i < trial->launch_count; i++) {
        const struct assay__launch *launch = &trial->launches[i];
        const struct assay_metric *m = find(launch->metrics, metric);
        if (launch->state != ASSAY__TRIAL_OK) continue;
        if (has_value(m) && m->value > 0)
            values[(*count)++] = m->value;
        else if (m && why && !**why)
            *why = m->note;
    }
    return values;
}

static bool is_timed(const struct assay__launch *launch)
{
    return launch->state == ASSAY__TRIAL_OK && isfinite(launch->p50_ns) && launch->p50_ns > 0;
}

/* The medians into an array that has room for all launches. */
static size_t put_medians(const struct assay__trial *trial, double *medians)
{
    size_t count = 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        if (is_timed(&trial->launches[i])) medians[count++] = trial->launches[i].p50_ns / 1e9;
    return count;
}

double *assay__trial_medians(const struct assay__trial *trial, size_t *count)
{
    double *medians = calloc(trial->launch_count + 1, sizeof *medians);
    *count = medians ? put_medians(trial, medians) : 0;
    return medians;
}

int assay__trial_times(const struct assay__trial *trial, struct assay__trial_times *out)
{
    size_t count = 0, known = 0;
    *out = (struct assay__trial_times){.typical = assay__trial_medians(trial, &count)};
    out->undisturbed = calloc(trial->launch_count + 1, sizeof *out->undisturbed);
    if (!out->typical || !out->undisturbed) {
        assay__trial_times_free(out);
        return ASSAY_ENOMEM;
    }
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *launch = &trial->launches[i];
        const struct assay_metric *p5 = find(launch->metrics, "latency.p5");
        if (is_timed(launch) && has_value(p5) && p5->value > 0)
            out->undisturbed[known++] = p5->value;
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

size_t assay__trial_good_launches(const struct assay__trial *trial)
{
    size_t good = 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        good += trial->launches[i].state == ASSAY__TRIAL_OK;
    return good;
}

/* A trial that was ended (two failures in a row, too slow) is not relied on, whatever it did
 * before. */
bool assay__trial_went_on(const struct assay__trial *trial, size_t least)
{
    size_t failed = 0; /* in a row, at the end */
    for (size_t i = 0; i < trial->launch_count; i++)
        failed = trial->launches[i].state == ASSAY__TRIAL_OK ? 0 : failed + 1;
    const char *asked = assay__trial_option(trial, "launches");
    return assay__trial_good_launches(trial) >= least && failed < 2 &&
           (!*asked || trial->launch_count >= strtoul(asked, NULL, 10));
}

/* --- what is judged of it --------------------------------------------------------------------- */

/* Of the metric, or of `other` (NULL: none) where that alone is known. */
static struct assay__number number(const struct assay__trial *trial, const char *name,
                                   const char *other)
{
    const struct assay_metric *known = assay__trial_metric(trial, name);
    if (!known) known = assay__trial_metric(trial, other);
    return (struct assay__number){known ? known->value : (double)NAN,
                                  known ? known : find(trial->metrics, name)};
}

int assay__judged_read(const struct assay_profile *profile, size_t index,
                       struct assay__arena *arena, struct assay__judged *out)
{
    const struct assay__trial *t = &profile->trials[index];
    double *medians = assay__arena_array(arena, t->launch_count + 1, sizeof *medians);
    if (!medians) return ASSAY_ENOMEM;
    *out = (struct assay__judged){
        .trial = index,
        .label = assay__trial_option(t, "label"),
        .role = assay__trial_option(t, "role"),
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
        .median_count = put_medians(t, medians),
    };
    return 0;
}
