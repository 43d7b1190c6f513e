/* streams.c - the threads that keep several requests in flight. A window is a generation: the
 * caller publishes the work and wakes the threads; each warms up, waits until all are ready, then
 * runs its loop. Locks are taken only between windows, never inside one. */
#include "run/worker/streams.h"

#include "base/clock.h"
#include "base/no_memory.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum work { WORK_PRERUN, WORK_WINDOW, WORK_EXIT };

struct lane {
    struct assay__streams *owner;
    struct assay__loop loop;
    pthread_t thread;
    bool started;
    size_t limit, done;
    int code;
};

struct assay__streams {
    pthread_mutex_t lock;
    pthread_cond_t wake, ready, finished;
    uint64_t generation;
    int waiting, running;
    enum work work;
    int64_t forced;
    double seconds;
    int rewarm;
    int count;
    assay__edge_fn *edge; /* NULL: none */
    void *edge_context;
    uint64_t spent_ns;
    struct lane lanes[];
};

static void notify_edge(struct assay__streams *streams, bool begins)
{
    if (streams->edge && streams->work == WORK_WINDOW) streams->edge(streams->edge_context, begins);
}

/* All threads of a generation start together. */
static void rendezvous(struct assay__streams *streams)
{
    if (streams->count == 1) {
        notify_edge(streams, true);
        return;
    }
    pthread_mutex_lock(&streams->lock);
    if (--streams->waiting == 0) {
        notify_edge(streams, true);
        pthread_cond_broadcast(&streams->ready);
    } else
        while (streams->waiting > 0)
            pthread_cond_wait(&streams->ready, &streams->lock);
    pthread_mutex_unlock(&streams->lock);
}

static void run_lane(struct assay__streams *streams, struct lane *lane)
{
    const struct assay__loop *loop = &lane->loop;
    lane->done = 0;
    lane->code = 0;
    atomic_store_explicit(loop->count, 0, memory_order_release);
    if (streams->work == WORK_PRERUN) {
        rendezvous(streams);
        lane->code = assay__loop_prerun(loop, streams->forced, &lane->done);
        return;
    }
    /* The caches went cold while the parent stored the last window: run a few untimed steps. */
    for (int i = 0; i < streams->rewarm && lane->code == 0; i++)
        lane->code = loop->step(loop->session, loop->stream);
    rendezvous(streams);
    if (lane->code || lane->limit == 0) return;
    uint64_t deadline = ASSAY__LOOP_NO_DEADLINE;
    if (isfinite(streams->seconds))
        deadline = assay__loop_now(loop) + (uint64_t)(streams->seconds * 1e9);
    lane->code = assay__loop_run(loop, lane->limit, deadline, &lane->done);
}

static void *thread_main(void *argument)
{
    struct lane *lane = argument;
    struct assay__streams *streams = lane->owner;
    uint64_t seen = 0;
    for (;;) {
        pthread_mutex_lock(&streams->lock);
        while (streams->generation == seen)
            pthread_cond_wait(&streams->wake, &streams->lock);
        seen = streams->generation;
        bool leave = streams->work == WORK_EXIT;
        pthread_mutex_unlock(&streams->lock);
        if (leave) return NULL;
        run_lane(streams, lane);
        pthread_mutex_lock(&streams->lock);
        if (--streams->running == 0) pthread_cond_signal(&streams->finished);
        pthread_mutex_unlock(&streams->lock);
    }
}

static int run_all(struct assay__streams *streams, enum work work, size_t *done)
{
    uint64_t start = assay__now_ns();
    streams->work = work;
    if (streams->count == 1) {
        run_lane(streams, &streams->lanes[0]);
    } else {
        pthread_mutex_lock(&streams->lock);
        streams->waiting = streams->running = streams->count;
        streams->generation++;
        pthread_cond_broadcast(&streams->wake);
        while (streams->running > 0)
            pthread_cond_wait(&streams->finished, &streams->lock);
        pthread_mutex_unlock(&streams->lock);
    }
    notify_edge(streams, false);
    streams->spent_ns += assay__now_ns() - start;
    int code = 0;
    size_t sum = 0;
    for (int i = 0; i < streams->count; i++) {
        sum += streams->lanes[i].done;
        if (code == 0) code = streams->lanes[i].code;
    }
    if (done) *done = sum;
    return code;
}

int assay__streams_start(const struct assay__engine_ops *engine, struct assay__session *session,
                         const struct assay__ring *ring, struct assay__streams **out,
                         struct assay_error *error)
{
    *out = NULL;
    struct assay__streams *streams = calloc(1,
                                            sizeof *streams + ring->streams * sizeof(struct lane));
    if (!streams) return assay__no_memory(error);
    streams->count = (int)ring->streams;
    pthread_mutex_init(&streams->lock, NULL);
    pthread_cond_init(&streams->wake, NULL);
    pthread_cond_init(&streams->ready, NULL);
    pthread_cond_init(&streams->finished, NULL);
    for (int i = 0; i < streams->count; i++) {
        struct lane *lane = &streams->lanes[i];
        uint32_t stream = (uint32_t)i;
        lane->owner = streams;
        lane->loop = (struct assay__loop){engine->step,
                                          engine->now_ns,
                                          session,
                                          i,
                                          assay__ring_stamps(ring, stream),
                                          (size_t)ring->capacity,
                                          assay__ring_count(ring, stream)};
        if (streams->count == 1) break;
        int failed = pthread_create(&lane->thread, NULL, thread_main, lane);
        if (failed) {
            assay__streams_stop(streams);
            return assay_error_set(error, ASSAY_ELIMIT, "cannot start thread %d of %u: %s", i + 1,
                                   ring->streams, strerror(failed));
        }
        lane->started = true;
    }
    *out = streams;
    return 0;
}

int assay__streams_prerun(struct assay__streams *streams, int64_t forced, size_t *done)
{
    streams->forced = forced;
    return run_all(streams, WORK_PRERUN, done);
}

int assay__streams_window(struct assay__streams *streams, size_t iterations, double seconds,
                          int rewarm)
{
    size_t each = iterations / (size_t)streams->count, rest = iterations % (size_t)streams->count;
    for (int i = 0; i < streams->count; i++)
        streams->lanes[i].limit = each + ((size_t)i < rest);
    streams->seconds = seconds;
    streams->rewarm = rewarm;
    return run_all(streams, WORK_WINDOW, NULL);
}

void assay__streams_edges(struct assay__streams *streams, assay__edge_fn *edge, void *context)
{
    streams->edge = edge;
    streams->edge_context = context;
}

uint64_t assay__streams_spent_ns(const struct assay__streams *streams)
{
    return streams ? streams->spent_ns : 0;
}

void assay__streams_stop(struct assay__streams *streams)
{
    if (!streams) return;
    pthread_mutex_lock(&streams->lock);
    streams->work = WORK_EXIT;
    streams->generation++;
    pthread_cond_broadcast(&streams->wake);
    pthread_mutex_unlock(&streams->lock);
    for (int i = 0; i < streams->count; i++)
        if (streams->lanes[i].started) pthread_join(streams->lanes[i].thread, NULL);
    pthread_cond_destroy(&streams->finished);
    pthread_cond_destroy(&streams->ready);
    pthread_cond_destroy(&streams->wake);
    pthread_mutex_destroy(&streams->lock);
    free(streams);
}
