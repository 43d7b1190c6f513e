/* sweep.h - the points of a sweep: a pure function of a profile whose trials are labelled "batch=8 threads=2". Points are judged by the
 * medians of their launches (three by default, too few for the rank test of a comparison): two points are told apart when
 * all launches of one are faster than all of the other; otherwise the report says that they could not be separated. */
#ifndef ASSAY_ADVISE_SWEEP_H
#define ASSAY_ADVISE_SWEEP_H

#include "base/arena.h"
#include "profile/profile.h"

#define ASSAY__SWEEP_AXES 8

enum assay__sweep_goal { ASSAY__SWEEP_THROUGHPUT, ASSAY__SWEEP_LATENCY, ASSAY__SWEEP_ENERGY };

struct assay__sweep_limits {
    enum assay__sweep_goal goal;
    const char *slo_metric; /* "latency.p99"; NULL: none */
    double slo_s;           /* at most */
    double memory_bytes;    /* budget of memory.peak.worker; NaN: none */
};

struct assay__sweep_point {
    size_t trial;
    const char *label;
    const char *values[ASSAY__SWEEP_AXES]; /* by axis; "" where the label does not say */
    bool usable;
    const char *reason; /* why not, or which limit it breaks; "" */
    bool within;        /* usable and within the limits */
    double latency_s, low_s,
        high_s;        /* median of the launches' medians, least and greatest of them */
    double throughput; /* samples/s, else inferences/s */
    double slo_s, memory_bytes, energy_j, bandwidth, utilization; /* NaN unknown */
    double
        efficiency; /* throughput over that of `base`, over the ratio of their batch (else threads); NaN */
    size_t base; /* the point with the smallest batch, all else alike */
};

struct assay__sweep {
    const char *axes[ASSAY__SWEEP_AXES];
    size_t axis_count;
    struct assay__sweep_point *points;
    size_t count;
    size_t best;                /* SIZE_MAX: none */
    size_t knee;                /* index of a point; SIZE_MAX: none */
    const char *why, *knee_why; /* sentences in any case */
    size_t *alike;              /* points that could not be told from the best one */
    size_t alike_count;
};

/** Everything lives in the arena. 0 or ASSAY_ENOMEM. */
int assay__sweep(const struct assay_profile *profile, const struct assay__sweep_limits *limits,
                 struct assay__arena *arena, struct assay__sweep *out);
/** The limits as the profile's first trial keeps them (options goal, slo, memory_budget). */
struct assay__sweep_limits assay__sweep_limits_of(const struct assay_profile *profile);
/** "p99=20ms" into metric and seconds. False: not of that form. */
bool assay__sweep_slo_parse(const char *text, const char **metric, double *seconds);

#endif
