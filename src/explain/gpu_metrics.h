/* gpu_metrics.h - a device's timeline as metrics (gpu.*, doc/metrics.md). */
#ifndef ASSAY_EXPLAIN_GPU_METRICS_H
#define ASSAY_EXPLAIN_GPU_METRICS_H

#include "explain/explain.h"

#include <assay/metric.h>

/** assay_metrics_free it; NULL: out of memory. */
struct assay_metrics *assay__gpu_metrics(const struct assay__explain *explain, size_t device);

#endif
