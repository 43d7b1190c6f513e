/* report_record.h - the document of a record of `assay watch`: a profile of the kind watch. */
#ifndef ASSAY_REPORT_REPORT_RECORD_H
#define ASSAY_REPORT_REPORT_RECORD_H

#include "report/doc/doc.h"

/** Free with assay__doc_free. 0 or ASSAY_ENOMEM. */
int assay__record_document(struct assay__study *study, struct assay__doc **doc);

#endif
