/* session.c - one recording of this process, and the interface of base/cuda_trace.h.
 *
 * After a fork the child has no writer and CUDA does not work in it: its session is forgotten and
 * the file stays the parent's. A child that was forked before the parent used CUDA opens its own.
 */
#include "cuda/recorder.h"
#include "platform/demangle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of start and stop */
static struct assay__cuda_trace_options own;
static bool is_open;
static atomic_bool active;

const struct assay__cuda_trace_options *session_options(void)
{
    return is_open ? &own : NULL;
}

bool session_active(void)
{
    return atomic_load_explicit(&active, memory_order_relaxed);
}

/* --- start and stop --------------------------------------------------------------------------- */

/* Goes the way of the marks, because any thread may start or stop. */
static void put_state(enum assay__cuda_state_kind state)
{
    struct handed handed = {.type = ASSAY__CUDA_STATE,
                            .mark = {.time_ns = cupti_now_ns(), .kind = state}};
    marks_put(&handed, NULL, 0);
}

int session_start(char *why, size_t room)
{
    int code = 0;
    if (!is_open) {
        snprintf(why, room, "nothing is open");
        return -1;
    }
    pthread_mutex_lock(&lock);
    if (!session_active()) {
        code = cupti_kinds_enable(own.kinds, why, room);
        if (!code) put_state(ASSAY__CUDA_STATE_START);
        atomic_store(&active, !code);
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int session_stop(char *why, size_t room)
{
    (void)why, (void)room;
    if (!is_open) return 0;
    pthread_mutex_lock(&lock);
    if (session_active()) {
        cupti_kinds_disable(own.kinds);
        put_state(ASSAY__CUDA_STATE_STOP);
        atomic_store(&active, false);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

/* --- open and close --------------------------------------------------------------------------- */

static void command_line(char *text, size_t room)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t length = file ? fread(text, 1, room - 1, file) : 0;
    if (file) fclose(file);
    while (length && !text[length - 1])
        length--;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ') text[i] = ' ';
    text[length] = '\0';
}

static void put_process(void)
{
    char command[1024];
    struct timespec unix_time, monotonic;
    struct assay__cuda_process record = {.pid = (uint32_t)getpid(), .parent = (uint32_t)getppid()};
    clock_gettime(CLOCK_REALTIME, &unix_time);
    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    if (cuda_cupti.handle) {
        record.cupti_ns = (int64_t)cupti_now_ns();
        cuda_cupti.GetVersion(&record.cupti_version);
    }
    record.unix_ns = (int64_t)unix_time.tv_sec * 1000000000 + unix_time.tv_nsec;
    record.monotonic_ns = (int64_t)monotonic.tv_sec * 1000000000 + monotonic.tv_nsec;
    record.driver_version = cuda_driver_version();
    command_line(command, sizeof command);
    record.command = block_string(command);
    block_put(&record, sizeof record, ASSAY__CUDA_PROCESS);
}

void session_fail(const struct assay__cuda_trace_options *options, const char *why)
{
    char text[WHY_BYTES];
    struct assay__cuda_failure record = {0};
    if (block_open(options, text, sizeof text)) return;
    put_process();
    record.text = block_string(why);
    block_put(&record, sizeof record, ASSAY__CUDA_FAILURE);
    block_close();
}

static void forget_in_child(void)
{
    if (!is_open) return;
    is_open = false;
    atomic_store(&active, false);
    block_forget();
    convert_forget();
}

static int prepare(char *why, size_t room)
{
    static bool watches_forks;
    assay__demangle_by_loaded();
    if (cupti_open(why, room)) return -1;
    /* A subscription costs something in every call of CUDA. It is for callbacks, and keeps other
     * profilers out of a program that is not ours. */
    if ((own.file || own.kinds & ASSAY__CUDA_CALLS) && cupti_claim(why, room)) return -1;
    if (buffers_open(own.buffer_bytes, own.buffers) || marks_open()) {
        snprintf(why, room, "out of memory");
        return -1;
    }
    uint8_t zeroed = 1;
    size_t zeroed_bytes = sizeof zeroed; /* a CUPTI that does not know it clears them once more */
    cuda_cupti.ActivitySetAttribute(CUPTI_ATTRIBUTE_ZEROED_BUFFERS, &zeroed_bytes, &zeroed);
    int result = cuda_cupti.ActivityRegisterCallbacks(buffers_request, buffers_complete);
    if (result != CUPTI_OK) return cupti_complain(result, "its buffers", why, room);
    if (!watches_forks) watches_forks = !pthread_atfork(NULL, NULL, forget_in_child);
    return 0;
}

int session_open(const struct assay__cuda_trace_options *options, char *why, size_t room)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    if (is_open) {
        snprintf(why, room, "a recording is open already");
        return -1;
    }
    own = (struct assay__cuda_trace_options){0};
    memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    if (!own.kinds)
        own.kinds = ASSAY__CUDA_KERNELS | ASSAY__CUDA_COPIES | ASSAY__CUDA_SYNCS |
                    ASSAY__CUDA_CALLS;
    lock = fresh;
    if (prepare(why, room)) return -1;
    if (block_open(&own, why, room)) goto refused;
    put_process();
    is_open = true;
    nvtx_trigger(own.nvtx);
    if (writer_open(&own)) {
        snprintf(why, room, "no thread could be started");
        goto refused;
    }
    if (own.paused || own.delay_ms || own.nvtx || own.signal) return 0;
    if (!session_start(why, room)) return 0;
    writer_close();
refused:
    is_open = false;
    if (block_error())
        block_close(); /* what is there shows that the disk is full */
    else
        block_drop();
    cupti_release();
    return -1;
}

void session_close(void)
{
    struct assay__cuda_state end = {.state = ASSAY__CUDA_STATE_END};
    if (!is_open) return;
    writer_drain(); /* before recording stops: then nothing that has run is lost */
    session_stop(NULL, 0);
    writer_drain();
    writer_close();
    is_open = false;
    end.time_ns = cupti_now_ns();
    block_put(&end, sizeof end, ASSAY__CUDA_STATE);
    block_close();
    convert_forget();
    marks_close();
    buffers_close();
    cupti_release();
}

/* --- the interface ---------------------------------------------------------------------------- */

static int flush(char *why, size_t room)
{
    (void)why, (void)room;
    if (is_open) writer_drain();
    return 0;
}

static int push(uint64_t id)
{
    return is_open && cuda_cupti.ActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CUSTOM0, id) ==
                          CUPTI_OK
               ? 0
               : -1;
}

static int pop(void)
{
    uint64_t last;
    return is_open && cuda_cupti.ActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CUSTOM0, &last) ==
                          CUPTI_OK
               ? 0
               : -1;
}

static void read_counts(struct assay__cuda_trace_counts *counts)
{
    *counts = *block_counts();
}

const struct assay__cuda_trace_api *assay_cuda_trace(void);

__attribute__((visibility("default"))) const struct assay__cuda_trace_api *assay_cuda_trace(void)
{
    static const struct assay__cuda_trace_api api = {.abi = ASSAY__CUDA_TRACE_ABI,
                                                     .size = sizeof api,
                                                     .open = session_open,
                                                     .start = session_start,
                                                     .stop = session_stop,
                                                     .flush = flush,
                                                     .push = push,
                                                     .pop = pop,
                                                     .counts = read_counts,
                                                     .close = session_close,
                                                     .now_ns = cupti_now_ns};
    return &api;
}
