/* test_run_parts.c - what the caller of assay__run() says of the device is copied into the profile,
 * in memory and in the file, and what was asked for beside the latency is on record. */
#include "profile_fixture.h"
#include "run/run_options.h"
#include "run/trial/trial.h"

#include <math.h>
#include <unistd.h>

#include <assay/assay.h>

static struct assay_profile *run(struct assay__run_options wish, int expected)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    wish.target.engine = "fake";
    wish.script = "steady=100us";
    wish.measuring.iterations = 20;
    wish.measuring.warmup_given = true;
    wish.measuring.timeout_s = 60;
    int code = assay__run(&wish, &profile, &error);
    if (code != expected) printf("  code %d: %s\n", code, error.message);
    CHECK_INT(code, expected);
    return profile;
}

static void check_ceilings(const struct assay_profile *p)
{
    CHECK_INT(p->ceiling_count, 3);
    CHECK_STR(p->ceilings[0].device, "cpu");
    CHECK_STR(p->ceilings[0].name, "compute.float32.all-cores");
    CHECK(p->ceilings[0].value == 2.5e11 && p->ceilings[0].low == 2.4e11);
    CHECK(p->ceilings[0].high == 2.5e11);
    CHECK_STR(p->ceilings[0].unit, "FLOP/s");
    CHECK_STR(p->ceilings[0].source, "kernel");
    CHECK_STR(p->ceilings[0].note, "");
    CHECK_STR(p->ceilings[0].measured_at, "2025-01-02T03:04:05Z");
    CHECK(isnan(p->ceilings[1].value) && isnan(p->ceilings[1].low));
    CHECK_STR(p->ceilings[1].note, "no such instructions");
    CHECK(isnan(p->ceilings[2].value)); /* zero is no ceiling, and says so */
    CHECK(p->ceilings[2].note[0] != '\0');
}

static void test_ceilings(void)
{
    make_folder();
    char name[] = "compute.float32.all-cores", unit[] = "FLOP/s";
    struct assay__ceiling_info given[] = {
        {"cpu", name, 2.5e11, unit, 2.4e11, 2.5e11, "kernel", "", "2025-01-02T03:04:05Z"},
        {"cpu", "compute.float16.all-cores", NAN, unit, 1, 2, NULL, "no such instructions", NULL},
        {"cpu", "bandwidth.dram.triad.all-cores", 0, "B/s", 0, 0, "", NULL, ""},
    };
    const char *path = in_folder("p.assay");
    struct assay_profile *p = run((struct assay__run_options){.ceilings = given,
                                                              .ceiling_count = COUNT(given),
                                                              .keeping.output = path},
                                  0);
    memset(name, 'x', sizeof name - 1); /* the profile has copies */
    memset(given, 0, sizeof given);
    check_ceilings(p);
    assay_profile_close(p);
    CHECK_INT(assay_profile_open(path, &p, NULL), 0);
    check_ceilings(p);
    assay_profile_close(p);
    CHECK(run((struct assay__run_options){.ceiling_count = 1}, ASSAY_EINVAL) == NULL);
    p = run((struct assay__run_options){0}, 0);
    CHECK(p->ceiling_count == 0 && p->ceilings == NULL);
    assay_profile_close(p);
}

static const char *watch_of(const struct assay_profile *p)
{
    const struct assay__trial *t = &p->trials[0];
    for (size_t i = 0; i < t->option_count; i++)
        if (strcmp(t->options[i].key, "watch") == 0) return t->options[i].value;
    return "none";
}

static void test_watch(void)
{
    struct assay_profile *p = run((struct assay__run_options){0}, 0);
    CHECK_STR(watch_of(p), "none");
    CHECK(p->trials[0].series_count == 0 && p->trials[0].allocations.reason == NULL);
    CHECK(p->trials[0].counter_names == NULL);
    assay_profile_close(p);
    p = run((struct assay__run_options){.watching.power = true,
                                        .watching.counters = true,
                                        .watching.idle_given = true,
                                        .watching.idle_s = 0},
            0);
    CHECK_STR(watch_of(p), "power+counters");
    assay_profile_close(p);
}

/* Stopped before the first launch: what the host reports is not known, and nothing is said of it.
 */
static void test_no_launch(void)
{
    struct assay_profile *p = assay__profile_new();
    struct assay__trial_input input = {.profile = p, .trial = assay__profile_trial(p)};
    CHECK_INT(assay__trial_disturbances(&input), 0);
    CHECK_INT(p->environment.unknown_count, 0);
    const struct assay_metric *steal = assay_metrics_get(p->trials[0].metrics, "disturbance.steal");
    CHECK(steal && steal->state == ASSAY_UNAVAILABLE);
    CHECK_STR(steal->note, "nothing was launched");
    assay_profile_close(p);
}

/* A launch whose counters did not move, and one of an earlier capture: neither says that this
 * system does not report CPU times. */
static void test_no_reading(void)
{
    struct assay_profile *p = assay__profile_new();
    struct assay__outcome outcomes[] = {{.exit_known = true}, {.adopted = true}};
    outcomes[0].before.cpu_known = outcomes[0].after.cpu_known = true;
    outcomes[0].before.steal_known = outcomes[0].after.steal_known = true;
    for (size_t i = 0; i < 2; i++) {
        struct assay__trial_input input = {.profile = p,
                                           .trial = assay__profile_trial(p),
                                           .outcomes = &outcomes[i],
                                           .outcome_count = 1};
        CHECK_INT(assay__trial_disturbances(&input), 0);
        static const char *const names[] = {"disturbance.steal", "disturbance.cpu_other"};
        for (size_t k = 0; k < 2; k++) {
            const struct assay_metric *m = assay_metrics_get(input.trial->metrics, names[k]);
            CHECK(m && m->state == ASSAY_UNAVAILABLE);
            CHECK(strstr(m->note, "does not report") == NULL);
        }
    }
    for (size_t i = 0; i < p->environment.unknown_count; i++)
        CHECK(strstr(p->environment.unknown[i], "steal") == NULL);
    assay_profile_close(p);
}

/* 2 % where 1 % was wanted is a matter of seconds; 50 % is one of hours: too noisy, and no number
 * of iterations is proposed. */
static void test_too_noisy(void)
{
    static const struct {
        double half_width;
        const char *verdict;
        long more;
    } cases[] = {{0.02, "too-few", 300}, {0.5, "unstable", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct assay_profile *p = assay__profile_new();
        double value = 30e6;
        struct assay__samples stream = {&value, 1, 1};
        struct assay__outcome outcome = {.streams = &stream, .stream_count = 1, .total = 100};
        outcome.summary = (struct assay__summary){.samples = 100,
                                                  .mean = 30e6,
                                                  .p50 = 30e6,
                                                  .sum_ns = 3e9,
                                                  .tau = 1,
                                                  .drift = NAN,
                                                  .half_width = cases[i].half_width};
        struct assay__trial_input input = {.profile = p,
                                           .trial = assay__profile_trial(p),
                                           .outcomes = &outcome,
                                           .outcome_count = 1,
                                           .precision = 0.01};
        CHECK_INT(assay__trial_stability(&input), 0);
        CHECK_STR(input.trial->stability.verdict, cases[i].verdict);
        CHECK_INT(input.trial->stability.more_iterations, cases[i].more);
        CHECK_INT(input.trial->stability.reason_count, 1);
        assay_profile_close(p);
    }
}

/* Nine launches, eight of them with unequal windows: one sentence with how many and the worst, not
 * nine; and a heavy tail is a reason that does not change the verdict. */
static void test_reasons_are_summed_up(void)
{
    enum { LAUNCHES = 9 };
    struct assay_profile *p = assay__profile_new();
    struct assay__outcome outcomes[LAUNCHES] = {{0}};
    struct assay__sample_window windows[LAUNCHES][3];
    double values[] = {100, 100, 100};
    struct assay__samples stream = {values, 3, 3};
    for (size_t i = 0; i < LAUNCHES; i++) {
        struct assay__outcome *o = &outcomes[i];
        double slow = i == 0 ? 1 : i == 6 ? 2.35 : 1.5;
        for (size_t w = 0; w < 3; w++)
            windows[i][w] = (struct assay__sample_window){w, 1, 1, w == 2 ? 100 * slow : 100, 0, 0};
        *o = (struct assay__outcome){.streams = &stream, .stream_count = 1, .total = 3};
        o->windows = windows[i], o->window_count = 3;
        o->summary = (struct assay__summary){.samples = 100, .mean = 100, .tau = 1, .drift = NAN};
        o->summary.p50 = 100 + 10 * (double)i;
        o->summary.bimodal = i > 6, o->summary.low_mode = 90, o->summary.high_mode = 117;
        o->summary.outlier_share = 0.01;
    }
    struct assay__trial_input input = {.profile = p,
                                       .trial = assay__profile_trial(p),
                                       .outcomes = outcomes,
                                       .outcome_count = LAUNCHES,
                                       .precision = 0.01};
    input.trial->layers.method = "";
    assay_metrics_measured(input.trial->metrics, "latency.p50", 140e-9, "clock", "");
    assay_metrics_measured(input.trial->metrics, "latency.mean", 280e-9, "clock", "");
    assay_metrics_measured(input.trial->metrics, "latency.p95", 700e-9, "clock", "");
    CHECK_INT(assay__trial_stability(&input), 0);
    const struct assay__stability *s = &input.trial->stability;
    CHECK_STR(s->verdict, "unstable");
    CHECK_INT(s->reason_count, 4); /* how the launches differ, modes, windows, the tail */
    CHECK_HAS(s->reasons[1], "in 2 of 9 launches");
    CHECK_HAS(s->reasons[1], "30 %");
    CHECK_HAS(s->reasons[2], "in 8 of 9 launches");
    CHECK_HAS(s->reasons[2], "2.35× (launch 7)");
    CHECK_HAS(s->reasons[3], "1 in 20");
    for (size_t i = 0; i < LAUNCHES; i++)
        outcomes[i].summary.p50 = 100; /* they agree: only the tail is left to say */
    CHECK_INT(assay__trial_stability(&input), 0);
    CHECK_STR(s->verdict, "stable");
    CHECK_INT(s->reason_count, 1);
    assay_profile_close(p);
}

/* Of short launches, those beside which others used 15 % more of the CPU time than beside the
 * quieter quarter are in no statistics, while five are left; what they took has no part in it. */
static void test_loaded_launches(void)
{
    static const double loads[] = {0.25, 0.45, 0.25, 0.26, 0.9, 0.24, 0.25};
    struct assay__outcome outcomes[7] = {{0}};
    const struct assay__outcome *used[7];
    for (size_t i = 0; i < 7; i++) {
        struct assay__outcome *o = &outcomes[i];
        o->exit_known = o->before.cpu_known = o->after.cpu_known = true;
        o->after.cpu_busy_s = loads[i];
        o->after.cpu_idle_s = 1 - loads[i];
        o->total = 100;
        o->summary.p50 = 1000.0 * (double)(7 - i);
        CHECK_NEAR(assay__outcome_load(o), loads[i], 1e-12);
    }
    struct assay__trial_input input = {.outcomes = outcomes, .outcome_count = 7, .brief = true};
    CHECK_INT(assay__trial_used(&input, used), 5);
    CHECK(used[1] == &outcomes[2] && used[3] == &outcomes[5]);
    input.outcome_count = 6; /* only four would be left */
    CHECK_INT(assay__trial_used(&input, used), 6);
    input.outcome_count = 7;
    outcomes[6].before.cpu_known = false; /* unknown: no reason to leave anything out */
    CHECK_INT(assay__trial_used(&input, used), 7);
    outcomes[6].before.cpu_known = true;
    input.brief = false; /* so many were asked for */
    CHECK_INT(assay__trial_used(&input, used), 7);
}

/* The fixed loop beside the windows tells which launches saw a slower machine. */
static void test_slow_launches(void)
{
    static const double second_cpu[] = {8.3, 8.0, 13.0, 8.1, 10.7, 8.0, 8.2};
    struct assay__outcome outcomes[7];
    const struct assay__outcome *used[7];
    for (size_t i = 0; i < 7; i++) {
        assay__outcome_init(&outcomes[i]);
        outcomes[i].total = 100;
        outcomes[i].summary.p50 = 1000.0 * (double)(i + 1); /* does not decide */
        outcomes[i].speed.loop_ns[0] = 9;
        outcomes[i].speed.loop_ns[1] = second_cpu[i];
        outcomes[i].exit_known = outcomes[i].before.cpu_known = outcomes[i].after.cpu_known = true;
        outcomes[i].after.cpu_idle_s = 1;
    }
    struct assay__speed best = assay__outcomes_speed(outcomes, 7);
    CHECK_NEAR(best.loop_ns[0], 9, 0);
    CHECK_NEAR(best.loop_ns[1], 8, 0);
    CHECK(isnan(best.loop_ns[2]));
    CHECK_NEAR(assay__speed_slowdown(&outcomes[2].speed, &best), 0.625, 1e-12);
    struct assay__speed worst = assay__speed_worst(&outcomes[0].speed, &outcomes[4].speed);
    CHECK_NEAR(assay__speed_slowdown(&worst, &best), 0.3375, 1e-12);
    struct assay__trial_input input = {.outcomes = outcomes, .outcome_count = 7, .brief = true};
    CHECK_INT(assay__trial_used(&input, used), 5);
    CHECK(used[1] == &outcomes[1] && used[2] == &outcomes[3] && used[4] == &outcomes[6]);
    input.outcome_count = 6; /* only four would be left */
    CHECK_INT(assay__trial_used(&input, used), 6);
    input.outcome_count = 7;
    outcomes[5].speed = assay__speed_unknown(); /* no reason to leave anything out */
    CHECK_INT(assay__trial_used(&input, used), 7);
    CHECK(isnan(assay__speed_slowdown(&outcomes[5].speed, &best)));
    struct assay__speed readings[3] = {outcomes[1].speed, outcomes[2].speed, outcomes[3].speed};
    CHECK_NEAR(assay__speed_median(readings, 3).loop_ns[1], 8.1, 0);
}

/* The machine's speed now: read on this machine, finite, and never slower than at its best. */
static void test_speed_read(void)
{
    struct assay__speed none = assay__speed_unknown();
    struct assay__speed now = assay__speed_read(getpid(), &none);
    size_t known = 0;
    for (size_t i = 0; i < ASSAY__SPEED_CPUS; i++)
        if (isfinite(now.loop_ns[i])) known += now.loop_ns[i] > 0;
    CHECK(known >= 1);
    CHECK_NEAR(assay__speed_slowdown(&now, &now), 0, 0);
}

/* Launches with layers that are slower and faster than the median launch: on average they add up.
 */
static void test_layers_of_launches(void)
{
    struct assay__layer timed[3][2];
    struct assay__outcome outcomes[5];
    for (size_t i = 0; i < 5; i++) {
        assay__outcome_init(&outcomes[i]);
        outcomes[i].total = 100;
        outcomes[i].summary.p50 = 100;
        if (i >= 3) continue;
        timed[i][0] = timed[i][1] = assay__layer_unknown();
        outcomes[i].layers.items = timed[i];
        outcomes[i].layers.count = 2;
        outcomes[i].layers.method = "markers";
        outcomes[i].layers.engine_ns = 10;
        timed[i][0].time_ns = 30;
        timed[i][1].time_ns = i == 0 ? 50 : i == 1 ? 68 : 62; /* sums 90, 108, 102 */
    }
    CHECK(!assay__outcomes_layers_fit(outcomes, 1));
    CHECK(assay__outcomes_layers_fit(outcomes, 2)); /* 99 on average */
    outcomes[0].code = ASSAY_ECRASH;
    CHECK(!assay__outcomes_layers_fit(outcomes, 2));
    CHECK(assay__outcomes_layers_fit(outcomes, 3)); /* the third fits alone */
    outcomes[2].layers.method = "profiler";
    CHECK(!assay__outcomes_layers_fit(outcomes, 3));
    outcomes[1].layers.method = "profiler"; /* those never add up */
    CHECK(assay__outcomes_layers_fit(outcomes, 3));
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"ceilings", test_ceilings},
        {"watch", test_watch},
        {"no_launch", test_no_launch},
        {"no_reading", test_no_reading},
        {"too_noisy", test_too_noisy},
        {"reasons_are_summed_up", test_reasons_are_summed_up},
        {"loaded_launches", test_loaded_launches},
        {"slow_launches", test_slow_launches},
        {"speed_read", test_speed_read},
        {"layers_of_launches", test_layers_of_launches},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
