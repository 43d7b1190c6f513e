/* launch.c - starts a worker, reads its messages and answers them, waits for it and reports how it
 * ended. Every message is checked: an unknown one, one out of order or one with impossible numbers
 * fails only this launch, with its reason. */
#include "run/arm/conversation.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/metric_value.h"
#include "base/vec.h"
#include "run/child.h"
#include "run/watch/memory_track.h"
#include "run/watch/watch.h"

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
#define LAYERS_MOST 1000000u

#define PHASE_STARTING "starting"
#define PHASE_LOADING "loading"
#define PHASE_FIRST "running the first inference"
#define PHASE_WARMING "warming up"
#define PHASE_COUNTING "counting"
#define PHASE_LAYERS "timing layers"

int assay__talk_bad(struct assay__talk *talk, const char *what)
{
    return assay_error_set(&talk->error, ASSAY_EFORMAT, "worker sent %s", what);
}

/* Reads a struct that has a table from a message. */
static void receive(struct assay__talk *talk, const struct assay__json *object,
                    const struct assay__field_table *table, void *element)
{
    if (assay__fields_receive(object, table, talk->request->arena, element))
        assay__no_memory(&talk->error);
}

void assay__talk_progress(struct assay__talk *talk, const char *phase, double done)
{
    const struct assay__request *request = talk->request;
    if (!request->progress) return;
    struct assay_progress progress = {
        .phase = phase, .launch = request->launch, .launches = request->launches, .done = done};
    if (isfinite(request->p50_ns)) progress.latency_s = request->p50_ns * 1e-9;
    if (isfinite(request->half_width)) progress.half_width = request->half_width;
    request->progress(request->progress_context, &progress);
}

static void hear_phase(struct assay__talk *talk, const struct assay__json *value)
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
            assay__talk_progress(talk, known[i].said, -1);
            return;
        }
    assay__talk_bad(talk, "an unknown phase");
}

static void hear_facts(struct assay__talk *talk, const struct assay__json *facts)
{
    receive(talk, facts, &assay__message_facts, &talk->outcome->facts);
    talk->outcome->facts.known = true;
}

static void hear_memory(struct assay__talk *talk, const struct assay__json *memory)
{
    receive(talk, memory, &assay__message_memory, &talk->outcome->memory);
}

static void hear_state(struct assay__talk *talk, const struct assay__json *state)
{
    receive(talk, state, &assay__message_state, &talk->outcome->state);
}

static void hear_layers(struct assay__talk *talk, const struct assay__json *layers)
{
    const char *note = assay__arena_strdup(talk->request->arena,
                                           assay__json_get_string(layers, "counter_note", ""));
    if (!note) assay__no_memory(&talk->error);
    receive(talk, layers, &assay__stored_layers, &talk->outcome->layers);
    talk->outcome->has_layers = true;
    talk->outcome->counted.layer_note = note ? note : "";
}

static void hear_layer(struct assay__talk *talk, const struct assay__json *json)
{
    struct assay__layers *layers = &talk->outcome->layers;
    if (!talk->outcome->has_layers || layers->count >= LAYERS_MOST) {
        assay__talk_bad(talk, "an unexpected layer");
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

static void hear_done(struct assay__talk *talk, const struct assay__json *done)
{
    if (talk->outcome->total == 0) {
        assay__talk_bad(talk, "'done' without a sample");
        return;
    }
    receive(talk, done, &assay__message_spent, &talk->outcome->spent);
    talk->done = true;
}

static void hear_error(struct assay__talk *talk, const struct assay__json *error)
{
    int64_t code = assay__json_get_integer(error, "code", ASSAY_EENGINE);
    bool known = code < 0 && code >= ASSAY_EDENIED;
    assay_error_set(&talk->error, known ? (int)code : ASSAY_EENGINE, "%s",
                    assay__json_get_string(error, "message", "an error without a message"));
    talk->worker_leaves = true;
}

static void hear_log(struct assay__talk *talk, const struct assay__json *text)
{
    snprintf(talk->last_log, sizeof talk->last_log, "%s", text->string ? text->string : "");
    assay__log(ASSAY_LOG_INFO, "worker", "%s", talk->last_log);
}

static void hear_generation(struct assay__talk *talk, const struct assay__json *json)
{
    if (talk->request->job.generation.tokens < 1)
        assay__talk_bad(talk, "a generation that was not requested");
    else if (talk->error.code == 0)
        assay__tokens_hear(&talk->outcome->tokens, talk->request->job.generation.tokens, json,
                           &talk->error);
}

static void hear_token_times(struct assay__talk *talk, const struct assay__json *json)
{
    assay__tokens_hear_times(&talk->outcome->tokens, json, &talk->error);
}

static void hear_allocations(struct assay__talk *talk, const struct assay__json *json)
{
    if (!talk->request->job.allocations || talk->outcome->tracked)
        assay__talk_bad(talk, "allocations that were not requested");
    else
        assay__tracked_read(json, talk->request->arena, &talk->outcome->tracked, &talk->error);
}

static void hear_counters(struct assay__talk *talk, const struct assay__json *json)
{
    assay__counted_hear(json, talk->request->arena, &talk->outcome->counted, &talk->error);
}

static void hear(struct assay__talk *talk, const char *line, size_t length)
{
    static const struct {
        const char *key;
        void (*hear)(struct assay__talk *, const struct assay__json *);
    } messages[] = {{"phase", hear_phase},
                    {"log", hear_log},
                    {"facts", hear_facts},
                    {"window", assay__talk_window},
                    {"block", assay__talk_block},
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
        assay__talk_bad(talk, "a line that is not a message");
        goto out;
    }
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
        if (strcmp(root->first->key, messages[i].key) == 0) {
            messages[i].hear(talk, root->first);
            goto out;
        }
    assay__talk_bad(talk, "an unknown message");
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

static void describe_exit(const struct assay__talk *talk, char *out, size_t size)
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
static void explain(struct assay__talk *talk)
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

static void end_worker(struct assay__talk *talk, struct assay__child *child, FILE *log)
{
    struct assay__outcome *outcome = talk->outcome;
    if (talk->error.code && talk->error.code != ASSAY_ECRASH && !talk->worker_leaves)
        assay__process_kill(child, SIGKILL);
    bool killed;
    outcome->exit_known = assay__child_end(child, EXIT_GRACE_NS, &outcome->exit, &killed) == 0;
    if (killed) outcome->remark = "the worker did not exit by itself and was killed";
    /* What the worker had measured in an unfinished window is in our mapping. */
    if (talk->error.code && strcmp(talk->phase, PHASE_MEASURING) == 0)
        assay__talk_take_window(talk);
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

static int converse(struct assay__talk *talk)
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

static int start(struct assay__talk *talk, struct assay__child *child, FILE **log)
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

static int send_job(struct assay__talk *talk)
{
    struct assay__buf line = {0};
    assay__job_write(&talk->request->job, &line);
    int code = assay__channel_send(&talk->channel, &line, 30000);
    assay__buf_free(&line);
    if (code == ASSAY_EIO) return 0; /* it has ended: what it sent before must still be read */
    return code ? assay_error_set(&talk->error, code, "worker does not accept its job") : 0;
}

struct assay__request assay__request_once(const struct assay__workload *workload,
                                          const char *worker, struct assay__arena *arena)
{
    return (struct assay__request){.job = {.optimization = "all",
                                           .streams = 1,
                                           .spinning = -1,
                                           .inputs = workload->inputs,
                                           .input_count = workload->input_count},
                                   .goal = {.iterations = 1,
                                            .precision = ASSAY__GOAL_PRECISION,
                                            .streams = 1,
                                            .capacity = ASSAY__RING_CAPACITY},
                                   .launch = 1,
                                   .launches = 1,
                                   .trial = 1,
                                   .worker = worker,
                                   .arena = arena};
}

int assay__launch_run(const struct assay__request *request, struct assay__outcome *outcome)
{
    struct assay__child child = {.pid = -1, .socket = -1};
    FILE *log = NULL;
    assay__outcome_init(outcome);
    struct assay__talk talk = {.request = request,
                               .outcome = outcome,
                               .phase = PHASE_STARTING,
                               .speed = assay__speed_unknown(),
                               .best = request->best,
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
    int summed = assay__talk_summarise(&talk);
    if (summed == 0) summed = assay__tokens_summarise(&outcome->tokens);
    if (summed && outcome->code == 0) {
        outcome->code = ASSAY_ENOMEM;
        outcome->reason = "out of memory for the statistics";
    }
    outcome->waited_s = talk.waited_s;
    outcome->speed = assay__speed_median(talk.speeds, talk.speed_count);
    assay__channel_close(&talk.channel);
    assay__ring_close(&talk.ring);
    if (log) fclose(log);
    return outcome->code;
}
