/* subject_findings.c - what to change: the findings stored in the profile, or else what follows
 * from the profile itself (judge/review.h). */
#include "report/subject/subject.h"

#include "advise/finding_rank.h"

#include <stdint.h>

/* "high; verified: 1.25 × as fast, 95 %: 1.21 to 1.3" */
static void begin_finding(struct assay__doc *doc, const struct assay__finding *f, size_t number,
                          unsigned flags)
{
    const char *id = assay__doc_printf(doc, "finding-%zu", number);
    const char *remark = assay__doc_printf(doc, "%s; %s", f->severity ? f->severity : "",
                                           assay__finding_outcome(doc, f));
    assay__doc_section(doc, id, f->title ? f->title : "", remark, flags);
}

/* A finding as a card: what to change and what it gained, or could; the rest is behind it. */
static void add_card(struct assay__doc *doc, const struct assay__trial *trial,
                     const struct assay__finding *f, size_t number)
{
    begin_finding(doc, f, number, ASSAY__SECTION_CARD);
    assay__doc_say(doc, ASSAY__TONE_PLAIN, f->advice);
    assay__doc_fold(doc, NULL, "Evidence", f->id ? f->id : "");
    assay__add_finding(doc, trial, f);
    assay__doc_end(doc);
    assay__doc_end(doc);
}

/* Findings that say nothing to do: what was tried in vain, what only disturbed the run. */
static void add_rest(struct assay__doc *doc, const struct assay__trial *trial,
                     const struct assay__finding *const *order, size_t count,
                     enum assay__finding_class of)
{
    assay__doc_fold(doc, NULL,
                    of == ASSAY__FINDING_WITHDRAWN ? "Tried and withdrawn"
                                                   : "What disturbed the measurement",
                    NULL);
    for (size_t i = 0; i < count; i++) {
        if (assay__finding_class(order[i]) != of) continue;
        begin_finding(doc, order[i], i + 1, 0);
        assay__add_finding(doc, trial, order[i]);
        assay__doc_end(doc);
    }
    assay__doc_end(doc);
}

/* What to change, the best first; then what was tried in vain and what disturbed the run. */
static void add_kept(struct assay__doc *doc, const struct assay__trial *trial,
                     const struct assay_profile *profile)
{
    size_t count = profile->finding_count, advice;
    const struct assay__finding **order = assay__finding_order(profile, doc->arena, &advice);
    if (!order) {
        doc->failed = true;
        return;
    }
    if (!advice) assay__doc_note(doc, "Nothing to change was found.");
    for (size_t i = 0; i < advice; i++)
        add_card(doc, trial, order[i], i + 1);
    add_rest(doc, trial, order, count, ASSAY__FINDING_WITHDRAWN);
    add_rest(doc, trial, order, count, ASSAY__FINDING_DISTURBANCE);
}

/* What follows from the numbers of a run. Of several trials their comparison says more. */
static void add_derived(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__review *review = assay__study_review(doc->study, trial);
    const char *hint = doc->hint ? doc->hint("verification") : NULL;
    if (doc->study->failed) return;
    struct assay__sentence_list to_change = review->recommendations;
    to_change.count = review->to_change;
    const struct assay__roofline *roofline = assay__study_roofline(doc->study, trial);
    if (roofline->reason[0] && to_change.count < ASSAY__REVIEW_SENTENCES)
        to_change.items[to_change.count++] = assay__doc_printf(
            doc, "it is unknown what limits the layers (%s)", roofline->reason);
    assay__add_sentences(doc, "Bottlenecks", NULL, &review->bottlenecks, SIZE_MAX);
    if (review->opportunities.count)
        assay__add_sentences(doc, "Opportunities", "upper bounds", &review->opportunities,
                             SIZE_MAX);
    if (to_change.count) assay__add_sentences(doc, "To try", NULL, &to_change, SIZE_MAX);
    assay__doc_note(doc, "Derived from this run; nothing was tried%s%s%s.", hint ? ": " : "",
                    hint ? hint : "", hint ? " measures what changes would gain" : "");
}

static bool is_of_several(const struct assay_profile *profile)
{
    return profile->kind == ASSAY__PROFILE_COMPARE || profile->kind == ASSAY__PROFILE_SWEEP ||
           profile->kind == ASSAY__PROFILE_TUNE || profile->kind == ASSAY__PROFILE_BENCH;
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_profile *profile = doc->study->profile;
    bool kept = profile->finding_count > 0;
    if (!kept && (!trial || is_of_several(profile))) return;
    assay__doc_section(doc, "findings", "Findings", NULL,
                       ASSAY__TAB_OVERVIEW | (!kept ? ASSAY__SECTION_DETAIL : 0));
    if (kept) {
        add_kept(doc, trial, profile);
        assay__add_finding_table(doc, profile);
    } else {
        add_derived(doc, trial);
    }
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_findings = {
    "findings",
    ASSAY__OF_PROFILE,
    build,
    {{"findings", assay__finding_columns, ASSAY__FINDING_COLUMNS}}};
