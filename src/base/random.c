/* random.c - xoshiro256** (Blackman and Vigna 2018) seeded by splitmix64: small, fast, the same on
 * every machine. For synthetic inputs and tests, never for secrets. */
#include "base/stats.h"

#include <math.h>

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

void assay__random_seed(struct assay__random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        random->state[i] = z ^ (z >> 31);
    }
}

uint64_t assay__random_u64(struct assay__random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return result;
}

double assay__random_unit(struct assay__random *random)
{
    return (double)(assay__random_u64(random) >> 11) * 0x1p-53;
}

/* Box and Muller; the second value is discarded, so that the sequence depends only on the seed and
 * the count. */
double assay__random_normal(struct assay__random *random)
{
    double radius = sqrt(-2 * log(1 - assay__random_unit(random)));
    return radius * cos(6.283185307179586476925286766559 * assay__random_unit(random));
}

/* Values below 2^64 mod bound would make small remainders more likely: draw again. */
uint64_t assay__random_below(struct assay__random *random, uint64_t bound)
{
    uint64_t least = (0 - bound) % bound, drawn;
    do {
        drawn = assay__random_u64(random);
    } while (drawn < least);
    return drawn % bound;
}
