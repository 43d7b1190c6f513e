/* figures_time.c - what was read over time: memory of the worker, power, temperature, clocks; and
 * the live activations over the layers in their order. Parts that a profile does not have are
 * passed over; when there is none, the reason is that of the first channel that could not be read.
 * At most LINES series share a picture, those with the greatest values; how many more there are is
 * said. */
#include "judge/review.h"
#include "report/figure/figures.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINES 6
#define SPANS 64

static bool has_values(const struct assay__series_info *series)
{
    size_t known = 0;
    bool live = strcmp(series->quantity, "power") != 0; /* a constant 0 W is no reading */
    if (series->state == ASSAY_UNAVAILABLE || !series->values || !series->times_ns) return false;
    for (size_t i = 0; i < series->count && (known < 2 || !live); i++) {
        if (!isfinite(series->values[i]) || !isfinite(series->times_ns[i])) continue;
        known++;
        live |= series->values[i] != 0;
    }
    return known > 1 && live;
}

static double mean_of(const struct assay__series_info *series)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < series->count; i++)
        if (isfinite(series->values[i])) sum += series->values[i], count++;
    return count > 0 ? sum / count : 0;
}

/* A channel of power that is called otherwise than its rail says both, as the metrics are of the
 * rail: "power.battery (system)". */
static const char *name_of(const struct assay__series_info *from, struct assay__arena *arena)
{
    bool both = from->rail && *from->rail && strncmp(from->name, "power.", 6) == 0 &&
                !strstr(from->name, from->rail);
    return both ? assay__arena_printf(arena, "%s (%s)", from->name, from->rail) : from->name;
}

/* Begin of the time axis: everything is shown from the first reading or span on. */
static bool to_series(const struct assay__series_info *from, struct assay__arena *arena,
                      struct assay__figure_series *out)
{
    double *x = assay__figure_values(arena, from->count);
    const char *name = name_of(from, arena);
    if (!x || !name) return false;
    for (size_t i = 0; i < from->count; i++)
        x[i] = from->times_ns[i] * 1e-9;
    *out = (struct assay__figure_series){
        .name = name, .x = x, .y = from->values, .count = from->count};
    return true;
}

/* Windows follow each other at once: drawn as one. */
static void add_spans(const struct assay__trial *trial, int launch, struct assay__arena *arena,
                      struct assay__figure *figure)
{
    struct assay__figure_span *spans = assay__arena_array(arena, SPANS, sizeof *spans);
    size_t count = 0;
    for (size_t i = 0; spans && i < trial->span_count && count < SPANS; i++) {
        const struct assay__span *span = &trial->spans[i];
        double begin = span->begin_ns * 1e-9, end = span->end_ns * 1e-9;
        if (launch && span->launch != launch) continue;
        if (count && strcmp(spans[count - 1].name, span->kind) == 0 &&
            begin - spans[count - 1].end < 0.05)
            spans[count - 1].end = end;
        else
            spans[count++] = (struct assay__figure_span){begin, end, span->kind};
    }
    figure->spans = spans;
    figure->span_count = count;
}

static int by_mean(const void *left, const void *right)
{
    const struct assay__series_info *a = *(const struct assay__series_info *const *)left,
                                    *b = *(const struct assay__series_info *const *)right;
    double x = mean_of(a), y = mean_of(b);
    if (x != y) return x < y ? 1 : -1;
    return strcmp(a->name, b->name);
}

typedef bool wanted_fn(const struct assay__series_info *series);

static int make_lines(const struct assay__trial *trial, wanted_fn *wanted,
                      struct assay__arena *arena, struct assay__figure *figure,
                      struct assay_error *error)
{
    const struct assay__series_info **found = assay__arena_array(arena, trial->series_count + 1,
                                                                 sizeof *found);
    size_t count = 0;
    int launch = -1;
    if (!found) return assay__figure_no_memory(error);
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *series = &trial->series[i];
        if (!wanted(series) || !has_values(series)) continue;
        if (launch < 0) launch = series->launch; /* of several launches the first */
        if (series->launch == launch) found[count++] = series;
    }
    if (!count) return ASSAY_ENOTFOUND;
    qsort(found, count, sizeof *found, by_mean);
    size_t shown = count < LINES ? count : LINES;
    figure->series = assay__arena_array(arena, shown, sizeof *figure->series);
    if (!figure->series) return assay__figure_no_memory(error);
    for (size_t i = 0; i < shown; i++)
        if (!to_series(found[i], arena, &figure->series[i])) return assay__figure_no_memory(error);
    figure->series_count = shown;
    figure->x_title = "time since the run began", figure->x_unit = "s";
    figure->y_unit = found[0]->unit;
    if (count > shown)
        figure->note = assay__arena_printf(arena, "%zu more %s in the profile.", count - shown,
                                           count - shown == 1 ? "is" : "are");
    add_spans(trial, launch, arena, figure);
    return figure->note && figure->spans ? 0 : assay__figure_no_memory(error);
}

/* "power.package from 3.1 W to 12.0 W" */
static int describe(struct assay__arena *arena, struct assay__figure *figure,
                    struct assay_error *error)
{
    struct assay__buf text = {0};
    for (size_t s = 0; s < figure->series_count; s++) {
        const struct assay__figure_series *series = &figure->series[s];
        double low = NAN, high = NAN;
        for (size_t i = 0; i < series->count; i++) {
            if (!isfinite(series->y[i])) continue;
            low = fmin(low, series->y[i]), high = fmax(high, series->y[i]);
        }
        assay__buf_printf(&text, "%s%s from %s to %s", s ? "; " : "", series->name,
                          assay__figure_scaled(arena, low, figure->y_unit),
                          assay__figure_scaled(arena, high, figure->y_unit));
    }
    assay__buf_putc(&text, '.');
    figure->description = text.failed ? NULL : assay__arena_strdup(arena, text.data);
    assay__buf_free(&text);
    return figure->description ? 0 : assay__figure_no_memory(error);
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool is_memory(const struct assay__series_info *series)
{
    return strcmp(series->name, "memory.rss.worker") == 0 ||
           strcmp(series->name, "memory.pss.worker") == 0 ||
           strncmp(series->name, "memory.device.", 14) == 0;
}

int assay__figure_live(struct assay__arena *arena, const double *live_bytes, size_t count,
                       struct assay__figure *figure, size_t *peak, struct assay_error *error)
{
    double *x = assay__figure_values(arena, count);
    struct assay__figure_series *series = assay__arena_array(arena, 1, sizeof *series);
    struct assay__figure_mark *mark = assay__arena_array(arena, 1, sizeof *mark);
    size_t known = 0;
    if (!x || !series || !mark) return assay__figure_no_memory(error);
    *peak = 0;
    for (size_t i = 0; i < count; i++) {
        x[i] = (double)i;
        known += isfinite(live_bytes[i]);
        if (isfinite(live_bytes[i]) && !(live_bytes[i] <= live_bytes[*peak])) *peak = i;
    }
    if (known < 2) return ASSAY_ENOTFOUND;
    const char *most = assay__figure_scaled(arena, live_bytes[*peak], "B");
    *series = (struct assay__figure_series){
        .name = "live activations", .x = x, .y = live_bytes, .count = count, .steps = true};
    *mark = (struct assay__figure_mark){true, x[*peak],
                                        assay__arena_printf(arena, "peak %s", most)};
    *figure = assay__figure_begin(ASSAY__FIGURE_LINES, "memory");
    figure->x_title = "layer, in execution order", figure->x_unit = "count";
    figure->y_title = "live activations", figure->y_unit = "B", figure->y_zero = true;
    figure->series = series, figure->series_count = 1;
    figure->marks = mark, figure->mark_count = 1;
    figure->caption = "The height is what activations take while that layer runs, by the liveness "
                      "of the graph; the peak is what the run needs at least beside its weights.";
    return mark->text ? 0 : assay__figure_no_memory(error);
}

static int make_live(const struct assay_profile *profile, const struct assay__trial *trial,
                     struct assay__arena *arena, struct assay__figure *figure,
                     struct assay_error *error)
{
    const struct assay__layers *layers = &trial->layers;
    double *live_bytes = assay__figure_values(arena, layers->count);
    size_t peak = 0;
    if (!live_bytes) return assay__figure_no_memory(error);
    for (size_t i = 0; i < layers->count; i++)
        live_bytes[i] = layers->items[i].live_bytes;
    int code = assay__figure_live(arena, live_bytes, layers->count, figure, &peak, error);
    if (code) return code;
    figure->title = assay__figure_title(arena, profile, trial, "Live activations by layer");
    figure->description = assay__arena_printf(
        arena, "%s at most, at layer %d, %s.", assay__figure_scaled(arena, live_bytes[peak], "B"),
        layers->items[peak].index,
        assay__figure_short(arena, assay__layer_title(&layers->items[peak])));
    return figure->description ? 0 : assay__figure_no_memory(error);
}

/* --- over time -------------------------------------------------------------------------------- */

struct kind {
    const char *figure, *title, *y_title;
    bool y_zero;
    wanted_fn *wanted;
    const char *caption;
};

static int make_kind(const struct kind *kind, const struct assay_profile *profile,
                     const struct assay__trial *trial, struct assay__arena *arena,
                     struct assay__figure *figure, struct assay_error *error)
{
    *figure = assay__figure_begin(ASSAY__FIGURE_LINES, kind->figure);
    figure->title = assay__figure_title(arena, profile, trial, kind->title);
    figure->y_title = kind->y_title, figure->y_zero = kind->y_zero;
    figure->caption = kind->caption;
    int code = make_lines(trial, kind->wanted, arena, figure, error);
    return code ? code : describe(arena, figure, error);
}

/* Why nothing of it could be read: the note of the first such channel. */
static const char *reason_of(const struct assay__trial *trial, wanted_fn *wanted)
{
    for (size_t i = 0; i < trial->series_count; i++)
        if (wanted(&trial->series[i]) && trial->series[i].state == ASSAY_UNAVAILABLE &&
            trial->series[i].note[0])
            return trial->series[i].note;
    return NULL;
}

int assay__figure_memory(struct assay__study *study, const struct assay__trial *trial, size_t part,
                         struct assay__arena *arena, struct assay__figure *figure,
                         struct assay_error *error)
{
    static const struct kind worker = {"memory",
                                       "Memory over time",
                                       "memory",
                                       true,
                                       is_memory,
                                       "The height is what the worker process held; marked is the "
                                       "time in which the latency was measured."};
    const struct assay_profile *profile = study->profile;
    int code = make_live(profile, trial, arena, figure, error);
    if (code == 0 && part == 0) return 0;
    if (code == 0) part--;
    if (code == 0 || code == ASSAY_ENOTFOUND)
        code = part ? ASSAY_ENOTFOUND : make_kind(&worker, profile, trial, arena, figure, error);
    if (code != ASSAY_ENOTFOUND) return code;
    const char *reason = reason_of(trial, is_memory);
    return assay_error_set(error, code, "%s",
                           reason ? reason : "no layer has live bytes and no memory was read");
}

/* --- power ------------------------------------------------------------------------------------ */

static bool is_power(const struct assay__series_info *series)
{
    return strcmp(series->quantity, "power") == 0;
}

static bool is_temperature(const struct assay__series_info *series)
{
    return strcmp(series->quantity, "temperature") == 0;
}

static bool is_clock(const struct assay__series_info *series)
{
    return strcmp(series->quantity, "clock") == 0;
}

static bool is_sensor(const struct assay__series_info *series)
{
    return is_power(series) || is_temperature(series) || is_clock(series) ||
           strcmp(series->quantity, "energy") == 0;
}

static bool is_throughput(const struct assay__series_info *series)
{
    return strcmp(series->name, "throughput.inferences") == 0;
}

static bool is_efficiency(const struct assay__series_info *series)
{
    return strcmp(series->name, "efficiency.inferences_per_joule") == 0;
}

static const struct kind kinds[] = {
    {"power", "Power over time", "power", true, is_power,
     "The height is the power drawn then; the area below a line is energy, and what stands above "
     "the idle level is the run's own."},
    {"power", "Temperature over time", "temperature", false, is_temperature,
     "A line that still climbs at the end means that the machine was not yet at its steady "
     "temperature."},
    {"power", "Clocks over time", "clock", false, is_clock,
     "A line that falls while the run goes on is a processor that slows down, by heat or by a "
     "limit of power."},
    {"power", "Inferences per second over time", "inferences per second", true, is_throughput,
     "A line that falls is a run that slows down."},
    {"power", "Inferences per joule over time", "inferences per joule", true, is_efficiency,
     "A line that falls is a run that needs more energy for the same work."},
};

/* The worker's own series do not come from sensors. */
static bool sensors_asked(const struct assay__trial *trial)
{
    static const char worker[] = ".worker";
    for (size_t i = 0; i < trial->series_count; i++) {
        const char *name = trial->series[i].name;
        size_t length = strlen(name), tail = sizeof worker - 1;
        if (!is_memory(&trial->series[i]) &&
            (length < tail || strcmp(name + length - tail, worker) != 0))
            return true;
    }
    return false;
}

int assay__figure_power(struct assay__study *study, const struct assay__trial *trial, size_t part,
                        struct assay__arena *arena, struct assay__figure *figure,
                        struct assay_error *error)
{
    const struct assay_profile *profile = study->profile;
    int code = ASSAY_ENOTFOUND;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        code = make_kind(&kinds[i], profile, trial, arena, figure, error);
        if (code == ASSAY_ENOTFOUND) continue;
        if (code || part-- == 0) return code;
        code = ASSAY_ENOTFOUND;
    }
    const char *reason = reason_of(trial, is_sensor);
    const struct assay_metric *power = assay_metrics_get(trial->metrics, "power.average");
    if (sensors_asked(trial) && power && power->state == ASSAY_UNAVAILABLE && power->note &&
        power->note[0])
        reason = power->note;
    return assay_error_set(error, code, "%s", reason ? reason : "no sensor was read");
}
