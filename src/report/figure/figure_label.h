/* figure_label.h - what is written on a figure: names cut in their middle so that no two that
 * differ become equal. Names are untrusted; what is returned is safe text, not yet escaped. */
#ifndef ASSAY_REPORT_FIGURE_FIGURE_LABEL_H
#define ASSAY_REPORT_FIGURE_FIGURE_LABEL_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/** The names cut to at most `columns` characters; two points of one name get a number. NULL when
 *  out of memory; assay__labels_free. A NULL name is "". */
char **assay__labels(const char *const *names, size_t count, size_t columns);
/** The same, no wider than `room` pixels in an SVG. */
char **assay__labels_within(const char *const *names, size_t count, double room);
void assay__labels_free(char **labels, size_t count); /* NULL legal */

/** The shortest end of each name, from a / or . on, that no other name ends in: "0.gate" of
 *  "h.0.gate" beside "h.1.gate". tails: `count` pointers into the names. */
void assay__label_tails(const char *const *names, size_t count, const char **tails);

#endif
