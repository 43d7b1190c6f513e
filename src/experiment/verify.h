/* verify.h - advice that is tried before it is given: every change suggested by the findings is
 * applied and measured against the run without it, with alternating launches, and judged by the
 * rules of a comparison (comparison.h). A finding whose change helps is "verified" and has the
 * measured gain with its 95 % interval; one whose change does not help, fails, or changes the
 * outputs too much is "withdrawn" with the reason; what a program cannot try stays "open" and says
 * what it needs.
 *
 * Several findings may suggest the same change: it is measured once. If two or more changes helped,
 * they are also measured together, in new launches alternating with the run without them, because
 * gains do not multiply: a finding "combined". */
#ifndef ASSAY_EXPERIMENT_VERIFY_H
#define ASSAY_EXPERIMENT_VERIFY_H

#include "advise/advise.h"
#include "run/arm/arms.h"

#define ASSAY__VERIFY_COMBINED "combined" /* id of the finding of all changes together */

struct assay__verify_options {
    /* the run without changes: launches, time or iterations of each */
    struct assay__run_options run;
    const char *const *batch_dims; /* replaces run.shapes if the batch changes; NULL: none */
    size_t batch_dim_count;
    double budget_s; /* wall clock; no launch is started after it */
};

struct assay__verification {
    int launches; /* requested, per side */
    double budget_s, spent_s;
    double baseline_s;                          /* median of the launch medians; NaN unknown */
    size_t changes, tried, verified, withdrawn; /* changes, not findings */
    bool interrupted;
    const char *reason; /* why nothing could be tried; "" */
};

/** Tries what can be tried. The arms are begun and started by the caller, in the advice's own
 *  profile or another one; the findings of the advice's profile are filled in, and its trial
 *  pointer is updated if adding arms has moved it. advice->verification is set to *out. 0 or an
 *  internal error (ASSAY_ENOMEM, …); a problem with a change is the reason of its finding. */
int assay__verify(struct assay__advice *advice, struct assay__arms *arms,
                  const struct assay__verify_options *options, struct assay__verification *out,
                  struct assay_error *error);
/** Nothing can be tried, for that reason, which the findings record. 0 or ASSAY_ENOMEM. */
int assay__verify_refuse(struct assay__advice *advice, const char *reason,
                         struct assay__verification *out);
/** The options with which the trial of the advice ran, for a saved profile; strings in `arena`.
 *  ASSAY_EUNSUPPORTED: its model no longer exists. */
int assay__verify_options_of(const struct assay__advice *advice, const char *model,
                             struct assay__arena *arena, struct assay__verify_options *out,
                             struct assay_error *error);
/** Findings re-evaluated from a saved profile keep earlier measurements: matched by id with those
 *  in the profile. Only for the same trial. */
int assay__verify_carry(struct assay_profile *profile, const struct assay__finding *kept,
                        size_t kept_count);

/** What follows "1.9 × " for a gain of "latency", "samples per second" or "time per token": "as
 *  fast", "the samples per second", "as fast per token". A number above 1 is always better: "1.9 ×
 *  latency" would say the opposite. */
const char *assay__gain_words(const char *of);
/** Why nothing was tried for a rule whose finding has no change: "needs …". */
const char *assay__verify_needs(const struct assay__rule *rule);

#endif
