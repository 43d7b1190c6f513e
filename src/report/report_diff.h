/* report_diff.h - the difference of several profiles (judge/diff.h) in the formats people read, and
 * what these share. A format is one function and one row in diff_words.c. Names in profiles are
 * untrusted: each format escapes them its own way. */
#ifndef ASSAY_REPORT_REPORT_DIFF_H
#define ASSAY_REPORT_REPORT_DIFF_H

#include "judge/diff.h"
#include "report/render.h"

typedef int assay__diff_report_fn(const struct assay__diff *diff,
                                  const struct assay_report_options *options,
                                  struct assay__buf *out, struct assay_error *error);
assay__diff_report_fn assay__diff_text, assay__diff_json, assay__diff_markdown, assay__diff_html;

/** Renders in options->format ("text", "json", "markdown", "html"; NULL: text); the names of the
 *  others are refused. 0 or a negative code. */
int assay__diff_report(const struct assay__diff *diff, const struct assay_report_options *options,
                       struct assay__buf *out, struct assay_error *error);

/** What becomes of a metric's row: a line of its own, or one of three folds. */
enum assay__diff_fold {
    ASSAY__DIFF_LINE,
    ASSAY__DIFF_FOLD_SAME,     /* no difference shown */
    ASSAY__DIFF_FOLD_UNJUDGED, /* no interval, and not one that people look for first */
    ASSAY__DIFF_FOLD_UNKNOWN,  /* one side or all have no value */
    ASSAY__DIFF_FOLDS
};
enum assay__diff_fold assay__diff_fold(const struct assay__diff *diff,
                                       const struct assay__diff_metric *row);
/** "… 12 rows without a shown difference"; of so many rows. Nothing of 0. */
void assay__diff_fold_words(struct assay__buf *out, enum assay__diff_fold fold, size_t count);

/** What people know the row by: "/conv1/Conv", "engine per run". Unescaped. */
const char *assay__diff_layer_title(const struct assay__diff *diff,
                                    const struct assay__diff_layer *row);
/** The operators of a side: "Conv", "Conv + Relu", "5 layers". Unescaped; "" when it has none. */
void assay__diff_layer_ops(struct assay__buf *out, const struct assay__diff *diff,
                           const struct assay__diff_layer *row, size_t side);
/** What must be said of the row: "3 layers became 1", "only in a.assay", "matched by position";
 *  nothing else. Unescaped. */
void assay__diff_layer_remark(struct assay__buf *out, const struct assay__diff *diff,
                              const struct assay__diff_layer *row);
/** "0.553 × (0.52 to 0.58)", "0.553 ×", "—". */
void assay__diff_ratio_words(struct assay__buf *out, const struct assay__diff_delta *delta);
/** "+1.20 ms", "−5.00 µs", "—" of nanoseconds. */
void assay__diff_change_words(struct assay__buf *out, double change_ns);
/** Rows that are folded, and how: "… 112 rows …". Nothing of 0. */
void assay__diff_layer_fold_words(struct assay__buf *out, const struct assay__diff *diff,
                                  size_t folded, size_t more);

#endif
