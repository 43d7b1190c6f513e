/* counters_fake.h - counters from a script of the fake engine, so that a test knows every count
 * (doc/fake-engine.md). */
#ifndef ASSAY_RUN_WATCH_COUNTERS_FAKE_H
#define ASSAY_RUN_WATCH_COUNTERS_FAKE_H

#include "run/worker/job.h"

/** If the job's script contains counts, the perf_event probe returns those from now on. 0 or
 * ASSAY_EINVAL. */
int assay__counters_fake(const struct assay__job *job, struct assay_error *error);
/** True when a script sets the counts: then *seconds is the elapsed time according to the script,
 * NaN if it has none. */
bool assay__counters_fake_elapsed(double *seconds);

#endif
