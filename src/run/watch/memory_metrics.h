/* memory_metrics.h - series and metrics of the worker's memory. */
#ifndef ASSAY_RUN_WATCH_MEMORY_METRICS_H
#define ASSAY_RUN_WATCH_MEMORY_METRICS_H

#include "probe/sampler/sampler.h"
#include "run/watch/watch.h"

struct assay__tracked;

struct assay__memory_seen {
    uint64_t window_end_ns; /* of the launch's last window; 0: none ended */
    double device_peak; /* peak of the worker, sum over the GPUs, max over launches; NaN unknown */
    double device_growth; /* growth of everything in use on one GPU since the worker started; NaN */
    const char *device_rail;        /* that GPU */
    const char *device_reason;      /* why not; "" */
    struct assay__tracked *tracked; /* NULL: tracked_reason says why */
    double tracked_ns;              /* median latency with the tracker; NaN */
    const char *tracked_reason;
};

/** NVML may report the device memory of a process: not for the CPU, nor for a device that cannot be
 * an NVIDIA GPU. */
bool assay__memory_asks_nvml(const struct assay__target *target);
/** The sampler's channels as series of the launch. 0 or ASSAY_ENOMEM. */
int assay__memory_keep_series(const struct assay__watch_plan *plan, struct assay__sampler *sampler,
                              int launch, struct assay__memory_seen *seen);
/** The metrics of memory, and trial->allocations. 0 or ASSAY_ENOMEM. */
int assay__memory_metrics(const struct assay__watch_plan *plan,
                          const struct assay__trial_input *input,
                          const struct assay__memory_seen *seen);

#endif
