/* arms.c - launches several arms in alternating order, and leaves out those that fail. */
#include "run/arm/arms.h"

#include "base/file.h"
#include "base/metric_value.h"
#include "base/vec.h"
#include "run/trial/drift.h"
#include "run/single_run.h"
#include "run/trial/outputs.h"
#include "run/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FAILURES_MOST 2
#define LIMITS_MOST 2.5 /* multiple of the launch limit that one arm may take */

int assay__arms_begin(struct assay__arms *arms, const struct assay__run_options *whole,
                      const struct assay__plan *plan, struct assay_error *error)
{
    *arms = (struct assay__arms){.whole = *whole};
    int code = assay__recording_begin(&arms->recording, whole, error);
    if (code || !plan) return code;
    struct assay_profile *profile = arms->recording.profile;
    const char *slo = assay__arena_strdup(profile->arena, plan->slo);
    if (!slo) return assay__no_memory(error);
    profile->plan = *plan;
    profile->plan.slo = slo;
    return 0;
}

bool assay__arms_interrupted(const struct assay__arms *arms)
{
    return arms->whole.callbacks.interrupt && *arms->whole.callbacks.interrupt;
}

struct assay__trial *assay__arms_trial(const struct assay__arms *arms, size_t index)
{
    return &arms->recording.profile->trials[arms->trials[index]];
}

/* A trial for an arm that never ran. Its model, although never read, has a name. */
static int add_failed(struct assay__arms *arms, const struct assay__run_options *options,
                      const struct assay__arm_identity *identity, const char *reason)
{
    struct assay_profile *profile = arms->recording.profile;
    struct assay__model_info *first = profile->models[0];
    if (options->workload.model && !*first->name) {
        const char *base = strrchr(options->workload.model, '/');
        const char *name = assay__arena_strdup(
            profile->arena, base && base[1] ? base + 1 : options->workload.model);
        if (!name) return ASSAY_ENOMEM;
        first->name = name;
    }
    return assay__arm_start_failed(profile, options, identity, reason);
}

/* A failure to store is remembered in the recording; the measurement continues. */
static void persist_trial(struct assay__arms *arms, size_t index)
{
    struct assay_error error = {0};
    if (!arms->recording.store) return;
    assay__store_put_trial(arms->recording.store, assay__arms_trial(arms, index), &error);
    assay__recording_note(&arms->recording, &error);
}

/* Room for one more arm, whose trial comes next. */
static int next_arm(struct assay__arms *arms, struct assay_error *error)
{
    size_t count = arms->count + 1;
    if (assay__vec_grow((void **)&arms->items, &arms->capacity, count, sizeof *arms->items) ||
        assay__vec_grow((void **)&arms->trials, &arms->trial_capacity, count, sizeof *arms->trials))
        return assay__no_memory(error);
    arms->items[arms->count] = NULL;
    arms->trials[arms->count] = arms->recording.profile->trial_count;
    return 0;
}

int assay__arms_add(struct assay__arms *arms, const struct assay__run_options *options,
                    const struct assay__arm_identity *identity, size_t *index,
                    struct assay_error *error)
{
    struct assay_error own = {0};
    struct assay__run_options one = *options;
    size_t at = arms->count;
    if (next_arm(arms, error)) return ASSAY_ENOMEM;
    one.watching.power = false; /* the machine's sensors are read once, for all */
    int code = assay__arm_open(&arms->recording, &one, identity, &arms->items[at], &own);
    if (code == ASSAY_ENOMEM) return assay__no_memory(error);
    if (code && arms->recording.profile->trial_count == arms->trials[at] &&
        add_failed(arms, options, identity, own.message))
        return assay__no_memory(error);
    arms->count++;
    if (index) *index = at;
    if (!arms->items[at]) return 0;
    /* Where the arm's first outputs are written for comparison. */
    char name[32], *outputs = arms->items[at]->outputs;
    snprintf(name, sizeof name, "outputs-%zu", at);
    if (!arms->recording.folder[0] ||
        assay__path_join(arms->recording.folder, name, outputs, PATH_MAX) ||
        mkdir(outputs, 0700) != 0)
        outputs[0] = '\0';
    if (arms->whole.watching.power)
        assay__arms_trial(arms, at)->protocol.watched |= ASSAY__WATCHED_POWER;
    persist_trial(arms, at);
    return 0;
}

int assay__arms_add_refused(struct assay__arms *arms, const struct assay__run_options *options,
                            const struct assay__arm_identity *identity, const char *reason,
                            size_t *index, struct assay_error *error)
{
    if (next_arm(arms, error)) return ASSAY_ENOMEM;
    if (add_failed(arms, options, identity, reason)) return assay__no_memory(error);
    if (index) *index = arms->count;
    arms->count++;
    return 0;
}

int assay__arms_start(struct assay__arms *arms, struct assay_error *error)
{
    int code = assay__recording_store(&arms->recording, error);
    if (code || !arms->whole.watching.power) return code;
    struct assay__run_options sensors = arms->whole;
    sensors.watching.memory = sensors.watching.counters = false;
    if (arms->count)
        sensors.measuring.launches *= (int)arms->count; /* room for the readings of all */
    arms->whole = sensors;
    struct assay__watch_plan plan = {&arms->whole, arms->recording.profile, NULL,
                                     arms->recording.start_ns};
    return assay__watch_begin(&plan, &arms->sensors, error);
}

/* --- launches --------------------------------------------------------------------------------- */

/* The last launches failed in a row, or one timed out, as the next one would. */
static bool is_lost(const struct assay__arm *arm)
{
    size_t count = arm->outcome_count, failed = 0;
    if (count && arm->outcomes[count - 1].code == ASSAY_ETIMEOUT) return true;
    while (failed < count && arm->outcomes[count - 1 - failed].code)
        failed++;
    return failed >= FAILURES_MOST;
}

/* Seconds that the arm's launches took together; 0 while within the limit. */
static double overdrawn_s(const struct assay__arm *arm)
{
    double spent_s = 0, limit_s = arm->options.measuring.launch_limit_s;
    for (size_t i = 0; i < arm->outcome_count; i++)
        spent_s += arm->outcomes[i].life_s;
    return limit_s > 0 && spent_s > LIMITS_MOST * limit_s ? spent_s : 0;
}

static int launch_one(struct assay__arms *arms, size_t index, struct assay_error *error)
{
    struct assay__arm *arm = arms->items[index];
    if (!arm || is_lost(arm) || overdrawn_s(arm) > 0 || assay__arms_interrupted(arms)) return 0;
    bool first = arm->outcome_count == 0;
    arm->shared = arms->sensors;
    int code = first ? assay__arm_begin(arm, error) : 0;
    if (code == 0) code = assay__arm_launch(arm, error);
    /* an arm with its own watch notifies that one only, so the shared sensors are read here */
    if (arm->options.watching.memory) assay__watch_ended(arms->sensors, 0);
    if (code == 0 && first) persist_trial(arms, index); /* with the engine's version */
    return code;
}

int assay__arms_round(struct assay__arms *arms, const size_t *indexes, size_t count, bool back,
                      struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = launch_one(arms, indexes[back ? count - 1 - i : i], error);
    return code;
}

int assay__arms_launch(struct assay__arms *arms, size_t first, size_t count, int launches,
                       struct assay_error *error)
{
    int code = 0;
    for (int round = 0; round < launches && code == 0; round++)
        for (size_t i = 0; i < count && code == 0; i++)
            code = launch_one(arms, first + (round % 2 ? count - 1 - i : i), error);
    return code;
}

/* --- the end ---------------------------------------------------------------------------------- */

int assay__arms_conclude(struct assay__arms *arms, size_t index, struct assay_error *error)
{
    struct assay__arm *arm = arms->items[index];
    struct assay_profile *profile = arms->recording.profile;
    struct assay_error own = {0};
    if (!arm || assay__arms_trial(arms, index)->state != ASSAY__TRIAL_RUNNING) return 0;
    int code = assay__arm_extra(arm, error);
    double spent_s = overdrawn_s(arm);
    bool fewer = (int)arm->outcome_count < arm->options.measuring.launches;
    if (code == 0 && spent_s > 0 && fewer && !is_lost(arm))
        code = assay__trial_add_note(
            profile, assay__arms_trial(arms, index),
            assay__arena_printf(profile->arena,
                                "only %zu launches: they took %.3g s, more than the launch limit "
                                "allows for one trial",
                                arm->outcome_count, spent_s));
    if (code == 0) code = assay__arm_finish(arm, arms->sensors, &own);
    return code == ASSAY_ENOMEM ? assay__no_memory(error) : 0; /* the rest is in the trial */
}

/* The worst value over the outputs, separately for each number. */
static void put_drift(struct assay__trial *trial, const struct assay__drift *drift,
                      const char *reference)
{
    double most = NAN, l2 = NAN, cosine = NAN, top1 = NAN;
    int64_t broken = 0, elements = 0; /* broken: NaN or infinite in only one of the two */
    char note[512], missing[256] = "";
    for (size_t i = 0; i < drift->output_count; i++) {
        const struct assay__drift_output *o = &drift->outputs[i];
        broken += o->broken;
        if (!*o->reason || o->broken)
            elements += o->elements;
        else
            snprintf(missing, sizeof missing, "%s", o->reason);
        most = fmax(most, o->max_absolute); /* fmax and fmin leave NaN out */
        l2 = fmax(l2, o->relative_l2);
        cosine = fmin(cosine, o->cosine);
        top1 = fmin(top1, o->top1);
    }
    if (broken)
        snprintf(missing, sizeof missing,
                 "%lld of %lld values are NaN or infinite, but finite in the outputs of %s",
                 (long long)broken, (long long)elements, reference);
    snprintf(note, sizeof note, "worst output, compared with %s on the same inputs%s%s", reference,
             *missing ? "; not all were compared: " : "", missing);
    const struct {
        const char *name;
        double value;
        const char *missing;
    } rows[] = {
        {"drift.max_absolute", most, "no output could be compared"},
        {"drift.relative_l2", l2, "no output could be compared, or the reference is all 0"},
        {"drift.cosine", cosine, "no output could be compared, or one of the two is all 0"},
        {"drift.top1", top1, "no output has a class axis, or the reference has no top class"},
        {"drift.nonfinite", elements ? (double)broken : NAN, "no output could be compared"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assay__metrics_put_known(trial->metrics, rows[i].name, ASSAY_DERIVED, rows[i].value,
                                 "outputs", note, *missing ? missing : rows[i].missing);
}

int assay__arms_drift_one(struct assay__arms *arms, size_t reference, size_t index,
                          struct assay_error *error)
{
    struct assay__drift drift = {0};
    struct assay_error why = {0};
    if (index == reference || reference >= arms->count || index >= arms->count ||
        !arms->items[reference] || !arms->items[index])
        return 0;
    struct assay__trial *trial = assay__arms_trial(arms, index),
                        *other = assay__arms_trial(arms, reference);
    if (assay__drift_folders(arms->items[reference]->outputs, arms->items[index]->outputs, &drift,
                             &why))
        assay_metrics_unavailable(trial->metrics, "drift.relative_l2", why.message);
    else
        put_drift(trial, &drift, *other->label ? other->label : other->target.device);
    assay__drift_free(&drift);
    int code = assay_metrics_failed(trial->metrics);
    return code ? assay__no_memory(error) : 0;
}

int assay__arms_nonfinite(struct assay__arms *arms, size_t index, struct assay_error *error)
{
    struct assay_error why = {0};
    struct assay__output *outputs = NULL;
    size_t count = 0;
    int64_t broken = 0, elements = 0; /* of the outputs that can be read as numbers */
    char note[96];
    if (index >= arms->count || !arms->items[index]) return 0;
    const char *folder = arms->items[index]->outputs;
    struct assay_metrics *metrics = assay__arms_trial(arms, index)->metrics;
    struct assay__arena *arena = assay__arena_new();
    if (!arena) return assay__no_memory(error);
    int code = *folder ? assay__outputs_read(folder, arena, &outputs, &count, &why)
                       : assay_error_set(&why, ASSAY_ENOTFOUND, "no outputs were saved");
    for (size_t i = 0; i < count && code == 0; i++) {
        double *numbers = NULL;
        int64_t own = 0;
        if (*outputs[i].reason) continue;
        code = assay__single_run_numbers(&outputs[i], &numbers, &own, &why);
        for (int64_t n = 0; n < own && code == 0; n++)
            broken += !isfinite(numbers[n]);
        if (code == 0) elements += own;
        free(numbers);
    }
    assay__arena_free(arena);
    if (code == ASSAY_ENOMEM) return assay__no_memory(error);
    snprintf(note, sizeof note, "of %lld output values", (long long)elements);
    assay__metrics_put_known(metrics, "outputs.nonfinite", ASSAY_MEASURED,
                             code || !elements ? (double)NAN : (double)broken, "outputs", note,
                             code ? why.message : "no output has numbers");
    return assay_metrics_failed(metrics) ? assay__no_memory(error) : 0;
}

int assay__arms_drift(struct assay__arms *arms, size_t reference, struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < arms->count && code == 0; i++)
        code = assay__arms_drift_one(arms, reference, i, error);
    return code;
}

int assay__arms_finish(struct assay__arms *arms, struct assay_profile **profile,
                       struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < arms->count && code == 0; i++)
        code = assay__arms_conclude(arms, i, error);
    if (code) return code;
    code = assay__recording_finish(&arms->recording, error);
    *profile = arms->recording.profile;
    arms->recording.profile = NULL;
    if (assay__arms_interrupted(arms))
        return assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted");
    return code;
}

void assay__arms_end(struct assay__arms *arms)
{
    for (size_t i = 0; i < arms->count; i++)
        assay__arm_close(arms->items[i]);
    free(arms->items);
    free(arms->trials);
    assay__watch_free(arms->sensors);
    assay__recording_end(&arms->recording, arms->recording.profile == NULL);
}
