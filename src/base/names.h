/* names.h - distinct strings, numbered from 0 in order of arrival. Each is stored once in one
 * block, preceded by its number, so that a pointer obtained from here leads to its number without
 * looking at the text. */
#ifndef ASSAY_BASE_NAMES_H
#define ASSAY_BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct assay__map;

struct assay__names {
    struct assay__map *numbers; /* text -> number */
    char *block;
    size_t size, used; /* of the block, bytes */
    uint32_t *starts;  /* number -> offset of its text in the block */
    size_t count, capacity;
};

/** Room for `count` strings that take `length` bytes in total, including terminators. NULL: out of
 *  memory. */
struct assay__names *assay__names_new(size_t count, size_t length);
void assay__names_free(struct assay__names *names);
/** The interned copy of the text; the text itself if there is no room left for it. */
const char *assay__names_add(struct assay__names *names, const char *text);
/** Number of any text; SIZE_MAX: not found. */
size_t assay__names_find(const struct assay__names *names, const char *text);

static inline size_t assay__names_count(const struct assay__names *names)
{
    return names ? names->count : 0;
}

/** Number of a pointer returned by assay__names_add; SIZE_MAX: it is not one. `starts`
 *  distinguishes a pointer to the start of a text from one into its middle. */
static inline size_t assay__names_own(const struct assay__names *names, const char *text)
{
    size_t start = (size_t)((uintptr_t)text - (uintptr_t)names->block);
    uint32_t number;
    if (start < sizeof number || start >= names->used) return SIZE_MAX;
    memcpy(&number, names->block + start - sizeof number, sizeof number);
    return number < names->count && names->starts[number] == start ? number : SIZE_MAX;
}

#endif
