/* fake.c - an engine that runs no model: its times come from a script, on a clock of its own that
 * only its steps advance, so that a test knows every value exactly. It can also crash, hang, be
 * killed, exit or fail at a chosen step, and it can burn real time for a known duration. The
 * grammar of scripts is in doc/fake-engine.md and in `keys` below.
 *
 * Each stream has its own clock and its own count of steps. now_ns() shows the clock of the stream
 * that the calling thread stepped last; a thread that never stepped sees stream 0's, or with
 * several streams the time at which the session was open: a new stream's clock starts there. */
#include "engine/engine.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/text.h"
#include "engine/fake_noise.h"
#include "engine/fake_when.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void (*assay__fake_step_hook)(double steps);

#define STEADY_MAX 64
#define LAYER_MAX 1024
#define DEFAULT_STEADY_NS 100000 /* 100 µs */
#define DURATION_MAX_S 1e6
#define DEFAULT_DECODE_NS 10000
#define DEFAULT_PROMPT 32
#define GENERATIONS_KEPT 4096u
#define FAKE_TOKENS_MOST 65536

struct fake_stream {
    uint64_t now_ns;
    int64_t steps; /* done or begun */
    struct assay__random random;
    struct assay__fake_noise_state noise;
    char padding[64]; /* streams of several threads stand in one array */
};

struct assay_session {
    struct assay__arena *arena;
    unsigned serial; /* tells sessions apart for threads that remember one */

    bool real_clock;
    double load_ns, compile_ns;
    uint64_t first_ns;
    bool has_first;
    int64_t warmup_count;
    uint64_t warmup_ns;
    uint64_t steady_ns[STEADY_MAX];
    size_t steady_count;
    int64_t spike_every;
    uint64_t spike_ns, noise_ns, drift_ns, pace_ns;
    uint64_t seed;
    struct assay__fake_noise noise;
    int64_t crash_at, hang_at, oom_at, exit_at, error_at; /* 0 never */
    const char *open_error, *layers_error, *log;
    double memory_bytes, memory_peak_bytes, hold_bytes;
    double allocate_bytes, leak_bytes; /* of each step; 0 none */
    int64_t leak_until;                /* the last step that leaks; 0: all do */
    double engine_ns;
    int threads;

    struct assay_layer *layers;
    size_t layer_count;
    double *counts; /* of the layers, when counters were asked for */

    /* generations: `steady` and the like say when the first token is there */
    uint64_t decode_ns[STEADY_MAX], choose_ns;
    size_t decode_count;
    int64_t tokens, prompt, batch; /* tokens 0: a step is one run */
    uint64_t *times_ns;            /* GENERATIONS_KEPT x tokens */
    int64_t *ids;                  /* batch x tokens */
    size_t generations, dropped;

    uint64_t open_ns; /* the clock when the session was open */
    struct fake_stream *streams;
    int stream_count;
    float output[4];
    double output_times; /* its usual values times that; NaN */
    int64_t output_dims[2];
    struct assay_tensor output_tensor;
    void *held;
    char error_text[64];
    atomic_bool failed;
};

/* --- script ----------------------------------------------------------------------------------- */

static int duration_parse(const char *text, uint64_t *duration_ns)
{
    double seconds = 0;
    int code = assay__text_duration_s(text, &seconds);
    if (code || !(seconds >= 0 && seconds <= DURATION_MAX_S)) return ASSAY_EINVAL;
    *duration_ns = (uint64_t)llround(seconds * 1e9);
    return 0;
}

/* "5x200us" */
static int repeat_parse(char *text, int64_t *count, uint64_t *duration_ns)
{
    char *times = strchr(text, 'x');
    if (!times) return ASSAY_EINVAL;
    *times = '\0';
    if (assay__text_int64(text, count) || *count < 1) return ASSAY_EINVAL;
    return duration_parse(times + 1, duration_ns);
}

static int set_optional(char *value, double *out)
{
    uint64_t duration_ns = 0;
    int code = duration_parse(value, &duration_ns);
    if (code == 0) *out = (double)duration_ns;
    return code;
}

static int set_step(char *value, int64_t *out)
{
    return assay__text_int64(value, out) || *out < 1 ? ASSAY_EINVAL : 0;
}

static int set_bytes(char *value, double *out)
{
    return assay__text_double(value, out) || !(*out >= 0) ? ASSAY_EINVAL : 0;
}

static int set_text(struct assay_session *session, char *value, const char **out)
{
    *out = assay__arena_strdup(session->arena, value);
    return *out ? 0 : ASSAY_ENOMEM;
}

static int on_clock(struct assay_session *session, char *value)
{
    session->real_clock = strcmp(value, "real") == 0;
    return session->real_clock || strcmp(value, "scripted") == 0 ? 0 : ASSAY_EINVAL;
}
static int on_load(struct assay_session *session, char *value)
{
    return set_optional(value, &session->load_ns);
}
static int on_compile(struct assay_session *session, char *value)
{
    return set_optional(value, &session->compile_ns);
}
static int on_first(struct assay_session *session, char *value)
{
    session->has_first = true;
    return duration_parse(value, &session->first_ns);
}
static int on_warmup(struct assay_session *session, char *value)
{
    return repeat_parse(value, &session->warmup_count, &session->warmup_ns);
}
static int on_spike(struct assay_session *session, char *value)
{
    return repeat_parse(value, &session->spike_every, &session->spike_ns);
}
static int set_list(char *value, uint64_t *out, size_t *count)
{
    char *save = NULL;
    *count = 0;
    for (char *item = strtok_r(value, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        if (*count == STEADY_MAX) return ASSAY_ELIMIT;
        int code = duration_parse(item, &out[(*count)++]);
        if (code) return code;
    }
    return *count ? 0 : ASSAY_EINVAL;
}
static int on_steady(struct assay_session *session, char *value)
{
    return set_list(value, session->steady_ns, &session->steady_count);
}
static int on_decode(struct assay_session *session, char *value)
{
    return set_list(value, session->decode_ns, &session->decode_count);
}
static int on_choose(struct assay_session *session, char *value)
{
    return duration_parse(value, &session->choose_ns);
}
static int on_prompt(struct assay_session *session, char *value)
{
    return set_step(value, &session->prompt);
}
static int on_noise(struct assay_session *session, char *value)
{
    return duration_parse(value, &session->noise_ns);
}
static int on_drift(struct assay_session *session, char *value)
{
    return duration_parse(value, &session->drift_ns);
}
static int on_pace(struct assay_session *session, char *value)
{
    return duration_parse(value, &session->pace_ns);
}
static int on_seed(struct assay_session *session, char *value)
{
    int64_t seed = 0;
    int code = assay__text_int64(value, &seed);
    session->seed = (uint64_t)seed;
    return code;
}
static int on_crash(struct assay_session *session, char *value)
{
    return set_step(value, &session->crash_at);
}
static int on_hang(struct assay_session *session, char *value)
{
    return set_step(value, &session->hang_at);
}
static int on_oom(struct assay_session *session, char *value)
{
    return set_step(value, &session->oom_at);
}
static int on_exit_at(struct assay_session *session, char *value)
{
    return set_step(value, &session->exit_at);
}
static int on_error(struct assay_session *session, char *value)
{
    return set_step(value, &session->error_at);
}
static int on_open_error(struct assay_session *session, char *value)
{
    return set_text(session, value, &session->open_error);
}
static int on_layers_error(struct assay_session *session, char *value)
{
    return set_text(session, value, &session->layers_error);
}
static int on_log(struct assay_session *session, char *value)
{
    return set_text(session, value, &session->log);
}
static int on_engine(struct assay_session *session, char *value)
{
    return set_optional(value, &session->engine_ns);
}
static int on_memory(struct assay_session *session, char *value)
{
    return set_bytes(value, &session->memory_bytes);
}
static int on_peak(struct assay_session *session, char *value)
{
    return set_bytes(value, &session->memory_peak_bytes);
}
static int on_hold(struct assay_session *session, char *value)
{
    return set_bytes(value, &session->hold_bytes);
}
static int on_allocate(struct assay_session *session, char *value)
{
    return set_bytes(value, &session->allocate_bytes);
}
static int on_leak(struct assay_session *session, char *value)
{
    return set_bytes(value, &session->leak_bytes);
}
static int on_leak_until(struct assay_session *session, char *value)
{
    return set_step(value, &session->leak_until);
}
static int on_threads(struct assay_session *session, char *value)
{
    int64_t threads = 0;
    int code = set_step(value, &threads);
    session->threads = (int)(threads < 4096 ? threads : 4096);
    return code;
}

static int on_output(struct assay_session *session, char *value)
{
    session->output_times = NAN;
    return strcmp(value, "nan") == 0 ? 0 : assay__text_double(value, &session->output_times);
}

/* "conv1:60us:Conv": name, time or "-" for unavailable, operator (the name when left out) */
static int layer_parse(struct assay_session *session, char *item, struct assay_layer *layer)
{
    char *time = strchr(item, ':');
    if (!time || time == item) return ASSAY_EINVAL;
    *time++ = '\0';
    char *op = strchr(time, ':');
    if (op) *op++ = '\0';
    uint64_t time_ns = 0;
    bool known = strcmp(time, "-") != 0;
    if (known && duration_parse(time, &time_ns)) return ASSAY_EINVAL;
    const char **from = assay__arena_array(session->arena, 1, sizeof *from);
    layer->name = assay__arena_strdup(session->arena, item);
    layer->op = assay__arena_strdup(session->arena, op && *op ? op : item);
    if (!from || !layer->name || !layer->op) return ASSAY_ENOMEM;
    from[0] = layer->name;
    layer->provider = "fake";
    layer->time_ns = known ? (double)time_ns : NAN;
    layer->host_enqueue_ns = layer->flops = layer->bytes = NAN;
    layer->state = known ? ASSAY_MEASURED : ASSAY_UNAVAILABLE;
    layer->note = known ? "" : "the script gives no time for this layer";
    layer->from = from;
    layer->from_count = 1;
    return 0;
}

static int on_layers(struct assay_session *session, char *value)
{
    char *save = NULL;
    session->layers = assay__arena_array(session->arena, LAYER_MAX, sizeof *session->layers);
    session->layer_count = 0;
    if (!session->layers) return ASSAY_ENOMEM;
    for (char *item = strtok_r(value, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        if (session->layer_count == LAYER_MAX) return ASSAY_ELIMIT;
        int code = layer_parse(session, item, &session->layers[session->layer_count++]);
        if (code) return code;
    }
    return session->layer_count ? 0 : ASSAY_EINVAL;
}

/* What counters count is for those who replace their system calls (run/counters_fake.c). */
static int on_counts(struct assay_session *session, char *value)
{
    (void)session;
    return *value ? 0 : ASSAY_EINVAL;
}

static const struct script_key {
    const char *name;
    int (*set)(struct assay_session *session, char *value);
} keys[] = {
    {"clock", on_clock},
    {"load", on_load},
    {"compile", on_compile},
    {"first", on_first},
    {"warmup", on_warmup},
    {"steady", on_steady},
    {"spike", on_spike},
    {"noise", on_noise},
    {"drift", on_drift},
    {"seed", on_seed},
    {"pace", on_pace},
    {"crash_at", on_crash},
    {"hang_at", on_hang},
    {"oom_at", on_oom},
    {"exit_at", on_exit_at},
    {"error_at", on_error},
    {"layers", on_layers},
    {"engine", on_engine},
    {"layers_error", on_layers_error},
    {"open_error", on_open_error},
    {"log", on_log},
    {"memory", on_memory},
    {"memory_peak", on_peak},
    {"hold", on_hold},
    {"allocate", on_allocate},
    {"leak", on_leak},
    {"leak_until", on_leak_until},
    {"threads", on_threads},
    {"decode", on_decode},
    {"choose", on_choose},
    {"prompt", on_prompt},
    {"counts", on_counts},
    {"counts_running", on_counts},
    {"counts_gone", on_counts},
    {"counts_back", on_counts},
    {"output", on_output},
    {"gone", on_counts}, /* fake_devices.c looks at it */
};

static int script_item(struct assay_session *session, char *item, struct assay_error *error)
{
    item += strspn(item, " \t\n");
    for (size_t length = strlen(item); length > 0 && strchr(" \t\n", item[length - 1]); length--)
        item[length - 1] = '\0';
    if (!*item) return 0;
    char *value = strchr(item, '=');
    if (!value)
        return assay_error_set(error, ASSAY_EINVAL, "fake engine's script: \"%s\" is not key=value",
                               item);
    *value++ = '\0';
    char shown[64];
    snprintf(shown, sizeof shown, "%s", value);
    size_t i = 0;
    while (i < sizeof keys / sizeof keys[0] && strcmp(keys[i].name, item) != 0)
        i++;
    int code = i < sizeof keys / sizeof keys[0]
                   ? keys[i].set(session, value)
                   : assay__fake_noise_set(&session->noise, item, value);
    if (code == ASSAY_ENOTFOUND)
        return assay_error_set(error, ASSAY_EINVAL, "fake engine's script: unknown key \"%s\"",
                               item);
    return code ? assay_error_set(error, code, "fake engine's script: %s cannot be \"%s\"", item,
                                  shown)
                : 0;
}

static int script_parse(struct assay_session *session, const char *script,
                        struct assay_error *error)
{
    char *copy = assay__arena_strdup(session->arena, script);
    char *save = NULL;
    if (!copy) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    for (char *item = strtok_r(copy, ";", &save); item; item = strtok_r(NULL, ";", &save)) {
        int code = script_item(session, item, error);
        if (code) return code;
    }
    return 0;
}

/* --- clock ------------------------------------------------------------------------------------ */

static _Thread_local struct {
    unsigned serial;
    int stream;
} last_step;

static uint64_t fake_now_ns(struct assay_session *session)
{
    if (session->real_clock) return assay__now_ns();
    if (last_step.serial == session->serial) return session->streams[last_step.stream].now_ns;
    return session->stream_count == 1 ? session->streams[0].now_ns : session->open_ns;
}

/* How long the step numbered `step` (from 1) of a stream takes. */
static uint64_t step_duration_ns(struct assay_session *session, struct fake_stream *stream,
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

/* --- the engine's functions ------------------------------------------------------------------- */

static void fake_close(struct assay_session *session)
{
    if (!session) return;
    assay__arena_free(session->arena);
    free(session->streams);
    free(session->times_ns);
    free(session->ids);
    free(session->held);
    free(session->counts);
    free(session);
}

static void defaults_set(struct assay_session *session)
{
    static atomic_uint serials;
    session->serial = atomic_fetch_add(&serials, 1) + 1;
    session->load_ns = session->compile_ns = session->engine_ns = NAN;
    session->memory_bytes = session->memory_peak_bytes = NAN;
    session->steady_ns[0] = DEFAULT_STEADY_NS;
    session->steady_count = 1;
    session->output_times = 1;
    session->decode_ns[0] = DEFAULT_DECODE_NS;
    session->decode_count = 1;
    session->prompt = DEFAULT_PROMPT;
    session->batch = 1;
    session->output_dims[0] = 1;
    session->output_dims[1] = 4;
    session->output_tensor = (struct assay_tensor){
        .name = "output",
        .dtype = 1,
        .rank = 2,
        .dims = session->output_dims,
        .data = session->output,
        .data_size = sizeof session->output,
    };
}

static int streams_make(struct assay_session *session, int count, struct assay_error *error)
{
    session->stream_count = count > 0 ? count : 1;
    session->streams = calloc((size_t)session->stream_count, sizeof *session->streams);
    if (!session->streams) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
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

/* Touches every page, so that the memory is really there. */
static int memory_hold(struct assay_session *session, struct assay_error *error)
{
    if (!(session->hold_bytes > 0)) return 0;
    if (session->hold_bytes > 1e10)
        return assay_error_set(error, ASSAY_ELIMIT, "fake engine's script: hold is at most 1e10");
    session->held = malloc((size_t)session->hold_bytes);
    if (!session->held) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    memset(session->held, 1, (size_t)session->hold_bytes);
    return 0;
}

static int generation_open(struct assay_session *session,
                           const struct assay_session_options *options, struct assay_error *error)
{
    const struct assay_generation *plan = options->generation;
    if (!plan) return 0;
    if (plan->tokens < 1 || plan->tokens > FAKE_TOKENS_MOST || session->stream_count != 1)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the fake engine makes 1 to %d tokens, in one stream",
                               FAKE_TOKENS_MOST);
    for (size_t i = 0; i < options->input_count && plan->ids; i++)
        if (strcmp(options->inputs[i].name, plan->ids) == 0 && options->inputs[i].rank == 2) {
            session->batch = options->inputs[i].dims[0];
            session->prompt = options->inputs[i].dims[1];
        }
    if (session->batch < 1 || session->batch > 4096)
        return assay_error_set(error, ASSAY_ELIMIT, "the fake engine makes 1 to 4096 sequences");
    session->tokens = plan->tokens;
    session->times_ns = calloc(GENERATIONS_KEPT * (size_t)plan->tokens, sizeof(uint64_t));
    session->ids = calloc((size_t)(plan->tokens * session->batch), sizeof(int64_t));
    if (!session->times_ns || !session->ids)
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    for (int64_t b = 0; b < session->batch; b++)
        for (int64_t k = 0; k < plan->tokens; k++)
            session->ids[b * plan->tokens + k] = 100 * b + k;
    return 0;
}

static int open_parts(struct assay_session *session, const struct assay_session_options *options,
                      struct assay_error *error)
{
    const char *device = options->device ? options->device : "cpu";
    if (!assay__fake_has_device(device))
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "unknown device \"%s\"; the fake engine offers: cpu", device);
    session->arena = assay__arena_new();
    if (!session->arena) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    session->threads = options->threads;
    int code = script_parse(session, assay__fake_script_when(session->arena, options), error);
    const char *own = assay__fake_device_script(device, session->arena);
    if (code == 0 && own) code = script_parse(session, own, error);
    if (code == 0 && own) code = assay__fake_device_gone(own, error);
    if (code) return code;
    snprintf(session->error_text, sizeof session->error_text, "the script fails step %lld",
             (long long)session->error_at);
    if (session->log) assay__log(ASSAY_LOG_WARNING, "fake", "%s", session->log);
    if (session->open_error)
        return assay_error_set(error, ASSAY_EENGINE, "%s", session->open_error);
    code = streams_make(session, options->streams, error);
    if (code == 0) code = generation_open(session, options, error);
    return code ? code : memory_hold(session, error);
}

static int fake_open(const struct assay_session_options *given, struct assay_session **session,
                     struct assay_error *error)
{
    struct assay_session_options options;
    if (!session) return assay_error_set(error, ASSAY_EINVAL, "no place for the session");
    *session = NULL;
    int code = assay__session_options_read(given, &options, error);
    if (code) return code;
    struct assay_session *made = calloc(1, sizeof *made);
    if (!made) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    defaults_set(made);
    code = open_parts(made, &options, error);
    if (code) {
        fake_close(made);
        return code;
    }
    *session = made;
    return 0;
}

/* What the script wants to go wrong at this step. 0 or an error code; most of these do not return.
 */
static int misfortune(struct assay_session *session, int64_t step)
{
    if (step == session->crash_at) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (step == session->oom_at) raise(SIGKILL); /* what the kernel's out-of-memory killer does */
    if (step == session->exit_at)
        _exit(3); /* the one place where the library ends the process: its test asks for it */
    if (step == session->hang_at)
        for (;;)
            pause();
    if (step != session->error_at) return 0;
    atomic_store(&session->failed, true);
    return ASSAY_EENGINE;
}

/* The tokens of a generation whose first is there after first_ns; how long it takes. */
static uint64_t generation_step(struct assay_session *session, uint64_t first_ns)
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

static int fake_tokens(struct assay_session *session, struct assay_token_times *times,
                       struct assay_error *error)
{
    if (session->tokens < 1)
        return assay_error_set(error, ASSAY_EINVAL, "the session was not opened to generate");
    *times = (struct assay_token_times){
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

/* Through a pointer that the compiler cannot see through: a block that nobody reads would not be asked for at all. */
static void *(*volatile ask_memory)(size_t) = malloc;

static int step_memory(struct assay_session *session, int64_t step)
{
    void *held = NULL;
    bool leaks = session->leak_bytes > 0 && !(session->leak_until && step > session->leak_until);
    if (session->allocate_bytes > 0) {
        held = ask_memory((size_t)session->allocate_bytes);
        if (!held) return ASSAY_ENOMEM;
        free(held);
    }
    return leaks && !ask_memory((size_t)session->leak_bytes) ? ASSAY_ENOMEM : 0;
}

static int fake_step(struct assay_session *session, int stream_index)
{
    if (stream_index < 0 || stream_index >= session->stream_count) return ASSAY_EINVAL;
    struct fake_stream *stream = &session->streams[stream_index];
    last_step.serial = session->serial;
    last_step.stream = stream_index;
    uint64_t start_ns = session->real_clock ? assay__now_ns() : 0;
    int64_t step = ++stream->steps;
    int code = misfortune(session, step);
    if (code == 0) code = step_memory(session, step);
    if (code) return code;
    uint64_t duration_ns = step_duration_ns(session, stream, step);
    if (session->tokens) duration_ns = generation_step(session, duration_ns);
    if (session->real_clock)
        while (assay__now_ns() - start_ns < duration_ns)
            continue;
    if (session->pace_ns) assay__sleep_ns(session->pace_ns);
    stream->now_ns += duration_ns;
    if (assay__fake_step_hook) assay__fake_step_hook(1);
    if (stream_index == 0)
        for (int i = 0; i < 4; i++)
            session->output[i] = (float)((i + 1) / 8.0 * session->output_times);
    return 0;
}

static const char *fake_step_error(struct assay_session *session)
{
    return atomic_load(&session->failed) ? session->error_text : "";
}

static void fake_facts(struct assay_session *session, struct assay_session_facts *facts)
{
    bool known = !isnan(session->load_ns) && !isnan(session->compile_ns);
    *facts = (struct assay_session_facts){
        .load_ns = session->load_ns,
        .compile_ns = session->compile_ns,
        .create_ns = (double)session->open_ns,
        .load_reason = known ? "" : "the script gives no time for it",
        .version = ASSAY_VERSION_STRING,
        .library = "",
        .provider = "fake",
        .threads = session->threads,
    };
}

static int fake_outputs(struct assay_session *session, const struct assay_tensor **outputs,
                        size_t *count, struct assay_error *error)
{
    *outputs = NULL;
    *count = 0;
    if (session->output[0] == 0)
        return assay_error_set(error, ASSAY_EINVAL,
                               "no outputs: no step of stream 0 has succeeded yet");
    *outputs = &session->output_tensor;
    *count = 1;
    return 0;
}

/* Each layer is its share of a steady step, read at both ends as an engine would. */
static int count_layers(struct assay_session *session, const struct assay_layer_counters *counters,
                        struct assay_layer_result *result)
{
    size_t count = counters->count;
    free(session->counts);
    session->counts = calloc((session->layer_count + 1) * count, sizeof *session->counts);
    if (!session->counts) return ASSAY_ENOMEM;
    double *before = session->counts + session->layer_count * count;
    counters->begin(counters->context);
    for (size_t i = 0; i < session->layer_count; i++) {
        struct assay_layer *layer = &session->layers[i];
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
    result->counter_note = "the script's counts, shared out by time";
    return 0;
}

static int fake_layers(struct assay_session *session, const struct assay_layer_options *options,
                       struct assay_layer_result *result, struct assay_error *error)
{
    const struct assay_layer_counters *counters = assay__layer_counters(options);
    *result = (struct assay_layer_result){.method = "scripted",
                                          .reason = "",
                                          .engine_ns = NAN,
                                          .scale_factor = NAN,
                                          .slowdown = NAN,
                                          .spread = NAN,
                                          .contention = NAN};
    if (session->layers_error)
        return assay_error_set(error, ASSAY_EENGINE, "%s", session->layers_error);
    if (!session->layer_count)
        return assay_error_set(error, ASSAY_EUNSUPPORTED, "the script gives no layers");
    result->layers = session->layers;
    result->layer_count = session->layer_count;
    result->engine_ns = session->engine_ns;
    result->sessions = 1;
    if (counters && count_layers(session, counters, result))
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    return 0;
}

static void fake_memory(struct assay_session *session, double *arena_bytes,
                        double *arena_peak_bytes)
{
    *arena_bytes = session->memory_bytes;
    *arena_peak_bytes = session->memory_peak_bytes;
}

const struct assay_engine_ops assay__engine_fake = {
    .abi = ASSAY_ENGINE_ABI,
    .size = sizeof(struct assay_engine_ops),
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
    .devices_each = assay__fake_devices_each,
    .assignment = assay__fake_assignment,
};
