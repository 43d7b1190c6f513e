/* figure_text.h - between the files that draw a figure as text: figure_text.c, figure_text_plot.c
 * (lines and points), histogram.c, roofline_plot.c, figure_text_<kind>.c. They only draw the
 * picture; figure_text.c adds title, caption and legend. */
#ifndef ASSAY_REPORT_FIGURE_FIGURE_TEXT_H
#define ASSAY_REPORT_FIGURE_FIGURE_TEXT_H

#include "report/figure/figure.h"

#define ASSAY__TEXT_LETTERS 26 /* points that have a letter: 'A' + index */

void assay__text_histogram(struct assay__page *page, const struct assay__figure *figure);
/** Draws nothing if there are no points or no roofs. Points of the first series are letters. */
void assay__text_roofline(struct assay__page *page, const struct assay__figure *figure);
/** A row of blocks, a row of layers, and how to read them. */
void assay__text_strip(struct assay__page *page, const struct assay__figure *figure);
void assay__text_flame(struct assay__page *page, const struct assay__figure *figure);
void assay__text_timeline(struct assay__page *page, const struct assay__figure *figure);
/** Points and lines over any axis. Named points of the first series are letters when there are at
 *  most 26. */
void assay__text_plot(struct assay__page *page, const struct assay__figure *figure);
/** A series in one line of at most `columns` (64) characters; *low and *high are the ends of its
 *  heights. False: nothing is known, or out of memory. */
bool assay__text_sparkline(struct assay__buf *out, const double *values, size_t count,
                           size_t columns, bool ascii, double *low, double *high);
/** Bars of a figure with its value column, without title and text. */
void assay__text_bars(struct assay__page *page, const struct assay__figure *figure);
void assay__text_waterfall(struct assay__page *page, const struct assay__figure *figure);
void assay__text_heat(struct assay__page *page, const struct assay__figure *figure);
void assay__text_spread(struct assay__page *page, const struct assay__figure *figure);
void assay__text_aligned(struct assay__page *page, const struct assay__figure *figure);
/** Whether it has several lines side by side, over an axis that is not time: each has a number, '1'
 * + index, at its end. */
bool assay__text_has_numbers(const struct assay__figure *figure);
/** How many points of the first series assay__text_plot() and assay__text_roofline() name by
 * letters: all of them or none; in a roofline, the first. */
size_t assay__text_letters(const struct assay__figure *figure);

#endif
