/* attach.h - the data that a page carries for its script and for downloads. */
#ifndef ASSAY_REPORT_JSON_ATTACH_H
#define ASSAY_REPORT_JSON_ATTACH_H

#include "judge/study.h"
#include "report/doc/doc.h"

#include <assay/report.h>

/** Attachments "assay-data", "assay-samples", "assay-roofline". 0 or a negative code. */
int assay__attach_data(struct assay__doc *doc, struct assay__study *study,
                       const struct assay_report_options *options, struct assay_error *error);

#endif
