/* perfetto_table.c - an open-addressing table; the hash is seeded with an address, so that a file
 * cannot choose collisions. */
#include "import/perfetto_state.h"

#include <stdlib.h>

static size_t slot_of(const struct assay__perfetto_slot *slots, size_t mask, uint64_t space,
                      uint64_t key)
{
    static const char seed;
    uint64_t hash = (space ^ (uintptr_t)&seed) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 32 ^ key) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u;
    size_t slot = (size_t)(hash >> 20) & mask;
    while (slots[slot].value && (slots[slot].space != space || slots[slot].key != key))
        slot = (slot + 1) & mask;
    return slot;
}

uint32_t assay__perfetto_get(const struct assay__perfetto_table *table, uint64_t space,
                             uint64_t key)
{
    if (!table->slots) return ASSAY__PERFETTO_NONE;
    uint32_t value = table->slots[slot_of(table->slots, table->mask, space, key)].value;
    return value ? value - 1 : ASSAY__PERFETTO_NONE;
}

static bool grow(struct assay__perfetto_table *table)
{
    size_t count = table->slots ? (table->mask + 1) * 2 : 256;
    struct assay__perfetto_slot *slots = calloc(count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; table->slots && i <= table->mask; i++) {
        const struct assay__perfetto_slot *old = &table->slots[i];
        if (old->value) slots[slot_of(slots, count - 1, old->space, old->key)] = *old;
    }
    free(table->slots);
    table->slots = slots;
    table->mask = count - 1;
    return true;
}

bool assay__perfetto_set(struct assay__perfetto_table *table, uint64_t space, uint64_t key,
                         uint32_t value)
{
    if ((!table->slots || table->count * 2 > table->mask) && !grow(table)) return false;
    struct assay__perfetto_slot *slot =
        &table->slots[slot_of(table->slots, table->mask, space, key)];
    table->count += !slot->value;
    *slot = (struct assay__perfetto_slot){space, key, value + 1};
    return true;
}
