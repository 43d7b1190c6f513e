/* memory_growth.h - does live memory grow from inference to inference? */
#ifndef ASSAY_RUN_MEMORY_GROWTH_H
#define ASSAY_RUN_MEMORY_GROWTH_H

#include <stddef.h>
#include <stdint.h>

#define ASSAY__GROWTH_LEAST 10u /* inferences */

struct assay__growth {
    double bytes, low, high; /* per inference, with the 95 % interval; NaN: too few inferences */
    double smallest;         /* growth that these marks would have shown; NaN */
};

/** live_bytes: at the end of each inference, in order. 0 or ASSAY_ENOMEM. */
int assay__memory_growth(const int64_t *live_bytes, size_t count, struct assay__growth *growth);

#endif
