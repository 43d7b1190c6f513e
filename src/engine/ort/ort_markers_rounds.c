/* ort_markers_rounds.c - rounds of layer timing: unprofiled runs, a pass over each graph with
 * markers, unprofiled runs; and which rounds count. At most ASSAY__ROUNDS_MOST, within the budget
 * except for the first. */
#include "engine/ort/ort_markers.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDS_WANTED 5
#define PASS_TOLERANCE \
    0.15                 /* markers and bracket: more means that the machine changed in between */
#define ALONE_BYTES 16e6 /* weights beyond the near caches … */
#define ALONE_RATE 3e9   /* … streamed at this many bytes per second of a run … */
#define ALONE_ALWAYS 1e9 /* … or so large that two copies of them are a burden */

struct amounts {
    size_t marked, bracket, plain;
};

static size_t clamp_runs(double runs, size_t least, size_t most)
{
    return !(runs > (double)least) ? least : runs > (double)most ? most : (size_t)runs;
}

/** How often each graph runs in a round, so that about five rounds fit the budget. */
static struct amounts plan_amounts(const struct assay__marking *m, double create_s)
{
    double round_s = m->work->budget_s / (ROUNDS_WANTED + 1.5) - (m->alone ? 3 : 2) * create_s;
    double runs = round_s / (m->plain_ns * 1e-9);
    return (struct amounts){.marked = clamp_runs(runs * 0.45, 5, m->runs_most),
                            .bracket = clamp_runs(runs * 0.3, 4, m->runs_most),
                            .plain = clamp_runs(runs * 0.25, 3, m->runs_most)};
}

static double relative_difference(double a, double b)
{
    return fabs(a - b) / fmin(a, b);
}

static double deviation(const struct assay__marking *m, double before_ns, double after_ns)
{
    double value = relative_difference(before_ns, after_ns);
    if (isfinite(m->work->latency_ns) && m->work->latency_ns > 0)
        value = fmax(value, relative_difference((before_ns + after_ns) / 2, m->work->latency_ns));
    return value;
}

/** At most 1: the round counts. */
static double badness(const struct assay__marking_round *round)
{
    return fmax(round->deviation / ASSAY__STATE_TOLERANCE, round->apart / PASS_TOLERANCE);
}

static bool wants_alone(const struct assay__marking *m)
{
    int64_t elements = 0, bytes = 0;
    if (!assay__model_parameters(m->work->optimized, &elements, &bytes)) return false;
    double weights = (double)bytes;
    return weights > ALONE_ALWAYS ||
           (weights > ALONE_BYTES && weights / (m->plain_ns * 1e-9) > ALONE_RATE);
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

static int measure_round(struct assay__marking *m, const struct amounts *amounts, double *before_ns,
                         struct assay_error *error)
{
    struct assay__marking_round *round = &m->rounds[m->round_count];
    round->node_ns = assay__arena_array(m->work->arena, m->node_count + 1, sizeof *round->node_ns);
    if (!round->node_ns) return assay__no_memory(error);
    round->before_ns = *before_ns;
    if (m->alone) assay__marking_put_plain_away(m);
    int code = assay__marking_pass(m, round, amounts->marked, error);
    if (!code) code = assay__marking_bracket_pass(m, round, amounts->bracket, error);
    if (!code) code = take_plain_back(m, error);
    if (!code)
        code = assay__timed_median(&m->plain, assay__marking_warm_runs(m), amounts->plain,
                                   &round->after_ns, error);
    if (code) return code;
    *before_ns = round->after_ns;
    round->deviation = deviation(m, round->before_ns, round->after_ns);
    bool both = round->sum_ns > 0 && round->bracket_ns > 0;
    round->apart = both ? relative_difference(round->sum_ns, round->bracket_ns) : 0;
    m->round_count++;
    return 0;
}

/** Waits a little for the machine to be as it was when the latency was taken; gives up soon. */
static int wait_until_steady(struct assay__marking *m, const struct amounts *amounts,
                             double *before_ns, struct assay_error *error)
{
    for (int i = 0; i < 3; i++) {
        if (deviation(m, *before_ns, *before_ns) <= ASSAY__STATE_TOLERANCE) return 0;
        assay__sleep_ns(20000000);
        int code = assay__timed_median(&m->plain, assay__marking_warm_runs(m), amounts->plain,
                                       before_ns, error);
        if (code) return code;
    }
    return 0;
}

static int by_badness(const void *a, const void *b)
{
    double x = badness(a), y = badness(b);
    return x < y ? -1 : x > y;
}

int assay__marking_rounds(struct assay__marking *m, size_t *good, struct assay_error *error)
{
    double before_ns = m->plain_ns, longest_s = 0;
    m->alone = wants_alone(m);
    struct amounts amounts = plan_amounts(m, m->work->session->create_ns * 1e-9);
    int code = assay__timed_median(&m->plain, assay__marking_warm_runs(m), amounts.plain,
                                   &before_ns, error);
    *good = 0;
    while (!code && *good < ROUNDS_WANTED && m->round_count < ASSAY__ROUNDS_MOST) {
        double start_s = assay__layers_elapsed_s(m->work);
        if (m->round_count > 0 && start_s + longest_s > m->work->budget_s) break;
        code = wait_until_steady(m, &amounts, &before_ns, error);
        if (!code) code = measure_round(m, &amounts, &before_ns, error);
        if (code) break;
        *good += badness(&m->rounds[m->round_count - 1]) <= 1;
        longest_s = fmax(longest_s, assay__layers_elapsed_s(m->work) - start_s);
    }
    qsort(m->rounds, m->round_count, sizeof m->rounds[0], by_badness);
    return code;
}
