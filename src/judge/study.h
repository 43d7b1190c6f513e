/* study.h - the analysis of one profile, each part computed at most once, when a builder or a
 * writer first needs it. Everything lives as long as the study; the profile must outlive it.
 *
 * Running out of memory is recorded in `failed`: the part is then incomplete, and the report fails
 * once, at its end. */
#ifndef ASSAY_JUDGE_STUDY_H
#define ASSAY_JUDGE_STUDY_H

#include "cost/roofline.h"
#include "judge/bench.h"
#include "judge/blocks.h"
#include "judge/comparison.h"
#include "judge/layer_changes.h"
#include "judge/ncp_groups.h"
#include "judge/review.h"
#include "judge/sweep.h"
#include "judge/tune_report.h"
#include "judge/verdict.h"

struct assay__study_trial;

struct assay__study {
    const struct assay_profile *profile;
    struct assay__arena *arena;
    bool failed;
    bool has_comparison, has_changes, has_sweep, has_tune, has_bench; /* computed */
    struct assay__comparison comparison;
    struct assay__layer_changes changes;
    struct assay__sweep sweep;
    struct assay__tune_result tune;
    struct assay__bench bench;
    struct assay__study_trial *trials; /* by trial */
};

/** 0 or ASSAY_ENOMEM. */
int assay__study_new(const struct assay_profile *profile, struct assay__study **study);
void assay__study_free(struct assay__study *study); /* NULL legal */

const struct assay__comparison *assay__study_comparison(struct assay__study *study);
/** Why the trials of a comparison differ. */
const struct assay__layer_changes *assay__study_changes(struct assay__study *study);
const struct assay__sweep *assay__study_sweep(struct assay__study *study);
const struct assay__bench *assay__study_bench(struct assay__study *study);
const struct assay__tune_result *assay__study_tune(struct assay__study *study);
const struct assay__roofline *assay__study_roofline(struct assay__study *study,
                                                    const struct assay__trial *trial);
const struct assay__blocks *assay__study_blocks(struct assay__study *study,
                                                const struct assay__trial *trial);
const struct assay__trial_verdict *assay__study_verdict(struct assay__study *study,
                                                        const struct assay__trial *trial);
const struct assay__review *assay__study_review(struct assay__study *study,
                                                const struct assay__trial *trial);
/** NULL: the model is not a recurrent cell over time steps. */
const struct assay__ncp_groups *assay__study_groups(struct assay__study *study,
                                                    const struct assay__trial *trial);
/** The trial that a report leads with: the one that a comparison, sweep or tuning recommends, else
 *  the first that ran, else the first; NULL without trials. */
const struct assay__trial *assay__study_main_trial(struct assay__study *study);

#endif
