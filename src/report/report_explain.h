/* report_explain.h - what a timeline says (explain/explain.h): its document, JSON, and the file of
 * results as the profiling guide lays it out. */
#ifndef ASSAY_REPORT_REPORT_EXPLAIN_H
#define ASSAY_REPORT_REPORT_EXPLAIN_H

#include "explain/explain.h"
#include "report/doc/doc.h"

#include <assay/report.h>

#define ASSAY__EXPLAIN_TABLES                                                                      \
    "kernels|losses|idle|host|scenarios|findings|devices|streams|gaps|transfers|synchronisations|" \
    "operators|steps|ranks|what-if|critical-path" /* that CSV shows */

/** Writers: json. 0 or a negative code. */
int assay__explain_report(const struct assay__explain *explain,
                          const struct assay_report_options *options, struct assay__buf *out,
                          struct assay_error *error);
/** 0 or ASSAY_ENOMEM; the analysis must outlive it. */
int assay__explain_document(const struct assay__explain *explain, struct assay__doc **doc);
void assay__explain_json(const struct assay__explain *explain, struct assay__buf *out);

/* --- parts of the document -------------------------------------------------------------------- */

/** The tables behind the first screen (explain_detail.c). */
void assay__add_explain_detail(struct assay__doc *doc, const struct assay__explain *explain);

#endif
