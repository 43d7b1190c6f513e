/* explain_save.c - the profile holds the events and not what they say: that is computed
 * again from them. The machine that explains a trace is not the one that recorded it, so that its
 * environment is left unknown. */
#include "explain/explain_save.h"

#include "base/no_memory.h"
#include "profile/store.h"
#include "trace/events_profile.h"

#include <assay/profile.h>
#include <time.h>

static struct assay_profile *make_profile(const char *path, const char *command_line)
{
    char created[32] = "";
    struct tm parts;
    time_t now = time(NULL);
    struct assay_profile *profile = assay__profile_new();
    if (!profile) return NULL;
    if (gmtime_r(&now, &parts)) strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &parts);
    assay__profile_set_command(profile, "explain");
    profile->path = assay__arena_text(profile->arena, "%s", path);
    profile->command_line = assay__arena_text(profile->arena, "%s", command_line);
    profile->created = assay__arena_text(profile->arena, "%s", created);
    profile->complete = true;
    if (!assay__arena_failed(profile->arena)) return profile;
    assay_profile_close(profile);
    return NULL;
}

/* A trial for each program, of which nothing else is known. */
static int add_allocations(struct assay_profile *profile,
                           const struct assay__program_allocations *programs, size_t count)
{
    if (count && !profile->model_count && !assay__profile_model(profile)) return ASSAY_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        struct assay__trial *trial = assay__profile_trial(profile);
        if (!trial) return ASSAY_ENOMEM;
        trial->label = programs[i].program;
        trial->state = ASSAY__TRIAL_OK;
        trial->allocations = *programs[i].seen;
    }
    return 0;
}

int assay__explain_save(const struct assay__events *events,
                        const struct assay__program_allocations *programs, size_t program_count,
                        const char *path, const char *command_line, struct assay_error *error)
{
    struct assay__store *store = NULL;
    struct assay_profile *profile = make_profile(path, command_line);
    if (!profile || add_allocations(profile, programs, program_count)) {
        assay_profile_close(profile);
        return assay__no_memory(error);
    }
    int code = assay__store_create(path, &store, error);
    if (!code) code = assay__store_put_profile(store, profile, error);
    for (size_t i = 0; i < profile->trial_count && !code; i++)
        code = assay__store_put_trial(store, &profile->trials[i], error);
    if (!code) code = assay__events_save(events, store, error);
    if (!code)
        code = assay__store_finish(store, true, false, error);
    else
        assay__store_abandon(store);
    assay_profile_close(profile);
    return code;
}
