/* test_engine.c - the registry of engines; ONNX Runtime's table of functions, its messages, and
 * finding and refusing its library. The fake engine is in test_fake.c, ONNX Runtime's own behaviour
 * in test_ort.c. */
#include "conform/tiny_onnx.h"
#include "unit/scratch.h"

#include "engine/ort/ort_session.h"

#include "engine/engine.h"

/* --- registry --------------------------------------------------------------------------------- */

static void test_registry(void)
{
    CHECK_STR(assay__engine_at(0)->name, "ort");
    CHECK_STR(assay__engine_at(1)->name, "fake");
    CHECK(assay__engine_at(2) == NULL);
    CHECK(assay__engine_find("ort") == assay__engine_at(0));
    CHECK(assay__engine_find("or") == NULL);
    CHECK(assay__engine_find("") == NULL);
    CHECK(assay__engine_find(NULL) == NULL);
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
        {"Message: /src/ops.h:583 void onnxruntime::It::Append(ptrdiff_t, f(int)) axis was "
         "false.\n2\n",
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

static int missing_device(void *context, const struct assay__device *device)
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
    CHECK_INT(
        assay__engine_find("ort")->devices("/no/such/lib.so", NULL, missing_device, &count, NULL),
        0);
    CHECK_INT(count, 1);
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

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"registry", test_registry},
        {"api_versions", test_api_versions},
        {"messages", test_messages},
        {"library_refused", test_library_refused},
        {"library_foreign", test_library_foreign},
        {"devices_without_library", test_devices_without_library},
        {"device_names", test_device_names},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
