/* ort_markers.c - layer times from markers inside the real graph.
 *
 * The optimised graph gets a marker behind every node (ort_instrument.c) and runs in a session of
 * its own. Then
 *   time of a node = entry of its first marker - exit of the marker before that in time - c,
 * c being the same gap between two markers with nothing in between, from a chain of markers. A node
 * ends with the first of its markers in time; gaps before its other markers and before markers of
 * graph inputs hold no node and are dropped.
 *
 * A second session, the bracket, has markers on the graph inputs and behind the last node only:
 * almost undisturbed, it gives the time of all nodes together and what a run costs before the first
 * and after the last node. The node times are scaled to the bracket's total; the factor is
 * reported. Nothing is scaled to the latency.
 *
 * One round = unprofiled runs, marked session, bracket session, unprofiled runs; sessions are fresh
 * in each round because two sessions of one model differ by percents. A round counts when the
 * unprofiled medians before and after it agree within 4 % with each other and with the launch's
 * latency: otherwise the machine was in another state, and its times would not belong to that
 * latency. For the same reason the marked graph's sum and the bracket's total must agree within 15
 * %. Within a round a node's time is the inter-quartile mean of its runs (finer than the clock's
 * step), over rounds the median. When means and medians of the nodes differ by more than 5 %,
 * something else ran, and the result says so.
 *
 * The speed of a model that streams large weights depends on where they are in memory: of two
 * sessions open at once the later one ran 2 to 5 % faster on an AlexNet (4 kB pages; either model
 * first), one after the other they ran equally fast. For such models no two sessions are open at
 * once while one is timed.
 *
 * A graph with markers that gives other outputs is refused.
 *
 * Limits: CPU provider, sequential execution, one run at a time. */
#include "engine/ort/ort_instrument.h"
#include "engine/ort/ort_layers.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/stats.h"
#include "profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MOST 2000
#define SAMPLE_MEMORY ((size_t)64 << 20)
#define RUNS_LEAST 3 /* even when time is up */
#define ROUNDS_WANTED 5
/* markers and bracket: more means that the machine changed in between */
#define PASS_TOLERANCE 0.15
#define ALONE_BYTES 16e6 /* weights beyond the near caches … */
#define ALONE_RATE 3e9   /* … streamed at this many bytes per second of a run … */
#define ALONE_ALWAYS 1e9 /* … or so large that two copies of them are a burden */
#define ROUNDS_MOST 24
#define STATE_TOLERANCE 0.04
#define CHAIN_LENGTH 20
#define CHAIN_RUNS 400
/* usual: 20 to 50; beyond it the machine changed between the two chains */
#define FRAME_MOST_NS 80

struct round {
    double *node_ns; /* by node; NaN where it has none */
    double sum_ns;
    double bracket_ns, engine_ns; /* all nodes; the rest of a run */
    double marked_run_ns, bracket_run_ns;
    double before_ns, after_ns;
    double contention; /* sum of means / sum of medians - 1 */
    double deviation;  /* of the unprofiled runs around it from each other and from the latency */
    double apart;      /* of the marked graph's sum from the bracket's total */
};

struct marking {
    struct assay__layer_work *work;
    size_t node_count;
    char marked_path[ASSAY__LAYERS_PATH], bracket_path[ASSAY__LAYERS_PATH];
    struct assay__mark_plan plan, bracket_plan; /* in the arenas of the models below */
    struct assay__model *marked, *bracket;
    uint32_t *sequence;     /* marker ids in the order of time */
    size_t *first_of;       /* by position: the node whose first marker this is, or SIZE_MAX */
    size_t *position;       /* by node: position of its first marker, or SIZE_MAX */
    size_t *input_position; /* by graph input */
    double gap_ns, own_ns;  /* c, and a marker's entry to exit */
    double frame_ns;        /* what one more value costs the run beyond that */
    double *samples;        /* node_count x runs */
    double *totals, *rests, *times;
    size_t runs_most;
    struct assay__timed plain;
    double plain_ns;
    bool alone; /* one session open at a time */
    struct round rounds[ROUNDS_MOST];
    size_t round_count;
    uint64_t copies;
    bool *scalars, has_scalars; /* by marker id */
};

/** Puts the values in order; their inter-quartile mean. */
static double iqm(double *values, size_t count)
{
    assay__stats_sort(values, count);
    return assay__stats_iqm(values, count);
}

/* --- the graphs with markers: made, tried, their order learnt --------------------------------- */

static int write_marked(struct marking *m, const struct assay__mark_options *options,
                        const char *name, struct assay__model **model,
                        struct assay__mark_plan *plan, char *path, struct assay_error *error)
{
    assay__model_free(*model);
    *model = NULL;
    int code = assay__layers_path(m->work, name, path, ASSAY__LAYERS_PATH, error);
    if (!code) code = assay__model_read(m->work->optimized_path, model, error);
    if (!code) code = assay__markers_insert(*model, options, plan, error);
    if (!code) code = assay__model_write(*model, path, error);
    return code;
}

/** The order in which the markers ran, and from it the order of the nodes. */
static int learn_order(struct marking *m, const struct assay__timed *timed,
                       struct assay_error *error)
{
    const struct assay__marker_log *log = &timed->log;
    if (log->dropped || log->count != m->plan.mark_count)
        return assay_error_set(error, ASSAY_EENGINE, "%zu of %zu markers ran in one run",
                               log->count, m->plan.mark_count);
    for (size_t i = 0; i < m->node_count; i++)
        m->position[i] = SIZE_MAX;
    for (size_t p = 0; p < log->count; p++) {
        uint32_t id = log->events[p].id;
        if (id >= m->plan.mark_count)
            return assay_error_set(error, ASSAY_EENGINE, "an unknown marker ran");
        const struct assay__mark *mark = &m->plan.marks[id];
        m->sequence[p] = id;
        m->first_of[p] = SIZE_MAX;
        if (mark->input)
            m->input_position[mark->index] = p;
        else if (m->position[mark->index] == SIZE_MAX) {
            m->position[mark->index] = p;
            m->first_of[p] = mark->index;
        }
    }
    return 0;
}

static int check_outputs(struct marking *m, struct assay__timed *timed, struct assay_error *error)
{
    struct assay__session *session = m->work->session;
    double largest = 0;
    if (m->work->random) {
        assay__layers_say(
            m->work, "The model draws random numbers: outputs with markers were not compared.");
        return 0;
    }
    for (size_t i = 0; i < timed->output_count; i++)
        largest = fmax(largest, assay__values_difference(&session->ort, session->allocator,
                                                         m->plain.outputs[i], timed->outputs[i]));
    if (largest == 0) return 0;
    if (largest > 1e-3)
        return assay_error_set(error, ASSAY_EENGINE, "the graph with markers gives other outputs");
    assay__layers_say(m->work, "Outputs with markers differ by up to %.1e of the largest value.",
                      largest);
    return 0;
}

/** Opens the marked graph once: it must load, run, and give the same outputs. */
static int try_marked(struct marking *m, struct assay_error *error)
{
    struct assay__timed timed = {0};
    struct assay__timed_options options = {.path = m->marked_path,
                                           .optimization = ASSAY__ORT_OPT_NONE,
                                           .mark_count = m->plan.mark_count + 1};
    int code = assay__timed_open(m->work->session, &options, &timed, error);
    for (int i = 0; !code && i < 2; i++)
        code = assay__timed_run(&timed, NULL, error);
    if (!code) code = learn_order(m, &timed, error);
    if (!code) code = assay__timed_run(&m->plain, NULL, error);
    if (!code) code = check_outputs(m, &timed, error);
    m->has_scalars = false;
    for (size_t i = 0; !code && i < m->plan.mark_count; i++) {
        m->scalars[i] = timed.log.scalars[i];
        m->has_scalars |= m->scalars[i];
    }
    assay__timed_close(&timed);
    return code;
}

static int make_marked(struct marking *m, struct assay_error *error)
{
    struct assay__mark_options options = {0};
    int code = write_marked(m, &options, "marked.onnx", &m->marked, &m->plan, m->marked_path,
                            error);
    size_t inputs = m->work->optimized->graph.input_count;
    for (int attempt = 0; !code && attempt < 2; attempt++) {
        struct assay__arena *arena = m->work->arena;
        size_t marks = m->plan.mark_count;
        m->sequence = assay__arena_array(arena, marks + 1, sizeof *m->sequence);
        m->first_of = assay__arena_array(arena, marks + 1, sizeof *m->first_of);
        m->position = assay__arena_array(arena, m->node_count + 1, sizeof *m->position);
        m->input_position = assay__arena_array(arena, inputs + 1, sizeof *m->input_position);
        m->scalars = assay__arena_array(arena, marks + 1, sizeof *m->scalars);
        if (assay__arena_failed(arena)) return assay__no_memory(error);
        code = try_marked(m, error);
        if (!code && m->has_scalars) {
            /* say so in the graph: shapes behind scalars then stay known */
            options.scalars = m->scalars;
            code = write_marked(m, &options, "marked.onnx", &m->marked, &m->plan, m->marked_path,
                                error);
            if (!code) code = try_marked(m, error);
        }
        if (!code || attempt > 0) break;
        /* Perhaps a value without a declared type was no tensor after all. */
        options.strict = true;
        options.scalars = NULL;
        code = write_marked(m, &options, "marked.onnx", &m->marked, &m->plan, m->marked_path,
                            error);
    }
    return code;
}

static int make_bracket(struct marking *m, struct assay_error *error)
{
    bool *wanted = assay__arena_array(m->work->arena, m->node_count + 1, sizeof *wanted);
    if (!wanted) return assay__no_memory(error);
    for (size_t p = m->plan.mark_count; p-- > 0;)
        if (m->first_of[p] != SIZE_MAX) {
            wanted[m->first_of[p]] = true;
            break;
        }
    /* Without an input before it, the bracket begins at the first node. */
    if (m->plan.mark_count && m->first_of[0] != SIZE_MAX) wanted[m->first_of[0]] = true;
    struct assay__mark_options options = {.nodes = wanted};
    return write_marked(m, &options, "bracket.onnx", &m->bracket, &m->bracket_plan, m->bracket_path,
                        error);
}

/* --- the order of the nodes ------------------------------------------------------------------- */

struct ranked {
    double key;
    size_t node;
};

static int by_key(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int order_nodes(struct marking *m)
{
    const struct assay__graph *graph = &m->work->optimized->graph;
    struct ranked *ranks = assay__arena_array(m->work->arena, m->node_count + 1, sizeof *ranks);
    m->work->order = assay__arena_array(m->work->arena, m->node_count + 1, sizeof *m->work->order);
    struct assay__map *keys =
        assay__map_new(); /* value -> lowest position of a consumer, doubled */
    int code = ranks && m->work->order && keys ? 0 : ASSAY_ENOMEM;
    /* Consumers come first: the file is in topological order. */
    for (size_t i = m->node_count; !code && i-- > 0;) {
        const struct assay__node *node = &graph->nodes[i];
        size_t key = 2 * m->plan.mark_count + 2;
        if (m->position[i] != SIZE_MAX) {
            key = 2 * m->position[i] + 1;
        } else {
            for (size_t k = 0; k < node->output_count; k++) {
                size_t found = assay__map_get(keys, node->outputs[k]);
                if (found != ASSAY__MAP_NONE && found < key) key = found;
            }
            key -= key % 2; /* just before its consumer; equal keys keep the order of the file */
        }
        ranks[i] = (struct ranked){.key = (double)key, .node = i};
        for (size_t k = 0; !code && k < node->input_count; k++) {
            size_t found = assay__map_get(keys, node->inputs[k]);
            if (found == ASSAY__MAP_NONE || key < found)
                code = assay__map_set(keys, node->inputs[k], key);
        }
    }
    assay__map_free(keys);
    if (code) return code;
    qsort(ranks, m->node_count, sizeof *ranks, by_key);
    for (size_t i = 0; i < m->node_count; i++)
        m->work->order[i] = ranks[i].node;
    return 0;
}

/* --- what a marker costs ---------------------------------------------------------------------- */

/* What a chain of markers shows: gaps between them, their own time, the whole run. */
struct chain_times {
    double gap_ns, own_ns, run_ns;
};

int assay__chain_open(struct assay__layer_work *work, size_t length,
                      const struct assay__layer_counters *counters, struct assay__chain *chain,
                      struct assay_error *error)
{
    static const char *const input_names[] = {"x"}, *const output_names[] = {"y"};
    const struct assay__ort *ort = &work->session->ort;
    char path[ASSAY__LAYERS_PATH];
    *chain = (struct assay__chain){.number = 1};
    const int64_t one = 1;
    int code = assay__path_join(work->folder, "chain.onnx", path, sizeof path);
    struct assay__model *model = assay__marker_chain(length);
    if (!code && !model) code = assay__no_memory(error);
    if (!code) code = assay__model_write(model, path, error);
    if (!code)
        code = assay__ort_check(ort,
                                ort->create_tensor_with_data(
                                    work->session->cpu_memory, &chain->number, sizeof chain->number,
                                    &one, 1, ASSAY__ORT_ELEMENT_FLOAT, &chain->value),
                                error, "cannot make a tensor");
    struct assay__timed_options options = {.path = path,
                                           .optimization = ASSAY__ORT_OPT_NONE,
                                           .mark_count = length,
                                           .counters = counters,
                                           .input_names = input_names,
                                           .inputs = (const OrtValue *const *)&chain->value,
                                           .input_count = 1,
                                           .output_names = output_names,
                                           .output_count = 1};
    if (!code) code = assay__timed_open(work->session, &options, &chain->timed, error);
    assay__model_free(model);
    return code;
}

void assay__chain_close(struct assay__layer_work *work, struct assay__chain *chain)
{
    assay__timed_close(&chain->timed);
    assay__ort_release_values(&work->session->ort, &chain->value, 1);
}

static int time_chain(struct marking *m, size_t length, struct chain_times *times,
                      struct assay_error *error)
{
    struct assay__chain chain;
    size_t room = (size_t)CHAIN_RUNS * CHAIN_LENGTH, count = 0;
    double *gaps = calloc(room, sizeof *gaps), *owns = calloc(room, sizeof *owns);
    double runs[CHAIN_RUNS] = {0};
    int code = assay__chain_open(m->work, length, NULL, &chain, error);
    if (!code && (!gaps || !owns)) code = assay__no_memory(error);
    for (size_t i = 0; !code && i < CHAIN_RUNS / 4; i++)
        code = assay__timed_run(&chain.timed, NULL, error);
    for (size_t i = 0; !code && i < CHAIN_RUNS; i++) {
        code = assay__timed_run(&chain.timed, &runs[i], error);
        const struct assay__marker_event *events = chain.timed.log.events;
        for (size_t k = 1; !code && k < chain.timed.log.count && count < room; k++, count++) {
            gaps[count] = (double)(events[k].entry_ns - events[k - 1].exit_ns);
            owns[count] = (double)(events[k].exit_ns - events[k].entry_ns);
        }
    }
    if (!code && count)
        *times = (struct chain_times){iqm(gaps, count), iqm(owns, count), iqm(runs, CHAIN_RUNS)};
    assay__chain_close(m->work, &chain);
    free(gaps);
    free(owns);
    return code;
}

/* A marker costs a run more than its own time and the gap: the engine keeps books about one more
 * value. Two chains of different length give the whole, and the rest is what the bracket's own
 * markers must not be charged to the engine. */
static int measure_marker(struct marking *m, struct assay_error *error)
{
    struct chain_times full = {0}, half = {0};
    int code = time_chain(m, CHAIN_LENGTH, &full, error);
    if (!code) code = time_chain(m, CHAIN_LENGTH / 2, &half, error);
    if (code) return code;
    m->gap_ns = full.gap_ns;
    m->own_ns = full.own_ns;
    double whole_ns = (full.run_ns - half.run_ns) / (CHAIN_LENGTH - CHAIN_LENGTH / 2);
    m->frame_ns = fmin(fmax(whole_ns - full.gap_ns - full.own_ns, 0), FRAME_MOST_NS);
    return 0;
}

/* --- a pass: a fresh session, warmed, then timed run by run ----------------------------------- */

/** How often a session runs before it is timed. */
static size_t warm_runs(const struct marking *m)
{
    /* 5 ms: threads awake, caches and branch predictors in their usual state */
    double runs = 5e6 / m->plain_ns;
    return runs < 2 ? 2 : runs > 200 ? 200 : (size_t)runs;
}

/** The machine became slow: a pass ends early rather than going far beyond the budget. */
static bool out_of_time(const struct marking *m)
{
    return assay__layers_elapsed_s(m->work) > m->work->budget_s;
}

/** Each node's samples stand `stride` apart; `runs` of them are filled. */
static void reduce_nodes(struct marking *m, struct round *round, size_t stride, size_t runs)
{
    double means = 0, medians = 0;
    round->sum_ns = 0;
    for (size_t i = 0; i < m->node_count; i++) {
        round->node_ns[i] = NAN;
        /* The first event has nothing in front of it to measure from. */
        if (m->position[i] == SIZE_MAX || m->position[i] == 0) continue;
        double *values = &m->samples[i * stride];
        round->node_ns[i] = fmax(iqm(values, runs), 0); /* 0: below a marker's own cost */
        round->sum_ns += round->node_ns[i];
        means += assay__stats_mean(values, runs);
        medians += assay__stats_median(values, runs);
    }
    round->contention = medians > 0 ? means / medians - 1 : 0;
}

/** A fresh session of a graph with markers, warmed up. */
static int open_warm(struct marking *m, const char *path, size_t mark_count,
                     struct assay__timed *timed, struct assay_error *error)
{
    struct assay__timed_options options = {
        .path = path, .optimization = ASSAY__ORT_OPT_NONE, .mark_count = mark_count + 1};
    int code = assay__timed_open(m->work->session, &options, timed, error);
    for (size_t i = warm_runs(m); !code && i > 0; i--)
        code = assay__timed_run(timed, NULL, error);
    return code;
}

static int run_marked(struct marking *m, struct round *round, size_t runs,
                      struct assay_error *error)
{
    struct assay__timed timed = {0};
    const struct assay__marker_event *events;
    int code = open_warm(m, m->marked_path, m->plan.mark_count, &timed, error);
    size_t done = 0;
    for (size_t tries = 0; !code && done < runs && tries < 2 * runs; tries++) {
        if (done >= RUNS_LEAST && out_of_time(m)) break;
        code = assay__timed_run(&timed, &m->times[done], error);
        bool usable = !code && timed.log.count == m->plan.mark_count;
        events = timed.log.events;
        for (size_t p = 0; usable && p < timed.log.count; p++) {
            usable = events[p].id == m->sequence[p]; /* else the markers ran in another order */
            size_t node = m->first_of[p];
            if (!usable || node == SIZE_MAX || p == 0) continue;
            double gap_ns = (double)(events[p].entry_ns - events[p - 1].exit_ns);
            m->samples[node * runs + done] = gap_ns - m->gap_ns;
        }
        done += usable;
    }
    if (!code && done < RUNS_LEAST)
        code = assay_error_set(error, ASSAY_EENGINE, "nodes ran in another order from run to run");
    if (!code) {
        reduce_nodes(m, round, runs, done);
        round->marked_run_ns = iqm(m->times, done);
        m->copies += timed.log.copies;
    }
    assay__timed_close(&timed);
    return code;
}

/** Position of a bracket's marker in the fully marked graph. */
static size_t full_position(const struct marking *m, uint32_t id)
{
    const struct assay__mark *mark = &m->bracket_plan.marks[id];
    return mark->input ? m->input_position[mark->index] : m->position[mark->index];
}

/** All nodes' time in one bracketed run: the gaps between markers that hold a node. */
static double bracket_total(const struct marking *m, const struct assay__marker_log *log)
{
    double total_ns = 0;
    for (size_t e = 1; e < log->count; e++) {
        size_t a = full_position(m, log->events[e - 1].id);
        size_t b = full_position(m, log->events[e].id);
        size_t low = a < b ? a : b, high = a < b ? b : a;
        bool holds_node = false;
        for (size_t p = low + 1; p <= high && p < m->plan.mark_count; p++)
            holds_node |= m->first_of[p] != SIZE_MAX;
        if (holds_node)
            total_ns += (double)(log->events[e].entry_ns - log->events[e - 1].exit_ns) - m->gap_ns;
    }
    return total_ns;
}

static int run_bracket(struct marking *m, struct round *round, size_t runs,
                       struct assay_error *error)
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
        round->bracket_ns = iqm(m->totals, done);
        round->engine_ns = iqm(m->rests, done);
        round->bracket_run_ns = iqm(m->times, done) - markers_ns;
    }
    assay__timed_close(&timed);
    return code;
}

/* --- rounds: passes between runs without markers, and which of them count --------------------- */

struct amounts {
    size_t marked, bracket, plain;
};

static size_t clamp_runs(double runs, size_t least, size_t most)
{
    return !(runs > (double)least) ? least : runs > (double)most ? most : (size_t)runs;
}

static double relative_difference(double a, double b)
{
    return fabs(a - b) / fmin(a, b);
}

static double deviation(const struct marking *m, double before_ns, double after_ns)
{
    double value = relative_difference(before_ns, after_ns);
    if (isfinite(m->work->latency_ns) && m->work->latency_ns > 0)
        value = fmax(value, relative_difference((before_ns + after_ns) / 2, m->work->latency_ns));
    return value;
}

/** At most 1: the round counts. */
static double badness(const struct round *round)
{
    return fmax(round->deviation / STATE_TOLERANCE, round->apart / PASS_TOLERANCE);
}

static void put_plain_away(struct marking *m)
{
    assay__timed_close(&m->plain);
    assay__timed_suspend(m->work->session);
}

static int measure_round(struct marking *m, const struct amounts *amounts, double *before_ns,
                         struct assay_error *error)
{
    struct round *round = &m->rounds[m->round_count];
    round->node_ns = assay__arena_array(m->work->arena, m->node_count + 1, sizeof *round->node_ns);
    if (!round->node_ns) return assay__no_memory(error);
    round->before_ns = *before_ns;
    if (m->alone) put_plain_away(m);
    int code = run_marked(m, round, amounts->marked, error);
    if (!code) code = run_bracket(m, round, amounts->bracket, error);
    if (!code && m->alone) code = assay__timed_resume(m->work->session, error);
    if (!code && m->alone) code = assay__timed_borrow(m->work->session, &m->plain, error);
    if (!code)
        code = assay__timed_median(&m->plain, warm_runs(m), amounts->plain, &round->after_ns,
                                   error);
    if (code) return code;
    *before_ns = round->after_ns;
    round->deviation = deviation(m, round->before_ns, round->after_ns);
    bool both = round->sum_ns > 0 && round->bracket_ns > 0;
    round->apart = both ? relative_difference(round->sum_ns, round->bracket_ns) : 0;
    m->round_count++;
    return 0;
}

static int by_badness(const void *a, const void *b)
{
    double x = badness(a), y = badness(b);
    return x < y ? -1 : x > y;
}

static int run_rounds(struct marking *m, size_t *good, struct assay_error *error)
{
    double before_ns = m->plain_ns, longest_s = 0, plain_s = m->plain_ns * 1e-9;
    int64_t elements = 0, bytes = 0;
    if (assay__model_parameters(m->work->optimized, &elements, &bytes))
        m->alone = (double)bytes > ALONE_ALWAYS ||
                   ((double)bytes > ALONE_BYTES && (double)bytes / plain_s > ALONE_RATE);
    /* How often each graph runs in a round, so that about five rounds fit the budget. */
    double create_s = m->work->session->create_ns * 1e-9;
    double round_s = m->work->budget_s / (ROUNDS_WANTED + 1.5) - (m->alone ? 3 : 2) * create_s;
    const struct amounts amounts = {.marked = clamp_runs(round_s / plain_s * 0.45, 5, m->runs_most),
                                    .bracket = clamp_runs(round_s / plain_s * 0.3, 4, m->runs_most),
                                    .plain = clamp_runs(round_s / plain_s * 0.25, 3, m->runs_most)};
    int code = assay__timed_median(&m->plain, warm_runs(m), amounts.plain, &before_ns, error);
    *good = 0;
    while (!code && *good < ROUNDS_WANTED && m->round_count < ROUNDS_MOST) {
        double start_s = assay__layers_elapsed_s(m->work);
        if (m->round_count > 0 && start_s + longest_s > m->work->budget_s) break;
        /* Waits a little for the machine to be as it was when the latency was taken. */
        for (int i = 0; i < 3 && !code; i++) {
            if (deviation(m, before_ns, before_ns) <= STATE_TOLERANCE) break;
            assay__sleep_ns(20000000);
            code = assay__timed_median(&m->plain, warm_runs(m), amounts.plain, &before_ns, error);
        }
        if (!code) code = measure_round(m, &amounts, &before_ns, error);
        if (code) break;
        *good += badness(&m->rounds[m->round_count - 1]) <= 1;
        longest_s = fmax(longest_s, assay__layers_elapsed_s(m->work) - start_s);
    }
    qsort(m->rounds, m->round_count, sizeof m->rounds[0], by_badness);
    return code;
}

/* --- the result ------------------------------------------------------------------------------- */

/** Median over rounds of the double at `offset` in each. */
static double over_rounds(const struct marking *m, size_t count, size_t offset)
{
    double values[ROUNDS_MOST];
    for (size_t i = 0; i < count; i++)
        memcpy(&values[i], (const char *)&m->rounds[i] + offset, sizeof values[i]);
    assay__stats_sort(values, count);
    return assay__stats_median(values, count);
}

#define OVER_ROUNDS(m, count, member) over_rounds(m, count, offsetof(struct round, member))

static void fill_layers(struct marking *m, size_t count)
{
    struct assay__layers *result = m->work->result;
    double values[ROUNDS_MOST], sum_ns = 0;
    for (size_t i = 0; i < m->node_count; i++) {
        for (size_t r = 0; r < count; r++)
            values[r] = m->rounds[r].node_ns[i];
        if (isnan(values[0])) continue;
        assay__stats_sort(values, count);
        m->work->layers[i].time_ns = assay__stats_median(values, count);
        sum_ns += m->work->layers[i].time_ns;
    }
    double bracket_ns = OVER_ROUNDS(m, count, bracket_ns);
    result->engine_ns = OVER_ROUNDS(m, count, engine_ns);
    result->scale_factor = sum_ns > 0 && bracket_ns > 0 ? bracket_ns / sum_ns : NAN;
    for (size_t i = 0; i < m->node_count; i++) {
        struct assay__layer *layer = &m->work->layers[i];
        const struct assay__node *node = &m->work->optimized->graph.nodes[i];
        layer->state = isnan(layer->time_ns) ? ASSAY_UNAVAILABLE : ASSAY_MEASURED;
        if (isfinite(result->scale_factor)) layer->time_ns *= result->scale_factor;
        if (m->position[i] == SIZE_MAX)
            layer->note =
                node->output_count
                    ? "its values cannot carry a marker: its time is in the layer that ran after it"
                    : "has no output: its time is in the layer that ran after it";
        else if (m->position[i] == 0)
            layer->note = "runs before the first marker: its time is in the engine row";
    }
}

static void describe(struct marking *m, size_t count, size_t good)
{
    struct assay__layers *result = m->work->result;
    double low = INFINITY, high = 0;
    for (size_t r = 0; r < count; r++) {
        low = fmin(low, m->rounds[r].bracket_ns);
        high = fmax(high, m->rounds[r].bracket_ns);
    }
    result->method = "markers";
    result->sessions = (int)count;
    result->discarded = (int)(m->round_count - count);
    result->spread = count > 1 && low > 0 ? (high - low) / low : NAN;
    result->contention = OVER_ROUNDS(m, count, contention);
    result->slowdown = OVER_ROUNDS(m, count, marked_run_ns) / OVER_ROUNDS(m, count, before_ns);
    double bracket_run = OVER_ROUNDS(m, count, bracket_run_ns) / OVER_ROUNDS(m, count, before_ns);
    if (good == 0 && m->rounds[0].deviation > STATE_TOLERANCE)
        assay__layers_say(m->work,
                          "The machine did not keep the speed of the latency pass: the unprofiled "
                          "runs around the layer passes differ by %.0f %% or more from it or from "
                          "each other.",
                          100 * m->rounds[0].deviation);
    else if (good == 0)
        assay__layers_say(m->work,
                          "The sum of the layers and the total of the bracket differ by %.0f %%.",
                          100 * m->rounds[0].apart);
    if (fabs(bracket_run - 1) > 0.05)
        assay__layers_say(m->work, "The reloaded graph runs %.2f times as long as the model.",
                          bracket_run);
    if (result->contention > ASSAY__CONTENTION_LIMIT)
        assay__layers_say(
            m->work,
            "Means of the nodes are %.0f %% above their medians: other processes disturbed them.",
            100 * result->contention);
    if (m->copies)
        assay__layers_say(m->work, "Markers had to copy %llu times: layer times are too high.",
                          (unsigned long long)m->copies);
}

/* --- the whole -------------------------------------------------------------------------------- */

static struct marking *marking_new(struct assay__layer_work *work)
{
    struct marking *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->work = work;
    m->node_count = work->optimized->graph.node_count;
    return m;
}

static void marking_free(struct marking *m)
{
    assay__timed_close(&m->plain);
    assay__model_free(m->marked);
    assay__model_free(m->bracket);
    assay__layers_unlink(m->marked_path);
    assay__layers_unlink(m->bracket_path);
    free(m->samples);
    free(m);
}

static int prepare(struct marking *m, struct assay_error *error)
{
    int code = assay__timed_borrow(m->work->session, &m->plain, error);
    if (!code) code = assay__timed_median(&m->plain, 1, 3, &m->plain_ns, error);
    if (!code) code = measure_marker(m, error);
    if (!code) code = make_marked(m, error);
    if (!code) code = make_bracket(m, error);
    if (code) return code;
    size_t room = SAMPLE_MEMORY / sizeof(double) / (m->node_count + 1);
    m->runs_most = room < 8 ? 8 : room > RUNS_MOST ? RUNS_MOST : room;
    /* one piece of memory: totals, rests and times follow the samples */
    m->samples = calloc((m->node_count + 3) * (m->runs_most + 1), sizeof *m->samples);
    if (!m->samples) return assay__no_memory(error);
    m->totals = m->samples + m->node_count * m->runs_most;
    m->rests = m->totals + m->runs_most;
    m->times = m->rests + m->runs_most;
    return 0;
}

int assay__layers_markers(struct assay__layer_work *work, struct assay_error *error)
{
    size_t good = 0;
    struct marking *m = marking_new(work);
    if (!m) return assay__no_memory(error);
    int code = prepare(m, error);
    if (!code) code = run_rounds(m, &good, error);
    if (!code) {
        size_t used = good ? good : m->round_count < 3 ? m->round_count : 3;
        fill_layers(m, used);
        describe(m, used, good);
        if (order_nodes(m))
            code = assay__no_memory(error);
        else if (work->counters) {
            double plain_ns = m->round_count ? OVER_ROUNDS(m, m->round_count, after_ns)
                                             : m->plain_ns;
            struct assay__counted_graph graph = {m->marked_path, m->plan.mark_count, m->node_count,
                                                 m->sequence,    m->first_of,        plain_ns};
            if (m->alone) put_plain_away(m);
            assay__layers_counted(m->work, &graph);
        }
    }
    marking_free(m);
    /* The caller goes on with the session it gave, also after a failed round. */
    int resumed = assay__timed_resume(work->session, code ? NULL : error);
    return code ? code : resumed;
}

void assay__layers_learn_order(struct assay__layer_work *work)
{
    struct marking *m = marking_new(work);
    if (!m) return;
    if (assay__timed_borrow(work->session, &m->plain, NULL) || make_marked(m, NULL) ||
        order_nodes(m))
        work->order = NULL;
    marking_free(m);
}
