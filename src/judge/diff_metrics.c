/* diff_metrics.c - the metrics of several profiles side by side. A row's interval comes from the
 * values of the launches where the profiles hold them. Some metrics of a trial are a known multiple
 * of one that every launch has (compute.rate = compute.flops / latency.p50): their launches follow
 * from it, so their interval is that of the other. */
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

static bool is_key(const char *name)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], name) == 0) return true;
    return false;
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static enum assay__diff_sense sense_of(const char *name, const char *unit)
{
    static const char *const spread[] = {"latency.stddev", "latency.iqr",  "overhead.",
                                         "sensor.",        "disturbance.", "hardware."};
    for (size_t i = 0; i < sizeof spread / sizeof spread[0]; i++)
        if (begins(name, spread[i])) return ASSAY__DIFF_NEUTRAL;
    if (strcmp(unit, "s") == 0) return ASSAY__DIFF_TIME;
    if (begins(name, "throughput.") || strcmp(unit, "1/s") == 0 ||
        strcmp(name, "compute.rate") == 0)
        return ASSAY__DIFF_RATE;
    return ASSAY__DIFF_NEUTRAL;
}

/* How much was measured, and the ends of intervals: they say how far to trust a number, they are
 * none themselves. */
static bool is_about_measuring(const char *name)
{
    static const char *const names[] = {"latency.samples",  "latency.warmup",  "latency.ci_",
                                        "latency.between_", "llm.generations", "llm.dropped",
                                        "overhead.",        "sensor."};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (begins(name, names[i])) return true;
    return false;
}

static const struct assay_metric *known(const struct assay__diff_metric *row, size_t side)
{
    return assay__metric_is_known(row->values[side]) ? row->values[side] : NULL;
}

static double *launches_of(const struct assay__trial *trial, const struct assay_metric *metric,
                           size_t *count)
{
    double *values = assay__trial_values(trial, metric->name, count);
    if (!values || *count) return values;
    for (size_t i = 0; i < sizeof follows / sizeof follows[0]; i++) {
        if (strcmp(follows[i].name, metric->name) != 0 || metric->state != ASSAY_DERIVED) continue;
        const struct assay_metric *of = assay__trial_metric(trial, follows[i].of);
        if (!of || !(of->value > 0)) break;
        free(values);
        values = assay__trial_values(trial, follows[i].of, count);
        for (size_t k = 0; values && k < *count; k++)
            values[k] = metric->value *
                        (follows[i].power > 0 ? values[k] / of->value : of->value / values[k]);
        break;
    }
    return values;
}

/* The same metric with another value: the median over the launches, which the verdict is about. */
static int take_medians(struct assay__arena *arena, struct assay__diff_metric *row,
                        const struct assay__diff_values *values, size_t count)
{
    for (size_t s = 0; s < count; s++) {
        const struct assay_metric *whole = known(row, s);
        if (!whole || !values[s].launch_count ||
            fabs(whole->value - values[s].value) <= 1e-12 * fabs(whole->value))
            continue;
        struct assay_metric *own = assay__arena_alloc(arena, sizeof *own);
        if (!own) return ASSAY_ENOMEM;
        char text[64];
        assay__text_scaled(text, sizeof text, whole->value, whole->unit);
        *own = *whole;
        own->value = values[s].value;
        own->note = assay__arena_printf(
            arena, "median over %zu launches; that of the run is %s%s%s", values[s].launch_count,
            text, *whole->note ? ": " : "", whole->note);
        if (!own->note) return ASSAY_ENOMEM;
        row->values[s] = own;
    }
    return 0;
}

static int no_value(struct assay__diff *diff, struct assay__arena *arena,
                    struct assay__diff_metric *row, size_t lacking, struct assay__diff_delta *out)
{
    const struct assay_metric *m = row->values[lacking];
    const char *note = m ? (m->note && *m->note ? m->note : "not known")
                         : "it was not asked for in that run";
    *out = assay__diff_no_delta(
        assay__arena_printf(arena, "%s: %s", diff->sides[lacking].name, note));
    return out->reason ? 0 : ASSAY_ENOMEM;
}

static int delta_of(struct assay__diff *diff, struct assay__arena *arena,
                    struct assay__diff_metric *row, const struct assay__diff_values *values,
                    size_t side)
{
    const struct assay_metric *a = known(row, 0), *b = known(row, side);
    struct assay__diff_delta *out = &row->deltas[side];
    if (!a || !b) return no_value(diff, arena, row, a ? side : 0, out);
    if (strcmp(a->unit, b->unit) != 0) {
        *out = assay__diff_no_delta("their units differ");
        return 0;
    }
    bool exact = strcmp(a->source, "graph") == 0 && strcmp(b->source, "graph") == 0;
    int code = assay__diff_delta(&values[0], &values[side], exact, out);
    if (code) return code;
    if (out->verdict == ASSAY__DIFF_UNJUDGED && out->difference == 0 && !values[0].launch_count)
        out->verdict = ASSAY__DIFF_EQUAL;
    if (is_about_measuring(row->name))
        out->verdict = ASSAY__DIFF_UNJUDGED, out->reason = out->why = "it says how was measured";
    if (out->ci.known && out->verdict != ASSAY__DIFF_UNJUDGED) diff->judged++;
    return 0;
}

static int judge_row(struct assay__diff *diff, struct assay__arena *arena,
                     struct assay__diff_metric *row)
{
    struct assay__diff_values values[ASSAY__DIFF_MOST] = {{0}};
    double *launches[ASSAY__DIFF_MOST] = {0};
    int code = 0;
    for (size_t s = 0; s < diff->count && !code; s++) {
        const struct assay_metric *m = known(row, s);
        values[s].value = m ? m->value : (double)NAN;
        if (!m || is_about_measuring(row->name) || strcmp(m->source, "graph") == 0) continue;
        launches[s] = launches_of(diff->sides[s].trial, m, &values[s].launch_count);
        if (!launches[s]) code = ASSAY_ENOMEM;
        values[s].launches = launches[s];
    }
    if (!code) row->by_launch = assay__diff_by_launch(values, diff->count);
    if (row->by_launch) code = take_medians(arena, row, values, diff->count);
    for (size_t s = 1; s < diff->count && !code; s++)
        code = delta_of(diff, arena, row, values, s);
    for (size_t s = 0; s < diff->count; s++)
        free(launches[s]);
    return code;
}

/* Names in the order of the metric table, then others in order of appearance. */
static int list_names(const struct assay__diff *diff, struct assay__map *seen, const char **names,
                      size_t *count)
{
    int code = 0;
    for (size_t t = 0; t <= assay__metric_table_count && !code; t++)
        for (size_t s = 0; s < diff->count && !code; s++) {
            const struct assay_metrics *set = diff->sides[s].trial ? diff->sides[s].trial->metrics
                                                                   : NULL;
            bool rest = t == assay__metric_table_count;
            const struct assay_metric *one =
                set && !rest ? assay_metrics_get(set, assay__metric_table[t].name) : NULL;
            for (size_t i = 0; set &&
                               i < (rest  ? assay_metrics_count(set)
                                    : one ? 1
                                          : 0) &&
                               !code;
                 i++) {
                const char *name = rest ? assay_metrics_at(set, i)->name : one->name;
                if (assay__map_get(seen, name) != ASSAY__MAP_NONE) continue;
                code = assay__map_set(seen, name, *count);
                names[(*count)++] = name;
            }
        }
    return code;
}

static int fill_row(struct assay__diff *diff, struct assay__arena *arena, const char *name,
                    struct assay__diff_metric *row)
{
    *row = (struct assay__diff_metric){.name = name, .unit = ""};
    row->values = assay__arena_array(arena, diff->count, sizeof *row->values);
    row->deltas = assay__arena_array(arena, diff->count, sizeof *row->deltas);
    if (!row->values || !row->deltas) return ASSAY_ENOMEM;
    for (size_t s = 0; s < diff->count; s++) {
        const struct assay__trial *trial = diff->sides[s].trial;
        row->values[s] = trial && trial->metrics ? assay_metrics_get(trial->metrics, name) : NULL;
        if (row->values[s] && !*row->unit) row->unit = row->values[s]->unit;
    }
    row->sense = sense_of(name, row->unit);
    row->key = is_key(name);
    row->deltas[0] = assay__diff_no_delta("");
    return judge_row(diff, arena, row);
}

/* latency.p50, then what people look for first, then the rest. */
static int keys_first(struct assay__diff *diff, struct assay__arena *arena)
{
    struct assay__diff_metric *sorted = assay__arena_array(arena, diff->metric_count + 1,
                                                           sizeof *sorted);
    size_t count = 0;
    if (!sorted) return ASSAY_ENOMEM;
    for (int rank = 0; rank < 3; rank++)
        for (size_t i = 0; i < diff->metric_count; i++) {
            const struct assay__diff_metric *row = &diff->metrics[i];
            int own = strcmp(row->name, "latency.p50") == 0 ? 0 : row->key ? 1 : 2;
            if (own == rank) sorted[count++] = *row;
        }
    diff->metrics = sorted;
    return 0;
}

int assay__diff_metrics(struct assay__diff *diff, struct assay__arena *arena)
{
    struct assay__map *seen = assay__map_new();
    size_t most = 0, count = 0;
    for (size_t s = 0; s < diff->count; s++)
        if (diff->sides[s].trial && diff->sides[s].trial->metrics)
            most += assay_metrics_count(diff->sides[s].trial->metrics);
    const char **names = assay__arena_array(arena, most + 1, sizeof *names);
    diff->metrics = assay__arena_array(arena, most + 1, sizeof *diff->metrics);
    int code = seen && names && diff->metrics ? 0 : ASSAY_ENOMEM;
    if (!code) code = list_names(diff, seen, names, &count);
    for (size_t i = 0; i < count && !code; i++)
        code = fill_row(diff, arena, names[i], &diff->metrics[diff->metric_count++]);
    assay__map_free(seen);
    return code ? code : keys_first(diff, arena);
}
