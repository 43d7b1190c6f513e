/* machine_speed.c - the fixed loop. Its chains of multiplications and additions are independent,
 * so that it is limited by the units that a neighbour on the same core would share, not by latency.
 * The shortest of a few short repeats is not affected by being interrupted. Each CPU is visited by
 * a thread of its own, so that the caller stays where it is. */
#include "run/machine_speed.h"

#include "base/clock.h"
#include "base/stats.h"
#include "platform/platform.h"
#include "platform/posix_cpu.h"

#include <math.h>
#include <pthread.h>

#define CHAINS 12
#define STEPS 2000
#define REPEATS 5 /* of about 10 µs … */
#define REPEATS_SLOW 100
#define SLOW 1.08
#define VISITS 8u /* CPUs in one reading */
#define READINGS 64u

struct visit {
    struct assay__cpu_place place;
    double best_ns, loop_ns;
};

static volatile float sink; /* so that the loop is not removed */

static void run_loop(void)
{
    float chains[CHAINS][4] = {{0}};
    for (int step = 0; step < STEPS; step++)
        for (int c = 0; c < CHAINS; c++)
            for (int i = 0; i < 4; i++)
                chains[c][i] = chains[c][i] * 0.5f + 1.0f;
    float sum = 0;
    for (int c = 0; c < CHAINS; c++)
        sum += chains[c][c % 4];
    sink = sum;
}

static void *visit_cpu(void *context)
{
    struct visit *visit = context;
    if (visit->place.cpu >= 0 && !assay__thread_place(&visit->place)) return NULL;
    for (int i = 0; i < REPEATS_SLOW; i++) {
        if (i >= REPEATS && !(visit->loop_ns > SLOW * visit->best_ns)) break;
        uint64_t begin_ns = assay__now_ns();
        run_loop();
        visit->loop_ns = fmin(visit->loop_ns, (double)(assay__now_ns() - begin_ns));
    }
    return NULL;
}

struct assay__speed assay__speed_unknown(void)
{
    struct assay__speed speed;
    for (size_t i = 0; i < ASSAY__SPEED_CPUS; i++)
        speed.loop_ns[i] = NAN;
    return speed;
}

struct assay__speed assay__speed_read(int64_t pid, const struct assay__speed *best)
{
    int cpus[VISITS] = {-1};
    struct assay__speed speed = assay__speed_unknown();
    size_t count = assay__process_cpus(pid, cpus, VISITS);
    for (size_t i = 0; i == 0 || i < count; i++) {
        size_t entry = cpus[i] < 0 ? 0 : (size_t)cpus[i] % ASSAY__SPEED_CPUS;
        struct visit visit = {{cpus[i]}, best->loop_ns[entry], NAN};
        pthread_t thread;
        if (pthread_create(&thread, NULL, visit_cpu, &visit)) break;
        pthread_join(thread, NULL);
        speed.loop_ns[entry] = visit.loop_ns;
    }
    return speed;
}

struct assay__speed assay__speed_best(const struct assay__speed *a, const struct assay__speed *b)
{
    struct assay__speed best;
    for (size_t i = 0; i < ASSAY__SPEED_CPUS; i++)
        best.loop_ns[i] = fmin(a->loop_ns[i], b->loop_ns[i]); /* NaN: the other */
    return best;
}

struct assay__speed assay__speed_worst(const struct assay__speed *a, const struct assay__speed *b)
{
    struct assay__speed worst;
    for (size_t i = 0; i < ASSAY__SPEED_CPUS; i++)
        worst.loop_ns[i] = fmax(a->loop_ns[i], b->loop_ns[i]);
    return worst;
}

struct assay__speed assay__speed_median(const struct assay__speed *readings, size_t count)
{
    struct assay__speed median = assay__speed_unknown();
    double values[READINGS];
    for (size_t i = 0; i < ASSAY__SPEED_CPUS; i++) {
        size_t known = 0;
        for (size_t r = 0; r < count && known < READINGS; r++)
            if (isfinite(readings[r].loop_ns[i])) values[known++] = readings[r].loop_ns[i];
        assay__stats_sort(values, known);
        if (known) median.loop_ns[i] = assay__stats_median(values, known);
    }
    return median;
}

double assay__speed_slowdown(const struct assay__speed *now, const struct assay__speed *best)
{
    double slowdown = NAN;
    for (size_t i = 0; i < ASSAY__SPEED_CPUS; i++)
        slowdown = fmax(slowdown, now->loop_ns[i] / best->loop_ns[i] - 1);
    return slowdown;
}
