/* inspect_words.c - what is shown alike wherever a model is: operators, shapes, the order of the
 * layers. */
#include "base/text.h"
#include "inspect/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void assay__inspect_op(struct assay__buf *out, const char *domain, const char *op)
{
    if (domain && *domain && strcmp(domain, "ai.onnx") != 0) {
        assay__buf_puts(out, domain);
        assay__buf_putc(out, '.');
    }
    assay__buf_puts(out, op ? op : "");
}

static void put_dim(struct assay__buf *out, int d, int64_t value, const char *symbol)
{
    if (d) assay__buf_puts(out, "×");
    if (value >= 0)
        assay__buf_printf(out, "%" PRId64, value);
    else if (symbol && strpbrk(symbol, "+-*/ "))
        assay__buf_printf(out, "(%s)", symbol);
    else
        assay__buf_puts(out, symbol && *symbol ? symbol : "?");
}

void assay__inspect_shape(struct assay__buf *out, const struct assay__shapes *shapes,
                          const struct assay__shape_entry *entry)
{
    if (!entry || entry->rank < 0) assay__buf_puts(out, "unknown shape");
    if (entry && entry->rank == 0) assay__buf_puts(out, "scalar");
    for (int d = 0; entry && d < entry->rank; d++)
        put_dim(out, d, entry->dims[d],
                entry->dims[d] < 0 ? assay__shapes_symbol(shapes, entry->dims[d]) : "");
}

void assay__inspect_value_shape(struct assay__buf *out, const struct assay__value *value)
{
    static const char *const kinds[] = {"", "", "sequence", "map", "optional", "unknown type"};
    if (value->kind > ASSAY__KIND_SPARSE) {
        assay__buf_puts(out, kinds[value->kind]);
        return;
    }
    if (value->rank < 0) assay__buf_puts(out, "unknown shape");
    if (value->rank == 0) assay__buf_puts(out, "scalar");
    for (int d = 0; d < value->rank; d++)
        put_dim(out, d, value->dims[d].value, value->dims[d].symbol);
}

void assay__inspect_output_shape(struct assay__buf *out, const struct assay__inspect *inspect,
                                 const struct assay__inspect_layer *layer)
{
    const struct assay__shapes *shapes = inspect->analysis->shapes;
    assay__inspect_shape(
        out, shapes,
        layer->node->output_count ? assay__shapes_get(shapes, layer->node->outputs[0]) : NULL);
}

bool assay__inspect_is_input(const struct assay__inspect *inspect, const struct assay__value *value)
{
    return assay__map_get(inspect->weights, value->name) == ASSAY__MAP_NONE;
}

/* --- order ------------------------------------------------------------------------------------ */

double assay__inspect_weight(const struct assay__inspect_layer *layer,
                             enum assay__inspect_sort sort)
{
    if (sort == ASSAY__SORT_BYTES) return layer->bytes;
    return sort == ASSAY__SORT_MEMORY ? layer->memory_bytes : layer->cost->flops;
}

struct rank {
    double weight;
    size_t position;
};

static int compare_ranks(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    bool known_a = isfinite(a->weight), known_b = isfinite(b->weight);
    if (known_a != known_b) return known_a ? -1 : 1;
    if (known_a && a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

size_t *assay__inspect_order(const struct assay__inspect *inspect, enum assay__inspect_sort sort,
                             struct assay__arena *arena)
{
    size_t count = inspect->layer_count;
    struct rank *ranks = calloc(count + 1, sizeof *ranks);
    size_t *order = assay__arena_array(arena, count + 1, sizeof *order);
    for (size_t i = 0; ranks && i < count; i++)
        ranks[i] = (struct rank){assay__inspect_weight(&inspect->layers[i], sort), i};
    if (ranks) qsort(ranks, count, sizeof *ranks, compare_ranks);
    for (size_t i = 0; ranks && order && i < count; i++)
        order[i] = ranks[i].position;
    if (!ranks) order = NULL;
    free(ranks);
    return order;
}
