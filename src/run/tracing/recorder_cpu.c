/* recorder_cpu.c - where the program's threads are, a thousand times a second of their processor
 * time: the kernel takes the samples, a thread of ours folds them into a file (cpu_stacks.h).
 *
 * Stacks are found by frame pointers, which code must be built with; where it is not, a stack is
 * short, and how many are is counted. Recording by a signal or an NVTX range, which only the
 * process itself notices, is the CUDA recorder's alone: then nothing is sampled. */
#include "run/tracing/recorders.h"

#include "base/clock.h"
#include "base/no_memory.h"
#include "probe/perf_event.h"
#include "run/tracing/cpu_stacks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLICE_MS 100
#define FLUSH_NS 1000000000u
#define MAPS_FOLDER "/tmp" /* where programs put perf-PID.map, by convention */

struct recording {
    struct assay__perf_sampling *sampling;
    struct assay__perf_sampling_about about;
    struct assay__cpu_file file;
    struct assay__cpu_stacks stacks;
    pthread_t thread;
    bool has_thread;
    atomic_bool ends;
    uint64_t begin_ns, delay_ns, duration_ns; /* duration 0: to the end */
    int64_t unix_s, cost_ns;
};

/* --- the recorder's thread -------------------------------------------------------------------- */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Begins when the delay is over, ends when the duration is; *on is what is now. */
static void keep_time(struct recording *r, bool *on)
{
    uint64_t passed_ns = assay__now_ns() - r->begin_ns;
    bool due = passed_ns >= r->delay_ns &&
               (!r->duration_ns || passed_ns - r->delay_ns < r->duration_ns);
    if (due != *on) assay__perf_sampling_enable(r->sampling, due);
    *on = due;
}

static void *record(void *context)
{
    struct recording *r = context;
    uint64_t flushed_ns = r->begin_ns;
    bool on = !r->delay_ns;
    while (!atomic_load(&r->ends)) {
        assay__perf_sampling_wait(r->sampling, SLICE_MS);
        if (r->delay_ns || r->duration_ns) keep_time(r, &on);
        assay__perf_sampling_drain(r->sampling, assay__cpu_stacks_take, &r->stacks);
        if (assay__now_ns() - flushed_ns < FLUSH_NS) continue;
        assay__cpu_file_flush(&r->file); /* what was written survives us */
        flushed_ns = assay__now_ns();
    }
    assay__perf_sampling_drain(r->sampling, assay__cpu_stacks_take, &r->stacks);
    r->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

/* Signals are for the thread that waits for the program. */
static int start_thread(struct recording *r, struct assay_error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int reason = pthread_create(&r->thread, NULL, record, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    r->has_thread = !reason;
    return reason ? assay_error_set(error, ASSAY_EIO, "the CPU is not sampled: no thread: %s",
                                    strerror(reason))
                  : 0;
}

/* --- beginning -------------------------------------------------------------------------------- */

static int refuse(const struct assay__tracing *tracing, int code, const char *reason,
                  struct assay_error *error)
{
    if (code == ASSAY_EDENIED) reason = assay__perf_permission_reason(tracing->arena);
    return assay_error_set(error, code, "the CPU is not sampled: %s", reason);
}

static void put_begin(struct recording *r, unsigned rate_hz, pid_t pid)
{
    struct assay__cpu_begin begin = {.unix_ns = clock_ns(CLOCK_REALTIME),
                                     .monotonic_ns = clock_ns(CLOCK_MONOTONIC),
                                     .rate_hz = rate_hz,
                                     .event = r->about.is_cycles ? ASSAY__CPU_CYCLES
                                                                 : ASSAY__CPU_CLOCK,
                                     .has_kernel = r->about.has_kernel,
                                     .pid = (uint32_t)pid};
    r->unix_s = begin.unix_ns / 1000000000;
    assay__cpu_file_put(&r->file, ASSAY__CPU_BEGIN, &begin, sizeof begin);
}

static int begin(struct assay__tracing *tracing, struct recording *r, pid_t pid,
                 struct assay_error *error)
{
    const struct assay__tracing_options *o = tracing->options;
    struct assay__perf_sampling_options want = {
        .pid = pid, .rate_hz = o->cpu_rate_hz, .is_paused = o->delay_s > 0};
    const char *path = assay__arena_text(tracing->arena, "%s/threads.samples", tracing->folder);
    struct assay_error reason = {0};
    r->begin_ns = assay__now_ns();
    r->delay_ns = (uint64_t)(o->delay_s * 1e9);
    r->duration_ns = (uint64_t)(o->duration_s * 1e9);
    int code = assay__perf_sampling_open(&want, &r->sampling, &r->about, &reason);
    if (!code) code = assay__cpu_file_open(&r->file, path, &reason);
    if (code) return refuse(tracing, code, reason.message, error);
    put_begin(r, o->cpu_rate_hz, pid);
    assay__cpu_stacks_begin(&r->stacks, &r->file);
    return start_thread(r, error);
}

static void release(struct recording *r)
{
    assay__perf_sampling_close(r->sampling);
    assay__cpu_file_close(&r->file);
    assay__cpu_stacks_free(&r->stacks);
    free(r);
}

static int attach(struct assay__tracing *tracing, pid_t pid, void **state,
                  struct assay_error *error)
{
    const struct assay__tracing_options *o = tracing->options;
    if (!o->cpu_rate_hz) return 0;
    if (o->range || o->signal)
        return assay_error_set(error, ASSAY_EUNSUPPORTED,
                               "the CPU is not sampled: a %s begins and ends only what is "
                               "recorded of the GPU",
                               o->range ? "range" : "signal");
    struct recording *r = calloc(1, sizeof *r);
    int code = r ? begin(tracing, r, pid, error) : assay__no_memory(error);
    if (!code)
        *state = r;
    else if (r)
        release(r);
    return code;
}

/* --- ending ----------------------------------------------------------------------------------- */

static void put_end(struct recording *r)
{
    const struct assay__cpu_counts *counts = &r->stacks.counts;
    struct assay__cpu_end end = {.running_ns = assay__perf_sampling_running_ns(r->sampling),
                                 .weight = counts->weight,
                                 .samples = counts->samples,
                                 .kept = counts->kept,
                                 .lost = counts->lost,
                                 .shallow = counts->shallow,
                                 .cut = counts->cut,
                                 .cost_ns = r->cost_ns,
                                 .elapsed_ns = (int64_t)(assay__now_ns() - r->begin_ns)};
    assay__cpu_file_flush(&r->file);
    assay__cpu_names_write(&r->stacks, MAPS_FOLDER, r->unix_s);
    assay__cpu_file_put(&r->file, ASSAY__CPU_END, &end, sizeof end);
    assay__cpu_file_flush(&r->file);
}

static void detach(struct assay__tracing *tracing, void *state)
{
    struct recording *r = state;
    if (!r) return;
    atomic_store(&r->ends, true);
    if (r->has_thread) pthread_join(r->thread, NULL);
    put_end(r);
    if (r->file.reason)
        assay__tracing_say(tracing,
                           "the samples of the CPU could not be written: %s; those before "
                           "that are kept",
                           strerror(r->file.reason));
    else if (assay__cpu_stacks_failed(&r->stacks))
        assay__tracing_say(tracing, "memory ran out while the CPU was sampled: some of it is "
                                    "missing");
    release(r);
}

const struct assay__recorder assay__recorder_cpu = {
    .name = "cpu", .attach = attach, .detach = detach};
