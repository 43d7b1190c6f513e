/* inputs_fixture.h - planning of workloads in tests. */
#ifndef ASSAY_TESTS_INPUTS_FIXTURE_H
#define ASSAY_TESTS_INPUTS_FIXTURE_H

#include "model_fixture.h"

#include "model/inputs.h"

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

#endif
