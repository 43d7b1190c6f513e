/* launch.c - starts a worker, reads its messages and answers them, waits for it and reports how it
 * ended. While a window runs the parent is blocked in poll(); between windows it copies the samples
 * out of the ring, stores them and decides what comes next. Every message is checked: an unknown
 * one, one out of order or one with impossible numbers fails only this launch, with its reason. */
#include "run/arm/launch.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metric_value.h"
#include "base/stats.h"
#include "base/vec.h"
#include "run/child.h"
#include "run/watch/memory_track.h"
#include "run/watch/watch.h"
#include "run/worker/channel.h"
#include "run/worker/ring.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define EXIT_GRACE_NS 10000000000u /* an engine may take long to close a session */
/* a signal ends poll() at once; this covers one that arrived just before */
#define INTERRUPT_POLL_MS 500
#define LOG_TAIL 2048
#define ANSWER_TIMEOUT_MS 30000
#define REWARM_STEPS 2
/* cold caches do not matter to a step of 10 ms or more, and rewarming would cost time */
#define REWARM_BELOW_NS 1e7
#define REWARM_NS 5e6 /* after a block of another session's runs */
#define REWARM_MOST 20
#define BLOCK_WINDOWS 1.5  /* length of a block of layers, in windows … */
#define BLOCK_LEAST_S 0.05 /* … but … */
#define BLOCK_MOST_S 0.5
#define BLOCK_MOST_BUSY_S 1.0 /* the same if other processes disturb the launch */
#define DISTURBED 0.05        /* time spent waiting for a CPU that others were using, as a share */
#define DISTURBED_OFTEN 4u    /* if such windows are the majority, disturbance is normal here */
#define LEFT_OUT_MOST 2.0     /* time of discarded windows, relative to that of windows kept … */
#define LEFT_OUT_LEAST_S 1.0  /* … and always allowed */
#define LEFT_OUT_SHARE                                                                         \
    0.25                  /* of the time to measure, if that was derived from the loading time \
                           */
#define DROPPED_MORE 2u   /* discarded blocks of layers, beyond the number kept */
#define BLOCKS_WANTED 5u  /* of layers, over all windows */
#define BLOCKS_LEAST 3u   /* that count … */
#define LAYERS_AGREE 0.04 /* … if the sum is this close to the latency; else … */
#define WINDOWS_MORE 5u   /* … there are more windows, at most this many */
#define LAYERS_MOST 1000000u
#define PACE_SAMPLES 101u

#define PHASE_STARTING "starting"
#define PHASE_LOADING "loading"
#define PHASE_FIRST "running the first inference"
#define PHASE_WARMING "warming up"
#define PHASE_MEASURING "measuring"
#define PHASE_COUNTING "counting"
#define PHASE_LAYERS "timing layers"

/* A launch in progress: what the worker sends (job.h has the protocol) and what we answer. */
struct conversation {
    const struct assay__request *request;
    struct assay__outcome *outcome;
    struct assay__channel channel;
    struct assay__ring ring;
    const char *phase;
    char last_log[256]; /* the last "log" message */
    double pace_ns;
    struct assay__goal goal; /* the request's goal, adjusted to how long preparing took */
    bool done;               /* the worker said so */
    bool worker_leaves;      /* it reported an error and exits by itself */
    int64_t next_window;     /* the index we expect */
    uint64_t window_ns;      /* when the current window was requested; 0: none is running */
    int64_t pid;             /* of the worker */
    bool alternates;         /* layers are timed in blocks between the windows */
    bool drop_block;         /* the last block was disturbed */
    bool last_block;         /* there will be no other */
    /* start of the window or block; time spent waiting until then */
    uint64_t stretch_ns, waited_ns;
    bool waited_known;
    double layers_ns;       /* sum of layers and engine so far; 0 unknown */
    double window_s;        /* length of the last window that was planned */
    size_t disturbed;       /* windows, kept or not */
    size_t blocks, dropped; /* of layers: kept, left out */
    size_t more_windows;    /* beyond the goal, for the layers */
    struct assay_error error;
};

static int bad(struct conversation *talk, const char *what)
{
    return assay_error_set(&talk->error, ASSAY_EFORMAT, "worker sent %s", what);
}

/* Reads a struct that has a table from a message. */
static void receive(struct conversation *talk, const struct assay__json *object,
                    const struct assay__field_table *table, void *element)
{
    if (assay__fields_receive(object, table, talk->request->arena, element))
        assay__no_memory(&talk->error);
}

static void tell_progress(struct conversation *talk, const char *phase, double done)
{
    const struct assay__request *request = talk->request;
    if (!request->progress) return;
    struct assay_progress progress = {
        .phase = phase, .launch = request->launch, .launches = request->launches, .done = done};
    if (isfinite(request->p50_ns)) progress.latency_s = request->p50_ns * 1e-9;
    if (isfinite(request->half_width)) progress.half_width = request->half_width;
    request->progress(request->progress_context, &progress);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* Durations of one stream's window: appended, stored. *start and *end widen to cover it. */
static int take_stream(struct conversation *talk, uint32_t stream, uint64_t *start, uint64_t *end,
                       size_t *count)
{
    const uint64_t *stamps = assay__ring_stamps(&talk->ring, stream);
    uint64_t n = atomic_load_explicit(assay__ring_count(&talk->ring, stream), memory_order_acquire);
    struct assay__samples *samples = &talk->outcome->streams[stream];
    *count = 0;
    if (n == 0) return 0;
    if (n > talk->ring.capacity) return bad(talk, "a count beyond the end of the ring");
    if (assay__samples_reserve(samples, (size_t)n)) return assay__no_memory(&talk->error);
    double *values = samples->values + samples->count;
    for (size_t i = 0; i < n; i++) {
        if (stamps[i + 1] < stamps[i]) return bad(talk, "timestamps that run backwards");
        values[i] = (double)(stamps[i + 1] - stamps[i]);
    }
    samples->count += (size_t)n;
    *count = (size_t)n;
    if (stamps[0] < *start) *start = stamps[0];
    if (stamps[n] > *end) *end = stamps[n];
    struct assay__outcome *outcome = talk->outcome;
    if (talk->request->store && outcome->store_error.code == 0)
        assay__store_add_samples(talk->request->store, talk->request->trial, talk->request->launch,
                                 (int)stream, values, (size_t)n, &outcome->store_error);
    return 0;
}

static void take_window(struct conversation *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    uint64_t start = UINT64_MAX, end = 0;
    struct assay__sample_window window = {.first = outcome->streams[0].count,
                                          .begin_ns = talk->window_ns,
                                          .end_ns = talk->window_ns ? assay__now_ns() : 0};
    struct assay_error before = talk->error;
    for (uint32_t s = 0; s < talk->ring.streams; s++) {
        size_t count = 0;
        if (take_stream(talk, s, &start, &end, &count)) break;
        if (s == 0) window.count = count;
        window.completions += count;
        /* Clears the ring before the worker is told about the next window: if it dies in between,
         * samples must not count twice. */
        atomic_store_explicit(assay__ring_count(&talk->ring, s), 0, memory_order_release);
    }
    if (before.code) talk->error = before; /* the first reason is the reason */
    if (talk->window_ns)
        assay__watch_window_ends(talk->request->watch, talk->request->launch, window.completions);
    talk->window_ns = 0;
    if (window.completions == 0) return;
    window.wall_ns = (double)(end - start);
    outcome->total += window.completions;
    outcome->wall_ns += window.wall_ns;
    if (assay__vec_grow((void **)&outcome->windows, &outcome->window_capacity,
                        outcome->window_count + 1, sizeof window)) {
        if (!talk->error.code) assay__no_memory(&talk->error);
        return;
    }
    outcome->windows[outcome->window_count++] = window;
    talk->pace_ns = window.wall_ns * talk->ring.streams / (double)window.completions;
}

static int summarise(struct conversation *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    if (outcome->summarised == outcome->total && outcome->total > 0) return 0;
    outcome->summarised = outcome->total;
    bool find_warmup = talk->request->job.warmup < 0;
    /* A script's clock has no steps. */
    double step_ns = talk->request->job.script ? 0 : outcome->facts.clock_step_ns;
    return assay__summary_compute(outcome->streams, outcome->streams ? outcome->stream_count : 0,
                                  find_warmup, true, step_ns, &outcome->summary);
}

/* Ours again, its samples forgotten. */
static void clear_ring(struct conversation *talk)
{
    for (uint32_t s = 0; s < talk->ring.streams; s++)
        atomic_store_explicit(assay__ring_count(&talk->ring, s), 0, memory_order_release);
}

/* The pre-run's pace: the median of its last samples (they are dropped afterwards). */
static void take_pace(struct conversation *talk)
{
    const uint64_t *stamps = assay__ring_stamps(&talk->ring, 0);
    uint64_t n = atomic_load_explicit(assay__ring_count(&talk->ring, 0), memory_order_acquire);
    double last[PACE_SAMPLES];
    size_t used = 0;
    if (n > talk->ring.capacity) n = 0;
    for (uint64_t i = n; i > 0 && used < PACE_SAMPLES; i--)
        if (stamps[i] >= stamps[i - 1]) last[used++] = (double)(stamps[i] - stamps[i - 1]);
    assay__stats_sort(last, used);
    talk->pace_ns = used ? assay__stats_median(last, used) : talk->outcome->facts.first_ns;
    if (!isfinite(talk->pace_ns)) talk->pace_ns = 0;
    clear_ring(talk);
}

static void begin_stretch(struct conversation *talk)
{
    talk->stretch_ns = assay__now_ns();
    talk->waited_known = assay__process_waited_ns(talk->pid, &talk->waited_ns);
}

/* Whether other processes kept the worker from running during the window or block that just
 * ended. */
static bool was_disturbed(const struct conversation *talk)
{
    uint64_t waited_ns, now_ns = assay__now_ns();
    if (!talk->waited_known || !assay__process_waited_ns(talk->pid, &waited_ns)) return false;
    return (double)(waited_ns - talk->waited_ns) > DISTURBED * (double)(now_ns - talk->stretch_ns);
}

static int64_t rewarm_steps(const struct conversation *talk)
{
    if (talk->next_window == 1 && talk->request->job.warmup >= 0) return 0;
    if (talk->alternates && talk->pace_ns > 0)
        return (int64_t)fmin(fmax(REWARM_NS / talk->pace_ns, 1), REWARM_MOST);
    return talk->pace_ns >= REWARM_BELOW_NS ? 0 : REWARM_STEPS;
}

static void send_answer(struct conversation *talk, struct assay__message *message)
{
    if (talk->drop_block) assay__json_put_bool(&message->writer, "drop", true);
    talk->drop_block = false;
    assay__json_object_end(&message->writer);
    assay__json_object_end(&message->writer);
    int code = assay__channel_send(&talk->channel, &message->text, ANSWER_TIMEOUT_MS);
    assay__buf_free(&message->text);
    if (code && code != ASSAY_EIO) /* when it has ended, its last messages can still be read */
        assay_error_set(&talk->error, code, "worker does not read its answers");
}

static void ask_window(struct conversation *talk, const struct assay__window_plan *plan)
{
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "window");
    assay__json_object(out);
    assay__json_put_integer(out, "iterations", (int64_t)plan->iterations);
    assay__json_put_number(out, "seconds", plan->seconds);
    assay__json_put_integer(out, "rewarm", rewarm_steps(talk));
    assay__watch_window_begins(talk->request->watch, talk->request->launch);
    talk->window_ns = assay__now_ns();
    talk->window_s = plan->seconds;
    begin_stretch(talk);
    send_answer(talk, &message);
}

static void ask_block(struct conversation *talk)
{
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "block");
    assay__json_object(out);
    const struct assay__sample_window *last =
        &talk->outcome->windows[talk->outcome->window_count - 1];
    double seconds = last->wall_ns * 1e-9 * BLOCK_WINDOWS;
    double most = talk->disturbed ? BLOCK_MOST_BUSY_S : BLOCK_MOST_S;
    if (talk->disturbed) seconds *= 2; /* a window is as short as on a quiet machine */
    assay__json_put_number(out, "seconds", fmin(fmax(seconds, BLOCK_LEAST_S), most));
    begin_stretch(talk);
    send_answer(talk, &message);
}

static void ask_stop(struct conversation *talk)
{
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, "stop");
    assay__json_object(out);
    assay__json_put_number(out, "latency_ns", talk->outcome->summary.p50);
    send_answer(talk, &message);
}

/* Once the goal is met: whether the layers need more windows and blocks to add up. */
static bool wants_more_layers(struct conversation *talk)
{
    const struct assay__outcome *outcome = talk->outcome;
    const struct assay__goal *goal = &talk->request->goal;
    bool fixed = goal->iterations > 0 || goal->time_s > 0; /* so long and no longer */
    size_t most = talk->disturbed ? 2 * WINDOWS_MORE : WINDOWS_MORE;
    if (!talk->alternates || fixed || talk->more_windows >= most) return false;
    talk->more_windows++;
    return talk->blocks < BLOCKS_LEAST ||
           !(fabs(talk->layers_ns / outcome->summary.p50 - 1) <= LAYERS_AGREE);
}

/* Blocks are spread over the windows of the goal; windows added after that have one block each. */
static bool wants_block(const struct conversation *talk)
{
    size_t every = talk->request->goal.time_s > 0 ? ASSAY__GOAL_WINDOWS / BLOCKS_WANTED : 1;
    size_t done = talk->blocks + talk->dropped;
    return talk->alternates && (talk->more_windows ||
                                (done < BLOCKS_WANTED && talk->outcome->window_count % every == 0));
}

static void decide(struct conversation *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    const struct assay__goal *goal = &talk->goal;
    struct assay__window_plan plan;
    struct assay__taken taken = {.windows = outcome->window_count,
                                 .samples = outcome->total,
                                 .wall_ns = outcome->wall_ns,
                                 .pace_ns = talk->pace_ns,
                                 .disturbed = talk->disturbed > 0};
    enum assay__decision decision = assay__goal_next(goal, &taken, &plan);
    if (decision != ASSAY__GOAL_WINDOW) {
        if (summarise(talk)) {
            assay__no_memory(&talk->error);
            return;
        }
        taken.summary = &outcome->summary;
        if (decision == ASSAY__GOAL_JUDGE) decision = assay__goal_next(goal, &taken, &plan);
    }
    if (decision == ASSAY__GOAL_STOP && wants_more_layers(talk)) {
        plan = (struct assay__window_plan){goal->capacity * (size_t)goal->streams, talk->window_s};
        decision = ASSAY__GOAL_WINDOW;
    }
    if (decision == ASSAY__GOAL_STOP && talk->alternates && talk->blocks == 0) {
        talk->last_block = true; /* whatever happens to it, it counts */
        ask_block(talk);
        return;
    }
    if (decision == ASSAY__GOAL_STOP) {
        assay__disturbance_read(&outcome->end);
        ask_stop(talk);
        return;
    }
    tell_progress(talk, "measuring", assay__goal_done(goal, &taken));
    ask_window(talk, &plan);
}

/* A window that others disturbed is repeated, as long as that helps. */
static bool leave_out(struct conversation *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    if (talk->request->watch || talk->request->job.script || !was_disturbed(talk)) return false;
    talk->disturbed++;
    if (talk->disturbed >= DISTURBED_OFTEN &&
        talk->disturbed > (outcome->window_count + outcome->left_out) / 2)
        return false;
    double spent_ns = (double)(assay__now_ns() - talk->window_ns);
    double most_ns = talk->goal.amortise /* one of many launches, with its own time limit */
                         ? LEFT_OUT_SHARE * talk->goal.time_s * 1e9
                         : fmax(LEFT_OUT_MOST * outcome->wall_ns, LEFT_OUT_LEAST_S * 1e9);
    if (outcome->left_out_ns + spent_ns > most_ns) return false;
    outcome->left_out_ns += spent_ns;
    outcome->left_out++;
    clear_ring(talk);
    talk->window_ns = 0;
    return true;
}

static void hear_window(struct conversation *talk, const struct assay__json *window)
{
    int64_t index = assay__json_get_integer(window, "index", -1),
            prerun = assay__json_get_integer(window, "prerun", -1);
    if (index != talk->next_window || prerun < 0 || !talk->outcome->facts.known) {
        bad(talk, "an unexpected window");
        return;
    }
    if (index == 0) {
        talk->outcome->prerun = (size_t)prerun;
        assay__disturbance_read(&talk->outcome->warm);
        talk->outcome->warm_known = true;
        take_pace(talk);
        talk->outcome->ready_ns = assay__now_ns();
        talk->goal = assay__goal_amortised(
            &talk->request->goal,
            (double)(talk->outcome->ready_ns - talk->outcome->begin_ns) / 1e9);
        talk->phase = PHASE_MEASURING;
        talk->alternates = assay__json_get_bool(window, "alternates", false);
    }
    talk->next_window++;
    bool kept = index > 0 && !leave_out(talk);
    if (kept) take_window(talk);
    if (talk->error.code) return;
    if (kept && wants_block(talk))
        ask_block(talk);
    else
        decide(talk);
}

static void hear_block(struct conversation *talk, const struct assay__json *block)
{
    if (!talk->alternates) {
        bad(talk, "a block that was not requested");
        return;
    }
    talk->drop_block = was_disturbed(talk) && talk->dropped < talk->blocks + DROPPED_MORE &&
                       !talk->last_block;
    if (assay__json_get_bool(block, "failed", false))
        talk->alternates = talk->drop_block = false; /* what there is must do */
    else if (talk->drop_block)
        talk->dropped++;
    else
        talk->blocks++, talk->layers_ns = assay__json_get_number(block, "layers_ns", 0);
    decide(talk);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void hear_phase(struct conversation *talk, const struct assay__json *value)
{
    static const struct {
        const char *said, *phase;
    } known[] = {{"loading", PHASE_LOADING},
                 {"first", PHASE_FIRST},
                 {"warming up", PHASE_WARMING},
                 {"counting", PHASE_COUNTING},
                 {"layers", PHASE_LAYERS}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (value->string && strcmp(value->string, known[i].said) == 0) {
            talk->phase = known[i].phase;
            tell_progress(talk, known[i].said, -1);
            return;
        }
    bad(talk, "an unknown phase");
}

static void hear_facts(struct conversation *talk, const struct assay__json *facts)
{
    receive(talk, facts, &assay__message_facts, &talk->outcome->facts);
    talk->outcome->facts.known = true;
}

static void hear_memory(struct conversation *talk, const struct assay__json *memory)
{
    receive(talk, memory, &assay__message_memory, &talk->outcome->memory);
}

static void hear_state(struct conversation *talk, const struct assay__json *state)
{
    receive(talk, state, &assay__message_state, &talk->outcome->state);
}

static void hear_layers(struct conversation *talk, const struct assay__json *layers)
{
    const char *note = assay__arena_strdup(talk->request->arena,
                                           assay__json_get_string(layers, "counter_note", ""));
    if (!note) assay__no_memory(&talk->error);
    receive(talk, layers, &assay__stored_layers, &talk->outcome->layers);
    talk->outcome->has_layers = true;
    talk->outcome->counted.layer_note = note ? note : "";
}

static void hear_layer(struct conversation *talk, const struct assay__json *json)
{
    struct assay__layers *layers = &talk->outcome->layers;
    if (!talk->outcome->has_layers || layers->count >= LAYERS_MOST) {
        bad(talk, "an unexpected layer");
        return;
    }
    if (assay__vec_grow((void **)&layers->items, &talk->outcome->layer_capacity, layers->count + 1,
                        sizeof *layers->items)) {
        assay__no_memory(&talk->error);
        return;
    }
    struct assay__layer *layer = &layers->items[layers->count];
    *layer = (struct assay__layer){0};
    receive(talk, json, &assay__stored_layer, layer);
    layer->index = (int)layers->count;
    layer->method = layers->method;
    layer->bound = "unknown";
    assay__counted_hear_layer(assay__json_get(json, "counters"), talk->request->arena,
                              &talk->outcome->counted, &layer->counters, &talk->error);
    layers->count++;
}

static void hear_done(struct conversation *talk, const struct assay__json *done)
{
    if (talk->outcome->total == 0) {
        bad(talk, "'done' without a sample");
        return;
    }
    receive(talk, done, &assay__message_spent, &talk->outcome->spent);
    talk->done = true;
}

static void hear_error(struct conversation *talk, const struct assay__json *error)
{
    int64_t code = assay__json_get_integer(error, "code", ASSAY_EENGINE);
    bool known = code < 0 && code >= ASSAY_EDENIED;
    assay_error_set(&talk->error, known ? (int)code : ASSAY_EENGINE, "%s",
                    assay__json_get_string(error, "message", "an error without a message"));
    talk->worker_leaves = true;
}

static void hear_log(struct conversation *talk, const struct assay__json *text)
{
    snprintf(talk->last_log, sizeof talk->last_log, "%s", text->string ? text->string : "");
    assay__log(ASSAY_LOG_INFO, "worker", "%s", talk->last_log);
}

static void hear_generation(struct conversation *talk, const struct assay__json *json)
{
    if (talk->request->job.generation.tokens < 1)
        bad(talk, "a generation that was not requested");
    else if (talk->error.code == 0)
        assay__tokens_hear(&talk->outcome->tokens, talk->request->job.generation.tokens, json,
                           &talk->error);
}

static void hear_token_times(struct conversation *talk, const struct assay__json *json)
{
    assay__tokens_hear_times(&talk->outcome->tokens, json, &talk->error);
}

static void hear_allocations(struct conversation *talk, const struct assay__json *json)
{
    if (!talk->request->job.allocations || talk->outcome->tracked)
        bad(talk, "allocations that were not requested");
    else
        assay__tracked_read(json, talk->request->arena, &talk->outcome->tracked, &talk->error);
}

static void hear_counters(struct conversation *talk, const struct assay__json *json)
{
    assay__counted_hear(json, talk->request->arena, &talk->outcome->counted, &talk->error);
}

static void hear(struct conversation *talk, const char *line, size_t length)
{
    static const struct {
        const char *key;
        void (*hear)(struct conversation *, const struct assay__json *);
    } messages[] = {{"phase", hear_phase},
                    {"log", hear_log},
                    {"facts", hear_facts},
                    {"window", hear_window},
                    {"block", hear_block},
                    {"memory", hear_memory},
                    {"state", hear_state},
                    {"layers", hear_layers},
                    {"layer", hear_layer},
                    {"allocations", hear_allocations},
                    {"done", hear_done},
                    {"error", hear_error},
                    {"counters", hear_counters},
                    {"generation", hear_generation},
                    {"token_times", hear_token_times}};
    struct assay__arena *arena = assay__arena_new();
    struct assay__json *root = NULL;
    struct assay_error error = {0};
    if (!arena) {
        assay__no_memory(&talk->error);
        return;
    }
    if (assay__json_parse(arena, line, length, &root, &error) || root->kind != ASSAY__JSON_OBJECT ||
        !root->first) {
        bad(talk, "a line that is not a message");
        goto out;
    }
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (strcmp(root->first->key, messages[i].key) == 0) {
            messages[i].hear(talk, root->first);
            goto out;
        }
    bad(talk, "an unknown message");
out:
    assay__arena_free(arena);
}

/* --- the outcome ------------------------------------------------------------------------------ */

static double cpu_seconds(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage)) return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* --- how it ended ----------------------------------------------------------------------------- */

static void describe_exit(const struct conversation *talk, char *out, size_t size)
{
    const struct assay__exit *status = &talk->outcome->exit;
    if (!talk->outcome->exit_known)
        snprintf(out, size, "worker did not exit");
    else if (status->exited)
        snprintf(out, size, "worker exited with status %d", status->status);
    else if (status->oom)
        snprintf(out, size,
                 "worker ran out of memory: killed by the kernel's out-of-memory killer (SIGKILL)");
    else if (status->signal == SIGKILL)
        snprintf(out, size, "worker was killed from outside: %s",
                 assay__signal_name(status->signal));
    else
        snprintf(out, size, "worker crashed: %s", assay__signal_name(status->signal));
}

/* The reason of a failed launch: what happened, in which phase, after how many samples, the last
 * line of the log. */
static void explain(struct conversation *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    char what[768];
    if (talk->error.code == ASSAY_ECRASH)
        describe_exit(talk, what, sizeof what);
    else
        snprintf(what, sizeof what, "%s", talk->error.message);
    /* The log helps if the worker could not report an error itself. */
    bool silent = talk->error.code == ASSAY_ECRASH || talk->error.code == ASSAY_ETIMEOUT;
    const char *last = strrchr(outcome->log_tail, '\n');
    const char *line = !silent                ? ""
                       : last                 ? last + 1
                       : outcome->log_tail[0] ? outcome->log_tail
                                              : talk->last_log;
    char samples[64] = "";
    if (outcome->total > 0)
        snprintf(samples, sizeof samples, " after %zu sample%s", outcome->total,
                 outcome->total == 1 ? "" : "s");
    outcome->code = talk->error.code;
    outcome->reason = assay__arena_printf(talk->request->arena, "%s (while %s)%s%s%s", what,
                                          talk->phase, samples, line[0] ? "; last log: " : "",
                                          line);
    if (!outcome->reason) outcome->reason = "the launch failed (out of memory for the reason)";
}

static void end_worker(struct conversation *talk, struct assay__child *child, FILE *log)
{
    struct assay__outcome *outcome = talk->outcome;
    if (talk->error.code && talk->error.code != ASSAY_ECRASH && !talk->worker_leaves)
        assay__process_kill(child, SIGKILL);
    bool killed;
    outcome->exit_known = assay__child_end(child, EXIT_GRACE_NS, &outcome->exit, &killed) == 0;
    if (killed) outcome->remark = "the worker did not exit by itself and was killed";
    /* What the worker had measured in an unfinished window is in our mapping. */
    if (talk->error.code && strcmp(talk->phase, PHASE_MEASURING) == 0) take_window(talk);
    char tail[LOG_TAIL + 1];
    assay__child_log_tail(log, tail, sizeof tail);
    outcome->log_tail = assay__arena_text(talk->request->arena, "%s", tail);
    if (!talk->error.code) {
        if (outcome->exit_known && !outcome->exit.exited)
            outcome->remark = assay__arena_text(
                talk->request->arena,
                "the worker died of %s while closing, after everything was measured",
                assay__signal_name(outcome->exit.signal));
        return;
    }
    explain(talk);
    /* The latency was complete when the layer pass failed: the launch counts, its layers do not. */
    if (strcmp(talk->phase, PHASE_LAYERS) == 0 && outcome->total > 0 &&
        talk->error.code != ASSAY_EINTERRUPTED) {
        outcome->layers.count = 0;
        outcome->layers.method = "";
        outcome->layers.reason = outcome->remark = outcome->reason;
        outcome->has_layers = true;
        outcome->reason = "";
        outcome->code = 0;
    }
}

/* --- the dialogue ----------------------------------------------------------------------------- */

static int converse(struct conversation *talk)
{
    const struct assay__request *request = talk->request;
    uint64_t begin_ns = assay__now_ns(), last_ns = begin_ns, progress = 0;
    const int most_ms = request->interrupt ? INTERRUPT_POLL_MS : 600000;
    while (!talk->done && talk->error.code == 0) {
        const char *line;
        size_t length;
        if (request->interrupt && *request->interrupt)
            return assay_error_set(&talk->error, ASSAY_EINTERRUPTED, "interrupted");
        uint64_t now_ns = assay__now_ns();
        double silence_ms = request->timeout_s * 1e3 - (double)(now_ns - last_ns) / 1e6;
        double whole_ms = request->limit_s * 1e3 - (double)(now_ns - begin_ns) / 1e6;
        if (request->limit_s > 0 && whole_ms <= 0) /* even when it shows signs of life */
            return assay_error_set(&talk->error, ASSAY_ETIMEOUT,
                                   "the launch took more than %g s and was ended",
                                   request->limit_s);
        double left_ms = request->limit_s > 0 ? fmin(silence_ms, whole_ms) : silence_ms;
        int wait_ms = left_ms < 1 ? 1 : left_ms < most_ms ? (int)ceil(left_ms) : most_ms;
        int code = assay__channel_read(&talk->channel, wait_ms, &line, &length);
        if (code == ASSAY_EINTERRUPTED) continue;
        if (code == ASSAY_ETIMEOUT) { /* alive if the counts in the ring change */
            uint64_t seen = assay__ring_progress(&talk->ring);
            now_ns = assay__now_ns();
            if (seen != progress) last_ns = now_ns;
            progress = seen;
            if ((double)(now_ns - last_ns) / 1e9 >= request->timeout_s)
                assay_error_set(&talk->error, ASSAY_ETIMEOUT,
                                "worker hung: no sign of life for %g s; killed",
                                request->timeout_s);
            continue;
        }
        if (code == ASSAY_ELIMIT)
            return assay_error_set(&talk->error, ASSAY_EFORMAT,
                                   "worker sent a line of more than %u bytes", ASSAY__CHANNEL_LINE);
        if (code) return assay_error_set(&talk->error, ASSAY_ECRASH, "the worker died");
        hear(talk, line, length);
        last_ns = assay__now_ns();
    }
    return talk->error.code;
}

static int start(struct conversation *talk, struct assay__child *child, FILE **log)
{
    const struct assay__request *request = talk->request;
    int code = assay__ring_create(&talk->ring, (uint32_t)request->job.streams, &talk->error);
    if (code) return code;
    int log_fd = assay__child_log_open(log);
    const char *const argv[] = {request->worker, NULL};
    const char *environment[3] = {NULL};
    size_t variables = 0;
    if (request->temporary) environment[variables++] = request->temporary;
    if (request->preload) environment[variables] = request->preload;
    code = assay__process_start(argv, talk->ring.fd, log_fd, environment, child, &talk->error);
    if (!*log && log_fd >= 0) close(log_fd);
    if (code) return code;
    assay__channel_open(&talk->channel, child->socket);
    return 0;
}

static int send_job(struct conversation *talk)
{
    struct assay__buf line = {0};
    assay__job_write(&talk->request->job, &line);
    int code = assay__channel_send(&talk->channel, &line, 30000);
    assay__buf_free(&line);
    if (code == ASSAY_EIO) return 0; /* it has ended: what it sent before must still be read */
    return code ? assay_error_set(&talk->error, code, "worker does not accept its job") : 0;
}

int assay__launch_run(const struct assay__request *request, struct assay__outcome *outcome)
{
    struct assay__child child = {.pid = -1, .socket = -1};
    FILE *log = NULL;
    assay__outcome_init(outcome);
    struct conversation talk = {.request = request,
                                .outcome = outcome,
                                .phase = PHASE_STARTING,
                                .ring = {.fd = -1},
                                .channel = {.fd = -1}};
    double cpu = cpu_seconds();
    uint64_t begin = outcome->begin_ns = assay__now_ns();
    assay__disturbance_read(&outcome->before);
    outcome->stream_count = request->job.streams;
    outcome->streams = calloc((size_t)request->job.streams, sizeof *outcome->streams);
    if (!outcome->streams)
        assay__no_memory(&talk.error);
    else
        start(&talk, &child, &log);
    if (talk.error.code) {
        explain(&talk);
    } else {
        talk.pid = child.pid;
        assay__watch_started(request->watch, request->launch, child.pid);
        if (send_job(&talk) == 0) converse(&talk);
        assay__watch_ended(request->watch, request->launch);
        end_worker(&talk, &child, log);
    }
    assay__disturbance_read(&outcome->after);
    outcome->life_s = (double)(assay__now_ns() - begin) / 1e9;
    outcome->parent_cpu_s = cpu_seconds() - cpu;
    int summed = summarise(&talk);
    if (summed == 0) summed = assay__tokens_summarise(&outcome->tokens);
    if (summed && outcome->code == 0) {
        outcome->code = ASSAY_ENOMEM;
        outcome->reason = "out of memory for the statistics";
    }
    assay__channel_close(&talk.channel);
    assay__ring_close(&talk.ring);
    if (log) fclose(log);
    return outcome->code;
}
