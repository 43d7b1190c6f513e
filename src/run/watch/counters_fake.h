/* counters_fake.h - counters from a script of the fake engine, so that a test knows every count
 * (doc/fake-engine.md). */
#ifndef ASSAY_RUN_WATCH_COUNTERS_FAKE_H
#define ASSAY_RUN_WATCH_COUNTERS_FAKE_H

#include "run/worker/job.h"

/** When the job's script says what is counted, the perf_event probe counts that from now on. 0 or
 *  ASSAY_EINVAL. */
int assay__counters_fake(const struct assay__job *job, struct assay_error *error);
/** True when a script decides the counts: then *seconds is the time that its "elapsed" says has
 *  gone by, NaN when it does not name it. */
bool assay__counters_fake_elapsed(double *seconds);

#endif
