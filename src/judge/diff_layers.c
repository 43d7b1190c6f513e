/* diff_layers.c - the layers of several profiles side by side: rows from the alignment
 * (diff_align.c), their times and names, and which of them are worth a line.
 *
 * The launch is the unit. If both sides timed a row's layers in at least five launches, the row is
 * judged like any number: by the rank test on the sums of its layers, launch by launch; it is shown
 * if the interval excludes 1. Otherwise a row has a ratio and no interval; then the spread of the
 * sum of all layers between the passes of one run defines the noise, and a row is shown if its
 * relative change exceeds that. If latency or the sum of all layers shows no difference between the
 * runs, a row must have changed by more than the spread of the whole sum: less is not
 * distinguishable from noise. */
#include "judge/diff.h"

#include "base/map.h"
#include "judge/require_advice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPECIAL = 3 }; /* engine, unattributed, the sum */

/* --- whether names mean the same -------------------------------------------------------------- */

static const char *first_name(const struct assay__layer *layer)
{
    return layer->from_count ? layer->from[0] : layer->name;
}

/* Two models whose fingerprints differ still use the same names for the same nodes (another batch
 * or data type) when half of the layers share a name and the FLOPs of at least three quarters of
 * those have one ratio. */
static bool names_agree(const struct assay__layers *a, const struct assay__layers *b,
                        struct assay__arena *arena)
{
    struct assay__map *map = assay__map_new();
    double *ratios = assay__arena_array(arena, b->count + 1, sizeof *ratios);
    size_t count = 0, common = 0, alike = 0, least = a->count < b->count ? a->count : b->count;
    int code = map && ratios ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < a->count && !code; i++)
        if (*first_name(&a->items[i])) code = assay__map_set(map, first_name(&a->items[i]), i);
    for (size_t j = 0; j < b->count && !code; j++) {
        size_t i = assay__map_get(map, first_name(&b->items[j]));
        if (i == ASSAY__MAP_NONE) continue;
        common++;
        double ratio = b->items[j].flops / a->items[i].flops;
        if (a->items[i].flops > 0 && b->items[j].flops > 0 && isfinite(ratio))
            ratios[count++] = ratio;
    }
    if (code) assay__arena_fail(arena);
    assay__map_free(map);
    if (code || common < least - least / 2) return false;
    assay__stats_sort(ratios, count);
    for (size_t i = 0; i < count; i++)
        alike += fabs(ratios[i] / ratios[count / 2] - 1) < 1e-9;
    return alike >= count - count / 4;
}

/* Of the model that the side's trial ran. */
static const char *fingerprint_of(const struct assay__diff_side *side)
{
    return side->trial ? side->trial->model->fingerprint : side->profile->models[0]->fingerprint;
}

static bool same_fingerprint(const struct assay__diff *diff, size_t side)
{
    const char *a = fingerprint_of(&diff->sides[0]), *b = fingerprint_of(&diff->sides[side]);
    return a && b && *a && strcmp(a, b) == 0;
}

static const struct assay__layers *layers_of(const struct assay__diff *diff, size_t side)
{
    static const struct assay__layers none;
    return diff->sides[side].trial ? &diff->sides[side].trial->layers : &none;
}

/* --- rows ------------------------------------------------------------------------------------- */

static bool new_row(const struct assay__diff *diff, struct assay__arena *arena, size_t members,
                    struct assay__diff_layer *row)
{
    row->members = assay__arena_array(arena, members + 1, sizeof *row->members);
    row->starts = assay__arena_array(arena, diff->count + 1, sizeof *row->starts);
    row->times_ns = assay__arena_array(arena, diff->count, sizeof *row->times_ns);
    row->deltas = assay__arena_array(arena, diff->count, sizeof *row->deltas);
    return row->members && row->starts && row->times_ns && row->deltas;
}

/* The members of each group are ordered by side, because layers are numbered that way. */
static void make_rows(struct assay__diff *diff, struct assay__arena *arena,
                      const struct assay__align *found)
{
    size_t total = found->offsets[diff->count], groups = found->group_count;
    size_t *sizes = assay__arena_array(arena, groups + 1, sizeof *sizes);
    diff->layers = assay__arena_array(arena, groups + SPECIAL, sizeof *diff->layers);
    if (!sizes || !diff->layers) return;
    for (size_t i = 0; i < total; i++)
        sizes[found->groups[i]]++;
    for (size_t g = 0; g < groups; g++) {
        diff->layers[g].match = (enum assay__diff_match)found->matches[g];
        if (!new_row(diff, arena, sizes[g], &diff->layers[g])) return;
        sizes[g] = 0;
    }
    for (size_t s = 0; s < diff->count; s++)
        for (size_t i = found->offsets[s]; i < found->offsets[s + 1]; i++) {
            struct assay__diff_layer *row = &diff->layers[found->groups[i]];
            row->members[sizes[found->groups[i]]++] = i - found->offsets[s];
            row->starts[s + 1]++;
        }
    for (size_t g = 0; g < groups; g++)
        for (size_t s = 0; s < diff->count; s++) {
            if (diff->layers[g].starts[s + 1] > 1) diff->layers[g].grouped = true;
            diff->layers[g].starts[s + 1] += diff->layers[g].starts[s];
        }
    diff->layer_count = groups;
}

static size_t member_count(const struct assay__diff_layer *row, size_t side)
{
    return row->starts[side + 1] - row->starts[side];
}

static const struct assay__layer *member(const struct assay__diff *diff,
                                         const struct assay__diff_layer *row, size_t side,
                                         size_t which)
{
    return &layers_of(diff, side)->items[row->members[row->starts[side] + which]];
}

/* Times are medians over launches if they are judged, else those of the run. */
static void judge_times(struct assay__diff *diff, struct assay__diff_layer *row,
                        struct assay__diff_values *values, struct assay__arena *arena)
{
    row->by_launch = assay__diff_by_launch(values, diff->count, arena);
    for (size_t s = 0; s < diff->count; s++) {
        row->times_ns[s] = values[s].value;
        row->deltas[s] = s ? assay__diff_delta(&values[0], &values[s], false, arena)
                           : assay__diff_no_delta("");
        diff->judged += row->deltas[s].ci.known;
    }
}

/* The time of a row on a side; launch by launch, of the launches that timed all of its layers: half
 * a row does not count. */
static struct assay__diff_values row_times(const struct assay__diff *diff,
                                           const struct assay__diff_layer *row, size_t side,
                                           struct assay__arena *arena)
{
    size_t members = member_count(row, side),
           launches = members ? layers_of(diff, side)->launch_count : 0;
    struct assay__diff_values times = {
        {assay__arena_array(arena, launches + 1, sizeof *times.launches.items), 0},
        members ? 0 : NAN};
    for (size_t i = 0; i < members; i++)
        times.value += member(diff, row, side, i)->time_ns;
    for (size_t l = 0; times.launches.items && l < launches; l++) {
        double sum = 0;
        for (size_t i = 0; i < members; i++) {
            const struct assay__layer *layer = member(diff, row, side, i);
            sum += layer->launch_times_ns ? layer->launch_times_ns[l] : (double)NAN;
        }
        if (isfinite(sum)) times.launches.items[times.launches.count++] = sum;
    }
    return times;
}

static void judge_row(struct assay__diff *diff, struct assay__diff_layer *row,
                      struct assay__arena *arena)
{
    struct assay__diff_values values[ASSAY__DIFF_MOST];
    bool there = member_count(row, 0) > 0;
    for (size_t s = 0; s < diff->count; s++)
        values[s] = row_times(diff, row, s, arena);
    judge_times(diff, row, values, arena);
    for (size_t s = 1; s < diff->count; s++) {
        struct assay__diff_delta *delta = &row->deltas[s];
        bool here = member_count(row, s) > 0;
        diff->layers_judged += delta->ci.known;
        if (here && there) continue;
        delta->reason = !here && !there ? "on neither side"
                        : here          ? "not in the base"
                                        : "only in the base";
        delta->difference = !here && !there ? NAN : here ? row->times_ns[s] : -row->times_ns[0];
    }
}

/* The row that was added; NULL: no side has the time. */
static const struct assay__diff_layer *add_special(struct assay__diff *diff,
                                                   struct assay__arena *arena,
                                                   enum assay__diff_kind kind, const char *metric)
{
    struct assay__diff_layer row = {.kind = kind, .match = ASSAY__DIFF_NAME};
    struct assay__diff_values values[ASSAY__DIFF_MOST] = {{{0}, 0}};
    bool any = false;
    for (size_t s = 0; s < diff->count; s++) {
        const struct assay__trial *trial = diff->sides[s].trial;
        const struct assay__layers *layers = layers_of(diff, s);
        values[s].value = !layers->count                     ? (double)NAN
                          : kind == ASSAY__DIFF_ENGINE       ? layers->engine_ns
                          : kind == ASSAY__DIFF_UNATTRIBUTED ? layers->unattributed_ns
                                                             : 0;
        for (size_t i = 0; kind == ASSAY__DIFF_LAYER_SUM && i < layers->count; i++)
            values[s].value += layers->items[i].time_ns;
        any |= isfinite(values[s].value);
        if (trial) values[s].launches = assay__launch_metric(trial, metric, arena);
        for (size_t i = 0; i < values[s].launches.count; i++)
            values[s].launches.items[i] *= 1e9; /* a metric is in seconds */
    }
    if (!any || !new_row(diff, arena, 0, &row)) return NULL;
    judge_times(diff, &row, values, arena);
    for (size_t s = 1; s < diff->count; s++)
        row.shown |= assay__diff_is_shown(row.deltas[s].verdict);
    diff->layers[diff->layer_count] = row;
    return &diff->layers[diff->layer_count++];
}

/* --- what is shown ---------------------------------------------------------------------------- */

/* How much the passes of one run differ, and the resulting rule. */
static void find_scale(struct assay__diff *diff, const struct assay__diff_layer *sum)
{
    for (size_t s = 0; s < diff->count; s++) {
        double spread = layers_of(diff, s)->count ? layers_of(diff, s)->spread : NAN;
        if (isfinite(spread) && !(diff->layers_spread >= spread)) diff->layers_spread = spread;
    }
    const struct assay__diff_metric *p50 = assay__diff_metric_find(diff, "latency.p50");
    diff->layers_strict = sum != NULL;
    for (size_t s = 1; s < diff->count && sum; s++)
        if (sum->deltas[s].verdict != ASSAY__DIFF_SAME &&
            (!p50 || p50->deltas[s].verdict != ASSAY__DIFF_SAME))
            diff->layers_strict = false;
    diff->layers_rule =
        diff->layers_judged
            ? "A row is shown when the 95 % interval of its ratio, launch by launch, excludes 1; "
              "one in twenty unchanged rows is shown by chance. Rows without an interval are shown "
              "when they changed by more than the passes of one run differ."
        : !isfinite(diff->layers_spread) ? "Every row that changed is shown, because it is unknown "
                                           "how much the passes of one run differ."
        : diff->layers_strict
            ? "The runs as a whole show no difference; a row is shown when its change exceeds the "
              "difference between the sums of one run's passes."
            : "A row is shown when its relative change exceeds the difference between the sums of "
              "one run's passes.";
}

static bool worth_a_line(const struct assay__diff *diff, const struct assay__diff_delta *d,
                         double sum_ns)
{
    if (assay__diff_is_shown(d->verdict)) return true;
    if (d->verdict == ASSAY__DIFF_NOT_COMPARABLE && isfinite(d->difference)) return true;
    if (d->verdict != ASSAY__DIFF_UNJUDGED || d->difference == 0) return false;
    if (!isfinite(diff->layers_spread)) return true;
    if (diff->layers_strict && isfinite(sum_ns))
        return fabs(d->difference) > diff->layers_spread * sum_ns;
    return !(fmax(d->ratio, 1 / d->ratio) - 1 <= diff->layers_spread);
}

struct ranked {
    double change;
    size_t row;
};

static int by_change(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->change != y->change) return x->change < y->change ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Which rows are shown, and the order of all by their change. */
static void rank_rows(struct assay__diff *diff, size_t rows, const struct assay__diff_layer *sum,
                      struct assay__arena *arena)
{
    struct ranked *ranked = assay__arena_array(arena, diff->layer_count + 1, sizeof *ranked);
    diff->layer_order = assay__arena_array(arena, diff->layer_count + 1, sizeof(size_t));
    if (!ranked || !diff->layer_order) return;
    for (size_t i = 0; i < diff->layer_count; i++) {
        struct assay__diff_layer *row = &diff->layers[i];
        ranked[i] = (struct ranked){0, i};
        for (size_t s = 1; s < diff->count; s++) {
            ranked[i].change = fmax(ranked[i].change, fabs(row->deltas[s].difference));
            if (i < rows)
                row->shown |= worth_a_line(diff, &row->deltas[s], sum ? sum->times_ns[0] : NAN);
        }
    }
    qsort(ranked, diff->layer_count, sizeof *ranked, by_change);
    for (size_t i = 0; i < diff->layer_count; i++)
        diff->layer_order[i] = ranked[i].row;
}

void assay__diff_layers(struct assay__diff *diff, struct assay__arena *arena)
{
    struct assay__align_side sides[ASSAY__DIFF_MOST] = {{0}};
    struct assay__align found = {0};
    size_t with = 0;
    const char *interval = "each side needs the layers of at least 5 launches";
    diff->same_model = diff->model_known = true;
    for (size_t s = 0; s < diff->count; s++) {
        const char *fingerprint = fingerprint_of(&diff->sides[s]);
        const struct assay__layers *layers = layers_of(diff, s);
        if (!fingerprint || !*fingerprint) diff->model_known = false;
        if (s && !same_fingerprint(diff, s)) diff->same_model = false;
        with += layers->count > 0;
        if (layers->count && !layers->launch_count)
            interval =
                "one of the profiles is older and has one time per layer instead of one per launch";
        if (!layers->count)
            diff->layers_reason = assay__arena_text(
                arena, "%s%s%s has no layers: %s.", diff->layers_reason,
                *diff->layers_reason ? " " : "", diff->sides[s].name,
                layers->reason && *layers->reason ? layers->reason
                                                  : "they were not timed in that run");
    }
    if (with < 2 || !layers_of(diff, 0)->count) return;
    for (size_t s = 0; s < diff->count; s++) {
        const struct assay__layers *layers = layers_of(diff, s);
        sides[s] = (struct assay__align_side){layers->items, layers->count,
                                              same_fingerprint(diff, s) ||
                                                  names_agree(layers_of(diff, 0), layers, arena)};
    }
    if (assay__align(sides, diff->count, arena, &found)) assay__arena_fail(arena);
    if (!assay__arena_failed(arena)) make_rows(diff, arena, &found);
    if (assay__arena_failed(arena)) return;
    size_t rows = diff->layer_count;
    for (size_t i = 0; i < rows; i++)
        judge_row(diff, &diff->layers[i], arena);
    diff->layers_interval_reason = diff->layers_judged ? "" : interval;
    add_special(diff, arena, ASSAY__DIFF_ENGINE, "layers.engine");
    add_special(diff, arena, ASSAY__DIFF_UNATTRIBUTED, "layers.unattributed");
    const struct assay__diff_layer *sum = add_special(diff, arena, ASSAY__DIFF_LAYER_SUM,
                                                      "layers.sum");
    find_scale(diff, sum);
    rank_rows(diff, rows, sum, arena);
}

/* --- names ------------------------------------------------------------------------------------ */

const char *assay__diff_layer_title(const struct assay__diff *diff,
                                    const struct assay__diff_layer *row)
{
    if (row->kind == ASSAY__DIFF_ENGINE) return "engine per run";
    if (row->kind == ASSAY__DIFF_UNATTRIBUTED) return "unattributed";
    if (row->kind == ASSAY__DIFF_LAYER_SUM) return "all layers together";
    for (size_t s = 0; s < diff->count; s++)
        if (member_count(row, s)) return assay__layer_title(member(diff, row, s, 0));
    return "";
}

void assay__diff_layer_ops(struct assay__buf *out, const struct assay__diff *diff,
                           const struct assay__diff_layer *row, size_t side)
{
    size_t count = row->kind == ASSAY__DIFF_LAYER ? member_count(row, side) : 0;
    if (count > 4) assay__buf_printf(out, "%zu layers", count);
    for (size_t i = 0; i < count && count <= 4; i++)
        assay__buf_printf(out, "%s%s", i ? " + " : "", member(diff, row, side, i)->op);
}

void assay__diff_layer_remark(struct assay__buf *out, const struct assay__diff *diff,
                              const struct assay__diff_layer *row)
{
    const char *title = assay__diff_layer_title(diff, row);
    size_t with = 0, last = 0;
    bool renamed = false;
    if (row->kind != ASSAY__DIFF_LAYER) return;
    for (size_t s = 0; s < diff->count; s++) {
        if (!member_count(row, s)) continue;
        with++;
        last = s;
        renamed |= strcmp(assay__layer_title(member(diff, row, s, 0)), title) != 0;
    }
    if (with == 1) {
        assay__buf_printf(out, "only in %s", diff->sides[last].name);
        return;
    }
    if (row->grouped) {
        for (size_t s = 0; s < diff->count; s++)
            assay__buf_printf(out, "%s%zu", s ? " → " : "", member_count(row, s));
        assay__buf_puts(out, " layers");
    } else if (with < diff->count) {
        assay__buf_puts(out, "not in");
        for (size_t s = 0; s < diff->count; s++)
            if (!member_count(row, s)) assay__buf_printf(out, " %s", diff->sides[s].name);
    }
    if (row->match >= ASSAY__DIFF_STRUCTURE && renamed)
        assay__buf_printf(out, "%smatched by %s", out->length ? ", " : "",
                          assay__diff_match_name(row->match));
}
