/* diff_layers.c - the layers of several profiles side by side: rows from the alignment
 * (diff_align.h), their times, and which rows are worth a line of their own.
 *
 * The launch is the unit. Where both sides timed a row's layers in at least five launches, the row
 * is judged as any number is: the rank test on the sums of its layers, launch by launch; it is
 * shown when the interval excludes 1. Without, a row has a ratio and no interval. What is known
 * then is how far the sums of all layers were apart between the passes of one run (`spread`). A row
 * is shown when it changed by more than that, relatively. Where latency or the sum of all layers
 * shows no difference between the runs, a row must have changed by more than the spread of the
 * whole sum: less cannot be told from noise. */
#include "judge/diff_align.h"

#include "base/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPECIAL = 3 }; /* engine, unattributed, the sum */

/* --- do names mean the same ------------------------------------------------------------------- */

static const char *first_name(const struct assay__layer *layer)
{
    return layer->from_count ? layer->from[0] : layer->name;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool mostly_one_ratio(double *ratios, size_t count)
{
    size_t alike = 0;
    if (!count) return true; /* nothing speaks against the names */
    qsort(ratios, count, sizeof *ratios, by_value);
    double middle = ratios[count / 2];
    for (size_t i = 0; i < count; i++)
        alike += fabs(ratios[i] / middle - 1) < 1e-9;
    return alike >= count - count / 4;
}

/* Two models whose fingerprints differ still name the same nodes alike (another batch or data type)
 * when half of the layers have a name in common and the FLOPs of those stand in one ratio, three
 * quarters of them at least. */
static int names_agree(const struct assay__layers *a, const struct assay__layers *b, bool *agree)
{
    struct assay__map *map = assay__map_new();
    double *ratios = malloc((b->count + 1) * sizeof *ratios);
    size_t count = 0, common = 0, least = a->count < b->count ? a->count : b->count;
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
    if (!code) *agree = common >= least - least / 2 && mostly_one_ratio(ratios, count);
    assay__map_free(map);
    free(ratios);
    return code;
}

static bool same_fingerprint(const struct assay__diff *diff, size_t side)
{
    const char *a = diff->sides[0].profile->models[0]->fingerprint;
    const char *b = diff->sides[side].profile->models[0]->fingerprint;
    return a && b && *a && strcmp(a, b) == 0;
}

static const struct assay__layers *layers_of(const struct assay__diff *diff, size_t side)
{
    static const struct assay__layers none;
    return diff->sides[side].trial ? &diff->sides[side].trial->layers : &none;
}

static int align(const struct assay__diff *diff, struct assay__align *out)
{
    struct assay__align_side sides[ASSAY__DIFF_MOST] = {{0}};
    int code = 0;
    for (size_t s = 0; s < diff->count && !code; s++) {
        const struct assay__layers *layers = layers_of(diff, s);
        sides[s] = (struct assay__align_side){layers->items, layers->count, true};
        if (s && !same_fingerprint(diff, s))
            code = names_agree(layers_of(diff, 0), layers, &sides[s].same_model);
    }
    return code ? code : assay__align(sides, diff->count, out);
}

/* --- rows ------------------------------------------------------------------------------------- */

static int new_row(const struct assay__diff *diff, struct assay__arena *arena, size_t members,
                   struct assay__diff_layer *row)
{
    row->members = assay__arena_array(arena, members + 1, sizeof *row->members);
    row->starts = assay__arena_array(arena, diff->count + 1, sizeof *row->starts);
    row->times_ns = assay__arena_array(arena, diff->count, sizeof *row->times_ns);
    row->deltas = assay__arena_array(arena, diff->count, sizeof *row->deltas);
    return row->members && row->starts && row->times_ns && row->deltas ? 0 : ASSAY_ENOMEM;
}

/* Members of each group lie side after side, because layers are numbered so. */
static int fill_members(struct assay__diff *diff, struct assay__arena *arena,
                        const struct assay__align *found)
{
    size_t total = found->offsets[diff->count];
    size_t *sizes = calloc(found->group_count + 1, sizeof *sizes);
    int code = sizes ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < total && !code; i++)
        sizes[found->groups[i]]++;
    for (size_t g = 0; g < found->group_count && !code; g++) {
        diff->layers[g].match = (enum assay__diff_match)found->matches[g];
        code = new_row(diff, arena, sizes[g], &diff->layers[g]);
        sizes[g] = 0;
    }
    for (size_t s = 0; s < diff->count && !code; s++)
        for (size_t i = found->offsets[s]; i < found->offsets[s + 1]; i++) {
            struct assay__diff_layer *row = &diff->layers[found->groups[i]];
            row->members[sizes[found->groups[i]]++] = i - found->offsets[s];
            row->starts[s + 1]++;
        }
    for (size_t g = 0; g < found->group_count && !code; g++)
        for (size_t s = 0; s < diff->count; s++) {
            if (diff->layers[g].starts[s + 1] > 1) diff->layers[g].grouped = true;
            diff->layers[g].starts[s + 1] += diff->layers[g].starts[s];
        }
    free(sizes);
    return code;
}

static double time_of(const struct assay__diff *diff, const struct assay__diff_layer *row,
                      size_t side)
{
    double sum = row->starts[side] == row->starts[side + 1] ? NAN : 0;
    for (size_t i = row->starts[side]; i < row->starts[side + 1]; i++)
        sum += layers_of(diff, side)->items[row->members[i]].time_ns;
    return sum;
}

/* The row's time in each launch that timed all of its layers, into `out`; how many. Others are left
 * out: half a row is no row. */
static size_t launch_times(const struct assay__diff *diff, const struct assay__diff_layer *row,
                           size_t side, double *out)
{
    const struct assay__layers *layers = layers_of(diff, side);
    size_t count = 0;
    if (row->starts[side] == row->starts[side + 1]) return 0;
    for (size_t l = 0; l < layers->launch_count; l++) {
        double sum = 0;
        for (size_t i = row->starts[side]; i < row->starts[side + 1]; i++) {
            const struct assay__layer *layer = &layers->items[row->members[i]];
            sum += layer->launch_times_ns ? layer->launch_times_ns[l] : (double)NAN;
        }
        if (isfinite(sum)) out[count++] = sum;
    }
    return count;
}

/* What the row shows: medians over launches where they are judged, else what the run says. */
static void take_times(const struct assay__diff *diff, struct assay__diff_layer *row,
                       struct assay__diff_values *values)
{
    row->by_launch = assay__diff_by_launch(values, diff->count);
    for (size_t s = 0; s < diff->count; s++)
        row->times_ns[s] = values[s].value;
}

/* launches: room for those of each side. */
static int judge_row(struct assay__diff *diff, struct assay__diff_layer *row,
                     double *const *launches)
{
    struct assay__diff_values values[ASSAY__DIFF_MOST] = {{0}};
    int code = 0;
    for (size_t s = 0; s < diff->count; s++)
        values[s] = (struct assay__diff_values){
            launches[s], launch_times(diff, row, s, launches[s]), time_of(diff, row, s)};
    take_times(diff, row, values);
    row->deltas[0] = assay__diff_no_delta("");
    for (size_t s = 1; s < diff->count && !code; s++) {
        bool here = row->starts[s] != row->starts[s + 1], there = row->starts[1] != row->starts[0];
        code = assay__diff_delta(&values[0], &values[s], false, &row->deltas[s]);
        if (row->deltas[s].ci.known) {
            diff->judged++;
            diff->layers_judged++;
        }
        if (here && there) continue;
        row->deltas[s].reason = !here && !there ? "on neither side"
                                : here          ? "not in the base"
                                                : "only in the base";
        row->deltas[s].difference = !here && !there ? NAN
                                    : here          ? row->times_ns[s]
                                                    : -row->times_ns[0];
    }
    return code;
}

static int judge_rows(struct assay__diff *diff)
{
    double *launches[ASSAY__DIFF_MOST] = {0};
    int code = 0;
    for (size_t s = 0; s < diff->count && !code; s++) {
        launches[s] = calloc(layers_of(diff, s)->launch_count + 1, sizeof *launches[s]);
        if (!launches[s]) code = ASSAY_ENOMEM;
    }
    for (size_t i = 0; i < diff->layer_count && !code; i++)
        code = judge_row(diff, &diff->layers[i], launches);
    for (size_t s = 0; s < diff->count; s++)
        free(launches[s]);
    return code;
}

/* Why single layers have no interval, where none has. */
static const char *no_interval(const struct assay__diff *diff)
{
    if (diff->layers_judged) return "";
    for (size_t s = 0; s < diff->count; s++)
        if (layers_of(diff, s)->count && layers_of(diff, s)->launch_count == 0)
            return "a profile that keeps one time of each layer, not one per launch, is among "
                   "them (an older one)";
    return "each side needs the layers of at least 5 launches (--launches 5)";
}

static int special_row(struct assay__diff *diff, struct assay__arena *arena,
                       enum assay__diff_kind kind, const char *metric)
{
    struct assay__diff_layer row = {.kind = kind, .match = ASSAY__DIFF_NAME};
    struct assay__diff_values values[ASSAY__DIFF_MOST] = {{0}};
    double *launches[ASSAY__DIFF_MOST] = {0};
    bool any = false;
    int code = new_row(diff, arena, 0, &row);
    for (size_t s = 0; s < diff->count && !code; s++) {
        const struct assay__layers *layers = layers_of(diff, s);
        double sum = layers->count ? 0 : NAN;
        for (size_t i = 0; i < layers->count; i++)
            sum += layers->items[i].time_ns;
        values[s].value = !diff->sides[s].trial || !layers->count ? NAN
                          : kind == ASSAY__DIFF_ENGINE            ? layers->engine_ns
                          : kind == ASSAY__DIFF_UNATTRIBUTED      ? layers->unattributed_ns
                                                                  : sum;
        any |= isfinite(values[s].value);
        if (diff->sides[s].trial)
            launches[s] = assay__trial_values(diff->sides[s].trial, metric,
                                              &values[s].launch_count);
        if (diff->sides[s].trial && !launches[s]) code = ASSAY_ENOMEM;
        for (size_t i = 0; launches[s] && i < values[s].launch_count; i++)
            launches[s][i] *= 1e9; /* a metric is in seconds */
        values[s].launches = launches[s];
    }
    if (!code) {
        take_times(diff, &row, values);
        row.deltas[0] = assay__diff_no_delta("");
    }
    for (size_t s = 1; s < diff->count && !code; s++) {
        code = assay__diff_delta(&values[0], &values[s], false, &row.deltas[s]);
        diff->judged += row.deltas[s].ci.known;
        row.shown |= assay__diff_is_shown(row.deltas[s].verdict);
    }
    for (size_t s = 0; s < diff->count; s++)
        free(launches[s]);
    if (!code && any) diff->layers[diff->layer_count++] = row;
    return code;
}

/* --- what is shown ---------------------------------------------------------------------------- */

static double change_of(const struct assay__diff *diff, const struct assay__diff_layer *row)
{
    double most = 0;
    for (size_t s = 1; s < diff->count; s++)
        if (fabs(row->deltas[s].difference) > most) most = fabs(row->deltas[s].difference);
    return most;
}

static bool worth_a_line(const struct assay__diff *diff, const struct assay__diff_layer *row,
                         double sum_ns)
{
    for (size_t s = 1; s < diff->count; s++) {
        const struct assay__diff_delta *d = &row->deltas[s];
        if (assay__diff_is_shown(d->verdict)) return true;
        if (d->verdict == ASSAY__DIFF_NOT_COMPARABLE && isfinite(d->difference)) return true;
        if (d->verdict != ASSAY__DIFF_UNJUDGED || d->difference == 0) continue;
        if (!isfinite(diff->layers_spread)) return true;
        if (diff->layers_strict && isfinite(sum_ns)) {
            if (fabs(d->difference) > diff->layers_spread * sum_ns) return true;
        } else if (!(fmax(d->ratio, 1 / d->ratio) - 1 <= diff->layers_spread)) {
            return true;
        }
    }
    return false;
}

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
              "of "
              "rows that did not change one in twenty is shown by chance. Rows without an interval "
              "are shown when they changed by more than the passes of one run differ."
        : !isfinite(diff->layers_spread)
            ? "Every row that changed is shown: how far passes of one run differ is not known."
        : diff->layers_strict
            ? "The runs as a whole show no difference; a row is shown when it changed by more than "
              "the sums of one run's passes differ."
            : "A row is shown when it changed by more, relatively, than the sums of one run's "
              "passes "
              "differ.";
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

static int rank_rows(struct assay__diff *diff, struct assay__arena *arena)
{
    struct ranked *ranked = malloc((diff->layer_count + 1) * sizeof *ranked);
    diff->layer_order = assay__arena_array(arena, diff->layer_count + 1, sizeof(size_t));
    int code = ranked && diff->layer_order ? 0 : ASSAY_ENOMEM;
    for (size_t i = 0; i < diff->layer_count && !code; i++)
        ranked[i] = (struct ranked){change_of(diff, &diff->layers[i]), i};
    if (!code) qsort(ranked, diff->layer_count, sizeof *ranked, by_change);
    for (size_t i = 0; i < diff->layer_count && !code; i++)
        diff->layer_order[i] = ranked[i].row;
    free(ranked);
    return code;
}

static int say_without(struct assay__diff *diff, struct assay__arena *arena)
{
    diff->layers_reason = "";
    for (size_t s = 0; s < diff->count; s++) {
        const struct assay__layers *layers = layers_of(diff, s);
        if (layers->count) continue;
        const char *why = layers->reason && *layers->reason
                              ? layers->reason
                              : "they were not timed in that run (--layers)";
        diff->layers_reason = assay__arena_printf(
            arena, "%s%s%s has no layers: %s.", diff->layers_reason,
            *diff->layers_reason ? " " : "", diff->sides[s].name, why);
        if (!diff->layers_reason) return ASSAY_ENOMEM;
    }
    return 0;
}

int assay__diff_layers(struct assay__diff *diff, struct assay__arena *arena)
{
    struct assay__align found = {0};
    size_t with = 0;
    diff->same_model = diff->model_known = true;
    for (size_t s = 0; s < diff->count; s++) {
        const char *fingerprint = diff->sides[s].profile->models[0]->fingerprint;
        with += layers_of(diff, s)->count > 0;
        if (!fingerprint || !*fingerprint) diff->model_known = false;
        if (s && !same_fingerprint(diff, s)) diff->same_model = false;
    }
    int code = say_without(diff, arena);
    if (code || with < 2 || !layers_of(diff, 0)->count) return code;
    code = align(diff, &found);
    if (!code) {
        diff->layers = assay__arena_array(arena, found.group_count + SPECIAL, sizeof *diff->layers);
        code = diff->layers ? fill_members(diff, arena, &found) : ASSAY_ENOMEM;
    }
    if (!code) diff->layer_count = found.group_count;
    assay__align_free(&found);
    if (!code) code = judge_rows(diff);
    diff->layers_interval_reason = no_interval(diff);
    size_t rows = diff->layer_count;
    if (!code) code = special_row(diff, arena, ASSAY__DIFF_ENGINE, "layers.engine");
    if (!code) code = special_row(diff, arena, ASSAY__DIFF_UNATTRIBUTED, "layers.unattributed");
    size_t before = diff->layer_count;
    if (!code) code = special_row(diff, arena, ASSAY__DIFF_LAYER_SUM, "layers.sum");
    if (code) return code;
    const struct assay__diff_layer *sum = diff->layer_count > before ? &diff->layers[before] : NULL;
    find_scale(diff, sum);
    for (size_t i = 0; i < rows; i++)
        diff->layers[i].shown = worth_a_line(diff, &diff->layers[i], sum ? sum->times_ns[0] : NAN);
    return rank_rows(diff, arena);
}
