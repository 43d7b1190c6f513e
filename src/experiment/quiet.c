/* quiet.c - see quiet.h. Nothing of ours runs while it waits, so whatever uses the CPUs then is
 * other processes. */
#include "experiment/quiet.h"

#include "base/clock.h"
#include "judge/judged.h"
#include "platform/platform.h"

#include <math.h>
#include <stdio.h>

#define MOST_S 10.0 /* to wait */
#define LOOK_S 0.5  /* to see how busy it is */
#define ROUND_UP                                                                     \
    1.2 /* multiple of what the launches took, because the next ones may take longer \
         */

static double machine_share(double seconds)
{
    struct assay__disturbance a, b;
    assay__disturbance_read(&a);
    assay__sleep_ns((uint64_t)(seconds * 1e9));
    assay__disturbance_read(&b);
    double busy = b.cpu_busy_s - a.cpu_busy_s, all = busy + b.cpu_idle_s - a.cpu_idle_s;
    return a.cpu_known && b.cpu_known && all > 0 ? busy / all : (double)NAN;
}

static bool is_busy(const struct assay__arms *arms, const size_t *indexes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (arms->items[indexes[i]] &&
            assay__trial_load(assay__arms_trial(arms, indexes[i]), NULL) >= ASSAY__BUSY_SHARE)
            return true;
    return false;
}

/* Whether the others are done. */
static bool wait_for_quiet(struct assay__arms *arms, const struct assay__quiet *quiet,
                           double most_s)
{
    double (*share)(double seconds) = quiet->share ? quiet->share : machine_share;
    for (double waited_s = 0; waited_s < most_s; waited_s += LOOK_S) {
        double used = share(LOOK_S);
        char phase[64];
        if (used < ASSAY__BUSY_SHARE) return true;
        if (isnan(used) || assay__arms_interrupted(arms)) return false;
        snprintf(phase, sizeof phase, "waiting: others use %.0f %%", used * 100);
        if (assay__progress(&arms->whole.callbacks, phase, -1)) return false;
    }
    return false;
}

int assay__arms_when_quiet(struct assay__arms *arms, const size_t *indexes, size_t count,
                           const struct assay__quiet *quiet, bool *repeated,
                           struct assay_error *error)
{
    double room_s = quiet->left_s - ROUND_UP * quiet->spent_s;
    double most_s = fmin(fmin(MOST_S, quiet->spent_s), room_s);
    int code = 0;
    *repeated = false;
    if (!count || assay__arms_interrupted(arms) || !is_busy(arms, indexes, count)) return 0;
    if (!(most_s > 0) || !wait_for_quiet(arms, quiet, most_s)) return 0;
    *repeated = true;
    assay__remark(&arms->whole.callbacks,
                  "other processes used much of the machine and have finished: measuring again");
    for (int r = 0; r < quiet->launches && !code && !assay__arms_interrupted(arms); r++)
        code = assay__arms_round(arms, indexes, count, r % 2 != 0, error);
    return code;
}
