/* texts.c - interning: open addressing over numbers, texts in blocks that never move. The hash
 * takes eight bytes a step with one 64 x 64 -> 128 bit product (folded), because kernel names are
 * hundreds of bytes long. */
#include "trace/texts.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 256 << 10, FIRST_SLOTS = 1 << 10 };

struct block {
    struct block *next;
    size_t used, size;
    char bytes[];
};

struct entry {
    const char *text;
    uint32_t length, hash;
};

struct assay__texts {
    struct entry *entries;
    size_t count, capacity;
    uint32_t *slots; /* number + 1; 0: free */
    size_t slot_mask;
    struct block *blocks;
    size_t total;
    uint64_t seed;
};

/* --- the hash ----------------------------------------------------------------------------------*/

__extension__ typedef unsigned __int128 product_bits;

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    product_bits product = (product_bits)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load8(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* The last 0 to 8 bytes; overlapping loads instead of a loop. */
static uint64_t load_tail(const unsigned char *at, size_t left)
{
    uint32_t low, high;
    if (left == 8) return load8(at);
    if (left >= 4) {
        memcpy(&low, at, sizeof low);
        memcpy(&high, at + left - 4, sizeof high);
        return low | (uint64_t)high << 32;
    }
    if (left == 0) return 0;
    return at[0] | (uint64_t)at[left / 2] << 8 | (uint64_t)at[left - 1] << 16;
}

uint64_t assay__texts_hash(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *at = bytes;
    size_t left = length;
    uint64_t hash = seed ^ 0x9e3779b97f4a7c15u;
    while (left > 16) {
        hash = fold(load8(at) ^ 0xe7037ed1a0b428dbu, load8(at + 8) ^ hash);
        at += 16;
        left -= 16;
    }
    size_t first = left > 8 ? 8 : left;
    uint64_t a = load_tail(at, first), b = load_tail(at + first, left - first);
    return fold(hash ^ 0xa0761d6478bd642fu, fold(a ^ 0xe7037ed1a0b428dbu, b ^ hash) ^ length);
}

uint64_t assay__texts_seed(const void *owner)
{
    uint64_t seed = assay__now_ns() ^ (uint64_t)(uintptr_t)owner;
    return assay__texts_hash(&seed, sizeof seed, 0);
}

/* --- the pool ----------------------------------------------------------------------------------*/

struct assay__texts *assay__texts_new(void)
{
    struct assay__texts *texts = calloc(1, sizeof *texts);
    if (!texts) return NULL;
    texts->slots = calloc(FIRST_SLOTS, sizeof *texts->slots);
    if (!texts->slots) {
        free(texts);
        return NULL;
    }
    texts->slot_mask = FIRST_SLOTS - 1;
    texts->seed = assay__texts_seed(texts);
    return texts;
}

void assay__texts_free(struct assay__texts *texts)
{
    if (!texts) return;
    for (struct block *block = texts->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(texts->slots);
    free(texts->entries);
    free(texts);
}

static char *place(struct assay__texts *texts, size_t size)
{
    struct block *block = texts->blocks;
    if (!block || block->size - block->used < size) {
        size_t wanted = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = malloc(sizeof *block + wanted);
        if (!block) return NULL;
        *block = (struct block){.next = texts->blocks, .size = wanted};
        texts->blocks = block;
    }
    char *at = block->bytes + block->used;
    block->used += size;
    return at;
}

static bool grow_slots(struct assay__texts *texts)
{
    size_t count = (texts->slot_mask + 1) * 2, mask = count - 1;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < texts->count; i++) {
        size_t at = texts->entries[i].hash & mask;
        while (slots[at])
            at = (at + 1) & mask;
        slots[at] = (uint32_t)i + 1;
    }
    free(texts->slots);
    texts->slots = slots;
    texts->slot_mask = mask;
    return true;
}

/* Its number, or ASSAY__TEXTS_NONE; *slot is where it would go. */
static uint32_t find(const struct assay__texts *texts, const char *text, size_t length,
                     uint32_t hash, size_t *slot)
{
    size_t at = hash & texts->slot_mask;
    for (; texts->slots[at]; at = (at + 1) & texts->slot_mask) {
        const struct entry *entry = &texts->entries[texts->slots[at] - 1];
        if (entry->hash == hash && entry->length == length && !memcmp(entry->text, text, length))
            return texts->slots[at] - 1;
    }
    *slot = at;
    return ASSAY__TEXTS_NONE;
}

static uint32_t insert(struct assay__texts *texts, const char *text, size_t length, uint32_t hash,
                       size_t slot)
{
    if (assay__vec_grow((void **)&texts->entries, &texts->capacity, texts->count + 1,
                        sizeof *texts->entries))
        return ASSAY__TEXTS_NONE;
    char *copy = place(texts, length + 1);
    if (!copy) return ASSAY__TEXTS_NONE;
    memcpy(copy, text, length);
    copy[length] = 0;
    uint32_t number = (uint32_t)texts->count++;
    texts->entries[number] = (struct entry){copy, (uint32_t)length, hash};
    texts->slots[slot] = number + 1;
    texts->total += length + 1;
    if (texts->count * 2 > texts->slot_mask && !grow_slots(texts)) return ASSAY__TEXTS_NONE;
    return number;
}

static bool is_utf8(const char *text, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        size = 1;
        if ((unsigned char)text[at] < 0x80) continue;
        if (assay__utf8_decode(text + at, length - at, &size) == ASSAY__UTF8_INVALID) return false;
    }
    return true;
}

/* A copy in which every byte that is not UTF-8 is U+FFFD; free() it. */
static char *repaired(const char *text, size_t length, size_t *out_length)
{
    char *copy = malloc(length * 3 + 1); /* U+FFFD takes three bytes */
    size_t used = 0, size;
    for (size_t at = 0; copy && at < length; at += size) {
        if (assay__utf8_decode(text + at, length - at, &size) == ASSAY__UTF8_INVALID) {
            memcpy(copy + used, ASSAY__UTF8_REPLACEMENT, 3);
            used += 3;
        } else {
            memcpy(copy + used, text + at, size);
            used += size;
        }
    }
    *out_length = used;
    return copy;
}

static uint32_t add_repaired(struct assay__texts *texts, const char *text, size_t length,
                             bool *limit)
{
    size_t fixed_length;
    char *fixed = repaired(text, length, &fixed_length);
    if (!fixed) return ASSAY__TEXTS_NONE;
    uint32_t number = assay__texts_add(texts, fixed, fixed_length, limit);
    free(fixed);
    return number;
}

uint32_t assay__texts_add(struct assay__texts *texts, const char *text, size_t length, bool *limit)
{
    length = strnlen(text, length);
    uint32_t hash = (uint32_t)assay__texts_hash(text, length, texts->seed);
    size_t slot;
    uint32_t number = find(texts, text, length, hash, &slot);
    if (number != ASSAY__TEXTS_NONE) return number;
    /* Three times: what a repair could make of it. Each text also takes an entry and two slots. */
    size_t cost = 3 * length + sizeof(struct entry) + 1;
    if (length > ASSAY__TEXTS_MAX_BYTES / 4 || texts->count >= UINT32_MAX / 4 ||
        cost > ASSAY__TEXTS_MAX_BYTES - texts->total) {
        *limit = true;
        return ASSAY__TEXTS_NONE;
    }
    if (!is_utf8(text, length)) return add_repaired(texts, text, length, limit);
    return insert(texts, text, length, hash, slot);
}

size_t assay__texts_count(const struct assay__texts *texts)
{
    return texts->count;
}

const char *assay__texts_get(const struct assay__texts *texts, uint32_t number)
{
    return number < texts->count ? texts->entries[number].text : "";
}

size_t assay__texts_length(const struct assay__texts *texts, uint32_t number)
{
    return number < texts->count ? texts->entries[number].length : 0;
}
