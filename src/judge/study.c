/* study.c - the parts of an analysis, made when they are first asked for. */
#include "judge/study.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct assay__study_trial {
    struct assay__roofline *roofline;
    struct assay__review *review;
    struct assay__ncp_groups *groups;
    bool grouped; /* groups was looked for */
};

int assay__study_new(const struct assay_profile *profile, struct assay__study **study)
{
    struct assay__study *made = calloc(1, sizeof *made);
    if (made) made->arena = assay__arena_new();
    if (made && made->arena)
        made->trials = assay__arena_array(made->arena, profile->trial_count + 1,
                                          sizeof *made->trials);
    *study = made;
    if (made && made->trials) {
        made->profile = profile;
        return 0;
    }
    assay__study_free(made);
    *study = NULL;
    return ASSAY_ENOMEM;
}

void assay__study_free(struct assay__study *study)
{
    if (!study) return;
    for (size_t i = 0; study->trials && i < study->profile->trial_count; i++)
        assay__ncp_groups_free(study->trials[i].groups);
    assay__arena_free(study->arena);
    free(study);
}

/* Zeroed memory for a part; a static empty one, and the flag, when there is none. */
static void *part(struct assay__study *study, size_t size)
{
    static const union {
        struct assay__comparison comparison;
        struct assay__sweep sweep;
        struct assay__tune_result tune;
        struct assay__roofline roofline;
        struct assay__review review;
    } nothing;
    void *made = assay__arena_alloc(study->arena, size);
    if (made) return made;
    study->failed = true;
    return (void *)&nothing;
}

const struct assay__comparison *assay__study_comparison(struct assay__study *study)
{
    if (study->comparison) return study->comparison;
    study->comparison = part(study, sizeof *study->comparison);
    if (study->failed || assay__comparison(study->profile, study->arena, study->comparison))
        study->failed = true;
    return study->comparison;
}

const struct assay__sweep *assay__study_sweep(struct assay__study *study)
{
    if (study->sweep) return study->sweep;
    study->sweep = part(study, sizeof *study->sweep);
    if (study->failed || assay__sweep(study->profile, study->arena, study->sweep))
        study->failed = true;
    return study->sweep;
}

const struct assay__tune_result *assay__study_tune(struct assay__study *study)
{
    if (study->tune) return study->tune;
    study->tune = part(study, sizeof *study->tune);
    if (study->failed || assay__tune_result(study->profile, study->arena, study->tune))
        study->failed = true;
    return study->tune;
}

static struct assay__study_trial *own(struct assay__study *study, const struct assay__trial *trial)
{
    return &study->trials[trial - study->profile->trials];
}

const struct assay__roofline *assay__study_roofline(struct assay__study *study,
                                                    const struct assay__trial *trial)
{
    struct assay__roofline **kept = &own(study, trial)->roofline;
    if (*kept) return *kept;
    *kept = part(study, sizeof **kept);
    if (study->failed || assay__roofline(study->profile, trial, study->arena, *kept))
        study->failed = true;
    return *kept;
}

const struct assay__review *assay__study_review(struct assay__study *study,
                                                const struct assay__trial *trial)
{
    struct assay__review **kept = &own(study, trial)->review;
    if (*kept) return *kept;
    *kept = part(study, sizeof **kept);
    if (study->failed || assay__review(study->profile, trial, study->arena, *kept))
        study->failed = true;
    return *kept;
}

const struct assay__ncp_groups *assay__study_groups(struct assay__study *study,
                                                    const struct assay__trial *trial)
{
    struct assay__study_trial *kept = own(study, trial);
    if (!kept->grouped && assay__ncp_groups_make(study->profile, trial, &kept->groups))
        study->failed = true;
    kept->grouped = true;
    return kept->groups;
}

/* The trial that is recommended for latency (compare), or the best (sweep, tune); SIZE_MAX none. */
static size_t recommended(struct assay__study *study)
{
    const char *command = study->profile->command;
    if (strcmp(command, "compare") == 0) {
        const struct assay__comparison *all = assay__study_comparison(study);
        size_t row = all->recommendations[ASSAY__FOR_LATENCY].row;
        if (row == SIZE_MAX) row = all->reference;
        return row < all->count ? all->rows[row].judged.trial : SIZE_MAX;
    }
    if (strcmp(command, "sweep") == 0) {
        const struct assay__sweep *sweep = assay__study_sweep(study);
        return sweep->best < sweep->count ? sweep->points[sweep->best].judged.trial : SIZE_MAX;
    }
    if (strcmp(command, "tune") == 0) {
        const struct assay__tune_result *tune = assay__study_tune(study);
        return tune->best < tune->count ? tune->rows[tune->best].judged.trial : SIZE_MAX;
    }
    return SIZE_MAX;
}

const struct assay__trial *assay__study_main_trial(struct assay__study *study)
{
    const struct assay_profile *profile = study->profile;
    if (!profile->trial_count) return NULL;
    size_t chosen = profile->trial_count > 1 ? recommended(study) : SIZE_MAX;
    if (chosen < profile->trial_count) return &profile->trials[chosen];
    for (size_t i = 0; i < profile->trial_count; i++)
        if (isfinite(assay__trial_value(&profile->trials[i], "latency.p50")))
            return &profile->trials[i];
    return &profile->trials[0];
}
