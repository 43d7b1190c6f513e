/* finding_list.h - findings: a sentence or a row each, and one in full with its evidence, its
 * change and what came of trying it. Of a kept profile and of `assay advise`. */
#ifndef ASSAY_REPORT_SUBJECT_FINDING_LIST_H
#define ASSAY_REPORT_SUBJECT_FINDING_LIST_H

#include "report/doc/doc.h"

#define ASSAY__FINDING_COLUMNS 23
extern const struct assay__column assay__finding_columns[ASSAY__FINDING_COLUMNS];

/** One row per finding, for programs. */
void assay__add_finding_table(struct assay__doc *doc, const struct assay_profile *profile);
/** What was found, what to change, and what came or could come of it: a point of a list. */
void assay__add_finding_point(struct assay__doc *doc, const struct assay__finding *finding);
/** Evidence, change, potential, and where it was tried what was measured. */
void assay__add_finding(struct assay__doc *doc, const struct assay__finding *finding);
/** "open", "verified" or "withdrawn": what is neither of the others is open. */
const char *assay__finding_state(const struct assay__finding *finding);

#endif
