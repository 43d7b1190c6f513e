/* figures_latency.c - the latency of a trial: a histogram, its cumulative distribution, and every
 * sample in order. A page shows them side by side, the first two over one range.
 *
 * Histogram: the samples within Tukey's far fences, [q1 - 3 IQR, q3 + 3 IQR]; samples outside are
 * counted and mentioned in a note, so that one stray sample does not flatten the picture; so is a
 * percentile outside, since its mark would stretch the axis. Bin width: the range over the columns,
 * rounded up to a whole number of clock steps, since narrower bins would alias with the clock.
 * Samples: warm-up as the profile has it; outliers by hyperfine's rule, |x - median| / MAD
 * > 14.826; two modes where base/stats.h finds them. */
#include "report/figure/figures.h"

#include "base/stats.h"

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

double *assay__figure_sorted_samples(const struct assay__trial *trial, size_t *count)
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

/* A clock that ticks every 10.02 ns gives samples 10 ns apart, each blurred by 1 ns because both
 * ends are rounded to whole nanoseconds: the smallest gap is then 1 ns and not the step. If the
 * samples cluster at a few such values, this is the mean distance between neighbouring values;
 * otherwise 0. */
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

/* "12 slower, up to 3.1 ms, p99 at 2.9 ms (outside the chart)" */
static const char *outside(struct assay__sketch *k, const struct bins *b, const double *sorted,
                           size_t count, struct assay__buf *percentiles)
{
    struct assay__buf text = {0};
    if (b->below)
        assay__buf_printf(&text, "%s faster, down to %s",
                          assay__scaled((double)b->below, "count").text,
                          assay__scaled(sorted[0] * 1e-9, "s").text);
    if (b->above)
        assay__buf_printf(&text, "%s%s slower, up to %s", b->below ? "; " : "",
                          assay__scaled((double)b->above, "count").text,
                          assay__scaled(sorted[count - 1] * 1e-9, "s").text);
    if (text.length)
        assay__buf_printf(&text, "%s (outside the chart)", assay__buf_text(percentiles));
    assay__buf_drop(percentiles, &text);
    return assay__sketch_take(k, &text);
}

/* --- histogram -------------------------------------------------------------------------------- */

/* The metric, which is what tables show; if it is unknown, the samples' own median. */
static double p50_of(const struct assay__sketch *k, double median_ns)
{
    const struct assay_metric *p50 = assay__trial_metric(k->trial, "latency.p50");
    return p50 ? p50->value : median_ns * 1e-9;
}

/* p50 first; the others only if there are enough samples. Those outside the chart are described in
 * `beyond`. */
static void add_marks(struct assay__sketch *k, double median_ns, const struct bins *b,
                      struct assay__buf *beyond)
{
    static const char *const names[][2] = {{"latency.p95", "p95"}, {"latency.p99", "p99"}};
    double end = b->low + b->width * (double)b->count;
    assay__sketch_mark(k, true, p50_of(k, median_ns), "p50");
    for (size_t i = 0; i < 2; i++) {
        const struct assay_metric *metric = assay__trial_metric(k->trial, names[i][0]);
        if (!metric) continue;
        if (metric->value * 1e9 < b->low || metric->value * 1e9 > end)
            assay__buf_printf(beyond, ", %s at %s", names[i][1],
                              assay__scaled(metric->value, "s").text);
        else
            assay__sketch_mark(k, true, metric->value, names[i][1]);
    }
}

/* Shades where p50 may lie: its 95 % interval, or, if there are too few launches for one, the range
 * of their medians. */
static void add_interval(struct assay__sketch *k)
{
    struct assay__median_interval interval = assay__trial_interval(k->trial);
    struct assay__figure_span *span = assay__arena_array(k->arena, 1, sizeof *span);
    if (!span) k->failed = true;
    if (!span) return;
    *span = (struct assay__figure_span){interval.low_s, interval.high_s, "95 % interval of p50"};
    if (!(span->end > span->begin)) {
        span->name = "launch medians";
        for (size_t i = 0; i < k->trial->launch_count; i++) {
            span->begin = fmin(span->begin, k->trial->launches[i].p50_ns * 1e-9);
            span->end = fmax(span->end, k->trial->launches[i].p50_ns * 1e-9);
        }
    }
    k->figure->spans = span;
    k->figure->span_count = span->end > span->begin;
}

static const char *describe(struct assay__sketch *k, const double *sorted, size_t count,
                            double median_ns)
{
    return assay__sketch_printf(k, "%s samples from %s to %s, p50 %s.",
                                assay__scaled((double)count, "count").text,
                                assay__scaled(sorted[0] * 1e-9, "s").text,
                                assay__scaled(sorted[count - 1] * 1e-9, "s").text,
                                assay__scaled(p50_of(k, median_ns), "s").text);
}

static int make_histogram(struct assay__sketch *k, const double *sorted, size_t count,
                          const struct bins *b)
{
    struct assay__points p;
    struct assay__buf beyond = {0};
    double median_ns = assay__stats_median(sorted, count);
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_HISTOGRAM, "latency",
                                                  "Histogram");
    if (!assay__sketch_points(k, &p, b->count, 0)) return assay__sketch_end(k);
    for (size_t i = 0; i <= b->count; i++)
        p.x[i] = fmax(0, b->low + b->width * (double)i) * 1e-9;
    for (p.count = 0; p.count < b->count; p.count++)
        p.y[p.count] = (double)b->counts[p.count];
    assay__sketch_add(k, "samples", &p);
    if (k->failed) return assay__sketch_end(k);
    f->x_title = "latency", f->x_unit = "s";
    f->y_title = "inferences", f->y_unit = "count", f->y_zero = true;
    add_marks(k, median_ns, b, &beyond);
    add_interval(k);
    f->caption =
        k->trial->launch_count > 1
            ? "Bar height: number of inferences; p50 is the median of the launches' medians."
            : "Bar height: number of inferences; half of them were faster than p50.";
    f->description = describe(k, sorted, count, median_ns);
    f->note = outside(k, b, sorted, count, &beyond);
    f->small = true;
    return assay__sketch_end(k);
}

/* --- cumulative distribution ------------------------------------------------------------------ */

/* The sample of some ranks and the share that took no longer; those outside the chart are left
 * out. */
static void add_curve(struct assay__sketch *k, const char *name, const double *sorted, size_t count,
                      const struct bins *b)
{
    enum { RANKS = 200 };
    size_t ranks = count < RANKS ? count : RANKS;
    struct assay__points p;
    if (!assay__sketch_points(k, &p, ranks, 0)) return;
    for (size_t i = 0; i < ranks; i++) {
        size_t rank = ranks > 1 ? i * (count - 1) / (ranks - 1) : 0;
        if (sorted[rank] < b->low || sorted[rank] > b->high) continue;
        p.x[p.count] = sorted[rank] * 1e-9;
        p.y[p.count++] = (double)(rank + 1) / (double)count;
    }
    assay__sketch_add(k, name, &p)->joined = true;
}

/* One thin line for each of the first launches. */
static void add_launch_curves(struct assay__sketch *k, const struct bins *b)
{
    enum { CURVES = 6 };
    const struct assay__trial *all = k->trial;
    for (size_t i = 0, curves = 0; i < all->launch_count && curves < CURVES; i++) {
        struct assay__trial alone = {.launches = &all->launches[i], .launch_count = 1};
        size_t count = 0;
        double *sorted = assay__figure_sorted_samples(&alone, &count);
        size_t before = k->figure->series_count;
        if (!sorted && sample_count(&alone)) k->failed = true;
        if (count >= LEAST_SAMPLES) add_curve(k, curves ? "" : "each launch", sorted, count, b);
        if (k->figure->series_count > before) {
            k->figure->series[before].faint = true;
            curves++;
        }
        free(sorted);
    }
}

static int make_curve(struct assay__sketch *k, const double *sorted, size_t count,
                      const struct bins *b)
{
    double median_ns = assay__stats_median(sorted, count);
    struct assay__buf beyond = {0};
    bool several = k->trial->launch_count > 1;
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_SCATTER, "cdf",
                                                  "Cumulative distribution");
    f->x_title = "latency", f->x_unit = "s";
    f->y_title = "inferences that took no longer", f->y_unit = "ratio", f->y_zero = true;
    add_curve(k, several ? "all launches" : "samples", sorted, count, b);
    if (several) add_launch_curves(k, b);
    add_marks(k, median_ns, b, &beyond);
    add_interval(k);
    f->caption = "Height: the share of inferences that took no longer. The steeper, the steadier.";
    f->description = describe(k, sorted, count, median_ns);
    size_t beside = b->below + b->above; /* the note of the histogram says how far */
    if (beside)
        f->note = assay__sketch_printf(k, "%s %% are outside the picture.",
                                       assay__digits(100 * (double)beside / (double)count, 2).text);
    assay__buf_free(&beyond);
    f->small = true;
    return assay__sketch_end(k);
}

/* --- both ------------------------------------------------------------------------------------- */

typedef int make_fn(struct assay__sketch *k, const double *sorted, size_t count,
                    const struct bins *b);

static int make_distribution(struct assay__sketch *k, size_t part, make_fn *make)
{
    if (part) return assay__sketch_none(k, "there is only one");
    size_t count = 0;
    double *sorted = assay__figure_sorted_samples(k->trial, &count);
    struct bins *b = calloc(1, sizeof *b);
    int code;
    k->failed = !b || (!sorted && sample_count(k->trial));
    if (k->failed)
        code = assay__sketch_end(k);
    else if (count < LEAST_SAMPLES)
        code = assay_error_set(k->error, ASSAY_ENOTFOUND,
                               "%zu sample%s too few for a distribution (at least %d)", count,
                               count == 1 ? " is" : "s are", LEAST_SAMPLES);
    else if (!fill(b, sorted, count, BINS))
        code = assay__sketch_none(k, "all samples are equal");
    else
        code = make(k, sorted, count, b);
    free(b);
    free(sorted);
    return code;
}

int assay__figure_latency(struct assay__sketch *k, size_t part)
{
    return make_distribution(k, part, make_histogram);
}

int assay__figure_cdf(struct assay__sketch *k, size_t part)
{
    return make_distribution(k, part, make_curve);
}

/* --- every sample ----------------------------------------------------------------------------- */

enum { PLAIN, OUTLIER, WARMUP, CLASSES }; /* the order of their colours */

struct placed {
    struct assay__points points[CLASSES]; /* without arrays: they are only counted */
    double median, mad;
};

static void place(struct placed *p, double index, double sample_ns, bool warmup)
{
    bool outlier = p->mad > 0 && fabs(sample_ns - p->median) / p->mad > 14.826;
    struct assay__points *points = &p->points[warmup ? WARMUP : outlier ? OUTLIER : PLAIN];
    size_t at = points->count++;
    if (!points->x) return;
    points->x[at] = index;
    points->y[at] = sample_ns * 1e-9;
}

/* Launches follow each other along the axis; streams of one launch overlap. */
static void place_all(struct assay__sketch *k, struct placed *p)
{
    enum { MARKS_MOST = 12 };
    size_t begin = 0, left = sample_count(k->trial);
    for (size_t i = 0; i < k->trial->launch_count; i++) {
        const struct assay__launch *l = &k->trial->launches[i];
        size_t longest = 0;
        for (size_t s = 0; l->samples_ns && s < stream_count(l); s++) {
            size_t first, end;
            stream_range(l, s, &first, &end);
            for (size_t at = first; at < end && left > 0; at++, left--)
                if (isfinite(l->samples_ns[at]))
                    place(p, (double)(begin + at - first), l->samples_ns[at],
                          at - first < l->warmup);
            if (end > first && end - first > longest) longest = end - first;
        }
        if (begin && longest && p->points[PLAIN].x && k->figure->mark_count < MARKS_MOST)
            assay__sketch_mark(k, true, (double)begin, assay__sketch_printf(k, "launch %d", l->id));
        begin += longest;
    }
}

static void mark_levels(struct assay__sketch *k, const struct placed *p, const double *sorted,
                        size_t count)
{
    double low, high, share;
    if (!assay__stats_bimodal(sorted, count, 0, &low, &high, &share)) {
        assay__sketch_mark(k, false, p50_of(k, p->median), "p50");
        return;
    }
    assay__sketch_mark(k, false, low * 1e-9,
                       assay__sketch_printf(k, "lower mode, %.0f %%", (1 - share) * 100));
    assay__sketch_mark(k, false, high * 1e-9,
                       assay__sketch_printf(k, "upper mode, %.0f %%", share * 100));
}

static void describe_samples(struct assay__sketch *k, const struct placed *p)
{
    const struct assay__trial *trial = k->trial;
    size_t warm = p->points[WARMUP].count, outliers = p->points[OUTLIER].count;
    k->figure->x_title = "inference", k->figure->x_unit = "count";
    k->figure->y_title = "latency", k->figure->y_unit = "s";
    k->figure->caption = "Each point is one inference, in order; grey ones are warm-up and not "
                         "counted. A flat cloud means a steady machine.";
    k->figure->description = assay__sketch_printf(
        k, "%s samples around %s in %zu launch%s, %s found to be warm-up, %s outlier%s.",
        assay__scaled((double)(p->points[PLAIN].count + outliers), "count").text,
        assay__scaled(p->median * 1e-9, "s").text, trial->launch_count,
        trial->launch_count == 1 ? "" : "es",
        warm ? assay__scaled((double)warm, "count").text : "none",
        outliers ? assay__scaled((double)outliers, "count").text : "no",
        assay__plural((double)outliers));
    double prerun = assay__trial_value(trial, "latency.warmup"); /* less those found in the data */
    for (size_t i = 0; i < trial->launch_count; i++)
        prerun -= trial->launches[i].sample_count ? (double)trial->launches[i].warmup : 0;
    if (prerun > 0)
        k->figure->note = assay__sketch_printf(
            k, "%s inference%s of the pre-run, before measuring, %s not recorded.",
            assay__scaled(prerun, "count").text, assay__plural(prerun),
            prerun > 1 ? "were" : "was");
}

static int make_samples(struct assay__sketch *k, const double *sorted, size_t count)
{
    static const char *const names[] = {"samples", "outliers", "warm-up"};
    struct placed p = {.median = assay__stats_median(sorted, count)};
    double *scratch = malloc((count + 1) * sizeof *scratch);
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_SCATTER, "samples",
                                                  "Every sample");
    if (!scratch) k->failed = true;
    if (scratch) p.mad = assay__stats_mad(sorted, count, p.median, scratch);
    free(scratch);
    place_all(k, &p);
    for (int i = 0; i < CLASSES && !k->failed; i++)
        assay__sketch_points(k, &p.points[i], p.points[i].count, 0);
    if (k->failed) return assay__sketch_end(k);
    place_all(k, &p);
    mark_levels(k, &p, sorted, count);
    for (int i = 0; i < CLASSES; i++)
        assay__sketch_add(k, names[i], &p.points[i])->faint = i == WARMUP;
    f->y_log = sorted[0] > 0 && sorted[count - 1] > 20 * sorted[0];
    f->y_zero = !f->y_log && sorted[0] < 0.5 * sorted[count - 1];
    describe_samples(k, &p);
    f->small = true;
    return assay__sketch_end(k);
}

int assay__figure_samples(struct assay__sketch *k, size_t part)
{
    size_t count = 0;
    double *sorted = part ? NULL : assay__figure_sorted_samples(k->trial, &count);
    int code;
    k->failed = !part && !sorted && sample_count(k->trial);
    if (k->failed)
        code = assay__sketch_end(k);
    else if (count < 2)
        code = assay__sketch_none(k, count ? "the trial has 1 sample; a chart needs at least 2"
                                           : "the trial has no samples");
    else
        code = make_samples(k, sorted, count);
    free(sorted);
    return code;
}
