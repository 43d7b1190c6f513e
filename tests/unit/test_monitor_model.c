/* test_monitor_model.c - a model that runs without end on the fake engine's scripted clock: each
 * window is handed over and forgotten, until it is interrupted; the rows that come of it. */
#include "harness.h"

#include "monitor/watched_model.h"

#include <assay/assay.h>

enum { WINDOWS = 7 };

static struct assay__watched_model model;
static double values[ASSAY__WATCHED_ROWS];
static const char *notes[ASSAY__WATCHED_ROWS];
static volatile int stop;
static int windows;
static size_t inferences;
static double wall_ns;

static void take(void *context, const struct assay__window_seen *window)
{
    for (int s = 0; s < window->streams; s++) {
        inferences += window->counts[s];
        for (size_t i = 0; i < window->counts[s]; i++)
            CHECK_NEAR(window->durations_ns[s][i], 1e5, 1e-6);
    }
    wall_ns += window->wall_ns;
    assay__watched_model_window(context, window);
    if (++windows == WINDOWS) stop = 1;
}

static void give(double power_w, const char *note)
{
    for (size_t i = 0; i < ASSAY__WATCHED_ROWS; i++)
        values[i] = NAN;
    assay__watched_model_give(&model, power_w, note, values, notes);
}

static void runs_until_interrupted(void)
{
    const struct assay__run_options options = {
        .target = {.engine = "fake", .streams = 1},
        .measuring = {.launches = 1, .warmup_given = true, .layers = ASSAY_LAYERS_OFF},
        .callbacks = {.interrupt = &stop},
        .window = take,
        .window_context = &model,
        .window_s = 0.05,
        .script = "steady=100us"};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    CHECK_INT(assay__run(&options, &profile, &error), ASSAY_EINTERRUPTED);
    /* the one that has begun when it is interrupted is handed over too */
    CHECK(windows == WINDOWS || windows == WINDOWS + 1);
    CHECK(inferences >= WINDOWS * 490 && inferences <= (WINDOWS + 1) * 510); /* 50 ms of 100 µs */
    for (size_t i = 0; profile && i < profile->trials[0].launch_count; i++)
        CHECK_INT(profile->trials[0].launches[i].sample_count, 0); /* nothing was kept */
    assay_profile_close(profile);
    CHECK_INT(model.durations.count, inferences);
    CHECK_INT(model.inferences, inferences);
    give(NAN, "no sensor");
    CHECK_NEAR(values[ASSAY__WATCHED_P50], 1e-4, 1e-6);
    CHECK_NEAR(values[ASSAY__WATCHED_P99], 1e-4, 1e-6);
    CHECK_NEAR(values[ASSAY__WATCHED_RATE], (double)inferences / (wall_ns * 1e-9), 1e-6);
    CHECK(isnan(values[ASSAY__WATCHED_ENERGY]));
    CHECK_STR(notes[ASSAY__WATCHED_ENERGY], "no sensor");
    /* A new interval begins empty. */
    give(20, "");
    CHECK(isnan(values[ASSAY__WATCHED_P50]) && isnan(values[ASSAY__WATCHED_ENERGY]));
    CHECK(notes[ASSAY__WATCHED_P50][0] && notes[ASSAY__WATCHED_ENERGY][0]);
    CHECK_NEAR(values[ASSAY__WATCHED_RATE], 0, 0);
    CHECK_INT(model.inferences, inferences);
}

static void energy_of_an_inference(void)
{
    char rail[64];
    double durations[100];
    const double *stream = durations;
    size_t count = 100;
    for (size_t i = 0; i < 100; i++)
        durations[i] = 1e6;
    const struct assay__window_seen window = {&stream, &count, 1, 1e8}; /* 1,000 a second */
    assay__watched_model_window(&model, &window);
    give(20, "");
    CHECK_NEAR(values[ASSAY__WATCHED_ENERGY], 0.02, 1e-12);
    CHECK(isnan(values[ASSAY__WATCHED_P99])); /* of 100 inferences there is none */
    CHECK(notes[ASSAY__WATCHED_P99][0]);
    CHECK_STR(assay__watched_model_rail("cpu", rail, sizeof rail), "power.package");
    CHECK_STR(assay__watched_model_rail("cuda:1", rail, sizeof rail), "power.gpu1");
    CHECK_STR(assay__watched_model_rail("cuda", rail, sizeof rail), "power.gpu0");
    CHECK(!assay__watched_model_rail("webgpu:0", rail, sizeof rail));
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"runs_until_interrupted", runs_until_interrupted},
        {"energy_of_an_inference", energy_of_an_inference},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
