/* fake.c - an engine that does not run models: its times come from a script, on a clock that only
 * its steps advance, so that a test knows every value exactly. It can also crash, hang, be killed,
 * exit or fail at a chosen step, and it can consume real time for a known duration. The grammar of
 * scripts is in doc/fake-engine.md and in fake_script.c.
 *
 * Each stream has its own clock and its own count of steps. now_ns() returns the clock of the
 * stream that the calling thread stepped last; a thread that never stepped sees that of stream 0,
 * or with several streams the time at which the session was opened: the clock of a new stream
 * starts there.
 *
 * A generation: a step makes `tokens` tokens, the first after the time given by `steady` and the
 * like, the others `decode` apart. Sequence b's k-th token is 100 b + k. The times of
 * GENERATIONS_KEPT generations are kept until they are requested; more are counted as dropped.
 *
 * Feedback: a state is one number, initially that of its input. Each step of a stream multiplies
 * and adds as the script says; as an output it has the shape of its input, in float32, filled with
 * that number. */
#include "engine/fake/fake.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/log.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_STEADY_NS 100000 /* 100 µs */
#define DEFAULT_DECODE_NS 10000
#define DEFAULT_PROMPT 32
#define GENERATIONS_KEPT 4096u
#define TOKENS_MOST 65536

void (*assay__fake_step_hook)(double steps);

/* --- clock ------------------------------------------------------------------------------------ */

static _Thread_local struct {
    unsigned serial;
    int stream;
} last_step;

static uint64_t fake_now_ns(struct assay__session *session)
{
    if (session->real_clock) return assay__now_ns();
    if (last_step.serial == session->serial) return session->streams[last_step.stream].now_ns;
    return session->stream_count == 1 ? session->streams[0].now_ns : session->open_ns;
}

/* Duration of step number `step` (from 1) of a stream. */
static uint64_t step_duration_ns(struct assay__session *session, struct assay__fake_stream *stream,
                                 int64_t step)
{
    int64_t before = session->has_first ? 1 : 0;
    if (session->has_first && step == 1) return session->first_ns;
    if (step <= before + session->warmup_count) return session->warmup_ns;
    int64_t steady = step - before - session->warmup_count; /* from 1 */
    uint64_t duration_ns = session->steady_ns[(size_t)(steady - 1) % session->steady_count];
    duration_ns += session->drift_ns * (uint64_t)(steady - 1);
    if (session->spike_every > 0 && steady % session->spike_every == 0)
        duration_ns += session->spike_ns;
    if (session->noise_ns > 0) { /* uniform on [-noise, +noise] in whole ns */
        uint64_t shift_ns = assay__random_below(&stream->random, 2 * session->noise_ns + 1);
        duration_ns += shift_ns;
        duration_ns = duration_ns > session->noise_ns ? duration_ns - session->noise_ns : 1;
    }
    if (session->noise.any)
        duration_ns = (uint64_t)llround(fmax(
            1, (double)duration_ns * assay__fake_noise_factor(&session->noise, &stream->noise,
                                                              stream->now_ns, &stream->random)));
    return duration_ns;
}

/* --- generations ------------------------------------------------------------------------------ */

static int generation_open(struct assay__session *session,
                           const struct assay__session_options *options, struct assay_error *error)
{
    const struct assay__generation *plan = options->generation;
    if (!plan) return 0;
    if (plan->tokens < 1 || plan->tokens > TOKENS_MOST || session->stream_count != 1)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the fake engine generates 1 to %d tokens, in one stream",
                               TOKENS_MOST);
    for (size_t i = 0; i < options->input_count && plan->ids; i++)
        if (strcmp(options->inputs[i].name, plan->ids) == 0 && options->inputs[i].rank == 2) {
            session->batch = options->inputs[i].dims[0];
            session->prompt = options->inputs[i].dims[1];
        }
    if (session->batch < 1 || session->batch > 4096)
        return assay_error_set(error, ASSAY_ELIMIT,
                               "the fake engine generates 1 to 4096 sequences");
    session->tokens = plan->tokens;
    session->times_ns = calloc(GENERATIONS_KEPT * (size_t)plan->tokens, sizeof(uint64_t));
    session->ids = calloc((size_t)(plan->tokens * session->batch), sizeof(int64_t));
    if (!session->times_ns || !session->ids) return assay__no_memory(error);
    for (int64_t b = 0; b < session->batch; b++)
        for (int64_t k = 0; k < plan->tokens; k++)
            session->ids[b * plan->tokens + k] = 100 * b + k;
    return 0;
}

static uint64_t generation_step(struct assay__session *session, uint64_t first_ns)
{
    bool room = session->generations < GENERATIONS_KEPT;
    uint64_t now_ns = first_ns,
             *times = session->times_ns + session->generations * (size_t)session->tokens;
    for (int64_t k = 0; k < session->tokens; k++) {
        if (k > 0) now_ns += session->decode_ns[(size_t)(k - 1) % session->decode_count];
        if (room) times[k] = now_ns;
    }
    if (room)
        session->generations++;
    else
        session->dropped++;
    return now_ns;
}

static int fake_tokens(struct assay__session *session, struct assay__token_times *times,
                       struct assay_error *error)
{
    if (session->tokens < 1)
        return assay_error_set(error, ASSAY_EINVAL, "the session was not opened to generate");
    *times = (struct assay__token_times){
        .tokens = session->tokens,
        .prompt = session->prompt,
        .batch = session->batch,
        .generations = session->generations,
        .dropped = session->dropped,
        .ns = session->times_ns,
        .ids = session->ids,
        .choose_ns = (double)session->choose_ns,
    };
    session->generations = session->dropped = 0;
    return 0;
}

/* --- feedback --------------------------------------------------------------------------------- */

static const struct assay__host_tensor *input_of(const struct assay__session_options *options,
                                                 const char *name)
{
    for (size_t i = 0; i < options->input_count; i++)
        if (strcmp(options->inputs[i].name, name) == 0) return &options->inputs[i];
    return NULL;
}

static int open_state(struct assay__session *session, const struct assay__feedback *feedback,
                      const struct assay__session_options *options, size_t index,
                      struct assay_error *error)
{
    const struct assay__host_tensor *input = input_of(options, feedback->input);
    struct assay__host_tensor *tensor = &session->tensors[index + 1];
    size_t count = 1;
    if (!input || input->rank < 0)
        return assay_error_set(error, ASSAY_EINVAL, "no input '%s' to feed back to",
                               feedback->input);
    for (int d = 0; d < input->rank; d++)
        if (assay__mul_overflows(count, (size_t)input->dims[d], &count))
            return assay_error_set(error, ASSAY_ELIMIT, "'%s' is too large", feedback->input);
    session->first_states[index] = input->dtype == ASSAY__FLOAT32 && count
                                       ? (double)((const float *)input->data)[0]
                                       : 0;
    *tensor = (struct assay__host_tensor){.name = feedback->output,
                                          .dtype = ASSAY__FLOAT32,
                                          .rank = input->rank,
                                          .dims = input->dims,
                                          .data = calloc(count + 1, sizeof(float)),
                                          .data_size = count * sizeof(float)};
    return tensor->data ? 0 : assay__no_memory(error);
}

static int feedback_open(struct assay__session *session,
                         const struct assay__session_options *options, struct assay_error *error)
{
    size_t count = options->feedback_count;
    session->tensors = calloc(count + 1, sizeof *session->tensors);
    session->first_states = calloc(count + 1, sizeof *session->first_states);
    if (!session->tensors || !session->first_states) return assay__no_memory(error);
    session->feedback_count = count;
    session->tensors[0] = (struct assay__host_tensor){.name = "output",
                                                      .dtype = ASSAY__FLOAT32,
                                                      .rank = 2,
                                                      .dims = session->output_dims,
                                                      .data = session->output,
                                                      .data_size = sizeof session->output};
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = open_state(session, &options->feedback[i], options, i, error);
    for (int s = 0; s < session->stream_count && code == 0; s++) {
        double *states = session->streams[s].states = calloc(count + 1, sizeof *states);
        if (!states) code = assay__no_memory(error);
        for (size_t i = 0; states && i < count; i++)
            states[i] = session->first_states[i];
    }
    return code;
}

static void feedback_step(struct assay__session *session, struct assay__fake_stream *stream)
{
    for (size_t i = 0; i < session->feedback_count; i++)
        stream->states[i] = stream->states[i] * session->state_times + session->state_plus;
}

/* --- the engine's functions ------------------------------------------------------------------- */

static void fake_close(struct assay__session *session)
{
    if (!session) return;
    for (int i = 0; session->streams && i < session->stream_count; i++)
        free(session->streams[i].states);
    for (size_t i = 1; session->tensors && i <= session->feedback_count; i++)
        free(session->tensors[i].data);
    free(session->tensors);
    free(session->first_states);
    assay__arena_free(session->arena);
    free(session->streams);
    free(session->times_ns);
    free(session->ids);
    free(session->held);
    free(session->counts);
    free(session);
}

static void set_defaults(struct assay__session *session)
{
    static atomic_uint serials;
    *session = (struct assay__session){
        .serial = atomic_fetch_add(&serials, 1) + 1,
        .load_ns = NAN,
        .compile_ns = NAN,
        .engine_ns = NAN,
        .memory_bytes = NAN,
        .memory_peak_bytes = NAN,
        .steady_ns = {DEFAULT_STEADY_NS},
        .steady_count = 1,
        .output_times = 1,
        .state_times = 1,
        .state_plus = 1,
        .decode_ns = {DEFAULT_DECODE_NS},
        .decode_count = 1,
        .prompt = DEFAULT_PROMPT,
        .batch = 1,
        .output_dims = {1, 4},
    };
}

static int make_streams(struct assay__session *session, int count, struct assay_error *error)
{
    session->stream_count = count > 0 ? count : 1;
    session->streams = calloc((size_t)session->stream_count, sizeof *session->streams);
    if (!session->streams) return assay__no_memory(error);
    session->open_ns = (isnan(session->load_ns) ? 0 : (uint64_t)session->load_ns) +
                       (isnan(session->compile_ns) ? 0 : (uint64_t)session->compile_ns);
    for (int i = 0; i < session->stream_count; i++) {
        session->streams[i].now_ns = session->open_ns;
        assay__random_seed(&session->streams[i].random, session->seed + (uint64_t)i);
        assay__fake_noise_open(&session->noise, session->seed, session->open_ns,
                               &session->streams[i].noise);
    }
    return 0;
}

static int open_parts(struct assay__session *session, const struct assay__session_options *options,
                      struct assay_error *error)
{
    const char *device = options->device ? options->device : "cpu";
    if (!assay__fake_has_device(device))
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "unknown device \"%s\"; the fake engine offers: cpu", device);
    session->arena = assay__arena_new();
    if (!session->arena) return assay__no_memory(error);
    session->threads = options->threads;
    int code = assay__fake_script_parse(session, assay__fake_script_for(session->arena, options),
                                        error);
    struct assay__session_options there = *options; /* `when_…` works there as well */
    there.script = assay__fake_device_script(device, session->arena);
    if (code == 0 && there.script) {
        code = assay__fake_script_parse(session, assay__fake_script_for(session->arena, &there),
                                        error);
        if (code == 0) code = assay__fake_device_gone(there.script, error);
    }
    if (code) return code;
    snprintf(session->error_text, sizeof session->error_text, "the script fails step %lld",
             (long long)session->error_at);
    if (session->log) assay__log(ASSAY_LOG_WARNING, "fake", "%s", session->log);
    if (session->open_error)
        return assay_error_set(error, ASSAY_EENGINE, "%s", session->open_error);
    code = make_streams(session, options->streams, error);
    if (code == 0) code = generation_open(session, options, error);
    if (code == 0) code = feedback_open(session, options, error);
    if (code || !(session->hold_bytes > 0)) return code;
    if (session->hold_bytes > 1e10)
        return assay_error_set(error, ASSAY_ELIMIT, "fake engine's script: hold is at most 1e10");
    session->held = malloc((size_t)session->hold_bytes);
    if (!session->held) return assay__no_memory(error);
    memset(session->held, 1,
           (size_t)session->hold_bytes); /* every page, so that it is really allocated */
    return 0;
}

static int fake_open(const struct assay__session_options *given, struct assay__session **session,
                     struct assay_error *error)
{
    struct assay__session_options options;
    if (!session) return assay_error_set(error, ASSAY_EINVAL, "nowhere to put the session");
    *session = NULL;
    int code = assay__session_options_read(given, &options, error);
    if (code) return code;
    struct assay__session *made = malloc(sizeof *made);
    if (!made) return assay__no_memory(error);
    set_defaults(made);
    code = open_parts(made, &options, error);
    if (code)
        fake_close(made);
    else
        *session = made;
    return code;
}

/* The failure that the script specifies for this step. 0 or an error code; most of these do not
 * return. */
static int misfortune(struct assay__session *session, int64_t step)
{
    if (step == session->crash_at) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (step == session->oom_at) raise(SIGKILL); /* what the kernel's out-of-memory killer does */
    if (step == session->exit_at)
        _exit(3); /* the one place where the library ends the process: a test requests it */
    if (step == session->hang_at)
        for (;;)
            pause();
    if (step != session->error_at) return 0;
    atomic_store(&session->failed, true);
    return ASSAY_EENGINE;
}

/* Through a volatile pointer: otherwise the compiler would remove an allocation that is never read.
 */
static void *(*volatile ask_memory)(size_t) = malloc;

static int fake_step(struct assay__session *session, int stream_index)
{
    if (stream_index < 0 || stream_index >= session->stream_count) return ASSAY_EINVAL;
    struct assay__fake_stream *stream = &session->streams[stream_index];
    last_step.serial = session->serial;
    last_step.stream = stream_index;
    uint64_t start_ns = session->real_clock ? assay__now_ns() : 0;
    int64_t step = ++stream->steps;
    int code = misfortune(session, step);
    if (code) return code;
    if (session->allocate_bytes > 0) {
        void *held = ask_memory((size_t)session->allocate_bytes);
        if (!held) return ASSAY_ENOMEM;
        free(held);
    }
    bool leaks = session->leak_bytes > 0 && !(session->leak_until && step > session->leak_until);
    if (leaks && !ask_memory((size_t)session->leak_bytes)) return ASSAY_ENOMEM;
    uint64_t duration_ns = step_duration_ns(session, stream, step);
    if (session->tokens) duration_ns = generation_step(session, duration_ns);
    if (session->real_clock)
        while (assay__now_ns() - start_ns < duration_ns)
            continue;
    if (session->pace_ns) assay__sleep_ns(session->pace_ns);
    stream->now_ns += duration_ns;
    feedback_step(session, stream);
    if (assay__fake_step_hook) assay__fake_step_hook(1);
    if (stream_index == 0)
        for (int i = 0; i < 4; i++)
            session->output[i] = (float)((i + 1) / 8.0 * session->output_times);
    return 0;
}

static const char *fake_step_error(struct assay__session *session)
{
    return atomic_load(&session->failed) ? session->error_text : "";
}

static void fake_facts(struct assay__session *session, struct assay__session_facts *facts)
{
    bool known = !isnan(session->load_ns) && !isnan(session->compile_ns);
    *facts = (struct assay__session_facts){
        .load_ns = session->load_ns,
        .compile_ns = session->compile_ns,
        .create_ns = (double)session->open_ns,
        .load_reason = known ? "" : "the script gives no time for it",
        .version = ASSAY_VERSION_STRING,
        .library = "",
        .provider = "fake",
        .hardware = session->hardware,
        .threads = session->threads,
    };
}

static int fake_outputs(struct assay__session *session, const struct assay__host_tensor **outputs,
                        size_t *count, struct assay_error *error)
{
    *outputs = NULL;
    *count = 0;
    if (session->output[0] == 0)
        return assay_error_set(error, ASSAY_EINVAL,
                               "no outputs: no step of stream 0 has succeeded yet");
    for (size_t i = 1; i <= session->feedback_count; i++) {
        float *numbers = session->tensors[i].data;
        for (size_t k = 0; k < session->tensors[i].data_size / sizeof *numbers; k++)
            numbers[k] = (float)session->streams[0].states[i - 1];
    }
    *outputs = session->tensors;
    *count = session->feedback_count + 1;
    return 0;
}

/* Each layer is its share of a steady step, read at both ends as a real engine would. */
static int count_layers(struct assay__session *session,
                        const struct assay__layer_counters *counters, struct assay__layers *result)
{
    size_t count = counters->count;
    free(session->counts);
    session->counts = calloc((session->layer_count + 1) * count, sizeof *session->counts);
    if (!session->counts) return ASSAY_ENOMEM;
    double *before = session->counts + session->layer_count * count;
    counters->begin(counters->context);
    for (size_t i = 0; i < session->layer_count; i++) {
        struct assay__layer *layer = &session->layers[i];
        double *growth = session->counts + i * count;
        layer->counters = NULL;
        if (isnan(layer->time_ns)) continue;
        counters->read(counters->context, before);
        if (assay__fake_step_hook)
            assay__fake_step_hook(layer->time_ns / (double)session->steady_ns[0]);
        counters->read(counters->context, growth);
        for (size_t c = 0; c < count; c++)
            growth[c] -= before[c];
        layer->counters = growth;
    }
    counters->end(counters->context);
    result->counter_note = "the script's counts, divided in proportion to time";
    return 0;
}

static int fake_layers(struct assay__session *session, const struct assay__layer_options *options,
                       struct assay__layers *result, struct assay_error *error)
{
    const struct assay__layer_counters *counters = assay__layer_counters(options);
    *result = assay__layers_unknown();
    result->method = "scripted";
    if (session->layers_error)
        return assay_error_set(error, ASSAY_EENGINE, "%s", session->layers_error);
    if (!session->layer_count)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "the script gives no layers");
    result->items = session->layers;
    result->count = session->layer_count;
    result->engine_ns = session->engine_ns;
    result->sessions = 1;
    if (counters && count_layers(session, counters, result)) return assay__no_memory(error);
    return 0;
}

/* The layers of a step follow each other from its beginning, whatever it takes as a whole. */
static int fake_timeline(struct assay__session *session,
                         const struct assay__timeline_options *options, struct assay_error *error)
{
    int code = 0;
    for (int run = 0; run < options->runs && !code; run++) {
        struct assay__timeline_span step = {
            .name = "inference", .op = "", .provider = "", .step = true};
        step.start_ns = fake_now_ns(session);
        code = fake_step(session, 0);
        if (code) return assay_error_set(error, code, "%s", fake_step_error(session));
        step.end_ns = fake_now_ns(session);
        code = options->span(options->context, &step);
        uint64_t at_ns = step.start_ns;
        for (size_t i = 0; i < session->layer_count && !code; i++) {
            const struct assay__layer *layer = &session->layers[i];
            if (isnan(layer->time_ns)) continue;
            struct assay__timeline_span span = {.name = layer->name,
                                                .op = layer->op,
                                                .provider = layer->provider,
                                                .start_ns = at_ns};
            at_ns += (uint64_t)llround(layer->time_ns);
            span.end_ns = at_ns;
            code = options->span(options->context, &span);
        }
    }
    return code ? assay__no_memory(error) : 0;
}

static void fake_memory(struct assay__session *session, double *arena_bytes,
                        double *arena_peak_bytes)
{
    *arena_bytes = session->memory_bytes;
    *arena_peak_bytes = session->memory_peak_bytes;
}

const struct assay__engine_ops assay__engine_fake = {
    .abi = ASSAY__ENGINE_ABI,
    .size = sizeof(struct assay__engine_ops),
    .name = "fake",
    .summary = "scripted times, for tests",
    .devices = assay__fake_devices,
    .open = fake_open,
    .step = fake_step,
    .step_error = fake_step_error,
    .facts = fake_facts,
    .outputs = fake_outputs,
    .layers = fake_layers,
    .now_ns = fake_now_ns,
    .memory = fake_memory,
    .close = fake_close,
    .tokens = fake_tokens,
    .assignment = assay__fake_assignment,
    .device_kind = assay__fake_device_kind,
    .timeline = fake_timeline,
};
