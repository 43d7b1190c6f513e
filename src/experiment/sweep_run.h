/* sweep_run.h - measuring a sweep: its points as arms, resuming an earlier capture, running the
 * best two again, and where the wall-clock time went. sweep.h evaluates the points. */
#ifndef ASSAY_EXPERIMENT_SWEEP_RUN_H
#define ASSAY_EXPERIMENT_SWEEP_RUN_H

#include "experiment/config_space.h"
#include "experiment/device_selection.h"
#include "run/arm/arms.h"

#define ASSAY__SWEEP_CONFIRM_LAUNCHES 10

struct assay__course;

struct assay__sweep_plan {
    const struct assay__config_space *space;
    const struct assay__run_options *whole;
    const struct assay__device_selection *devices; /* by value of the device axis; empty: none */
    bool software;              /* the only device is emulated, if the device does not vary */
    struct assay_profile *kept; /* of an earlier capture, which must outlive the new one; NULL */
    bool confirm;
    uint64_t start_ns;            /* when the command began */
    struct assay__course *course; /* of the progress */
};

struct assay__sweep_tally {
    size_t points_kept, launches_kept; /* reused from the earlier capture */
    size_t points_failed;              /* also reused, with nothing left to measure */
    bool confirmed;                    /* the best two were run again */
};

/** Adds the points, checks that an earlier capture belongs to the same sweep (ASSAY_EINVAL with one
 *  line on what differs; then nothing was written), measures what is missing, confirms, and puts
 *  sweep.wall.* into the first trial. The caller begins and finishes. */
int assay__sweep_run(struct assay__arms *arms, const struct assay__sweep_plan *plan,
                     struct assay__sweep_tally *tally, struct assay_error *error);

/** 0, or ASSAY_EINVAL: why `kept` is not an earlier part of `now` (whose trials exist, but nothing
 *  is measured yet). The caller checks engine versions. */
int assay__sweep_resumable(const struct assay_profile *kept, const struct assay_profile *now,
                           struct assay_error *error);
/** Reuses the earlier capture for arms 0 … count - 1: complete trials, else their completed
 *  launches. */
int assay__sweep_adopt(struct assay__arms *arms, struct assay_profile *kept, size_t count,
                       int launches, struct assay__sweep_tally *tally, struct assay_error *error);

#endif
