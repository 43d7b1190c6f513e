/* figure_svg_roofline.c - operations per second over operations per byte, both by decades; roofs
 * with their names, points below them. A point above every roof cannot be: its FLOPs, its bytes or
 * a unit is wrong. It is drawn as a fault. */
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define ABOVE 1.05     /* a roof was measured too: only beyond this is it a fault */
#define NAME_TALL 15.0 /* from a slope to the top of its name */

static bool plausible(double value)
{
    return value > 1e-12 && value < 1e24;
}

static double highest(const struct assay__figure *figure, bool compute)
{
    double most = NAN;
    for (size_t i = 0; i < figure->roof_count; i++) {
        double value = compute ? figure->roofs[i].flops_per_s : figure->roofs[i].bytes_per_s;
        if (plausible(value)) most = fmax(most, value);
    }
    return most;
}

/* Ridges and points inside, with room around. */
static void find_range(const struct assay__figure *figure, double peak, double *x_low,
                       double *x_high, double *y_low, double *y_high)
{
    *x_low = *y_low = INFINITY, *x_high = *y_high = 0;
    for (size_t i = 0; i < figure->roof_count; i++) {
        double bandwidth = figure->roofs[i].bytes_per_s;
        if (!plausible(bandwidth) || !plausible(peak)) continue;
        *x_low = fmin(*x_low, peak / bandwidth / 8), *x_high = fmax(*x_high, peak / bandwidth * 8);
    }
    if (plausible(peak)) *y_low = peak / 100, *y_high = peak * 2;
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->series[s].count; i++) {
            double x = figure->series[s].x[i], y = figure->series[s].y[i];
            if (!plausible(x) || !plausible(y)) continue;
            *x_low = fmin(*x_low, x / 2), *x_high = fmax(*x_high, x * 2);
            *y_low = fmin(*y_low, y / 2), *y_high = fmax(*y_high, y * 2);
        }
}

static void roof_label(const struct assay__figure_roof *roof, struct assay__buf *out)
{
    bool compute = plausible(roof->flops_per_s);
    const char *name = roof->name ? roof->name : "";
    const char *unit = !compute ? "B/s" : strcmp(name, "int8") == 0 ? "OP/s" : "FLOP/s";
    assay__buf_printf(out, "%s %s", name,
                      assay__scaled(compute ? roof->flops_per_s : roof->bytes_per_s, unit).text);
}

static void put_segment(struct assay__svg *svg, double x1, double y1, double x2, double y2,
                        size_t dash)
{
    assay__buf_printf(svg->out, "<path class=\"fig-k fig-roof fig-d%zu fig-s7\" d=\"", dash % 4);
    assay__svg_put(svg, "M# #L# #\"/>\n", (double[]){x1, y1, x2, y2});
}

static void put_flat(struct assay__svg *svg, const struct assay__figure_roof *roof,
                     double bandwidth, size_t dash)
{
    struct assay__buf label = {0};
    double from = plausible(bandwidth) ? assay__svg_x(svg, roof->flops_per_s / bandwidth) : 0;
    double y = assay__svg_y(svg, roof->flops_per_s);
    if (!isfinite(from) || from < svg->left) from = svg->left;
    put_segment(svg, from, y, svg->right, y, dash);
    roof_label(roof, &label);
    double width = assay__svg_width(assay__buf_text(&label));
    double at = assay__svg_take(svg, svg->right - width - 4, y - 18, width, 15) ? y - 5 : y + 14;
    assay__svg_text(svg, svg->right - 4, at, "fig-b", 'e', assay__buf_text(&label), 0);
    assay__buf_free(&label);
}

struct along { /* names along slopes: all slopes are parallel */
    double offsets[16], ends[16];
    size_t count;
};

/* Names of points keep off a name along a slope: it takes the place of a chain of small boxes. */
static void take_name(struct assay__svg *svg, double x, double y, double tilt, double width)
{
    enum { STEP = 8 };
    for (double at = 0; at < width && svg->box_count < ASSAY__SVG_BOXES / 2; at += STEP)
        svg->boxes[svg->box_count++] = (struct assay__svg_box){
            x + at * cos(tilt) + NAME_TALL / 2 * sin(tilt) - STEP / 2.0,
            y + at * sin(tilt) - NAME_TALL / 2 * cos(tilt) - NAME_TALL / 2, STEP, NAME_TALL};
}

/* A slope is a straight line on log axes; its name is written along it, further up if it would
 * touch a neighbour's. */
static void put_slope(struct assay__svg *svg, const struct assay__figure_roof *roof, double peak,
                      size_t dash, struct along *along)
{
    struct assay__buf label = {0};
    double bandwidth = roof->bytes_per_s;
    double x = fmax(svg->x.low, svg->y.low / bandwidth);
    double end = plausible(peak) ? fmin(peak / bandwidth, svg->x.high) : svg->x.high;
    if (!(end > x)) return;
    double x1 = assay__svg_x(svg, x), y1 = assay__svg_y(svg, x * bandwidth),
           x2 = assay__svg_x(svg, end), y2 = assay__svg_y(svg, end * bandwidth);
    put_segment(svg, x1, y1, x2, y2, dash);
    roof_label(roof, &label);
    double across = x2 - x1, down = y2 - y1, tilt = atan2(down, across);
    double angle = tilt * 180 / 3.14159265358979323846;
    double length = sqrt(across * across + down * down),
           width = assay__svg_width(assay__buf_text(&label));
    double begin = 6 + NAME_TALL * fabs(tan(tilt)); /* else its head would lean out over the axis */
    double offset = y1 * cos(tilt) - x1 * sin(tilt); /* distance from the origin */
    double base = x1 * cos(tilt) + y1 * sin(tilt);
    for (size_t i = 0; i < along->count; i++)
        if (fabs(along->offsets[i] - offset) < 16) begin = fmax(begin, along->ends[i] - base + 10);
    if (length > begin + width + 8 && along->count < 16) {
        double part = begin / length;
        along->offsets[along->count] = offset, along->ends[along->count++] = base + begin + width;
        assay__svg_put(svg, "<g transform=\"translate(# #) rotate(#)\">",
                       (double[]){x1 + across * part, y1 + down * part, angle});
        assay__svg_text(svg, 0, -5, "fig-b fig-q", 's', label.data, 0);
        assay__buf_puts(svg->out, "</g>\n");
        take_name(svg, x1 + across * part, y1 + down * part, tilt, width);
    }
    assay__buf_free(&label);
}

static void put_points(struct assay__svg *svg, size_t index, double peak, double bandwidth,
                       size_t *faults)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    for (size_t i = 0; i < s->count; i++) {
        struct assay__buf title = {0};
        if (!plausible(s->x[i]) || !plausible(s->y[i])) continue;
        unsigned char flags = s->flags ? s->flags[i] : 0;
        double roof = fmin(isfinite(peak) ? peak : INFINITY,
                           isfinite(bandwidth) ? s->x[i] * bandwidth : INFINITY);
        if (s->y[i] > roof * ABOVE) flags |= ASSAY__POINT_FAULT;
        *faults += (flags & ASSAY__POINT_FAULT) != 0;
        double x = assay__svg_x(svg, s->x[i]), y = assay__svg_y(svg, s->y[i]);
        assay__svg_cut(&title, s->names && s->names[i] ? s->names[i] : "", 2000);
        assay__buf_printf(&title, "%s%s at %s", title.length ? ": " : "",
                          assay__scaled(s->y[i], "FLOP/s").text,
                          assay__scaled(s->x[i], "FLOP/B").text);
        if (flags & ASSAY__POINT_FAULT)
            assay__buf_puts(&title, "; above its roof: FLOPs, bytes or a unit must be wrong");
        bool linked = assay__svg_link(svg, s->links, i);
        assay__svg_marker(svg, x, y, index, flags, title.data);
        if (linked) assay__buf_puts(svg->out, "</a>\n");
        assay__svg_take(svg, x - 4, y - 4, 8, 8);
        assay__buf_free(&title);
    }
}

void assay__svg_roofline(struct assay__svg *svg)
{
    const struct assay__figure *figure = svg->figure;
    double peak = highest(figure, true), bandwidth = highest(figure, false);
    double x_low, x_high, y_low, y_high;
    size_t faults = 0;
    struct along along = {0};
    if (!(svg->height > 0)) svg->height = 400;
    find_range(figure, peak, &x_low, &x_high, &y_low, &y_high);
    assay__svg_axes(svg, x_low, x_high, y_low, y_high);
    for (size_t i = 0; i < figure->roof_count; i++)
        if (plausible(figure->roofs[i].flops_per_s))
            put_flat(svg, &figure->roofs[i], bandwidth, i);
        else if (plausible(figure->roofs[i].bytes_per_s))
            put_slope(svg, &figure->roofs[i], peak, i, &along);
    for (size_t i = 0; i < figure->series_count; i++)
        if (figure->series[i].x && figure->series[i].y)
            put_points(svg, i, peak, bandwidth, &faults);
    for (size_t s = 0; s < figure->series_count; s++) {
        const struct assay__figure_series *series = &figure->series[s];
        for (size_t i = 0; series->names && i < series->count && i < 60; i++)
            if (series->names[i] && plausible(series->x[i]) && plausible(series->y[i]))
                assay__svg_point_name(svg, assay__svg_x(svg, series->x[i]),
                                      assay__svg_y(svg, series->y[i]), series->names[i]);
    }
    assay__svg_marks(svg);
    if (faults)
        assay__svg_text(svg, svg->left + 8, svg->top + 14, "fig-fault fig-b", 's',
                        faults == 1 ? "× above its roof: FLOPs, bytes or a unit must be wrong"
                                    : "× above their roofs: FLOPs, bytes or a unit must be wrong",
                        svg->right - svg->left - 16);
}
