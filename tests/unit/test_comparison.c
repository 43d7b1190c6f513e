/* test_comparison.c - trials against each other, on hand-made profiles whose launch medians are
 * chosen: verdicts, roles, recommendations, and what cannot be said. */
#include "facts_fixture.h"

#include "judge/comparison.h"

#include <assay/assay.h>

static struct assay_profile *profile_new(void)
{
    struct assay_profile *profile = assay__profile_new();
    CHECK(profile != NULL);
    return profile;
}

/* A trial of `count` launches around p50_us, a thousandth apart. */
static struct assay__trial *add(struct assay_profile *profile, const char *label, const char *role,
                                double p50_us, size_t count)
{
    struct assay__trial *trial = assay__profile_trial(profile);
    trial->target.device = label;
    fact(profile, trial, "label", label);
    fact(profile, trial, "role", role);
    trial->state = ASSAY__TRIAL_OK;
    for (size_t i = 0; i < count; i++) {
        struct assay__launch *launch = assay__trial_launch(profile, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = p50_us * 1e3 * (1 + 0.001 * ((double)i - (double)(count / 2)));
    }
    assay_metrics_measured(trial->metrics, "latency.p50", p50_us / 1e6, "clock", "");
    assay_metrics_measured(trial->metrics, "throughput.inferences", 1e6 / p50_us, "clock", "");
    return trial;
}

/* The 5th percentiles of the launches, as far apart as their medians. */
static void set_fast_ends(struct assay__trial *trial, double p5_us)
{
    for (size_t i = 0; i < trial->launch_count; i++)
        assay_metrics_measured(trial->launches[i].metrics, "latency.p5",
                               p5_us / 1e6 * (1 + 0.001 * (double)i), "clock", "");
}

/* The medians are alike, and put the wrong one first; the fast ends tell the two apart. */
static void the_fast_ends_are_asked_too(void)
{
    struct assay_profile *profile = profile_new();
    set_fast_ends(add(profile, "old", "reference", 100, 10), 95);
    set_fast_ends(add(profile, "new", "", 100.1, 10), 85);
    struct assay__comparison all;
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__comparison(profile, arena, &all), 0);
    CHECK_INT(all.rows[1].verdict, ASSAY__VERDICT_FASTER);
    CHECK_INT(all.rows[1].speed.by, ASSAY__BY_UNDISTURBED);
    CHECK_NEAR(all.rows[1].speed.ratio, 95.0 / 85, 0.01);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 1);
    CHECK(strstr(all.recommendations[ASSAY__FOR_LATENCY].why, "new: 1.12 × as fast as old") &&
          strstr(all.recommendations[ASSAY__FOR_LATENCY].why, "when undisturbed"));
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Usually the second is slower, at its best it is faster: nothing is advised, and the sentence says
 * why. */
static void contradicting_answers_are_said(void)
{
    struct assay_profile *profile = profile_new();
    set_fast_ends(add(profile, "old", "reference", 100, 10), 95);
    set_fast_ends(add(profile, "new", "", 120, 10), 85);
    struct assay__comparison all;
    struct assay__arena *arena = assay__arena_new();
    CHECK_INT(assay__comparison(profile, arena, &all), 0);
    CHECK_INT(all.rows[1].verdict, ASSAY__VERDICT_SAME);
    CHECK(isnan(all.rows[1].speed.smallest));
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == SIZE_MAX);
    const char *why = all.recommendations[ASSAY__FOR_LATENCY].why;
    CHECK_HAS(why, assay__ratio_by_words(ASSAY__BY_NEITHER));
    CHECK(!strchr(why, '%'));
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void faster_and_slower(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(profile, "cpu", "reference", 100, 10);
    add(profile, "twice", "", 50, 10);
    add(profile, "half", "", 200, 10);
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.reference == 0 && all.count == 3);
    CHECK(all.rows[1].verdict == ASSAY__VERDICT_FASTER);
    CHECK_NEAR(all.rows[1].speed.ratio, 2, 1e-9);
    CHECK(all.rows[1].speed.ci.low > 1.98 && all.rows[1].speed.ci.high < 2.02);
    CHECK(all.rows[2].verdict == ASSAY__VERDICT_SLOWER);
    CHECK_NEAR(all.rows[2].speed.ratio, 0.5, 1e-9);
    CHECK(isnan(all.rows[0].speed.ratio));
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 1);
    CHECK(all.recommendations[ASSAY__FOR_THROUGHPUT].row == 1);
    CHECK(all.recommendations[ASSAY__FOR_ENERGY].row == SIZE_MAX);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void no_difference_is_said(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(profile, "a", "reference", 100, 10);
    add(profile, "b", "", 100, 10);
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.rows[1].verdict == ASSAY__VERDICT_SAME);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == SIZE_MAX);
    CHECK(strstr(all.recommendations[ASSAY__FOR_LATENCY].why, "no difference shown") != NULL);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void controls_and_software_are_never_recommended(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(profile, "cpu", "reference", 100, 10);
    add(profile, "ovn/cpu", "control", 10, 10);
    add(profile, "swift", "software", 5, 10);
    add(profile, "gpu", "", 50, 10);
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.rows[1].verdict == ASSAY__VERDICT_FASTER);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 3);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void too_few_launches_give_no_verdict(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(profile, "a", "reference", 100, 10);
    add(profile, "b", "", 50, 4);
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.rows[1].verdict == ASSAY__VERDICT_NONE);
    CHECK(strstr(all.rows[1].judged.reason, "at least 5 launches") != NULL);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == SIZE_MAX);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void a_failed_trial_is_a_row_with_its_reason(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    struct assay__trial *lost = add(profile, "npu", "reference", 100, 0);
    lost->state = ASSAY__TRIAL_FAILED;
    lost->reason = "the provider refuses the model";
    add(profile, "cpu", "", 100, 10);
    add(profile, "gpu", "", 20, 10);
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.reference == 1); /* the one that was to be it did not run */
    CHECK_INT(all.rows[0].judged.role, ASSAY__ROLE_NONE);
    CHECK(!all.rows[0].judged.usable);
    CHECK_STR(all.rows[0].judged.reason, "the provider refuses the model");
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 2);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void energy_is_compared_where_it_is_known(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    struct assay__trial *a = add(profile, "a", "reference", 100, 10);
    assay_metrics_measured(a->metrics, "energy.inference.gross", 0.004, "rapl", "");
    struct assay__trial *b = add(profile, "b", "", 200, 10);
    assay_metrics_measured(b->metrics, "energy.inference.gross", 0.001, "nvml", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK_NEAR(all.rows[1].energy_ratio, 0.25, 1e-12);
    CHECK(isnan(all.rows[1].energy.ratio));
    CHECK(all.rows[1].energy_verdict == ASSAY__VERDICT_NONE);
    /* without an interval nothing is claimed */
    CHECK(all.recommendations[ASSAY__FOR_ENERGY].row == SIZE_MAX);
    CHECK(strstr(all.recommendations[ASSAY__FOR_ENERGY].why, "no interval") != NULL);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void a_device_that_did_nothing_is_not_recommended(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(profile, "cpu", "reference", 100, 10);
    struct assay__trial *npu = add(profile, "npu", "", 50, 10);
    static struct assay__placed_node nodes[] = {
        {"c", "Shape", "CPUExecutionProvider", true, true},
        {"a; 0", "Conv", "CPUExecutionProvider", true, false},
        {"on it", "Conv", "NpuExecutionProvider", false, false},
        {"b: 1", "Relu", "", true, false}};
    npu->placement = (struct assay__placement){"Fake 1", nodes, 4};
    assay_metrics_measured(npu->metrics, "placement.nodes", 0, "engine", "");
    assay_metrics_measured(npu->metrics, "placement.elsewhere", 3, "engine", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(assay__placement_is_elsewhere(&all.rows[1].placement));
    CHECK_STR(all.rows[1].placement.provider, "CPUExecutionProvider");
    CHECK(all.rows[1].placement.name_count == 3);
    CHECK_STR(all.rows[1].placement.names[0], "a; 0 (Conv)");
    CHECK_STR(all.rows[1].placement.names[1], "b: 1 (Relu)");
    CHECK_STR(all.rows[1].placement.names[2], "c (Shape, indices)");
    CHECK(all.rows[1].verdict == ASSAY__VERDICT_FASTER); /* it is measured all the same */
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 0);
    CHECK(!all.rows[0].placement.asked);
    /* one node on it: it may be chosen, and what ran elsewhere is said */
    assay_metrics_measured(npu->metrics, "placement.nodes", 1, "engine", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 1);
    CHECK(strstr(all.recommendations[ASSAY__FOR_LATENCY].why, "3 of its 4 nodes ran elsewhere"));
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void values_that_are_nan_are_never_recommended(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(profile, "cpu", "reference", 100, 10);
    struct assay__trial *npu = add(profile, "npu", "", 50, 10);
    assay_metrics_derived(npu->metrics, "drift.nonfinite", 7, "outputs", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 0);
    CHECK(all.recommendations[ASSAY__FOR_THROUGHPUT].row == 0);
    CHECK_HAS(all.recommendations[ASSAY__FOR_LATENCY].why,
              "npu (50.0 µs) would have been faster but is not recommended: 7 of its values");
    CHECK_HAS(all.recommendations[ASSAY__FOR_THROUGHPUT].why, "7 of its values are NaN");
    CHECK(all.rows[1].verdict == ASSAY__VERDICT_FASTER); /* it is measured all the same */
    assay_metrics_derived(npu->metrics, "drift.nonfinite", 0, "outputs", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 1);
    CHECK(!strstr(all.recommendations[ASSAY__FOR_LATENCY].why, "NaN"));
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void outputs_far_away_are_never_recommended(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(profile, "cpu", "reference", 100, 10);
    struct assay__trial *npu = add(profile, "npu", "", 50, 10);
    assay_metrics_derived(npu->metrics, "drift.relative_l2", 6, "outputs", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 0);
    CHECK_HAS(all.recommendations[ASSAY__FOR_LATENCY].why, "relative L2 6, the limit is 0.01");
    /* said as well where no difference of speed was shown */
    add(profile, "gpu", "", 100, 10);
    assay_metrics_derived(profile->trials[2].metrics, "drift.relative_l2", 0.005, "outputs", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    const char *why = all.recommendations[ASSAY__FOR_LATENCY].why;
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == SIZE_MAX);
    CHECK_HAS(why, "no difference shown between cpu (100 µs) and gpu (100 µs)");
    CHECK_HAS(why, "the outputs of gpu differ (relative L2 0.005)");
    CHECK_HAS(why, "npu (50.0 µs) would have been faster");
    /* up to the limit it may be chosen, with a word */
    assay_metrics_derived(profile->trials[1].metrics, "drift.relative_l2", 0.01, "outputs", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 1);
    CHECK_HAS(all.recommendations[ASSAY__FOR_LATENCY].why, "but its outputs differ");
    /* beyond it not: the same limit as a sweep's and a tuning's */
    assay_metrics_derived(profile->trials[1].metrics, "drift.relative_l2", 0.05, "outputs", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == SIZE_MAX);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* An inference of one sample against an inference of a thousand: said. */
static void different_batches_are_said(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(profile, "one.onnx", "reference", 50, 10)->batch = 1;
    add(profile, "many.onnx", "", 900, 10)->batch = 1;
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK_STR(all.batches, "");
    profile->trials[1].batch = 1024;
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK_INT(all.rows[1].batch, 1024);
    CHECK_HAS(all.batches, "1 (one.onnx), 1024 (many.onnx)");
    CHECK_HAS(all.recommendations[ASSAY__FOR_LATENCY].why, "a batch of 1 with one of 1024");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* The only device, or the first of two that are no CPU. */
static void a_reference_that_is_nan_is_not_recommended(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    struct assay__trial *npu = add(profile, "npu", "reference", 50, 10);
    assay_metrics_measured(npu->metrics, "outputs.nonfinite", 4, "outputs", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == SIZE_MAX);
    CHECK_HAS(all.recommendations[ASSAY__FOR_LATENCY].why,
              "npu (50.0 µs) is not recommended: 4 of its values");
    struct assay__trial *gpu = add(profile, "gpu", "", 100, 10);
    assay_metrics_measured(gpu->metrics, "outputs.nonfinite", 0, "outputs", "");
    assay_metrics_derived(gpu->metrics, "drift.nonfinite", 4, "outputs", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.reference == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 1);
    CHECK_STR(all.rows[1].unadvised, "");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void what_a_cpu_says_is_the_models_own(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    struct assay__trial *cpu = add(profile, "cpu", "reference", 100, 10);
    assay_metrics_measured(cpu->metrics, "outputs.nonfinite", 4, "outputs", "");
    struct assay__trial *npu = add(profile, "npu", "", 50, 10);
    assay_metrics_measured(npu->metrics, "outputs.nonfinite", 4, "outputs", "");
    assay_metrics_derived(npu->metrics, "drift.nonfinite", 0, "outputs",
                          ""); /* at the same places */
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 1);
    /* finite where the CPU's are not: not the same either */
    assay_metrics_measured(profile->trials[1].metrics, "outputs.nonfinite", 0, "outputs", "");
    assay_metrics_derived(profile->trials[1].metrics, "drift.nonfinite", 4, "outputs", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 0);
    CHECK_STR(all.rows[1].unadvised, "4 values are NaN or infinite on cpu and not on it");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void models_may_differ_on_purpose(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(profile, "1: old", "reference", 100, 10)->target.device = "cpu";
    struct assay__trial *other = add(profile, "2: new", "", 50, 10);
    other->target.device = "cpu";
    assay_metrics_derived(other->metrics, "drift.relative_l2", 1.4, "outputs", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 1);
    CHECK_HAS(all.recommendations[ASSAY__FOR_LATENCY].why,
              "but its outputs differ (relative L2 1.4)");
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void lose(struct assay__trial *trial, size_t launch)
{
    trial->launches[launch].state = ASSAY__TRIAL_FAILED;
    trial->launches[launch].p50_ns = NAN;
    trial->state = ASSAY__TRIAL_FAILED;
    trial->reason = "some launches failed";
}

static void one_lost_launch_leaves_the_others(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    lose(add(profile, "a", "reference", 50, 9), 3);
    add(profile, "b", "", 100, 9);
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.reference == 0 && all.rows[0].judged.usable);
    CHECK_STR(all.rows[0].judged.reason, "some launches failed"); /* and it is said */
    CHECK(all.rows[1].verdict == ASSAY__VERDICT_SLOWER);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 0);
    lose(&profile->trials[0], 8); /* the last one, alone */
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.rows[0].judged.usable);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

static void a_trial_that_was_ended_is_not_judged(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(profile, "a", "reference", 100, 9);
    struct assay__trial *gone = add(profile, "gone", "", 50, 9);
    lose(gone, 7);
    lose(gone, 8); /* two in a row */
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(!all.rows[1].judged.usable && all.recommendations[ASSAY__FOR_LATENCY].row == 0);
    struct assay__trial *few = add(profile, "few", "", 50, 5);
    lose(few, 1); /* four are left */
    struct assay__trial *slow = add(profile, "slow", "", 50, 7);
    fact(profile, slow, "launches", "9"); /* 7 of 9: its last one took too long */
    lose(slow, 6);
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(!all.rows[2].judged.usable && !all.rows[3].judged.usable);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 0);
    assay__arena_free(arena);
    assay_profile_close(profile);
}

/* Twice the batch at 1.5 times the time: slower, and more samples per second. */
static void throughput_counts_samples(void)
{
    struct assay_profile *profile = profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    struct assay__trial *one = add(profile, "one", "reference", 100, 10);
    one->batch = 1;
    assay_metrics_derived(one->metrics, "throughput.samples", 1e4, "clock", "");
    struct assay__trial *two = add(profile, "two", "", 150, 10);
    two->batch = 2;
    assay_metrics_derived(two->metrics, "throughput.samples", 2e6 / 150, "clock", "");
    CHECK(assay__comparison(profile, arena, &all) == 0);
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == 0);
    CHECK(all.recommendations[ASSAY__FOR_THROUGHPUT].row == 1);
    CHECK(strstr(all.recommendations[ASSAY__FOR_THROUGHPUT].why, "1.33 ×"));
    assay__arena_free(arena);
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"the_fast_ends_are_asked_too", the_fast_ends_are_asked_too},
        {"contradicting_answers_are_said", contradicting_answers_are_said},
        {"faster_and_slower", faster_and_slower},
        {"no_difference_is_said", no_difference_is_said},
        {"controls_and_software_are_never_recommended",
         controls_and_software_are_never_recommended},
        {"too_few_launches_give_no_verdict", too_few_launches_give_no_verdict},
        {"a_failed_trial_is_a_row_with_its_reason", a_failed_trial_is_a_row_with_its_reason},
        {"energy_is_compared_where_it_is_known", energy_is_compared_where_it_is_known},
        {"a_device_that_did_nothing_is_not_recommended",
         a_device_that_did_nothing_is_not_recommended},
        {"values_that_are_nan_are_never_recommended", values_that_are_nan_are_never_recommended},
        {"different_batches_are_said", different_batches_are_said},
        {"outputs_far_away_are_never_recommended", outputs_far_away_are_never_recommended},
        {"a_reference_that_is_nan_is_not_recommended", a_reference_that_is_nan_is_not_recommended},
        {"what_a_cpu_says_is_the_models_own", what_a_cpu_says_is_the_models_own},
        {"models_may_differ_on_purpose", models_may_differ_on_purpose},
        {"one_lost_launch_leaves_the_others", one_lost_launch_leaves_the_others},
        {"a_trial_that_was_ended_is_not_judged", a_trial_that_was_ended_is_not_judged},
        {"throughput_counts_samples", throughput_counts_samples},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
