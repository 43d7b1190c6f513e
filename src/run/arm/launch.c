/* launch.c - starts a worker, waits for it and reports how it ended; conversation.c reads what the
 * worker says. While a window runs the parent is blocked in poll(); between windows it copies the
 * samples out of the ring, stores them and decides what comes next. */
#include "run/arm/launch.h"

#include "base/clock.h"
#include "base/metric_value.h"
#include "run/child.h"
#include "run/arm/conversation.h"
#include "run/watch/watch.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define EXIT_GRACE_NS 10000000000u /* an engine may take its time to close a session */
#define INTERRUPT_POLL_MS \
    500 /* a signal ends poll() at once; this is for one that came just before it */
#define LOG_TAIL 2048

static double cpu_seconds(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage)) return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

void assay__outcome_init(struct assay__outcome *outcome)
{
    *outcome = (struct assay__outcome){
        .reason = "", .remark = "", .log_tail = "", .layers = assay__layers_unknown()};
    assay__fields_unknown(&assay__message_facts, &outcome->facts);
    assay__fields_unknown(&assay__message_memory, &outcome->memory);
    assay__fields_unknown(&assay__message_spent, &outcome->spent);
}

void assay__outcome_free(struct assay__outcome *outcome)
{
    for (int s = 0; outcome->streams && !outcome->borrowed && s < outcome->stream_count; s++)
        assay__samples_free(&outcome->streams[s]);
    free(outcome->streams);
    free(outcome->windows);
    free(outcome->layers.items);
    assay__tokens_free(&outcome->tokens);
    outcome->streams = NULL;
    outcome->windows = NULL;
    outcome->layers.items = NULL;
}

/* --- how it ended ----------------------------------------------------------------------------- */

static void describe_exit(const struct assay__conversation *talk, char *out, size_t size)
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
static void explain(struct assay__conversation *talk)
{
    struct assay__outcome *outcome = talk->outcome;
    char what[768];
    if (talk->error.code == ASSAY_ECRASH)
        describe_exit(talk, what, sizeof what);
    else
        snprintf(what, sizeof what, "%s", talk->error.message);
    /* The log helps where the worker could not report an error itself. */
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

static void end_worker(struct assay__conversation *talk, struct assay__child *child, FILE *log)
{
    struct assay__outcome *outcome = talk->outcome;
    if (talk->error.code && talk->error.code != ASSAY_ECRASH && !talk->worker_leaves)
        assay__process_kill(child, SIGKILL);
    bool killed;
    outcome->exit_known = assay__child_end(child, EXIT_GRACE_NS, &outcome->exit, &killed) == 0;
    if (killed) outcome->remark = "the worker did not exit by itself and was killed";
    /* What the worker had measured in an unfinished window is in our mapping. */
    if (talk->error.code && strcmp(talk->phase, ASSAY__PHASE_MEASURING) == 0)
        assay__conversation_take(talk);
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
    if (strcmp(talk->phase, ASSAY__PHASE_LAYERS) == 0 && outcome->total > 0 &&
        talk->error.code != ASSAY_EINTERRUPTED) {
        outcome->layers.count = 0;
        outcome->layers.method = "";
        outcome->layers.reason = outcome->remark = outcome->reason;
        outcome->has_layers = true;
        outcome->reason = "";
        outcome->code = 0;
    }
}

/* --- the conversation ------------------------------------------------------------------------- */

static int converse(struct assay__conversation *talk)
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
                                   "the launch took more than %g s; ended there", request->limit_s);
        double left_ms = request->limit_s > 0 ? fmin(silence_ms, whole_ms) : silence_ms;
        int wait_ms = left_ms < 1 ? 1 : left_ms < most_ms ? (int)ceil(left_ms) : most_ms;
        int code = assay__channel_read(&talk->channel, wait_ms, &line, &length);
        if (code == ASSAY_EINTERRUPTED) continue;
        if (code == ASSAY_ETIMEOUT) { /* alive when the counts in the ring move */
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
        assay__conversation_hear(talk, line, length);
        last_ns = assay__now_ns();
    }
    return talk->error.code;
}

static int start(struct assay__conversation *talk, struct assay__child *child, FILE **log)
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

static int send_job(struct assay__conversation *talk)
{
    struct assay__buf line = {0};
    assay__job_write(&talk->request->job, &line);
    int code = assay__channel_send(&talk->channel, &line, 30000);
    assay__buf_free(&line);
    if (code == ASSAY_EIO) return 0; /* it is gone: what it said before is still to be read */
    return code ? assay_error_set(&talk->error, code, "worker does not take its job") : 0;
}

int assay__launch_run(const struct assay__request *request, struct assay__outcome *outcome)
{
    struct assay__child child = {.pid = -1, .socket = -1};
    FILE *log = NULL;
    assay__outcome_init(outcome);
    struct assay__conversation talk = {.request = request,
                                       .outcome = outcome,
                                       .phase = ASSAY__PHASE_STARTING,
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
        assay__watch_started(request->watch, request->launch, child.pid);
        if (send_job(&talk) == 0) converse(&talk);
        assay__watch_ended(request->watch, request->launch);
        end_worker(&talk, &child, log);
    }
    assay__disturbance_read(&outcome->after);
    outcome->life_s = (double)(assay__now_ns() - begin) / 1e9;
    outcome->parent_cpu_s = cpu_seconds() - cpu;
    int summed = assay__conversation_summarise(&talk);
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

/* --- a launch of an earlier capture ----------------------------------------------------------- */

/* Seconds of a metric in ns. */
static double time_of(const struct assay__launch *launch, const char *name)
{
    return assay__metrics_value(launch->metrics, name) * 1e9;
}

int assay__outcome_restore(const struct assay__launch *launch, bool find_warmup,
                           struct assay__outcome *outcome)
{
    assay__outcome_init(outcome);
    outcome->borrowed = true;
    outcome->code = launch->state == ASSAY__TRIAL_OK ? 0 : ASSAY_ECRASH;
    outcome->reason = launch->reason ? launch->reason : "";
    outcome->log_tail = launch->log_tail ? launch->log_tail : "";
    outcome->stream_count = launch->streams;
    outcome->wall_ns = launch->wall_ns;
    outcome->facts.load_ns = time_of(launch, "timing.load");
    outcome->facts.compile_ns = time_of(launch, "timing.compile");
    outcome->facts.create_ns = time_of(launch, "timing.session");
    outcome->facts.first_ns = time_of(launch, "timing.first");
    outcome->memory.baseline = assay__metrics_value(launch->metrics, "memory.baseline.worker");
    outcome->memory.peak = outcome->memory.baseline +
                           assay__metrics_value(launch->metrics, "memory.peak.worker");
    outcome->memory.pss = assay__metrics_value(launch->metrics, "memory.pss.worker");
    outcome->memory.arena_peak = assay__metrics_value(launch->metrics, "memory.activation.arena");
    if (launch->sample_count && launch->streams > 0 && launch->stream_offsets) {
        outcome->streams = calloc((size_t)launch->streams, sizeof *outcome->streams);
        if (!outcome->streams) return ASSAY_ENOMEM;
        for (int s = 0; s < launch->streams; s++) {
            size_t first = launch->stream_offsets[s], count = launch->stream_offsets[s + 1] - first;
            outcome->streams[s] = (struct assay__samples){launch->samples_ns + first, count, count};
        }
        outcome->total = outcome->summarised = launch->sample_count;
    }
    return assay__summary_compute(outcome->streams, outcome->streams ? launch->streams : 0,
                                  find_warmup, true, NAN, &outcome->summary);
}
