/* bench.h - the key performance indicators of a profile of benchmarks: a pure function of it. Every
 * number is measured here or derived from what was; what is not known is NaN with a reason.
 *
 *   kernel efficiency = time in kernels / latency         mean gap = (latency - kernels) / kernels
 *   bandwidth = bytes that the nodes move / latency, compared with the measured ceiling of the
 *   nearest memory level that can hold these bytes
 *
 * On the CPU a kernel is a timed layer: a node as the engine runs it. On CUDA the numbers come from
 * the GPU's records of the kernels of layers; else from a recorded timeline (metrics gpu.*), if the
 * trial has one. */
#ifndef ASSAY_JUDGE_BENCH_H
#define ASSAY_JUDGE_BENCH_H

#include "judge/comparison.h"
#include "zoo/benchmarks.h"

struct assay__bench_row {
    struct assay__judged judged;
    const char *benchmark, *device;     /* the name is "" if the profile does not have it */
    const struct assay__benchmark *row; /* of that name; NULL: this version has none */
    struct assay__number rate;          /* inferences per second */
    double measured_s;                  /* all measured windows; NaN */
    /* per inference; NaN: kernels_reason */
    double kernels, efficiency, kernel_mean_s, gap_mean_s;
    double busy; /* share of the time in which a GPU had work; NaN */
    const char *kernels_reason;
    double bandwidth_share;       /* of the ceiling `level`; NaN: bandwidth_reason */
    const char *level;            /* "l2", "dram"; "" unknown */
    const char *bandwidth_reason; /* "" */
    double baseline_per_s;        /* NaN: there is no baseline, or it lacks the benchmark */
    struct assay__ratio ratio;    /* throughput over the baseline's; above 1 is faster */
    enum assay__verdict verdict;  /* NONE: ratio_reason */
    const char *ratio_reason;     /* why there is no ratio or no interval; "" */
};

/* How much longer the largest rank takes than the smallest. */
struct assay__bench_scaling {
    const char *device;
    size_t first, last;        /* rows */
    struct assay__ratio ratio; /* time of the last / the first */
    const char *reason;        /* why there is no interval; "" */
};

struct assay__bench_efficiency {
    const char *device;
    double median; /* of its known ones */
};

struct assay__bench {
    struct assay__bench_row *rows; /* as the trials */
    size_t count, usable;
    struct assay__bench_scaling *scalings; /* per device */
    size_t scaling_count;
    const char *baseline;                         /* its file, and what differs; "" none */
    size_t faster, slower, same, unjudged;        /* rows with a ratio, by verdict */
    double measured_s;                            /* of all rows; NaN: of none */
    struct assay__bench_efficiency *efficiencies; /* of the devices that have one */
    size_t device_count;
    double efficiency;      /* of the only device; NaN: none, or several */
    size_t efficient_count; /* rows with one */
    size_t least_efficient; /* row; SIZE_MAX */
};

/** Everything is in the arena. 0 or ASSAY_ENOMEM. */
int assay__bench_judge(const struct assay_profile *profile, struct assay__arena *arena,
                       struct assay__bench *out);

#endif
