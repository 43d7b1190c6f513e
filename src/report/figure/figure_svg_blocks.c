/* figure_svg_blocks.c - one row of blocks side by side over an axis, each as wide as its length on
 * the axis. If a series has more than ALONE blocks, only the lines between them are drawn. */
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

#define HEIGHT 102.0
#define ROW 46.0
#define ALONE 300

static void put_rect(struct assay__svg *svg, size_t index, double from, double to)
{
    assay__buf_printf(svg->out, "<rect class=\"fig-f fig-block %s\"", assay__svg_color(index));
    assay__svg_put(svg, " x=\"#\" y=\"#\" width=\"#\" height=\"#\"",
                   (double[]){from, svg->top, fmax(0.4, to - from), ROW});
}

static void put_together(struct assay__svg *svg, size_t index)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    double before = -INFINITY;
    put_rect(svg, index, assay__svg_x(svg, s->x[0]), assay__svg_x(svg, s->x[s->count]));
    assay__svg_title(svg, s->name ? s->name : "");
    assay__buf_puts(svg->out, "</rect>\n<path class=\"fig-c\" d=\"");
    for (size_t i = 1; i < s->count; i++) {
        double x = assay__svg_x(svg, s->x[i]);
        if (!(x >= before + 2)) continue; /* closer lines would leave nothing between them */
        assay__svg_put(svg, "M# #v#", (double[]){x, svg->top, ROW});
        before = x;
    }
    assay__buf_puts(svg->out, "\"/>\n");
}

static void put_block(struct assay__svg *svg, size_t index, size_t i)
{
    const struct assay__figure_series *s = &svg->figure->series[index];
    double from = assay__svg_x(svg, s->x[i]), to = assay__svg_x(svg, s->x[i + 1]);
    if (!isfinite(from) || !isfinite(to) || to < from) return;
    struct assay__buf title = {0};
    put_rect(svg, index, from, to - from > 3 ? to - 1 : to);
    assay__svg_layer(svg, s, i);
    assay__buf_printf(&title, "%s: %s", s->names && s->names[i] ? s->names[i] : "",
                      assay__scaled(s->y ? s->y[i] : (double)NAN, svg->figure->y_unit).text);
    assay__svg_title(svg, assay__buf_text(&title));
    assay__buf_puts(svg->out, "</rect>\n");
    struct assay__digits value = assay__scaled(s->y ? s->y[i] : (double)NAN, svg->figure->y_unit);
    if (assay__svg_width(value.text) + 8 < to - from)
        assay__svg_text(svg, (from + to) / 2, svg->top + ROW / 2 + 4, assay__svg_on(index), 'm',
                        value.text, 0);
    assay__buf_drop(&title, svg->out);
}

void assay__svg_blocks(struct assay__svg *svg)
{
    const struct assay__figure *figure = svg->figure;
    double low = NAN, high = NAN;
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; figure->series[s].x && i <= figure->series[s].count; i++) {
            double x = figure->series[s].x[i];
            if (figure->series[s].count && isfinite(x)) low = fmin(low, x), high = fmax(high, x);
        }
    svg->height = HEIGHT;
    assay__scale_make(&svg->x, low, high, figure->x_log, figure->x_unit, svg->width < 500 ? 5 : 9);
    if (high > low) { /* it ends where the last block does */
        double ticks[ASSAY__TICKS];
        size_t count = svg->x.tick_count;
        memcpy(ticks, svg->x.ticks, sizeof ticks);
        svg->x.low = low, svg->x.high = high;
        assay__scale_ticks(&svg->x, ticks, count);
    }
    svg->left = 10, svg->right = svg->width - 14;
    svg->top = 8, svg->bottom = svg->top + ROW + 4;
    assay__svg_x_axis(svg);
    for (size_t s = 0; s < figure->series_count; s++) {
        if (figure->series[s].x && figure->series[s].count > ALONE) {
            put_together(svg, s);
            continue;
        }
        for (size_t i = 0; figure->series[s].x && i < figure->series[s].count; i++)
            put_block(svg, s, i);
    }
}
