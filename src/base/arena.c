/* arena.c - a chain of chunks; allocation bumps a pointer, freeing frees the chain.
 *
 * Chunks double from 4 KiB to 1 MiB, so a small document costs little and a large one few calls; a
 * request larger than the next chunk gets a separate chunk after the current one, so that the
 * current one is not wasted. Under AddressSanitizer the unused tail of each chunk and a red zone
 * after each allocation are poisoned. Limits: one allocation is at most 2^40 bytes (a larger one
 * can only come from a corrupt file). Not thread-safe. */
#include "base/arena.h"

#include "base/checked.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#if !defined(ARENA_ASAN) && defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define ARENA_POISON(address, size) ASAN_POISON_MEMORY_REGION(address, size)
#define ARENA_UNPOISON(address, size) ASAN_UNPOISON_MEMORY_REGION(address, size)
#define ARENA_RED_ZONE 16u
#else
#define ARENA_POISON(address, size) ((void)(address), (void)(size))
#define ARENA_UNPOISON(address, size) ((void)(address), (void)(size))
#define ARENA_RED_ZONE 0u
#endif

#define ARENA_ALIGN 16u
#define ARENA_FIRST_CHUNK ((size_t)4096)
#define ARENA_LAST_CHUNK ((size_t)1 << 20)
#define ARENA_CLEAN_CHUNK ((size_t)128 << 10) /* above this malloc asks the kernel */
#define ARENA_MAX_ALLOCATION ((uint64_t)1 << 40)

struct chunk {
    struct chunk *next;
    size_t size; /* of data */
    size_t used;
    bool clean; /* zeroed as a whole; otherwise each allocation is */
    alignas(ARENA_ALIGN) unsigned char data[];
};

struct assay__arena {
    struct chunk *current; /* the chunk that is being filled; others follow by next */
    size_t next_size;
    size_t used;
    bool failed;
};

struct assay__arena *assay__arena_new(void)
{
    struct assay__arena *arena = calloc(1, sizeof *arena);
    if (arena) arena->next_size = ARENA_FIRST_CHUNK;
    return arena;
}

void assay__arena_free(struct assay__arena *arena)
{
    if (!arena) return;
    struct chunk *chunk = arena->current;
    while (chunk) {
        struct chunk *next = chunk->next;
        ARENA_UNPOISON(chunk->data, chunk->size);
        free(chunk);
        chunk = next;
    }
    free(arena);
}

static inline void *chunk_take(struct chunk *chunk, size_t size, size_t padded)
{
    unsigned char *memory = chunk->data + chunk->used;
    chunk->used += padded;
    ARENA_UNPOISON(memory, size ? size : 1);
    if (!chunk->clean) memset(memory, 0, size);
    return memory;
}

/* Separate, so that the common path stays short. */
__attribute__((noinline)) static void *alloc_in_new_chunk(struct assay__arena *arena, size_t size,
                                                          size_t padded)
{
    bool own = arena->current && padded > arena->next_size;
    size_t chunk_size = padded > arena->next_size ? padded : arena->next_size;
    /* calloc gives zeroed pages from the kernel without touching them, so zeroing costs nothing for
     * large chunks. For a small chunk it would have to write the zeros, including to the part that
     * is never used. */
    bool clean = chunk_size >= ARENA_CLEAN_CHUNK;
    size_t bytes = sizeof(struct chunk) + chunk_size;
    struct chunk *chunk = clean ? calloc(1, bytes) : malloc(bytes);
    if (!chunk) {
        arena->failed = true;
        return NULL;
    }
    chunk->size = chunk_size;
    chunk->used = 0;
    chunk->clean = clean;
    ARENA_POISON(chunk->data, chunk->size);
    arena->used += size;
    if (own) {
        chunk->next = arena->current->next;
        arena->current->next = chunk;
    } else {
        chunk->next = arena->current;
        arena->current = chunk;
        if (arena->next_size < ARENA_LAST_CHUNK) arena->next_size *= 2;
    }
    return chunk_take(chunk, size, padded);
}

static inline void *alloc(struct assay__arena *arena, size_t size)
{
    if (!arena) return NULL;
    if ((uint64_t)size > ARENA_MAX_ALLOCATION) {
        arena->failed = true;
        return NULL;
    }
    size_t padded = (size + ARENA_RED_ZONE + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
    if (padded == 0) padded = ARENA_ALIGN;
    struct chunk *chunk = arena->current;
    if (!chunk || chunk->size - chunk->used < padded)
        return alloc_in_new_chunk(arena, size, padded);
    arena->used += size;
    return chunk_take(chunk, size, padded);
}

void *assay__arena_alloc(struct assay__arena *arena, size_t size)
{
    return alloc(arena, size);
}

void *assay__arena_array(struct assay__arena *arena, size_t count, size_t size)
{
    size_t total;
    if (assay__mul_overflows(count, size, &total)) total = SIZE_MAX;
    return alloc(arena, total);
}

char *assay__arena_strndup(struct assay__arena *arena, const char *text, size_t length)
{
    size_t size;
    if (!text || assay__add_overflows(length, 1, &size)) return NULL;
    char *copy = alloc(arena, size);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    return copy;
}

void *assay__arena_grow(struct assay__arena *arena, void *items, size_t count, size_t size)
{
    if (count & (count - 1)) return items;
    void *bigger = assay__arena_array(arena, count ? count * 2 : 1, size);
    if (bigger && count) memcpy(bigger, items, count * size);
    return bigger;
}

char *assay__arena_strdup(struct assay__arena *arena, const char *text)
{
    return text ? assay__arena_strndup(arena, text, strlen(text)) : NULL;
}

static char *print(struct assay__arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : alloc(arena, (size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

char *assay__arena_printf(struct assay__arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = print(arena, format, args);
    va_end(args);
    return text;
}

const char *assay__arena_vtext(struct assay__arena *arena, const char *format, va_list args)
{
    const char *text = print(arena, format, args);
    return text ? text : "";
}

const char *assay__arena_text(struct assay__arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = assay__arena_vtext(arena, format, args);
    va_end(args);
    return text;
}

bool assay__arena_failed(const struct assay__arena *arena)
{
    return !arena || arena->failed;
}

void assay__arena_fail(struct assay__arena *arena)
{
    arena->failed = true;
}

size_t assay__arena_used(const struct assay__arena *arena)
{
    return arena ? arena->used : 0;
}
