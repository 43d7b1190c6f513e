/* figure_svg_axes.c - axes of a plot: position and scales, grid, spans in the background, marks
 * across. Labels of marks go above the plot, on as many lines as needed to avoid overlap. */
#include "report/figure/figure_svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEIGHT 300.0
#define MARK_LINES 4
#define MARK_WIDTH 240.0
#define LINE 14.0

double assay__svg_x(const struct assay__svg *svg, double value)
{
    return svg->left + (svg->right - svg->left) * assay__scale_at(&svg->x, value);
}

double assay__svg_y(const struct assay__svg *svg, double value)
{
    return svg->bottom - (svg->bottom - svg->top) * assay__scale_at(&svg->y, value);
}

static void put_line(struct assay__svg *svg, const char *class_name, double x1, double y1,
                     double x2, double y2)
{
    bool upright = x1 == x2;
    assay__svg_shape(svg, class_name, upright ? "<path d=\"M# #V#\"/>\n" : "<path d=\"M# #H#\"/>\n",
                     (double[]){x1, y1, upright ? y2 : x2});
}

/* "Latency (ms)" */
static void axis_title(struct assay__buf *out, const char *title, const struct assay__scale *scale)
{
    assay__buf_puts(out, title ? title : "");
    if (scale->unit[0]) assay__buf_printf(out, "%s(%s)", out->length ? " " : "", scale->unit);
}

static void put_x_title(struct assay__svg *svg)
{
    struct assay__buf text = {0};
    axis_title(&text, svg->figure->x_title, &svg->x);
    if (text.length)
        assay__svg_text(svg, (svg->left + svg->right) / 2, svg->bottom + 34, "fig-n", 'm',
                        text.data, svg->width - 8);
    assay__buf_free(&text);
}

static void put_titles(struct assay__svg *svg)
{
    struct assay__buf text = {0};
    axis_title(&text, svg->figure->y_title, &svg->y);
    if (text.length) assay__svg_text(svg, 4, 12, "fig-n", 's', text.data, svg->width - 8);
    assay__buf_free(&text);
    put_x_title(svg);
}

static void put_x_axis(struct assay__svg *svg)
{
    double used = -INFINITY;
    for (size_t i = 0; i < svg->x.tick_count; i++) {
        char label[64];
        double at = assay__svg_x(svg, svg->x.ticks[i]);
        if (!isfinite(at)) continue;
        if (svg->figure->kind != ASSAY__FIGURE_HISTOGRAM &&
            svg->figure->kind != ASSAY__FIGURE_BLOCKS)
            put_line(svg, "fig-g", at, svg->top, at, svg->bottom);
        assay__scale_label(&svg->x, svg->x.ticks[i], label, sizeof label);
        double width = assay__svg_width(label), from = at - width / 2;
        if (from < 0) from = 0;
        if (from + width > svg->width) from = svg->width - width;
        if (from < used + 6) continue; /* its neighbour has the place */
        put_line(svg, "fig-a", at, svg->bottom, at, svg->bottom + 4);
        assay__svg_text(svg, from + width / 2, svg->bottom + 18, "fig-n", 'm', label, 0);
        used = from + width;
    }
}

void assay__svg_x_axis(struct assay__svg *svg)
{
    put_x_axis(svg);
    put_line(svg, "fig-a", svg->left, svg->bottom, svg->right, svg->bottom);
    put_x_title(svg);
}

static void put_y_axis(struct assay__svg *svg)
{
    double used = INFINITY;
    for (size_t i = 0; i < svg->y.tick_count; i++) {
        char label[64];
        double at = assay__svg_y(svg, svg->y.ticks[i]);
        if (!isfinite(at) || at > used - 13) continue;
        put_line(svg, "fig-g", svg->left, at, svg->right, at);
        assay__scale_label(&svg->y, svg->y.ticks[i], label, sizeof label);
        assay__svg_text(svg, svg->left - 6, at + 4, "fig-n", 'e', label, 0);
        used = at;
    }
}

static void put_spans(struct assay__svg *svg)
{
    for (size_t i = 0; i < svg->figure->span_count; i++) {
        const struct assay__figure_span *span = &svg->figure->spans[i];
        double from = fmax(svg->left, assay__svg_x(svg, span->begin)),
               to = fmin(svg->right, assay__svg_x(svg, span->end));
        if (!(to > from)) continue;
        bool written = svg->figure->kind == ASSAY__FIGURE_LINES; /* else in the legend */
        assay__svg_shape(svg, written ? "fig-v" : "fig-u",
                         "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\"/>\n",
                         (double[]){from, svg->top, fmax(2, to - from), svg->bottom - svg->top});
        const char *name = written && span->name ? span->name : "";
        double width = assay__svg_width(name);
        if (!*name || from + 4 + width > svg->right) continue;
        if (width + 8 > to - from && to - from < 24) continue;
        if (!assay__svg_take(svg, from + 2, svg->bottom - 18, width + 4, 16)) continue;
        assay__svg_text(svg, from + 4, svg->bottom - 6, "fig-n", 's', name, 0);
    }
}

/* Assigns each vertical mark's label to a line above the plot; returns the number of lines. */
static int place_marks(struct assay__svg *svg, double left, double right)
{
    int *lines = svg->mark_lines;
    double used[MARK_LINES], *centres = svg->mark_centres;
    int count = 0;
    for (int line = 0; line < MARK_LINES; line++)
        used[line] = -INFINITY;
    for (size_t i = 0; i < svg->figure->mark_count && i < ASSAY__SVG_MARKS; i++) {
        const struct assay__figure_mark *mark = &svg->figure->marks[i];
        double at = assay__scale_at(&svg->x, mark->at), width;
        lines[i] = -1;
        if (!mark->vertical || !(at >= 0 && at <= 1) || !mark->text) continue;
        width = fmin(MARK_WIDTH, assay__svg_width(mark->text));
        centres[i] = left + (right - left) * at;
        centres[i] = fmin(fmax(centres[i], left + width / 2), svg->width - width / 2 - 2);
        for (int line = 0; line < MARK_LINES; line++) {
            if (centres[i] - width / 2 < used[line] + 6) continue;
            used[line] = centres[i] + width / 2;
            lines[i] = line;
            if (line + 1 > count) count = line + 1;
            break;
        }
    }
    return count;
}

void assay__svg_marks(struct assay__svg *svg)
{
    const int *lines = svg->mark_lines;
    const double *centres = svg->mark_centres;
    for (size_t i = 0; i < svg->figure->mark_count && i < ASSAY__SVG_MARKS; i++) {
        const struct assay__figure_mark *mark = &svg->figure->marks[i];
        const char *text = mark->text ? mark->text : "";
        if (mark->vertical) {
            double x = assay__svg_x(svg, mark->at);
            if (!(x >= svg->left - 1 && x <= svg->right + 1)) continue;
            double y = lines[i] < 0 ? svg->top : svg->top - 4 - LINE * lines[i];
            put_line(svg, "fig-m", x, y, x, svg->bottom);
            if (lines[i] >= 0)
                assay__svg_text(svg, centres[i], y - 1, "fig-b fig-q", 'm', text, MARK_WIDTH);
            continue;
        }
        double y = assay__svg_y(svg, mark->at), width = fmin(MARK_WIDTH, assay__svg_width(text));
        if (!(y >= svg->top - 1 && y <= svg->bottom + 1)) continue;
        put_line(svg, "fig-m", svg->left, y, svg->right, y);
        bool above = assay__svg_take(svg, svg->right - width - 6, y - 16, width, 14);
        assay__svg_text(svg, svg->right - 6, above ? y - 4 : y + 13, "fig-b fig-q", 'e', text,
                        fmin(MARK_WIDTH, svg->right - svg->left - 12));
    }
}

void assay__svg_axes(struct assay__svg *svg, double x_low, double x_high, double y_low,
                     double y_high)
{
    const struct assay__figure *figure = svg->figure;
    double widest = 0;
    if (!(svg->height > 0)) svg->height = HEIGHT;
    if (svg->height < 160) svg->height = 160;
    assay__scale_make(&svg->y, y_low, y_high, figure->y_log, figure->y_unit, 6);
    assay__scale_make(&svg->x, x_low, x_high, figure->x_log, figure->x_unit,
                      svg->width < 500 ? 5 : 9);
    bool apart = figure->kind == ASSAY__FIGURE_SCATTER ||
                 (figure->kind == ASSAY__FIGURE_LINES && figure->x_ticks);
    if (figure->x_log && apart && x_low > 0 && x_high > x_low) { /* no point on the axis */
        double room = pow(x_high / x_low, 0.03);
        svg->x.low = fmin(svg->x.low, x_low / room);
        svg->x.high = fmax(svg->x.high, x_high * room);
    }
    if (!figure->x_log && x_high > x_low) { /* the x axis ends where the data ends: no margin */
        double room = apart ? (x_high - x_low) * 0.03 : 0;
        svg->x.low = fmax(svg->x.low, x_low - room);
        svg->x.high = fmin(svg->x.high, x_high + room);
    }
    if (figure->x_ticks) assay__scale_ticks(&svg->x, figure->x_ticks, figure->x_tick_count);
    if (!figure->x_ticks && !figure->x_log) {
        double kept[ASSAY__TICKS];
        size_t count = svg->x.tick_count;
        memcpy(kept, svg->x.ticks, sizeof kept);
        assay__scale_ticks(&svg->x, kept, count);
    }
    for (size_t i = 0; i < svg->y.tick_count; i++) {
        char label[64];
        assay__scale_label(&svg->y, svg->y.ticks[i], label, sizeof label);
        widest = fmax(widest, assay__svg_width(label));
    }
    svg->left = widest + 12;
    svg->right = svg->width - 14;
    int rows = place_marks(svg, svg->left, svg->right);
    svg->top = 24 + LINE * rows;
    svg->bottom = svg->height - (figure->x_title && *figure->x_title ? 40 : 24);
    put_spans(svg);
    put_x_axis(svg);
    put_y_axis(svg);
    put_line(svg, "fig-a", svg->left, svg->bottom, svg->right, svg->bottom);
    put_line(svg, "fig-a", svg->left, svg->top, svg->left, svg->bottom);
    put_titles(svg);
}

void assay__svg_time_axis(struct assay__svg *svg, double span_s, double y)
{
    struct assay__scale scale;
    char label[64];
    double width = svg->right - svg->left;
    assay__scale_make(&scale, 0, span_s, false, "s", (size_t)(width / 180) + 2);
    for (size_t i = 0; i < scale.tick_count; i++) {
        double x = svg->left + scale.ticks[i] / span_s * width;
        if (x > svg->right + 1) continue;
        assay__scale_label(&scale, scale.ticks[i], label, sizeof label);
        if (*scale.unit)
            snprintf(label + strlen(label), sizeof label - strlen(label), " %s", scale.unit);
        double half = assay__svg_width(label) / 2;
        char anchor = x - half < svg->left ? 's' : x + half > svg->right ? 'e' : 'm';
        assay__svg_shape(svg, "fig-a", "<path d=\"M# #v4\"/>", (double[]){x, y});
        assay__svg_text(svg, x, y + 15, "fig-n", anchor, label, 0);
    }
}
