/* report_advise.h - the findings of `assay advise`, and the table of its rules: documents, and JSON
 * (doc/design.md section 10).
 *
 * Documents: 0 or ASSAY_ENOMEM; the advice must outlive them. */
#ifndef ASSAY_REPORT_REPORT_ADVISE_H
#define ASSAY_REPORT_REPORT_ADVISE_H

#include "advise/advise.h"
#include "report/doc/doc.h"

#define ASSAY__ADVICE_TABLES "findings|rules" /* of CSV */

/** The findings by potential, what was not evaluated and why, what was looked for and not found. */
int assay__advice_document(const struct assay__advice *advice, const char *(*hint)(const char *),
                           struct assay__doc **doc);
/** Every rule: what it looks for, what it needs, and the effort of its change. */
int assay__rules_document(struct assay__doc **doc);

/** One object: "model", "trial", "summary", "findings", "rules". */
void assay__json_advice(struct assay__buf *out, const struct assay__advice *advice);
/** One object: "rules", of each id, family, what it looks for and needs, effort. */
void assay__json_rules(struct assay__buf *out);

#endif
