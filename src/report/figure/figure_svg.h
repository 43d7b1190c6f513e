/* figure_svg.h - between the files that draw a figure as SVG: figure_svg.c (the frame, words,
 * escaping, style), figure_svg_axes.c (scales, grid, marks, spans), figure_svg_plot.c (lines,
 * scatter, histogram), figure_svg_bars.c, figure_svg_treemap.c, figure_svg_roofline.c,
 * figure_svg_graph.c, figure_svg_bands.c, figure_svg_blocks.c, figure_svg_waterfall.c,
 * figure_svg_heat.c, figure_svg_spread.c, figure_svg_aligned.c. Lengths are in pixels of the
 * drawing, which a page may scale. */
#ifndef ASSAY_REPORT_FIGURE_FIGURE_SVG_H
#define ASSAY_REPORT_FIGURE_FIGURE_SVG_H

#include "report/figure/figure_scale.h"

#define ASSAY__SVG_COLORS 8
#define ASSAY__SVG_FONT 12.0
#define ASSAY__SVG_BOXES 256
#define ASSAY__SVG_MARKS 32

struct assay__svg_box {
    double x, y, width, height;
};

struct assay__svg {
    struct assay__buf *out; /* the body: its own origin */
    const struct assay__figure *figure;
    double width, height;            /* of the body; height 0: by kind */
    bool page;                       /* on a page: marks have the number of their layer */
    double left, top, right, bottom; /* the plot inside */
    struct assay__scale x, y;
    struct assay__svg_box boxes[ASSAY__SVG_BOXES]; /* taken by words and points */
    size_t box_count;
    size_t drawn_of;                  /* points that were thinned; 0: none */
    int mark_lines[ASSAY__SVG_MARKS]; /* line above the plot; -1: no space for its label */
    double mark_centres[ASSAY__SVG_MARKS];
    bool direct; /* series are named next to their lines: no legend */
};

/* --- words (figure_svg.c) --------------------------------------------------------------------- */

/** Text escaped for XML: markup, characters that XML 1.0 forbids, invalid UTF-8; right-to-left text
 * is isolated, and characters that change the direction are replaced. */
void assay__svg_escape(struct assay__buf *out, const char *text);
/** A number with one decimal, without a locale. */
void assay__svg_number(struct assay__buf *out, double value);
/** Markup in which each # is replaced by the next number: "M# #H#". */
void assay__svg_put(struct assay__svg *svg, const char *form, const double *numbers);
/** `<tag class="…"`, with the rest of the markup as above. */
void assay__svg_shape(struct assay__svg *svg, const char *class_name, const char *form,
                      const double *numbers);
/** Estimated width of a text in the font of the drawing, erring on the large side. */
double assay__svg_width(const char *text);
/** The text cut in its middle to that width; true: it was cut. */
bool assay__svg_cut(struct assay__buf *out, const char *text, double width);
/** <text class=… text-anchor=…>, cut to `room` (0: not), with the full text as its title if it was
 * cut. anchor 's', 'm', 'e'. */
void assay__svg_text(struct assay__svg *svg, double x, double y, const char *class_name,
                     char anchor, const char *text, double room);
/** A label that may already be cut (figure_label.h), with the full text as its title if it was. */
void assay__svg_label(struct assay__svg *svg, double x, double y, const char *class_name,
                      char anchor, const char *label, const char *whole);
/** Reserves the box for text if it is free and inside the drawing. */
bool assay__svg_take(struct assay__svg *svg, double x, double y, double width, double height);
/** ` data-l="12"` inside a start tag: the layer of a mark, used by a page for selection. Nothing in
 * a separate file, or if there is no layer. */
void assay__svg_layer(struct assay__svg *svg, const struct assay__figure_series *series,
                      size_t index);
/** `><title>…</title>` after the start of an element. */
void assay__svg_title(struct assay__svg *svg, const char *title);
/** Legend of the series that have names, from (x, y) on; returns its height. */
double assay__svg_legend(struct assay__svg *svg, double x, double y);
/** Class of the colour of a share of the peak; NaN: unknown. */
const char *assay__svg_share(double share);
/** Class of words on the colour of series `index`. */
const char *assay__svg_on(size_t index);
/** Class of the colour of series `index`. */
const char *assay__svg_color(size_t index);

/* --- axes (figure_svg_axes.c) ----------------------------------------------------------------- */

/** Ticks of a time from 0 to span_s between svg->left and svg->right, at that height. */
void assay__svg_time_axis(struct assay__svg *svg, double span_s, double y);
/** Chooses the scales and the position of the plot; draws grid, spans and axes. */
void assay__svg_axes(struct assay__svg *svg, double x_low, double x_high, double y_low,
                     double y_high);
/** Only the x axis, below svg->bottom, with its title: the caller sets scale and position. */
void assay__svg_x_axis(struct assay__svg *svg);
/** Marks across the plot, on top of the data: their labels have a halo in the background colour. */
void assay__svg_marks(struct assay__svg *svg);
double assay__svg_x(const struct assay__svg *svg, double value); /* NaN: no place */
double assay__svg_y(const struct assay__svg *svg, double value);

/* --- what was drawn (figure_svg_path.c) ------------------------------------------------------- */

/** Appends the text with its paths in their shortest form. */
void assay__svg_tightened(struct assay__buf *out, const char *text);

/* --- kinds: draw the body and set svg->height ------------------------------------------------- */

void assay__svg_bars(struct assay__svg *svg);
void assay__svg_plot(struct assay__svg *svg);
void assay__svg_treemap(struct assay__svg *svg);
void assay__svg_roofline(struct assay__svg *svg);
void assay__svg_graph(struct assay__svg *svg);
/** 1200 x 630, whatever the width. */
void assay__svg_card(struct assay__svg *svg);
void assay__svg_bands(struct assay__svg *svg);
void assay__svg_blocks(struct assay__svg *svg);
void assay__svg_waterfall(struct assay__svg *svg);
void assay__svg_heat(struct assay__svg *svg);
void assay__svg_spread(struct assay__svg *svg);
void assay__svg_aligned(struct assay__svg *svg);
void assay__svg_strip(struct assay__svg *svg);
void assay__svg_timeline(struct assay__svg *svg);
void assay__svg_flame(struct assay__svg *svg);
/** Marker of a point (SIZE_MAX: of the legend): shape by series. Part of figure_svg_plot.c. */
void assay__svg_marker(struct assay__svg *svg, double x, double y, size_t series,
                       unsigned char flags, size_t point, const char *title);
/** Name next to a point, in the first free position; `far`: further away rather than nowhere.
 * label: the shortened name. */
void assay__svg_point_name(struct assay__svg *svg, double x, double y, const char *label,
                           const char *name, bool far);

#endif
