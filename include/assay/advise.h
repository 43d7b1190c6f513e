/* advise.h - what to change: rules evaluated on a profile, each finding with its evidence and
 * potential. The findings are read from the profile (assay_profile_finding). */
#ifndef ASSAY_ADVISE_H
#define ASSAY_ADVISE_H

#include <assay/run.h>

/** Zero or NULL means default; set size = sizeof. */
struct assay_advise_options {
    size_t size;
    const char *const *rules; /* only these, by id */
    size_t rule_count;
    int trial;         /* for a saved profile: 1, 2, …; 0: the first that ran */
    const char *model; /* for a saved profile: current path of its model; NULL: the recorded path */
    /* Apply every change that assay can make, and measure before and after. The run options say
     * how; 0 means 10 launches of 0.3 s per side. */
    bool verify;
    double budget_s; /* of verifying; 0: 120 */
};

/** Runs the model for 1 s with layers, memory and counters, and evaluates the rules. Returns 0 with
 *  *profile (assay_profile_close it). ASSAY_EINTERRUPTED with *profile. May be called from several
 *  threads. */
ASSAY_API int assay_advise(const struct assay_run_options *run,
                           const struct assay_advise_options *options,
                           struct assay_profile **profile, struct assay_error *error);
/** Evaluates the rules on a profile and replaces its findings. Only the run options about
 * verification are used (NULL: defaults). The profile must not be read during the call. */
ASSAY_API int assay_advise_profile(const struct assay_run_options *run,
                                   const struct assay_advise_options *options,
                                   struct assay_profile *profile, struct assay_error *error);

#endif
