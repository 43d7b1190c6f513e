/* search.h - binary search in ascending numbers. */
#ifndef ASSAY_BASE_SEARCH_H
#define ASSAY_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/** How many of the ascending numbers are below the limit: the place of the first that is not. */
static inline size_t assay__count_below(const double *sorted, size_t count, double limit)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** The same of times. */
static inline size_t assay__count_before(const uint64_t *times_ns, size_t count, uint64_t limit_ns)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times_ns[middle] < limit_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
