/* mark_rings.h - durations that threads of a program report about themselves. Each thread has a
 * ring of its own that only it writes: the first mark of a thread takes one (and may allocate),
 * every other is a clock read and three stores, without a loop, a lock or a system call. A thread
 * that ends leaves its ring to the next one that comes.
 *
 * The ring keeps the latest 8,192 durations between two collections; how many marks there were and
 * their sum are exact even if it was full. A single reader collects (one monitor's sampler). */
#ifndef ASSAY_MONITOR_MARK_RINGS_H
#define ASSAY_MONITOR_MARK_RINGS_H

#include "monitor/durations.h"

#include <assay/error.h>
#include <stdbool.h>

#define ASSAY__MARKS_KEPT 8192u

struct assay__marks;

int assay__marks_new(struct assay__marks **marks, struct assay_error *error);
/** No thread may be about to report, or be ending. NULL legal. */
void assay__marks_free(struct assay__marks *marks);
/** From any thread. False: no memory for a ring; the mark is counted as lost. */
bool assay__marks_put(struct assay__marks *marks, uint64_t duration_ns);

struct assay__marks_seen {
    uint64_t count; /* all marks since the last collection */
    double sum_ns;  /* of all of them */
    uint64_t kept;  /* of them added to the durations */
    uint64_t lost;  /* neither counted nor added: no memory */
    size_t threads; /* rings so far */
};
/** What was reported since the last call, added to both. */
void assay__marks_collect(struct assay__marks *marks, struct assay__durations *first,
                          struct assay__durations *second, struct assay__marks_seen *seen);

#endif
