/* subject_memory.c - where the memory goes: one sentence, what each part takes, over time, the
 * activations that are alive at the peak, and the layers by the bytes they move. What was allocated
 * is subject_allocations.c. */
#include "report/subject/subject.h"

#include "report/subject/layer_list.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    TENSORS_SHOWN = 10,
    LAYERS_MOST = 100,  /* by their bytes; the table of layers has all of them */
    LONG_ENOUGH = 1000, /* inferences after which pools and caches have mostly filled */
};

static const struct assay__series_info *series_of(const struct assay__trial *trial,
                                                  const char *name)
{
    for (size_t i = 0; i < trial->series_count; i++)
        if (strcmp(trial->series[i].name, name) == 0) return &trial->series[i];
    return NULL;
}

static double most_of(const struct assay__series_info *series)
{
    double most = NAN;
    for (size_t i = 0; series && series->values && i < series->count; i++)
        if (isfinite(series->values[i]) && !(series->values[i] <= most)) most = series->values[i];
    return most;
}

/* A leak never stops; a few inferences only show that memory grew during them. */
static void put_growth(struct assay__buf *text, const struct assay__allocations *a, double bytes)
{
    int64_t before = 0, seen = 0; /* inferences until it is warm, and warm ones */
    for (size_t i = 0; i < a->phase_count; i++) {
        if (strcmp(a->phases[i].name, "warm") == 0)
            seen += a->phases[i].inferences;
        else
            before += a->phases[i].inferences;
    }
    const struct assay__digits size = assay__scaled(fabs(bytes), "B");
    if (before + seen >= LONG_ENOUGH)
        assay__buf_printf(text, "; it %s by %s per inference", bytes > 0 ? "GROWS" : "shrinks",
                          size.text);
    else
        assay__buf_printf(text,
                          "; it %s by %s with each of inferences %lld to %lld: too few to tell "
                          "whether this continues",
                          bytes > 0 ? "grew" : "shrank", size.text, (long long)before + 1,
                          (long long)(before + seen));
}

static void add_answer(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_metric *total = assay__trial_metric(trial, "memory.total"),
                              *model = assay__trial_metric(trial, "memory.model"),
                              *growth = assay__trial_metric(trial, "memory.growth");
    const struct assay__allocations *a = &trial->allocations;
    struct assay__buf text = {0};
    if (total)
        assay__buf_printf(&text, "The run takes %s of memory",
                          assay__scaled(total->value, "B").text);
    else
        assay__buf_puts(&text, "The memory of the whole run is unknown");
    if (total && model && model->value > 0)
        assay__buf_printf(&text, ", %s times its weights (%s)",
                          assay__digits(total->value / model->value, 3).text,
                          assay__scaled(model->value, "B").text);
    if (growth && (a->growth_low > 0 || a->growth_high < 0))
        put_growth(&text, a, growth->value);
    else if (growth)
        assay__buf_puts(&text, "; no growth per inference was detected");
    assay__doc_plain(doc, "%s.", assay__doc_take(doc, &text));
}

/* In the order of the report; reasons for unknown values are listed with the unavailable metrics,
 * and here if the command was about memory. */
static const struct assay__metric_fact parts[] = {
    {"model", "memory.model", NULL, .after = "of weights"},
    {"activations", "memory.activation.predicted", NULL,
     .after = "maximum alive at once, from the model's graph"},
    {"arena", "memory.activation.arena", NULL,
     .after = "peak in the engine's arena, including copied weights"},
    {"arena", "memory.arena.held", NULL, .after = "held by it"},
    {"worker", "memory.peak.worker", NULL, .after = "beyond an empty worker"},
    {"worker", "memory.baseline.worker", "empty", .after = NULL},
    {"device", "memory.peak.device", NULL, .after = "at most"},
    {"total", "memory.total", NULL, .after = NULL},
    {"bandwidth", "memory.bandwidth", NULL, .after = NULL},
    {"bandwidth", "memory.bandwidth_utilization", "of the ceiling", NULL},
    {"cache", "cache.hit_rate", NULL, .after = "of cache references hit"},
};
#define PART_COUNT (sizeof parts / sizeof parts[0])

/* The highest reading. A single reading is that of the empty worker, and for a counter it shows no
 * growth. */
static bool add_most(struct assay__doc *doc, const struct assay__trial *trial, const char *name,
                     const char *label, const char *unit, const char *after)
{
    const struct assay__series_info *series = series_of(trial, name);
    double most = most_of(series);
    if (!isfinite(most) || series->count < 2) return false;
    assay__doc_item_after(doc, label, assay__measured(most, unit), after);
    return true;
}

static void add_parts(struct assay__doc *doc, const struct assay__trial *trial)
{
    bool asked = doc->study->profile->kind == ASSAY__PROFILE_MEMORY;
    for (size_t i = 0; i < PART_COUNT; i++) {
        const struct assay_metric *m = assay_metrics_get(trial->metrics, parts[i].metric);
        bool first = !i || strcmp(parts[i].label, parts[i - 1].label) != 0;
        if (first) assay__doc_fact(doc, parts[i].label);
        if (first && asked && m && m->state == ASSAY_UNAVAILABLE)
            assay__doc_item(doc, NULL, assay__datum_metric(m));
        assay__doc_metric(doc, trial, parts[i].metric, parts[i].name, parts[i].after);
        if (strcmp(parts[i].metric, "memory.baseline.worker") != 0) continue;
        const struct assay_metric *end = assay__trial_metric(trial, "memory.pss.worker");
        add_most(doc, trial, "memory.rss.worker", "RSS", "B", "at most");
        if (!add_most(doc, trial, "memory.pss.worker", "PSS", "B", "at most") && end)
            assay__doc_item_after(doc, "PSS", assay__datum_metric(end), "at the end");
    }
}

/* How it was read. */
static void add_readings(struct assay__doc *doc, const struct assay__trial *trial)
{
    static const char *const rows[][2] = {{"memory.rss.worker", "RSS"},
                                          {"memory.pss.worker", "PSS"}};
    assay__doc_fact(doc, "read");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct assay__series_info *series = series_of(trial, rows[i][0]);
        if (!series) continue;
        bool few = series->count < 2, said = *series->note;
        if (series->state == ASSAY_UNAVAILABLE)
            assay__doc_item(doc, rows[i][1], assay__datum_unknown(series->note));
        else if (few || said)
            assay__doc_item(doc, rows[i][1],
                            assay__datum_text(assay__doc_printf(
                                doc, "%s%s%s", series->note, few && said ? "; " : "",
                                few ? "the run was too short for two readings" : "")));
    }
}

static const struct assay__column peak_columns[] = {
    {.key = "trial"},
    {.key = "position"},
    {"name", "tensor", .flags = ASSAY__COLUMN_NAME},
    {.key = "type"}, /* both as one text */
    {.title = "shape", .priority = 1},
    {.title = "type", .priority = 2},
    {"bytes", "size", "B", .flags = ASSAY__COLUMN_SUM | ASSAY__COLUMN_KEEP},
    {.title = "share", .unit = "ratio", .flags = ASSAY__COLUMN_SUM},
    {"producer", "made by", .priority = 2, .flags = ASSAY__COLUMN_NAME},
    {"op", "operator", .priority = 3},
    {.key = "first"},
    {"last", "last read by", .priority = 4, .flags = ASSAY__COLUMN_NAME},
    {.key = "dtype"},
    {.key = "shape"},
};

/* "9.6 MB of activations are alive while 'Conv_3' (Conv) runs, in 3 tensors." */
static void add_peak_answer(struct assay__doc *doc, const struct assay__peak *peak)
{
    struct assay__buf text = {0};
    size_t unknown = 0;
    for (size_t i = 0; i < peak->count; i++)
        unknown += !isfinite(peak->tensors[i].bytes);
    if (isfinite(peak->bytes))
        assay__buf_printf(&text, "%s of activations are alive",
                          assay__scaled(peak->bytes, "B").text);
    else
        assay__buf_puts(&text, "The most activations of known size are alive");
    assay__buf_printf(&text, " while '%.100s' (%s) runs, in %lld tensor%s", peak->node, peak->op,
                      (long long)peak->alive, assay__plural((double)peak->alive));
    if (unknown) assay__buf_printf(&text, ", %zu of them of unknown size", unknown);
    if (peak->body_bytes > 0)
        assay__buf_printf(&text, "; %s of it inside its subgraphs",
                          assay__scaled(peak->body_bytes, "B").text);
    assay__doc_plain(doc, "%s, by liveness of the graph.", assay__doc_take(doc, &text));
}

static void add_tensors(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__peak *peak = &trial->peak;
    if (!peak->count) return;
    struct assay__table *t = assay__doc_table(doc, "peak", "Activations alive at the peak",
                                              peak_columns);
    t->more = "tensors";
    t->limit = TENSORS_SHOWN;
    t->id = "peak-tensors";
    for (size_t i = 0; i < peak->count; i++) {
        const struct assay__peak_tensor *tensor = &peak->tensors[i];
        struct assay__datum producer = assay__datum_text(tensor->producer);
        if (!*tensor->producer && !*tensor->op) { /* programs find no name there */
            producer = assay__datum_unknown(NULL);
            producer.text = "an input of the model";
        }
        assay__table_row(t, 0, NULL);
        assay__table_numbers(t, ASSAY_MEASURED, trial->id, i);
        /* a profile stores them as one text: "1x64x112x112 float32" */
        const char *blank = strrchr(tensor->type, ' '), *dtype = blank ? blank + 1 : "";
        const char *shape = blank ? assay__doc_printf(doc, "%.*s", (int)(blank - tensor->type),
                                                      tensor->type)
                                  : tensor->type;
        assay__table_texts(t, tensor->name, tensor->type, shape, dtype);
        assay__table_numbers(t, ASSAY_DERIVED, tensor->bytes, tensor->bytes / peak->bytes);
        assay__table_cell(t, producer);
        assay__table_texts(t, tensor->op, tensor->first, tensor->last, dtype, shape);
    }
    if (peak->alive <= (int64_t)peak->count) return;
    assay__table_row(t, ASSAY__ROW_PEOPLE | ASSAY__ROW_TOTAL, NULL);
    assay__table_skip(t, 2);
    assay__table_text(t, assay__doc_printf(doc, "%lld smaller ones that are not stored",
                                           (long long)peak->alive - (long long)peak->count));
    assay__table_skip(t, 3);
    assay__table_numbers(t, ASSAY_DERIVED, peak->rest_bytes, peak->rest_bytes / peak->bytes);
}

static const struct assay__column layer_columns[] = {
    {.title = "#", .unit = ASSAY__UNIT_COUNT, .priority = 3},
    {.title = "layer", .flags = ASSAY__COLUMN_NAME},
    {.title = "operator", .priority = 2},
    {.title = "moves", .unit = "B"},
    {.title = "time", .unit = "s"},
    {.title = "rate", .unit = "B/s", .priority = 1},
    {.title = "alive", .unit = "B", .priority = 1},
    {.title = "weights", .unit = "B", .priority = 4},
};

/* A detail, unless the command was about memory. */
static void begin_part(struct assay__doc *doc, const char *title, const char *remark)
{
    if (doc->study->profile->kind == ASSAY__PROFILE_MEMORY)
        assay__doc_section(doc, NULL, title, remark, 0);
    else
        assay__doc_fold(doc, NULL, title, remark);
}

static int by_bytes(const void *left, const void *right)
{
    const struct assay__layer *a = *(const struct assay__layer *const *)left,
                              *b = *(const struct assay__layer *const *)right;
    double x = isfinite(a->bytes) ? a->bytes : -1, y = isfinite(b->bytes) ? b->bytes : -1;
    if (x != y) return x < y ? 1 : -1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void add_layers(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const struct assay__layer **order = calloc(layers->count + 1, sizeof *order);
    if (!order) doc->failed = true;
    if (!order || !layers->count) goto out;
    for (size_t i = 0; i < layers->count; i++)
        order[i] = &layers->items[i];
    qsort(order, layers->count, sizeof *order, by_bytes);
    begin_part(doc, "Layers by the bytes they move",
               "with the activations alive while each runs, from the model's graph");
    struct assay__table *t = assay__doc_table(doc, NULL, "Layers by the bytes they move",
                                              layer_columns);
    t->more = "layers";
    t->page_limit = 20;
    for (size_t i = 0; i < layers->count && i < LAYERS_MOST; i++) {
        const struct assay__layer *l = order[i];
        bool timed = l->state != ASSAY_UNAVAILABLE && l->time_ns > 0;
        double rate = timed ? l->bytes / l->time_ns * 1e9 : (double)NAN;
        assay__table_row(t, 0, NULL);
        assay__table_layer(t, l->index);
        assay__table_number(t, l->index, ASSAY_MEASURED);
        assay__table_texts(t, assay__layer_title(l), l->op);
        assay__table_number(t, l->bytes, ASSAY_DERIVED);
        assay__table_number(t, timed ? l->time_ns / 1e9 : (double)NAN, l->state);
        assay__table_numbers(t, ASSAY_DERIVED, rate, l->live_bytes, l->weight_bytes);
    }
    if (layers->count > LAYERS_MOST)
        assay__doc_note(doc, "The first %d of %zu layers; the table of layers has them all.",
                        LAYERS_MOST, layers->count);
    assay__doc_end(doc);
out:
    free(order);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    bool watched = series_of(trial, "memory.rss.worker") || trial->allocations.reason;
    if (!trial->metrics || !assay_metrics_count(trial->metrics)) return;
    assay__doc_section(doc, "memory", "Memory", "where it goes",
                       ASSAY__TAB_MEMORY | (!watched ? ASSAY__SECTION_DETAIL : 0));
    add_answer(doc, trial);
    add_parts(doc, trial);
    assay__doc_picture(doc, "memory", trial, watched ? ASSAY__PICTURE_SAY : 0);
    add_readings(doc, trial);
    double threads = most_of(series_of(trial, "threads.worker"));
    assay__doc_fact(doc, "meanwhile");
    add_most(doc, trial, "faults.minor.worker", NULL, ASSAY__UNIT_COUNT, "minor page faults");
    add_most(doc, trial, "faults.major.worker", NULL, ASSAY__UNIT_COUNT, "major page faults");
    if (isfinite(threads))
        assay__doc_item_after(doc, "at most", assay__datum_count(threads),
                              threads == 1 ? "thread" : "threads");
    const struct assay__peak *peak = &trial->peak;
    if (peak->reason) { /* NULL: not looked for, or from an older version */
        begin_part(doc, "Alive at the peak",
                   "activations by the model's graph, before layers are fused; the largest first");
        if (*peak->reason) {
            assay__doc_say(doc, ASSAY__TONE_NOTE, peak->reason);
        } else {
            add_peak_answer(doc, peak);
            add_tensors(doc, trial);
        }
        assay__doc_end(doc);
    }
    add_layers(doc, trial);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_memory = {
    "memory", ASSAY__OF_TRIAL, build, {{"peak", ASSAY__ARRAY(peak_columns)}}};
