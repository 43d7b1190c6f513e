/* review.h - a trial's bottlenecks, opportunities and recommendations as sentences, for the basic
 * and the detailed report: a pure function of the profile. An opportunity is an upper bound ("at
 * most") on the gain if a part took no time, or reached its roof. A recommendation is something to
 * try, not a promise. What disturbed the run is no bottleneck: it says how far to trust the numbers
 * (trust.h). Shares are those of the tables of layers. */
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
    bool required; /* a table is stored with the trial: its judgement */
    struct assay__judgement judgement;
    struct assay__score score;
    struct assay__sentence_list bottlenecks, opportunities,
        recommendations; /* the most important first */
    size_t to_change;    /* how many of the first are about the model; the others say how to measure
                          * better */
};

/** Everything is in the arena or borrowed from the profile. 0 or ASSAY_ENOMEM. */
int assay__review(const struct assay_profile *profile, const struct assay__trial *trial,
                  struct assay__arena *arena, struct assay__review *out);

#endif
