/* report_make.h - what `assay make` did, and the models of the zoo: documents, and JSON.
 *
 * Documents: 0 or ASSAY_ENOMEM; what they are about must outlive them. */
#ifndef ASSAY_REPORT_REPORT_MAKE_H
#define ASSAY_REPORT_REPORT_MAKE_H

#include "model/rewrite/rewrites.h"
#include "report/doc/doc.h"
#include "run/trial/drift.h"

struct assay__made {
    const char *source; /* as the user wrote it */
    bool zoo;
    const char *path;
    uint64_t bytes; /* of the file, and of FILE.data when that was written */
    int64_t parameters, parameter_bytes;
    bool parameters_known;
    size_t nodes;
    int64_t opset, ir;
    double build_s, rewrite_s, write_s; /* rewrite_s: NaN if nothing was rewritten */
    const char *const *steps;
    size_t step_count;
    const struct assay__rewrite_notes *notes;
    bool rewritten;
    const struct assay__drift *drift; /* NULL: none, see drift_reason */
    const char *drift_reason;
    const char *drift_note; /* what the drift does not show; NULL: nothing */
};

#define ASSAY__MAKE_TABLES "model|drift|zoo" /* that CSV shows */

/** Bytes of the file per second of writing; NaN if that took no time. */
double assay__made_write_rate(const struct assay__made *made);

/** How far an output is from the original's: max_absolute, relative_l2, cosine, top1. */
struct assay__drift_number {
    const char *name, *unit;
    double value;    /* NaN: not there, and … */
    const char *gap; /* … why not; "" it is */
};
#define ASSAY__DRIFT_NUMBERS 4
void assay__drift_numbers(const struct assay__drift_output *output,
                          struct assay__drift_number numbers[ASSAY__DRIFT_NUMBERS]);

int assay__make_document(const struct assay__made *made, struct assay__doc **doc);
void assay__make_json(struct assay__buf *out, const struct assay__made *made);
int assay__zoo_document(struct assay__doc **doc);
void assay__zoo_json(struct assay__buf *out);

#endif
