/* crew.h - threads that measure together: one per core, kept there, released at the same moment,
 * each timed by itself. */
#ifndef ASSAY_CEILING_CREW_H
#define ASSAY_CEILING_CREW_H

#include "platform/posix_cpu.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__crew;

/** What one thread does: `steps` of the work. */
typedef void assay__crew_work(void *context, size_t thread, uint64_t steps);

int assay__crew_new(const struct assay__cpu_place *places, size_t count, struct assay__crew **crew,
                    struct assay_error *error);
void assay__crew_free(struct assay__crew *crew);
size_t assay__crew_size(const struct assay__crew *crew);
/** True when every thread could be kept on its core. */
bool assay__crew_pinned(const struct assay__crew *crew);
/** Runs steps[i] on thread i, all at once. own_ns[i] gets each thread's time. Returns the time from
 *  the first start to the last end, in ns. */
uint64_t assay__crew_run(struct assay__crew *crew, assay__crew_work *work, void *context,
                         const uint64_t *steps, uint64_t *own_ns);

struct assay__rate {
    double low, median, high; /* steps per second, all threads together */
    int repeats;
    double clock_before_hz, clock_after_hz;
};
/** Repeats the work for about `duration_ns`, in windows of about 2 ms, and no fewer than three. 0
 *  or ASSAY_ENOMEM. */
int assay__crew_measure(struct assay__crew *crew, assay__crew_work *work, void *context,
                        uint64_t duration_ns, struct assay__rate *rate);
/** The clock of the crew's cores now, from chains of dependent additions (one cycle each); NaN
 *  where that is unknown. */
double assay__crew_clock_hz(struct assay__crew *crew);

#endif
