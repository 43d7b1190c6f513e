/* figure_text.c - a figure as text, from 40 columns up: title, picture, legend, how to read it.
 * Bars are rows with block characters, a treemap is its groups as bars, time series are charts
 * below each other (chart.c), everything else is drawn by figure_text_plot.c, histogram.c and
 * roofline_plot.c. */
#include "report/figure/figure_text.h"

#include "base/text.h"
#include "report/figure/chart.h"
#include "report/figure/figure_label.h"
#include "report/figure/figure_scale.h"

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

/* A number without a bar, which would determine the scale of all. */
static bool is_sum(const struct assay__figure_series *s, size_t row)
{
    return s->flags && s->flags[row] & ASSAY__POINT_FAINT;
}

static double greatest(const struct assay__figure *figure, size_t *rows)
{
    double most = 0;
    *rows = 0;
    for (size_t s = 0; s < figure->series_count; s++) {
        if (figure->series[s].count > *rows) *rows = figure->series[s].count;
        for (size_t i = 0; i < figure->series[s].count; i++)
            if (isfinite(figure->series[s].y[i]) && !is_sum(&figure->series[s], i))
                most = fmax(most, fabs(figure->series[s].y[i]));
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
    assay__page_fit(page, name, width, 0);
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

/* The names of the rows (with several series, of the groups), or those of the series. */
static char **labels_of(const struct assay__figure *figure, size_t count, bool series, int width)
{
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = series ? figure->series[i].name : assay__figure_category(figure, i);
    char **labels = names ? assay__labels(names, count, (size_t)width) : NULL;
    free(names);
    return labels;
}

/* A separate line, if the bars below it have the names of their series. */
static void put_group(struct assay__page *page, const char *label)
{
    assay__buf_printf(page->out, "  %s\n", label);
}

void assay__text_bars(struct assay__page *page, const struct assay__figure *figure)
{
    size_t rows, count = figure->series_count;
    double most = greatest(figure, &rows);
    int width = name_width(page, figure, rows);
    bool grouped = count > 1;
    char **labels = labels_of(figure, rows, false, grouped ? page->columns - 4 : width),
         **series = labels_of(figure, count, true, width - 2);
    if (!labels || !series) page->out->failed = true;
    for (size_t i = 0; labels && series && i < rows; i++) {
        if (grouped) put_group(page, labels[i]);
        for (size_t s = 0; s < count; s++) {
            struct assay__buf name = {0};
            assay__buf_printf(&name, "%s%s", grouped ? "  " : "", grouped ? series[s] : labels[i]);
            put_bar(page, assay__buf_text(&name), width,
                    i < figure->series[s].count ? figure->series[s].y[i] : (double)NAN,
                    figure->y_unit, is_sum(&figure->series[s], i) ? NAN : most);
            assay__buf_drop(&name, page->out);
        }
    }
    assay__labels_free(labels, rows);
    assay__labels_free(series, count);
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

static void put_parts(struct assay__page *page, const struct assay__figure *figure,
                      const struct part *parts, size_t count)
{
    int width = page->columns * 2 / 5;
    char *names[BARS_MOST] = {0};
    for (size_t i = 0; i < count; i++)
        names[i] = strndup(parts[i].path, parts[i].length);
    char **labels = assay__labels((const char *const *)names, count, (size_t)width);
    if (!labels) page->out->failed = true;
    for (size_t i = 0; labels && i < count; i++)
        put_bar(page, labels[i], width, parts[i].value, figure->y_unit, parts[0].value);
    assay__labels_free(labels, count);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
}

/* The group of every layer at that depth, or its own name if it has none. */
static size_t find_parts(const struct assay__figure *figure, size_t depth, struct part *parts)
{
    size_t count = 0;
    for (size_t s = 0; s < figure->series_count; s++) {
        const struct assay__figure_series *series = &figure->series[s];
        for (size_t i = 0; i < series->count; i++) {
            if (!(series->y[i] > 0) || !isfinite(series->y[i])) continue;
            const char *path = series->groups && series->groups[i] ? series->groups[i] : "";
            size_t length = assay__path_prefix(path, depth);
            if (!length || (depth > 1 && length == assay__path_prefix(path, depth - 1))) {
                path = series->names && series->names[i] ? series->names[i] : "";
                length = strlen(path);
            }
            parts[count++] = (struct part){path, length, series->y[i]};
        }
    }
    return merge(parts, count);
}

/* Groups by the first part of the path, the largest first; layers outside any group keep their
 * names. If all have the first part in common, by the next: a single bar would be meaningless. */
static void put_treemap(struct assay__page *page, const struct assay__figure *figure)
{
    enum { DEPTH = 8 };
    size_t total = 0, count = 0;
    for (size_t s = 0; s < figure->series_count; s++)
        total += figure->series[s].count;
    struct part *parts = malloc((total + 1) * sizeof *parts);
    if (!parts) page->out->failed = true;
    for (size_t depth = 1; parts && depth <= DEPTH && count < 2; depth++)
        count = find_parts(figure, depth, parts);
    if (parts) put_parts(page, figure, parts, count < BARS_MOST ? count : BARS_MOST);
    free(parts);
}

/* --- time series ------------------------------------------------------------------------------ */

static bool over_time(const struct assay__figure *figure)
{
    return figure->kind == ASSAY__FIGURE_LINES && strcmp(figure->x_unit, "s") == 0;
}

/* A flat line is only described by its range. */
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

/* The description has the range of every line: if there are several, those that vary are drawn. */
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
    size_t count = assay__text_letters(figure);
    bool wide = page->columns >= 60;
    int room = page->columns - 6 - (wide ? 2 : 1) * (LETTER_VALUE + 1);
    char **labels = assay__labels(s->names, count, (size_t)room);
    if (!labels) page->out->failed = true;
    for (size_t i = 0; labels && i < count; i++) {
        char x[64], y[64];
        if (!isfinite(s->x[i]) || !isfinite(s->y[i])) continue;
        assay__text_scaled(x, sizeof x, s->x[i],
                           figure->kind == ASSAY__FIGURE_ROOFLINE ? "FLOP/B" : figure->x_unit);
        assay__text_scaled(y, sizeof y, s->y[i], figure->y_unit);
        assay__buf_printf(page->out, "  %c ", (char)('A' + i));
        assay__page_fit(page, labels[i], room, 0);
        assay__buf_putc(page->out, ' ');
        assay__page_right_fit(page, y, LETTER_VALUE);
        if (wide) assay__buf_putc(page->out, ' ');
        if (wide) assay__page_right_fit(page, x, LETTER_VALUE);
        unsigned char flags = s->flags ? s->flags[i] : 0;
        assay__buf_puts(page->out, flags & ASSAY__POINT_FAULT ? " !\n" : "\n");
    }
    assay__labels_free(labels, count);
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

/* The sum of the bands: a terminal has too few dots for each of them. */
static void put_bands(struct assay__page *page, const struct assay__figure *figure)
{
    size_t count = figure->series_count ? figure->series[0].count : 0;
    double *sum = calloc(count + 1, sizeof *sum);
    struct assay__figure_series all = {.y = sum, .count = count, .steps = true};
    struct assay__figure line = *figure;
    if (!sum) page->out->failed = true;
    for (size_t s = 0; sum && s < figure->series_count; s++)
        for (size_t i = 0; i < count && i < figure->series[s].count; i++)
            if (isfinite(figure->series[s].y[i])) sum[i] += figure->series[s].y[i];
    if (sum && count) {
        all.x = figure->series[0].x;
        line.kind = ASSAY__FIGURE_LINES, line.series = &all, line.series_count = 1;
        assay__text_plot(page, &line);
    }
    free(sum);
}

/* The series that has a block there; series_count: none. */
static size_t block_at(const struct assay__figure *figure, double x)
{
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t i = 0; i < figure->series[s].count; i++)
            if (x >= figure->series[s].x[i] && x < figure->series[s].x[i + 1]) return s;
    return figure->series_count;
}

/* One line, a character per series: what fills each column; below it their meaning. */
static void put_blocks(struct assay__page *page, const struct assay__figure *figure)
{
    static const char *const fills[2][2] = {{"#", "."}, {"█", "░"}};
    double low = NAN, high = NAN;
    char from[64], to[64];
    int columns = page->columns - 4;
    if (!assay__figure_range(figure, true, &low, &high) || !(high > low)) return;
    assay__buf_puts(page->out, "  ");
    for (int c = 0; c < columns; c++) {
        size_t s = block_at(figure, low + (high - low) * (c + 0.5) / columns);
        assay__buf_puts(page->out, s < figure->series_count ? fills[!page->ascii][s % 2] : " ");
    }
    assay__text_scaled(from, sizeof from, low, figure->x_unit);
    assay__text_scaled(to, sizeof to, high, figure->x_unit);
    assay__buf_printf(page->out, "\n  %s", low == 0 ? "0" : from);
    size_t used = (low == 0 ? 1 : assay__text_width(from)) + assay__text_width(to);
    assay__buf_repeat(page->out, " ", (size_t)columns > used ? (size_t)columns - used : 1);
    assay__buf_printf(page->out, "%s\n", to);
    for (size_t s = 0; s < figure->series_count; s++)
        assay__page_print(page, ASSAY__STYLE_PLAIN, "  ", "%s %s", fills[!page->ascii][s % 2],
                          figure->series[s].name ? figure->series[s].name : "");
}

static void put_picture(struct assay__page *page, const struct assay__figure *figure)
{
    switch (figure->kind) {
    case ASSAY__FIGURE_BARS: assay__text_bars(page, figure); return;
    case ASSAY__FIGURE_TREEMAP: put_treemap(page, figure); return;
    case ASSAY__FIGURE_GRAPH: assay__text_bars(page, figure); return;
    case ASSAY__FIGURE_HISTOGRAM: assay__text_histogram(page, figure); return;
    case ASSAY__FIGURE_BANDS: put_bands(page, figure); return;
    case ASSAY__FIGURE_BLOCKS: put_blocks(page, figure); return;
    case ASSAY__FIGURE_WATERFALL: assay__text_waterfall(page, figure); return;
    case ASSAY__FIGURE_HEAT: assay__text_heat(page, figure); return;
    case ASSAY__FIGURE_SPREAD: assay__text_spread(page, figure); return;
    case ASSAY__FIGURE_ALIGNED: assay__text_aligned(page, figure); return;
    case ASSAY__FIGURE_ROOFLINE: assay__text_roofline(page, figure); break;
    case ASSAY__FIGURE_TIMELINE: assay__text_timeline(page, figure); return;
    case ASSAY__FIGURE_FLAME: assay__text_flame(page, figure); return;
    case ASSAY__FIGURE_STRIP:
    case ASSAY__FIGURE_CARD: return; /* drawn whole */
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
    else if (assay__text_letters(figure) && !figure->keyed)
        put_letters(page, figure);
}

static const char *caption_of(const struct assay__figure *figure)
{
    return figure->kind == ASSAY__FIGURE_GRAPH
               ? "Each bar is the time of one block of layers, in the order of execution."
           : figure->kind == ASSAY__FIGURE_TREEMAP
               ? "Each bar is one block of the graph with all its layers."
           : figure->kind == ASSAY__FIGURE_BANDS ? "Memory taken by the tensors that later layers "
                                                   "read, while each layer runs. Weights "
                                                   "are not included."
           : figure->kind == ASSAY__FIGURE_ROOFLINE
               ? "Each letter is a layer: the further below the roof, the more of its time could "
                 "be "
                 "saved. Under a slope, memory is the limit; under the flat part, arithmetic."
           : figure->kind == ASSAY__FIGURE_TIMELINE ? "Each character is a span of time: the "
                                                      "higher, the more of it the track is busy."
           : figure->kind == ASSAY__FIGURE_FLAME    ? "Each row is a function below the one that "
                                                      "called it, with its share of the samples."
           : figure->kind == ASSAY__FIGURE_HEAT     ? "* the best, + tied with it."
           : figure->kind == ASSAY__FIGURE_BLOCKS
               ? "The run of the prompt (prefill), then the tokens; width is time."
               : figure->caption;
}

/* "12 more layers are not drawn: they take less time than these." */
static void put_left_out(struct assay__page *page, const struct assay__figure *figure)
{
    if (figure->kind != ASSAY__FIGURE_ROOFLINE || !figure->series_count) return;
    size_t more = figure->series[0].count - assay__text_letters(figure);
    if (more)
        assay__page_print(page, ASSAY__STYLE_DIM, "  ",
                          "%zu more layer%s not drawn; each loses less time than these.", more,
                          more == 1 ? " is" : "s are");
}

static void put_card(struct assay__page *page, const struct assay__figure_card *card)
{
    assay__page_print(page, ASSAY__STYLE_BOLD, "", "%s", card->title);
    assay__page_print(page, ASSAY__STYLE_DIM, "", "%s · %s", card->target, card->chip);
    assay__page_print(page, ASSAY__STYLE_BOLD, "", "%s", card->verdict);
    struct assay__buf items = {0};
    for (size_t i = 0; i < card->number_count; i++)
        assay__page_item(&items, "%s %s", card->numbers[i].value, card->numbers[i].label);
    if (items.length) assay__page_wrap(page, ASSAY__STYLE_PLAIN, "", items.data);
    assay__page_print(page, ASSAY__STYLE_DIM, "", "%s · %s", card->machine, card->version);
    assay__buf_drop(&items, page->out);
}

void assay__figure_text(struct assay__page *page, const struct assay__figure *figure)
{
    if (figure->card) put_card(page, figure->card);
    if (figure->card || figure->strip) { /* they explain themselves */
        assay__text_strip(page, figure);
        return;
    }
    if (figure->title && *figure->title) assay__page_heading(page, figure->title, "");
    /* rows of numbers need no sentence with the same */
    bool told = figure->kind == ASSAY__FIGURE_WATERFALL || figure->kind == ASSAY__FIGURE_HEAT ||
                figure->kind == ASSAY__FIGURE_TIMELINE;
    if (figure->description && *figure->description && !told)
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", figure->description);
    if (!over_time(figure)) assay__buf_putc(page->out, '\n'); /* charts begin with their own */
    put_picture(page, figure);
    if (figure->note && *figure->note && !figure->keyed)
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", figure->note);
    put_left_out(page, figure);
    const char *caption = caption_of(figure);
    if (caption && *caption) assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", caption);
}
