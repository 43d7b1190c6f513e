/* measure.h - the measured loop, for a caller's own callback: any runtime can be timed with the
 * same care (warm-up detected from the data, windows, autocorrelation-corrected interval, measured
 * loop overhead) and yields the same metrics. In process, one stream. */
#ifndef ASSAY_MEASURE_H
#define ASSAY_MEASURE_H

#include <assay/error.h>
#include <assay/metric.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One unit of work. Non-zero stops the measurement with that code. */
typedef int assay_step_fn(void *context);
/** A clock in ns; for tests. */
typedef uint64_t assay_clock_fn(void *context);

/** Zero or NULL means default everywhere (set size = sizeof). */
struct assay_measure_options {
    size_t size;
    bool warmup_given; /* drop exactly `warmup`; false: at least 10, with the end detected from the
                          data */
    int64_t warmup;
    int64_t iterations; /* 0: decided by time and precision */
    /* 0: at least 1 s and 1,000 iterations, until the median's interval is within 1 %, at most 10
     * s */
    double time_s;
    double precision;      /* half-width of the median's interval, relative; 0: 0.01 */
    assay_clock_fn *clock; /* NULL: the real clock */
    void *clock_context;
};

/** Runs and fills a new metric set (assay_metrics_free it): timing.first, latency.*,
 *  throughput.inferences, overhead.loop and .clock. The samples are not kept. NULL options:
 *  defaults. Returns 0, an ASSAY_E… code, or what the step returned. */
ASSAY_API int assay_measure(assay_step_fn *step, void *context,
                            const struct assay_measure_options *options,
                            struct assay_metrics **metrics, struct assay_error *error);

/** What is known of samples that the caller took. Zero means default; set size = sizeof. */
struct assay_samples_options {
    size_t size;
    bool warmup_given; /* leave out exactly the first `warmup`; false: detected from the data */
    int64_t warmup;
    size_t calls;   /* a sample is the mean of so many calls; 0: of one. Of several, what depends on
                       single calls (percentiles, the deviation) is unavailable */
    double step_ns; /* the smallest step of the caller's clock; 0: not known */
};

/** The statistics of durations in ns that were taken elsewhere, in the order of time, as a new
 *  metric set (assay_metrics_free it): latency.*, throughput.inferences. options NULL: defaults.
 *  ASSAY_EINVAL for a negative or non-finite duration. */
ASSAY_API int assay_measure_samples(const double *samples_ns, size_t count,
                                    const struct assay_samples_options *options,
                                    struct assay_metrics **metrics, struct assay_error *error);

#endif
