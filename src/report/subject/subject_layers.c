/* subject_layers.c - where the time goes, layer by layer: the longest first, then the engine's
 * fixed cost, what could not be attributed, and their total, which is latency.p50 by construction.
 */
#include "report/subject/subject.h"

#include "cost/roofline.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <string.h>

static const struct assay__column columns[] = {
    {.key = "trial"},
    {"index", "#", ASSAY__UNIT_COUNT, .priority = 1},
    {.title = "operator", .priority = 2},
    {.title = "layer", .flags = ASSAY__COLUMN_NAME},
    {.key = "name"},
    {.key = "op"},
    {"provider", "provider", .priority = 6},
    {"time_us", "time", "s", .factor = 1e-6, .flags = ASSAY__COLUMN_SUM | ASSAY__COLUMN_KEEP},
    {"share", "share", "ratio", .flags = ASSAY__COLUMN_SUM},
    {.title = "bar", .unit = "ratio", .priority = 4, .flags = ASSAY__COLUMN_BAR},
    {"flops", "FLOP", "FLOP", .priority = 5},
    {"bytes", "bytes", "B", .priority = 5},
    {.key = "bound"},
    {.title = "bound", .priority = 3},
    {.key = "state"},
    {"method", "method", .priority = 7},
    {"host_enqueue_us", "enqueue", "s", .factor = 1e-6},
    {.key = "note"},
    {"from", "fused from", .priority = 8, .flags = ASSAY__COLUMN_PROSE},
    {"weight_bytes", "weights", "B", .priority = 8},
    {"live_bytes", "live", "B", .priority = 8},
    {"time_low_us", "95 % from", "s", .factor = 1e-6, .priority = 7},
    {"time_high_us", "to", "s", .factor = 1e-6, .priority = 7},
    {.key = "inputs"},
    {.key = "weights"},
    {.key = "outputs"},
    {.key = "attributes"},
    {.key = "layer"}, /* as people see it */
};

static void put_layer(struct assay__doc *doc, struct assay__table *t,
                      const struct assay__trial *trial, const struct assay__layer *l,
                      double longest)
{
    bool known = assay__layer_is_timed(l);
    double low_ns, high_ns;
    const char *id = assay__doc_printf(doc, "layer-%d", l->index);
    const char *bound = assay__bound_name(assay__bound_parse(l->bound ? l->bound : ""));
    bool judged = assay__bound_parse(l->bound ? l->bound : "") != ASSAY__BOUND_UNKNOWN;
    struct assay__datum name = assay__datum_text(assay__layer_title(l));
    name.link = id;
    assay__layer_interval(&trial->layers, l, &low_ns, &high_ns, NULL);
    assay__table_row(t, 0, id);
    assay__table_numbers(t, ASSAY_MEASURED, trial->id, l->index);
    assay__table_text(
        t, l->from_count > 1 ? assay__doc_printf(doc, "%s+%zu", l->op, l->from_count - 1) : l->op);
    assay__table_cell(t, name);
    assay__table_texts(t, l->name, l->op, l->provider);
    assay__table_cell(t, known ? assay__datum_number(l->time_ns / 1e3, NULL, l->state)
                               : assay__datum_unknown(l->note));
    assay__table_numbers(t, ASSAY_MEASURED, known ? l->share : NAN,
                         known && longest > 0 ? l->share / longest : NAN);
    assay__table_numbers(t, ASSAY_DERIVED, l->flops, l->bytes);
    assay__table_texts(t, bound, judged ? bound : NULL,
                       assay_state_name(known ? l->state : ASSAY_UNAVAILABLE), l->method);
    assay__table_number(t, l->host_enqueue_ns / 1e3, ASSAY_MEASURED);
    assay__table_texts(t, l->note, assay__doc_join(doc, l->from, l->from_count));
    assay__table_numbers(t, ASSAY_DERIVED, l->weight_bytes, l->live_bytes, low_ns / 1e3,
                         high_ns / 1e3);
    assay__table_texts(t, l->inputs, l->weights, l->outputs, l->attributes, name.text);
}

/* A row that is not a layer: people see its name, programs find it in parentheses. */
static void put_rest(struct assay__table *t, const struct assay__trial *trial, const char *id,
                     const char *name, const char *key, double time_ns, double total_s,
                     enum assay_state state)
{
    bool known = isfinite(time_ns);
    for (int pass = key ? 0 : 1; pass < (known ? 2 : 1); pass++) {
        assay__table_row(t, pass ? ASSAY__ROW_PEOPLE | ASSAY__ROW_TOTAL : ASSAY__ROW_DATA, id);
        assay__table_number(t, trial->id, ASSAY_MEASURED);
        assay__table_skip(t, 2);
        assay__table_texts(t, pass ? name : NULL, pass ? NULL : key);
        assay__table_skip(t, 2);
        assay__table_number(t, time_ns / 1e3, state);
        assay__table_number(t, known && total_s > 0 ? time_ns / 1e9 / total_s : (double)NAN,
                            ASSAY_MEASURED);
        if (pass) continue;
        assay__table_skip(t, 5);
        assay__table_texts(t, assay_state_name(known ? state : ASSAY_UNAVAILABLE),
                           trial->layers.method);
    }
}

static void add_table(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    double total_ns = assay__layer_total(trial), longest = 0;
    bool timed = isfinite(layers->engine_ns);
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        timed |= isfinite(l->time_ns);
        if (assay__layer_is_timed(l) && l->share > longest) longest = l->share;
    }
    struct assay__table *t = assay__doc_table(doc, "layers", "Layers, longest first", columns);
    t->more = "layers";
    t->id = "layer-table";
    t->scripted = true;
    t->trial = trial->id;
    for (size_t i = 0; i < layers->count; i++)
        put_layer(doc, t, trial, &layers->items[i], longest);
    double p50_s = p50 ? p50->value : (double)NAN;
    put_rest(t, trial, "layer-engine", "engine per run", "(engine per run)", layers->engine_ns,
             p50_s, ASSAY_MEASURED);
    put_rest(t, trial, "layer-unattributed", "unattributed", "(unattributed)",
             layers->unattributed_ns, p50_s, ASSAY_DERIVED);
    if (timed)
        put_rest(t, trial, "layer-total", "total (the unprofiled median)", NULL, total_ns,
                 total_ns / 1e9, p50 ? p50->state : ASSAY_DERIVED);
    assay__layer_sort(t, layers);
}

static void add_method(struct assay__doc *doc, const struct assay__layers *layers)
{
    assay__doc_fact(doc, "method cost");
    if (isfinite(layers->slowdown))
        assay__doc_item_text(doc, "the instrumented run took %.2f × the plain one",
                             layers->slowdown);
    if (isfinite(layers->scale_factor))
        assay__doc_item_text(doc, "layer times scaled by %.4f", layers->scale_factor);
    if (layers->sessions > 0)
        assay__doc_item_text(doc, "%d session%s", layers->sessions,
                             layers->sessions > 1 ? "s" : "");
    if (layers->discarded > 0)
        assay__doc_item_text(doc, "%d discarded as disturbed", layers->discarded);
    if (isfinite(layers->spread))
        assay__doc_item_text(doc, "spread of their sums %.1f %%", layers->spread * 100);
    if (isfinite(layers->contention))
        assay__doc_item_text(doc, "means %+.1f %% relative to medians", layers->contention * 100);
}

/* The notes of layers, each once with the number of layers that have it. */
static void add_notes(struct assay__doc *doc, const struct assay__layers *layers)
{
    enum { KINDS = 8 };
    const char *notes[KINDS] = {0};
    size_t counts[KINDS] = {0}, kinds = 0;
    for (size_t i = 0; i < layers->count; i++) {
        const char *note = layers->items[i].note;
        size_t k = 0;
        if (!note || !*note || !assay__layer_is_timed(&layers->items[i])) continue;
        while (k < kinds && strcmp(notes[k], note) != 0)
            k++;
        if (k == KINDS) continue; /* JSON and CSV have them all */
        if (k == kinds) notes[kinds++] = note;
        counts[k]++;
    }
    for (size_t k = 0; k < kinds; k++)
        if (counts[k] == layers->count && layers->count > 1)
            assay__doc_note(doc, "All layers: %s", notes[k]);
        else
            assay__doc_note(doc, "%zu layer%s: %s", counts[k], counts[k] > 1 ? "s" : "", notes[k]);
}

static const char *const legend[][2] = {
    {"time", "of one inference, the median over the timed runs"},
    {"share", "time / latency.p50 of the run without layer timing; bars are relative to the "
              "longest layer"},
    {"operator", "+2: two more nodes of the model are fused into this layer"},
    {"FLOP", "from the operator and the fixed shapes; a multiply-add counts as 2"},
    {"bytes", "what the operator reads and writes, each once, weights too"},
    {"bound", "the limiting factor under the measured roofs: compute, memory or overhead"},
    {"engine per run", "the engine's fixed cost per run"},
    {"unattributed",
     "latency.p50 minus the layers minus the engine; negative when they sum to more"},
};

static const struct assay__column time_columns[] = {
    {.key = "trial"}, {.key = "index"}, {.key = "launch"}, {.key = "name"}, {.key = "time_us"},
};

/* A layer's; the launches it was timed in follow each other. */
static void fill_times(const struct assay__table *table, size_t row, struct assay__datum *cells)
{
    const struct assay__trial *trial = table->context;
    const struct assay__layers *layers = &trial->layers;
    const struct assay__layer *l = &layers->items[row / layers->launch_count];
    size_t launch = row % layers->launch_count;
    cells[0] = assay__measured(trial->id, NULL);
    cells[1] = assay__measured(l->index, NULL);
    cells[2] = assay__measured(layers->launch_ids[launch], NULL);
    cells[3] = assay__datum_text(l->name);
    cells[4] = assay__measured(l->launch_times_ns ? l->launch_times_ns[launch] / 1e3 : (double)NAN,
                               NULL);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    bool generates = trial->generation.tokens > 0;
    struct assay__buf remark = {0};
    if (layers->count) {
        assay__buf_printf(&remark, "%zu, slowest first; ", layers->count);
        assay__layer_method(&remark, layers);
    }
    assay__doc_section(doc, "layers", "Layers", assay__doc_take(doc, &remark), ASSAY__VIEW_LAYERS);
    if (layers->count) {
        assay__doc_picture(doc, "layers", trial, ASSAY__PICTURE_DETAIL | ASSAY__PICTURE_SAY);
        assay__doc_picture(doc, "treemap", trial, ASSAY__PICTURE_DETAIL);
        add_table(doc, trial);
        assay__doc_legend(doc, ASSAY__ARRAY(legend));
        add_notes(doc, layers);
        assay__doc_say(doc, ASSAY__TONE_NOTE, layers->reason);
        add_method(doc, layers);
    } else {
        assay__doc_say(doc, ASSAY__TONE_NOTE,
                       layers->reason && *layers->reason ? layers->reason
                       : generates ? "The layers are not timed while it generates."
                                   : "The layers were not timed.");
    }
    assay__doc_end(doc);
    bool any = false;
    for (size_t i = 0; i < layers->count; i++)
        any |= layers->items[i].launch_times_ns != NULL;
    if (!any) return;
    struct assay__table *t = assay__doc_table(doc, "layer-times", NULL, time_columns);
    t->fill = fill_times;
    t->context = trial;
    t->row_count = layers->count * layers->launch_count;
}

const struct assay__subject assay__subject_layers = {
    "layers",
    ASSAY__OF_TRIAL,
    build,
    {{"layers", ASSAY__ARRAY(columns)}, {"layer-times", ASSAY__ARRAY(time_columns)}}};
