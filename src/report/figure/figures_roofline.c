/* figures_roofline.c - the hot layers of a trial against what the device can do (cost/roofline.h).
 * The roofs drawn are those of the layers shown, and always the furthest memory: it is what larger
 * layers meet. */
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

static void add_roofs(struct assay__sketch *k, const struct chosen *c)
{
    struct assay__figure *f = k->figure;
    f->roofs = assay__arena_array(k->arena, c->peak_count + c->level_count, sizeof *f->roofs);
    if (!f->roofs) k->failed = true;
    if (!f->roofs) return;
    for (size_t i = 0; i < c->peak_count; i++)
        f->roofs[f->roof_count++] = (struct assay__figure_roof){c->peaks[i]->label,
                                                                c->peaks[i]->value, NAN};
    for (size_t i = 0; i < c->level_count; i++)
        f->roofs[f->roof_count++] = (struct assay__figure_roof){c->levels[i]->label, NAN,
                                                                c->levels[i]->value};
}

/* The slowest layers that have a place in the picture. */
static void fill(struct assay__sketch *k, const struct assay__roofline *r, struct chosen *chosen,
                 struct assay__points *p)
{
    const struct assay__layers *layers = &k->trial->layers;
    size_t *order = assay__layer_order(layers);
    if (!order) k->failed = true;
    for (size_t i = 0; order && i < layers->count && p->count < ASSAY__ROOFLINE_POINTS; i++) {
        const struct assay__layer *layer = &layers->items[order[i]];
        const struct assay__roofline_layer *placed = &r->layers[order[i]];
        if (layer->state == ASSAY_UNAVAILABLE || !assay__roofline_is_placed(placed)) continue;
        p->x[p->count] = placed->intensity, p->y[p->count] = placed->rate;
        p->names[p->count] = assay__layer_title(layer);
        p->links[p->count] = assay__sketch_printf(k, "#layer-%d", layer->index);
        if (placed->utilization > ASSAY__ROOFLINE_ABOVE) p->flags[p->count] = ASSAY__POINT_FAULT;
        p->count++;
        use(placed->peak, chosen->peaks, &chosen->peak_count);
        use(placed->level, chosen->levels, &chosen->level_count);
    }
    use(r->peak, chosen->peaks, &chosen->peak_count);
    use(r->memory, chosen->levels, &chosen->level_count);
    free(order);
}

int assay__figure_roofline(struct assay__sketch *k, size_t part)
{
    const struct assay__layers *layers = &k->trial->layers;
    struct chosen chosen = {0};
    struct assay__points p;
    if (part) return assay__sketch_none(k, "there is one roofline");
    if (!k->study->profile->ceiling_count)
        return assay__sketch_none(k, "the profile has no ceilings");
    if (!layers->count)
        return assay__sketch_none(
            k, layers->reason && layers->reason[0] ? layers->reason : "the layers were not timed");
    const struct assay__roofline *r = assay__study_roofline(k->study, k->trial);
    if (k->study->failed ||
        !assay__sketch_points(k, &p, ASSAY__ROOFLINE_POINTS, ASSAY__WITH_NAMES | ASSAY__WITH_LINKS))
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
    add_roofs(k, &chosen);
    f->x_title = "operations per byte (FLOP/B)";
    f->y_title = "operations per second", f->y_unit = "FLOP/s";
    f->x_log = f->y_log = true;
    f->caption = "A layer cannot exceed the roof above it: the closer, the better. Under the slope "
                 "memory is the limit, under the flat part arithmetic.";
    f->description = assay__sketch_printf(k, "%zu layer%s below %zu roofs.", p.count,
                                          assay__plural((double)p.count), f->roof_count);
    if (r->above)
        f->note = assay__sketch_printf(
            k, "%zu layer%s above %s roof: the FLOPs, the bytes or a ceiling must be wrong.",
            r->above, r->above == 1 ? " is" : "s are", r->above == 1 ? "its" : "their");
    return assay__sketch_end(k);
}
