/* activation_range.h - how large the numbers inside a model become on given inputs: a copy with
 * every float32 value of the main graph made an output runs once in a worker process. What a
 * float16 rewrite needs to know to skip what overflows. */
#ifndef ASSAY_RUN_ACTIVATION_RANGE_H
#define ASSAY_RUN_ACTIVATION_RANGE_H

#include "run/trial/drift.h"

/* More than this is not looked at: all activations, and the weights that have to be copied. */
#define ASSAY__ACTIVATION_RANGES_ACTIVATIONS 2e9
#define ASSAY__ACTIVATION_RANGES_WEIGHTS 4e9

struct assay__activation_range {
    const char *name;
    double largest; /* of |x| over its finite numbers */
};

struct assay__activation_ranges {
    struct assay__arena *arena;
    struct assay__activation_range *values; /* beyond the limit asked for, in order of execution */
    size_t count;
    size_t looked_at; /* values that were seen */
    double largest;   /* of all of them */
    bool bodies;      /* the model has bodies, whose values are not seen */
};

/** Values whose finite numbers exceed `limit`. The model is as it was afterwards. Fails, with the
 *  reason, when the engine is not there, the model does not run, or is too large (ASSAY_ELIMIT). */
int assay__activation_ranges(struct assay__model *model, double limit,
                             const struct assay__workload_options *workload,
                             const struct assay__drift_options *options,
                             struct assay__activation_ranges *ranges, struct assay_error *error);
void assay__activation_ranges_free(struct assay__activation_ranges *ranges); /* zeroed legal */

#endif
