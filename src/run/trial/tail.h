/* tail.h - a heavy tail: slow inferences so frequent that the mean is far from the median, which
 * then says little about a series of inferences, however steady it is. */
#ifndef ASSAY_RUN_TRIAL_TAIL_H
#define ASSAY_RUN_TRIAL_TAIL_H

#include "profile/profile.h"

struct assay__tail {
    double mean;   /* relative to the median; NaN: no such tail, or unknown */
    int one_in;    /* 10, 20, 100, 1000: one in so many inferences takes at least … */
    double factor; /* … this multiple of the median; NaN: no percentile that is known shows it */
};

/** From the trial's metrics. */
struct assay__tail assay__trial_tail(const struct assay__trial *trial);

#endif
