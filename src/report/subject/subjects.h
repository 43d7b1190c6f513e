/* subjects.h - the subjects of a profile's report, in its order. Adding one is a file with its
 * `struct assay__subject assay__subject_NAME` and a row here. */
#ifndef ASSAY_REPORT_SUBJECT_SUBJECTS_H
#define ASSAY_REPORT_SUBJECT_SUBJECTS_H

#include "report/subject/subject.h"

#define ASSAY__SUBJECTS(X) \
    X(summary)             \
    X(comparison)          \
    X(latency)             \
    X(metrics)             \
    X(layers)

#define ASSAY__SUBJECT_DECLARE(name) extern const struct assay__subject assay__subject_##name;
ASSAY__SUBJECTS(ASSAY__SUBJECT_DECLARE)

#endif
