/* test_sweep.c - points of a sweep on hand-made profiles: best for each goal, limits, what cannot be told apart, the knee, scaling. */
#include "harness.h"

#include "advise/sweep.h"

#include <assay/assay.h>

struct made {
    const char *label;
    double latency_s, spread, throughput, memory;
};

static struct assay_profile *profile_of(const struct made *points, size_t count)
{
    struct assay_profile *profile = assay__profile_new();
    CHECK(profile != NULL);
    for (size_t i = 0; i < count; i++) {
        struct assay__trial *trial = assay__profile_trial(profile);
        struct assay__pair *option = assay__arena_alloc(profile->arena, sizeof *option);
        *option = (struct assay__pair){"label", points[i].label};
        trial->options = option;
        trial->option_count = 1;
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
    struct assay__sweep_limits limits = {ASSAY__SWEEP_THROUGHPUT, NULL, NAN, NAN};
    CHECK(assay__sweep(profile, &limits, arena, &sweep) == 0);
    CHECK(sweep.axis_count == 1);
    CHECK_STR(sweep.axes[0], "batch");
    CHECK(sweep.best == 3);
    CHECK_HAS(sweep.why, "2.67 × as good as batch=1");
    /* 1 to 2: 1.67 against 1.2; 2 to 4: 1.5 against 1.33; 4 to 8: 1.07 against 1.875 */
    CHECK(sweep.knee == 2);
    CHECK_NEAR(sweep.points[3].efficiency, 2.67 / 8, 1e-9);
    CHECK_NEAR(sweep.points[0].efficiency, 1, 1e-12);
    limits.goal = ASSAY__SWEEP_LATENCY;
    CHECK(assay__sweep(profile, &limits, arena, &sweep) == 0);
    CHECK(sweep.best == 0);
    limits.goal = ASSAY__SWEEP_ENERGY;
    CHECK(assay__sweep(profile, &limits, arena, &sweep) == 0);
    CHECK(sweep.best == SIZE_MAX);
    CHECK_HAS(sweep.why, "not known of any point");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void limits_hold(void)
{
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    struct assay__sweep_limits limits = {ASSAY__SWEEP_THROUGHPUT, "latency.p99", 0.020, NAN};
    CHECK(assay__sweep(profile, &limits, arena, &sweep) == 0);
    CHECK(sweep.best == 1); /* 18 ms; batch 4 has 24 */
    CHECK_HAS(sweep.points[2].reason, "beyond the latency");
    limits = (struct assay__sweep_limits){ASSAY__SWEEP_THROUGHPUT, NULL, NAN, 4e6};
    CHECK(assay__sweep(profile, &limits, arena, &sweep) == 0);
    CHECK(sweep.best == 2);
    limits = (struct assay__sweep_limits){ASSAY__SWEEP_THROUGHPUT, "latency.p99", 1e-3, NAN};
    CHECK(assay__sweep(profile, &limits, arena, &sweep) == 0);
    CHECK(sweep.best == SIZE_MAX);
    CHECK_HAS(sweep.why, "no point keeps the limits");
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
    struct assay__sweep_limits limits = {ASSAY__SWEEP_LATENCY, NULL, NAN, NAN};
    CHECK(assay__sweep(profile, &limits, arena, &sweep) == 0);
    CHECK(sweep.best == 1);
    CHECK(sweep.alike_count == 1 && sweep.alike[0] == 0);
    CHECK(sweep.knee == SIZE_MAX); /* no batch axis */
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void a_failed_point_is_a_result(void)
{
    struct assay_profile *profile = profile_of(grid, COUNT);
    struct assay__arena *arena = assay__arena_new();
    struct assay__sweep sweep;
    struct assay__sweep_limits limits = {ASSAY__SWEEP_THROUGHPUT, NULL, NAN, NAN};
    profile->trials[3].state = ASSAY__TRIAL_FAILED;
    profile->trials[3].reason = "worker ran out of memory";
    CHECK(assay__sweep(profile, &limits, arena, &sweep) == 0);
    CHECK(sweep.best == 4);
    CHECK(!sweep.points[3].usable);
    CHECK_STR(sweep.points[3].reason, "worker ran out of memory");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void slo_words(void)
{
    const char *metric = NULL;
    double seconds = 0;
    CHECK(assay__sweep_slo_parse("p99=20ms", &metric, &seconds));
    CHECK_STR(metric, "latency.p99");
    CHECK_NEAR(seconds, 0.02, 1e-12);
    CHECK(!assay__sweep_slo_parse("p98=20ms", &metric, &seconds));
    CHECK(!assay__sweep_slo_parse("p99", &metric, &seconds));
    CHECK(!assay__sweep_slo_parse("p99=fast", &metric, &seconds));
    CHECK(!assay__sweep_slo_parse("p99=0ms", &metric, &seconds));
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"goals", goals},
        {"limits_hold", limits_hold},
        {"what_overlaps_is_said", what_overlaps_is_said},
        {"a_failed_point_is_a_result", a_failed_point_is_a_result},
        {"slo_words", slo_words},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
