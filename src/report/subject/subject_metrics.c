/* subject_metrics.c - the metrics of a trial: the known ones by family, in a few lines; and all of
 * them with state, source and formula. */
#include "report/subject/subject.h"

#include <stdio.h>
#include <string.h>

enum { LONG_REASON = 80 }; /* characters; shorter ones are repeated */

static const char *const families[][2] = {
    {"latency", "breakdown"}, {"throughput", "throughput"}, {"timing", "timing"},
    {"memory", "memory"},     {"compute", "compute"},       {"overhead", "measuring"},
};
#define FAMILY_COUNT (sizeof families / sizeof families[0])

/* Shown with the latency and the layers. */
static bool is_elsewhere(const char *name)
{
    static const char *const shown[] = {
        "latency.mean",     "latency.stddev",      "latency.cv",           "latency.min",
        "latency.p5",       "latency.p50",         "latency.p90",          "latency.p95",
        "latency.p99",      "latency.p999",        "latency.max",          "latency.ci_low",
        "latency.ci_high",  "latency.iqr",         "latency.samples",      "latency.warmup",
        "overhead.layers",  "latency.between_low", "latency.between_high", "latency.runs",
        "latency.runs_low", "latency.runs_high",
    };
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (strcmp(name, shown[i]) == 0) return true;
    return false;
}

static size_t family_length(const char *name)
{
    return strcspn(name, ".");
}

static bool is_of(const char *name, const char *family)
{
    size_t length = strlen(family);
    return family_length(name) == length && strncmp(name, family, length) == 0;
}

/* "memory.peak.worker" is "peak worker" in its family. */
static const char *short_name(struct assay__doc *doc, const char *name)
{
    struct assay__buf text = {0};
    size_t family = family_length(name);
    for (const char *c = name[family] ? name + family + 1 : name; *c; c++)
        assay__buf_putc(&text, *c == '.' || *c == '_' ? ' ' : *c);
    return assay__doc_take(doc, &text);
}

static void add_family(struct assay__doc *doc, const struct assay_metrics *set, const char *family,
                       const char *label)
{
    assay__doc_fact(doc, label);
    for (size_t i = 0; i < assay_metrics_count(set); i++) {
        const struct assay_metric *m = assay_metrics_at(set, i);
        if (!is_of(m->name, family) || is_elsewhere(m->name)) continue;
        struct assay__datum value = assay__datum_metric(m);
        if (assay__datum_is_known(&value)) assay__doc_item(doc, short_name(doc, m->name), value);
    }
}

static void add_families(struct assay__doc *doc, const struct assay_metrics *set)
{
    enum { OTHERS = 32 };
    char others[OTHERS][64];
    size_t other_count = 0;
    for (size_t f = 0; f < FAMILY_COUNT; f++)
        add_family(doc, set, families[f][0], families[f][1]);
    for (size_t i = 0; i < assay_metrics_count(set); i++) {
        const char *name = assay_metrics_at(set, i)->name;
        size_t length = family_length(name);
        bool done = length >= sizeof others[0] || other_count == OTHERS;
        for (size_t f = 0; f < FAMILY_COUNT && !done; f++)
            done = is_of(name, families[f][0]);
        for (size_t o = 0; o < other_count && !done; o++)
            done = is_of(name, others[o]);
        if (done) continue;
        snprintf(others[other_count], sizeof others[0], "%.*s", (int)length, name);
        add_family(doc, set, others[other_count], others[other_count]);
        other_count++;
    }
}

static const struct assay__column columns[] = {
    {.key = "trial"},
    {"metric", "metric", .flags = ASSAY__COLUMN_NAME | ASSAY__COLUMN_CODE},
    {"value", "value", "", .flags = ASSAY__COLUMN_KEEP},
    {.key = "unit"},
    {"state", .title = "state"},
    {"source", "source", .priority = 1},
    {.key = "note"},
    {.key = "label"},
    {.title = "formula, remark or reason", .flags = ASSAY__COLUMN_PROSE},
};

/* The metric before it in the list that is unavailable for the same reason: people read the reason
 * once. */
static const struct assay_metric *same_reason(const struct assay_metrics *metrics, size_t index)
{
    const struct assay_metric *metric = assay_metrics_at(metrics, index);
    if (metric->state != ASSAY_UNAVAILABLE || strlen(metric->note) < LONG_REASON) return NULL;
    for (size_t i = 0; i < index; i++) {
        const struct assay_metric *before = assay_metrics_at(metrics, i);
        if (before->state == ASSAY_UNAVAILABLE && strcmp(before->note, metric->note) == 0)
            return before;
    }
    return NULL;
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    if (!trial->metrics || !assay_metrics_count(trial->metrics)) return;
    size_t count = assay_metrics_count(trial->metrics), unknown = 0;
    for (size_t i = 0; i < count; i++)
        unknown += assay_metrics_at(trial->metrics, i)->state == ASSAY_UNAVAILABLE;
    assay__doc_section(doc, "metrics", "Metrics",
                       assay__doc_printf(doc, "%zu, of which %zu are unavailable", count, unknown),
                       ASSAY__TAB_EVIDENCE);
    doc->headed = doc->open = true; /* a page has them in the table */
    if (assay__trial_metric(trial, "latency.p50")) add_families(doc, trial->metrics);
    doc->headed = false;
    assay__doc_fold(doc, "all-metrics", "All metrics with state, source and formula", NULL);
    doc->open = false;
    struct assay__table *t = assay__doc_table(
        doc, "metrics", "All metrics with state, source and formula", columns);
    t->id = "metric-table";
    for (size_t i = 0; i < assay_metrics_count(trial->metrics); i++) {
        assay__table_row(t, 0, NULL);
        assay__table_number(t, trial->id, ASSAY_MEASURED);
        const struct assay_metric *metric = assay_metrics_at(trial->metrics, i),
                                  *same = same_reason(trial->metrics, i);
        assay__table_metric_row(t, metric);
        assay__table_text(t, trial->label); /* "" of a single run */
        const char *note = assay__reason_above(doc, trial, metric);
        if (!note) note = same ? assay__doc_printf(doc, "see %s", same->name) : metric->note;
        assay__table_text(t, note);
    }
    assay__doc_end(doc);
    assay__doc_end(doc);
}

const struct assay__subject assay__subject_metrics = {
    "metrics", ASSAY__OF_TRIAL, build, {{"metrics", ASSAY__ARRAY(columns)}}};
