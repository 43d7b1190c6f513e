/* test_import_ort.c - ONNX Runtime's profile: nodes, kernels, runs, and what is wrong with it. */
#include "import_fixture.h"

static void test_fixture(void)
{
    struct assay__events *events = import_path(TRACE_FIXTURES "ort.json");
    CHECK_INT(events->source_count, 1);
    CHECK_STR(events->sources[0].format, "ort");
    CHECK_STR(events->sources[0].producer, "ONNX Runtime");
    CHECK_STR(events->sources[0].clock, ASSAY__IMPORT_CLOCK_OWN);
    CHECK_INT(events->sources[0].skipped, 0);
    CHECK_INT(events_of(events, ASSAY__EVENT_RANGE), 3);
    size_t conv = event_named(events, "conv1");
    CHECK_INT(events->kind[conv], ASSAY__EVENT_OPERATOR);
    CHECK_INT(events->start_ns[conv], 105000);
    CHECK_INT(events->duration_ns[conv], 40000);
    const struct assay__event_args *args = assay__event_args(events, conv);
    CHECK_STR(args->operator_type, "Conv");
    CHECK_STR(args->provider, "CUDAExecutionProvider");
    CHECK_STR(args->shapes, "[{\"float\":[1,3,8,8]},{\"float\":[4,3,3,3]}]");
    CHECK_INT(track_at(events, conv)->kind, ASSAY__TRACK_THREAD);
    CHECK_INT(track_at(events, conv)->tid, 12);
    CHECK_INT(events->kind[event_named(events, "conv1_fence_before")], ASSAY__EVENT_CPU);
    assay__events_free(events);
}

static void test_fixture_device(void)
{
    struct assay__events *events = import_path(TRACE_FIXTURES "ort.json");
    size_t kernel = event_named(events, "implicit_gemm");
    CHECK_INT(events->kind[kernel], ASSAY__EVENT_KERNEL);
    CHECK_INT(track_at(events, kernel)->kind, ASSAY__TRACK_STREAM);
    CHECK_INT(track_at(events, kernel)->device, 0);
    CHECK_INT(track_at(events, kernel)->stream, 7);
    CHECK_INT(assay__event_args(events, kernel)->grid[0], 16);
    CHECK_INT(assay__event_args(events, kernel)->block[0], 256);
    CHECK_STR(assay__event_args(events, kernel)->operator_type, "Conv");
    size_t shader = event_named(events, "relu1&Relu");
    CHECK_INT(events->kind[shader], ASSAY__EVENT_KERNEL);
    CHECK_INT(track_at(events, shader)->kind, ASSAY__TRACK_STREAM);
    assay__events_free(events);
}

static void test_bad(void)
{
    struct assay__events *events = import_text(
        "[{\"cat\":\"Session\",\"pid\":1,\"tid\":1,\"dur\":5,\"ts\":1,\"ph\":\"X\",\"name\":"
        "\"model_run\","
        "\"args\":{}},"
        "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":-5,\"ts\":1,\"ph\":\"X\",\"name\":\"a_"
        "kernel_time\"},"
        "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":5,\"ph\":\"X\",\"name\":\"b_kernel_time\"},"
        "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":5,\"ts\":3,\"ph\":\"B\",\"name\":\"c_kernel_"
        "time\"},"
        "{\"cat\":\"Node\",\"pid\":1,\"tid\":1,\"dur\":5,\"ts\":3,\"ph\":\"X\",\"name\":\"d_kernel_"
        "t");
    CHECK_INT(events->count, 1);
    CHECK_INT(events->sources[0].skipped, 4);
    CHECK(events->sources[0].truncated);
    assay__events_free(events);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"fixture", test_fixture},
        {"fixture_device", test_fixture_device},
        {"bad", test_bad},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
