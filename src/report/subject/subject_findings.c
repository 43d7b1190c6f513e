/* subject_findings.c - what to change: the findings stored in the profile, or else what follows
 * from the profile itself (judge/review.h). */
#include "report/subject/subject.h"

#include <stdint.h>

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    bool kept = study->profile->finding_count > 0;
    if (!kept && !trial) return;
    assay__doc_section(doc, "findings", "Findings", NULL,
                       ASSAY__VIEW_OVERVIEW | (!kept ? ASSAY__SECTION_DETAIL : 0));
    const struct assay__review *review = kept ? NULL : assay__study_review(study, trial);
    if (kept) {
        const struct assay_profile *profile = study->profile;
        for (size_t i = 0; i < profile->finding_count; i++)
            assay__add_finding_point(doc, &profile->findings[i]);
        for (size_t i = 0; i < profile->finding_count; i++) {
            const struct assay__finding *f = &profile->findings[i];
            const char *id = assay__doc_printf(doc, "finding-%zu", i + 1);
            const char *remark = assay__doc_printf(doc, "%s, %s, %s",
                                                   f->severity ? f->severity : "",
                                                   assay__finding_state(f), f->id ? f->id : "");
            assay__doc_fold(doc, id, f->title ? f->title : "", remark);
            assay__add_finding(doc, f);
            assay__doc_end(doc);
        }
        assay__add_finding_table(doc, profile);
    } else if (!study->failed) {
        assay__doc_note(doc, "The rules for findings were not evaluated for this profile. What "
                             "follows is derived from the profile; nothing of it was tried.");
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
