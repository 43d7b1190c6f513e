/* inputs_fixture.h - planning of workloads in tests. */
#ifndef ASSAY_TESTS_INPUTS_FIXTURE_H
#define ASSAY_TESTS_INPUTS_FIXTURE_H

#include "model_fixture.h"

#include "model/inputs/inputs.h"

#define LIST(...)         \
    (const char *const[]) \
    {                     \
        __VA_ARGS__       \
    }

static inline struct assay__workload *plan_ok(const struct assay__model *model,
                                              const struct assay__workload_options *options)
{
    struct assay_error error = {.code = 0};
    struct assay__workload *workload = NULL;
    if (assay__workload_plan(model, options, &workload, &error))
        harness_fail(__FILE__, __LINE__, error.message);
    return workload;
}

static inline void plan_fails(const struct assay__model *model,
                              const struct assay__workload_options *options, int code,
                              const char *says)
{
    struct assay_error error = {.code = 0};
    struct assay__workload *workload = NULL;
    CHECK_INT(assay__workload_plan(model, options, &workload, &error), code);
    CHECK(!workload);
    CHECK_HAS(error.message, says);
}

static inline void expect_dims(const struct assay__workload *workload, size_t input,
                               const char *expected)
{
    char text[128] = "";
    const struct assay__input_plan *plan = &workload->inputs[input];
    for (int i = 0; i < plan->rank; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%lld", i ? "x" : "",
                 (long long)plan->dims[i]);
    }
    CHECK_STR(text, expected);
}

static inline struct assay__model *image_model(const char *shape)
{
    struct assay__model *model = fixture_model(17);
    fixture_input(model, "x", ASSAY__FLOAT32, shape);
    fixture_node(model, "Relu x -> y");
    fixture_output(model, "y");
    return model;
}

#endif
