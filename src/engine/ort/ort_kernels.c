/* ort_kernels.c - layer times on CUDA, from the GPU's own records of its work.
 *
 * ONNX Runtime launches the kernels of one node after those of another, so a marker after a node
 * (ort_marker.c, on the CUDA provider, where it does nothing on the device) that pushes the next
 * number as CUPTI's external correlation id divides the launches by node. Those ids need a record
 * of every call of CUDA, which costs time, so there are two passes:
 *
 *   clean     the model itself, with kernels and copies only, between runs without any recording:
 *             the times
 *   learning  the graph with markers, with ids and calls: which node launches which kernels. The
 *             same kernels in the same order belong to the same nodes.
 *
 * The clean pass comes first: once calls were recorded in a process, runs take up to a quarter
 * longer even when nothing is recorded (1.27 to 1.54 ms for ResNet-50 on an H200, CUPTI 13.0).
 *
 * Libraries such as cuDNN choose kernels in each session anew. If the model's session has others
 * than the one with markers, that one is timed instead; if its runs differ, the learning pass is.
 * Either is said. A run's time is divided exactly into kernels, copies, gaps and host
 * (gpu_parts.c); a layer's time is that of its kernels.
 *
 * A session that replays a CUDA graph (ort_bound.c) launches all kernels at once: CUPTI's records
 * of the graph's nodes are in the order in which they run, which is that of the session with
 * markers, where each is launched by itself. Where it is not, they are one row.
 *
 * Nodes on the CPU, and those whose values are in host memory, have no markers (ort_markable.c).
 *
 * Limits: one run at a time, launched by one thread. Nodes in bodies of If, Loop and Scan are part
 * of it. */
#include "engine/ort/ort_markers.h"

#include "base/log.h"
#include "engine/cuda_recorder.h"
#include "engine/gpu_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 16   /* of runs with and without recording: short, because machines change speed */
#define NEAREST 4   /* rounds that count: the machine was as fast as for the latency */
#define SETTLING 2u /* runs after recording is switched on or off that do not count */
#define PLAIN_ROUNDS 4 /* before CUPTI is opened */
#define ROUND_RUNS_MOST 20u
#define ROUND_RUNS_LEAST 3u
#define LEARNING_RUNS 3u /* the last one counts, the one before must agree */
#define BUDGET_SHARE 0.5
#define LEAST_S 0.5 /* of all rounds, where creating the sessions took the budget */
#define WHY_BYTES 512
#define DISAGREE 0.05 /* ratios that differ by more are explained */
#define CENTRAL_SHARE 0.2
#define CENTRAL_LEAST 5u
#define NAMES_BYTES 65536u

/* Runs without recording beside runs with it. */
struct round {
    uint64_t begin_ns;                /* of its first run with recording */
    double plain_ns, traced_ns, away; /* away: plain_ns from the latency */
};

/* A recording of runs in one session. */
struct pass {
    struct assay__gpu_work work;
    struct assay__gpu_run *runs;
    size_t count, capacity;
    struct round rounds[ROUNDS];
    size_t round_count;
    double ratio;    /* of runs with recording and without; NaN unknown */
    double plain_ns; /* of runs without recording, all rounds, then those that count; NaN */
    const char *name;
};

struct kernel_timing {
    struct assay__layer_work *work;
    const struct assay__cuda_trace_api *recorder;
    struct assay__marking *marking;
    size_t *nodes;    /* by position of a marker in a run: its node */
    uint64_t next_id; /* to push at the next marker */
    struct assay__gpu_lesson lesson;
    struct pass learning, clean;
    double before_ns; /* an unprofiled run, before CUPTI was opened */
    bool graph_alone; /* the kernels are those of a CUDA graph, and of no layer */
};

/* --- recording -------------------------------------------------------------------------------- */

static int begin_recording(struct kernel_timing *k, struct pass *pass, unsigned kinds,
                           struct assay_error *error)
{
    char why[WHY_BYTES] = "";
    struct assay__cuda_trace_options options = {.size = sizeof options,
                                                .sink = assay__gpu_work_take,
                                                .sink_data = &pass->work,
                                                .kinds = kinds,
                                                .flush_ms = 600000, /* between runs, by us */
                                                .paused = true};
    if (!k->recorder->open(&options, why, sizeof why)) return 0;
    return assay_error_set(error, ASSAY_EUNSUPPORTED, "%s", why);
}

static int start(const struct kernel_timing *k, struct assay_error *error)
{
    char why[WHY_BYTES] = "";
    if (!k->recorder->start(why, sizeof why)) return 0;
    return assay_error_set(error, ASSAY_EUNSUPPORTED, "%s", why);
}

static void stop(const struct kernel_timing *k)
{
    char why[WHY_BYTES];
    k->recorder->flush(why, sizeof why); /* the run has waited for the device */
    k->recorder->stop(why, sizeof why);
}

/* Closes the recording and finds the runs' work. */
static int end_recording(struct kernel_timing *k, struct pass *pass, struct assay_error *error)
{
    k->recorder->close();
    struct assay__gpu_work *work = &pass->work;
    assay__gpu_work_order(work);
    assay__gpu_find_runs(work, pass->runs, pass->count);
    assay__log(ASSAY_LOG_DEBUG, "kernels", "%s: %zu runs, %zu items, %zu ids, %llu dropped",
               pass->name, pass->count, work->count, work->external_count,
               (unsigned long long)work->dropped);
    if (work->no_memory) return assay__no_memory(error);
    if (!work->dropped) return 0;
    return assay_error_set(error, ASSAY_EENGINE,
                           "CUPTI lost %llu records of the GPU's work while layers were timed",
                           (unsigned long long)work->dropped);
}

static int make_room(struct kernel_timing *k, struct pass *pass, size_t capacity,
                     struct assay_error *error)
{
    pass->runs = assay__arena_array(k->work->arena, capacity + 1, sizeof *pass->runs);
    pass->capacity = capacity;
    pass->ratio = pass->plain_ns = NAN;
    return pass->runs ? 0 : assay__no_memory(error);
}

/* A run while its work is recorded; it is one of the pass. */
static int recorded_run(struct kernel_timing *k, struct pass *pass, struct assay__timed *timed,
                        struct assay_error *error)
{
    struct assay__gpu_run run = {.begin_ns = k->recorder->now_ns()};
    int code = assay__timed_run(timed, NULL, error);
    run.end_ns = k->recorder->now_ns();
    if (!code && pass->count < pass->capacity) pass->runs[pass->count++] = run;
    return code;
}

/* --- the learning pass ------------------------------------------------------------------------ */

static void on_marker(void *context)
{
    struct kernel_timing *k = context;
    k->recorder->pop();
    k->recorder->push(k->next_id++);
}

static int learning_runs(struct kernel_timing *k, struct assay_error *error)
{
    struct assay__timed *timed = &k->marking->marked_session;
    int code = start(k, error);
    timed->log.passed = on_marker;
    timed->log.passed_context = k;
    for (size_t i = 0; !code && i < LEARNING_RUNS; i++) {
        k->next_id = 2;
        k->recorder->push(1);
        code = recorded_run(k, &k->learning, timed, error);
        k->recorder->pop();
    }
    timed->log.passed = NULL;
    stop(k);
    return code;
}

static size_t attributed(const struct assay__gpu_lesson *lesson)
{
    size_t count = 0;
    for (size_t i = 0; i < lesson->count; i++)
        count += lesson->nodes[i] != SIZE_MAX;
    return count;
}

static int learn(struct kernel_timing *k, struct assay_error *error)
{
    const struct assay__marking *m = k->marking;
    struct pass *pass = &k->learning;
    size_t at = 0;
    pass->name = "learning";
    k->nodes = assay__arena_array(k->work->arena, m->event_count + 1, sizeof *k->nodes);
    if (!k->nodes) return assay__no_memory(error);
    for (size_t p = 0; p < m->event_count; p++)
        k->nodes[p] = m->plan.marks[m->sequence[p]].index;
    int code = make_room(k, pass, LEARNING_RUNS, error);
    if (!code)
        code = begin_recording(k, pass,
                               ASSAY__CUDA_KERNELS | ASSAY__CUDA_COPIES | ASSAY__CUDA_CALLS_ALL |
                                   ASSAY__CUDA_EXTERNAL_IDS,
                               error);
    if (code) return code;
    code = learning_runs(k, error);
    int ended = end_recording(k, pass, code ? NULL : error);
    if (code || ended) return code ? code : ended;
    const struct assay__gpu_run *last = &pass->runs[pass->count - 1];
    if (assay__gpu_learn(&pass->work, last, k->nodes, m->event_count, &k->lesson))
        return assay__no_memory(error);
    size_t known = attributed(&k->lesson);
    assay__log(
        ASSAY_LOG_DEBUG, "kernels",
        "learnt: %zu markers, %zu kernels, %zu of them of a node; a marker copied %llu times",
        m->event_count, k->lesson.count, known,
        (unsigned long long)k->marking->marked_session.log.copies);
    if (!k->lesson.count)
        return assay_error_set(error, ASSAY_EENGINE, "CUPTI recorded no kernel of a run");
    if (!known)
        return assay_error_set(error, ASSAY_EENGINE,
                               "CUPTI gave no external ids for the %zu kernels of a run",
                               k->lesson.count);
    if (!assay__gpu_agrees(&k->lesson, &pass->work, last - 1, &at))
        return assay_error_set(error, ASSAY_EENGINE,
                               "two runs in a row launched different kernels (number %zu of %zu)",
                               at + 1, k->lesson.count);
    return 0;
}

/* --- runs without recording ------------------------------------------------------------------- */

static size_t runs_per_round(const struct kernel_timing *k, double plain_ns)
{
    const struct assay__layer_work *work = k->work;
    double left_s = (work->budget_s - assay__layers_elapsed_s(work)) * BUDGET_SHARE;
    double runs = fmax(left_s, LEAST_S) * 1e9 / (2 * ROUNDS) / plain_ns;
    return runs >= ROUND_RUNS_MOST    ? ROUND_RUNS_MOST
           : runs <= ROUND_RUNS_LEAST ? ROUND_RUNS_LEAST
                                      : (size_t)runs;
}

static double sorted_median(double *values, size_t count)
{
    assay__stats_sort(values, count);
    return assay__stats_median(values, count);
}

/* What a run takes in this state of the process, which the name says. */
static int plain_rounds(struct kernel_timing *k, struct assay__timed *timed, const char *name,
                        double *median_ns, struct assay_error *error)
{
    double medians[PLAIN_ROUNDS], first_ns = NAN;
    int code = assay__timed_median(timed, SETTLING, ROUND_RUNS_LEAST, &first_ns, error);
    size_t runs = code ? 0 : runs_per_round(k, first_ns);
    for (size_t i = 0; !code && i < PLAIN_ROUNDS; i++)
        code = assay__timed_median(timed, 0, runs, &medians[i], error);
    if (code) return code;
    *median_ns = sorted_median(medians, PLAIN_ROUNDS);
    assay__log(ASSAY_LOG_DEBUG, "kernels", "%s: %.0f ns (%.0f to %.0f) without recording", name,
               *median_ns, medians[0], medians[PLAIN_ROUNDS - 1]);
    return 0;
}

/* --- the clean pass --------------------------------------------------------------------------- */

static double median_of_runs(const struct pass *pass, size_t first, double *scratch)
{
    for (size_t i = first; i < pass->count; i++)
        scratch[i - first] = (double)(pass->runs[i].end_ns - pass->runs[i].begin_ns);
    return sorted_median(scratch, pass->count - first);
}

static int traced_half(struct kernel_timing *k, struct pass *pass, struct assay__timed *timed,
                       size_t runs, struct round *round, struct assay_error *error)
{
    double scratch[ROUND_RUNS_MOST];
    size_t first = pass->count;
    int code = start(k, error);
    if (code) return code;
    round->begin_ns = k->recorder->now_ns();
    for (size_t i = 0; !code && i < SETTLING; i++)
        code = assay__timed_run(timed, NULL, error);
    for (size_t i = 0; !code && i < runs; i++)
        code = recorded_run(k, pass, timed, error);
    stop(k);
    if (!code) round->traced_ns = median_of_runs(pass, first, scratch);
    return code;
}

/* Runs without recording and as many with it, in an order that alternates too. */
static int one_round(struct kernel_timing *k, struct pass *pass, struct assay__timed *timed,
                     size_t runs, struct assay_error *error)
{
    struct round *round = &pass->rounds[pass->round_count];
    bool traced_first = pass->round_count++ % 2;
    int code = traced_first ? traced_half(k, pass, timed, runs, round, error) : 0;
    if (!code) code = assay__timed_median(timed, SETTLING, runs, &round->plain_ns, error);
    if (!code && !traced_first) code = traced_half(k, pass, timed, runs, round, error);
    round->away = fabs(log(round->plain_ns / k->work->latency_ns));
    return code;
}

static void note_rounds(struct pass *pass, size_t runs)
{
    double ratios[ROUNDS], plain[ROUNDS], traced[ROUNDS];
    size_t count = pass->round_count;
    for (size_t i = 0; i < count; i++) {
        plain[i] = pass->rounds[i].plain_ns;
        traced[i] = pass->rounds[i].traced_ns;
        ratios[i] = traced[i] / plain[i];
    }
    pass->ratio = sorted_median(ratios, count);
    pass->plain_ns = sorted_median(plain, count);
    double traced_ns = sorted_median(traced, count);
    assay__log(ASSAY_LOG_DEBUG, "kernels",
               "%s: %.3f x (%.3f to %.3f) in %zu rounds of %zu runs; %.0f ns (%.0f to %.0f) "
               "without recording, %.0f (%.0f to %.0f) with it",
               pass->name, pass->ratio, ratios[0], ratios[count - 1], count, runs, pass->plain_ns,
               plain[0], plain[count - 1], traced_ns, traced[0], traced[count - 1]);
}

/* The pass over this session: alternating rounds. */
static int clean_pass(struct kernel_timing *k, struct assay__timed *timed, const char *name,
                      struct assay_error *error)
{
    struct pass *pass = &k->clean;
    double plain_ns = NAN;
    assay__gpu_work_free(&pass->work);
    *pass = (struct pass){.name = name};
    int code = assay__timed_median(timed, SETTLING, ROUND_RUNS_LEAST, &plain_ns, error);
    if (code) return code;
    size_t runs = runs_per_round(k, plain_ns);
    code = make_room(k, pass, ROUNDS * runs, error);
    if (!code) code = begin_recording(k, pass, ASSAY__CUDA_KERNELS | ASSAY__CUDA_COPIES, error);
    if (code) return code;
    for (size_t i = 0; !code && i < ROUNDS; i++)
        code = one_round(k, pass, timed, runs, error);
    int ended = end_recording(k, pass, code ? NULL : error);
    if (code || ended) return code ? code : ended;
    note_rounds(pass, runs);
    return 0;
}

static const struct round *round_of(const struct pass *pass, const struct assay__gpu_run *run)
{
    size_t at = 0;
    while (at + 1 < pass->round_count && pass->rounds[at + 1].begin_ns <= run->begin_ns)
        at++;
    return &pass->rounds[at];
}

/* A machine that changes its speed was faster or slower in some rounds than when the latency was
 * measured: only those count that are nearest to it by their runs without recording. */
static void keep_nearest(struct pass *pass)
{
    double away[ROUNDS], plain[ROUNDS];
    size_t kept = 0, near = 0;
    if (pass->round_count <= NEAREST) return;
    for (size_t i = 0; i < pass->round_count; i++) {
        away[i] = pass->rounds[i].away;
        if (isnan(away[i])) return; /* the latency is not known */
    }
    assay__stats_sort(away, pass->round_count);
    double most = away[NEAREST - 1];
    for (size_t i = 0; i < pass->round_count; i++)
        if (pass->rounds[i].away <= most) plain[near++] = pass->rounds[i].plain_ns;
    for (size_t i = 0; i < pass->count; i++)
        kept += round_of(pass, &pass->runs[i])->away <= most;
    if (!kept) return; /* all of them had other kernels */
    pass->plain_ns = sorted_median(plain, near);
    kept = 0;
    for (size_t i = 0; i < pass->count; i++)
        if (round_of(pass, &pass->runs[i])->away <= most) pass->runs[kept++] = pass->runs[i];
    pass->count = kept;
}

/* Whether most runs of a pass have the kernels that were learnt; the others are removed. */
static bool keep_agreeing(struct kernel_timing *k, struct pass *pass, size_t *different)
{
    size_t kept = 0, first = SIZE_MAX;
    for (size_t i = 0; i < pass->count; i++) {
        size_t at;
        if (assay__gpu_agrees(&k->lesson, &pass->work, &pass->runs[i], &at)) {
            struct assay__gpu_run agreeing = pass->runs[i];
            pass->runs[i] = pass->runs[kept]; /* all of them stay, if these are too few */
            pass->runs[kept++] = agreeing;
            continue;
        }
        if (first == SIZE_MAX) {
            const char *name = assay__gpu_kernel_name(&pass->work, &pass->runs[i], at);
            assay__log(ASSAY_LOG_DEBUG, "kernels", "%s: kernel %zu is %s, not %s", pass->name, at,
                       name ? name : "missing",
                       at < k->lesson.count ? k->lesson.names[at] : "the end");
            first = at;
        }
    }
    *different = pass->count - kept;
    bool most = kept > 0 && kept >= pass->count / 2;
    if (most) pass->count = kept;
    return most;
}

/* Nodes that do not depend on each other may run in another order in the model's own session. */
static int follow_order(struct kernel_timing *k, const struct pass *pass)
{
    size_t at, equal = 0;
    if (!pass->count) return 0;
    const struct assay__gpu_run *run = &pass->runs[pass->count / 2];
    if (assay__gpu_agrees(&k->lesson, &pass->work, run, &at)) return 0;
    int code = assay__gpu_rearrange(&k->lesson, &pass->work, run, &equal);
    if (code) return code == ASSAY_ENOTFOUND ? 0 : code;
    assay__log(ASSAY_LOG_DEBUG, "kernels",
               "%s: the nodes run in another order, %zu of them like others", pass->name, equal);
    if (equal)
        assay__layers_say(k->work,
                          "The model's own session runs its layers in another order than the one "
                          "with markers: the times of %zu that launch the same kernels as others "
                          "may be exchanged.",
                          equal);
    return 0;
}

/* What the pass's runs launched: kernels, and of those how many in CUDA graphs. */
static void count_kernels(const struct pass *pass, size_t *kernels, size_t *in_graphs)
{
    *kernels = *in_graphs = 0;
    for (size_t r = 0; r < pass->count; r++)
        for (size_t i = 0; i < pass->runs[r].count; i++) {
            const struct assay__gpu_item *item = &pass->work.items[pass->runs[r].first + i];
            if (item->kind != ASSAY__GPU_KERNEL) continue;
            ++*kernels;
            *in_graphs += item->graph != 0;
        }
}

/* CUPTI may know nothing of the kernels of a graph that was recorded before it was opened. */
static int record_graph_again(struct kernel_timing *k, struct assay_error *error)
{
    struct pass pass = {.name = "graph"};
    int code = assay__ort_bound_again(k->work->session, error);
    if (!code) code = begin_recording(k, &pass, ASSAY__CUDA_KERNELS | ASSAY__CUDA_COPIES, error);
    if (code) return code;
    code = start(k, error);
    for (size_t i = 0; !code && i < SETTLING; i++)
        code = assay__timed_run(&k->marking->plain, NULL, error);
    stop(k);
    end_recording(k, &pass, NULL);
    assay__gpu_work_free(&pass.work);
    return code;
}

/* The pass over the model's own session. */
static int clean_own(struct kernel_timing *k, struct assay_error *error)
{
    size_t kernels, in_graphs;
    int code = clean_pass(k, &k->marking->plain, "clean", error);
    if (code || !k->work->session->bound) return code;
    count_kernels(&k->clean, &kernels, &in_graphs);
    if (kernels) return 0;
    code = record_graph_again(k, error);
    return code ? code : clean_pass(k, &k->marking->plain, "clean, graph recorded again", error);
}

/* The kernels of the model's own runs are not those that were learnt. */
static int time_others(struct kernel_timing *k, bool *agrees, size_t *different,
                       struct assay_error *error)
{
    size_t kernels, in_graphs;
    count_kernels(&k->clean, &kernels, &in_graphs);
    if (!kernels)
        return assay_error_set(error, ASSAY_EENGINE,
                               "CUPTI recorded none of the kernels of the model's own runs%s",
                               k->work->session->bound ? ", which replay a CUDA graph" : "");
    if (in_graphs) {
        assay__layers_say(k->work, "The model's own session replays a CUDA graph with other "
                                   "kernels than the session with markers launches: their time is "
                                   "one row.");
        k->graph_alone = true;
        assay__gpu_lesson_free(&k->lesson); /* no kernel is known to be of a layer */
        *different = 0;
        return 0;
    }
    assay__layers_say(k->work, "The model's own session chose other kernels than the one with "
                               "markers, which is timed instead.");
    int code = clean_pass(k, &k->marking->marked_session, "clean with markers", error);
    if (!code && follow_order(k, &k->clean)) code = assay__no_memory(error);
    if (!code) *agrees = keep_agreeing(k, &k->clean, different);
    return code;
}

/* The pass whose times count: of the model itself, else of the session with markers, else the
 * learning pass. */
static int choose_pass(struct kernel_timing *k, struct pass **chosen, struct assay_error *error)
{
    size_t different = 0;
    struct assay__layers *result = k->work->result;
    int code = 0;
    *chosen = &k->clean;
    if (follow_order(k, &k->clean)) return assay__no_memory(error);
    bool agrees = keep_agreeing(k, &k->clean, &different);
    if (!agrees) code = time_others(k, &agrees, &different, error);
    if (code) return code;
    if (!agrees && !k->graph_alone) {
        assay__layers_say(k->work,
                          "The runs launched different kernels: the times are those of "
                          "%zu runs with every call of CUDA recorded.",
                          k->learning.count - 1);
        k->learning.runs++; /* the first one warms up */
        k->learning.count--;
        *chosen = &k->learning;
        different = 0;
    } else {
        keep_nearest(&k->clean);
    }
    result->discarded = (int)different;
    return 0;
}

/* --- the result ------------------------------------------------------------------------------- */

struct ranked {
    uint64_t ns;
    size_t run;
};

static int by_time(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return a->ns < b->ns ? -1 : a->ns > b->ns;
}

/* Runs of the middle, by their time: their mean is that of a typical run, and its parts add up. */
static struct ranked *central_runs(const struct pass *pass, size_t *first, size_t *count,
                                   struct assay__layers *result)
{
    struct ranked *order = calloc(pass->count + 1, sizeof *order);
    double sum = 0;
    if (!order) return NULL;
    for (size_t i = 0; i < pass->count; i++) {
        order[i] = (struct ranked){pass->runs[i].end_ns - pass->runs[i].begin_ns, i};
        sum += (double)order[i].ns;
    }
    qsort(order, pass->count, sizeof *order, by_time);
    *count = (size_t)ceil((double)pass->count * CENTRAL_SHARE);
    if (*count < CENTRAL_LEAST) *count = CENTRAL_LEAST;
    if (*count > pass->count) *count = pass->count;
    *first = (pass->count - *count) / 2;
    double median = (double)order[pass->count / 2].ns;
    result->contention = sum / (double)pass->count / median - 1;
    result->spread = (double)(order[pass->count * 3 / 4].ns - order[pass->count / 4].ns) / median;
    return order;
}

/* Means of whole nanoseconds that add up as the sums did: the running total is rounded. */
struct rounding {
    uint64_t total, given;
    size_t count;
};

static double share_of(struct rounding *r, uint64_t sum_ns)
{
    r->total += sum_ns;
    uint64_t rounded = (r->total + r->count / 2) / r->count, part = rounded - r->given;
    r->given = rounded;
    return (double)part;
}

/* "a; 2 x b": in the order of their launches. */
static void add_name(struct assay__buf *names, const char *name, size_t times)
{
    if (!times || names->length + strlen(name) > NAMES_BYTES) return;
    if (names->length) assay__buf_puts(names, "; ");
    if (times > 1) assay__buf_printf(names, "%zu x ", times);
    assay__buf_puts(names, name);
}

/* Kernels of every layer: how many, and their names. */
static void fill_names(struct kernel_timing *k)
{
    struct assay__layer_work *work = k->work;
    struct assay__buf names = {0};
    for (size_t i = 0; i < work->layer_count; i++) {
        size_t count = 0, times = 0;
        const char *last = "";
        names.length = 0;
        for (size_t n = 0; n < k->lesson.count; n++) {
            if (k->lesson.nodes[n] != i) continue;
            if (strcmp(last, k->lesson.names[n]) != 0) {
                add_name(&names, last, times);
                last = k->lesson.names[n];
                times = 0;
            }
            times++, count++;
        }
        add_name(&names, last, times);
        if (!work->markable[i]) continue;
        work->layers[i].kernel_count = (double)count;
        if (count)
            work->layers[i].kernels = assay__arena_strdup(work->arena, assay__buf_text(&names));
    }
    assay__buf_free(&names);
}

static void note_layers(struct kernel_timing *k)
{
    struct assay__layer_work *work = k->work;
    for (size_t i = 0; i < work->layer_count; i++) {
        struct assay__layer *layer = &work->layers[i];
        if (work->markable[i] && k->marking->position[i] != SIZE_MAX) {
            layer->state = ASSAY_MEASURED;
            if (layer->kernel_count == 0) layer->note = "launches no kernel";
            continue;
        }
        layer->time_ns = layer->gap_ns = layer->kernel_count = NAN;
        layer->state = ASSAY_UNAVAILABLE;
        layer->note = !assay__kernels_placed(work, i)
                          ? "runs on the host: its time is in that of the host and the gaps"
                          : "its values are in host memory: its kernels, if any, are the next "
                            "layer's";
    }
}

/* Sums over the chosen runs. */
struct sums {
    uint64_t *node_ns, *gap_ns;
    struct assay__gpu_parts parts; /* the last run's counts */
    uint64_t whole_ns, kernels_ns, copies_ns, gaps_ns;
};

static int add_runs(struct kernel_timing *k, const struct pass *pass, const struct ranked *runs,
                    size_t count, struct sums *sums)
{
    for (size_t i = 0; i < count; i++) {
        if (assay__gpu_divide(&pass->work, &pass->runs[runs[i].run], &k->lesson, &sums->parts,
                              sums->node_ns, sums->gap_ns))
            return ASSAY_ENOMEM;
        sums->whole_ns += sums->parts.whole_ns;
        sums->kernels_ns += sums->parts.kernels_ns;
        sums->copies_ns += sums->parts.copies_ns;
        sums->gaps_ns += sums->parts.gaps_ns;
    }
    return 0;
}

static void fill_times(struct kernel_timing *k, const struct sums *sums, size_t count)
{
    struct assay__layer_work *work = k->work;
    struct assay__layers *result = work->result;
    struct rounding r = {.count = count};
    uint64_t in_layers = 0;
    result->kernels_ns = 0;
    for (size_t i = 0; i < work->layer_count; i++) {
        work->layers[i].time_ns = share_of(&r, sums->node_ns[i]);
        work->layers[i].gap_ns = (double)sums->gap_ns[i] / (double)count;
        result->kernels_ns += work->layers[i].time_ns;
        in_layers += sums->node_ns[i];
    }
    double layers_ns = result->kernels_ns;
    result->kernels_ns += share_of(&r, sums->kernels_ns - in_layers); /* of no layer */
    result->copies_ns = share_of(&r, sums->copies_ns);
    result->gaps_ns = share_of(&r, sums->gaps_ns);
    result->host_ns = share_of(&r,
                               sums->whole_ns - sums->kernels_ns - sums->copies_ns - sums->gaps_ns);
    result->traced_ns = (double)r.given;
    result->engine_ns = result->traced_ns - layers_ns;
    result->kernel_count = (double)sums->parts.kernels;
}

/* All kernels together, after the layers, whose own times are unknown. */
static void add_graph_row(struct kernel_timing *k)
{
    struct assay__layer_work *work = k->work;
    struct assay__layers *result = work->result;
    for (size_t i = 0; i < work->layer_count; i++) {
        work->layers[i].time_ns = work->layers[i].gap_ns = work->layers[i].kernel_count = NAN;
        work->layers[i].state = ASSAY_UNAVAILABLE;
        work->layers[i].note = "its kernels are among those of a CUDA graph, in one row";
    }
    if (work->ran) work->ran[work->layer_count] = true; /* there is room for one more */
    struct assay__layer *graph = &work->layers[work->layer_count++];
    *graph = assay__layer_unknown();
    graph->name = graph->op = "CUDA graph";
    graph->provider = work->mark_provider;
    graph->state = ASSAY_MEASURED;
    graph->time_ns = result->kernels_ns;
    graph->kernel_count = result->kernel_count;
    result->engine_ns = result->traced_ns - result->kernels_ns;
}

/* Where the traced run is not as much longer than the latency as the rounds say. */
static void say_speeds(struct assay__layer_work *work)
{
    const struct assay__layers *result = work->result;
    double to_latency = result->traced_ns / work->latency_ns;
    if (fabs(to_latency / result->slowdown - 1) > DISAGREE)
        assay__layers_say(work,
                          "The traced run took %.3f x the latency, and %.3f x the runs without "
                          "recording beside it: those took %.3f x the latency, because the "
                          "machine's speed changed%s.",
                          to_latency, result->slowdown, result->plain_ns / work->latency_ns,
                          result->lasting > 1 + DISAGREE
                              ? ", or because CUPTI, once opened, slows them down"
                              : "");
}

static void describe(struct kernel_timing *k, const struct pass *pass,
                     const struct assay__gpu_parts *parts)
{
    struct assay__layers *result = k->work->result;
    size_t lost = k->lesson.count - attributed(&k->lesson);
    result->method = "kernels";
    result->sessions = 1;
    result->slowdown = pass->ratio;
    result->plain_ns = pass->plain_ns;
    say_speeds(k->work);
    if (lost)
        assay__layers_say(k->work,
                          "%zu of %zu kernels were launched after the last layer: their "
                          "time is in no layer.",
                          lost, k->lesson.count);
    if (parts->streams > 1)
        assay__layers_say(k->work,
                          "Kernels ran in %zu streams: where they overlap, the time is "
                          "that of the layer whose kernel began first.",
                          parts->streams);
    if (parts->graphs && !k->graph_alone)
        assay__layers_say(k->work,
                          "%zu kernels and copies are of a CUDA graph, launched at once: kernels "
                          "are those of the layers in the order in which the session with "
                          "markers, which has no graph, launches them.",
                          parts->graphs);
    if (result->contention > ASSAY__CONTENTION_LIMIT)
        assay__layers_say(k->work,
                          "The mean is %.0f %% above the median: other processes interfered.",
                          100 * result->contention);
    assay__log(ASSAY_LOG_DEBUG, "kernels",
               "%s: %.0f ns = %.0f kernels + %.0f copies + %.0f gaps + %.0f host; %zu kernels, %zu "
               "copies, %zu streams, %zu of graphs",
               pass->name, result->traced_ns, result->kernels_ns, result->copies_ns,
               result->gaps_ns, result->host_ns, parts->kernels, parts->copies, parts->streams,
               parts->graphs);
}

static int conclude(struct kernel_timing *k, const struct pass *pass, struct assay_error *error)
{
    struct assay__layer_work *work = k->work;
    size_t first = 0, count = 0;
    struct sums sums = {
        .node_ns = assay__arena_array(work->arena, work->layer_count + 1, sizeof(uint64_t)),
        .gap_ns = assay__arena_array(work->arena, work->layer_count + 1, sizeof(uint64_t))};
    struct ranked *order = central_runs(pass, &first, &count, work->result);
    int code = order && sums.node_ns && sums.gap_ns ? 0 : ASSAY_ENOMEM;
    if (!code) code = add_runs(k, pass, order + first, count, &sums);
    free(order);
    if (code) return assay__no_memory(error);
    fill_times(k, &sums, count);
    fill_names(k);
    note_layers(k);
    describe(k, pass, &sums.parts);
    if (k->graph_alone)
        add_graph_row(k);
    else if (assay__marking_order(k->marking))
        return assay__no_memory(error);
    return 0;
}

int assay__layers_kernels(struct assay__layer_work *work, struct assay_error *error)
{
    struct kernel_timing k = {.work = work};
    struct pass *pass = NULL;
    int code = assay__cuda_recorder_load(&k.recorder, error);
    if (!code) code = assay__kernels_markable(work, error);
    if (!code) code = assay__marking_open_marked(work, &k.marking, error);
    if (!code) code = plain_rounds(&k, &k.marking->plain, "two sessions", &k.before_ns, error);
    if (!code) code = clean_own(&k, error);
    if (!code) work->result->lasting = k.clean.plain_ns / k.before_ns;
    if (!code) code = learn(&k, error);
    if (!code) code = choose_pass(&k, &pass, error);
    if (!code) code = conclude(&k, pass, error);
    if (code && error) assay__log(ASSAY_LOG_DEBUG, "kernels", "failed: %s", error->message);
    assay__marking_free(k.marking);
    assay__gpu_lesson_free(&k.lesson);
    assay__gpu_work_free(&k.learning.work);
    assay__gpu_work_free(&k.clean.work);
    work->markable = NULL;
    work->mark_provider = NULL;
    return code;
}
