/* worker.c - one launch in the worker (protocol: job.h). In order: baseline memory, pinning,
 * inputs, session, first inference, pre-run, windows as the parent requests them, memory, layers,
 * done. The peak is read before the layer pass, whose extra sessions must not count. Any failure is
 * one "error" line; the parent handles crashes and hangs. */
#include "run/worker/worker.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/engine.h"
#include "platform/platform.h"
#include "probe/live.h"
#include "run/assignment.h"
#include "run/worker/channel.h"
#include "run/devices.h"
#include "run/trial/token_stats.h"
#include "run/worker/job.h"
#include "run/worker/messages.h"
#include "run/trial/outputs.h"
#include "run/worker/span_file.h"
#include "run/worker/streams.h"
#include "run/worker/worker_counters.h"
#include "run/worker/worker_allocations.h"
#include "run/worker/worker_state.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TENSOR_ALIGNMENT 64u
#define TIMES_PER_LINE 512u
#define TIMELINE_NS 1e8 /* of inferences on a timeline, … */
#define TIMELINE_RUNS_LEAST 3
#define TIMELINE_RUNS_MOST 20

struct worker {
    struct assay__channel channel;
    struct assay__arena *arena;
    struct assay__job job;
    struct assay__ring ring;
    const struct assay__engine_ops *engine;
    struct assay__session *session;
    struct assay__streams *streams;
    struct assay__host_tensor *inputs;
    struct assay__worker_counters *counters; /* NULL: nothing is counted */
    struct assay__memory baseline;
    uint64_t open_ns, first_ns, first_real_ns, layers_ns;
    double loop_ns, clock_ns, clock_step_ns;
    bool alternates; /* layers are timed in blocks between the windows */
    char apart[160]; /* why they are not; "" no reason */
    struct assay_error error;
};

static int message_send(struct worker *worker, struct assay__message *message)
{
    return assay__message_send(message, &worker->channel, &worker->error);
}

static int send_fields(struct worker *worker, const char *key,
                       const struct assay__field_table *table, const void *element)
{
    return assay__message_send_fields(&worker->channel, key, table, element, &worker->error);
}

static int send_text(struct worker *worker, const char *key, const char *text)
{
    struct assay__message message;
    assay__json_string(assay__message_open(&message, key), text);
    return message_send(worker, &message);
}

/* ASSAY_LOG names a file that gets every line, also those that are too detailed for the parent. */
static void forward_log(void *context, enum assay_log_level level, const char *domain,
                        const char *text)
{
    const char *path = getenv("ASSAY_LOG");
    FILE *file = path && *path ? fopen(path, "ae") : NULL;
    if (file) {
        fprintf(file, "%ld %s: %s\n", (long)getpid(), domain, text);
        fclose(file);
    }
    if (level > ASSAY_LOG_DEBUG) send_text(context, "log", text);
}

static int read_line(struct worker *worker, const char **line, size_t *length)
{
    int code;
    do
        code = assay__channel_read(&worker->channel, -1, line, length);
    while (code == ASSAY_EINTERRUPTED);
    return code ? assay_error_set(&worker->error, code, "the parent process is gone") : 0;
}

/* A job that asks for devices (devices.h) or an assignment (assignment.h) is answered at once. */
static int read_job(struct worker *worker, bool *answered)
{
    const char *line;
    size_t length;
    struct assay__json *job = NULL;
    int code = read_line(worker, &line, &length);
    if (!code) code = assay__json_parse(worker->arena, line, length, &job, &worker->error);
    if (code) return code;
    *answered = true;
    if (assay__json_get(job, "devices"))
        return assay__devices_answer(&worker->channel, job, &worker->error);
    if (assay__json_get(job, "assignment"))
        return assay__assignment_answer(&worker->channel, job, &worker->error);
    *answered = false;
    code = assay__job_read(line, length, worker->arena, &worker->job, &worker->error);
    if (code) return code;
    if (worker->job.streams < 1) worker->job.streams = 1;
    return assay__ring_open(&worker->ring, ASSAY__WORKER_SHARED, (uint32_t)worker->job.streams,
                            &worker->error);
}

/* Inputs are shared read-only by all streams and stay for the life of the process. */
static int make_inputs(struct worker *worker)
{
    const struct assay__job *job = &worker->job;
    worker->inputs = assay__arena_array(worker->arena, job->input_count, sizeof *worker->inputs);
    if (!worker->inputs) return assay__no_memory(&worker->error);
    for (size_t i = 0; i < job->input_count; i++) {
        const struct assay__input_plan *plan = &job->inputs[i];
        struct assay__host_tensor *tensor = &worker->inputs[i];
        *tensor = (struct assay__host_tensor){.name = plan->name,
                                              .dtype = (int)plan->dtype,
                                              .rank = plan->rank,
                                              .dims = plan->dims,
                                              .data_size = plan->bytes};
        if (plan->dtype == ASSAY__STRING) {
            const char **strings = NULL;
            int code = assay__input_strings(plan, worker->arena, &strings, &tensor->string_count);
            if (code)
                return assay_error_set(&worker->error, code,
                                       "cannot create the strings of input '%s'", plan->name);
            tensor->strings = strings;
            continue;
        }
        size_t size = (plan->bytes + TENSOR_ALIGNMENT) / TENSOR_ALIGNMENT * TENSOR_ALIGNMENT;
        tensor->data = size > plan->bytes ? aligned_alloc(TENSOR_ALIGNMENT, size) : NULL;
        if (!tensor->data)
            return assay_error_set(&worker->error, ASSAY_ENOMEM,
                                   "out of memory for input '%s' (%zu bytes)", plan->name,
                                   plan->bytes);
        int code = assay__input_fill(plan, tensor->data, &worker->error);
        if (code) return code;
    }
    return 0;
}

static int open_session(struct worker *worker)
{
    const struct assay__job *job = &worker->job;
    worker->engine = assay__engine_find(job->engine);
    if (!worker->engine)
        return assay_error_set(&worker->error, ASSAY_ENOTFOUND, "there is no engine '%s'",
                               job->engine);
    struct assay__session_options options = {
        .size = sizeof options,
        .model_path = job->model,
        .library = job->library,
        .device = job->device,
        .optimization = job->optimization,
        .threads = job->threads,
        .streams = job->streams,
        .spinning = job->spinning,
        .inputs = worker->inputs,
        .input_count = job->input_count,
        .script = job->script,
        .generation = job->generation.tokens > 0 ? &job->generation : NULL,
        .strict = job->strict,
        .provider_options = job->provider_options,
        .model_name = job->model_name,
        .feedback = job->feedback,
        .feedback_count = job->feedback_count,
    };
    if (job->allocations) {
        worker->engine = assay__allocations_engine(worker->engine, &worker->error);
        if (!worker->engine) return worker->error.code;
    }
    if (options.generation && !worker->engine->tokens)
        return assay_error_set(&worker->error, ASSAY_EUNSUPPORTED,
                               "engine '%s' cannot generate with a cache", job->engine);
    uint64_t start = assay__now_ns();
    int code = worker->engine->open(&options, &worker->session, &worker->error);
    worker->open_ns = assay__now_ns() - start;
    return code;
}

static int step_failed(struct worker *worker, int code)
{
    const char *text = worker->engine->step_error ? worker->engine->step_error(worker->session)
                                                  : NULL;
    bool fed = worker->job.feedback_count && worker->first_real_ns; /* the first had no state yet */
    return assay_error_set(&worker->error, code < 0 ? code : ASSAY_EENGINE, "%s%s",
                           text && text[0] ? text : "an inference failed",
                           fed ? " (with a state fed back from the previous inference)" : "");
}

static int first_step(struct worker *worker)
{
    const struct assay__engine_ops *engine = worker->engine;
    uint64_t real = assay__now_ns();
    uint64_t start = engine->now_ns ? engine->now_ns(worker->session) : real;
    int code = engine->step(worker->session, 0);
    if (code) {
        send_text(worker, "phase",
                  "first"); /* sent only now: the parent must sleep while it runs */
        return step_failed(worker, code);
    }
    uint64_t end = assay__now_ns();
    worker->first_real_ns = end - real;
    worker->first_ns = (engine->now_ns ? engine->now_ns(worker->session) : end) - start;
    return 0;
}

/* The outputs of the first step, or of a fixed later step for a model with a state. */
static int keep_outputs(struct worker *worker)
{
    int code = 0;
    if (!worker->job.outputs) return 0;
    for (int i = 1; worker->job.feedback_count && i < ASSAY__STATE_STEPS && !code; i++)
        code = worker->engine->step(worker->session, 0);
    if (code) return step_failed(worker, code);
    return assay__outputs_write(worker->engine, worker->session, worker->job.outputs,
                                &worker->error);
}

static int send_facts(struct worker *worker)
{
    struct assay__session_facts facts = {.load_ns = NAN, .compile_ns = NAN, .create_ns = NAN};
    worker->engine->facts(worker->session, &facts);
    const struct assay__worker_facts told = {
        .load_ns = facts.load_ns,
        .compile_ns = facts.compile_ns,
        .create_ns = isfinite(facts.create_ns) ? facts.create_ns : (double)worker->open_ns,
        .first_ns = (double)worker->first_ns,
        .loop_ns = worker->loop_ns,
        .clock_ns = worker->clock_ns,
        .clock_step_ns = worker->clock_step_ns,
        .load_reason = facts.load_reason,
        .version = facts.version,
        .library = facts.library,
        .provider = facts.provider,
        .hardware = facts.hardware,
        .threads = facts.threads,
    };
    return send_fields(worker, "facts", &assay__message_facts, &told);
}

static int send_window(struct worker *worker, int64_t index, size_t prerun)
{
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "window");
    assay__json_object(out);
    assay__json_put_integer(out, "index", index);
    assay__json_put_integer(out, "prerun", (int64_t)prerun);
    if (index == 0) assay__json_put_bool(out, "alternates", worker->alternates);
    assay__json_object_end(out);
    return message_send(worker, &message);
}

/* The times of the generations of the last window, token by token, without the first `skip` of them
 * (untimed warm-up). Lines are short: a parent that reads them needs little memory. */
static int send_tokens(struct worker *worker, size_t skip, bool tell)
{
    struct assay__token_times times = {0};
    if (worker->job.generation.tokens < 1) return 0;
    int code = worker->engine->tokens(worker->session, &times, &worker->error);
    if (code || !tell) return code;
    if (skip > times.generations) skip = times.generations;
    size_t tokens = (size_t)times.tokens, count = (times.generations - skip) * tokens;
    const uint64_t *ns = times.ns + skip * tokens;
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "generation");
    assay__json_object(out);
    assay__json_put_integer(out, "tokens", times.tokens);
    assay__json_put_integer(out, "prompt", times.prompt);
    assay__json_put_integer(out, "batch", times.batch);
    assay__json_put_integer(out, "generations", (int64_t)(times.generations - skip));
    assay__json_put_integer(out, "dropped", (int64_t)times.dropped);
    assay__json_put_number(out, "choose_ns", times.choose_ns);
    assay__json_put_array(out, "ids");
    for (size_t i = 0; i < tokens && i < ASSAY__GENERATED_IDS; i++)
        assay__json_integer(out, times.ids[i]);
    assay__json_array_end(out);
    assay__json_object_end(out);
    code = message_send(worker, &message);
    for (size_t at = 0; at < count && code == 0; at += TIMES_PER_LINE) {
        out = assay__message_open(&message, "token_times");
        assay__json_array(out);
        for (size_t i = at; i < count && i < at + TIMES_PER_LINE; i++)
            assay__json_unsigned(out, ns[i]);
        assay__json_array_end(out);
        code = message_send(worker, &message);
    }
    return code;
}

/* The parent's answer to a window: another one (*stop false) or the end with the launch's median.
 */
struct answer {
    bool stop, block, drop;
    int64_t iterations, rewarm;
    double seconds, latency_ns;
};

static int read_answer(struct worker *worker, struct answer *answer)
{
    const char *line;
    size_t length;
    int code = read_line(worker, &line, &length);
    if (code) return code;
    /* Its own arena: the memory of the worker must not grow with the answers of a long launch. */
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = NULL;
    if (!arena) return assay__no_memory(&worker->error);
    code = assay__json_parse(arena, line, length, &root, &worker->error);
    const struct assay__json *stop = assay__json_get(root, "stop"),
                             *block = assay__json_get(root, "block"),
                             *window = block ? block : assay__json_get(root, "window");
    if (code == 0 && !window && !stop)
        code = assay_error_set(&worker->error, ASSAY_EFORMAT,
                               "the parent's answer is neither a window, a block nor a stop");
    if (code == 0)
        *answer = (struct answer){
            .stop = stop != NULL,
            .block = block != NULL,
            .drop = assay__json_get_bool(stop ? stop : window, "drop", false),
            .iterations = assay__json_get_integer(window, "iterations", 1),
            .rewarm = assay__json_get_integer(window, "rewarm", 0),
            .seconds = assay__json_get_number(window, "seconds", INFINITY),
            .latency_ns = assay__json_get_number(stop, "latency_ns", NAN),
        };
    assay__arena_free(arena);
    return code;
}

/* The files of another machine in place of /proc do not describe this process. */
static void read_own_memory(struct assay__memory *memory)
{
    memset(memory, 0, sizeof *memory);
    if (!assay__live_refused()) assay__memory_read(memory);
}

static int send_memory(struct worker *worker)
{
    const struct assay__memory *begin = &worker->baseline;
    struct assay__memory now;
    struct assay__worker_memory told = {.arena = NAN, .arena_peak = NAN};
    read_own_memory(&now);
    if (worker->engine->memory)
        worker->engine->memory(worker->session, &told.arena, &told.arena_peak);
    told.baseline = begin->rss_known ? (double)begin->rss_bytes : NAN;
    told.rss = now.rss_known ? (double)now.rss_bytes : NAN;
    told.peak = now.peak_known ? (double)now.peak_rss_bytes : NAN;
    told.pss = now.pss_known ? (double)now.pss_bytes : NAN;
    return send_fields(worker, "memory", &assay__message_memory, &told);
}

/* Two more sessions like this one must not take more than half of what is free. */
static bool fits_memory(struct worker *worker)
{
    struct assay__memory now;
    uint64_t free_bytes;
    read_own_memory(&now);
    if (!now.rss_known || !assay__memory_free(&free_bytes)) return true;
    if (2 * now.rss_bytes <= free_bytes / 2) return true;
    snprintf(worker->apart, sizeof worker->apart,
             "Three sessions of the model would take more than half of the free memory: the layers "
             "were timed after the latency.");
    return false;
}

/* Opens what is needed to time layers between the windows. The memory peak is read before: these
 * sessions must not count. Layers that cannot be timed this way are timed after the windows. */
static int begin_layers(struct worker *worker)
{
    struct assay__layer_options options = {
        .size = sizeof options, .method = worker->job.layers, .keep = worker->job.keep};
    struct assay_error ignored = {0};
    if (worker->job.layers == ASSAY_LAYERS_OFF || !worker->job.alternate ||
        !worker->engine->layers_begin || !fits_memory(worker))
        return 0;
    int code = send_memory(worker);
    uint64_t start = assay__now_ns();
    if (code == 0)
        worker->alternates = worker->engine->layers_begin(worker->session, &options, &ignored) == 0;
    worker->layers_ns += assay__now_ns() - start;
    return code;
}

static int run_block(struct worker *worker, double seconds)
{
    double total_ns = NAN;
    uint64_t start = assay__now_ns();
    struct assay_error ignored = {0}; /* a failed block does not fail the launch */
    bool failed = worker->engine->layers_block(worker->session, seconds, &total_ns, &ignored) != 0;
    worker->layers_ns += assay__now_ns() - start;
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "block");
    assay__json_object(out);
    assay__json_put_number(out, "layers_ns", total_ns);
    assay__json_put_bool(out, "failed", failed);
    assay__json_object_end(out);
    return message_send(worker, &message);
}

static int run_window(struct worker *worker, const struct answer *answer, int64_t index,
                      size_t prerun)
{
    int code = assay__streams_window(worker->streams,
                                     answer->iterations > 0 ? (size_t)answer->iterations : 1,
                                     answer->seconds, (int)answer->rewarm);
    if (code) return step_failed(worker, code);
    code = send_tokens(worker, answer->rewarm > 0 ? (size_t)answer->rewarm : 0, true);
    return code ? code : send_window(worker, index, prerun);
}

static int measure(struct worker *worker, double *latency_ns)
{
    size_t prerun = 0;
    int64_t index = 1;
    int code = send_text(worker, "phase", "warming up");
    if (code == 0)
        code = assay__streams_start(worker->engine, worker->session, &worker->ring,
                                    &worker->streams, &worker->error);
    if (code) return code;
    code = assay__streams_prerun(worker->streams, worker->job.warmup, &prerun);
    if (code) return step_failed(worker, code);
    if (worker->job.allocations) assay__allocations_warm(worker->session);
    code = send_tokens(worker, 0, false); /* the record starts anew */
    if (code == 0) code = begin_layers(worker);
    if (code == 0) code = send_window(worker, 0, prerun);
    while (code == 0) {
        struct answer answer = {0};
        code = read_answer(worker, &answer);
        if (code) return code;
        *latency_ns = answer.latency_ns;
        if (answer.drop && worker->alternates) worker->engine->layers_drop(worker->session);
        if (answer.stop) break;
        if (answer.block && worker->alternates)
            code = run_block(worker, answer.seconds);
        else
            code = run_window(worker, &answer, index++, prerun);
    }
    return code;
}

static int send_allocations(struct worker *worker)
{
    if (!worker->job.allocations) return 0;
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "allocations");
    int code = assay__allocations_write(worker->session, out, &worker->error);
    if (code == 0) return message_send(worker, &message);
    assay__buf_free(&message.text);
    return code;
}

static int send_state(struct worker *worker)
{
    struct assay__worker_state state;
    if (!worker->job.feedback_count && worker->job.generation.tokens > 0)
        return 0; /* only logits */
    assay__worker_state_read(worker->engine, worker->session, worker->job.feedback,
                             worker->job.feedback_count, &state);
    return send_fields(worker, "state", &assay__message_state, &state);
}

static int still_counting(void *worker)
{
    return send_text(worker, "phase", "counting");
}

/* The same loop once more, with the counters (worker_counters.h). */
static int count_inferences(struct worker *worker, double latency_ns)
{
    struct assay__message message;
    if (!worker->counters) return 0;
    int code = still_counting(worker);
    if (code) return code;
    code = assay__worker_counters_run(worker->counters, worker->engine, worker->session, latency_ns,
                                      still_counting, worker, &worker->error);
    if (code) return worker->error.code ? code : step_failed(worker, code);
    assay__worker_counters_write(worker->counters, assay__message_open(&message, "counters"));
    return message_send(worker, &message);
}

static int send_layers(struct worker *worker, const struct assay__layers *layers)
{
    const struct assay__layer_counters *counters = assay__worker_counters_layers(worker->counters);
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "layers");
    assay__json_object(out);
    assay__fields_send(out, &assay__stored_layers, layers);
    assay__json_put_string(out, "counter_note", layers->counter_note);
    assay__json_object_end(out);
    int code = message_send(worker, &message);
    for (size_t i = 0; i < layers->count && code == 0; i++) {
        struct assay__layer *layer = &layers->items[i];
        layer->index = (int)i;
        out = assay__message_open(&message, "layer");
        assay__json_object(out);
        assay__fields_send(out, &assay__stored_layer, layer);
        if (counters && layer->counters) {
            assay__json_put_array(out, "counters");
            for (size_t c = 0; c < counters->count; c++)
                assay__json_number(out, layer->counters[c]);
            assay__json_array_end(out);
        }
        assay__json_object_end(out);
        code = message_send(worker, &message);
    }
    return code;
}

/* A failed layer pass does not fail the launch: its latency is valid. */
static int time_layers(struct worker *worker, double latency_ns)
{
    if (worker->job.layers == ASSAY_LAYERS_OFF) return 0;
    int code = send_text(worker, "phase", "layers");
    if (code) return code;
    struct assay__layer_options options = {
        .size = sizeof options,
        .method = worker->job.layers,
        .latency_ns = latency_ns,
        .counters = assay__worker_counters_layers(worker->counters),
        .keep = worker->job.keep};
    struct assay__layers result = assay__layers_unknown();
    struct assay_error error = {0};
    uint64_t start = assay__now_ns();
    if (!worker->engine->layers)
        code = assay_error_set(&error, ASSAY_EUNSUPPORTED, "engine '%s' cannot time layers",
                               worker->engine->name);
    else
        code = worker->engine->layers(worker->session, &options, &result, &error);
    worker->layers_ns += assay__now_ns() - start;
    if (code) {
        result = assay__layers_unknown();
        result.reason = error.message;
    }
    if (worker->apart[0])
        result.reason = assay__arena_text(worker->arena, "%s%s%s", worker->apart,
                                          *result.reason ? " " : "", result.reason);
    return send_layers(worker, &result);
}

/* Spans are of the engine's clock: with the offset that it has to Unix time. */
struct recording {
    struct assay__span_file *file;
    int64_t offset_ns;
};

static int on_span(void *context, const struct assay__timeline_span *span)
{
    struct recording *recording = context;
    return assay__span_file_add(recording->file, span, recording->offset_ns);
}

static int64_t unix_offset_ns(const struct worker *worker)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t unix_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    /* a scripted clock is its own time */
    return worker->engine->now_ns ? 0 : (int64_t)(unix_ns - assay__now_ns());
}

static int record_timeline(struct worker *worker, double latency_ns)
{
    const char *folder = worker->job.timeline;
    if (!folder) return 0;
    if (!worker->engine->timeline)
        return assay_error_set(&worker->error, ASSAY_EUNSUPPORTED,
                               "engine '%s' cannot record a timeline", worker->engine->name);
    struct recording recording = {assay__span_file_new(), unix_offset_ns(worker)};
    double runs = TIMELINE_NS / latency_ns; /* NaN: unknown */
    struct assay__timeline_options options = {.size = sizeof options,
                                              .runs = runs > TIMELINE_RUNS_LEAST
                                                          ? (int)fmin(runs, TIMELINE_RUNS_MOST)
                                                          : TIMELINE_RUNS_LEAST,
                                              .folder = folder,
                                              .span = on_span,
                                              .context = &recording};
    int code = recording.file ? send_text(worker, "phase", "layers")
                              : assay__no_memory(&worker->error);
    if (!code) code = worker->engine->timeline(worker->session, &options, &worker->error);
    if (!code) code = assay__span_file_write(recording.file, folder, &worker->error);
    assay__span_file_free(recording.file);
    return code;
}

static int work(struct worker *worker)
{
    double latency_ns = NAN;
    bool answered = false;
    int code = read_job(worker, &answered);
    if (code || answered) return code;
    assay_log_set(forward_log, worker, getenv("ASSAY_LOG") ? ASSAY_LOG_DEBUG : ASSAY_LOG_INFO);
    /* Measured while nothing else runs in this process, because spinning threads of an engine would
     * affect it. */
    worker->loop_ns = assay__loop_cost_ns();
    assay__clock_measure(&worker->clock_ns, &worker->clock_step_ns);
    read_own_memory(&worker->baseline);
    if (worker->job.cpus) code = assay__cpus_pin(worker->job.cpus, &worker->error);
    if (code == 0 && worker->job.counters) /* before there are threads to miss */
        code = assay__worker_counters_open(worker->arena, &worker->job, &worker->counters,
                                           &worker->error);
    if (code == 0) code = send_text(worker, "phase", "loading");
    if (code == 0) code = make_inputs(worker);
    if (code == 0) code = open_session(worker);
    if (code == 0) code = first_step(worker);
    if (code == 0) code = keep_outputs(worker);
    if (code == 0) code = send_facts(worker);
    if (code == 0) code = measure(worker, &latency_ns);
    if (code == 0 && !worker->alternates) code = send_memory(worker);
    if (code == 0) code = send_allocations(worker);
    if (code == 0) code = send_state(worker);
    if (code == 0) code = count_inferences(worker, latency_ns);
    if (code == 0) code = time_layers(worker, latency_ns);
    if (code == 0) code = record_timeline(worker, latency_ns);
    if (code == 0) {
        const struct assay__worker_spent spent = {
            .open_ns = (double)worker->open_ns,
            .steps_ns = (double)(worker->first_real_ns + assay__streams_spent_ns(worker->streams) +
                                 assay__worker_counters_spent_ns(worker->counters)),
            .layers_ns = (double)worker->layers_ns,
        };
        code = send_fields(worker, "done", &assay__message_spent, &spent);
    }
    return code;
}

int assay__worker_main(void)
{
    static struct worker worker;
    /* Ctrl-C reaches the whole process group; the parent decides what to do. */
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    assay__channel_open(&worker.channel, ASSAY__WORKER_SOCKET);
    worker.ring.fd = -1;
    worker.arena = assay__arena_new();
    int code = worker.arena ? work(&worker) : assay__no_memory(&worker.error);
    if (code) {
        struct assay__message message;
        struct assay__json_writer *out = assay__message_open(&message, "error");
        assay__json_object(out);
        assay__json_put_integer(out, "code", worker.error.code);
        assay__json_put_string(out, "message", worker.error.message);
        assay__json_object_end(out);
        message_send(&worker, &message);
    }
    assay_log_set(NULL, NULL, ASSAY_LOG_ERROR);
    assay__streams_stop(worker.streams);
    assay__worker_counters_close(worker.counters);
    if (worker.engine) worker.engine->close(worker.session);
    for (size_t i = 0; worker.inputs && i < worker.job.input_count; i++)
        free(worker.inputs[i].data);
    assay__ring_close(&worker.ring);
    assay__arena_free(worker.arena);
    assay__channel_close(&worker.channel);
    return code ? 1 : 0;
}
