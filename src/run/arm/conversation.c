/* conversation.c - reads a worker's messages during a launch and answers them. Every message is
 * checked: an unknown one, one out of turn or one with impossible numbers fails the launch with its
 * reason and nothing else. */
#include "run/arm/conversation.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/vec.h"
#include "run/watch/memory_track.h"
#include "run/watch/watch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_TIMEOUT_MS 30000
#define REWARM_STEPS 2
#define REWARM_BELOW_NS \
    1e7 /* a step of 10 ms or more does not notice cooled caches, but would cost time */
#define LAYERS_MOST 1000000u
#define PACE_SAMPLES 101u

static int bad(struct assay__conversation *talk, const char *what)
{
    return assay_error_set(&talk->error, ASSAY_EFORMAT, "worker sent %s", what);
}

/* A struct that has a table, out of a message. */
static void receive(struct assay__conversation *talk, const struct assay__json *object,
                    const struct assay__field_table *table, void *element)
{
    if (assay__fields_receive(object, table, talk->request->arena, element))
        assay__no_memory(&talk->error);
}

static void tell_progress(struct assay__conversation *talk, const char *phase, double done)
{
    const struct assay__request *request = talk->request;
    if (!request->progress) return;
    struct assay_progress progress = {phase, request->launch, request->launches, done};
    request->progress(request->progress_context, &progress);
}

/* --- windows ---------------------------------------------------------------------------------- */

/* Durations of one stream's window: appended, stored. *start and *end widen to cover it. */
static int take_stream(struct assay__conversation *talk, uint32_t stream, uint64_t *start,
                       uint64_t *end, size_t *count)
{
    const uint64_t *stamps = assay__ring_stamps(&talk->ring, stream);
    uint64_t n = atomic_load_explicit(assay__ring_count(&talk->ring, stream), memory_order_acquire);
    struct assay__samples *samples = &talk->outcome->streams[stream];
    *count = 0;
    if (n == 0) return 0;
    if (n > talk->ring.capacity) return bad(talk, "a count beyond the ring");
    if (assay__samples_reserve(samples, (size_t)n)) return assay__no_memory(&talk->error);
    double *values = samples->values + samples->count;
    for (size_t i = 0; i < n; i++) {
        if (stamps[i + 1] < stamps[i]) return bad(talk, "stamps that run backwards");
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

void assay__conversation_take(struct assay__conversation *talk)
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
        /* Ours again, before the worker hears of the next window: a death in between must not count
         * twice. */
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

int assay__conversation_summarise(struct assay__conversation *talk)
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

/* The pre-run's pace: the median of its last samples (they are dropped afterwards). */
static void take_pace(struct assay__conversation *talk)
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
    for (uint32_t s = 0; s < talk->ring.streams; s++)
        atomic_store_explicit(assay__ring_count(&talk->ring, s), 0, memory_order_release);
}

static void answer(struct assay__conversation *talk, const struct assay__window_plan *plan)
{
    struct assay__message message;
    struct assay__json_writer *out = assay__message_open(&message, plan ? "window" : "stop");
    assay__json_object(out);
    if (plan) {
        bool first_forced = talk->next_window == 1 && talk->request->job.warmup >= 0;
        assay__json_put_integer(out, "iterations", (int64_t)plan->iterations);
        assay__json_put_number(out, "seconds", plan->seconds);
        assay__json_put_integer(
            out, "rewarm", first_forced || talk->pace_ns >= REWARM_BELOW_NS ? 0 : REWARM_STEPS);
        assay__watch_window_begins(talk->request->watch, talk->request->launch);
        talk->window_ns = assay__now_ns();
    } else {
        assay__json_put_number(out, "latency_ns", talk->outcome->summary.p50);
    }
    assay__json_object_end(out);
    assay__json_object_end(out);
    int code = assay__channel_send(&talk->channel, &message.text, ANSWER_TIMEOUT_MS);
    assay__buf_free(&message.text);
    if (code && code != ASSAY_EIO) /* when it is gone, its last messages can still be read */
        assay_error_set(&talk->error, code, "worker does not read its answers");
}

static void decide(struct assay__conversation *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    const struct assay__goal *goal = &talk->request->goal;
    struct assay__window_plan plan;
    struct assay__taken taken = {outcome->window_count, outcome->total, outcome->wall_ns,
                                 talk->pace_ns, NULL};
    enum assay__decision decision = assay__goal_next(goal, &taken, &plan);
    if (decision != ASSAY__GOAL_WINDOW) {
        if (assay__conversation_summarise(talk)) {
            assay__no_memory(&talk->error);
            return;
        }
        taken.summary = &outcome->summary;
        if (decision == ASSAY__GOAL_JUDGE) decision = assay__goal_next(goal, &taken, &plan);
    }
    if (decision == ASSAY__GOAL_STOP) {
        assay__disturbance_read(&outcome->end);
        answer(talk, NULL);
        return;
    }
    tell_progress(talk, "measuring", assay__goal_done(goal, &taken));
    answer(talk, &plan);
}

static void hear_window(struct assay__conversation *talk, const struct assay__json *window)
{
    int64_t index = assay__json_get_integer(window, "index", -1),
            prerun = assay__json_get_integer(window, "prerun", -1);
    if (index != talk->next_window || prerun < 0 || !talk->outcome->facts.known) {
        bad(talk, "a window out of turn");
        return;
    }
    if (index == 0) {
        talk->outcome->prerun = (size_t)prerun;
        assay__disturbance_read(&talk->outcome->warm);
        talk->outcome->warm_known = true;
        take_pace(talk);
        talk->phase = ASSAY__PHASE_MEASURING;
    } else {
        assay__conversation_take(talk);
    }
    talk->next_window++;
    if (talk->error.code == 0) decide(talk);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void hear_phase(struct assay__conversation *talk, const struct assay__json *value)
{
    static const struct {
        const char *said, *phase;
    } known[] = {{"loading", ASSAY__PHASE_LOADING},
                 {"first", ASSAY__PHASE_FIRST},
                 {"warming up", ASSAY__PHASE_WARMING},
                 {"counting", ASSAY__PHASE_COUNTING},
                 {"layers", ASSAY__PHASE_LAYERS}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (value->string && strcmp(value->string, known[i].said) == 0) {
            talk->phase = known[i].phase;
            tell_progress(talk, known[i].said, -1);
            return;
        }
    bad(talk, "an unknown phase");
}

static void hear_facts(struct assay__conversation *talk, const struct assay__json *facts)
{
    receive(talk, facts, &assay__message_facts, &talk->outcome->facts);
    talk->outcome->facts.known = true;
}

static void hear_memory(struct assay__conversation *talk, const struct assay__json *memory)
{
    receive(talk, memory, &assay__message_memory, &talk->outcome->memory);
}

static void hear_layers(struct assay__conversation *talk, const struct assay__json *layers)
{
    const char *note = assay__arena_strdup(talk->request->arena,
                                           assay__json_get_string(layers, "counter_note", ""));
    if (!note) assay__no_memory(&talk->error);
    receive(talk, layers, &assay__stored_layers, &talk->outcome->layers);
    talk->outcome->has_layers = true;
    talk->outcome->counted.layer_note = note ? note : "";
}

static void hear_layer(struct assay__conversation *talk, const struct assay__json *json)
{
    struct assay__layers *layers = &talk->outcome->layers;
    if (!talk->outcome->has_layers || layers->count >= LAYERS_MOST) {
        bad(talk, "a layer out of turn");
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

static void hear_done(struct assay__conversation *talk, const struct assay__json *done)
{
    if (talk->outcome->total == 0) {
        bad(talk, "'done' without a sample");
        return;
    }
    receive(talk, done, &assay__message_spent, &talk->outcome->spent);
    talk->done = true;
}

static void hear_error(struct assay__conversation *talk, const struct assay__json *error)
{
    int64_t code = assay__json_get_integer(error, "code", ASSAY_EENGINE);
    bool known = code < 0 && code >= ASSAY_EDENIED;
    assay_error_set(&talk->error, known ? (int)code : ASSAY_EENGINE, "%s",
                    assay__json_get_string(error, "message", "an error without a message"));
    talk->worker_leaves = true;
}

static void hear_log(struct assay__conversation *talk, const struct assay__json *text)
{
    snprintf(talk->last_log, sizeof talk->last_log, "%s", text->string ? text->string : "");
    assay__log(ASSAY_LOG_INFO, "worker", "%s", talk->last_log);
}

static void hear_generation(struct assay__conversation *talk, const struct assay__json *json)
{
    if (talk->request->job.generation.tokens < 1)
        bad(talk, "a generation that was not requested");
    else if (talk->error.code == 0)
        assay__tokens_hear(&talk->outcome->tokens, talk->request->job.generation.tokens, json,
                           &talk->error);
}

static void hear_token_times(struct assay__conversation *talk, const struct assay__json *json)
{
    assay__tokens_hear_times(&talk->outcome->tokens, json, &talk->error);
}

static void hear_allocations(struct assay__conversation *talk, const struct assay__json *json)
{
    if (!talk->request->job.allocations || talk->outcome->tracked)
        bad(talk, "allocations that were not requested");
    else
        assay__tracked_read(json, talk->request->arena, &talk->outcome->tracked, &talk->error);
}

static void hear_counters(struct assay__conversation *talk, const struct assay__json *json)
{
    assay__counted_hear(json, talk->request->arena, &talk->outcome->counted, &talk->error);
}

void assay__conversation_hear(struct assay__conversation *talk, const char *line, size_t length)
{
    static const struct {
        const char *key;
        void (*hear)(struct assay__conversation *, const struct assay__json *);
    } messages[] = {{"phase", hear_phase},
                    {"log", hear_log},
                    {"facts", hear_facts},
                    {"window", hear_window},
                    {"memory", hear_memory},
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
        bad(talk, "a line that is no message");
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
