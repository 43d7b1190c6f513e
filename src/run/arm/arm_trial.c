/* arm_trial.c - the trial of an arm in the document: engine, device, workload, and every option
 * that could explain its numbers, as text. There is room for TAGS_MOST tags of the caller; more are
 * left out. */
#include "run/arm/arm_internal.h"

#include <string.h>

#define OPTIONS_MORE 5
#define TAGS_MOST 16

static const char *number_text(struct assay__arm *arm, double value, const char *otherwise)
{
    if (!(value > 0)) return otherwise;
    const char *text = assay__arena_printf(arm->recording->profile->arena, "%.15g", value);
    return text ? text : "";
}

/* One more option behind those that always stand there: there is room for OPTIONS_MORE and the
 * tags. */
static int put_option(struct assay__arm *arm, const char *key, const char *value)
{
    struct assay__trial *trial = assay__arm_trial(arm);
    if (!value) return ASSAY_ENOMEM;
    trial->options[trial->option_count++] = (struct assay__pair){key, value};
    return 0;
}

/* What the arm is called in a comparison, and what it is there for. */
static int describe_role(struct assay__arm *arm)
{
    struct assay__arena *arena = arm->recording->profile->arena;
    int code = 0;
    if (arm->options.label)
        code = put_option(arm, "label", assay__arena_strdup(arena, arm->options.label));
    if (code == 0 && arm->options.role)
        code = put_option(arm, "role", assay__arena_strdup(arena, arm->options.role));
    for (size_t i = 0; i < arm->options.tag_count && i < TAGS_MOST && code == 0; i++) {
        const char *tag = arm->options.tags[i], *equals = strchr(tag, '=');
        if (!equals) continue;
        const char *key = assay__arena_strndup(arena, tag, (size_t)(equals - tag));
        code = key ? put_option(arm, key, assay__arena_strdup(arena, equals + 1)) : ASSAY_ENOMEM;
    }
    return code;
}

/* What else is read meanwhile; none without a wish. */
static int describe_watch(struct assay__arm *arm)
{
    const struct assay_run_options *o = &arm->options;
    if (!o->power && !o->memory && !o->counters) return 0;
    const char *value = assay__arena_printf(
        arm->recording->profile->arena, "%s%s%s%s%s", o->power ? "power" : "",
        o->power && (o->memory || o->counters) ? "+" : "", o->memory ? "memory" : "",
        o->memory && o->counters ? "+" : "", o->counters ? "counters" : "");
    return put_option(arm, "watch", value);
}

static int describe_options(struct assay__arm *arm)
{
    static const char *const methods[] = {"off", "auto", "markers", "isolated", "engine"};
    const struct assay_run_options *options = &arm->options;
    struct assay__arena *arena = arm->recording->profile->arena;
    const char *warmup = assay__arena_printf(arena, "%lld",
                                             (long long)(options->warmup_plus_1 - 1));
    const struct assay__pair pairs[] = {
        {"threads", number_text(arm, options->threads, "default")},
        {"opt", assay__arena_strdup(arena, options->optimization)},
        {"streams", number_text(arm, options->streams, "1")},
        {"cpus", assay__arena_strdup(arena, assay__or_default(options->cpus, "any"))},
        {"spinning", options->spinning_off ? "off" : "default"},
        {"launches", number_text(arm, options->launches, "1")},
        {"warmup", options->warmup_plus_1 ? warmup : "detected"},
        {"iters", number_text(arm, (double)options->iterations, "by precision")},
        {"time_s", number_text(arm, options->time_s, "by precision")},
        {"seed", assay__arena_printf(arena, "%llu", (unsigned long long)options->seed)},
        {"layers", (size_t)options->layers < sizeof methods / sizeof methods[0]
                       ? methods[options->layers]
                       : "off"},
        {"generate", number_text(arm, (double)options->generate, "")},
        {"prompt", number_text(arm, (double)options->prompt, "")},
        {ASSAY__TOKEN_IDS, ""}, /* filled when they are known */
    };
    const size_t count = sizeof pairs / sizeof pairs[0] - (options->generate > 0 ? 0 : 3);
    assay__arm_trial(arm)->options = assay__arena_alloc(
        arena, sizeof pairs + (OPTIONS_MORE + TAGS_MOST) * sizeof pairs[0]);
    if (!assay__arm_trial(arm)->options) return ASSAY_ENOMEM;
    memcpy(assay__arm_trial(arm)->options, pairs, sizeof pairs);
    assay__arm_trial(arm)->option_count = count;
    for (size_t i = 0; i < count; i++)
        if (!pairs[i].value) return ASSAY_ENOMEM;
    int code = describe_role(arm);
    return code ? code : describe_watch(arm);
}

/* profile->model is the first arm's: of a comparison of models the others' are told here. */
int assay__arm_name_model(struct assay__arm *arm, const struct assay__model_info *first)
{
    struct assay__arena *arena = arm->recording->profile->arena;
    const char *name = arm->info.name;
    if (!arm->options.label || arm->options.tag_count || !arm->options.model || !name || !*name)
        return 0;
    if (first->name && strcmp(first->name, name) == 0) return 0;
    int code = put_option(arm, "model", name);
    if (code == 0 && arm->info.parameters >= 0)
        code = put_option(arm, "parameters",
                          assay__arena_printf(arena, "%lld", (long long)arm->info.parameters));
    return code;
}

int assay__arm_start_trial(struct assay__arm *arm, struct assay_error *error)
{
    struct assay__arena *arena = arm->recording->profile->arena;
    struct assay__trial *trial = assay__profile_trial(arm->recording->profile);
    if (!trial) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    const char *engine = assay__arena_strdup(arena, arm->options.engine),
               *device = assay__arena_strdup(arena, arm->options.device);
    if (!engine || !device || describe_options(arm))
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    trial->engine = engine;
    trial->device = device;
    return arm->workload
               ? assay__describe_workload(arm->recording->profile, trial, arm->workload, error)
               : 0;
}
