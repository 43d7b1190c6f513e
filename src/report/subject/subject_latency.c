/* subject_latency.c - how long an inference takes: percentiles, distribution, intervals, launches;
 * and every sample, for programs. */
#include "report/subject/subject.h"

#include "report/figure/figure_text.h"

#include <math.h>
#include <string.h>

static const struct assay__column percentile_columns[] = {
    {.title = "min", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
    {.title = "p50", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
    {.title = "p90", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
    {.title = "p95", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
    {.title = "p99", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
    {.title = "p99.9", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
    {.title = "max", .unit = "s", .flags = ASSAY__COLUMN_KEEP},
};
static const char *const percentiles[] = {"latency.min", "latency.p50", "latency.p90",
                                          "latency.p95", "latency.p99", "latency.p999",
                                          "latency.max"};

static void add_percentiles(struct assay__doc *doc, const struct assay__trial *trial)
{
    enum { COUNT = sizeof percentiles / sizeof percentiles[0] };
    struct assay__table *t = assay__doc_add_table(doc, NULL, "Percentiles of the latency",
                                                  percentile_columns, COUNT);
    assay__table_row(t, 0, NULL);
    for (size_t i = 0; i < COUNT; i++) {
        struct assay__datum value = assay__datum_metric(
            assay_metrics_get(trial->metrics, percentiles[i]));
        value.strong = strcmp(percentiles[i], "latency.p50") == 0;
        assay__table_cell(t, value);
    }
}

static void add_samples(struct assay__doc *doc, const struct assay__trial *trial)
{
    double found = 0, kept = 0, warmup = 0;
    size_t launches = 0;
    for (size_t i = 0; i < trial->launch_count; i++) {
        struct assay__launch_counts counts = assay__launch_counts(&trial->launches[i]);
        if (!counts.kept) continue;
        launches++;
        found += (double)counts.found;
        kept += (double)counts.counted;
        warmup += (double)trial->launches[i].warmup;
    }
    if (!launches) return;
    const struct assay_metric *counted = assay__trial_metric(trial, "latency.samples");
    const struct assay_metric *dropped = assay__trial_metric(trial, "latency.warmup");
    assay__doc_fact(doc, "samples");
    assay__doc_item_after(
        doc, NULL, assay__datum_count(counted ? counted->value : kept),
        assay__doc_printf(doc, "in %zu launch%s", launches, launches == 1 ? "" : "es"));
    if (dropped && dropped->value >= warmup) /* the metric is the sum of both */
        assay__doc_item_after(doc, "not counted:", assay__datum_count(dropped->value - warmup),
                              "of the pre-run");
    assay__doc_item_after(doc, NULL, assay__datum_count(found), "found to be warm-up");
}

/* The ends of an interval are close together: both are in the unit of the median, with two more
 * digits. */
static void add_interval(struct assay__doc *doc, const struct assay__trial *trial,
                         const char *label, const char *low_name, const char *high_name)
{
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{1, "s"}, {1e3, "ms"}, {1e6, "µs"}, {1e9, "ns"}};
    const struct assay_metric *low = assay__trial_metric(trial, low_name),
                              *high = assay__trial_metric(trial, high_name),
                              *p50 = assay__trial_metric(trial, "latency.p50");
    size_t u = 0;
    if (!low || !high || !p50 || !(p50->value > 0)) return;
    while (u < 3 && p50->value * units[u].scale < 1)
        u++;
    double scale = units[u].scale, shown = p50->value * scale;
    int digits = shown < 10 ? 4 : shown < 100 ? 3 : 2;
    double half = (high->value - low->value) / 2 / p50->value; /* as the quality mark has it */
    assay__doc_fact(doc, label);
    assay__doc_item_text(doc, "95 %% interval of p50 %s%.*f to %.*f %s (±%s %%)",
                         assay__state_mark(low->state), digits, low->value * scale, digits,
                         high->value * scale, units[u].unit, assay__digits(half * 100, 2).text);
}

/* The samples in the order they were taken, in one line, which shows drift and steps. Only those of
 * the first launch and its first stream: the line says so. */
static void add_order(struct assay__doc *doc, const struct assay__trial *trial)
{
    enum { LEAST = 16, WIDTH = 36 };
    const struct assay__launch *l = trial->launch_count ? &trial->launches[0] : NULL;
    struct assay__buf text = {0};
    double low, high;
    if (!l || !l->samples_ns) return;
    size_t end = l->stream_offsets && l->streams > 1 ? l->stream_offsets[1] : l->sample_count;
    if (end > l->sample_count || end < l->warmup + LEAST) return;
    bool drawn = assay__text_sparkline(&text, l->samples_ns + l->warmup, end - l->warmup, WIDTH,
                                       false, &low, &high);
    const char *line = assay__doc_take(doc, &text);
    if (drawn)
        assay__doc_fact_text(doc, "in order",
                             assay__doc_printf(doc, "%s medians %s to %s%s%s", line,
                                               assay__scaled(low / 1e9, "s").text,
                                               assay__scaled(high / 1e9, "s").text,
                                               trial->launch_count > 1 ? ", first launch" : "",
                                               l->streams > 1 ? ", first stream" : ""));
}

static const struct assay__metric_fact spread[] = {
    {"spread", "latency.mean", "mean", NULL},
    {"spread", "latency.stddev", "standard deviation", NULL},
    {"spread", "latency.cv", "CV", NULL},
    {"spread", "latency.iqr", "IQR", NULL},
    {"spread", "latency.p5", "p5", NULL},
};

/* With fewer there is no distribution: a note replaces the histogram. */
static bool enough_samples(const struct assay__trial *trial)
{
    enum { LEAST = 10 };
    size_t count = 0;
    for (size_t i = 0; i < trial->launch_count; i++)
        count += assay__launch_counts(&trial->launches[i]).counted;
    return count >= LEAST;
}

static const struct assay__column launch_columns[] = {
    {.key = "trial"},
    {"launch", "launch", .unit = ASSAY__UNIT_COUNT},
    {"state", .title = "state"},
    {"reason", "reason", .flags = ASSAY__COLUMN_PROSE},
    {"samples", "samples", ASSAY__UNIT_COUNT, .priority = 2},
    {"warmup", "warm-up found", ASSAY__UNIT_COUNT, .priority = 3},
    {.key = "streams"},
    {"p50_us", "p50", "s", .factor = 1e-6},
    {"counted", "counted", .unit = ASSAY__UNIT_COUNT},
    {"prerun", "pre-run", ASSAY__UNIT_COUNT, .priority = 3},
    {.title = "log", .flags = ASSAY__COLUMN_PROSE},
};

static void add_launches(struct assay__doc *doc, const struct assay__trial *trial)
{
    if (!trial->launch_count) return;
    bool failed = false;
    for (size_t i = 0; i < trial->launch_count; i++)
        failed |= trial->launches[i].state == ASSAY__TRIAL_FAILED;
    if (failed)
        assay__doc_section(doc, "launches", "Launches", "one worker process each", 0);
    else
        assay__doc_fold(doc, "launches", "Launches", "one worker process each");
    struct assay__table *t = assay__doc_table(doc, "launches", "Launches", launch_columns);
    t->more = "launches";
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        struct assay__launch_counts counts = assay__launch_counts(l);
        bool lost = l->state == ASSAY__TRIAL_FAILED;
        assay__table_row(t, lost ? ASSAY__ROW_FAULT : 0, NULL);
        assay__table_numbers(t, ASSAY_MEASURED, trial->id, l->id);
        assay__table_texts(t, assay__trial_state_name(l->state), l->reason);
        assay__table_numbers(t, ASSAY_MEASURED, l->sample_count, l->warmup, l->streams,
                             l->p50_ns / 1e3, counts.counted, counts.prerun);
        assay__table_text(t, lost ? l->log_tail : NULL);
    }
    assay__doc_end(doc);
}

static const struct assay__column sample_columns[] = {
    {.key = "trial"}, {.key = "launch"}, {.key = "stream"},
    {.key = "seq"},   {.key = "ns"},     {.key = "warmup"},
};
#define SAMPLE_COLUMNS (sizeof sample_columns / sizeof sample_columns[0])

/* Of one launch; the trial's id is in the table. */
static void fill_sample(const struct assay__table *table, size_t row, struct assay__datum *cells)
{
    const struct assay__launch *l = table->context;
    size_t stream = 0, start = 0;
    while (l->stream_offsets && stream + 1 < (size_t)l->streams &&
           row >= l->stream_offsets[stream + 1])
        start = l->stream_offsets[++stream];
    const double numbers[] = {table->trial,       l->id,
                              (double)stream,     (double)(row - start),
                              l->samples_ns[row], row - start < l->warmup};
    for (size_t i = 0; i < SAMPLE_COLUMNS; i++)
        cells[i] = assay__measured(numbers[i], NULL);
}

static void build(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay_metric *p50 = assay_metrics_get(trial->metrics, "latency.p50");
    assay__doc_section(doc, "latency", "Latency", "host to host, profilers off",
                       ASSAY__TAB_LATENCY);
    if (assay__trial_metric(trial, "latency.p50")) {
        add_percentiles(doc, trial);
        assay__doc_picture(doc, "latency", trial, ASSAY__PICTURE_SAY);
        if (enough_samples(trial)) {
            assay__doc_picture(doc, "cdf", trial, ASSAY__PICTURE_DETAIL);
            assay__doc_picture(doc, "samples", trial, ASSAY__PICTURE_DETAIL);
        }
        add_samples(doc, trial);
        add_order(doc, trial);
        add_interval(doc, trial, "within", "latency.ci_low", "latency.ci_high");
        if (trial->launch_count > 1)
            add_interval(doc, trial, "between", "latency.between_low", "latency.between_high");
        add_interval(doc, trial, "runs", "latency.runs_low", "latency.runs_high");
        assay__doc_metrics(doc, trial, false, ASSAY__ARRAY(spread));
    } else {
        assay__doc_say(doc, ASSAY__TONE_NOTE,
                       p50 && p50->note && *p50->note
                           ? p50->note
                           : "No latency: the run ended before it was measured.");
    }
    add_launches(doc, trial);
    assay__doc_end(doc);
    for (size_t i = 0; i < trial->launch_count; i++) {
        const struct assay__launch *l = &trial->launches[i];
        if (!l->samples_ns || !l->sample_count) continue;
        struct assay__table *t = assay__doc_table(doc, "samples", NULL, sample_columns);
        t->fill = fill_sample;
        t->context = l;
        t->row_count = l->sample_count;
        t->trial = trial->id;
    }
}

const struct assay__subject assay__subject_latency = {
    "latency",
    ASSAY__OF_TRIAL,
    build,
    {{"launches", ASSAY__ARRAY(launch_columns)}, {"samples", ASSAY__ARRAY(sample_columns)}}};
