/* review_page.h - what a trial is judged to be: requirements, score, bottlenecks and what to try.
 * Parts of the whole report, and the basic and the detailed report that show this instead of it. */
#ifndef ASSAY_REPORT_SUBJECT_REVIEW_PAGE_H
#define ASSAY_REPORT_SUBJECT_REVIEW_PAGE_H

#include "judge/study.h"
#include "report/doc/doc.h"

#define ASSAY__REQUIREMENT_COLUMNS 15
extern const struct assay__column assay__requirement_columns[ASSAY__REQUIREMENT_COLUMNS];

/** The verdict, the table of requirements and remarks on them. */
void assay__add_requirements(struct assay__doc *doc, const struct assay__trial *trial,
                             const struct assay__judgement *judgement);
void assay__add_score(struct assay__doc *doc, const struct assay__score *score);
/** Sentences under a heading: `most` of them; "none found" where there are none. */
void assay__add_sentences(struct assay__doc *doc, const char *title, const char *remark,
                          const struct assay__sentence_list *list, size_t most);
/** The basic or the detailed report of a trial. */
void assay__add_review(struct assay__doc *doc, const struct assay__trial *trial, bool detailed);

#endif
