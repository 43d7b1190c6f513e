/* test_quiet.c - what was measured while others used the machine: launches that were disturbed do
 * not count where enough others are there, and are made again when the machine is quiet. On the
 * fake engine, whose launches get the load that a test wants; no test looks at the machine. */
#include "harness.h"

#include "experiment/quiet.h"
#include "judge/comparison.h"
#include "judge/judged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES 5

static struct assay__arms arms;
static const size_t both[] = {0, 1};
static int looks, busy_looks;

static double scripted_share(double seconds)
{
    CHECK(seconds > 0);
    return looks++ < busy_looks ? 0.9 : 0.05;
}

static void begin(void)
{
    static const struct assay__run_options run = {.target.engine = "fake",
                                                  .script = "steady=100us",
                                                  .measuring.launches = LAUNCHES,
                                                  .measuring.iterations = 20,
                                                  .measuring.warmup_given = true,
                                                  .measuring.timeout_s = 60};
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    CHECK_INT(assay__arms_begin(&arms, &run, NULL, &error), 0);
    for (size_t i = 0; i < 2; i++) {
        struct assay__run_options one = run;
        const struct assay__arm_identity identity = {.label = i ? "fast" : "slow"};
        if (i) one.script = "steady=50us";
        CHECK_INT(assay__arms_add(&arms, &one, &identity, NULL, &error), 0);
    }
    CHECK_INT(assay__arms_start(&arms, &error), 0);
    CHECK_INT(assay__arms_launch(&arms, 0, 2, LAUNCHES, &error), 0);
    looks = busy_looks = 0;
}

static void end(void)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    assay__arms_finish(&arms, &profile, &error);
    assay_profile_close(profile);
    assay__arms_end(&arms);
}

/* The load of the launches first … of an arm, and their times as if it had slowed them. */
static void disturb(size_t index, size_t first, double load)
{
    struct assay__trial *trial = assay__arms_trial(&arms, index);
    for (size_t i = first; i < trial->launch_count; i++) {
        assay_metrics_measured(trial->launches[i].metrics, "disturbance.cpu_other", load, "", "");
        if (load >= ASSAY__BUSY_SHARE) trial->launches[i].p50_ns *= 3;
    }
}

static bool repeat(double spent_s, double left_s)
{
    struct assay_error error = {0};
    const struct assay__quiet quiet = {
        .spent_s = spent_s, .left_s = left_s, .launches = LAUNCHES, .share = scripted_share};
    bool repeated;
    CHECK_INT(assay__arms_when_quiet(&arms, both, 2, &quiet, &repeated, &error), 0);
    CHECK_INT(assay__arms_trial(&arms, 0)->launch_count, repeated ? 2 * LAUNCHES : LAUNCHES);
    return repeated;
}

/* Made again once it is quiet; then only these count, and no caveat stays but their number. */
static void repeated_when_quiet(void)
{
    begin();
    disturb(1, 0, 0.8);
    busy_looks = 3;
    CHECK(repeat(10, INFINITY));
    CHECK_INT(looks, 4);
    struct assay__arena *arena = assay__arena_new();
    const struct assay__trial *fast = assay__arms_trial(&arms, 1);
    struct assay__launch_values medians = assay__launch_values(fast, "latency.p50", arena);
    CHECK_INT(medians.count, LAUNCHES);
    for (size_t i = 0; i < medians.count; i++)
        CHECK_NEAR(medians.items[i], 50e-6, 1e-12);
    disturb(0, LAUNCHES, 0.1);
    disturb(1, LAUNCHES, 0.1);
    size_t left_out = 0;
    CHECK_NEAR(assay__trial_load(fast, &left_out), 0.1, 1e-12);
    CHECK_INT(left_out, LAUNCHES);
    CHECK_HAS(assay__load_caveat(arms.recording.profile, arena), "5 launches");
    CHECK_STR(assay__load_withdraws(arms.recording.profile, arena), "");
    assay__arena_free(arena);
    end();
}

/* Not without load, not while others go on, not beyond the budget. */
static void not_repeated(void)
{
    begin();
    CHECK(!repeat(10, INFINITY)); /* the load is not known: it is not looked for */
    disturb(0, 0, 0.1);
    CHECK(!repeat(10, INFINITY));
    CHECK_INT(looks, 0);
    disturb(0, 0, 0.8);
    CHECK(!repeat(10, 11)); /* the launches alone would take 12 s */
    CHECK_INT(looks, 0);
    busy_looks = 1000;
    CHECK(!repeat(2, INFINITY)); /* waits as long as they took: 2 s */
    CHECK_INT(looks, 4);
    looks = 0;
    CHECK(!repeat(100, INFINITY)); /* and 10 s at most */
    CHECK_INT(looks, 20);
    end();
}

/* A verdict on a machine that others used most of is withdrawn; the numbers stay. */
static void withdrawn(void)
{
    struct assay__comparison all;
    begin();
    struct assay_profile *profile = arms.recording.profile;
    struct assay__arena *arena = assay__arena_new();
    struct assay_error error = {0};
    for (size_t i = 0; i < 2; i++)
        CHECK_INT(assay__arms_conclude(&arms, i, &error), 0);
    static const double loads[] = {0.1, 0.34, 0.84};
    for (size_t i = 0; i < 3; i++) {
        for (size_t a = 0; a < 2; a++)
            disturb(a, 0, loads[i]);
        CHECK_INT(assay__comparison(profile, arena, &all), 0);
        const struct assay__recommendation *best = &all.recommendations[ASSAY__FOR_LATENCY];
        CHECK_INT(best->row, i < 2 ? 1 : SIZE_MAX);
        CHECK((strstr(best->why, "other processes") != NULL) == (i == 1));
        CHECK((strstr(best->why, "withdrawn: machine busy (84 %") != NULL) == (i == 2));
        CHECK_NEAR(all.rows[1].speed.ratio, 2, 1e-9);
    }
    assay__arena_free(arena);
    end();
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"repeated_when_quiet", repeated_when_quiet},
        {"not_repeated", not_repeated},
        {"withdrawn", withdrawn},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
