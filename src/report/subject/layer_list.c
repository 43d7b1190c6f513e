/* layer_list.c - layers as people read them: by time, with their title, their sum and how they were
 * timed. */
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct layer_rank {
    double time_ns, enqueue_ns;
    size_t position;
};

static int compare_known(double a, double b)
{
    bool known_a = isfinite(a), known_b = isfinite(b);
    if (known_a != known_b) return known_a ? -1 : 1;
    if (!known_a || a == b) return 0;
    return a > b ? -1 : 1;
}

static int compare_ranks(const void *left, const void *right)
{
    const struct layer_rank *a = left, *b = right;
    int order = compare_known(a->time_ns, b->time_ns);
    if (!order) order = compare_known(a->enqueue_ns, b->enqueue_ns);
    return order ? order : a->position < b->position ? -1 : a->position > b->position;
}

size_t *assay__layer_order(const struct assay__layers *layers)
{
    if (!layers->count) return NULL;
    struct layer_rank *ranks = calloc(layers->count, sizeof *ranks);
    size_t *order = calloc(layers->count, sizeof *order);
    if (!ranks || !order) {
        free(ranks);
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *l = &layers->items[i];
        bool known = l->state != ASSAY_UNAVAILABLE;
        ranks[i] = (struct layer_rank){known ? l->time_ns : (double)NAN, l->host_enqueue_ns, i};
    }
    qsort(ranks, layers->count, sizeof *ranks, compare_ranks);
    for (size_t i = 0; i < layers->count; i++)
        order[i] = ranks[i].position;
    free(ranks);
    return order;
}

double assay__layer_sum(const struct assay__layers *layers, const size_t *order, size_t first,
                        size_t count)
{
    double sum = 0;
    for (size_t i = first; i < count; i++) {
        const struct assay__layer *l = &layers->items[order ? order[i] : i];
        sum += l->state == ASSAY_UNAVAILABLE ? (double)NAN : l->time_ns;
    }
    return sum;
}

void assay__layer_sort(struct assay__table *table, const struct assay__layers *layers)
{
    size_t *sorted = assay__layer_order(layers);
    size_t *order = assay__arena_array(table->doc->arena, table->row_count + 1, sizeof *order);
    if (!order || (!sorted && layers->count)) table->doc->failed = true;
    for (size_t i = 0; order && (sorted || !layers->count) && i < table->row_count; i++)
        order[i] = i < layers->count ? sorted[i] : i;
    table->order = order;
    free(sorted);
}

double assay__layer_total(const struct assay__trial *trial)
{
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    if (p50) return p50->value * 1e9;
    const struct assay__layers *layers = &trial->layers;
    return assay__layer_sum(layers, NULL, 0, layers->count) + layers->engine_ns +
           layers->unattributed_ns;
}

void assay__layer_method(struct assay__buf *out, const struct assay__layers *layers)
{
    const char *method = layers->method ? layers->method : "";
    if (strcmp(method, "isolated") == 0)
        assay__buf_puts(out, "timed alone, hot cache (isolated)");
    else if (strcmp(method, "kernels") == 0)
        assay__buf_puts(out, "time of their kernels on the GPU");
    else if (strcmp(method, "engine") == 0)
        assay__buf_puts(out, "timed by the engine's own profiler");
    else
        assay__buf_printf(out, "timed by %s", *method && strlen(method) < 20 ? method : "?");
}

bool assay__layers_on_gpu(const struct assay__layers *layers)
{
    return layers->traced_ns > 0;
}

void assay__add_gpu_parts(struct assay__doc *doc, const struct assay__trial *trial)
{
    const struct assay__layers *layers = &trial->layers;
    const struct assay_metric *p50 = assay__trial_metric(trial, "latency.p50");
    if (!assay__layers_on_gpu(layers)) return;
    assay__doc_fact(doc, "on the GPU");
    assay__doc_item(doc, "kernels", assay__measured(layers->kernels_ns / 1e9, "s"));
    assay__doc_item(doc, "copies", assay__measured(layers->copies_ns / 1e9, "s"));
    assay__doc_item(doc, "idle between them", assay__measured(layers->gaps_ns / 1e9, "s"));
    assay__doc_item(doc, "host before and after", assay__measured(layers->host_ns / 1e9, "s"));
    assay__doc_fact(doc, "traced run");
    assay__doc_item(doc, "sum", assay__measured(layers->traced_ns / 1e9, "s"));
    if (p50 && p50->value > 0) {
        assay__doc_item(doc, "unprofiled", assay__datum_metric(p50));
        assay__doc_item_text(doc, "%.3f × as long", layers->traced_ns / 1e9 / p50->value);
    }
    if (!isfinite(layers->plain_ns)) return;
    assay__doc_fact(doc, "without recording");
    assay__doc_item(doc, "median", assay__measured(layers->plain_ns / 1e9, "s"));
    if (isfinite(layers->slowdown))
        assay__doc_item_text(doc, "recording makes runs %.3f × as long (alternating rounds)",
                             layers->slowdown);
    if (isfinite(layers->lasting))
        assay__doc_item_text(doc, "%.3f × those before the recorder was opened", layers->lasting);
}
