/* metrics.h - filling a set of metrics. The set keeps its first error (assay_metrics_failed), so
 * that these return nothing. */
#ifndef ASSAY_BASE_METRICS_H
#define ASSAY_BASE_METRICS_H

#include <assay/metric.h>

/** The value, measured or derived as `state` says; unavailable with the reason where it is not
 *  finite. */
void assay__metrics_known(struct assay_metrics *set, const char *name, enum assay_state state,
                          double value, const char *source, const char *note, const char *reason);

#endif
