/* bench_baseline.h - the throughput of benchmarks compared with that in an earlier profile. */
#ifndef ASSAY_EXPERIMENT_BENCH_BASELINE_H
#define ASSAY_EXPERIMENT_BENCH_BASELINE_H

#include "profile/profile.h"

/** ASSAY_EINVAL with one line: not a profile of benchmarks. */
int assay__bench_baseline_open(const char *path, struct assay_profile **baseline,
                               struct assay_error *error);
/** Puts bench.* into every trial of `now`, which is not finished: the ratio by launches with its
 *  interval, or why there is none. Trials are matched by benchmark and device; a baseline of a
 *  single device is compared with every device. 0 or ASSAY_ENOMEM. */
int assay__bench_baseline_put(struct assay_profile *now, const struct assay_profile *baseline,
                              struct assay_error *error);

#endif
