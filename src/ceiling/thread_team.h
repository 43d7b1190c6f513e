/* thread_team.h - threads that measure together: one per core, pinned, released simultaneously,
 * each timed separately. */
#ifndef ASSAY_CEILING_THREAD_TEAM_H
#define ASSAY_CEILING_THREAD_TEAM_H

#include "platform/posix_cpu.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__thread_team;

/** What one thread does: `steps` of the work. */
typedef void assay__thread_team_work(void *context, size_t thread, uint64_t steps);

int assay__thread_team_new(const struct assay__cpu_place *places, size_t count,
                           struct assay__thread_team **team, struct assay_error *error);
void assay__thread_team_free(struct assay__thread_team *team);
size_t assay__thread_team_size(const struct assay__thread_team *team);
/** True if every thread could be pinned to its core. */
bool assay__thread_team_pinned(const struct assay__thread_team *team);
/** Runs steps[i] on thread i, all at once. own_ns[i] is set to each thread's time. Returns the time
 *  from the first start to the last end, in ns. */
uint64_t assay__thread_team_run(struct assay__thread_team *team, assay__thread_team_work *work,
                                void *context, const uint64_t *steps, uint64_t *own_ns);

struct assay__rate {
    double low, median, high; /* steps per second, all threads together */
    int repeats;
    double clock_before_hz, clock_after_hz;
};
/** Repeats the work for about `duration_ns`, in windows of about 2 ms, and no fewer than three. 0
 *  or ASSAY_ENOMEM. */
int assay__thread_team_measure(struct assay__thread_team *team, assay__thread_team_work *work,
                               void *context, uint64_t duration_ns, struct assay__rate *rate);
/** The clock of the team's cores now, from chains of dependent additions (one cycle each); NaN
 *  where that is unknown. */
double assay__thread_team_clock_hz(struct assay__thread_team *team);

#endif
