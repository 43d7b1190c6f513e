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
    const struct assay__layer *layer = &layers->items[index];
    struct assay__buf key = {0};
    char *copy = NULL;
    assay__buf_puts(&key, layer->op);
    size_t from = index;
    while (from > 0 && layers->items[from].from_count == 0)
        from--;
    assay__buf_putc(&key, from == index ? '<' : '@');
    for (size_t i = 0; i < layers->items[from].from_count; i++) {
        assay__buf_puts(&key, layers->items[from].from[i]);
        assay__buf_putc(&key, '\n');
    }
    if (!key.failed) copy = assay__arena_strndup(arena, key.data, key.length);
    assay__buf_free(&key);
    return copy;
}

/* heads: key -> first layer of `other` that has it; next: the one after it, or ASSAY__MAP_NONE. */
static int index_layers(struct assay__arena *arena, const struct assay__layers *other,
                        struct assay__map *heads, size_t *next)
{
    for (size_t i = other->count; i-- > 0;) {
        char *key = key_of(arena, other, i);
        if (!key) return ASSAY_ENOMEM;
        next[i] = assay__map_get(heads, key);
        if (assay__map_set(heads, key, i)) return ASSAY_ENOMEM;
    }
    return 0;
}

static int pair(struct assay__arena *arena, const struct assay__layers *lead,
                struct assay__map *heads, const size_t *next, size_t *where)
{
    for (size_t i = 0; i < lead->count; i++) {
        char *key = key_of(arena, lead, i);
        if (!key) return ASSAY_ENOMEM;
        where[i] = assay__map_get(heads, key);
        if (where[i] == ASSAY__MAP_NONE) return ASSAY_ENOTFOUND;
        if (assay__map_set(heads, key, next[where[i]])) return ASSAY_ENOMEM;
    }
    return 0;
}

int assay__layers_match(const struct assay__layers *lead, const struct assay__layers *other,
                        size_t *where)
{
    if (lead->count != other->count || strcmp(lead->method, other->method) != 0)
        return ASSAY_ENOTFOUND;
    struct assay__arena *arena = assay__arena_new();
    struct assay__map *heads = assay__map_new();
    size_t *next = calloc(other->count + 1, sizeof *next);
    int code = arena && heads && next ? index_layers(arena, other, heads, next) : ASSAY_ENOMEM;
    if (code == 0) code = pair(arena, lead, heads, next, where);
    free(next);
    assay__map_free(heads);
    assay__arena_free(arena);
    return code;
}
