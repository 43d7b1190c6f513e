/* workload_try.h - a workload whose guessed sizes the engine takes. */
#ifndef ASSAY_RUN_WORKLOAD_TRY_H
#define ASSAY_RUN_WORKLOAD_TRY_H

#include "run/trial/drift.h"

/** assay__workload_plan; where it guessed sizes, the model runs once with them in a worker, and
 *  sizes that the engine refuses give way to the next. When it refuses all, the error says so and
 *  names the shape to give. */
int assay__workload_try(const struct assay__model *model, const char *path,
                        const struct assay__workload_options *options,
                        const struct assay__drift_options *engine, struct assay__workload **out,
                        struct assay_error *error);

#endif
