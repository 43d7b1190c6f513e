/* arm.h - one workload on one target: a trial of a profile, prepared once, launched as often and in
 * whatever order its owner wants, then concluded. `run` has one arm; a comparison has several,
 * whose launches alternate.
 *
 *   arm.c          options checked; opened, begun, finished, closed
 *   arm_model.c    the model read or built, the workload fixed
 *   arm_trial.c    the trial in the document: what was requested
 *   arm_launch.c   launches: started, stored, taken over from an earlier capture */
#ifndef ASSAY_RUN_ARM_ARM_H
#define ASSAY_RUN_ARM_ARM_H

#include "run/arm/recording.h"
#include "run/single_run.h"
#include "run/trial/trial.h"

struct assay__watch;

struct assay__arm {
    struct assay__run_options options;
    struct assay__recording *recording;
    size_t index; /* of the trial */
    struct assay__model *model;
    const struct assay__model_info *info; /* what describes it: one of the profile's */
    struct assay__workload *workload;
    struct assay__model_costs costs;
    struct assay__generation generation; /* tokens 0: an inference is one run */
    struct assay__feedback *feedback;    /* outputs that are inputs of the next inference */
    size_t feedback_count;
    struct assay__watch *watch;  /* NULL: nothing but the latency */
    struct assay__watch *shared; /* shared by several arms, not owned; NULL: none */
    struct assay__outcome *outcomes;
    size_t outcome_count, outcome_capacity;
    bool without_layers;       /* for the next launch, whatever the options say */
    size_t adopted;            /* how many of the outcomes are from an earlier capture */
    char model_path[PATH_MAX]; /* its file (a temporary one for a zoo model); "" for a script */
    /* folder for the outputs of an early inference of the first launch; "": they are not kept */
    char outputs[PATH_MAX];
    /* folder for what the engine can use again in the next launch; "": none */
    char keep[PATH_MAX];
    const char *device;                       /* the engine's own name: without a build's prefix */
    uint64_t start_ns, building_ns, extra_ns; /* extra: launches requested by watchers */
};

/** What distinguishes a trial from the others of its profile. */
struct assay__arm_identity {
    const char *label; /* NULL: none but its device */
    enum assay__trial_role role;
    enum assay__device_class device_class; /* UNKNOWN: taken from the engine's table */
    bool software;                         /* its device is emulated */
    const struct assay__axis_value *axes;  /* its point in a sweep or a tuning */
    size_t axis_count;
};

/** Checks the options, reads (or builds) the model, fixes the workload and appends the trial. The
 * options are copied; what they point to is borrowed until the arm is closed. identity NULL: the
 * only trial. */
int assay__arm_open(struct assay__recording *recording, const struct assay__run_options *options,
                    const struct assay__arm_identity *identity, struct assay__arm **arm,
                    struct assay_error *error);
/** A failed trial, with that reason, for an arm that never runs. 0 or ASSAY_ENOMEM. */
int assay__arm_start_failed(struct assay_profile *profile, const struct assay__run_options *options,
                            const struct assay__arm_identity *identity, const char *reason);
/** Measures the idle machine if power is sampled. Called once, before the first launch. */
int assay__arm_begin(struct assay__arm *arm, struct assay_error *error);
/** One more launch. A failed one is an outcome, not an error: only running out of memory is. */
int assay__arm_launch(struct assay__arm *arm, struct assay_error *error);
/** Sets the trial's number of launches to those that ran: it was not known before. */
int assay__arm_count_launches(struct assay__arm *arm, struct assay_error *error);
/** Whether a launch has layers that match the latency over all launches (or none ever will). */
bool assay__arm_layers_fit(const struct assay__arm *arm);
/** Takes over a launch of an earlier capture as one more of this arm: its contents are swapped with
 * an empty one; strings and samples stay borrowed, so the document they came from must live as long
 * as this one. */
int assay__arm_adopt(struct assay__arm *arm, struct assay__launch *kept, struct assay_error *error);
/** Launches that watchers request besides the measured ones. */
int assay__arm_extra(struct assay__arm *arm, struct assay_error *error);
/** Metrics, stability, state; `shared` is a watch of several arms (NULL: none). Returns the code
 * and message of the first failed launch; the trial is stored in any case. */
int assay__arm_finish(struct assay__arm *arm, struct assay__watch *shared,
                      struct assay_error *error);
void assay__arm_close(struct assay__arm *arm); /* NULL legal */

/** The trial moves when another arm is opened: call this again. */
struct assay__trial *assay__arm_trial(const struct assay__arm *arm);
/** Outcomes so far. */
const struct assay__outcome *assay__arm_outcomes(const struct assay__arm *arm, size_t *count);
bool assay__arm_interrupted(const struct assay__arm *arm);

/* --- shared by its files ---------------------------------------------------------------------- */

/** Reads or builds the model of the options, plans the workload and adds the model's description to
 * the profile, unless it is already there. */
int assay__arm_resolve_model(struct assay__arm *arm, struct assay_error *error);
/** Appends the trial: what it runs on and how, its place among the others, its workload. */
int assay__arm_start_trial(struct assay__arm *arm, const struct assay__arm_identity *identity,
                           struct assay_error *error);

#endif
