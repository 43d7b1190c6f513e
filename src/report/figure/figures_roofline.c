/* figures_roofline.c - the hot layers of a trial against what the device can do (cost/roofline.h).
 * The roofs drawn are those of the layers shown, and always the furthest memory: it is what larger
 * layers meet. */
#include "report/figure/figures.h"

#include "cost/roofline.h"
#include "report/subject/layer_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static struct assay__figure_roof *make_roofs(const struct chosen *c, struct assay__arena *arena)
{
    struct assay__figure_roof *roofs = assay__arena_array(arena, c->peak_count + c->level_count + 1,
                                                          sizeof *roofs);
    for (size_t i = 0; roofs && i < c->peak_count; i++)
        roofs[i] = (struct assay__figure_roof){c->peaks[i]->label, c->peaks[i]->value, NAN};
    for (size_t i = 0; roofs && i < c->level_count; i++)
        roofs[c->peak_count + i] = (struct assay__figure_roof){c->levels[i]->label, NAN,
                                                               c->levels[i]->value};
    return roofs;
}

/* The slowest layers that have a place in the picture. */
static bool fill(const struct assay__trial *trial, const struct assay__roofline *r,
                 struct assay__arena *arena, struct chosen *chosen,
                 struct assay__figure_series *series)
{
    enum { most = ASSAY__ROOFLINE_POINTS };
    double *x = assay__figure_values(arena, most), *y = assay__figure_values(arena, most);
    const char **names = assay__arena_array(arena, most + 1, sizeof *names),
               **links = assay__arena_array(arena, most + 1, sizeof *links);
    unsigned char *flags = assay__arena_array(arena, most + 1, 1);
    size_t *order = assay__layer_order(&trial->layers), count = 0;
    bool done = x && y && names && links && flags && order;
    for (size_t i = 0; done && i < trial->layers.count && count < most; i++) {
        const struct assay__layer *layer = &trial->layers.items[order[i]];
        const struct assay__roofline_layer *placed = &r->layers[order[i]];
        if (layer->state == ASSAY_UNAVAILABLE || !assay__roofline_is_placed(placed)) continue;
        x[count] = placed->intensity, y[count] = placed->rate;
        names[count] = assay__layer_title(layer);
        links[count] = assay__arena_printf(arena, "#layer-%d", layer->index);
        if (placed->utilization > ASSAY__ROOFLINE_ABOVE) flags[count] = ASSAY__POINT_FAULT;
        use(placed->peak, chosen->peaks, &chosen->peak_count);
        use(placed->level, chosen->levels, &chosen->level_count);
        count++;
    }
    use(r->peak, chosen->peaks, &chosen->peak_count);
    if (r->level_count) use(&r->levels[r->level_count - 1], chosen->levels, &chosen->level_count);
    *series = (struct assay__figure_series){.name = "layers",
                                            .x = x,
                                            .y = y,
                                            .names = names,
                                            .links = links,
                                            .flags = flags,
                                            .count = count};
    free(order);
    return done;
}

static int none(const struct assay_profile *profile, const struct assay__trial *trial,
                const struct assay__roofline *r, struct assay_error *error)
{
    const char *reason = "no layer has FLOPs, bytes and a time";
    if (r && r->reason[0])
        reason = r->reason;
    else if (!profile->ceiling_count)
        reason = "the profile has no ceilings";
    else if (!trial->layers.count)
        reason = trial->layers.reason && trial->layers.reason[0] ? trial->layers.reason
                                                                 : "no layers were timed";
    return assay_error_set(error, ASSAY_ENOTFOUND, "%s", reason);
}

int assay__figure_roofline(struct assay__study *study, const struct assay__trial *trial,
                           size_t part, struct assay__arena *arena, struct assay__figure *figure,
                           struct assay_error *error)
{
    if (part) return assay_error_set(error, ASSAY_ENOTFOUND, "there is one roofline");
    const struct assay_profile *profile = study->profile;
    struct chosen chosen = {0};
    if (!profile->ceiling_count || !trial->layers.count) return none(profile, trial, NULL, error);
    struct assay__figure_series *series = assay__arena_array(arena, 1, sizeof *series);
    const struct assay__roofline *r = assay__study_roofline(study, trial);
    if (!series || study->failed) return assay__figure_no_memory(error);
    if (r->reason[0]) return none(profile, trial, r, error);
    if (!fill(trial, r, arena, &chosen, series)) return assay__figure_no_memory(error);
    if (!series->count || !chosen.peak_count || !chosen.level_count)
        return none(profile, trial, r, error);
    *figure = assay__figure_begin(ASSAY__FIGURE_ROOFLINE, "roofline");
    figure->title = assay__figure_title(arena, profile, trial, "Roofline");
    figure->x_title = "operations per byte (FLOP/B)", figure->x_unit = "";
    figure->y_title = "operations per second", figure->y_unit = "FLOP/s";
    figure->x_log = figure->y_log = true;
    figure->series = series, figure->series_count = 1;
    figure->roofs = make_roofs(&chosen, arena);
    figure->roof_count = chosen.peak_count + chosen.level_count;
    figure->caption = "A layer can at most reach the roof above it: the nearer to it, the better; "
                      "under the slope the memory limits it, under the flat part the arithmetic.";
    figure->description = assay__arena_printf(arena, "%zu layer%s below %zu roofs.", series->count,
                                              series->count == 1 ? "" : "s", figure->roof_count);
    if (r->above)
        figure->note = assay__arena_printf(
            arena, "%zu layer%s above %s roof: FLOPs, bytes or a ceiling is wrong there.", r->above,
            r->above == 1 ? " is" : "s are", r->above == 1 ? "its" : "their");
    return figure->roofs && figure->description && figure->note ? 0
                                                                : assay__figure_no_memory(error);
}
