/* map.c - string to size_t by open addressing with linear probing and backward-shift deletion.
 *
 * The hash multiplies 8 bytes at a time into 128 bits and folds them (as wyhash does), keyed per
 * map from the clock, an address and a counter: without the keys, nobody can choose names that
 * collide. Graph analysis consists mostly of name look-ups, so this is worth the effort. The load
 * stays below 3/4. Keys are borrowed. Not thread-safe.
 *
 * A map over names keeps the values of interned keys in an array by their number; the hash table
 * then contains only keys that are not among the names. */
#include "base/map.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/names.h"

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
    const struct assay__names *names; /* NULL: none */
    size_t *by_number; /* for the names that existed when the map was created; ASSAY__MAP_NONE: not
                          set */
    size_t number_count, numbered; /* length of by_number, and how many of it are set */
};

/* Product of 128 bits, folded: every bit of the result depends on every bit of both. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load(const char *at, size_t size)
{
    uint64_t word = 0;
    memcpy(&word, at, size);
    return word;
}

static uint64_t hash_of(const struct assay__map *map, const char *key)
{
    size_t length = strlen(key), i = 0;
    uint64_t hash = map->key0, first = 0, last = 0;
    for (; i + 16 < length; i += 16)
        hash = fold(load(key + i, 8) ^ map->key1, load(key + i + 8, 8) ^ hash);
    /* The rest, at most 16 bytes, by two loads that may overlap. */
    size_t rest = length - i;
    if (rest >= 8) {
        first = load(key + i, 8);
        last = load(key + length - 8, 8);
    } else if (rest >= 4) {
        first = load(key + i, 4);
        last = load(key + length - 4, 4);
    } else if (rest) {
        first = (uint64_t)(unsigned char)key[i] | (uint64_t)(unsigned char)key[i + rest / 2] << 8 |
                (uint64_t)(unsigned char)key[length - 1] << 16;
    }
    hash = fold(first ^ map->key1, last ^ hash);
    return fold(hash ^ map->key0, (uint64_t)length ^ map->key1);
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

struct assay__map *assay__map_over(const struct assay__names *names)
{
    struct assay__map *map = assay__map_new();
    size_t count = assay__names_count(names);
    if (!map || count == 0) return map;
    map->by_number = malloc(count * sizeof *map->by_number);
    if (!map->by_number) {
        free(map);
        return NULL;
    }
    memset(map->by_number, 0xff, count * sizeof *map->by_number); /* ASSAY__MAP_NONE */
    map->names = names;
    map->number_count = count;
    return map;
}

/* Where the value of an interned key is stored; NULL: the key is not among the names. */
static size_t *numbered(const struct assay__map *map, const char *key)
{
    if (!map->names) return NULL;
    size_t number = assay__names_own(map->names, key);
    if (number == SIZE_MAX) number = assay__names_find(map->names, key);
    return number < map->number_count ? &map->by_number[number] : NULL;
}

void assay__map_free(struct assay__map *map)
{
    if (!map) return;
    free(map->by_number);
    free(map->slots);
    free(map);
}

/* The slot that contains the key, or the empty slot where it belongs. capacity > 0. */
static size_t find(const struct assay__map *map, const char *key, uint64_t hash)
{
    size_t mask = map->capacity - 1;
    size_t at = (size_t)hash & mask;
    while (map->slots[at].key &&
           (map->slots[at].hash != hash || strcmp(map->slots[at].key, key) != 0))
        at = (at + 1) & mask;
    return at;
}

/* capacity: a power of two larger than the current one. */
static int grow(struct assay__map *map, size_t capacity)
{
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

int assay__map_reserve(struct assay__map *map, size_t count)
{
    size_t capacity = 16;
    while (capacity / 4 * 3 < count && capacity <= SIZE_MAX / 4)
        capacity *= 2;
    return capacity > map->capacity ? grow(map, capacity) : 0;
}

__attribute__((noinline)) static int set_by_text(struct assay__map *map, const char *key,
                                                 size_t value)
{
    size_t *place = numbered(map, key);
    if (place) {
        map->numbered += *place == ASSAY__MAP_NONE;
        *place = value;
        return 0;
    }
    if (map->count + 1 > map->capacity / 4 * 3 && grow(map, map->capacity ? map->capacity * 2 : 16))
        return ASSAY_ENOMEM;
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

int assay__map_set(struct assay__map *map, const char *key, size_t value)
{
    size_t number = map->names ? assay__names_own(map->names, key) : SIZE_MAX;
    if (number >= map->number_count) return set_by_text(map, key, value);
    map->numbered += map->by_number[number] == ASSAY__MAP_NONE;
    map->by_number[number] = value;
    return 0;
}

/* Separate, so that the path for an interned key stays short. */
__attribute__((noinline)) static size_t get_by_text(const struct assay__map *map, const char *key)
{
    const size_t *place = numbered(map, key);
    if (place) return *place;
    if (map->count == 0) return ASSAY__MAP_NONE;
    const struct slot *slot = &map->slots[find(map, key, hash_of(map, key))];
    return slot->key ? slot->value : ASSAY__MAP_NONE;
}

size_t assay__map_get(const struct assay__map *map, const char *key)
{
    if (!map || !key) return ASSAY__MAP_NONE;
    size_t number = map->names ? assay__names_own(map->names, key) : SIZE_MAX;
    return number < map->number_count ? map->by_number[number] : get_by_text(map, key);
}

size_t assay__map_count(const struct assay__map *map)
{
    return map ? map->count + map->numbered : 0;
}

bool assay__map_remove(struct assay__map *map, const char *key)
{
    if (!map) return false;
    size_t *place = numbered(map, key);
    if (place) {
        bool there = *place != ASSAY__MAP_NONE;
        *place = ASSAY__MAP_NONE;
        map->numbered -= there;
        return there;
    }
    if (map->count == 0) return false;
    size_t mask = map->capacity - 1;
    size_t hole = find(map, key, hash_of(map, key));
    if (!map->slots[hole].key) return false;
    /* Move back every follower whose home does not lie cyclically in (hole, at]: then no probe
     * crosses a gap. */
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
