/* durations.h - many durations in fixed memory: counts in classes of 1/64 octave, so that a
 * percentile is within 0.8 % of the true one; count, sum, min and max are exact. Times beyond 2^43
 * ns (2.4 hours) count in the last class. */
#ifndef ASSAY_MONITOR_DURATIONS_H
#define ASSAY_MONITOR_DURATIONS_H

#include <assay/metric.h>
#include <stdint.h>

#define ASSAY__DURATION_PARTS 64 /* classes per octave */
#define ASSAY__DURATION_CLASSES (ASSAY__DURATION_PARTS * 38)

struct assay__durations {
    uint64_t classes[ASSAY__DURATION_CLASSES];
    uint64_t count; /* in the classes */
    double sum_ns;
    uint64_t least_ns, greatest_ns; /* 0: none */
};

void assay__durations_clear(struct assay__durations *durations);
void assay__durations_add(struct assay__durations *durations, uint64_t duration_ns);
/** By nearest rank; NaN: none. */
double assay__durations_percentile(const struct assay__durations *durations, double q);
/** latency.p50, .p90, .p95, .p99, .p999, .mean, .min, .max, .samples; a percentile needs as many
 * samples as everywhere (doc/metrics.md). remark: added to the notes of the percentiles; "". */
void assay__durations_metrics(const struct assay__durations *durations, const char *remark,
                              struct assay_metrics *metrics);

#endif
