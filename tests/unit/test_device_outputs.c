/* test_device_outputs.c - a device computes what the CPU provider of the default build computes:
 * the same model, the same inputs, each in a worker of its own. Without more it compares that
 * device with itself, bit by bit; tests/oracle/live_devices.sh names others:
 *
 *   ASSAY_TEST_DEVICES   names, separated by blanks ("ovn/openvino:cpu wgpu/webgpu:0")
 *   ASSAY_TEST_MODELS    ONNX files, separated by blanks
 *   ASSAY_TEST_DRIFT     the largest ||c - r|| / ||r|| that is allowed; 0: none */
#include "scratch.h"

#include "engine/ort/ort_abi.h"
#include "model/graph.h"
#include "run/builds.h"
#include "run/child.h"
#include "run/single_run.h"
#include "zoo/model_open.h"
#include "zoo/zoo.h"

static struct assay__single_run work;
static struct assay_error error;

static void check(int code)
{
    if (code) harness_fail(__FILE__, __LINE__, error.message);
}

/* The outputs of the model on the device, into a folder of that name. */
static struct assay__output *outputs_on(const char *model, const char *device, const char *what,
                                        size_t *count)
{
    struct assay__output *outputs = NULL;
    const char *library = getenv("ASSAY_ORT_LIBRARY"), *own = NULL;
    if (strchr(device, '/')) library = NULL;
    check(assay__build_of_run(work.arena, "ort", device, &library, &own, &error));
    struct assay__drift_options options = {.device = own, .library = library};
    work.options = &options;
    check(assay__single_run_run(&work, model, what, &outputs, count, &error));
    work.options = NULL;
    return outputs;
}

static void compare(const char *model, const char *device, double most)
{
    size_t reference_count = 0, count = 0;
    struct assay__model *read = NULL;
    struct assay__workload_options plan = {.batch = 1, .seed = 7};
    memset(&work, 0, sizeof work);
    work.arena = assay__arena_new();
    check(assay__worker_locate(work.worker, sizeof work.worker, &error));
    check(assay__folder_temporary(work.folder, sizeof work.folder, &error));
    check(assay__model_open(model, &read, NULL, &error));
    check(assay__workload_plan(read, &plan, &work.workload, &error));
    struct assay__output *r = outputs_on(model, "cpu", "reference", &reference_count),
                         *c = outputs_on(model, device, "candidate", &count);
    CHECK(count > 0);
    CHECK_INT(count, reference_count);
    for (size_t i = 0; i < count; i++) {
        double *numbers[2] = {NULL, NULL};
        int64_t elements[2] = {0, 0};
        struct assay__drift_output drift = {0};
        check(assay__single_run_numbers(&r[i], &numbers[0], &elements[0], &error));
        check(assay__single_run_numbers(&c[i], &numbers[1], &elements[1], &error));
        CHECK(elements[0] > 0);
        CHECK_INT(elements[1], elements[0]);
        drift.elements = elements[0];
        assay__drift_compare(numbers[0], numbers[1], r[i].rank, r[i].dims, true, work.arena,
                             &drift);
        printf("  %s on %s, output %s: %lld numbers, relative L2 distance %.3g\n", model, device,
               r[i].name, (long long)elements[0], drift.relative_l2);
        CHECK_INT(drift.broken, 0);
        CHECK(drift.relative_l2 <= most);
        free(numbers[0]);
        free(numbers[1]);
    }
    assay__workload_free(work.workload);
    assay__model_free(read);
    assay__folder_remove(work.folder);
    assay__arena_free(work.arena);
}

static void test_outputs(void)
{
    const char *devices = getenv("ASSAY_TEST_DEVICES"), *models = getenv("ASSAY_TEST_MODELS"),
               *most = getenv("ASSAY_TEST_DRIFT");
    char device_list[512], model_list[2048], *left = NULL;
    static struct assay__ort ort;
    if (access(ASSAY_TEST_BUILD "/onnxruntime", F_OK) == 0)
        setenv("ASSAY_ORT_LIBRARY", ASSAY_TEST_BUILD "/onnxruntime", 0);
    if (assay__ort_load(NULL, &ort, &error)) SKIP(error.message);
    if (!models) {
        struct assay__model *built = NULL;
        check(assay__zoo_build("cfc:units=16,outputs=4,batch=1", &built, &error));
        check(assay__model_write(built, scratch("model.onnx"), &error));
        assay__model_free(built);
    }
    snprintf(model_list, sizeof model_list, "%s", models ? models : scratch("model.onnx"));
    for (char *model = strtok_r(model_list, " ", &left); model;
         model = strtok_r(NULL, " ", &left)) {
        char *rest = NULL;
        snprintf(device_list, sizeof device_list, "%s", devices ? devices : "cpu");
        for (char *device = strtok_r(device_list, " ", &rest); device;
             device = strtok_r(NULL, " ", &rest))
            compare(model, device, most ? strtod(most, NULL) : 0);
    }
}

int main(int argc, char **argv)
{
    setenv("ASSAY_WORKER", ASSAY_TEST_BUILD "/assay-worker", 0);
    static const struct harness_test tests[] = {{"outputs", test_outputs}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
