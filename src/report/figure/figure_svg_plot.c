/* figure_svg_plot.c - lines, scatter and histogram. Many points are thinned so that nothing is
 * hidden: a pixel column shows the min and max of its values, joined. Points of a faint or a small
 * series are drawn one by one, those that fall on the same three pixels once. Times in a profile
 * are untrusted: points that would make a line go back are skipped. */
#include "report/figure/figure_label.h"
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_ALONE 1200 /* more of a series are thinned */
#define POINTS_TITLED 200 /* more have no titles */
#define CELL 3.0          /* pixels: closer dots are merged */

static void put_point(struct assay__buf *out, char command, double x, double y)
{
    assay__buf_putc(out, command);
    assay__svg_number(out, x);
    assay__buf_putc(out, ' ');
    assay__svg_number(out, y);
}

/* --- markers ---------------------------------------------------------------------------------- */

/* The outline of a shape around 0 0; circles are drawn differently. */
static const char *shape_of(size_t series)
{
    static const char *const shapes[] = {"",
                                         "m0-5 5 5-5 5-5-5z",
                                         "m-4-4h8v8h-8z",
                                         "m0-5 5 8.5h-10z",
                                         "m-4-4 8 8m0-8-8 8",
                                         "m0-5v10m-5-5h10",
                                         "m0 5 5-8.5h-10z"};
    return shapes[series % (sizeof shapes / sizeof shapes[0])];
}

void assay__svg_marker(struct assay__svg *svg, double x, double y, size_t series,
                       unsigned char flags, size_t point, const char *title)
{
    bool fault = flags & ASSAY__POINT_FAULT, marked = flags & ASSAY__POINT_MARKED,
         faint = flags & ASSAY__POINT_FAINT;
    const char *shape = fault ? shape_of(4) : shape_of(series);
    bool circle = !*shape, open = fault || (!circle && !strchr(shape, 'z'));
    char classes[48];
    snprintf(classes, sizeof classes, "%s %s",
             open     ? "fig-k"
             : marked ? "fig-o"
                      : "fig-f",
             fault   ? "fig-fault"
             : faint ? "fig-faint"
                     : assay__svg_color(series));
    assay__svg_shape(svg, classes, circle ? "<circle cx=\"#\" cy=\"#\" r=\"#\"" : "<path d=\"M# #",
                     (double[]){x, y,
                                marked  ? 5.5
                                : faint ? 2.5
                                        : 4});
    if (!circle) assay__buf_printf(svg->out, "%s\"", shape);
    if (point != SIZE_MAX) assay__svg_layer(svg, &svg->figure->series[series], point);
    if (title && *title) {
        assay__svg_title(svg, title);
        assay__buf_puts(svg->out, circle ? "</circle>\n" : "</path>\n");
    } else {
        assay__buf_puts(svg->out, "/>\n");
    }
}

void assay__svg_point_name(struct assay__svg *svg, double x, double y, const char *label,
                           const char *name, bool far)
{
    enum { NEAR = 8 };
    double width = assay__svg_width(label);
    const double places[][2] = {{8, -7}, {-8 - width, -7}, {-width / 2, -22}, {-width / 2, 8},
                                {8, 6},  {8, -20},         {-8 - width, 6},   {-8 - width, -20},
                                {0, 20}, {0, -34},         {-width, 20},      {-width, -34},
                                {0, 34}, {0, -48},         {0, 48},           {0, 62}};
    size_t count = far ? sizeof places / sizeof places[0] : NEAR;
    for (size_t i = 0; *label && i < count; i++) {
        double at_x = x + places[i][0], at_y = y + places[i][1];
        if (at_x < svg->left + 2 || at_x + width > svg->width || at_y < svg->top ||
            at_y + 14 > svg->bottom)
            continue;
        if (!assay__svg_take(svg, at_x, at_y, width, 14)) continue;
        assay__svg_label(svg, at_x, at_y + 11, "fig-q", 's', label, name);
        return;
    }
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool has_place(const struct assay__svg *svg, const struct assay__figure_series *s, size_t i,
                      double *x, double *y)
{
    *x = assay__svg_x(svg, s->x[i]), *y = assay__svg_y(svg, s->y[i]);
    return isfinite(*x) && isfinite(*y) && *x >= svg->left - 2 && *x <= svg->right + 2 &&
           *y >= svg->top - 2 && *y <= svg->bottom + 2;
}

/* The four points that a line has in one pixel column. */
struct column {
    bool used;
    double x, first, last, low, high;
};

static void flush(struct assay__buf *path, struct column *c, bool *open)
{
    if (!c->used) return;
    put_point(path, *open ? 'L' : 'M', c->x, c->first);
    if (c->low != c->first) put_point(path, 'L', c->x, c->low);
    if (c->high != c->low) put_point(path, 'L', c->x, c->high);
    if (c->last != c->high) put_point(path, 'L', c->x, c->last);
    *open = true;
    c->used = false;
}

static void add_thinned(const struct assay__svg *svg, const struct assay__figure_series *s,
                        struct assay__buf *path)
{
    struct column c = {0};
    bool open = false;
    for (size_t i = 0; i < s->count; i++) {
        double x, y;
        if (!has_place(svg, s, i, &x, &y) || (c.used && floor(x) < c.x)) {
            flush(path, &c, &open);
            open = false;
            continue;
        }
        if (c.used && floor(x) != c.x) flush(path, &c, &open);
        if (!c.used) c = (struct column){true, floor(x), y, y, y, y};
        c.last = y, c.low = fmin(c.low, y), c.high = fmax(c.high, y);
    }
    flush(path, &c, &open);
}

/* Down to the axis and back to where this piece of the line began. */
static void close_area(const struct assay__svg *svg, struct assay__buf *area, bool open,
                       double from, double to)
{
    if (!open) return;
    put_point(area, 'L', to, svg->bottom);
    put_point(area, 'L', from, svg->bottom);
    assay__buf_putc(area, 'z');
}

static void add_plain(const struct assay__svg *svg, const struct assay__figure_series *s,
                      struct assay__buf *path, struct assay__buf *area)
{
    bool open = false;
    double from = 0, before = -INFINITY, level = 0;
    for (size_t i = 0; i < s->count; i++) {
        double x, y;
        if (!has_place(svg, s, i, &x, &y) || x < before) {
            close_area(svg, area, open, from, before);
            open = false, before = -INFINITY;
            continue;
        }
        if (!open) from = x;
        if (open && s->steps && y != level) {
            put_point(path, 'L', x, level);
            put_point(area, 'L', x, level);
        }
        put_point(path, open ? 'L' : 'M', x, y);
        put_point(area, open ? 'L' : 'M', x, y);
        open = true, before = x, level = y;
    }
    close_area(svg, area, open, from, before);
}

static void put_line(struct assay__svg *svg, size_t index)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    struct assay__buf path = {0}, area = {0};
    if ((double)s->count > 2 * (svg->right - svg->left)) {
        add_thinned(svg, s, &path);
        svg->drawn_of += s->count;
    } else {
        add_plain(svg, s, &path, &area);
    }
    if (s->steps && area.length)
        assay__buf_printf(svg->out, "<path class=\"fig-r %s\" d=\"%s\"/>\n",
                          assay__svg_color(index), area.data);
    if (path.length && s->joined && s->faint)
        assay__buf_printf(svg->out, "<path class=\"fig-k fig-tie fig-faint\" d=\"%s\"/>\n",
                          path.data);
    else if (path.length)
        assay__buf_printf(svg->out, "<path class=\"fig-k fig-d%zu %s\" d=\"%s\"/>\n", index % 4,
                          s->faint ? "fig-faint" : assay__svg_color(index), path.data);
    assay__buf_drop(&path, svg->out);
    assay__buf_drop(&area, svg->out);
}

/* Names of points keep off a front. */
static void take_line(struct assay__svg *svg, const struct assay__figure_series *s)
{
    double before_x = NAN, before_y = NAN, x, y;
    for (size_t i = 0; i < s->count; i++) {
        if (!has_place(svg, s, i, &x, &y)) continue;
        double across = x - before_x, down = y - before_y;
        double steps = isfinite(before_x) ? ceil(sqrt(across * across + down * down) / 10) : 0;
        for (double k = 1; k < steps && svg->box_count < ASSAY__SVG_BOXES / 2; k++)
            svg->boxes[svg->box_count++] = (struct assay__svg_box){
                before_x + (x - before_x) * k / steps - 2,
                before_y + (y - before_y) * k / steps - 2, 4, 4};
        before_x = x, before_y = y;
    }
}

/* --- points ----------------------------------------------------------------------------------- */

static void put_whisker(struct assay__svg *svg, const struct assay__figure_series *s, size_t index,
                        size_t i, double x)
{
    if (!s->low || !s->high) return;
    double low = assay__svg_y(svg, s->low[i]), high = assay__svg_y(svg, s->high[i]);
    if (!isfinite(low) || !isfinite(high)) return;
    assay__buf_printf(svg->out, "<path class=\"fig-e %s\" d=\"", assay__svg_color(index));
    assay__svg_put(svg, "M# #h6m-3 0L# #m-3 0h6\"/>\n", (double[]){x - 3, high, x, low});
}

static void point_title(struct assay__svg *svg, const struct assay__figure_series *s, size_t i,
                        struct assay__buf *out)
{
    const char *name = s->names && s->names[i] ? s->names[i] : s->name ? s->name : "";
    assay__buf_printf(out, "%s%s%s at %s", name, *name ? ": " : "",
                      assay__scaled(s->y[i], svg->figure->y_unit).text,
                      assay__scaled(s->x[i], svg->figure->x_unit).text);
}

/* Circles that are all alike: the class stands once. */
static void put_circles(struct assay__svg *svg, size_t index)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    assay__buf_printf(svg->out, "<g class=\"fig-f %s\">\n", assay__svg_color(index));
    for (size_t i = 0; i < s->count; i++) {
        double x, y;
        struct assay__buf title = {0};
        if (!has_place(svg, s, i, &x, &y)) continue;
        point_title(svg, s, i, &title);
        assay__svg_put(svg, "<circle cx=\"#\" cy=\"#\" r=\"4\"", (double[]){x, y});
        assay__svg_title(svg, assay__buf_text(&title));
        assay__buf_puts(svg->out, "</circle>\n");
        assay__svg_take(svg, x - 4, y - 4, 8, 8);
        assay__buf_drop(&title, svg->out);
    }
    assay__buf_puts(svg->out, "</g>\n");
}

static void put_points(struct assay__svg *svg, size_t index)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    bool alike = !s->flags && !s->faint && !s->low && !s->layers && !*shape_of(index);
    if (alike && s->count > 4 && s->count <= POINTS_TITLED) {
        put_circles(svg, index);
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        double x, y;
        struct assay__buf title = {0};
        unsigned char flags = s->flags ? s->flags[i] : 0;
        if (!has_place(svg, s, i, &x, &y)) continue;
        if (s->faint) flags |= ASSAY__POINT_FAINT;
        put_whisker(svg, s, index, i, x);
        if (s->count <= POINTS_TITLED) point_title(svg, s, i, &title);
        assay__svg_marker(svg, x, y, index, flags, i, title.data);
        assay__svg_take(svg, x - 4, y - 4, 8, 8);
        assay__buf_drop(&title, svg->out);
    }
}

struct named {
    const char **names; /* each once: a point in two series has one name */
    double (*places)[2];
    bool *marked;
    size_t count;
};

static void find_names(const struct assay__svg *svg, const struct assay__figure_series *s,
                       struct named *all)
{
    for (size_t i = 0; s->names && s->x && s->y && i < s->count && i < POINTS_TITLED; i++) {
        double x, y;
        size_t k = 0;
        if (!s->names[i] || !*s->names[i] || !has_place(svg, s, i, &x, &y)) continue;
        while (k < all->count && strcmp(all->names[k], s->names[i]) != 0)
            k++;
        if (s->flags && s->flags[i] & (ASSAY__POINT_MARKED | ASSAY__POINT_FAULT))
            all->marked[k] = true;
        if (k < all->count) continue;
        all->names[k] = s->names[i];
        all->places[k][0] = x, all->places[k][1] = y;
        all->count++;
    }
}

/* Marked points come first, in every series. */
static void put_names(struct assay__svg *svg)
{
    const struct assay__figure *figure = svg->figure;
    size_t most = figure->series_count * POINTS_TITLED + 1;
    struct named all = {calloc(most, sizeof *all.names), calloc(most, sizeof *all.places),
                        calloc(most, sizeof *all.marked), 0};
    bool made = all.names && all.places && all.marked;
    for (size_t i = 0; made && i < figure->series_count; i++)
        find_names(svg, &figure->series[i], &all);
    char **labels = made ? assay__labels_within(all.names, all.count, 150) : NULL;
    if (!labels) svg->out->failed = true;
    for (int turn = 0; labels && turn < 2; turn++)
        for (size_t i = 0; i < all.count; i++)
            if (all.marked[i] == (turn == 0))
                assay__svg_point_name(svg, all.places[i][0], all.places[i][1], labels[i],
                                      all.names[i], turn == 0);
    assay__labels_free(labels, all.count);
    free(all.names);
    free(all.places);
    free(all.marked);
}

/* Dots without titles, one for each occupied cell. */
static void put_dots(struct assay__svg *svg, size_t index)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    size_t columns = (size_t)(svg->width / CELL) + 2, rows = (size_t)(svg->height / CELL) + 2;
    unsigned char *taken = calloc(columns, rows);
    struct assay__buf path = {0};
    for (size_t i = 0; taken && i < s->count; i++) {
        double x, y;
        if (!has_place(svg, s, i, &x, &y)) continue;
        size_t cell = (size_t)(fmax(0, y) / CELL) * columns + (size_t)(fmax(0, x) / CELL);
        if (cell >= columns * rows || taken[cell]) continue;
        taken[cell] = 1;
        put_point(&path, 'M', x, y);
        assay__buf_puts(&path, "h0");
    }
    if (path.length)
        assay__buf_printf(svg->out,
                          "<path class=\"fig-k fig-k%s %s\" stroke-linecap=\"%s\" d=\"%s\"/>\n",
                          index ? "4" : "3", s->faint ? "fig-faint" : assay__svg_color(index),
                          index % 2 ? "square" : "round", path.data);
    if (!taken || path.failed) svg->out->failed = true;
    free(taken);
    assay__buf_free(&path);
}

/* Min and max of every pixel column; the order of the points does not matter. */
static void put_envelope(struct assay__svg *svg, size_t index)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    size_t columns = (size_t)svg->width + 2;
    double *low = malloc(columns * sizeof *low), *high = malloc(columns * sizeof *high);
    struct assay__buf path = {0};
    for (size_t c = 0; low && high && c < columns; c++)
        low[c] = high[c] = NAN;
    for (size_t i = 0; low && high && i < s->count; i++) {
        double x, y;
        if (!has_place(svg, s, i, &x, &y)) continue;
        size_t c = (size_t)fmax(0, x);
        low[c] = fmin(low[c], y), high[c] = fmax(high[c], y);
    }
    for (size_t c = 0; low && high && c < columns; c++) {
        if (!isfinite(low[c])) continue;
        put_point(&path, 'M', (double)c + 0.5, fmin(low[c], high[c] - 1));
        assay__buf_putc(&path, 'V');
        assay__svg_number(&path, high[c]);
    }
    if (path.length)
        assay__buf_printf(svg->out, "<path class=\"fig-e %s\" d=\"%s\"/>\n",
                          s->faint ? "fig-faint" : assay__svg_color(index), path.data);
    svg->drawn_of += s->count;
    if (!low || !high || path.failed) svg->out->failed = true;
    free(low);
    free(high);
    assay__buf_free(&path);
}

static void put_scatter(struct assay__svg *svg, size_t index, bool biggest)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    if (s->joined) {
        put_line(svg, index);
        take_line(svg, s);
        return;
    }
    if (s->count > POINTS_ALONE && biggest)
        put_envelope(svg, index);
    else if (s->count > POINTS_TITLED)
        put_dots(svg, index);
    else
        put_points(svg, index);
}

/* --- histogram -------------------------------------------------------------------------------- */

static void put_bins(struct assay__svg *svg, size_t index)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    const char *unit = svg->figure->x_unit;
    for (size_t i = 0; i < s->count; i++) {
        double from = assay__svg_x(svg, s->x[i]), to = assay__svg_x(svg, s->x[i + 1]),
               y = assay__svg_y(svg, s->y[i]);
        struct assay__buf title = {0};
        if (!(s->y[i] > 0) || !(to > from) || !isfinite(y)) continue;
        y = fmin(y, svg->bottom - 1); /* one is not none */
        assay__buf_printf(svg->out, "<rect class=\"fig-f fig-bin %s\"", assay__svg_color(index));
        assay__svg_put(
            svg, " x=\"#\" y=\"#\" width=\"#\" height=\"#\"",
            (double[]){from, y, fmax(0.6, to - from - (to - from > 3)), svg->bottom - y});
        assay__buf_printf(&title, "%s to %s: %s", assay__scaled(s->x[i], unit).text,
                          assay__scaled(s->x[i + 1], unit).text,
                          assay__scaled(s->y[i], svg->figure->y_unit).text);
        assay__svg_title(svg, assay__buf_text(&title));
        assay__buf_puts(svg->out, "</rect>\n");
        assay__buf_drop(&title, svg->out);
    }
}

/* --- together --------------------------------------------------------------------------------- */

/* Names of lines next to their ends, if all fit; otherwise there is a legend. */
static void name_lines(struct assay__svg *svg)
{
    const struct assay__figure *figure = svg->figure;
    double at[ASSAY__SVG_COLORS], ends[ASSAY__SVG_COLORS];
    if (figure->kind != ASSAY__FIGURE_LINES || figure->series_count < 2 ||
        figure->series_count > ASSAY__SVG_COLORS)
        return;
    for (size_t i = 0; i < figure->series_count; i++) {
        const struct assay__figure_series *s = &figure->series[i];
        if (s->joined) return;
        at[i] = ends[i] = NAN;
        for (size_t k = s->count; k-- > 0 && !isfinite(at[i]);)
            if (!has_place(svg, s, k, &ends[i], &at[i])) at[i] = NAN;
        if (!isfinite(at[i]) || ends[i] < svg->right - 20 || !s->name) return;
        if (assay__svg_width(s->name) > (svg->right - svg->left) / 3) return;
        for (size_t k = 0; k < i; k++)
            if (fabs(at[k] - at[i]) < 16) return;
    }
    for (size_t i = 0; i < figure->series_count; i++) {
        double y = at[i] - 6 < svg->top + 10 ? at[i] + 15 : at[i] - 6;
        assay__buf_printf(svg->out, "<g class=\"%s\">", assay__svg_color(i));
        assay__svg_text(svg, svg->right - 4, y, "fig-b fig-q", 'e', figure->series[i].name, 0);
        assay__buf_puts(svg->out, "</g>\n");
    }
    svg->direct = true;
}

void assay__svg_plot(struct assay__svg *svg)
{
    const struct assay__figure *figure = svg->figure;
    double x_low, x_high, y_low, y_high;
    size_t most = 0;
    assay__figure_range(figure, true, &x_low, &x_high);
    assay__figure_range(figure, false, &y_low, &y_high);
    assay__svg_axes(svg, x_low, x_high, y_low, y_high);
    for (size_t i = 1; i < figure->series_count; i++)
        if (figure->series[i].count > figure->series[most].count) most = i;
    for (size_t i = 0; i < figure->series_count; i++) /* behind the lines */
        if (figure->kind == ASSAY__FIGURE_LINES && figure->series[i].joined) put_line(svg, i);
    for (size_t i = 0; i < figure->series_count; i++) {
        const struct assay__figure_series *s = &figure->series[i];
        if (!s->x || !s->y || !s->count) continue;
        if (figure->kind == ASSAY__FIGURE_HISTOGRAM) {
            put_bins(svg, i);
        } else if (figure->kind == ASSAY__FIGURE_SCATTER) {
            put_scatter(svg, i, i == most || s->count > 20000);
        } else {
            if (!s->joined) put_line(svg, i);
            if (s->count <= 60 && !s->steps && !s->joined) put_points(svg, i);
        }
    }
    assay__svg_marks(svg);
    if (figure->kind != ASSAY__FIGURE_HISTOGRAM) put_names(svg);
    name_lines(svg);
}
