/* conform_engine.c - what every engine must do, run on each of them. An engine joins by a row in
 * `subjects`: how to open it so that it works, and how to make a step fail. A subject whose library
 * is not on this machine is skipped. */
#include "conform/tiny_onnx.h"
#include "harness.h"

#include "base/file.h"

#include "engine/engine.h"
#include <pthread.h>

struct subject {
    const char *engine;
    const char *script;
    const char *failing_script; /* the first step fails; NULL: fails through a wrong input shape */
    bool model;                 /* needs a model and inputs */
};

static const struct subject subjects[] = {
    {"fake",
     "load=2ms;compile=3ms;steady=100us;layers=a:60us:Conv,b:30us;engine=10us;memory=10;memory_"
     "peak=20",
     "error_at=1", false},
    {"ort", NULL, NULL, true},
};

static const struct subject *subject; /* the one under test */
static char folder[512], model_path[600];

static void folder_drop(void)
{
    assay__folder_remove(folder);
}

static const struct assay__engine_ops *engine_under_test(void)
{
    const struct assay__engine_ops *ops = assay__engine_find(subject->engine);
    CHECK(ops != NULL);
    return ops;
}

/* ONNX Runtime as the build set it up, unless the caller named one. */
static void library_choose(void)
{
#ifdef ASSAY_TEST_BUILD
    if (access(ASSAY_TEST_BUILD "/onnxruntime", F_OK) == 0)
        setenv("ASSAY_ORT_LIBRARY", ASSAY_TEST_BUILD "/onnxruntime", 0);
#endif
}

static float input_data[] = {1, 2, -3, -4};
static const int64_t good_dims[] = {2, 2}, bad_dims[] = {1, 4};

static struct assay__host_tensor input_of(const int64_t *dims)
{
    return (struct assay__host_tensor){.name = "x",
                                       .dtype = 1,
                                       .rank = 2,
                                       .dims = dims,
                                       .data = input_data,
                                       .data_size = sizeof input_data};
}

static struct assay__session_options options_of(const struct assay__host_tensor *input)
{
    struct assay__session_options options = {
        .size = sizeof options, .threads = 1, .spinning = -1, .script = subject->script};
    if (subject->model) {
        if (!folder[0]) {
            CHECK_INT(assay__folder_temporary(folder, sizeof folder, NULL), 0);
            atexit(folder_drop);
            snprintf(model_path, sizeof model_path, "%s/tiny.onnx", folder);
            tiny_matmul(model_path);
        }
        options.model_path = model_path;
        options.inputs = input;
        options.input_count = 1;
    }
    return options;
}

/* Opens, or skips the test when the engine's library is not here. */
static struct assay__session *open_or_skip(const struct assay__session_options *options)
{
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    library_choose();
    int code = engine_under_test()->open(options, &session, &error);
    if (code == ASSAY_ENOTFOUND) SKIP(error.message);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    CHECK(session != NULL);
    return session;
}

static void test_table(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    CHECK_INT(ops->abi, ASSAY__ENGINE_ABI);
    CHECK_INT(ops->size, sizeof *ops);
    CHECK_STR(ops->name, subject->engine);
    CHECK(ops->summary && ops->summary[0]);
    CHECK(ops->devices && ops->open && ops->step && ops->step_error && ops->facts && ops->close);
}

static void test_close_null(void)
{
    engine_under_test()->close(NULL);
    CHECK(engine_under_test()->close != NULL);
}

static void test_facts(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    struct assay__host_tensor input = input_of(good_dims);
    struct assay__session_options options = options_of(&input);
    struct assay__session *session = open_or_skip(&options);
    struct assay__session_facts facts;
    memset(&facts, 0xff, sizeof facts);
    ops->facts(session, &facts);
    CHECK(facts.create_ns > 0 && isfinite(facts.create_ns));
    CHECK(facts.load_reason != NULL);
    if (isnan(facts.load_ns) || isnan(facts.compile_ns))
        CHECK(facts.load_reason[0] != '\0'); /* unknown has a reason */
    else
        CHECK(facts.load_ns >= 0 && facts.compile_ns >= 0 &&
              facts.load_ns + facts.compile_ns <= facts.create_ns);
    CHECK(facts.version && facts.version[0]);
    CHECK(facts.library != NULL);
    CHECK(facts.provider && facts.provider[0]);
    CHECK_INT(facts.threads, 1);
    ops->close(session);
}

static void test_step_and_clock(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    struct assay__host_tensor input = input_of(good_dims);
    struct assay__session_options options = options_of(&input);
    struct assay__session *session = open_or_skip(&options);
    CHECK_STR(ops->step_error(session), "");
    uint64_t last_ns = ops->now_ns ? ops->now_ns(session) : 0;
    for (int i = 0; i < 20; i++) {
        CHECK_INT(ops->step(session, 0), 0);
        uint64_t now_ns = ops->now_ns ? ops->now_ns(session) : 0;
        CHECK(!ops->now_ns || now_ns > last_ns);
        last_ns = now_ns;
    }
    CHECK_INT(ops->step(session, 1), ASSAY_EINVAL); /* one stream: there is no second */
    CHECK_INT(ops->step(session, -1), ASSAY_EINVAL);
    ops->close(session);
}

/* The same inputs give the same bytes, step after step and session after session. */
static void test_outputs_equal(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    if (!ops->outputs) SKIP("the engine has no outputs()");
    struct assay__host_tensor input = input_of(good_dims);
    struct assay__session_options options = options_of(&input);
    unsigned char first[4096];
    size_t first_size = 0;
    for (int round = 0; round < 2; round++) {
        struct assay__session *session = open_or_skip(&options);
        const struct assay__host_tensor *outputs = NULL;
        size_t count = 0;
        struct assay_error error = {0};
        CHECK(ops->outputs(session, &outputs, &count, &error) < 0); /* nothing has run */
        CHECK(error.message[0] != '\0');
        for (int step = 0; step < 3; step++) {
            unsigned char bytes[4096];
            size_t size = 0;
            CHECK_INT(ops->step(session, 0), 0);
            CHECK_INT(ops->outputs(session, &outputs, &count, &error), 0);
            CHECK(count >= 1);
            for (size_t i = 0; i < count; i++) {
                CHECK(outputs[i].name && outputs[i].name[0] && outputs[i].data);
                CHECK(size + outputs[i].data_size <= sizeof bytes);
                memcpy(bytes + size, outputs[i].data, outputs[i].data_size);
                size += outputs[i].data_size;
            }
            CHECK(size > 0);
            if (round == 0 && step == 0) memcpy(first, bytes, first_size = size);
            CHECK_INT(size, first_size);
            CHECK(memcmp(bytes, first, size) == 0);
        }
        ops->close(session);
    }
}

static void test_step_error(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    struct assay__host_tensor input = input_of(subject->failing_script ? good_dims : bad_dims);
    struct assay__session_options options = options_of(&input);
    if (subject->failing_script) options.script = subject->failing_script;
    struct assay__session *session = open_or_skip(&options);
    CHECK(ops->step(session, 0) < 0);
    const char *text = ops->step_error(session);
    CHECK(text && text[0]);
    CHECK(strchr(text, '\n') == NULL);
    ops->close(session);
}

static void test_unknown_device(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    struct assay__host_tensor input = input_of(good_dims);
    struct assay__session_options options = options_of(&input);
    ops->close(open_or_skip(&options)); /* the library is here */
    options.device = "no-such-device:7";
    struct assay__session *session = (struct assay__session *)&options;
    struct assay_error error = {0};
    CHECK_INT(ops->open(&options, &session, &error), ASSAY_EUNSUPPORTED);
    CHECK(session == NULL);
    CHECK_HAS(error.message, "no-such-device:7");
    CHECK_HAS(error.message, "cpu");                                    /* names what there is */
    CHECK_INT(ops->open(&options, &session, NULL), ASSAY_EUNSUPPORTED); /* the error may be NULL */
}

static void test_bad_options(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    struct assay__host_tensor input = input_of(good_dims);
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    library_choose();
    CHECK_INT(ops->open(NULL, &session, &error), ASSAY_EINVAL);
    struct assay__session_options options = options_of(&input);
    options.size = 0;
    CHECK_INT(ops->open(&options, &session, &error), ASSAY_EINVAL);
    options = options_of(&input);
    options.streams = -1;
    CHECK_INT(ops->open(&options, &session, &error), ASSAY_EINVAL);
    struct {
        struct assay__session_options options;
        char newer[16];
    } larger = {.options = options_of(&input)};
    larger.options.size = sizeof larger;
    larger.newer[15] = 1;
    CHECK_INT(ops->open(&larger.options, &session, &error), ASSAY_EINVAL);
    CHECK(session == NULL);
}

/* Two calls give the same layers in the same order; the second may measure anew. */
static void test_layers_twice(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    if (!ops->layers) SKIP("the engine has no layers()");
    struct assay__host_tensor input = input_of(good_dims);
    struct assay__session_options options = options_of(&input);
    struct assay__session *session = open_or_skip(&options);
    struct assay__layer_options wanted = {
        .size = sizeof wanted, .method = ASSAY_LAYERS_AUTO, .budget_s = 0.5, .latency_ns = 5000};
    char names[2][1024] = {"", ""};
    for (int i = 0; i < 100; i++)
        CHECK_INT(ops->step(session, 0), 0);
    for (int round = 0; round < 2; round++) {
        struct assay__layers result;
        struct assay_error error = {0};
        int code = ops->layers(session, &wanted, &result, &error);
        if (code) printf("  %s\n", error.message);
        CHECK_INT(code, 0);
        CHECK(result.method && result.method[0] && result.reason && result.count > 0);
        for (size_t i = 0; i < result.count; i++) {
            const struct assay__layer *layer = &result.items[i];
            CHECK(layer->name && layer->op && layer->provider && layer->note);
            CHECK((layer->state == ASSAY_UNAVAILABLE) ==
                  isnan(layer->time_ns)); /* unknown is not zero */
            CHECK(layer->state != ASSAY_UNAVAILABLE || layer->note[0]);
            size_t used = strlen(names[round]);
            snprintf(names[round] + used, sizeof names[round] - used, "%s/%s ", layer->name,
                     layer->op);
        }
    }
    CHECK_STR(names[1], names[0]);
    CHECK_INT(ops->step(session, 0), 0); /* the session still runs */
    ops->close(session);
}

static void test_memory(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    if (!ops->memory) SKIP("the engine has no memory()");
    struct assay__host_tensor input = input_of(good_dims);
    struct assay__session_options options = options_of(&input);
    struct assay__session *session = open_or_skip(&options);
    double now = 0, peak = 0;
    CHECK_INT(ops->step(session, 0), 0);
    ops->memory(session, &now, &peak);
    CHECK(isnan(now) || now > 0);
    CHECK(isnan(peak) || isnan(now) || peak >= now);
    ops->close(session);
}

struct stream_work {
    struct assay__session *session;
    int stream, failures;
};

static void *stream_run(void *context)
{
    struct stream_work *work = context;
    for (int i = 0; i < 200; i++)
        work->failures += engine_under_test()->step(work->session, work->stream) != 0;
    return NULL;
}

static void test_streams(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    struct assay__host_tensor input = input_of(good_dims);
    struct assay__session_options options = options_of(&input);
    options.streams = 3;
    struct assay__session *session = open_or_skip(&options);
    struct stream_work work[3];
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        work[i] = (struct stream_work){session, i, 0};
        CHECK_INT(pthread_create(&threads[i], NULL, stream_run, &work[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_INT(pthread_join(threads[i], NULL), 0);
        CHECK_INT(work[i].failures, 0);
    }
    CHECK_INT(ops->step(session, 3), ASSAY_EINVAL);
    ops->close(session);
}

static int device_check(void *context, const struct assay__device *device)
{
    int *count = context;
    CHECK(device->name && device->name[0] && device->kind && device->library);
    CHECK_STR(device->engine, subject->engine);
    CHECK(strcmp(device->kind, "cpu") == 0 || strcmp(device->kind, "gpu") == 0 ||
          strcmp(device->kind, "npu") == 0);
    CHECK(device->available ==
          (device->reason[0] == '\0'));                    /* what is not available has a reason */
    CHECK(*count > 0 || strcmp(device->name, "cpu") == 0); /* the CPU comes first */
    (*count)++;
    return 0;
}

static int device_stop(void *context, const struct assay__device *device)
{
    (void)device;
    (*(int *)context)++;
    return 42;
}

/* The first number of the output "y" after the last step of stream 0. */
static double state_now(struct assay__session *session)
{
    const struct assay__host_tensor *outputs = NULL;
    size_t count = 0;
    CHECK_INT(engine_under_test()->outputs(session, &outputs, &count, NULL), 0);
    for (size_t i = 0; i < count; i++)
        if (strcmp(outputs[i].name, "y") == 0) {
            CHECK_INT(outputs[i].rank, 2);
            CHECK_INT(outputs[i].dims[0], good_dims[0]);
            return (double)((const float *)outputs[i].data)[0];
        }
    harness_fail(__FILE__, __LINE__, "no output 'y'");
    return 0;
}

/* What is fed back changes from step to step, in each stream by itself, and the caller's input
 * stays. */
static void test_feedback(void)
{
    const struct assay__engine_ops *ops = engine_under_test();
    struct assay__host_tensor input = input_of(good_dims);
    struct assay__feedback pair = {"y", "x", ASSAY__FEEDBACK_GIVEN};
    struct assay__session_options options = options_of(&input);
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    double states[3], first = (double)input_data[0];
    options.inputs = &input;
    options.input_count = 1;
    options.streams = 2;
    options.feedback = &pair;
    options.feedback_count = 1;
    for (int others = 0; others < 2; others++) { /* the second time beside another stream */
        session = open_or_skip(&options);
        for (int i = 0; i < 3; i++) {
            CHECK_INT(ops->step(session, 0), 0);
            for (int k = 0; k < 2 * others; k++)
                CHECK_INT(ops->step(session, 1), 0);
            if (others) CHECK_NEAR(state_now(session), states[i], 0);
            states[i] = state_now(session);
            CHECK(i == 0 || states[i] != states[i - 1]);
        }
        ops->close(session);
    }
    CHECK_NEAR((double)input_data[0], first, 0);
    pair.input = "nowhere";
    CHECK_INT(ops->open(&options, &session, &error), ASSAY_EINVAL);
    CHECK(session == NULL);
    CHECK_HAS(error.message, "nowhere");
}

static void test_devices(void)
{
    struct assay_error error = {0};
    int count = 0, calls = 0;
    library_choose();
    CHECK_INT(engine_under_test()->devices(NULL, NULL, device_check, &count, &error), 0);
    CHECK(count >= 1);
    CHECK_INT(engine_under_test()->devices(NULL, NULL, device_stop, &calls, &error),
              42); /* the callback stops it */
    CHECK_INT(calls, 1);
}

static const struct harness_test tests[] = {
    {"table", test_table},
    {"close_null", test_close_null},
    {"facts", test_facts},
    {"step_and_clock", test_step_and_clock},
    {"outputs_equal", test_outputs_equal},
    {"step_error", test_step_error},
    {"unknown_device", test_unknown_device},
    {"bad_options", test_bad_options},
    {"layers_twice", test_layers_twice},
    {"memory", test_memory},
    {"feedback", test_feedback},
    {"streams", test_streams},
    {"devices", test_devices},
};

/* As harness_main, over subjects and tests: "ort_facts" is one name. */
int main(int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0;
    for (size_t s = 0; s < sizeof subjects / sizeof subjects[0]; s++) {
        subject = &subjects[s];
        for (size_t t = 0; t < sizeof tests / sizeof tests[0]; t++) {
            char name[64];
            snprintf(name, sizeof name, "%s_%s", subject->engine, tests[t].name);
            bool wanted = argc <= 1;
            for (int a = 1; a < argc; a++)
                wanted |= strcmp(argv[a], name) == 0;
            if (!wanted) continue;
            int status = harness_run_one(&tests[t]);
            passed += status == 0;
            skipped += status == HARNESS_SKIP_STATUS;
            failed += status != 0 && status != HARNESS_SKIP_STATUS;
            printf("%-4s %s\n",
                   status == 0                     ? "ok"
                   : status == HARNESS_SKIP_STATUS ? "skip"
                                                   : "FAIL",
                   name);
        }
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed ? 1 : 0;
}
