/* sweep_judge.c - which point of a sweep is best for its goal, which are tied with it or with each
 * other, where the knee is, what a larger batch gains, and what running the best two again showed.
 *
 * Knee. Along the batch axis, with the other axes as at the best point, from the smallest batch up:
 * the last point up to which each step raised throughput by a larger factor than latency. Beyond
 * it, a larger batch costs more latency than the throughput it gains. It needs three points. A step
 * is judged by the launches: throughput over latency of each (merit), whose ranges at the two
 * points must be separated by at least half of the wider one. With three launches, a step that
 * makes no difference is then mistaken for one in 2.4 % of cases (normal noise); without the margin
 * it would be 10 %. With five or more launches the exact rank test judges them, at 5 %. A step that
 * is not shown, or a later point whose merit is shown to be higher again, leaves the knee not
 * shown. */
#include "judge/sweep.h"

#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HARDLY 1.005 /* "1 × the throughput" says nothing */

/* Smaller is better; NaN unknown. */
static double cost_of(const struct assay__sweep_point *point, enum assay__plan_goal goal)
{
    if (goal == ASSAY__PLAN_LATENCY) return point->judged.latency.value;
    if (goal == ASSAY__PLAN_ENERGY) return point->judged.energy.value / point->sequence;
    double throughput = point->judged.throughput.value;
    return throughput > 0 ? 1 / (throughput * point->sequence) : NAN;
}

static const char *goal_name(const struct assay__sweep *sweep, enum assay__plan_goal goal)
{
    if (goal == ASSAY__PLAN_LATENCY) return "latency";
    if (goal == ASSAY__PLAN_ENERGY)
        return sweep->per_token ? "energy per token" : "energy per inference";
    return sweep->per_token ? "tokens per second" : "throughput";
}

/* --- which points are tied -------------------------------------------------------------------- */

/* Whether their launches overlap. Points whose launches are unknown are neither tied nor
 * distinguishable. */
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

/* Tied neighbours among the points with correct outputs, in the order of the goal. */
static void find_pairs(struct assay__sweep *sweep, enum assay__plan_goal goal,
                       struct assay__arena *arena)
{
    struct ranked *order = assay__arena_array(arena, sweep->count, sizeof *order);
    size_t count = 0;
    sweep->pairs = assay__arena_array(arena, sweep->count, sizeof *sweep->pairs);
    for (size_t i = 0; order && sweep->pairs && i < sweep->count; i++) {
        double cost = cost_of(&sweep->points[i], goal);
        if (sweep->points[i].sound && isfinite(cost)) order[count++] = (struct ranked){i, cost};
    }
    if (count) qsort(order, count, sizeof *order, by_cost);
    for (size_t i = 1; i < count; i++) {
        size_t a = order[i - 1].point, b = order[i].point;
        if (overlap(&sweep->points[a], &sweep->points[b]))
            sweep->pairs[sweep->pair_count++] = (struct assay__sweep_pair){a, b};
    }
}

/* --- the best --------------------------------------------------------------------------------- */

/* A software device is measured but never chosen, not even if it is the only one. */
static bool may_win(const struct assay__sweep_point *point)
{
    return point->within && !point->software;
}

/* The best or the next best has one launch of several that were planned: the sweep was interrupted,
 * or the others failed. One launch does not show how much launches differ. */
static bool is_early(const struct assay__sweep *sweep, const struct assay_profile *profile)
{
    const size_t top[] = {sweep->best, sweep->next};
    for (size_t i = 0; i < 2; i++) {
        if (top[i] == SIZE_MAX) continue;
        const struct assay__judged *judged = &sweep->points[top[i]].judged;
        if (judged->medians.count < 2 && profile->trials[judged->trial].protocol.launches > 1)
            return true;
    }
    return false;
}

static const char *say_best(struct assay__sweep *sweep, const struct assay__plan *plan,
                            struct assay__arena *arena)
{
    const char *goal = goal_name(sweep, plan->goal);
    const struct assay__sweep_point *best = &sweep->points[sweep->best];
    size_t first = 0; /* wrong outputs are not a base for comparison */
    while (sweep->points[first].judged.usable && !sweep->points[first].sound)
        first++;
    const struct assay__sweep_point *base = &sweep->points[first];
    double gain = cost_of(base, plan->goal) / cost_of(best, plan->goal);
    sweep->base = first;
    sweep->base_gain = gain;
    if (sweep->best == 0)
        return assay__arena_text(arena, "best %s: %s, the first point", goal, best->judged.label);
    if (gain < HARDLY && base != best)
        return assay__arena_text(arena, "best %s: %s, less than 0.5 %% better than %s", goal,
                                 best->judged.label, base->judged.label);
    if (!isfinite(gain) || base == best)
        return assay__arena_text(arena, "best %s: %s", goal, best->judged.label);
    static const char *const better[] = {"that of", "as fast as", "as efficient as"};
    return assay__arena_text(arena, "best %s: %s, %s × %s %s", goal, best->judged.label,
                             assay__digits(gain, 3).text, better[plan->goal], base->judged.label);
}

/* Why no point is the best. For points beyond the limits, which is closest and by how much it
 * misses; for wrong outputs, the first and a likely cause. */
static const char *say_none(const struct assay__sweep *sweep, const struct assay_profile *profile,
                            struct assay__arena *arena)
{
    const struct assay__sweep_point *nearest = NULL, *unknown = NULL, *wrong = NULL;
    size_t sound = 0, within = 0, software = 0;
    bool begun = false; /* a point was interrupted */
    double least = INFINITY;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct assay__sweep_point *point = &sweep->points[i];
        double over = assay__limits_excess(&profile->plan, &profile->trials[point->judged.trial]);
        begun |= profile->trials[point->judged.trial].state == ASSAY__TRIAL_INTERRUPTED;
        if (!wrong && point->judged.usable && !point->sound) wrong = point;
        if (!point->sound) continue;
        sound++;
        within += point->within;
        software += point->within && point->software;
        if (!isfinite(over) && !unknown) unknown = point;
        if (over < least) nearest = point, least = over;
    }
    if (!sound && !wrong) return begun ? "no point was completed" : "no point could be measured";
    if (!sound)
        return assay__arena_text(
            arena,
            "no point can be recommended: %s: %s (inputs are random unless real ones are given)",
            wrong->judged.label, wrong->judged.reason);
    if (!within && nearest)
        return assay__arena_text(
            arena, "no point is within the limits; the closest is %s",
            assay__limits_missed(&profile->plan, &profile->trials[nearest->judged.trial], arena));
    if (!within)
        return assay__arena_text(arena, "no point is known to be within the limits: %s: %s",
                                 unknown->judged.label, unknown->judged.reason);
    if (software == within)
        return "none is recommended: only a device emulated in software ran, and such devices are "
               "measured but never recommended";
    return profile->plan.goal == ASSAY__PLAN_ENERGY
               ? "the energy per inference of every point is unknown (the table says why)"
               : "the throughput of every point is unknown";
}

/* --- the knee, and what a larger batch gains -------------------------------------------------- */

/* The next larger value after `from` (0: the smallest) among the points that equal `like` on the
 * other axes; SIZE_MAX: none. */
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

/* The batch (else the threads) varies along a line through this point: the best, else the first
 * with correct outputs. */
static size_t along(const struct assay__sweep *sweep)
{
    if (sweep->best != SIZE_MAX) return sweep->best;
    for (size_t i = 0; i < sweep->count; i++)
        if (sweep->points[i].sound) return i;
    return SIZE_MAX;
}

enum step { STEP_UP, STEP_DOWN, STEP_NOT_SHOWN };

/* Whether the launches show that b has a higher (lower) merit than a. The margin between ranges is
 * measured in logarithms: a factor. */
static enum step step_of(const struct assay__sweep_point *a, const struct assay__sweep_point *b,
                         struct assay__arena *arena)
{
    const struct assay__launch_values *x = &a->merits, *y = &b->merits;
    if (x->count >= ASSAY__COMPARISON_LAUNCHES && y->count >= ASSAY__COMPARISON_LAUNCHES) {
        struct assay__ratio ratio = assay__launch_ratio(x, y, arena);
        if (!(ratio.p_value < 0.05)) return STEP_NOT_SHOWN;
        return ratio.ratio > 1 ? STEP_UP : STEP_DOWN;
    }
    double a_low = x->items[0], a_high = x->items[x->count - 1], b_low = y->items[0],
           b_high = y->items[y->count - 1], wider = fmax(log(a_high / a_low), log(b_high / b_low));
    if (log(b_low / a_high) > wider / 2) return STEP_UP;
    return log(a_low / b_high) > wider / 2 ? STEP_DOWN : STEP_NOT_SHOWN;
}

/* The knee along three points or more, set if it is shown; the sentence in any case. */
static const char *judge_path(struct assay__sweep *sweep, const size_t *path, size_t count,
                              struct assay__arena *arena)
{
    const struct assay__sweep_point *points = sweep->points;
    size_t at = 0;
    enum step step = STEP_UP;
    for (size_t i = 0; i < count; i++)
        if (points[path[i]].merits.count < 2)
            return assay__arena_text(
                arena, "unknown: %s has fewer than two launches, too few to judge a step",
                points[path[i]].judged.label);
    for (; at + 1 < count; at++) {
        step = step_of(&points[path[at]], &points[path[at + 1]], arena);
        if (step != STEP_UP) break;
    }
    const char *last = points[path[at]].judged.label;
    if (at + 1 < count && step == STEP_NOT_SHOWN)
        return assay__arena_text(
            arena,
            "unknown: between %s and %s the launches vary too much to tell whether throughput or "
            "latency grew by the larger factor; 10 launches each would help",
            last, points[path[at + 1]].judged.label);
    for (size_t later = at + 1; later < count; later++)
        if (step_of(&points[path[at]], &points[path[later]], arena) == STEP_UP)
            return assay__arena_text(
                arena, "unknown: the step after %s does not pay off, but %s does again", last,
                points[path[later]].judged.label);
    sweep->knee = path[at];
    return assay__arena_text(
        arena,
        at ? "%s: up to there each step raised throughput by a larger factor than latency"
           : "%s, the smallest: the next step already raises latency by a larger factor than "
             "throughput",
        last);
}

static const char *find_knee(struct assay__sweep *sweep, struct assay__arena *arena)
{
    size_t axis = assay__sweep_axis(sweep, ASSAY__AXIS_BATCH), like = along(sweep), count = 0;
    if (axis == SIZE_MAX) return "not looked for: the batch size does not vary";
    if (like == SIZE_MAX) return "none: no point has usable outputs";
    size_t *path = assay__arena_array(arena, sweep->count, sizeof *path);
    for (size_t at = next_value(sweep, axis, like, 0); path && at != SIZE_MAX;
         at = next_value(sweep, axis, like, assay__axis_number(sweep->points[at].values[axis])))
        path[count++] = at;
    if (count >= 3) return judge_path(sweep, path, count, arena);
    return assay__arena_text(
        arena, "a knee needs at least three batch sizes that ran, all else equal: there %s %zu",
        count == 1 ? "is" : "are", count);
}

/* "batch 16 gives 3.1 × the throughput of batch 1 at 5.2 × its latency": the point with the highest
 * throughput along the axis, with the other values of the best point (of the first with correct
 * outputs if there is no best). Nothing is gained if the launches of the two overlap. */
static const char *find_gain(struct assay__sweep *sweep, struct assay__arena *arena)
{
    size_t axis = assay__sweep_axis(sweep, ASSAY__AXIS_BATCH), like = along(sweep), top = SIZE_MAX;
    if (axis == SIZE_MAX) axis = assay__sweep_axis(sweep, ASSAY__AXIS_THREADS);
    sweep->scaled = sweep->best;
    if (axis == SIZE_MAX || like == SIZE_MAX) return "";
    size_t points = 0;
    for (size_t i = 0; i < sweep->count; i++) {
        if (!sweep->points[i].sound || !assay__sweep_same_but(sweep, axis, like, i)) continue;
        points++;
        if (top == SIZE_MAX ||
            sweep->points[i].judged.throughput.value > sweep->points[top].judged.throughput.value)
            top = i;
    }
    if (sweep->scaled == SIZE_MAX) sweep->scaled = top;
    if (top == SIZE_MAX || points < 2) return "";
    const struct assay__sweep_point *a = &sweep->points[top], *b = &sweep->points[a->base];
    const char *name = assay__axis_name(sweep->axes.items[axis]), *own = a->values[axis],
               *base = b->values[axis];
    double ratio = a->judged.throughput.value / b->judged.throughput.value;
    if (a->base != top && assay__sweep_overlap(a, b))
        return assay__arena_text(arena,
                                 "%s %s is tied with %s %s: their launches overlap in throughput",
                                 name, own, name, base);
    if (a->base == top || ratio < HARDLY)
        return assay__arena_text(arena, "nothing gives %s throughput than %s %s",
                                 a->base == top ? "more" : "0.5 % more", name, base);
    return assay__arena_text(
        arena, "%s %s gives %s × the throughput of %s %s at %s × its latency", name, own,
        assay__digits(ratio, 3).text, name, base,
        assay__digits(a->judged.latency.value / b->judged.latency.value, 3).text);
}

/* --- running the best two again --------------------------------------------------------------- */

struct arm {
    size_t point; /* SIZE_MAX: its label is no point's */
    struct assay__launch_values costs;
    bool direct; /* of the goal, not latencies instead */
};

static struct arm read_arm(const struct assay__sweep *sweep, const struct assay__trial *trial,
                           enum assay__plan_goal goal, struct assay__arena *arena)
{
    struct arm arm = {.point = 0};
    while (arm.point < sweep->count &&
           strcmp(sweep->points[arm.point].judged.label, trial->label) != 0)
        arm.point++;
    if (arm.point == sweep->count) arm.point = SIZE_MAX;
    arm.costs = assay__sweep_launch_costs(trial, goal, arena, &arm.direct);
    bool per_token = arm.point != SIZE_MAX && goal != ASSAY__PLAN_LATENCY;
    for (size_t i = 0; per_token && i < arm.costs.count; i++)
        arm.costs.items[i] /= sweep->points[arm.point].sequence;
    return arm;
}

static const char *say_confirmed(const struct assay__sweep *sweep, const struct arm arms[2],
                                 const char *cost, struct assay__arena *arena)
{
    const struct assay__ratio *r = &sweep->confirmation.ratio;
    const char *first = sweep->points[arms[0].point].judged.label,
               *second = sweep->points[arms[1].point].judged.label;
    if (!r->ci.known && !isfinite(r->p_value))
        return assay__arena_text(
            arena,
            "%s against %s: %zu and %zu launches succeeded, a test needs at least %d of each",
            first, second, arms[0].costs.count, arms[1].costs.count, ASSAY__COMPARISON_LAUNCHES);
    if (!(r->p_value < 0.05))
        return assay__arena_text(arena,
                                 "%s and %s are tied after %zu launches each (p %.2g); too noisy "
                                 "to detect changes below %s %%",
                                 first, second, arms[0].costs.count, r->p_value,
                                 assay__digits(r->smallest * 100, 2).text);
    bool holds = r->ratio > 1;
    double low = holds ? r->ci.low : 1 / r->ci.high, high = holds ? r->ci.high : 1 / r->ci.low;
    return assay__arena_text(
        arena, "%s: %s of %s is %s × that of %s (95 %% CI %s, p %.2g)",
        holds ? "confirmed" : "NOT confirmed, the other is better", cost, holds ? second : first,
        assay__digits(holds ? r->ratio : 1 / r->ratio, 3).text, holds ? first : second,
        assay__digits_range(low, high).text, r->p_value);
}

/* Both according to the goal; if one of them has no such numbers, both by latency: joules and
 * seconds are not compared. */
static void confirm(const struct assay_profile *profile, struct assay__arena *arena,
                    struct assay__sweep *sweep)
{
    struct assay__sweep_confirmation *out = &sweep->confirmation;
    enum assay__plan_goal goal = profile->plan.goal;
    const struct assay__trial *trials[2];
    struct arm arms[2];
    size_t found = 0;
    *out = (struct assay__sweep_confirmation){
        .points = {SIZE_MAX, SIZE_MAX}, .ratio = ASSAY__RATIO_UNKNOWN, .why = ""};
    for (size_t i = 0; i < profile->trial_count && found < 2; i++)
        if (profile->trials[i].role == ASSAY__ROLE_CONFIRM) trials[found++] = &profile->trials[i];
    if (found < 2) return;
    for (size_t i = 0; i < 2; i++)
        arms[i] = read_arm(sweep, trials[i], goal, arena);
    if (arms[0].point == SIZE_MAX || arms[1].point == SIZE_MAX) return;
    bool by_latency = goal == ASSAY__PLAN_ENERGY && !(arms[0].direct && arms[1].direct);
    out->asked = true;
    for (size_t i = 0; i < 2; i++) {
        if (by_latency) arms[i] = read_arm(sweep, trials[i], ASSAY__PLAN_LATENCY, arena);
        out->points[i] = arms[i].point;
        out->launches[i] = arms[i].costs.count;
    }
    out->ratio = assay__launch_ratio(&arms[0].costs, &arms[1].costs, arena);
    const char *cost = by_latency                       ? "latency (not every launch has an energy)"
                       : goal != ASSAY__PLAN_THROUGHPUT ? goal_name(sweep, goal)
                       : sweep->per_token               ? "time per token"
                                                        : "time per sample";
    out->why = say_confirmed(sweep, arms, cost, arena);
}

void assay__sweep_judge(const struct assay_profile *profile, struct assay__arena *arena,
                        struct assay__sweep *sweep)
{
    enum assay__plan_goal goal = profile->plan.goal;
    for (size_t i = 0; i < sweep->count; i++) {
        double cost = cost_of(&sweep->points[i], goal);
        if (!may_win(&sweep->points[i]) || !isfinite(cost)) continue;
        if (sweep->best == SIZE_MAX || cost < cost_of(&sweep->points[sweep->best], goal)) {
            sweep->next = sweep->best;
            sweep->best = i;
        } else if (sweep->next == SIZE_MAX || cost < cost_of(&sweep->points[sweep->next], goal)) {
            sweep->next = i;
        }
    }
    bool found = sweep->best != SIZE_MAX, early = is_early(sweep, profile);
    if (early) sweep->best = sweep->next = SIZE_MAX, found = false;
    if (found) sweep->alike = assay__arena_array(arena, sweep->count, sizeof *sweep->alike);
    for (size_t i = 0; sweep->alike && i < sweep->count; i++)
        if (i != sweep->best && may_win(&sweep->points[i]) &&
            overlap(&sweep->points[sweep->best], &sweep->points[i]))
            sweep->alike[sweep->alike_count++] = i;
    sweep->why = early    ? "stopped early: one launch per point is too few to choose the best"
                 : !found ? say_none(sweep, profile, arena)
                          : assay__arena_text(arena, "%s%s", say_best(sweep, &profile->plan, arena),
                                              assay__load_caveat(profile, arena));
    find_pairs(sweep, goal, arena);
    sweep->knee_why = find_knee(sweep, arena);
    const char *withdrawn = found ? assay__load_withdraws(profile, arena) : "";
    if (*withdrawn) { /* the numbers stay, the verdicts go */
        sweep->why = assay__arena_text(arena, "%s; as measured: %s", withdrawn,
                                       say_best(sweep, &profile->plan, arena));
        sweep->withdrawn = true;
        sweep->best = sweep->next = SIZE_MAX;
        sweep->alike_count = 0;
        if (sweep->knee != SIZE_MAX) sweep->knee_why = withdrawn;
        sweep->knee = SIZE_MAX;
    }
    sweep->gain = find_gain(sweep, arena);
    confirm(profile, arena, sweep);
}
