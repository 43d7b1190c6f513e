/* require_advice.h - advice for a requirement that is missed or nearly so: what the profile says
 * about why, and what to try. Advice is not a promise: none of it has been measured. */
#ifndef ASSAY_JUDGE_REQUIRE_ADVICE_H
#define ASSAY_JUDGE_REQUIRE_ADVICE_H

#include "judge/require.h"
#include "cost/roofline.h"

/** What advice rests on. */
struct assay__require_evidence {
    const struct assay__trial *trial;
    const struct assay__require_table *table; /* NULL: none */
    struct assay__roofline roofline;          /* if reason is set, nothing is known about bounds */
    enum assay__bound bound;                  /* of most of the layers' time */
    double share[ASSAY__BOUND_COUNT];         /* of the layers' time; NaN unknown */
    double ceiling;                           /* measured peak, FLOP/s; NaN unknown */
    const struct assay__layer *slowest;       /* NULL unknown */
    double slowest_share;                     /* of latency.p50 */
};

/** 0 or ASSAY_ENOMEM. */
int assay__require_evidence(const struct assay_profile *profile, const struct assay__trial *trial,
                            const struct assay__require_table *table, struct assay__arena *arena,
                            struct assay__require_evidence *out);
/** What to do about a row that is missed or close to it; sets row->advice_limit. */
const char *assay__require_advice(const struct assay__require_evidence *evidence,
                                  struct assay__requirement *row, struct assay__arena *arena);

#endif
