/* quiet.h - launches that were made while other processes used much of the machine are made again,
 * once, when these are done: it is waited for them, for as long as the launches took and for
 * QUIET_MOST_S at most. */
#ifndef ASSAY_EXPERIMENT_QUIET_H
#define ASSAY_EXPERIMENT_QUIET_H

#include "run/arm/arms.h"

struct assay__quiet {
    double spent_s; /* what the launches took: as much is waited at most, and once more measured */
    double left_s;  /* of the command's budget; INFINITY: it has none */
    int launches;   /* of each arm, once more */
    /* of a test: the share of the CPU time that was in use during so many seconds; NULL: the
     * machine's */
    double (*share)(double seconds);
};

/** One more turn of launches of each of the arms, alternating, if one of them was measured under
 *  load and the machine is quiet now or in time.
 *  *repeated says whether they were made. */
int assay__arms_when_quiet(struct assay__arms *arms, const size_t *indexes, size_t count,
                           const struct assay__quiet *quiet, bool *repeated,
                           struct assay_error *error);

#endif
