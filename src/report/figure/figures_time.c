/* figures_time.c - what was read over time: memory of the worker, power, temperature, clocks; and
 * the live activations over the layers in their order. Parts that a profile lacks are skipped; if
 * there is none, the reason is that of the first channel that could not be read. At most LINES
 * series share a picture, those with the largest means; a note counts the others. */
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
    bool live = strcmp(series->quantity, "power") != 0; /* a constant 0 W is not a reading */
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

/* A power channel whose name lacks its rail shows both, because metrics are named by rail:
 * "power.battery (system)". */
static const char *name_of(struct assay__sketch *k, const struct assay__series_info *from)
{
    bool both = from->rail && *from->rail && strncmp(from->name, "power.", 6) == 0 &&
                !strstr(from->name, from->rail);
    return both ? assay__sketch_printf(k, "%s (%s)", from->name, from->rail) : from->name;
}

/* Everything is shown from the first reading or span on. */
static void add_series(struct assay__sketch *k, const struct assay__series_info *from)
{
    struct assay__points p = {.x = assay__figure_values(k->arena, from->count),
                              .count = from->count};
    if (!p.x) k->failed = true;
    for (size_t i = 0; p.x && i < from->count; i++)
        p.x[i] = from->times_ns[i] * 1e-9;
    if (p.x) assay__sketch_add(k, name_of(k, from), &p)->y = from->values;
}

/* Adjacent windows are drawn as one. */
static void add_spans(struct assay__sketch *k, int launch)
{
    struct assay__figure_span *spans = assay__arena_array(k->arena, SPANS, sizeof *spans);
    size_t count = 0;
    if (!spans) k->failed = true;
    for (size_t i = 0; spans && i < k->trial->span_count && count < SPANS; i++) {
        const struct assay__span *span = &k->trial->spans[i];
        double begin = span->begin_ns * 1e-9, end = span->end_ns * 1e-9;
        if (launch && span->launch != launch) continue;
        if (count && strcmp(spans[count - 1].name, span->kind) == 0 &&
            begin - spans[count - 1].end < 0.05)
            spans[count - 1].end = end;
        else
            spans[count++] = (struct assay__figure_span){begin, end, span->kind};
    }
    k->figure->spans = spans;
    k->figure->span_count = count;
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

/* "power.package from 3.1 W to 12.0 W" */
static const char *describe(struct assay__sketch *k)
{
    struct assay__buf text = {0};
    for (size_t s = 0; s < k->figure->series_count; s++) {
        const struct assay__figure_series *series = &k->figure->series[s];
        double low = NAN, high = NAN;
        for (size_t i = 0; i < series->count; i++)
            if (isfinite(series->y[i]))
                low = fmin(low, series->y[i]), high = fmax(high, series->y[i]);
        assay__buf_printf(&text, "%s%s from %s to %s", s ? "; " : "", series->name,
                          assay__scaled(low, k->figure->y_unit).text,
                          assay__scaled(high, k->figure->y_unit).text);
    }
    assay__buf_putc(&text, '.');
    return assay__sketch_take(k, &text);
}

struct kind {
    const char *figure, *title, *y_title;
    bool y_zero;
    wanted_fn *wanted;
    const char *caption;
};

static int make_kind(struct assay__sketch *k, const struct kind *kind)
{
    const struct assay__trial *trial = k->trial;
    const struct assay__series_info **found = assay__arena_array(k->arena, trial->series_count + 1,
                                                                 sizeof *found);
    size_t count = 0;
    int launch = -1;
    if (!found) k->failed = true;
    for (size_t i = 0; found && i < trial->series_count; i++) {
        const struct assay__series_info *series = &trial->series[i];
        if (!kind->wanted(series) || !has_values(series)) continue;
        if (launch < 0) launch = series->launch; /* of several launches the first */
        if (series->launch == launch) found[count++] = series;
    }
    if (!count) return k->failed ? assay__sketch_end(k) : ASSAY_ENOTFOUND;
    qsort(found, count, sizeof *found, by_mean);
    size_t shown = count < LINES ? count : LINES;
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_LINES, kind->figure,
                                                  kind->title);
    for (size_t i = 0; i < shown; i++)
        add_series(k, found[i]);
    add_spans(k, launch);
    f->x_title = "time since the run began", f->x_unit = "s";
    f->y_title = kind->y_title, f->y_unit = found[0]->unit, f->y_zero = kind->y_zero;
    f->caption = kind->caption;
    if (count > shown)
        f->note = assay__sketch_printf(k, "%zu more %s in the profile.", count - shown,
                                       count - shown == 1 ? "is" : "are");
    f->description = k->failed ? "" : describe(k);
    return assay__sketch_end(k);
}

/* Why none of it could be read: the note of the first such channel. */
static const char *reason_of(const struct assay__trial *trial, wanted_fn *wanted)
{
    for (size_t i = 0; i < trial->series_count; i++)
        if (wanted(&trial->series[i]) && trial->series[i].state == ASSAY_UNAVAILABLE &&
            trial->series[i].note[0])
            return trial->series[i].note;
    return NULL;
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool is_memory(const struct assay__series_info *series)
{
    return strcmp(series->name, "memory.rss.worker") == 0 ||
           strcmp(series->name, "memory.pss.worker") == 0 ||
           strncmp(series->name, "memory.device.", 14) == 0;
}

int assay__figure_live(struct assay__sketch *k, const double *live_bytes, size_t count,
                       size_t *peak)
{
    struct assay__points p;
    size_t known = 0;
    *peak = 0;
    if (!assay__sketch_points(k, &p, count, 0)) return assay__sketch_end(k);
    for (; p.count < count; p.count++) {
        double live = p.y[p.count] = live_bytes[p.count];
        p.x[p.count] = (double)p.count;
        known += isfinite(live);
        if (isfinite(live) && !(live <= live_bytes[*peak])) *peak = p.count;
    }
    if (known < 2) return ASSAY_ENOTFOUND;
    struct assay__figure *f = assay__sketch_begin(k, ASSAY__FIGURE_LINES, "memory", "");
    f->x_title = "layer, in execution order", f->x_unit = "count";
    f->y_title = "live activations", f->y_unit = "B", f->y_zero = true;
    assay__sketch_add(k, "live activations", &p)->steps = true;
    assay__sketch_mark(
        k, true, (double)*peak,
        assay__sketch_printf(k, "peak %s", assay__scaled(live_bytes[*peak], "B").text));
    f->caption = "Memory taken by activations while each layer runs, from a liveness analysis of "
                 "the graph. The run needs at least the peak, plus its weights.";
    return assay__sketch_end(k);
}

static int make_live(struct assay__sketch *k)
{
    const struct assay__layers *layers = &k->trial->layers;
    double *live_bytes = assay__figure_values(k->arena, layers->count);
    size_t peak = 0;
    if (!live_bytes) k->failed = true;
    if (k->failed) return assay__sketch_end(k);
    for (size_t i = 0; i < layers->count; i++)
        live_bytes[i] = layers->items[i].live_bytes;
    int code = assay__figure_live(k, live_bytes, layers->count, &peak);
    if (code) return code;
    k->figure->title = assay__sketch_title(k, "Live activations by layer");
    k->figure->description = assay__sketch_printf(
        k, "Peak %s, at layer %d, %s.", assay__scaled(live_bytes[peak], "B").text,
        layers->items[peak].index,
        assay__sketch_short(k, assay__layer_title(&layers->items[peak])));
    return assay__sketch_end(k);
}

int assay__figure_memory(struct assay__sketch *k, size_t part)
{
    static const struct kind worker = {
        "memory",
        "Memory over time",
        "memory",
        true,
        is_memory,
        "Memory held by the worker process; the marked time is when the latency was measured."};
    int code = assay__figure_bands(k);
    if (code == ASSAY_ENOTFOUND) code = make_live(k); /* the engine's graph is not known */
    if (code == 0 && part == 0) return 0;
    if (code == 0) part--;
    if (code == 0 || code == ASSAY_ENOTFOUND) code = part ? ASSAY_ENOTFOUND : make_kind(k, &worker);
    if (code != ASSAY_ENOTFOUND) return code;
    const char *reason = reason_of(k->trial, is_memory);
    return assay__sketch_none(k,
                              reason ? reason : "no layer has live bytes, and no memory was read");
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
     "The area below a line is energy; what exceeds the idle level is due to the run."},
    {"power", "Temperature over time", "temperature", false, is_temperature,
     "A line that still rises at the end means that the machine had not reached its steady "
     "temperature."},
    {"power", "Clocks over time", "clock", false, is_clock,
     "A falling line shows a processor slowing down because of heat or a power limit."},
    {"power", "Inferences per second over time", "inferences per second", true, is_throughput,
     "A falling line shows a run that slows down."},
    {"power", "Inferences per joule over time", "inferences per joule", true, is_efficiency,
     "A falling line shows a run that needs more energy for the same work."},
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

int assay__figure_power(struct assay__sketch *k, size_t part)
{
    size_t before = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        int code = make_kind(k, &kinds[i]);
        if (code == ASSAY_ENOTFOUND) continue;
        if (!code) k->figure->small = before > 0;
        if (code || before++ == part) return code;
    }
    const char *reason = reason_of(k->trial, is_sensor);
    const struct assay_metric *power = assay_metrics_get(k->trial->metrics, "power.average");
    if (sensors_asked(k->trial) && power && power->state == ASSAY_UNAVAILABLE && power->note &&
        power->note[0])
        reason = power->note;
    return assay__sketch_none(k, reason ? reason : "no sensor was read");
}
