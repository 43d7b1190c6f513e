/* run.c - assay_run(): model -> plan -> launches -> profile. Everything that can be wrong with the
 * input is found before a worker starts, and the profile's file is made before measuring, so that
 * an unwritable place costs no measurement. */
#include "base/clock.h"
#include "base/file.h"
#include "cost/roofline.h"
#include "model/generation.h"
#include "model/sha256.h"
#include "run/builds.h"
#include "run/locate.h"
#include "run/options.h"
#include "run/ring.h"
#include "run/trial.h"
#include "run/watch.h"
#include "zoo/open.h"
#include "zoo/zoo.h"

#include <assay/run.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif
#define TIMEOUT_S 300.0
#define LAUNCHES_MOST 1000

struct running {
    struct assay_run_options options;
    struct assay_profile *profile;
    struct assay__trial *trial;
    struct assay__store *store;
    struct assay_error
        store_error; /* the first failure to persist; the measurement goes on in memory */
    struct assay__model *model;
    struct assay__workload *workload;
    struct assay__model_costs costs;
    struct assay_generation generation; /* tokens 0: an inference is one run */
    struct assay__watch *watch;         /* NULL: nothing but the latency */
    struct assay__outcome *outcomes;
    size_t outcome_count;
    char worker[PATH_MAX], folder[PATH_MAX], model_path[PATH_MAX];
    const char *device;                       /* the engine's own name: without a build's prefix */
    const char *temporary;                    /* "TMPDIR=…" */
    uint64_t start_ns, building_ns, extra_ns; /* extra: launches that watchers wanted */
};

static const char *or_default(const char *text, const char *otherwise)
{
    return text && text[0] ? text : otherwise;
}

static bool interrupted(const struct running *run)
{
    return run->options.interrupt && *run->options.interrupt;
}

static void tell(const struct running *run, const char *phase)
{
    if (!run->options.progress) return;
    struct assay_progress progress = {phase, 0, run->options.launches, -1};
    run->options.progress(run->options.progress_context, &progress);
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

static int check_options(struct assay_run_options *options, struct assay_error *error)
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
        !(options->timeout_s > 0) || options->batch < 0 || options->sequence < 0 ||
        !isfinite(options->time_s) || !isfinite(options->timeout_s))
        return assay_error_set(error, ASSAY_EINVAL,
                               "a count, size or time is negative or not a number");
    int code = check_generation(options, error);
    return code ? code : options->cpus ? assay__cpus_check(options->cpus, error) : 0;
}

/* --- the model -------------------------------------------------------------------------------- */

/* One private folder for the run: a zoo model, and as TMPDIR of the workers what they would leave
 * behind when they are killed. Without one (no room, no permission) only zoo models fail. */
static int make_folder(struct running *run, struct assay_error *error)
{
    int code = assay__folder_temporary(run->folder, sizeof run->folder, error);
    if (code)
        run->folder[0] = '\0';
    else
        run->temporary = assay__arena_printf(run->profile->arena, "TMPDIR=%s", run->folder);
    return code;
}

static int build_zoo(struct running *run, const char *name, struct assay_error *error)
{
    struct assay__model *built = NULL;
    uint64_t start = assay__now_ns();
    tell(run, "building");
    if (run->folder[0] == '\0') return make_folder(run, error); /* says why there is none */
    if (assay__path_join(run->folder, "model.onnx", run->model_path, sizeof run->model_path))
        return assay_error_set(error, ASSAY_ELIMIT, "the temporary folder's path is too long");
    int code = assay__zoo_build(name, &built, error);
    if (code == 0) code = assay__model_write(built, run->model_path, error);
    /* Read back: the mapped file, not the builder's memory, is what the parent keeps. */
    assay__model_free(built);
    run->building_ns = assay__now_ns() - start;
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
static int64_t prompt_of(const struct running *run)
{
    const struct assay_run_options *options = &run->options;
    const char *ids = run->generation.ids, *symbol = NULL;
    for (size_t i = 0; i < run->model->graph.input_count; i++) {
        const struct assay__value *input = &run->model->graph.inputs[i];
        if (strcmp(input->name, ids) == 0 && input->rank == 2 && input->dims[1].value < 0)
            symbol = input->dims[1].symbol;
    }
    if (!symbol || is_given(options->inputs, options->input_count, ids) ||
        is_given(options->shapes, options->shape_count, ids) ||
        is_given(options->dims, options->dim_count, symbol))
        return 0;
    return ASSAY__GENERATE_PROMPT;
}

static int plan_workload(struct running *run, struct assay__workload_options *plan,
                         struct assay_error *error)
{
    if (run->options.generate == 0)
        return assay__workload_plan(run->model, plan, &run->workload, error);
    int code = assay__generation_find(run->model, run->options.generate, run->profile->arena,
                                      &run->generation, error);
    if (code) return code;
    if (plan->sequence == 0) plan->sequence = prompt_of(run);
    code = assay__workload_plan(run->model, plan, &run->workload, error);
    if (code == 0)
        code = assay__generation_shape(run->model, &run->generation, run->workload, error);
    for (size_t i = 0; i < (code ? 0 : run->workload->input_count); i++)
        if (strcmp(run->workload->inputs[i].name, run->generation.ids) == 0)
            run->options.prompt = run->workload->inputs[i].dims[1];
    return code;
}

static int resolve_model(struct running *run, struct assay_error *error)
{
    const char *name = run->options.model;
    bool zoo = !assay__file_exists(name) && assay__zoo_knows(name);
    if (zoo) {
        int code = build_zoo(run, name, error);
        if (code) return code;
    } else if (snprintf(run->model_path, sizeof run->model_path, "%s", name) >=
               (int)sizeof run->model_path) {
        return assay_error_set(error, ASSAY_ELIMIT, "the model's path is too long");
    }
    int code = assay__model_open(run->model_path, &run->model, NULL, error);
    if (code) return code;
    if (!assay__model_is_onnx(run->model))
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "%s is a %s: no engine here runs it; `assay inspect` shows what it "
                               "computes, moves and holds",
                               name, run->model->format);
    code = assay__model_check(run->model, error);
    if (code) return code;
    struct assay__workload_options plan = {
        .batch = run->options.batch,
        .sequence = run->options.sequence,
        .dims = run->options.dims,
        .dim_count = run->options.dim_count,
        .shapes = run->options.shapes,
        .shape_count = run->options.shape_count,
        .files = run->options.inputs,
        .file_count = run->options.input_count,
        .seed = run->options.seed,
    };
    code = plan_workload(run, &plan, error);
    if (code) return code;
    code = assay__describe_model(run->profile, run->model, run->workload, name,
                                 zoo ? "" : run->model_path, &run->costs, error);
    if (code == 0 && run->generation.tokens)
        code = assay__describe_generation(run->profile, run->model, run->workload, &run->generation,
                                          &run->costs, error);
    if (code || !run->options.hash) return code;
    char digest[65];
    code = assay__sha256_file(run->model_path, digest, error);
    if (code == 0) run->profile->model.sha256 = assay__arena_strdup(run->profile->arena, digest);
    return code;
}

/* --- the document ----------------------------------------------------------------------------- */

static const char *utc_now(struct assay__arena *arena)
{
    char text[32] = "";
    struct tm parts;
    time_t now = time(NULL);
    if (gmtime_r(&now, &parts)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    const char *copy = assay__arena_strdup(arena, text);
    return copy ? copy : "";
}

static int start_profile(struct running *run, struct assay_error *error)
{
    struct assay_profile *profile = run->profile = assay__profile_new();
    if (!profile) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    const char *line = assay__arena_strdup(profile->arena,
                                           or_default(run->options.command_line, ""));
    const char *path = assay__arena_strdup(profile->arena, or_default(run->options.output, ""));
    if (!line || !path) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    profile->path = path;
    profile->command = assay__arena_strdup(profile->arena, or_default(run->options.command, "run"));
    if (!profile->command) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    profile->command_line = line;
    profile->created = utc_now(profile->arena);
    if (!run->options.model) profile->model.name = "script";
    int code = assay__describe_ceilings(profile, run->options.ceilings, run->options.ceiling_count,
                                        error);
    return code ? code : assay__describe_machine(profile, error);
}

static const char *number_text(struct running *run, double value, const char *otherwise)
{
    if (!(value > 0)) return otherwise;
    const char *text = assay__arena_printf(run->profile->arena, "%.15g", value);
    return text ? text : "";
}

/* What else is read meanwhile, as an option behind the others; none without a wish. */
static int describe_watch(struct running *run)
{
    const struct assay_run_options *o = &run->options;
    if (!o->power && !o->memory && !o->counters) return 0;
    const char *value = assay__arena_printf(
        run->profile->arena, "%s%s%s%s%s", o->power ? "power" : "",
        o->power && (o->memory || o->counters) ? "+" : "", o->memory ? "memory" : "",
        o->memory && o->counters ? "+" : "", o->counters ? "counters" : "");
    if (!value) return ASSAY_ENOMEM;
    run->trial->options[run->trial->option_count++] = (struct assay__pair){"watch", value};
    return 0;
}

static int describe_options(struct running *run)
{
    static const char *const methods[] = {"off", "auto", "markers", "isolated", "engine"};
    const struct assay_run_options *options = &run->options;
    struct assay__arena *arena = run->profile->arena;
    const char *warmup = assay__arena_printf(arena, "%lld",
                                             (long long)(options->warmup_plus_1 - 1));
    const struct assay__pair pairs[] = {
        {"threads", number_text(run, options->threads, "default")},
        {"opt", assay__arena_strdup(arena, options->optimization)},
        {"streams", number_text(run, options->streams, "1")},
        {"cpus", assay__arena_strdup(arena, or_default(options->cpus, "any"))},
        {"spinning", options->spinning_off ? "off" : "default"},
        {"launches", number_text(run, options->launches, "1")},
        {"warmup", options->warmup_plus_1 ? warmup : "detected"},
        {"iters", number_text(run, (double)options->iterations, "by precision")},
        {"time_s", number_text(run, options->time_s, "by precision")},
        {"seed", assay__arena_printf(arena, "%llu", (unsigned long long)options->seed)},
        {"layers", (size_t)options->layers < sizeof methods / sizeof methods[0]
                       ? methods[options->layers]
                       : "off"},
        {"generate", number_text(run, (double)options->generate, "")},
        {"prompt", number_text(run, (double)options->prompt, "")},
        {ASSAY__TOKEN_IDS, ""}, /* filled when they are known */
    };
    const size_t count = sizeof pairs / sizeof pairs[0] - (options->generate > 0 ? 0 : 3);
    run->trial->options = assay__arena_alloc(arena, sizeof pairs + sizeof pairs[0]);
    if (!run->trial->options) return ASSAY_ENOMEM;
    memcpy(run->trial->options, pairs, sizeof pairs);
    run->trial->option_count = count;
    for (size_t i = 0; i < count; i++)
        if (!pairs[i].value) return ASSAY_ENOMEM;
    return describe_watch(run);
}

static int start_trial(struct running *run, struct assay_error *error)
{
    struct assay__arena *arena = run->profile->arena;
    struct assay__trial *trial = run->trial = assay__profile_trial(run->profile);
    if (!trial) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    const char *engine = assay__arena_strdup(arena, run->options.engine),
               *device = assay__arena_strdup(arena, run->options.device);
    if (!engine || !device || describe_options(run))
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    trial->engine = engine;
    trial->device = device;
    return run->workload ? assay__describe_workload(run->profile, trial, run->workload, error) : 0;
}

/* Persisting must not cost the measurement: after the first failure everything stays in memory and
 * the failure is told at the end. */
static void note_store(struct running *run, const struct assay_error *error)
{
    if (error->code == 0 || run->store_error.code) return;
    run->store_error = *error;
    assay__store_abandon(run->store);
    run->store = NULL;
}

static int start_store(struct running *run, struct assay_error *error)
{
    if (!run->options.output) return 0;
    int code = assay__store_create(run->options.output, &run->store, error);
    if (code == 0) code = assay__store_put_profile(run->store, run->profile, error);
    if (code == 0) code = assay__store_put_trial(run->store, run->trial, error);
    return code;
}

static void persist_launch(struct running *run, const struct assay__launch *launch)
{
    struct assay_error error = {0};
    if (run->store) assay__store_put_launch(run->store, run->trial->id, launch, &error);
    note_store(run, &error);
}

/* --- launches --------------------------------------------------------------------------------- */

static void make_request(struct running *run, int id, struct assay__request *request)
{
    const struct assay_run_options *options = &run->options;
    *request = (struct assay__request){
        .job = {.engine = options->engine,
                .model = run->model ? run->model_path : NULL,
                .library = options->library,
                .device = run->device,
                .optimization = options->optimization,
                .cpus = options->cpus,
                .script = options->script,
                .threads = options->threads,
                .streams = options->streams,
                .spinning = options->spinning_off ? 0 : -1,
                .warmup = options->warmup_plus_1 - 1,
                .layers = options->layers,
                .counters = options->counters,
                .inputs = run->workload ? run->workload->inputs : NULL,
                .input_count = run->workload ? run->workload->input_count : 0,
                .generation = run->generation},
        .goal = {options->iterations, options->time_s, ASSAY__GOAL_PRECISION, options->streams,
                 ASSAY__RING_CAPACITY, options->generate > 0 ? ASSAY__GENERATE_LEAST : 0},
        .timeout_s = options->timeout_s,
        .interrupt = options->interrupt,
        .progress = options->progress,
        .progress_context = options->progress_context,
        .launch = id,
        .launches = options->launches,
        .trial = run->trial->id,
        .worker = run->worker,
        .temporary = run->temporary,
        .watch = run->watch,
        .store = run->store,
        .arena = run->profile->arena,
    };
}

/* The samples move from the outcome's growing arrays to one exact one in the document, where the
 * outcome finds them too: a million samples stand in the parent once. */
static int keep_samples(struct running *run, struct assay__launch *launch,
                        struct assay__outcome *outcome)
{
    struct assay__arena *arena = run->profile->arena;
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
static int keep_spans(struct running *run, const struct assay__launch *launch,
                      const struct assay__outcome *outcome)
{
    int code = 0;
    for (size_t i = 0; run->watch && i < outcome->window_count && code == 0; i++) {
        const struct assay__sample_window *window = &outcome->windows[i];
        if (window->begin_ns < run->start_ns || window->end_ns < window->begin_ns) continue;
        struct assay__span span = {
            launch->id, "measure", (double)(window->begin_ns - run->start_ns),
            (double)(window->end_ns - run->start_ns), (int64_t)window->completions};
        code = assay__trial_add_span(run->profile, run->trial, &span);
    }
    return code;
}

static int keep_launch(struct running *run, struct assay__launch *launch,
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
    int code = keep_samples(run, launch, outcome);
    if (code == 0) code = keep_spans(run, launch, outcome);
    if (code == 0)
        code = assay__launch_metrics(outcome, run->options.warmup_plus_1 > 0, launch->metrics);
    return code ? code
                : assay__generation_metrics(&one, 1, run->options.generate, run->device,
                                            launch->metrics);
}

static void keep_facts(struct running *run, const struct assay__outcome *outcome)
{
    struct assay__trial *trial = run->trial;
    if (!outcome->facts.known || trial->engine_version[0]) return;
    trial->engine_version = outcome->facts.version;
    trial->engine_library = outcome->facts.library;
    if (outcome->facts.threads > 0 && trial->option_count > 0 && run->options.threads == 0) {
        const char *text = assay__arena_printf(run->profile->arena, "%d (engine's default)",
                                               outcome->facts.threads);
        if (text) trial->options[0].value = text;
    }
}

static int run_launch(struct running *run, int id, struct assay_error *error)
{
    struct assay__request request;
    struct assay__launch *launch = assay__trial_launch(run->profile, run->trial);
    if (!launch) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    launch->streams = run->options.streams;
    persist_launch(run, launch);
    make_request(run, id, &request);
    struct assay__outcome *outcome = &run->outcomes[run->outcome_count++];
    assay__launch_run(&request, outcome);
    note_store(run, &outcome->store_error);
    keep_facts(run, outcome);
    if (keep_launch(run, launch, outcome))
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory for the samples");
    persist_launch(run, launch);
    return 0;
}

static int run_launches(struct running *run, struct assay_error *error)
{
    run->outcomes = calloc((size_t)run->options.launches, sizeof *run->outcomes);
    if (!run->outcomes) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    struct assay__watch_plan plan = {&run->options, run->profile, run->trial, run->start_ns};
    int code = assay__watch_begin(&plan, &run->watch, error);
    for (int id = 1; id <= run->options.launches && code == 0 && !interrupted(run); id++)
        code = run_launch(run, id, error);
    if (code || interrupted(run)) return code;
    struct assay__request request;
    make_request(run, run->options.launches + 1, &request);
    request.watch = NULL;
    request.store = NULL;
    request.job.layers = ASSAY_LAYERS_OFF;
    request.job.counters = false;
    uint64_t begin_ns = assay__now_ns();
    code = assay__watch_extra(run->watch, &request, error);
    run->extra_ns = assay__now_ns() - begin_ns;
    return code;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Real time that is neither session creation nor inferences nor layers nor building a zoo model. */
static double overhead_s(const struct running *run)
{
    double spent = (double)(run->building_ns + run->extra_ns);
    for (size_t i = 0; i < run->outcome_count; i++)
        spent += run->outcomes[i].open_ns + run->outcomes[i].steps_ns + run->outcomes[i].layers_ns;
    return ((double)(assay__now_ns() - run->start_ns) - spent) / 1e9;
}

static int add_remarks(struct running *run)
{
    struct assay__trial *trial = run->trial;
    size_t room = trial->note_count + run->outcome_count;
    const char **notes = assay__arena_array(run->profile->arena, room, sizeof *notes);
    if (!notes) return ASSAY_ENOMEM;
    if (trial->note_count) memcpy(notes, trial->notes, trial->note_count * sizeof *notes);
    trial->notes = notes;
    for (size_t i = 0; i < run->outcome_count; i++)
        if (run->outcomes[i].remark[0])
            notes[trial->note_count++] = assay__arena_printf(run->profile->arena, "launch %zu: %s",
                                                             i + 1, run->outcomes[i].remark);
    return 0;
}

/* The trial's state and, when a launch failed, the code and the first reason. */
static int conclude(struct running *run, struct assay_error *error)
{
    struct assay__trial *trial = run->trial;
    size_t failed = 0, first = 0;
    for (size_t i = run->outcome_count; i-- > 0;)
        if (run->outcomes[i].code) {
            failed++;
            first = i;
        }
    if (interrupted(run) || (failed && run->outcomes[first].code == ASSAY_EINTERRUPTED)) {
        trial->state = ASSAY__TRIAL_INTERRUPTED;
        trial->reason = "interrupted";
        return assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted");
    }
    if (failed == 0) {
        trial->state = ASSAY__TRIAL_OK;
        return 0;
    }
    const char *why = run->outcomes[first].reason;
    if (run->options.launches > 1)
        why = assay__arena_printf(run->profile->arena, "%zu of %d launches failed; launch %zu: %s",
                                  failed, run->options.launches, first + 1, why);
    trial->state = ASSAY__TRIAL_FAILED;
    trial->reason = why ? why : "a launch failed";
    return assay_error_set(error, run->outcomes[first].code, "%s", trial->reason);
}

static int finish(struct running *run, struct assay_error *error)
{
    struct assay__trial_input input = {
        .profile = run->profile,
        .trial = run->trial,
        .outcomes = run->outcomes,
        .outcome_count = run->outcome_count,
        .costs = run->model ? &run->costs : NULL,
        .workload = run->workload,
        .precision = ASSAY__GOAL_PRECISION,
        .warmup_forced = run->options.warmup_plus_1 > 0,
        .streams = run->options.streams,
        .overhead_run_s = overhead_s(run),
        .generate = run->options.generate,
    };
    int code = add_remarks(run);
    if (code == 0) code = assay__trial_metrics(&input);
    if (code == 0) code = assay__watch_finish(run->watch, &input, error);
    if (code == 0) code = assay__roofline_apply(run->profile, run->trial);
    if (code) return assay_error_set(error, code, "out of memory for the metrics");
    code = conclude(run, error);
    run->profile->interrupted = run->trial->state == ASSAY__TRIAL_INTERRUPTED;
    run->profile->complete = !run->profile->interrupted;
    struct assay_error stored = {0};
    if (run->store) {
        int put = assay__store_put_profile(run->store, run->profile, &stored);
        if (put == 0) put = assay__store_put_trial(run->store, run->trial, &stored);
        if (put == 0) {
            assay__store_finish(run->store, run->profile->complete, run->profile->interrupted,
                                &stored);
            run->store = NULL;
        }
        note_store(run, &stored);
    }
    if (code == 0 && run->store_error.code) {
        code = run->store_error.code;
        if (error) *error = run->store_error;
    }
    return code;
}

static void clean_up(struct running *run)
{
    assay__store_abandon(run->store);
    assay__watch_free(run->watch);
    for (size_t i = 0; i < run->outcome_count; i++)
        assay__outcome_free(&run->outcomes[i]);
    free(run->outcomes);
    assay__costs_free(&run->costs);
    assay__workload_free(run->workload);
    assay__model_free(run->model);
    if (run->folder[0]) assay__folder_remove(run->folder);
}

int assay_run(const struct assay_run_options *options, struct assay_profile **profile,
              struct assay_error *error)
{
    struct assay_error detail = {0};
    if (!error) error = &detail;
    if (!profile)
        return assay_error_set(error, ASSAY_EINVAL, "assay_run needs a place for its profile");
    *profile = NULL;
    struct running *run = calloc(1, sizeof *run);
    if (!run) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    run->start_ns = assay__now_ns();
    bool measured = false;
    int code = assay__options_read(options, &run->options, sizeof run->options, "run", error);
    if (code == 0) code = check_options(&run->options, error);
    if (code == 0) code = assay__worker_locate(run->worker, sizeof run->worker, error);
    if (code == 0) code = start_profile(run, error);
    if (code == 0)
        code = assay__build_of_run(run->profile->arena, run->options.engine, run->options.device,
                                   &run->options.library, &run->device, error);
    if (code == 0) make_folder(run, NULL);
    if (code == 0 && run->options.model) code = resolve_model(run, error);
    if (code == 0 && !run->options.model && run->options.generate) {
        run->generation.tokens = run->options.generate; /* a script generates without a graph */
        if (!run->options.prompt)
            run->options.prompt = run->options.sequence ? run->options.sequence
                                                        : ASSAY__GENERATE_PROMPT;
    }
    if (code == 0) code = start_trial(run, error);
    if (code == 0) code = start_store(run, error);
    if (code == 0) code = run_launches(run, error);
    if (code == 0) {
        measured = true;
        code = finish(run, error);
    }
    if (measured)
        *profile = run->profile;
    else
        assay_profile_close(run->profile);
    clean_up(run);
    free(run);
    return code;
}
