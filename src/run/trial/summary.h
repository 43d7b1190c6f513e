/* summary.h - the statistics of one launch from its samples (definitions: base/stats.h,
 * doc/metrics.md). */
#ifndef ASSAY_RUN_TRIAL_SUMMARY_H
#define ASSAY_RUN_TRIAL_SUMMARY_H

#include "base/stats.h"

#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>

/** Durations of one stream in time order, in ns. */
struct assay__samples {
    double *values;
    size_t count, capacity;
};

/** Makes room for `more` values, growing by a quarter: doubling would waste megabytes in the parent
 * at a million samples. */
int assay__samples_reserve(struct assay__samples *samples, size_t more);
void assay__samples_free(struct assay__samples *samples);

struct assay__summary {
    size_t samples; /* warm ones, which the statistics are based on */
    size_t warmup;  /* dropped from the front (one stream; MSER-5) */
    double sum_ns;  /* of the warm samples */
    double mean, stddev, min, max, p05, p25, p50, p75, p90, p95, p99,
        p999;                        /* ns; p90 and up NaN when too few samples */
    double tau;                      /* 1 + 2 Σ ρ_k */
    struct assay__interval interval; /* 95 %, of the median; not tighter than the clock's step */
    /* half-width of the interval from the samples alone, relative to the median; more samples make
     * it smaller; NaN unknown */
    double half_width;
    double step_ns; /* step of the clock, if the interval was widened to it; else 0 */
    /* only with `full`: */
    double drift, drift_p;
    bool bimodal;
    double low_mode, high_mode, high_share;
    double outlier_share;
};

/** find_warmup: drop what MSER-5 calls warm-up (one stream only: several have no common order).
 * full: all fields. step_ns: the clock's smallest step (0 or NaN: unknown, or a scripted clock).
 * Allocates one temporary copy of the samples. 0 or ASSAY_ENOMEM; zero samples give NaN
 * everywhere. */
int assay__summary_compute(const struct assay__samples *streams, int stream_count, bool find_warmup,
                           bool full, double step_ns, struct assay__summary *summary);

/** latency.* (all but between_*) and latency.samples of one launch. `prefix` goes before each note
 * ("" allowed). */
void assay__summary_metrics(const struct assay__summary *summary, const char *prefix,
                            struct assay_metrics *metrics);
/** latency.warmup: what ran before measuring, and what was then detected in the data. */
void assay__summary_warmup_metric(size_t prerun, bool forced, int streams, size_t found,
                                  struct assay_metrics *metrics);

/** The percentiles by name, so that trials and launches have the same. NULL past the end. */
struct assay__percentile {
    const char *name;
    double q;
    size_t offset; /* into struct assay__summary */
};
const struct assay__percentile *assay__percentile_at(size_t index);

#endif
