/* recording.c - begins and ends the profile that a command writes. */
#include "run/arm/recording.h"

#include "base/clock.h"
#include "base/file.h"
#include "run/single_run.h"
#include "run/trial/describe.h"
#include "run/child.h"

#include <string.h>
#include <time.h>

int assay__recording_begin(struct assay__recording *recording,
                           const struct assay__run_options *options, struct assay_error *error)
{
    *recording = (struct assay__recording){.start_ns = assay__now_ns()};
    int code = assay__worker_locate(recording->worker, sizeof recording->worker, error);
    if (code) return code;
    struct assay_profile *profile = recording->profile = assay__profile_new();
    if (!profile) return assay__no_memory(error);
    profile->command_line = assay__arena_strdup(profile->arena,
                                                assay__or_default(options->command_line, ""));
    profile->path = assay__arena_strdup(profile->arena,
                                        assay__or_default(options->keeping.output, ""));
    assay__profile_set_command(
        profile, assay__arena_strdup(profile->arena, assay__or_default(options->command, "run")));
    if (!profile->command_line || !profile->path || !profile->command)
        return assay__no_memory(error);
    char text[32] = "";
    struct tm parts;
    time_t now = time(NULL);
    if (gmtime_r(&now, &parts)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    const char *created = assay__arena_strdup(profile->arena, text);
    profile->created = created ? created : "";
    code = assay__describe_ceilings(profile, options->ceilings, options->ceiling_count, error);
    if (code == 0) code = assay__describe_machine(profile, error);
    if (code == 0) {
        /* One private folder: for zoo models and, as TMPDIR of the workers, for what they would
         * leave behind if killed. Without it (no space, no permission) only zoo models fail. */
        if (assay__folder_temporary(recording->folder, sizeof recording->folder, NULL))
            recording->folder[0] = '\0';
        else
            recording->temporary = assay__arena_printf(recording->profile->arena, "TMPDIR=%s",
                                                       recording->folder);
    }
    return code;
}

int assay__recording_store(struct assay__recording *recording, struct assay_error *error)
{
    struct assay_profile *profile = recording->profile;
    if (!profile->path[0] || recording->store) return 0;
    int code = assay__store_create(profile->path, &recording->store, error);
    if (code == 0) code = assay__store_put_profile(recording->store, profile, error);
    for (size_t i = 0; i < profile->trial_count && code == 0; i++)
        code = assay__store_put_trial(recording->store, &profile->trials[i], error);
    return code;
}

void assay__recording_note(struct assay__recording *recording, const struct assay_error *error)
{
    if (error->code == 0 || recording->store_error.code) return;
    recording->store_error = *error;
    assay__store_abandon(recording->store);
    recording->store = NULL;
}

int assay__recording_finish(struct assay__recording *recording, struct assay_error *error)
{
    struct assay_profile *profile = recording->profile;
    struct assay_error stored = {0};
    profile->interrupted = false;
    for (size_t i = 0; i < profile->trial_count; i++)
        profile->interrupted |= profile->trials[i].state == ASSAY__TRIAL_INTERRUPTED;
    profile->complete = !profile->interrupted;
    if (recording->store) {
        int put = assay__store_put_profile(recording->store, profile, &stored);
        for (size_t i = 0; i < profile->trial_count && put == 0; i++) {
            put = assay__store_put_trial(recording->store, &profile->trials[i], &stored);
            /* The energy of a launch is only known when its trial is concluded, after the launch
             * was stored. */
            const struct assay__trial *trial = &profile->trials[i];
            for (size_t k = 0; k < trial->launch_count && put == 0; k++)
                if (trial->launches[k].metrics &&
                    assay_metrics_get(trial->launches[k].metrics, "energy.inference.gross"))
                    put = assay__store_put_launch(recording->store, trial->id, &trial->launches[k],
                                                  &stored);
        }
        if (put == 0 && profile->finding_count)
            put = assay__store_put_findings(recording->store, profile, &stored);
        if (put == 0) {
            assay__store_finish(recording->store, profile->complete, profile->interrupted, &stored);
            recording->store = NULL;
        }
        assay__recording_note(recording, &stored);
    }
    if (recording->store_error.code && error) *error = recording->store_error;
    return recording->store_error.code;
}

void assay__recording_end(struct assay__recording *recording, bool keep_profile)
{
    assay__store_abandon(recording->store);
    recording->store = NULL;
    if (recording->folder[0]) assay__folder_remove(recording->folder);
    recording->folder[0] = '\0';
    if (!keep_profile) assay_profile_close(recording->profile);
}
