/* brief_page.c - a run on one screen: the answer, the key numbers, percentiles, how far to trust
 * them, what it ran on, the operators and the longest layers. The whole report has the rest. */
#include "report/subject/subject.h"

#include "report/subject/layer_list.h"

#include <math.h>
#include <stdint.h>

enum { OPERATORS = 3, LAYERS = 3 };

static const struct assay__metric_fact percentiles[] = {
    {"latency", "latency.min", "min", NULL}, {"latency", "latency.p50", "p50", NULL},
    {"latency", "latency.p90", "p90", NULL}, {"latency", "latency.p99", "p99", NULL},
    {"latency", "latency.max", "max", NULL},
};

/* "33 of 73 metrics are not available (--full says why)" */
static void add_unavailable(struct assay__doc *doc, const struct assay__trial *trial)
{
    size_t count = assay_metrics_count(trial->metrics), missing = 0;
    const char *hint = doc->hint ? doc->hint("unavailable") : NULL;
    for (size_t i = 0; i < count; i++)
        missing += assay_metrics_at(trial->metrics, i)->state == ASSAY_UNAVAILABLE;
    if (missing)
        assay__doc_item_text(doc, "%zu of %zu metrics not available%s%s%s", missing, count,
                             hint ? " (" : "", hint ? hint : "", hint ? " says why)" : "");
}

static const struct assay__column columns[] = {
    {.title = "operator", .priority = 1},
    {.title = "longest layers", .flags = ASSAY__COLUMN_NAME},
    {.title = "time", .unit = "s", .flags = ASSAY__COLUMN_SUM | ASSAY__COLUMN_KEEP},
    {.title = "share", .unit = "ratio", .flags = ASSAY__COLUMN_SUM},
    {.title = "bar", .unit = "ratio", .priority = 2, .flags = ASSAY__COLUMN_BAR},
};

static const struct assay__column gpu_columns[] = {
    {.title = "operator", .priority = 1},
    {.title = "longest layers", .flags = ASSAY__COLUMN_NAME},
    {.title = "GPU time", .unit = "s", .flags = ASSAY__COLUMN_SUM | ASSAY__COLUMN_KEEP},
    {.title = "share", .unit = "ratio", .flags = ASSAY__COLUMN_SUM},
    {.title = "bar", .unit = "ratio", .priority = 2, .flags = ASSAY__COLUMN_BAR},
};

static void add_layers(struct assay__doc *doc, const struct assay__trial *trial, int top)
{
    const struct assay__layers *layers = &trial->layers;
    double whole_ns = assay__layers_whole(trial), longest_ns = 0;
    for (size_t i = 0; i < layers->count; i++)
        if (assay__layer_is_timed(&layers->items[i]))
            longest_ns = fmax(longest_ns, layers->items[i].time_ns);
    struct assay__table *t = assay__layers_on_gpu(layers)
                                 ? assay__doc_table(doc, NULL, "Longest layers", gpu_columns)
                                 : assay__doc_table(doc, NULL, "Longest layers", columns);
    t->more = "layers";
    t->limit = top > 0 ? (size_t)top : top < 0 ? SIZE_MAX : LAYERS;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        bool known = assay__layer_is_timed(l);
        assay__table_row_of(t, 0, l->op, assay__layer_title(l));
        assay__table_cell(t, known ? assay__datum_number(l->time_ns / 1e9, NULL, l->state)
                                   : assay__datum_none());
        assay__table_known(t, known ? l->time_ns / whole_ns : (double)NAN, ASSAY_MEASURED);
        assay__table_known(t, known && longest_ns > 0 ? l->time_ns / longest_ns : (double)NAN,
                           ASSAY_MEASURED);
    }
    assay__layer_sort(t, layers);
}

void assay__add_brief(struct assay__doc *doc, const struct assay__trial *trial, int top)
{
    const struct assay_profile *profile = doc->study->profile;
    bool timed = false;
    for (size_t i = 0; i < trial->layers.count; i++)
        timed |= assay__layer_is_timed(&trial->layers.items[i]);
    doc->shortened = true;
    assay__doc_section(doc, "summary", "Summary", NULL, ASSAY__TAB_OVERVIEW | ASSAY__SECTION_QUIET);
    assay__add_headline(doc, trial);
    assay__doc_metrics(doc, trial, false, ASSAY__ARRAY(percentiles));
    assay__add_gpu_parts(doc, trial);
    assay__add_trust(doc, trial);
    add_unavailable(doc, trial);
    assay__add_target(doc, trial);
    assay__add_first_finding(doc, profile);
    assay__doc_end(doc);
    if (timed) {
        assay__doc_section(doc, "operators", "Operators", NULL, ASSAY__SECTION_QUIET);
        assay__add_operators(doc, trial, top > 0 ? (size_t)top : top < 0 ? SIZE_MAX : OPERATORS);
        add_layers(doc, trial, top);
        assay__doc_end(doc);
    }
}
