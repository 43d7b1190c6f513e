/* counters_class.c - sums the counters of all layers of one operator. A class's value is the sum
 * over its layers in one launch, and the mean of that over the launches that know it; its time is
 * that of the trial's layers. Classes stand by time, longest first. A layer without a value (its
 * time is in another layer) adds nothing. */
#include "run/watch/counters_class.h"

#include "base/map.h"

#include <math.h>
#include <stdlib.h>

struct classes {
    struct assay__class_counters *items;
    size_t count, counters;
    struct assay__map *index; /* operator -> item */
    double *sums;             /* of one launch: count x counters */
    double *launches;         /* that know it: count x counters */
};

static int gather(struct classes *c, const struct assay__layers *layers, struct assay__arena *arena)
{
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        size_t at = assay__map_get(c->index, layer->op);
        if (at == ASSAY__MAP_NONE) {
            at = c->count;
            if (assay__map_set(c->index, layer->op, at)) return ASSAY_ENOMEM;
            struct assay__class_counters *item = &c->items[c->count++];
            *item = (struct assay__class_counters){.op = layer->op, .time_ns = NAN};
            item->values = assay__arena_array(arena, c->counters, sizeof *item->values);
            if (!item->values) return ASSAY_ENOMEM;
        }
        struct assay__class_counters *item = &c->items[at];
        item->layers++;
        if (isfinite(layer->time_ns))
            item->time_ns = isnan(item->time_ns) ? layer->time_ns : item->time_ns + layer->time_ns;
    }
    return 0;
}

/* NaN in sums: this launch knows nothing of it. */
static void add_launch(struct classes *c, const struct assay__layers *layers)
{
    for (size_t i = 0; i < c->count * c->counters; i++)
        c->sums[i] = NAN;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        size_t at = assay__map_get(c->index, layer->op);
        if (at == ASSAY__MAP_NONE || !layer->counters) continue;
        for (size_t k = 0; k < c->counters; k++) {
            double *sum = &c->sums[at * c->counters + k];
            if (isfinite(layer->counters[k]))
                *sum = isnan(*sum) ? layer->counters[k] : *sum + layer->counters[k];
        }
    }
    for (size_t i = 0; i < c->count * c->counters; i++) {
        if (!isfinite(c->sums[i])) continue;
        c->items[i / c->counters].values[i % c->counters] += c->sums[i];
        c->launches[i]++;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct assay__class_counters *x = a, *y = b;
    double s = isnan(x->time_ns) ? -1 : x->time_ns, t = isnan(y->time_ns) ? -1 : y->time_ns;
    return s < t ? 1 : s > t ? -1 : 0;
}

static int fill(struct classes *c, const struct assay__trial_input *input,
                const struct assay__outcome *const *used, size_t used_count)
{
    const struct assay__layers *layers = &input->trial->layers;
    struct assay__arena *arena = input->profile->arena;
    c->items = assay__arena_array(arena, layers->count, sizeof *c->items);
    c->index = assay__map_new();
    if (!c->items || !c->index || gather(c, layers, arena)) return ASSAY_ENOMEM;
    c->sums = calloc(c->count * c->counters + 1, sizeof *c->sums);
    c->launches = calloc(c->count * c->counters + 1, sizeof *c->launches);
    if (!c->sums || !c->launches) return ASSAY_ENOMEM;
    bool any = false;
    for (size_t i = 0; i < used_count; i++)
        if (used[i]->counted.layer_event_count == c->counters) add_launch(c, &used[i]->layers);
    for (size_t i = 0; i < c->count * c->counters; i++) {
        double *value = &c->items[i / c->counters].values[i % c->counters];
        /* Below 0: less than what the readings themselves count and how much that varies. */
        *value = c->launches[i] > 0 && *value >= 0 ? *value / c->launches[i] : NAN;
        any |= c->launches[i] > 0;
    }
    qsort(c->items, c->count, sizeof *c->items, by_time);
    input->trial->class_counters = any ? c->items : NULL;
    input->trial->class_counter_count = any ? c->count : 0;
    return 0;
}

static const char *explain(const struct assay__trial *trial,
                           const struct assay__outcome *const *used, size_t used_count)
{
    for (size_t i = 0; i < used_count; i++)
        if (used[i]->counted.layer_note && used[i]->counted.layer_note[0])
            return used[i]->counted.layer_note;
    if (trial->class_counter_count) return "";
    if (used_count == 0) return "no launch lasted until its counters were read";
    if (trial->layers.count == 0)
        return trial->layers.reason && trial->layers.reason[0]
                   ? trial->layers.reason
                   : "layers were not timed (--layers=off)";
    return trial->counter_count ? "this engine does not read counters at its layers"
                                : "no counter can be read here";
}

int assay__counters_classes(const struct assay__trial_input *input,
                            const struct assay__outcome *const *used, size_t used_count)
{
    struct assay__trial *trial = input->trial;
    const struct assay__counted *lead = used_count ? &used[0]->counted : NULL;
    struct classes c = {.counters = lead ? lead->layer_event_count : 0};
    trial->counter_names = assay__arena_array(input->profile->arena, c.counters + 1,
                                              sizeof *trial->counter_names);
    if (!trial->counter_names) return ASSAY_ENOMEM;
    for (size_t i = 0; i < c.counters; i++)
        trial->counter_names[i] = lead->events[lead->layer_events[i]].name;
    trial->counter_count = c.counters;
    int code = c.counters && trial->layers.count ? fill(&c, input, used, used_count) : 0;
    if (code == 0) trial->class_counter_note = explain(trial, used, used_count);
    assay__map_free(c.index);
    free(c.sums);
    free(c.launches);
    return code;
}
