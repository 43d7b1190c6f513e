/* figure_text_spread.c - distributions over one axis as text: for each a line of blocks as high as
 * the share of samples, and below it its launches as dots with their median. */
#include "report/figure/figure_scale.h"
#include "report/figure/figure_text.h"

#include "base/text.h"

#include <math.h>

enum { ROOM_MOST = 120, LEVELS = 8 };

struct axis {
    struct assay__scale scale;
    int names, room;
};

static int column_of(const struct axis *axis, double value)
{
    double at = assay__scale_at(&axis->scale, value);
    if (!(at >= 0 && at <= 1)) return -1;
    int column = (int)(at * axis->room);
    return column < axis->room ? column : axis->room - 1;
}

static void put_line(struct assay__page *page, const struct axis *axis, const char *name,
                     const char *const *cells)
{
    int end = axis->room;
    while (end && *cells[end - 1] == ' ')
        end--;
    assay__buf_puts(page->out, "  ");
    assay__page_fit_middle(page, name, axis->names);
    assay__buf_putc(page->out, ' ');
    assay__page_style(page, ASSAY__STYLE_BAR);
    for (int c = 0; c < end; c++)
        assay__buf_puts(page->out, cells[c]);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

/* Bins are summed into the column of their middle. */
static void put_outline(struct assay__page *page, const struct axis *axis,
                        const struct assay__figure_series *s)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ".", ":", ":", "#", "#", "#", "#"};
    double shares[ROOM_MOST] = {0}, most = 0;
    const char *cells[ROOM_MOST];
    for (size_t i = 0; i < s->count; i++) {
        int column = column_of(axis, (s->x[i] + s->x[i + 1]) / 2);
        if (column >= 0 && s->y[i] > 0) shares[column] += s->y[i];
    }
    for (int c = 0; c < axis->room; c++)
        most = fmax(most, shares[c]);
    if (!(most > 0)) return;
    for (int c = 0; c < axis->room; c++) {
        int level = (int)(shares[c] / most * LEVELS + 0.5);
        if (!level && shares[c] > 0) level = 1; /* one sample is not none */
        cells[c] = (page->ascii ? plain : blocks)[level];
    }
    put_line(page, axis, "", cells);
}

static void put_launches(struct assay__page *page, const struct axis *axis,
                         const struct assay__figure_series *s)
{
    const char *cells[ROOM_MOST];
    int median = column_of(axis, assay__figure_median(page->out, s));
    for (int c = 0; c < axis->room; c++)
        cells[c] = " ";
    for (size_t i = 0; i < s->count; i++) {
        int column = column_of(axis, s->x[i]);
        if (column >= 0) cells[column] = page->ascii ? "o" : "•";
    }
    if (median >= 0) cells[median] = page->ascii ? "|" : "┃";
    put_line(page, axis, s->name, cells);
}

void assay__text_spread(struct assay__page *page, const struct assay__figure *figure)
{
    struct axis axis = {0};
    double low, high;
    size_t pairs = figure->series_count / 2, widest = 4, most = (size_t)page->columns / 3;
    if (!pairs || !assay__figure_range(figure, true, &low, &high)) return;
    for (size_t p = 0; p < pairs; p++) {
        size_t own = assay__text_width(figure->series[2 * p + 1].name);
        if (own > widest) widest = own;
    }
    axis.names = (int)(widest < most ? widest : most);
    axis.room = page->columns - axis.names - 4;
    if (axis.room > ROOM_MOST) axis.room = ROOM_MOST;
    assay__scale_make(&axis.scale, low, high, figure->x_log, figure->x_unit, 5);
    for (size_t p = 0; p < pairs; p++) {
        put_outline(page, &axis, &figure->series[2 * p]);
        put_launches(page, &axis, &figure->series[2 * p + 1]);
    }
    struct assay__digits first = assay__scaled(axis.scale.low, figure->x_unit),
                         last = assay__scaled(axis.scale.high, figure->x_unit);
    int used = (int)assay__text_width(first.text), right = axis.room - used;
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_repeat(page->out, " ", (size_t)axis.names + 3);
    assay__buf_puts(page->out, first.text);
    assay__page_right_fit(page, last.text, right);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    for (size_t i = 0; i < figure->span_count; i++)
        assay__page_print(page, ASSAY__STYLE_PLAIN, "  ", "%s: %s to %s", figure->spans[i].name,
                          assay__scaled(figure->spans[i].begin, figure->x_unit).text,
                          assay__scaled(figure->spans[i].end, figure->x_unit).text);
}
