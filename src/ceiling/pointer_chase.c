/* pointer_chase.c - building and following a chain of pointers. Sattolo's shuffle gives a
 * permutation that is a single cycle, so the walk visits every line once before visiting any again:
 * the working set has the intended size. */
#include "ceiling/pointer_chase.h"
#include "base/stats.h"

#include <assay/error.h>
#include <stdlib.h>

int assay__chase_build(void *memory, size_t bytes, size_t line_bytes, uint64_t seed)
{
    unsigned char *start = memory;
    size_t lines = line_bytes ? bytes / line_bytes : 0;
    struct assay__random random;
    if (line_bytes < sizeof(void *) || line_bytes % sizeof(void *) || lines < 2 ||
        lines > UINT32_MAX)
        return ASSAY_EINVAL;
    uint32_t *next = malloc(lines * sizeof *next);
    if (!next) return ASSAY_ENOMEM;
    for (size_t i = 0; i < lines; i++)
        next[i] = (uint32_t)i;
    assay__random_seed(&random, seed);
    for (size_t i = lines - 1; i > 0; i--) {
        size_t other = (size_t)assay__random_below(&random, i);
        uint32_t kept = next[i];
        next[i] = next[other];
        next[other] = kept;
    }
    for (size_t i = 0; i < lines; i++)
        *(void **)(void *)(start + i * line_bytes) = start + next[i] * line_bytes;
    free(next);
    return 0;
}

/* `volatile` keeps every load and its order. */
void *assay__chase_follow(void *from, uint64_t steps)
{
    void *volatile *at = from;
    for (; steps; steps--)
        for (int hop = 0; hop < ASSAY__CHASE_HOPS; hop += 8) {
            at = *at;
            at = *at;
            at = *at;
            at = *at;
            at = *at;
            at = *at;
            at = *at;
            at = *at;
        }
    return (void *)at;
}
