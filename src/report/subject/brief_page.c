/* brief_page.c - a run on one screen: the answer, the key numbers, percentiles, how far to trust
 * them, what it ran on, the operators and the longest layers. The whole report has the rest. */
#include "report/subject/subject.h"

#include "report/subject/layer_list.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { OPERATORS = 3, LAYERS = 4, REASON_MOST = 90 };

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

/* "UNSTABLE: the layers add up to 81 % of the latency; 11 more reasons" */
static void add_quality(struct assay__doc *doc, const struct assay__trial *trial)
{
    static const struct {
        const char *verdict, *text;
        enum assay__badge badge;
    } words[] = {{"stable", "stable", ASSAY__BADGE_PASS},
                 {"unstable", "UNSTABLE", ASSAY__BADGE_FAIL},
                 {"too-few", "too few samples for a verdict", ASSAY__BADGE_WARN}};
    const struct assay__stability *s = &trial->stability;
    const struct assay_metric *samples = assay__trial_metric(trial, "latency.samples");
    const char *after = NULL;
    assay__doc_fact(doc, "quality");
    if (s->reason_count && strlen(s->reasons[0]) <= REASON_MOST)
        after = s->reason_count > 1
                    ? assay__doc_printf(doc, "(%s; %zu more)", s->reasons[0], s->reason_count - 1)
                    : assay__doc_printf(doc, "(%s)", s->reasons[0]);
    else if (s->reason_count)
        after = assay__doc_printf(doc, "(%zu reason%s)", s->reason_count,
                                  assay__plural((double)s->reason_count));
    for (size_t i = 0; s->verdict && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(s->verdict, words[i].verdict) == 0)
            assay__doc_item_after(doc, NULL, assay__datum_badge(words[i].text, words[i].badge),
                                  after);
    if (samples)
        assay__doc_item_after(doc, NULL, assay__datum_count(samples->value),
                              samples->value == 1 ? "sample" : "samples");
    add_unavailable(doc, trial);
}

static const struct assay__column columns[] = {
    {.title = "operator", .priority = 1},
    {.title = "longest layers", .flags = ASSAY__COLUMN_NAME},
    {.title = "time", .unit = "s", .flags = ASSAY__COLUMN_SUM | ASSAY__COLUMN_KEEP},
    {.title = "share", .unit = "ratio", .flags = ASSAY__COLUMN_SUM},
    {.title = "bar", .unit = "ratio", .priority = 2, .flags = ASSAY__COLUMN_BAR},
};

static void add_layers(struct assay__doc *doc, const struct assay__trial *trial, int top)
{
    const struct assay__layers *layers = &trial->layers;
    double longest = 0;
    for (size_t i = 0; i < layers->count; i++)
        if (assay__layer_is_timed(&layers->items[i]))
            longest = fmax(longest, layers->items[i].share);
    struct assay__table *t = assay__doc_table(doc, NULL, "Longest layers", columns);
    t->more = "layers";
    t->limit = top > 0 ? (size_t)top : top < 0 ? SIZE_MAX : LAYERS;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        bool known = assay__layer_is_timed(l);
        assay__table_row_of(t, 0, l->op, assay__layer_title(l));
        assay__table_cell(t, known ? assay__datum_number(l->time_ns / 1e9, NULL, l->state)
                                   : assay__datum_none());
        assay__table_known(t, known ? l->share : (double)NAN, ASSAY_MEASURED);
        assay__table_known(t, known && longest > 0 ? l->share / longest : (double)NAN,
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
    assay__doc_section(doc, "summary", "Summary", NULL,
                       ASSAY__VIEW_OVERVIEW | ASSAY__SECTION_QUIET);
    assay__add_headline(doc, trial);
    assay__doc_metrics(doc, trial, false, ASSAY__ARRAY(percentiles));
    add_quality(doc, trial);
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
