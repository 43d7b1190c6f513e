/* diff_fixture.h - hand-made profiles for the tests that put several side by side, and their
 * comparison. All of it stands in one arena that lives as long as the test's process. */
#ifndef ASSAY_TESTS_DIFF_FIXTURE_H
#define ASSAY_TESTS_DIFF_FIXTURE_H

#include "harness.h"

#include "judge/diff.h"

#include <assay/assay.h>

static struct assay__arena *arena;

/* A complete profile of the model with this fingerprint, with one trial that ended well; without
 * metrics. */
static inline struct assay_profile *diff_profile(const char *fingerprint)
{
    struct assay_profile *profile = assay__profile_new();
    CHECK(profile != NULL);
    if (!arena) arena = assay__arena_new();
    struct assay__trial *trial = assay__profile_trial(profile);
    profile->complete = true;
    profile->models[0]->fingerprint = fingerprint;
    trial->state = ASSAY__TRIAL_OK;
    return profile;
}

/* Two or three of them, named a.assay, b.assay, c.assay. */
static inline struct assay__diff compare(struct assay_profile *const *profiles, size_t count)
{
    static const char *const names[] = {"dir/a.assay", "dir/b.assay", "dir/c.assay"};
    struct assay__diff_input inputs[3];
    struct assay__diff diff;
    for (size_t i = 0; i < count; i++)
        inputs[i] = (struct assay__diff_input){profiles[i], names[i], NULL};
    CHECK_INT(assay__diff(inputs, count, arena, &diff, NULL), 0);
    return diff;
}

#endif
