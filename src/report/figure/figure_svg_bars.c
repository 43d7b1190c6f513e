/* figure_svg_bars.c - horizontal bars, one row per name, or one group of bars per category. Lengths
 * are proportional from 0 (bars on a logarithmic or truncated scale would mislead). An unknown
 * value has a row with "—". Bars to the left of 0 are negative. */
#include "report/figure/figure_label.h"
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

#define BAR 15.0
#define GAP 7.0
#define THIN 12.0 /* a bar of a group */

struct layout {
    char **labels;        /* of the rows */
    double names, values; /* widths of the columns left and right of the bars */
    double zero, scale;   /* pixels of 0, and of one unit */
    size_t rows;
};

static struct assay__digits value_text(const struct assay__figure *figure,
                                       const struct assay__figure_series *s, size_t row)
{
    return assay__scaled(row < s->count ? s->y[row] : (double)NAN, figure->y_unit);
}

/* A sum would set the scale of all. */
static bool is_sum(const struct assay__figure_series *s, size_t row)
{
    return s->flags && s->flags[row] & ASSAY__POINT_FAINT;
}

static bool label_rows(struct assay__svg *svg, struct layout *l)
{
    const struct assay__figure *figure = svg->figure;
    for (size_t s = 0; s < figure->series_count; s++)
        if (figure->series[s].count > l->rows) l->rows = figure->series[s].count;
    const char **names = calloc(l->rows + 1, sizeof *names);
    for (size_t row = 0; names && row < l->rows; row++)
        names[row] = assay__figure_category(figure, row);
    l->labels = names ? assay__labels_within(names, l->rows, svg->width * 0.4) : NULL;
    free(names);
    return l->labels != NULL;
}

static void measure(struct assay__svg *svg, struct layout *l)
{
    const struct assay__figure *figure = svg->figure;
    double low = 0, high = 0;
    for (size_t row = 0; row < l->rows; row++) {
        l->names = fmax(l->names, assay__svg_width(l->labels[row]));
        for (size_t s = 0; s < figure->series_count; s++) {
            const struct assay__figure_series *series = &figure->series[s];
            l->values = fmax(l->values, assay__svg_width(value_text(figure, series, row).text));
            if (row >= series->count || is_sum(series, row)) continue;
            const double seen[] = {series->y[row], series->high ? series->high[row] : (double)NAN,
                                   series->low ? series->low[row] : (double)NAN};
            for (size_t i = 0; i < 3; i++) {
                if (!isfinite(seen[i])) continue;
                low = fmin(low, seen[i]), high = fmax(high, seen[i]);
            }
        }
    }
    svg->left = l->names + 14;
    svg->right = svg->width - l->values - 14;
    double left_room = low < 0 ? l->values + 8 : 0;
    l->scale = high > low ? (svg->right - svg->left - left_room) / (high - low) : 0;
    l->zero = svg->left + left_room - low * l->scale;
}

static void put_whisker(struct assay__svg *svg, const struct layout *l,
                        const struct assay__figure_series *s, size_t row, double y)
{
    if (!s->low || !s->high || !isfinite(s->low[row]) || !isfinite(s->high[row])) return;
    double from = l->zero + s->low[row] * l->scale, to = l->zero + s->high[row] * l->scale;
    assay__svg_shape(svg, "fig-i", "<path d=\"M# #v6m0-3H#m0-3v6\"/>\n",
                     (double[]){from, y - 3, to});
}

static void put_bar(struct assay__svg *svg, const struct layout *l, size_t index, size_t row,
                    double y, double height)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    unsigned char flags = s->flags ? s->flags[row] : 0;
    double value = s->y[row], length = fabs(value) * l->scale;
    struct assay__buf title = {0}, classes = {0};
    assay__buf_printf(&classes, "fig-bar fig-f %s",
                      flags & ASSAY__POINT_FAULT ? "fig-fault"
                      : s->faint                 ? "fig-faint"
                                                 : assay__svg_color(index));
    if (s->shares && !(flags & ASSAY__POINT_FAULT)) {
        assay__buf_clear(&classes);
        assay__buf_printf(&classes, "fig-bar %s", assay__svg_share(s->shares[row]));
    }
    assay__svg_shape(svg, assay__buf_text(&classes),
                     "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\"",
                     (double[]){value < 0 ? l->zero - length : l->zero, y, length, height});
    assay__svg_layer(svg, s, row);
    assay__svg_cut(&title, assay__figure_category(svg->figure, row), 2000);
    if (svg->figure->series_count > 1 && s->name) assay__buf_printf(&title, ", %s", s->name);
    assay__buf_printf(&title, "%s%s", title.length ? ": " : "",
                      assay__scaled(value, svg->figure->y_unit).text);
    assay__svg_title(svg, assay__buf_text(&title));
    assay__buf_puts(svg->out, "</rect>\n");
    put_whisker(svg, l, s, row, y + height / 2);
    assay__buf_drop(&title, svg->out);
    assay__buf_drop(&classes, svg->out);
}

static double value_end(const struct layout *l, const struct assay__figure_series *s, size_t row)
{
    double end = s->y[row];
    if (s->high && isfinite(s->high[row]) && s->high[row] > end) end = s->high[row];
    return l->zero + fmax(0, end) * l->scale;
}

static double put_row(struct assay__svg *svg, const struct layout *l, size_t row, double y)
{
    const struct assay__figure *figure = svg->figure;
    bool grouped = figure->series_count > 1;
    double height = grouped ? THIN : BAR, all = 0;
    size_t bars = figure->series_count ? figure->series_count : 1;
    double middle = y + (double)bars * (height + 1) / 2;
    const struct assay__figure_series *first = figure->series;
    bool marked = first->flags && row < first->count && first->flags[row] & ASSAY__POINT_MARKED;
    assay__svg_label(svg, svg->left - 8, middle + 4, marked ? "fig-b" : "fig-t", 'e',
                     l->labels[row], assay__figure_category(figure, row));
    for (size_t i = 0; i < figure->series_count; i++) {
        const struct assay__figure_series *s = &figure->series[i];
        bool known = row < s->count && isfinite(s->y[row]);
        bool drawn = known && !is_sum(s, row);
        if (drawn) put_bar(svg, l, i, row, y + all, height);
        bool left = drawn && s->y[row] < 0;
        double at = !drawn ? l->zero : left ? l->zero + s->y[row] * l->scale : value_end(l, s, row);
        assay__svg_text(svg, left ? at - 5 : at + 5, y + all + height / 2 + 4,
                        drawn ? "fig-t" : "fig-n", left ? 'e' : 's',
                        value_text(figure, s, row).text, 0);
        all += height + 1;
    }
    return all - 1;
}

/* A level mark in bars is vertical: a requirement, the reference. */
static void put_marks(struct assay__svg *svg, const struct layout *l, double bottom)
{
    for (size_t i = 0; i < svg->figure->mark_count; i++) {
        const struct assay__figure_mark *mark = &svg->figure->marks[i];
        double x = l->zero + mark->at * l->scale;
        if (!isfinite(x) || x < svg->left || x > svg->width - 4) continue;
        assay__svg_shape(svg, "fig-m", "<path d=\"M# 16V#\"/>\n", (double[]){x, bottom});
        double width = assay__svg_width(mark->text ? mark->text : "");
        double centre = fmin(fmax(x, width / 2 + 2), svg->width - width / 2 - 2);
        if (assay__svg_take(svg, centre - width / 2, 0, width, 14))
            assay__svg_text(svg, centre, 12, "fig-b", 'm', mark->text, 0);
    }
}

void assay__svg_bars(struct assay__svg *svg)
{
    struct layout l = {0};
    const struct assay__figure *figure = svg->figure;
    if (!figure->series_count) {
        svg->height = 20;
        return;
    }
    if (!label_rows(svg, &l)) {
        svg->out->failed = true;
        return;
    }
    measure(svg, &l);
    double y = figure->mark_count ? 22 : 4;
    for (size_t row = 0; row < l.rows; row++)
        y += put_row(svg, &l, row, y) + GAP;
    assay__svg_shape(svg, "fig-a", "<path d=\"M# #V#\"/>\n",
                     (double[]){l.zero, figure->mark_count ? 18 : 0, y});
    put_marks(svg, &l, y);
    if (figure->y_title && *figure->y_title) {
        assay__svg_text(svg, svg->left, y + 14, "fig-n", 's', figure->y_title,
                        svg->width - svg->left);
        y += 18;
    }
    svg->height = y;
    assay__labels_free(l.labels, l.rows);
}
