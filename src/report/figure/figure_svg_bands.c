/* figure_svg_bands.c - stacked bands: series s adds its y to those before it, over positions of
 * equal width (one per layer). The stack is as high as the sum. If there are more positions than
 * pixel columns, each column shows the position with the largest sum, so that the peak is visible.
 * A band is labelled if its name fits. */
#include "report/figure/figure_label.h"
#include "report/figure/figure_svg.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>

#define HEIGHT 380.0
#define NAME_TALL 14.0

struct stack {
    struct assay__svg *svg;
    size_t places;  /* in the data */
    size_t columns; /* that are drawn */
    size_t *shown;  /* by column: the place that it shows */
    double *base;   /* by column: what is below the next band */
    char **labels;  /* by series */
};

static double value_at(const struct assay__figure_series *s, size_t place)
{
    return place < s->count && isfinite(s->y[place]) && s->y[place] > 0 ? s->y[place] : 0;
}

static double sum_at(const struct assay__figure *figure, size_t place)
{
    double sum = 0;
    for (size_t i = 0; i < figure->series_count; i++)
        sum += value_at(&figure->series[i], place);
    return sum;
}

/* Which position every column shows; returns the largest sum. */
static double find_columns(struct stack *k)
{
    double most = 0, *sums = calloc(k->columns + 1, sizeof *sums);
    if (!sums) k->svg->out->failed = true;
    for (size_t c = 0; sums && c < k->columns; c++)
        sums[c] = -1;
    for (size_t p = 0; sums && p < k->places; p++) {
        size_t c = p * k->columns / k->places;
        double sum = sum_at(k->svg->figure, p);
        if (sum > sums[c]) sums[c] = sum, k->shown[c] = p;
        most = fmax(most, sum);
    }
    free(sums);
    return most;
}

static double x_of(const struct stack *k, size_t column)
{
    return assay__svg_x(k->svg, (double)column * (double)k->places / (double)k->columns);
}

/* The outline of columns first … end - 1: the upper edge forward, the lower edge back. */
static void put_outline(struct stack *k, const struct assay__figure_series *s, size_t first,
                        size_t end)
{
    struct assay__svg *svg = k->svg;
    double level = NAN;
    for (size_t c = first; c < end; c++) {
        double top = assay__svg_y(svg, k->base[c] + value_at(s, k->shown[c]));
        if (c == first)
            assay__svg_put(svg, "M# #", (double[]){x_of(k, c), top});
        else if (top != level)
            assay__svg_put(svg, "H#V#", (double[]){x_of(k, c), top});
        level = top;
    }
    assay__svg_put(svg, "H#", (double[]){x_of(k, end)});
    level = NAN;
    for (size_t c = end; c-- > first;) {
        double bottom = assay__svg_y(svg, k->base[c]);
        if (bottom != level) assay__svg_put(svg, "V#", (double[]){bottom});
        if (c == first || assay__svg_y(svg, k->base[c - 1]) != bottom)
            assay__svg_put(svg, "H#", (double[]){x_of(k, c)});
        level = bottom;
    }
    assay__buf_putc(svg->out, 'z');
}

/* The columns first … *end - 1 are one rectangle of the band; its height in pixels. */
static double stretch(const struct stack *k, const struct assay__figure_series *s, size_t first,
                      size_t *end)
{
    double value = value_at(s, k->shown[first]), base = k->base[first];
    for (*end = first + 1;
         *end < k->columns && k->base[*end] == base && value_at(s, k->shown[*end]) == value;)
        ++*end;
    return assay__svg_y(k->svg, base) - assay__svg_y(k->svg, base + value);
}

/* In the first rectangle of the band that is large enough, vertical if it is too narrow. */
static void put_name(struct stack *k, const struct assay__figure_series *s, size_t index)
{
    double need = assay__svg_width(k->labels[index]) + 4;
    for (size_t c = 0, end; c < k->columns; c = end) {
        double tall = stretch(k, s, c, &end), wide = x_of(k, end) - x_of(k, c);
        bool level = wide >= need && tall >= NAME_TALL;
        if (!level && !(tall >= need && wide >= NAME_TALL)) continue;
        double x = (x_of(k, c) + x_of(k, end)) / 2, y = assay__svg_y(k->svg, k->base[c]) - tall / 2;
        assay__svg_put(k->svg, "<g transform=\"translate(# #) rotate(#)\">",
                       (double[]){x, y, level ? 0 : -90});
        assay__svg_label(k->svg, 0, 4, s->faint ? "fig-t" : assay__svg_on(index), 'm',
                         k->labels[index], s->name ? s->name : "");
        assay__buf_puts(k->svg->out, "</g>\n");
        return;
    }
}

static void put_band(struct stack *k, size_t index)
{
    const struct assay__figure_series *s = &k->svg->figure->series[index];
    struct assay__svg *svg = k->svg;
    struct assay__buf title = {0};
    double size = 0;
    for (size_t i = 0; i < s->count; i++)
        size = fmax(size, value_at(s, i));
    if (!(size > 0)) return;
    bool wide = x_of(k, 1) - x_of(k, 0) > 4; /* large enough to be visible inside an outline */
    assay__buf_printf(svg->out, "<path class=\"fig-f fig-band%s %s\" d=\"", wide ? " fig-c" : "",
                      s->faint ? "fig-faint" : assay__svg_color(index));
    for (size_t c = 0, end; c < k->columns; c = end) {
        end = c + 1;
        if (!(value_at(s, k->shown[c]) > 0)) continue;
        while (end < k->columns && value_at(s, k->shown[end]) > 0)
            end++;
        put_outline(k, s, c, end);
    }
    assay__buf_putc(svg->out, '"');
    assay__svg_layer(svg, s, 0);
    assay__buf_printf(&title, "%s: %s%s", s->names && s->names[0] ? s->names[0] : "",
                      s->faint ? "up to " : "", assay__scaled(size, svg->figure->y_unit).text);
    assay__svg_title(svg, assay__buf_text(&title));
    assay__buf_puts(svg->out, "</path>\n");
    put_name(k, s, index);
    for (size_t c = 0; c < k->columns; c++)
        k->base[c] += value_at(s, k->shown[c]);
    assay__buf_drop(&title, svg->out);
}

static char **label_bands(const struct assay__figure *figure)
{
    const char **names = calloc(figure->series_count + 1, sizeof *names);
    for (size_t i = 0; names && i < figure->series_count; i++)
        names[i] = figure->series[i].name;
    char **labels = names ? assay__labels_within(names, figure->series_count, 108) : NULL;
    free(names);
    return labels;
}

void assay__svg_bands(struct assay__svg *svg)
{
    const struct assay__figure *figure = svg->figure;
    struct stack k = {.svg = svg, .labels = label_bands(figure)};
    if (!(svg->height > 0)) svg->height = HEIGHT;
    for (size_t i = 0; i < figure->series_count; i++)
        if (figure->series[i].count > k.places) k.places = figure->series[i].count;
    k.columns = k.places < (size_t)svg->width ? k.places : (size_t)svg->width;
    k.shown = calloc(k.columns + 1, sizeof *k.shown);
    k.base = calloc(k.columns + 1, sizeof *k.base);
    if (k.labels && k.shown && k.base) {
        double most = find_columns(&k);
        assay__svg_axes(svg, 0, k.places ? (double)k.places : NAN, 0, most > 0 ? most : NAN);
        for (size_t i = 0; i < figure->series_count; i++)
            put_band(&k, i);
        assay__svg_marks(svg);
        if (k.places > k.columns) svg->drawn_of += k.places;
    } else {
        svg->out->failed = true;
    }
    svg->direct = true; /* every band has its own name */
    assay__labels_free(k.labels, figure->series_count);
    free(k.shown);
    free(k.base);
}
