/* figures_latency.c - the latency of a trial: a histogram, and every sample in order.
 *
 * Histogram: the samples within Tukey's far fences, [q1 - 3 IQR, q3 + 3 IQR]; what lies outside is
 * counted and said in words, so that one stray sample does not flatten the picture; a percentile
 * out there is said with them, since its mark would stretch the axis. Bin width: the range over the
 * columns, rounded up to a whole number of clock steps, since narrower bins would show the clock's
 * comb. Samples: warm-up as the profile has it; outliers by hyperfine's rule, |x - median| / MAD >
 * 14.826; two modes where base/stats.h finds them. */
#include "report/figure/figures.h"

#include "base/stats.h"
#include "base/text.h"
#include "report/doc/datum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BINS 512
#define BINS 96
#define LEAST_SAMPLES 10

struct bins {
    double low, high, width; /* ns; bins cover [low, low + bins * width) */
    size_t count;
    size_t counts[MAX_BINS];
    size_t highest, below, above;
};

/* --- samples ---------------------------------------------------------------------------------- */

static size_t sample_count(const struct assay__trial *trial)
{
    size_t total = 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        if (trial->launches[i].samples_ns) total += trial->launches[i].sample_count;
    return total;
}

static size_t stream_count(const struct assay__launch *launch)
{
    return launch->stream_offsets && launch->streams > 0 ? (size_t)launch->streams : 1;
}

/* Samples first … end - 1 are those of stream s; a profile is untrusted. */
static void stream_range(const struct assay__launch *launch, size_t s, size_t *first, size_t *end)
{
    *first = launch->stream_offsets ? launch->stream_offsets[s] : 0;
    *end = launch->stream_offsets ? launch->stream_offsets[s + 1] : launch->sample_count;
    if (*end > launch->sample_count) *end = launch->sample_count;
}

/* The samples of all launches after their warm-up, sorted; the caller frees. */
static double *collect(const struct assay__trial *trial, size_t *count)
{
    size_t total = sample_count(trial);
    double *samples = total ? malloc(total * sizeof *samples) : NULL;
    *count = 0;
    for (size_t i = 0; samples && i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        for (size_t s = 0; l->samples_ns && s < stream_count(l); s++) {
            size_t first, end;
            stream_range(l, s, &first, &end);
            for (size_t k = first + l->warmup; k < end && *count < total; k++)
                if (isfinite(l->samples_ns[k])) samples[(*count)++] = l->samples_ns[k];
        }
    }
    if (samples) assay__stats_sort(samples, *count);
    return samples;
}

/* --- bins ------------------------------------------------------------------------------------- */

static double clock_step(const double *sorted, size_t count)
{
    double step = 0;
    for (size_t i = 1; i < count; i++) {
        double gap = sorted[i] - sorted[i - 1];
        if (gap > 0 && (step == 0 || gap < step)) step = gap;
    }
    return step;
}

/* A clock that ticks every 10.02 ns gives samples 10 ns apart, each blurred by 1 ns where both ends
 * are rounded to whole nanoseconds: the smallest gap is then 1 ns and not the step. Where the
 * samples crowd on few such spots, the mean distance of neighbouring spots; 0 where they do not. */
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
static void clip(const struct bins *b, const double *sorted, size_t total, size_t *first,
                 size_t *count)
{
    size_t end = total;
    *first = 0;
    while (*first < total && sorted[*first] < b->low)
        ++*first;
    while (end > *first && sorted[end - 1] > b->high)
        end--;
    *count = end - *first;
}

static void count_into(struct bins *b, const double *sorted, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double position = (sorted[i] - b->low) / b->width;
        if (position < 0)
            b->below++;
        else if (position >= (double)b->count && sorted[i] > b->high)
            b->above++;
        else
            b->counts[position >= (double)b->count ? b->count - 1 : (size_t)position]++;
    }
    for (size_t i = 0; i < b->count; i++)
        if (b->counts[i] > b->highest) b->highest = b->counts[i];
}

static bool fill(struct bins *b, const double *sorted, size_t count, size_t columns)
{
    double q1 = assay__stats_percentile(sorted, count, 0.25),
           q3 = assay__stats_percentile(sorted, count, 0.75);
    double reach = 3 * (q3 - q1), step = clock_step(sorted, count);
    b->low = fmax(sorted[0], q1 - reach);
    b->high = fmin(sorted[count - 1], q3 + reach);
    if (!(b->high > b->low) || !(step > 0)) return false;
    size_t first = 0, inside = 0;
    clip(b, sorted, count, &first, &inside);
    double coarse = coarse_step(sorted + first, inside);
    if (coarse > step) {
        step = coarse;
        b->low = sorted[first] + 0.5; /* edges fall between the spots */
    }
    size_t bins = (size_t)(4 * cbrt((double)count));
    if (bins < 10) bins = 10;
    if (bins > columns) bins = columns;
    bins = columns / (size_t)((double)columns / (double)bins +
                              0.5); /* fill the page with bins of equal width */
    if (bins > MAX_BINS) bins = MAX_BINS;
    b->width = (b->high - b->low) / (double)bins;
    if (b->width < 8 * step) b->width = ceil(b->width / step) * step;
    b->low -= step / 2;
    b->count = (size_t)ceil((b->high - b->low + step / 2) / b->width);
    if (b->count > bins) b->count = bins;
    if (b->count < 1) b->count = 1;
    count_into(b, sorted, count);
    return b->highest > 0;
}

/* "12 slower, up to 3.1 ms, p99 at 2.9 ms (outside the picture)" */
static const char *folded(const struct bins *b, const double *sorted, size_t count,
                          const char *percentiles, struct assay__arena *arena)
{
    struct assay__buf text = {0};
    if (b->below) {
        assay__print_count(&text, (int64_t)b->below);
        assay__buf_puts(&text, " faster, down to ");
        assay__print_ns(&text, sorted[0]);
    }
    if (b->above) {
        if (b->below) assay__buf_puts(&text, "; ");
        assay__print_count(&text, (int64_t)b->above);
        assay__buf_puts(&text, " slower, up to ");
        assay__print_ns(&text, sorted[count - 1]);
    }
    if (text.length) assay__buf_printf(&text, "%s (outside the picture)", percentiles);
    const char *note = text.failed ? NULL : assay__arena_strdup(arena, assay__buf_text(&text));
    assay__buf_free(&text);
    return note;
}

/* --- histogram -------------------------------------------------------------------------------- */

/* p50 first; the others only where enough samples make them known. Those outside of the bins go to
 * `beyond` in words. */
static void add_marks(const struct assay__trial *trial, double median_ns,
                      struct assay__arena *arena, struct assay__figure *figure,
                      struct assay__buf *beyond)
{
    static const char *const names[][2] = {
        {"latency.p50", "p50"}, {"latency.p90", "p90"}, {"latency.p99", "p99"}};
    const struct assay__figure_series *bins = figure->series;
    figure->marks = assay__arena_array(arena, 3, sizeof *figure->marks);
    if (!figure->marks) return;
    figure->marks[figure->mark_count++] = (struct assay__figure_mark){true, median_ns * 1e-9,
                                                                      "p50"};
    for (size_t i = 1; i < 3; i++) {
        const struct assay_metric *metric = assay__trial_metric(trial, names[i][0]);
        if (!metric) continue;
        if (metric->value < bins->x[0] || metric->value > bins->x[bins->count])
            assay__buf_printf(beyond, ", %s at %s", names[i][1],
                              assay__figure_scaled(arena, metric->value, "s"));
        else
            figure->marks[figure->mark_count++] = (struct assay__figure_mark){true, metric->value,
                                                                              names[i][1]};
    }
}

static int make_histogram(const struct assay__trial *trial, const double *sorted, size_t count,
                          const struct bins *b, struct assay__arena *arena,
                          struct assay__figure *figure, struct assay_error *error)
{
    double *x = assay__figure_values(arena, b->count + 1),
           *y = assay__figure_values(arena, b->count);
    struct assay__figure_series *series = assay__arena_array(arena, 1, sizeof *series);
    if (!x || !y || !series) return assay__figure_no_memory(error);
    for (size_t i = 0; i <= b->count; i++)
        x[i] = fmax(0, b->low + b->width * (double)i) * 1e-9;
    for (size_t i = 0; i < b->count; i++)
        y[i] = (double)b->counts[i];
    *series = (struct assay__figure_series){.name = "samples", .x = x, .y = y, .count = b->count};
    *figure = assay__figure_begin(ASSAY__FIGURE_HISTOGRAM, "latency");
    figure->x_title = "latency", figure->x_unit = "s";
    figure->y_title = "inferences", figure->y_unit = "count", figure->y_zero = true;
    figure->series = series, figure->series_count = 1;
    struct assay__buf beyond = {0};
    add_marks(trial, assay__stats_median(sorted, count), arena, figure, &beyond);
    figure->caption = "A bar is as high as many inferences took so long; half of them were faster "
                      "than p50.";
    figure->description = assay__arena_printf(
        arena, "%s samples from %s to %s, median %s.",
        assay__figure_scaled(arena, (double)count, "count"),
        assay__figure_scaled(arena, sorted[0] * 1e-9, "s"),
        assay__figure_scaled(arena, sorted[count - 1] * 1e-9, "s"),
        assay__figure_scaled(arena, assay__stats_median(sorted, count) * 1e-9, "s"));
    figure->note = beyond.failed ? NULL : folded(b, sorted, count, assay__buf_text(&beyond), arena);
    assay__buf_free(&beyond);
    return figure->marks && figure->description && figure->note ? 0
                                                                : assay__figure_no_memory(error);
}

int assay__figure_latency(struct assay__study *study, const struct assay__trial *trial, size_t part,
                          struct assay__arena *arena, struct assay__figure *figure,
                          struct assay_error *error)
{
    if (part) return assay_error_set(error, ASSAY_ENOTFOUND, "there is one histogram");
    size_t count = 0;
    double *sorted = collect(trial, &count);
    struct bins *b = calloc(1, sizeof *b);
    int code;
    if (!b || (!sorted && sample_count(trial)))
        code = assay__figure_no_memory(error);
    else if (count < LEAST_SAMPLES)
        code = assay_error_set(error, ASSAY_ENOTFOUND,
                               "%zu samples are too few for a histogram (at least %d)", count,
                               LEAST_SAMPLES);
    else if (!fill(b, sorted, count, BINS))
        code = assay_error_set(error, ASSAY_ENOTFOUND,
                               "all samples are alike: there is nothing to tell apart");
    else
        code = make_histogram(trial, sorted, count, b, arena, figure, error);
    if (!code) figure->title = assay__figure_title(arena, study->profile, trial, "Latency");
    free(b);
    free(sorted);
    return code;
}

/* --- every sample ----------------------------------------------------------------------------- */

enum { PLAIN, WARMUP, OUTLIER, CLASSES };

struct placed {
    double *x[CLASSES], *y[CLASSES];
    size_t counts[CLASSES];
    double median, mad;
    struct assay__figure_mark *marks;
    size_t mark_count, mark_room;
};

static void place(struct placed *p, double index, double sample_ns, bool warmup)
{
    bool outlier = p->mad > 0 && fabs(sample_ns - p->median) / p->mad > 14.826;
    int class_of = warmup ? WARMUP : outlier ? OUTLIER : PLAIN;
    size_t at = p->counts[class_of]++;
    if (!p->x[class_of]) return; /* they are counted first */
    p->x[class_of][at] = index;
    p->y[class_of][at] = sample_ns * 1e-9;
}

/* Launches follow each other along the axis; streams of one launch lie over each other. */
static void place_all(struct placed *p, const struct assay__trial *trial,
                      struct assay__arena *arena)
{
    size_t begin = 0, left = sample_count(trial);
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        size_t longest = 0;
        for (size_t s = 0; l->samples_ns && s < stream_count(l); s++) {
            size_t first, end;
            stream_range(l, s, &first, &end);
            for (size_t k = first; k < end && left > 0; k++, left--) {
                if (!isfinite(l->samples_ns[k])) continue;
                place(p, (double)(begin + k - first), l->samples_ns[k], k - first < l->warmup);
            }
            if (end > first && end - first > longest) longest = end - first;
        }
        if (begin && longest && p->mark_count + 4 < p->mark_room)
            p->marks[p->mark_count++] = (struct assay__figure_mark){
                true, (double)begin, assay__arena_printf(arena, "launch %d", l->id)};
        begin += longest;
    }
}

static void mark_levels(struct placed *p, const double *sorted, size_t count,
                        struct assay__arena *arena)
{
    double low, high, share;
    if (assay__stats_bimodal(sorted, count, 0, &low, &high, &share)) {
        p->marks[p->mark_count++] = (struct assay__figure_mark){
            false, low * 1e-9,
            assay__arena_printf(arena, "lower mode, %.0f %%", (1 - share) * 100)};
        p->marks[p->mark_count++] = (struct assay__figure_mark){
            false, high * 1e-9, assay__arena_printf(arena, "upper mode, %.0f %%", share * 100)};
        return;
    }
    p->marks[p->mark_count++] = (struct assay__figure_mark){false, p->median * 1e-9, "p50"};
}

static void describe_samples(const struct placed *p, const struct assay__trial *trial,
                             struct assay__arena *arena, struct assay__figure *figure)
{
    figure->x_title = "inference", figure->x_unit = "count";
    figure->y_title = "latency", figure->y_unit = "s";
    figure->caption =
        "Each point is one inference in the order they ran; grey ones were found to be warm-up and "
        "are not counted, a level cloud means a steady machine.";
    const char *outliers = p->counts[OUTLIER]
                               ? assay__figure_scaled(arena, (double)p->counts[OUTLIER], "count")
                               : "no";
    const char *warm = p->counts[WARMUP]
                           ? assay__figure_scaled(arena, (double)p->counts[WARMUP], "count")
                           : "none";
    figure->description = assay__arena_printf(
        arena, "%s samples around %s in %zu launch%s, %s found to be warm-up, %s outlier%s.",
        assay__figure_scaled(arena, (double)(p->counts[PLAIN] + p->counts[OUTLIER]), "count"),
        assay__figure_scaled(arena, p->median * 1e-9, "s"), trial->launch_count,
        trial->launch_count == 1 ? "" : "es", warm, outliers, p->counts[OUTLIER] == 1 ? "" : "s");
    const struct assay_metric *warmup = assay__trial_metric(trial, "latency.warmup");
    double prerun = warmup ? warmup->value : 0; /* less those found in the data */
    for (size_t i = 0; i < trial->launch_count; i++)
        prerun -= trial->launches[i].sample_count ? (double)trial->launches[i].warmup : 0;
    if (prerun > 0)
        figure->note = assay__arena_printf(
            arena, "%s inference%s of the pre-run, before measuring, %s not kept.",
            assay__figure_scaled(arena, prerun, "count"), prerun > 1 ? "s" : "",
            prerun > 1 ? "were" : "was");
    if (!figure->note) figure->note = "";
}

static int make_samples(const struct assay__trial *trial, const double *sorted, size_t count,
                        struct assay__arena *arena, struct assay__figure *figure,
                        struct assay_error *error)
{
    static const char *const names[] = {"samples", "warm-up", "outliers"};
    struct placed p = {.mark_room = 16};
    struct assay__figure_series *series = assay__arena_array(arena, CLASSES, sizeof *series);
    double *scratch = malloc((count + 1) * sizeof *scratch);
    p.marks = assay__arena_array(arena, p.mark_room, sizeof *p.marks);
    bool made = series && scratch && p.marks;
    if (made) {
        p.median = assay__stats_median(sorted, count);
        p.mad = assay__stats_mad(sorted, count, p.median, scratch);
        place_all(&p, trial, arena);
    }
    for (int i = 0; i < CLASSES; i++) {
        p.x[i] = assay__figure_values(arena, p.counts[i]);
        p.y[i] = assay__figure_values(arena, p.counts[i]);
        made = made && p.x[i] && p.y[i];
        p.counts[i] = 0;
    }
    if (made) {
        p.mark_count = 0;
        place_all(&p, trial, arena);
        mark_levels(&p, sorted, count, arena);
    }
    free(scratch);
    if (!made) return assay__figure_no_memory(error);
    *figure = assay__figure_begin(ASSAY__FIGURE_SCATTER, "samples");
    figure->series = series, figure->marks = p.marks, figure->mark_count = p.mark_count;
    for (int i = 0; i < CLASSES; i++)
        if (p.counts[i] || i == PLAIN)
            series[figure->series_count++] = (struct assay__figure_series){.name = names[i],
                                                                           .x = p.x[i],
                                                                           .y = p.y[i],
                                                                           .count = p.counts[i],
                                                                           .faint = i == WARMUP};
    figure->y_log = sorted[0] > 0 && sorted[count - 1] > 20 * sorted[0];
    figure->y_zero = !figure->y_log && sorted[0] < 0.5 * sorted[count - 1];
    describe_samples(&p, trial, arena, figure);
    return figure->description ? 0 : assay__figure_no_memory(error);
}

int assay__figure_samples(struct assay__study *study, const struct assay__trial *trial, size_t part,
                          struct assay__arena *arena, struct assay__figure *figure,
                          struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    size_t count = 0;
    double *sorted = part ? NULL : collect(trial, &count);
    int code;
    if (!part && !sorted && sample_count(trial))
        code = assay__figure_no_memory(error);
    else if (count < 2)
        code = assay_error_set(error, ASSAY_ENOTFOUND,
                               count
                                   ? "the profile holds 1 sample of it; a picture needs at least 2"
                                   : "the profile holds no samples of it");
    else
        code = make_samples(trial, sorted, count, arena, figure, error);
    if (!code) figure->title = assay__figure_title(arena, profile, trial, "Every sample");
    free(sorted);
    return code;
}
