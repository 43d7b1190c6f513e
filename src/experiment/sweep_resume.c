/* sweep_resume.c - resuming a sweep that was interrupted or killed. The earlier capture must belong
 * to the same sweep: the same model, the same grid, the same way of measuring. A completed point is
 * reused as it is, even if none of its launches succeeded; for one that did not complete, or lost
 * launches, the successful ones are reused and only the others are measured. */
#include "judge/comparison.h"
#include "judge/sweep.h"
#include "experiment/sweep_run.h"

#include "base/no_memory.h"

#include <string.h>

/* The trial of the nth point; NULL: there are fewer. */
static struct assay__trial *point_at(const struct assay_profile *profile, size_t n)
{
    for (size_t i = 0; i < profile->trial_count; i++)
        if (profile->trials[i].role != ASSAY__ROLE_CONFIRM && n-- == 0) return &profile->trials[i];
    return NULL;
}

/* These may differ: goal and limits, the number of launches, and what the engine chose itself. */
static bool is_asked(const char *key)
{
    static const char *const keys[] = {"goal", "slo", "memory_budget", "drift_limit", "class"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

static int check_point(const struct assay_profile *kept, const struct assay__trial *a,
                       const struct assay__trial *b, struct assay_error *error)
{
    if (!a->launch_count || !b->option_count) return 0; /* nothing of it is reused */
    if (strcmp(a->target.engine, b->target.engine) != 0 ||
        strcmp(a->target.device, b->target.device) != 0)
        return assay_error_set(error, ASSAY_EINVAL, "%s was measured on %s %s, this is %s %s",
                               kept->path, a->target.engine, a->target.device, b->target.engine,
                               b->target.device);
    for (size_t i = 0; i < b->option_count; i++) {
        const char *key = b->options[i].key, *now = b->options[i].value,
                   *then = assay__trial_option(a, key);
        bool may_differ = is_asked(key) || strcmp(key, "launches") == 0 ||
                          strcmp(key, "watch") == 0 || strcmp(key, "role") == 0 ||
                          (strcmp(key, "threads") == 0 && strcmp(now, "default") == 0);
        if (!may_differ && strcmp(now, then) != 0)
            return assay_error_set(error, ASSAY_EINVAL,
                                   "%s was measured with %s %s, this command has %s", kept->path,
                                   key, then, now);
    }
    bool same = a->input_count == b->input_count;
    for (size_t i = 0; same && i < a->input_count; i++) {
        const struct assay__tensor_info *x = &a->inputs[i], *y = &b->inputs[i];
        same = strcmp(x->name, y->name) == 0 && x->rank == y->rank &&
               strcmp(x->fill ? x->fill : "", y->fill ? y->fill : "") == 0;
        for (int d = 0; same && d < x->rank; d++)
            same = x->dims[d] == y->dims[d];
    }
    if (same || b->state == ASSAY__TRIAL_FAILED) return 0;
    return assay_error_set(error, ASSAY_EINVAL, "%s was measured with other inputs (point '%s')",
                           kept->path, a->label);
}

int assay__sweep_resumable(const struct assay_profile *kept, const struct assay_profile *now,
                           struct assay_error *error)
{
    const struct assay__model_info *a = kept->models[0], *b = now->models[0];
    bool hashed = a->sha256 && *a->sha256 && b->sha256 && *b->sha256;
    size_t had = 0, has = 0;
    if (kept->kind != ASSAY__PROFILE_SWEEP)
        return assay_error_set(error, ASSAY_EINVAL, "%s is a profile of %s, not of sweep",
                               kept->path, kept->command);
    if (strcmp(a->fingerprint, b->fingerprint) != 0 || a->parameters != b->parameters ||
        a->weight_bytes != b->weight_bytes || (hashed && strcmp(a->sha256, b->sha256) != 0))
        return assay_error_set(
            error, ASSAY_EINVAL,
            "%s contains another model (%s, fingerprint %.12s; this one has %.12s)", kept->path,
            a->name, a->fingerprint, b->fingerprint);
    while (point_at(kept, had))
        had++;
    while (point_at(now, has))
        has++;
    for (size_t i = 0; i < has && i < had; i++) {
        const char *then = point_at(kept, i)->label, *here = point_at(now, i)->label;
        if (strcmp(then, here) != 0)
            return assay_error_set(
                error, ASSAY_EINVAL,
                "%s contains another grid: its point %zu is '%s', here it is '%s'", kept->path,
                i + 1, then, here);
    }
    if (had != has)
        return assay_error_set(error, ASSAY_EINVAL,
                               "%s contains another grid: %zu points, here there are %zu",
                               kept->path, had, has);
    int code = 0;
    for (size_t i = 0; i < has && !code; i++)
        code = check_point(kept, point_at(kept, i), point_at(now, i), error);
    return code;
}

/* --- taking over ------------------------------------------------------------------------------ */

/* The whole trial, as it ended: its arm has nothing left to do. Goal and limits are those of this
 * command; the other options stay as they were measured. */
static int adopt_trial(struct assay__arms *arms, size_t index, struct assay__trial *kept,
                       struct assay_error *error)
{
    struct assay__recording *recording = &arms->recording;
    struct assay__trial *trial = assay__arms_trial(arms, index), empty = *trial;
    struct assay__pair *options = assay__arena_array(
        recording->profile->arena, kept->option_count + trial->option_count + 1, sizeof *options);
    size_t count = 0;
    if (!options) return assay__no_memory(error);
    for (size_t i = 0; i < kept->option_count; i++)
        if (!is_asked(kept->options[i].key)) options[count++] = kept->options[i];
    for (size_t i = 0; i < trial->option_count; i++)
        if (is_asked(trial->options[i].key)) options[count++] = trial->options[i];
    *trial = *kept;
    *kept = empty;
    trial->id = empty.id;
    trial->model = empty.model;
    trial->options = options;
    trial->option_count = count;
    assay__arm_close(arms->items[index]);
    arms->items[index] = NULL;
    struct assay_error lost = {0}; /* what cannot be stored is noted, and the sweep goes on */
    int code = recording->store ? assay__store_put_trial(recording->store, trial, &lost) : 1;
    for (size_t l = 0; l < trial->launch_count && !code; l++) {
        const struct assay__launch *launch = &trial->launches[l];
        code = assay__store_put_launch(recording->store, trial->id, launch, &lost);
        for (int s = 0; launch->sample_count && s < launch->streams && !code; s++) {
            size_t first = launch->stream_offsets[s];
            code = assay__store_add_samples(recording->store, trial->id, launch->id, s,
                                            launch->samples_ns + first,
                                            launch->stream_offsets[s + 1] - first, &lost);
        }
    }
    assay__recording_note(recording, &lost);
    return 0;
}

int assay__sweep_adopt(struct assay__arms *arms, struct assay_profile *kept, size_t count,
                       int launches, struct assay__sweep_tally *tally, struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        struct assay__trial *old = point_at(kept, i), *trial = assay__arms_trial(arms, i);
        if (!old || !arms->items[i] || !old->launch_count) continue;
        bool failed = old->state == ASSAY__TRIAL_FAILED && !assay__trial_good_launches(old);
        if (failed || (old->state == ASSAY__TRIAL_OK && old->launch_count >= (size_t)launches)) {
            if (failed)
                tally->points_failed++;
            else
                tally->points_kept++;
            tally->launches_kept += old->launch_count;
            code = adopt_trial(arms, i, old, error);
            continue;
        }
        int taken = 0;
        for (size_t l = 0; l < old->launch_count && taken < launches && !code; l++) {
            if (old->launches[l].state != ASSAY__TRIAL_OK) continue;
            code = assay__arm_adopt(arms->items[i], &old->launches[l], error);
            taken++;
        }
        if (taken && !trial->target.engine_version[0]) {
            trial->target.engine_version = old->target.engine_version;
            trial->target.engine_library = old->target.engine_library;
        }
        tally->launches_kept += (size_t)taken;
    }
    return code;
}
