/* sweep.h - one model at every point of a grid, in one profile; the best point for a goal, and
 * where a larger batch stops paying off, are in the profile's report. */
#ifndef ASSAY_SWEEP_H
#define ASSAY_SWEEP_H

#include <assay/run.h>

/** What varies: comma-separated lists of values; NULL: taken from the run options. */
struct assay_grid_options {
    const char *devices;      /* names (device.h) or the classes cpu, gpu, npu */
    const char *precision;    /* "float32,float16": all but float32 are rewritten copies */
    const char *optimization; /* "none,all" */
    const char *threads, *sequence, *batch; /* "1,2,4" */
    const char *spinning;                   /* "on,off" */
};

/** What is best. */
struct assay_goal_options {
    const char *goal;          /* "throughput" | "latency" | "energy" */
    const char *slo;           /* only points within a latency limit: "p99=20ms" */
    const char *memory_budget; /* only points that use at most this much memory: "500MB" */
    bool allow_drift;          /* points whose outputs differ by more than 1 % may be the best */
};

/** Zero or NULL means default; set size = sizeof. */
struct assay_sweep_options {
    size_t size;
    struct assay_grid_options grid;
    struct assay_goal_options goal; /* default: throughput */
    bool confirm; /* run the best two again with 10 launches each and test the difference */
    bool resume;  /* continue the interrupted sweep in keeping.output */
};

/** Zero in the run options means: 3 launches of 0.5 s each. Returns 0 with *profile
 *  (assay_profile_close it): a trial per point, including failed ones. ASSAY_EINTERRUPTED with
 *  *profile. May be called from several threads. */
ASSAY_API int assay_sweep(const struct assay_run_options *run,
                          const struct assay_sweep_options *options, struct assay_profile **profile,
                          struct assay_error *error);

#endif
