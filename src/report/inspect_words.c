/* inspect_words.c - pieces that several formats of inspect show in the same words: operators,
 * shapes, the order of the layers, and the sentence that says what the model is. */
#include "base/text.h"
#include "report/inspect.h"

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

bool assay__inspect_is_input(const struct assay__inspect *doc, const struct assay__value *value)
{
    return assay__map_get(doc->weights, value->name) == ASSAY__MAP_NONE;
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

size_t *assay__inspect_order(const struct assay__inspect *doc, enum assay__inspect_sort sort)
{
    struct rank *ranks = calloc(doc->layer_count + 1, sizeof *ranks);
    size_t *order = calloc(doc->layer_count + 1, sizeof *order);
    if (!ranks || !order) {
        free(ranks);
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < doc->layer_count; i++)
        ranks[i] = (struct rank){assay__inspect_weight(&doc->layers[i], sort), i};
    qsort(ranks, doc->layer_count, sizeof *ranks, compare_ranks);
    for (size_t i = 0; i < doc->layer_count; i++)
        order[i] = ranks[i].position;
    free(ranks);
    return order;
}

/* --- the sentence ----------------------------------------------------------------------------- */

static void put_scaled(struct assay__buf *out, double value, const char *unit)
{
    char text[64];
    assay__text_scaled(text, sizeof text, value, unit);
    assay__buf_puts(out, text);
}

/* "26 Conv take 99.2 % of its 703 MFLOP": the operator with the most FLOPs is first in the list. */
static void put_dominant(struct assay__buf *out, const struct assay__analysis *a)
{
    const struct assay__op_total *top = a->op_count ? &a->ops[0] : NULL;
    assay__buf_puts(out, a->unknown_flops ? "at least " : "");
    put_scaled(out, a->flops, "FLOP");
    assay__buf_puts(out, " per inference");
    if (!top || !(top->flops > 0) || !(a->flops > 0)) return;
    double share = top->flops / a->flops;
    if (share > 1) share = 1; /* bodies that run several times are in both */
    assay__buf_printf(out, ", %.*f %% of %s in %zu ", share < 0.9995 ? 1 : 0, share * 100,
                      a->unknown_flops ? "that" : "them", top->count);
    assay__inspect_op(out, top->domain, top->op);
}

void assay__inspect_answer(struct assay__buf *out, const struct assay__inspect *doc)
{
    const struct assay__analysis *a = doc->analysis;
    assay__buf_printf(out, "%zu node%s of %zu operator%s", doc->layer_count + doc->inner_nodes,
                      doc->layer_count + doc->inner_nodes == 1 ? "" : "s", a->op_count,
                      a->op_count == 1 ? "" : "s");
    if (a->parameters >= 0) {
        assay__buf_puts(out, " with ");
        assay__render_short_count(out, a->parameters);
        assay__buf_printf(out, " parameter%s", a->parameters == 1 ? "" : "s");
    }
    assay__buf_puts(out, ": ");
    if (a->flops > 0 || !a->unknown_flops)
        put_dominant(out, a);
    else
        assay__buf_puts(out, "its operations are not known");
    double moved = a->bytes_read + a->bytes_written;
    if (moved > 0 && !a->unknown_bytes && !a->unknown_flops && a->flops > 0) {
        assay__buf_puts(out, "; ");
        put_scaled(out, a->flops / moved, "FLOP/B");
    }
    if (isfinite(a->live.peak_bytes)) {
        assay__buf_puts(out, "; activations peak at ");
        put_scaled(out, a->live.peak_bytes, "B");
    }
    assay__buf_putc(out, '.');
    struct assay__buf left = {0};
    assay__inspect_left_out(&left, doc, ASSAY__LACK_ANY);
    if (left.length)
        assay__buf_printf(out, " %s: the totals leave %s out.", left.data,
                          assay__inspect_left(a, ASSAY__LACK_ANY) == 1 ? "it" : "them");
    assay__buf_free(&left);
}
