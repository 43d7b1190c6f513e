/* run_public.c - assay_run(): a run compared with the ceilings of its device; and reading the
 * options that all public experiments share. */
#include "base/no_memory.h"
#include "base/options_read.h"
#include "experiment/device_selection.h"
#include "experiment/experiment.h"
#include "experiment/run_ceilings.h"

int assay__experiment_read(const struct assay_run_options *run, const void *options, void *own,
                           size_t own_size, const char *what, struct assay__run_options *own_run,
                           struct assay_profile **profile, struct assay_error *error)
{
    if (!profile)
        return assay_error_set(error, ASSAY_EINVAL, "assay_%s needs a pointer for its profile",
                               what);
    *profile = NULL;
    int code = assay__run_options_read(run, own_run, error);
    return code || !own ? code : assay__options_read(options, own, own_size, what, error);
}

int assay__run_with_ceilings(const struct assay__run_options *given, struct assay_profile **profile,
                             struct assay_error *error)
{
    struct assay__run_options options = *given;
    struct assay__arena *arena = assay__arena_new(); /* of the ceilings; the profile copies them */
    *profile = NULL;
    int code = arena ? assay__device_of_class(given, arena, &options.target.device, error)
                     : assay__no_memory(error);
    if (!code) code = assay__run_ceilings(arena, NULL, 0, &options, error);
    if (!code) code = assay__run(&options, profile, error);
    assay__arena_free(arena);
    return code;
}

int assay_run(const struct assay_run_options *options, struct assay_profile **profile,
              struct assay_error *error)
{
    struct assay__run_options own;
    int code = assay__experiment_read(options, NULL, NULL, 0, "run", &own, profile, error);
    return code ? code : assay__run_with_ceilings(&own, profile, error);
}
