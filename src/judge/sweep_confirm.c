/* sweep_confirm.c - what running the best two again has shown: the exact rank test on their
 * launches (base/stats.h): time per sample where the goal is throughput, else the median latency.
 * Where the energy of launches is not known, the test for that goal is of latency. */
#include "judge/comparison.h"
#include "judge/sweep.h"
#include "base/text.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arm {
    size_t point; /* SIZE_MAX: its label is no point's */
    double *costs;
    size_t count;
    bool direct; /* the costs are of the goal, not latencies instead */
};

static size_t point_of(const struct assay__sweep *sweep, const char *label)
{
    for (size_t i = 0; i < sweep->count; i++)
        if (strcmp(sweep->points[i].judged.label, label) == 0) return i;
    return SIZE_MAX;
}

static int read_arm(const struct assay__sweep *sweep, const struct assay__trial *trial,
                    enum assay__plan_goal goal, struct arm *arm)
{
    arm->point = point_of(sweep, trial->label);
    arm->costs = assay__sweep_launch_costs(trial, goal, &arm->count, &arm->direct);
    double tokens = arm->point != SIZE_MAX && goal != ASSAY__PLAN_LATENCY
                        ? sweep->points[arm->point].sequence
                        : 1;
    for (size_t i = 0; arm->costs && i < arm->count; i++)
        arm->costs[i] /= tokens;
    return arm->costs ? 0 : ASSAY_ENOMEM;
}

/* Both by the goal; when one of them has no such numbers, both by latency: joules and seconds are
 * not compared. */
static int read_arms(const struct assay__sweep *sweep, const struct assay__trial *const *trials,
                     enum assay__plan_goal goal, struct arm arms[2])
{
    int code = read_arm(sweep, trials[0], goal, &arms[0]);
    if (!code) code = read_arm(sweep, trials[1], goal, &arms[1]);
    if (code || goal != ASSAY__PLAN_ENERGY || (arms[0].direct && arms[1].direct)) return code;
    for (size_t i = 0; i < 2 && !code; i++) {
        free(arms[i].costs);
        code = read_arm(sweep, trials[i], ASSAY__PLAN_LATENCY, &arms[i]);
        arms[i].direct = false;
    }
    return code;
}

static const char *say(const struct assay__sweep *sweep, const struct assay__plan *plan,
                       const struct arm arms[2], struct assay__arena *arena)
{
    const char *cost = plan->goal != ASSAY__PLAN_ENERGY || (arms[0].direct && arms[1].direct)
                           ? plan->goal != ASSAY__PLAN_THROUGHPUT
                                 ? assay__sweep_goal_name(sweep, plan->goal)
                             : sweep->per_token ? "time per token"
                                                : "time per sample"
                           : "latency (not every launch has an energy)";
    const struct assay__ratio *r = &sweep->confirmation.ratio;
    const char *first = sweep->points[arms[0].point].judged.label,
               *second = sweep->points[arms[1].point].judged.label;
    if (!r->ci.known && !isfinite(r->p_value))
        return assay__arena_printf(arena,
                                   "%s against %s: %zu and %zu launches succeeded, a test needs at "
                                   "least %d of each",
                                   first, second, arms[0].count, arms[1].count,
                                   ASSAY__COMPARISON_LAUNCHES);
    if (!(r->p_value < 0.05))
        return assay__arena_printf(
            arena,
            "%s and %s are tied after %zu launches each (p %.2g); too noisy to detect changes "
            "below %s %%",
            first, second, arms[0].count, r->p_value, assay__digits(r->smallest * 100, 2).text);
    bool holds = r->ratio > 1;
    double low = holds ? r->ci.low : 1 / r->ci.high, high = holds ? r->ci.high : 1 / r->ci.low;
    return assay__arena_printf(
        arena, "%s: %s of %s is %s × that of %s (95 %% interval %s, p %.2g)",
        holds ? "confirmed" : "NOT confirmed, the other is better", cost, holds ? second : first,
        assay__digits(holds ? r->ratio : 1 / r->ratio, 3).text, holds ? first : second,
        assay__digits_range(low, high).text, r->p_value);
}

int assay__sweep_confirm(const struct assay_profile *profile, struct assay__arena *arena,
                         struct assay__sweep *sweep)
{
    const struct assay__plan *plan = &profile->plan;
    struct assay__sweep_confirmation *out = &sweep->confirmation;
    struct arm arms[2] = {{.point = SIZE_MAX}, {.point = SIZE_MAX}};
    size_t found = 0;
    int code = 0;
    *out = (struct assay__sweep_confirmation){
        .points = {SIZE_MAX, SIZE_MAX}, .ratio = ASSAY__RATIO_UNKNOWN, .why = ""};
    const struct assay__trial *trials[2];
    for (size_t i = 0; i < profile->trial_count && found < 2; i++)
        if (profile->trials[i].role == ASSAY__ROLE_CONFIRM) trials[found++] = &profile->trials[i];
    if (found == 2) code = read_arms(sweep, trials, plan->goal, arms);
    if (code || found < 2 || arms[0].point == SIZE_MAX || arms[1].point == SIZE_MAX) goto end;
    out->asked = true;
    for (size_t i = 0; i < 2; i++) {
        out->points[i] = arms[i].point;
        out->launches[i] = arms[i].count;
    }
    struct assay__ratio ratio;
    if (arms[0].count >= ASSAY__COMPARISON_LAUNCHES &&
        arms[1].count >= ASSAY__COMPARISON_LAUNCHES) {
        code = assay__stats_compare(arms[0].costs, arms[0].count, arms[1].costs, arms[1].count,
                                    &ratio);
        if (code == 0) out->ratio = ratio;
    }
    if (code != ASSAY_ENOMEM) {
        out->why = say(sweep, plan, arms, arena);
        code = out->why ? 0 : ASSAY_ENOMEM;
    }
end:
    free(arms[0].costs);
    free(arms[1].costs);
    return code;
}
