/* ort_markers_block.c - blocks of runs of the two graphs with markers. A block is short, so that
 * blocks and unprofiled runs can alternate and see the machine in the same state; a block next to
 * disturbed runs is discarded. A run whose markers came in a different order is not used. */
#include "engine/ort/ort_markers.h"

#include "base/clock.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

#define RUNS_LEAST 2 /* of a graph in a block, even when time is up */
#define RUNS_MOST 4000
#define ROW_MEMORY ((size_t)64 << 20)
#define MARKED_SHARE 0.6 /* of a block's time */
#define ALONE_BYTES 16e6 /* weights beyond the closer caches … */
#define ALONE_RATE 6e9   /* … streamed at this many bytes per second of a run … */
#define ALONE_ALWAYS 1e9 /* … or so large that two copies should be avoided */
#define STATE_TOLERANCE 0.04
#define PLAIN_SPINS_NS 45000000u  /* how long idle threads of ONNX Runtime keep spinning … */
#define MARKED_SPINS_NS 12000000u /* … and those of sessions with markers (ort_timed.c) */
#define BLOCKS_WANTED 5

bool assay__marking_wants_alone(const struct assay__marking *m)
{
    int64_t elements = 0, bytes = 0;
    if (!assay__model_parameters(m->work->optimized, &elements, &bytes)) return false;
    double weights = (double)bytes;
    return weights > ALONE_ALWAYS ||
           (weights > ALONE_BYTES && weights / (m->plain_ns * 1e-9) > ALONE_RATE);
}

int assay__marking_plan(struct assay__marking *m, struct assay_error *error)
{
    size_t room = ROW_MEMORY / sizeof(double) / (m->node_count + 1);
    m->runs_most = room < 8 ? 8 : room > RUNS_MOST ? RUNS_MOST : room;
    m->rows = calloc((m->node_count + 1) * m->runs_most, sizeof *m->rows);
    double **const lists[] = {&m->sums, &m->marked_ns, &m->totals, &m->rests, &m->times};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        *lists[i] = calloc(m->runs_most, sizeof **lists[i]);
        if (!*lists[i] || !m->rows) return assay__no_memory(error);
    }
    return 0;
}

void assay__marking_put_plain_away(struct assay__marking *m)
{
    assay__timed_close(&m->plain);
    assay__timed_suspend(m->work->session);
}

static int take_plain_back(struct assay__marking *m, struct assay_error *error)
{
    if (m->plain.session) return 0;
    int code = assay__timed_resume(m->work->session, error);
    return code ? code : assay__timed_borrow(m->work->session, &m->plain, error);
}

/* Runs before a session is timed. 5 ms: threads awake, caches and branch predictors in their usual
 * state. */
static size_t warm_runs(const struct assay__marking *m, bool fresh)
{
    double runs = 5e6 / m->plain_ns;
    size_t least = fresh ? 2 : 1, most = fresh ? 200 : 20;
    return runs < (double)least ? least : runs > (double)most ? most : (size_t)runs;
}

/* Opens it if it is not open, and warms it up. */
static int open_warm(struct assay__marking *m, const char *path, size_t mark_count,
                     struct assay__timed *timed, struct assay_error *error)
{
    struct assay__timed_options options = {
        .path = path, .optimization = ASSAY__ORT_OPT_NONE, .mark_count = mark_count + 1};
    bool fresh = m->blocks == 1 || !timed->session;
    int code = timed->session ? 0 : assay__timed_open(m->work->session, &options, timed, error);
    for (size_t i = warm_runs(m, fresh); !code && i > 0; i--)
        code = assay__timed_run(timed, NULL, error);
    return code;
}

/* Stores the gaps of one run in its row; false if the markers ran in a different order. */
static bool collect(struct assay__marking *m, const struct assay__marker_log *log)
{
    double *row = &m->rows[m->runs.marked * m->node_count], sum_ns = 0;
    if (log->count != m->event_count) return false;
    for (size_t i = 0; i < m->node_count; i++)
        row[i] = NAN;
    for (size_t p = 0; p < log->count; p++) {
        if (log->events[p].id != m->sequence[p]) return false;
        size_t node = m->first_of[p];
        if (node == SIZE_MAX || p == 0) continue; /* nothing precedes the first one */
        double own_ns = (double)(log->events[p].entry_ns - log->events[p - 1].exit_ns) - m->gap_ns;
        row[node] = isnan(row[node]) ? own_ns : row[node] + own_ns; /* a loop: all its iterations */
        sum_ns += own_ns;
    }
    m->sums[m->runs.marked] = sum_ns;
    return true;
}

static int run_marked(struct assay__marking *m, double seconds, struct assay_error *error)
{
    struct assay__timed *timed = &m->marked_session;
    int code = open_warm(m, m->marked_path, assay__marking_room(m), timed, error);
    uint64_t end_ns = assay__now_ns() + (uint64_t)(seconds * 1e9);
    size_t failed = 0;
    for (size_t done = 0; !code && m->runs.marked < m->runs_most;) {
        if (done >= RUNS_LEAST && assay__now_ns() >= end_ns) break;
        code = assay__timed_run(timed, &m->marked_ns[m->runs.marked], error);
        if (code) break;
        if (collect(m, &timed->log))
            m->runs.marked++, done++;
        else if (++failed > done + 2 * RUNS_LEAST)
            code = assay_error_set(error, ASSAY_EENGINE,
                                   "nodes ran in a different order from run to run");
    }
    m->copies += timed->log.copies;
    if (m->alone) assay__timed_close(timed);
    return code;
}

/* Position of a bracket's marker in the fully marked graph. */
static size_t full_position(const struct assay__marking *m, uint32_t id)
{
    const struct assay__mark *mark = &m->bracket_plan.marks[id];
    return mark->input ? m->input_position[mark->index] : m->position[mark->index];
}

/* Time of all nodes in one bracketed run: the gaps between markers that contain a node. */
static double bracket_total(const struct assay__marking *m, const struct assay__marker_log *log)
{
    double total_ns = 0;
    for (size_t e = 1; e < log->count; e++) {
        size_t a = full_position(m, log->events[e - 1].id);
        size_t b = full_position(m, log->events[e].id);
        size_t low = a < b ? a : b, high = a < b ? b : a;
        bool holds_node = false;
        for (size_t p = low + 1; p <= high && p < m->event_count; p++)
            holds_node |= m->first_of[p] != SIZE_MAX;
        if (holds_node)
            total_ns += (double)(log->events[e].entry_ns - log->events[e - 1].exit_ns) - m->gap_ns;
    }
    return total_ns;
}

static int run_bracket(struct assay__marking *m, double seconds, struct assay_error *error)
{
    struct assay__timed *timed = &m->bracket_session;
    double markers_ns = (double)m->bracket_plan.mark_count * (m->own_ns + m->gap_ns + m->frame_ns);
    int code = open_warm(m, m->bracket_path, m->bracket_plan.mark_count, timed, error);
    uint64_t end_ns = assay__now_ns() + (uint64_t)(seconds * 1e9);
    for (size_t done = 0; !code && m->runs.bracket < m->runs_most; done++) {
        if (done >= RUNS_LEAST && assay__now_ns() >= end_ns) break;
        size_t run = m->runs.bracket;
        code = assay__timed_run(timed, &m->times[run], error);
        if (code) break;
        m->times[run] -= markers_ns;
        m->totals[run] = bracket_total(m, &timed->log);
        m->rests[run] = m->times[run] - m->totals[run];
        m->runs.bracket++;
    }
    if (m->alone) assay__timed_close(timed);
    return code;
}

/* Waits until the threads of the session that ran last no longer disturb the next. */
static void let_spin_out(const struct assay__marking *m, uint64_t spins_ns)
{
    const struct assay__session *session = m->work->session;
    if (!m->alone && session->threads != 1 && session->spinning != 0) assay__sleep_ns(spins_ns);
}

int assay__marking_block(struct assay__marking *m, double seconds, struct assay_error *error)
{
    m->before = m->runs;
    m->blocks++;
    if (m->alone) assay__marking_put_plain_away(m);
    let_spin_out(m, PLAIN_SPINS_NS);
    int code = run_marked(m, seconds * MARKED_SHARE, error);
    let_spin_out(m, MARKED_SPINS_NS);
    if (!code) code = run_bracket(m, seconds * (1 - MARKED_SHARE), error);
    let_spin_out(m, MARKED_SPINS_NS);
    return code ? code : take_plain_back(m, error);
}

void assay__marking_drop(struct assay__marking *m)
{
    m->runs = m->before;
    m->dropped++;
}

static double relative_difference(double a, double b)
{
    return fabs(a - b) / fmin(a, b);
}

/* Both unprofiled medians around a block must agree with each other and with the latency. */
static bool is_steady(const struct assay__marking *m, double before_ns, double after_ns)
{
    double latency_ns = m->work->latency_ns, mean_ns = (before_ns + after_ns) / 2;
    return relative_difference(before_ns, after_ns) <= STATE_TOLERANCE &&
           (!(latency_ns > 0) || relative_difference(mean_ns, latency_ns) <= STATE_TOLERANCE);
}

int assay__marking_alternate(struct assay__marking *m, struct assay_error *error)
{
    double create_s = m->work->session->create_ns * 1e-9, before_ns, after_ns;
    double block_s = m->work->budget_s / (BLOCKS_WANTED + 1.5) - (m->alone ? 3 : 0) * create_s;
    double runs = fmax(block_s, 0) / (m->plain_ns * 1e-9) / 4;
    size_t plain_runs = runs < 3 ? 3 : runs > 1000 ? 1000 : (size_t)runs;
    int code = assay__timed_median(&m->plain, warm_runs(m, true), plain_runs, &before_ns, error);
    for (int good = 0; !code && good < BLOCKS_WANTED; before_ns = after_ns) {
        code = assay__marking_block(m, fmax(block_s, 0) * 0.75, error);
        if (code) break;
        code = assay__timed_median(&m->plain, warm_runs(m, m->alone), plain_runs, &after_ns, error);
        if (code) break;
        double left_s = m->work->budget_s - assay__layers_elapsed_s(m->work);
        if (is_steady(m, before_ns, after_ns))
            good++;
        else if (left_s > m->work->budget_s / 3)
            assay__marking_drop(m); /* otherwise use what there is */
        if (left_s < block_s) break;
    }
    return code;
}
