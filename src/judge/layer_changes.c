/* layer_changes.c - see layer_changes.h. The time of an operator is the sum of its layers; if both
 * sides timed them in at least five launches, it is judged by the rank test, like a layer. */
#include "judge/layer_changes.h"

#include "base/map.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void add_side(struct assay__layer_changes *out, const struct assay_profile *profile,
                     const struct assay__comparison_row *row, size_t *trials)
{
    const struct assay__trial *trial = &profile->trials[row->judged.trial];
    if (!row->judged.usable || !trial->layers.count || out->diff.count == ASSAY__DIFF_MOST) return;
    trials[out->diff.count] = row->judged.trial;
    out->diff.sides[out->diff.count++] = (struct assay__diff_side){.profile = profile,
                                                                   .trial = trial,
                                                                   .name = row->judged.label,
                                                                   .trial_label = "",
                                                                   .usable = true,
                                                                   .reason = ""};
}

/* The place of every operator in the list, in order of appearance. */
static struct assay__map *list_operators(struct assay__layer_changes *out,
                                         struct assay__arena *arena)
{
    struct assay__map *places = assay__map_new();
    size_t most = 0, sides = out->diff.count;
    int code = places ? 0 : ASSAY_ENOMEM;
    for (size_t s = 0; s < sides; s++)
        most += out->diff.sides[s].trial->layers.count;
    out->operators = assay__arena_array(arena, most + 1, sizeof *out->operators);
    for (size_t s = 0; s < sides && out->operators && !code; s++) {
        const struct assay__layers *layers = &out->diff.sides[s].trial->layers;
        for (size_t i = 0; i < layers->count && !code; i++) {
            const char *op = layers->items[i].op;
            if (assay__map_has(places, op)) continue;
            struct assay__operator_change *made = &out->operators[out->operator_count];
            made->op = op;
            made->layers = assay__arena_array(arena, sides, sizeof *made->layers);
            made->times_ns = assay__arena_array(arena, sides, sizeof *made->times_ns);
            made->deltas = assay__arena_array(arena, sides, sizeof *made->deltas);
            code = made->layers && made->times_ns && made->deltas
                       ? assay__map_set(places, op, out->operator_count++)
                       : ASSAY_ENOMEM;
        }
    }
    if (!code && out->operators) return places;
    assay__arena_fail(arena);
    assay__map_free(places);
    return NULL;
}

/* Adds up the layers of one side; values has an entry for each operator. */
static void add_times(struct assay__layer_changes *out, size_t side,
                      const struct assay__map *places, struct assay__diff_values *values,
                      struct assay__arena *arena)
{
    const struct assay__layers *layers = &out->diff.sides[side].trial->layers;
    for (size_t o = 0; o < out->operator_count; o++) {
        values[o] = (struct assay__diff_values){.value = 0};
        values[o].launches.items = assay__arena_array(arena, layers->launch_count + 1,
                                                      sizeof *values[o].launches.items);
        if (!values[o].launches.items) return;
        values[o].launches.count = layers->launch_count;
    }
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        size_t o = assay__map_get(places, layer->op);
        out->operators[o].layers[side]++;
        values[o].value += layer->time_ns;
        for (size_t l = 0; l < layers->launch_count; l++)
            values[o].launches.items[l] += layer->launch_times_ns ? layer->launch_times_ns[l]
                                                                  : (double)NAN;
    }
    for (size_t o = 0; o < out->operator_count; o++) { /* launches that timed all of its layers */
        struct assay__launch_values *launches = &values[o].launches;
        size_t kept = 0;
        for (size_t l = 0; l < launches->count; l++)
            if (isfinite(launches->items[l])) launches->items[kept++] = launches->items[l];
        launches->count = kept;
    }
}

static void judge_operator(struct assay__operator_change *op, size_t sides,
                           struct assay__diff_values *values, struct assay__arena *arena)
{
    op->by_launch = assay__diff_by_launch(values, sides, arena);
    for (size_t s = 0; s < sides; s++) {
        op->times_ns[s] = op->layers[s] ? values[s].value : (double)NAN;
        op->deltas[s] = s ? assay__diff_delta(&values[0], &values[s], false, arena)
                          : assay__diff_no_delta("");
    }
}

static double largest_change(const struct assay__operator_change *op, size_t sides)
{
    double most = 0;
    for (size_t s = 1; s < sides; s++)
        if (fabs(op->deltas[s].difference) > most) most = fabs(op->deltas[s].difference);
    return most;
}

/* The largest change first; equal ones stay in order of appearance. There are few operators. */
static void sort_operators(struct assay__layer_changes *out)
{
    for (size_t i = 1; i < out->operator_count; i++) {
        struct assay__operator_change one = out->operators[i];
        double change = largest_change(&one, out->diff.count);
        size_t at = i;
        for (; at && largest_change(&out->operators[at - 1], out->diff.count) < change; at--)
            out->operators[at] = out->operators[at - 1];
        out->operators[at] = one;
    }
}

static void judge_operators(struct assay__layer_changes *out, struct assay__arena *arena)
{
    struct assay__diff_values *values[ASSAY__DIFF_MOST], own[ASSAY__DIFF_MOST];
    struct assay__map *places = list_operators(out, arena);
    if (!places) return; /* the arena has failed */
    for (size_t s = 0; s < out->diff.count; s++) {
        values[s] = assay__arena_array(arena, out->operator_count + 1, sizeof *values[s]);
        if (values[s]) add_times(out, s, places, values[s], arena);
    }
    for (size_t o = 0; o < out->operator_count && !assay__arena_failed(arena); o++) {
        for (size_t s = 0; s < out->diff.count; s++)
            own[s] = values[s][o];
        judge_operator(&out->operators[o], out->diff.count, own, arena);
    }
    if (!assay__arena_failed(arena)) sort_operators(out);
    assay__map_free(places);
}

int assay__layer_changes(const struct assay_profile *profile,
                         const struct assay__comparison *comparison, struct assay__arena *arena,
                         struct assay__layer_changes *out)
{
    size_t *trials = assay__arena_array(arena, ASSAY__DIFF_MOST, sizeof *trials);
    *out = (struct assay__layer_changes){.trials = trials, .reason = ""};
    out->diff.sides = assay__arena_array(arena, ASSAY__DIFF_MOST, sizeof *out->diff.sides);
    if (!trials || !out->diff.sides) return ASSAY_ENOMEM;
    size_t reference = comparison->reference;
    if (reference < comparison->count) add_side(out, profile, &comparison->rows[reference], trials);
    bool based = out->diff.count == 1;
    for (size_t i = 0; i < comparison->count && based; i++)
        if (i != reference) add_side(out, profile, &comparison->rows[i], trials);
    if (out->diff.count < 2) {
        out->reason = based ? "no other trial has layer times" : "the reference has no layer times";
        out->diff.count = 0;
        return 0;
    }
    assay__diff_between(&out->diff, arena);
    if (!assay__arena_failed(arena)) judge_operators(out, arena);
    return assay__arena_failed(arena) ? ASSAY_ENOMEM : 0;
}
