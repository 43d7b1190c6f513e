/* arm.c - an arm's life: opened, launched, concluded. Everything that can be wrong with the input
 * is found before a worker starts. */
#include "run/arm/arm_internal.h"

#include "base/clock.h"
#include "cost/roofline.h"
#include "model/inputs/generation_roles.h"
#include "run/builds.h"
#include "base/options_read.h"
#include "run/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_S 300.0

struct assay__trial *assay__arm_trial(const struct assay__arm *arm)
{
    return &arm->recording->profile->trials[arm->index];
}

const struct assay_run_options *assay__arm_options(const struct assay__arm *arm)
{
    return &arm->options;
}

const struct assay__outcome *assay__arm_outcomes(const struct assay__arm *arm, size_t *count)
{
    *count = arm->outcome_count;
    return arm->outcomes;
}

void assay__arm_keep_outputs(struct assay__arm *arm, const char *folder)
{
    if (snprintf(arm->outputs, sizeof arm->outputs, "%s", folder) >= (int)sizeof arm->outputs)
        arm->outputs[0] = 0;
}

const char *assay__arm_outputs(const struct assay__arm *arm)
{
    return arm->outputs;
}

const char *assay__arm_model_path(const struct assay__arm *arm)
{
    return arm->model_path;
}

bool assay__arm_interrupted(const struct assay__arm *arm)
{
    return arm->options.interrupt && *arm->options.interrupt;
}

/* --- options ---------------------------------------------------------------------------------- */

/* A generation is one inference, of one stream; its prompt is the sequence. */
static int check_generation(struct assay_run_options *options, struct assay_error *error)
{
    if (options->generate == 0 && options->prompt == 0) return 0;
    if (options->generate < 1 || options->generate > ASSAY__GENERATE_MOST || options->prompt < 0)
        return assay_error_set(error, ASSAY_EINVAL, "a prompt needs a generation of 1 to %d tokens",
                               ASSAY__GENERATE_MOST);
    if (options->prompt > 0 && options->sequence > 0)
        return assay_error_set(error, ASSAY_EINVAL,
                               "a prompt length and a sequence length exclude each other: the "
                               "prompt is the sequence");
    if (options->streams > 1)
        return assay_error_set(error, ASSAY_EINVAL,
                               "a generation runs in one stream, not in %d; a batch of N generates "
                               "N sequences at once",
                               options->streams);
    if (options->layers != ASSAY_LAYERS_OFF)
        return assay_error_set(error, ASSAY_EINVAL,
                               "layers of a whole generation are not timed: profile a single step, "
                               "such as gpt2:phase=decode,past=32");
    if (options->sequence == 0) options->sequence = options->prompt;
    return 0;
}

int assay__run_options_check(struct assay_run_options *options, struct assay_error *error)
{
    options->engine = assay__or_default(options->engine, "ort");
    options->device = assay__or_default(options->device, "cpu");
    options->optimization = assay__or_default(options->optimization, "all");
    if (options->launches == 0) options->launches = 1;
    if (options->streams == 0) options->streams = 1;
    if (options->timeout_s == 0) options->timeout_s = TIMEOUT_S;
    if (!options->model && !options->script)
        return assay_error_set(error, ASSAY_EINVAL, "no model was given");
    if (!assay_engine_find(options->engine))
        return assay_error_set(error, ASSAY_ENOTFOUND, "no engine is called '%s'", options->engine);
    if (!assay__optimization_parse(options->optimization))
        return assay_error_set(error, ASSAY_EINVAL,
                               "optimisation level '%s': none, basic, extended and all are known",
                               options->optimization);
    const struct {
        const char *what;
        int value, least, most;
    } counts[] = {{"launches", options->launches, 1, 1000},
                  {"streams", options->streams, 1, 1024},
                  {"threads", options->threads, 0, 4096}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i].value < counts[i].least || counts[i].value > counts[i].most)
            return assay_error_set(error, ASSAY_EINVAL, "%d %s: between 1 and %d are possible",
                                   counts[i].value, counts[i].what, counts[i].most);
    if (options->iterations < 0 || options->warmup_plus_1 < 0 || !(options->time_s >= 0) ||
        !(options->timeout_s > 0) || !(options->launch_limit_s >= 0) || options->batch < 0 ||
        options->sequence < 0 || !isfinite(options->time_s) || !isfinite(options->timeout_s))
        return assay_error_set(error, ASSAY_EINVAL,
                               "a count, size or time is negative or not a number");
    int code = check_generation(options, error);
    return code ? code : options->cpus ? assay__cpus_check(options->cpus, error) : 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Real time that is neither session creation nor inferences nor layers nor building a zoo model. */
static double overhead_s(const struct assay__arm *arm)
{
    double spent = (double)(arm->building_ns + arm->extra_ns);
    for (size_t i = 0; i < arm->outcome_count; i++)
        spent += arm->outcomes[i].spent.open_ns + arm->outcomes[i].spent.steps_ns +
                 arm->outcomes[i].spent.layers_ns;
    return ((double)(assay__now_ns() - arm->start_ns) - spent) / 1e9;
}

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
    int launches = arm->options.launches;
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

void assay__arm_share(struct assay__arm *arm, struct assay__watch *shared)
{
    arm->shared = shared;
}

int assay__arm_finish(struct assay__arm *arm, struct assay__watch *shared,
                      struct assay_error *error)
{
    struct assay_profile *profile = arm->recording->profile;
    struct assay__trial_input input = {
        .profile = profile,
        .trial = assay__arm_trial(arm),
        .outcomes = arm->outcomes,
        .outcome_count = arm->outcome_count,
        .costs = arm->model ? &arm->costs : NULL,
        .workload = arm->workload,
        .precision = ASSAY__GOAL_PRECISION,
        .warmup_forced = arm->options.warmup_plus_1 > 0,
        .streams = arm->options.streams,
        .overhead_run_s = overhead_s(arm),
        .generate = arm->options.generate,
    };
    int code = 0;
    for (size_t i = 0; i < arm->outcome_count && code == 0; i++)
        if (arm->outcomes[i].remark[0])
            code = assay__trial_add_note(profile, input.trial,
                                         assay__arena_printf(profile->arena, "launch %zu: %s",
                                                             i + 1, arm->outcomes[i].remark));
    if (code == 0) code = assay__trial_metrics(&input);
    if (code == 0) code = assay__watch_finish(arm->watch, &input, error);
    if (code == 0) code = assay__watch_finish(shared, &input, error);
    if (code == 0) code = assay__roofline_apply(profile, assay__arm_trial(arm));
    if (code) return assay__no_memory(error);
    return conclude(arm, error);
}

/* A script has a name for a model, and generates without a graph. */
static int name_script(struct assay__arm *arm, struct assay_error *error)
{
    struct assay_profile *profile = arm->recording->profile;
    struct assay_run_options *options = &arm->options;
    struct assay__model_info *info = profile->models[0];
    if (*info->name && strcmp(info->name, "script") != 0) info = assay__profile_model(profile);
    if (!info) return assay__no_memory(error);
    info->name = "script";
    arm->info = info;
    arm->generation.tokens = options->generate;
    if (options->generate && !options->prompt)
        options->prompt = options->sequence ? options->sequence : ASSAY__GENERATE_PROMPT;
    return 0;
}

int assay__arm_open(struct assay__recording *recording, const struct assay_run_options *options,
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
    int code = assay__options_read(options, &arm->options, sizeof arm->options, "run", error);
    if (code == 0) code = assay__run_options_check(&arm->options, error);
    if (code == 0)
        code = assay__build_of_run(profile->arena, arm->options.engine, arm->options.device,
                                   &arm->options.library, &arm->device, error);
    if (code == 0 && arm->options.model) code = assay__arm_resolve_model(arm, error);
    if (code == 0 && !arm->options.model) code = name_script(arm, error);
    if (code == 0) code = assay__arm_start_trial(arm, identity, error);
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
    for (size_t i = 0; i < arm->outcome_count; i++)
        assay__outcome_free(&arm->outcomes[i]);
    free(arm->outcomes);
    assay__costs_free(&arm->costs);
    assay__workload_free(arm->workload);
    assay__model_free(arm->model);
    free(arm);
}
