/* advise.h - advice on the screen and as JSON. */
#ifndef ASSAY_REPORT_ADVISE_H
#define ASSAY_REPORT_ADVISE_H

#include "advise/advise.h"
#include "report/walk/text_page.h"

/** The page: findings by potential, what was not evaluated and why, what was looked at and not
 *  found. */
void assay__page_advice(struct assay__page *page, const struct assay__advice *advice);
/** One object: "model", "trial", "findings" (design section 10), "rules", "summary". */
void assay__json_advice(struct assay__buf *out, const struct assay__advice *advice);
/** The table of rules; rows of id, family, effort, needs. */
void assay__page_rules(struct assay__page *page);
void assay__json_rules(struct assay__buf *out);

#endif
