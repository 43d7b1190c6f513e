/* tune_session.h - a tuning with measurements: runs the search of tune.h with the launches of
 * arms.h until the budget is spent, and produces trials whose roles say what they were (read by
 * tune_report.h). */
#ifndef ASSAY_EXPERIMENT_TUNE_SESSION_H
#define ASSAY_EXPERIMENT_TUNE_SESSION_H

#include "experiment/config_space.h"
#include "judge/sweep.h"
#include "run/arm/arms.h"

#include <stdint.h>

struct assay__course;

struct assay__tune_job {
    struct assay__config_space *space; /* counted, its copies created */
    const struct assay__run_options
        *whole;                     /* shared by all launches; time_s is that of a short one */
    const struct assay__plan *plan; /* goal, limits, budget */
    uint64_t begin_ns;              /* when the budget began to run */
    size_t configurations;          /* maximum; 0: a quarter of the grid */
    uint64_t seed;
    struct assay__course *course;               /* of the progress */
    bool software[ASSAY__CONFIG_VALUES];        /* by device: measured once, never recommended */
    const char *refusals[ASSAY__CONFIG_VALUES]; /* by device: why it cannot be used; NULL: it can */
};

/** Measures until the budget is spent or there is nothing left to learn; the arms are begun here,
 *  and finished by the caller. 0, ASSAY_ENOMEM, or why the profile could not be created. */
int assay__tune_measure(struct assay__arms *arms, const struct assay__tune_job *job,
                        struct assay_error *error);

#endif
