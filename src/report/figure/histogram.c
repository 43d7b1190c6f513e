/* histogram.c - a histogram as text: blocks of an eighth of a row above an axis with its ends and
 * its first mark (p50). The bins come with the figure (figures_latency.c); if there are more bins
 * than columns, neighbours are merged. */
#include "report/figure/figure_text.h"
#include "report/figure/figures.h"

#include <math.h>

#define HISTOGRAM_ROWS 4
#define COLUMNS_MOST 72

struct drawing {
    const struct assay__figure *figure;
    const struct assay__figure_series *bins;
    size_t count, joined, column_per_bin; /* columns' bins; bins of the figure in one of them */
    double highest;
};

static double height_of(const struct drawing *d, size_t b)
{
    double sum = 0;
    for (size_t i = b * d->joined; i < (b + 1) * d->joined && i < d->bins->count; i++)
        if (isfinite(d->bins->y[i])) sum += d->bins->y[i];
    return sum;
}

/* How much of that row the bar of bin b fills, in eighths (ASCII: all or nothing). */
static int level_of(const struct assay__page *page, const struct drawing *d, size_t b, int row)
{
    double height = height_of(d, b), part = height / d->highest * HISTOGRAM_ROWS - row;
    int level = part >= 1 ? 8 : part > 0 ? (int)(part * 8 + 0.5) : 0;
    if (page->ascii) level = level >= 4 ? 8 : 0;
    if (row == 0 && height > 0 && level == 0) level = 1; /* one sample is not none */
    return level;
}

static void draw_row(struct assay__page *page, const struct drawing *d, int row)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t end = d->count; /* no trailing blanks */
    while (end && level_of(page, d, end - 1, row) == 0)
        end--;
    assay__buf_puts(page->out, "  ");
    assay__page_style(page, ASSAY__STYLE_BAR);
    for (size_t b = 0; b < end; b++) {
        int level = level_of(page, d, b, row);
        assay__buf_repeat(page->out, page->ascii && level ? "#" : blocks[level], d->column_per_bin);
    }
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

/* The column of the first mark; SIZE_MAX: there is none. */
static size_t mark_column(const struct drawing *d, size_t columns)
{
    double low = d->bins->x[0], high = d->bins->x[d->bins->count];
    if (!d->figure->mark_count || !(high > low)) return SIZE_MAX;
    double at = (d->figure->marks[0].at - low) / (high - low);
    size_t mark = at > 0 ? (size_t)(at * (double)columns) : 0;
    return mark < columns ? mark : columns - 1;
}

static void draw_numbers(struct assay__page *page, const struct drawing *d, size_t columns,
                         size_t mark)
{
    char low[64], high[64];
    struct assay__buf line = {0};
    const char *word = mark != SIZE_MAX ? d->figure->marks[0].text : "";
    size_t word_width = assay__text_width(word);
    assay__text_scaled(low, sizeof low, d->bins->x[0], d->figure->x_unit);
    assay__text_scaled(high, sizeof high, d->bins->x[d->bins->count], d->figure->x_unit);
    size_t low_width = assay__text_width(low), high_width = assay__text_width(high);
    size_t end = columns > low_width + high_width + 1 ? columns - high_width : low_width + 1;
    size_t used = low_width;
    assay__buf_printf(&line, "  %s", low);
    if (mark != SIZE_MAX && (mark <= used + 1 || mark + word_width + 1 >= end)) {
        size_t at = mark ? mark - 1 : 0; /* no space under its mark: on a separate line */
        if (at + word_width > columns && columns >= word_width) at = columns - word_width;
        assay__buf_repeat(page->out, " ", 2 + at);
        assay__buf_printf(page->out, "%s\n", word);
    } else if (mark != SIZE_MAX) {
        assay__buf_repeat(&line, " ", mark - 1 - used);
        assay__buf_puts(&line, word);
        used = mark - 1 + word_width;
    }
    assay__buf_repeat(&line, " ", end > used ? end - used : 1);
    assay__buf_printf(&line, "%s\n", high);
    assay__buf_puts(page->out, assay__buf_text(&line));
    assay__buf_drop(&line, page->out);
}

static void draw_axis(struct assay__page *page, const struct drawing *d)
{
    size_t columns = d->count * d->column_per_bin, mark = mark_column(d, columns);
    assay__buf_puts(page->out, "  ");
    assay__page_style(page, ASSAY__STYLE_DIM);
    for (size_t i = 0; i < columns; i++)
        assay__buf_puts(page->out, i == mark ? "┬" : i == 0 ? "└" : i + 1 == columns ? "┘" : "─");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    draw_numbers(page, d, columns, mark);
}

static size_t columns_of(const struct assay__page *page)
{
    return page->columns - 4 > COLUMNS_MOST ? COLUMNS_MOST : (size_t)(page->columns - 4);
}

void assay__text_histogram(struct assay__page *page, const struct assay__figure *figure)
{
    struct drawing d = {.figure = figure, .bins = figure->series, .joined = 1};
    size_t columns = columns_of(page);
    if (!figure->series_count || !d.bins->count || !d.bins->x || !d.bins->y) return;
    while ((d.bins->count + d.joined - 1) / d.joined > columns)
        d.joined++;
    d.count = (d.bins->count + d.joined - 1) / d.joined;
    d.column_per_bin = columns / d.count > 4 ? 4 : columns / d.count;
    for (size_t b = 0; b < d.count; b++)
        d.highest = fmax(d.highest, height_of(&d, b));
    if (!(d.highest > 0)) return;
    for (int row = HISTOGRAM_ROWS - 1; row >= 0; row--)
        draw_row(page, &d, row);
    draw_axis(page, &d);
}
