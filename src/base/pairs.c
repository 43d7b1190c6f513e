#include "base/pairs.h"

#include "base/vec.h"

#include <stdlib.h>

#define FIRST_SLOTS 256u

uint64_t assay__mix(uint64_t value)
{
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
    return value ^ value >> 29;
}

static size_t slot_of(const struct assay__pairs *pairs, uint64_t a, uint32_t b)
{
    size_t mask = pairs->slot_count - 1, slot = (size_t)assay__mix(a + assay__mix(b)) & mask;
    for (uint32_t number; (number = pairs->slots[slot]); slot = (slot + 1) & mask)
        if (pairs->items[number - 1].a == a && pairs->items[number - 1].b == b) break;
    return slot;
}

static bool grow(struct assay__pairs *pairs)
{
    struct assay__pairs larger = *pairs;
    larger.slot_count = pairs->slot_count ? pairs->slot_count * 2 : FIRST_SLOTS;
    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (size_t i = 0; i < pairs->count; i++)
        larger.slots[slot_of(&larger, pairs->items[i].a, pairs->items[i].b)] = (uint32_t)i + 1;
    free(pairs->slots);
    *pairs = larger;
    return true;
}

uint32_t assay__pairs_number(struct assay__pairs *pairs, uint64_t a, uint32_t b, bool *is_new)
{
    size_t most = pairs->most && pairs->most < UINT32_MAX ? pairs->most : UINT32_MAX - 1;
    *is_new = false;
    if (pairs->count * 2 >= pairs->slot_count && !grow(pairs)) {
        pairs->failed = true;
        return 0;
    }
    size_t slot = slot_of(pairs, a, b);
    if (pairs->slots[slot] || pairs->count >= most) return pairs->slots[slot];
    if (assay__vec_grow((void **)&pairs->items, &pairs->capacity, pairs->count + 1,
                        sizeof *pairs->items)) {
        pairs->failed = true;
        return 0;
    }
    pairs->items[pairs->count++] = (struct assay__numbered_pair){a, b};
    *is_new = true;
    return pairs->slots[slot] = (uint32_t)pairs->count;
}

void assay__pairs_free(struct assay__pairs *pairs)
{
    free(pairs->items);
    free(pairs->slots);
    *pairs = (struct assay__pairs){0};
}
