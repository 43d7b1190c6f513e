/* layers_fixture.h - what the tests of layer timing share: a session of the ort engine on a
 * small model of tests/fixtures/models (or a skip, with the reason), with inputs filled by a
 * fixed pattern. */
#ifndef ASSAY_TESTS_LAYERS_FIXTURE_H
#define ASSAY_TESTS_LAYERS_FIXTURE_H

#include "engine/ort/ort_layers.h"
#include "harness.h"

#ifndef ASSAY_TEST_ROOT
#define ASSAY_TEST_ROOT "."
#endif
#define INPUTS_MOST 4

/* --- a session for a fixture ------------------------------------------------------------------ */

struct opened {
    struct assay__model *model;
    struct assay__host_tensor inputs[INPUTS_MOST];
    size_t input_count;
    int64_t dims[INPUTS_MOST][8];
    struct assay__session *session;
};

static inline void fixture_path(char *out, size_t size, const char *name)
{
    bool layered = !strchr(name, '/');
    snprintf(out, size, "%s/tests/fixtures/models/%s%s%s", ASSAY_TEST_ROOT,
             layered ? "layers/" : "", name, layered ? ".onnx" : "");
}

static inline struct assay__model *read_model(const char *path)
{
    struct assay_error error = {0};
    struct assay__model *model = NULL;
    if (assay__model_read(path, &model, &error)) harness_fail(__FILE__, __LINE__, error.message);
    return model;
}

/* Dimensions without a value become 3 in "x" and 2 elsewhere. */
static inline void fill_input(struct opened *opened, const struct assay__value *value)
{
    struct assay__host_tensor *tensor = &opened->inputs[opened->input_count];
    int64_t *dims = opened->dims[opened->input_count++];
    size_t count = 1;
    for (int i = 0; i < value->rank; i++) {
        dims[i] = value->dims[i].value >= 0 ? value->dims[i].value : value->name[0] == 'x' ? 3 : 2;
        count *= (size_t)dims[i];
    }
    size_t bytes = count * (size_t)assay__dtype_bits(value->dtype) / 8;
    void *data = calloc(1, bytes + 16);
    CHECK(data != NULL);
    for (size_t i = 0; i < count; i++) {
        if (value->dtype == ASSAY__FLOAT32)
            ((float *)data)[i] = (float)((i * 7919) % 1000) / 500.0f - 0.7f;
        if (value->dtype == ASSAY__INT64)
            ((int64_t *)data)[i] = strcmp(value->name, "shape_in") == 0 ? (i ? -1 : 2) : (int64_t)i;
        if (value->dtype == ASSAY__BOOL) ((bool *)data)[i] = true;
    }
    *tensor = (struct assay__host_tensor){.name = value->name,
                                          .dtype = (int)value->dtype,
                                          .rank = value->rank,
                                          .dims = dims,
                                          .data = data,
                                          .data_size = bytes};
}

static inline void fill_inputs(struct opened *opened)
{
    const struct assay__graph *graph = &opened->model->graph;
    for (size_t i = 0; i < graph->input_count; i++) {
        CHECK(opened->input_count < INPUTS_MOST);
        if (!assay__graph_initializer(graph, graph->inputs[i].name))
            fill_input(opened, &graph->inputs[i]);
    }
}

static inline void find_library(void)
{
    static struct assay__ort ort;
    struct assay_error error = {0};
#ifdef ASSAY_TEST_BUILD
    if (access(ASSAY_TEST_BUILD "/onnxruntime", F_OK) == 0)
        setenv("ASSAY_ORT_LIBRARY", ASSAY_TEST_BUILD "/onnxruntime", 0);
#endif
    if (assay__ort_load(NULL, &ort, &error)) SKIP(error.message);
}

/* A session of the model in the file, with its inputs. */
static inline void open_file(struct opened *opened, const char *path)
{
    struct assay_error error = {0};
    opened->model = read_model(path);
    fill_inputs(opened);
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = path,
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = opened->inputs,
                                             .input_count = opened->input_count};
    if (assay__engine_find("ort")->open(&options, &opened->session, &error))
        harness_fail(__FILE__, __LINE__, error.message);
}

static inline struct opened open_fixture(const char *name)
{
    struct opened opened = {0};
    char path[1024];
    find_library();
    fixture_path(path, sizeof path, name);
    open_file(&opened, path);
    return opened;
}

static inline void close_fixture(struct opened *opened)
{
    assay__engine_find("ort")->close(opened->session);
    for (size_t i = 0; i < opened->input_count; i++)
        free(opened->inputs[i].data);
    assay__model_free(opened->model);
}

static inline struct assay__layers measure(struct opened *opened, enum assay_layer_method method,
                                           double budget_s)
{
    struct assay__layers result;
    struct assay_error error = {0};
    struct assay__layer_options options = {
        .size = sizeof options, .method = method, .budget_s = budget_s};
    if (assay__engine_find("ort")->layers(opened->session, &options, &result, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    return result;
}

static inline const struct assay__layer *layer_named(const struct assay__layers *result,
                                                     const char *name)
{
    for (size_t i = 0; i < result->count; i++)
        if (strcmp(result->items[i].name, name) == 0) return &result->items[i];
    return NULL;
}

#endif
