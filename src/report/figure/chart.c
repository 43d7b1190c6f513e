/* chart.c - see chart.h. Each column covers an equal part of the time and shows the mean of its
 * values; a column between two neighbouring values is interpolated. Unknown values leave the column
 * empty; a value at the lower end of the scale still gets a low block, so that it does not look
 * like a gap. The scale ends at round numbers. The values of a profile are untrusted: times that
 * run backwards or lie outside the axis are skipped. */
#include "report/figure/chart.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 6
#define ROWS_MOST 40
#define LABEL 10 /* columns of the scale */
#define WIDTH_MOST 160

struct drawing {
    const struct assay__chart *chart;
    double begin_ns, end_ns, low, high;
    double greatest, least;
    int rows;
    size_t width;
    double values[WIDTH_MOST];
    size_t counts[WIDTH_MOST];
};

static bool is_known(const struct assay__chart *chart, size_t i)
{
    return isfinite(chart->times_ns[i]) && isfinite(chart->values[i]);
}

static bool find_axis(struct drawing *d)
{
    const struct assay__chart *chart = d->chart;
    d->begin_ns = chart->begin_ns;
    d->end_ns = chart->end_ns;
    for (size_t i = 0; i < chart->count; i++) {
        if (!is_known(chart, i)) continue;
        if (!isfinite(chart->begin_ns)) d->begin_ns = fmin(d->begin_ns, chart->times_ns[i]);
        if (!isfinite(chart->end_ns)) d->end_ns = fmax(d->end_ns, chart->times_ns[i]);
    }
    return isfinite(d->begin_ns) && isfinite(d->end_ns) && d->end_ns > d->begin_ns;
}

/* The column of a time; `width` if it is outside. */
static size_t column_of(const struct drawing *d, double time_ns)
{
    double at = (time_ns - d->begin_ns) / (d->end_ns - d->begin_ns) * (double)d->width;
    if (!(at >= 0) || at > (double)d->width) return d->width;
    return at < (double)d->width ? (size_t)at : d->width - 1;
}

/* Columns without a value between two neighbours. */
static void join(struct drawing *d, size_t i, size_t k)
{
    const struct assay__chart *chart = d->chart;
    double from_ns = chart->times_ns[i], to_ns = chart->times_ns[k];
    size_t from = column_of(d, from_ns), to = column_of(d, to_ns);
    if (from >= d->width || to >= d->width) return;
    for (size_t c = from + 1; c < to; c++) {
        double centre = d->begin_ns +
                        ((double)c + 0.5) * (d->end_ns - d->begin_ns) / (double)d->width;
        double part = (centre - from_ns) / (to_ns - from_ns);
        d->values[c] = chart->values[i] + part * (chart->values[k] - chart->values[i]);
        d->counts[c] = 1;
    }
}

static bool fill(struct drawing *d)
{
    const struct assay__chart *chart = d->chart;
    size_t known = 0, last = SIZE_MAX;
    d->greatest = d->least = NAN;
    for (size_t i = 0; i < chart->count; i++) {
        size_t c = isfinite(chart->times_ns[i]) ? column_of(d, chart->times_ns[i]) : d->width;
        if (!is_known(chart, i) || c >= d->width) {
            last = SIZE_MAX;
            continue;
        }
        known++;
        d->greatest = fmax(d->greatest, chart->values[i]);
        d->least = fmin(d->least, chart->values[i]);
        d->values[c] += chart->values[i];
        d->counts[c]++;
        if (last != SIZE_MAX && chart->times_ns[i] > chart->times_ns[last]) join(d, last, i);
        last = i;
    }
    for (size_t c = 0; c < d->width; c++)
        d->values[c] = d->counts[c] ? d->values[c] / (double)d->counts[c] : (double)NAN;
    return known > 0;
}

/* The next round number at or beyond the value: a multiple of 1, 2, 2.5 or 5 times a power of ten.
 */
static double round_to(double value, double range, bool up)
{
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double size = pow(10, floor(log10(range / 5)));
    double step = size * 10;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (range / (size * steps[i]) <= 6) {
            step = size * steps[i];
            break;
        }
    double count = value / step;
    return (up ? ceil(count - 1e-9) : floor(count + 1e-9)) * step;
}

static void find_scale(struct drawing *d)
{
    bool given = isfinite(d->chart->low);
    d->low = given ? d->chart->low : d->least;
    d->high = d->greatest;
    if (!(d->high > d->low)) { /* a flat line is centred */
        double room = d->high == 0 ? 1 : fabs(d->high) * 0.05;
        d->high = (given ? d->low : d->high) + room;
        if (!given) d->low -= room;
    }
    double range = d->high - d->low;
    if (!given) d->low = round_to(d->low, range, false);
    d->high = round_to(d->high, range, true);
    if (!(d->high > d->low)) d->high = d->low + range;
}

/* How many eighths of row `row` column `c` fills. */
static int level_of(const struct drawing *d, size_t c, int row)
{
    double value = d->values[c];
    if (!isfinite(value)) return 0;
    double part = (value - d->low) / (d->high - d->low) * d->rows - row;
    int level = part >= 1 ? 8 : part > 0 ? (int)(part * 8 + 0.5) : 0;
    return row == 0 && level == 0 ? 1 : level;
}

static const char *cell_of(const struct assay__page *page, const struct drawing *d, size_t c,
                           int row)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int level = level_of(d, c, row);
    if (!page->ascii) return blocks[level];
    return level >= 4 ? "#" : level && row == 0 ? "." : " ";
}

/* The degree sign has no ASCII form: it is removed before columns are counted. */
static void scaled(const struct assay__page *page, char *out, size_t size, double value,
                   const char *unit)
{
    static const char degree[] = "°";
    assay__text_scaled(out, size, value, unit);
    char *found = page->ascii ? strstr(out, degree) : NULL;
    if (found) memmove(found, found + sizeof degree - 1, strlen(found + sizeof degree - 1) + 1);
}

static void draw_row(struct assay__page *page, const struct drawing *d, int row)
{
    char label[64] = "";
    size_t end = d->width;
    if (row == d->rows - 1 || row == 0)
        scaled(page, label, sizeof label, row ? d->high : d->low, d->chart->unit);
    while (end && *cell_of(page, d, end - 1, row) == ' ')
        end--;
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__page_right_fit(page, label, LABEL);
    assay__buf_puts(page->out, " │");
    assay__page_style(page, ASSAY__STYLE_BAR);
    for (size_t c = 0; c < end; c++)
        assay__buf_puts(page->out, cell_of(page, d, c, row));
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

/* The first letter of what the machine was doing in each column; ' ' unknown. True: anything is
 * known. */
static bool find_marks(const struct drawing *d, char *marks)
{
    const struct assay__chart *chart = d->chart;
    bool any = false;
    memset(marks, ' ', d->width);
    for (size_t i = 0; chart->spans && i < chart->span_count; i++) {
        const struct assay__span *span = &chart->spans[i];
        char letter = span->kind && *span->kind >= 'a' && *span->kind <= 'z' ? *span->kind : '?';
        double from_ns = fmax(span->begin_ns, d->begin_ns), to_ns = fmin(span->end_ns, d->end_ns);
        if (!(to_ns >= from_ns)) continue;
        size_t from = column_of(d, from_ns), to = column_of(d, to_ns);
        for (size_t c = from; c <= to && c < d->width; c++)
            marks[c] = letter;
        any = true;
    }
    return any;
}

static void draw_axis(struct assay__page *page, const struct drawing *d)
{
    char marks[WIDTH_MOST], begin[64], end[64];
    assay__text_scaled(begin, sizeof begin, d->begin_ns * 1e-9, "s");
    if (d->begin_ns == 0) snprintf(begin, sizeof begin, "0 s");
    assay__text_scaled(end, sizeof end, d->end_ns * 1e-9, "s");
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_repeat(page->out, " ", LABEL + 1);
    assay__buf_puts(page->out, "└");
    assay__buf_repeat(page->out, "─", d->width);
    assay__buf_putc(page->out, '\n');
    if (find_marks(d, marks)) {
        size_t length = d->width;
        while (length && marks[length - 1] == ' ')
            length--;
        assay__buf_repeat(page->out, " ", LABEL + 2);
        assay__buf_add(page->out, marks, length);
        assay__buf_putc(page->out, '\n');
    }
    size_t used = assay__text_width(begin) + assay__text_width(end);
    assay__buf_repeat(page->out, " ", LABEL + 2);
    assay__buf_puts(page->out, begin);
    assay__buf_repeat(page->out, " ", d->width > used ? d->width - used : 1);
    assay__buf_printf(page->out, "%s\n", end);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
}

static void draw_title(struct assay__page *page, const struct drawing *d)
{
    char least[64], greatest[64];
    struct assay__buf text = {0}, title = {0}, range = {0};
    scaled(page, least, sizeof least, d->least, d->chart->unit);
    scaled(page, greatest, sizeof greatest, d->greatest, d->chart->unit);
    assay__buf_printf(&text, "%s to %s", least, greatest);
    assay__text_safe(&title, d->chart->title ? d->chart->title : "");
    assay__text_safe(&range, assay__buf_text(&text));
    size_t columns = (size_t)page->columns - 4;
    int right = (int)assay__text_width(assay__buf_text(&range));
    if (right > (int)columns) right = (int)columns;
    bool beside = assay__text_width(assay__buf_text(&title)) + 1 + (size_t)right <= columns;
    assay__buf_putc(page->out, '\n');
    if (beside) {
        assay__buf_puts(page->out, "  ");
        assay__page_fit(page, title.data, (int)columns - right - 1, 0);
        assay__buf_putc(page->out, ' ');
    } else {
        assay__page_wrap_lines(page, ASSAY__STYLE_PLAIN, "  ", assay__buf_text(&title), 2);
        assay__buf_repeat(page->out, " ", columns + 2 - (size_t)right);
    }
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__page_right_fit(page, range.data, right);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    assay__buf_drop(&text, page->out);
    assay__buf_drop(&title, page->out);
    assay__buf_drop(&range, page->out);
}

void assay__page_chart(struct assay__page *page, const struct assay__chart *chart)
{
    struct drawing *d = calloc(1, sizeof *d);
    if (!d) {
        page->out->failed = true;
        return;
    }
    int width = page->columns - LABEL - 4;
    d->chart = chart;
    d->rows = chart->rows > 0 && chart->rows <= ROWS_MOST ? chart->rows : ROWS;
    d->width = width > WIDTH_MOST ? WIDTH_MOST : width > 10 ? (size_t)width : 10;
    if (chart->count && chart->times_ns && chart->values && find_axis(d) && fill(d)) {
        find_scale(d);
        draw_title(page, d);
        for (int row = d->rows - 1; row >= 0; row--)
            draw_row(page, d, row);
        draw_axis(page, d);
    }
    free(d);
}
