/* loop.h - the measured loop: one clock read and two stores per iteration, no allocation, lock or
 * I/O. A window of n iterations leaves n + 1 stamps (the first is its start); duration i = stamps[i
 * + 1] - stamps[i], so no time is lost between samples and the clock's own cost (about 23 ns) is in
 * each sample once. */
#ifndef ASSAY_RUN_WORKER_LOOP_H
#define ASSAY_RUN_WORKER_LOOP_H

#include "engine/engine.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef int assay__loop_step(struct assay__session *session, int stream);
typedef uint64_t assay__loop_clock(struct assay__session *session);

struct assay__loop {
    assay__loop_step *step;
    assay__loop_clock *clock; /* NULL: the real clock */
    struct assay__session *session;
    int stream;
    uint64_t *stamps; /* capacity + 1 entries */
    size_t capacity;
    _Atomic uint64_t
        *count; /* iterations of this window so far, which the parent reads if the worker dies */
};

#define ASSAY__LOOP_NO_DEADLINE UINT64_MAX

/** Runs iterations done, done + 1, … until `limit` of them are in the window or a stamp is at or
 * past `deadline_ns` (same clock). *done = 0 starts a window (takes the first stamp); otherwise it
 * is continued. At least one iteration runs if done < limit. Returns 0 or the step's code; *done
 * counts complete ones. */
int assay__loop_run(const struct assay__loop *loop, size_t limit, uint64_t deadline_ns,
                    size_t *done);

/** The clock this loop uses, now. */
uint64_t assay__loop_now(const struct assay__loop *loop);

/** Pre-run before measuring. forced >= 0: exactly that many iterations. Else at least 10 iterations
 * and 0.2 s, but no new one after 2 s (for models that take seconds), and never more than fit in a
 * window. */
int assay__loop_prerun(const struct assay__loop *loop, int64_t forced, size_t *done);

/** Cost of one iteration with an empty step through the same code and the real clock, in ns (about
 * 2 ms of work). */
double assay__loop_cost_ns(void);

#endif
