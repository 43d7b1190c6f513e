/* names.c - interns strings in one block and numbers them. The block has its final size from the
 * start: addresses never change, and one comparison shows whether a pointer is inside it. Limits: 4
 * GiB of text. Adding is not thread-safe, looking up is. */
#include "base/names.h"

#include "base/checked.h"
#include "base/map.h"

#include <stdlib.h>

struct assay__names *assay__names_new(size_t count, size_t length)
{
    size_t size, overhead;
    if (assay__mul_overflows(count, sizeof(uint32_t),
                             &overhead) || /* each name follows its number */
        assay__add_overflows(overhead, length, &size))
        return NULL;
    if (size > UINT32_MAX) size = UINT32_MAX;
    struct assay__names *names = calloc(1, sizeof *names);
    if (!names) return NULL;
    names->numbers = assay__map_new();
    names->block = malloc(size + 1); /* not touched until it is used */
    names->starts = malloc((count + 1) * sizeof *names->starts);
    names->size = size;
    names->capacity = count;
    /* A name is used about three times: with this estimate the table need not grow. */
    if (names->numbers && names->block && names->starts &&
        assay__map_reserve(names->numbers, count / 3) == 0)
        return names;
    assay__names_free(names);
    return NULL;
}

void assay__names_free(struct assay__names *names)
{
    if (!names) return;
    assay__map_free(names->numbers);
    free(names->block);
    free(names->starts);
    free(names);
}

size_t assay__names_find(const struct assay__names *names, const char *text)
{
    return assay__map_get(names->numbers, text);
}

const char *assay__names_add(struct assay__names *names, const char *text)
{
    size_t number = assay__map_get(names->numbers, text);
    if (number != ASSAY__MAP_NONE) return names->block + names->starts[number];
    size_t bytes = strlen(text) + 1, start = names->used + sizeof(uint32_t);
    if (names->count == names->capacity || names->size - names->used < sizeof(uint32_t) + bytes)
        return text;
    char *copy = names->block + start;
    uint32_t own = (uint32_t)names->count;
    memcpy(copy, text, bytes);
    if (assay__map_set(names->numbers, copy, own)) return text;
    memcpy(copy - sizeof own, &own, sizeof own);
    names->starts[own] = (uint32_t)start;
    names->count++;
    names->used = start + bytes;
    return copy;
}
