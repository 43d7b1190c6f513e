/* test_sweep.c - points of a sweep on hand-made profiles: best for each goal, limits, what cannot
 * be told apart, the knee, scaling, what is left of an interrupted one, the best two again. */
#include "facts_fixture.h"

#include "judge/sweep.h"
#include "base/stats.h"

#include <assay/assay.h>
#include <stdio.h>
#include <string.h>

struct made {
    const char *label;
    double latency_s, spread, throughput, memory;
};

static struct assay_profile *profile_of(const struct made *points, size_t count)
{
    struct assay_profile *profile = assay__profile_new();
    CHECK(profile != NULL);
    assay__profile_set_command(profile, "sweep");
    for (size_t i = 0; i < count; i++) {
        struct assay__trial *trial = assay__profile_trial(profile);
        fact(profile, trial, "label", points[i].label);
        trial->state = ASSAY__TRIAL_OK;
        for (int l = -1; l <= 1; l++) {
            struct assay__launch *launch = assay__trial_launch(profile, trial);
            launch->state = ASSAY__TRIAL_OK;
            launch->p50_ns = points[i].latency_s * 1e9 * (1 + l * points[i].spread);
        }
        assay_metrics_measured(trial->metrics, "throughput.samples", points[i].throughput, "", "");
        assay_metrics_measured(trial->metrics, "memory.peak.worker", points[i].memory, "", "");
        assay_metrics_measured(trial->metrics, "latency.p99", points[i].latency_s * 1.5, "", "");
    }
    return profile;
}

/* Limits of latency and memory; NULL and NaN: none. */
static void limit(struct assay_profile *profile, const char *metric, double slo_s, double bytes)
{
    profile->plan.slo_metric = metric;
    profile->plan.slo_s = slo_s;
    profile->plan.memory_bytes = bytes;
}

static const struct made grid[] = {
    {"batch=1", 0.010, 0.01, 100, 1e6},   {"batch=2", 0.012, 0.01, 167, 2e6},
    {"batch=4", 0.016, 0.01, 250, 4e6},   {"batch=8", 0.030, 0.01, 267, 8e6},
    {"batch=16", 0.062, 0.01, 258, 16e6},
};
#define COUNT (sizeof grid / sizeof grid[0])

static void goals(void)
{
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.axes.count == 1);
    CHECK_INT(sweep.axes.items[0], ASSAY__AXIS_BATCH);
    CHECK(sweep.best == 3);
    CHECK_HAS(sweep.why, "batch=8");
    CHECK_HAS(sweep.why, "2.67 ×");
    /* 1 to 2: 1.67 against 1.2; 2 to 4: 1.5 against 1.33; 4 to 8: 1.07 against 1.875 */
    CHECK(sweep.knee == 2);
    CHECK_HAS(sweep.gain, "2.67 ×"); /* the throughput of batch 1 … */
    CHECK_HAS(sweep.gain, "3 ×");    /* … at its latency */
    CHECK(sweep.next == 4);
    CHECK(sweep.pair_count == 0); /* 267 and 258 are 3 % apart, launches spread by 1 % */
    CHECK_NEAR(sweep.points[3].efficiency, 2.67 / 8, 1e-9);
    CHECK_NEAR(sweep.points[0].efficiency, 1, 1e-12);
    profile->plan.goal = ASSAY__PLAN_LATENCY;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 0);
    profile->plan.goal = ASSAY__PLAN_ENERGY;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == SIZE_MAX);
    CHECK_HAS(sweep.why, "energy");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void limits_hold(void)
{
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    limit(profile, "latency.p99", 0.020, NAN);
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 1); /* 18 ms; batch 4 has 24 */
    CHECK(sweep.points[2].sound && !sweep.points[2].within && *sweep.points[2].judged.reason);
    limit(profile, NULL, NAN, 4e6);
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 2);
    limit(profile, "latency.p99", 1e-3, NAN);
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == SIZE_MAX);
    static const char *const nearest[] = {"batch=1", "latency.p99", "15.0 ms", "1.00 ms",
                                          "15 times"};
    for (size_t i = 0; i < sizeof nearest / sizeof nearest[0]; i++)
        CHECK_HAS(sweep.why, nearest[i]);
    profile->plan.slo_s = 0.0125;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK_HAS(sweep.why, "20 % over");
    /* both limits: the one that is broken most */
    limit(profile, "latency.p99", 0.014, 5e5);
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    static const char *const memory[] = {"batch=1", "memory", "1.00 MB", "500 kB", "2 times"};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        CHECK_HAS(sweep.why, memory[i]);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void what_overlaps_is_said(void)
{
    static const struct made close[] = {{"threads=1", 0.010, 0.02, 100, 1e6},
                                        {"threads=2", 0.0099, 0.02, 101, 1e6},
                                        {"threads=4", 0.020, 0.02, 50, 1e6}};
    struct assay_profile *profile = profile_of(close, 3);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    profile->plan.goal = ASSAY__PLAN_LATENCY;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 1);
    CHECK(sweep.alike_count == 1 && sweep.alike[0] == 0);
    CHECK(sweep.pair_count == 1 && sweep.pairs[0].a == 1 && sweep.pairs[0].b == 0);
    CHECK(sweep.knee == SIZE_MAX); /* no batch axis */
    CHECK_HAS(sweep.gain, "threads 2");
    CHECK(strstr(sweep.gain, "×") == NULL);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Three times the throughput says nothing while the launches of the two lie in each other; whatever
 * the goal is. */
static void a_gain_is_told_by_launches(void)
{
    static const struct made wide[] = {{"batch=1", 0.010, 0.6, 100, 1e6},
                                       {"batch=2", 0.0062, 0.6, 324, 1e6}},
                             narrow[] = {{"batch=1", 0.010, 0.1, 100, 1e6},
                                         {"batch=2", 0.0062, 0.1, 324, 1e6}};
    static const enum assay__plan_goal goals_of[] = {ASSAY__PLAN_THROUGHPUT, ASSAY__PLAN_LATENCY,
                                                     ASSAY__PLAN_ENERGY};
    for (size_t g = 0; g < sizeof goals_of / sizeof goals_of[0]; g++)
        for (int told = 0; told < 2; told++) {
            struct assay_profile *profile = profile_of(told ? narrow : wide, 2);
            struct assay__arena *arena = assay__arena_new();
            struct assay__sweep sweep;
            profile->plan.goal = goals_of[g];
            CHECK(assay__sweep(profile, arena, &sweep) == 0);
            CHECK(assay__sweep_overlap(&sweep.points[0], &sweep.points[1]) == !told);
            CHECK_HAS(sweep.gain, told ? "3.24 ×" : "batch 2");
            CHECK((strstr(sweep.gain, "×") != NULL) == told);
            assay__arena_free(arena);
            assay_profile_close(profile);
        }
}

static void a_failed_point_is_a_result(void)
{
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    profile->trials[3].state = ASSAY__TRIAL_FAILED;
    profile->trials[3].reason = "worker ran out of memory";
    for (size_t l = 0; l < 3; l++)
        profile->trials[3].launches[l].state = ASSAY__TRIAL_FAILED;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 4);
    CHECK(!sweep.points[3].judged.usable);
    CHECK_STR(sweep.points[3].judged.reason, "worker ran out of memory");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* One launch of three is lost: the point stands on the two that are left, and says so. Of two, it
 * does not stand on one. */
static void a_lost_launch_is_said(void)
{
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    struct assay__trial *trial = &profile->trials[3];
    trial->state = ASSAY__TRIAL_FAILED;
    trial->reason = "1 of 3 launches failed; launch 2: killed";
    trial->launches[1].state = ASSAY__TRIAL_FAILED;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 3 && sweep.points[3].judged.usable && sweep.points[3].within);
    CHECK_HAS(sweep.points[3].judged.lost, "1 of 3 launches failed; launch 2: killed");
    CHECK_HAS(sweep.points[3].judged.lost, " 2");
    CHECK_STR(sweep.points[3].judged.reason, "");
    CHECK_STR(sweep.points[2].judged.lost, "");
    trial->launches[2].state = ASSAY__TRIAL_FAILED; /* one left, and two failures in a row */
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 4 && !sweep.points[3].judged.usable);
    CHECK_STR(sweep.points[3].judged.reason, "1 of 3 launches failed; launch 2: killed");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* --- the knee under noise --------------------------------------------------------------------- */

/* Sum of uniform numbers: near enough to normal, mean 0, deviation 1. */
static double noise(struct assay__random *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += assay__random_unit(random);
    return sum;
}

/* Batches 1 … 32 whose latency is 1 + batch / 8: throughput over latency is highest at 8. */
static size_t noisy_knee(double spread, int launches, struct assay__random *random)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    assay__profile_set_command(profile, "sweep");
    for (int i = 0; i < 6; i++) {
        struct assay__trial *trial = assay__profile_trial(profile);
        double latency_s = 1e-3 * (1 + (1 << i) / 8.0), sum = 0;
        fact(profile, trial, "label", assay__arena_printf(profile->arena, "batch=%d", 1 << i));
        trial->state = ASSAY__TRIAL_OK;
        trial->batch = 1 << i;
        for (int l = 0; l < launches; l++) {
            struct assay__launch *launch = assay__trial_launch(profile, trial);
            double own = latency_s * (1 + spread * noise(random));
            launch->state = ASSAY__TRIAL_OK;
            launch->p50_ns = own * 1e9;
            sum += own;
        }
        assay_metrics_measured(trial->metrics, "throughput.samples", launches * trial->batch / sum,
                               "", "");
    }
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK_HAS(sweep.knee_why, sweep.knee == SIZE_MAX ? "unknown: " : "batch=");
    size_t knee = sweep.knee;
    assay__arena_free(arena);
    assay_profile_close(profile);
    return knee;
}

/* The true one or none: with little noise it is found, with more it is not shown, and hardly ever
 * is another one named. */
static void a_noisy_knee_is_not_shown(void)
{
    struct assay__random random;
    const struct {
        double spread;
        int launches, found_least, wrong_most;
    } cases[] = {{0.002, 3, 200, 0}, {0.02, 3, 40, 4},   {0.1, 3, 0, 4},
                 {0.3, 3, 0, 4},     {0.02, 10, 190, 4}, {0.1, 10, 0, 4}};
    assay__random_seed(&random, 7);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        int found = 0, wrong = 0;
        for (int i = 0; i < 200; i++) {
            size_t knee = noisy_knee(cases[c].spread, cases[c].launches, &random);
            found += knee == 3;
            wrong += knee != 3 && knee != SIZE_MAX;
        }
        printf("  spread %.3f, %d launches: found in %d of 200, another in %d\n", cases[c].spread,
               cases[c].launches, found, wrong);
        CHECK(found >= cases[c].found_least);
        CHECK(wrong <= cases[c].wrong_most);
    }
}

static void add_metric(struct assay_profile *profile, size_t trial, const char *name, double value)
{
    CHECK(assay_metrics_measured(profile->trials[trial].metrics, name, value, "outputs", "") == 0);
}

/* What returns NaN, or numbers far from the reference's, is not advised however fast it is. */
static void wrong_outputs_do_not_win(void)
{
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    add_metric(profile, 3, "outputs.nonfinite", 4);
    add_metric(profile, 4, "drift.relative_l2", 0.02);
    add_metric(profile, 2, "drift.relative_l2", 0.009);
    add_metric(profile, 2, "outputs.nonfinite", 0);
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 4); /* no limit of the drift is kept */
    profile->plan.drift_limit = 0.01;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 2);
    CHECK(sweep.points[3].judged.usable && !sweep.points[3].sound && !sweep.points[3].within);
    CHECK_HAS(sweep.points[3].judged.reason, "4 ");
    CHECK_HAS(sweep.points[3].judged.reason, "NaN");
    CHECK_HAS(sweep.points[4].judged.reason, "0.02");
    CHECK_HAS(sweep.points[4].judged.reason, "0.01");
    CHECK_HAS(sweep.gain, "2.5 ×");
    CHECK_HAS(sweep.gain, "1.6 ×");
    add_metric(profile, 0, "outputs.nonfinite", 1); /* no measure for the others */
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK_HAS(sweep.why, "batch=4");
    CHECK_HAS(sweep.why, "1.5 ×"); /* the throughput of … */
    CHECK_HAS(sweep.why, "batch=2");
    add_metric(profile, 1, "outputs.nonfinite", 1);
    add_metric(profile, 2, "outputs.nonfinite", 1);
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == SIZE_MAX && sweep.knee == SIZE_MAX);
    CHECK_HAS(sweep.why, "batch=1: 1 ");
    CHECK(*sweep.knee_why);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Why there is no knee is said as it is; limits that nobody keeps do not take it away, nor the
 * scaling. */
static void knees_without_a_best(void)
{
    static const struct made threads[] = {{"threads=1", 0.010, 0.01, 100, 1e6},
                                          {"threads=2", 0.006, 0.01, 160, 1e6}};
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    limit(profile, "latency.p99", 1e-9, NAN);
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == SIZE_MAX && sweep.knee == 2);
    CHECK_HAS(sweep.knee_why, "batch=4");
    CHECK(sweep.scaled == 3);
    assay_profile_close(profile);
    profile = profile_of(grid, 2);
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.knee == SIZE_MAX);
    CHECK_HAS(sweep.knee_why, " 2");
    assay_profile_close(profile);
    profile = profile_of(threads, 2);
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.knee == SIZE_MAX && *sweep.knee_why);
    CHECK(sweep.scaled == 1);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* A software device is measured and never wins: neither beside a real one nor alone. */
static void software_does_not_win(void)
{
    static const struct made devices[] = {{"device=cpu", 0.010, 0.01, 100, 1e6},
                                          {"device=gpu:0", 0.005, 0.01, 200, 1e6}};
    struct assay_profile *profile = profile_of(devices, 2);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 1);
    fact(profile, &profile->trials[1], "role", "software");
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 0);
    CHECK(sweep.points[1].software && sweep.points[1].judged.usable);
    profile->trials[0].state = ASSAY__TRIAL_SKIPPED; /* nothing else ran */
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == SIZE_MAX && sweep.next == SIZE_MAX);
    CHECK_HAS(sweep.why, "software");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* The shortest sequence always has the most samples: lengths are compared by the token. */
static void sequences_are_counted_in_tokens(void)
{
    static const struct made lengths[] = {{"seq=8", 0.001, 0.01, 1000, 1e6},
                                          {"seq=64", 0.004, 0.01, 250, 1e6},
                                          {"seq=512", 0.064, 0.01, 15.625, 1e6}};
    struct assay_profile *profile = profile_of(lengths, 3);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.per_token);
    CHECK(sweep.best == 1); /* 8,000, 16,000 and 8,000 tokens/s */
    CHECK_HAS(sweep.why, "tokens per second");
    CHECK_HAS(sweep.why, "seq=64");
    CHECK_HAS(sweep.why, "2 ×");
    CHECK(sweep.alike_count == 0);
    profile->plan.goal = ASSAY__PLAN_LATENCY;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(!sweep.per_token && sweep.best == 0);
    profile->trial_count = 1;
    profile->plan.goal = ASSAY__PLAN_THROUGHPUT;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(!sweep.per_token);
    profile->trial_count = 3; /* to be freed */
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Launches of a killed or interrupted capture count. */
static void a_part_is_used(void)
{
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    profile->trials[3].state = ASSAY__TRIAL_INTERRUPTED;
    profile->trials[4].state = ASSAY__TRIAL_RUNNING;
    profile->trials[4].launch_count = 0;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 3);
    CHECK_STR(sweep.points[3].judged.reason, "interrupted after 3 launches");
    CHECK(!sweep.points[4].judged.usable);
    CHECK_STR(sweep.points[4].judged.reason, "interrupted before it was measured");
    CHECK(sweep.points[4].interrupted && sweep.points[4].unreached);
    CHECK(!sweep.points[3].interrupted && !sweep.points[3].unreached);
    profile->trials[4].launch_count = 1; /* samples of a launch that did not end */
    profile->trials[4].launches[0].state = ASSAY__TRIAL_INTERRUPTED;
    profile->trials[4].launches[0].sample_count = 9;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(!sweep.points[4].judged.usable);
    CHECK_STR(sweep.points[4].judged.reason, "interrupted in its first launch");
    CHECK(sweep.points[4].interrupted && !sweep.points[4].unreached);
    profile->trials[4].launch_count = 3; /* to be freed */
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void add_confirm(struct assay_profile *profile, const char *label, int64_t batch,
                        double first_s, double step_s)
{
    struct assay__trial *trial = assay__profile_trial(profile);
    fact(profile, trial, "label", label);
    fact(profile, trial, "role", "confirm");
    trial->state = ASSAY__TRIAL_OK;
    trial->batch = batch;
    for (int l = 0; l < 10; l++) {
        struct assay__launch *launch = assay__trial_launch(profile, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = (first_s + l * step_s) * 1e9;
    }
}

/* Trials that confirm are no points; ten launches each decide by the exact rank test, per
 * sample. */
static void the_best_two_again(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    const struct {
        double second_s, step_s;
        int better; /* 1 the first, -1 the second, 0 neither is shown to be */
    } cases[] = {
        {0.066, 1e-5, 1},  /* 4.1 against 3.75 ms */
        {0.054, 1e-5, -1}, /* 3.4 ms */
        {0.060, 2e-5, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct assay_profile *profile = profile_of(grid, COUNT);
        add_confirm(profile, "batch=8", 8, 0.030, cases[i].step_s / 2);
        add_confirm(profile, "batch=16", 16, cases[i].second_s, cases[i].step_s);
        CHECK(assay__sweep(profile, arena, &sweep) == 0);
        CHECK(sweep.count == COUNT);
        CHECK(sweep.confirmation.asked);
        CHECK(sweep.confirmation.points[0] == 3 && sweep.confirmation.points[1] == 4);
        CHECK(sweep.confirmation.launches[0] == 10);
        CHECK_HAS(sweep.confirmation.why, "batch=8");
        CHECK_HAS(sweep.confirmation.why, "batch=16");
        CHECK((sweep.confirmation.ratio.p_value < 0.05) == (cases[i].better != 0));
        if (cases[i].better) CHECK((sweep.confirmation.ratio.ratio > 1) == (cases[i].better > 0));
        if (i == 0) CHECK_NEAR(sweep.confirmation.ratio.ratio, 66.045 / 30.0225 / 2, 1e-9);
        /* 2 / C(20, 10) */
        if (i < 2) CHECK_NEAR(sweep.confirmation.ratio.p_value, 2.0 / 184756, 1e-8);
        assay_profile_close(profile);
    }
    assay__arena_free(arena);
}

static void slo_words(void)
{
    struct assay__plan plan = assay__plan_unknown();
    CHECK(assay__plan_set_slo(&plan, "p99=20ms"));
    CHECK_STR(plan.slo_metric, "latency.p99");
    CHECK_NEAR(plan.slo_s, 0.02, 1e-12);
    CHECK_STR(plan.slo, "p99=20ms");
    CHECK(!assay__plan_set_slo(&plan, "p98=20ms"));
    CHECK(!assay__plan_set_slo(&plan, "p99"));
    CHECK(!assay__plan_set_slo(&plan, "p99=fast"));
    CHECK(!assay__plan_set_slo(&plan, "p99=0ms"));
    CHECK(!assay__plan_set_slo(&plan, "p99=20"));
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"p99=20", "'p99=20' has no unit: write p99=20ms"},
        {"p99=20ms,p50=1ms", "has several limits, but only one is allowed,"},
        {"p98=1ms", "is not of the form p99=20ms (p50, p90, p95, p99, p99.9, max or mean)"},
        {"p99", "is not of the form"},
        {"p99=", "is not of the form"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct assay_error error = {0};
        CHECK_INT(assay__sweep_slo_check(wrong[i].text, &error), ASSAY_EINVAL);
        CHECK_HAS(error.message, wrong[i].says);
    }
    CHECK_INT(assay__sweep_slo_check("p99.9=1.5us", NULL), 0);
}

/* Three launches were planned; the sweep was stopped after the first of each, or of the best. */
static void one_launch_names_no_best(void)
{
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    for (size_t i = 0; i < COUNT; i++)
        profile->trials[i].protocol.launches = 3;
    profile->trials[3].launch_count = 1;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == SIZE_MAX && sweep.next == SIZE_MAX && sweep.alike_count == 0);
    profile->trials[3].launch_count = 2;
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 3);
    for (size_t i = 0; i < COUNT; i++) { /* one launch was all that was wanted */
        profile->trials[i].protocol.launches = 1;
        profile->trials[i].launch_count = 1;
    }
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 3);
    for (size_t i = 0; i < COUNT; i++)
        profile->trials[i].launch_count = 3; /* all of them are freed */
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void load_is_said_beside_the_best(void)
{
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    for (size_t i = 0; i < COUNT; i++) {
        profile->trials[i].target.engine = "ort";
        assay_metrics_measured(profile->trials[i].metrics, "disturbance.cpu_other", 0.01 * (int)i,
                               "", "");
    }
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 3 && strstr(sweep.why, "other processes") == NULL);
    assay_metrics_measured(profile->trials[1].metrics, "disturbance.cpu_other", 0.34, "", "");
    CHECK_NEAR(assay__other_load(profile->trials, COUNT), 0.34, 1e-12);
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == 3);
    CHECK_HAS(sweep.why, "34 %");
    /* most of the machine: the numbers stay, no point is called the best */
    assay_metrics_measured(profile->trials[1].metrics, "disturbance.cpu_other", 0.84, "", "");
    CHECK(assay__sweep(profile, arena, &sweep) == 0);
    CHECK(sweep.best == SIZE_MAX && sweep.knee == SIZE_MAX && sweep.alike_count == 0);
    CHECK_HAS(sweep.why, "withdrawn: machine busy (84 % used by others)");
    CHECK(isfinite(sweep.points[3].judged.throughput.value));
    profile->trials[1].target.engine = "fake"; /* its times are scripted */
    CHECK_NEAR(assay__other_load(profile->trials, COUNT), 0.04, 1e-12);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"goals", goals},
        {"one_launch_names_no_best", one_launch_names_no_best},
        {"load_is_said_beside_the_best", load_is_said_beside_the_best},
        {"limits_hold", limits_hold},
        {"what_overlaps_is_said", what_overlaps_is_said},
        {"a_gain_is_told_by_launches", a_gain_is_told_by_launches},
        {"a_failed_point_is_a_result", a_failed_point_is_a_result},
        {"a_lost_launch_is_said", a_lost_launch_is_said},
        {"a_noisy_knee_is_not_shown", a_noisy_knee_is_not_shown},
        {"sequences_are_counted_in_tokens", sequences_are_counted_in_tokens},
        {"wrong_outputs_do_not_win", wrong_outputs_do_not_win},
        {"knees_without_a_best", knees_without_a_best},
        {"software_does_not_win", software_does_not_win},
        {"a_part_is_used", a_part_is_used},
        {"the_best_two_again", the_best_two_again},
        {"slo_words", slo_words},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
