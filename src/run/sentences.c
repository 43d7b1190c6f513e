/* sentences.c - appends to a list of sentences. */
#include "run/sentences.h"

#include <stdarg.h>
#include <stdio.h>

void assay__sentences_add(struct assay__sentences *list, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *copy = assay__arena_strdup(list->arena, text);
    const char **items = assay__arena_grow(list->arena, list->items, list->count, sizeof *items);
    unsigned char *kinds = assay__arena_grow(list->arena, list->kinds, list->count, sizeof *kinds);
    if (items) list->items = items;
    if (kinds) list->kinds = kinds;
    list->failed |= !copy || !items || !kinds;
    if (list->failed) return;
    kinds[list->count] = 0;
    items[list->count++] = copy;
}

void assay__sentences_kind(struct assay__sentences *list, unsigned char kind)
{
    if (list->count) list->kinds[list->count - 1] = kind;
}
