/* csv_text.h - a CSV cell, for output that is not a document (assay query). */
#ifndef ASSAY_REPORT_WALK_CSV_TEXT_H
#define ASSAY_REPORT_WALK_CSV_TEXT_H

#include "base/buf.h"

/** Made safe, quoted where it must be, and guarded against spreadsheet formulas. */
void assay__csv_text(struct assay__buf *out, const char *text);

#endif
