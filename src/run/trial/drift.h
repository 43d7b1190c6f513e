/* drift.h - how far the outputs of one model are from those of another on the same inputs: the
 * numerical cost of a rewrite, another precision or another engine. Each runs once in its own
 * worker process. */
#ifndef ASSAY_RUN_TRIAL_DRIFT_H
#define ASSAY_RUN_TRIAL_DRIFT_H

#include "base/arena.h"
#include "base/no_memory.h"
#include "model/graph.h"
#include "model/inputs/inputs.h"

#include <assay/run.h>

/** Zero or NULL means default everywhere. */
struct assay__drift_options {
    const char *engine, *device, *library; /* of both; "ort", "cpu" */
    double timeout_s;
    const volatile int *interrupt;
    assay_progress_fn *progress;
    void *progress_context;
};

/** One output of the reference. Numbers are NaN if `reason` says why there are none. */
struct assay__drift_output {
    const char *name;
    const char *reason; /* "" when compared */
    enum assay__dtype dtype, candidate_dtype;
    int rank;
    const int64_t *dims;
    int64_t elements;
    double max_absolute; /* max |c - r| */
    double relative_l2;  /* ||c - r|| / ||r|| */
    double cosine;       /* c · r / (||c|| ||r||) */
    /* share of rows whose largest element has the same index; NaN without a class axis */
    double top1;
    int64_t rows; /* rows that top1 covers: those with a unique largest element in the reference */
    /* the same infinity or NaN in both: left out of the numbers */
    int64_t nonfinite;
    int64_t broken; /* infinite or NaN in only one, or different: then there are no numbers */
};

struct assay__drift {
    struct assay__arena *arena;
    struct assay__drift_output *outputs;
    size_t output_count;
    uint64_t seed;
    const char *engine, *version; /* what ran both */
    const char *assumed;          /* sizes of inputs that were guessed; NULL or "": none */
};

/** The candidate's inputs must be the reference's (name and type); dimensions that only the
 * candidate fixes are used for both. Inputs are those of the reference's plan. Fails if one of the
 * two does not run; the message says which. */
int assay__drift(const char *reference_path, const char *candidate_path,
                 const struct assay__workload_options *workload,
                 const struct assay__drift_options *options, struct assay__drift *drift,
                 struct assay_error *error);
/** The same for outputs that two runs have stored (outputs.h): no model runs. ASSAY_ENOTFOUND if
 * one stored none. */
int assay__drift_folders(const char *reference, const char *candidate, struct assay__drift *drift,
                         struct assay_error *error);
void assay__drift_free(struct assay__drift *drift); /* zeroed legal */

/** The numbers of two arrays of `elements`; dims for the class axis: the last one longer than 1,
 * when a dimension precedes it. `floats`: whether a largest element is meaningful. */
void assay__drift_compare(const double *reference, const double *candidate, int rank,
                          const int64_t *dims, bool floats, struct assay__arena *arena,
                          struct assay__drift_output *out);

#endif
