/* figures_bands.c - the tensors that are held while each layer runs, as stacked bands
 * (judge/held_tensors.h): those that take the most over all layers, at most BANDS, and the sum of
 * the others. Bands are in the order in which the tensors are created, so that a long-lived tensor
 * is below those that come and go. */
#include "report/figure/figures.h"

#include "judge/held_tensors.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>

#define BANDS 80

static double area(const struct assay__held_tensor *tensor)
{
    return isfinite(tensor->bytes) ? tensor->bytes * (double)(tensor->last - tensor->first + 1) : 0;
}

static int by_area(const void *left, const void *right)
{
    const struct assay__held_tensor *a = *(const struct assay__held_tensor *const *)left,
                                    *b = *(const struct assay__held_tensor *const *)right;
    if (area(a) != area(b)) return area(a) < area(b) ? 1 : -1;
    return a < b ? -1 : a > b;
}

static int by_first(const void *left, const void *right)
{
    const struct assay__held_tensor *a = *(const struct assay__held_tensor *const *)left,
                                    *b = *(const struct assay__held_tensor *const *)right;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Its producer: "/conv1/Conv", "input 'x'". */
static const char *maker(struct assay__sketch *k, const struct assay__held_tensor *tensor)
{
    if (tensor->producer < 0) return assay__sketch_printf(k, "input '%s'", tensor->name);
    return assay__layer_title(&k->trial->layers.items[tensor->first]);
}

static void add_band(struct assay__sketch *k, const struct assay__held_tensor *tensor,
                     const char *const *names, double *others)
{
    const struct assay__layers *layers = &k->trial->layers;
    struct assay__points p;
    if (!assay__sketch_points(k, &p, layers->count, ASSAY__WITH_NAMES | ASSAY__WITH_LAYERS)) return;
    for (p.count = 0; p.count < layers->count; p.count++) {
        bool held = p.count >= tensor->first && p.count <= tensor->last;
        p.x[p.count] = (double)p.count;
        p.y[p.count] = held ? tensor->bytes : 0;
        if (held) others[p.count] -= tensor->bytes;
    }
    const char *by = maker(k, tensor);
    p.names[0] = tensor->producer < 0 ? by
                                      : assay__sketch_printf(k, "%s from %s", tensor->name, by);
    if (tensor->producer >= 0) p.layers[0] = layers->items[tensor->first].index;
    assay__sketch_add(k, tensor->producer < 0 ? by : names[tensor->first], &p);
}

static void add_others(struct assay__sketch *k, size_t count, const double *others)
{
    size_t layers = k->trial->layers.count;
    struct assay__points p;
    if (!count || !assay__sketch_points(k, &p, layers, ASSAY__WITH_NAMES)) return;
    for (p.count = 0; p.count < layers; p.count++) {
        p.x[p.count] = (double)p.count;
        p.y[p.count] = others[p.count];
    }
    const char *name = assay__sketch_printf(k, "%zu smaller tensor%s", count,
                                            assay__plural((double)count));
    p.names[0] = name;
    assay__sketch_add(k, name, &p)->faint = true;
}

static void add_bands(struct assay__sketch *k, const struct assay__held_tensors *held)
{
    const struct assay__held_tensor **order = calloc(held->count + 1, sizeof *order);
    double *others = assay__arena_array(k->arena, k->trial->layers.count, sizeof *others);
    const char *const *names = assay__sketch_layer_names(k);
    size_t shown = 0, sized = held->count - held->unknown;
    k->failed |= !order || !others;
    for (size_t i = 0; i < held->count && !k->failed; i++)
        order[i] = &held->items[i];
    if (!k->failed) qsort(order, held->count, sizeof *order, by_area);
    while (shown < held->count && shown < BANDS && order && area(order[shown]) > 0)
        shown++;
    if (!k->failed) qsort(order, shown, sizeof *order, by_first);
    for (size_t i = 0; i < k->trial->layers.count && !k->failed; i++)
        others[i] = held->bytes[i];
    for (size_t i = 0; i < shown && !k->failed; i++)
        add_band(k, order[i], names, others);
    if (!k->failed) add_others(k, sized > shown ? sized - shown : 0, others);
    free(order);
}

/* "At the peak: 3.21 MB from /conv1/Conv, 803 kB from …. " */
static void put_peak(struct assay__sketch *k, const struct assay__held_tensors *held,
                     struct assay__buf *text)
{
    enum { NAMED = 3 };
    const struct assay__held_tensor *before = NULL;
    for (int n = 0; n < NAMED; n++) { /* the next smaller one */
        const struct assay__held_tensor *next = NULL;
        for (size_t i = 0; i < held->count; i++) {
            const struct assay__held_tensor *t = &held->items[i];
            bool there = t->first <= held->peak && t->last >= held->peak && isfinite(t->bytes);
            bool after = !before || t->bytes < before->bytes ||
                         (t->bytes == before->bytes && t > before);
            if (there && after && (!next || t->bytes > next->bytes)) next = t;
        }
        if (!next) break;
        assay__buf_printf(text, "%s%s from %s",
                          n ? ", " : "At the peak: ", assay__scaled(next->bytes, "B").text,
                          assay__sketch_short(k, maker(k, next)));
        before = next;
    }
    assay__buf_puts(text, ". ");
}

/* What is held at the peak, what the model's graph implies instead, what is not drawn. */
static const char *remark(struct assay__sketch *k, const struct assay__held_tensors *held)
{
    const struct assay_metric *graph = assay__trial_metric(k->trial, "memory.activation.predicted");
    struct assay__buf text = {0};
    put_peak(k, held, &text);
    if (graph && fabs(graph->value - held->bytes[held->peak]) > 0.005 * graph->value)
        assay__buf_printf(
            &text, "By the model's graph, before layers are fused and reordered, the peak is %s. ",
            assay__scaled(graph->value, "B").text);
    if (held->unknown)
        assay__buf_printf(&text, "%zu tensor%s of unknown size %s not drawn. ", held->unknown,
                          assay__plural((double)held->unknown), held->unknown == 1 ? "is" : "are");
    if (text.length) text.data[--text.length] = 0;
    return assay__sketch_take(k, &text);
}

int assay__figure_bands(struct assay__sketch *k)
{
    const struct assay__layers *layers = &k->trial->layers;
    struct assay__held_tensors held;
    if (assay__held_tensors(layers, k->arena, &held)) k->failed = true;
    if (k->failed) return assay__sketch_end(k);
    if (layers->count < 2 || held.count == held.unknown) return ASSAY_ENOTFOUND;
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_BANDS, "memory",
                                                  "Tensors held while each layer runs");
    add_bands(k, &held);
    f->x_title = "layer, in execution order", f->x_unit = "count";
    f->y_title = "held between layers", f->y_unit = "B", f->y_zero = true;
    struct assay__digits most = assay__scaled(held.bytes[held.peak], "B");
    assay__sketch_mark(k, true, (double)held.peak + 0.5,
                       assay__sketch_printf(k, "peak %s", most.text));
    f->caption =
        "Each band is a tensor, named after the layer that produces it: its height is its size, "
        "and it ends at the last layer that reads it. Weights are not included.";
    f->description = assay__sketch_printf(
        k, "%zu tensors. Peak %s, while layer %d, %s, runs.", held.count, most.text,
        layers->items[held.peak].index,
        assay__sketch_short(k, assay__layer_title(&layers->items[held.peak])));
    f->note = remark(k, &held);
    return assay__sketch_end(k);
}
