/* finding_rank.h - which finding comes first: what was measured to help, by its gain; then what was
 * not tried, by its potential, then by severity. Disturbances (other load, throttling, too few
 * samples) say how far the numbers can be trusted, not what to change: they never come before a
 * finding that does. What was tried without success is last. */
#ifndef ASSAY_ADVISE_FINDING_RANK_H
#define ASSAY_ADVISE_FINDING_RANK_H

#include "profile/profile.h"

/* In this order. */
enum assay__finding_class {
    ASSAY__FINDING_VERIFIED,
    ASSAY__FINDING_OPEN,
    ASSAY__FINDING_DISTURBANCE,
    ASSAY__FINDING_WITHDRAWN,
};
enum assay__finding_class assay__finding_class(const struct assay__finding *finding);
/** Below 0: `a` comes first; 0: neither does. */
int assay__finding_compare(const struct assay__finding *a, const struct assay__finding *b);
/** The profile's findings in their order, among equals as they are stored; in the arena. *advice
 * (may be NULL): how many of the first say what to change (verified or open). NULL: out of
 * memory. */
const struct assay__finding **assay__finding_order(const struct assay_profile *profile,
                                                   struct assay__arena *arena, size_t *advice);
/** Puts the profile's findings into that order. 0 or ASSAY_ENOMEM. */
int assay__finding_sort(struct assay_profile *profile);

#endif
