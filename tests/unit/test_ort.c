/* test_ort.c - ONNX Runtime's own behaviour: every tensor type, strings, error texts, facts,
 * devices. Skipped where the library is not. What every engine must do is in conform_engine.c. */
#include "conform/tiny_onnx.h"
#include "unit/model_fixture.h"
#include "unit/scratch.h"

#include "engine/ort/ort_session.h"

#include "engine/engine.h"
#include <assay/log.h>

#include <sys/stat.h>

/* The table, or a skip with the reason. */
static const struct assay__engine_ops *ort_or_skip(void)
{
    static struct assay__ort ort;
    struct assay_error error = {0};
#ifdef ASSAY_TEST_BUILD
    if (access(ASSAY_TEST_BUILD "/onnxruntime", F_OK) == 0)
        setenv("ASSAY_ORT_LIBRARY", ASSAY_TEST_BUILD "/onnxruntime", 0);
#endif
    if (assay__ort_load(NULL, &ort, &error)) SKIP(error.message);
    return assay__engine_find("ort");
}

static struct assay__session *ort_open(const char *path, const struct assay__host_tensor *input,
                                       struct assay_error *error)
{
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = path,
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = input,
                                             .input_count = input ? 1 : 0};
    struct assay__session *session = NULL;
    int code = assay__engine_find("ort")->open(&options, &session, error);
    CHECK((code == 0) == (session != NULL));
    return session;
}

static void test_ort_result(void)
{
    const struct assay__engine_ops *ort = ort_or_skip();
    static const int64_t dims[] = {2, 2};
    float data[] = {1, 2, -3, -4};
    struct assay__host_tensor x = {
        .name = "x", .dtype = 1, .rank = 2, .dims = dims, .data = data, .data_size = sizeof data};
    struct assay_error error = {0};
    const struct assay__host_tensor *outputs = NULL;
    size_t count = 0;
    tiny_matmul(scratch("m.onnx"));
    struct assay__session *session = ort_open(scratch("m.onnx"), &x, &error);
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
    const struct assay__engine_ops *ort = ort_or_skip();
    static const int64_t dims[] = {1, 2};
    float data[] = {1, 2};
    struct assay__host_tensor x = {
        .name = "x", .dtype = 1, .rank = 2, .dims = dims, .data = data, .data_size = sizeof data};
    struct assay_error error = {0};
    tiny_matmul(scratch("m.onnx"));
    setenv("TMPDIR", scratch_folder,
           1); /* the profile of the creation goes there, and must be gone after */
    struct assay__session *session = ort_open(scratch("m.onnx"), &x, &error);
    CHECK(session != NULL);
    struct assay__session_facts facts;
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
    const struct assay__engine_ops *ort = ort_or_skip();
    static const int types[] = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16};
    static const int64_t dims[] = {2, 3};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        unsigned char data[6 * 16];
        for (size_t k = 0; k < sizeof data; k++)
            data[k] = types[i] == 9 ? k % 2 : (unsigned char)(k + 1);
        size_t size = 6 * assay__ort_dtype_bits(types[i]) / 8;
        struct assay__host_tensor x = {.name = "x",
                                       .dtype = types[i],
                                       .rank = 2,
                                       .dims = dims,
                                       .data = data,
                                       .data_size = size};
        struct assay_error error = {0};
        const struct assay__host_tensor *y = NULL;
        size_t count = 0;
        tiny_unary(scratch("t.onnx"), "Identity", types[i], 2, dims);
        struct assay__session *session = ort_open(scratch("t.onnx"), &x, &error);
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
        CHECK_HAS(error.message, "do not match");
    }
}

static void test_ort_strings(void)
{
    const struct assay__engine_ops *ort = ort_or_skip();
    static const int64_t dims[] = {3};
    static const char *const words[] = {"alpha", "", "gr\xc3\xbc\xc3\x9f"};
    struct assay__host_tensor x = {
        .name = "x", .dtype = 8, .rank = 1, .dims = dims, .strings = words, .string_count = 3};
    struct assay_error error = {0};
    const struct assay__host_tensor *y = NULL;
    size_t count = 0;
    tiny_unary(scratch("s.onnx"), "Identity", 8, 1, dims);
    struct assay__session *session = ort_open(scratch("s.onnx"), &x, &error);
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
    const struct assay__engine_ops *ort = ort_or_skip();
    static const int64_t dims[] = {0, 2};
    struct assay__host_tensor x = {.name = "x", .dtype = 1, .rank = 2, .dims = dims};
    struct assay_error error = {0};
    const struct assay__host_tensor *y = NULL;
    size_t count = 0;
    tiny_matmul(scratch("m.onnx"));
    struct assay__session *session = ort_open(scratch("m.onnx"), &x, &error);
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
static void refused(const char *path, const struct assay__host_tensor *input, const char *first,
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
    struct assay__host_tensor x = {
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
    struct assay__session_options options = {
        .size = sizeof options, .model_path = scratch("m.onnx"), .optimization = "most"};
    struct assay__session *session = NULL;
    struct assay_error error = {0};
    CHECK_INT(assay__engine_find("ort")->open(&options, &session, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "none, basic, extended or all");
}

static void step_refused(const struct assay__host_tensor *x, const char *text)
{
    const struct assay__engine_ops *ort = assay__engine_find("ort");
    struct assay_error error = {0};
    struct assay__session *session = ort_open(scratch("m.onnx"), x, &error);
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
    struct assay__host_tensor x = {
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
    const struct assay__engine_ops *ort = ort_or_skip();
    tiny_matmul(scratch("m.onnx"));
    static const char *const devices[] = {"migraphx:0", "vitisai",
                                          "qnn"}; /* no package for this system has these */
    for (size_t i = 0; i < 3; i++) {
        struct assay__session_options options = {
            .size = sizeof options, .model_path = scratch("m.onnx"), .device = devices[i]};
        struct assay__session *session = NULL;
        struct assay_error error = {0};
        CHECK_INT(ort->open(&options, &session, &error), ASSAY_EUNSUPPORTED);
        CHECK_HAS(error.message, devices[i]);
        CHECK_HAS(error.message, "it has: cpu");
    }
}

static int count_devices(void *context, const struct assay__device *device)
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
    CHECK_INT(ort_or_skip()->devices(NULL, NULL, count_devices, counts, NULL), 0);
    CHECK(counts[0] >= 10); /* known devices that are not here are named too */
    CHECK(counts[1] >= 1);
}

static void count_line(void *context, enum assay_log_level level, const char *domain,
                       const char *message)
{
    (void)level, (void)domain, (void)message;
    ++*(size_t *)context;
}

/* A file that states a wrong shape for an output makes the library warn in every inference: that
 * would be measured. */
static void test_ort_says_nothing_in_runs(void)
{
    const struct assay__engine_ops *ort = ort_or_skip();
    static const int64_t dims[] = {2, 4};
    static const struct assay__dim wrong[] = {{7, ""}, {4, ""}};
    float data[8] = {0};
    struct assay__host_tensor x = {
        .name = "x", .dtype = 1, .rank = 2, .dims = dims, .data = data, .data_size = sizeof data};
    struct assay_error error = {0};
    size_t lines = 0;
    struct assay__model *model = fixture_x("batch,4");
    fixture_node(model, "Relu x -> y");
    CHECK_INT(assay__graph_add_value(model, &model->graph.outputs, &model->graph.output_count, "y",
                                     ASSAY__FLOAT32, 2, wrong),
              0);
    CHECK_INT(assay__model_write(model, scratch("warns.onnx"), &error), 0);
    assay__model_free(model);
    assay_log_set(count_line, &lines, ASSAY_LOG_DEBUG);
    struct assay__session *session = ort_open(scratch("warns.onnx"), &x, &error);
    CHECK(session != NULL);
    lines = 0;
    for (int i = 0; i < 5; i++)
        CHECK_INT(ort->step(session, 0), 0);
    CHECK_INT(lines, 0);
    ort->close(session);
    assay_log_set(NULL, NULL, ASSAY_LOG_ERROR);
}

static void test_ort_drop_option(void)
{
    static const char *const cases[][2] = {
        {"", ""},
        {"graph=1", ""},
        {"a=1;graph=1;b=2", "a=1;b=2"},
        {"graph=1;graph=0;b=2", "b=2"},
        {"a=graph;graphs=1;graph", "a=graph;graphs=1;graph"},
        {"b=2;graph=1", "b=2;"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i][0]);
        assay__ort_drop_option(text, "graph");
        CHECK_STR(text, cases[i][1]);
    }
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
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
        {"ort_drop_option", test_ort_drop_option},
        {"ort_says_nothing_in_runs", test_ort_says_nothing_in_runs},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
