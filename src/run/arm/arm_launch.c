/* arm_launch.c - the launches of an arm: the request to a worker, its results put into the document
 * and, during the run, into its store; launches taken over from an earlier capture; launches
 * besides the measured ones. */
#include "run/arm/arm.h"

#include "base/clock.h"
#include "base/vec.h"
#include "profile/trial_values.h"
#include "run/worker/ring.h"
#include "run/watch/watch.h"

#include <math.h>
#include <string.h>

#define PATIENCE_S 1.5 /* for a machine as fast as before, in a launch … */
#define PATIENCE_TOTAL_S 6.0

static void persist_launch(struct assay__arm *arm, const struct assay__launch *launch)
{
    struct assay_error error = {0};
    if (arm->recording->store)
        assay__store_put_launch(arm->recording->store, assay__arm_trial(arm)->id, launch, &error);
    assay__recording_note(arm->recording, &error);
}

/* Until a launch has written them: the first one may fail. */
static bool wants_outputs(const struct assay__arm *arm)
{
    for (size_t i = arm->adopted; i < arm->outcome_count; i++)
        if (!arm->outcomes[i].code) return false;
    return arm->outputs[0] != '\0';
}

static void make_request(struct assay__arm *arm, int id, struct assay__request *request)
{
    const struct assay__run_options *options = &arm->options;
    *request = (struct assay__request){
        .job = {.engine = options->target.engine,
                .model = arm->model ? arm->model_path : NULL,
                .library = options->target.library,
                .device = arm->device,
                .optimization = options->target.optimization,
                .cpus = options->target.cpus,
                .script = options->script,
                .provider_options = options->provider_options,
                .threads = options->target.threads,
                .streams = options->target.streams,
                .spinning = options->target.spinning_off ? 0 : -1,
                .warmup = options->measuring.warmup_given ? options->measuring.warmup : -1,
                .layers = arm->without_layers ? ASSAY_LAYERS_OFF : options->measuring.layers,
                .alternate = !options->watching.counters && !arm->watch && !arm->shared,
                .counters = options->watching.counters,
                .inputs = arm->workload ? arm->workload->inputs : NULL,
                .input_count = arm->workload ? arm->workload->input_count : 0,
                .outputs = wants_outputs(arm) ? arm->outputs : NULL,
                .keep = arm->keep[0] ? arm->keep : NULL,
                .timeline = options->timeline,
                .generation = arm->generation,
                .feedback = arm->feedback,
                .feedback_count = arm->feedback_count},
        .goal = {.iterations = options->measuring.iterations,
                 .time_s = options->measuring.time_s,
                 .precision = ASSAY__GOAL_PRECISION,
                 .streams = options->target.streams,
                 .capacity = ASSAY__RING_CAPACITY,
                 .least = options->workload.generate > 0 ? ASSAY__GENERATE_LEAST : 0,
                 .brief = options->brief,
                 .amortise = options->amortise,
                 .endless_s = options->window ? options->window_s : 0},
        .timeout_s = options->measuring.timeout_s,
        .limit_s = options->measuring.launch_limit_s,
        .window = options->window,
        .window_context = options->window_context,
        .interrupt = options->callbacks.interrupt,
        .progress = options->callbacks.progress,
        .progress_context = options->callbacks.context,
        .launch = id,
        .launches = id > options->measuring.launches ? id : options->measuring.launches,
        .trial = assay__arm_trial(arm)->id,
        .worker = arm->recording->worker,
        .temporary = arm->recording->temporary,
        .watch = arm->watch ? arm->watch : arm->shared,
        .store = arm->recording->store,
        .arena = arm->recording->profile->arena,
    };
    double waited_s = 0;
    for (size_t i = 0; i < arm->outcome_count; i++)
        waited_s += arm->outcomes[i].waited_s;
    request->patience_s = fmin(PATIENCE_S, fmax(PATIENCE_TOTAL_S - waited_s, 0));
    request->best = assay__outcomes_speed(arm->outcomes, arm->outcome_count);
    assay__outcomes_so_far(arm->outcomes, arm->outcome_count, &request->p50_ns,
                           &request->half_width);
}

/* The samples move from the outcome's growing arrays to one of the exact size in the document,
 * which the outcome then points to: the parent holds a million samples only once. */
static int keep_samples(struct assay__arm *arm, struct assay__launch *launch,
                        struct assay__outcome *outcome)
{
    struct assay__arena *arena = arm->recording->profile->arena;
    launch->streams = outcome->stream_count;
    launch->stream_offsets = assay__arena_array(arena, (size_t)outcome->stream_count + 1,
                                                sizeof(size_t));
    launch->samples_ns = assay__arena_array(arena, outcome->total, sizeof(double));
    if (!launch->stream_offsets || !launch->samples_ns) return ASSAY_ENOMEM;
    size_t at = 0;
    for (int s = 0; outcome->streams && s < outcome->stream_count; s++) {
        struct assay__samples *samples = &outcome->streams[s];
        size_t count = samples->count;
        if (count) memcpy(launch->samples_ns + at, samples->values, count * sizeof(double));
        assay__samples_free(samples);
        *samples = (struct assay__samples){launch->samples_ns + at, count, count};
        at += count;
        launch->stream_offsets[s + 1] = at;
    }
    outcome->borrowed = true;
    launch->sample_count = at;
    return 0;
}

static int keep_launch(struct assay__arm *arm, struct assay__launch *launch,
                       struct assay__outcome *outcome)
{
    launch->state = outcome->code == 0                    ? ASSAY__TRIAL_OK
                    : outcome->code == ASSAY_EINTERRUPTED ? ASSAY__TRIAL_INTERRUPTED
                                                          : ASSAY__TRIAL_FAILED;
    launch->reason = outcome->reason;
    launch->log_tail = outcome->log_tail;
    launch->warmup = outcome->summary.warmup;
    launch->wall_ns = outcome->wall_ns;
    launch->p50_ns = outcome->summary.p50;
    const struct assay__outcome *one = outcome;
    int code = keep_samples(arm, launch, outcome);
    if (code == 0) {
        /* The measured windows, for readings taken at the same time. */
        bool watched = arm->watch || arm->shared;
        for (size_t i = 0; watched && i < outcome->window_count && code == 0; i++) {
            const struct assay__sample_window *window = &outcome->windows[i];
            if (window->begin_ns < arm->recording->start_ns || window->end_ns < window->begin_ns)
                continue;
            struct assay__span span = {
                launch->id, "measure", (double)(window->begin_ns - arm->recording->start_ns),
                (double)(window->end_ns - arm->recording->start_ns), (int64_t)window->completions};
            code = assay__trial_add_span(arm->recording->profile, assay__arm_trial(arm), &span);
        }
    }
    if (code == 0)
        code = assay__launch_metrics(outcome, arm->options.measuring.warmup_given, launch->metrics);
    bool scripted = arm->options.script ||
                    strcmp(assay__arm_trial(arm)->target.engine, "fake") == 0;
    if (!scripted)
        assay__launch_disturbance(outcome, launch->metrics); /* a script does not notice */
    assay__generation_metrics(&one, 1, arm->options.workload.generate,
                              assay__trial_on_cpu(assay__arm_trial(arm)), launch->metrics);
    return code ? code : assay_metrics_failed(launch->metrics);
}

static int keep_facts(struct assay__arm *arm, const struct assay__outcome *outcome)
{
    struct assay_profile *profile = arm->recording->profile;
    struct assay__trial *trial = assay__arm_trial(arm);
    struct assay__target *target = &trial->target;
    if (!outcome->facts.known || target->engine_version[0]) return 0;
    target->engine_version = outcome->facts.version;
    target->engine_library = outcome->facts.library;
    const char *hardware = outcome->facts.hardware;
    if (hardware && *hardware &&
        assay__trial_set_option(profile, trial, "hardware",
                                assay__arena_strdup(profile->arena, hardware)))
        return ASSAY_ENOMEM;
    if (outcome->facts.threads <= 0 || !target->threads_default) return 0;
    target->threads = outcome->facts.threads;
    return assay__trial_set_option(
        profile, trial, "threads",
        assay__arena_printf(profile->arena, "%d (engine's default)", target->threads));
}

/* Adds a launch to the trial, and room for its outcome. */
static struct assay__launch *next_launch(struct assay__arm *arm)
{
    return assay__vec_grow((void **)&arm->outcomes, &arm->outcome_capacity, arm->outcome_count + 1,
                           sizeof *arm->outcomes)
               ? NULL
               : assay__trial_launch(arm->recording->profile, assay__arm_trial(arm));
}

int assay__arm_launch(struct assay__arm *arm, struct assay_error *error)
{
    struct assay__request request;
    struct assay__launch *launch = next_launch(arm);
    if (!launch) return assay__no_memory(error);
    launch->streams = arm->options.target.streams;
    persist_launch(arm, launch);
    make_request(arm, (int)arm->outcome_count + 1, &request);
    struct assay__outcome *outcome = &arm->outcomes[arm->outcome_count++];
    assay__launch_run(&request, outcome);
    assay__recording_note(arm->recording, &outcome->store_error);
    if (keep_facts(arm, outcome) || keep_launch(arm, launch, outcome))
        return assay__no_memory(error);
    persist_launch(arm, launch);
    return 0;
}

int assay__arm_count_launches(struct assay__arm *arm, struct assay_error *error)
{
    struct assay_profile *profile = arm->recording->profile;
    struct assay__trial *trial = assay__arm_trial(arm);
    if (!isfinite(assay__outcomes_p50(arm->outcomes, arm->outcome_count))) return 0; /* given up */
    trial->protocol.launches = arm->options.measuring.launches = (int)arm->outcome_count;
    int code = assay__trial_set_option(
        profile, trial, "launches",
        assay__arena_printf(profile->arena, "%d", trial->protocol.launches));
    return code ? assay__no_memory(error) : 0;
}

bool assay__arm_layers_fit(const struct assay__arm *arm)
{
    return assay__outcomes_layers_fit(arm->outcomes, arm->outcome_count);
}

int assay__arm_adopt(struct assay__arm *arm, struct assay__launch *kept, struct assay_error *error)
{
    struct assay__launch *launch = next_launch(arm);
    if (!launch) return assay__no_memory(error);
    struct assay__launch empty = *launch;
    *launch = *kept;
    *kept = empty;
    kept->id = launch->id;
    launch->id = empty.id;
    if (assay__outcome_restore(launch, !arm->options.measuring.warmup_given,
                               &arm->outcomes[arm->outcome_count]))
        return assay__no_memory(error);
    arm->adopted++;
    arm->outcome_count++;
    persist_launch(arm, launch);
    struct assay_error store_error = {0};
    for (int s = 0; arm->recording->store && launch->sample_count && s < launch->streams; s++) {
        size_t first = launch->stream_offsets[s];
        assay__store_add_samples(arm->recording->store, assay__arm_trial(arm)->id, launch->id, s,
                                 launch->samples_ns + first, launch->stream_offsets[s + 1] - first,
                                 &store_error);
        assay__recording_note(arm->recording, &store_error);
    }
    return 0;
}

int assay__arm_extra(struct assay__arm *arm, struct assay_error *error)
{
    struct assay__request request;
    if (assay__arm_interrupted(arm)) return 0;
    make_request(arm, (int)arm->outcome_count + 1, &request);
    request.watch = NULL;
    request.store = NULL;
    request.job.layers = ASSAY_LAYERS_OFF;
    request.job.counters = false;
    uint64_t begin_ns = assay__now_ns();
    int code = assay__watch_extra(arm->watch, &request, error);
    arm->extra_ns = assay__now_ns() - begin_ns;
    return code;
}
