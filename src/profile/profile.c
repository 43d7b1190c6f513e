/* profile.c - the document in memory: making it, growing it, closing it, and the public accessors.
 * Everything but the metric sets lives in the document's arena. */
#include "profile/profile.h"

#include "base/stats.h"
#include "profile/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[] = {"running", "ok", "failed", "skipped", "interrupted"};
const struct assay__enum_names assay__trial_state_names = {states,
                                                           sizeof states / sizeof states[0]};

const char *assay__trial_state_name(enum assay__trial_state state)
{
    const char *name = assay__enum_name(&assay__trial_state_names, state);
    return *name ? name : "unknown";
}

int assay__trial_state_parse(const char *name)
{
    return assay__enum_value(&assay__trial_state_names, name);
}

/* Appends an element to the list that `items` points to; NULL: out of memory, and nothing
 * changed. */
static void *append(struct assay_profile *profile, void *items, size_t *count, size_t size)
{
    void *list;
    memcpy(&list, items, sizeof list);
    list = assay__arena_grow(profile->arena, list, *count, size);
    if (!list) return NULL;
    memcpy(items, &list, sizeof list);
    return (char *)list + (*count)++ * size;
}

struct assay_profile *assay__profile_new(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay_profile *profile = arena ? assay__arena_alloc(arena, sizeof *profile) : NULL;
    if (!profile) {
        assay__arena_free(arena);
        return NULL;
    }
    assay__fields_unknown(&assay__stored_profile, profile);
    assay__fields_unknown(&assay__stored_environment, &profile->environment);
    profile->arena = arena;
    profile->path = "";
    profile->assay_version = ASSAY_VERSION_STRING;
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

struct assay__model_info *assay__profile_model(struct assay_profile *profile)
{
    struct assay__model_info *model = assay__arena_alloc(profile->arena, sizeof *model), **place;
    if (!model) return NULL;
    assay__fields_unknown(&assay__stored_model, model);
    assay__fields_unknown(&assay__stored_cell, &model->cell);
    place = append(profile, &profile->models, &profile->model_count, sizeof *place);
    if (!place) return NULL;
    model->id = (int)profile->model_count;
    return *place = model;
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
    struct assay__pair *options = assay__arena_array(profile->arena, trial->option_count + 1,
                                                     sizeof *options);
    if (!options) return ASSAY_ENOMEM;
    if (trial->option_count) memcpy(options, trial->options, trial->option_count * sizeof *options);
    trial->options = options;
    options[trial->option_count++] = (struct assay__pair){key, value};
    return 0;
}

struct assay__layers assay__layers_unknown(void)
{
    struct assay__layers layers = {0};
    assay__fields_unknown(&assay__stored_layers, &layers);
    return layers;
}

struct assay__layer assay__layer_unknown(void)
{
    struct assay__layer layer = {0};
    assay__fields_unknown(&assay__stored_layer, &layer);
    return layer;
}

struct assay__peak assay__peak_unknown(void)
{
    struct assay__peak peak = {0};
    assay__fields_unknown(&assay__stored_peak, &peak);
    peak.reason = NULL; /* not looked for */
    return peak;
}

struct assay__allocations assay__allocations_unknown(void)
{
    struct assay__allocations allocations = {0};
    assay__fields_unknown(&assay__stored_allocations, &allocations);
    allocations.reason = NULL; /* not asked for */
    return allocations;
}

enum assay_state assay__finding_gain_state(const struct assay__finding *finding)
{
    return finding->gain_estimated ? ASSAY_ESTIMATED : ASSAY_DERIVED;
}

struct assay__finding assay__finding_tried(const struct assay__finding *finding)
{
    struct assay__finding tried = *finding;
    if (!isfinite(tried.verified_gain))
        tried.verified_low = tried.verified_high = tried.verified_smallest = tried.verified_energy =
            tried.verified_energy_low = tried.verified_energy_high = NAN;
    if (!isfinite(tried.verified_gain) && !(tried.tried && *tried.tried))
        tried.verified_drift = NAN; /* the outputs of what ran are known, whatever its times */
    return tried;
}

const char *assay__layer_title(const struct assay__layer *layer)
{
    if (layer->from_count && layer->from[0] && layer->from[0][0]) return layer->from[0];
    return layer->name && layer->name[0] ? layer->name : layer->op;
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
    if (layers->launch_count == 0) return "the profile does not have layer times per launch";
    return "processes differ, so an interval needs the layers of at least 5 launches";
}

struct assay__trial *assay__profile_trial(struct assay_profile *profile)
{
    struct assay_metrics *metrics = assay_metrics_new();
    struct assay__trial *trial = metrics ? append(profile, &profile->trials, &profile->trial_count,
                                                  sizeof *trial)
                                         : NULL;
    if (!trial) {
        assay_metrics_free(metrics);
        return NULL;
    }
    *trial = (struct assay__trial){
        .id = (int)profile->trial_count,
        .model = profile->models[0],
        .metrics = metrics,
        .peak = assay__peak_unknown(),
        .allocations = assay__allocations_unknown(),
        .class_counter_note = "",
    };
    assay__fields_unknown(&assay__stored_trial, trial);
    assay__fields_unknown(&assay__stored_power, &trial->power);
    return trial;
}

struct assay__launch *assay__trial_launch(struct assay_profile *profile, struct assay__trial *trial)
{
    struct assay_metrics *metrics = assay_metrics_new();
    struct assay__launch *launch = metrics ? append(profile, &trial->launches, &trial->launch_count,
                                                    sizeof *launch)
                                           : NULL;
    if (!launch) {
        assay_metrics_free(metrics);
        return NULL;
    }
    *launch = (struct assay__launch){.id = (int)trial->launch_count, .metrics = metrics};
    assay__fields_unknown(&assay__stored_launch, launch);
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
    assay_profile_close(profile->earlier);
    assay__arena_free(profile->arena); /* holds the profile itself */
}

int assay__trial_add_note(struct assay_profile *profile, struct assay__trial *trial,
                          const char *note)
{
    const char **place = note ? append(profile, &trial->notes, &trial->note_count, sizeof *place)
                              : NULL;
    if (place) *place = note;
    return place ? 0 : ASSAY_ENOMEM;
}

int assay__trial_warn_power(struct assay_profile *profile, struct assay__trial *trial,
                            const char *about, const char *text)
{
    struct assay__power_info *power = &trial->power;
    struct assay__power_warning *place = append(profile, &power->warnings, &power->warning_count,
                                                sizeof *place);
    if (!place) return ASSAY_ENOMEM;
    place->about = assay__arena_text(profile->arena, "%s", about);
    place->text = assay__arena_text(profile->arena, "%s", text);
    return assay__arena_failed(profile->arena) ? ASSAY_ENOMEM : 0;
}

int assay__trial_add_series(struct assay_profile *profile, struct assay__trial *trial,
                            const struct assay__series_info *series)
{
    struct assay__series_info *place = append(profile, &trial->series, &trial->series_count,
                                              sizeof *place);
    if (place) *place = *series;
    return place ? 0 : ASSAY_ENOMEM;
}

int assay__trial_add_span(struct assay_profile *profile, struct assay__trial *trial,
                          const struct assay__span *span)
{
    struct assay__span *place = append(profile, &trial->spans, &trial->span_count, sizeof *place);
    if (place) *place = *span;
    return place ? 0 : ASSAY_ENOMEM;
}
