/* tune.h - searches the best configuration of one model for a goal, within a budget of time. What
 * it found is in the profile's report. */
#ifndef ASSAY_TUNE_H
#define ASSAY_TUNE_H

#include <assay/sweep.h>

/** Zero or NULL means default; set size = sizeof. */
struct assay_tune_options {
    size_t size;
    /* What it may choose from. NULL: what the machine and the model allow of precision,
     * optimisation, threads and spinning, and with the goal throughput of the batch. */
    struct assay_grid_options grid;
    struct assay_goal_options goal; /* default: latency */
    double budget_s;                /* of time in all; 0: 60 */
    size_t configurations;          /* to try at most; 0: a quarter of them, at least 16 */
};

/** Returns 0 with *profile (assay_profile_close it): a trial per configuration and stage.
 *  ASSAY_EINTERRUPTED with *profile. May be called from several threads. */
ASSAY_API int assay_tune(const struct assay_run_options *run,
                         const struct assay_tune_options *options, struct assay_profile **profile,
                         struct assay_error *error);

#endif
