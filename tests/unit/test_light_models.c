/* test_light_models.c - the nine light models of the `onnx` package, run through our ONNX Runtime
 * engine, give the package's own reference outputs. Inputs are those of its backend test runner
 * (generate_dummy_data with random off): x[i] = i / n in double, rounded to float. Tolerance: |a -
 * b| <= 1e-7 + 1e-3 |b|, the runner's own defaults. The models come with the pinned package that
 * `scripts/setup test` unpacks; without it the tests are skipped. */
#include "harness.h"

#include "base/file.h"
#include "model/graph.h"

#include "engine/engine.h"
#include <glob.h>

#define ABSOLUTE_TOLERANCE 1e-7
#define RELATIVE_TOLERANCE 1e-3

static bool light_path(const char *name, const char *suffix, char *out, size_t out_size)
{
    char pattern[1024];
    glob_t found;
    snprintf(pattern, sizeof pattern,
             "%s/.cache/onnx/current/onnx/backend/test/data/light/light_%s%s", ASSAY_TEST_ROOT,
             name, suffix);
    if (glob(pattern, 0, NULL, &found) != 0) return false;
    snprintf(out, out_size, "%s", found.gl_pathv[0]);
    globfree(&found);
    return true;
}

static uint64_t varint(const uint8_t *bytes, size_t size, size_t *at)
{
    uint64_t value = 0;
    for (int shift = 0; *at < size && shift < 64; shift += 7) {
        uint8_t byte = bytes[(*at)++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

/* The floats of a TensorProto that has raw_data (field 9) or packed float_data (field 4). */
static const uint8_t *reference_floats(const uint8_t *bytes, size_t size, size_t *count)
{
    for (size_t at = 0; at < size;) {
        uint64_t tag = varint(bytes, size, &at);
        if ((tag & 7) == 0) {
            varint(bytes, size, &at);
            continue;
        }
        CHECK_INT(tag & 7, 2);
        size_t length = (size_t)varint(bytes, size, &at);
        CHECK(length <= size - at);
        if (tag >> 3 == 9 || tag >> 3 == 4) {
            *count = length / sizeof(float);
            return bytes + at;
        }
        at += length;
    }
    return NULL;
}

/* The graph inputs that are not initializers: the light models have exactly one. */
static const struct assay__value *only_input(const struct assay__model *model)
{
    const struct assay__value *input = NULL;
    for (size_t i = 0; i < model->graph.input_count; i++) {
        const struct assay__value *value = &model->graph.inputs[i];
        if (assay__graph_initializer(&model->graph, value->name)) continue;
        CHECK(input == NULL);
        input = value;
    }
    CHECK(input != NULL);
    return input;
}

static void check_outputs(const struct assay__engine_ops *ops, struct assay__session *session,
                          const char *reference_path)
{
    struct assay_error error = {0};
    const struct assay__host_tensor *outputs = NULL;
    size_t output_count = 0, reference_count = 0;
    CHECK_INT(ops->outputs(session, &outputs, &output_count, &error), 0);
    CHECK_INT(output_count, 1);
    struct assay__mapping mapping;
    CHECK_INT(assay__file_map(reference_path, &mapping, &error), 0);
    const uint8_t *reference = reference_floats(mapping.data, mapping.size, &reference_count);
    CHECK(reference != NULL);
    CHECK_INT(outputs[0].data_size, reference_count * sizeof(float));
    double worst = 0;
    for (size_t i = 0; i < reference_count; i++) {
        float expected, actual;
        memcpy(&expected, reference + i * sizeof expected, sizeof expected);
        memcpy(&actual, (const char *)outputs[0].data + i * sizeof actual, sizeof actual);
        double difference = fabs((double)actual - (double)expected);
        CHECK(difference <= ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * fabs((double)expected));
        if (difference > worst) worst = difference;
    }
    printf("  %zu outputs, largest difference %.3g\n", reference_count, worst);
    assay__file_unmap(&mapping);
}

static void check_light(const char *name)
{
    char model_path[1024], reference_path[1024];
    struct assay_error error = {0};
    if (!light_path(name, ".onnx", model_path, sizeof model_path) ||
        !light_path(name, "_output_0.pb", reference_path, sizeof reference_path))
        SKIP("the onnx package is not unpacked (scripts/setup test)");
    struct assay__model *model = NULL;
    CHECK_INT(assay__model_read(model_path, &model, &error), 0);
    const struct assay__value *input = only_input(model);
    int64_t dims[8];
    size_t count = 1;
    CHECK(input->rank > 0 && input->rank <= 8);
    for (int i = 0; i < input->rank; i++) {
        dims[i] = input->dims[i].value >= 0 ? input->dims[i].value : 1;
        count *= (size_t)dims[i];
    }
    float *values = malloc(count * sizeof *values);
    CHECK(values != NULL);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((double)i / (double)count);
    struct assay__host_tensor tensor = {.name = input->name,
                                        .dtype = ASSAY__FLOAT32,
                                        .rank = input->rank,
                                        .dims = dims,
                                        .data = values,
                                        .data_size = count * sizeof *values};
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = model_path,
                                             .device = "cpu",
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = &tensor,
                                             .input_count = 1};
    const struct assay__engine_ops *ops = assay__engine_find("ort");
    CHECK(ops != NULL);
    struct assay__session *session = NULL;
    int code = ops->open(&options, &session, &error);
    if (code == ASSAY_ENOTFOUND) SKIP(error.message);
    if (code) printf("  %s\n", error.message);
    CHECK_INT(code, 0);
    CHECK_INT(ops->step(session, 0), 0);
    check_outputs(ops, session, reference_path);
    ops->close(session);
    assay__model_free(model);
    free(values);
}

#define LIGHT(id, name)         \
    static void test_##id(void) \
    {                           \
        check_light(name);      \
    }
LIGHT(alexnet, "bvlc_alexnet")
LIGHT(densenet121, "densenet121")
LIGHT(inception_v1, "inception_v1")
LIGHT(inception_v2, "inception_v2")
LIGHT(resnet50, "resnet50")
LIGHT(shufflenet, "shufflenet")
LIGHT(squeezenet, "squeezenet")
LIGHT(zfnet512, "zfnet512")

static void test_vgg19(void)
{
    SKIP_EMULATED("its 39 GFLOP take minutes");
    check_light("vgg19");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"alexnet", test_alexnet},           {"densenet121", test_densenet121},
        {"inception_v1", test_inception_v1}, {"inception_v2", test_inception_v2},
        {"resnet50", test_resnet50},         {"shufflenet", test_shufflenet},
        {"squeezenet", test_squeezenet},     {"vgg19", test_vgg19},
        {"zfnet512", test_zfnet512},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
