/* compare.h - one model on several devices, or several models on one, in one profile. Launches
 * alternate; the process is the unit of replication. The profile's report has the verdicts. */
#ifndef ASSAY_COMPARE_H
#define ASSAY_COMPARE_H

#include <assay/run.h>

/** Zero or NULL means default; set size = sizeof. */
struct assay_compare_options {
    size_t size;
    /* Several models, on the single device of the run options. NULL: the model of the run on
     * several devices. */
    const char *const *models;
    size_t model_count;
    /* Names (device.h) or the classes cpu, gpu, npu, separated by commas; NULL: every usable
     * device. */
    const char *devices;
    bool no_drift;     /* do not compare the outputs */
    bool no_placement; /* do not query the engines for which nodes run where */
};

/** Zero in the run options means: 10 launches of 0.5 s each, ended after 120 s. Returns 0 with
 *  *profile (assay_profile_close it): a trial per device or model, including failed ones. Either
 *  options pointer may be NULL. ASSAY_EINTERRUPTED with *profile. May be called from several
 *  threads. */
ASSAY_API int assay_compare(const struct assay_run_options *run,
                            const struct assay_compare_options *options,
                            struct assay_profile **profile, struct assay_error *error);

#endif
