/* figures_roofline.c - the layers of a trial compared with the device's roofs (cost/roofline.h).
 * The roofs drawn are those of the layers shown, and always that of main memory, which limits
 * larger layers. With it and the model's compute roof come lines at 50 % and 10 % of both. */
#include "report/figure/figures.h"

#include "cost/roofline.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>

#define ROOFS 8

static bool plausible(double value)
{
    return value > 1e-12 && value < 1e24;
}

bool assay__roofline_is_placed(const struct assay__roofline_layer *layer)
{
    return plausible(layer->rate) && plausible(layer->intensity);
}

struct chosen {
    const struct assay__roof *peaks[ROOFS], *levels[ROOFS];
    size_t peak_count, level_count;
};

static void use(const struct assay__roof *roof, const struct assay__roof **roofs, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (roofs[i] == roof) return;
    if (roof && plausible(roof->value) && *count < ROOFS) roofs[(*count)++] = roof;
}

static void add_roofs(struct assay__sketch *k, const struct assay__roofline *r,
                      const struct chosen *c)
{
    static const struct {
        double part;
        const char *name;
    } parts[] = {{0.5, "50 %"}, {0.1, "10 %"}};
    enum { PARTS = sizeof parts / sizeof parts[0] };
    struct assay__figure *f = k->figure;
    f->roofs = assay__arena_array(k->arena, c->peak_count + c->level_count + PARTS,
                                  sizeof *f->roofs);
    if (!f->roofs) k->failed = true;
    if (!f->roofs) return;
    for (size_t i = 0; i < c->peak_count; i++)
        f->roofs[f->roof_count++] = (struct assay__figure_roof){c->peaks[i]->label,
                                                                c->peaks[i]->value, NAN};
    for (size_t i = 0; i < c->level_count; i++)
        f->roofs[f->roof_count++] = (struct assay__figure_roof){c->levels[i]->label, NAN,
                                                                c->levels[i]->value};
    for (size_t i = 0; i < PARTS; i++)
        f->roofs[f->roof_count++] = (struct assay__figure_roof){
            parts[i].name, r->peak->value * parts[i].part, r->memory->value * parts[i].part};
}

static void add_layer(struct assay__points *p, const struct assay__layer *layer,
                      const struct assay__roofline_layer *placed)
{
    size_t at = p->count++;
    p->x[at] = placed->intensity, p->y[at] = placed->rate;
    p->areas[at] = layer->time_ns, p->shares[at] = placed->utilization;
    p->names[at] = assay__layer_title(layer);
    p->layers[at] = layer->index;
    if (placed->utilization > ASSAY__ROOFLINE_ABOVE) p->flags[at] = ASSAY__POINT_FAULT;
}

struct loser {
    double lost_ns, time_ns; /* -1 unknown */
    size_t layer;
};

static int by_loss(const void *left, const void *right)
{
    const struct loser *a = left, *b = right;
    if (a->lost_ns != b->lost_ns) return a->lost_ns < b->lost_ns ? 1 : -1;
    if (a->time_ns != b->time_ns) return a->time_ns < b->time_ns ? 1 : -1;
    return a->layer < b->layer ? -1 : a->layer > b->layer;
}

size_t *assay__roofline_order(const struct assay__layers *layers, const struct assay__roofline *r)
{
    struct loser *losers = calloc(layers->count + 1, sizeof *losers);
    size_t *order = losers ? calloc(layers->count + 1, sizeof *order) : NULL;
    for (size_t i = 0; order && i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        bool timed = assay__layer_is_timed(layer);
        double lost = timed ? layer->time_ns - r->layers[i].least_ns : (double)NAN;
        losers[i] = (struct loser){lost > 0         ? lost
                                   : isfinite(lost) ? 0
                                                    : -1,
                                   timed ? layer->time_ns : -1, i};
    }
    if (order) qsort(losers, layers->count, sizeof *losers, by_loss);
    for (size_t i = 0; order && i < layers->count; i++)
        order[i] = losers[i].layer;
    free(losers);
    return order;
}

/* Layers that have a position in the picture, those that lose the most first; these are named. */
static void fill(struct assay__sketch *k, const struct assay__roofline *r, struct chosen *chosen,
                 struct assay__points *p)
{
    enum { NAMED = 5 };
    const struct assay__layers *layers = &k->trial->layers;
    size_t *order = assay__roofline_order(layers, r);
    if (!order) k->failed = true;
    for (size_t i = 0; order && i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[order[i]];
        const struct assay__roofline_layer *placed = &r->layers[order[i]];
        if (layer->state == ASSAY_UNAVAILABLE || !assay__roofline_is_placed(placed)) continue;
        if (p->count < NAMED && placed->utilization < 1) p->flags[p->count] = ASSAY__POINT_MARKED;
        add_layer(p, layer, placed);
        use(placed->peak, chosen->peaks, &chosen->peak_count);
        use(placed->level, chosen->levels, &chosen->level_count);
    }
    use(r->peak, chosen->peaks, &chosen->peak_count);
    use(r->memory, chosen->levels, &chosen->level_count);
    free(order);
}

/* Layers above their roof, and those without a position. */
static const char *note(struct assay__sketch *k, const struct assay__roofline *r, size_t drawn)
{
    struct assay__buf text = {0};
    size_t idle = 0;
    double idle_ns = 0;
    for (size_t i = 0; i < r->layer_count; i++) {
        const struct assay__layer *layer = &k->trial->layers.items[i];
        if (layer->flops == 0 && assay__layer_is_timed(layer)) idle++, idle_ns += layer->time_ns;
    }
    size_t unknown = r->layer_count - drawn - idle;
    if (idle)
        assay__buf_printf(&text, "%zu layer%s (%s) compute%s nothing and %s no place here. ", idle,
                          assay__plural((double)idle), assay__scaled(idle_ns * 1e-9, "s").text,
                          idle == 1 ? "s" : "", idle == 1 ? "has" : "have");
    if (unknown)
        assay__buf_printf(&text, "%zu more layer%s not drawn: time, FLOPs or bytes are not known. ",
                          unknown, unknown == 1 ? " is" : "s are");
    if (r->above)
        assay__buf_printf(&text,
                          "%zu layer%s above %s roof: the FLOPs, the bytes or a ceiling must be "
                          "wrong. ",
                          r->above, r->above == 1 ? " is" : "s are",
                          r->above == 1 ? "its" : "their");
    if (text.length) text.data[--text.length] = 0;
    return assay__sketch_take(k, &text);
}

int assay__figure_roofline(struct assay__sketch *k, size_t part)
{
    const struct assay__layers *layers = &k->trial->layers;
    struct chosen chosen = {0};
    struct assay__points p;
    if (part) return assay__sketch_none(k, "there is only one roofline");
    if (!k->study->profile->ceiling_count)
        return assay__sketch_none(k, "the profile has no ceilings");
    if (!layers->count)
        return assay__sketch_none(
            k, layers->reason && layers->reason[0] ? layers->reason : "the layers were not timed");
    const struct assay__roofline *r = assay__study_roofline(k->study, k->trial);
    if (k->study->failed ||
        !assay__sketch_points(k, &p, layers->count,
                              ASSAY__WITH_NAMES | ASSAY__WITH_LAYERS | ASSAY__WITH_SHARES))
        return assay__sketch_end(k);
    if (r->reason[0]) return assay__sketch_none(k, r->reason);
    if (!r->peak || !r->memory)
        return assay__sketch_none(k, "the ceilings are incomplete: a roof is missing");
    fill(k, r, &chosen, &p);
    if (!k->failed && (!p.count || !chosen.peak_count || !chosen.level_count))
        return assay__sketch_none(k, "no layer has FLOPs, bytes and a time");
    struct assay__figure *f = assay__sketch_trial(k, ASSAY__FIGURE_ROOFLINE, "roofline",
                                                  "Roofline");
    assay__sketch_add(k, "layers", &p);
    add_roofs(k, r, &chosen);
    f->x_title = "operations per byte (FLOP/B)";
    f->y_title = "operations per second", f->y_unit = "FLOP/s";
    f->x_log = f->y_log = true;
    f->caption = "Each dot is a layer, its area the time it takes: the further below the roof, the "
                 "more of that time could be saved. Under a slope, memory is the limit; under the "
                 "flat part, arithmetic.";
    f->description = assay__sketch_printf(k, "%zu layer%s below %zu roofs.", p.count,
                                          assay__plural((double)p.count),
                                          chosen.peak_count + chosen.level_count);
    f->note = note(k, r, p.count);
    return assay__sketch_end(k);
}
