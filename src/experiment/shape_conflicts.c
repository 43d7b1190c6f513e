/* shape_conflicts.c - plans the inputs of every point or model without running it. Guessed sizes
 * are ignored: only given ones can contradict each other. */
#include "experiment/shape_conflicts.h"

#include "base/options_read.h"
#include "zoo/model_open.h"

#include <stdio.h>
#include <string.h>

static int plan_once(const struct assay__model *model, const struct assay__run_options *run,
                     const char *label, struct assay_error *error)
{
    struct assay__workload *workload = NULL;
    struct assay_error why = {0};
    struct assay__workload_options plan = assay__workload_options_of(&run->workload);
    plan.shapes_only = plan.any_size = true;
    int code = assay__workload_plan(model, &plan, &workload, &why);
    assay__workload_free(workload);
    if (code != ASSAY_EINVAL) return 0; /* the run itself will report any other error */
    return assay__refuse_option(error, "shapes", "%s: %s", label, why.message);
}

/* The given shape without its first size, which is usually the batch: "x=?x3x224x224" */
static void leave_open(const char *shape, char *out, size_t out_size)
{
    const char *equals = strrchr(shape, '='), *sizes = equals ? equals + 1 : shape;
    snprintf(out, out_size, "%.*s?%s", (int)(sizes - shape), shape, sizes + strcspn(sizes, "x"));
}

int assay__space_shapes_check(const struct assay__config_space *space,
                              const struct assay__run_options *run, struct assay_error *error)
{
    size_t batches = space->axes[ASSAY__AXIS_BATCH].count, choices[ASSAY__AXIS_COUNT] = {0};
    size_t sequences = space->axes[ASSAY__AXIS_SEQ].count;
    struct assay__model *model = NULL;
    if ((!batches && !sequences) || !run->workload.shape_count) return 0;
    int code = assay__model_named(run->workload.model, &model, NULL, error);
    for (size_t i = 0; i < (batches ? batches : 1) * (sequences ? sequences : 1) && !code; i++) {
        struct assay__run_options one = *run;
        struct assay__arm_identity identity = {0};
        struct assay_error why = {0};
        choices[ASSAY__AXIS_BATCH] = batches ? i % batches : 0;
        choices[ASSAY__AXIS_SEQ] = batches ? i / batches : i;
        if (assay__config_apply(space, assay__config_point(space, choices), &one, &identity, &why))
            continue;
        char label[64] = "";
        if (batches) snprintf(label, sizeof label, "batch=%lld ", (long long)one.workload.batch);
        size_t length = strlen(label);
        if (sequences)
            snprintf(label + length, sizeof label - length, "seq=%lld ",
                     (long long)one.workload.sequence);
        label[strlen(label) - 1] = '\0';
        code = plan_once(model, &one, label, &why);
        if (code) {
            char open[128];
            leave_open(run->workload.shapes[0], open, sizeof open);
            assay__refuse_option(error, "shapes", "%.400s; write ? for what varies, such as %s",
                                 why.message, open);
        }
    }
    assay__model_free(model);
    return code;
}

int assay__model_shapes_check(const struct assay__run_options *run, const char *name,
                              const char *label, struct assay_error *error)
{
    struct assay__model *model = NULL;
    if (!run->workload.shape_count || assay__model_named(name, &model, NULL, NULL)) return 0;
    int code = plan_once(model, run, label, error);
    assay__model_free(model);
    return code;
}
