/* profile.c - the document in memory: making it, growing it, closing it, and the public accessors.
 * Everything but the metric sets lives in the document's arena. */
#include "profile/profile.h"

#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_names[] = {"running", "ok", "failed", "skipped", "interrupted"};

const char *assay__trial_state_name(enum assay__trial_state state)
{
    size_t index = (size_t)state;
    return index < sizeof state_names / sizeof state_names[0] ? state_names[index] : "unknown";
}

int assay__trial_state_parse(const char *name)
{
    for (size_t i = 0; name && i < sizeof state_names / sizeof state_names[0]; i++)
        if (strcmp(state_names[i], name) == 0) return (int)i;
    return -1;
}

static void environment_init(struct assay__environment *environment)
{
    *environment = (struct assay__environment){
        .host = "",
        .os = "",
        .kernel = "",
        .architecture = "",
        .cpu_model = "",
        .virtualized = "",
        .governor = "",
        .simd = "",
        .container = "",
        .memory_bytes = NAN,
        .cpu_max_hz = NAN,
        .l1d_bytes = NAN,
        .l2_bytes = NAN,
        .l3_bytes = NAN,
    };
}

static struct assay__model_info model_unknown(void)
{
    return (struct assay__model_info){
        .name = "",
        .path = "",
        .format = "",
        .fingerprint = "",
        .sha256 = "",
        .parameters = -1,
        .weight_bytes = -1,
        .node_count = -1,
        .ir_version = -1,
        .opset = "",
        .producer = "",
        .cell = {.kind = "", .form = "", .steps = -1, .fault = ""},
    };
}

struct assay_profile *assay__profile_new(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay_profile *profile = arena ? assay__arena_alloc(arena, sizeof *profile) : NULL;
    if (!profile) {
        assay__arena_free(arena);
        return NULL;
    }
    profile->arena = arena;
    profile->path = "";
    profile->assay_version = ASSAY_VERSION_STRING;
    profile->schema = ASSAY_SCHEMA_VERSION;
    profile->command = "";
    profile->command_line = "";
    profile->created = "";
    environment_init(&profile->environment);
    profile->plan = assay__plan_unknown();
    if (!assay__profile_model(profile)) {
        assay__arena_free(arena);
        return NULL;
    }
    return profile;
}

void assay__profile_set_command(struct assay_profile *profile, const char *command)
{
    profile->command = command;
    profile->kind = assay__kind_of_command(command);
}

/* Room for one more element behind `count`: the array moves to twice its size whenever count is a
 * power of two (or 0), so that no capacity need be kept. NULL when out of memory. */
static void *grow(struct assay__arena *arena, void *items, size_t count, size_t size)
{
    if (count & (count - 1)) return items;
    void *bigger = assay__arena_array(arena, count ? count * 2 : 1, size);
    if (bigger && count) memcpy(bigger, items, count * size);
    return bigger;
}

struct assay__model_info *assay__profile_model(struct assay_profile *profile)
{
    struct assay__model_info **models = grow(profile->arena, profile->models, profile->model_count,
                                             sizeof *models),
                             *model = assay__arena_alloc(profile->arena, sizeof *model);
    if (!models || !model) return NULL;
    *model = model_unknown();
    profile->models = models;
    models[profile->model_count++] = model;
    return model;
}

int assay__trial_set_option(struct assay_profile *profile, struct assay__trial *trial,
                            const char *key, const char *value)
{
    if (!value) return ASSAY_ENOMEM;
    for (size_t i = 0; i < trial->option_count; i++)
        if (strcmp(trial->options[i].key, key) == 0) {
            trial->options[i].value = value;
            return 0;
        }
    struct assay__pair *options = grow(profile->arena, trial->options, trial->option_count,
                                       sizeof *options);
    if (!options) return ASSAY_ENOMEM;
    trial->options = options;
    options[trial->option_count++] = (struct assay__pair){key, value};
    return 0;
}

struct assay__layers assay__layers_unknown(void)
{
    return (struct assay__layers){.method = "",
                                  .reason = "",
                                  .engine_ns = NAN,
                                  .unattributed_ns = NAN,
                                  .scale_factor = NAN,
                                  .slowdown = NAN,
                                  .spread = NAN,
                                  .contention = NAN};
}

struct assay__peak assay__peak_unknown(void)
{
    return (struct assay__peak){
        .node = "", .op = "", .bytes = NAN, .body_bytes = NAN, .alive = -1, .rest_bytes = NAN};
}

bool assay__layer_interval(const struct assay__layers *layers, const struct assay__layer *layer,
                           double *low_ns, double *high_ns, double *coverage)
{
    double few[64], *known = few;
    size_t count = 0;
    *low_ns = *high_ns = NAN;
    if (coverage) *coverage = NAN;
    if (!layer->launch_times_ns || layer->state == ASSAY_UNAVAILABLE) return false;
    if (layers->launch_count > 64) known = malloc(layers->launch_count * sizeof *known);
    if (!known) return false;
    for (size_t i = 0; i < layers->launch_count; i++)
        if (isfinite(layer->launch_times_ns[i])) known[count++] = layer->launch_times_ns[i];
    assay__stats_sort(known, count);
    struct assay__interval found = assay__stats_launch_interval(known, count, coverage);
    if (known != few) free(known);
    *low_ns = found.low;
    *high_ns = found.high;
    return found.known;
}

const char *assay__layer_interval_reason(const struct assay__layers *layers)
{
    if (layers->count == 0 || layers->launch_count >= 5) return "";
    if (layers->launch_count == 0) return "the profile does not hold the layers' times by launch";
    return "processes differ, so an interval needs the layers of at least 5 launches: --launches 5";
}

struct assay__trial *assay__profile_trial(struct assay_profile *profile)
{
    struct assay_metrics *metrics = assay_metrics_new();
    struct assay__trial *trials = metrics ? grow(profile->arena, profile->trials,
                                                 profile->trial_count, sizeof *trials)
                                          : NULL;
    if (!trials) {
        assay_metrics_free(metrics);
        return NULL;
    }
    profile->trials = trials;
    struct assay__trial *trial = &trials[profile->trial_count++];
    *trial = (struct assay__trial){
        .id = (int)profile->trial_count,
        .state = ASSAY__TRIAL_RUNNING,
        .reason = "",
        .label = "",
        .target = assay__target_unknown(),
        .model = profile->models[0],
        .protocol = {.warmup = -1},
        .power = {.temperature = "", .frequency = ""},
        .placement = {.record = ""},
        .batch = -1,
        .metrics = metrics,
        .layers = assay__layers_unknown(),
        .peak = assay__peak_unknown(),
        .stability = {.verdict = "", .more_iterations = -1},
        .allocations = assay__allocations_unknown(),
        .class_counter_note = "",
    };
    return trial;
}

struct assay__launch *assay__trial_launch(struct assay_profile *profile, struct assay__trial *trial)
{
    struct assay_metrics *metrics = assay_metrics_new();
    struct assay__launch *launches = metrics ? grow(profile->arena, trial->launches,
                                                    trial->launch_count, sizeof *launches)
                                             : NULL;
    if (!launches) {
        assay_metrics_free(metrics);
        return NULL;
    }
    trial->launches = launches;
    struct assay__launch *launch = &launches[trial->launch_count++];
    *launch = (struct assay__launch){
        .id = (int)trial->launch_count,
        .state = ASSAY__TRIAL_RUNNING,
        .reason = "",
        .streams = 1,
        .wall_ns = NAN,
        .p50_ns = NAN,
        .log_tail = "",
        .metrics = metrics,
    };
    return launch;
}

void assay_profile_close(struct assay_profile *profile)
{
    if (!profile) return;
    for (size_t t = 0; t < profile->trial_count; t++) {
        struct assay__trial *trial = &profile->trials[t];
        for (size_t l = 0; l < trial->launch_count; l++)
            assay_metrics_free(trial->launches[l].metrics);
        assay_metrics_free(trial->metrics);
    }
    assay__arena_free(profile->arena); /* holds the profile itself */
}

size_t assay_profile_trials(const struct assay_profile *profile)
{
    return profile ? profile->trial_count : 0;
}

const struct assay_metrics *assay_profile_metrics(const struct assay_profile *profile, size_t trial)
{
    return profile && trial < profile->trial_count ? profile->trials[trial].metrics : NULL;
}

struct assay__allocations assay__allocations_unknown(void)
{
    return (struct assay__allocations){
        .growth_bytes = NAN,
        .growth_low = NAN,
        .growth_high = NAN,
        .heap_bytes = NAN,
        .heap_used_bytes = NAN,
        .slowdown = NAN,
    };
}

int assay__trial_warn_power(struct assay_profile *profile, struct assay__trial *trial,
                            const char *about, const char *text)
{
    struct assay__power_info *power = &trial->power;
    struct assay__power_warning *items = grow(profile->arena, power->warnings, power->warning_count,
                                              sizeof *items);
    struct assay__power_warning made = {assay__arena_strdup(profile->arena, about),
                                        assay__arena_strdup(profile->arena, text)};
    if (!items || !made.about || !made.text) return ASSAY_ENOMEM;
    power->warnings = items;
    items[power->warning_count++] = made;
    return 0;
}

int assay__trial_add_series(struct assay_profile *profile, struct assay__trial *trial,
                            const struct assay__series_info *series)
{
    struct assay__series_info *items = grow(profile->arena, trial->series, trial->series_count,
                                            sizeof *items);
    if (!items) return ASSAY_ENOMEM;
    trial->series = items;
    items[trial->series_count++] = *series;
    return 0;
}

int assay__trial_add_span(struct assay_profile *profile, struct assay__trial *trial,
                          const struct assay__span *span)
{
    struct assay__span *items = grow(profile->arena, trial->spans, trial->span_count,
                                     sizeof *items);
    if (!items) return ASSAY_ENOMEM;
    trial->spans = items;
    items[trial->span_count++] = *span;
    return 0;
}
