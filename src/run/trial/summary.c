/* summary.c - computes the statistics of one launch. Percentiles whose sample count does not
 * support them (MLPerf's early-stopping counts) are NaN here and unavailable, with the count they
 * need, as metrics. */
#include "run/trial/summary.h"

#include "base/metric_value.h"

#include <assay/error.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct assay__percentile percentiles[] = {
    {"latency.p90", 0.90, offsetof(struct assay__summary, p90)},
    {"latency.p95", 0.95, offsetof(struct assay__summary, p95)},
    {"latency.p99", 0.99, offsetof(struct assay__summary, p99)},
    {"latency.p999", 0.999, offsetof(struct assay__summary, p999)},
};
#define PERCENTILES (sizeof percentiles / sizeof percentiles[0])
#define QUARTILES_NEED 4u

const struct assay__percentile *assay__percentile_at(size_t index)
{
    return index < PERCENTILES ? &percentiles[index] : NULL;
}

double assay__summary_field(const struct assay__summary *summary, size_t offset)
{
    double value;
    memcpy(&value, (const char *)summary + offset, sizeof value);
    return value;
}

static void set_field(struct assay__summary *summary, size_t offset, double value)
{
    memcpy((char *)summary + offset, &value, sizeof value);
}

int assay__samples_reserve(struct assay__samples *samples, size_t more)
{
    size_t needed = samples->count + more;
    if (needed <= samples->capacity) return 0;
    size_t capacity = samples->capacity + samples->capacity / 4;
    if (capacity < needed) capacity = needed;
    if (capacity < 1024) capacity = 1024;
    if (capacity > SIZE_MAX / sizeof(double)) return ASSAY_ENOMEM;
    double *values = realloc(samples->values, capacity * sizeof(double));
    if (!values) return ASSAY_ENOMEM;
    samples->values = values;
    samples->capacity = capacity;
    return 0;
}

void assay__samples_free(struct assay__samples *samples)
{
    free(samples->values);
    *samples = (struct assay__samples){0};
}

static void set_unknown(struct assay__summary *summary)
{
    *summary = (struct assay__summary){
        .mean = NAN,
        .stddev = NAN,
        .min = NAN,
        .max = NAN,
        .p05 = NAN,
        .p25 = NAN,
        .p50 = NAN,
        .p75 = NAN,
        .p90 = NAN,
        .p95 = NAN,
        .p99 = NAN,
        .p999 = NAN,
        .tau = NAN,
        .half_width = NAN,
        .drift = NAN,
        .drift_p = NAN,
        .low_mode = NAN,
        .high_mode = NAN,
        .high_share = NAN,
        .outlier_share = NAN,
    };
}

/* What needs time order: the first stream stands for all (they run the same work side by side). */
static void time_order(const double *values, size_t count, bool full,
                       struct assay__summary *summary)
{
    summary->tau = assay__stats_autocorrelation_time(values, count);
    if (full) summary->drift = assay__stats_drift(values, count, &summary->drift_p);
}

/* A sample is read off a clock with steps: a thousand equal samples do not say where between two
 * ticks the median lies. half_width stays: more samples would not make a step finer, so the goal
 * must not wait for it. */
static void widen_to_step(double step_ns, struct assay__summary *summary)
{
    struct assay__interval *interval = &summary->interval;
    double low = summary->p50 - step_ns / 2, high = summary->p50 + step_ns / 2;
    if (!interval->known || !(step_ns > 0)) return;
    if (low >= interval->low && high <= interval->high) return;
    interval->low = fmax(fmin(interval->low, low), 0);
    interval->high = fmax(interval->high, high);
    summary->step_ns = step_ns;
}

static void sorted_order(double *sorted, bool full, double step_ns, struct assay__summary *summary)
{
    size_t count = summary->samples;
    assay__stats_sort(sorted, count);
    summary->min = sorted[0];
    summary->max = sorted[count - 1];
    summary->p50 = assay__stats_median(sorted, count);
    summary->p05 = assay__stats_percentile(sorted, count, 0.05);
    summary->p25 = assay__stats_percentile(sorted, count, 0.25);
    summary->p75 = assay__stats_percentile(sorted, count, 0.75);
    for (size_t i = 0; i < PERCENTILES; i++)
        if (count >= assay__stats_percentile_needs(percentiles[i].q))
            set_field(summary, percentiles[i].offset,
                      assay__stats_percentile(sorted, count, percentiles[i].q));
    summary->interval = assay__stats_median_interval(sorted, count, summary->tau);
    if (summary->interval.known && summary->p50 > 0)
        summary->half_width = (summary->interval.high - summary->interval.low) / 2 / summary->p50;
    if (full)
        summary->bimodal = assay__stats_bimodal(sorted, count, step_ns, &summary->low_mode,
                                                &summary->high_mode, &summary->high_share);
    widen_to_step(step_ns, summary);
}

int assay__summary_compute(const struct assay__samples *streams, int stream_count, bool find_warmup,
                           bool full, double step_ns, struct assay__summary *summary)
{
    set_unknown(summary);
    size_t total = 0;
    for (int s = 0; s < stream_count; s++)
        total += streams[s].count;
    if (total == 0) return 0;
    if (find_warmup && stream_count == 1)
        summary->warmup = assay__stats_warmup_end(streams[0].values, streams[0].count);
    const size_t skip = summary->warmup;
    summary->samples = total - skip;
    double *copy = malloc(summary->samples * sizeof *copy);
    if (!copy) return ASSAY_ENOMEM;
    size_t at = 0;
    for (int s = 0; s < stream_count; s++) { /* skip is 0 unless there is one stream */
        if (streams[s].count > skip)
            memcpy(copy + at, streams[s].values + skip, (streams[s].count - skip) * sizeof *copy);
        at += streams[s].count - skip;
    }
    for (size_t i = 0; i < summary->samples; i++)
        summary->sum_ns += copy[i];
    summary->mean = assay__stats_mean(copy, summary->samples);
    summary->stddev = assay__stats_stddev(copy, summary->samples);
    if (streams[0].count > skip)
        time_order(streams[0].values + skip, streams[0].count - skip, full, summary);
    else
        summary->tau = 1;
    sorted_order(copy, full, step_ns, summary);
    if (full) { /* last: it uses the sorted copy as scratch and counts on the originals */
        double mad = assay__stats_mad(copy, summary->samples, summary->p50, copy);
        size_t outliers = 0;
        for (int s = 0; s < stream_count && mad > 0; s++)
            outliers += assay__stats_outliers(streams[s].values + (s ? 0 : skip),
                                              streams[s].count - (s ? 0 : skip), summary->p50, mad);
        summary->outlier_share = (double)outliers / (double)summary->samples;
    }
    free(copy);
    return 0;
}

static void put_percentiles(const struct assay__summary *summary, const char *prefix,
                            struct assay_metrics *metrics)
{
    char note[256], reason[256];
    snprintf(note, sizeof note, "%snearest rank", prefix);
    for (size_t i = 0; i < PERCENTILES; i++) {
        snprintf(reason, sizeof reason,
                 "needs %zu samples in a launch, there are %zu: run longer (--iters, --time)",
                 assay__stats_percentile_needs(percentiles[i].q), summary->samples);
        assay__metrics_put_known(metrics, percentiles[i].name, ASSAY_MEASURED,
                                 assay__summary_field(summary, percentiles[i].offset) / 1e9,
                                 "clock", note, reason);
    }
}

static void put_interval(const struct assay__summary *summary, const char *prefix,
                         struct assay_metrics *metrics)
{
    char note[256];
    if (!summary->interval.known) {
        snprintf(note, sizeof note, "too few samples (%zu) for a 95 %% interval of the median",
                 summary->samples);
        assay_metrics_unavailable(metrics, "latency.ci_low", note);
        assay_metrics_unavailable(metrics, "latency.ci_high", note);
        return;
    }
    snprintf(note, sizeof note, "%sbinomial order statistics, 95 %%, n / tau with tau = %.3g",
             prefix, summary->tau);
    if (summary->step_ns > 0)
        snprintf(
            note, sizeof note,
            "%sbinomial order statistics, 95 %%, n / tau with tau = %.3g; not tighter than the "
            "clock's step of %.3g ns",
            prefix, summary->tau, summary->step_ns);
    assay_metrics_derived(metrics, "latency.ci_low", summary->interval.low / 1e9, "clock", note);
    assay_metrics_derived(metrics, "latency.ci_high", summary->interval.high / 1e9, "clock", note);
}

static void put_spread(const struct assay__summary *summary, const char *prefix,
                       struct assay_metrics *metrics)
{
    static const char *const few = "needs at least 2 samples";
    char note[256];
    snprintf(note, sizeof note, "%ssample standard deviation, n - 1", prefix);
    assay__metrics_put_known(metrics, "latency.stddev", ASSAY_DERIVED, summary->stddev / 1e9,
                             "clock", note, few);
    snprintf(note, sizeof note, "%sstandard deviation / mean", prefix);
    assay__metrics_put_known(metrics, "latency.cv", ASSAY_DERIVED, summary->stddev / summary->mean,
                             "clock", note, few);
}

/* Below four samples the quartiles are not four different ones. */
static void put_iqr(const struct assay__summary *summary, const char *prefix,
                    struct assay_metrics *metrics)
{
    char note[256];
    if (summary->samples < QUARTILES_NEED) {
        snprintf(note, sizeof note, "needs at least %u samples, there %s %zu", QUARTILES_NEED,
                 summary->samples == 1 ? "is" : "are", summary->samples);
        assay_metrics_unavailable(metrics, "latency.iqr", note);
        return;
    }
    snprintf(note, sizeof note, "%sp75 - p25, nearest rank", prefix);
    assay_metrics_derived(metrics, "latency.iqr", (summary->p75 - summary->p25) / 1e9, "clock",
                          note);
}

void assay__summary_metrics(const struct assay__summary *summary, const char *prefix,
                            struct assay_metrics *metrics)
{
    static const char *const all[] = {
        "latency.mean", "latency.stddev", "latency.cv",     "latency.min",    "latency.p5",
        "latency.p50",  "latency.p90",    "latency.p95",    "latency.p99",    "latency.p999",
        "latency.max",  "latency.iqr",    "latency.ci_low", "latency.ci_high"};
    if (summary->samples == 0) {
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            assay_metrics_unavailable(metrics, all[i], "no sample was taken");
        assay_metrics_measured(metrics, "latency.samples", 0, "clock", "");
        return;
    }
    char note[256];
    snprintf(note, sizeof note, "%swarm samples, host to host", prefix);
    const struct {
        const char *name;
        double value;
    } plain[] = {{"latency.min", summary->min},
                 {"latency.p5", summary->p05},
                 {"latency.p50", summary->p50},
                 {"latency.max", summary->max}};
    assay_metrics_derived(metrics, "latency.mean", summary->mean / 1e9, "clock", note);
    put_spread(summary, prefix, metrics);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        assay_metrics_measured(metrics, plain[i].name, plain[i].value / 1e9, "clock", note);
    put_percentiles(summary, prefix, metrics);
    put_iqr(summary, prefix, metrics);
    put_interval(summary, prefix, metrics);
    assay_metrics_measured(metrics, "latency.samples", (double)summary->samples, "clock",
                           "warm samples, all launches and streams");
}

void assay__summary_warmup_metric(size_t prerun, bool forced, int streams, size_t found,
                                  struct assay_metrics *metrics)
{
    char note[256];
    if (forced)
        snprintf(note, sizeof note, "%zu iterations before measuring, as asked", prerun);
    else if (streams > 1)
        snprintf(note, sizeof note, "%zu iterations before measuring, over %d streams", prerun,
                 streams);
    else
        snprintf(note, sizeof note,
                 "%zu iterations before measuring, then %zu samples found in the data (MSER-5)",
                 prerun, found);
    assay_metrics_measured(metrics, "latency.warmup", (double)(prerun + found), "clock", note);
}
