/* figure_label.h - the names on a figure, cut in the middle so that different ones stay different.
 * Names are untrusted; what is returned is safe text, not yet escaped. */
#ifndef ASSAY_REPORT_FIGURE_FIGURE_LABEL_H
#define ASSAY_REPORT_FIGURE_FIGURE_LABEL_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/** The names cut to at most `columns` characters; points with the same name get a number. NULL when
 * out of memory; assay__labels_free. A NULL name is "". */
char **assay__labels(const char *const *names, size_t count, size_t columns);
/** The same, no wider than `room` pixels in an SVG. */
char **assay__labels_within(const char *const *names, size_t count, double room);
void assay__labels_free(char **labels, size_t count); /* NULL legal */

/** The shortest end of each name, from a / or . on, that no other name has: "0.gate" for "h.0.gate"
 * next to "h.1.gate". tails: `count` pointers into the names. */
void assay__label_tails(const char *const *names, size_t count, const char **tails);
/** Bytes of the first `depth` parts of a path ("a/b" of "a/b/c"); of all of it if it has fewer. */
size_t assay__path_prefix(const char *path, size_t depth);

#endif
