/* test_recover.c - statistics of a capture that did not end, from its samples alone: a document
 * with samples and no metrics, every value known. */
#include "harness.h"

#include "run/arm/recover.h"

#include <assay/assay.h>

/* 100, 200, … 1000 us over and over, as many as asked for, on one stream or more. */
static struct assay__launch *add_launch(struct assay_profile *profile, struct assay__trial *trial,
                                        enum assay__trial_state state, int streams, size_t count,
                                        double factor)
{
    struct assay__launch *launch = assay__trial_launch(profile, trial);
    CHECK(launch != NULL);
    launch->state = state;
    launch->streams = streams;
    launch->samples_ns = assay__arena_array(profile->arena, count * (size_t)streams,
                                            sizeof(double));
    launch->stream_offsets = assay__arena_array(profile->arena, (size_t)streams + 1,
                                                sizeof(size_t));
    launch->sample_count = count * (size_t)streams;
    launch->stream_offsets[0] = 0;
    for (int s = 0; s < streams; s++)
        launch->stream_offsets[s + 1] = ((size_t)s + 1) * count;
    for (size_t i = 0; i < launch->sample_count; i++)
        launch->samples_ns[i] = factor * 1e5 * (double)(1 + i % 10);
    return launch;
}

static const struct assay_metric *metric(const struct assay__trial *trial, const char *name)
{
    const struct assay_metric *found = assay_metrics_get(trial->metrics, name);
    if (!found) printf("  no metric %s\n", name);
    CHECK(found != NULL);
    return found;
}

static void test_killed(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__trial *trial = assay__profile_trial(profile);
    trial->batch = 4;
    add_launch(profile, trial, ASSAY__TRIAL_RUNNING, 1, 1000, 1);
    CHECK_INT(assay__profile_recover(profile), 0);
    CHECK_NEAR(metric(trial, "latency.p50")->value, 550e-6, 1e-15);
    CHECK_NEAR(metric(trial, "latency.p90")->value, 900e-6, 1e-15);
    CHECK_NEAR(metric(trial, "latency.mean")->value, 550e-6, 1e-15);
    CHECK_NEAR(metric(trial, "latency.iqr")->value, 500e-6, 1e-15);
    CHECK_NEAR(metric(trial, "latency.samples")->value, 1000, 0);
    CHECK_NEAR(metric(trial, "throughput.inferences")->value, 1e6 / 550, 1e-9);
    CHECK_NEAR(metric(trial, "throughput.samples")->value, 4e6 / 550, 1e-9);
    CHECK_INT(metric(trial, "latency.p50")->state, ASSAY_MEASURED);
    CHECK_INT(metric(trial, "latency.mean")->state, ASSAY_DERIVED);
    CHECK_INT(metric(trial, "throughput.inferences")->state, ASSAY_MEASURED);
    CHECK_STR(metric(trial, "latency.p50")->note,
              "recovered from the samples of an unfinished capture; warm samples, host to host");
    CHECK_HAS(metric(trial, "throughput.inferences")->note, "sum of the samples");
    CHECK_INT(metric(trial, "latency.p999")->state, ASSAY_UNAVAILABLE);
    CHECK_HAS(metric(trial, "latency.p999")->note, "needs 6636 samples");
    CHECK_INT(metric(trial, "latency.warmup")->state, ASSAY_UNAVAILABLE);
    CHECK(assay_metrics_get(trial->metrics, "memory.peak.worker") == NULL); /* not in the samples */
    CHECK_NEAR(trial->launches[0].p50_ns, 550000, 0);
    CHECK_INT(trial->launches[0].warmup, 0);
    CHECK_HAS(assay_metrics_get(trial->launches[0].metrics, "latency.p50")->note, "recovered");
    CHECK(trial->stability.verdict[0] != '\0');
    CHECK_HAS(trial->stability.reasons[trial->stability.reason_count - 1], "recovered");
    CHECK_INT(trial->state, ASSAY__TRIAL_RUNNING); /* what became of it is not for us to say */
    assay_profile_close(profile);
}

/* Warm-up is found as in a run, but not where the run was told how much to take. */
static void test_warmup(void)
{
    for (int forced = 0; forced <= 1; forced++) {
        struct assay_profile *profile = assay__profile_new();
        struct assay__trial *trial = assay__profile_trial(profile);
        trial->protocol.warmup = forced ? 3 : -1;
        struct assay__launch *launch = add_launch(profile, trial, ASSAY__TRIAL_RUNNING, 1, 1000, 1);
        for (size_t i = 0; i < 1000; i++)
            launch->samples_ns[i] = i < 50 ? 9e5 : 1e5;
        CHECK_INT(assay__profile_recover(profile), 0);
        CHECK_INT(trial->launches[0].warmup, forced ? 0 : 50);
        CHECK_NEAR(metric(trial, "latency.samples")->value, forced ? 1000 : 950, 0);
        CHECK_NEAR(metric(trial, "latency.max")->value, forced ? 9e-4 : 1e-4, 1e-15);
        assay_profile_close(profile);
    }
}

static void test_streams(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__trial *trial = assay__profile_trial(profile);
    add_launch(profile, trial, ASSAY__TRIAL_RUNNING, 2, 500, 1);
    CHECK_INT(assay__profile_recover(profile), 0);
    CHECK_NEAR(metric(trial, "throughput.inferences")->value, 2e6 / 550, 1e-9);
    CHECK_INT(metric(trial, "throughput.inferences")->state, ASSAY_DERIVED);
    CHECK_HAS(metric(trial, "throughput.inferences")->note, "2 requests in flight");
    assay_profile_close(profile);
}

/* Launches that ended count; the one that was cut short counts only when there is no other. */
static void test_launches(void)
{
    struct assay_profile *profile = assay__profile_new();
    struct assay__trial *trial = assay__profile_trial(profile);
    add_launch(profile, trial, ASSAY__TRIAL_OK, 1, 1000, 1);
    add_launch(profile, trial, ASSAY__TRIAL_OK, 1, 1000, 3);
    add_launch(profile, trial, ASSAY__TRIAL_RUNNING, 1, 10, 100);
    assay__trial_launch(profile, trial); /* no sample yet */
    CHECK_INT(assay__profile_recover(profile), 0);
    CHECK_NEAR(metric(trial, "latency.p50")->value, 1100e-6, 1e-15);
    CHECK_HAS(metric(trial, "latency.p50")->note, "median over 2 launches");
    CHECK_NEAR(trial->launches[2].p50_ns, 55e6, 0);
    CHECK(isnan(trial->launches[3].p50_ns));
    assay_profile_close(profile);
}

/* A capture that ended is left as it is, and so is one without samples. */
static void test_left_alone(void)
{
    struct assay_profile *profile = assay__profile_new();
    CHECK_INT(assay__profile_recover(profile), 0);
    struct assay__trial *trial = assay__profile_trial(profile);
    add_launch(profile, trial, ASSAY__TRIAL_OK, 1, 100, 1);
    CHECK_INT(assay_metrics_measured(trial->metrics, "latency.p50", 42, "clock", "as stored"), 0);
    CHECK_INT(assay__profile_recover(profile), 0);
    CHECK_INT(assay_metrics_count(trial->metrics), 1);
    CHECK_NEAR(metric(trial, "latency.p50")->value, 42, 0);
    CHECK_STR(trial->stability.verdict, "");
    struct assay__trial *empty = assay__profile_trial(profile);
    CHECK(assay__trial_launch(profile, empty) != NULL);
    CHECK_INT(assay__profile_recover(profile), 0);
    CHECK_INT(assay_metrics_count(empty->metrics), 0);
    assay_profile_close(profile);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"killed", test_killed},     {"warmup", test_warmup},         {"streams", test_streams},
        {"launches", test_launches}, {"left_alone", test_left_alone},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
