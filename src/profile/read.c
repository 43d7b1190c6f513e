/* read.c - the public view of a profile (assay/profile.h, trial.h, launch.h, layer.h, series.h).
 * The opaque pointers are those of the document; everything else is copied into the caller's
 * struct. */
#include "base/options_read.h"
#include "profile/profile.h"

#include <assay/launch.h>
#include <assay/layer.h>
#include <assay/series.h>
#include <assay/trial.h>
#include <string.h>

_Static_assert((int)ASSAY_TRIAL_OK == (int)ASSAY__TRIAL_OK &&
                   (int)ASSAY_TRIAL_INTERRUPTED == (int)ASSAY__TRIAL_INTERRUPTED,
               "states are passed on as they are");

static const char *text(const char *maybe)
{
    return maybe ? maybe : "";
}

static const struct assay__trial *trial_of(const struct assay_trial *trial)
{
    return (const struct assay__trial *)(const void *)trial;
}

static const struct assay__launch *launch_of(const struct assay_launch *launch)
{
    return (const struct assay__launch *)(const void *)launch;
}

/* --- the profile ------------------------------------------------------------------------------ */

size_t assay_profile_trials(const struct assay_profile *profile)
{
    return profile ? profile->trial_count : 0;
}

const struct assay_metrics *assay_profile_metrics(const struct assay_profile *profile, size_t trial)
{
    return assay_trial_metrics(assay_profile_trial(profile, trial));
}

bool assay_profile_read(const struct assay_profile *profile, struct assay_profile_info *info)
{
    if (!profile) return false;
    const struct assay_profile_info own = {
        .path = text(profile->path),
        .kind = text(profile->command),
        .created = text(profile->created),
        .assay = text(profile->assay_version),
        .complete = profile->complete,
        .interrupted = profile->interrupted,
    };
    return assay__info_write(&own, sizeof own, info);
}

bool assay_profile_environment(const struct assay_profile *profile,
                               struct assay_environment *environment)
{
    if (!profile) return false;
    const struct assay__environment *e = &profile->environment;
    const struct assay_environment own = {
        .host = text(e->host),
        .os = text(e->os),
        .kernel = text(e->kernel),
        .architecture = text(e->architecture),
        .cpu_model = text(e->cpu_model),
        .governor = text(e->governor),
        .simd = text(e->simd),
        .packages = e->packages,
        .cores = e->cores,
        .threads = e->threads,
        .memory_bytes = e->memory_bytes,
        .cpu_max_hz = e->cpu_max_hz,
        .disturbances = e->disturbances,
        .disturbance_count = e->disturbance_count,
    };
    return assay__info_write(&own, sizeof own, environment);
}

static bool read_model(const struct assay__model_info *m, struct assay_model *model)
{
    const struct assay_model own = {
        .name = text(m->name),
        .path = text(m->path),
        .format = text(m->format),
        .fingerprint = text(m->fingerprint),
        .sha256 = text(m->sha256),
        .parameters = m->parameters,
        .weight_bytes = m->weight_bytes,
        .node_count = m->node_count,
        .opset = text(m->opset),
        .producer = text(m->producer),
    };
    return assay__info_write(&own, sizeof own, model);
}

bool assay_profile_model(const struct assay_profile *profile, size_t index,
                         struct assay_model *model)
{
    return profile && index < profile->model_count && read_model(profile->models[index], model);
}

bool assay_profile_finding(const struct assay_profile *profile, size_t index,
                           struct assay_finding *finding)
{
    if (!profile || index >= profile->finding_count) return false;
    const struct assay__finding *f = &profile->findings[index];
    const struct assay_finding own = {
        .id = text(f->id),
        .severity = text(f->severity),
        .title = text(f->title),
        .advice = text(f->advice),
        .evidence = f->evidence,
        .evidence_count = f->evidence_count,
        .expected_gain = f->expected_gain,
        .verified_gain = f->verified_gain,
        .verified_low = f->verified_low,
        .verified_high = f->verified_high,
        .state = f->state && *f->state ? f->state : "open",
        .reason = text(f->reason),
    };
    return assay__info_write(&own, sizeof own, finding);
}

bool assay_profile_ceiling(const struct assay_profile *profile, size_t index,
                           struct assay_ceiling *ceiling)
{
    if (!profile || index >= profile->ceiling_count) return false;
    const struct assay__ceiling_info *c = &profile->ceilings[index];
    const struct assay_ceiling own = {
        .device = text(c->device),
        .name = text(c->name),
        .value = c->value,
        .unit = text(c->unit),
        .low = c->low,
        .high = c->high,
        .source = text(c->source),
        .note = text(c->note),
        .measured_at = text(c->measured_at),
    };
    return assay__info_write(&own, sizeof own, ceiling);
}

/* --- trials ----------------------------------------------------------------------------------- */

const struct assay_trial *assay_profile_trial(const struct assay_profile *profile, size_t index)
{
    bool there = profile && index < profile->trial_count;
    return there ? (const struct assay_trial *)(const void *)&profile->trials[index] : NULL;
}

const struct assay_metrics *assay_trial_metrics(const struct assay_trial *trial)
{
    return trial ? trial_of(trial)->metrics : NULL;
}

bool assay_trial_model(const struct assay_trial *trial, struct assay_model *model)
{
    return trial && read_model(trial_of(trial)->model, model);
}

bool assay_trial_read(const struct assay_trial *trial, struct assay_trial_info *info)
{
    const struct assay__trial *t = trial_of(trial);
    if (!t) return false;
    const struct assay_trial_info own = {
        .id = t->id,
        .state = (enum assay_trial_state)t->state,
        .reason = text(t->reason),
        .label = text(t->label),
        .role = assay__role_name(t->role),
        .batch = t->batch,
        .notes = t->notes,
        .note_count = t->note_count,
        .stability = text(t->stability.verdict),
        .stability_reasons = t->stability.reasons,
        .stability_reason_count = t->stability.reason_count,
        .more_iterations = t->stability.more_iterations,
    };
    return assay__info_write(&own, sizeof own, info);
}

bool assay_trial_target(const struct assay_trial *trial, struct assay_target *target)
{
    if (!trial) return false;
    const struct assay__target *t = &trial_of(trial)->target;
    const struct assay_target own = {
        .engine = text(t->engine),
        .engine_version = text(t->engine_version),
        .engine_library = text(t->engine_library),
        .device = text(t->device),
        .build = text(t->build),
        .device_class = assay__device_class_name(t->device_class),
        .software = t->software,
        .threads = t->threads,
        .threads_default = t->threads_default,
        .optimization = assay__optimization_name(t->optimization),
        .streams = t->streams,
        .precision = text(t->precision),
        .spinning_off = t->spinning_off,
        .cpus = text(t->cpus),
        .chip = text(t->chip),
    };
    return assay__info_write(&own, sizeof own, target);
}

/* The output that an input gets its next value from; "" none. */
static const char *state_of(const struct assay__trial *trial, const char *input)
{
    for (size_t i = 0; i < trial->feedback_count; i++)
        if (strcmp(text(trial->feedback[i].input), text(input)) == 0)
            return text(trial->feedback[i].output);
    return "";
}

bool assay_trial_input(const struct assay_trial *trial, size_t index, struct assay_input *input)
{
    if (!trial || index >= trial_of(trial)->input_count) return false;
    const struct assay__tensor_info *i = &trial_of(trial)->inputs[index];
    const struct assay_input own = {.name = text(i->name),
                                    .dtype = text(i->dtype),
                                    .rank = i->rank,
                                    .dims = i->dims,
                                    .fill = text(i->fill),
                                    .state = state_of(trial_of(trial), i->name)};
    return assay__info_write(&own, sizeof own, input);
}

bool assay_trial_layers(const struct assay_trial *trial, struct assay_layers *layers)
{
    if (!trial) return false;
    const struct assay__layers *l = &trial_of(trial)->layers;
    const struct assay_layers own = {
        .count = l->count,
        .method = text(l->method),
        .reason = text(l->reason),
        .engine_ns = l->engine_ns,
        .unattributed_ns = l->unattributed_ns,
        .slowdown = l->slowdown,
    };
    return assay__info_write(&own, sizeof own, layers);
}

bool assay_trial_layer(const struct assay_trial *trial, size_t index, struct assay_layer *layer)
{
    if (!trial || index >= trial_of(trial)->layers.count) return false;
    const struct assay__layer *l = &trial_of(trial)->layers.items[index];
    struct assay_layer own = {
        .name = text(l->name),
        .op = text(l->op),
        .provider = text(l->provider),
        .state = l->state,
        .time_ns = l->time_ns,
        .share = l->share,
        .flops = l->flops,
        .bytes = l->bytes,
        .bound = text(l->bound),
        .note = text(l->note),
        .from = l->from,
        .from_count = l->from_count,
        .title = text(assay__layer_title(l)),
    };
    assay__layer_interval(&trial_of(trial)->layers, l, &own.low_ns, &own.high_ns, NULL);
    return assay__info_write(&own, sizeof own, layer);
}

bool assay_trial_series(const struct assay_trial *trial, size_t index, struct assay_series *series)
{
    if (!trial || index >= trial_of(trial)->series_count) return false;
    const struct assay__series_info *s = &trial_of(trial)->series[index];
    const struct assay_series own = {
        .launch = s->launch,
        .name = text(s->name),
        .unit = text(s->unit),
        .probe = text(s->probe),
        .source = text(s->source),
        .state = s->state,
        .note = text(s->note),
        .counter = s->counter,
        .count = s->count,
        .times_ns = s->times_ns,
        .values = s->values,
    };
    return assay__info_write(&own, sizeof own, series);
}

/* --- launches --------------------------------------------------------------------------------- */

const struct assay_launch *assay_trial_launch(const struct assay_trial *trial, size_t index)
{
    const struct assay__trial *t = trial_of(trial);
    bool there = t && index < t->launch_count;
    return there ? (const struct assay_launch *)(const void *)&t->launches[index] : NULL;
}

bool assay_launch_read(const struct assay_launch *launch, struct assay_launch_info *info)
{
    const struct assay__launch *l = launch_of(launch);
    if (!l) return false;
    const struct assay_launch_info own = {
        .id = l->id,
        .state = (enum assay_trial_state)l->state,
        .reason = text(l->reason),
        .streams = l->streams,
        .sample_count = l->sample_count,
        .warmup = l->warmup,
        .wall_ns = l->wall_ns,
        .p50_ns = l->p50_ns,
    };
    return assay__info_write(&own, sizeof own, info);
}

const struct assay_metrics *assay_launch_metrics(const struct assay_launch *launch)
{
    return launch ? launch_of(launch)->metrics : NULL;
}

const double *assay_launch_samples(const struct assay_launch *launch, int stream, size_t *count)
{
    const struct assay__launch *l = launch_of(launch);
    *count = 0;
    if (!l || stream < 0 || stream >= l->streams || !l->stream_offsets) return NULL;
    size_t first = l->stream_offsets[stream];
    *count = l->stream_offsets[stream + 1] - first;
    return *count ? l->samples_ns + first : NULL;
}
