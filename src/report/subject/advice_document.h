/* advice_document.h - the documents of `assay advise`: its findings, and the table of its rules. */
#ifndef ASSAY_REPORT_SUBJECT_ADVICE_DOCUMENT_H
#define ASSAY_REPORT_SUBJECT_ADVICE_DOCUMENT_H

#include "advise/advise.h"
#include "report/doc/doc.h"

#define ASSAY__ADVICE_TABLES "findings|rules" /* that CSV shows of them */

/** The findings by potential, what was not evaluated and why, what was looked for and not found.
 *  assay__doc_free it; the advice must outlive it. 0 or ASSAY_ENOMEM. */
int assay__advice_document(const struct assay__advice *advice, struct assay__doc **doc);
/** Every rule: what it looks for, what it needs, and the effort of its change. */
int assay__rules_document(struct assay__doc **doc);

#endif
