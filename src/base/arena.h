/* arena.h - many allocations, one free. Memory is zeroed. Every function but assay__arena_text
 * returns NULL when out of memory. The failure is also recorded in the arena, so that code that
 * fills a result in it can check once, at the end. */
#ifndef ASSAY_BASE_ARENA_H
#define ASSAY_BASE_ARENA_H

#include <assay/api.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct assay__arena;

struct assay__arena *assay__arena_new(void);
void assay__arena_free(struct assay__arena *arena);
/** 16-byte aligned, zeroed. size 0 gives a valid pointer. */
void *assay__arena_alloc(struct assay__arena *arena, size_t size);
/** count * size with overflow check. */
void *assay__arena_array(struct assay__arena *arena, size_t count, size_t size);
/** Room for one more element after `count`: the array moves to twice its size whenever count is 0
 * or a power of two, so that no capacity need be kept. */
void *assay__arena_grow(struct assay__arena *arena, void *items, size_t count, size_t size);
char *assay__arena_strdup(struct assay__arena *arena, const char *text);
char *assay__arena_strndup(struct assay__arena *arena, const char *text, size_t length);
char *assay__arena_printf(struct assay__arena *arena, const char *format, ...) ASSAY_PRINTF(2, 3);
/** The same, but "" when out of memory. */
const char *assay__arena_text(struct assay__arena *arena, const char *format, ...)
    ASSAY_PRINTF(2, 3);
const char *assay__arena_vtext(struct assay__arena *arena, const char *format, va_list args);
/** True once an allocation has failed, or assay__arena_fail() was called. NULL counts as failed. */
bool assay__arena_failed(const struct assay__arena *arena);
/** Marks it as failed, because memory for the result that came from elsewhere ran out. */
void assay__arena_fail(struct assay__arena *arena);
/** Bytes allocated so far, for tests and limits. */
size_t assay__arena_used(const struct assay__arena *arena);

#endif
