/* layer_match.c - which layer of one launch is which of another. Names do not show it: an engine
 * numbers the nodes that it adds, and orders independent nodes, differently from process to
 * process. The layer's origin does: the key is the operator and the original nodes; a layer that
 * the engine added (a change of layout, say) is known by what ran just before it. Layers with equal
 * keys are paired in order of execution. */
#include "run/trial/layer_match.h"

#include "base/buf.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static char *key_of(struct assay__arena *arena, const struct assay__layers *layers, size_t index)
{
    struct assay__buf key = {0};
    size_t from = index;
    assay__buf_puts(&key, layers->items[index].op);
    while (from > 0 && layers->items[from].from_count == 0)
        from--;
    assay__buf_putc(&key, from == index ? '<' : '@');
    for (size_t i = 0; i < layers->items[from].from_count; i++) {
        assay__buf_puts(&key, layers->items[from].from[i]);
        assay__buf_putc(&key, '\n');
    }
    return assay__buf_keep(&key, arena);
}

int assay__layers_match(const struct assay__layers *lead, const struct assay__layers *other,
                        size_t *where)
{
    if (lead->count != other->count || strcmp(lead->method, other->method) != 0)
        return ASSAY_ENOTFOUND;
    struct assay__arena *arena = assay__arena_new();
    struct assay__map *heads = assay__map_new(); /* key -> first layer of `other` that has it … */
    size_t *next = calloc(other->count + 1, sizeof *next); /* … the one after it, or MAP_NONE */
    int code = arena && heads && next ? 0 : ASSAY_ENOMEM;
    for (size_t i = other->count; i-- > 0 && code == 0;) {
        char *key = key_of(arena, other, i);
        if (key) next[i] = assay__map_get(heads, key);
        code = key ? assay__map_set(heads, key, i) : ASSAY_ENOMEM;
    }
    for (size_t i = 0; i < lead->count && code == 0; i++) {
        char *key = key_of(arena, lead, i);
        where[i] = key ? assay__map_get(heads, key) : ASSAY__MAP_NONE;
        code = !key                          ? ASSAY_ENOMEM
               : where[i] == ASSAY__MAP_NONE ? ASSAY_ENOTFOUND
                                             : assay__map_set(heads, key, next[where[i]]);
    }
    free(next);
    assay__map_free(heads);
    assay__arena_free(arena);
    return code;
}
