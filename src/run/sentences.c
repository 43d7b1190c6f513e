/* sentences.c - appends to a list of sentences. */
#include "run/sentences.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void assay__sentences_add(struct assay__sentences *list, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 8;
        const char **items = assay__arena_array(list->arena, capacity, sizeof *items);
        unsigned char *kinds = assay__arena_array(list->arena, capacity, sizeof *kinds);
        if (!items || !kinds) {
            list->failed = true;
            return;
        }
        if (list->count) memcpy(items, list->items, list->count * sizeof *items);
        if (list->count) memcpy(kinds, list->kinds, list->count * sizeof *kinds);
        list->items = items;
        list->kinds = kinds;
        list->capacity = capacity;
    }
    const char *copy = assay__arena_strdup(list->arena, text);
    if (copy)
        list->items[list->count++] = copy;
    else
        list->failed = true;
}

void assay__sentences_kind(struct assay__sentences *list, unsigned char kind)
{
    if (list->count) list->kinds[list->count - 1] = kind;
}
