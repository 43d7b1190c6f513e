/* inputs_trace.h - between inputs_trace.c, which follows an input to what consumes it, and
 * inputs_values.c, which decides from that what the input holds. */
#ifndef ASSAY_MODEL_INPUTS_INPUTS_TRACE_H
#define ASSAY_MODEL_INPUTS_INPUTS_TRACE_H

#include "model/inputs/inputs_plan.h"

struct assay__shapes;
struct assay__input_use;

/* An operand that must have one of few values, and one that is always valid. */
struct assay__input_operand {
    const char *op;
    size_t index;
    double value;
    const char *why;
};

/* What following one input found. */
struct assay__input_finding {
    int64_t bound; /* ids are below this; INT64_MAX unknown */
    const char *bound_table;
    const char *bound_op;
    const struct assay__node *shape_node; /* decides a shape */
    int64_t length;                       /* a length of this much; -1 */
    const char *length_op;
    bool trip_count, condition, positive;
    bool time_major; /* axis 0 is time: fed as it is to a recurrent cell or a Scan */
    int true_hides;  /* -1 unknown, 0 true keeps, 1 true masks out */
    bool compared;
    int64_t compared_with;
    const struct assay__input_operand *operand; /* an operand of few valid values */
    bool operand_inverted;                      /* it gets there through a Not */
    int64_t least;                              /* a divisor: not below this; 0 unknown */
};

struct assay__input_tracer {
    const struct assay__model *model;
    struct assay__arena *arena;
    struct assay__shapes *shapes;
    struct assay__map *heads;   /* name -> first use */
    struct assay__map *tensors; /* name -> index into constants */
    struct assay__input_use *uses;
    size_t use_count, use_capacity;
    const struct assay__tensor **constants;
    size_t constant_count, constant_capacity;
};

/** Infers the shapes of everything, with the inputs as the workload has them, and indexes the
 *  graph. The arena of the workload is used. Close it also after an error. */
int assay__inputs_tracer_open(struct assay__input_tracer *tracer, const struct assay__model *model,
                              const struct assay__workload *workload, struct assay_error *error);
void assay__inputs_tracer_close(struct assay__input_tracer *tracer);

/** Follows one input. */
int assay__inputs_trace(struct assay__input_tracer *tracer, const struct assay__input_plan *plan,
                        struct assay__input_finding *finding);

bool assay__inputs_is_integer(enum assay__dtype dtype);

#endif
