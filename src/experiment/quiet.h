/* quiet.h - launches measured while other processes used much of the machine are repeated once when
 * these are done. It waits for that as long as the launches took, at most QUIET_MOST_S. */
#ifndef ASSAY_EXPERIMENT_QUIET_H
#define ASSAY_EXPERIMENT_QUIET_H

#include "run/arm/arms.h"

struct assay__quiet {
    /* duration of the launches: it waits at most this long, and measuring again takes as long */
    double spent_s;
    double left_s; /* left of the command's budget; INFINITY: it has none */
    int launches;  /* of each arm, once more */
    /* for tests: returns the share of CPU time in use over so many seconds; NULL: that of the
     * machine */
    double (*share)(double seconds);
};

/** Repeats the launches of each of the arms, alternating, if one of them was measured under load
 * and the machine is quiet now or becomes so in time. *repeated says whether that was done. */
int assay__arms_when_quiet(struct assay__arms *arms, const size_t *indexes, size_t count,
                           const struct assay__quiet *quiet, bool *repeated,
                           struct assay_error *error);

#endif
