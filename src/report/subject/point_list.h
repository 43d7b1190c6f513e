/* point_list.h - what the rows of a sweep and of a tuning share: settings as columns, and reasons
 * why rows did not run or are not recommended, each once. */
#ifndef ASSAY_REPORT_SUBJECT_POINT_LIST_H
#define ASSAY_REPORT_SUBJECT_POINT_LIST_H

#include "judge/sweep.h"
#include "report/doc/doc.h"

/** The columns, with one for each axis inserted after columns[label], the row's name for programs.
 * With more than four axes there are none: people then see the label, and *count is unchanged. */
const struct assay__column *assay__point_columns(struct assay__doc *doc,
                                                 const struct assay__column *columns, size_t *count,
                                                 size_t label, const struct assay__axes *axes);

struct assay__fault {
    const char *kind; /* "not run"; NULL: the row is fine */
    const char *label, *reason;
};
/** A fact for each reason, with the rows that have it. */
void assay__point_faults(struct assay__doc *doc, const struct assay__fault *faults, size_t count);

#endif
