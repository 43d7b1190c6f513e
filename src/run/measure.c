/* measure.c - assay_measure(): a caller's callback through the same loop, the same goal and the
 * same statistics as a launch, in the caller's process and thread. The callback costs one more
 * indirect call than an engine's step (about 1 ns). */
#include "base/clock.h"
#include "run/trial/goal.h"
#include "run/worker/loop.h"
#include "base/options_read.h"
#include "run/trial/summary.h"

#include <assay/measure.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CAPACITY 65536u

/* An engine's session in this file: the caller's callback. */
struct assay__session {
    assay_step_fn *step;
    void *context;
    assay_clock_fn *clock;
    void *clock_context;
};

struct measuring {
    struct assay__loop loop;
    struct assay__goal goal;
    struct assay__samples samples;
    struct assay__summary summary;
    _Atomic uint64_t count;
    int64_t warmup; /* -1: found */
    size_t windows, prerun;
    double wall_ns, pace_ns, first_ns;
    double read_ns, step_ns; /* of the clock; step 0: not known */
};

static int call_step(struct assay__session *session, int stream)
{
    (void)stream;
    return session->step(session->context);
}

static uint64_t call_clock(struct assay__session *session)
{
    return session->clock(session->clock_context);
}

static int warm_up(struct measuring *m)
{
    uint64_t start = assay__loop_now(&m->loop);
    int code = m->loop.step(m->loop.session, 0);
    if (code) return code;
    m->first_ns = (double)(assay__loop_now(&m->loop) - start);
    m->pace_ns = m->first_ns;
    code = assay__loop_prerun(&m->loop, m->warmup, &m->prerun);
    size_t kept = m->prerun < m->loop.capacity ? m->prerun : 0;
    if (code == 0 && kept > 0)
        m->pace_ns = (double)(m->loop.stamps[kept] - m->loop.stamps[0]) / (double)kept;
    return code;
}

static int run_windows(struct measuring *m)
{
    for (;;) {
        struct assay__window_plan plan;
        struct assay__taken taken = {m->windows, m->samples.count, m->wall_ns, m->pace_ns, NULL,
                                     false};
        enum assay__decision decision = assay__goal_next(&m->goal, &taken, &plan);
        if (decision != ASSAY__GOAL_WINDOW) {
            int code = assay__summary_compute(&m->samples, 1, m->warmup < 0, true, m->step_ns,
                                              &m->summary);
            if (code) return code;
            taken.summary = &m->summary;
            if (decision == ASSAY__GOAL_JUDGE) decision = assay__goal_next(&m->goal, &taken, &plan);
        }
        if (decision == ASSAY__GOAL_STOP) return 0;
        uint64_t deadline = ASSAY__LOOP_NO_DEADLINE;
        size_t done = 0;
        if (isfinite(plan.seconds))
            deadline = assay__loop_now(&m->loop) + (uint64_t)(plan.seconds * 1e9);
        int code = assay__loop_run(&m->loop, plan.iterations, deadline, &done);
        if (code) return code;
        if (assay__samples_reserve(&m->samples, done)) return ASSAY_ENOMEM;
        const uint64_t *stamps = m->loop.stamps;
        for (size_t i = 0; i < done; i++)
            m->samples.values[m->samples.count++] = (double)(stamps[i + 1] - stamps[i]);
        m->wall_ns += (double)(stamps[done] - stamps[0]);
        if (done) m->pace_ns = (double)(stamps[done] - stamps[0]) / (double)done;
        m->windows++;
    }
}

static int fill_metrics(const struct measuring *m, struct assay_metrics *metrics)
{
    assay_metrics_measured(metrics, "timing.first", m->first_ns / 1e9, "clock", "");
    assay__summary_metrics(&m->summary, "", metrics);
    assay__summary_warmup_metric(m->prerun, m->warmup >= 0, 1, m->summary.warmup, metrics);
    assay_metrics_measured(metrics, "throughput.inferences",
                           (double)m->summary.samples * 1e9 / m->summary.sum_ns, "clock",
                           "completions / wall time, 1 request in flight");
    assay_metrics_measured(metrics, "overhead.loop", assay__loop_cost_ns() / 1e9, "clock",
                           "one iteration with an empty step, clock read included");
    assay_metrics_measured(metrics, "overhead.clock", m->read_ns / 1e9, "clock",
                           "one read of CLOCK_MONOTONIC");
    return assay_metrics_failed(metrics);
}

int assay_measure(assay_step_fn *step, void *context, const struct assay_measure_options *given,
                  struct assay_metrics **metrics, struct assay_error *error)
{
    struct assay_measure_options options;
    if (!step || !metrics)
        return assay_error_set(error, ASSAY_EINVAL,
                               "assay_measure needs a step and a pointer for its metrics");
    *metrics = NULL;
    int code = assay__options_read(given, &options, sizeof options, "measure", error);
    if (code) return code;
    if (options.warmup < 0 || options.iterations < 0 || !(options.time_s >= 0) ||
        !(options.precision >= 0))
        return assay_error_set(error, ASSAY_EINVAL,
                               "negative warm-up, iterations, time or precision");
    struct assay__session session = {step, context, options.clock, options.clock_context};
    struct measuring m = {
        .goal = {.iterations = options.iterations,
                 .time_s = options.time_s,
                 .precision = options.precision > 0 ? options.precision : ASSAY__GOAL_PRECISION,
                 .streams = 1,
                 .capacity = CAPACITY},
        .warmup = options.warmup_given ? options.warmup : -1,
    };
    m.loop = (struct assay__loop){
        call_step, options.clock ? call_clock : NULL, &session, 0, NULL, CAPACITY, &m.count};
    m.loop.stamps = calloc(CAPACITY + 1, sizeof *m.loop.stamps);
    assay__clock_measure(&m.read_ns, &m.step_ns);
    if (options.clock) m.step_ns = 0; /* the caller's clock, not the one just measured */
    struct assay_metrics *set = assay_metrics_new();
    code = m.loop.stamps && set ? warm_up(&m) : ASSAY_ENOMEM;
    if (code == 0) code = run_windows(&m);
    if (code == 0) code = fill_metrics(&m, set);
    if (code == 0) {
        *metrics = set;
        set = NULL;
    } else {
        assay_error_set(error, code, "the measured step stopped with %d (%s)", code,
                        assay_error_text(code));
    }
    assay_metrics_free(set);
    assay__samples_free(&m.samples);
    free(m.loop.stamps);
    return code;
}

/* --- samples that were taken elsewhere -------------------------------------------------------- */

/* A mean of several calls says nothing about single ones. */
static void drop_single_calls(struct assay_metrics *metrics, size_t calls)
{
    static const char *const of_one[] = {
        "latency.stddev", "latency.cv",  "latency.min",  "latency.p5",  "latency.p90",
        "latency.p95",    "latency.p99", "latency.p999", "latency.max", "latency.iqr"};
    char reason[96];
    snprintf(reason, sizeof reason, "a sample is the mean of %zu calls", calls);
    for (size_t i = 0; i < sizeof of_one / sizeof of_one[0]; i++)
        assay_metrics_unavailable(metrics, of_one[i], reason);
}

static int check_samples(const double *samples_ns, size_t count,
                         const struct assay_samples_options *options, struct assay_error *error)
{
    if (options->warmup < 0 || !(options->step_ns >= 0))
        return assay_error_set(error, ASSAY_EINVAL, "negative warm-up or step of the clock");
    for (size_t i = 0; i < count; i++)
        if (!(samples_ns[i] >= 0) || !isfinite(samples_ns[i]))
            return assay_error_set(error, ASSAY_EINVAL, "sample %zu is no duration: %g", i,
                                   samples_ns[i]);
    return 0;
}

int assay_measure_samples(const double *samples_ns, size_t count,
                          const struct assay_samples_options *given, struct assay_metrics **metrics,
                          struct assay_error *error)
{
    struct assay_samples_options options;
    struct assay__summary summary;
    if (!metrics || (count && !samples_ns))
        return assay_error_set(error, ASSAY_EINVAL,
                               "assay_measure_samples needs samples and a pointer for its metrics");
    *metrics = NULL;
    int code = assay__options_read(given, &options, sizeof options, "samples", error);
    if (!code) code = check_samples(samples_ns, count, &options, error);
    if (code) return code;
    size_t skipped = 0;
    if (options.warmup_given)
        skipped = (uint64_t)options.warmup < count ? (size_t)options.warmup : count;
    /* The statistics read them only. */
    struct assay__samples samples = {
        (double *)(uintptr_t)(samples_ns ? samples_ns + skipped : NULL), count - skipped, 0};
    code = assay__summary_compute(&samples, 1, !options.warmup_given, true, options.step_ns,
                                  &summary);
    struct assay_metrics *set = code ? NULL : assay_metrics_new();
    if (!set) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    assay__summary_metrics(&summary, "", set);
    assay__summary_warmup_metric(skipped, options.warmup_given, 1, summary.warmup, set);
    if (summary.samples)
        assay_metrics_measured(set, "throughput.inferences",
                               (double)summary.samples * 1e9 / summary.sum_ns, "clock",
                               "completions / time, one after the other");
    else
        assay_metrics_unavailable(set, "throughput.inferences", "no sample was taken");
    if (options.calls > 1) drop_single_calls(set, options.calls);
    code = assay_metrics_failed(set);
    if (!code)
        *metrics = set;
    else
        assay_metrics_free(set);
    return code ? assay_error_set(error, code, "out of memory") : 0;
}
