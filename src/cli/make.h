/* make.h - what `assay make` did, for the two ways it is told. */
#ifndef ASSAY_CLI_MAKE_H
#define ASSAY_CLI_MAKE_H

#include "model/rewrite/rewrites.h"
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
    double build_s, rewrite_s, write_s;
    const char *const *steps;
    size_t step_count;
    const struct assay__rewrite_notes *notes;
    bool rewritten;
    const struct assay__drift *drift; /* NULL: none, drift_reason says why */
    const char *drift_reason;
    const char *const *drift_note; /* two lines on what the drift does not show; NULL: none */
};

void assay__make_text(struct assay__buf *out, const struct assay__made *made);
void assay__make_json(struct assay__buf *out, const struct assay__made *made);
void assay__make_list_text(struct assay__buf *out, int columns);
void assay__make_list_json(struct assay__buf *out);

#endif
