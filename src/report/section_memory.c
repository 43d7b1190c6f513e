/* section_memory.c - where the memory goes: one sentence, what each part takes, the worker over
 * time, the activations at their peak (section_peak.c), the layers by the bytes they move, then
 * what was allocated (section_allocations.c). A number that is not known is "—" with its reason. */
#include "report/figure/chart.h"
#include "report/section_allocations.h"
#include "report/section_peak.h"
#include "report/sections.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYERS_SHOWN 20

static const char *text_of(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

static const struct assay__series_info *series_of(const struct assay__trial *trial,
                                                  const char *name)
{
    for (size_t i = 0; i < trial->series_count; i++)
        if (strcmp(trial->series[i].name, name) == 0) return &trial->series[i];
    return NULL;
}

/* --- what takes how much ---------------------------------------------------------------------- */

/* "=9.12 MB predicted", an item of a row; nothing when it is not known. */
static void add_known(struct assay__buf *items, const struct assay__trial *trial, const char *name,
                      const char *before, const char *after)
{
    const struct assay_metric *metric = assay__trial_metric(trial, name);
    struct assay__buf value = {0};
    if (!metric) return;
    assay__render_metric(&value, metric);
    assay__page_item(items, "%s%s%s%s%s", before, *before ? " " : "", text_of(&value),
                     *after ? " " : "", after);
    assay__buf_free(&value);
}

/* The row, or the reason of `name` when nothing of it is known. */
static void put_row(struct assay__page *page, const struct assay__trial *trial, const char *label,
                    struct assay__buf *items, const char *name)
{
    if (!items->length) {
        const struct assay_metric *metric = assay_metrics_get(trial->metrics, name);
        assay__buf_printf(items, "— %s", metric && metric->note ? metric->note : "not measured");
    }
    assay__page_row(page, label, text_of(items));
    assay__buf_clear(items);
}

static double greatest(const struct assay__series_info *series)
{
    double most = NAN;
    for (size_t i = 0; series && series->values && i < series->count; i++)
        if (isfinite(series->values[i]) && !(series->values[i] <= most)) most = series->values[i];
    return most;
}

/* One reading alone is of the empty worker. */
static bool add_peak(struct assay__buf *items, const struct assay__trial *trial, const char *name,
                     const char *label)
{
    char scaled[64];
    const struct assay__series_info *series = series_of(trial, name);
    double most = greatest(series);
    if (!isfinite(most) || series->count < 2) return false;
    assay__text_scaled(scaled, sizeof scaled, most, "B");
    assay__page_item(items, "%s at most %s", label, scaled);
    return true;
}

static void put_parts(struct assay__page *page, const struct assay__trial *trial)
{
    struct assay__buf items = {0};
    add_known(&items, trial, "memory.model", "", "of weights");
    put_row(page, trial, "model", &items, "memory.model");
    add_known(&items, trial, "memory.activation.predicted", "", "alive at once, by the graph");
    put_row(page, trial, "activations", &items, "memory.activation.predicted");
    add_known(&items, trial, "memory.activation.arena", "", "in the engine's arena at most");
    add_known(&items, trial, "memory.arena.held", "", "held by it");
    if (items.length) assay__buf_puts(&items, "; weights that the engine copied may be in it");
    put_row(page, trial, "arena", &items, "memory.activation.arena");
    add_known(&items, trial, "memory.peak.worker", "", "beyond an empty worker");
    add_known(&items, trial, "memory.baseline.worker", "empty", "");
    add_peak(&items, trial, "memory.rss.worker", "RSS");
    if (!add_peak(&items, trial, "memory.pss.worker", "PSS"))
        add_known(&items, trial, "memory.pss.worker", "PSS", "at the end");
    put_row(page, trial, "worker", &items, "memory.peak.worker");
    add_known(&items, trial, "memory.peak.device", "", "at most");
    put_row(page, trial, "device", &items, "memory.peak.device");
    add_known(&items, trial, "memory.total", "", "");
    put_row(page, trial, "total", &items, "memory.total");
    add_known(&items, trial, "memory.bandwidth", "", "");
    add_known(&items, trial, "memory.bandwidth_utilization", "", "of the ceiling");
    const struct assay_metric *share = assay_metrics_get(trial->metrics,
                                                         "memory.bandwidth_utilization");
    if (items.length && share && share->state == ASSAY_UNAVAILABLE)
        assay__buf_printf(&items, " · ceiling — %s", share->note);
    put_row(page, trial, "bandwidth", &items, "memory.bandwidth");
    add_known(&items, trial, "cache.hit_rate", "", "of the references hit a cache");
    put_row(page, trial, "cache", &items, "cache.hit_rate");
    assay__buf_free(&items);
}

/* ", 12.0", ", 1,451" */
static void put_times(struct assay__buf *text, double times)
{
    assay__buf_puts(text, ", ");
    if (times < 1000)
        assay__buf_printf(text, "%s", assay__digits(times, 3).text);
    else
        assay__render_count(text, times < 1e15 ? (int64_t)llround(times) : INT64_MAX);
}

#define LONG_ENOUGH 1000 /* inferences behind which pools and caches have mostly filled */

/* A leak goes on for ever; who looked shortly saw growth, and no more. */
static void put_growing(struct assay__buf *text, const struct assay__allocations *a, double value)
{
    char part[64];
    int64_t before = 0, seen = 0;
    for (size_t i = 0; i < a->phase_count; i++) {
        if (strcmp(a->phases[i].name, "warm") == 0)
            seen = a->phases[i].inferences;
        else
            before += a->phases[i].inferences;
    }
    assay__text_scaled(part, sizeof part, fabs(value), "B");
    if (before + seen >= LONG_ENOUGH)
        assay__buf_printf(text, "; it %s by %s with every inference",
                          value > 0 ? "GROWS" : "shrinks", part);
    else
        assay__buf_printf(text,
                          "; it %s by %s with every one of inferences %lld to %lld: too few to "
                          "tell whether that goes on",
                          value > 0 ? "grew" : "shrank", part, (long long)before + 1,
                          (long long)(before + seen));
}

/* One sentence: what the run needs, and the largest part of it. */
static void put_answer(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay_metric *total = assay__trial_metric(trial, "memory.total"),
                              *model = assay__trial_metric(trial, "memory.model"),
                              *growth = assay__trial_metric(trial, "memory.growth");
    struct assay__buf text = {0};
    char scaled[64], part[64];
    if (total) {
        assay__text_scaled(scaled, sizeof scaled, total->value, "B");
        assay__buf_printf(&text, "The run takes %s of memory", scaled);
        if (model && model->value > 0) {
            assay__text_scaled(part, sizeof part, model->value, "B");
            put_times(&text, total->value / model->value);
            assay__buf_printf(&text, " times its weights (%s)", part);
        }
    } else {
        assay__buf_puts(&text, "What the run takes in all is not known");
    }
    const struct assay__allocations *a = &trial->allocations;
    if (growth && (a->growth_low > 0 || a->growth_high < 0)) {
        put_growing(&text, a, growth->value);
    } else if (growth) {
        assay__buf_puts(&text, "; no growth from inference to inference shows");
    }
    assay__buf_puts(&text, ".");
    assay__page_wrap(page, ASSAY__STYLE_BOLD, "  ", text_of(&text));
    assay__buf_free(&text);
}

/* --- over time -------------------------------------------------------------------------------- */

static size_t span_count_of(const struct assay__trial *trial, int launch, struct assay__span *out,
                            size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < trial->span_count && count < room; i++) {
        const struct assay__span *span = &trial->spans[i];
        if (span->launch != launch) continue;
        /* Windows follow each other at once: drawn as one. */
        if (count && strcmp(out[count - 1].kind, span->kind) == 0 &&
            span->begin_ns - out[count - 1].end_ns < 5e7)
            out[count - 1].end_ns = span->end_ns;
        else
            out[count++] = *span;
    }
    return count;
}

static void put_chart(struct assay__page *page, const struct assay__trial *trial,
                      const struct assay__series_info *series, const char *title)
{
    struct assay__span spans[64];
    struct assay__chart chart = {
        .title = title,
        .unit = series->unit,
        .times_ns = series->times_ns,
        .values = series->values,
        .count = series->count,
        .begin_ns = NAN,
        .end_ns = NAN,
        .low = 0,
        .spans = spans,
        .span_count = span_count_of(trial, series->launch, spans, sizeof spans / sizeof spans[0])};
    assay__page_chart(page, &chart);
}

static bool is_drawn(const struct assay__series_info *series)
{
    return strcmp(series->name, "memory.rss.worker") == 0 ||
           strncmp(series->name, "memory.device.", 14) == 0;
}

static void put_timeline(struct assay__page *page, const struct assay__trial *trial)
{
    int launch = -1;
    for (size_t i = 0; i < trial->series_count; i++) {
        const struct assay__series_info *series = &trial->series[i];
        if (!is_drawn(series) || (launch >= 0 && series->launch != launch)) continue;
        bool resident = strcmp(series->name, "memory.rss.worker") == 0;
        if (launch < 0) {
            launch = series->launch;
            assay__page_heading(page, "Memory over time",
                                trial->launch_count > 1 ? "the first launch" : "of the worker");
        }
        if (series->state != ASSAY_UNAVAILABLE && series->count > 1) {
            put_chart(page, trial, series, resident ? "resident memory (RSS)" : series->name);
            continue;
        }
        struct assay__buf text = {0};
        assay__buf_printf(&text, "— %s",
                          series->state == ASSAY_UNAVAILABLE
                              ? series->note
                              : "the run was too short for two readings");
        assay__page_row(page, resident ? "RSS" : series->rail, text_of(&text));
        assay__buf_free(&text);
    }
}

/* Of a counter: one reading tells no growth. */
static double growth_of(const struct assay__series_info *series)
{
    return series && series->count > 1 ? greatest(series) : NAN;
}

/* How the timeline was taken, and what that cost. */
static void put_readings(struct assay__page *page, const struct assay__trial *trial)
{
    static const char *const rows[][2] = {{"memory.rss.worker", "RSS"},
                                          {"memory.pss.worker", "PSS"}};
    struct assay__buf items = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct assay__series_info *series = series_of(trial, rows[i][0]);
        if (!series || !series->note[0]) continue;
        bool known = series->state != ASSAY_UNAVAILABLE;
        const struct assay__series_info *drawn = series_of(trial, rows[0][0]);
        if (!known && drawn && strcmp(series->note, drawn->note) == 0) continue; /* said above */
        if (items.length) assay__buf_puts(&items, " · ");
        assay__buf_printf(&items, "%s: %s%s", rows[i][1], known ? "" : "— ", series->note);
    }
    if (items.length) assay__page_row(page, "read", text_of(&items));
    assay__buf_clear(&items);
    double minor = growth_of(series_of(trial, "faults.minor.worker")),
           major = growth_of(series_of(trial, "faults.major.worker")),
           threads = greatest(series_of(trial, "threads.worker"));
    if (isfinite(minor)) {
        struct assay__buf count = {0};
        assay__render_count(&count, (int64_t)minor);
        assay__page_item(&items, "%s minor page fault%s from the first reading to the last",
                         text_of(&count), minor == 1 ? "" : "s");
        assay__buf_free(&count);
    }
    if (isfinite(major)) assay__page_item(&items, "%.0f major", major);
    if (isfinite(threads))
        assay__page_item(&items, "at most %.0f thread%s", threads, threads == 1 ? "" : "s");
    if (items.length) assay__page_row(page, "meanwhile", text_of(&items));
    assay__buf_free(&items);
}

/* --- layers ----------------------------------------------------------------------------------- */

static int by_bytes(const void *left, const void *right)
{
    const struct assay__layer *a = *(const struct assay__layer *const *)left,
                              *b = *(const struct assay__layer *const *)right;
    double x = isfinite(a->bytes) ? a->bytes : -1, y = isfinite(b->bytes) ? b->bytes : -1;
    if (x != y) return x < y ? 1 : -1;
    return a->index < b->index ? -1 : a->index > b->index;
}

struct columns {
    int name, op; /* 0: not shown */
    bool rate, live;
};

#define CELL 10
#define NAME_LEAST 12

static struct columns columns_of(const struct assay__page *page)
{
    struct columns c = {.op = page->columns >= 76 ? 14 : 0,
                        .rate = page->columns >= 60,
                        .live = page->columns >= 3 + NAME_LEAST + 3 * CELL};
    c.name = page->columns - 2 - 1 - (c.op ? c.op + 1 : 0) - (c.live ? 3 : 2) * CELL -
             (c.rate ? CELL + 2 : 0);
    if (c.name > 60) c.name = 60;
    return c;
}

static void put_cells(struct assay__page *page, const struct columns *c, const char *name,
                      const char *op, const char *const cells[4])
{
    assay__buf_puts(page->out, "  ");
    assay__page_fit_middle(page, name, c->name);
    assay__buf_putc(page->out, ' ');
    if (c->op) {
        assay__page_fit(page, op, c->op, 0);
        assay__buf_putc(page->out, ' ');
    }
    assay__page_right(page, cells[0], CELL);
    assay__page_right(page, cells[1], CELL);
    if (c->rate) assay__page_right(page, cells[2], CELL + 2);
    if (c->live) assay__page_right(page, cells[3], CELL);
    assay__buf_putc(page->out, '\n');
}

static void put_layer(struct assay__page *page, const struct columns *c,
                      const struct assay__layer *layer)
{
    char bytes[64], time[64], rate[64], live[64];
    bool timed = layer->state != ASSAY_UNAVAILABLE && layer->time_ns > 0;
    assay__text_scaled(bytes, sizeof bytes, layer->bytes, "B");
    assay__text_scaled(time, sizeof time, timed ? layer->time_ns / 1e9 : NAN, "s");
    assay__text_scaled(rate, sizeof rate, timed ? layer->bytes / layer->time_ns * 1e9 : NAN, "B/s");
    assay__text_scaled(live, sizeof live, layer->live_bytes, "B");
    put_cells(page, c, assay__render_layer_title(layer), layer->op,
              (const char *const[]){bytes, time, rate, live});
}

static void put_layers(struct assay__page *page, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    if (layers->count == 0) {
        if (!layers->reason || !layers->reason[0]) return;
        assay__page_heading(page, "Layers", "by the bytes they move");
        struct assay__buf text = {0};
        assay__buf_printf(&text, "— %s", layers->reason);
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", text_of(&text));
        assay__buf_free(&text);
        return;
    }
    const struct assay__layer **order = malloc(layers->count * sizeof *order);
    if (!order) {
        page->out->failed = true;
        return;
    }
    for (size_t i = 0; i < layers->count; i++)
        order[i] = &layers->items[i];
    qsort(order, layers->count, sizeof *order, by_bytes);
    size_t shown = page->top < 0 ? layers->count : page->top ? (size_t)page->top : LAYERS_SHOWN;
    if (shown > layers->count) shown = layers->count;
    struct columns c = columns_of(page);
    assay__page_heading(page, "Layers",
                        c.live ? "by the bytes they move; live: activations while each runs, by "
                                 "the graph"
                               : "by the bytes they move");
    assay__page_style(page, ASSAY__STYLE_DIM);
    put_cells(page, &c, "layer", "operator",
              (const char *const[]){"moves", "time", "rate", "live"});
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    for (size_t i = 0; i < shown; i++)
        put_layer(page, &c, order[i]);
    if (shown < layers->count) {
        char more[64];
        snprintf(more, sizeof more, "and %zu more (--top 0 shows all)", layers->count - shown);
        assay__page_wrap(page, ASSAY__STYLE_DIM, "  ", more);
    }
    free(order);
}

void assay__section_memory(struct assay__page *page, const struct assay_profile *profile,
                           const struct assay__trial *trial)
{
    const struct assay__series_info *resident = series_of(trial, "memory.rss.worker");
    if (!resident && !trial->allocations.reason) return;
    assay__page_heading(page, "Memory", "where it goes");
    put_answer(page, trial);
    put_parts(page, trial);
    put_timeline(page, trial);
    put_readings(page, trial);
    assay__section_peak(page, trial);
    if (profile->kind == ASSAY__PROFILE_MEMORY) put_layers(page, trial);
    assay__section_allocations(page, trial);
}
