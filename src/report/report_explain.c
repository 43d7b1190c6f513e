/* report_explain.c - timelines that were saved as profiles: read, explained and rendered again. */
#include "report/report_explain.h"

#include "base/no_memory.h"
#include "profile/profile.h"
#include "trace/events_profile.h"

#include <assay/profile.h>

struct saved {
    struct assay__events *events;
    struct assay__explain *explain;
    struct assay_profile *profile;
};

/* What its processes allocated is in trials of the profile. */
static int load_allocations(const char *path, struct saved *saved, struct assay_error *error)
{
    struct assay__explain *x = saved->explain;
    int code = assay_profile_open(path, &saved->profile, error);
    size_t count = code ? 0 : saved->profile->trial_count;
    struct assay__program_allocations *programs = assay__arena_array(x->arena, count,
                                                                     sizeof *programs);
    if (!code && !programs) code = assay__no_memory(error);
    for (size_t i = 0; i < count && !code; i++)
        programs[i] = (struct assay__program_allocations){saved->profile->trials[i].label,
                                                          &saved->profile->trials[i].allocations};
    x->allocations = programs;
    x->allocation_count = code ? 0 : count;
    return code;
}

static int load(const char *path, struct saved *saved, struct assay_error *error)
{
    int code = assay__events_load(path, &saved->events, error);
    if (!code) code = assay__explain_new(saved->events, &saved->explain, error);
    if (!code) saved->explain->file = path;
    return code ? code : load_allocations(path, saved, error);
}

static void unload(struct saved *saved)
{
    assay__explain_free(saved->explain);
    assay__events_free(saved->events);
    assay_profile_close(saved->profile);
}

int assay__explain_profile_report(const char *path, const struct assay_report_options *options,
                                  struct assay__buf *out, struct assay_error *error)
{
    struct saved saved = {0};
    int code = load(path, &saved, error);
    if (!code) code = assay__explain_report(saved.explain, options, out, error);
    unload(&saved);
    return code;
}

int assay__explain_profiles_report(const char *before, const char *after,
                                   const struct assay_report_options *options,
                                   struct assay__buf *out, struct assay_error *error)
{
    struct saved first = {0}, second = {0};
    struct assay__explain_diff *diff = NULL;
    int code = load(before, &first, error);
    if (!code) code = load(after, &second, error);
    if (!code) code = assay__explain_diff_new(first.explain, second.explain, &diff, error);
    if (!code) code = assay__explain_diff_report(diff, options, out, error);
    assay__explain_diff_free(diff);
    unload(&first);
    unload(&second);
    return code;
}
