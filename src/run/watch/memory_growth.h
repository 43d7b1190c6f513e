/* memory_growth.h - does live memory grow from inference to inference? */
#ifndef ASSAY_RUN_WATCH_MEMORY_GROWTH_H
#define ASSAY_RUN_WATCH_MEMORY_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__GROWTH_LEAST 10u /* inferences */

struct assay__growth {
    double bytes, low, high; /* per inference, with the 95 % interval; NaN: too few inferences */
    /* steady growth per inference that would have been detected in these marks; NaN */
    double smallest;
    /* a block lost every this many inferences, or more often, would have been detected */
    double every;
    bool flat;    /* all marks are the same */
    bool settled; /* it grew, but at a falling rate or no longer: no steady growth. The interval
                     contains 0 */
    double total; /* live bytes of the last mark minus those of the first */
};

/** live_bytes: at the end of each inference, in order. 0 or ASSAY_ENOMEM. */
int assay__memory_growth(const int64_t *live_bytes, size_t count, struct assay__growth *growth);

#endif
