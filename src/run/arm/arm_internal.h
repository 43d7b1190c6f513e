/* arm_internal.h - what the files of an arm share: its struct, and what each of them does with it.
 *
 *   arm.c          options checked; opened, begun, finished, closed; accessors
 *   arm_model.c    the model read or built, the workload fixed
 *   arm_trial.c    the trial in the document: what it was asked to do
 *   arm_launch.c   launches: asked for, kept, taken over from an earlier capture */
#ifndef ASSAY_RUN_ARM_ARM_INTERNAL_H
#define ASSAY_RUN_ARM_ARM_INTERNAL_H

#include "run/arm/arm.h"
#include "run/single_run.h"

struct assay__arm {
    struct assay__run_options options;
    struct assay__recording *recording;
    size_t index; /* of the trial */
    struct assay__model *model;
    const struct assay__model_info *info; /* what describes it: one of the profile's */
    struct assay__workload *workload;
    struct assay__model_costs costs;
    struct assay__generation generation; /* tokens 0: an inference is one run */
    struct assay__watch *watch;          /* NULL: nothing but the latency */
    struct assay__watch *shared;         /* of several arms; NULL: none */
    struct assay__outcome *outcomes;
    size_t outcome_count, outcome_capacity;
    size_t adopted; /* of the outcomes: those of an earlier capture */
    char model_path[PATH_MAX], outputs[PATH_MAX];
    const char *device;                       /* the engine's own name: without a build's prefix */
    uint64_t start_ns, building_ns, extra_ns; /* extra: launches that watchers wanted */
};

/** Reads or builds the model of the options, plans the workload and describes the model among the
 *  profile's; one that is there already is not described again. */
int assay__arm_resolve_model(struct assay__arm *arm, struct assay_error *error);
/** Appends the trial: what it runs on, how, what it is among the others, its workload. */
int assay__arm_start_trial(struct assay__arm *arm, const struct assay__arm_identity *identity,
                           struct assay_error *error);

#endif
