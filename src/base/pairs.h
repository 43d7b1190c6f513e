/* pairs.h - numbers for pairs of integers, in the order in which they come: 1, 2, … A hash table of
 * open addressing, at most half full. */
#ifndef ASSAY_BASE_PAIRS_H
#define ASSAY_BASE_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__numbered_pair {
    uint64_t a;
    uint32_t b;
};
struct assay__pairs {                   /* zeroed: empty */
    struct assay__numbered_pair *items; /* by number - 1 */
    uint32_t *slots;                    /* numbers; 0: free */
    size_t count, capacity, slot_count;
    size_t most; /* no more than that; 0: no limit */
    bool failed; /* out of memory; stays */
};

/** The pair's number; *is_new: it was added. 0: there is no room. */
uint32_t assay__pairs_number(struct assay__pairs *pairs, uint64_t a, uint32_t b, bool *is_new);
void assay__pairs_free(struct assay__pairs *pairs);
/** Every bit of the result depends on every one of the value. */
uint64_t assay__mix(uint64_t value);

#endif
