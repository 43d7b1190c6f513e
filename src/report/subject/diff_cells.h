/* diff_cells.h - cells of tables of differences, for several profiles (diff_document.c) and for the
 * trials of one (subject_changes.c). */
#ifndef ASSAY_REPORT_SUBJECT_DIFF_CELLS_H
#define ASSAY_REPORT_SUBJECT_DIFF_CELLS_H

#include "judge/diff.h"
#include "report/doc/doc.h"

/** "0.553 × (0.52 to 0.58)" */
struct assay__datum assay__diff_ratio_cell(struct assay__doc *doc,
                                           const struct assay__diff_delta *delta);
/** "−1.20 ms", in microseconds for programs; nothing if it is unknown. */
struct assay__datum assay__diff_change_cell(struct assay__doc *doc, double change_ns);
/** "only in a.assay", "3 → 1 layers, matched by position: Conv + Relu → FusedConv" */
const char *assay__diff_layer_words(struct assay__doc *doc, const struct assay__diff *diff,
                                    const struct assay__diff_layer *row);

#endif
