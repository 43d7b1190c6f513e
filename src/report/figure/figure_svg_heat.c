/* figure_svg_heat.c - a table of values as coloured cells, each with its number, on the palette's
 * scale from bad to good. The best cell and those tied with it share one frame; the number of the
 * best is bold. */
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>

#define ROW 26.0
#define HEAD 20.0
#define COLUMN_MOST 110.0

struct grid {
    double cell; /* width of a column */
    size_t columns;
};

static const struct assay__figure_series *row_of(const struct assay__svg *svg, size_t row)
{
    return &svg->figure->series[row];
}

static unsigned flags_of(const struct assay__svg *svg, const struct grid *g, long row, long column)
{
    if (row < 0 || column < 0 || (size_t)row >= svg->figure->series_count ||
        (size_t)column >= g->columns)
        return 0;
    const struct assay__figure_series *s = row_of(svg, (size_t)row);
    return s->flags && (size_t)column < s->count ? s->flags[column] : 0;
}

/* The sides on which the neighbour is not tied: together they frame the whole group. */
static void put_frame(struct assay__svg *svg, const struct grid *g, size_t row, size_t column,
                      double x, double y)
{
    enum { GROUP = ASSAY__POINT_TIED | ASSAY__POINT_MARKED };
    long r = (long)row, c = (long)column;
    const struct {
        long row, column;
        const char *form;
        double numbers[3];
    } sides[] = {
        {r - 1, c, "<path d=\"M# #h#\"/>\n", {x, y, g->cell}},
        {r + 1, c, "<path d=\"M# #h#\"/>\n", {x, y + ROW, g->cell}},
        {r, c - 1, "<path d=\"M# #v#\"/>\n", {x, y, ROW}},
        {r, c + 1, "<path d=\"M# #v#\"/>\n", {x + g->cell, y, ROW}},
    };
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        if (!(flags_of(svg, g, sides[i].row, sides[i].column) & GROUP))
            assay__svg_shape(svg, "fig-i fig-k2", sides[i].form, sides[i].numbers);
}

static void put_cell(struct assay__svg *svg, const struct grid *g, size_t row, size_t column,
                     double x, double y)
{
    const struct assay__figure *figure = svg->figure;
    const struct assay__figure_series *s = row_of(svg, row);
    double value = column < s->count ? s->y[column] : (double)NAN;
    unsigned flags = flags_of(svg, g, (long)row, (long)column);
    struct assay__buf classes = {0}, title = {0};
    int step = assay__heat_step(figure, value);
    if (step < 0)
        assay__buf_puts(&classes, "fig-v");
    else
        assay__buf_printf(&classes, "fig-f fig-r%d", step);
    assay__svg_shape(svg, assay__buf_text(&classes),
                     "<rect x=\"#\" y=\"#\" width=\"#\" height=\"#\"",
                     (double[]){x, y, g->cell - 1, ROW - 1});
    const char *name = s->names && column < s->count && s->names[column] ? s->names[column] : "";
    assay__svg_cut(&title, name, 2000);
    assay__buf_printf(&title, "%s%s%s", title.length ? ": " : "",
                      assay__scaled(value, figure->y_unit).text,
                      flags & ASSAY__POINT_MARKED ? ", the best"
                      : flags & ASSAY__POINT_TIED ? ", tied with the best"
                                                  : "");
    assay__svg_title(svg, assay__buf_text(&title));
    assay__buf_puts(svg->out, "</rect>\n");
    assay__buf_clear(&classes);
    if (step >= 0) assay__buf_printf(&classes, "fig-on-r%d", step);
    assay__buf_printf(&classes, "%s", flags & ASSAY__POINT_MARKED ? " fig-b" : "");
    assay__svg_text(svg, x + g->cell / 2, y + ROW / 2 + 4, assay__buf_text(&classes), 'm',
                    assay__scaled(value, figure->y_unit).text, g->cell - 4);
    assay__buf_drop(&classes, svg->out);
    assay__buf_drop(&title, svg->out);
}

void assay__svg_heat(struct assay__svg *svg)
{
    const struct assay__figure *figure = svg->figure;
    struct grid g = {0};
    double names = 0, y = HEAD + 16;
    for (size_t r = 0; r < figure->series_count; r++) {
        struct assay__buf safe = {0};
        if (row_of(svg, r)->count > g.columns) g.columns = row_of(svg, r)->count;
        assay__svg_cut(&safe, row_of(svg, r)->name, svg->width * 0.35);
        names = fmax(names, assay__svg_width(assay__buf_text(&safe)));
        assay__buf_drop(&safe, svg->out);
    }
    svg->height = 20;
    if (!g.columns) return;
    svg->left = names + 12;
    g.cell = fmin(COLUMN_MOST, (svg->width - svg->left - 4) / (double)g.columns);
    svg->direct = true; /* rows have their names */
    assay__svg_text(svg, svg->left, 12, "fig-n", 's', figure->x_title, svg->width - svg->left);
    for (size_t c = 0; c < g.columns; c++)
        assay__svg_text(svg, svg->left + g.cell * ((double)c + 0.5), HEAD + 9, "fig-t", 'm',
                        figure->categories[c], g.cell - 4);
    for (size_t r = 0; r < figure->series_count; r++, y += ROW) {
        assay__svg_text(svg, svg->left - 8, y + ROW / 2 + 4, "fig-t", 'e', row_of(svg, r)->name,
                        svg->width * 0.35 + 1);
        for (size_t c = 0; c < g.columns; c++)
            put_cell(svg, &g, r, c, svg->left + g.cell * (double)c, y);
    }
    y = HEAD + 16;
    for (size_t r = 0; r < figure->series_count; r++)
        for (size_t c = 0; c < g.columns; c++)
            if (flags_of(svg, &g, (long)r, (long)c) & (ASSAY__POINT_TIED | ASSAY__POINT_MARKED))
                put_frame(svg, &g, r, c, svg->left + g.cell * (double)c - 0.5,
                          y + ROW * (double)r - 0.5);
    svg->height = y + ROW * (double)figure->series_count + 4;
}
