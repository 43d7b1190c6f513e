/* numpy_random.h - the draws of two of NumPy's generators, number for number, so that a published
 * wiring can be recreated from its seed alone:
 *   - RandomState(seed): the Mersenne Twister MT19937 (Matsumoto and Nishimura 1998) with the
 *     legacy bounded draws (mask and reject);
 *   - default_rng(seed): PCG64 (O'Neill 2014: a 128-bit congruential generator, XSL-RR output)
 *     seeded through SeedSequence, with Lemire's bounded draws (arXiv 1805.10941).
 * Only what the wirings need: a choice of one, and choices without replacement. */
#ifndef ASSAY_ZOO_NUMPY_RANDOM_H
#define ASSAY_ZOO_NUMPY_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct assay__mt19937 {
    uint32_t state[624];
    size_t next;
};
void assay__mt19937_seed(struct assay__mt19937 *random, uint32_t seed);
uint32_t assay__mt19937_u32(struct assay__mt19937 *random);
/** RandomState.choice(count): 0 … count - 1. With a count of 1 nothing is drawn. */
uint32_t assay__mt19937_choice(struct assay__mt19937 *random, uint32_t count);
/** RandomState.choice(count, size, replace=False): order receives all `count` indices, of which the
 * first `size` are the result (the draws do not depend on size). */
void assay__mt19937_permute(struct assay__mt19937 *random, uint32_t *order, uint32_t count);

struct assay__pcg64 {
    uint64_t state_high, state_low, step_high, step_low;
    uint32_t spare; /* the upper half of a 64-bit draw, for the next 32-bit one */
    int has_spare;
};
void assay__pcg64_seed(struct assay__pcg64 *random, uint64_t seed);
uint64_t assay__pcg64_u64(struct assay__pcg64 *random);
/** Generator.choice(count), count from 1 to 2^32 - 1. */
uint32_t assay__pcg64_choice(struct assay__pcg64 *random, uint32_t count);
/** Generator.choice(count, size, replace=False): chosen receives `size` indices. 0 or
 * ASSAY_ENOMEM. */
int assay__pcg64_sample(struct assay__pcg64 *random, uint32_t count, uint32_t size,
                        uint32_t *chosen);

#endif
