/* posix_guard.c - a thread that may be abandoned. Whichever finishes second, the waiting thread or
 * the working one, frees what they share. The limit is measured by the monotonic clock; the wait on
 * the condition is cut into slices, because the condition's own clock may be set by the user. */
#include "platform/guard.h"

#include "base/clock.h"

#include <assay/error.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define SLICE_NS 50000000u

struct guard {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*work)(void *context);
    void (*drop)(void *context);
    void *context;
    bool done, lost;
};

static void guard_free(struct guard *guard)
{
    pthread_cond_destroy(&guard->changed);
    pthread_mutex_destroy(&guard->lock);
    free(guard);
}

static void *guard_main(void *argument)
{
    struct guard *guard = argument;
    guard->work(guard->context);
    pthread_mutex_lock(&guard->lock);
    guard->done = true;
    bool lost = guard->lost;
    pthread_cond_signal(&guard->changed);
    pthread_mutex_unlock(&guard->lock);
    if (!lost) return NULL; /* the waiting one joins and frees */
    guard->drop(guard->context);
    guard_free(guard);
    return NULL;
}

/* Under the lock: true when the work is done before the limit. */
static bool wait_done(struct guard *guard, uint64_t limit_ns)
{
    uint64_t begin_ns = assay__now_ns();
    while (!guard->done) {
        uint64_t passed_ns = assay__now_ns() - begin_ns;
        if (passed_ns >= limit_ns) return false;
        uint64_t rest_ns = limit_ns - passed_ns < SLICE_NS ? limit_ns - passed_ns : SLICE_NS;
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)rest_ns;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&guard->changed, &guard->lock, &until);
    }
    return true;
}

int assay__guard_run(void (*work)(void *context), void (*drop)(void *context), void *context,
                     uint64_t limit_ns)
{
    pthread_t thread;
    sigset_t all, before;
    struct guard *guard = malloc(sizeof *guard);
    if (guard)
        *guard = (struct guard){.lock = PTHREAD_MUTEX_INITIALIZER,
                                .changed = PTHREAD_COND_INITIALIZER,
                                .work = work,
                                .drop = drop,
                                .context = context};
    /* Signals (Ctrl-C) are left to the threads that handle them. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = guard && pthread_create(&thread, NULL, guard_main, guard) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started) {
        if (guard) guard_free(guard);
        work(context);
        return 0;
    }
    pthread_mutex_lock(&guard->lock);
    bool done = wait_done(guard, limit_ns);
    guard->lost = !done;
    pthread_mutex_unlock(&guard->lock);
    if (!done) {
        pthread_detach(thread);
        return ASSAY_ETIMEOUT;
    }
    pthread_join(thread, NULL);
    guard_free(guard);
    return 0;
}
