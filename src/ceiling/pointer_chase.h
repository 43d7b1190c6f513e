/* pointer_chase.h - a chain of pointers through memory, one per cache line, in random order: the
 * address of each load comes from the previous load, so neither reordering nor prefetching can hide
 * the latency. */
#ifndef ASSAY_CEILING_POINTER_CHASE_H
#define ASSAY_CEILING_POINTER_CHASE_H

#include <stddef.h>
#include <stdint.h>

/** Links the lines of `memory` into one random cycle (Sattolo). bytes / line_bytes lines, at least
 *  2 and fewer than 2^32; each line's first pointer is used. 0 or ASSAY_ENOMEM/ASSAY_EINVAL. */
int assay__chase_build(void *memory, size_t bytes, size_t line_bytes, uint64_t seed);
#define ASSAY__CHASE_HOPS 64
/** Follows steps × ASSAY__CHASE_HOPS links from `from`; returns where it ended. */
void *assay__chase_follow(void *from, uint64_t steps);

#endif
