/* ort_counted.c - counters of each layer, from a separate pass over the graph with a marker after
 * every node.
 *
 * Every marker reads all counters on entry and on exit. The increase for a node is that from the
 * previous exit to its own entry, minus the cost of a reading:
 *   grown(exit before -> entry) - reading(entry -> exit) - (gap - own),
 * the second being the mean over the markers of a run (one reading and the marker itself), gap and
 * own the same two increases in a chain of markers with nothing in between (the engine's step from
 * node to node right after a system call, compared with a marker). Each is the inter-quartile mean
 * over the runs; for a counter that does not change in most runs (page faults, context switches)
 * the plain mean, so that an event in one of a hundred runs counts one hundredth. The difference
 * may be slightly below 0; it is kept, so that sums over layers stay right.
 *
 * After a system call caches and predictors are colder than in an undisturbed run: a layer of a
 * microsecond counts more than its share.
 *
 * Counters of a process are sums over its threads. A reading takes a system call per counter,
 * during which the engine's idle threads may spin: that is subtracted with the reading, as far as
 * it is equal at every marker.
 *
 * A pair of readings of which one has no value (the counter did not run) is left out for that
 * counter. */
#include "engine/ort/ort_layers.h"

#include "base/clock.h"
#include "base/stats.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define RUNS_MOST 400
#define RUNS_LEAST 3
#define RUNS_WARM 2
#define CHAIN_LENGTH 20
#define CHAIN_RUNS 100
#define TIME_SHARE 0.25 /* of the layer timing's budget, beyond it */
#define TIME_LEAST_S 0.5
#define SAMPLE_MEMORY ((size_t)64 << 20)

struct counting {
    struct assay__layer_work *work;
    const struct assay__counted_graph *graph;
    size_t counters, runs_most, runs, skipped;
    double *nodes;       /* (node, counter): runs_most increases, NaN if a reading had no value */
    double *readings;    /* counter: mean increase from entry to exit, for each of runs_most runs */
    double *gaps, *owns; /* counter: of the chain's runs, exit to the next entry; entry to exit */
    double *correction;  /* counter: cost of a reading */
    double *reading_ns;  /* for each of runs_most runs: duration of a reading */
    double run_ns;       /* of all runs together */
};

/* --- statistics ------------------------------------------------------------------------------- */

/* Over the finite ones of `count` values, which are sorted; NaN if there are none. */
static double typical(double *values, size_t count)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) values[known++] = values[i];
    if (known == 0) return NAN;
    assay__stats_sort(values, known);
    return assay__stats_median(values, known) > 0 ? assay__stats_iqm(values, known)
                                                  : assay__stats_mean(values, known);
}

/* The mean over the markers of one run of the increase from `from` to `to`, both offsets from an
 * event's entry. Events from `first` on. */
static double over_markers(const struct counting *c, const struct assay__marker_log *log,
                           size_t first, ptrdiff_t from, ptrdiff_t to)
{
    double sum = 0;
    size_t known = 0;
    for (size_t p = first; p < log->count; p++) {
        const double *entry = log->counts + 2 * p * c->counters;
        double grown = entry[to] - entry[from];
        if (!isfinite(grown)) continue;
        sum += grown;
        known++;
    }
    return known ? sum / (double)known : NAN;
}

/* --- the graph -------------------------------------------------------------------------------- */

/* False: the markers ran in a different order. */
static bool collect(struct counting *c, const struct assay__marker_log *log)
{
    if (log->count != c->graph->mark_count) return false;
    for (size_t p = 0; p < log->count; p++)
        if (log->events[p].id != c->graph->sequence[p]) return false;
    for (size_t k = 0; k < c->graph->node_count * c->counters; k++)
        c->nodes[k * c->runs_most + c->runs] = 0;
    for (size_t p = 1; p < log->count; p++) {
        const double *entry = log->counts + 2 * p * c->counters, *before = entry - c->counters;
        size_t node = c->graph->first_of[p];
        for (size_t i = 0; node != SIZE_MAX && i < c->counters; i++) {
            double grown = entry[i] - before[i];
            c->skipped += !isfinite(grown);
            c->nodes[(node * c->counters + i) * c->runs_most + c->runs] += grown;
        }
    }
    double marker_ns = 0;
    for (size_t p = 0; p < log->count; p++)
        marker_ns += (double)(log->events[p].exit_ns - log->events[p].entry_ns);
    c->reading_ns[c->runs] = marker_ns / 2 / (double)log->count; /* two in a marker */
    for (size_t i = 0; i < c->counters; i++)
        c->readings[i * c->runs_most + c->runs] = over_markers(c, log, 0, (ptrdiff_t)i,
                                                               (ptrdiff_t)(c->counters + i));
    return true;
}

static int run_graph(struct counting *c, struct assay_error *error)
{
    struct assay__layer_work *work = c->work;
    struct assay__timed timed = {0};
    struct assay__timed_options options = {.path = c->graph->path,
                                           .optimization = ASSAY__ORT_OPT_NONE,
                                           .mark_count = c->graph->room,
                                           .counters = work->counters};
    int code = assay__timed_open(work->session, &options, &timed, error);
    work->counters->begin(work->counters->context);
    for (size_t i = 0; !code && i < RUNS_WARM; i++)
        code = assay__timed_run(&timed, NULL, error);
    double limit_s = fmax(work->budget_s * TIME_SHARE, TIME_LEAST_S);
    uint64_t start_ns = assay__now_ns();
    for (size_t tries = 0; !code && c->runs < c->runs_most && tries < 2 * RUNS_MOST; tries++) {
        double run_ns = 0, spent_s = (double)(assay__now_ns() - start_ns) * 1e-9;
        if (tries >= RUNS_LEAST && spent_s > limit_s) break;
        code = assay__timed_run(&timed, &run_ns, error);
        if (code || !collect(c, &timed.log)) continue;
        c->runs++;
        c->run_ns += run_ns;
    }
    work->counters->end(work->counters->context);
    assay__timed_close(&timed);
    if (!code && c->runs == 0)
        code = assay_error_set(error, ASSAY_EENGINE,
                               "nodes ran in a different order from run to run");
    return code;
}

static int run_chain(struct counting *c, struct assay_error *error)
{
    const struct assay__layer_counters *counters = c->work->counters;
    struct assay__chain chain;
    int code = assay__chain_open(c->work, CHAIN_LENGTH, counters, &chain, error);
    counters->begin(counters->context);
    if (!code) {
        for (size_t r = 0; !code && r < RUNS_WARM + CHAIN_RUNS; r++) {
            code = assay__timed_run(&chain.timed, NULL, error);
            if (code || r < RUNS_WARM) continue;
            for (size_t i = 0; i < c->counters; i++) {
                ptrdiff_t at = (ptrdiff_t)i, count = (ptrdiff_t)c->counters;
                c->gaps[i * CHAIN_RUNS + r - RUNS_WARM] = over_markers(c, &chain.timed.log, 1,
                                                                       at - count, at);
                c->owns[i * CHAIN_RUNS + r - RUNS_WARM] = over_markers(c, &chain.timed.log, 1, at,
                                                                       at + count);
            }
        }
    }
    counters->end(counters->context);
    assay__chain_close(c->work, &chain);
    return code;
}

/* --- the result ------------------------------------------------------------------------------- */

static int reduce(struct counting *c)
{
    for (size_t i = 0; i < c->counters; i++)
        c->correction[i] = typical(&c->readings[i * c->runs_most], c->runs) +
                           typical(&c->gaps[i * CHAIN_RUNS], CHAIN_RUNS) -
                           typical(&c->owns[i * CHAIN_RUNS], CHAIN_RUNS);
    for (size_t p = 1; p < c->graph->mark_count; p++) { /* nothing precedes the first one */
        size_t node = c->graph->first_of[p];
        if (node == SIZE_MAX) continue;
        double *values =
            c->work->layers[node].counters; /* already present: another iteration of a loop */
        bool first = !values;
        if (first) values = assay__arena_array(c->work->arena, c->counters, sizeof *values);
        if (!values) return ASSAY_ENOMEM;
        for (size_t i = 0; i < c->counters; i++) {
            if (first)
                values[i] = typical(&c->nodes[(node * c->counters + i) * c->runs_most], c->runs);
            values[i] -= c->correction[i];
        }
        c->work->layers[node].counters = values;
    }
    return 0;
}

void assay__layers_counted(struct assay__layer_work *work, const struct assay__counted_graph *graph)
{
    struct assay_error error = {0};
    struct counting c = {.work = work, .graph = graph, .counters = work->counters->count};
    size_t rows = graph->node_count * c.counters + c.counters;
    size_t room = SAMPLE_MEMORY / sizeof(double) / (rows ? rows : 1);
    c.runs_most = room < RUNS_LEAST ? RUNS_LEAST : room > RUNS_MOST ? RUNS_MOST : room;
    c.nodes = calloc(rows * c.runs_most + 1, sizeof *c.nodes);
    c.gaps = calloc(2 * c.counters * CHAIN_RUNS, sizeof *c.gaps);
    c.correction = calloc(c.counters, sizeof *c.correction);
    c.reading_ns = calloc(c.runs_most, sizeof *c.reading_ns);
    int code = c.nodes && c.gaps && c.correction && c.reading_ns ? 0 : ASSAY_ENOMEM;
    if (code == 0) {
        c.readings = c.nodes + graph->node_count * c.counters * c.runs_most;
        c.owns = c.gaps + c.counters * CHAIN_RUNS;
        code = run_graph(&c, &error);
    }
    if (code == 0) code = run_chain(&c, &error);
    if (code == 0) code = reduce(&c);
    if (code)
        work->result->counter_note = assay__arena_text(
            work->arena, "layers could not be counted: %s",
            error.message[0] ? error.message : "out of memory");
    else
        work->result->counter_note = assay__arena_text(
            work->arena,
            "%zu runs of the graph with markers that read the counters before and after every "
            "layer, %.1f times as long as an unprofiled run; a reading takes about %.1f µs, which "
            "is subtracted: counts of shorter layers are rough; counts are sums over the threads "
            "of the worker%s",
            c.runs, c.run_ns / (double)c.runs / graph->plain_ns,
            typical(c.reading_ns, c.runs) * 1e-3,
            c.skipped ? "; readings in which a counter was not scheduled are left out" : "");
    free(c.nodes);
    free(c.gaps);
    free(c.correction);
    free(c.reading_ns);
}
