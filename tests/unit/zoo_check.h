/* zoo_check.h - runs a model of the zoo through ONNX Runtime and looks at every number on the way:
 * a copy of the model is written with the outputs of all nodes of the main graph made outputs of
 * the graph, run once with the inputs that `run` would plan, and no float of any of them may be
 * infinite, not a number or denormal (a slow-down by denormals is a wrong benchmark). Values inside
 * bodies (Scan, Loop, If) are not seen.
 *
 *   zoo_check_run("mlp:batch=2");      skips the test, with the reason, when ONNX Runtime is not
 *     here */
#ifndef ASSAY_TESTS_ZOO_CHECK_H
#define ASSAY_TESTS_ZOO_CHECK_H

#include "harness.h"

#include "base/file.h"
#include "model/inputs/inputs.h"
#include "zoo/zoo.h"

#include "engine/engine.h"
#include <float.h>

#define ZOO_CHECK_INPUTS 256

struct zoo_session {
    char folder[512];
    struct assay__workload *workload; /* NULL: the caller's own inputs */
    struct assay__host_tensor *inputs;
    size_t input_count;
    struct assay__session *session;
};

/* ONNX Runtime as the build set it up, unless the caller named one. */
static inline void zoo_library_choose(void)
{
#ifdef ASSAY_TEST_BUILD
    if (access(ASSAY_TEST_BUILD "/onnxruntime", F_OK) == 0)
        setenv("ASSAY_ORT_LIBRARY", ASSAY_TEST_BUILD "/onnxruntime", 0);
#endif
}

static inline void zoo_must(int code, const struct assay_error *error, int line)
{
    if (code) harness_fail(__FILE__, line, error->message);
}
#define ZOO_MUST(call) zoo_must((call), &error, __LINE__)

static inline struct assay__model *zoo_built(const char *zoo_name)
{
    struct assay__model *model = NULL;
    struct assay_error error = {0};
    int code = assay__zoo_build(zoo_name, &model, &error);
    if (code) printf("  %s\n", zoo_name);
    ZOO_MUST(code);
    return model;
}

/* Every output of a node becomes one of the graph, without a stated type: it is inferred. */
static inline void zoo_expose(struct assay__model *model)
{
    struct assay__graph *graph = &model->graph;
    size_t stated = graph->output_count;
    for (size_t n = 0; n < graph->node_count; n++)
        for (size_t o = 0; o < graph->nodes[n].output_count; o++) {
            const char *name = graph->nodes[n].outputs[o];
            bool there = !name[0];
            for (size_t i = 0; i < stated; i++)
                there = there || strcmp(graph->outputs[i].name, name) == 0;
            if (there) continue;
            CHECK_INT(assay__graph_add_value(model, &graph->outputs, &graph->output_count, name,
                                             ASSAY__UNDEFINED, -1, NULL),
                      0);
            graph->outputs[graph->output_count - 1].kind = ASSAY__KIND_UNKNOWN;
        }
}

/* Plans and fills the inputs. */
static inline void zoo_inputs(struct zoo_session *zoo, const struct assay__model *model,
                              int64_t batch, int64_t sequence)
{
    struct assay_error error = {0};
    struct assay__workload_options options = {.batch = batch, .sequence = sequence, .seed = 1};
    ZOO_MUST(assay__workload_plan(model, &options, &zoo->workload, &error));
    zoo->input_count = zoo->workload->input_count;
    zoo->inputs = calloc(zoo->input_count + 1, sizeof *zoo->inputs);
    CHECK(zoo->inputs != NULL);
    for (size_t i = 0; i < zoo->input_count; i++) {
        const struct assay__input_plan *plan = &zoo->workload->inputs[i];
        void *data = calloc(1, plan->bytes + 16);
        CHECK(data != NULL);
        ZOO_MUST(assay__input_fill(plan, data, &error));
        zoo->inputs[i] = (struct assay__host_tensor){.name = plan->name,
                                                     .dtype = (int)plan->dtype,
                                                     .rank = plan->rank,
                                                     .dims = plan->dims,
                                                     .data = data,
                                                     .data_size = plan->bytes};
    }
}

/* Writes the model to a temporary folder and opens a session on it, without graph optimisation.
 * zoo->inputs are set. */
static inline void zoo_open(struct zoo_session *zoo, const struct assay__model *model)
{
    struct assay_error error = {0};
    char path[600];
    zoo_library_choose();
    ZOO_MUST(assay__folder_temporary(zoo->folder, sizeof zoo->folder, &error));
    snprintf(path, sizeof path, "%s/model.onnx", zoo->folder);
    int code = assay__model_write(model, path, &error);
    struct assay__session_options options = {.size = sizeof options,
                                             .model_path = path,
                                             .optimization = "none",
                                             .threads = 1,
                                             .spinning = -1,
                                             .inputs = zoo->inputs,
                                             .input_count = zoo->input_count};
    if (code == 0) code = assay__engine_find("ort")->open(&options, &zoo->session, &error);
    assay__folder_remove(zoo->folder);
    if (code == ASSAY_ENOTFOUND) SKIP(error.message);
    ZOO_MUST(code);
}

/* One run; the outputs live until zoo_close. */
static inline const struct assay__host_tensor *zoo_step(struct zoo_session *zoo, size_t *count)
{
    const struct assay__engine_ops *ort = assay__engine_find("ort");
    const struct assay__host_tensor *outputs = NULL;
    struct assay_error error = {0};
    if (ort->step(zoo->session, 0)) harness_fail(__FILE__, __LINE__, ort->step_error(zoo->session));
    ZOO_MUST(ort->outputs(zoo->session, &outputs, count, &error));
    return outputs;
}

static inline void zoo_close(struct zoo_session *zoo)
{
    assay__engine_find("ort")->close(zoo->session);
    for (size_t i = 0; zoo->workload && i < zoo->input_count; i++)
        free(zoo->inputs[i].data);
    if (zoo->workload) free(zoo->inputs);
    assay__workload_free(zoo->workload);
    *zoo = (struct zoo_session){.session = NULL};
}

/* No number may be denormal: x86 takes a hundred cycles for each. Arm's processors do not mind, and
 * ONNX Runtime's Softmax gives them one for every masked element. */
static inline void zoo_check_floats(const struct assay__host_tensor *tensor)
{
    const float *values = tensor->data;
    if (tensor->dtype != (int)ASSAY__FLOAT32) return;
#if defined(__aarch64__)
    bool denormals_pass = strstr(tensor->name, "Softmax") != NULL;
#else
    bool denormals_pass = false;
#endif
    for (size_t i = 0; i < tensor->data_size / sizeof *values; i++) {
        bool denormal = values[i] != 0 && fabsf(values[i]) < FLT_MIN && !denormals_pass;
        if (isfinite(values[i]) && !denormal) continue;
        printf("  %s: element %zu is %g\n", tensor->name, i, (double)values[i]);
        harness_fail(__FILE__, __LINE__, "a number is infinite, not a number or denormal");
    }
}

/** batch, sequence: 0 as the plan has it. */
static inline void zoo_check_run_sized(const char *zoo_name, int64_t batch, int64_t sequence)
{
    struct zoo_session zoo = {.session = NULL};
    struct assay__model *model = zoo_built(zoo_name);
    size_t count = 0, floats = 0;
    zoo_inputs(&zoo, model, batch, sequence);
    zoo_expose(model);
    zoo_open(&zoo, model);
    const struct assay__host_tensor *outputs = zoo_step(&zoo, &count);
    CHECK_INT(count, model->graph.output_count);
    for (size_t i = 0; i < count; i++) {
        zoo_check_floats(&outputs[i]);
        floats += outputs[i].dtype == (int)ASSAY__FLOAT32;
    }
    CHECK(floats > 0);
    zoo_close(&zoo);
    assay__model_free(model);
}

/** Builds, runs, and looks at the outputs of every node of the main graph. */
static inline void zoo_check_run(const char *zoo_name)
{
    zoo_check_run_sized(zoo_name, 0, 0);
}

#endif
