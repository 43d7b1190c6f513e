/* sweep_run.h - measuring a sweep: its points as arms, going on with an earlier capture, running
 * the best two again, and where the wall-clock time went. What the points then say is sweep.h's. */
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
    bool software;              /* the one device is emulated, when none varies */
    struct assay_profile *kept; /* of an earlier capture, which must outlive the new one; NULL */
    bool confirm;
    uint64_t start_ns;            /* when the command began */
    struct assay__course *course; /* of the progress */
};

struct assay__sweep_tally {
    size_t points_kept, launches_kept; /* taken over from the earlier capture */
    size_t points_failed;              /* those too, but there is nothing to measure */
    bool confirmed;                    /* the best two were run again */
};

/** Adds the points, checks that an earlier capture is one of the same sweep (ASSAY_EINVAL with one
 *  line: what differs; then nothing was written), measures what is missing, confirms, and puts
 *  sweep.wall.* into the first trial. The caller begins and finishes. */
int assay__sweep_run(struct assay__arms *arms, const struct assay__sweep_plan *plan,
                     struct assay__sweep_tally *tally, struct assay_error *error);

/** 0, or ASSAY_EINVAL: why `kept` is no earlier part of what `now` is (its trials stand, nothing is
 *  measured yet). Engine versions are the caller's to check. */
int assay__sweep_resumable(const struct assay_profile *kept, const struct assay_profile *now,
                           struct assay_error *error);
/** Takes over what the earlier capture holds of arms 0 … count - 1: whole trials that ended, else
 *  their launches that did. */
int assay__sweep_adopt(struct assay__arms *arms, struct assay_profile *kept, size_t count,
                       int launches, struct assay__sweep_tally *tally, struct assay_error *error);

#endif
