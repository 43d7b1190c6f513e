/* sweep.h - the points of a sweep: a pure function of a profile whose trials have values on axes.
 * Points are judged by the medians of their launches (three by default, too few for the rank test
 * of a comparison): two points are distinguishable if all launches of one are faster than all of
 * the other, otherwise they are tied. The best two may have been run again with enough launches for
 * the rank test (role "confirm"): such trials are not points. */
#ifndef ASSAY_JUDGE_SWEEP_H
#define ASSAY_JUDGE_SWEEP_H

#include "judge/judged.h"

#define ASSAY__SWEEP_LAUNCHES 2 /* a point that lost a launch needs this many successful ones */

struct assay__sweep_point {
    /* latency: the median of the launch medians; reason: also the limit it breaks */
    struct assay__judged judged;
    const char *values[ASSAY__AXIS_COUNT]; /* values of sweep->axes; "" if it has none */
    const char *device;
    enum assay__device_class device_class;
    bool software;        /* measured, never recommended */
    bool interrupted;     /* not usable because the sweep was interrupted */
    bool unreached;       /* … before anything of it was measured */
    bool sound;           /* usable, and its outputs are not known to be wrong */
    bool within;          /* sound and within the limits */
    double low_s, high_s; /* min and max of the launch medians */
    /* min and max cost of its launches according to the goal; NaN unknown */
    double cost_low, cost_high;
    double sample_low_s, sample_high_s; /* min and max time per sample of its launches; NaN */
    struct assay__launch_values merits; /* sorted: samples/s over s of latency */
    double sequence; /* tokens per sample if several sequence lengths are compared; else 1 */
    double slo_s;    /* NaN unknown */
    /* throughput relative to `base`, divided by the ratio of their batches (else threads); NaN */
    double efficiency;
    size_t base; /* the point with the smallest batch, everything else equal */
};

struct assay__sweep_pair {
    size_t a, b;
};

/* The result of running the best two again. */
struct assay__sweep_confirmation {
    bool asked;
    size_t points[2]; /* the best point of the sweep, and the next; SIZE_MAX unknown */
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
    bool per_token; /* several sequence lengths: throughput and energy are judged per token */
    struct assay__sweep_point *points;
    size_t count;
    size_t best; /* SIZE_MAX: none */
    size_t next; /* second best; SIZE_MAX: none */
    /* what the best is compared with: the first point with correct outputs; SIZE_MAX */
    size_t base;
    /* gain of the best according to the goal: cost of the base over its own; NaN */
    double base_gain;
    size_t knee;                /* index of a point; SIZE_MAX: none */
    size_t scaled;              /* whose scaling is shown: the best, else the highest throughput */
    const char *why, *knee_why; /* always sentences */
    bool withdrawn;             /* other processes used most of the machine */
    const char *gain; /* what a larger batch (else more threads) gains, as a sentence; "" */
    size_t *alike;    /* points that are tied with the best one */
    size_t alike_count;
    struct assay__sweep_pair *pairs; /* neighbours by rank that are tied */
    size_t pair_count;
    struct assay__sweep_confirmation confirmation;
    struct assay__sweep_wall wall;
};

/** According to the profile's plan. Everything is in the arena. 0 or ASSAY_ENOMEM. */
int assay__sweep(const struct assay_profile *profile, struct assay__arena *arena,
                 struct assay__sweep *out);
/** 0, or ASSAY_EINVAL with what is wrong; error->option names it. */
int assay__sweep_slo_check(const char *text, struct assay_error *error);
/** Parses a memory budget with its unit, "500MB". 0, or ASSAY_EINVAL with what is wrong. */
int assay__sweep_memory_read(const char *text, uint64_t *bytes, struct assay_error *error);
/** Whether the configuration matrix of the NCP guides can be shown: both device and optimisation
 * are axes. */
bool assay__sweep_is_matrix(const struct assay__sweep *sweep);
/** "no" or "yes": whether the graph was optimised. */
const char *assay__sweep_compiled(const struct assay__sweep *sweep, size_t point);
/** "no", "yes" or "?": whether the device is something other than the CPU. */
const char *assay__sweep_accelerated(const struct assay__sweep_point *point);
/** Whether the throughputs of their launches overlap, so that they are tied. False if one is
 * unknown. */
bool assay__sweep_overlap(const struct assay__sweep_point *a, const struct assay__sweep_point *b);
/** Index into sweep->axes; SIZE_MAX: it does not vary. */
size_t assay__sweep_axis(const struct assay__sweep *sweep, enum assay__axis axis);

/* --- its parts, shared by its files ----------------------------------------------------------- */

/** Costs of the successful launches: s per sample (throughput), s per inference (latency), J per
 * inference (energy). *direct: they are those of the goal; otherwise, because a launch has no such
 * number, median latencies, per sample for throughput. */
struct assay__launch_values assay__sweep_launch_costs(const struct assay__trial *trial,
                                                      enum assay__plan_goal goal,
                                                      struct assay__arena *arena, bool *direct);
/** Whether all axes except that one have the same values. */
bool assay__sweep_same_but(const struct assay__sweep *sweep, size_t axis, size_t a, size_t b);
/** Best, ties, knee, gain, and what running the best two again has shown (sweep_judge.c). */
void assay__sweep_judge(const struct assay_profile *profile, struct assay__arena *arena,
                        struct assay__sweep *sweep);

#endif
