/* shape_call.h - what a row of the shape tables gets: one node, what is known of its inputs, and
 * where to put what follows for its outputs. Adding an operator: one function (or one that is
 * there) and one row in a shapes_*.c table. The rule for every function: leave unknown what does
 * not follow; never guess. */
#ifndef ASSAY_MODEL_SHAPE_CALL_H
#define ASSAY_MODEL_SHAPE_CALL_H

#include "model/graph.h"
#include "model/shapes.h"

#define ASSAY__SHAPE_RANK 64
#define ASSAY__SHAPE_VALUES 1024 /* longer integer vectors are not followed */
#define ASSAY__SHAPE_ANY \
    (INT64_MIN + 23117) /* an element that is not known; no one writes this number */

/** What is known of one value. */
struct assay__fact {
    struct assay__shape_entry entry;
    const int64_t *values; /* contents of a small integer scalar or vector, or NULL */
    size_t value_count;
    const struct assay__tensor *tensor; /* initializer or Constant, or NULL */
};

struct assay__shape_call {
    struct assay__arena *arena;
    const struct assay__node *node;
    int64_t opset; /* of ai.onnx */
    struct assay__fact **in;
    size_t in_count;
    struct assay__fact **out; /* entries of absent outputs point to a dummy */
    size_t out_count;
    bool no_memory;
};

typedef void assay__shape_fn(struct assay__shape_call *call);

struct assay__shape_row {
    const char *op;
    const char
        *domain; /* "" ai.onnx, "ms" com.microsoft, "nchwc" com.microsoft.nchwc, "*" any of them */
    assay__shape_fn *infer;
};

extern const struct assay__shape_row assay__shape_rows_math[], assay__shape_rows_move[],
    assay__shape_rows_nn[]; /* each ends with a NULL op */

/* Inputs; an absent input has rank -1, no values and no type. */
bool assay__shape_has(const struct assay__shape_call *call, size_t i);
int assay__shape_rank(const struct assay__shape_call *call, size_t i);
const int64_t *assay__shape_dims(const struct assay__shape_call *call, size_t i);
enum assay__dtype assay__shape_dtype(const struct assay__shape_call *call, size_t i);
/** Contents of a small integer input, all of them known; NULL otherwise. */
const int64_t *assay__shape_values(const struct assay__shape_call *call, size_t i, size_t *count);
/** An axes list: the attribute, else input i (NULL: neither is known; *given says whether one is
 *  there at all). */
const int64_t *assay__shape_axes(const struct assay__shape_call *call, const char *attr, size_t i,
                                 size_t *count, bool *given);
/** A float32/float64/integer scalar constant; false when it is not known. */
bool assay__shape_scalar(const struct assay__shape_call *call, size_t i, double *value);

/* Outputs. dims may be NULL for "rank known, dims not". */
void assay__shape_set(struct assay__shape_call *call, size_t o, enum assay__dtype dtype, int rank,
                      const int64_t *dims);
void assay__shape_set_dtype(struct assay__shape_call *call, size_t o, enum assay__dtype dtype);
void assay__shape_set_values(struct assay__shape_call *call, size_t o, const int64_t *values,
                             size_t count);
/** Output o is like input i in shape; dtype UNDEFINED takes the input's. */
void assay__shape_like(struct assay__shape_call *call, size_t o, size_t i, enum assay__dtype dtype);

/** Negative axes count from the end; false when out of range. */
bool assay__shape_axis(int64_t axis, int rank, int *out);
/** NumPy's broadcast of b into a (in place, *rank grows); false when they cannot match. */
bool assay__shape_broadcast(int64_t *a, int *a_rank, const int64_t *b, int b_rank);
/** Product, -1 when a dimension is unknown or it overflows. */
int64_t assay__shape_product(const int64_t *dims, int from, int to);

#endif
