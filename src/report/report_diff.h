/* report_diff.h - the difference of several profiles (judge/diff.h): its document, and JSON. */
#ifndef ASSAY_REPORT_REPORT_DIFF_H
#define ASSAY_REPORT_REPORT_DIFF_H

#include "judge/diff.h"
#include "report/doc/doc.h"

#include <assay/report.h>

/** Renders in options->format (NULL: text): every view of a document, and "json". 0 or a negative
 *  code. */
int assay__diff_report(const struct assay__diff *diff, const struct assay_report_options *options,
                       struct assay__buf *out, struct assay_error *error);
/** assay__doc_free it; the difference must outlive it. 0 or ASSAY_ENOMEM. */
int assay__diff_document(const struct assay__diff *diff, struct assay__doc **doc);
int assay__diff_json(const struct assay__diff *diff, const struct assay_report_options *options,
                     struct assay__buf *out, struct assay_error *error);

#endif
