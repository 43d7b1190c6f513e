/* sweep_resume.c - going on with a sweep that was interrupted or killed. The earlier capture must
 * be one of the same sweep: the same model, the same grid, the same way of measuring. A point that
 * ended there is taken over as it is, also one of which no launch went well; of one that did not
 * end, or lost launches, those that went well are, and only the others are measured. */
#include "judge/comparison.h"
#include "judge/sweep.h"
#include "experiment/sweep_run.h"

#include <string.h>

static bool is_point(const struct assay__trial *trial)
{
    return trial->role != ASSAY__ROLE_CONFIRM;
}

/* The nth point's trial; NULL: there are fewer. */
static struct assay__trial *point_at(const struct assay_profile *profile, size_t n)
{
    for (size_t i = 0; i < profile->trial_count; i++)
        if (is_point(&profile->trials[i]) && n-- == 0) return &profile->trials[i];
    return NULL;
}

static size_t count_points(const struct assay_profile *profile)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->trial_count; i++)
        count += is_point(&profile->trials[i]);
    return count;
}

/* --- is it the same sweep? -------------------------------------------------------------------- */

static int check_model(const struct assay_profile *kept, const struct assay_profile *now,
                       struct assay_error *error)
{
    const struct assay__model_info *a = kept->models[0], *b = now->models[0];
    bool known = a->sha256 && *a->sha256 && b->sha256 && *b->sha256;
    if (strcmp(a->fingerprint, b->fingerprint) == 0 && a->parameters == b->parameters &&
        a->weight_bytes == b->weight_bytes && (!known || strcmp(a->sha256, b->sha256) == 0))
        return 0;
    return assay_error_set(error, ASSAY_EINVAL,
                           "%s holds another model (%s, fingerprint %.12s; this one has %.12s)",
                           kept->path, a->name, a->fingerprint, b->fingerprint);
}

static int check_grid(const struct assay_profile *kept, const struct assay_profile *now,
                      struct assay_error *error)
{
    size_t had = count_points(kept), has = count_points(now);
    for (size_t i = 0; i < has && i < had; i++) {
        const char *a = point_at(kept, i)->label, *b = point_at(now, i)->label;
        if (strcmp(a, b) != 0)
            return assay_error_set(error, ASSAY_EINVAL,
                                   "%s holds another grid: its point %zu is '%s', here it is '%s'",
                                   kept->path, i + 1, a, b);
    }
    if (had != has)
        return assay_error_set(error, ASSAY_EINVAL,
                               "%s holds another grid: %zu points, here there are %zu", kept->path,
                               had, has);
    return 0;
}

/* May differ: what is asked of the points, how many launches, and what the engine answered
 * itself. */
static bool is_asked(const char *key)
{
    static const char *const keys[] = {"goal", "slo", "memory_budget", "drift_limit", "class"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

static bool may_differ(const char *key, const char *now)
{
    if (is_asked(key) || strcmp(key, "launches") == 0 || strcmp(key, "watch") == 0 ||
        strcmp(key, "role") == 0)
        return true;
    return strcmp(key, "threads") == 0 && strcmp(now, "default") == 0;
}

static int check_inputs(const struct assay_profile *kept, const struct assay__trial *a,
                        const struct assay__trial *b, struct assay_error *error)
{
    bool same = a->input_count == b->input_count;
    for (size_t i = 0; same && i < a->input_count; i++) {
        const struct assay__tensor_info *x = &a->inputs[i], *y = &b->inputs[i];
        same = strcmp(x->name, y->name) == 0 && x->rank == y->rank &&
               strcmp(x->fill ? x->fill : "", y->fill ? y->fill : "") == 0;
        for (int d = 0; same && d < x->rank; d++)
            same = x->dims[d] == y->dims[d];
    }
    if (same) return 0;
    return assay_error_set(error, ASSAY_EINVAL, "%s was measured with other inputs (point '%s')",
                           kept->path, a->label);
}

static int check_point(const struct assay_profile *kept, const struct assay__trial *a,
                       const struct assay__trial *b, struct assay_error *error)
{
    if (!a->launch_count || !b->option_count) return 0; /* nothing of it is taken over */
    if (strcmp(a->target.engine, b->target.engine) != 0 ||
        strcmp(a->target.device, b->target.device) != 0)
        return assay_error_set(error, ASSAY_EINVAL, "%s was measured on %s %s, this is %s %s",
                               kept->path, a->target.engine, a->target.device, b->target.engine,
                               b->target.device);
    for (size_t i = 0; i < b->option_count; i++) {
        const char *key = b->options[i].key, *now = b->options[i].value,
                   *then = assay__trial_option(a, key);
        if (!may_differ(key, now) && strcmp(now, then) != 0)
            return assay_error_set(error, ASSAY_EINVAL,
                                   "%s was measured with %s %s, this command says %s", kept->path,
                                   key, then, now);
    }
    return b->state == ASSAY__TRIAL_FAILED ? 0 : check_inputs(kept, a, b, error);
}

int assay__sweep_resumable(const struct assay_profile *kept, const struct assay_profile *now,
                           struct assay_error *error)
{
    if (kept->kind != ASSAY__PROFILE_SWEEP)
        return assay_error_set(error, ASSAY_EINVAL, "%s is a profile of %s, not of sweep",
                               kept->path, kept->command);
    int code = check_model(kept, now, error);
    if (!code) code = check_grid(kept, now, error);
    for (size_t i = 0; !code && point_at(now, i); i++)
        code = check_point(kept, point_at(kept, i), point_at(now, i), error);
    return code;
}

/* --- taking over ------------------------------------------------------------------------------ */

static void store_trial(struct assay__arms *arms, const struct assay__trial *trial)
{
    struct assay__recording *recording = &arms->recording;
    struct assay_error error = {0};
    int code = recording->store ? assay__store_put_trial(recording->store, trial, &error) : 1;
    for (size_t l = 0; l < trial->launch_count && !code; l++) {
        const struct assay__launch *launch = &trial->launches[l];
        code = assay__store_put_launch(recording->store, trial->id, launch, &error);
        for (int s = 0; launch->sample_count && s < launch->streams && !code; s++) {
            size_t first = launch->stream_offsets[s];
            code = assay__store_add_samples(recording->store, trial->id, launch->id, s,
                                            launch->samples_ns + first,
                                            launch->stream_offsets[s + 1] - first, &error);
        }
    }
    assay__recording_note(recording, &error);
}

/* Goal and limits are those of this command; the other options are kept as they were measured. */
static int ask_anew(struct assay__arms *arms, const struct assay__trial *now,
                    struct assay__trial *kept)
{
    struct assay__pair *options = assay__arena_array(arms->recording.profile->arena,
                                                     kept->option_count + now->option_count + 1,
                                                     sizeof *options);
    size_t count = 0;
    if (!options) return ASSAY_ENOMEM;
    for (size_t i = 0; i < kept->option_count; i++)
        if (!is_asked(kept->options[i].key)) options[count++] = kept->options[i];
    for (size_t i = 0; i < now->option_count; i++)
        if (is_asked(now->options[i].key)) options[count++] = now->options[i];
    kept->options = options;
    kept->option_count = count;
    return 0;
}

/* The whole trial, as it ended. Its arm has nothing left to do. */
static int adopt_trial(struct assay__arms *arms, size_t index, struct assay__trial *kept,
                       struct assay_error *error)
{
    struct assay__trial *trial = assay__arms_trial(arms, index), empty = *trial;
    int id = trial->id;
    if (ask_anew(arms, trial, kept)) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    *trial = *kept;
    *kept = empty;
    trial->id = id;
    trial->model = empty.model;
    assay__arm_close(arms->items[index]);
    arms->items[index] = NULL;
    store_trial(arms, trial);
    return 0;
}

static int adopt_launches(struct assay__arms *arms, size_t index, struct assay__trial *kept,
                          int launches, struct assay__sweep_tally *tally, struct assay_error *error)
{
    struct assay__trial *trial = assay__arms_trial(arms, index);
    int code = 0, taken = 0;
    for (size_t l = 0; l < kept->launch_count && taken < launches && !code; l++) {
        struct assay__launch *launch = &kept->launches[l];
        if (launch->state != ASSAY__TRIAL_OK) continue;
        code = assay__arm_adopt(arms->items[index], launch, error);
        taken++;
    }
    if (taken && !trial->target.engine_version[0]) {
        trial->target.engine_version = kept->target.engine_version;
        trial->target.engine_library = kept->target.engine_library;
    }
    tally->launches_kept += (size_t)taken;
    return code;
}

int assay__sweep_adopt(struct assay__arms *arms, struct assay_profile *kept, size_t count,
                       int launches, struct assay__sweep_tally *tally, struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        struct assay__trial *old = point_at(kept, i);
        if (!old || !arms->items[i] || !old->launch_count) continue;
        bool ended = (old->state == ASSAY__TRIAL_FAILED && !assay__trial_good_launches(old)) ||
                     (old->state == ASSAY__TRIAL_OK && old->launch_count >= (size_t)launches);
        if (ended) {
            if (old->state == ASSAY__TRIAL_FAILED)
                tally->points_failed++;
            else
                tally->points_kept++;
            tally->launches_kept += old->launch_count;
            code = adopt_trial(arms, i, old, error);
        } else {
            code = adopt_launches(arms, i, old, launches, tally, error);
        }
    }
    return code;
}
