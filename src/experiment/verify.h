/* verify.h - advice that is tried before it is given: every change that the findings ask for is
 * made and measured against the run without it, launches alternating, and judged by the rules of a
 * comparison (comparison.h). A finding whose change helps is "verified" and carries the measured
 * gain with its 95 % interval; one whose change does not help, fails, or moves the outputs too far
 * is "withdrawn" with the reason; what a program cannot try stays "open" and says what it needs.
 *
 * Several findings may ask for one change: it is measured once. When two or more changes helped
 * they are measured together too, in fresh launches beside the run without them, because
 * gains do not multiply: a finding "combined". */
#ifndef ASSAY_EXPERIMENT_VERIFY_H
#define ASSAY_EXPERIMENT_VERIFY_H

#include "advise/advise.h"
#include "run/arm/arms.h"

#define ASSAY__VERIFY_COMBINED "combined" /* id of the finding of all changes together */

struct assay__verify_options {
    /* the run without changes: launches, time or iterations of each */
    struct assay__run_options run;
    const char *const *batch_dims; /* what replaces run.shapes when the batch changes; NULL: none */
    size_t batch_dim_count;
    double budget_s; /* wall clock; no launch is begun after it */
};

struct assay__verification {
    int launches; /* asked for, of each side */
    double budget_s, spent_s;
    double baseline_s;                          /* median of the launches' medians; NaN unknown */
    size_t changes, tried, verified, withdrawn; /* changes, not findings */
    bool interrupted;
    const char *reason; /* why nothing could be tried; "" */
};

/** Tries what can be tried. The arms are begun and started by the caller, in the advice's own
 *  profile or in another one; the findings of the advice's profile are filled in, and its trial is
 *  found again where adding arms has moved it. advice->verification is set to *out. 0 or an error
 *  of the machinery (ASSAY_ENOMEM, …); what is wrong with a change is its finding's reason. */
int assay__verify(struct assay__advice *advice, struct assay__arms *arms,
                  const struct assay__verify_options *options, struct assay__verification *out,
                  struct assay_error *error);
/** Nothing can be tried, for that reason: the findings say so. 0 or ASSAY_ENOMEM. */
int assay__verify_refuse(struct assay__advice *advice, const char *reason,
                         struct assay__verification *out);
/** The options with which the trial of the advice ran, for a kept profile; strings in `arena`.
 *  ASSAY_EUNSUPPORTED: its model is not there any more. */
int assay__verify_options_of(const struct assay__advice *advice, const char *model,
                             struct assay__arena *arena, struct assay__verify_options *out,
                             struct assay_error *error);
/** Findings that are made anew from a kept profile keep what was measured then: by id, from those
 *  that stood in it. Only for the same trial. */
int assay__verify_carry(struct assay_profile *profile, const struct assay__finding *kept,
                        size_t kept_count);

/** What follows "1.9 × " for a gain of "latency", "samples per second" or "time per token":
 *  "as fast", "the samples per second", "as fast per token". A number above 1 is better of each:
 *  "1.9 × latency" would say the contrary. */
const char *assay__gain_words(const char *of);
/** Why nothing was tried for a rule whose finding has no change: "needs …". */
const char *assay__verify_needs(const struct assay__rule *rule);

#endif
