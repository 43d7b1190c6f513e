/* arm_options.c - the options of a run: defaults filled in, what cannot be refused in one line,
 * before anything is read or started. Whether a device or a model exists is not looked at here. */
#include "run/arm/arm_internal.h"

#include "model/inputs/generation_roles.h"
#include "base/options_read.h"

#include <math.h>
#include <string.h>

#define TIMEOUT_S 300.0
#define LAUNCHES_MOST 1000

/* A generation is one inference, of one stream; its prompt is the sequence. */
static int check_generation(struct assay_run_options *options, struct assay_error *error)
{
    if (options->generate == 0 && options->prompt == 0) return 0;
    if (options->generate < 1 || options->generate > ASSAY__GENERATE_MOST || options->prompt < 0)
        return assay_error_set(error, ASSAY_EINVAL,
                               "a prompt belongs to a generation of 1 to %d tokens (--generate N)",
                               ASSAY__GENERATE_MOST);
    if (options->prompt > 0 && options->sequence > 0)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the prompt is the sequence: --prompt and --seq exclude each other");
    if (options->streams > 1)
        return assay_error_set(error, ASSAY_EINVAL,
                               "a generation runs in one stream: --streams %d is not possible with "
                               "--generate (--batch N makes N sequences at once)",
                               options->streams);
    if (options->layers != ASSAY_LAYERS_OFF)
        return assay_error_set(error, ASSAY_EINVAL,
                               "layers of a whole generation are not timed: profile one step of it "
                               "instead, such as gpt2:phase=decode,past=32, without --generate");
    if (options->sequence == 0) options->sequence = options->prompt;
    return 0;
}

int assay__run_options_check(struct assay_run_options *options, struct assay_error *error)
{
    static const char *const levels[] = {"none", "basic", "extended", "all"};
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
    bool known = false;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        known |= strcmp(options->optimization, levels[i]) == 0;
    if (!known)
        return assay_error_set(error, ASSAY_EINVAL,
                               "optimisation level '%s': none, basic, extended and all are known",
                               options->optimization);
    if (options->launches < 1 || options->launches > LAUNCHES_MOST)
        return assay_error_set(error, ASSAY_EINVAL, "%d launches: between 1 and %d are possible",
                               options->launches, LAUNCHES_MOST);
    if (options->streams < 1 || options->streams > 1024)
        return assay_error_set(error, ASSAY_EINVAL, "%d streams: between 1 and 1024 are possible",
                               options->streams);
    if (options->threads < 0 || options->threads > 4096)
        return assay_error_set(error, ASSAY_EINVAL, "%d threads: between 1 and 4096 are possible",
                               options->threads);
    if (options->iterations < 0 || options->warmup_plus_1 < 0 || !(options->time_s >= 0) ||
        !(options->timeout_s > 0) || !(options->launch_limit_s >= 0) || options->batch < 0 ||
        options->sequence < 0 || !isfinite(options->time_s) || !isfinite(options->timeout_s))
        return assay_error_set(error, ASSAY_EINVAL,
                               "a count, size or time is negative or not a number");
    int code = check_generation(options, error);
    return code ? code : options->cpus ? assay__cpus_check(options->cpus, error) : 0;
}
