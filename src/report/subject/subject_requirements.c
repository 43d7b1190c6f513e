/* subject_requirements.c - the requirement table that a trial is judged by: what was measured, the
 * minimum, the target and how far it is, the score, and what to do. */
#include "report/subject/subject.h"

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    struct assay__study *study = doc->study;
    if (!trial->required) return;
    const struct assay__review *review = assay__study_review(study, trial);
    const struct assay__judgement *j = &review->judgement;
    if (study->failed || !review->required) return;
    assay__doc_section(doc, "requirements", "Requirements", NULL, ASSAY__TAB_OVERVIEW);
    assay__add_requirements(doc, trial, j);
    assay__add_score(doc, &review->score);
    for (int level = ASSAY__REQUIRE_TO_MINIMUM; level > ASSAY__REQUIRE_FINE; level--)
        for (size_t i = 0; i < j->count; i++)
            if ((int)j->rows[i].level == level) assay__doc_point(doc, "%s", j->rows[i].advice);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_requirements = {
    "requirements",
    ASSAY__OF_TRIAL,
    build,
    {{"requirements", assay__requirement_columns, ASSAY__REQUIREMENT_COLUMNS}}};
