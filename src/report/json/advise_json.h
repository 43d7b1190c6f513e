/* advise_json.h - advice and the table of its rules as JSON (design section 10). */
#ifndef ASSAY_REPORT_JSON_ADVISE_JSON_H
#define ASSAY_REPORT_JSON_ADVISE_JSON_H

#include "advise/advise.h"

/** One object: "model", "trial", "summary", "findings", "rules". */
void assay__json_advice(struct assay__buf *out, const struct assay__advice *advice);
/** One object: "rules", of each id, family, what it looks for and needs, effort. */
void assay__json_rules(struct assay__buf *out);

#endif
