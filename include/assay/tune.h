/* tune.h - searches for the best configuration of one model for a goal, within a time budget. The
 * result is in the profile's report. */
#ifndef ASSAY_TUNE_H
#define ASSAY_TUNE_H

#include <assay/sweep.h>

/** Zero or NULL means default; set size = sizeof. */
struct assay_tune_options {
    size_t size;
    /* What it may choose from. NULL: every precision, optimisation, number of threads and spinning
     * that the machine and the model allow, and with the goal throughput also the batch. */
    struct assay_grid_options grid;
    struct assay_goal_options goal; /* default: latency */
    double budget_s;                /* total time; 0: 60 */
    size_t configurations;          /* maximum to try; 0: a quarter of them, at least 16 */
};

/** Returns 0 with *profile (assay_profile_close it): a trial per configuration and stage.
 *  ASSAY_EINTERRUPTED with *profile. May be called from several threads. */
ASSAY_API int assay_tune(const struct assay_run_options *run,
                         const struct assay_tune_options *options, struct assay_profile **profile,
                         struct assay_error *error);

#endif
