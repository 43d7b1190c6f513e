/* figures_diff.c - how runs differ: the steps from one latency to the other (judge/waterfall.h),
 * their layers as strips below each other, and their distributions over one axis. For several
 * profiles side by side, or for the trials of a comparison. */
#include "report/figure/figures.h"

#include "base/stats.h"
#include "judge/require_advice.h"
#include "judge/waterfall.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define BINS 48
#define LEAST_BINS 10
#define LEAST_SAMPLES 20
#define LOG_FROM 8 /* if medians differ by more than this factor, the axis is logarithmic */

/* The difference that is drawn; NULL with the reason in *why: there is none. */
static const struct assay__diff *diff_of(struct assay__sketch *k, const char **why)
{
    if (k->diff) return k->diff;
    *why = "this profile is not from a comparison";
    if (k->study->profile->kind != ASSAY__PROFILE_COMPARE) return NULL;
    const struct assay__layer_changes *all = assay__study_changes(k->study);
    *why = all->reason;
    return *all->reason ? NULL : &all->diff;
}

/* --- waterfall -------------------------------------------------------------------------------- */

int assay__figure_waterfall(struct assay__sketch *k, size_t part)
{
    const char *why = "";
    const struct assay__diff *diff = diff_of(k, &why);
    struct assay__points p;
    struct assay__buf text = {0};
    if (!diff) return assay__sketch_none(k, why);
    size_t side = part + 1;
    if (side >= diff->count) return assay__sketch_none(k, "there is no other run");
    struct assay__waterfall all = assay__waterfall(diff, side, k->arena);
    if (*all.reason) return assay__sketch_none(k, all.reason);
    if (!assay__sketch_points(k, &p, all.count + 2, ASSAY__WITH_NAMES)) return assay__sketch_end(k);
    const char *from = diff->sides[0].name, *to = diff->sides[side].name;
    struct assay__figure *f = assay__sketch_begin(
        k, ASSAY__FIGURE_WATERFALL, "waterfall",
        diff->count > 2 ? assay__sketch_printf(k, "From %s to %s", from, to)
                        : "From one latency to the other");
    p.names[0] = from, p.y[0] = all.from_ns / 1e9, p.flags[0] = ASSAY__POINT_TOTAL;
    for (size_t i = 0; i < all.count; i++) {
        const struct assay__waterfall_step *step = &all.steps[i];
        p.names[i + 1] = step->layers > 1
                             ? assay__sketch_printf(k, "%s (%zu)", step->name, step->layers)
                             : step->name;
        p.y[i + 1] = step->change_ns / 1e9;
    }
    p.count = all.count + 2;
    p.names[p.count - 1] = to, p.y[p.count - 1] = all.to_ns / 1e9;
    p.flags[p.count - 1] = ASSAY__POINT_TOTAL;
    assay__sketch_add(k, "", &p);
    f->categories = p.names;
    f->y_title = "latency", f->y_unit = "s", f->half = true;
    f->caption =
        "Each row adds to the latency or takes from it, largest first; (12) is a number "
        "of layers. Layers are timed separately: what they do not explain is unattributed.";
    assay__buf_printf(&text, "From %s to %s:", assay__scaled(p.y[0], "s").text,
                      assay__scaled(p.y[p.count - 1], "s").text);
    for (size_t i = 0; i < all.count; i++)
        assay__buf_printf(&text, "%s %s %s%s", i ? "," : "", assay__sketch_short(k, p.names[i + 1]),
                          p.y[i + 1] < 0 ? "−" : "+", assay__scaled(fabs(p.y[i + 1]), "s").text);
    assay__buf_putc(&text, '.');
    f->description = assay__sketch_take(k, &text);
    return assay__sketch_end(k);
}

/* --- strips ----------------------------------------------------------------------------------- */

#define NO_ROW SIZE_MAX

/* Rows of layers in order of execution: those of the base in its order, and what only another run
 * has at its position there. `next` has an entry for each row and one for the head. */
static void order_rows(const struct assay__diff *diff, size_t *next, size_t *row_of)
{
    size_t head = diff->layer_count, last = head;
    for (size_t i = 0; i <= diff->layer_count; i++)
        next[i] = NO_ROW;
    for (size_t i = 0; i < diff->layer_count; i++) {
        if (diff->layers[i].kind != ASSAY__DIFF_LAYER || !diff->layers[i].starts[1]) continue;
        next[last] = i;
        last = i;
    }
    for (size_t s = 1; s < diff->count; s++) {
        size_t count = diff->sides[s].trial ? diff->sides[s].trial->layers.count : 0;
        for (size_t i = 0; i < count; i++)
            row_of[i] = NO_ROW;
        for (size_t i = 0; i < diff->layer_count; i++) {
            const struct assay__diff_layer *row = &diff->layers[i];
            for (size_t m = row->starts[s]; m < row->starts[s + 1]; m++)
                row_of[row->members[m]] = i;
        }
        last = head;
        for (size_t i = 0; i < count; i++) {
            size_t row = row_of[i];
            if (row == NO_ROW) continue;
            bool placed = diff->layers[row].starts[1] > 0;
            for (size_t before = 1; before < s && !placed; before++)
                placed = diff->layers[row].starts[before + 1] > diff->layers[row].starts[before];
            if (!placed && row != last && next[row] == NO_ROW) {
                next[row] = next[last];
                next[last] = row;
            }
            last = row;
        }
    }
}

/* The time of a row compared with the first run's, if they are shown to differ; 1 if they are not,
 * infinite if only one of the runs has it. */
static double tone_of(const struct assay__diff *diff, const struct assay__diff_layer *row,
                      size_t side)
{
    const struct assay__diff_delta *d = &row->deltas[side];
    size_t others = 0;
    for (size_t s = 1; s < diff->count; s++)
        others += row->starts[s + 1] > row->starts[s];
    if (side == 0) return others ? 1 : INFINITY;
    if (!(row->times_ns[0] > 0)) return INFINITY;
    bool shown = assay__diff_is_shown(d->verdict) ||
                 (d->verdict == ASSAY__DIFF_UNJUDGED && row->shown);
    return shown ? d->ratio : 1;
}

/* The layers of one run that are in the row, from `begin` on. */
static void add_members(struct assay__sketch *k, const struct assay__diff *diff, size_t index,
                        size_t side, double begin_ns, struct assay__points *p, double *tones)
{
    const struct assay__diff_layer *row = &diff->layers[index];
    const struct assay__layer *layers = diff->sides[side].trial->layers.items;
    double sum_ns = 0;
    for (size_t m = row->starts[side]; m < row->starts[side + 1]; m++)
        if (layers[row->members[m]].time_ns > 0) sum_ns += layers[row->members[m]].time_ns;
    for (size_t m = row->starts[side]; m < row->starts[side + 1]; m++) {
        const struct assay__layer *layer = &layers[row->members[m]];
        double own_ns = sum_ns > 0 ? row->times_ns[side] * layer->time_ns / sum_ns : NAN;
        if (!(own_ns >= 0)) continue;
        p->x[p->count] = begin_ns / 1e9, p->y[p->count] = own_ns / 1e9;
        p->low[p->count] = row->times_ns[0] / 1e9;
        p->names[p->count] = assay__layer_title(layer);
        p->groups[p->count] = assay__sketch_printf(k, "#%d", layer->index);
        p->layers[p->count] = (int)index;
        tones[p->count++] = tone_of(diff, row, side);
        begin_ns += own_ns;
    }
}

static bool add_strip(struct assay__sketch *k, const struct assay__diff *diff, const size_t *next,
                      size_t side)
{
    const struct assay__diff_side *own = &diff->sides[side];
    size_t count = own->trial ? own->trial->layers.count : 0;
    struct assay__points p;
    double *tones = assay__figure_values(k->arena, count), begin_ns = 0, sum_ns = 0;
    if (!tones || !assay__sketch_points(k, &p, count,
                                        ASSAY__WITH_NAMES | ASSAY__WITH_GROUPS |
                                            ASSAY__WITH_LAYERS | ASSAY__WITH_INTERVALS)) {
        k->failed = true;
        return false;
    }
    for (size_t i = next[diff->layer_count]; i != NO_ROW; i = next[i]) {
        const struct assay__diff_layer *row = &diff->layers[i];
        double widest_ns = 0;
        for (size_t s = 0; s < diff->count; s++)
            if (row->times_ns[s] > widest_ns) widest_ns = row->times_ns[s];
        if (count) add_members(k, diff, i, side, begin_ns, &p, tones);
        if (row->times_ns[side] > 0) sum_ns += row->times_ns[side];
        begin_ns += widest_ns;
    }
    const char *name = assay__sketch_printf(k, "%s, layers %s", own->name,
                                            assay__scaled(sum_ns / 1e9, "s").text);
    struct assay__figure_series *s = assay__sketch_add(k, name, &p);
    s->tone = tones;
    return p.count > 0;
}

int assay__figure_strips(struct assay__sketch *k, size_t part)
{
    const char *why = "";
    const struct assay__diff *diff = diff_of(k, &why);
    if (!diff) return assay__sketch_none(k, why);
    size_t most = 0, with = 0;
    for (size_t s = 0; s < diff->count; s++)
        if (diff->sides[s].trial && diff->sides[s].trial->layers.count > most)
            most = diff->sides[s].trial->layers.count;
    if (part || !diff->layer_count) return assay__sketch_none(k, "no layer has a time in two runs");
    size_t *next = assay__arena_array(k->arena, diff->layer_count + 1, sizeof *next),
           *row_of = assay__arena_array(k->arena, most + 1, sizeof *row_of);
    if (!next || !row_of) k->failed = true;
    if (k->failed) return assay__sketch_end(k);
    order_rows(diff, next, row_of);
    struct assay__figure *f = assay__sketch_begin(k, ASSAY__FIGURE_ALIGNED, "strips",
                                                  "Layers of the runs, aligned");
    for (size_t s = 0; s < diff->count && !k->failed; s++)
        with += add_strip(k, diff, next, s);
    if (!k->failed && with < 2) return assay__sketch_none(k, "no layer has a time in two runs");
    f->y_unit = "s", f->wide = true;
    size_t changed = 0, rows = 0;
    bool unjudged = false;
    for (size_t i = 0; i < diff->layer_count; i++) {
        for (size_t s = 1; s < diff->count; s++)
            unjudged |= diff->layers[i].shown &&
                        diff->layers[i].deltas[s].verdict == ASSAY__DIFF_UNJUDGED;
        rows += diff->layers[i].kind == ASSAY__DIFF_LAYER;
        changed += diff->layers[i].kind == ASSAY__DIFF_LAYER && diff->layers[i].shown;
    }
    f->caption = assay__sketch_printf(
        k,
        "In order of execution, width is time. Matched layers begin at the same place, so "
        "a gap is time that the other run needs. Colour: time compared with the first run, %s.",
        unjudged ? "where it changed; there are too few launches for a verdict"
                 : "where the launches show a difference");
    f->description = assay__sketch_printf(k,
                                          unjudged ? "%zu of %zu matched layers changed."
                                                   : "%zu of %zu matched layers are shown to "
                                                     "differ.",
                                          changed, rows);
    return assay__sketch_end(k);
}

/* --- distributions ---------------------------------------------------------------------------- */

struct sample_set {
    double *sorted; /* ns; NULL: none */
    size_t count;
    double low, high; /* within Tukey's fences, 1.5 IQR from the quartiles */
};

static struct sample_set read_samples(const struct assay__trial *trial)
{
    struct sample_set set = {NULL, 0, NAN, NAN};
    set.sorted = assay__figure_sorted_samples(trial, &set.count);
    if (!set.sorted || set.count < LEAST_SAMPLES) return set;
    double q1 = assay__stats_percentile(set.sorted, set.count, 0.25),
           q3 = assay__stats_percentile(set.sorted, set.count, 0.75);
    set.low = fmax(set.sorted[0], q1 - 1.5 * (q3 - q1));
    set.high = fmin(set.sorted[set.count - 1], q3 + 1.5 * (q3 - q1));
    return set;
}

/* The share of the samples in each of the bins between low and high; samples outside are counted in
 * *outside. */
static void add_outline(struct assay__sketch *k, const char *name, const struct sample_set *set,
                        double low_ns, double high_ns, size_t bins, size_t *outside)
{
    struct assay__points p;
    bool log_axis = k->figure->x_log, known = set->count >= LEAST_SAMPLES && high_ns > low_ns;
    if (!assay__sketch_points(k, &p, bins, 0)) return;
    for (size_t i = 0; known && i <= bins; i++) {
        double at = (double)i / bins;
        p.x[i] = (log_axis ? low_ns * pow(high_ns / low_ns, at)
                           : low_ns + (high_ns - low_ns) * at) /
                 1e9;
        if (i < bins) p.y[i] = 0;
    }
    for (size_t i = 0; known && i < set->count; i++) {
        double ns = set->sorted[i], at = log_axis ? log(ns / low_ns) / log(high_ns / low_ns)
                                                  : (ns - low_ns) / (high_ns - low_ns);
        if (!(at >= 0 && at <= 1)) {
            ++*outside;
            continue;
        }
        size_t bin = (size_t)(at * bins);
        p.y[bin < bins ? bin : bins - 1] += 1 / (double)set->count;
    }
    p.count = known ? bins : 0;
    assay__sketch_add(k, name, &p);
}

static void add_launches(struct assay__sketch *k, const char *name,
                         const struct assay__trial *trial)
{
    struct assay__points p;
    struct assay__launch_values medians = assay__launch_values(trial, "latency.p50", k->arena);
    if (!assay__sketch_points(k, &p, medians.count, 0)) return;
    for (; p.count < medians.count; p.count++)
        p.x[p.count] = medians.items[p.count], p.y[p.count] = 0;
    assay__sketch_add(k, name, &p);
}

/* Where the interval of the difference puts the median of the other run. */
static void add_interval(struct assay__sketch *k, const struct assay__diff *diff)
{
    const struct assay__diff_metric *p50 = assay__diff_metric_find(diff, "latency.p50");
    if (diff->count != 2 || !p50 || !p50->values[0] || !p50->deltas[1].ci.known) return;
    const struct assay__diff_delta *d = &p50->deltas[1];
    struct assay__figure_span *span = assay__arena_alloc(k->arena, sizeof *span);
    if (!span) k->failed = true;
    if (!span) return;
    *span = (struct assay__figure_span){p50->values[0]->value * d->ci.low,
                                        p50->values[0]->value * d->ci.high,
                                        "95 % interval of the difference"};
    k->figure->spans = span;
    k->figure->span_count = 1;
}

struct spread_side {
    const char *name;
    const struct assay__trial *trial;
};

static int make_spread(struct assay__sketch *k, const struct spread_side *sides, size_t count,
                       const struct assay__diff *diff)
{
    struct sample_set *sets = assay__arena_array(k->arena, count, sizeof *sets);
    double low = INFINITY, high = -INFINITY, least = INFINITY, most = 0;
    size_t known = 0, outside = 0, few = 0;
    struct assay__buf text = {0};
    if (!sets) k->failed = true;
    struct assay__figure *f = assay__sketch_begin(k, ASSAY__FIGURE_SPREAD, "spread",
                                                  "Latency of every launch");
    for (size_t s = 0; s < count && sets; s++) {
        double p50 = assay__trial_value(sides[s].trial, "latency.p50");
        sets[s] = read_samples(sides[s].trial);
        if (isfinite(sets[s].low)) low = fmin(low, sets[s].low), high = fmax(high, sets[s].high);
        known += isfinite(p50);
        few += isfinite(p50) && sets[s].count < LEAST_SAMPLES;
        if (isfinite(p50)) least = fmin(least, p50), most = fmax(most, p50);
        assay__buf_printf(&text, "%s%s %s", s ? ", " : "", assay__sketch_short(k, sides[s].name),
                          assay__scaled(p50, "s").text);
    }
    f->x_log = known && low > 0 && most > LOG_FROM * least;
    size_t bins = BINS; /* as many as the run with the fewest samples allows */
    for (size_t s = 0; s < count && sets; s++) {
        size_t own = (size_t)(4 * cbrt((double)sets[s].count));
        if (sets[s].count >= LEAST_SAMPLES && own < bins)
            bins = own < LEAST_BINS ? LEAST_BINS : own;
    }
    for (size_t s = 0; s < count && sets; s++) {
        add_outline(k, sides[s].name, &sets[s], low, high, bins, &outside);
        add_launches(k, sides[s].name, sides[s].trial);
        free(sets[s].sorted);
    }
    assay__buf_putc(&text, '.');
    f->description = assay__sketch_take(k, &text);
    if (!k->failed && !known) return assay__sketch_none(k, "no trial has a latency");
    f->x_title = "latency", f->x_unit = "s", f->half = true;
    if (diff) add_interval(k, diff);
    f->caption = assay__sketch_printf(
        k,
        "Outline: share of the inferences. A mark is the median of one launch, the vertical line "
        "is the median over launches.%s",
        f->span_count ? " Shaded: where the difference puts the second run's median." : "");
    if (few)
        assay__buf_printf(&text, "No outline of %s with fewer than %d inferences.",
                          few > 1 ? "runs" : "the run", LEAST_SAMPLES);
    if (outside)
        assay__buf_printf(&text, "%s%zu inference%s outside the picture.", text.length ? " " : "",
                          outside, outside == 1 ? " is" : "s are");
    f->note = assay__sketch_take(k, &text);
    return assay__sketch_end(k);
}

int assay__figure_spread(struct assay__sketch *k, size_t part)
{
    struct spread_side sides[ASSAY__FIGURES_MOST];
    size_t count = 0;
    if (part) return ASSAY_ENOTFOUND;
    for (size_t s = 0; k->diff && s < k->diff->count; s++)
        if (k->diff->sides[s].trial)
            sides[count++] = (struct spread_side){k->diff->sides[s].name, k->diff->sides[s].trial};
    if (k->diff) return make_spread(k, sides, count, k->diff);
    const struct assay_profile *profile = k->study->profile;
    if (profile->trial_count < 2 || profile->kind != ASSAY__PROFILE_COMPARE)
        return assay__sketch_none(k, "this profile is not from a comparison");
    for (size_t i = 0; i < profile->trial_count && count < ASSAY__FIGURES_MOST; i++)
        sides[count++] = (struct spread_side){assay__figure_label(&profile->trials[i]),
                                              &profile->trials[i]};
    return make_spread(k, sides, count, NULL);
}
