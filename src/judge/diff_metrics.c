/* diff_metrics.c - the metrics of several profiles side by side, and which rows a report folds. A
 * row's interval comes from the values of the launches, if the profiles have them. Some metrics of
 * a trial are a known multiple of one that every launch has (compute.rate = compute.flops /
 * latency.p50): their launches, and so their interval, follow from it. */
#include "judge/diff.h"

#include "base/map.h"
#include "base/metric_table.h"
#include "base/metric_value.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* name = constant of the trial × of^power */
static const struct {
    const char *name, *of;
    int power;
} follows[] = {
    {"compute.rate", "latency.p50", -1},
    {"compute.utilization", "latency.p50", -1},
    {"memory.bandwidth", "latency.p50", -1},
    {"memory.bandwidth_utilization", "latency.p50", -1},
    {"throughput.samples", "throughput.inferences", 1},
    {"throughput.images", "throughput.inferences", 1},
    {"throughput.tokens", "throughput.inferences", 1},
};

static const char *const keys[] = {
    "latency.p50",         "latency.p90",        "latency.p99",
    "throughput.samples",  "timing.session",     "timing.first",
    "memory.peak.worker",  "memory.peak.device", "energy.inference.gross",
    "power.average",       "compute.flops",      "memory.model",
    "compute.utilization", "llm.ttft",           "llm.itl",
};

/* Spreads and costs of measuring are neither faster nor slower. */
static const char *const neutral[] = {"latency.stddev", "latency.iqr",  "overhead.",
                                      "sensor.",        "disturbance.", "hardware."};

/* How much was measured, and the ends of intervals: they qualify other numbers. */
static const char *const measuring[] = {"latency.samples",  "latency.warmup",  "latency.ci_",
                                        "latency.between_", "llm.generations", "llm.dropped",
                                        "overhead.",        "sensor."};

#define BEGINS_ONE_OF(name, list) begins_one_of(name, list, sizeof(list) / sizeof((list)[0]))

static bool begins_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, list[i], strlen(list[i])) == 0) return true;
    return false;
}

static const struct assay_metric *known(const struct assay__diff_metric *row, size_t side)
{
    return assay__metric_is_known(row->values[side]) ? row->values[side] : NULL;
}

static struct assay__launch_values launches_of(const struct assay__trial *trial,
                                               const struct assay_metric *metric,
                                               struct assay__arena *arena)
{
    struct assay__launch_values values = assay__launch_metric(trial, metric->name, arena);
    for (size_t i = 0; i < sizeof follows / sizeof follows[0] && !values.count; i++) {
        if (strcmp(follows[i].name, metric->name) != 0 || metric->state != ASSAY_DERIVED) continue;
        double of = assay__trial_value(trial, follows[i].of);
        if (!(of > 0)) break;
        values = assay__launch_metric(trial, follows[i].of, arena);
        for (size_t k = 0; k < values.count; k++)
            values.items[k] = metric->value *
                              (follows[i].power > 0 ? values.items[k] / of : of / values.items[k]);
        break;
    }
    return values;
}

/* The same metric with another value: the median over the launches, which the verdict is about. */
static const struct assay_metric *median_of(const struct assay_metric *whole,
                                            const struct assay__diff_values *values,
                                            struct assay__arena *arena)
{
    bool same = fabs(whole->value - values->value) <= 1e-12 * fabs(whole->value);
    struct assay_metric *own = same ? NULL : assay__arena_alloc(arena, sizeof *own);
    if (!own) return whole;
    *own = *whole;
    own->value = values->value;
    own->note = assay__arena_text(
        arena, "median over %zu launches; that of the run is %s%s%s", values->launches.count,
        assay__scaled(whole->value, whole->unit).text, *whole->note ? ": " : "", whole->note);
    return own;
}

static struct assay__diff_delta delta_of(const struct assay__diff *diff, struct assay__arena *arena,
                                         const struct assay__diff_metric *row,
                                         const struct assay__diff_values *values, size_t side)
{
    const struct assay_metric *a = known(row, 0), *b = known(row, side);
    if (!a || !b) {
        size_t lacking = a ? side : 0;
        const struct assay_metric *m = row->values[lacking];
        return assay__diff_no_delta(assay__arena_text(arena, "%s: %s", diff->sides[lacking].name,
                                                      !m ? "not measured in that run"
                                                      : m->note && *m->note ? m->note
                                                                            : "unknown"));
    }
    if (strcmp(a->unit, b->unit) != 0) return assay__diff_no_delta("their units differ");
    bool exact = strcmp(a->source, "graph") == 0 && strcmp(b->source, "graph") == 0;
    struct assay__diff_delta delta = assay__diff_delta(&values[0], &values[side], exact, arena);
    if (delta.verdict == ASSAY__DIFF_UNJUDGED && delta.difference == 0 && !values[0].launches.count)
        delta.verdict = ASSAY__DIFF_EQUAL;
    if (BEGINS_ONE_OF(row->name, measuring)) {
        delta.verdict = ASSAY__DIFF_UNJUDGED;
        delta.reason = delta.why = "it describes the measurement";
    }
    return delta;
}

static void judge_row(struct assay__diff *diff, struct assay__arena *arena,
                      struct assay__diff_metric *row)
{
    struct assay__diff_values values[ASSAY__DIFF_MOST] = {{{0}, 0}};
    for (size_t s = 0; s < diff->count; s++) {
        const struct assay_metric *m = known(row, s);
        values[s].value = m ? m->value : (double)NAN;
        if (m && !BEGINS_ONE_OF(row->name, measuring) && strcmp(m->source, "graph") != 0)
            values[s].launches = launches_of(diff->sides[s].trial, m, arena);
    }
    row->by_launch = assay__diff_by_launch(values, diff->count, arena);
    for (size_t s = 0; s < diff->count && row->by_launch; s++)
        if (known(row, s) && values[s].launches.count)
            row->values[s] = median_of(row->values[s], &values[s], arena);
    row->deltas[0] = assay__diff_no_delta("");
    for (size_t s = 1; s < diff->count; s++) {
        const struct assay__diff_delta *delta = &row->deltas[s];
        row->deltas[s] = delta_of(diff, arena, row, values, s);
        diff->judged += delta->ci.known && delta->verdict != ASSAY__DIFF_UNJUDGED;
    }
}

/* Adds the row of that name, unless it exists or no side has it; judged later. */
static void add_row(struct assay__diff *diff, struct assay__arena *arena, struct assay__map *seen,
                    const char *name)
{
    struct assay__diff_metric *row = &diff->metrics[diff->metric_count];
    if (assay__map_get(seen, name) != ASSAY__MAP_NONE) return;
    *row = (struct assay__diff_metric){
        .name = name,
        .unit = "",
        .values = assay__arena_array(arena, diff->count, sizeof *row->values),
        .deltas = assay__arena_array(arena, diff->count, sizeof *row->deltas)};
    if (!row->values || !row->deltas) return;
    bool any = false;
    for (size_t s = 0; s < diff->count; s++) {
        const struct assay__trial *trial = diff->sides[s].trial;
        row->values[s] = trial ? assay_metrics_get(trial->metrics, name) : NULL;
        any |= row->values[s] != NULL;
        if (row->values[s] && !*row->unit) row->unit = row->values[s]->unit;
    }
    if (!any) return;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        row->key |= strcmp(keys[i], name) == 0;
    if (!BEGINS_ONE_OF(name, neutral))
        row->sense = strcmp(row->unit, "s") == 0 ? ASSAY__DIFF_TIME
                     : strncmp(name, "throughput.", 11) == 0 || strcmp(row->unit, "1/s") == 0 ||
                             strcmp(name, "compute.rate") == 0
                         ? ASSAY__DIFF_RATE
                         : ASSAY__DIFF_NEUTRAL;
    if (assay__map_set(seen, name, diff->metric_count)) assay__arena_fail(arena);
    diff->metric_count++;
}

/* latency.p50 first, then the key metrics, then the rest, each in the order of the metric table;
 * metrics not in the table come last, in order of appearance. */
void assay__diff_metrics(struct assay__diff *diff, struct assay__arena *arena)
{
    size_t most = 1, sorted = 0;
    for (size_t s = 0; s < diff->count; s++)
        if (diff->sides[s].trial) most += assay_metrics_count(diff->sides[s].trial->metrics);
    struct assay__map *seen = assay__map_new();
    struct assay__diff_metric *rows = assay__arena_array(arena, most, sizeof *rows);
    diff->metrics = assay__arena_array(arena, most, sizeof *rows);
    if (!seen) assay__arena_fail(arena);
    bool room = seen && rows && diff->metrics;
    for (size_t t = 0; t < assay__metric_table_count && room; t++)
        add_row(diff, arena, seen, assay__metric_table[t].name);
    for (size_t s = 0; s < diff->count && room; s++) {
        const struct assay__trial *trial = diff->sides[s].trial;
        for (size_t i = 0; trial && i < assay_metrics_count(trial->metrics); i++)
            add_row(diff, arena, seen, assay_metrics_at(trial->metrics, i)->name);
    }
    for (int rank = 0; rank < 3 && room; rank++)
        for (size_t i = 0; i < diff->metric_count; i++) {
            const struct assay__diff_metric *row = &diff->metrics[i];
            int own = strcmp(row->name, "latency.p50") == 0 ? 0 : row->key ? 1 : 2;
            if (own == rank) rows[sorted++] = *row;
        }
    diff->metrics = rows;
    for (size_t i = 0; i < diff->metric_count; i++)
        judge_row(diff, arena, &rows[i]);
    assay__map_free(seen);
}

enum assay__diff_fold assay__diff_fold(const struct assay__diff *diff,
                                       const struct assay__diff_metric *row)
{
    bool any_value = false, unjudged = false, unknown = false, changed = false;
    for (size_t s = 0; s < diff->count; s++)
        any_value |= row->values[s] && row->values[s]->state != ASSAY_UNAVAILABLE;
    for (size_t s = 1; s < diff->count; s++) {
        const struct assay__diff_delta *d = &row->deltas[s];
        if (assay__diff_is_shown(d->verdict)) return ASSAY__DIFF_LINE;
        unknown |= d->verdict == ASSAY__DIFF_NOT_COMPARABLE;
        unjudged |= d->verdict == ASSAY__DIFF_UNJUDGED;
        changed |= d->verdict == ASSAY__DIFF_UNJUDGED && d->difference != 0;
    }
    if (!any_value) return ASSAY__DIFF_FOLD_UNKNOWN;
    if (strcmp(row->name, "latency.p50") == 0 || (row->key && (changed || unknown)))
        return ASSAY__DIFF_LINE;
    return unknown    ? ASSAY__DIFF_FOLD_UNKNOWN
           : unjudged ? ASSAY__DIFF_FOLD_UNJUDGED
                      : ASSAY__DIFF_FOLD_SAME;
}
