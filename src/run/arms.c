/* arms.c - see arms.h. */
#include "run/arms.h"

#include "base/file.h"
#include "base/vec.h"
#include "run/drift.h"
#include "run/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FAILURES_MOST 2

int assay__arms_begin(struct assay__arms *arms, const struct assay_run_options *whole,
                      struct assay_error *error)
{
    *arms = (struct assay__arms){.whole = *whole};
    return assay__recording_begin(&arms->recording, whole, error);
}

bool assay__arms_interrupted(const struct assay__arms *arms)
{
    return arms->whole.interrupt && *arms->whole.interrupt;
}

struct assay__trial *assay__arms_trial(const struct assay__arms *arms, size_t index)
{
    return &arms->recording.profile->trials[arms->trials[index]];
}

/* A trial for an arm that never came to run. */
static int add_failed(struct assay__arms *arms, const struct assay_run_options *options,
                      const struct assay_error *why)
{
    struct assay_profile *profile = arms->recording.profile;
    struct assay__trial *trial = assay__profile_trial(profile);
    if (!trial) return ASSAY_ENOMEM;
    const char *device = assay__arena_strdup(profile->arena,
                                             options->device ? options->device : "cpu"),
               *engine = assay__arena_strdup(profile->arena,
                                             options->engine ? options->engine : "ort"),
               *reason = assay__arena_strdup(profile->arena, why->message);
    if (!device || !engine || !reason) return ASSAY_ENOMEM;
    trial->state = ASSAY__TRIAL_FAILED;
    trial->device = device;
    trial->engine = engine;
    trial->reason = reason;
    return 0;
}

/* Where the arm's first outputs go, to be compared. */
static void keep_outputs(struct assay__arms *arms, size_t index)
{
    char path[PATH_MAX], name[32];
    snprintf(name, sizeof name, "outputs-%zu", index);
    if (arms->recording.folder[0] &&
        assay__path_join(arms->recording.folder, name, path, sizeof path) == 0 &&
        mkdir(path, 0700) == 0)
        assay__arm_keep_outputs(arms->items[index], path);
}

int assay__arms_add(struct assay__arms *arms, const struct assay_run_options *options,
                    size_t *index, struct assay_error *error)
{
    struct assay_error own = {0};
    struct assay_run_options one = *options;
    if (assay__vec_grow((void **)&arms->items, &arms->capacity, arms->count + 1,
                        sizeof *arms->items) ||
        assay__vec_grow((void **)&arms->trials, &arms->trial_capacity, arms->count + 1,
                        sizeof *arms->trials))
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    one.power = false; /* the machine's sensors are read once, for all */
    size_t at = arms->count;
    arms->items[at] = NULL;
    arms->trials[at] = arms->recording.profile->trial_count;
    int code = assay__arm_open(&arms->recording, &one, &arms->items[at], &own);
    if (code == ASSAY_ENOMEM) return assay_error_set(error, code, "out of memory");
    if (code && arms->recording.profile->trial_count == arms->trials[at])
        code = add_failed(arms, options, &own);
    if (code == ASSAY_ENOMEM) return assay_error_set(error, code, "out of memory");
    arms->count++;
    if (arms->items[at]) keep_outputs(arms, at);
    if (index) *index = at;
    if (arms->items[at] && arms->recording.store) {
        struct assay_error stored = {0};
        assay__store_put_trial(arms->recording.store, assay__arms_trial(arms, at), &stored);
        assay__recording_note(&arms->recording, &stored);
    }
    return 0;
}

int assay__arms_start(struct assay__arms *arms, struct assay_error *error)
{
    int code = assay__recording_store(&arms->recording, error);
    if (code || !arms->whole.power) return code;
    struct assay_run_options sensors = arms->whole;
    sensors.memory = sensors.counters = false;
    arms->whole = sensors;
    struct assay__watch_plan plan = {&arms->whole, arms->recording.profile, NULL,
                                     arms->recording.start_ns};
    return assay__watch_begin(&plan, &arms->sensors, error);
}

/* --- launches --------------------------------------------------------------------------------- */

/* The last launches failed, one after the other. */
static bool is_lost(const struct assay__arm *arm)
{
    size_t count = 0, failed = 0;
    const struct assay__outcome *outcomes = assay__arm_outcomes(arm, &count);
    for (size_t i = count; i-- > 0 && outcomes[i].code;)
        failed++;
    return failed >= FAILURES_MOST;
}

static int launch_one(struct assay__arms *arms, size_t index, struct assay_error *error)
{
    struct assay__arm *arm = arms->items[index];
    size_t count = 0;
    if (!arm || is_lost(arm) || assay__arms_interrupted(arms)) return 0;
    assay__arm_outcomes(arm, &count);
    int code = count == 0 ? assay__arm_begin(arm, error) : 0;
    return code ? code : assay__arm_launch(arm, error);
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
    struct assay_error own = {0};
    if (!arm || assay__arms_trial(arms, index)->state != ASSAY__TRIAL_RUNNING) return 0;
    int code = assay__arm_extra(arm, error);
    if (code == 0) code = assay__arm_finish(arm, arms->sensors, &own);
    if (code == ASSAY_ENOMEM) return assay_error_set(error, code, "out of memory for the metrics");
    return 0; /* what else it says stands in the trial */
}

/* The worst of the outputs, each number by itself. */
static int put_drift(struct assay__trial *trial, const struct assay__drift *drift,
                     const char *reference)
{
    double most = NAN, l2 = NAN, cosine = NAN, top1 = NAN;
    const char *reason = "";
    char note[256];
    for (size_t i = 0; i < drift->output_count; i++) {
        const struct assay__drift_output *o = &drift->outputs[i];
        if (*o->reason) reason = o->reason;
        most = fmax(most, o->max_absolute); /* fmax and fmin leave NaN out */
        l2 = fmax(l2, o->relative_l2);
        cosine = fmin(cosine, o->cosine);
        top1 = fmin(top1, o->top1);
    }
    snprintf(note, sizeof note, "worst output, against %s on the same inputs%s%s", reference,
             *reason ? "; not all were compared: " : "", reason);
    const struct {
        const char *name;
        double value;
        const char *missing;
    } rows[] = {
        {"drift.max_absolute", most, "no output could be compared"},
        {"drift.relative_l2", l2, "no output could be compared, or the reference is all 0"},
        {"drift.cosine", cosine, "no output could be compared, or one of the two is all 0"},
        {"drift.top1", top1, "no output has a class axis"},
    };
    int code = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && code == 0; i++)
        code = isfinite(rows[i].value)
                   ? assay_metrics_derived(trial->metrics, rows[i].name, rows[i].value, "outputs",
                                           note)
                   : assay_metrics_unavailable(trial->metrics, rows[i].name,
                                               *reason ? reason : rows[i].missing);
    return code;
}

int assay__arms_drift(struct assay__arms *arms, size_t reference, struct assay_error *error)
{
    int code = 0;
    if (reference >= arms->count || !arms->items[reference]) return 0;
    const char *name = assay__arms_trial(arms, reference)->device;
    for (size_t i = 0; i < arms->count && code == 0; i++) {
        struct assay__drift drift = {0};
        struct assay_error why = {0};
        if (i == reference || !arms->items[i]) continue;
        struct assay__trial *trial = assay__arms_trial(arms, i);
        if (assay__drift_folders(assay__arm_outputs(arms->items[reference]),
                                 assay__arm_outputs(arms->items[i]), &drift, &why))
            code = assay_metrics_unavailable(trial->metrics, "drift.relative_l2", why.message);
        else
            code = put_drift(trial, &drift, name);
        assay__drift_free(&drift);
    }
    return code ? assay_error_set(error, code, "out of memory for the drift") : 0;
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
