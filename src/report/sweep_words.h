/* sweep_words.h - words about the points of a sweep that the formats share. */
#ifndef ASSAY_REPORT_SWEEP_WORDS_H
#define ASSAY_REPORT_SWEEP_WORDS_H

#include "judge/sweep.h"
#include "base/buf.h"

/* Values of a point without its optimisation: "gpu:0 batch=32". */
struct assay__sweep_text {
    char text[96];
};

/** Why the first usable point without that number has none; NULL: all have it, or none is
 *  usable. */
const char *assay__sweep_gap(const struct assay_profile *profile, const struct assay__sweep *sweep,
                             enum assay__sweep_column column);
/** How the number of a column came to be; ASSAY_UNAVAILABLE where there is none. */
enum assay_state assay__sweep_state(const struct assay_profile *profile,
                                    const struct assay__sweep_point *point,
                                    enum assay__sweep_column column);
/** What would provide the number that is missing for that reason; "". */
const char *assay__sweep_help(const struct assay_profile *profile, enum assay__sweep_column column);
/** "no", "yes": was the graph optimised? */
const char *assay__sweep_compiled(const struct assay__sweep *sweep, size_t point);
/** "no", "yes", "?" : is the device something else than the CPU? */
const char *assay__sweep_accelerated(const struct assay__sweep_point *point);
struct assay__sweep_text assay__sweep_rest(const struct assay__sweep *sweep, size_t point);

/** "batch=4, batch=8: not told from the best, their launches overlap …"; nothing when all are told
 *  from it. Unescaped. */
void assay__sweep_alike(struct assay__buf *out, const struct assay__sweep *sweep);
/** "batch=1 and batch=2; …": other points that are not told from each other; nothing when there are
 *  none. Unescaped. */
void assay__sweep_pairs(struct assay__buf *out, const struct assay__sweep *sweep);

/** Rows of CSV, of all points; a section of Markdown. Nothing when the profile is none of a
 *  sweep. */
void assay__csv_sweep(const struct assay_profile *profile, struct assay__buf *out);
void assay__markdown_sweep(struct assay__buf *out, const struct assay_profile *profile);

#endif
