/* subject_layers.c - where the time goes, layer by layer: the longest first, then the engine's
 * fixed cost, what could not be attributed, and their total, which is latency.p50 by construction.
 */
#include "report/subject/subject.h"

#include "cost/roofline.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct assay__column columns[] = {
    {.key = "trial"},
    {"index", "#", ASSAY__UNIT_COUNT, .priority = 1},
    {.title = "operator", .priority = 2, .flags = ASSAY__COLUMN_ASIDE},
    {.title = "layer", .flags = ASSAY__COLUMN_NAME},
    {.title = "op", .flags = ASSAY__COLUMN_PAGE},
    {.title = "shape", .flags = ASSAY__COLUMN_PAGE | ASSAY__COLUMN_CODE},
    {.key = "name"},
    {.key = "op"},
    {"provider", "provider", .priority = 6, .flags = ASSAY__COLUMN_ASIDE},
    {"time_us", "time", "s", .factor = 1e-6, .flags = ASSAY__COLUMN_SUM | ASSAY__COLUMN_KEEP},
    {.key = "share"},
    {.title = "share", .unit = "ratio", .flags = ASSAY__COLUMN_SUM},
    {.title = "bar",
     .unit = "ratio",
     .priority = 4,
     .flags = ASSAY__COLUMN_BAR | ASSAY__COLUMN_ASIDE},
    {.title = "rate", .unit = "FLOP/s", .flags = ASSAY__COLUMN_PAGE},
    {.title = "of peak", .unit = "ratio", .flags = ASSAY__COLUMN_PAGE},
    {.title = "time lost", .unit = "s", .factor = 1e-6, .flags = ASSAY__COLUMN_PAGE},
    {"flops", "FLOP", "FLOP", .priority = 5, .flags = ASSAY__COLUMN_ASIDE},
    {"bytes", "bytes", "B", .priority = 5, .flags = ASSAY__COLUMN_ASIDE},
    {.key = "bound"},
    {.title = "bound", .priority = 3},
    {.key = "state"},
    {"method", "method", .priority = 7, .flags = ASSAY__COLUMN_ASIDE},
    {"host_enqueue_us", "enqueue", "s", .factor = 1e-6},
    {.key = "note"},
    {"from", "fused from", .priority = 8, .flags = ASSAY__COLUMN_PROSE | ASSAY__COLUMN_ASIDE},
    {"weight_bytes", "weights", "B", .priority = 8, .flags = ASSAY__COLUMN_ASIDE},
    {"live_bytes", "live", "B", .priority = 8, .flags = ASSAY__COLUMN_ASIDE},
    {"time_low_us", "95 % from", "s", .factor = 1e-6, .priority = 7, .flags = ASSAY__COLUMN_ASIDE},
    {"time_high_us", "to", "s", .factor = 1e-6, .priority = 7, .flags = ASSAY__COLUMN_ASIDE},
    {.key = "inputs"},
    {.key = "weights"},
    {.key = "outputs"},
    {.key = "attributes"},
    {.key = "layer"}, /* as people see it */
    {"kernel_count", "kernels", ASSAY__UNIT_COUNT, .priority = 7, .flags = ASSAY__COLUMN_ASIDE},
    {"gap_us", "idle before", "s", .factor = 1e-6, .priority = 7, .flags = ASSAY__COLUMN_ASIDE},
    {.key = "kernels"},
};

/* What the rows of a table have in common. */
struct view {
    struct assay__doc *doc;
    struct assay__table *table;
    const struct assay__trial *trial;
    const struct assay__roofline *roofline;
    double whole_ns;   /* what shares are of … */
    double stored_ns;  /* … for programs */
    double longest_ns; /* of a layer */
};

/* Time in excess of what its roof allows; NaN unknown. */
static double lost_ns(const struct view *v, size_t at)
{
    const struct assay__layer *l = &v->trial->layers.items[at];
    if (at >= v->roofline->layer_count || !assay__layer_is_timed(l)) return NAN;
    return l->time_ns - v->roofline->layers[at].least_ns;
}

static void put_places(const struct view *v, size_t at)
{
    struct assay__table *t = v->table;
    const struct assay__layer *l = &v->trial->layers.items[at];
    bool placed = at < v->roofline->layer_count && assay__layer_is_timed(l);
    double rate = assay__layer_is_timed(l) && l->flops > 0 && l->time_ns > 0
                      ? l->flops / l->time_ns * 1e9
                      : (double)NAN;
    assay__table_numbers(t, ASSAY_DERIVED, rate,
                         placed ? v->roofline->layers[at].utilization : (double)NAN,
                         lost_ns(v, at) / 1e3);
}

static void put_layer(const struct view *v, size_t at)
{
    struct assay__doc *doc = v->doc;
    struct assay__table *t = v->table;
    const struct assay__layer *l = &v->trial->layers.items[at];
    bool known = assay__layer_is_timed(l);
    double low_ns, high_ns;
    const char *id = assay__doc_printf(doc, "layer-%d", l->index);
    const char *bound = assay__bound_name(assay__bound_parse(l->bound ? l->bound : ""));
    bool judged = assay__bound_parse(l->bound ? l->bound : "") != ASSAY__BOUND_UNKNOWN;
    const char *op = l->from_count > 1 ? assay__doc_printf(doc, "%s+%zu", l->op, l->from_count - 1)
                                       : l->op;
    const char *title = assay__layer_title(l);
    assay__layer_interval(&v->trial->layers, l, &low_ns, &high_ns, NULL);
    assay__table_row(t, 0, id);
    assay__table_layer(t, l->index);
    assay__table_numbers(t, ASSAY_MEASURED, v->trial->id, l->index);
    assay__table_texts(t, op, title, op, l->outputs, l->name, l->op, l->provider);
    assay__table_cell(t, known ? assay__datum_number(l->time_ns / 1e3, NULL, l->state)
                               : assay__datum_unknown(l->note));
    assay__table_numbers(t, ASSAY_MEASURED, known ? l->share : NAN,
                         known ? l->time_ns / v->whole_ns : NAN,
                         known && v->longest_ns > 0 ? l->time_ns / v->longest_ns : NAN);
    put_places(v, at);
    assay__table_numbers(t, ASSAY_DERIVED, l->flops, l->bytes);
    assay__table_texts(t, bound, judged ? bound : NULL,
                       assay_state_name(known ? l->state : ASSAY_UNAVAILABLE), l->method);
    assay__table_number(t, l->host_enqueue_ns / 1e3, ASSAY_MEASURED);
    assay__table_texts(t, l->note, assay__doc_join(doc, l->from, l->from_count));
    assay__table_numbers(t, ASSAY_DERIVED, l->weight_bytes, l->live_bytes, low_ns / 1e3,
                         high_ns / 1e3);
    assay__table_texts(t, l->inputs, l->weights, l->outputs, l->attributes, title);
    assay__table_numbers(t, ASSAY_MEASURED, l->kernel_count, l->gap_ns / 1e3);
    assay__table_texts(t, l->kernels);
}

/* A row that is not a layer: people see its name, programs find it in parentheses (either NULL: not
 * for them). People see no share of a negative time. */
static void put_rest(const struct view *v, const char *id, const char *name, const char *key,
                     double time_ns, enum assay_state state)
{
    struct assay__table *t = v->table;
    bool known = isfinite(time_ns);
    /* the total of layers that sum to more than that */
    bool over = strcmp(id, "layer-total") == 0 && v->whole_ns > time_ns * (1 + 1e-9);
    for (int pass = key ? 0 : 1; pass < (known && name ? 2 : 1); pass++) {
        assay__table_row(t, pass ? ASSAY__ROW_PEOPLE | ASSAY__ROW_TOTAL : ASSAY__ROW_DATA, id);
        assay__table_number(t, v->trial->id, ASSAY_MEASURED);
        assay__table_skip(t, 2);
        assay__table_texts(t, pass ? name : NULL, NULL, NULL, pass ? NULL : key);
        assay__table_skip(t, 2);
        assay__table_number(t, time_ns / 1e3, state);
        assay__table_number(t, time_ns / v->stored_ns, ASSAY_MEASURED);
        assay__table_known(t, time_ns >= 0 && !over ? time_ns / v->whole_ns : (double)NAN,
                           ASSAY_MEASURED);
        if (pass) continue;
        assay__table_skip(t, 8);
        assay__table_texts(t, assay_state_name(known ? state : ASSAY_UNAVAILABLE),
                           v->trial->layers.method);
    }
}

struct loss {
    double ns;
    size_t rank; /* by time */
    size_t at;
};

static int compare_losses(const void *left, const void *right)
{
    const struct loss *a = left, *b = right;
    bool known_a = isfinite(a->ns), known_b = isfinite(b->ns);
    if (known_a != known_b) return known_a ? -1 : 1;
    if (known_a && a->ns != b->ns) return a->ns > b->ns ? -1 : 1;
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* A page begins with the layers that lose the most time or, if no loss is known, with the
 * longest. */
static void sort_page(const struct view *v)
{
    struct assay__table *t = v->table;
    size_t count = v->trial->layers.count, known = 0;
    struct loss *losses = calloc(count + 1, sizeof *losses);
    size_t *order = assay__doc_array(v->doc, t->row_count + 1, sizeof *order);
    for (size_t i = 0; losses && order && t->order && i < t->row_count; i++) {
        order[i] = t->order[i];
        if (i >= count) continue;
        losses[i] = (struct loss){lost_ns(v, t->order[i]), i, t->order[i]};
        known += isfinite(losses[i].ns) != 0;
    }
    if (!losses) v->doc->failed = true;
    t->page_by = known ? "that lose the most time" : "that take the longest";
    if (known && !v->doc->failed) {
        qsort(losses, count, sizeof *losses, compare_losses);
        for (size_t i = 0; i < count; i++)
            order[i] = losses[i].at;
        t->page_order = order;
    }
    free(losses);
}

/* What a run takes besides the layers' kernels: the engine's row, in parts. */
static void put_gpu(const struct view *v)
{
    const struct assay__layers *l = &v->trial->layers;
    double other_ns = l->engine_ns - l->copies_ns - l->gaps_ns - l->host_ns;
    put_rest(v, "layer-copies", "copies and memsets", NULL, l->copies_ns, ASSAY_MEASURED);
    put_rest(v, "layer-gaps", "GPU idle between its work", NULL, l->gaps_ns, ASSAY_MEASURED);
    put_rest(v, "layer-host", "host, before and after the GPU's work", NULL, l->host_ns,
             ASSAY_MEASURED);
    if (other_ns > 0.5)
        put_rest(v, "layer-other", "kernels of no layer", NULL, other_ns, ASSAY_DERIVED);
}

static void add_table(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    double total_ns = assay__layer_total(trial);
    bool timed = isfinite(layers->engine_ns);
    struct view v = {.doc = doc,
                     .table = assay__doc_table(doc, "layers",
                                               assay__layers_on_gpu(layers)
                                                   ? "Layers by GPU time, longest first"
                                                   : "Layers, longest first",
                                               columns),
                     .trial = trial,
                     .roofline = assay__study_roofline(doc->study, trial),
                     .whole_ns = assay__layers_whole(trial),
                     .stored_ns = assay__layers_stored_whole(trial)};
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        timed |= isfinite(l->time_ns);
        if (assay__layer_is_timed(l)) v.longest_ns = fmax(v.longest_ns, l->time_ns);
    }
    struct assay__table *t = v.table;
    t->more = "layers";
    t->id = "layer-table";
    t->scripted = true;
    t->trial = trial->id;
    for (size_t i = 0; i < layers->count; i++)
        put_layer(&v, i);
    bool gpu = assay__layers_on_gpu(layers);
    if (gpu) put_gpu(&v);
    put_rest(&v, "layer-engine", gpu ? NULL : "engine per run", "(engine per run)",
             layers->engine_ns, ASSAY_MEASURED);
    put_rest(&v, "layer-unattributed", gpu ? "less by not recording" : "unattributed",
             "(unattributed)", layers->unattributed_ns, ASSAY_DERIVED);
    if (timed)
        put_rest(&v, "layer-total", "total (the unprofiled median)", NULL, total_ns,
                 p50 ? p50->state : ASSAY_DERIVED);
    assay__layer_sort(t, layers);
    sort_page(&v);
}

static void add_method(struct assay__doc *doc, const struct assay__layers *layers)
{
    assay__doc_fact(doc, "method cost");
    if (isfinite(layers->slowdown))
        assay__doc_item_text(doc, "the instrumented run took %.2f × as long as the plain one",
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
    {"share", "time / latency.p50 of the run without layer timing, or of the sum of the layers "
              "where that is more; bars are relative to the longest layer"},
    {"of peak", "of what the measured ceilings of this machine allow the layer"},
    {"time lost", "time minus the minimum time that the ceilings allow"},
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

/* Of one layer; the launches it was timed in follow each other. */
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
    bool generates = trial->generation.tokens > 0; /* then the tokens are what it is about */
    struct assay__buf remark = {0};
    if (layers->count) {
        assay__buf_printf(&remark, "%zu, slowest first; ", layers->count);
        assay__layer_method(&remark, layers);
    }
    bool alone = doc->study->profile->trial_count == 1; /* then a page is about them */
    assay__doc_section(doc, "layers", "Layers", assay__doc_take(doc, &remark),
                       generates && !layers->count ? ASSAY__TAB_EVIDENCE
                       : alone                     ? ASSAY__TAB_OVERVIEW | ASSAY__SECTION_FIRST
                                                   : ASSAY__TAB_OVERVIEW);
    if (layers->count) {
        assay__doc_picture(doc, "strip", trial, ASSAY__PICTURE_PAGE | ASSAY__PICTURE_WIDE);
        doc->headed = true; /* of a page the strip */
        assay__doc_picture(doc, "layers", trial, ASSAY__PICTURE_DETAIL | ASSAY__PICTURE_SAY);
        assay__doc_picture(doc, "treemap", trial, ASSAY__PICTURE_DETAIL);
        doc->headed = false;
        add_table(doc, trial);
        assay__doc_end(doc);
        assay__doc_section(doc, "layer-timing", "How the layers were timed", NULL,
                           ASSAY__TAB_EVIDENCE | ASSAY__SECTION_QUIET);
        assay__doc_legend(doc, ASSAY__ARRAY(legend));
        add_notes(doc, layers);
        assay__add_gpu_parts(doc, trial);
        assay__doc_say(doc, ASSAY__TONE_NOTE, layers->reason);
        add_method(doc, layers);
    } else {
        assay__doc_say(doc, ASSAY__TONE_NOTE,
                       layers->reason && *layers->reason ? layers->reason
                       : generates ? "Layers are not timed during a generation."
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
