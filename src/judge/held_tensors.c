/* held_tensors.c - see held_tensors.h. A tensor is identified by its producer and its name: an
 * engine may compute one value twice, in two layouts. */
#include "judge/held_tensors.h"

#include "base/map.h"

#include <math.h>
#include <stdlib.h>

struct held {
    const struct assay__layers *layers;
    struct assay__arena *arena;
    struct assay__map *by_key;
    struct assay__held_tensors *out;
    size_t *read_first; /* by layer: the tensor that it reads first, plus 1 */
};

/* Places come from a file. */
static size_t place(const struct held *h, int layer, size_t otherwise)
{
    return layer < 0 || (size_t)layer >= h->layers->count ? otherwise : (size_t)layer;
}

static size_t tensor_of(struct held *h, const struct assay__edge *edge)
{
    const char *key = assay__arena_text(h->arena, "%d:%s", edge->producer,
                                        edge->tensor ? edge->tensor : "");
    size_t at = assay__map_get(h->by_key, key), first = place(h, edge->producer, 0);
    if (at != ASSAY__MAP_NONE) return at;
    at = h->out->count++;
    h->out->items[at] = (struct assay__held_tensor){edge->tensor ? edge->tensor : "",
                                                    edge->producer, first, first, edge->bytes};
    if (assay__map_set(h->by_key, key, at)) assay__arena_fail(h->arena);
    return at;
}

static void add_edges(struct held *h)
{
    const struct assay__layers *layers = h->layers;
    for (size_t i = 0; i < layers->edge_count && !assay__arena_failed(h->arena); i++) {
        const struct assay__edge *edge = &layers->edges[i];
        size_t at = tensor_of(h, edge), reader = place(h, edge->consumer, layers->count - 1);
        struct assay__held_tensor *tensor = &h->out->items[at];
        if (reader > tensor->last) tensor->last = reader;
        if (edge->consumer >= 0 && !h->read_first[reader]) h->read_first[reader] = at + 1;
    }
}

static int by_first(const void *left, const void *right)
{
    const struct assay__held_tensor *a = *(struct assay__held_tensor *const *)left,
                                    *b = *(struct assay__held_tensor *const *)right;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* What the tensor is a view of; NULL: it is not a view. */
static struct assay__held_tensor *viewed(const struct held *h,
                                         const struct assay__held_tensor *tensor)
{
    if (tensor->producer < 0 || h->layers->items[tensor->first].bytes != 0) return NULL;
    size_t read = h->read_first[tensor->first];
    struct assay__held_tensor *from = read ? &h->out->items[read - 1] : NULL;
    return from && from != tensor && from->bytes == tensor->bytes ? from : NULL;
}

/* In reverse order of creation, so that a view of a view extends the life of the original. */
static int join_views(struct held *h)
{
    size_t count = h->out->count, kept = 0;
    struct assay__held_tensor **order = calloc(count + 1, sizeof *order);
    bool *is_view = calloc(count + 1, sizeof *is_view);
    int code = order && is_view ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < count && !code; i++)
        order[i] = &h->out->items[i];
    if (!code) qsort(order, count, sizeof(struct assay__held_tensor *), by_first);
    for (size_t i = count; !code && i-- > 0;) {
        struct assay__held_tensor *from = viewed(h, order[i]);
        if (!from || from->first >= order[i]->first) continue;
        if (order[i]->last > from->last) from->last = order[i]->last;
        is_view[order[i] - h->out->items] = true;
    }
    for (size_t i = 0; i < count && !code; i++)
        if (!is_view[i]) h->out->items[kept++] = h->out->items[i];
    h->out->count = kept;
    free(order);
    free(is_view);
    return code;
}

static void add_up(struct held *h)
{
    struct assay__held_tensors *out = h->out;
    double sum = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct assay__held_tensor *tensor = &out->items[i];
        bool known = isfinite(tensor->bytes);
        out->unknown += !known;
        if (known) out->bytes[tensor->first] += tensor->bytes;
        if (known) out->bytes[tensor->last + 1] -= tensor->bytes;
    }
    for (size_t i = 0; i < h->layers->count; i++) {
        sum += out->bytes[i];
        out->bytes[i] = sum;
        if (sum > out->bytes[out->peak]) out->peak = i;
    }
}

int assay__held_tensors(const struct assay__layers *layers, struct assay__arena *arena,
                        struct assay__held_tensors *out)
{
    struct held h = {.layers = layers, .arena = arena, .out = out};
    *out = (struct assay__held_tensors){0};
    if (!layers->count || !layers->edge_count) return 0;
    h.by_key = assay__map_new();
    h.read_first = calloc(layers->count, sizeof *h.read_first);
    out->items = assay__arena_array(arena, layers->edge_count, sizeof *out->items);
    out->bytes = assay__arena_array(arena, layers->count + 1, sizeof *out->bytes);
    int code = h.by_key && h.read_first && out->items && out->bytes ? 0 : ASSAY_ENOMEM;
    if (!code) add_edges(&h);
    if (!code) code = join_views(&h);
    if (!code) add_up(&h);
    if (assay__arena_failed(arena)) code = ASSAY_ENOMEM;
    assay__map_free(h.by_key);
    free(h.read_first);
    return code;
}
