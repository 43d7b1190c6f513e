/* figure_canvas.h - a picture in characters: two by four dots per character (braille patterns, or .
 * - ' in ASCII), and on top of them letters and short words of printable ASCII. */
#ifndef ASSAY_REPORT_FIGURE_FIGURE_CANVAS_H
#define ASSAY_REPORT_FIGURE_FIGURE_CANVAS_H

#include "report/walk/text_page.h"

#define ASSAY__CANVAS_ROWS 20
#define ASSAY__CANVAS_COLUMNS 200

struct assay__canvas {
    struct assay__page *page;
    int columns, rows; /* in characters; at most the above */
    unsigned char dots[ASSAY__CANVAS_ROWS][ASSAY__CANVAS_COLUMNS];
    char text[ASSAY__CANVAS_ROWS][ASSAY__CANVAS_COLUMNS]; /* 0: none */
    bool letter[ASSAY__CANVAS_ROWS][ASSAY__CANVAS_COLUMNS];
};

/** A dot: column 0 … 2 columns - 1, row 0 … 4 rows - 1 from the top; ignored outside of that. */
void assay__canvas_dot(struct assay__canvas *canvas, int column, int row);
/** A letter in its cell; if that is taken, in the nearest free one of the row, at most 4 columns
 * away. False: no space. */
bool assay__canvas_letter(struct assay__canvas *canvas, int column, int row, char letter);
/** The x axis after `margin` columns: a tick wherever `label` has a text for a column, and the
 * texts below if they fit. head: text at the left of the second line. */
typedef void assay__tick_fn(const void *plot, int column, char *label, size_t size);
void assay__canvas_axis(const struct assay__canvas *canvas, size_t margin, const char *head,
                        assay__tick_fn *label, const void *plot);
/** One row and its end of line. */
void assay__canvas_put(const struct assay__canvas *canvas, int row);

#endif
