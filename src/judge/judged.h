/* judged.h - a trial as comparisons, sweeps, tunings and verified advice judge it: its label,
 * whether it ran, its numbers with their metrics, and its launches. One function reads it, so that
 * all of them see the same values. Running out of memory is recorded in the arena (base/arena.h):
 * what could not be read is empty, and the caller checks once. */
#ifndef ASSAY_JUDGE_JUDGED_H
#define ASSAY_JUDGE_JUDGED_H

#include "base/arena.h"
#include "base/stats.h"
#include "profile/trial_values.h"

/* --- its launches -------------------------------------------------------------------------- */

#define ASSAY__COMPARISON_LAUNCHES 5 /* per side: with fewer, the rank test gives no verdict */

/** One number for each successful launch. */
struct assay__launch_values {
    double *items;
    size_t count;
};
/** Values of a metric, in the order of the launches, without unknown ones. */
struct assay__launch_values assay__launch_metric(const struct assay__trial *trial,
                                                 const char *metric, struct assay__arena *arena);
/** The same with only values above 0, for ratios of times, rates and energies; and without launches
 * disturbed by other load, if there are enough others. */
struct assay__launch_values assay__launch_values(const struct assay__trial *trial,
                                                 const char *metric, struct assay__arena *arena);
struct assay__launch_values assay__launch_sorted(const struct assay__launch_values *values,
                                                 struct assay__arena *arena);
/** median(b) / median(a) by the rank test; unknown if a side has too few launches. */
struct assay__ratio assay__launch_ratio(const struct assay__launch_values *a,
                                        const struct assay__launch_values *b,
                                        struct assay__arena *arena);
/** The trial lost a launch but ran to its end with at least `needed` good ones: these are judged
 * like those of any other trial. */
bool assay__trial_went_on(const struct assay__trial *trial, size_t needed);

/* --- the settings that vary ------------------------------------------------------------------- */

/** The axes that any of several trials has, in the order of the first that has them. */
struct assay__axes {
    enum assay__axis items[ASSAY__AXIS_COUNT];
    size_t count;
};
void assay__axes_add(struct assay__axes *axes, const struct assay__trial *trial);

/* --- what it is judged by --------------------------------------------------------------------- */

struct assay__number {
    double value; /* base unit; NaN unknown */
    /* has its state and source, or why it is unknown; NULL: the trial does not have it. The value
     * may be another statistic of the metric: the median over launches. */
    const struct assay_metric *metric;
};

struct assay__judged {
    size_t trial;      /* index in the profile */
    const char *label; /* "" none */
    enum assay__trial_role role;
    bool usable;        /* it ran, and its latency is known */
    const char *reason; /* why not, or a remark; "" */
    const char *lost;   /* usable, but it lost launches: how many and why; "" */
    struct assay__number latency, p99;
    struct assay__number throughput; /* samples/s, else inferences/s */
    struct assay__number memory;     /* the worker's peak */
    struct assay__number device_memory, power, energy, tops_per_watt, score;
    struct assay__number bandwidth, compute, utilization;
    struct assay__number drift;     /* relative L2 of its outputs from the reference's */
    struct assay__number nonfinite; /* values that are NaN or infinite, unlike the reference's */
    struct assay__number own_nonfinite;  /* of its outputs, regardless of the reference's */
    struct assay__launch_values medians; /* latency in s */
};

/** Label, role, reason, numbers and medians; the verdicts are the caller's. */
struct assay__judged assay__judged_read(const struct assay_profile *profile, size_t trial,
                                        struct assay__arena *arena);

/* --- other load ------------------------------------------------------------------------------- */

/** If other processes use this share of the machine's CPU time, a verdict says so, … */
#define ASSAY__BUSY_SHARE 0.2
/** … and at this share it is withdrawn. */
#define ASSAY__BUSY_MUCH 0.5
/** The share during a trial's launches that count (as in assay__launch_values); NaN unknown.
 * Scripted times are not affected by it, so it is unknown for the fake engine unless a launch has
 * it. *left_out (may be NULL): launches that do not count because of it. */
double assay__trial_load(const struct assay__trial *trial, size_t *left_out);
/** The largest of several trials. */
double assay__other_load(const struct assay__trial *trials, size_t count);
/** Appended to a verdict on all trials of a profile: "; other processes used up to 30 % of the CPU
 * time meanwhile: measure again when they are done", or how many launches were left out; "" if the
 * machine was quiet, or it is unknown. */
const char *assay__load_caveat(const struct assay_profile *profile, struct assay__arena *arena);
/** "withdrawn: machine busy (84 % used by others)", instead of a verdict; "": the verdict
 * stands. */
const char *assay__load_withdraws(const struct assay_profile *profile, struct assay__arena *arena);

/* --- limits of a sweep or a tuning ------------------------------------------------------------ */

/** Which limit of the plan (a latency percentile, memory) the trial breaks; "": it is within
 * them. */
const char *assay__limits_broken(const struct assay__plan *plan, const struct assay__trial *trial,
                                 struct assay__arena *arena);
/** How far it exceeds the limit that it breaks most: 1.2 is 20 % over. NaN unknown. */
double assay__limits_excess(const struct assay__plan *plan, const struct assay__trial *trial);
/** The same in words: "a: latency.p99 is 24 ms, the limit is 20 ms (20 % over)". */
const char *assay__limits_missed(const struct assay__plan *plan, const struct assay__trial *trial,
                                 struct assay__arena *arena);

#endif
