/* histogram.c - the latency histogram of the text report, drawn with blocks of an eighth of a row.
 *
 * Range: the samples within Tukey's far fences, [q1 - 3 IQR, q3 + 3 IQR]; what lies outside is counted and said
 * in words, so that one stray sample does not flatten the picture. Bin width: the range over the columns, rounded up to
 * a whole number of clock steps, since narrower bins would show the clock's comb. */
#include "report/page.h"

#include "base/stats.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HISTOGRAM_ROWS 4
#define HISTOGRAM_MAX_BINS 512

struct histogram {
    double low, high, width; /* ns; bins cover [low, low + bins * width) */
    size_t bins, column_per_bin;
    size_t counts[HISTOGRAM_MAX_BINS];
    size_t highest, below, above;
    double median;
};

/* The samples of all launches after their warm-up, sorted; the caller frees. */
static double *collect(const struct assay__trial *trial, size_t *count)
{
    size_t total = 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        total += trial->launches[i].sample_count;
    double *samples = total ? malloc(total * sizeof *samples) : NULL;
    *count = 0;
    for (size_t i = 0; samples && i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        size_t streams = l->stream_offsets && l->streams > 0 ? (size_t)l->streams : 1;
        for (size_t s = 0; l->samples_ns && s < streams; s++) {
            size_t first = l->stream_offsets ? l->stream_offsets[s] : 0;
            size_t end = l->stream_offsets ? l->stream_offsets[s + 1] : l->sample_count;
            for (size_t k = first + l->warmup; k < end && k < l->sample_count; k++)
                if (isfinite(l->samples_ns[k])) samples[(*count)++] = l->samples_ns[k];
        }
    }
    assay__stats_sort(samples, *count);
    return samples;
}

static double clock_step(const double *sorted, size_t count)
{
    double step = 0;
    for (size_t i = 1; i < count; i++) {
        double gap = sorted[i] - sorted[i - 1];
        if (gap > 0 && (step == 0 || gap < step)) step = gap;
    }
    return step;
}

/* A clock that ticks every 10.02 ns gives samples 10 ns apart, each blurred by 1 ns where both ends are rounded to whole
 * nanoseconds: the smallest gap is then 1 ns and not the step. Where the samples crowd on few such spots, the mean distance
 * of neighbouring spots; 0 where they do not. */
static double coarse_step(const double *sorted, size_t count)
{
    const double blur = 1.5, widest = 2.5; /* ns */
    double least = 0, sum = 0;
    size_t spots = 1, steps = 0;
    for (int pass = 0; pass < 2; pass++) {
        double spot = count ? sorted[0] : 0;
        for (size_t i = 1; i < count; i++) {
            if (sorted[i] - sorted[i - 1] <= blur) {
                if (sorted[i] - spot > widest) return 0;
                continue;
            }
            double gap = sorted[i] - spot;
            spot = sorted[i];
            if (pass == 0) {
                spots++;
                if (least == 0 || gap < least) least = gap;
            } else if (gap < 1.5 * least) {
                sum += gap;
                steps++;
            }
        }
    }
    return steps && count >= 4 * spots ? sum / (double)steps : 0;
}

/* The samples of the picture, [low, high], in *first and *count. */
static void clip(const struct histogram *h, const double *sorted, size_t total, size_t *first,
                 size_t *count)
{
    size_t end = total;
    *first = 0;
    while (*first < total && sorted[*first] < h->low)
        ++*first;
    while (end > *first && sorted[end - 1] > h->high)
        end--;
    *count = end - *first;
}

static bool fill(struct histogram *h, const double *sorted, size_t count, size_t columns)
{
    double q1 = assay__stats_percentile(sorted, count, 0.25),
           q3 = assay__stats_percentile(sorted, count, 0.75);
    double reach = 3 * (q3 - q1), step = clock_step(sorted, count);
    h->median = assay__stats_median(sorted, count);
    h->low = fmax(sorted[0], q1 - reach);
    h->high = fmin(sorted[count - 1], q3 + reach);
    if (!(h->high > h->low) || !(step > 0)) return false;
    size_t first = 0, inside = 0;
    clip(h, sorted, count, &first, &inside);
    double coarse = coarse_step(sorted + first, inside);
    if (coarse > step) {
        step = coarse;
        h->low = sorted[first] + 0.5; /* edges fall between the spots */
    }
    size_t bins = (size_t)(4 * cbrt((double)count));
    if (bins < 10) bins = 10;
    if (bins > columns) bins = columns;
    bins = columns / (size_t)((double)columns / (double)bins +
                              0.5); /* fill the page with bins of equal width */
    if (bins > HISTOGRAM_MAX_BINS) bins = HISTOGRAM_MAX_BINS;
    h->width = (h->high - h->low) / (double)bins;
    if (h->width < 8 * step) h->width = ceil(h->width / step) * step;
    h->low -= step / 2;
    h->bins = (size_t)ceil((h->high - h->low + step / 2) / h->width);
    if (h->bins > bins) h->bins = bins;
    if (h->bins < 1) h->bins = 1;
    h->column_per_bin = columns / h->bins;
    if (h->column_per_bin > 4) h->column_per_bin = 4;
    for (size_t i = 0; i < count; i++) {
        double position = (sorted[i] - h->low) / h->width;
        if (position < 0)
            h->below++;
        else if (position >= (double)h->bins && sorted[i] > h->high)
            h->above++;
        else
            h->counts[position >= (double)h->bins ? h->bins - 1 : (size_t)position]++;
    }
    for (size_t b = 0; b < h->bins; b++)
        if (h->counts[b] > h->highest) h->highest = h->counts[b];
    return h->highest > 0;
}

/* How much of that row the bar of bin b fills, in eighths (ASCII: all or nothing). */
static int level_of(const struct assay__page *page, const struct histogram *h, size_t b, int row)
{
    double part = (double)h->counts[b] / (double)h->highest * HISTOGRAM_ROWS - row;
    int level = part >= 1 ? 8 : part > 0 ? (int)(part * 8 + 0.5) : 0;
    if (page->ascii) level = level >= 4 ? 8 : 0;
    if (row == 0 && h->counts[b] && level == 0) level = 1; /* one sample is not none */
    return level;
}

static void draw_row(struct assay__page *page, const struct histogram *h, int row)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t end = h->bins; /* no blanks behind the last bar of the row */
    while (end && level_of(page, h, end - 1, row) == 0)
        end--;
    assay__buf_puts(page->out, "  ");
    assay__page_style(page, ASSAY__STYLE_BAR);
    for (size_t b = 0; b < end; b++) {
        int level = level_of(page, h, b, row);
        assay__buf_repeat(page->out, page->ascii && level ? "#" : blocks[level], h->column_per_bin);
    }
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
}

static void draw_axis(struct assay__page *page, const struct histogram *h)
{
    size_t columns = h->bins * h->column_per_bin;
    double at = (h->median - h->low) / (h->width * (double)h->bins);
    size_t mark = at > 0 ? (size_t)(at * (double)columns) : 0;
    if (mark >= columns) mark = columns - 1;
    assay__buf_puts(page->out, "  ");
    assay__page_style(page, ASSAY__STYLE_DIM);
    for (size_t i = 0; i < columns; i++)
        assay__buf_puts(page->out, i == mark ? "┬" : i == 0 ? "└" : i + 1 == columns ? "┘" : "─");
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    struct assay__buf low = {0}, high = {0}, line = {0};
    assay__render_ns(&low, fmax(h->low, 0));
    assay__render_ns(&high, h->low + h->width * (double)h->bins);
    size_t low_width = assay__text_width(low.data ? low.data : "");
    size_t high_width = assay__text_width(high.data ? high.data : "");
    size_t end = columns > low_width + high_width + 1 ? columns - high_width : low_width + 1;
    assay__buf_printf(&line, "  %s", low.data ? low.data : "");
    size_t used = low_width;
    if (mark <= used + 1 || mark + 3 + 1 >= end) { /* no room under its mark: a line of its own */
        size_t at_column = mark ? mark - 1 : 0;
        if (at_column + 3 > columns && columns >= 3) at_column = columns - 3;
        assay__buf_repeat(page->out, " ", 2 + at_column);
        assay__buf_puts(page->out, "p50\n");
    } else {
        assay__buf_repeat(&line, " ", mark - 1 - used);
        assay__buf_puts(&line, "p50");
        used = mark + 2;
    }
    assay__buf_repeat(&line, " ", end > used ? end - used : 1);
    assay__buf_printf(&line, "%s\n", high.data ? high.data : "");
    assay__buf_puts(page->out, line.data ? line.data : "");
    assay__buf_free(&low);
    assay__buf_free(&high);
    assay__buf_free(&line);
}

static void say_folded(struct assay__page *page, const struct histogram *h, const double *sorted,
                       size_t count)
{
    struct assay__buf text = {0};
    if (h->below) {
        assay__render_count(&text, (int64_t)h->below);
        assay__buf_puts(&text, " faster, down to ");
        assay__render_ns(&text, sorted[0]);
    }
    if (h->above) {
        if (h->below) assay__buf_puts(&text, "; ");
        assay__render_count(&text, (int64_t)h->above);
        assay__buf_puts(&text, " slower, up to ");
        assay__render_ns(&text, sorted[count - 1]);
    }
    if (text.length) {
        assay__buf_puts(&text, " (outside the picture)");
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", text.data);
    }
    assay__buf_free(&text);
}

void assay__page_histogram(struct assay__page *page, const struct assay__trial *trial)
{
    size_t count = 0;
    double *sorted = collect(trial, &count);
    struct histogram h;
    memset(&h, 0, sizeof h);
    size_t columns = page->columns - 4 > 72 ? 72 : (size_t)(page->columns - 4);
    if (sorted && count >= 10 && fill(&h, sorted, count, columns)) {
        assay__buf_putc(page->out, '\n');
        for (int row = HISTOGRAM_ROWS - 1; row >= 0; row--)
            draw_row(page, &h, row);
        draw_axis(page, &h);
        say_folded(page, &h, sorted, count);
    }
    free(sorted);
}
