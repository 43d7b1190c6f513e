/* sweep_judge.c - which point of a sweep is best for its goal, which cannot be told from it or from
 * each other, where the knee is, what a larger batch gains.
 *
 * Knee. Along the batch axis, at the other axes' values of the best point, from the smallest batch
 * on: the last point up to which each step raised throughput by a larger factor than latency.
 * Beyond it a larger batch buys throughput with more latency than it is worth. It needs three
 * points. A step is judged by the launches: throughput over latency of each (merit), whose ranges
 * at the two points must lie apart by at least half of the wider one. With three launches a step
 * that makes no difference is then taken for one in 2.4 % of cases (normal noise); without the
 * margin it were 10 %. From five launches on the exact rank test judges them, at 5 %. A step that
 * is not shown, or a later point whose merit is shown to be higher again, leaves the knee not
 * shown. */
#include "judge/sweep.h"

#include "judge/comparison.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HARDLY 1.005 /* "1 × the throughput" says nothing */

double assay__sweep_cost(const struct assay__sweep_point *point, enum assay__plan_goal goal)
{
    if (goal == ASSAY__PLAN_LATENCY) return point->judged.latency.value;
    if (goal == ASSAY__PLAN_ENERGY) return point->judged.energy.value / point->sequence;
    return point->judged.throughput.value > 0
               ? 1 / (point->judged.throughput.value * point->sequence)
               : NAN;
}

const char *assay__sweep_goal_name(const struct assay__sweep *sweep, enum assay__plan_goal goal)
{
    if (goal == ASSAY__PLAN_LATENCY) return "latency";
    if (goal == ASSAY__PLAN_ENERGY)
        return sweep->per_token ? "energy per token" : "energy per inference";
    return sweep->per_token ? "tokens per second" : "throughput";
}

/* --- which points are tied -------------------------------------------------------------------- */

/* The launches of two points overlap: they are tied. Points whose launches are not known are
 * neither tied nor distinguishable. */
static bool overlap(const struct assay__sweep_point *a, const struct assay__sweep_point *b)
{
    return a->cost_low <= b->cost_high && b->cost_low <= a->cost_high;
}

bool assay__sweep_overlap(const struct assay__sweep_point *a, const struct assay__sweep_point *b)
{
    return a->sample_low_s <= b->sample_high_s && b->sample_low_s <= a->sample_high_s;
}

struct ranked {
    size_t point;
    double cost;
};

static int by_cost(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return x->point < y->point ? -1 : 1;
}

/* Sound points, by the goal the best first. */
static size_t rank(const struct assay__sweep *sweep, enum assay__plan_goal goal, struct ranked *out)
{
    size_t count = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        double cost = assay__sweep_cost(&sweep->points[i], goal);
        if (sweep->points[i].sound && isfinite(cost)) out[count++] = (struct ranked){i, cost};
    }
    qsort(out, count, sizeof *out, by_cost);
    return count;
}

static int find_pairs(struct assay__sweep *sweep, enum assay__plan_goal goal,
                      struct assay__arena *arena)
{
    struct ranked *order = assay__arena_array(arena, sweep->count, sizeof *order);
    sweep->pairs = assay__arena_array(arena, sweep->count, sizeof *sweep->pairs);
    if (!order || !sweep->pairs) return ASSAY_ENOMEM;
    size_t count = rank(sweep, goal, order);
    for (size_t i = 1; i < count; i++)
        if (overlap(&sweep->points[order[i - 1].point], &sweep->points[order[i].point]))
            sweep->pairs[sweep->pair_count++] = (struct assay__sweep_pair){order[i - 1].point,
                                                                           order[i].point};
    return 0;
}

/* --- the best --------------------------------------------------------------------------------- */

/* A software device is measured, never chosen: not even when it is alone. */
static bool may_win(const struct assay__sweep_point *point)
{
    return point->within && !point->software;
}

static void choose(struct assay__sweep *sweep, enum assay__plan_goal goal)
{
    for (size_t i = 0; i < sweep->count; i++) {
        const struct assay__sweep_point *point = &sweep->points[i];
        double cost = assay__sweep_cost(point, goal);
        if (!may_win(point) || !isfinite(cost)) continue;
        if (sweep->best == SIZE_MAX ||
            cost < assay__sweep_cost(&sweep->points[sweep->best], goal)) {
            sweep->next = sweep->best;
            sweep->best = i;
        } else if (sweep->next == SIZE_MAX ||
                   cost < assay__sweep_cost(&sweep->points[sweep->next], goal)) {
            sweep->next = i;
        }
    }
}

/* By how much a point breaks the limits it breaks most: 1.2 is 20 % over. NaN unknown. */
static double excess(const struct assay__sweep_point *point, const struct assay__plan *plan)
{
    double most = NAN;
    if (plan->slo_metric) most = point->slo_s / plan->slo_s;
    if (isfinite(plan->memory_bytes)) {
        double memory = point->judged.memory.value / plan->memory_bytes;
        most = plan->slo_metric ? (most > memory ? most : memory) : memory;
        if (plan->slo_metric && !isfinite(point->slo_s)) most = NAN;
    }
    return most;
}

/* No point is within the limits: which is closest, and by how much it misses. */
static const char *say_nearest(const struct assay__sweep *sweep, const struct assay__plan *plan,
                               struct assay__arena *arena)
{
    size_t nearest = SIZE_MAX, unknown = SIZE_MAX;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct assay__sweep_point *point = &sweep->points[i];
        if (!point->sound) continue;
        if (!isfinite(excess(point, plan)))
            unknown = unknown == SIZE_MAX ? i : unknown;
        else if (nearest == SIZE_MAX || excess(point, plan) < excess(&sweep->points[nearest], plan))
            nearest = i;
    }
    if (nearest == SIZE_MAX)
        return assay__arena_printf(arena, "no point is known to be within the limits: %s: %s",
                                   sweep->points[unknown].judged.label,
                                   sweep->points[unknown].judged.reason);
    const struct assay__sweep_point *point = &sweep->points[nearest];
    char value[64], allowed[64];
    bool latency = plan->slo_metric && excess(point, plan) == point->slo_s / plan->slo_s;
    assay__text_scaled(value, sizeof value, latency ? point->slo_s : point->judged.memory.value,
                       latency ? "s" : "B");
    assay__text_scaled(allowed, sizeof allowed, latency ? plan->slo_s : plan->memory_bytes,
                       latency ? "s" : "B");
    double over = excess(point, plan);
    return assay__arena_printf(
        arena,
        "no point is within the limits; the closest is %s: %s is %s, the limit is %s (%.*f %s)",
        point->judged.label, latency ? plan->slo_metric : "memory", value, allowed,
        over < 10 ? 1 : 0, over < 2 ? (over - 1) * 100 : over,
        over < 2 ? "% over" : "times as much");
}

/* Everything that ran gave outputs that cannot be used: the first of them, and what may be the
 * matter. */
static const char *say_unsound(const struct assay__sweep *sweep, struct assay__arena *arena)
{
    size_t first = 0;
    while (first + 1 < sweep->count && !sweep->points[first].judged.usable)
        first++;
    return assay__arena_printf(arena,
                               "no point can be recommended: %s: %s (inputs are random unless real "
                               "ones are given)",
                               sweep->points[first].judged.label,
                               sweep->points[first].judged.reason);
}

static const char *say_best(const struct assay__sweep *sweep, const struct assay__plan *plan,
                            struct assay__arena *arena)
{
    const char *goal = assay__sweep_goal_name(sweep, plan->goal);
    const struct assay__sweep_point *best = &sweep->points[sweep->best];
    size_t first = 0; /* nothing is as good as what gave wrong outputs */
    while (sweep->points[first].judged.usable && !sweep->points[first].sound)
        first++;
    const struct assay__sweep_point *base = &sweep->points[first];
    double gain = assay__sweep_cost(base, plan->goal) / assay__sweep_cost(best, plan->goal);
    if (sweep->best == 0)
        return assay__arena_printf(arena, "best %s: %s, the first point", goal, best->judged.label);
    if (gain < HARDLY && base != best)
        return assay__arena_printf(arena, "best %s: %s, less than 0.5 %% better than %s", goal,
                                   best->judged.label, base->judged.label);
    if (!isfinite(gain) || base == best)
        return assay__arena_printf(arena, "best %s: %s", goal, best->judged.label);
    static const char *const better[] = {"that of", "as fast as", "as efficient as"};
    return assay__arena_printf(arena, "best %s: %s, %s × %s %s", goal, best->judged.label,
                               assay__digits(gain, 3).text, better[plan->goal], base->judged.label);
}

static int find_best(struct assay__sweep *sweep, const struct assay__plan *plan,
                     struct assay__arena *arena)
{
    size_t usable = 0, sound = 0, within = 0, software = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        software += sweep->points[i].within && sweep->points[i].software;
        usable += sweep->points[i].judged.usable;
        sound += sweep->points[i].sound;
        within += sweep->points[i].within;
    }
    choose(sweep, plan->goal);
    sweep->alike = assay__arena_array(arena, sweep->count, sizeof *sweep->alike);
    if (!sweep->alike) return ASSAY_ENOMEM;
    if (sweep->best == SIZE_MAX) {
        sweep->why = !usable   ? "no point could be measured"
                     : !sound  ? say_unsound(sweep, arena)
                     : !within ? say_nearest(sweep, plan, arena)
                     : software == within
                         ? "none is recommended: only a device that is emulated in software ran, "
                           "and that is measured but never recommended"
                     : plan->goal == ASSAY__PLAN_ENERGY
                         ? "no point's energy per inference is known, so the goal cannot be judged "
                           "(the table says why)"
                         : "no point's throughput is known";
        return sweep->why ? 0 : ASSAY_ENOMEM;
    }
    const struct assay__sweep_point *best = &sweep->points[sweep->best];
    for (size_t i = 0; i < sweep->count; i++)
        if (i != sweep->best && may_win(&sweep->points[i]) && overlap(best, &sweep->points[i]))
            sweep->alike[sweep->alike_count++] = i;
    sweep->why = say_best(sweep, plan, arena);
    return sweep->why ? 0 : ASSAY_ENOMEM;
}

/* --- the knee, and what a larger batch gains -------------------------------------------------- */

/* The next larger value after `from` (0: the smallest) among the points like `like`; SIZE_MAX:
 * none. */
static size_t next_value(const struct assay__sweep *sweep, size_t axis, size_t like, double from)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < sweep->count; i++) {
        double value = assay__axis_number(sweep->points[i].values[axis]);
        if (!sweep->points[i].sound || !assay__sweep_same_but(sweep, axis, like, i) ||
            !(value > from))
            continue;
        if (best == SIZE_MAX || value < assay__axis_number(sweep->points[best].values[axis]))
            best = i;
    }
    return best;
}

/* At whose other values the batch (else the threads) are looked along: the best point's, else the
 * first one's that may be looked at. */
static size_t along(const struct assay__sweep *sweep)
{
    if (sweep->best != SIZE_MAX) return sweep->best;
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->points[i].sound) return i;
    return SIZE_MAX;
}

enum step { STEP_UP, STEP_DOWN, STEP_NOT_SHOWN };

/* Whether the launches show that b has a higher (lower) merit than a. The margin of ranges is of
 * their logarithms: a factor. */
static int step_of(const struct assay__sweep_point *a, const struct assay__sweep_point *b,
                   enum step *step)
{
    *step = STEP_NOT_SHOWN;
    if (a->merit_count >= ASSAY__COMPARISON_LAUNCHES &&
        b->merit_count >= ASSAY__COMPARISON_LAUNCHES) {
        struct assay__ratio ratio = ASSAY__RATIO_UNKNOWN;
        int code = assay__stats_compare(a->merits, a->merit_count, b->merits, b->merit_count,
                                        &ratio);
        if (ratio.p_value < 0.05) *step = ratio.ratio > 1 ? STEP_UP : STEP_DOWN;
        return code;
    }
    double a_low = a->merits[0], a_high = a->merits[a->merit_count - 1], b_low = b->merits[0],
           b_high = b->merits[b->merit_count - 1];
    double wider = fmax(log(a_high / a_low), log(b_high / b_low));
    if (log(b_low / a_high) > wider / 2) *step = STEP_UP;
    if (log(a_low / b_high) > wider / 2) *step = STEP_DOWN;
    return 0;
}

/* The points along the axis, smallest value first; how many there are. */
static size_t walk(const struct assay__sweep *sweep, size_t axis, size_t like, size_t *path)
{
    size_t count = 0;
    for (size_t at = next_value(sweep, axis, like, 0); at != SIZE_MAX;
         at = next_value(sweep, axis, like, assay__axis_number(sweep->points[at].values[axis])))
        path[count++] = at;
    return count;
}

/* Why a path of three points or more has no knee that is shown; or the knee, set. NULL: out of
 * memory. */
static const char *judge_path(struct assay__sweep *sweep, const size_t *path, size_t count,
                              struct assay__arena *arena)
{
    const struct assay__sweep_point *points = sweep->points;
    size_t at = 0;
    enum step step = STEP_UP;
    for (size_t i = 0; i < count; i++)
        if (points[path[i]].merit_count < 2)
            return assay__arena_printf(
                arena,
                "unknown: %s has fewer than two launches, too few to judge a "
                "step by",
                points[path[i]].judged.label);
    for (; at + 1 < count; at++) {
        if (step_of(&points[path[at]], &points[path[at + 1]], &step)) return NULL;
        if (step != STEP_UP) break;
    }
    if (at + 1 < count && step == STEP_NOT_SHOWN)
        return assay__arena_printf(
            arena,
            "unknown: between %s and %s the launches vary too much to tell whether throughput or "
            "latency grew by the larger factor; 10 launches each would help",
            points[path[at]].judged.label, points[path[at + 1]].judged.label);
    for (size_t later = at + 1; later < count; later++) {
        if (step_of(&points[path[at]], &points[path[later]], &step)) return NULL;
        if (step == STEP_UP)
            return assay__arena_printf(arena,
                                       "unknown: the step after %s does not pay off, but %s again "
                                       "has more throughput for its latency",
                                       points[path[at]].judged.label,
                                       points[path[later]].judged.label);
    }
    sweep->knee = path[at];
    return assay__arena_printf(
        arena,
        at ? "%s: up to there each step raised throughput by a larger factor than latency"
           : "%s, the smallest: the next step already raises latency by a larger factor than "
             "throughput",
        points[path[at]].judged.label);
}

static int find_knee(struct assay__sweep *sweep, struct assay__arena *arena)
{
    size_t axis = assay__sweep_axis(sweep, ASSAY__AXIS_BATCH), like = along(sweep);
    sweep->knee_why = axis == SIZE_MAX ? "not looked for: the batch size does not vary"
                                       : "none: no point ran with usable outputs";
    if (axis == SIZE_MAX || like == SIZE_MAX) return 0;
    size_t *path = assay__arena_array(arena, sweep->count, sizeof *path);
    if (!path) return ASSAY_ENOMEM;
    size_t count = walk(sweep, axis, like, path);
    const char *why = count < 3 ? assay__arena_printf(
                                      arena,
                                      "a knee needs at least three batch sizes that ran, all "
                                      "else equal: there %s %zu",
                                      count == 1 ? "is" : "are", count)
                                : judge_path(sweep, path, count, arena);
    sweep->knee_why = why ? why : "";
    return why ? 0 : ASSAY_ENOMEM;
}

/* "batch 16 gives 3.1 × the throughput of batch 1 at 5.2 × its latency": the point of the highest
 * throughput along the axis, at the best point's other values (the first sound point's when there
 * is no best). Nothing is gained where the launches of the two overlap. */
static int say_gain(struct assay__sweep *sweep, struct assay__arena *arena)
{
    size_t axis = assay__sweep_axis(sweep, ASSAY__AXIS_BATCH), like = along(sweep), top = SIZE_MAX;
    if (axis == SIZE_MAX) axis = assay__sweep_axis(sweep, ASSAY__AXIS_THREADS);
    sweep->scaled = sweep->best;
    if (axis == SIZE_MAX || like == SIZE_MAX) return 0;
    size_t points = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        if (!sweep->points[i].sound || !assay__sweep_same_but(sweep, axis, like, i)) continue;
        points++;
        if (top == SIZE_MAX ||
            sweep->points[i].judged.throughput.value > sweep->points[top].judged.throughput.value)
            top = i;
    }
    if (sweep->scaled == SIZE_MAX) sweep->scaled = top;
    if (top == SIZE_MAX || points < 2) return 0;
    const struct assay__sweep_point *a = &sweep->points[top], *b = &sweep->points[a->base];
    const char *name = assay__axis_name(sweep->axes.items[axis]);
    if (a->base != top && assay__sweep_overlap(a, b)) {
        sweep->gain = assay__arena_printf(
            arena, "%s %s is not distinguishable from %s %s: their launches overlap in throughput",
            name, a->values[axis], name, b->values[axis]);
        return sweep->gain ? 0 : ASSAY_ENOMEM;
    }
    sweep->gain =
        a->base == top || a->judged.throughput.value < HARDLY * b->judged.throughput.value
            ? assay__arena_printf(arena, "nothing gives %s throughput than %s %s",
                                  a->base == top ? "more" : "0.5 % more", name, b->values[axis])
            : assay__arena_printf(
                  arena, "%s %s gives %s × the throughput of %s %s at %s × its latency", name,
                  a->values[axis],
                  assay__digits(a->judged.throughput.value / b->judged.throughput.value, 3).text,
                  name, b->values[axis],
                  assay__digits(a->judged.latency.value / b->judged.latency.value, 3).text);
    return sweep->gain ? 0 : ASSAY_ENOMEM;
}

int assay__sweep_judge(const struct assay__plan *plan, struct assay__arena *arena,
                       struct assay__sweep *sweep)
{
    int code = find_best(sweep, plan, arena);
    if (!code) code = find_pairs(sweep, plan->goal, arena);
    if (!code) code = find_knee(sweep, arena);
    return code ? code : say_gain(sweep, arena);
}
