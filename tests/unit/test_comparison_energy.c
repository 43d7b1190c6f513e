/* test_comparison_energy.c - the energy of each launch from scripted sensors (sensors_fixture.h),
 * and what a comparison makes of such energies: ratio, interval, recommendation. */
#include "sensors_fixture.h"

#include "judge/comparison.h"
#include "run/arm/recording.h"

#include <stdlib.h>
#include <unistd.h>

/* Two launches whose power differs: 50 W from 3 s, 20 W from 5.5 s. */
static double energy_two_levels(double t)
{
    return t < 5.5 ? energy_step(t) : energy_step(5.5) + 20 * (t - 5.5);
}

static const struct assay_metric *of_launch(size_t index)
{
    const struct assay_metric *m = assay_metrics_get(sensors.trial->launches[index].metrics,
                                                     "energy.inference.gross");
    if (!m) harness_fail(__FILE__, __LINE__, "the launch has no energy");
    return m;
}

static void test_each_launch_has_its_own(void)
{
    channel("energy.package-0", "energy", "package", "J", energy_two_levels);
    measure("cpu", NULL);
    assay__trial_launch(profile, sensors.trial);
    assay__trial_launch(profile, sensors.trial);
    compute();
    /* 4 windows of 0.49 s and 100 inferences each */
    CHECK_NEAR(of_launch(0)->value, 50 * 4 * 0.49 / 400, 1e-9);
    CHECK_NEAR(of_launch(1)->value, 20 * 4 * 0.49 / 400, 1e-9);
    CHECK_INT(of_launch(0)->state, ASSAY_DERIVED);
    done();
}

static void test_a_sensor_that_stops_has_a_reason(void)
{
    channel("energy.package-0", "energy", "package", "J", gone_at_4s);
    measure("cpu", NULL);
    assay__trial_launch(profile, sensors.trial);
    assay__trial_launch(profile, sensors.trial);
    compute();
    CHECK_INT(of_launch(1)->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(of_launch(1)->note, "package: ");
    done();
}

static void test_without_a_sensor(void)
{
    channel("energy.package-0", "energy", "package", "J", NULL);
    measure("cpu", NULL);
    assay__trial_launch(profile, sensors.trial);
    assay__trial_launch(profile, sensors.trial);
    compute();
    CHECK_INT(of_launch(0)->state, ASSAY_UNAVAILABLE);
    CHECK(*of_launch(0)->note);
    done();
}

static void test_one_launch_is_the_trial(void)
{
    channel("energy.package-0", "energy", "package", "J", energy_step);
    measure("cpu", NULL);
    struct assay__launch *launch = assay__trial_launch(profile, sensors.trial);
    compute();
    CHECK(assay_metrics_get(launch->metrics, "energy.inference.gross") == NULL);
    done();
}

/* --- compared --------------------------------------------------------------------------------- */

/* Ten launches of 100 µs; their energies are around `millijoules`, a thousandth apart. */
static struct assay__trial *add(struct assay_profile *to, const char *label, double millijoules)
{
    struct assay__trial *trial = assay__profile_trial(to);
    trial->target.device = label;
    trial->state = ASSAY__TRIAL_OK;
    for (int i = 0; i < 10; i++) {
        struct assay__launch *launch = assay__trial_launch(to, trial);
        launch->state = ASSAY__TRIAL_OK;
        launch->p50_ns = 1e5 + i;
        assay_metrics_derived(launch->metrics, "energy.inference.gross",
                              millijoules / 1e3 * (1 + 0.001 * (i - 5)), "sensors", "");
    }
    assay_metrics_measured(trial->metrics, "latency.p50", 1e-4, "clock", "");
    assay_metrics_derived(trial->metrics, "energy.inference.gross", millijoules / 1e3, "sensors",
                          "");
    return trial;
}

static void test_less_energy_is_recommended(void)
{
    struct assay_profile *both = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(both, "cpu", 4);
    add(both, "npu", 1);
    CHECK_INT(assay__comparison(both, arena, &all), 0);
    CHECK_NEAR(all.rows[1].energy.ratio, 0.25, 1e-9);
    CHECK(all.rows[1].energy.ci.low > 0.248 && all.rows[1].energy.ci.high < 0.252);
    CHECK_INT(all.rows[1].energy_verdict, ASSAY__VERDICT_FASTER);
    CHECK_INT(all.recommendations[ASSAY__FOR_ENERGY].row, 1);
    CHECK_HAS(all.recommendations[ASSAY__FOR_ENERGY].why, "npu: 0.25 × of the energy of cpu");
    /* the same latency: no device is recommended for that */
    CHECK(all.recommendations[ASSAY__FOR_LATENCY].row == SIZE_MAX);
    assay__arena_free(arena);
    assay_profile_close(both);
}

/* Energies of launches are known late, when their trial is concluded: a kept profile must have them
 * all the same. */
static void test_a_kept_profile_says_the_same(void)
{
    char path[] = "/tmp/assay-energy-XXXXXX";
    int file = mkstemp(path);
    struct assay__run_options options = {.keeping.output = path};
    struct assay__recording recording;
    struct assay_profile *again = NULL;
    struct assay_error error = {0};
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    CHECK(file >= 0);
    close(file);
    unlink(path);
    CHECK_INT(assay__recording_begin(&recording, &options, &error), 0);
    add(recording.profile, "cpu", 4);
    add(recording.profile, "npu", 1);
    CHECK_INT(assay__recording_store(&recording, &error), 0);
    CHECK_INT(assay__recording_finish(&recording, &error), 0);
    assay__recording_end(&recording, false);
    CHECK_INT(assay_profile_open(path, &again, &error), 0);
    CHECK_INT(assay__comparison(again, arena, &all), 0);
    CHECK_NEAR(all.rows[1].energy.ratio, 0.25, 1e-9);
    CHECK_INT(all.rows[1].energy_verdict, ASSAY__VERDICT_FASTER);
    assay_profile_close(again);
    assay__arena_free(arena);
    unlink(path);
}

static void test_the_same_energy_is_no_difference(void)
{
    struct assay_profile *both = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(both, "cpu", 4);
    add(both, "npu", 4);
    CHECK_INT(assay__comparison(both, arena, &all), 0);
    CHECK_INT(all.rows[1].energy_verdict, ASSAY__VERDICT_SAME);
    CHECK(all.recommendations[ASSAY__FOR_ENERGY].row == SIZE_MAX);
    CHECK_HAS(all.recommendations[ASSAY__FOR_ENERGY].why, "no difference shown");
    assay__arena_free(arena);
    assay_profile_close(both);
}

static void test_too_coarse_a_sensor_is_said(void)
{
    struct assay_profile *both = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(both, "cpu", 4);
    struct assay__trial *npu = add(both, "npu", 1);
    for (size_t i = 0; i < npu->launch_count; i++)
        assay_metrics_unavailable(npu->launches[i].metrics, "energy.inference.gross",
                                  "package: it updates every 1 s");
    CHECK_INT(assay__comparison(both, arena, &all), 0);
    CHECK_NEAR(all.rows[1].energy_ratio, 0.25, 1e-9);
    CHECK(isnan(all.rows[1].energy.ratio));
    CHECK_STR(all.rows[1].energy_reason, "package: it updates every 1 s");
    CHECK(all.recommendations[ASSAY__FOR_ENERGY].row == SIZE_MAX);
    CHECK_HAS(all.recommendations[ASSAY__FOR_ENERGY].why, "no interval");
    CHECK_HAS(all.recommendations[ASSAY__FOR_ENERGY].why, "it updates every 1 s");
    assay__arena_free(arena);
    assay_profile_close(both);
}

/* Launches of 1 mJ, two of which were disturbed: the windows together say something else than the
 * median launch. */
static void test_shown_and_judged_are_one_number(void)
{
    struct assay_profile *both = assay__profile_new();
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all;
    add(both, "cpu", 4);
    struct assay__trial *npu = add(both, "npu", 1);
    for (size_t i = 0; i < 2; i++)
        assay_metrics_derived(npu->launches[i].metrics, "energy.inference.gross", 30e-3, "sensors",
                              "");
    assay_metrics_derived(npu->metrics, "energy.inference.gross", 6.8e-3, "sensors", "");
    assay_metrics_derived(npu->metrics, "efficiency.tops_per_watt", 2e9 / 6.8e-3 / 1e12, "sensors",
                          "");
    CHECK_INT(assay__comparison(both, arena, &all), 0);
    const struct assay__comparison_row *row = &all.rows[1];
    CHECK(row->energy_by_launch && all.rows[0].energy_by_launch);
    CHECK_NEAR(row->judged.energy.value, 1e-3 * (1 + 0.001 * 1.5),
               1e-12); /* of -3 … 4, 30 and 30 */
    CHECK_NEAR(row->energy_ratio, row->energy.ratio, 1e-12);
    CHECK_NEAR(row->energy_ratio, row->judged.energy.value / all.rows[0].judged.energy.value,
               1e-12);
    CHECK_NEAR(row->judged.tops_per_watt.value, 2e9 / row->judged.energy.value / 1e12, 1e-9);
    /* every format has that number */
    assay__profile_set_command(both, "compare");
    static const char *const formats[] = {"text", "markdown", "json", "csv"};
    static const char *const words[] = {"=0.251 ×", "0.251 × (", "\"energy_of\": \"median over",
                                        ",0.2505"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct assay_report_options options = {.size = sizeof options, .format = formats[i]};
        char *text = NULL;
        if (strcmp(formats[i], "csv") == 0) options.table = "comparison";
        CHECK_INT(assay_report(both, &options, &text, NULL, NULL), 0);
        CHECK_HAS(text, words[i]);
        if (i < 2) CHECK_HAS(text, "1.00 mJ"); /* and not 6.80 */
        if (i < 2) CHECK(strstr(text, "6.80 mJ") == NULL || i == 1);
        assay_free(text);
    }
    assay__arena_free(arena);
    assay_profile_close(both);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"each_launch_has_its_own", test_each_launch_has_its_own},
        {"a_sensor_that_stops_has_a_reason", test_a_sensor_that_stops_has_a_reason},
        {"without_a_sensor", test_without_a_sensor},
        {"one_launch_is_the_trial", test_one_launch_is_the_trial},
        {"less_energy_is_recommended", test_less_energy_is_recommended},
        {"a_kept_profile_says_the_same", test_a_kept_profile_says_the_same},
        {"the_same_energy_is_no_difference", test_the_same_energy_is_no_difference},
        {"too_coarse_a_sensor_is_said", test_too_coarse_a_sensor_is_said},
        {"shown_and_judged_are_one_number", test_shown_and_judged_are_one_number},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
