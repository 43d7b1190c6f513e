/* loop.c - the measured loop (see loop.h), in two variants that differ only in where the time comes
 * from: the real clock, or an engine's scripted one (tests), which is an indirect call. */
#include "run/worker/loop.h"

#include "base/clock.h"
#include "base/stats.h"

#include <stdbool.h>

#define PRERUN_ITERATIONS 10
#define PRERUN_SLOW_ITERATIONS 3 /* enough if they take longer than PRERUN_NS */
#define PRERUN_NS 200000000u     /* clocks and caches settle; also gives the pace */
#define PRERUN_LIMIT_NS 2000000000u
#define COST_ROUNDS 9
#define COST_ITERATIONS 4096

/* Inlined twice, with `scripted` known: in the real variant the clock is the inlined vDSO call. */
static inline __attribute__((always_inline)) int run(const struct assay__loop *loop, size_t limit,
                                                     uint64_t deadline_ns, size_t *done,
                                                     const bool scripted)
{
    assay__loop_step *const step = loop->step;
    struct assay__session *const session = loop->session;
    const int stream = loop->stream;
    uint64_t *const stamps = loop->stamps;
    size_t i = *done;
    int code = 0;
    if (i == 0) stamps[0] = scripted ? loop->clock(session) : assay__now_ns();
    while (i < limit) {
        code = step(session, stream);
        if (code) break;
        uint64_t now = scripted ? loop->clock(session) : assay__now_ns();
        stamps[++i] = now;
        /* Release: a reader of the count sees the stamp. A plain store on x86-64. */
        atomic_store_explicit(loop->count, i, memory_order_release);
        if (now >= deadline_ns) break;
    }
    *done = i;
    return code;
}

int assay__loop_run(const struct assay__loop *loop, size_t limit, uint64_t deadline_ns,
                    size_t *done)
{
    if (limit > loop->capacity) limit = loop->capacity;
    if (*done == 0) atomic_store_explicit(loop->count, 0, memory_order_release);
    return loop->clock ? run(loop, limit, deadline_ns, done, true)
                       : run(loop, limit, deadline_ns, done, false);
}

uint64_t assay__loop_now(const struct assay__loop *loop)
{
    return loop->clock ? loop->clock(loop->session) : assay__now_ns();
}

int assay__loop_prerun(const struct assay__loop *loop, int64_t forced, size_t *done)
{
    *done = 0;
    if (forced >= 0) {
        /* A forced pre-run may be longer than the window: writing restarts at the beginning, since
         * its stamps are not kept. */
        size_t total = 0;
        int code = 0;
        while (code == 0 && total < (size_t)forced) {
            size_t part = (size_t)forced - total, ran = 0;
            if (part > loop->capacity) part = loop->capacity;
            code = assay__loop_run(loop, part, ASSAY__LOOP_NO_DEADLINE, &ran);
            total += ran;
        }
        *done = total;
        return code;
    }
    int code = assay__loop_run(loop, 1, ASSAY__LOOP_NO_DEADLINE, done);
    uint64_t start = loop->stamps[0];
    if (code == 0 && loop->stamps[1] < start + PRERUN_LIMIT_NS)
        code = assay__loop_run(loop, PRERUN_SLOW_ITERATIONS, start + PRERUN_LIMIT_NS, done);
    if (code == 0 && *done >= PRERUN_SLOW_ITERATIONS && loop->stamps[*done] < start + PRERUN_NS)
        code = assay__loop_run(loop, PRERUN_ITERATIONS, start + PRERUN_NS, done);
    if (code == 0 && *done >= PRERUN_ITERATIONS && loop->stamps[*done] < start + PRERUN_NS)
        code = assay__loop_run(loop, loop->capacity, start + PRERUN_NS, done);
    return code;
}

static int empty_step(struct assay__session *session, int stream)
{
    (void)session;
    (void)stream;
    return 0;
}

double assay__loop_cost_ns(void)
{
    uint64_t stamps[COST_ITERATIONS + 1];
    double rounds[COST_ROUNDS];
    _Atomic uint64_t count = 0;
    /* volatile: the call must stay an indirect one, as it is with an engine. */
    assay__loop_step *volatile step = empty_step;
    struct assay__loop loop = {step, NULL, NULL, 0, stamps, COST_ITERATIONS, &count};
    for (size_t i = 0; i < COST_ROUNDS; i++) {
        size_t done = 0;
        assay__loop_run(&loop, COST_ITERATIONS, ASSAY__LOOP_NO_DEADLINE, &done);
        rounds[i] = (double)(stamps[COST_ITERATIONS] - stamps[0]) / COST_ITERATIONS;
    }
    assay__stats_sort(rounds, COST_ROUNDS);
    return assay__stats_median(rounds, COST_ROUNDS);
}
