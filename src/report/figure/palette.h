/* palette.h - the colours of figures and of the page, in one place: light and dark, with the colour
 * of text on each, and the nearest of a terminal's 256. In a style sheet a colour is the variable
 * --fig-ID and --fig-on-ID, and the classes fig-ID (color) and fig-on-ID (fill of words).
 *
 * Neighbours, and for series any two, also differ for colour-blind readers (without red, green or
 * blue cones): tests/unit/test_palette.c simulates them (Machado, Oliveira and Fernandes 2009) and
 * asserts the minimum difference in both themes. What a colour shows is also shown by length,
 * position or text. */
#ifndef ASSAY_REPORT_FIGURE_PALETTE_H
#define ASSAY_REPORT_FIGURE_PALETTE_H

#include "base/buf.h"

#include <stdbool.h>

enum { ASSAY__THEME_LIGHT, ASSAY__THEME_DARK, ASSAY__THEMES };

struct assay__palette_color {
    const char *id;                   /* "s0", "r7" */
    const char *color[ASSAY__THEMES]; /* "#0072b2" */
    const char *on[ASSAY__THEMES];    /* of words on it */
    int terminal, terminal_on;        /* of 256 */
};

#define ASSAY__PALETTE_INKS 7
#define ASSAY__PALETTE_SERIES 8
#define ASSAY__PALETTE_SCALE 8
#define ASSAY__PALETTE_CHANGE 7

/** Background, text and lines: "paper", "ink", "dim", "grid", "wire", "axis", "fault". */
extern const struct assay__palette_color assay__palette_inks[ASSAY__PALETTE_INKS];
/** Categories: series, operators. The last is for all others. */
extern const struct assay__palette_color assay__palette_series[ASSAY__PALETTE_SERIES];
/** Share of the machine's peak: brown is little, teal is all. */
extern const struct assay__palette_color assay__palette_scale[ASSAY__PALETTE_SCALE];
/** A difference: 0 much slower, 3 the same, 6 much faster. */
extern const struct assay__palette_color assay__palette_change[ASSAY__PALETTE_CHANGE];

/** The bin of a share 0 … 1 (more counts as 1); -1: unknown. */
int assay__palette_bin(double share);
/** Variables and classes; only light, or (both) they follow prefers-color-scheme and, if the page
 * sets it, <html data-theme="light|dark">. Print is light. */
void assay__palette_css(struct assay__buf *out, bool both);

#endif
