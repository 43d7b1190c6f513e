/* advise.h - what to change: every rule of the tables evaluated on one trial of a profile. A
 * function of the profile and, if it still exists, of the model file: nothing is run. */
#ifndef ASSAY_ADVISE_ADVISE_H
#define ASSAY_ADVISE_ADVISE_H

#include "advise/rule.h"

/** The table of rules, over all families; NULL past the end. */
const struct assay__rule *assay__rule_at(size_t index);
const struct assay__rule *assay__rule_find(const char *id);
/** What a rule needs, as in doc/rules.md: "layers, costs"; "the profile" when that is enough. */
void assay__rule_needs(struct assay__buf *out, const struct assay__rule *rule);
/** "nothing", "found", "not-evaluated" */
const char *assay__rule_outcome_name(enum assay__rule_outcome outcome);
/** The quantity that a rule's potential refers to: "latency" (also if there is no such rule),
 *  "samples per second", "time per token". */
const char *assay__rule_gain_of(const char *id);
/** The table of doc/rules.md. */
void assay__rules_markdown(struct assay__buf *out);

/** Evaluates all rules (only: just these ids, if count is not 0; they must exist) on trial `index`
 *  (SIZE_MAX: the first one that ran). model: a file to read instead of the one the profile names;
 *  NULL. The profile's findings are replaced by the result, sorted by potential. Free the advice
 *  before the profile. ASSAY_ENOTFOUND: no such trial; ASSAY_ENOMEM. */
struct assay__advise_options {
    size_t trial;
    const char *model;
    const char *const *only;
    size_t only_count;
};
int assay__advise(struct assay_profile *profile, const struct assay__advise_options *options,
                  struct assay__advice **advice, struct assay_error *error);
void assay__advice_free(struct assay__advice *advice); /* NULL legal */
/** The result behind a finding, by its index in the profile. */
const struct assay__rule_result *assay__advice_finding(const struct assay__advice *advice,
                                                       size_t index);

#endif
