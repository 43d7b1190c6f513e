/* waterfall.c - see waterfall.h. Rows of layers are summed by their operators, a row whose
 * operators differ between the runs by both ("Conv + Relu → FusedConv"). Layers are timed in
 * separate passes, so their changes need not sum to that of the latency: the last step is the
 * rest. */
#include "judge/waterfall.h"

#include "base/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The operators of a row on both sides, in the arena. */
static const char *operators_of(const struct assay__diff *diff, const struct assay__diff_layer *row,
                                size_t side, struct assay__arena *arena)
{
    struct assay__buf base = {0}, own = {0};
    assay__diff_layer_ops(&base, diff, row, 0);
    assay__diff_layer_ops(&own, diff, row, side);
    if (base.length && own.length && strcmp(base.data, own.data) != 0)
        assay__buf_printf(&base, " → %s", own.data);
    const char *kept = assay__buf_keep(base.length ? &base : &own, arena);
    if (!kept) assay__arena_fail(arena);
    assay__buf_free(&base);
    assay__buf_free(&own);
    return kept ? kept : "";
}

static int by_change(const void *left, const void *right)
{
    const struct assay__waterfall_step *a = left, *b = right;
    double x = fabs(a->change_ns), y = fabs(b->change_ns);
    if (x != y) return x < y ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* One step for the layers of each operator, in no order; returns how many. */
static size_t sum_operators(const struct assay__diff *diff, size_t side,
                            struct assay__waterfall_step *steps, struct assay__arena *arena)
{
    struct assay__map *places = assay__map_new();
    size_t count = 0;
    int code = places ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < diff->layer_count && !code; i++) {
        const struct assay__diff_layer *row = &diff->layers[i];
        double change_ns = row->deltas[side].difference;
        if (row->kind != ASSAY__DIFF_LAYER || !isfinite(change_ns)) continue;
        const char *name = operators_of(diff, row, side, arena);
        size_t at = assay__map_get(places, name);
        if (at == ASSAY__MAP_NONE) {
            at = count++;
            steps[at] = (struct assay__waterfall_step){.name = name};
            code = assay__map_set(places, name, at);
        }
        steps[at].change_ns += change_ns;
        steps[at].layers++;
    }
    if (code) assay__arena_fail(arena);
    assay__map_free(places);
    return count;
}

/* Keeps the largest changes by name and merges the others into one step; unchanged ones are left
 * out. */
static size_t keep_largest(struct assay__waterfall_step *steps, size_t count)
{
    struct assay__waterfall_step others = {.name = "other operators"};
    size_t kept = 0;
    if (count) qsort(steps, count, sizeof *steps, by_change);
    /* a single one needs no common name */
    size_t named = count > ASSAY__WATERFALL_STEPS + 1 ? ASSAY__WATERFALL_STEPS : count;
    for (size_t i = named; i < count; i++) {
        others.change_ns += steps[i].change_ns;
        others.layers += steps[i].layers;
    }
    while (kept < named && steps[kept].change_ns != 0)
        kept++;
    if (others.change_ns != 0) steps[kept++] = others;
    return kept;
}

static double special_change(const struct assay__diff *diff, size_t side,
                             enum assay__diff_kind kind)
{
    for (size_t i = 0; i < diff->layer_count; i++)
        if (diff->layers[i].kind == kind && isfinite(diff->layers[i].deltas[side].difference))
            return diff->layers[i].deltas[side].difference;
    return 0;
}

struct assay__waterfall assay__waterfall(const struct assay__diff *diff, size_t side,
                                         struct assay__arena *arena)
{
    struct assay__waterfall out = {NAN, NAN, NULL, 0, ""};
    const struct assay__diff_metric *p50 = assay__diff_metric_find(diff, "latency.p50");
    size_t layers = 0;
    if (p50 && p50->values[0]) out.from_ns = p50->values[0]->value * 1e9;
    if (p50 && p50->values[side]) out.to_ns = p50->values[side]->value * 1e9;
    for (size_t i = 0; i < diff->layer_count; i++) {
        const struct assay__diff_layer *row = &diff->layers[i];
        layers += row->kind == ASSAY__DIFF_LAYER && isfinite(row->deltas[side].difference);
    }
    if (!isfinite(out.from_ns) || !isfinite(out.to_ns))
        out.reason = "one of the runs has no latency";
    else if (!layers)
        out.reason = "no layer has a time in both runs";
    if (*out.reason) return out;
    out.steps = assay__arena_array(arena, diff->layer_count + 3, sizeof *out.steps);
    if (!out.steps) return out;
    out.count = keep_largest(out.steps, sum_operators(diff, side, out.steps, arena));
    double engine_ns = special_change(diff, side, ASSAY__DIFF_ENGINE), rest_ns = out.to_ns;
    if (engine_ns != 0)
        out.steps[out.count++] = (struct assay__waterfall_step){"engine", engine_ns, 0};
    rest_ns -= out.from_ns;
    for (size_t i = 0; i < out.count; i++)
        rest_ns -= out.steps[i].change_ns;
    out.steps[out.count++] = (struct assay__waterfall_step){"unattributed", rest_ns, 0};
    if (out.count == 1 && rest_ns == 0) out.reason = "nothing differs";
    return out;
}

const struct assay__waterfall_step *assay__waterfall_largest(const struct assay__waterfall *all)
{
    return all->count && all->steps[0].layers ? &all->steps[0] : NULL;
}
