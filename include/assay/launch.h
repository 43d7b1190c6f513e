/* launch.h - one worker process of a trial and its samples. What is read here is borrowed: see
 * trial.h. */
#ifndef ASSAY_LAUNCH_H
#define ASSAY_LAUNCH_H

#include <assay/metric.h>
#include <assay/trial.h>
#include <stdbool.h>
#include <stddef.h>

struct assay_launch;

struct assay_launch_info {
    size_t size; /* sizeof, set by the caller */
    int id;      /* 1, 2, … within its trial */
    enum assay_trial_state state;
    const char *reason;  /* why it failed; "" */
    int streams;         /* requests in flight; each has its own samples */
    size_t sample_count; /* of all streams */
    size_t warmup;       /* leading samples of the first stream that statistics leave out */
    double wall_ns;      /* of all measured windows; NaN unknown */
    double p50_ns;       /* NaN without samples */
};

/** NULL past the end, or when trial is NULL. */
ASSAY_API const struct assay_launch *assay_trial_launch(const struct assay_trial *trial,
                                                        size_t index);
/** Fills *info; false when launch is NULL or size is not set. */
ASSAY_API bool assay_launch_read(const struct assay_launch *launch, struct assay_launch_info *info);
/** The metrics of this launch alone; NULL when it has none, or launch is NULL. */
ASSAY_API const struct assay_metrics *assay_launch_metrics(const struct assay_launch *launch);
/** Durations in ns, in the order they were taken, of one stream (0, 1, …). *count (required) is 0,
 *  and the pointer NULL, when there is no such stream or it has no samples. */
ASSAY_API const double *assay_launch_samples(const struct assay_launch *launch, int stream,
                                             size_t *count);

#endif
