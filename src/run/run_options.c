/* run_options.c - the options of a run: read from the caller's, with defaults filled in; impossible
 * ones are refused before anything is read or started. Whether a device or a model exists is not
 * checked here. */
#include "run/run_options.h"

#include "base/options_read.h"
#include "engine/engine.h"
#include "platform/platform.h"
#include "run/single_run.h"
#include "run/trial/token_stats.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define TIMEOUT_S 300.0

/* A list from a program: it must have the stated length and no NULL entries. */
static int check_list(const char *const *items, size_t count, const char *what,
                      struct assay_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!items || !items[i])
            return assay__refuse_option(error, what, "item %zu of %s is missing", i + 1, what);
    return 0;
}

int assay__run_options_read(const struct assay_run_options *given, struct assay__run_options *own,
                            struct assay_error *error)
{
    struct assay_run_options read;
    int code = assay__options_read(given, &read, sizeof read, "run", error);
    *own = (struct assay__run_options){.workload = read.workload,
                                       .target = read.target,
                                       .measuring = read.measuring,
                                       .watching = read.watching,
                                       .keeping = read.keeping,
                                       .callbacks = read.callbacks,
                                       .feedback = read.feedback};
    const struct assay_workload_options *w = &own->workload;
    if (!code) code = check_list(w->dims, w->dim_count, "dims", error);
    if (!code) code = check_list(w->shapes, w->shape_count, "shapes", error);
    if (!code) code = check_list(w->inputs, w->input_count, "inputs", error);
    if (!code) code = check_list(own->feedback.states, own->feedback.state_count, "states", error);
    if (!code && (int)own->measuring.layers > (int)ASSAY_LAYERS_ENGINE)
        code = assay__refuse_option(error, "layers", "unknown layer timing method");
    return code;
}

void assay__remark(const struct assay_callbacks *callbacks, const char *format, ...)
{
    char text[512];
    va_list args;
    if (!callbacks->remark) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    callbacks->remark(callbacks->context, text);
}

bool assay__progress(const struct assay_callbacks *callbacks, const char *phase, double done)
{
    const struct assay_progress progress = {.phase = phase, .done = done};
    if (callbacks->progress) callbacks->progress(callbacks->context, &progress);
    return callbacks->interrupt && *callbacks->interrupt;
}

/* A generation is one inference of one stream; its prompt is the sequence. */
static int check_generation(struct assay__run_options *options, struct assay_error *error)
{
    struct assay_workload_options *w = &options->workload;
    if (w->generate == 0 && w->prompt == 0) return 0;
    if (w->generate < 1 || w->generate > ASSAY__GENERATE_MOST || w->prompt < 0)
        return assay__refuse_option(error, w->generate ? "generate" : "prompt",
                                    "a prompt requires a generation of 1 to %d tokens",
                                    ASSAY__GENERATE_MOST);
    if (w->prompt > 0 && w->sequence > 0)
        return assay__refuse_option(error, "prompt",
                                    "a prompt length and a sequence length cannot be used "
                                    "together: the prompt is the sequence");
    if (options->target.streams > 1)
        return assay__refuse_option(error, "streams",
                                    "a generation runs in one stream, not in %d; a batch of N "
                                    "generates N sequences at once",
                                    options->target.streams);
    if (options->measuring.layers != ASSAY_LAYERS_OFF)
        return assay__refuse_option(error, "layers",
                                    "layers of a whole generation are not timed: profile a single "
                                    "step, such as gpt2:phase=decode,past=32");
    if (w->sequence == 0) { /* only one of them stays set: the options may be checked again */
        w->sequence = w->prompt;
        w->prompt = 0;
    }
    return 0;
}

/* A generation has its own cache, and the outputs of a script have no names. */
static int check_feedback(const struct assay__run_options *options, struct assay_error *error)
{
    if (!options->feedback.state_count) return 0;
    if (options->workload.generate)
        return assay__refuse_option(error, "states",
                                    "a generation feeds its own cache back: no states are given");
    if (!options->workload.model)
        return assay__refuse_option(error, "states",
                                    "a script has no model whose outputs could be fed back");
    return 0;
}

static bool is_time(double seconds)
{
    return isfinite(seconds) && seconds >= 0;
}

static int check_limits(const struct assay__run_options *options, struct assay_error *error)
{
    const struct assay_measuring_options *m = &options->measuring;
    const struct assay_watching_options *watching = &options->watching;
    const struct {
        const char *name;
        int value, least, most;
    } counts[] = {{"launches", m->launches, 1, 1000},
                  {"streams", options->target.streams, 1, 1024},
                  {"threads", options->target.threads, 0, ASSAY__THREADS_MOST}};
    const struct {
        const char *name;
        bool legal;
    } numbers[] = {
        {"batch", options->workload.batch >= 0},
        {"sequence", options->workload.sequence >= 0},
        {"iterations", m->iterations >= 0},
        {"warmup", m->warmup >= 0},
        {"time_s", is_time(m->time_s)},
        {"timeout_s", is_time(m->timeout_s)},
        {"launch_limit_s", m->launch_limit_s >= 0},
        {"interval_s", is_time(watching->interval_s)},
        {"idle_s", is_time(watching->idle_s)},
        {"seconds_per_inference", is_time(options->feedback.seconds_per_inference)},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i].value < counts[i].least || counts[i].value > counts[i].most)
            return assay__refuse_option(error, counts[i].name, "%d %s: must be between 1 and %d",
                                        counts[i].value, counts[i].name, counts[i].most);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!numbers[i].legal)
            return assay__refuse_option(error, numbers[i].name,
                                        "'%s' must not be negative, infinite or NaN",
                                        numbers[i].name);
    return 0;
}

int assay__run_options_check(struct assay__run_options *options, struct assay_error *error)
{
    struct assay_target_options *target = &options->target;
    target->engine = assay__or_default(target->engine, "ort");
    target->device = assay__or_default(target->device, "cpu");
    target->optimization = assay__or_default(target->optimization, "all");
    if (options->measuring.launches == 0)
        options->measuring.launches = options->brief ? ASSAY__BRIEF_LAUNCHES : 1;
    if (target->streams == 0) target->streams = 1;
    if (options->measuring.timeout_s == 0) options->measuring.timeout_s = TIMEOUT_S;
    if (!options->workload.model && !options->script)
        return assay__refuse_option(error, "model", "no model was given");
    if (!assay__engine_find(target->engine))
        return assay_error_set(error, ASSAY_ENOTFOUND, "there is no engine '%s'", target->engine);
    if (!assay__optimization_parse(target->optimization))
        return assay__refuse_option(error, "optimization",
                                    "unknown optimisation level '%s': none, basic, extended or all",
                                    target->optimization);
    int code = check_limits(options, error);
    if (!code) code = check_generation(options, error);
    if (!code) code = check_feedback(options, error);
    if (code || !target->cpus) return code;
    code = assay__cpus_check(target->cpus, error);
    if (code == ASSAY_EINVAL && error) error->option = "cpus";
    return code;
}
