/* test_feedback_run.c - states that are fed back, as engines and runs do it. Against the fake
 * engine: exact values, metrics, what is kept. Against ONNX Runtime: the closed form of a linear
 * recurrence after k steps, in every stream, with layers timed meanwhile, and shapes that change.
 */
#include "layers_fixture.h"
#include "model_fixture.h"
#include "run_fixture.h"
#include "scratch.h"

#include "profile/profile.h"
#include "run/arm/launch.h"
#include "run/child.h"
#include "run/single_run.h"
#include "run/worker/job.h"
#include "run/worker/ring.h"
#include "run/worker/worker_state.h"

#include <sys/stat.h>

static const struct assay__feedback pair = {"stateN", "state", ASSAY__FEEDBACK_GIVEN};
static const int64_t dims[] = {1, 2};

static const float *output_of(const struct assay__engine_ops *engine,
                              struct assay__session *session, const char *name)
{
    const struct assay__host_tensor *outputs = NULL;
    struct assay_error error = {0};
    size_t count = 0;
    if (engine->outputs(session, &outputs, &count, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    for (size_t i = 0; i < count; i++)
        if (strcmp(outputs[i].name, name) == 0) return outputs[i].data;
    harness_fail(__FILE__, __LINE__, name);
    return NULL;
}

static void put_inputs(struct assay__host_tensor *inputs, float *x, float *state)
{
    inputs[0] = (struct assay__host_tensor){.name = "x",
                                            .dtype = ASSAY__FLOAT32,
                                            .rank = 2,
                                            .dims = dims,
                                            .data = x,
                                            .data_size = 2 * sizeof *x};
    inputs[1] = inputs[0];
    inputs[1].name = "state";
    inputs[1].data = state;
}

/* --- the fake engine -------------------------------------------------------------------------- */

static void test_fake(void)
{
    const struct assay__engine_ops *fake = assay__engine_find("fake");
    struct assay__host_tensor inputs[2];
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    float x[] = {1, 2}, state[] = {0.5f, 0.5f};
    put_inputs(inputs, x, state);
    struct assay__session_options options = {.size = sizeof options,
                                             .script = "state=2:3",
                                             .streams = 2,
                                             .inputs = inputs,
                                             .input_count = 2,
                                             .feedback = &pair,
                                             .feedback_count = 1};
    CHECK_INT(fake->open(&options, &session, &error), 0);
    static const double expected[] = {4, 11, 25, 53}; /* 2 s + 3, from 0.5 on */
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(fake->step(session, 0), 0);
        CHECK_INT(fake->step(session, 1), 0); /* another stream has a state of its own */
        CHECK_INT(fake->step(session, 1), 0);
        CHECK_NEAR((double)output_of(fake, session, "stateN")[1], expected[i], 0);
    }
    fake->close(session);
    options.feedback = &(struct assay__feedback){"stateN", "nowhere", ASSAY__FEEDBACK_GIVEN};
    CHECK_INT(fake->open(&options, &session, &error), ASSAY_EINVAL);
    CHECK(session == NULL);
    options.feedback_count = 0;
    static const char *const bad[] = {"state=2", "state=2:", "state=:3", "state=a:b"};
    for (size_t i = 0; i < 4; i++) {
        options.script = bad[i];
        CHECK_INT(fake->open(&options, &session, &error), ASSAY_EINVAL);
    }
}

/* --- ONNX Runtime: stateN = state / 2 + x, y = 2 stateN --------------------------------------- */

static const char *write_recurrence(void)
{
    static const float half = 0.5f, two = 2;
    static char path[1200];
    struct assay__model *model = fixture_model(17);
    struct assay_error error = {0};
    fixture_input(model, "x", ASSAY__FLOAT32, "1,2");
    fixture_input(model, "state", ASSAY__FLOAT32, "1,2");
    fixture_scalar(model, "half", ASSAY__FLOAT32, &half);
    fixture_scalar(model, "two", ASSAY__FLOAT32, &two);
    fixture_node(model, "Mul state,half -> halved");
    fixture_node(model, "Add halved,x -> stateN");
    fixture_node(model, "Mul stateN,two -> y")->name = "doubled";
    fixture_output(model, "y");
    fixture_output(model, "stateN");
    snprintf(path, sizeof path, "%s", scratch("recurrence.onnx"));
    if (assay__model_write(model, path, &error)) harness_fail(__FILE__, __LINE__, error.message);
    assay__model_free(model);
    return path;
}

/* s_k = s_0 / 2^k + 2 x (1 - 1 / 2^k): exact in float32 for the first steps. */
static double closed_form(double first, double x, int steps)
{
    return ldexp(first, -steps) + 2 * x * (1 - ldexp(1, -steps));
}

static void test_closed_form(void)
{
    const struct assay__engine_ops *ort = assay__engine_find("ort");
    struct assay__host_tensor inputs[2];
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    float x[] = {1, -3}, state[] = {16, 0};
    find_library();
    put_inputs(inputs, x, state);
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = write_recurrence(),
                                             .threads = 1,
                                             .spinning = -1,
                                             .streams = 2,
                                             .inputs = inputs,
                                             .input_count = 2,
                                             .feedback = &pair,
                                             .feedback_count = 1};
    if (ort->open(&options, &session, &error)) harness_fail(__FILE__, __LINE__, error.message);
    for (int k = 1; k <= 12; k++) {
        CHECK_INT(ort->step(session, 0), 0);
        CHECK_INT(ort->step(session, 1), 0);
        CHECK_INT(ort->step(session, 1), 0);
        for (int i = 0; i < 2; i++) {
            double expected = closed_form((double)state[i], (double)x[i], k);
            CHECK_NEAR((double)output_of(ort, session, "stateN")[i], expected, 0);
            CHECK_NEAR((double)output_of(ort, session, "y")[i], 2 * expected, 0);
        }
    }
    CHECK_NEAR((double)state[0], 16, 0); /* what it began with is still there */
    ort->close(session);
    options.feedback_count = 0; /* without it every step is the first */
    if (ort->open(&options, &session, &error)) harness_fail(__FILE__, __LINE__, error.message);
    for (int k = 0; k < 3; k++) {
        CHECK_INT(ort->step(session, 0), 0);
        CHECK_NEAR((double)output_of(ort, session, "stateN")[0], closed_form(16, 1, 1), 0);
    }
    ort->close(session);
}

/* A GRU, against onnx's reference evaluator (tests/oracle/make_state_models.py): each line has the
 * output and the state after one more inference. */
static void test_reference(void)
{
    const struct assay__engine_ops *ort = assay__engine_find("ort");
    static const int64_t wave_dims[] = {1, 512}, state_dims[] = {1, 1, 8};
    float wave[512], state[8] = {0};
    int64_t rate = 16000;
    char path[1024], name[1024], line[512];
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    size_t lines = 0;
    find_library();
    for (size_t i = 0; i < 512; i++)
        wave[i] = 0.25f;
    const struct assay__host_tensor inputs[] = {
        {.name = "input",
         .dtype = ASSAY__FLOAT32,
         .rank = 2,
         .dims = wave_dims,
         .data = wave,
         .data_size = sizeof wave},
        {.name = "state",
         .dtype = ASSAY__FLOAT32,
         .rank = 3,
         .dims = state_dims,
         .data = state,
         .data_size = sizeof state},
        {.name = "sr", .dtype = ASSAY__INT64, .data = &rate, .data_size = sizeof rate}};
    fixture_path(path, sizeof path, "state/vad.onnx");
    fixture_path(name, sizeof name, "state/vad.txt");
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = path,
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = inputs,
                                             .input_count = 3,
                                             .feedback = &pair,
                                             .feedback_count = 1};
    if (ort->open(&options, &session, &error)) harness_fail(__FILE__, __LINE__, error.message);
    FILE *file = fopen(name, "r");
    CHECK(file != NULL);
    for (; fgets(line, sizeof line, file); lines++) {
        char *at = line;
        CHECK_INT(ort->step(session, 0), 0);
        CHECK_NEAR((double)output_of(ort, session, "output")[0], strtod(at, &at), 1e-5);
        for (int i = 0; i < 8; i++)
            CHECK_NEAR((double)output_of(ort, session, "stateN")[i], strtod(at, &at), 1e-5);
    }
    CHECK_INT(lines, 8);
    fclose(file);
    ort->close(session);
}

/* Layers by markers and by the engine's profile: both run the model with states of their own. */
static void test_layers(void)
{
    const struct assay__engine_ops *ort = assay__engine_find("ort");
    struct assay__host_tensor inputs[2];
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    float x[] = {1, 2}, state[] = {4, 8};
    find_library();
    put_inputs(inputs, x, state);
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = write_recurrence(),
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = inputs,
                                             .input_count = 2,
                                             .feedback = &pair,
                                             .feedback_count = 1};
    if (ort->open(&options, &session, &error)) harness_fail(__FILE__, __LINE__, error.message);
    for (int k = 0; k < 5; k++)
        CHECK_INT(ort->step(session, 0), 0);
    static const enum assay_layer_method methods[] = {ASSAY_LAYERS_MARKERS, ASSAY_LAYERS_ENGINE,
                                                      ASSAY_LAYERS_ISOLATED};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        struct assay__layers layers;
        struct assay__layer_options how = {
            .size = sizeof how, .method = methods[i], .budget_s = 0.2};
        if (ort->layers(session, &how, &layers, &error))
            harness_fail(__FILE__, __LINE__, error.message);
        CHECK_INT(layers.count, 3);
        if (methods[i] == ASSAY_LAYERS_MARKERS) CHECK_STR(layers.method, "markers");
        CHECK(!strstr(layers.reason, "differ")); /* outputs with markers are the model's */
    }
    CHECK_INT(ort->step(session, 0), 0); /* none of it was a step of this stream */
    CHECK_NEAR((double)output_of(ort, session, "stateN")[1], closed_form(8, 2, 6), 0);
    ort->close(session);
}

/* A state that grows: the engine knows when it has run. */
static void test_growing(void)
{
    const struct assay__engine_ops *ort = assay__engine_find("ort");
    struct assay__model *model = fixture_model(17);
    struct assay__host_tensor inputs[2];
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    float x[] = {1, 2}, state[] = {4, 8};
    find_library();
    fixture_input(model, "x", ASSAY__FLOAT32, "1,2");
    fixture_input(model, "state", ASSAY__FLOAT32, "n,2");
    struct assay__node *node = fixture_node(model, "Concat state,x -> stateN");
    node->attrs = assay__arena_alloc(model->arena, sizeof *node->attrs);
    node->attrs[0] = (struct assay__attr){.name = "axis", .type = ASSAY__ATTR_INT, .i = 0};
    node->attr_count = 1;
    fixture_output(model, "stateN");
    if (assay__model_write(model, scratch("growing.onnx"), &error))
        harness_fail(__FILE__, __LINE__, error.message);
    assay__model_free(model);
    put_inputs(inputs, x, state);
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = scratch("growing.onnx"),
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = inputs,
                                             .input_count = 2,
                                             .feedback = &pair,
                                             .feedback_count = 1};
    if (ort->open(&options, &session, &error)) harness_fail(__FILE__, __LINE__, error.message);
    CHECK_INT(ort->step(session, 0), 0);
    CHECK(ort->step(session, 0) != 0);
    CHECK_HAS(ort->step_error(session), "'stateN' came out as 2x2");
    CHECK_HAS(ort->step_error(session), "'state', which is 1x2");
    ort->close(session);
    options.feedback = &(struct assay__feedback){"nothing", "state", ASSAY__FEEDBACK_GIVEN};
    CHECK_INT(ort->open(&options, &session, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "no output 'nothing'");
}

/* --- what a worker keeps ---------------------------------------------------------------------- */

/* The outputs of a launch are those after a fixed number of steps from the initial state. */
static void test_outputs(void)
{
    struct assay__feedback feedback = pair;
    struct assay_error error = {0};
    struct assay__outcome outcome;
    struct assay__output *outputs = NULL;
    struct assay__arena *arena = assay__arena_new();
    char worker[4096], folder[1200];
    size_t count = 0;
    int64_t elements = 0, sizes[] = {1, 2};
    double *numbers = NULL;
    struct assay__input_plan inputs[] = {{.name = "x",
                                          .dtype = ASSAY__FLOAT32,
                                          .rank = 2,
                                          .dims = sizes,
                                          .bytes = 8,
                                          .fill = ASSAY__FILL_CONSTANT,
                                          .low = 3},
                                         {.name = "state",
                                          .dtype = ASSAY__FLOAT32,
                                          .rank = 2,
                                          .dims = sizes,
                                          .bytes = 8,
                                          .fill = ASSAY__FILL_CONSTANT,
                                          .low = 4}};
    find_library();
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    CHECK_INT(assay__worker_locate(worker, sizeof worker, &error), 0);
    snprintf(folder, sizeof folder, "%s", scratch("outputs"));
    CHECK_INT(mkdir(folder, 0700), 0);
    struct assay__request request = {
        .job = {.engine = "ort",
                .model = write_recurrence(),
                .library = getenv("ASSAY_ORT_LIBRARY"),
                .optimization = "all",
                .streams = 1,
                .spinning = -1,
                .inputs = inputs,
                .input_count = 2,
                .feedback = &feedback,
                .feedback_count = 1,
                .outputs = folder},
        .goal = {.iterations = 5, .precision = 0.01, .streams = 1, .capacity = 1024},
        .timeout_s = 60,
        .launch = 1,
        .launches = 1,
        .trial = 1,
        .worker = worker,
        .arena = arena,
    };
    if (assay__launch_run(&request, &outcome)) harness_fail(__FILE__, __LINE__, outcome.reason);
    CHECK_NEAR(outcome.state.nonfinite, 0, 0);
    assay__outcome_free(&outcome);
    CHECK_INT(assay__outputs_read(folder, arena, &outputs, &count, &error), 0);
    CHECK_INT(count, 2);
    CHECK_INT(assay__single_run_numbers(&outputs[1], &numbers, &elements, &error), 0);
    CHECK_STR(outputs[1].name, "stateN");
    CHECK_NEAR(numbers[0], closed_form(4, 3, ASSAY__STATE_STEPS), 0);
    free(numbers);
    assay__arena_free(arena);
}

/* Feedback travels with the job as it is. */
static void test_job(void)
{
    struct assay__feedback feedback[] = {{"a", "b", ASSAY__FEEDBACK_NAME}, pair};
    struct assay__job job = {.engine = "fake", .feedback = feedback, .feedback_count = 2}, read;
    struct assay__buf text = {0};
    struct assay__arena *arena = assay__arena_new();
    struct assay_error error = {0};
    assay__job_write(&job, &text);
    CHECK_INT(assay__job_read(text.data, text.length, arena, &read, &error), 0);
    CHECK_INT(read.feedback_count, 2);
    CHECK_STR(read.feedback[0].output, "a");
    CHECK_STR(read.feedback[1].input, "state");
    CHECK_INT(read.feedback[0].found, ASSAY__FEEDBACK_NAME);
    assay__buf_free(&text);
    assay__arena_free(arena);
}

/* --- whole runs ------------------------------------------------------------------------------- */

static struct assay_profile *run(const struct assay__run_options *options)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    if (assay__run(options, &profile, &error)) harness_fail(__FILE__, __LINE__, error.message);
    return profile;
}

static struct assay__run_options options_of(const char *script)
{
    return (struct assay__run_options){.target.engine = "fake",
                                       .script = script,
                                       .workload.model = "cfc",
                                       .measuring.iterations = 50,
                                       .measuring.timeout_s = 60};
}

/* Found by name, kept in the file, and the real-time factor of exact times. */
static void test_kept(void)
{
    struct assay__run_options options = options_of("steady=2ms");
    struct assay_error error = {0};
    struct assay_profile *kept = NULL;
    options.feedback.seconds_per_inference = 0.032;
    options.keeping.output = scratch("kept.assay");
    struct assay_profile *profile = run(&options);
    CHECK_NEAR(value(profile, "realtime.factor"), 0.0625, 1e-12);
    CHECK_NEAR(value(profile, "realtime.speed"), 16, 1e-9);
    CHECK_INT(metric(profile, "realtime.factor")->state, ASSAY_DERIVED);
    CHECK_NEAR(value(profile, "state.nonfinite"), 0, 0);
    assay_profile_close(profile);
    CHECK_INT(assay_profile_open(options.keeping.output, &kept, &error), 0);
    const struct assay__trial *trial = &kept->trials[0];
    CHECK_INT(trial->feedback_count, 1);
    CHECK_STR(trial->feedback[0].output, "hn");
    CHECK_STR(trial->feedback[0].input, "h0");
    CHECK_INT(trial->feedback[0].found, ASSAY__FEEDBACK_NAME);
    CHECK_NEAR(trial->real_time.seconds, 0.032, 0);
    struct assay_input input = {.size = sizeof input};
    CHECK(assay_trial_input(assay_profile_trial(kept, 0), 0, &input));
    CHECK_STR(input.state, "");
    CHECK(assay_trial_input(assay_profile_trial(kept, 0), 1, &input));
    CHECK_STR(input.name, "h0");
    CHECK_STR(input.state, "hn");
    CHECK_INT(trial->real_time.sound_samples, -1);
    CHECK(isnan(trial->real_time.sound_rate));
    assay_profile_close(kept);
}

/* The fake state leaves float32 after 128 doublings: the report must not hide it. */
static void test_nonfinite(void)
{
    struct assay__run_options options = options_of("state=1e10:1");
    struct assay_profile *profile = run(&options);
    CHECK_NEAR(value(profile, "state.nonfinite"), 64, 0); /* all of 1x64 */
    assay_profile_close(profile);
    options.feedback.states = (const char *const[]){"none"};
    options.feedback.state_count = 1;
    profile = run(&options);
    CHECK_INT(profile->trials[0].feedback_count, 0);
    CHECK(!assay_metrics_get(assay_profile_metrics(profile, 0), "state.nonfinite"));
    CHECK(!assay_metrics_get(assay_profile_metrics(profile, 0), "realtime.factor"));
    assay_profile_close(profile);
}

static void test_refused(void)
{
    static const char *const none[] = {"none"}, *const wrong[] = {"hx=h0"};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__run_options options = options_of("");
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    options.feedback = (struct assay_feedback_options){.states = wrong, .state_count = 1};
    CHECK_INT(assay__run(&options, &profile, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "states");
    options.feedback.states = none;
    options.workload = (struct assay_workload_options){.model = "gpt2", .generate = 4};
    CHECK_INT(assay__run(&options, &profile, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "states");
    options.workload = (struct assay_workload_options){.model = NULL};
    CHECK_INT(assay__run(&options, &profile, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "states");
    options = options_of("");
    options.feedback.seconds_per_inference = -1;
    CHECK_INT(assay__run(&options, &profile, &error), ASSAY_EINVAL);
    CHECK_STR(error.option, "seconds_per_inference");
    struct assay_run_options given = {.size = sizeof given, .feedback.state_count = 1};
    CHECK_INT(assay__run_options_read(&given, &options, &error), ASSAY_EINVAL); /* no list */
    given.size = offsetof(struct assay_run_options, feedback); /* a program from before it */
    CHECK_INT(assay__run_options_read(&given, &options, &error), 0);
    CHECK_INT(options.feedback.state_count, 0);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"fake", test_fake},
        {"closed_form", test_closed_form},
        {"reference", test_reference},
        {"layers", test_layers},
        {"growing", test_growing},
        {"outputs", test_outputs},
        {"job", test_job},
        {"kept", test_kept},
        {"nonfinite", test_nonfinite},
        {"refused", test_refused},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
