/* earlier_runs.h - how much runs on this machine differ. The launches of one run lie within
 * seconds: a clock that follows the heat, or a neighbour on the same host, moves whole runs,
 * minutes apart, by more than launches differ. Only earlier runs of the same work show that. So the
 * medians of the last few that were called stable are kept in the folder for caches, by model,
 * inputs, settings, engine and machine. */
#ifndef ASSAY_RUN_EARLIER_RUNS_H
#define ASSAY_RUN_EARLIER_RUNS_H

#include "profile/profile.h"

#define ASSAY__EARLIER_RUNS 10u /* kept */
#define ASSAY__EARLIER_LEAST 3u /* with this one, for an interval */

/** Half the 95 % interval for a run's median around that of a typical run, relative to it:
 * Student's t on the logarithms. NaN: fewer than ASSAY__EARLIER_LEAST, or more than
 * ASSAY__EARLIER_RUNS + 1. */
double assay__earlier_runs_half_width(const double *medians, size_t count);

/** Adds latency.runs, runs_low and runs_high to a trial whose latency and stability are known, and
 * keeps its median for the next run if it was stable. Without a folder for caches, or with a file
 * that cannot be used, these are unavailable, with the reason. */
int assay__earlier_runs_apply(struct assay_profile *profile, struct assay__trial *trial);

#endif
