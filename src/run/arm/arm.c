/* arm.c - an arm from start to end: opened, launched, concluded. Everything that can be wrong with
 * the input is found before a worker starts. */
#include "run/arm/arm.h"

#include "base/clock.h"
#include "base/file.h"
#include "cost/roofline.h"
#include "run/builds.h"
#include "run/earlier_runs.h"
#include "run/watch/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct assay__trial *assay__arm_trial(const struct assay__arm *arm)
{
    return &arm->recording->profile->trials[arm->index];
}

const struct assay__outcome *assay__arm_outcomes(const struct assay__arm *arm, size_t *count)
{
    *count = arm->outcome_count;
    return arm->outcomes;
}

bool assay__arm_interrupted(const struct assay__arm *arm)
{
    return arm->options.callbacks.interrupt && *arm->options.callbacks.interrupt;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* The trial's state and, when a launch failed, the code and the first reason. */
static int conclude(struct assay__arm *arm, struct assay_error *error)
{
    struct assay__trial *trial = assay__arm_trial(arm);
    size_t failed = 0, first = 0;
    for (size_t i = arm->outcome_count; i-- > 0;)
        if (arm->outcomes[i].code) {
            failed++;
            first = i;
        }
    if (assay__arm_interrupted(arm) ||
        (failed && arm->outcomes[first].code == ASSAY_EINTERRUPTED)) {
        trial->state = ASSAY__TRIAL_INTERRUPTED;
        trial->reason = "interrupted";
        return assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted");
    }
    if (failed == 0) {
        trial->state = ASSAY__TRIAL_OK;
        return 0;
    }
    const char *why = arm->outcomes[first].reason;
    struct assay__arena *arena = arm->recording->profile->arena;
    int launches = arm->options.measuring.launches;
    bool given_up = failed == arm->outcome_count && failed < (size_t)launches;
    if (given_up && failed == 1)
        why = assay__arena_printf(arena, "the first of %d launches failed: %s", launches, why);
    else if (launches > 1)
        why = assay__arena_printf(arena, "%s%zu of %d launches failed; launch %zu: %s",
                                  given_up ? "the first " : "", failed, launches, first + 1, why);
    trial->state = ASSAY__TRIAL_FAILED;
    trial->reason = why ? why : "a launch failed";
    return assay_error_set(error, arm->outcomes[first].code, "%s", trial->reason);
}

int assay__arm_begin(struct assay__arm *arm, struct assay_error *error)
{
    struct assay__watch_plan plan = {&arm->options, arm->recording->profile, assay__arm_trial(arm),
                                     arm->recording->start_ns};
    return assay__watch_begin(&plan, &arm->watch, error);
}

int assay__arm_finish(struct assay__arm *arm, struct assay__watch *shared,
                      struct assay_error *error)
{
    struct assay_profile *profile = arm->recording->profile;
    /* The overhead is real time that is neither session creation nor inferences nor layers nor
     * building a zoo model. */
    double spent_ns = (double)(arm->building_ns + arm->extra_ns);
    for (size_t i = 0; i < arm->outcome_count; i++)
        spent_ns += arm->outcomes[i].spent.open_ns + arm->outcomes[i].spent.steps_ns +
                    arm->outcomes[i].spent.layers_ns;
    struct assay__trial_input input = {
        .profile = profile,
        .trial = assay__arm_trial(arm),
        .outcomes = arm->outcomes,
        .outcome_count = arm->outcome_count,
        .costs = arm->model ? &arm->costs : NULL,
        .workload = arm->workload,
        .precision = ASSAY__GOAL_PRECISION,
        .warmup_forced = arm->options.measuring.warmup_given,
        .brief = arm->options.brief,
        .outputs_kept = arm->outputs[0] != '\0',
        .streams = arm->options.target.streams,
        .overhead_run_s = ((double)(assay__now_ns() - arm->start_ns) - spent_ns) / 1e9,
        .generate = arm->options.workload.generate,
    };
    int code = 0;
    for (size_t i = 0; i < arm->outcome_count && code == 0; i++)
        if (arm->outcomes[i].remark[0])
            code = assay__trial_add_note(profile, input.trial,
                                         assay__arena_printf(profile->arena, "launch %zu: %s",
                                                             i + 1, arm->outcomes[i].remark));
    if (code == 0) code = assay__trial_metrics(&input);
    if (code == 0 && arm->options.brief) code = assay__earlier_runs_apply(profile, input.trial);
    if (code) return assay__no_memory(error);
    code = assay__watch_finish(arm->watch, &input, error);
    if (code == 0) code = assay__watch_finish(shared, &input, error);
    if (code) return code;
    if (assay__roofline_apply(profile, assay__arm_trial(arm))) return assay__no_memory(error);
    return conclude(arm, error);
}

/* A script only has a name for a model, and generates without a graph. */
static int name_script(struct assay__arm *arm, struct assay_error *error)
{
    struct assay_profile *profile = arm->recording->profile;
    struct assay__run_options *options = &arm->options;
    struct assay__model_info *info = profile->models[0];
    if (*info->name && strcmp(info->name, "script") != 0) info = assay__profile_model(profile);
    if (!info) return assay__no_memory(error);
    info->name = "script";
    arm->info = info;
    arm->generation.tokens = options->workload.generate;
    if (options->workload.generate && !options->workload.prompt)
        options->workload.prompt = options->workload.sequence ? options->workload.sequence
                                                              : ASSAY__GENERATE_PROMPT;
    return 0;
}

/* Without the folder each launch makes what it needs. */
static void make_keep(struct assay__arm *arm)
{
    char name[32];
    snprintf(name, sizeof name, "keep-%zu", arm->index);
    if (arm->options.measuring.layers == ASSAY_LAYERS_OFF || !arm->recording->folder[0] ||
        assay__path_join(arm->recording->folder, name, arm->keep, sizeof arm->keep) ||
        mkdir(arm->keep, 0700) != 0)
        arm->keep[0] = '\0';
}

int assay__arm_open(struct assay__recording *recording, const struct assay__run_options *options,
                    const struct assay__arm_identity *identity, struct assay__arm **out,
                    struct assay_error *error)
{
    struct assay_profile *profile = recording->profile;
    struct assay__arm *arm = calloc(1, sizeof *arm);
    *out = NULL;
    if (!arm) return assay__no_memory(error);
    arm->recording = recording;
    arm->index = profile->trial_count;
    arm->start_ns = assay__now_ns();
    arm->options = *options;
    int code = assay__run_options_check(&arm->options, error);
    if (code == 0)
        code = assay__build_of_run(profile->arena, arm->options.target.engine,
                                   arm->options.target.device, &arm->options.target.library,
                                   &arm->device, error);
    if (code == 0 && arm->options.workload.model) code = assay__arm_resolve_model(arm, error);
    if (code == 0 && !arm->options.workload.model) code = name_script(arm, error);
    if (code == 0) code = assay__arm_start_trial(arm, identity, error);
    if (code == 0) make_keep(arm);
    if (code == 0)
        *out = arm;
    else
        assay__arm_close(arm);
    return code;
}

void assay__arm_close(struct assay__arm *arm)
{
    if (!arm) return;
    assay__watch_free(arm->watch);
    if (arm->keep[0]) assay__folder_remove(arm->keep);
    for (size_t i = 0; i < arm->outcome_count; i++)
        assay__outcome_free(&arm->outcomes[i]);
    free(arm->outcomes);
    assay__costs_free(&arm->costs);
    assay__workload_free(arm->workload);
    assay__model_free(arm->model);
    free(arm);
}
