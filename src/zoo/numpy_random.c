/* numpy_random.c - reproduces NumPy's random numbers. The constants of the Mersenne Twister and of
 * PCG64 are their authors'; those of SeedSequence come from O'Neill's "Developing a seed_seq
 * alternative". 32-bit draws of PCG64 take the lower half of a 64-bit draw first and keep the upper
 * half. */
#include "zoo/numpy_random.h"

#include <assay/error.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

void assay__mt19937_seed(struct assay__mt19937 *random, uint32_t seed)
{
    for (uint32_t i = 0; i < 624; i++) {
        random->state[i] = seed;
        seed = 1812433253u * (seed ^ seed >> 30) + i + 1;
    }
    random->next = 624;
}

uint32_t assay__mt19937_u32(struct assay__mt19937 *random)
{
    uint32_t *state = random->state, y;
    for (size_t i = 0; random->next >= 624 && i < 624; i++) { /* the twist */
        y = (state[i] & 0x80000000u) | (state[(i + 1) % 624] & 0x7fffffffu);
        state[i] = state[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    if (random->next >= 624) random->next = 0;
    y = state[random->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* Uniform on 0 … max: masks a draw with the smallest 2^k - 1 >= max, and draws again while the
 * result exceeds max. */
static uint32_t masked(struct assay__mt19937 *random, uint32_t max)
{
    uint32_t mask = max, value;
    if (max == 0) return 0;
    for (int shift = 1; shift <= 16; shift *= 2)
        mask |= mask >> shift;
    do
        value = assay__mt19937_u32(random) & mask;
    while (value > max);
    return value;
}

uint32_t assay__mt19937_choice(struct assay__mt19937 *random, uint32_t count)
{
    return masked(random, count - 1);
}

void assay__mt19937_permute(struct assay__mt19937 *random, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (uint32_t i = count; i-- > 1;) { /* Fisher and Yates, from the end */
        uint32_t j = masked(random, i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static wide join(uint64_t high, uint64_t low)
{
    return (wide)high << 64 | low;
}

static void pcg64_advance(struct assay__pcg64 *random)
{
    const wide multiplier = join(0x2360ed051fc65da4u, 0x4385df649fccf645u);
    wide state = join(random->state_high, random->state_low) * multiplier +
                 join(random->step_high, random->step_low);
    random->state_high = (uint64_t)(state >> 64);
    random->state_low = (uint64_t)state;
}

/* SeedSequence: the seed's 32-bit words are mixed into a pool of four, each word into every
 * other. */
#define POOL 4

static uint32_t hash_mix(uint32_t value, uint32_t *constant, uint32_t multiplier)
{
    value ^= *constant;
    *constant *= multiplier;
    value *= *constant;
    return value ^ value >> 16;
}

static void fill_pool(uint64_t seed, uint32_t pool[POOL])
{
    const uint32_t words[POOL] = {(uint32_t)seed, (uint32_t)(seed >> 32), 0, 0};
    uint32_t constant = 0x43b0d7e5u;
    for (int i = 0; i < POOL; i++)
        pool[i] = hash_mix(words[i], &constant, 0x931e8875u);
    for (int from = 0; from < POOL; from++)
        for (int to = 0; to < POOL; to++) {
            if (from == to) continue;
            uint32_t mixed = hash_mix(pool[from], &constant, 0x931e8875u);
            mixed = 0xca01f9ddu * pool[to] - 0x4973f715u * mixed;
            pool[to] = mixed ^ mixed >> 16;
        }
}

void assay__pcg64_seed(struct assay__pcg64 *random, uint64_t seed)
{
    uint32_t pool[POOL], constant = 0x8b51f9ddu;
    uint64_t words[4];
    fill_pool(seed, pool);
    for (int i = 0; i < 4; i++) { /* the lower half of each word first */
        uint32_t low = hash_mix(pool[2 * i % POOL], &constant, 0x58f38dedu);
        uint32_t high = hash_mix(pool[(2 * i + 1) % POOL], &constant, 0x58f38dedu);
        words[i] = (uint64_t)high << 32 | low;
    }
    wide step = join(words[2], words[3]) << 1 | 1;
    memset(random, 0, sizeof *random);
    random->step_high = (uint64_t)(step >> 64);
    random->step_low = (uint64_t)step;
    pcg64_advance(random);
    wide state = join(random->state_high, random->state_low) + join(words[0], words[1]);
    random->state_high = (uint64_t)(state >> 64);
    random->state_low = (uint64_t)state;
    pcg64_advance(random);
}

uint64_t assay__pcg64_u64(struct assay__pcg64 *random)
{
    pcg64_advance(random);
    uint64_t folded = random->state_high ^ random->state_low;
    unsigned turn = (unsigned)(random->state_high >> 58);
    return folded >> turn | folded << (-turn & 63);
}

static uint32_t pcg64_u32(struct assay__pcg64 *random)
{
    if (random->has_spare) {
        random->has_spare = 0;
        return random->spare;
    }
    uint64_t both = assay__pcg64_u64(random);
    random->has_spare = 1;
    random->spare = (uint32_t)(both >> 32);
    return (uint32_t)both;
}

/* Lemire: the upper half of draw × count; lower halves below 2^32 mod count are drawn again. */
uint32_t assay__pcg64_choice(struct assay__pcg64 *random, uint32_t count)
{
    if (count <= 1) return 0;
    uint64_t product = (uint64_t)pcg64_u32(random) * count;
    if ((uint32_t)product < count) {
        uint32_t threshold = -count % count;
        while ((uint32_t)product < threshold)
            product = (uint64_t)pcg64_u32(random) * count;
    }
    return (uint32_t)(product >> 32);
}

/* Shuffles data[first …] among data[0 …], from the end. */
static void shuffle(struct assay__pcg64 *random, uint32_t *data, uint32_t count, uint32_t first)
{
    for (uint32_t i = count; i-- > first;) {
        uint32_t j = assay__pcg64_choice(random, i + 1), kept = data[j];
        data[j] = data[i];
        data[i] = kept;
    }
}

int assay__pcg64_sample(struct assay__pcg64 *random, uint32_t count, uint32_t size,
                        uint32_t *chosen)
{
    uint32_t rest = count - size;
    if (size == 0) return 0;
    /* a large part of a large population: shuffle its tail */
    if (count > 10000 && size > count / 50) {
        uint32_t *all = malloc((size_t)count * sizeof *all);
        if (!all) return ASSAY_ENOMEM;
        for (uint32_t i = 0; i < count; i++)
            all[i] = i;
        shuffle(random, all, count, rest > 1 ? rest : 1);
        memcpy(chosen, all + rest, (size_t)size * sizeof *chosen);
        free(all);
        return 0;
    }
    /* Floyd's sampling (Bentley and Floyd 1987), then a shuffle */
    unsigned char *taken = calloc(1, (size_t)count + 1);
    if (!taken) return ASSAY_ENOMEM;
    for (uint32_t j = rest; j < count; j++) {
        uint32_t value = assay__pcg64_choice(random, j + 1);
        if (taken[value]) value = j;
        taken[value] = 1;
        chosen[j - rest] = value;
    }
    free(taken);
    shuffle(random, chosen, size, 1);
    return 0;
}
