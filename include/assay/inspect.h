/* inspect.h - what a model computes, moves and holds, without running it. */
#ifndef ASSAY_INSPECT_H
#define ASSAY_INSPECT_H

#include <assay/report.h>
#include <assay/run.h>

/** Zero or NULL means default; set size = sizeof. */
struct assay_inspect_options {
    size_t size;
    struct assay_workload_options workload; /* the model, and the shapes of its inputs */
};

struct assay_inspection;

/** Reads the model, but no weights. *inspection is owned by the caller. May be called from several
 *  threads at once. */
ASSAY_API int assay_inspect(const struct assay_inspect_options *options,
                            struct assay_inspection **inspection, struct assay_error *error);
/** NULL legal. */
ASSAY_API void assay_inspection_free(struct assay_inspection *inspection);
/** Totals: FLOPs, bytes, parameters, memory. Borrowed until it is freed; NULL for NULL. */
ASSAY_API const struct assay_metrics *assay_inspection_metrics(
    const struct assay_inspection *inspection);
/** Number of shapes of the model that contradict each other; 0 for NULL. */
ASSAY_API size_t assay_inspection_conflicts(const struct assay_inspection *inspection);
/** A report on it or, if `other` is not NULL, on how the two differ: in every document format and
 *  "json"; for a single one also "dot". *text is a new string: assay_free it. */
ASSAY_API int assay_inspection_report(const struct assay_inspection *inspection,
                                      const struct assay_inspection *other,
                                      const struct assay_report_options *options, char **text,
                                      size_t *length, struct assay_error *error);

#endif
