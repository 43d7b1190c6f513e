/* subject_findings.c - what to change: the findings stored in the profile, or else what follows
 * from the profile itself (judge/review.h). */
#include "report/subject/subject.h"

#include "advise/finding_rank.h"

#include <stdint.h>

/* What to change, the best first; then what disturbed the run and what was tried in vain. */
static void add_kept(struct assay__doc *doc, const struct assay__trial *trial,
                     const struct assay_profile *profile)
{
    size_t count = profile->finding_count, advice;
    const struct assay__finding **order = assay__finding_order(profile, doc->arena, &advice);
    if (!order) doc->failed = true;
    for (size_t i = 0; order && i < count; i++)
        assay__add_finding_point(doc, order[i]);
    for (size_t i = 0; order && i < count; i++) {
        const struct assay__finding *f = order[i];
        bool disturbed = assay__finding_class(f) == ASSAY__FINDING_DISTURBANCE;
        const char *id = assay__doc_printf(doc, "finding-%zu", i + 1);
        const char *remark = assay__doc_printf(doc, "%s, %s, %s", f->severity ? f->severity : "",
                                               disturbed ? "disturbance" : assay__finding_state(f),
                                               f->id ? f->id : "");
        assay__doc_fold(doc, id, f->title ? f->title : "", remark);
        assay__add_finding(doc, trial, f);
        assay__doc_end(doc);
    }
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    bool kept = study->profile->finding_count > 0;
    if (!kept && !trial) return;
    assay__doc_section(doc, "findings", "Findings", NULL,
                       ASSAY__TAB_OVERVIEW | (!kept ? ASSAY__SECTION_DETAIL : 0));
    const struct assay__review *review = kept ? NULL : assay__study_review(study, trial);
    if (kept) {
        add_kept(doc, trial, study->profile);
        assay__add_finding_table(doc, study->profile);
    } else if (!study->failed) {
        assay__doc_note(doc, "The rules for findings were not evaluated for this profile. What "
                             "follows is derived from the profile; none of it was tried.");
        assay__add_sentences(doc, "Bottlenecks", NULL, &review->bottlenecks, SIZE_MAX);
        assay__add_sentences(doc, "Opportunities", "upper bounds, not promises",
                             &review->opportunities, SIZE_MAX);
        assay__add_sentences(doc, "To try", NULL, &review->recommendations, SIZE_MAX);
    }
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_findings = {
    "findings",
    ASSAY__OF_PROFILE,
    build,
    {{"findings", assay__finding_columns, ASSAY__FINDING_COLUMNS}}};
