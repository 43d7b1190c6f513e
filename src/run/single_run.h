/* single_run.h - runs a model once in a worker process and reads its outputs, for drift and
 * activation ranges. */
#ifndef ASSAY_RUN_SINGLE_RUN_H
#define ASSAY_RUN_SINGLE_RUN_H

#include "model/inputs/inputs.h"
#include "run/trial/drift.h"
#include "run/trial/outputs.h"

#include <limits.h>

struct assay__single_run {
    struct assay__arena *arena;
    const struct assay__drift_options *options;
    struct assay__workload *workload; /* what it is fed with */
    char worker[PATH_MAX];            /* assay__worker_locate found it */
    char folder[PATH_MAX];            /* a private one, for everything */
    const char *version;              /* of the engine, after a run */
    const char *assumed;              /* assay__workload_assumed; NULL or "": nothing */
};

/** Runs one step of the model; its outputs go to a folder called `what`, which also names the run
 * in messages. */
int assay__single_run_run(struct assay__single_run *work, const char *model, const char *what,
                          struct assay__output **outputs, size_t *count, struct assay_error *error);
/** An output's numbers, whatever its type; free() them. */
int assay__single_run_numbers(const struct assay__output *output, double **numbers,
                              int64_t *elements, struct assay_error *error);

static inline const char *assay__or_default(const char *text, const char *otherwise)
{
    return text && *text ? text : otherwise;
}

#endif
