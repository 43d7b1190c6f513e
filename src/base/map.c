/* map.c - string to size_t by open addressing with linear probing and backward-shift deletion.
 *
 * The hash is SipHash-1-3 (Aumasson and Bernstein 2012, with one compression and three finalisation rounds) keyed
 * per map from the clock, an address and a counter, so that names in a crafted file cannot be chosen to collide.
 * The load stays below 3/4. Keys are borrowed. Not thread-safe. */
#include "base/map.h"

#include "base/checked.h"
#include "base/clock.h"

#include <assay/error.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    const char *key; /* NULL: empty */
    uint64_t hash;
    size_t value;
};

struct assay__map {
    struct slot *slots;
    size_t capacity; /* power of two, or 0 */
    size_t count;
    uint64_t key0, key1;
};

static inline uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static uint64_t hash_of(const struct assay__map *map, const char *key)
{
    size_t length = strlen(key);
    struct sip s = {map->key0 ^ 0x736f6d6570736575u, map->key1 ^ 0x646f72616e646f6du,
                    map->key0 ^ 0x6c7967656e657261u, map->key1 ^ 0x7465646279746573u};
    uint64_t word;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        memcpy(&word, key + i, 8);
        s.v3 ^= word;
        sip_round(&s);
        s.v0 ^= word;
    }
    word = (uint64_t)length << 56;
    for (size_t j = i; j < length; j++)
        word |= (uint64_t)(unsigned char)key[j] << (8 * (j - i));
    s.v3 ^= word;
    sip_round(&s);
    s.v0 ^= word;
    s.v2 ^= 0xff;
    for (int r = 0; r < 3; r++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct assay__map *assay__map_new(void)
{
    struct assay__map *map = calloc(1, sizeof *map);
    if (!map) return NULL;
    uint64_t seed = assay__now_ns() ^ (uint64_t)(uintptr_t)map;
    map->key0 = mix(seed + 0x9e3779b97f4a7c15u);
    map->key1 = mix(seed + 0x3c6ef372fe94f82au);
    return map;
}

void assay__map_free(struct assay__map *map)
{
    if (!map) return;
    free(map->slots);
    free(map);
}

/* The slot that holds the key, or the empty slot where it belongs. capacity > 0. */
static size_t find(const struct assay__map *map, const char *key, uint64_t hash)
{
    size_t mask = map->capacity - 1;
    size_t at = (size_t)hash & mask;
    while (map->slots[at].key &&
           (map->slots[at].hash != hash || strcmp(map->slots[at].key, key) != 0))
        at = (at + 1) & mask;
    return at;
}

static int grow(struct assay__map *map)
{
    size_t capacity = map->capacity ? map->capacity * 2 : 16;
    size_t bytes;
    if (capacity < map->capacity || assay__mul_overflows(capacity, sizeof(struct slot), &bytes))
        return ASSAY_ENOMEM;
    struct slot *slots = calloc(capacity, sizeof *slots);
    if (!slots) return ASSAY_ENOMEM;
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->slots[i].key) continue;
        size_t at = (size_t)map->slots[i].hash & (capacity - 1);
        while (slots[at].key)
            at = (at + 1) & (capacity - 1);
        slots[at] = map->slots[i];
    }
    free(map->slots);
    map->slots = slots;
    map->capacity = capacity;
    return 0;
}

int assay__map_set(struct assay__map *map, const char *key, size_t value)
{
    if (map->count + 1 > map->capacity / 4 * 3 && grow(map)) return ASSAY_ENOMEM;
    uint64_t hash = hash_of(map, key);
    struct slot *slot = &map->slots[find(map, key, hash)];
    if (!slot->key) {
        map->count++;
        slot->key = key;
        slot->hash = hash;
    }
    slot->value = value;
    return 0;
}

size_t assay__map_get(const struct assay__map *map, const char *key)
{
    if (!map || map->count == 0 || !key) return ASSAY__MAP_NONE;
    const struct slot *slot = &map->slots[find(map, key, hash_of(map, key))];
    return slot->key ? slot->value : ASSAY__MAP_NONE;
}

size_t assay__map_count(const struct assay__map *map)
{
    return map ? map->count : 0;
}

bool assay__map_remove(struct assay__map *map, const char *key)
{
    if (!map || map->count == 0) return false;
    size_t mask = map->capacity - 1;
    size_t hole = find(map, key, hash_of(map, key));
    if (!map->slots[hole].key) return false;
    /* Move back every follower whose home does not lie cyclically in (hole, at]: then no probe crosses a gap. */
    for (size_t at = (hole + 1) & mask; map->slots[at].key; at = (at + 1) & mask) {
        size_t home = (size_t)map->slots[at].hash & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].key = NULL;
    map->count--;
    return true;
}
