/* crew.c - threads that measure together. Between runs they sleep, so that a measurement on one
 * core has the others quiet. A run wakes them, they meet at a barrier of spinning, and each reads
 * the clock before and after its work.
 *
 * Windows are short (2 ms): on a machine that does other work too, some of them fall into a moment
 * without it, and the best is what counts. Steps are chosen per thread from that thread's own best
 * time, so that slower cores (efficiency cores) get less work and all end together; the rate is the
 * sum of all steps over the time from the first start to the last end. */
#include "ceiling/crew.h"
#include "base/clock.h"
#include "base/stats.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_NS 2000000
#define MOST_REPEATS 256
#define LEAST_REPEATS 3
#define SPINS_BEFORE_YIELD 2000

struct member {
    _Alignas(128) struct assay__crew *crew;
    struct assay__cpu_place place;
    pthread_t thread;
    size_t index;
    uint64_t steps, start_ns, end_ns;
    double step_ns; /* best so far in this measurement */
};

struct assay__crew {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    uint64_t round;
    size_t count, started, finished, unpinned;
    bool quit;
    assay__crew_work *work;
    void *context;
    _Alignas(128) atomic_size_t ready;
    struct member *members;
};

static void *member_main(void *argument)
{
    struct member *member = argument;
    struct assay__crew *crew = member->crew;
    uint64_t round = 0;
    bool placed = assay__thread_place(&member->place);
    pthread_mutex_lock(&crew->lock);
    if (!placed) crew->unpinned++;
    crew->finished++; /* the leader waits for everyone to be in place */
    pthread_cond_signal(&crew->done);
    for (;;) {
        while (crew->round == round && !crew->quit)
            pthread_cond_wait(&crew->wake, &crew->lock);
        if (crew->quit) break;
        round = crew->round;
        pthread_mutex_unlock(&crew->lock);
        atomic_fetch_add(&crew->ready, 1);
        for (unsigned spins = 0; atomic_load(&crew->ready) < crew->count; spins++)
            if (spins > SPINS_BEFORE_YIELD) sched_yield();
        member->start_ns = assay__now_ns();
        crew->work(crew->context, member->index, member->steps);
        member->end_ns = assay__now_ns();
        pthread_mutex_lock(&crew->lock);
        crew->finished++;
        pthread_cond_signal(&crew->done);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static void wait_for_all(struct assay__crew *crew, size_t count)
{
    while (crew->finished < count)
        pthread_cond_wait(&crew->done, &crew->lock);
}

int assay__crew_new(const struct assay__cpu_place *places, size_t count, struct assay__crew **out,
                    struct assay_error *error)
{
    void *memory = NULL, *members = NULL;
    *out = NULL;
    if (posix_memalign(&memory, 128, sizeof(struct assay__crew)) != 0 ||
        posix_memalign(&members, 128, count * sizeof(struct member)) != 0) {
        free(memory);
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    }
    struct assay__crew *crew = memory;
    memset(crew, 0, sizeof *crew);
    memset(members, 0, count * sizeof(struct member));
    crew->members = members;
    crew->count = count;
    atomic_init(&crew->ready, 0);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->wake, NULL);
    pthread_cond_init(&crew->done, NULL);
    for (; crew->started < count; crew->started++) {
        struct member *member = &crew->members[crew->started];
        member->crew = crew;
        member->index = crew->started;
        member->place = places[crew->started];
        int failed = pthread_create(&member->thread, NULL, member_main, member);
        if (failed) {
            assay__crew_free(crew);
            return assay_error_set(error, ASSAY_ELIMIT, "cannot start thread %zu of %zu: %s",
                                   member->index + 1, count, strerror(failed));
        }
    }
    pthread_mutex_lock(&crew->lock);
    wait_for_all(crew, count);
    pthread_mutex_unlock(&crew->lock);
    *out = crew;
    return 0;
}

void assay__crew_free(struct assay__crew *crew)
{
    if (!crew) return;
    pthread_mutex_lock(&crew->lock);
    crew->quit = true;
    pthread_cond_broadcast(&crew->wake);
    pthread_mutex_unlock(&crew->lock);
    for (size_t i = 0; i < crew->started; i++)
        pthread_join(crew->members[i].thread, NULL);
    pthread_cond_destroy(&crew->wake);
    pthread_cond_destroy(&crew->done);
    pthread_mutex_destroy(&crew->lock);
    free(crew->members);
    free(crew);
}

size_t assay__crew_size(const struct assay__crew *crew)
{
    return crew->count;
}

bool assay__crew_pinned(const struct assay__crew *crew)
{
    return crew->unpinned == 0;
}

/* Runs what the members' `steps` say; first start to last end. */
static uint64_t run_round(struct assay__crew *crew, assay__crew_work *work, void *context)
{
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->context = context;
    crew->finished = 0;
    atomic_store(&crew->ready, 0);
    crew->round++;
    pthread_cond_broadcast(&crew->wake);
    wait_for_all(crew, crew->count);
    pthread_mutex_unlock(&crew->lock);
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < crew->count; i++) {
        if (crew->members[i].start_ns < first) first = crew->members[i].start_ns;
        if (crew->members[i].end_ns > last) last = crew->members[i].end_ns;
    }
    return last - first;
}

uint64_t assay__crew_run(struct assay__crew *crew, assay__crew_work *work, void *context,
                         const uint64_t *steps, uint64_t *own_ns)
{
    for (size_t i = 0; i < crew->count; i++)
        crew->members[i].steps = steps[i];
    uint64_t elapsed = run_round(crew, work, context);
    for (size_t i = 0; i < crew->count; i++)
        own_ns[i] = crew->members[i].end_ns - crew->members[i].start_ns;
    return elapsed;
}

/* --- repeats ---------------------------------------------------------------------------------- */

static void learn(struct assay__crew *crew)
{
    for (size_t i = 0; i < crew->count; i++) {
        struct member *member = &crew->members[i];
        double own = (double)(member->end_ns - member->start_ns) / (double)member->steps;
        if (own < member->step_ns) member->step_ns = own;
        double steps = WINDOW_NS / (member->step_ns > 1e-3 ? member->step_ns : 1e-3);
        member->steps = steps < 1 ? 1 : (uint64_t)steps;
    }
}

/* Doubles the steps until a tenth of a window is filled, which is enough to tell a step's time. */
static void calibrate(struct assay__crew *crew, assay__crew_work *work, void *context)
{
    uint64_t steps = 1, elapsed;
    for (size_t i = 0; i < crew->count; i++)
        crew->members[i].step_ns = INFINITY;
    do {
        for (size_t i = 0; i < crew->count; i++)
            crew->members[i].steps = steps;
        elapsed = run_round(crew, work, context);
        steps *= 2;
    } while (elapsed < WINDOW_NS / 10 && steps < UINT64_C(1) << 40);
    learn(crew);
}

int assay__crew_measure(struct assay__crew *crew, assay__crew_work *work, void *context,
                        uint64_t duration_ns, struct assay__rate *rate)
{
    double *rates = malloc(MOST_REPEATS * sizeof *rates);
    uint64_t begin = assay__now_ns();
    size_t count = 0;
    if (!rates) return ASSAY_ENOMEM;
    rate->clock_before_hz = assay__crew_clock_hz(crew);
    calibrate(crew, work, context);
    while (count < MOST_REPEATS &&
           (count < LEAST_REPEATS || assay__now_ns() - begin < duration_ns)) {
        double total = 0;
        for (size_t i = 0; i < crew->count; i++)
            total += (double)crew->members[i].steps;
        uint64_t elapsed = run_round(crew, work, context);
        if (elapsed > 0) rates[count++] = total * 1e9 / (double)elapsed;
        learn(crew);
    }
    rate->clock_after_hz = assay__crew_clock_hz(crew);
    assay__stats_sort(rates, count);
    rate->low = rates[0];
    rate->median = assay__stats_median(rates, count);
    rate->high = rates[count - 1];
    rate->repeats = (int)count;
    free(rates);
    return 0;
}

/* --- the clock -------------------------------------------------------------------------------- */

#define ADDITIONS 16

/* 16 additions, each needing the one before: 16 cycles on every core that has kernels here.
 * Register plus register, because some cores fold the addition of a constant into renaming. */
static void add_chain(void *context, size_t thread, uint64_t steps)
{
    (void)context;
    (void)thread;
    uint64_t sum = 0, one = 1;
    for (; steps; steps--) {
#if defined(__x86_64__)
        __asm__ volatile(".rept 16\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(one) : "cc");
#elif defined(__aarch64__)
        __asm__ volatile(".rept 16\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(one));
#else
        (void)one;
#endif
    }
}

double assay__crew_clock_hz(struct assay__crew *crew)
{
#if defined(__x86_64__) || defined(__aarch64__)
    const uint64_t steps = 4096;
    double total = 0;
    for (size_t i = 0; i < crew->count; i++)
        crew->members[i].step_ns = INFINITY;
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < crew->count; i++)
            crew->members[i].steps = steps;
        run_round(crew, add_chain, NULL);
        for (size_t i = 0; i < crew->count; i++) {
            struct member *member = &crew->members[i];
            double own = (double)(member->end_ns - member->start_ns) / (double)steps;
            if (own < member->step_ns) member->step_ns = own;
        }
    }
    for (size_t i = 0; i < crew->count; i++)
        total += ADDITIONS * 1e9 / crew->members[i].step_ns;
    return total / (double)crew->count;
#else
    (void)crew;
    (void)add_chain;
    return NAN;
#endif
}
