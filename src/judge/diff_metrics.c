/* diff_metrics.c - the metrics of several profiles side by side, and which rows a report folds. A
 * row's interval comes from the values of the launches where the profiles hold them. Some metrics
 * of a trial are a known multiple of one that every launch has (compute.rate = compute.flops /
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

/* Spreads and costs of measuring are neither fast nor slow. */
static const char *const neutral[] = {"latency.stddev", "latency.iqr",  "overhead.",
                                      "sensor.",        "disturbance.", "hardware."};

/* How much was measured, and the ends of intervals: they qualify other numbers. */
static const char *const measuring[] = {"latency.samples",  "latency.warmup",  "latency.ci_",
                                        "latency.between_", "llm.generations", "llm.dropped",
                                        "overhead.",        "sensor."};

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

#define BEGINS_ONE_OF(name, list) begins_one_of(name, list, sizeof(list) / sizeof((list)[0]))

static bool begins_one_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (begins(name, list[i])) return true;
    return false;
}

static bool is_key(const char *name)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], name) == 0) return true;
    return false;
}

static enum assay__diff_sense sense_of(const char *name, const char *unit)
{
    if (BEGINS_ONE_OF(name, neutral)) return ASSAY__DIFF_NEUTRAL;
    if (strcmp(unit, "s") == 0) return ASSAY__DIFF_TIME;
    if (begins(name, "throughput.") || strcmp(unit, "1/s") == 0 ||
        strcmp(name, "compute.rate") == 0)
        return ASSAY__DIFF_RATE;
    return ASSAY__DIFF_NEUTRAL;
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
static void take_medians(struct assay__arena *arena, struct assay__diff_metric *row,
                         const struct assay__diff_values *values, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        const struct assay_metric *whole = known(row, s);
        if (!whole || !values[s].launches.count ||
            fabs(whole->value - values[s].value) <= 1e-12 * fabs(whole->value))
            continue;
        struct assay_metric *own = assay__arena_alloc(arena, sizeof *own);
        if (!own) return;
        char text[64];
        assay__text_scaled(text, sizeof text, whole->value, whole->unit);
        *own = *whole;
        own->value = values[s].value;
        own->note = assay__arena_text(arena, "median over %zu launches; that of the run is %s%s%s",
                                      values[s].launches.count, text, *whole->note ? ": " : "",
                                      whole->note);
        row->values[s] = own;
    }
}

static struct assay__diff_delta no_value(const struct assay__diff *diff, struct assay__arena *arena,
                                         const struct assay__diff_metric *row, size_t lacking)
{
    const struct assay_metric *m = row->values[lacking];
    const char *note = m ? (m->note && *m->note ? m->note : "unknown") : "not measured in that run";
    return assay__diff_no_delta(
        assay__arena_text(arena, "%s: %s", diff->sides[lacking].name, note));
}

static struct assay__diff_delta delta_of(const struct assay__diff *diff, struct assay__arena *arena,
                                         const struct assay__diff_metric *row,
                                         const struct assay__diff_values *values, size_t side)
{
    const struct assay_metric *a = known(row, 0), *b = known(row, side);
    if (!a || !b) return no_value(diff, arena, row, a ? side : 0);
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
    if (row->by_launch) take_medians(arena, row, values, diff->count);
    row->deltas[0] = assay__diff_no_delta("");
    for (size_t s = 1; s < diff->count; s++) {
        const struct assay__diff_delta *delta = &row->deltas[s];
        row->deltas[s] = delta_of(diff, arena, row, values, s);
        diff->judged += delta->ci.known && delta->verdict != ASSAY__DIFF_UNJUDGED;
    }
}

static const struct assay_metrics *metrics_of(const struct assay__diff *diff, size_t side)
{
    return diff->sides[side].trial ? diff->sides[side].trial->metrics : NULL;
}

struct names {
    struct assay__map *seen;
    const char **items;
    size_t count;
    bool failed;
};

static void add_name(struct names *names, const char *name)
{
    if (assay__map_get(names->seen, name) != ASSAY__MAP_NONE) return;
    if (assay__map_set(names->seen, name, names->count)) names->failed = true;
    names->items[names->count++] = name;
}

/* Names in the order of the metric table, then others in order of appearance. */
static void list_names(const struct assay__diff *diff, struct names *names)
{
    for (size_t t = 0; t < assay__metric_table_count; t++)
        for (size_t s = 0; s < diff->count; s++) {
            const struct assay_metrics *set = metrics_of(diff, s);
            if (set && assay_metrics_get(set, assay__metric_table[t].name))
                add_name(names, assay__metric_table[t].name);
        }
    for (size_t s = 0; s < diff->count; s++) {
        const struct assay_metrics *set = metrics_of(diff, s);
        for (size_t i = 0; set && i < assay_metrics_count(set); i++)
            add_name(names, assay_metrics_at(set, i)->name);
    }
}

static void add_row(struct assay__diff *diff, struct assay__arena *arena, const char *name)
{
    struct assay__diff_metric *row = &diff->metrics[diff->metric_count];
    *row = (struct assay__diff_metric){.name = name, .unit = ""};
    row->values = assay__arena_array(arena, diff->count, sizeof *row->values);
    row->deltas = assay__arena_array(arena, diff->count, sizeof *row->deltas);
    if (!row->values || !row->deltas) return;
    for (size_t s = 0; s < diff->count; s++) {
        const struct assay_metrics *set = metrics_of(diff, s);
        row->values[s] = set ? assay_metrics_get(set, name) : NULL;
        if (row->values[s] && !*row->unit) row->unit = row->values[s]->unit;
    }
    row->sense = sense_of(name, row->unit);
    row->key = is_key(name);
    judge_row(diff, arena, row);
    diff->metric_count++;
}

static int rank_of(const char *name)
{
    return strcmp(name, "latency.p50") == 0 ? 0 : is_key(name) ? 1 : 2;
}

/* latency.p50 first, then the key metrics, then the rest. */
void assay__diff_metrics(struct assay__diff *diff, struct assay__arena *arena)
{
    size_t most = 1;
    for (size_t s = 0; s < diff->count; s++)
        most += metrics_of(diff, s) ? assay_metrics_count(metrics_of(diff, s)) : 0;
    struct names names = {.seen = assay__map_new(),
                          .items = assay__arena_array(arena, most, sizeof *names.items)};
    diff->metrics = assay__arena_array(arena, most, sizeof *diff->metrics);
    if (names.seen && names.items && diff->metrics) list_names(diff, &names);
    for (int rank = 0; rank < 3; rank++)
        for (size_t i = 0; i < names.count; i++)
            if (rank_of(names.items[i]) == rank) add_row(diff, arena, names.items[i]);
    if (!names.seen || names.failed) assay__arena_fail(arena);
    assay__map_free(names.seen);
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
