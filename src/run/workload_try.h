/* workload_try.h - a workload whose guessed sizes the engine accepts. */
#ifndef ASSAY_RUN_WORKLOAD_TRY_H
#define ASSAY_RUN_WORKLOAD_TRY_H

#include "run/trial/drift.h"

/** assay__workload_plan; if it guessed sizes, the model runs once with them in a worker, and the
 * next guess is tried if the engine refuses them. If it refuses all, the error says so and names
 * the shape to specify. */
int assay__workload_try(const struct assay__model *model, const char *path,
                        const struct assay__workload_options *options,
                        const struct assay__drift_options *engine, struct assay__workload **out,
                        struct assay_error *error);

#endif
