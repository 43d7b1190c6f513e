/* report_bench.h - the list of the standard benchmarks: a document (0 or ASSAY_ENOMEM), and JSON.
 */
#ifndef ASSAY_REPORT_REPORT_BENCH_H
#define ASSAY_REPORT_REPORT_BENCH_H

#include "report/doc/doc.h"

int assay__benchmarks_document(struct assay__doc **doc);
void assay__benchmarks_json(struct assay__buf *out);

#endif
