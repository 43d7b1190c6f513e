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

static void set_unknown(struct assay__summary *s)
{
    *s = (struct assay__summary){0};
    s->mean = s->stddev = s->min = s->max = s->tau = s->half_width = NAN;
    s->p05 = s->p25 = s->p50 = s->p75 = s->p90 = s->p95 = s->p99 = s->p999 = NAN;
    s->drift = s->drift_p = s->low_mode = s->high_mode = s->high_share = s->outlier_share = NAN;
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
        if (count >= assay__stats_percentile_needs(percentiles[i].q)) {
            double value = assay__stats_percentile(sorted, count, percentiles[i].q);
            memcpy((char *)summary + percentiles[i].offset, &value, sizeof value);
        }
    summary->interval = assay__stats_median_interval(sorted, count, summary->tau);
    if (summary->interval.known && summary->p50 > 0)
        summary->half_width = (summary->interval.high - summary->interval.low) / 2 / summary->p50;
    if (full)
        summary->bimodal = assay__stats_bimodal(sorted, count, step_ns, &summary->low_mode,
                                                &summary->high_mode, &summary->high_share);
    /* Samples come from a clock with finite steps: a thousand equal samples do not show where
     * between two ticks the median lies. half_width is not changed: more samples would not make the
     * steps finer, so the goal must not wait for that. */
    struct assay__interval *interval = &summary->interval;
    double low = summary->p50 - step_ns / 2, high = summary->p50 + step_ns / 2;
    if (!interval->known || !(step_ns > 0)) return;
    if (low >= interval->low && high <= interval->high) return;
    interval->low = fmax(fmin(interval->low, low), 0);
    interval->high = fmax(interval->high, high);
    summary->step_ns = step_ns;
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
    /* What needs time order: the first stream represents all (they run the same work). */
    const double *values = streams[0].values + skip;
    size_t count = streams[0].count > skip ? streams[0].count - skip : 0;
    summary->tau = count ? assay__stats_autocorrelation_time(values, count) : 1;
    if (count && full) summary->drift = assay__stats_drift(values, count, &summary->drift_p);
    sorted_order(copy, full, step_ns, summary);
    if (full) { /* last, because it uses the sorted copy as scratch and counts on the originals */
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

struct latency_writer {
    struct assay_metrics *metrics;
    const char *prefix; /* of every note */
};

static void put(const struct latency_writer *to, const char *name, enum assay_state state,
                double value, const char *what, const char *reason)
{
    char note[256];
    snprintf(note, sizeof note, "%s%s", to->prefix, what);
    assay__metrics_put_known(to->metrics, name, state, value, "clock", note, reason);
}

static void put_percentiles(const struct assay__summary *summary, const struct latency_writer *to)
{
    char reason[128];
    for (size_t i = 0; i < PERCENTILES; i++) {
        snprintf(reason, sizeof reason, "needs %zu samples in a launch, got %zu: run longer",
                 assay__stats_percentile_needs(percentiles[i].q), summary->samples);
        double value_ns;
        memcpy(&value_ns, (const char *)summary + percentiles[i].offset, sizeof value_ns);
        put(to, percentiles[i].name, ASSAY_MEASURED, value_ns / 1e9, "nearest rank", reason);
    }
}

static void put_interval(const struct assay__summary *summary, const struct latency_writer *to)
{
    const struct assay__interval *interval = &summary->interval;
    char note[192], reason[96], step[64] = "";
    if (summary->step_ns > 0)
        snprintf(step, sizeof step, "; not tighter than the clock's step of %.3g ns",
                 summary->step_ns);
    snprintf(note, sizeof note, "binomial order statistics, 95 %%, n / tau with tau = %.3g%s",
             summary->tau, step);
    snprintf(reason, sizeof reason, "too few samples (%zu) for a 95 %% interval of the median",
             summary->samples);
    put(to, "latency.ci_low", ASSAY_DERIVED, interval->known ? interval->low / 1e9 : (double)NAN,
        note, reason);
    put(to, "latency.ci_high", ASSAY_DERIVED, interval->known ? interval->high / 1e9 : (double)NAN,
        note, reason);
}

void assay__summary_metrics(const struct assay__summary *summary, const char *prefix,
                            struct assay_metrics *metrics)
{
    static const char *const all[] = {
        "latency.mean", "latency.stddev", "latency.cv",     "latency.min",    "latency.p5",
        "latency.p50",  "latency.p90",    "latency.p95",    "latency.p99",    "latency.p999",
        "latency.max",  "latency.iqr",    "latency.ci_low", "latency.ci_high"};
    static const char warm[] = "warm samples, host to host", few[] = "needs at least 2 samples";
    const struct latency_writer to = {metrics, prefix};
    for (size_t i = 0; summary->samples == 0 && i < sizeof all / sizeof all[0]; i++)
        assay_metrics_unavailable(metrics, all[i], "no sample was taken");
    if (summary->samples == 0) {
        assay_metrics_measured(metrics, "latency.samples", 0, "clock", "");
        return;
    }
    /* With fewer than four samples the quartiles are not distinct. */
    bool quartiles = summary->samples >= QUARTILES_NEED;
    char fewer[96];
    snprintf(fewer, sizeof fewer, "needs at least %u samples, there %s %zu", QUARTILES_NEED,
             summary->samples == 1 ? "is" : "are", summary->samples);
    put(&to, "latency.mean", ASSAY_DERIVED, summary->mean / 1e9, warm, "");
    put(&to, "latency.stddev", ASSAY_DERIVED, summary->stddev / 1e9,
        "sample standard deviation, n - 1", few);
    put(&to, "latency.cv", ASSAY_DERIVED, summary->stddev / summary->mean,
        "standard deviation / mean", few);
    put(&to, "latency.min", ASSAY_MEASURED, summary->min / 1e9, warm, "");
    put(&to, "latency.p5", ASSAY_MEASURED, summary->p05 / 1e9, warm, "");
    put(&to, "latency.p50", ASSAY_MEASURED, summary->p50 / 1e9, warm, "");
    put(&to, "latency.max", ASSAY_MEASURED, summary->max / 1e9, warm, "");
    put_percentiles(summary, &to);
    put(&to, "latency.iqr", ASSAY_DERIVED,
        quartiles ? (summary->p75 - summary->p25) / 1e9 : (double)NAN, "p75 - p25, nearest rank",
        fewer);
    put_interval(summary, &to);
    assay_metrics_measured(metrics, "latency.samples", (double)summary->samples, "clock",
                           "warm samples, all launches and streams");
}

void assay__summary_warmup_metric(size_t prerun, bool forced, int streams, size_t found,
                                  struct assay_metrics *metrics)
{
    char note[256];
    if (forced)
        snprintf(note, sizeof note, "%zu iterations before measuring, as requested", prerun);
    else if (streams > 1)
        snprintf(note, sizeof note, "%zu iterations before measuring, over %d streams", prerun,
                 streams);
    else
        snprintf(note, sizeof note,
                 "%zu iterations before measuring, then %zu samples detected as warm-up (MSER-5)",
                 prerun, found);
    assay_metrics_measured(metrics, "latency.warmup", (double)(prerun + found), "clock", note);
}
