/* activation_range.h - the range of a model's activations on given inputs: a copy of the model in
 * which every float32 value of the main graph is an output runs once in a worker process. A float16
 * rewrite leaves out what would overflow. */
#ifndef ASSAY_RUN_ACTIVATION_RANGE_H
#define ASSAY_RUN_ACTIVATION_RANGE_H

#include "run/trial/drift.h"

/* Limits on the bytes of all activations, and of the weights that have to be copied. */
#define ASSAY__ACTIVATION_RANGES_ACTIVATIONS 2e9
#define ASSAY__ACTIVATION_RANGES_WEIGHTS 4e9

struct assay__activation_range {
    const char *name;
    double largest; /* of |x| over its finite numbers */
};

struct assay__activation_ranges {
    struct assay__arena *arena;
    struct assay__activation_range *values; /* those above the limit, in order of execution */
    size_t count;
    size_t looked_at; /* values that were read */
    double largest;   /* of all of them */
    bool bodies;      /* the model has bodies, whose values are not seen */
};

/** Values whose finite numbers exceed `limit`. The model is restored afterwards. Fails, with the
 * reason, if the engine is missing, or the model does not run or is too large (ASSAY_ELIMIT). */
int assay__activation_ranges(struct assay__model *model, double limit,
                             const struct assay__workload_options *workload,
                             const struct assay__drift_options *options,
                             struct assay__activation_ranges *ranges, struct assay_error *error);
void assay__activation_ranges_free(struct assay__activation_ranges *ranges); /* zeroed legal */

#endif
