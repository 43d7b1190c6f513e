/* timeline_json.h - a timeline for the page's script; the form is described in timeline_json.c. */
#ifndef ASSAY_REPORT_JSON_TIMELINE_JSON_H
#define ASSAY_REPORT_JSON_TIMELINE_JSON_H

#include "report/doc/doc.h"
#include "report/figure/track_rows.h"

/** What is known of it, and the packed spans, both as JSON. Errors stick in the buffers. */
void assay__timeline_json(const struct assay__track_rows *rows, struct assay__buf *json,
                          struct assay__buf *data);
/** The same as attachments of a document that becomes a page. */
void assay__timeline_attach(struct assay__doc *doc, const struct assay__track_rows *rows);

#endif
