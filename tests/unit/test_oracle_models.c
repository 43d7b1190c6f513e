/* test_oracle_models.c - the models of tests/fixtures/models (CfC and LTC steps of ncps, a
 * transformer encoder of torch, written by tests/oracle/make_ncps.py) run through our ONNX Runtime
 * engine on their own inputs and must give what PyTorch gave. Tolerance: |a - b| <= 1e-5, the one
 * the export was accepted with. Checked with graph optimisation off and full. */
#include "harness.h"

#include "base/file.h"
#include "model/inputs/npy.h"

#include "engine/engine.h"
#include <glob.h>

#define TOLERANCE 1e-5
#define TENSOR_LIMIT 4

struct array {
    char name[64];
    struct assay__mapping file;
    struct assay__npy npy;
};

/* The arrays <kind>_0_<name>.npy, <kind>_1_<name>.npy, … of a model, in order. */
static size_t read_arrays(const char *model, const char *kind, struct array *arrays)
{
    size_t count = 0;
    for (; count < TENSOR_LIMIT; count++) {
        char pattern[1024];
        glob_t found;
        struct assay_error error = {0};
        struct array *array = &arrays[count];
        snprintf(pattern, sizeof pattern, "%s/tests/fixtures/models/%s/%s_%zu_*.npy",
                 ASSAY_TEST_ROOT, model, kind, count);
        if (glob(pattern, 0, NULL, &found) != 0) break;
        const char *path = found.gl_pathv[0];
        size_t prefix = strlen(pattern) - strlen("*.npy");
        snprintf(array->name, sizeof array->name, "%.*s", (int)(strlen(path) - prefix - 4),
                 path + prefix);
        CHECK_INT(assay__file_map(path, &array->file, &error), 0);
        CHECK_INT(assay__npy_parse(array->file.data, array->file.size, &array->npy, &error), 0);
        CHECK_INT(array->npy.dtype, ASSAY__FLOAT32);
        globfree(&found);
    }
    return count;
}

static void free_arrays(struct array *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assay__file_unmap(&arrays[i].file);
}

static float float_at(const void *data, size_t index)
{
    float value;
    memcpy(&value, (const char *)data + index * sizeof value, sizeof value);
    return value;
}

/* The output of that name must have the expected shape and values. */
static double compare(const struct assay__host_tensor *outputs, size_t output_count,
                      const struct array *expected)
{
    double worst = 0;
    const struct assay__host_tensor *output = NULL;
    for (size_t i = 0; i < output_count; i++)
        if (strcmp(outputs[i].name, expected->name) == 0) output = &outputs[i];
    CHECK(output != NULL);
    CHECK_INT(output->rank, expected->npy.rank);
    for (int i = 0; i < output->rank; i++)
        CHECK_INT(output->dims[i], expected->npy.dims[i]);
    CHECK_INT(output->data_size, expected->npy.data_size);
    size_t count = expected->npy.data_size / sizeof(float);
    CHECK(count > 0);
    for (size_t i = 0; i < count; i++) {
        double difference = fabs((double)float_at(output->data, i) -
                                 (double)float_at(expected->npy.data, i));
        CHECK(difference <= TOLERANCE); /* NaN fails */
        if (difference > worst) worst = difference;
    }
    return worst;
}

static void run_model(const char *model, const char *optimization,
                      const struct assay__host_tensor *inputs, size_t input_count,
                      const struct array *expected, size_t expected_count)
{
    char path[1024];
    struct assay_error error = {0};
    struct assay__session *session = NULL;
    const struct assay__host_tensor *outputs = NULL;
    size_t output_count = 0;
    const struct assay__engine_ops *ops = assay__engine_find("ort");
    CHECK(ops != NULL);
    snprintf(path, sizeof path, "%s/tests/fixtures/models/%s/model.onnx", ASSAY_TEST_ROOT, model);
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = path,
                                             .device = "cpu",
                                             .optimization = optimization,
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = inputs,
                                             .input_count = input_count};
    int code = ops->open(&options, &session, &error);
    if (code == ASSAY_ENOTFOUND) SKIP(error.message);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    CHECK_INT(ops->step(session, 0), 0);
    CHECK_INT(ops->step(session, 0),
              0); /* a step leaves its inputs alone: the second gives the same */
    CHECK_INT(ops->outputs(session, &outputs, &output_count, &error), 0);
    CHECK_INT(output_count, expected_count);
    double worst = 0;
    for (size_t i = 0; i < expected_count; i++)
        worst = fmax(worst, compare(outputs, output_count, &expected[i]));
    printf("  %s, optimisation %s: largest difference %.2g\n", model, optimization, worst);
    ops->close(session);
}

static void check_model(const char *model, size_t input_count, size_t output_count)
{
    struct array inputs[TENSOR_LIMIT], expected[TENSOR_LIMIT];
    struct assay__host_tensor tensors[TENSOR_LIMIT];
    CHECK_INT(read_arrays(model, "input", inputs), input_count);
    CHECK_INT(read_arrays(model, "output", expected), output_count);
    float *copies[TENSOR_LIMIT] = {0};
    for (size_t i = 0; i < input_count; i++) {
        const struct assay__npy *npy = &inputs[i].npy;
        copies[i] = malloc(npy->data_size);
        CHECK(copies[i] != NULL);
        memcpy(copies[i], npy->data, npy->data_size);
        tensors[i] = (struct assay__host_tensor){.name = inputs[i].name,
                                                 .dtype = npy->dtype,
                                                 .rank = npy->rank,
                                                 .dims = npy->dims,
                                                 .data = copies[i],
                                                 .data_size = npy->data_size};
    }
    run_model(model, "none", tensors, input_count, expected, output_count);
    run_model(model, "all", tensors, input_count, expected, output_count);
    for (size_t i = 0; i < input_count; i++)
        free(copies[i]);
    free_arrays(inputs, input_count);
    free_arrays(expected, output_count);
}

static void test_cfc(void)
{
    check_model("cfc", 2, 2);
}

static void test_ltc(void)
{
    check_model("ltc", 2, 2);
}

static void test_encoder(void)
{
    check_model("encoder", 1, 1);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"cfc", test_cfc},
        {"ltc", test_ltc},
        {"encoder", test_encoder},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
