/* figure_text_heat.c - a table of values as text: a column for each value of the axis, the best
 * marked with *, those that are tied with it with +; and the rank of a value among the others,
 * which both forms of the figure share. */
#include "report/figure/figure_scale.h"
#include "report/figure/figure_text.h"
#include "report/figure/palette.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>

enum { NAME_MOST = 24 };

/* The logarithm of the value between the lowest and the highest: equal ratios look the same
 * everywhere. */
int assay__heat_step(const struct assay__figure *figure, double value)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t r = 0; r < figure->series_count; r++)
        for (size_t c = 0; c < figure->series[r].count; c++) {
            double own = figure->series[r].y[c];
            if (!(own > 0) || !isfinite(own)) continue;
            low = fmin(low, own);
            high = fmax(high, own);
        }
    if (!(value > 0) || !isfinite(value)) return -1;
    double at = high > low ? log(value / low) / log(high / low) : 1;
    if (figure->lower) at = 1 - at;
    int step = (int)(at * ASSAY__PALETTE_SCALE);
    return step < 0 ? 0 : step >= ASSAY__PALETTE_SCALE ? ASSAY__PALETTE_SCALE - 1 : step;
}

static const char *mark_of(const struct assay__figure_series *s, size_t column)
{
    unsigned flags = s->flags && column < s->count ? s->flags[column] : 0;
    return flags & ASSAY__POINT_MARKED ? "*" : flags & ASSAY__POINT_TIED ? "+" : " ";
}

static int widest_cell(const struct assay__figure *figure, size_t columns)
{
    size_t widest = 4;
    for (size_t c = 0; c < columns; c++) {
        size_t own = assay__text_width(figure->categories[c]);
        if (own > widest) widest = own;
        for (size_t r = 0; r < figure->series_count; r++) {
            const struct assay__figure_series *s = &figure->series[r];
            own = assay__text_width(
                assay__scaled(c < s->count ? s->y[c] : (double)NAN, figure->y_unit).text);
            if (own > widest) widest = own;
        }
    }
    return (int)widest;
}

static void put_block(struct assay__page *page, const struct assay__figure *figure, int names,
                      int cell, size_t first, size_t end)
{
    assay__buf_puts(page->out, "  ");
    assay__page_fit(page, figure->x_title, names, 0);
    for (size_t c = first; c < end; c++) {
        assay__buf_putc(page->out, ' ');
        assay__page_right_fit(page, figure->categories[c], cell);
        if (c + 1 < end) assay__buf_putc(page->out, ' ');
    }
    assay__buf_putc(page->out, '\n');
    for (size_t r = 0; r < figure->series_count; r++) {
        const struct assay__figure_series *s = &figure->series[r];
        assay__buf_puts(page->out, "  ");
        assay__page_fit_middle(page, s->name, names);
        for (size_t c = first; c < end; c++) {
            struct assay__digits value = assay__scaled(c < s->count ? s->y[c] : (double)NAN,
                                                       figure->y_unit);
            const char *mark = mark_of(s, c);
            assay__buf_putc(page->out, ' ');
            assay__page_style(page, *mark != ' ' ? ASSAY__STYLE_BOLD : ASSAY__STYLE_PLAIN);
            assay__page_right_fit(page, value.text, cell);
            assay__page_style(page, ASSAY__STYLE_PLAIN);
            if (c + 1 < end || *mark != ' ') assay__buf_puts(page->out, mark);
        }
        assay__buf_putc(page->out, '\n');
    }
}

void assay__text_heat(struct assay__page *page, const struct assay__figure *figure)
{
    size_t columns = 0, widest = assay__text_width(figure->x_title);
    for (size_t r = 0; r < figure->series_count; r++) {
        size_t own = assay__text_width(figure->series[r].name);
        if (own > widest) widest = own;
        if (figure->series[r].count > columns) columns = figure->series[r].count;
    }
    if (!columns) return;
    int names = (int)(widest > NAME_MOST ? NAME_MOST : widest), cell = widest_cell(figure, columns),
        room = page->columns - 2 - names;
    size_t fitting = room > cell + 2 ? (size_t)(room / (cell + 2)) : 1;
    for (size_t first = 0; first < columns; first += fitting) {
        if (first) assay__buf_putc(page->out, '\n');
        put_block(page, figure, names, cell, first,
                  first + fitting < columns ? first + fitting : columns);
    }
}
