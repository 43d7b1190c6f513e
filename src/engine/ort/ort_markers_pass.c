/* ort_markers_pass.c - one pass over a graph with markers: a fresh session, warmed, then timed run
 * by run, and the runs reduced to inter-quartile means. A run whose markers came in another order
 * is not used. */
#include "engine/ort/ort_markers.h"

#include "base/stats.h"

#include <math.h>

#define RUNS_LEAST 3 /* even when time is up */

size_t assay__marking_warm_runs(const struct assay__marking *m)
{
    double runs =
        5e6 /
        m->plain_ns; /* 5 ms: threads awake, caches and branch predictors in their usual state */
    return runs < 2 ? 2 : runs > 200 ? 200 : (size_t)runs;
}

/** The machine became slow: a pass ends early rather than going far beyond the budget. */
static bool out_of_time(const struct assay__marking *m)
{
    return assay__layers_elapsed_s(m->work) > m->work->budget_s;
}

/** Puts one run's gaps into the samples; false when the markers ran in another order. */
static bool collect(struct assay__marking *m, const struct assay__marker_log *log, size_t run,
                    size_t runs)
{
    if (log->count != m->plan.mark_count) return false;
    for (size_t p = 0; p < log->count; p++) {
        if (log->events[p].id != m->sequence[p]) return false;
        size_t node = m->first_of[p];
        if (node == SIZE_MAX || p == 0) continue;
        double gap_ns = (double)(log->events[p].entry_ns - log->events[p - 1].exit_ns);
        m->samples[node * runs + run] = gap_ns - m->gap_ns;
    }
    return true;
}

/** Each node's samples stand `stride` apart; `runs` of them are filled. */
static void reduce_nodes(struct assay__marking *m, struct assay__marking_round *round,
                         size_t stride, size_t runs)
{
    double means = 0, medians = 0;
    round->sum_ns = 0;
    for (size_t i = 0; i < m->node_count; i++) {
        round->node_ns[i] = NAN;
        /* The first event has nothing in front of it to measure from. */
        if (m->position[i] == SIZE_MAX || m->position[i] == 0) continue;
        double *values = &m->samples[i * stride];
        assay__stats_sort(values, runs);
        double time_ns = assay__stats_iqm(values, runs);
        round->node_ns[i] = time_ns > 0 ? time_ns : 0; /* below a marker's own cost */
        round->sum_ns += round->node_ns[i];
        means += assay__stats_mean(values, runs);
        medians += assay__stats_median(values, runs);
    }
    round->contention = medians > 0 ? means / medians - 1 : 0;
}

/** A fresh session of a graph with markers, warmed up. */
static int open_warm(struct assay__marking *m, const char *path, size_t mark_count,
                     struct assay__timed *timed, struct assay_error *error)
{
    struct assay__timed_options options = {
        .path = path, .optimization = ASSAY__ORT_OPT_NONE, .mark_count = mark_count + 1};
    int code = assay__timed_open(m->work->session, &options, timed, error);
    for (size_t i = assay__marking_warm_runs(m); !code && i > 0; i--)
        code = assay__timed_run(timed, NULL, error);
    return code;
}

int assay__marking_pass(struct assay__marking *m, struct assay__marking_round *round, size_t runs,
                        struct assay_error *error)
{
    struct assay__timed timed = {0};
    int code = open_warm(m, m->marked_path, m->plan.mark_count, &timed, error);
    size_t done = 0;
    for (size_t tries = 0; !code && done < runs && tries < 2 * runs; tries++) {
        if (done >= RUNS_LEAST && out_of_time(m)) break;
        code = assay__timed_run(&timed, &m->times[done], error);
        if (!code && collect(m, &timed.log, done, runs)) done++;
    }
    if (!code && done < RUNS_LEAST)
        code = assay_error_set(error, ASSAY_EENGINE, "nodes ran in another order from run to run");
    if (!code) {
        reduce_nodes(m, round, runs, done);
        assay__stats_sort(m->times, done);
        round->marked_run_ns = assay__stats_iqm(m->times, done);
        m->copies += timed.log.copies;
    }
    assay__timed_close(&timed);
    return code;
}

/** Position in the fully marked graph of a marker of the bracket. */
static size_t full_position(const struct assay__marking *m, const struct assay__mark *mark)
{
    return mark->input ? m->input_position[mark->index] : m->position[mark->index];
}

static bool holds_nodes(const struct assay__marking *m, size_t a, size_t b)
{
    size_t low = a < b ? a : b, high = a < b ? b : a;
    for (size_t p = low + 1; p <= high && p < m->plan.mark_count; p++)
        if (m->first_of[p] != SIZE_MAX) return true;
    return false;
}

/** All nodes' time in one bracketed run. */
static double bracket_total(const struct assay__marking *m, const struct assay__marker_log *log)
{
    double total_ns = 0;
    for (size_t e = 1; e < log->count; e++) {
        const struct assay__mark *before = &m->bracket_plan.marks[log->events[e - 1].id];
        const struct assay__mark *here = &m->bracket_plan.marks[log->events[e].id];
        if (!before->input && !here->input && before->index == here->index) continue;
        if (!holds_nodes(m, full_position(m, before), full_position(m, here))) continue;
        total_ns += (double)(log->events[e].entry_ns - log->events[e - 1].exit_ns) - m->gap_ns;
    }
    return total_ns;
}

int assay__marking_bracket_pass(struct assay__marking *m, struct assay__marking_round *round,
                                size_t runs, struct assay_error *error)
{
    struct assay__timed timed = {0};
    double markers_ns = (double)m->bracket_plan.mark_count * (m->own_ns + m->gap_ns + m->frame_ns);
    int code = open_warm(m, m->bracket_path, m->bracket_plan.mark_count, &timed, error);
    size_t done = 0;
    for (; !code && done < runs; done++) {
        if (done >= RUNS_LEAST && out_of_time(m)) break;
        code = assay__timed_run(&timed, &m->times[done], error);
        if (code) break;
        m->totals[done] = bracket_total(m, &timed.log);
        m->rests[done] = m->times[done] - m->totals[done] - markers_ns;
    }
    if (!code) {
        assay__stats_sort(m->totals, done);
        assay__stats_sort(m->rests, done);
        assay__stats_sort(m->times, done);
        round->bracket_ns = assay__stats_iqm(m->totals, done);
        round->engine_ns = assay__stats_iqm(m->rests, done);
        round->bracket_run_ns = assay__stats_iqm(m->times, done) - markers_ns;
    }
    assay__timed_close(&timed);
    return code;
}
