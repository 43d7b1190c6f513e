/* arm_trial.c - the trial of an arm in the document: what it runs on, how it is measured, its role
 * among the others. The typed facts are also kept as options, with the keys and order that JSON has
 * had since 0.1. */
#include "run/arm/arm.h"

#include "engine/engine.h"
#include "model/inputs/feedback.h"

#include <math.h>
#include <string.h>

/* --- typed ------------------------------------------------------------------------------------ */

static void describe_target(const struct assay__run_options *o, struct assay__arena *arena,
                            struct assay__trial *trial)
{
    struct assay__target *target = &trial->target;
    target->threads = o->target.threads;
    target->threads_default = o->target.threads == 0;
    target->optimization = assay__optimization_parse(o->target.optimization);
    target->streams = o->target.streams;
    target->spinning_off = o->target.spinning_off;
    target->cpus = assay__arena_text(arena, "%s", assay__or_default(o->target.cpus, ""));
    trial->protocol = (struct assay__protocol){
        .launches = o->measuring.launches,
        .warmup = o->measuring.warmup_given ? o->measuring.warmup : -1,
        .seed = o->workload.seed,
        .layers = o->measuring.layers,
        .watched = (o->watching.power ? ASSAY__WATCHED_POWER : 0u) |
                   (o->watching.memory ? ASSAY__WATCHED_MEMORY : 0u) |
                   (o->watching.counters ? ASSAY__WATCHED_COUNTERS : 0u)};
    trial->generation = (struct assay__generation_info){.tokens = o->workload.generate,
                                                        .prompt = o->workload.prompt};
}

/* What is fed back, and how much real time the input of an inference covers. */
static void describe_feedback(const struct assay__arm *arm, struct assay__trial *trial)
{
    struct assay__real_time *time = &trial->real_time;
    double seconds = arm->options.feedback.seconds_per_inference;
    trial->feedback = arm->feedback;
    trial->feedback_count = arm->feedback_count;
    if (seconds > 0) time->seconds = seconds;
    if (arm->workload &&
        assay__workload_sound(arm->workload, &time->sound_samples, &time->sound_rate))
        return;
    time->sound_samples = -1;
    time->sound_rate = NAN;
}

/* --- as options ------------------------------------------------------------------------------- */

struct writing {
    struct assay_profile *profile;
    struct assay__trial *trial;
    int code;
};

static void put(struct writing *w, const char *key, const char *value)
{
    if (!w->code) w->code = assay__trial_set_option(w->profile, w->trial, key, value);
}

static void put_number(struct writing *w, const char *key, double value, const char *otherwise)
{
    put(w, key, value > 0 ? assay__arena_printf(w->profile->arena, "%.15g", value) : otherwise);
}

static void put_plan(struct writing *w)
{
    const struct assay__plan *plan = &w->profile->plan;
    struct assay__arena *arena = w->profile->arena;
    if (!plan->asked) return;
    put(w, "goal", assay__plan_goal_name(plan->goal));
    if (plan->slo_metric) put(w, "slo", plan->slo);
    if (isfinite(plan->memory_bytes))
        put(w, "memory_budget", assay__arena_printf(arena, "%.0f", plan->memory_bytes));
    if (isfinite(plan->budget_s))
        put(w, "budget_s", assay__arena_printf(arena, "%.9g", plan->budget_s));
    if (plan->configurations >= 0)
        put(w, "grid", assay__arena_printf(arena, "%lld", (long long)plan->configurations));
    if (isfinite(plan->drift_limit))
        put(w, "drift_limit", assay__arena_printf(arena, "%.9g", plan->drift_limit));
}

/* The arm's role among the others. */
static void put_identity(struct writing *w)
{
    const struct assay__trial *trial = w->trial;
    if (*trial->label) put(w, "label", trial->label);
    if (trial->role) put(w, "role", assay__role_name(trial->role));
    put_plan(w);
    if (w->profile->kind == ASSAY__PROFILE_SWEEP)
        put(w, "class", assay__device_class_name(trial->target.device_class));
    if (w->profile->kind == ASSAY__PROFILE_TUNE && trial->target.software)
        put(w, "software", "yes");
}

/* What is measured besides the latency; absent if nothing is. */
static void put_watched(struct writing *w)
{
    static const char *const names[] = {"power", "memory", "counters"};
    const char *list = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0] && list; i++)
        if (w->trial->protocol.watched & (1u << i))
            list = assay__arena_printf(w->profile->arena, "%s%s%s", list, *list ? "+" : "",
                                       names[i]);
    if (!list || *list) put(w, "watch", list);
}

/* "hn=h0, cn=c0", or "none" if that was requested. */
static void put_feedback(struct writing *w, const struct assay_feedback_options *asked)
{
    const struct assay__trial *trial = w->trial;
    const char *text = "";
    for (size_t i = 0; i < trial->feedback_count; i++)
        text = assay__arena_text(w->profile->arena, "%s%s%s=%s", text, i ? ", " : "",
                                 trial->feedback[i].output, trial->feedback[i].input);
    if (!*text && asked->state_count) text = "none";
    if (*text) put(w, "state", text);
    if (trial->real_time.seconds > 0)
        put_number(w, "seconds_per_inference", trial->real_time.seconds, "");
}

static void put_options(struct writing *w, const struct assay__run_options *o)
{
    const struct assay__target *target = &w->trial->target;
    const struct assay__protocol *protocol = &w->trial->protocol;
    struct assay__arena *arena = w->profile->arena;
    put_number(w, "threads", target->threads, "default");
    put(w, "opt", assay__arena_strdup(arena, o->target.optimization));
    put_number(w, "streams", target->streams, "1");
    put(w, "cpus", *target->cpus ? target->cpus : "any");
    put(w, "spinning", target->spinning_off ? "off" : "default");
    put_number(w, "launches", protocol->launches, "1");
    put(w, "warmup",
        protocol->warmup < 0 ? "detected"
                             : assay__arena_printf(arena, "%lld", (long long)protocol->warmup));
    put_number(w, "iters", (double)o->measuring.iterations, "by precision");
    put_number(w, "time_s", o->measuring.time_s, "by precision");
    put(w, "seed", assay__arena_printf(arena, "%llu", (unsigned long long)protocol->seed));
    put(w, "layers", assay__enum_name(&assay__layer_method_names, protocol->layers));
    if (o->provider_options)
        put(w, "provider_options", assay__arena_strdup(arena, o->provider_options));
    if (o->script) put(w, "script", assay__arena_strdup(arena, o->script));
    put_feedback(w, &o->feedback);
    if (!w->trial->generation.tokens) return;
    put_number(w, "generate", (double)w->trial->generation.tokens, "");
    put_number(w, "prompt", (double)w->trial->generation.prompt, "");
}

/* In a comparison of models, those after the first, which is the profile's own. */
static void put_model(struct writing *w)
{
    const struct assay__model_info *model = w->trial->model, *first = w->profile->models[0];
    if (!*w->trial->label || w->profile->plan.asked || strcmp(model->name, first->name) == 0)
        return;
    put(w, "model", model->name);
    if (model->parameters >= 0)
        put(w, "parameters",
            assay__arena_printf(w->profile->arena, "%lld", (long long)model->parameters));
}

/* --- together --------------------------------------------------------------------------------- */

/* Its role, label, position on every axis and target, in the profile's own memory. */
static int identify(struct assay_profile *profile, struct assay__trial *trial,
                    const struct assay__run_options *options,
                    const struct assay__arm_identity *identity)
{
    const struct assay__arm_identity none = {0}, *own = identity ? identity : &none;
    struct assay__arena *arena = profile->arena;
    struct assay__target *target = &trial->target;
    struct assay__axis_value *axes = assay__arena_array(arena, own->axis_count, sizeof *axes);
    for (size_t i = 0; axes && i < own->axis_count; i++) {
        axes[i] = (struct assay__axis_value){own->axes[i].axis,
                                             assay__arena_text(arena, "%s", own->axes[i].value)};
        assay__target_set_axis(target, &axes[i]);
    }
    trial->axes = axes;
    trial->axis_count = axes ? own->axis_count : 0;
    trial->role = own->role;
    trial->label = assay__arena_text(arena, "%s", assay__or_default(own->label, ""));
    const char *given = assay__or_default(options->target.device, "cpu"),
               *bare = assay__device_bare(given);
    target->engine = assay__arena_text(arena, "%s",
                                       assay__or_default(options->target.engine, "ort"));
    target->device = assay__arena_text(arena, "%s", given);
    if (bare > given)
        target->build = assay__arena_text(arena, "%.*s", (int)(bare - given) - 1, given);
    target->device_class = own->device_class ? own->device_class
                                             : assay__engine_device_class(target->engine, bare);
    target->software = own->software;
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}

int assay__arm_start_failed(struct assay_profile *profile, const struct assay__run_options *options,
                            const struct assay__arm_identity *identity, const char *reason)
{
    struct assay__trial *trial = assay__profile_trial(profile);
    if (!trial) return ASSAY_ENOMEM;
    trial->state = ASSAY__TRIAL_FAILED;
    trial->reason = assay__arena_strdup(profile->arena, reason);
    int code = trial->reason ? identify(profile, trial, options, identity) : ASSAY_ENOMEM;
    struct writing w = {profile, trial, code};
    put_identity(&w);
    return w.code;
}

int assay__arm_start_trial(struct assay__arm *arm, const struct assay__arm_identity *identity,
                           struct assay_error *error)
{
    struct assay_profile *profile = arm->recording->profile;
    struct assay__trial *trial = assay__profile_trial(profile);
    if (!trial) return assay__no_memory(error);
    trial->model = arm->info;
    int code = identify(profile, trial, &arm->options, identity);
    describe_target(&arm->options, profile->arena, trial);
    describe_feedback(arm, trial);
    struct writing w = {profile, trial, code};
    put_options(&w, &arm->options);
    put_identity(&w);
    put_watched(&w);
    put_model(&w);
    if (w.code || assay__arena_failed(profile->arena)) return assay__no_memory(error);
    return arm->workload ? assay__describe_workload(profile, trial, arm->workload, error) : 0;
}
