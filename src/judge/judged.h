/* judged.h - a trial as comparisons, sweeps, tunings and verified advice judge it: what it is
 * called, whether it ran, its numbers with the metrics they are of, and the medians of its
 * launches. One function reads it, so that all of them see the same; what each concludes stands
 * around it. */
#ifndef ASSAY_JUDGE_JUDGED_H
#define ASSAY_JUDGE_JUDGED_H

#include "base/arena.h"
#include "base/stats.h"
#include "profile/trial_values.h"

/* --- its launches -------------------------------------------------------------------------- */

/** The medians and the 5th percentiles of the same launches, in seconds; times points into the two
 *  arrays. */
struct assay__trial_times {
    struct assay__launch_times times;
    double *typical, *undisturbed;
};
int assay__trial_times(const struct assay__trial *trial, struct assay__trial_times *out);
void assay__trial_times_free(struct assay__trial_times *times);
/** A trial that lost a launch and went on to its end, with at least so many good launches left:
 *  those are judged like any other's. */
bool assay__trial_went_on(const struct assay__trial *trial, size_t least);

/* --- the settings that vary ---------------------------------------------------------------------
 */

/** The axes that any of several trials has, in the order of the first that has them. */
struct assay__axes {
    enum assay__axis items[ASSAY__AXIS_COUNT];
    size_t count;
};
void assay__axes_add(struct assay__axes *axes, const struct assay__trial *trial);

/* --- what is judged of it --------------------------------------------------------------------- */

struct assay__number {
    double value; /* base unit; NaN unknown */
    /* whose state and source it has, or why it is unknown; NULL: there is none. The value may be
     * another statistic of it: the median over launches. */
    const struct assay_metric *metric;
};

struct assay__judged {
    size_t trial;      /* index in the profile */
    const char *label; /* "" none */
    enum assay__trial_role role;
    bool usable;        /* it ran, and its latency is known */
    const char *reason; /* why not, or what must be said of it; "" */
    const char *lost;   /* usable, but it lost launches: how many and why; "" */
    struct assay__number latency, p99;
    struct assay__number throughput; /* samples/s, else inferences/s */
    struct assay__number memory;     /* the worker's peak */
    struct assay__number device_memory, power, energy, tops_per_watt, score;
    struct assay__number bandwidth, compute, utilization;
    struct assay__number drift;     /* relative L2 of its outputs from the reference's */
    struct assay__number nonfinite; /* values that are NaN or infinite, unlike the reference's */
    struct assay__number own_nonfinite; /* values of its own that are */
    const double *medians_s;            /* of the launches that ended well, in their order */
    size_t median_count;
};

/** Label, role, reason, numbers and medians; the verdicts are the caller's. 0 or ASSAY_ENOMEM. */
int assay__judged_read(const struct assay_profile *profile, size_t trial,
                       struct assay__arena *arena, struct assay__judged *out);

#endif
