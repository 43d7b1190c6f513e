/* review.h - what a profile says of a trial in sentences: bottlenecks, opportunities and
 * recommendations, for the basic and the detailed report. A pure function of the profile. An
 * opportunity is an upper bound ("at most"), computed from what was measured: if that part took no
 * time, or reached its roof. A recommendation is something to try, not a promise. */
#ifndef ASSAY_JUDGE_REVIEW_H
#define ASSAY_JUDGE_REVIEW_H

#include "judge/require.h"
#include "cost/score.h"

#define ASSAY__REVIEW_SENTENCES 24 /* of a kind, at most */
#define ASSAY__REVIEW_BASIC 3      /* recommendations of the basic report */

struct assay__sentence_list {
    const char *items[ASSAY__REVIEW_SENTENCES];
    size_t count;
};

struct assay__review {
    bool required; /* a table is kept with the trial: judgement */
    struct assay__judgement judgement;
    struct assay__score score;
    struct assay__sentence_list bottlenecks, opportunities,
        recommendations; /* the most important first */
    bool sensor_first;   /* the first recommendation is about a sensor that is missing */
};

/** Everything lives in the arena or is borrowed from the profile. 0 or ASSAY_ENOMEM. */
int assay__review(const struct assay_profile *profile, const struct assay__trial *trial,
                  struct assay__arena *arena, struct assay__review *out);

/** How the command that made the profile reads the sensors: "--power reads the sensors". */
const char *assay__review_power_words(const struct assay_profile *profile);

#endif
