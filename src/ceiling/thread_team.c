/* thread_team.c - threads that measure together. Between runs they sleep, so that the other cores
 * are quiet during a measurement on one. A run wakes them, they synchronise at a spin barrier, and
 * each reads the clock before and after its work.
 *
 * Windows are short (2 ms): on a machine that also does other work, some of them are undisturbed,
 * and only the best counts. Steps are chosen per thread from that thread's own best time, so that
 * slower cores (efficiency cores) get less work and all end together; the rate is the sum of all
 * steps over the time from the first start to the last end. */
#include "ceiling/thread_team.h"
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
    _Alignas(128) struct assay__thread_team *team;
    struct assay__cpu_place place;
    pthread_t thread;
    size_t index;
    uint64_t steps, start_ns, end_ns;
    double step_ns; /* best so far in this measurement */
};

struct assay__thread_team {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    uint64_t round;
    size_t count, started, finished, unpinned;
    bool quit;
    assay__thread_team_work *work;
    void *context;
    _Alignas(128) atomic_size_t ready;
    struct member *members;
};

static void *member_main(void *argument)
{
    struct member *member = argument;
    struct assay__thread_team *team = member->team;
    uint64_t round = 0;
    bool placed = assay__thread_place(&member->place);
    pthread_mutex_lock(&team->lock);
    if (!placed) team->unpinned++;
    team->finished++; /* the leader waits for everyone to be in place */
    pthread_cond_signal(&team->done);
    for (;;) {
        while (team->round == round && !team->quit)
            pthread_cond_wait(&team->wake, &team->lock);
        if (team->quit) break;
        round = team->round;
        pthread_mutex_unlock(&team->lock);
        atomic_fetch_add(&team->ready, 1);
        for (unsigned spins = 0; atomic_load(&team->ready) < team->count; spins++)
            if (spins > SPINS_BEFORE_YIELD) sched_yield();
        member->start_ns = assay__now_ns();
        team->work(team->context, member->index, member->steps);
        member->end_ns = assay__now_ns();
        pthread_mutex_lock(&team->lock);
        team->finished++;
        pthread_cond_signal(&team->done);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

static void wait_for_all(struct assay__thread_team *team, size_t count)
{
    while (team->finished < count)
        pthread_cond_wait(&team->done, &team->lock);
}

int assay__thread_team_new(const struct assay__cpu_place *places, size_t count,
                           struct assay__thread_team **out, struct assay_error *error)
{
    void *memory = NULL, *members = NULL;
    *out = NULL;
    if (posix_memalign(&memory, 128, sizeof(struct assay__thread_team)) != 0 ||
        posix_memalign(&members, 128, count * sizeof(struct member)) != 0) {
        free(memory);
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    }
    struct assay__thread_team *team = memory;
    memset(team, 0, sizeof *team);
    memset(members, 0, count * sizeof(struct member));
    team->members = members;
    team->count = count;
    atomic_init(&team->ready, 0);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    pthread_cond_init(&team->done, NULL);
    for (; team->started < count; team->started++) {
        struct member *member = &team->members[team->started];
        member->team = team;
        member->index = team->started;
        member->place = places[team->started];
        int failed = pthread_create(&member->thread, NULL, member_main, member);
        if (failed) {
            assay__thread_team_free(team);
            return assay_error_set(error, ASSAY_ELIMIT, "cannot start thread %zu of %zu: %s",
                                   member->index + 1, count, strerror(failed));
        }
    }
    pthread_mutex_lock(&team->lock);
    wait_for_all(team, count);
    pthread_mutex_unlock(&team->lock);
    *out = team;
    return 0;
}

void assay__thread_team_free(struct assay__thread_team *team)
{
    if (!team) return;
    pthread_mutex_lock(&team->lock);
    team->quit = true;
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
    for (size_t i = 0; i < team->started; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->wake);
    pthread_cond_destroy(&team->done);
    pthread_mutex_destroy(&team->lock);
    free(team->members);
    free(team);
}

size_t assay__thread_team_size(const struct assay__thread_team *team)
{
    return team->count;
}

bool assay__thread_team_pinned(const struct assay__thread_team *team)
{
    return team->unpinned == 0;
}

/* Runs the members' `steps`; first start to last end. */
static uint64_t run_round(struct assay__thread_team *team, assay__thread_team_work *work,
                          void *context)
{
    pthread_mutex_lock(&team->lock);
    team->work = work;
    team->context = context;
    team->finished = 0;
    atomic_store(&team->ready, 0);
    team->round++;
    pthread_cond_broadcast(&team->wake);
    wait_for_all(team, team->count);
    pthread_mutex_unlock(&team->lock);
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < team->count; i++) {
        if (team->members[i].start_ns < first) first = team->members[i].start_ns;
        if (team->members[i].end_ns > last) last = team->members[i].end_ns;
    }
    return last - first;
}

uint64_t assay__thread_team_run(struct assay__thread_team *team, assay__thread_team_work *work,
                                void *context, const uint64_t *steps, uint64_t *own_ns)
{
    for (size_t i = 0; i < team->count; i++)
        team->members[i].steps = steps[i];
    uint64_t elapsed = run_round(team, work, context);
    for (size_t i = 0; i < team->count; i++)
        own_ns[i] = team->members[i].end_ns - team->members[i].start_ns;
    return elapsed;
}

/* --- repeats ---------------------------------------------------------------------------------- */

static void learn(struct assay__thread_team *team)
{
    for (size_t i = 0; i < team->count; i++) {
        struct member *member = &team->members[i];
        double own = (double)(member->end_ns - member->start_ns) / (double)member->steps;
        if (own < member->step_ns) member->step_ns = own;
        double steps = WINDOW_NS / (member->step_ns > 1e-3 ? member->step_ns : 1e-3);
        member->steps = steps < 1 ? 1 : (uint64_t)steps;
    }
}

int assay__thread_team_measure(struct assay__thread_team *team, assay__thread_team_work *work,
                               void *context, uint64_t duration_ns, struct assay__rate *rate)
{
    double *rates = malloc(MOST_REPEATS * sizeof *rates);
    uint64_t begin = assay__now_ns();
    size_t count = 0;
    if (!rates) return ASSAY_ENOMEM;
    rate->clock_before_hz = assay__thread_team_clock_hz(team);
    for (size_t i = 0; i < team->count; i++)
        team->members[i].step_ns = INFINITY;
    uint64_t steps = 1, first; /* doubled until a tenth of a window is long enough to time a step */
    do {
        for (size_t i = 0; i < team->count; i++)
            team->members[i].steps = steps;
        first = run_round(team, work, context);
        steps *= 2;
    } while (first < WINDOW_NS / 10 && steps < UINT64_C(1) << 40);
    learn(team);
    while (count < MOST_REPEATS &&
           (count < LEAST_REPEATS || assay__now_ns() - begin < duration_ns)) {
        double total = 0;
        for (size_t i = 0; i < team->count; i++)
            total += (double)team->members[i].steps;
        uint64_t elapsed = run_round(team, work, context);
        if (elapsed > 0) rates[count++] = total * 1e9 / (double)elapsed;
        learn(team);
    }
    rate->clock_after_hz = assay__thread_team_clock_hz(team);
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

/* 16 dependent additions: 16 cycles on every core that has kernels here. Register plus register,
 * because some cores fold the addition of a constant into renaming. */
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

double assay__thread_team_clock_hz(struct assay__thread_team *team)
{
#if defined(__x86_64__) || defined(__aarch64__)
    const uint64_t steps = 4096;
    double total = 0;
    for (size_t i = 0; i < team->count; i++)
        team->members[i].step_ns = INFINITY;
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < team->count; i++)
            team->members[i].steps = steps;
        run_round(team, add_chain, NULL);
        for (size_t i = 0; i < team->count; i++) {
            struct member *member = &team->members[i];
            double own = (double)(member->end_ns - member->start_ns) / (double)steps;
            if (own < member->step_ns) member->step_ns = own;
        }
    }
    for (size_t i = 0; i < team->count; i++)
        total += ADDITIONS * 1e9 / team->members[i].step_ns;
    return total / (double)team->count;
#else
    (void)team;
    (void)add_chain;
    return NAN;
#endif
}
