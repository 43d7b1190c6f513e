/* study.c - the parts of an analysis, computed when first requested. */
#include "judge/study.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct assay__study_trial {
    bool has_roofline, has_blocks, has_verdict, has_review, has_groups;
    struct assay__roofline roofline;
    struct assay__blocks blocks;
    struct assay__trial_verdict verdict;
    struct assay__review review;
    struct assay__ncp_groups *groups;
};

int assay__study_new(const struct assay_profile *profile, struct assay__study **study)
{
    struct assay__study *made = calloc(1, sizeof *made);
    *study = made;
    if (!made) return ASSAY_ENOMEM;
    made->profile = profile;
    made->arena = assay__arena_new();
    made->trials = assay__arena_array(made->arena, profile->trial_count + 1, sizeof *made->trials);
    if (made->trials) return 0;
    assay__study_free(made);
    *study = NULL;
    return ASSAY_ENOMEM;
}

void assay__study_free(struct assay__study *study)
{
    if (!study) return;
    assay__arena_free(study->arena);
    free(study);
}

const struct assay__comparison *assay__study_comparison(struct assay__study *study)
{
    if (!study->has_comparison)
        study->failed |= assay__comparison(study->profile, study->arena, &study->comparison) != 0;
    study->has_comparison = true;
    return &study->comparison;
}

const struct assay__layer_changes *assay__study_changes(struct assay__study *study)
{
    if (!study->has_changes)
        study->failed |= assay__layer_changes(study->profile, assay__study_comparison(study),
                                              study->arena, &study->changes) != 0;
    study->has_changes = true;
    return &study->changes;
}

const struct assay__sweep *assay__study_sweep(struct assay__study *study)
{
    if (!study->has_sweep)
        study->failed |= assay__sweep(study->profile, study->arena, &study->sweep) != 0;
    study->has_sweep = true;
    return &study->sweep;
}

const struct assay__bench *assay__study_bench(struct assay__study *study)
{
    if (!study->has_bench)
        study->failed |= assay__bench_judge(study->profile, study->arena, &study->bench) != 0;
    study->has_bench = true;
    return &study->bench;
}

const struct assay__tune_result *assay__study_tune(struct assay__study *study)
{
    if (!study->has_tune)
        study->failed |= assay__tune_result(study->profile, study->arena, &study->tune) != 0;
    study->has_tune = true;
    return &study->tune;
}

static struct assay__study_trial *own(struct assay__study *study, const struct assay__trial *trial)
{
    return &study->trials[trial - study->profile->trials];
}

const struct assay__roofline *assay__study_roofline(struct assay__study *study,
                                                    const struct assay__trial *trial)
{
    struct assay__study_trial *kept = own(study, trial);
    if (!kept->has_roofline)
        study->failed |= assay__roofline(study->profile, trial, study->arena, &kept->roofline) != 0;
    kept->has_roofline = true;
    return &kept->roofline;
}

const struct assay__blocks *assay__study_blocks(struct assay__study *study,
                                                const struct assay__trial *trial)
{
    struct assay__study_trial *kept = own(study, trial);
    if (!kept->has_blocks) study->failed |= assay__blocks(trial, study->arena, &kept->blocks) != 0;
    kept->has_blocks = true;
    return &kept->blocks;
}

const struct assay__trial_verdict *assay__study_verdict(struct assay__study *study,
                                                        const struct assay__trial *trial)
{
    struct assay__study_trial *kept = own(study, trial);
    if (!kept->has_verdict)
        study->failed |= assay__trial_verdict(study->profile, trial,
                                              assay__study_roofline(study, trial), study->arena,
                                              &kept->verdict) != 0;
    kept->has_verdict = true;
    return &kept->verdict;
}

const struct assay__review *assay__study_review(struct assay__study *study,
                                                const struct assay__trial *trial)
{
    struct assay__study_trial *kept = own(study, trial);
    if (!kept->has_review)
        study->failed |= assay__review(study->profile, trial, study->arena, &kept->review) != 0;
    kept->has_review = true;
    return &kept->review;
}

const struct assay__ncp_groups *assay__study_groups(struct assay__study *study,
                                                    const struct assay__trial *trial)
{
    struct assay__study_trial *kept = own(study, trial);
    if (!kept->has_groups)
        study->failed |= assay__ncp_groups_make(study->profile, trial, study->arena,
                                                &kept->groups) != 0;
    kept->has_groups = true;
    return kept->groups;
}

const struct assay__trial *assay__study_main_trial(struct assay__study *study)
{
    const struct assay_profile *profile = study->profile;
    size_t chosen = SIZE_MAX;
    if (!profile->trial_count) return NULL;
    if (profile->trial_count > 1 && profile->kind == ASSAY__PROFILE_COMPARE) {
        const struct assay__comparison *all = assay__study_comparison(study);
        size_t row = all->recommendations[ASSAY__FOR_LATENCY].row;
        if (row == SIZE_MAX) row = all->reference;
        if (row < all->count) chosen = all->rows[row].judged.trial;
    } else if (profile->trial_count > 1 && profile->kind == ASSAY__PROFILE_SWEEP) {
        const struct assay__sweep *sweep = assay__study_sweep(study);
        if (sweep->best < sweep->count) chosen = sweep->points[sweep->best].judged.trial;
    } else if (profile->trial_count > 1 && profile->kind == ASSAY__PROFILE_TUNE) {
        const struct assay__tune_result *tune = assay__study_tune(study);
        /* without a best the defaults, by the launches that the table shows of them */
        size_t row = tune->best < tune->count ? tune->best : tune->start;
        if (row < tune->count && tune->rows[row].judged.usable)
            chosen = tune->rows[row].judged.trial;
    }
    if (chosen < profile->trial_count) return &profile->trials[chosen];
    for (size_t i = 0; i < profile->trial_count; i++)
        if (isfinite(assay__trial_value(&profile->trials[i], "latency.p50")))
            return &profile->trials[i];
    return &profile->trials[0];
}
