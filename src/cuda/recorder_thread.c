/* recorder_thread.c - the thread that writes: it sleeps until a buffer is full, a mark queue is
 * half full, a signal came, or the flush period is over. Everything that needs CUPTI's locks for
 * long (flushing) happens here, not on the program's threads. */
#include "cuda/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define FLUSH_MS 100    /* on an H200 no slower than 500, or than not at all */
#define MOST_DRAIN_S 30 /* a program must be able to leave though CUPTI hangs */

static pthread_t thread;
static bool running;
static sem_t wake;
static atomic_bool leaving, asked;
static atomic_uint toggles;
static uint32_t flush_ms;
static uint64_t begin_ns, stop_ns; /* of the monotonic clock; 0: not by time */
static uint64_t next_flush_ns;
/* a drain is done when `served` has reached the number it asked for */
static pthread_mutex_t drain_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t drained = PTHREAD_COND_INITIALIZER;
static uint64_t requested, served;
static struct assay__cuda_dropped reported;

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void writer_wake(void)
{
    int before = errno;
    if (!atomic_exchange(&asked, true)) sem_post(&wake); /* a storm of signals wakes it once */
    errno = before;
}

void writer_toggle(void)
{
    atomic_fetch_add(&toggles, 1);
    writer_wake();
}

/* --- one round -------------------------------------------------------------------------------- */

static void put_dropped(void)
{
    size_t count = 0;
    struct assay__cuda_trace_counts *counts = block_counts();
    if (cuda_cupti.ActivityGetNumDroppedRecords &&
        cuda_cupti.ActivityGetNumDroppedRecords(NULL, 0, &count) == CUPTI_OK)
        counts->dropped_by_cupti += count;
    counts->dropped_marks = marks_dropped();
    struct assay__cuda_dropped record = {.by_cupti = counts->dropped_by_cupti - reported.by_cupti,
                                         .by_writer = 0,
                                         .marks = counts->dropped_marks - reported.marks};
    if (!record.by_cupti && !record.marks) return;
    reported.by_cupti = counts->dropped_by_cupti;
    reported.marks = counts->dropped_marks;
    block_put(&record, sizeof record, ASSAY__CUDA_DROPPED);
}

static void write_queues(void)
{
    struct full_buffer buffer;
    size_t bytes;
    const unsigned char *data = marks_take(&bytes);
    if (data) convert_handed(data, bytes);
    while (buffers_take(&buffer)) {
        if (buffer.valid) convert_buffer(&buffer);
        buffers_give_back(&buffer);
    }
    put_dropped();
}

static void control(uint64_t now_ns)
{
    char why[WHY_BYTES];
    unsigned count = atomic_exchange(&toggles, 0);
    if (count & 1) {
        if (session_active())
            session_stop(why, sizeof why);
        else
            session_start(why, sizeof why);
    }
    if (begin_ns && now_ns >= begin_ns) {
        begin_ns = 0;
        session_start(why, sizeof why);
    }
    if (stop_ns && now_ns >= stop_ns) {
        stop_ns = 0;
        session_stop(why, sizeof why);
    }
}

static void flush_cupti(bool all)
{
    if (cuda_cupti.ActivityFlushAll) cuda_cupti.ActivityFlushAll(all ? CUPTI_FLUSH_FORCED : 0);
}

static void sleep_until(uint64_t time_ns)
{
    struct timespec now;
    uint64_t from_ns = monotonic_ns(), wait_ns = time_ns > from_ns ? time_ns - from_ns : 0;
    clock_gettime(CLOCK_REALTIME, &now);
    wait_ns += (uint64_t)now.tv_nsec;
    struct timespec end = {now.tv_sec + (time_t)(wait_ns / 1000000000u),
                           (long)(wait_ns % 1000000000u)};
    sem_timedwait(&wake, &end);
    atomic_store(&asked, false);
}

static uint64_t next_ns(void)
{
    uint64_t next = next_flush_ns;
    if (begin_ns && begin_ns < next) next = begin_ns;
    if (stop_ns && stop_ns < next) next = stop_ns;
    return next;
}

static void *work(void *data)
{
    (void)data;
    while (!atomic_load(&leaving)) {
        buffers_prepare();
        sleep_until(next_ns());
        pthread_mutex_lock(&drain_lock);
        uint64_t serving = requested;
        bool forced = serving > served;
        pthread_mutex_unlock(&drain_lock);
        uint64_t now_ns = monotonic_ns();
        control(now_ns);
        bool due = now_ns >= next_flush_ns;
        if (forced || due) flush_cupti(forced);
        if (due) next_flush_ns = now_ns + (uint64_t)flush_ms * 1000000u;
        write_queues();
        if (forced || due) block_flush();
        if (block_error() && session_active()) session_stop(NULL, 0);
        pthread_mutex_lock(&drain_lock);
        served = serving;
        pthread_cond_broadcast(&drained);
        pthread_mutex_unlock(&drain_lock);
    }
    return NULL;
}

/* --- from outside ----------------------------------------------------------------------------- */

int writer_open(const struct assay__cuda_trace_options *options)
{
    sigset_t all, before;
    uint64_t now_ns = monotonic_ns();
    static const pthread_mutex_t fresh_lock = PTHREAD_MUTEX_INITIALIZER;
    static const pthread_cond_t fresh_cond = PTHREAD_COND_INITIALIZER;
    drain_lock = fresh_lock; /* a forked child may have inherited them in any state */
    drained = fresh_cond;
    requested = served = 0;
    memset(&reported, 0, sizeof reported);
    atomic_store(&leaving, false);
    atomic_store(&asked, false);
    atomic_store(&toggles, 0);
    flush_ms = options->flush_ms ? options->flush_ms : FLUSH_MS;
    next_flush_ns = now_ns + (uint64_t)flush_ms * 1000000u;
    begin_ns = options->delay_ms ? now_ns + (uint64_t)options->delay_ms * 1000000u : 0;
    stop_ns = options->duration_ms
                  ? now_ns + ((uint64_t)options->delay_ms + options->duration_ms) * 1000000u
                  : 0;
    if (sem_init(&wake, 0, 0)) return -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    running = !pthread_create(&thread, NULL, work, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return running ? 0 : -1;
}

void writer_drain(void)
{
    struct timespec end;
    int result = 0;
    if (!running || pthread_equal(pthread_self(), thread)) return;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += MOST_DRAIN_S;
    pthread_mutex_lock(&drain_lock);
    uint64_t number = ++requested;
    pthread_mutex_unlock(&drain_lock);
    writer_wake();
    pthread_mutex_lock(&drain_lock);
    while (served < number && !result)
        result = pthread_cond_timedwait(&drained, &drain_lock, &end);
    pthread_mutex_unlock(&drain_lock);
}

void writer_close(void)
{
    if (!running) return;
    atomic_store(&leaving, true);
    atomic_store(&asked, false);
    writer_wake();
    pthread_join(thread, NULL);
    running = false;
    write_queues();
}
