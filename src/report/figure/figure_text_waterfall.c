/* figure_text_waterfall.c - from one total to another as text: totals are solid bars, what shrinks
 * and what grows are lighter ones at the level that the rows above have reached; and its numbers
 * and range, which both forms of the figure share. */
#include "report/figure/figure_scale.h"
#include "report/figure/figure_text.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>

enum { VALUE = 11 };

static bool is_total(const struct assay__figure_series *s, size_t row)
{
    return s->flags && s->flags[row] & ASSAY__POINT_TOTAL;
}

struct assay__digits_pair assay__figure_step(const struct assay__figure *figure, size_t row)
{
    const struct assay__figure_series *s = figure->series;
    struct assay__digits_pair out;
    bool total = is_total(s, row);
    struct assay__digits plain = assay__scaled(total ? s->y[row] : fabs(s->y[row]), figure->y_unit);
    const char *sign = total || s->y[row] == 0 ? "" : s->y[row] < 0 ? "−" : "+";
    snprintf(out.text, sizeof out.text, "%s%s", sign, plain.text);
    return out;
}

void assay__figure_steps_range(const struct assay__figure *figure, double *low, double *high)
{
    const struct assay__figure_series *s = figure->series;
    double level = 0;
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t row = 0; row < s->count; row++) {
        level = is_total(s, row) ? s->y[row] : level + s->y[row];
        *low = fmin(*low, level);
        *high = fmax(*high, level);
    }
    double range = *high - *low;
    /* the bar of a total needs some length if the changes are small */
    *low = range > 0 && *low > range ? *low - range / 2 : fmin(0, *low);
}

/* A piece from one column to another, in characters of its kind. */
static void put_stretch(struct assay__page *page, int from, int to, const char *mark)
{
    assay__buf_repeat(page->out, " ", (size_t)from);
    assay__page_style(page, ASSAY__STYLE_BAR);
    assay__buf_repeat(page->out, mark, (size_t)(to > from ? to - from : 1));
    assay__page_style(page, ASSAY__STYLE_PLAIN);
}

void assay__text_waterfall(struct assay__page *page, const struct assay__figure *figure)
{
    const struct assay__figure_series *s = figure->series;
    double low, high, level = 0;
    size_t widest = 4, most = (size_t)page->columns * 2 / 5;
    if (!figure->series_count || !s->count) return;
    assay__figure_steps_range(figure, &low, &high);
    for (size_t row = 0; row < s->count; row++) {
        size_t own = assay__text_width(assay__figure_category(figure, row));
        if (own > widest) widest = own;
    }
    int width = (int)(widest < most ? widest : most), room = page->columns - 5 - width - VALUE;
    double scale = high > low ? room / (high - low) : 0;
    for (size_t row = 0; row < s->count; row++) {
        bool total = is_total(s, row);
        double to = total ? s->y[row] : level + s->y[row], from = total ? low : fmin(level, to);
        int begin = (int)((from - low) * scale + 0.5),
            end = (int)((fmax(total ? low : level, to) - low) * scale + 0.5);
        const char *mark = total ? "█" : to < level ? "░" : "▓";
        if (page->ascii) mark = total ? "#" : to < level ? "-" : "+";
        if (begin >= room) begin = room - 1;
        assay__buf_puts(page->out, "  ");
        assay__page_fit_middle(page, assay__figure_category(figure, row), width);
        assay__page_right_fit(page, assay__figure_step(figure, row).text, VALUE);
        assay__buf_putc(page->out, ' ');
        put_stretch(page, begin, end > room ? room : end, mark);
        assay__buf_putc(page->out, '\n');
        level = to;
    }
    if (low != 0)
        assay__page_print(page, ASSAY__STYLE_DIM, "  ", "The bars begin at %s.",
                          assay__scaled(low, figure->y_unit).text);
}
