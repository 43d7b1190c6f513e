/* arm.c - see arm.h. Everything that can be wrong with the input is found before a worker starts.
 *
 * profile->model describes the first arm's model. The functions that describe a model and conclude a trial read and write it there,
 * so while an arm does that, its own description stands in that place. */
#include "run/arm.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/vec.h"
#include "cost/roofline.h"
#include "model/generation.h"
#include "model/sha256.h"
#include "run/builds.h"
#include "run/options.h"
#include "run/ring.h"
#include "run/watch.h"
#include "zoo/open.h"
#include "zoo/zoo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_S 300.0
#define LAUNCHES_MOST 1000
#define OPTIONS_MORE 3
#define TAGS_MOST 16

struct assay__arm {
    struct assay_run_options options;
    struct assay__recording *recording;
    size_t index; /* of the trial */
    struct assay__model *model;
    struct assay__model_info info; /* what describes it */
    struct assay__workload *workload;
    struct assay__model_costs costs;
    struct assay_generation generation; /* tokens 0: an inference is one run */
    struct assay__watch *watch;         /* NULL: nothing but the latency */
    struct assay__watch *shared;        /* of several arms; NULL: none */
    struct assay__outcome *outcomes;
    size_t outcome_count, outcome_capacity;
    size_t adopted; /* of the outcomes: those of an earlier capture */
    char model_path[PATH_MAX], outputs[PATH_MAX];
    const char *device;                       /* the engine's own name: without a build's prefix */
    uint64_t start_ns, building_ns, extra_ns; /* extra: launches that watchers wanted */
};

struct assay__trial *assay__arm_trial(const struct assay__arm *arm)
{
    return &arm->recording->profile->trials[arm->index];
}

const struct assay_run_options *assay__arm_options(const struct assay__arm *arm)
{
    return &arm->options;
}

const struct assay__outcome *assay__arm_outcomes(const struct assay__arm *arm, size_t *count)
{
    *count = arm->outcome_count;
    return arm->outcomes;
}

void assay__arm_keep_outputs(struct assay__arm *arm, const char *folder)
{
    if (snprintf(arm->outputs, sizeof arm->outputs, "%s", folder) >= (int)sizeof arm->outputs)
        arm->outputs[0] = 0;
}

const char *assay__arm_outputs(const struct assay__arm *arm)
{
    return arm->outputs;
}

const char *assay__arm_model_path(const struct assay__arm *arm)
{
    return arm->model_path;
}

bool assay__arm_interrupted(const struct assay__arm *arm)
{
    return arm->options.interrupt && *arm->options.interrupt;
}

static const char *or_default(const char *text, const char *otherwise)
{
    return text && text[0] ? text : otherwise;
}

static void tell(const struct assay__arm *arm, const char *phase)
{
    if (!arm->options.progress) return;
    struct assay_progress progress = {phase, 0, arm->options.launches, -1};
    arm->options.progress(arm->options.progress_context, &progress);
}

/* --- options ---------------------------------------------------------------------------------- */

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
    options->engine = or_default(options->engine, "ort");
    options->device = or_default(options->device, "cpu");
    options->optimization = or_default(options->optimization, "all");
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

/* --- the model -------------------------------------------------------------------------------- */

static int build_zoo(struct assay__arm *arm, const char *name, struct assay_error *error)
{
    char file[48];
    snprintf(file, sizeof file, "model-%zu.onnx", arm->index + 1);
    struct assay__model *built = NULL;
    uint64_t start = assay__now_ns();
    tell(arm, "building");
    char folder[PATH_MAX];
    if (arm->recording->folder[0] == '\0') /* says why there is none */
        return assay__folder_temporary(folder, sizeof folder, error);
    if (assay__path_join(arm->recording->folder, file, arm->model_path, sizeof arm->model_path))
        return assay_error_set(error, ASSAY_ELIMIT, "the temporary folder's path is too long");
    if (arm->recording->built_name && strcmp(arm->recording->built_name, name) == 0 &&
        snprintf(arm->model_path, sizeof arm->model_path, "%s", arm->recording->built_path) > 0)
        return 0; /* an arm before this one has built it */
    int code = assay__zoo_build(name, &built, error);
    if (code == 0) code = assay__model_write(built, arm->model_path, error);
    if (code == 0) {
        arm->recording->built_name = assay__arena_strdup(arm->recording->profile->arena, name);
        arm->recording->built_path = assay__arena_strdup(arm->recording->profile->arena,
                                                         arm->model_path);
        if (!arm->recording->built_path) arm->recording->built_name = NULL;
    }
    /* Read back: the mapped file, not the builder's memory, is what the parent keeps. */
    assay__model_free(built);
    arm->building_ns = assay__now_ns() - start;
    return code;
}

static bool is_given(const char *const *list, size_t count, const char *name)
{
    size_t length = name ? strlen(name) : 0;
    for (size_t i = 0; i < count && length; i++)
        if (strncmp(list[i], name, length) == 0 && list[i][length] == '=') return true;
    return false;
}

/* The length of the prompt when no option says it: that of the ids that were given, else the default. */
static int64_t prompt_of(const struct assay__arm *arm)
{
    const struct assay_run_options *options = &arm->options;
    const char *ids = arm->generation.ids, *symbol = NULL;
    for (size_t i = 0; i < arm->model->graph.input_count; i++) {
        const struct assay__value *input = &arm->model->graph.inputs[i];
        if (strcmp(input->name, ids) == 0 && input->rank == 2 && input->dims[1].value < 0)
            symbol = input->dims[1].symbol;
    }
    if (!symbol || is_given(options->inputs, options->input_count, ids) ||
        is_given(options->shapes, options->shape_count, ids) ||
        is_given(options->dims, options->dim_count, symbol))
        return 0;
    return ASSAY__GENERATE_PROMPT;
}

static int plan_workload(struct assay__arm *arm, struct assay__workload_options *plan,
                         struct assay_error *error)
{
    if (arm->options.generate == 0)
        return assay__workload_plan(arm->model, plan, &arm->workload, error);
    int code = assay__generation_find(arm->model, arm->options.generate,
                                      arm->recording->profile->arena, &arm->generation, error);
    if (code) return code;
    if (plan->sequence == 0) plan->sequence = prompt_of(arm);
    code = assay__workload_plan(arm->model, plan, &arm->workload, error);
    if (code == 0)
        code = assay__generation_shape(arm->model, &arm->generation, arm->workload, error);
    for (size_t i = 0; i < (code ? 0 : arm->workload->input_count); i++)
        if (strcmp(arm->workload->inputs[i].name, arm->generation.ids) == 0)
            arm->options.prompt = arm->workload->inputs[i].dims[1];
    return code;
}

/* Inputs that cannot be held need not be tried: the machine would swap for minutes first. */
static int check_memory(const struct assay__arm *arm, struct assay_error *error)
{
    double memory = arm->recording->profile->environment.memory_bytes, bytes = 0;
    char needed[64], present[64];
    for (size_t i = 0; i < arm->workload->input_count; i++)
        bytes += (double)arm->workload->inputs[i].bytes;
    if (!(memory > 0) || !(bytes > memory)) return 0; /* unknown memory refuses nothing */
    assay__text_scaled(needed, sizeof needed, bytes, "B");
    assay__text_scaled(present, sizeof present, memory, "B");
    return assay_error_set(error, ASSAY_ELIMIT,
                           "its inputs alone take %s, this machine has %s of memory: not tried",
                           needed, present);
}

static int resolve_model(struct assay__arm *arm, struct assay_error *error)
{
    const char *name = arm->options.model;
    bool zoo = !assay__file_exists(name) && assay__zoo_knows(name);
    if (zoo) {
        int code = build_zoo(arm, name, error);
        if (code) return code;
    } else if (snprintf(arm->model_path, sizeof arm->model_path, "%s", name) >=
               (int)sizeof arm->model_path) {
        return assay_error_set(error, ASSAY_ELIMIT, "the model's path is too long");
    }
    int code = assay__model_open(arm->model_path, &arm->model, NULL, error);
    if (code) return code;
    if (!assay__model_is_onnx(arm->model))
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%s is a %s: no engine here runs it; `assay inspect` shows what it "
                               "computes, moves and holds",
                               name, arm->model->format);
    code = assay__model_check(arm->model, error);
    if (code) return code;
    struct assay__workload_options plan = {
        .batch = arm->options.batch,
        .sequence = arm->options.sequence,
        .dims = arm->options.dims,
        .dim_count = arm->options.dim_count,
        .shapes = arm->options.shapes,
        .shape_count = arm->options.shape_count,
        .files = arm->options.inputs,
        .file_count = arm->options.input_count,
        .seed = arm->options.seed,
    };
    code = plan_workload(arm, &plan, error);
    if (!code) code = check_memory(arm, error);
    if (code) return code;
    code = assay__describe_model(arm->recording->profile, arm->model, arm->workload, name,
                                 zoo ? "" : arm->model_path, &arm->costs, error);
    if (code == 0 && arm->generation.tokens)
        code = assay__describe_generation(arm->recording->profile, arm->model, arm->workload,
                                          &arm->generation, &arm->costs, error);
    if (code || !arm->options.hash) return code;
    char digest[65];
    code = assay__sha256_file(arm->model_path, digest, error);
    if (code == 0)
        arm->recording->profile->model.sha256 = assay__arena_strdup(arm->recording->profile->arena,
                                                                    digest);
    return code;
}

/* --- the document ----------------------------------------------------------------------------- */

static const char *number_text(struct assay__arm *arm, double value, const char *otherwise)
{
    if (!(value > 0)) return otherwise;
    const char *text = assay__arena_printf(arm->recording->profile->arena, "%.15g", value);
    return text ? text : "";
}

/* One more option behind those that always stand there: there is room for OPTIONS_MORE and the tags. */
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
        {"cpus", assay__arena_strdup(arena, or_default(options->cpus, "any"))},
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

static int start_trial(struct assay__arm *arm, struct assay_error *error)
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

static void persist_launch(struct assay__arm *arm, const struct assay__launch *launch)
{
    struct assay_error error = {0};
    if (arm->recording->store)
        assay__store_put_launch(arm->recording->store, assay__arm_trial(arm)->id, launch, &error);
    assay__recording_note(arm->recording, &error);
}

/* --- launches --------------------------------------------------------------------------------- */

/* Until a launch has left them: the first one may be lost. */
static bool wants_outputs(const struct assay__arm *arm)
{
    for (size_t i = arm->adopted; i < arm->outcome_count; i++)
        if (!arm->outcomes[i].code) return false;
    return arm->outputs[0] != '\0';
}

static void make_request(struct assay__arm *arm, int id, struct assay__request *request)
{
    const struct assay_run_options *options = &arm->options;
    *request = (struct assay__request){
        .job = {.engine = options->engine,
                .model = arm->model ? arm->model_path : NULL,
                .library = options->library,
                .device = arm->device,
                .optimization = options->optimization,
                .cpus = options->cpus,
                .script = options->script,
                .threads = options->threads,
                .streams = options->streams,
                .spinning = options->spinning_off ? 0 : -1,
                .warmup = options->warmup_plus_1 - 1,
                .layers = options->layers,
                .counters = options->counters,
                .inputs = arm->workload ? arm->workload->inputs : NULL,
                .input_count = arm->workload ? arm->workload->input_count : 0,
                .outputs = wants_outputs(arm) ? arm->outputs : NULL,
                .generation = arm->generation},
        .goal = {options->iterations, options->time_s, ASSAY__GOAL_PRECISION, options->streams,
                 ASSAY__RING_CAPACITY, options->generate > 0 ? ASSAY__GENERATE_LEAST : 0},
        .timeout_s = options->timeout_s,
        .limit_s = options->launch_limit_s,
        .interrupt = options->interrupt,
        .progress = options->progress,
        .progress_context = options->progress_context,
        .launch = id,
        .launches = options->launches,
        .trial = assay__arm_trial(arm)->id,
        .worker = arm->recording->worker,
        .temporary = arm->recording->temporary,
        .watch = arm->watch ? arm->watch : arm->shared,
        .store = arm->recording->store,
        .arena = arm->recording->profile->arena,
    };
}

/* The samples move from the outcome's growing arrays to one exact one in the document, where the
 * outcome finds them too: a million samples stand in the parent once. */
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

/* When it was measured, for what else was read meanwhile. */
static int keep_spans(struct assay__arm *arm, const struct assay__launch *launch,
                      const struct assay__outcome *outcome)
{
    int code = 0;
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
    return code;
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
    if (code == 0) code = keep_spans(arm, launch, outcome);
    if (code == 0)
        code = assay__launch_metrics(outcome, arm->options.warmup_plus_1 > 0, launch->metrics);
    return code ? code
                : assay__generation_metrics(&one, 1, arm->options.generate, arm->device,
                                            launch->metrics);
}

static void keep_facts(struct assay__arm *arm, const struct assay__outcome *outcome)
{
    struct assay__trial *trial = assay__arm_trial(arm);
    if (!outcome->facts.known || trial->engine_version[0]) return;
    trial->engine_version = outcome->facts.version;
    trial->engine_library = outcome->facts.library;
    if (outcome->facts.threads > 0 && trial->option_count > 0 && arm->options.threads == 0) {
        const char *text = assay__arena_printf(arm->recording->profile->arena,
                                               "%d (engine's default)", outcome->facts.threads);
        if (text) trial->options[0].value = text;
    }
}

int assay__arm_launch(struct assay__arm *arm, struct assay_error *error)
{
    struct assay__request request;
    if (assay__vec_grow((void **)&arm->outcomes, &arm->outcome_capacity, arm->outcome_count + 1,
                        sizeof *arm->outcomes))
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    struct assay__launch *launch = assay__trial_launch(arm->recording->profile,
                                                       assay__arm_trial(arm));
    if (!launch) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    launch->streams = arm->options.streams;
    persist_launch(arm, launch);
    make_request(arm, (int)arm->outcome_count + 1, &request);
    struct assay__outcome *outcome = &arm->outcomes[arm->outcome_count++];
    assay__launch_run(&request, outcome);
    assay__recording_note(arm->recording, &outcome->store_error);
    keep_facts(arm, outcome);
    if (keep_launch(arm, launch, outcome))
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory for the samples");
    persist_launch(arm, launch);
    return 0;
}

static void persist_samples(struct assay__arm *arm, const struct assay__launch *launch)
{
    struct assay_error error = {0};
    for (int s = 0; arm->recording->store && launch->sample_count && s < launch->streams; s++) {
        size_t first = launch->stream_offsets[s];
        assay__store_add_samples(arm->recording->store, assay__arm_trial(arm)->id, launch->id, s,
                                 launch->samples_ns + first, launch->stream_offsets[s + 1] - first,
                                 &error);
        assay__recording_note(arm->recording, &error);
    }
}

int assay__arm_adopt(struct assay__arm *arm, struct assay__launch *kept, struct assay_error *error)
{
    if (assay__vec_grow((void **)&arm->outcomes, &arm->outcome_capacity, arm->outcome_count + 1,
                        sizeof *arm->outcomes))
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    struct assay__launch *launch = assay__trial_launch(arm->recording->profile,
                                                       assay__arm_trial(arm));
    if (!launch) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    struct assay__launch empty = *launch;
    *launch = *kept;
    *kept = empty;
    kept->id = launch->id;
    launch->id = empty.id;
    if (assay__outcome_restore(launch, arm->options.warmup_plus_1 == 0,
                               &arm->outcomes[arm->outcome_count]))
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory for the samples");
    arm->adopted++;
    arm->outcome_count++;
    persist_launch(arm, launch);
    persist_samples(arm, launch);
    return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Real time that is neither session creation nor inferences nor layers nor building a zoo model. */
static double overhead_s(const struct assay__arm *arm)
{
    double spent = (double)(arm->building_ns + arm->extra_ns);
    for (size_t i = 0; i < arm->outcome_count; i++)
        spent += arm->outcomes[i].open_ns + arm->outcomes[i].steps_ns + arm->outcomes[i].layers_ns;
    return ((double)(assay__now_ns() - arm->start_ns) - spent) / 1e9;
}

static int add_remarks(struct assay__arm *arm)
{
    struct assay__trial *trial = assay__arm_trial(arm);
    size_t room = trial->note_count + arm->outcome_count;
    const char **notes = assay__arena_array(arm->recording->profile->arena, room, sizeof *notes);
    if (!notes) return ASSAY_ENOMEM;
    if (trial->note_count) memcpy(notes, trial->notes, trial->note_count * sizeof *notes);
    trial->notes = notes;
    for (size_t i = 0; i < arm->outcome_count; i++)
        if (arm->outcomes[i].remark[0])
            notes[trial->note_count++] = assay__arena_printf(
                arm->recording->profile->arena, "launch %zu: %s", i + 1, arm->outcomes[i].remark);
    return 0;
}

/* The trial's state and, when a launch failed, the code and the first reason. */
static int conclude(struct assay__arm *arm, struct assay_error *error)
{
    struct assay__trial *trial = assay__arm_trial(arm);
    size_t failed = 0, first = 0;
    for (size_t i = arm->outcome_count; i-- > 0;)
        if (arm->outcomes[i].code) {
            failed++;
            first = i;
        }
    if (assay__arm_interrupted(arm) ||
        (failed && arm->outcomes[first].code == ASSAY_EINTERRUPTED)) {
        trial->state = ASSAY__TRIAL_INTERRUPTED;
        trial->reason = "interrupted";
        return assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted");
    }
    if (failed == 0) {
        trial->state = ASSAY__TRIAL_OK;
        return 0;
    }
    const char *why = arm->outcomes[first].reason;
    if (arm->options.launches > 1)
        why = assay__arena_printf(arm->recording->profile->arena,
                                  "%zu of %d launches failed; launch %zu: %s", failed,
                                  arm->options.launches, first + 1, why);
    trial->state = ASSAY__TRIAL_FAILED;
    trial->reason = why ? why : "a launch failed";
    return assay_error_set(error, arm->outcomes[first].code, "%s", trial->reason);
}

int assay__arm_begin(struct assay__arm *arm, struct assay_error *error)
{
    struct assay__watch_plan plan = {&arm->options, arm->recording->profile, assay__arm_trial(arm),
                                     arm->recording->start_ns};
    return assay__watch_begin(&plan, &arm->watch, error);
}

void assay__arm_share(struct assay__arm *arm, struct assay__watch *shared)
{
    arm->shared = shared;
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

int assay__arm_finish(struct assay__arm *arm, struct assay__watch *shared,
                      struct assay_error *error)
{
    struct assay_profile *profile = arm->recording->profile;
    struct assay__model_info first = profile->model;
    profile->model = arm->info;
    struct assay__trial_input input = {
        .profile = profile,
        .trial = assay__arm_trial(arm),
        .outcomes = arm->outcomes,
        .outcome_count = arm->outcome_count,
        .costs = arm->model ? &arm->costs : NULL,
        .workload = arm->workload,
        .precision = ASSAY__GOAL_PRECISION,
        .warmup_forced = arm->options.warmup_plus_1 > 0,
        .streams = arm->options.streams,
        .overhead_run_s = overhead_s(arm),
        .generate = arm->options.generate,
    };
    int code = add_remarks(arm);
    if (code == 0) code = assay__trial_metrics(&input);
    if (code == 0) code = assay__watch_finish(arm->watch, &input, error);
    if (code == 0) code = assay__watch_finish(shared, &input, error);
    if (code == 0) code = assay__roofline_apply(profile, assay__arm_trial(arm));
    profile->model = arm->index ? first : arm->info;
    if (code) return assay_error_set(error, code, "out of memory for the metrics");
    return conclude(arm, error);
}

/* A script generates without a graph. */
static void plan_script(struct assay__arm *arm)
{
    if (!arm->options.generate) return;
    arm->generation.tokens = arm->options.generate;
    if (!arm->options.prompt)
        arm->options.prompt = arm->options.sequence ? arm->options.sequence
                                                    : ASSAY__GENERATE_PROMPT;
}

int assay__arm_open(struct assay__recording *recording, const struct assay_run_options *options,
                    struct assay__arm **out, struct assay_error *error)
{
    struct assay_profile *profile = recording->profile;
    struct assay__arm *arm = calloc(1, sizeof *arm);
    *out = NULL;
    if (!arm) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    arm->recording = recording;
    arm->index = profile->trial_count;
    arm->start_ns = assay__now_ns();
    struct assay__model_info first = profile->model;
    int code = assay__options_read(options, &arm->options, sizeof arm->options, "run", error);
    if (code == 0) code = assay__run_options_check(&arm->options, error);
    if (code == 0)
        code = assay__build_of_run(profile->arena, arm->options.engine, arm->options.device,
                                   &arm->options.library, &arm->device, error);
    if (code == 0 && arm->options.model) code = resolve_model(arm, error);
    if (code == 0 && !arm->options.model) {
        profile->model.name = "script";
        plan_script(arm);
    }
    if (code == 0) code = start_trial(arm, error);
    arm->info = profile->model;
    if (arm->index) profile->model = first;
    if (code == 0)
        *out = arm;
    else
        assay__arm_close(arm);
    return code;
}

void assay__arm_close(struct assay__arm *arm)
{
    if (!arm) return;
    assay__watch_free(arm->watch);
    for (size_t i = 0; i < arm->outcome_count; i++)
        assay__outcome_free(&arm->outcomes[i]);
    free(arm->outcomes);
    assay__costs_free(&arm->costs);
    assay__workload_free(arm->workload);
    assay__model_free(arm->model);
    free(arm);
}
