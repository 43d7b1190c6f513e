/* recover.h - the statistics of a capture that did not end (killed, or its disk was full): its
 * samples were persisted between windows, its metrics would have come last. */
#ifndef ASSAY_RUN_ARM_RECOVER_H
#define ASSAY_RUN_ARM_RECOVER_H

#include "profile/profile.h"

/** Fills, in memory only, what can be computed from the samples of every trial that has launches
 * with samples but no latency.p50: latency.*, throughput.inferences and .samples, the launches' p50
 * and warm-up, the stability. Every note says that it was recovered. Other trials are not changed.
 * 0 or ASSAY_ENOMEM. */
int assay__profile_recover(struct assay_profile *profile);

#endif
