/* figure_svg_spread.c - distributions over one axis: the share of samples as an outline, the median
 * of every launch as a mark below it, and a line at the median of these. Two are drawn on top of
 * each other; more have a row each. A part of the axis (the interval of a difference) is shaded. */
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>

#define TOGETHER 110.0 /* height of outlines over each other */
#define ALONE 34.0     /* of an outline in its own row */
#define DOTS 20.0      /* of a row of launches */
#define FOOT 38.0      /* of the axis */

struct layout {
    size_t pairs;
    bool together;
    double highest; /* share of the fullest bin */
};

static const struct assay__figure_series *outline(const struct assay__svg *svg, size_t pair)
{
    return &svg->figure->series[2 * pair];
}

static const struct assay__figure_series *launches(const struct assay__svg *svg, size_t pair)
{
    return &svg->figure->series[2 * pair + 1];
}

static void put_point(struct assay__buf *out, char command, double x, double y)
{
    assay__buf_putc(out, command);
    assay__svg_number(out, x);
    assay__buf_putc(out, ' ');
    assay__svg_number(out, y);
}

/* The outline above its base line: filled lightly, with a line along its top. */
static void put_outline(struct assay__svg *svg, const struct layout *l, size_t pair, double base,
                        double height)
{
    const struct assay__figure_series *s = outline(svg, pair);
    struct assay__buf path = {0};
    if (!s->count || !(l->highest > 0)) return;
    put_point(&path, 'M', assay__svg_x(svg, s->x[0]), base);
    for (size_t i = 0; i < s->count; i++) {
        double y = base - height * (s->y[i] > 0 ? s->y[i] / l->highest : 0);
        put_point(&path, 'L', assay__svg_x(svg, s->x[i]), y);
        put_point(&path, 'L', assay__svg_x(svg, s->x[i + 1]), y);
    }
    put_point(&path, 'L', assay__svg_x(svg, s->x[s->count]), base);
    assay__buf_printf(svg->out,
                      "<path class=\"fig-r %s\" d=\"%sz\"/>\n<path class=\"fig-e fig-d%zu %s\" "
                      "d=\"%s\"/>\n",
                      assay__svg_color(pair), assay__buf_text(&path), l->together ? pair % 4 : 0,
                      assay__svg_color(pair), assay__buf_text(&path));
    assay__buf_drop(&path, svg->out);
}

/* A mark for each launch, and a stroke at their median. */
static void put_launches(struct assay__svg *svg, size_t pair, double y)
{
    const struct assay__figure_series *s = launches(svg, pair);
    const char *unit = svg->figure->x_unit;
    double median = assay__figure_median(svg->out, s), at = assay__svg_x(svg, median);
    for (size_t i = 0; i < s->count; i++) {
        struct assay__buf title = {0};
        double x = assay__svg_x(svg, s->x[i]);
        if (!isfinite(x)) continue;
        assay__buf_printf(&title, "%s, launch %zu: %s", s->name, i + 1,
                          assay__scaled(s->x[i], unit).text);
        assay__svg_marker(svg, x, y, pair, 0, SIZE_MAX, assay__buf_text(&title));
        assay__buf_drop(&title, svg->out);
    }
    if (isfinite(at))
        assay__svg_shape(svg, "fig-i fig-k2", "<path d=\"M# #v#\"/>\n",
                         (double[]){at, y - DOTS / 2, DOTS});
}

/* The name at the left and the median at the right of its row. */
static void put_names(struct assay__svg *svg, size_t pair, double y, double room)
{
    const struct assay__figure_series *s = launches(svg, pair);
    assay__svg_text(svg, svg->left - 8, y + 4, "fig-t", 'e', s->name, room);
    double median = assay__figure_median(svg->out, s);
    if (isfinite(median))
        assay__svg_text(svg, svg->right + 8, y + 4, "fig-b", 's',
                        assay__scaled(median, svg->figure->x_unit).text, 0);
}

/* The columns of names and medians, and the range of the axis; returns the space for a name. */
static double measure(struct assay__svg *svg, struct layout *l)
{
    const struct assay__figure *figure = svg->figure;
    double names = 0, values = 0, most = svg->width * 0.3, low, high;
    for (size_t p = 0; p < l->pairs; p++) {
        const struct assay__figure_series *s = outline(svg, p);
        struct assay__buf safe = {0};
        assay__svg_cut(&safe, launches(svg, p)->name, most);
        names = fmax(names, assay__svg_width(assay__buf_text(&safe)));
        values = fmax(
            values, assay__svg_width(assay__scaled(assay__figure_median(svg->out, launches(svg, p)),
                                                   figure->x_unit)
                                         .text));
        for (size_t i = 0; i < s->count; i++)
            l->highest = fmax(l->highest, s->y[i]);
        assay__buf_drop(&safe, svg->out);
    }
    svg->left = names + 14;
    svg->right = svg->width - values - 16;
    if (!assay__figure_range(figure, true, &low, &high)) low = 0, high = 1;
    assay__scale_make(&svg->x, low, high, figure->x_log, figure->x_unit, svg->width < 500 ? 4 : 8);
    return most + 1;
}

static void put_span(struct assay__svg *svg, const struct assay__figure_span *span)
{
    double from = assay__svg_x(svg, span->begin), to = assay__svg_x(svg, span->end);
    if (!isfinite(from) || !isfinite(to)) return;
    from = fmax(from, svg->left), to = fmin(to, svg->right);
    assay__svg_shape(svg, "fig-v", "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\"/>\n",
                     (double[]){from, svg->top, fmax(1, to - from), svg->bottom - svg->top});
    double width = assay__svg_width(span->name), centre = (from + to) / 2;
    centre = fmin(fmax(centre, width / 2 + 2), svg->width - width / 2 - 2);
    assay__svg_text(svg, centre, 12, "fig-n", 'm', span->name, svg->width - 4);
    assay__svg_shape(svg, "fig-m", "<path d=\"M# #V#M# #V#\"/>\n",
                     (double[]){from, svg->top, svg->bottom, to, svg->top, svg->bottom});
}

void assay__svg_spread(struct assay__svg *svg)
{
    const struct assay__figure *figure = svg->figure;
    struct layout l = {.pairs = figure->series_count / 2};
    l.together = l.pairs == 2;
    svg->height = 20;
    svg->direct = true; /* rows have their names */
    if (!l.pairs) return;
    double room = measure(svg, &l), ridge = l.highest > 0 ? ALONE : 0;
    double outlines = l.highest > 0 && l.together ? TOGETHER : 0, row = DOTS;
    if (!l.together) row += ridge;
    svg->top = figure->span_count ? 20 : 4;
    svg->bottom = svg->top + outlines + 4 + (double)l.pairs * row;
    for (size_t i = 0; i < figure->span_count; i++)
        put_span(svg, &figure->spans[i]);
    assay__svg_x_axis(svg);
    for (size_t p = 0; p < l.pairs; p++) {
        double top = svg->top + outlines + 4 + row * (double)p, y = top + row - DOTS / 2;
        put_outline(svg, &l, p, l.together ? svg->top + outlines : y - DOTS / 2,
                    l.together ? outlines - 4 : ridge - 4);
        put_launches(svg, p, y);
        put_names(svg, p, y, room);
    }
    svg->height = svg->bottom + FOOT;
}
