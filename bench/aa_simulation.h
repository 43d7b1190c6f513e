/* aa_simulation.h - comparisons of the fake engine with itself, in process: how often `assay
 * compare` would claim a difference that is not there, and find one that is. For
 * bench/aa_simulate.c (10,000 of each kind) and tests/unit/test_comparison_power.c (few, seeded).
 *
 * Two arms, launches in the order of run/arm/arms.c (a b, b a, …). Each launch is a session of the
 * fake engine and goes the way of a worker's: first inference, pre-run, windows by the goal of
 * `--time`, warm-up cut, median; then come a process's start and end. The machine has one state for
 * the whole comparison (fake-engine.md). The verdict is that of assay__comparison(). */
#ifndef ASSAY_BENCH_AA_SIMULATION_H
#define ASSAY_BENCH_AA_SIMULATION_H

#include "judge/comparison.h"
#include "engine/engines.h"
#include "profile/profile.h"
#include "run/trial/goal.h"
#include "run/worker/streams.h"

#include <assay/metric.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define AA_LAUNCHES 10
#define AA_TIME_S 0.2
#define AA_STEADY_NS 2000000.0 /* an inference of 2 ms: 100 of them in a launch */
#define AA_BETWEEN_NS 60000000 /* from one launch's end to the next one's session */
#define AA_REWARM 2            /* untimed steps before each window, as the parent asks for */

struct aa_kind {
    const char *name, *noise, *what;
    bool judged; /* the bounds hold for it; else it shows where the method ends */
};

/* Levels: launches of ONNX Runtime on a quiet machine differ by 0.5 to 2 %
 * (doc/results/comparisons.md). A comparison takes 9 to 10 s of the machine's time. */
static const struct aa_kind aa_kinds[] = {
    {"white", "white=0.03;launch=0.015", "each step 3 %, each launch 1.5 %", true},
    {"drift up", "white=0.03;launch=0.01;machine_drift=0.06:10s", "the machine slows down by 6 %",
     true},
    {"drift down", "white=0.03;launch=0.01;machine_drift=-0.06:4s",
     "it gets faster by 6 % within 4 s, then stays", true},
    {"bimodal launches", "white=0.02;launch=0.01;launch_modes=0.03:0.3",
     "3 of 10 launches are 3 % slower", true},
    {"disturbed launches", "white=0.02;launch=0.005;launch_modes=0.3:0.05",
     "1 of 20 launches is 30 % slower", true},
    {"bimodal steps", "white=0.02;launch=0.01;machine_modes=0.05:0.4:20ms",
     "4/10 of the time 5 % slower, in stays of 20 ms", true},
    {"bimodal machine", "white=0.02;launch=0.01;machine_modes=0.04:0.3:1500ms",
     "3/10 of the time 4 % slower, in stays of 1.5 s", true},
    {"autocorrelated, short", "white=0.02;launch=0.01;machine_wander=0.03:50ms",
     "3 %, forgotten after 50 ms", true},
    {"autocorrelated, long", "white=0.02;launch=0.01;machine_wander=0.02:1s",
     "2 %, forgotten after 1 s", true},
    {"busy neighbour", "white=0.01;launch=0.003;machine_modes=0.18:0.4:300ms",
     "4/10 of the time 18 % slower, in stays of 0.3 s", false},
    {"white, coarse", "white=0.03;launch=0.025", "each launch 2.5 %", false},
    {"drift, strong", "white=0.03;launch=0.01;machine_drift=0.15:10s", "15 %", false},
    {"bimodal steps, far apart", "white=0.02;launch=0.01;machine_modes=0.1:0.4:20ms",
     "4/10 of the time 10 % slower, in stays of 20 ms", false},
    {"bimodal launches, as far apart", "white=0.02;launch=0.01;launch_modes=0.05:0.4",
     "4 of 10 launches are 5 % slower", false},
};
#define AA_KINDS (sizeof aa_kinds / sizeof aa_kinds[0])

/* What is kept between launches: the place of the samples. */
struct aa_bench {
    struct assay__ring ring;
    struct assay__samples samples;
};

struct aa_verdict {
    enum assay__verdict verdict; /* of the second arm */
    bool paired;                 /* what a test on the pairs of each round would have claimed */
    bool advised;                /* one of the two was recommended for latency or for throughput */
    double smallest;             /* difference that could have been shown */
    double spread;               /* standard deviation / mean of the first arm's launches */
};

static inline int aa_open(struct aa_bench *bench, struct assay_error *error)
{
    *bench = (struct aa_bench){0};
    return assay__ring_create(&bench->ring, 1, error);
}

static inline void aa_close(struct aa_bench *bench)
{
    assay__samples_free(&bench->samples);
    assay__ring_close(&bench->ring);
}

/* The window that stands in the ring becomes samples. */
static inline int aa_take(struct aa_bench *bench, struct assay__taken *taken)
{
    size_t count = (size_t)atomic_load(assay__ring_count(&bench->ring, 0));
    const uint64_t *stamps = assay__ring_stamps(&bench->ring, 0);
    if (assay__samples_reserve(&bench->samples, count)) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++)
        bench->samples.values[bench->samples.count++] = (double)(stamps[i + 1] - stamps[i]);
    taken->windows++;
    taken->samples += count;
    taken->wall_ns += (double)(stamps[count] - stamps[0]);
    return 0;
}

static inline int aa_measure(struct aa_bench *bench, struct assay__streams *streams, size_t least,
                             struct assay__summary *summary)
{
    struct assay__goal goal = {.time_s = AA_TIME_S,
                               .precision = ASSAY__GOAL_PRECISION,
                               .streams = 1,
                               .capacity = (size_t)bench->ring.capacity};
    struct assay__taken taken = {.pace_ns = AA_STEADY_NS};
    struct assay__window_plan plan;
    size_t prerun = 0;
    bench->samples.count = 0;
    int code = assay__streams_prerun(streams, -1, &prerun);
    if (code == 0 && prerun < least) code = ASSAY_EINVAL;
    while (code == 0 && assay__goal_next(&goal, &taken, &plan) == ASSAY__GOAL_WINDOW) {
        code = assay__streams_window(streams, plan.iterations, plan.seconds, AA_REWARM);
        if (code == 0) code = aa_take(bench, &taken);
    }
    /* Not the full summary: the median and the cut do not depend on the rest. */
    return code ? code : assay__summary_compute(&bench->samples, 1, true, false, 0, summary);
}

/* One launch; *at_ns is the machine's time and moves on. */
static inline int aa_launch(struct aa_bench *bench, const struct aa_kind *kind, double steady_ns,
                            uint64_t machine, uint64_t seed, uint64_t *at_ns,
                            struct assay__summary *summary, struct assay_error *error)
{
    const struct assay__engine_ops *engine = &assay__engine_fake;
    struct assay__session *session = NULL;
    struct assay__streams *streams = NULL;
    char script[512];
    snprintf(
        script, sizeof script,
        "first=%.0fns;warmup=20x%.0fns;steady=%.0fns;%s;seed=%llu;machine=%llu;machine_at=%lluns",
        steady_ns * 4, steady_ns * 1.4, steady_ns, kind->noise, (unsigned long long)(seed >> 1),
        (unsigned long long)(machine >> 1), (unsigned long long)*at_ns);
    struct assay__session_options options = {.size = sizeof options, .script = script};
    int code = engine->open(&options, &session, error);
    if (code) return code;
    uint64_t begin_ns = engine->now_ns(session);
    code = engine->step(session, 0);
    if (code == 0) code = assay__streams_start(engine, session, &bench->ring, &streams, error);
    if (code == 0) code = aa_measure(bench, streams, 10, summary);
    *at_ns += engine->now_ns(session) - begin_ns + AA_BETWEEN_NS;
    assay__streams_stop(streams);
    engine->close(session);
    return code;
}

static inline int aa_add_launch(struct assay_profile *profile, size_t arm,
                                const struct assay__summary *summary)
{
    struct assay__launch *launch = assay__trial_launch(profile, &profile->trials[arm]);
    if (!launch) return ASSAY_ENOMEM;
    launch->state = ASSAY__TRIAL_OK;
    launch->streams = 1;
    launch->warmup = summary->warmup;
    launch->p50_ns = summary->p50;
    launch->wall_ns = summary->sum_ns;
    launch->sample_count = 0; /* not kept */
    int code = assay_metrics_measured(launch->metrics, "latency.p5", summary->p05 / 1e9, "clock",
                                      "");
    return code ? code
                : assay_metrics_measured(launch->metrics, "throughput.inferences",
                                         (double)summary->samples * 1e9 / summary->sum_ns, "clock",
                                         "");
}

static inline double aa_median(double *values, size_t count)
{
    assay__stats_sort(values, count);
    return assay__stats_median(values, count);
}

/* What a trial says of itself: the medians over its launches (run/trial/trial_metrics.c,
 * run/trial/trial_latency.c). */
static inline int aa_conclude(struct assay__trial *trial)
{
    double medians[AA_LAUNCHES], rates[AA_LAUNCHES];
    for (size_t i = 0; i < AA_LAUNCHES; i++) {
        medians[i] = trial->launches[i].p50_ns / 1e9;
        rates[i] = assay_metrics_get(trial->launches[i].metrics, "throughput.inferences")->value;
    }
    trial->state = ASSAY__TRIAL_OK;
    int code = assay_metrics_measured(trial->metrics, "latency.p50",
                                      aa_median(medians, AA_LAUNCHES), "clock", "");
    return code ? code
                : assay_metrics_measured(trial->metrics, "throughput.inferences",
                                         aa_median(rates, AA_LAUNCHES), "clock", "");
}

/* Wilcoxon's signed ranks of the rounds' ratios, two-sided at 4.88 % with ten pairs (W <= 8): not
 * what assay does, for comparison only. */
static inline bool aa_pairs(const struct assay_profile *profile)
{
    double ratios[AA_LAUNCHES];
    int up = 0, all = 0;
    for (size_t i = 0; i < AA_LAUNCHES; i++)
        ratios[i] = log(profile->trials[1].launches[i].p50_ns /
                        profile->trials[0].launches[i].p50_ns);
    for (size_t i = 0; i < AA_LAUNCHES; i++) {
        int rank = 1;
        for (size_t j = 0; j < AA_LAUNCHES; j++)
            rank += fabs(ratios[j]) < fabs(ratios[i]);
        all += rank;
        if (ratios[i] > 0) up += rank;
    }
    return up <= 8 || all - up <= 8;
}

static inline int aa_judge(const struct assay_profile *profile, struct aa_verdict *out)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    double medians[AA_LAUNCHES];
    int code = arena ? assay__comparison(profile, arena, &all) : ASSAY_ENOMEM;
    if (code == 0) {
        for (size_t i = 0; i < AA_LAUNCHES; i++)
            medians[i] = profile->trials[0].launches[i].p50_ns;
        *out = (struct aa_verdict){
            .verdict = all.rows[1].verdict,
            .paired = aa_pairs(profile),
            .advised = all.recommendations[ASSAY__FOR_LATENCY].row != SIZE_MAX ||
                       all.recommendations[ASSAY__FOR_THROUGHPUT].row != SIZE_MAX,
            .smallest = all.rows[1].speed.smallest,
            .spread = assay__stats_stddev(medians, AA_LAUNCHES) /
                      assay__stats_mean(medians, AA_LAUNCHES),
        };
    }
    assay__arena_free(arena);
    return code;
}

/* One comparison: the second arm is `slower` (0.05: 5 %) than the first. Every number follows from
 * `seed`. Not alternating: all launches of the first arm, then all of the second, as a user's two
 * commands would run. */
static inline int aa_compare(struct aa_bench *bench, const struct aa_kind *kind, bool alternate,
                             double slower, uint64_t seed, struct aa_verdict *out,
                             struct assay_error *error)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__random random;
    struct assay__summary summary;
    assay__random_seed(&random, seed);
    uint64_t machine = assay__random_u64(&random), at_ns = 0;
    int code = profile && assay__profile_trial(profile) && assay__profile_trial(profile)
                   ? 0
                   : ASSAY_ENOMEM;
    for (size_t i = 0; i < 2 * AA_LAUNCHES && code == 0; i++) {
        size_t round = i / 2, arm = alternate ? (i + round) % 2 : i / AA_LAUNCHES; /* a b, b a, … */
        code = aa_launch(bench, kind, AA_STEADY_NS * (arm ? 1 + slower : 1), machine,
                         assay__random_u64(&random), &at_ns, &summary, error);
        if (code == 0) code = aa_add_launch(profile, arm, &summary);
    }
    for (size_t arm = 0; arm < 2 && code == 0; arm++)
        code = aa_conclude(&profile->trials[arm]);
    if (code == 0) code = aa_judge(profile, out);
    assay_profile_close(profile);
    return code;
}

struct aa_counts {
    size_t done, claimed, paired, advised;
    size_t right;            /* claims that the second arm is slower */
    double smallest, spread; /* means */
};

/* `count` comparisons, seeds first … first + count - 1. slower NaN: each gets the smallest
 * difference that another one, of the same kind and without a difference, said it could have
 * shown. */
static inline int aa_run(const struct aa_kind *kind, double slower, uint64_t first, size_t count,
                         struct aa_counts *counts, struct assay_error *error)
{
    struct aa_bench bench;
    struct aa_verdict verdict = {0};
    *counts = (struct aa_counts){0};
    int code = aa_open(&bench, error);
    for (size_t i = 0; i < count && code == 0; i++) {
        double by = slower;
        if (isnan(slower)) {
            code = aa_compare(&bench, kind, true, 0, first + i + 0x100000000u, &verdict, error);
            by = verdict.smallest;
        }
        if (code == 0) code = aa_compare(&bench, kind, true, by, first + i, &verdict, error);
        counts->done++;
        counts->claimed += verdict.verdict == ASSAY__VERDICT_FASTER ||
                           verdict.verdict == ASSAY__VERDICT_SLOWER;
        counts->right += verdict.verdict == ASSAY__VERDICT_SLOWER;
        counts->advised += verdict.advised;
        counts->paired += verdict.paired;
        counts->smallest += verdict.smallest / (double)count;
        counts->spread += verdict.spread / (double)count;
    }
    aa_close(&bench);
    return code;
}

#endif
