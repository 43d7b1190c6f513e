/* sweep.h - the points of a sweep: a pure function of a profile whose trials have values on axes.
 * Points are judged by the medians of their launches (three by default, too few for the rank test
 * of a comparison): two points are distinguishable when all launches of one are faster than all of
 * the other, else they are tied. The best two may have been run again with enough launches for the
 * rank test (role "confirm"): such trials are no points. */
#ifndef ASSAY_JUDGE_SWEEP_H
#define ASSAY_JUDGE_SWEEP_H

#include "judge/judged.h"

#define ASSAY__SWEEP_LAUNCHES 2 /* a point that lost a launch needs so many good ones */

struct assay__sweep_point {
    /* the latency is the median of the launch medians; the reason also names the limit it breaks */
    struct assay__judged judged;
    const char *values[ASSAY__AXIS_COUNT]; /* of sweep->axes; "" where it has none */
    const char *device;
    enum assay__device_class device_class;
    bool software;              /* measured, never recommended */
    bool interrupted;           /* not usable because the sweep was interrupted */
    bool unreached;             /* … before anything of it was measured */
    bool sound;                 /* usable, and its outputs are not known to be wrong */
    bool within;                /* sound and within the limits */
    double low_s, high_s;       /* min and max of the launch medians */
    double cost_low, cost_high; /* min and max cost of its launches, by the goal; NaN unknown */
    double sample_low_s, sample_high_s; /* min and max time per sample of its launches; NaN */
    struct assay__launch_values merits; /* sorted: samples/s over s of latency */
    double sequence; /* tokens of a sample, where several sequence lengths are compared; else 1 */
    double slo_s;    /* NaN unknown */
    /* throughput over that of `base`, over the ratio of their batch (else threads); NaN */
    double efficiency;
    size_t base; /* the point with the smallest batch, all else equal */
};

struct assay__sweep_pair {
    size_t a, b;
};

/* The result of running the best two again. */
struct assay__sweep_confirmation {
    bool asked;
    size_t points[2]; /* the best one of the sweep, the next; SIZE_MAX unknown */
    size_t launches[2];
    struct assay__ratio ratio; /* cost of the second over that of the first; all NaN unknown */
    const char *why;           /* a sentence when asked */
};

/* Where the wall-clock time of the command went, s; NaN unknown. */
struct assay__sweep_wall {
    double total, measuring, loading, overhead;
};

struct assay__sweep {
    struct assay__axes axes;
    bool per_token; /* several sequence lengths: throughput and energy are judged by the token */
    struct assay__sweep_point *points;
    size_t count;
    size_t best;      /* SIZE_MAX: none */
    size_t next;      /* second best; SIZE_MAX: none */
    size_t base;      /* what the best is compared with: the first sound point; SIZE_MAX */
    double base_gain; /* of the best, by the goal: cost of the base over its own; NaN */
    size_t knee;      /* index of a point; SIZE_MAX: none */
    size_t scaled;    /* whose scaling is shown: the best, else the highest throughput */
    const char *why, *knee_why; /* always sentences */
    const char *gain;           /* of a larger batch (else more threads), in words; "" */
    size_t *alike;              /* points that are tied with the best one */
    size_t alike_count;
    struct assay__sweep_pair *pairs; /* neighbours by rank that are tied */
    size_t pair_count;
    struct assay__sweep_confirmation confirmation;
    struct assay__sweep_wall wall;
};

/** By the profile's plan. Everything lives in the arena. 0 or ASSAY_ENOMEM. */
int assay__sweep(const struct assay_profile *profile, struct assay__arena *arena,
                 struct assay__sweep *out);
/** 0, or ASSAY_EINVAL with what is wrong with it, error->option names it. */
int assay__sweep_slo_check(const char *text, struct assay_error *error);
/** A budget of memory with its unit, "500MB": 0, or ASSAY_EINVAL with what is wrong with it, for
 *  people. */
int assay__sweep_memory_read(const char *text, uint64_t *bytes, struct assay_error *error);
/** The configuration matrix of the NCP guides can be shown: both device and optimisation are
 *  axes. */
bool assay__sweep_is_matrix(const struct assay__sweep *sweep);
/** "no", "yes": was the graph optimised? */
const char *assay__sweep_compiled(const struct assay__sweep *sweep, size_t point);
/** "no", "yes", "?": is the device something other than the CPU? */
const char *assay__sweep_accelerated(const struct assay__sweep_point *point);
/** The throughputs of their launches overlap, so they are tied. False where one is unknown. */
bool assay__sweep_overlap(const struct assay__sweep_point *a, const struct assay__sweep_point *b);
/** Index into sweep->axes; SIZE_MAX: it does not vary. */
size_t assay__sweep_axis(const struct assay__sweep *sweep, enum assay__axis axis);

/* --- parts of it, between its files ----------------------------------------------------------- */

/** Costs of the launches that ended well: s per sample (throughput), s per inference (latency), J
 *  per inference (energy). *direct: they are of the goal; else, where a launch has no such number,
 *  median latencies, per sample for throughput. */
struct assay__launch_values assay__sweep_launch_costs(const struct assay__trial *trial,
                                                      enum assay__plan_goal goal,
                                                      struct assay__arena *arena, bool *direct);
/** All axes but that one have the same values. */
bool assay__sweep_same_but(const struct assay__sweep *sweep, size_t axis, size_t a, size_t b);
/** Best, ties, knee, gain, and what running the best two again has shown (sweep_judge.c). */
void assay__sweep_judge(const struct assay_profile *profile, struct assay__arena *arena,
                        struct assay__sweep *sweep);

#endif
