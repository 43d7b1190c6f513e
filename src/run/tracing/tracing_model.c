/* tracing_model.c - the timeline of a model in a worker of ours: a run of one short launch, after
 * which the worker writes the records. The run's own profile is not kept. */
#include "run/run_options.h"
#include "run/tracing/tracing.h"

#define WARM_S 0.2 /* of inferences before those that are recorded */

int assay__tracing_model(const struct assay__run_options *run, const char *beside,
                         struct assay__tracing **tracing, struct assay_error *error)
{
    struct assay__run_options options = *run;
    struct assay_profile *profile = NULL;
    int code = assay__tracing_new(beside, tracing, error);
    if (code) return code;
    options.timeline = (*tracing)->folder;
    options.measuring.launches = 1;
    options.measuring.layers = ASSAY_LAYERS_OFF;
    if (!options.measuring.iterations && !(options.measuring.time_s > 0))
        options.measuring.time_s = WARM_S;
    options.keeping.output = NULL;
    code = assay__run(&options, &profile, error);
    for (size_t i = 0; profile && i < profile->trial_count && !code; i++)
        if (profile->trials[i].state == ASSAY__TRIAL_FAILED)
            code = assay_error_set(error, ASSAY_EENGINE, "%s", profile->trials[i].reason);
    assay_profile_close(profile);
    return code;
}
