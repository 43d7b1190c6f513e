/* figure_svg_roofline.c - operations per second over operations per byte, both by decades; roofs
 * with their names, parts of them as thin lines, a dot for each layer: area by time (from RADIUS
 * down to RADIUS_LEAST), colour by share of its roof. Marked ones are named. A dot above every roof
 * is impossible: its FLOPs, its bytes or a unit is wrong. It is drawn as an error. */
#include "report/figure/figure_label.h"
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define ABOVE 1.05     /* roofs are measured too: only beyond this is it an error */
#define NAME_TALL 15.0 /* from a slope to the top of its name */
#define RADIUS 16.0
#define RADIUS_LEAST 1.5
#define OBSTACLES 60 /* dots that names do not overlap: the largest */
#define TITLED 60    /* dots on a page that have a title without its script */
#define NAMES 60     /* written at most */

static bool plausible(double value)
{
    return value > 1e-12 && value < 1e24;
}

static bool is_part(const struct assay__figure_roof *roof)
{
    return plausible(roof->flops_per_s) && plausible(roof->bytes_per_s);
}

static double highest(const struct assay__figure *figure, bool compute)
{
    double most = NAN;
    for (size_t i = 0; i < figure->roof_count; i++) {
        double value = compute ? figure->roofs[i].flops_per_s : figure->roofs[i].bytes_per_s;
        if (plausible(value) && !is_part(&figure->roofs[i])) most = fmax(most, value);
    }
    return most;
}

/* Ridges and points inside, with a margin. */
static void find_range(const struct assay__figure *figure, double peak, double *x_low,
                       double *x_high, double *y_low, double *y_high)
{
    *x_low = *y_low = INFINITY, *x_high = *y_high = 0;
    for (size_t i = 0; i < figure->roof_count; i++) {
        double bandwidth = figure->roofs[i].bytes_per_s;
        if (!plausible(bandwidth) || !plausible(peak) || is_part(&figure->roofs[i])) continue;
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

/* Names of points must not overlap a name along a slope, which reserves a chain of small boxes. */
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
    /* otherwise its start would extend beyond the axis */
    double begin = 6 + NAME_TALL * fabs(tan(tilt));
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

/* "50 %": up the slope, then flat; labelled at the right end, unless a dot is above it. */
static void put_part(struct assay__svg *svg, const struct assay__figure_roof *roof)
{
    double ridge = roof->flops_per_s / roof->bytes_per_s;
    double x = fmax(svg->x.low, svg->y.low / roof->bytes_per_s), y = x * roof->bytes_per_s;
    double flat = assay__svg_y(svg, roof->flops_per_s);
    if (!(flat < svg->bottom)) return;
    assay__buf_puts(svg->out, "<path class=\"fig-m fig-iso\" d=\"");
    if (x < ridge && ridge < svg->x.high)
        assay__svg_put(svg, "M# #L# #H#\"/>\n",
                       (double[]){assay__svg_x(svg, x), assay__svg_y(svg, y),
                                  assay__svg_x(svg, ridge), flat, svg->right});
    else
        assay__svg_put(svg, "M# #H#\"/>\n", (double[]){svg->left, flat, svg->right});
    double width = assay__svg_width(roof->name ? roof->name : "");
    assay__svg_take(svg, svg->right - width - 4, flat - 14, width, 14);
    assay__svg_text(svg, svg->right - 4, flat - 4, "fig-n fig-q", 'e', roof->name, 0);
}

/* --- dots ------------------------------------------------------------------------------------- */

static double greatest_area(const struct assay__figure *figure)
{
    double most = 0; /* none */
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; figure->series[s].areas && i < figure->series[s].count; i++)
            if (isfinite(figure->series[s].areas[i])) most = fmax(most, figure->series[s].areas[i]);
    return most;
}

static double radius_of(const struct assay__figure_series *s, size_t i, double most)
{
    if (!s->areas || !(most > 0) || !(s->areas[i] > 0)) return 4;
    return fmax(RADIUS_LEAST, RADIUS * sqrt(s->areas[i] / most));
}

static void dot_title(const struct assay__figure_series *s, size_t i, bool fault,
                      struct assay__buf *title)
{
    assay__svg_cut(title, s->names && s->names[i] ? s->names[i] : "", 2000);
    if (title->length) assay__buf_puts(title, ": ");
    if (s->areas && isfinite(s->areas[i]))
        assay__buf_printf(title, "%s, ", assay__scaled(s->areas[i] * 1e-9, "s").text);
    assay__buf_printf(title, "%s at %s", assay__scaled(s->y[i], "FLOP/s").text,
                      assay__scaled(s->x[i], "FLOP/B").text);
    if (s->shares && isfinite(s->shares[i]))
        assay__buf_printf(title, ", %s of its roof", assay__scaled(s->shares[i], "ratio").text);
    if (fault) assay__buf_puts(title, "; above its roof: FLOPs, bytes or a unit must be wrong");
}

static void put_dot(struct assay__svg *svg, size_t index, size_t i, double radius, bool fault)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    double x = assay__svg_x(svg, s->x[i]), y = assay__svg_y(svg, s->y[i]);
    struct assay__buf title = {0};
    dot_title(s, i, fault, &title);
    if (fault) {
        assay__svg_marker(svg, x, y, index, ASSAY__POINT_FAULT, i, title.data);
    } else {
        assay__svg_shape(svg, s->shares ? assay__svg_share(s->shares[i]) : "fig-f fig-s0",
                         "<circle cx=\"#\" cy=\"#\" r=\"#\"", (double[]){x, y, radius});
        assay__svg_layer(svg, s, i);
        /* on a page only the largest: the script provides the others */
        if (i < TITLED || !svg->page) assay__svg_title(svg, assay__buf_text(&title));
        assay__buf_puts(svg->out, i < TITLED || !svg->page ? "</circle>\n" : "/>\n");
    }
    if (i < OBSTACLES) assay__svg_take(svg, x - radius, y - radius, 2 * radius, 2 * radius);
    assay__buf_drop(&title, svg->out);
}

/* Returns how many are above every roof. */
static size_t put_dots(struct assay__svg *svg, size_t index, double peak, double bandwidth)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    double most = greatest_area(svg->figure);
    size_t faults = 0;
    assay__buf_puts(svg->out, "<g class=\"fig-dots\">\n");
    /* large ones first, so that none hides another */
    for (size_t at = 0; at < 2 * s->count; at++) {
        size_t i = at % s->count;
        bool large = radius_of(s, i, most) > RADIUS / 3;
        if (!plausible(s->x[i]) || !plausible(s->y[i]) || large != (at < s->count)) continue;
        double roof = fmin(isfinite(peak) ? peak : INFINITY,
                           isfinite(bandwidth) ? s->x[i] * bandwidth : INFINITY);
        bool fault = (s->flags && s->flags[i] & ASSAY__POINT_FAULT) || s->y[i] > roof * ABOVE;
        put_dot(svg, index, i, radius_of(s, i, most), fault);
        faults += fault;
    }
    assay__buf_puts(svg->out, "</g>\n");
    return faults;
}

/* Around the dot, at increasing distances; from the second ring on, a line leads to it. */
static void name_dot(struct assay__svg *svg, double x, double y, double radius, const char *label,
                     const char *name)
{
    enum { DIRECTIONS = 12, RINGS = 7, TALL = 14 };
    double width = assay__svg_width(label);
    for (int ring = 0; ring < RINGS; ring++)
        for (int i = 0; i < DIRECTIONS; i++) {
            double turn = 2 * 3.14159265358979323846 * i / DIRECTIONS,
                   away = radius + 3 + 18 * ring, across = cos(turn), up = sin(turn);
            char anchor = across < -0.3 ? 'e' : across > 0.3 ? 's' : 'm';
            double at = x + across * away,
                   from = at - (anchor == 'e'   ? width
                                : anchor == 'm' ? width / 2
                                                : 0),
                   top = y - up * away -
                         (up > 0.3    ? TALL
                          : up < -0.3 ? 0
                                      : TALL / 2.0);
            if (from < svg->left + 2 || from + width > svg->right || top < svg->top ||
                top + TALL > svg->bottom || !assay__svg_take(svg, from, top, width, TALL))
                continue;
            if (ring > 0)
                assay__svg_shape(svg, "fig-a", "<path d=\"M# #L# #\"/>\n",
                                 (double[]){x + across * radius, y - up * radius,
                                            x + across * (away - 1), y - up * (away - 1)});
            assay__svg_label(svg, at, top + 11, "fig-b fig-q", anchor, label, name);
            return;
        }
}

/* Names of the marked dots, else of all. */
static void put_names(struct assay__svg *svg, const struct assay__figure_series *s)
{
    const char *names[NAMES];
    size_t at[NAMES], count = 0;
    bool any = false;
    for (size_t i = 0; s->flags && i < s->count && !any; i++)
        any = s->flags[i] & ASSAY__POINT_MARKED;
    for (size_t i = 0; s->names && i < s->count && count < NAMES; i++) {
        if (!s->names[i] || !plausible(s->x[i]) || !plausible(s->y[i])) continue;
        if (any && !(s->flags[i] & ASSAY__POINT_MARKED)) continue;
        at[count] = i;
        names[count++] = s->names[i];
    }
    char **labels = assay__labels_within(names, count, 190);
    double most = greatest_area(svg->figure);
    if (!labels) svg->out->failed = true;
    for (size_t i = 0; labels && i < count; i++)
        name_dot(svg, assay__svg_x(svg, s->x[at[i]]), assay__svg_y(svg, s->y[at[i]]),
                 radius_of(s, at[i], most), labels[i], names[i]);
    assay__labels_free(labels, count);
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
        if (is_part(&figure->roofs[i]))
            put_part(svg, &figure->roofs[i]);
        else if (plausible(figure->roofs[i].flops_per_s))
            put_flat(svg, &figure->roofs[i], bandwidth, i);
        else if (plausible(figure->roofs[i].bytes_per_s))
            put_slope(svg, &figure->roofs[i], peak, i, &along);
    for (size_t i = 0; i < figure->series_count; i++)
        if (figure->series[i].x && figure->series[i].y) faults += put_dots(svg, i, peak, bandwidth);
    for (size_t s = 0; s < figure->series_count; s++)
        put_names(svg, &figure->series[s]);
    assay__svg_marks(svg);
    if (faults)
        assay__svg_text(svg, svg->left + 8, svg->top + 14, "fig-fault fig-b", 's',
                        faults == 1 ? "× above its roof: FLOPs, bytes or a unit must be wrong"
                                    : "× above their roofs: FLOPs, bytes or a unit must be wrong",
                        svg->right - svg->left - 16);
}
