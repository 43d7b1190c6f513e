/* ncp_groups.c - sums the layers of a recurrent cell by neuron group and by time step. Each layer
 * goes into one row of each list, chosen by the places of all nodes it came from; a row's time is
 * the sum of its layers' times (unknown if one of them is), so that the rows, engine and
 * unattributed add up to latency.p50 if the layers do.
 *
 * Profiles are untrusted: at most 8 groups of a layer are compared (then "…"), lists are sorted,
 * not searched, and steps get rows only if a layer has them. */
#include "judge/ncp_groups.h"

#include "base/map.h"
#include "base/stats.h"
#include "cost/ncp.h"
#include "profile/trial_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_BYTES 64
#define GROUPS_NAMED 8 /* of one layer */
#define FLOOR_LAYERS 8 /* with fewer, the fastest is not a floor */

const char *assay__part_kind_name(enum assay__part_kind kind)
{
    static const char *const names[] = {"group", "shared", "scan",        "outside",
                                        "added", "engine", "unattributed"};
    return names[kind];
}

/* --- where a layer belongs -------------------------------------------------------------------- */

struct place {
    enum assay__part_kind group_kind, step_kind;
    int64_t step;
    char groups[GROUPS_NAMED][GROUP_BYTES]; /* in the cell's order */
    size_t group_count;                     /* GROUPS_NAMED + 1: more */
    bool outside;                           /* some nodes belong to no step */
};

/* In the cell's own order; what it does not name comes last. */
static size_t rank_of(const struct assay__cell_info *cell, const char *group)
{
    size_t i = 0;
    while (i < cell->group_count && strcmp(cell->groups[i].name, group) != 0)
        i++;
    return i;
}

static void add_group(const struct assay__cell_info *cell, struct place *place, const char *group)
{
    size_t at = 0, rank = rank_of(cell, group);
    if (place->group_count > GROUPS_NAMED) return;
    for (; at < place->group_count; at++) {
        size_t other = rank_of(cell, place->groups[at]);
        int order = strcmp(place->groups[at], group);
        if (order == 0) return;
        if (other != rank ? other > rank : order > 0) break;
    }
    if (place->group_count == GROUPS_NAMED) {
        place->group_count++;
        return;
    }
    memmove(place->groups[at + 1], place->groups[at], (place->group_count - at) * GROUP_BYTES);
    memcpy(place->groups[at], group, strlen(group) + 1);
    place->group_count++;
}

static void find_place(const struct assay__cell_info *cell, const struct assay__layer *layer,
                       struct place *place)
{
    bool form = strcmp(cell->form, "scan") == 0, scan = form && strcmp(layer->op, "Scan") == 0;
    bool several = false, inside = false; /* the Scan's body: of every step */
    *place = (struct place){.step = -1};
    for (size_t i = 0; i < layer->from_count; i++) {
        char group[GROUP_BYTES] = "";
        int64_t step = -1;
        bool placed = assay__ncp_place(layer->from[i], &step, group, sizeof group);
        bool body = placed && form && step < 0;
        if (!placed || (step < 0 && !body) || step >= cell->steps) {
            place->outside = true;
            continue;
        }
        add_group(cell, place, group);
        inside |= body;
        several |= place->step >= 0 && place->step != step;
        place->step = step;
    }
    enum assay__part_kind none = scan                     ? ASSAY__PART_SCAN
                                 : layer->from_count == 0 ? ASSAY__PART_ADDED
                                                          : ASSAY__PART_OUTSIDE;
    place->group_kind = place->group_count == 0                      ? none
                        : place->group_count == 1 && !place->outside ? ASSAY__PART_GROUP
                                                                     : ASSAY__PART_SHARED;
    place->step_kind = place->group_count == 0     ? none
                       : inside                    ? ASSAY__PART_SCAN
                       : several || place->outside ? ASSAY__PART_SHARED
                                                   : ASSAY__PART_GROUP;
    if (place->step_kind != ASSAY__PART_GROUP) place->step = -1;
}

/* Names for what belongs to no group, and for several steps. */
static const char *plain_name(enum assay__part_kind kind)
{
    static const char *const names[] = {
        "several steps",       "several steps",  "Scan",        "outside the steps",
        "added by the engine", "engine per run", "unattributed"};
    return names[kind];
}

/* --- rows ------------------------------------------------------------------------------------- */

struct list {
    struct assay__part *rows;
    size_t count;
    struct assay__map *by_name;
    struct assay__part lost; /* used instead of a row when memory runs out */
};

/* The row of that kind and name, created if it is new. Running out of memory is recorded in the
 * arena. */
static struct assay__part *row_of(struct assay__ncp_groups *out, struct list *list,
                                  enum assay__part_kind kind, const char *name, int64_t step)
{
    const char *key = assay__arena_text(out->arena, "%d%s", (int)kind, name);
    size_t at = assay__map_get(list->by_name, key);
    if (at != ASSAY__MAP_NONE) return &list->rows[at];
    struct assay__part *rows = assay__arena_grow(out->arena, list->rows, list->count, sizeof *rows);
    if (!rows || assay__arena_failed(out->arena) ||
        assay__map_set(list->by_name, key, list->count)) {
        assay__arena_fail(out->arena);
        return &list->lost;
    }
    list->rows = rows;
    struct assay__part *row = &rows[list->count++];
    *row = (struct assay__part){.kind = kind,
                                .name = key + 1, /* the kind is one digit */
                                .step = step,
                                .neurons = -1,
                                .flops_needed = NAN,
                                .state = ASSAY_DERIVED,
                                .flops_state = ASSAY_DERIVED,
                                .note = ""};
    return row;
}

/* "inter", "shared by inter, command", "Scan" */
static const char *group_name(const struct place *place, struct assay__arena *arena)
{
    if (place->group_kind > ASSAY__PART_SHARED) return plain_name(place->group_kind);
    const char *name = place->group_kind == ASSAY__PART_SHARED ? "shared by " : "";
    for (size_t i = 0; i < place->group_count && i < GROUPS_NAMED; i++)
        name = assay__arena_text(arena, "%s%s%s", name, i ? ", " : "", place->groups[i]);
    return assay__arena_text(arena, "%s%s%s", name, place->group_count > GROUPS_NAMED ? ", …" : "",
                             place->outside ? ", outside" : "");
}

static void add_layer(struct assay__part *row, const struct assay__layer *layer)
{
    bool known = layer->state != ASSAY_UNAVAILABLE && isfinite(layer->time_ns);
    row->layers++;
    row->flops += layer->flops; /* NaN stays: the sum is then unknown */
    if (!known) {
        row->untimed++;
        return;
    }
    row->time_ns += layer->time_ns;
    if (layer->state == ASSAY_ESTIMATED) row->state = ASSAY_ESTIMATED;
}

/* A time with a missing layer is unknown; the note has the known part. Then engine and
 * unattributed, so that the column adds up. */
static void close_list(struct assay__ncp_groups *out, const struct assay__layers *layers,
                       struct list *list)
{
    const double times[] = {layers->engine_ns, layers->unattributed_ns};
    for (size_t i = 0; i < 2 && layers->count; i++) {
        enum assay__part_kind kind = i ? ASSAY__PART_UNATTRIBUTED : ASSAY__PART_ENGINE;
        struct assay__part *row = row_of(out, list, kind, plain_name(kind), -1);
        row->time_ns = times[i];
        row->flops = NAN;
        row->state = !isfinite(times[i]) ? ASSAY_UNAVAILABLE : i ? ASSAY_DERIVED : ASSAY_MEASURED;
    }
    for (size_t i = 0; i < list->count; i++) {
        struct assay__part *row = &list->rows[i];
        if (row->untimed) {
            row->note = row->untimed < row->layers
                            ? assay__arena_text(
                                  out->arena,
                                  "%zu of %zu layers have no time; the others take %.4g µs",
                                  row->untimed, row->layers, row->time_ns / 1e3)
                        : row->layers == 1 ? "its layer has no time"
                                           : "its layers have no time";
            row->time_ns = NAN;
            row->state = ASSAY_UNAVAILABLE;
        }
        row->share = row->time_ns / out->p50_ns;
        if (!isfinite(row->flops)) row->flops_state = ASSAY_UNAVAILABLE;
    }
}

/* What the cell says about a group; without layers its row has no time but a reason. */
static void describe_group(const struct assay__ncp_groups *out, const struct list *list,
                           const struct assay__cell_group *group, struct assay__part *row)
{
    bool shared = false, timed = false, joint = group->state == ASSAY_ESTIMATED;
    row->neurons = group->neurons > 0 ? group->neurons : -1;
    row->flops_needed = group->flops_needed;
    if (row->layers) {
        if (joint && !row->note[0])
            row->note =
                "these layers belong to it alone; its neurons are computed in the row \"neurons\"";
        return;
    }
    row->time_ns = row->share = NAN;
    row->state = ASSAY_UNAVAILABLE;
    row->flops = group->flops;
    row->flops_state = isfinite(group->flops) ? group->state : ASSAY_UNAVAILABLE;
    for (size_t i = 0; i < list->count; i++) {
        shared |= list->rows[i].kind == ASSAY__PART_SHARED &&
                  strstr(list->rows[i].name, group->name) != NULL;
        timed |= list->rows[i].kind == ASSAY__PART_GROUP && list->rows[i].layers > 0;
    }
    row->note = strcmp(out->cell->form, "scan") == 0 && !timed && !shared
                    ? "inside the body of the Scan; the unrolled form shows it"
                : out->layers == 0 ? "layers were not timed"
                : joint  ? "computed with all neurons at once, in the row \"neurons\"; its "
                           "FLOPs are its share"
                : shared ? "only in layers shared with other groups"
                         : "no layer came from its nodes";
}

/* --- order ------------------------------------------------------------------------------------ */

struct ranked {
    struct assay__part row;
    size_t rank, position;
};

static int compare_rows(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->row.kind != b->row.kind) return a->row.kind < b->row.kind ? -1 : 1;
    if (a->row.step != b->row.step) return a->row.step < b->row.step ? -1 : 1;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return a->position < b->position ? -1 : a->position > b->position;
}

static void sort_rows(const struct assay__ncp_groups *out, struct list *list)
{
    struct ranked *sorted = assay__arena_array(out->arena, list->count + 1, sizeof *sorted);
    if (!sorted) return;
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = (struct ranked){list->rows[i], rank_of(out->cell, list->rows[i].name), i};
    qsort(sorted, list->count, sizeof *sorted, compare_rows);
    for (size_t i = 0; i < list->count; i++)
        list->rows[i] = sorted[i].row;
}

/* --- figures ---------------------------------------------------------------------------------- */

/* The first step differs from the others: there is no earlier step whose results it could reuse. */
static void sum_steps(struct assay__ncp_groups *out)
{
    double *times = assay__arena_array(out->arena, out->step_count + 1, sizeof *times);
    size_t count = 0;
    bool whole = true;
    for (size_t i = 0; times && i < out->step_count; i++) {
        const struct assay__part *row = &out->steps[i];
        if (row->kind != ASSAY__PART_GROUP) continue;
        if (row->step == 0)
            out->first_ns = row->time_ns;
        else
            times[count++] = row->time_ns;
        whole &= isfinite(row->time_ns);
    }
    if (!count || !whole) return;
    assay__stats_sort(times, count);
    out->min_ns = times[0];
    out->max_ns = times[count - 1];
    out->median_ns = assay__stats_median(times, count);
}

static void find_floor(struct assay__ncp_groups *out, const struct assay__layers *layers)
{
    double scan_ns = NAN;
    bool shared = false, grouped = false;
    for (size_t i = 0; i < layers->count; i++) {
        const struct assay__layer *layer = &layers->items[i];
        if (layer->state == ASSAY_UNAVAILABLE || !isfinite(layer->time_ns)) continue;
        out->timed++;
        if (!(layer->time_ns >= out->floor_ns)) out->floor_ns = layer->time_ns;
    }
    for (size_t i = 0; i < out->group_count; i++) {
        grouped |= out->groups[i].kind == ASSAY__PART_GROUP && out->groups[i].layers > 0;
        shared |= out->groups[i].kind == ASSAY__PART_SHARED;
    }
    for (size_t i = 0; i < out->step_count; i++)
        if (out->steps[i].kind == ASSAY__PART_SCAN) scan_ns = out->steps[i].time_ns;
    out->scan_step_ns = scan_ns / (double)out->cell->steps;
    /* The cost of a Scan's trips is in its own row: no floor can be determined. */
    if (isfinite(scan_ns) || !(out->floor_ns > 0) || out->timed < FLOOR_LAYERS) out->floor_ns = NAN;
    out->floor_share = ((double)out->timed * out->floor_ns + layers->engine_ns) / out->p50_ns;
    if (strcmp(out->cell->form, "scan") == 0 && !grouped && !shared)
        out->note = "The engine runs all steps inside one Scan, where neuron groups cannot be "
                    "separated. The unrolled form of the same network shows them.";
    else if (out->layers == 0)
        out->note = "Layers were not timed, so groups have no times.";
    else if (shared)
        out->note = "A layer that the engine fused from nodes of several groups is shown as "
                    "shared, never split.";
}

static void fill(struct assay__ncp_groups *out, const struct assay__layers *layers,
                 struct list *groups, struct list *steps)
{
    for (size_t i = 0; i < layers->count; i++) {
        struct place place;
        find_place(out->cell, &layers->items[i], &place);
        const char *step = place.step_kind == ASSAY__PART_GROUP
                               ? assay__arena_text(out->arena, "%" PRId64, place.step)
                               : plain_name(place.step_kind);
        add_layer(row_of(out, groups, place.group_kind, group_name(&place, out->arena), -1),
                  &layers->items[i]);
        add_layer(row_of(out, steps, place.step_kind, step, place.step), &layers->items[i]);
    }
    close_list(out, layers, groups);
    close_list(out, layers, steps);
    for (size_t i = 0; i < out->cell->group_count; i++) {
        const struct assay__cell_group *group = &out->cell->groups[i];
        describe_group(out, groups, group, row_of(out, groups, ASSAY__PART_GROUP, group->name, -1));
    }
    sort_rows(out, groups);
    sort_rows(out, steps);
    out->groups = groups->rows;
    out->group_count = groups->count;
    out->steps = steps->rows;
    out->step_count = steps->count;
    sum_steps(out);
    find_floor(out, layers);
}

int assay__ncp_groups_make(const struct assay_profile *profile, const struct assay__trial *trial,
                           struct assay__arena *arena, struct assay__ncp_groups **out)
{
    const struct assay__cell_info *cell = &profile->models[0]->cell;
    double p50_s = assay__trial_value(trial, "latency.p50");
    *out = NULL;
    if (!cell->kind || !cell->kind[0] || cell->steps < 1) return 0;
    struct assay__ncp_groups *made = assay__arena_alloc(arena, sizeof *made);
    if (!made) return ASSAY_ENOMEM;
    *made = (struct assay__ncp_groups){.cell = cell,
                                       .p50_ns = p50_s > 0 ? p50_s * 1e9 : (double)NAN,
                                       .scan_step_ns = NAN,
                                       .first_ns = NAN,
                                       .min_ns = NAN,
                                       .median_ns = NAN,
                                       .max_ns = NAN,
                                       .floor_ns = NAN,
                                       .floor_share = NAN,
                                       .layers = trial->layers.count,
                                       .note = "",
                                       .arena = arena};
    made->per_step_ns = made->p50_ns / (double)cell->steps;
    struct list groups = {.by_name = assay__map_new()}, steps = {.by_name = assay__map_new()};
    bool mapped = groups.by_name && steps.by_name;
    if (mapped) fill(made, &trial->layers, &groups, &steps);
    assay__map_free(groups.by_name);
    assay__map_free(steps.by_name);
    if (!mapped || assay__arena_failed(arena)) return ASSAY_ENOMEM;
    *out = made;
    return 0;
}
