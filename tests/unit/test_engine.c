/* test_engine.c - the registry, the fake engine's script (exact times), finding and refusing
 * libraries, and ONNX Runtime's own behaviour: every tensor type, strings, error texts, facts. What
 * every engine must do is in conform_engine.c. */
#include "conform/tiny_onnx.h"
#include "unit/scratch.h"

#include "base/log.h"
#include "engine/ort_session.h"

#include <assay/engine.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

static const struct assay_engine_ops *fake(void)
{
    return assay_engine_find("fake");
}

static struct assay_session *fake_open(const char *script)
{
    struct assay_session_options options = {.size = sizeof options, .script = script};
    struct assay_session *session = NULL;
    struct assay_error error = {0};
    if (fake()->open(&options, &session, &error)) printf("  %s\n", error.message);
    CHECK(session != NULL);
    return session;
}

/* The duration of the next step, by the engine's clock. */
static int64_t fake_step(struct assay_session *session)
{
    uint64_t before_ns = fake()->now_ns(session);
    CHECK_INT(fake()->step(session, 0), 0);
    return (int64_t)(fake()->now_ns(session) - before_ns);
}

/* --- registry --------------------------------------------------------------------------------- */

static void test_registry(void)
{
    CHECK_STR(assay_engine_at(0)->name, "ort");
    CHECK_STR(assay_engine_at(1)->name, "fake");
    CHECK(assay_engine_at(2) == NULL);
    CHECK(assay_engine_find("ort") == assay_engine_at(0));
    CHECK(assay_engine_find("or") == NULL);
    CHECK(assay_engine_find("") == NULL);
    CHECK(assay_engine_find(NULL) == NULL);
}

/* --- fake: times ------------------------------------------------------------------------------ */

static void test_script_times(void)
{
    struct assay_session *session = fake_open(
        "load=2ms; compile=3ms; first=9ms; warmup=2x200us; steady=100us,110us; spike=3x1ms");
    struct assay_session_facts facts;
    fake()->facts(session, &facts);
    CHECK_NEAR(facts.load_ns, 2e6, 0);
    CHECK_NEAR(facts.compile_ns, 3e6, 0);
    CHECK_NEAR(facts.create_ns, 5e6, 0);
    CHECK_INT(fake()->now_ns(session), 5000000);
    static const int64_t expected_ns[] = {9000000, 200000, 200000, 100000, 110000,
                                          1100000, 110000, 100000, 1110000};
    for (size_t i = 0; i < sizeof expected_ns / sizeof expected_ns[0]; i++)
        CHECK_INT(fake_step(session), expected_ns[i]);
    fake()->close(session);
}

static void test_script_defaults(void)
{
    struct assay_session *session = fake_open("");
    struct assay_session_facts facts;
    double now = 0, peak = 0;
    fake()->facts(session, &facts);
    CHECK(isnan(facts.load_ns) && isnan(facts.compile_ns)); /* unknown is not zero */
    CHECK_HAS(facts.load_reason, "script");
    fake()->memory(session, &now, &peak);
    CHECK(isnan(now) && isnan(peak));
    CHECK_INT(fake_step(session), 100000);
    struct assay_layer_options options = {.size = sizeof options};
    struct assay_layer_result result;
    struct assay_error error = {0};
    CHECK_INT(fake()->layers(session, &options, &result, &error), ASSAY_EUNSUPPORTED);
    fake()->close(session);
}

static void test_script_drift(void)
{
    struct assay_session *session = fake_open("steady=1us;drift=10ns");
    for (int i = 0; i < 5; i++)
        CHECK_INT(fake_step(session), 1000 + 10 * i);
    fake()->close(session);
}

/* Noise is bounded, centred, not constant, and the same for the same seed. */
static void test_script_noise(void)
{
    struct assay_session *one = fake_open("steady=10us;noise=1us;seed=7"),
                         *two = fake_open("steady=10us;noise=1us;seed=7"),
                         *other = fake_open("steady=10us;noise=1us;seed=8");
    double sum = 0;
    int different = 0;
    int64_t least = INT64_MAX, most = 0;
    for (int i = 0; i < 2000; i++) {
        int64_t a = fake_step(one);
        CHECK_INT(fake_step(two), a);
        different += fake_step(other) != a;
        CHECK(a >= 9000 && a <= 11000);
        least = a < least ? a : least;
        most = a > most ? a : most;
        sum += (double)a;
    }
    CHECK(different > 1900);
    CHECK(least < 9050 && most > 10950);
    CHECK_NEAR(sum / 2000, 10000, 65); /* five standard errors: 577 / sqrt(2000) = 12.9 ns each */
    fake()->close(one);
    fake()->close(two);
    fake()->close(other);
}

static void test_real_clock(void)
{
    struct assay_session *session = fake_open("clock=real;steady=200us");
    for (int i = 0; i < 20; i++)
        CHECK(fake_step(session) >= 200000);
    fake()->close(session);
}

static void *second_stream(void *context)
{
    struct assay_session *session = context;
    static uint64_t seen_ns[3];
    seen_ns[0] = fake()->now_ns(session);
    for (int i = 1; i < 3; i++) {
        if (fake()->step(session, 1)) return NULL;
        seen_ns[i] = fake()->now_ns(session);
    }
    return seen_ns;
}

/* Each stream has its own clock, which starts when the session is open, whatever the other streams
 * did. */
static void test_stream_clocks(void)
{
    struct assay_session_options options = {
        .size = sizeof options, .streams = 2, .script = "load=1ms;first=5us;steady=2us"};
    struct assay_session *session = NULL;
    pthread_t thread;
    void *seen = NULL;
    CHECK_INT(fake()->open(&options, &session, NULL), 0);
    for (int i = 0; i < 10; i++)
        CHECK_INT(fake()->step(session, 0), 0);
    CHECK_INT(fake()->now_ns(session), 1000000 + 5000 + 9 * 2000);
    CHECK_INT(pthread_create(&thread, NULL, second_stream, session), 0);
    CHECK_INT(pthread_join(thread, &seen), 0);
    CHECK(seen != NULL);
    CHECK_INT(((uint64_t *)seen)[0], 1000000);
    CHECK_INT(((uint64_t *)seen)[1], 1005000);
    CHECK_INT(((uint64_t *)seen)[2], 1007000);
    CHECK_INT(fake()->now_ns(session), 1000000 + 5000 + 9 * 2000);
    fake()->close(session);
}

/* --- fake: what goes wrong -------------------------------------------------------------------- */

/* How a process ends that makes three steps with this script: the signal, or 1000 + exit status. */
static int ending_of(const char *script)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        /* a sanitizer's handler would turn the signal into an exit, the script resets it itself */
        alarm(2);
        struct assay_session *session = fake_open(script);
        for (int i = 0; i < 2; i++)
            if (fake()->step(session, 0)) _exit(100);
        fake()->step(session, 0);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 1000 + WEXITSTATUS(status);
}

static void test_misfortunes(void)
{
    CHECK_INT(ending_of("steady=1us"), 1000);
    CHECK_INT(ending_of("crash_at=3"), SIGSEGV);
    CHECK_INT(ending_of("oom_at=3"), SIGKILL);
    CHECK_INT(ending_of("exit_at=3"), 1003);
    CHECK_INT(ending_of("hang_at=3"), SIGALRM);
    CHECK_INT(ending_of("error_at=1"), 1100);
}

static void test_step_error(void)
{
    struct assay_session *session = fake_open("error_at=2;steady=1us");
    CHECK_INT(fake()->step(session, 0), 0);
    CHECK_INT(fake()->step(session, 0), ASSAY_EENGINE);
    CHECK_STR(fake()->step_error(session), "the script fails step 2");
    CHECK_INT(fake()->now_ns(session), 1000); /* a failed step takes no time */
    CHECK_INT(fake()->step(session, 0), 0);
    fake()->close(session);
}

static char logged[256];

static void log_keep(void *context, enum assay_log_level level, const char *domain,
                     const char *message)
{
    (void)context, (void)level;
    snprintf(logged, sizeof logged, "%s|%s", domain, message);
}

static void test_open_error(void)
{
    struct assay_session_options options = {
        .size = sizeof options, .script = "log=about to fail;open_error=no such kernel"};
    struct assay_session *session = NULL;
    struct assay_error error = {0};
    assay_log_set(log_keep, NULL, ASSAY_LOG_DEBUG);
    CHECK_INT(fake()->open(&options, &session, &error), ASSAY_EENGINE);
    CHECK_STR(error.message, "no such kernel");
    CHECK_STR(logged, "fake|about to fail");
    CHECK(session == NULL);
}

static void test_script_refused(void)
{
    static const char *const scripts[][2] = {
        {"steady", "\"steady\" is not key=value"},    {"stedy=1us", "unknown key \"stedy\""},
        {"steady=fast", "steady cannot be \"fast\""}, {"steady=", "steady cannot be \"\""},
        {"steady=-1us", "steady cannot be"},          {"warmup=5", "warmup cannot be \"5\""},
        {"warmup=0x1us", "warmup cannot be"},         {"crash_at=0", "crash_at cannot be"},
        {"clock=sundial", "clock cannot be"},         {"layers=a", "layers cannot be"},
        {"layers=:1us", "layers cannot be"},          {"hold=-1", "hold cannot be"},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        struct assay_session_options options = {.size = sizeof options, .script = scripts[i][0]};
        struct assay_session *session = NULL;
        struct assay_error error = {0};
        CHECK_INT(fake()->open(&options, &session, &error), ASSAY_EINVAL);
        CHECK_HAS(error.message, scripts[i][1]);
        CHECK(session == NULL);
    }
}

static void test_script_layers(void)
{
    struct assay_session *session = fake_open(
        "layers=conv1:60us:Conv,relu1:30us,x:-;engine=10us;memory=1e6;memory_peak=2e6");
    struct assay_layer_options options = {.size = sizeof options, .method = ASSAY_LAYERS_AUTO};
    struct assay_layer_result result;
    CHECK_INT(fake()->layers(session, &options, &result, NULL), 0);
    CHECK_INT(result.layer_count, 3);
    CHECK_STR(result.method, "scripted");
    CHECK_STR(result.layers[0].name, "conv1");
    CHECK_STR(result.layers[0].op, "Conv");
    CHECK_NEAR(result.layers[0].time_ns, 60000, 0);
    CHECK_INT(result.layers[0].state, ASSAY_MEASURED);
    CHECK_STR(result.layers[0].from[0], "conv1");
    CHECK_STR(result.layers[1].op, "relu1");
    CHECK(isnan(result.layers[2].time_ns));
    CHECK_INT(result.layers[2].state, ASSAY_UNAVAILABLE);
    CHECK_NEAR(result.engine_ns, 10000, 0);
    CHECK(isnan(result.scale_factor) && isnan(result.slowdown));
    double now = 0, peak = 0;
    fake()->memory(session, &now, &peak);
    CHECK_NEAR(now, 1e6, 0);
    CHECK_NEAR(peak, 2e6, 0);
    fake()->close(session);
}

/* --- the table of ONNX Runtime's functions ---------------------------------------------------- */

static const char *stub_version_text;
static uint32_t stub_asked;
static void *stub_slots[512];

static const struct OrtApi *stub_api(uint32_t version)
{
    stub_asked = version;
    return (const struct OrtApi *)(const void *)stub_slots;
}

static const char *stub_version(void)
{
    return stub_version_text;
}

static void test_api_versions(void)
{
    static const struct OrtApiBase base = {stub_api, stub_version};
    struct assay__ort ort;
    struct assay_error error = {0};
    for (size_t i = 0; i < 512; i++)
        stub_slots[i] = (void *)(uintptr_t)(0x1000 + i);

    stub_version_text = "1.12.0"; /* the oldest: what came later is absent, not garbage */
    CHECK_INT(assay__ort_fill(&ort, &base, "stub", &error), 0);
    CHECK_INT(stub_asked, 12);
    CHECK((uintptr_t)ort.append_execution_provider == 0x1000 + 216);
    CHECK(ort.shape_infer_context_get_input_count == NULL);
    CHECK(ort.allocator_get_stats == NULL);
    CHECK(ort.get_build_info_string == NULL);

    stub_version_text = "1.17.3";
    CHECK_INT(assay__ort_fill(&ort, &base, "stub", &error), 0);
    CHECK((uintptr_t)ort.shape_infer_context_get_input_count == 0x1000 + 267);
    CHECK((uintptr_t)ort.append_execution_provider_openvino_v2 == 0x1000 + 275);
    CHECK(ort.get_key_value == NULL);

    stub_version_text =
        "1.31.1"; /* newer than we know: ask for what we know, so that the library prints nothing */
    CHECK_INT(assay__ort_fill(&ort, &base, "stub", &error), 0);
    CHECK_INT(stub_asked, ASSAY__ORT_API_NEWEST);
    CHECK((uintptr_t)ort.run == 0x1000 + 9);
    CHECK((uintptr_t)ort.allocator_get_stats == 0x1000 + 319);

    static const char *const refused[] = {"1.11.9", "2.0.0", "", "1.", "1.x", "1.-3.0", "one"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        stub_version_text = refused[i];
        CHECK_INT(assay__ort_fill(&ort, &base, "stub", &error), ASSAY_EUNSUPPORTED);
        CHECK_HAS(error.message, "stub");
    }
    stub_version_text = NULL;
    CHECK_INT(assay__ort_fill(&ort, &base, "stub", &error), ASSAY_EUNSUPPORTED);
}

static int stub_code(const struct OrtStatus *status)
{
    (void)status;
    return ASSAY__ORT_FAIL;
}

static const char *stub_message(const struct OrtStatus *status)
{
    return (const char *)status;
}

static int stub_released;

static void stub_release(struct OrtStatus *status)
{
    (void)status;
    stub_released++;
}

/* Source positions, signatures and line ends go; what is said stays. */
static void test_messages(void)
{
    static const char *const texts[][2] = {
        {"Load model from a b.onnx failed:Protobuf parsing failed.", "Protobuf parsing failed."},
        {"Message: /src/ops.h:583 void onnxruntime::It::Append(ptrdiff_t, f(int)) axis was false.\n2\n",
         "Message: axis was false. 2"},
        {"matmul_helper.h:59 Compute MatMul dimension mismatch",
         "Compute MatMul dimension mismatch"},
        {"x /a/b.cc:7 onnxruntime::Status onnxruntime::F(int) const [with T = float] no (really)",
         "x no (really)"},
        {"file.hpp: no position, 12:34 none either", "file.hpp: no position, 12:34 none either"},
        {"a.cc:1", ""},
        {"a.cc:1 onnxruntime::f(unclosed", "onnxruntime::f(unclosed"},
        {"", ""},
    };
    struct assay__ort ort = {.get_error_code = stub_code,
                             .get_error_message = stub_message,
                             .release_status = stub_release};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct assay_error error = {0};
        char expected[256];
        snprintf(expected, sizeof expected, "what: %s", texts[i][1]);
        struct OrtStatus *status = (struct OrtStatus *)(uintptr_t)texts[i][0];
        CHECK_INT(assay__ort_check(&ort, status, &error, "what"), ASSAY_EENGINE);
        CHECK_STR(error.message, expected);
        CHECK_INT(stub_released, i + 1);
    }
    CHECK_INT(assay__ort_check(&ort, NULL, NULL, "what"), 0);
}

/* --- finding the library ---------------------------------------------------------------------- */

static void load_refused(const char *library, int code, const char *text)
{
    static struct assay__ort ort;
    struct assay_error error = {0};
    CHECK_INT(assay__ort_load(library, &ort, &error), code);
    CHECK_HAS(error.message, text);
}

static void test_library_refused(void)
{
    load_refused("/no/such/libonnxruntime.so", ASSAY_ENOTFOUND,
                 "no such file: /no/such/libonnxruntime.so");
    load_refused(scratch(""), ASSAY_ENOTFOUND, "no libonnxruntime in the folder");
    FILE *file = fopen(scratch("libonnxruntime.so"), "w");
    CHECK(file && fputs("not a library", file) >= 0 && fclose(file) == 0);
    load_refused(scratch("libonnxruntime.so"), ASSAY_ENOTFOUND, "could not be loaded");
    load_refused(scratch_folder, ASSAY_ENOTFOUND,
                 "could not be loaded"); /* found in the folder, then refused */
    setenv("ASSAY_ORT_LIBRARY", "/no/such/folder/x.so", 1);
    load_refused(NULL, ASSAY_ENOTFOUND, "ASSAY_ORT_LIBRARY: no such file");
}

static void test_library_foreign(void)
{
#ifdef ASSAY_TEST_BUILD
    load_refused(ASSAY_TEST_BUILD "/tests/lib/lib_not_ort.so", ASSAY_EFORMAT,
                 "is not ONNX Runtime");
    load_refused(ASSAY_TEST_BUILD "/tests/lib/lib_old_ort.so", ASSAY_EUNSUPPORTED,
                 "ONNX Runtime 1.9.0 is too old");
#else
    SKIP("not built by the project's build: no fixture libraries");
#endif
}

static int missing_device(void *context, const struct assay_device *device)
{
    CHECK_STR(device->name, "cpu");
    CHECK(!device->available);
    CHECK_HAS(device->reason, "no such file");
    ++*(int *)context;
    return 0;
}

static void test_devices_without_library(void)
{
    int count = 0;
    CHECK_INT(assay_engine_find("ort")->devices("/no/such/lib.so", missing_device, &count, NULL),
              0);
    CHECK_INT(count, 1);
}

/* --- ONNX Runtime itself ---------------------------------------------------------------------- */

/* The table, or a skip with the reason. */
static const struct assay_engine_ops *ort_or_skip(void)
{
    static struct assay__ort ort;
    struct assay_error error = {0};
#ifdef ASSAY_TEST_BUILD
    if (access(ASSAY_TEST_BUILD "/onnxruntime", F_OK) == 0)
        setenv("ASSAY_ORT_LIBRARY", ASSAY_TEST_BUILD "/onnxruntime", 0);
#endif
    if (assay__ort_load(NULL, &ort, &error)) SKIP(error.message);
    return assay_engine_find("ort");
}

static struct assay_session *ort_open(const char *path, const struct assay_tensor *input,
                                      struct assay_error *error)
{
    struct assay_session_options options = {.size = sizeof options,
                                            .model_path = path,
                                            .threads = 1,
                                            .spinning = -1,
                                            .inputs = input,
                                            .input_count = input ? 1 : 0};
    struct assay_session *session = NULL;
    int code = assay_engine_find("ort")->open(&options, &session, error);
    CHECK((code == 0) == (session != NULL));
    return session;
}

static void test_ort_result(void)
{
    const struct assay_engine_ops *ort = ort_or_skip();
    static const int64_t dims[] = {2, 2};
    float data[] = {1, 2, -3, -4};
    struct assay_tensor x = {
        .name = "x", .dtype = 1, .rank = 2, .dims = dims, .data = data, .data_size = sizeof data};
    struct assay_error error = {0};
    const struct assay_tensor *outputs = NULL;
    size_t count = 0;
    tiny_matmul(scratch("m.onnx"));
    struct assay_session *session = ort_open(scratch("m.onnx"), &x, &error);
    CHECK(session != NULL);
    CHECK_INT(ort->step(session, 0), 0);
    CHECK_INT(ort->outputs(session, &outputs, &count, &error), 0);
    CHECK_INT(count, 2);
    CHECK_STR(outputs[0].name, "y");
    CHECK_STR(outputs[1].name, "z");
    CHECK_INT(outputs[0].rank, 2);
    CHECK_INT(outputs[0].dims[0], 2);
    static const float y[] = {7, 10, -15, -22}, z[] = {7, 10, 0, 0};
    CHECK_INT(outputs[0].data_size, sizeof y);
    CHECK(memcmp(outputs[0].data, y, sizeof y) == 0);
    CHECK(memcmp(outputs[1].data, z, sizeof z) == 0);
    data[0] = 2; /* the input lies over the caller's memory */
    CHECK_INT(ort->step(session, 0), 0);
    CHECK_INT(ort->outputs(session, &outputs, &count, &error), 0);
    CHECK_NEAR(((const float *)outputs[0].data)[0], 8, 0);
    ort->close(session);
}

static void test_ort_facts(void)
{
    const struct assay_engine_ops *ort = ort_or_skip();
    static const int64_t dims[] = {1, 2};
    float data[] = {1, 2};
    struct assay_tensor x = {
        .name = "x", .dtype = 1, .rank = 2, .dims = dims, .data = data, .data_size = sizeof data};
    struct assay_error error = {0};
    tiny_matmul(scratch("m.onnx"));
    setenv("TMPDIR", scratch_folder,
           1); /* the profile of the creation goes there, and must be gone after */
    struct assay_session *session = ort_open(scratch("m.onnx"), &x, &error);
    CHECK(session != NULL);
    struct assay_session_facts facts;
    ort->facts(session, &facts);
    CHECK_STR(facts.provider, "CPUExecutionProvider");
    CHECK(strncmp(facts.version, "1.", 2) == 0);
    CHECK_HAS(facts.library, "onnxruntime");
    CHECK_STR(facts.load_reason, "");
    CHECK(facts.load_ns > 0 && facts.compile_ns > 0);
    CHECK(facts.load_ns + facts.compile_ns <= facts.create_ns);
    CHECK_INT(ort->step(session, 0), 0);
    double now = 0, peak = 0;
    ort->memory(session, &now, &peak);
    CHECK(isnan(now) ||
          (now >= 16 && now < 1e7)); /* at least the weights, or unknown in old versions */
    CHECK(isnan(peak) == isnan(now));
    ort->close(session);
    char command[700];
    snprintf(command, sizeof command, "%s/create", scratch_folder);
    CHECK(!assay__file_exists(command));
    struct stat info;
    CHECK_INT(stat(scratch_folder, &info), 0);
    CHECK_INT(info.st_nlink, 2); /* no folder was left in it */
}

/* Identity on every type the library takes; the bytes come back. Unknown and too short inputs are
 * refused. */
static void test_ort_types(void)
{
    const struct assay_engine_ops *ort = ort_or_skip();
    static const int types[] = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16};
    static const int64_t dims[] = {2, 3};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        unsigned char data[6 * 16];
        for (size_t k = 0; k < sizeof data; k++)
            data[k] = types[i] == 9 ? k % 2 : (unsigned char)(k + 1);
        size_t size = 6 * assay__ort_dtype_bits(types[i]) / 8;
        struct assay_tensor x = {.name = "x",
                                 .dtype = types[i],
                                 .rank = 2,
                                 .dims = dims,
                                 .data = data,
                                 .data_size = size};
        struct assay_error error = {0};
        const struct assay_tensor *y = NULL;
        size_t count = 0;
        tiny_unary(scratch("t.onnx"), "Identity", types[i], 2, dims);
        struct assay_session *session = ort_open(scratch("t.onnx"), &x, &error);
        if (!session) printf("  type %d: %s\n", types[i], error.message);
        CHECK(session != NULL);
        CHECK_INT(ort->step(session, 0), 0);
        CHECK_INT(ort->outputs(session, &y, &count, &error), 0);
        CHECK_INT(y->dtype, types[i]);
        CHECK_INT(y->data_size, size);
        CHECK(memcmp(y->data, data, size) == 0);
        ort->close(session);
        x.data_size--;
        CHECK(ort_open(scratch("t.onnx"), &x, &error) == NULL);
        CHECK_HAS(error.message, "do not fit");
    }
}

static void test_ort_strings(void)
{
    const struct assay_engine_ops *ort = ort_or_skip();
    static const int64_t dims[] = {3};
    static const char *const words[] = {"alpha", "", "gr\xc3\xbc\xc3\x9f"};
    struct assay_tensor x = {
        .name = "x", .dtype = 8, .rank = 1, .dims = dims, .strings = words, .string_count = 3};
    struct assay_error error = {0};
    const struct assay_tensor *y = NULL;
    size_t count = 0;
    tiny_unary(scratch("s.onnx"), "Identity", 8, 1, dims);
    struct assay_session *session = ort_open(scratch("s.onnx"), &x, &error);
    CHECK(session != NULL);
    CHECK_INT(ort->step(session, 0), 0);
    CHECK_INT(ort->outputs(session, &y, &count, &error), 0);
    CHECK_INT(y->string_count, 3);
    for (int i = 0; i < 3; i++)
        CHECK_STR(y->strings[i], words[i]);
    CHECK(y->data == NULL);
    ort->close(session);
    x.string_count = 2;
    CHECK(ort_open(scratch("s.onnx"), &x, &error) == NULL);
    CHECK_HAS(error.message, "2 strings for a shape of 3");
}

static void test_ort_no_elements(void)
{
    const struct assay_engine_ops *ort = ort_or_skip();
    static const int64_t dims[] = {0, 2};
    struct assay_tensor x = {.name = "x", .dtype = 1, .rank = 2, .dims = dims};
    struct assay_error error = {0};
    const struct assay_tensor *y = NULL;
    size_t count = 0;
    tiny_matmul(scratch("m.onnx"));
    struct assay_session *session = ort_open(scratch("m.onnx"), &x, &error);
    CHECK(session != NULL);
    CHECK_INT(ort->step(session, 0), 0);
    CHECK_INT(ort->outputs(session, &y, &count, &error), 0);
    CHECK_INT(y->dims[0], 0);
    CHECK_INT(y->data_size, 0);
    ort->close(session);
}

/* ONNX's and ONNX Runtime's numbers of the newest types are a permutation of each other. */
static void test_ort_type_numbers(void)
{
    for (int i = 0; i <= 26; i++)
        CHECK_INT(assay__ort_dtype_of(assay__ort_element_of(i)), i);
    CHECK_INT(assay__ort_element_of(23), 23);
    CHECK_INT(assay__ort_element_of(24), 26);
    CHECK_INT(assay__ort_dtype_bits(25), 2);
    CHECK_INT(assay__ort_dtype_bits(22), 4);
    CHECK_INT(assay__ort_dtype_bits(15), 128);
    CHECK_INT(assay__ort_dtype_bits(8), 0);
    CHECK_INT(assay__ort_dtype_bits(27), 0);
    CHECK_INT(assay__ort_dtype_bits(-1), 0);
}

/* One clear line that names what is wrong. */
static void refused(const char *path, const struct assay_tensor *input, const char *first,
                    const char *second)
{
    struct assay_error error = {0};
    CHECK(ort_open(path, input, &error) == NULL);
    CHECK_HAS(error.message, first);
    CHECK_HAS(error.message, second);
    CHECK(strchr(error.message, '\n') == NULL);
    CHECK(strstr(error.message, ".cc:") == NULL); /* no source positions */
}

static void test_ort_bad_models(void)
{
    ort_or_skip();
    static const int64_t dims[] = {1, 2};
    float data[] = {1, 2};
    struct assay_tensor x = {
        .name = "x", .dtype = 1, .rank = 2, .dims = dims, .data = data, .data_size = sizeof data};
    refused(scratch("missing.onnx"), &x, "missing.onnx", "o such file");
    tiny_unary(scratch("u.onnx"), "Frobnicate", 1, 2, dims);
    refused(scratch("u.onnx"), &x, "u.onnx", "Frobnicate");
    FILE *file = fopen(scratch("text.onnx"), "w");
    CHECK(file && fputs("hello, this is no model", file) >= 0 && fclose(file) == 0);
    refused(scratch("text.onnx"), &x, "text.onnx", "rotobuf");
    tiny_matmul(scratch("m.onnx"));
    refused(scratch("m.onnx"), NULL, "input \"x\" was not given", "x");
    x.dtype = 99;
    refused(scratch("m.onnx"), &x, "\"x\"", "99");
    struct assay_session_options options = {
        .size = sizeof options, .model_path = scratch("m.onnx"), .optimization = "most"};
    struct assay_session *session = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay_engine_find("ort")->open(&options, &session, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "none, basic, extended or all");
}

static void step_refused(const struct assay_tensor *x, const char *text)
{
    const struct assay_engine_ops *ort = assay_engine_find("ort");
    struct assay_error error = {0};
    struct assay_session *session = ort_open(scratch("m.onnx"), x, &error);
    CHECK(session != NULL);
    CHECK(ort->step(session, 0) < 0);
    CHECK_HAS(ort->step_error(session), text);
    CHECK(strchr(ort->step_error(session), '\n') == NULL);
    ort->close(session);
}

static void test_ort_bad_inputs(void)
{
    ort_or_skip();
    static const int64_t four[] = {1, 4}, two[] = {1, 2};
    float data[4] = {1, 2, 3, 4};
    struct assay_tensor x = {
        .name = "x", .dtype = 1, .rank = 2, .dims = four, .data = data, .data_size = 16};
    tiny_matmul(scratch("m.onnx"));
    step_refused(&x, "Got: 4 Expected: 2");
    x.dims = two;
    x.dtype = 6;
    x.data_size = 8;
    step_refused(&x, "tensor(int32)");
}

static void test_ort_missing_provider(void)
{
    const struct assay_engine_ops *ort = ort_or_skip();
    tiny_matmul(scratch("m.onnx"));
    static const char *const devices[] = {"migraphx:0", "vitisai",
                                          "qnn"}; /* no package for this system has these */
    for (size_t i = 0; i < 3; i++) {
        struct assay_session_options options = {
            .size = sizeof options, .model_path = scratch("m.onnx"), .device = devices[i]};
        struct assay_session *session = NULL;
        struct assay_error error = {0};
        CHECK_INT(ort->open(&options, &session, &error), ASSAY_EUNSUPPORTED);
        CHECK_HAS(error.message, devices[i]);
        CHECK_HAS(error.message, "it offers: cpu");
    }
}

static void test_device_names(void)
{
    CHECK_STR(assay__ort_provider("cpu"), "CPUExecutionProvider");
    CHECK_STR(assay__ort_provider("cuda:3"), "CUDAExecutionProvider");
    CHECK_STR(assay__ort_provider("cuda"), "CUDAExecutionProvider");
    CHECK_STR(assay__ort_provider("openvino:npu"), "OpenVINOExecutionProvider");
    CHECK_STR(assay__ort_provider("coreml:ane"), "CoreMLExecutionProvider");
    CHECK_STR(assay__ort_provider("tensorrt-rtx:1"), "NvTensorRTRTXExecutionProvider");
    CHECK_STR(assay__ort_provider("webgpu:0"), "WebGpuExecutionProvider");
    static const char *const unknown[] = {"",        "cp",         "cpu:0",    "cpux",
                                          "cuda:",   "cuda:x",     "cuda:-1",  "cuda:+1",
                                          "cuda:1x", "cuda:99999", "webgpu:1", "openvino:tpu"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        CHECK(assay__ort_provider(unknown[i]) == NULL);
}

static int count_devices(void *context, const struct assay_device *device)
{
    int *counts = context;
    counts[0]++;
    counts[1] += device->available;
    if (strcmp(device->name, "cpu") == 0) CHECK(device->available);
    if (strcmp(device->name, "migraphx:0") == 0)
        CHECK_STR(device->reason, "this ONNX Runtime build has no MIGraphX provider");
    CHECK_HAS(device->library, "onnxruntime");
    return 0;
}

static void test_ort_devices(void)
{
    int counts[2] = {0, 0};
    CHECK_INT(ort_or_skip()->devices(NULL, count_devices, counts, NULL), 0);
    CHECK(counts[0] >= 10); /* known devices that are not here are named too */
    CHECK(counts[1] >= 1);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"registry", test_registry},
        {"script_times", test_script_times},
        {"script_defaults", test_script_defaults},
        {"script_drift", test_script_drift},
        {"script_noise", test_script_noise},
        {"real_clock", test_real_clock},
        {"stream_clocks", test_stream_clocks},
        {"misfortunes", test_misfortunes},
        {"step_error", test_step_error},
        {"open_error", test_open_error},
        {"script_refused", test_script_refused},
        {"script_layers", test_script_layers},
        {"api_versions", test_api_versions},
        {"messages", test_messages},
        {"library_refused", test_library_refused},
        {"library_foreign", test_library_foreign},
        {"devices_without_library", test_devices_without_library},
        {"device_names", test_device_names},
        {"ort_type_numbers", test_ort_type_numbers},
        {"ort_result", test_ort_result},
        {"ort_facts", test_ort_facts},
        {"ort_types", test_ort_types},
        {"ort_strings", test_ort_strings},
        {"ort_no_elements", test_ort_no_elements},
        {"ort_bad_models", test_ort_bad_models},
        {"ort_bad_inputs", test_ort_bad_inputs},
        {"ort_missing_provider", test_ort_missing_provider},
        {"ort_devices", test_ort_devices},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
