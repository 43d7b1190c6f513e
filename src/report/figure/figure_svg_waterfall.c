/* figure_svg_waterfall.c - from one total to another: a row for each total and each change, where a
 * change begins at the level that the rows above have reached. The axis begins at 0 unless the
 * changes are small compared with the totals; then the totals are truncated, which a gap shows.
 * What grows and what shrinks differ in colour and in the sign of their number. */
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>

#define BAR 15.0
#define STEP 22.0
#define BOLD 1.12 /* how much wider the bold names of the totals are */

struct layout {
    double names, values; /* widths of the columns left and right of the bars */
    double low, scale;    /* the value at the left end, and pixels of one unit */
    bool cut;             /* the axis does not begin at 0 */
};

static bool is_total(const struct assay__figure_series *s, size_t row)
{
    return s->flags && s->flags[row] & ASSAY__POINT_TOTAL;
}

static void measure(struct assay__svg *svg, struct layout *l)
{
    const struct assay__figure *figure = svg->figure;
    const struct assay__figure_series *s = figure->series;
    double high;
    for (size_t row = 0; row < s->count; row++) {
        struct assay__buf safe = {0};
        assay__svg_cut(&safe, assay__figure_category(figure, row), svg->width * 0.4);
        double width = assay__svg_width(assay__buf_text(&safe)) * (is_total(s, row) ? BOLD : 1);
        l->names = fmax(l->names, width);
        l->values = fmax(l->values, assay__svg_width(assay__figure_step(figure, row).text));
        assay__buf_free(&safe);
    }
    assay__figure_steps_range(figure, &l->low, &high);
    l->cut = l->low != 0;
    svg->left = l->names + 14;
    svg->right = svg->width - l->values - 14;
    l->scale = high > l->low ? (svg->right - svg->left) / (high - l->low) : 0;
}

/* Two gaps in the bar: it does not begin at 0. */
static void put_gap(struct assay__svg *svg, double y)
{
    for (int i = 0; i < 2; i++)
        assay__svg_shape(svg, "fig-cut", "<path d=\"M# #l-4 #\"/>\n",
                         (double[]){svg->left + 12 + 5 * i, y - 1, BAR + 2});
}

/* One row from level `from` to `to`; a thin line continues the level to the next row. */
static void put_row(struct assay__svg *svg, const struct layout *l, size_t row, double from,
                    double to, double y)
{
    const struct assay__figure *figure = svg->figure;
    const struct assay__figure_series *s = figure->series;
    bool total = is_total(s, row), less = to < from;
    double begin = total ? l->low : fmin(from, to), end = total ? to : fmax(from, to);
    double x = svg->left + (begin - l->low) * l->scale, width = (end - begin) * l->scale;
    struct assay__buf title = {0};
    struct assay__digits_pair value = assay__figure_step(figure, row);
    assay__svg_text(svg, svg->left - 8, y + BAR / 2 + 4, total ? "fig-b" : "fig-t", 'e',
                    assay__figure_category(figure, row), svg->width * 0.4 + 1);
    assay__svg_shape(svg,
                     total  ? "fig-f fig-faint"
                     : less ? "fig-f fig-x5"
                            : "fig-f fig-x1",
                     "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\"",
                     (double[]){x, y, fmax(1, width), BAR});
    assay__svg_cut(&title, assay__figure_category(figure, row), 2000);
    assay__buf_printf(&title, ": %s", value.text);
    assay__svg_title(svg, assay__buf_text(&title));
    assay__buf_puts(svg->out, "</rect>\n");
    if (total && l->cut) put_gap(svg, y);
    assay__svg_text(svg, x + width + 5, y + BAR / 2 + 4, total ? "fig-b" : "fig-t", 's', value.text,
                    0);
    assay__buf_drop(&title, svg->out);
    if (row + 1 == s->count) return;
    assay__svg_shape(svg, "fig-a", "<path d=\"M# #v#\"/>\n",
                     (double[]){svg->left + (to - l->low) * l->scale, y + BAR, STEP - BAR});
}

void assay__svg_waterfall(struct assay__svg *svg)
{
    const struct assay__figure *figure = svg->figure;
    struct layout l = {0};
    double y = 4, level = 0;
    svg->height = 20;
    if (!figure->series_count || !figure->series[0].count) return;
    const struct assay__figure_series *s = figure->series;
    measure(svg, &l);
    for (size_t row = 0; row < s->count; row++, y += STEP) {
        double to = is_total(s, row) ? s->y[row] : level + s->y[row];
        put_row(svg, &l, row, level, to, y);
        level = to;
    }
    assay__svg_shape(svg, "fig-a", "<path d=\"M# 0V#\"/>\n", (double[]){svg->left, y});
    if (l.cut) {
        struct assay__buf text = {0};
        assay__buf_printf(&text, "%s begins at %s", figure->y_title,
                          assay__scaled(l.low, figure->y_unit).text);
        assay__svg_text(svg, svg->left, y + 12, "fig-n", 's', assay__buf_text(&text),
                        svg->width - svg->left);
        assay__buf_drop(&text, svg->out);
        y += 16;
    }
    svg->height = y;
}
