/* figure_text.c - a figure as text, from 40 columns up: title, picture, legend, how to read it.
 * Bars are rows with block characters, a treemap is its groups as bars, time series are charts
 * below each other (chart.c), all else is drawn by figure_text_plot.c, histogram.c and
 * roofline_plot.c. */
#include "report/figure/figure_text.h"

#include "base/text.h"
#include "report/figure/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUE 14
#define LETTER_VALUE 14 /* "466,433 FLOP/B" */
#define BARS_MOST 40
#define CHARTS_MOST 3

/* --- bars ------------------------------------------------------------------------------------- */

const char *assay__figure_category(const struct assay__figure *figure, size_t row)
{
    const struct assay__figure_series *s = figure->series;
    const char *name = figure->categories          ? figure->categories[row]
                       : s->names && s->names[row] ? s->names[row]
                                                   : "";
    return name ? name : "";
}

static double greatest(const struct assay__figure *figure, size_t *rows)
{
    double most = 0;
    *rows = 0;
    for (size_t s = 0; s < figure->series_count; s++) {
        if (figure->series[s].count > *rows) *rows = figure->series[s].count;
        for (size_t i = 0; i < figure->series[s].count; i++)
            if (isfinite(figure->series[s].y[i])) most = fmax(most, fabs(figure->series[s].y[i]));
    }
    return most;
}

static void put_bar(struct assay__page *page, const char *name, int width, double value,
                    const char *unit, double most)
{
    char scaled[64];
    int room = page->columns - 2 - width - VALUE - 2;
    assay__text_scaled(scaled, sizeof scaled, value, unit);
    assay__buf_puts(page->out, "  ");
    assay__page_fit_middle(page, name, width);
    assay__page_right_fit(page, scaled, VALUE);
    double share = most > 0 ? fabs(value) / most : 0;
    if (share * room > (page->ascii ? 0.5 : 0)) {
        assay__buf_putc(page->out, ' ');
        assay__page_bar(page, share, room);
    }
    assay__buf_putc(page->out, '\n');
}

static int name_width(const struct assay__page *page, const struct assay__figure *figure,
                      size_t rows)
{
    size_t width = 4, most = (size_t)page->columns * 2 / 5;
    for (size_t i = 0; i < rows; i++) {
        size_t own = assay__text_width(assay__figure_category(figure, i)) +
                     (figure->series_count > 1 ? 2 : 0);
        if (own > width) width = own;
    }
    for (size_t s = 0; s < figure->series_count && figure->series_count > 1; s++) {
        size_t own = assay__text_width(figure->series[s].name ? figure->series[s].name : "") + 2;
        if (own > width) width = own;
    }
    return (int)(width < most ? width : most);
}

void assay__text_bars(struct assay__page *page, const struct assay__figure *figure)
{
    size_t rows;
    double most = greatest(figure, &rows);
    int width = name_width(page, figure, rows);
    for (size_t i = 0; i < rows; i++) {
        if (figure->series_count > 1) {
            assay__buf_puts(page->out, "  ");
            assay__page_fit_middle(page, assay__figure_category(figure, i), page->columns - 4);
            while (page->out->length && page->out->data[page->out->length - 1] == ' ')
                page->out->data[--page->out->length] = 0;
            assay__buf_putc(page->out, '\n');
        }
        for (size_t s = 0; s < figure->series_count; s++) {
            struct assay__buf name = {0};
            const struct assay__figure_series *series = &figure->series[s];
            if (figure->series_count > 1)
                assay__buf_printf(&name, "  %s", series->name ? series->name : "");
            put_bar(page,
                    figure->series_count > 1 ? (assay__buf_text(&name))
                                             : assay__figure_category(figure, i),
                    width, i < series->count ? series->y[i] : (double)NAN, figure->y_unit, most);
            assay__buf_free(&name);
        }
    }
}

/* --- treemap ---------------------------------------------------------------------------------- */

struct part {
    const char *path;
    size_t length;
    double value;
};

static int by_value(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    if (a->value != b->value) return a->value < b->value ? 1 : -1;
    return a->path < b->path ? -1 : a->path > b->path;
}

static int by_name(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    int order = strncmp(a->path, b->path, a->length < b->length ? a->length : b->length);
    return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

static size_t merge(struct part *parts, size_t count)
{
    size_t kept = 0;
    qsort(parts, count, sizeof *parts, by_name);
    for (size_t i = 0; i < count; i++) {
        if (kept && by_name(&parts[kept - 1], &parts[i]) == 0)
            parts[kept - 1].value += parts[i].value;
        else
            parts[kept++] = parts[i];
    }
    qsort(parts, kept, sizeof *parts, by_value);
    return kept;
}

/* Groups by the first part of the path, the largest first; layers outside any group keep their
 * names. */
static void put_treemap(struct assay__page *page, const struct assay__figure *figure)
{
    size_t total = 0, count = 0;
    for (size_t s = 0; s < figure->series_count; s++)
        total += figure->series[s].count;
    struct part *parts = malloc((total + 1) * sizeof *parts);
    for (size_t s = 0; parts && s < figure->series_count; s++) {
        const struct assay__figure_series *series = &figure->series[s];
        for (size_t i = 0; i < series->count; i++) {
            if (!(series->y[i] > 0) || !isfinite(series->y[i])) continue;
            const char *path = series->groups && series->groups[i] ? series->groups[i] : "";
            size_t length = strcspn(path, "/");
            if (!length) {
                path = series->names && series->names[i] ? series->names[i] : "";
                length = strlen(path);
            }
            parts[count++] = (struct part){path, length, series->y[i]};
        }
    }
    if (!parts) page->out->failed = true;
    count = parts ? merge(parts, count) : 0;
    for (size_t i = 0; i < count && i < BARS_MOST; i++) {
        struct assay__buf name = {0};
        assay__buf_add(&name, parts[i].path, parts[i].length);
        put_bar(page, assay__buf_text(&name), page->columns * 2 / 5, parts[i].value, figure->y_unit,
                parts[0].value);
        assay__buf_free(&name);
    }
    free(parts);
}

/* --- time series ------------------------------------------------------------------------------ */

static bool over_time(const struct assay__figure *figure)
{
    return figure->kind == ASSAY__FIGURE_LINES && strcmp(figure->x_unit, "s") == 0;
}

/* A level line is described by its range alone. */
static bool varies(const struct assay__figure_series *series)
{
    double low = NAN, high = NAN;
    for (size_t i = 0; i < series->count; i++)
        if (isfinite(series->y[i])) low = fmin(low, series->y[i]), high = fmax(high, series->y[i]);
    return high > low;
}

static void put_chart(struct assay__page *page, const struct assay__figure *figure,
                      const struct assay__figure_series *series)
{
    struct assay__span spans[32];
    size_t count = 0;
    double *times_ns = malloc((series->count + 1) * sizeof *times_ns);
    if (!times_ns) {
        page->out->failed = true;
        return;
    }
    for (size_t i = 0; i < series->count; i++)
        times_ns[i] = series->x[i] * 1e9;
    for (size_t i = 0; i < figure->span_count && count < 32; i++)
        spans[count++] = (struct assay__span){.kind = figure->spans[i].name,
                                              .begin_ns = figure->spans[i].begin * 1e9,
                                              .end_ns = figure->spans[i].end * 1e9};
    assay__page_chart(page, &(struct assay__chart){.title = series->name,
                                                   .unit = figure->y_unit,
                                                   .times_ns = times_ns,
                                                   .values = series->y,
                                                   .count = series->count,
                                                   .begin_ns = NAN,
                                                   .end_ns = NAN,
                                                   .low = figure->y_zero ? 0 : (double)NAN,
                                                   .rows = figure->series_count > 2 ? 3 : 0,
                                                   .spans = spans,
                                                   .span_count = count});
    free(times_ns);
}

/* "under the axis: i idle, m measure" */
static void put_span_names(struct assay__page *page, const struct assay__figure *figure)
{
    struct assay__buf text = {0};
    for (size_t i = 0; i < figure->span_count; i++) {
        bool said = false;
        for (size_t k = 0; k < i && !said; k++)
            said = strcmp(figure->spans[k].name, figure->spans[i].name) == 0;
        if (!said)
            assay__buf_printf(&text, "%s%.1s %s",
                              text.length ? ", " : "under the axis: ", figure->spans[i].name,
                              figure->spans[i].name);
    }
    if (text.length) assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", text.data);
    assay__buf_drop(&text, page->out);
}

/* The description has the range of every line: of several, those that vary are drawn. */
static void put_charts(struct assay__page *page, const struct assay__figure *figure)
{
    size_t drawn = 0;
    for (size_t i = 0; i < figure->series_count && drawn < CHARTS_MOST; i++) {
        if (figure->series_count > 1 && !varies(&figure->series[i])) continue;
        put_chart(page, figure, &figure->series[i]);
        drawn++;
    }
    if (drawn) put_span_names(page, figure);
}

/* --- together --------------------------------------------------------------------------------- */

static void put_letters(struct assay__page *page, const struct assay__figure *figure)
{
    const struct assay__figure_series *s = figure->series;
    for (size_t i = 0; i < s->count; i++) {
        char x[64], y[64];
        if (!isfinite(s->x[i]) || !isfinite(s->y[i])) continue;
        assay__text_scaled(x, sizeof x, s->x[i],
                           figure->kind == ASSAY__FIGURE_ROOFLINE ? "FLOP/B" : figure->x_unit);
        assay__text_scaled(y, sizeof y, s->y[i], figure->y_unit);
        assay__buf_printf(page->out, "  %c ", (char)('A' + i));
        bool wide = page->columns >= 60;
        assay__page_fit_middle(page, s->names[i],
                               page->columns - 6 - (wide ? 2 : 1) * (LETTER_VALUE + 1));
        assay__buf_putc(page->out, ' ');
        assay__page_right_fit(page, y, LETTER_VALUE);
        if (wide) assay__buf_putc(page->out, ' ');
        if (wide) assay__page_right_fit(page, x, LETTER_VALUE);
        unsigned char flags = s->flags ? s->flags[i] : 0;
        assay__buf_puts(page->out, flags & ASSAY__POINT_FAULT ? " !\n" : "\n");
    }
}

static void put_numbers(struct assay__page *page, const struct assay__figure *figure)
{
    for (size_t i = 0; i < figure->series_count; i++) {
        struct assay__buf name = {0};
        assay__buf_printf(&name, "%zu %s", i + 1,
                          figure->series[i].name ? figure->series[i].name : "");
        assay__page_wrap_lines(page, ASSAY__STYLE_PLAIN, "  ", assay__buf_text(&name), 1);
        assay__buf_drop(&name, page->out);
    }
}

static void put_picture(struct assay__page *page, const struct assay__figure *figure)
{
    switch (figure->kind) {
    case ASSAY__FIGURE_BARS: assay__text_bars(page, figure); return;
    case ASSAY__FIGURE_TREEMAP: put_treemap(page, figure); return;
    case ASSAY__FIGURE_HISTOGRAM: assay__text_histogram(page, figure); return;
    case ASSAY__FIGURE_ROOFLINE: assay__text_roofline(page, figure); break;
    case ASSAY__FIGURE_SCATTER: assay__text_plot(page, figure); break;
    case ASSAY__FIGURE_LINES:
        if (!over_time(figure)) {
            assay__text_plot(page, figure);
            break;
        }
        put_charts(page, figure);
        return;
    }
    if (assay__text_has_numbers(figure))
        put_numbers(page, figure);
    else if (assay__text_has_letters(figure) && !figure->keyed)
        put_letters(page, figure);
}

void assay__figure_text(struct assay__page *page, const struct assay__figure *figure)
{
    if (figure->title && *figure->title) assay__page_heading(page, figure->title, "");
    if (figure->description && *figure->description)
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", figure->description);
    if (!over_time(figure)) assay__buf_putc(page->out, '\n'); /* charts begin with their own */
    put_picture(page, figure);
    if (figure->note && *figure->note && !figure->keyed)
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", figure->note);
    const char *caption = figure->kind == ASSAY__FIGURE_TREEMAP
                              ? "Each bar is one block of the graph with all its layers."
                              : figure->caption;
    if (caption && *caption) assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", caption);
}
