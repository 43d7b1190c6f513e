/* comparison.h - trials of one profile against each other: a pure function of the profile, so a
 * kept one gives the same verdicts. The unit of replication is the launch: speed is judged by the
 * exact rank test on the launches' medians (base/stats.h), never on single inferences. */
#ifndef ASSAY_JUDGE_COMPARISON_H
#define ASSAY_JUDGE_COMPARISON_H

#include "judge/placement.h"
#include "base/arena.h"
#include "base/stats.h"
#include "profile/trial_values.h"

#define ASSAY__COMPARISON_LAUNCHES 5 /* per arm: below that there is no verdict */
/* Relative L2 of outputs from the reference's: above it a device or a precision computes something
 * else, and is not advised. One limit for compare, sweep and tune. */
#define ASSAY__DRIFT_LIMIT 0.01

enum assay__verdict {
    ASSAY__VERDICT_NONE,   /* the reference, or it cannot be said: reason */
    ASSAY__VERDICT_SAME,   /* no difference shown */
    ASSAY__VERDICT_FASTER, /* than the reference */
    ASSAY__VERDICT_SLOWER,
};

struct assay__comparison_row {
    size_t trial;      /* index in the profile */
    int64_t batch;     /* samples of an inference; 0 unknown */
    const char *label; /* the trial's, else its device */
    enum assay__trial_role role;
    bool usable;        /* it ran to the end, and its latency is known */
    const char *reason; /* why not, why there is no verdict, or which launches were lost; "" */
    /* reference's p50 / this one's: above 1 is faster; NaN for the reference */
    struct assay__ratio speed;
    enum assay__verdict verdict;
    double latency_s, throughput, energy_j,
        memory_bytes; /* NaN unknown; throughput in samples/s, else inferences/s */
    /* energy_j is the median over launches where 5 or more have an energy of their own, else that
     * of all windows together. */
    bool energy_by_launch;
    /* Of energy_j, this / reference; where one of the two is not by launch, of all windows of both.
     * NaN unknown. */
    double energy_ratio;
    /* the same with its interval, by launches; NaN without one: energy_reason */
    struct assay__ratio energy;
    const char *energy_reason;          /* why there is no interval; "" */
    enum assay__verdict energy_verdict; /* FASTER: it takes less */
    double device_memory_bytes;         /* memory_bytes is the worker's; NaN unknown */
    double latency_p99_s, power_w, tops_per_watt, score; /* NaN unknown */
    /* values that are NaN or infinite, unlike the reference's; NaN not compared */
    double nonfinite;
    double relative_l2;    /* of the outputs from the reference's; NaN not compared */
    double own_nonfinite;  /* values of its own that are NaN or infinite; NaN unknown */
    const char *unadvised; /* why it is never recommended however good: its outputs; "" */
    struct assay__placement_summary placement;
};

enum assay__goal_kind {
    ASSAY__FOR_LATENCY,
    ASSAY__FOR_THROUGHPUT,
    ASSAY__FOR_ENERGY,
    ASSAY__FOR_COUNT
};

struct assay__recommendation {
    size_t row;      /* SIZE_MAX: none */
    const char *why; /* a sentence in any case */
};

struct assay__comparison {
    struct assay__comparison_row *rows;
    size_t count, reference; /* reference SIZE_MAX: none is usable */
    /* rows that ran take different batches: which, and what the ratios are of; "" */
    const char *batches;
    struct assay__recommendation recommendations[ASSAY__FOR_COUNT];
};

/** Fills the recommendations from the rows (comparison_recommend.c). */
int assay__comparison_recommend(const struct assay_profile *profile, struct assay__arena *arena,
                                struct assay__comparison *all);
/** Ratio of median(b) to median(a) of a metric of the launches; *reason says why there is none. 0
 *  or ASSAY_ENOMEM. */
int assay__comparison_launches(const struct assay__trial *a, const struct assay__trial *b,
                               const char *metric, struct assay__ratio *ratio, const char **reason);
/** The same of the launches' times (assay__stats_compare_launches), upside down: how many times as
 *  fast b is. */
int assay__comparison_speed(const struct assay__trial *a, const struct assay__trial *b,
                            struct assay__ratio *ratio, const char **reason);
/** "latency", "throughput", "energy" */
const char *assay__goal_name(enum assay__goal_kind goal);

/** The reference is the trial whose role says so, else the first usable one. Everything lives in
 *  the arena; 0 or ASSAY_ENOMEM. */
int assay__comparison(const struct assay_profile *profile, struct assay__arena *arena,
                      struct assay__comparison *out);
/** A trial that lost a launch and went on to its end, with at least so many good launches left:
 *  those are judged like any other's. */
bool assay__trial_went_on(const struct assay__trial *trial, size_t least);
/** The medians and the 5th percentiles of the same launches, in seconds; times points into the two
 *  arrays. */
struct assay__trial_times {
    struct assay__launch_times times;
    double *typical, *undisturbed;
};
int assay__trial_times(const struct assay__trial *trial, struct assay__trial_times *out);
void assay__trial_times_free(struct assay__trial_times *times);
/** "latency.p50", "latency.p5": what the launches were judged by */
const char *assay__ratio_by_name(enum assay__ratio_by by);
/** What stands behind a ratio in a sentence: "", " when undisturbed", … */
const char *assay__ratio_by_words(enum assay__ratio_by by);
/** "faster", "slower", "no difference shown", "" */
const char *assay__verdict_name(enum assay__verdict verdict);

#endif
