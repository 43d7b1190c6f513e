/* shape_call.h - what a row of the shape tables receives: one node, what is known about its inputs,
 * and where to put the results for its outputs. To add an operator, write a function (or use an
 * existing one) and add a row to a shapes_*.c table. The rule for every function: what does not
 * follow stays unknown; never guess; report contradictions (assay__shape_conflict) and continue.
 *
 * Every dimension and every element that a row sees or sets is a `num` (symbol.h): a number, an
 * expression over symbols, or ASSAY__SHAPE_ANY. Numbers are >= 0 for dimensions, so `dim < 0` means
 * "not a number". Sums and products go through assay__num_*, which keep symbols. */
#ifndef ASSAY_MODEL_SHAPES_SHAPE_CALL_H
#define ASSAY_MODEL_SHAPES_SHAPE_CALL_H

#include "model/graph.h"
#include "model/shapes/shapes.h"
#include "model/symbol/symbol.h"

#include <assay/api.h>

#define ASSAY__SHAPE_RANK 64
#define ASSAY__SHAPE_VALUES 1024 /* longer integer vectors are not followed */
#define ASSAY__SHAPE_ANY ASSAY__NUM_ANY

/** What is known of one value. */
struct assay__fact {
    struct assay__shape_entry entry; /* of a tensor; unused for a sequence */
    const int64_t *dims;             /* entry.dims as nums */
    const int64_t *values;           /* contents of a small tensor in row-major order, or NULL */
    size_t value_count;
    const struct assay__tensor *tensor; /* initializer or Constant, or NULL */
    const struct assay__node *maker;    /* NULL: a graph input, an initializer */
    bool sequence;                      /* `entry` and `dims` are those of an element */
    bool optional;                      /* … of what it may hold */
};

struct assay__shape_call {
    struct assay__arena *arena;
    struct assay__symbols *symbols;
    struct assay__shapes *scope; /* the graph of the node */
    const struct assay__node *node;
    int64_t opset; /* of ai.onnx */
    struct assay__fact **in;
    size_t in_count;
    struct assay__fact **out; /* entries of missing outputs point to a dummy */
    size_t out_count;
};

typedef void assay__shape_fn(struct assay__shape_call *call);

struct assay__shape_row {
    const char *ops; /* one or several similar ones, separated by blanks */
    /* "" ai.onnx, "ms" com.microsoft, "nchwc" com.microsoft.nchwc, "ml" ai.onnx.ml, "preview"
     * ai.onnx.preview and below, "*" any of the first three */
    const char *domain;
    assay__shape_fn *infer;
};

/* X(FAMILY): the rows at the end of shapes_FAMILY.c; each table ends with a NULL op. */
#define ASSAY__SHAPE_FAMILIES(X) \
    X(math)                      \
    X(make)                      \
    X(move)                      \
    X(index)                     \
    X(nn)                        \
    X(window)                    \
    X(attention)                 \
    X(quant)                     \
    X(body)                      \
    X(sequence)                  \
    X(misc)

#define ASSAY__SHAPE_DECLARE(FAMILY) \
    extern const struct assay__shape_row assay__shape_rows_##FAMILY[];
ASSAY__SHAPE_FAMILIES(ASSAY__SHAPE_DECLARE)

/* Inputs; a missing input (and a sequence) has rank -1, no values and no type. */
bool assay__shape_has(const struct assay__shape_call *call, size_t i);
int assay__shape_rank(const struct assay__shape_call *call, size_t i);
const int64_t *assay__shape_dims(const struct assay__shape_call *call, size_t i); /* nums */
/** Copies the dims of an input, as far as they are known; returns its rank. */
int assay__shape_copy(const struct assay__shape_call *call, size_t i, int64_t *dims);
/** One dimension of an input, negative axes from the end; ASSAY__SHAPE_ANY if there is none. */
int64_t assay__shape_dim(const struct assay__shape_call *call, size_t i, int axis);
enum assay__dtype assay__shape_dtype(const struct assay__shape_call *call, size_t i);
/** Contents of a small integer input, all of them numbers; NULL otherwise. */
const int64_t *assay__shape_values(const struct assay__shape_call *call, size_t i, size_t *count);
/** The same with symbols and unknown elements; NULL if nothing is known about them. */
const int64_t *assay__shape_nums(const struct assay__shape_call *call, size_t i, size_t *count);
/** The single element of an input; ASSAY__SHAPE_ANY otherwise. */
int64_t assay__shape_num(const struct assay__shape_call *call, size_t i);
/** The integers of an attribute; NULL if there is none. */
const int64_t *assay__shape_ints(const struct assay__shape_call *call, const char *name,
                                 size_t *count);
/** The integers of an attribute, else the nums of input i; NULL if neither is known. */
const int64_t *assay__shape_list(const struct assay__shape_call *call, const char *name, size_t i,
                                 size_t *count);
/** An axes list: the attribute, else input i (NULL: neither is known; *given: whether there is one
 * at all). */
const int64_t *assay__shape_axes(const struct assay__shape_call *call, const char *attr, size_t i,
                                 size_t *count, bool *given);
/** A float32/float64/integer scalar constant; false if it is unknown. */
bool assay__shape_scalar(const struct assay__shape_call *call, size_t i, double *value);
enum assay__dtype assay__shape_dtype_attr(const struct assay__shape_call *call, const char *name,
                                          enum assay__dtype otherwise);
bool assay__shape_attr_is(const struct assay__shape_call *call, const char *name,
                          const char *value);
bool assay__shape_op_is(const struct assay__shape_call *call, const char *op);

/* Outputs. dims may be NULL for "rank known, dims not". */
void assay__shape_set(struct assay__shape_call *call, size_t o, enum assay__dtype dtype, int rank,
                      const int64_t *dims);
void assay__shape_set_dtype(struct assay__shape_call *call, size_t o, enum assay__dtype dtype);
void assay__shape_set_values(struct assay__shape_call *call, size_t o, const int64_t *values,
                             size_t count);
/** Output 0 is of input 0's type. */
void assay__shape_same_type(struct assay__shape_call *call);
void assay__shape_set_same(struct assay__shape_call *call, int rank, const int64_t *dims);
/** Output o has the shape of input i and that type, even if it is UNDEFINED. */
void assay__shape_as(struct assay__shape_call *call, size_t o, size_t i, enum assay__dtype dtype);
/** Output o has the shape of input i; dtype UNDEFINED means the input's. */
void assay__shape_like(struct assay__shape_call *call, size_t o, size_t i, enum assay__dtype dtype);
/** Output o has the elements of input i (a reinterpretation). */
void assay__shape_keep_values(struct assay__shape_call *call, size_t o, size_t i);
/** Output o is what `fact` is. */
void assay__shape_pass(struct assay__shape_call *call, size_t o, const struct assay__fact *fact);
/** Reduces fact to what it and `other` have in common; true if that changed its shape. */
bool assay__fact_join(struct assay__shape_call *call, struct assay__fact *fact,
                      const struct assay__fact *other);

/** Reports shapes that contradict each other, naming the producer of input i. */
void assay__shape_conflict(struct assay__shape_call *call, size_t i, const char *format, ...)
    ASSAY_PRINTF(3, 4);
/** Reports it if the types of two inputs of an operator of ai.onnx are known and differ. true: they
 * do. */
bool assay__shape_types_differ(struct assay__shape_call *call, size_t a, size_t b);
/** Shape of an input as text: "[batch, 64]". */
const char *assay__shape_text(struct assay__shape_call *call, size_t i);
/** Reports it if both are numbers and differ. true: they do. */
bool assay__shape_differ(struct assay__shape_call *call, size_t i, const char *what, int64_t a,
                         int64_t b);

/** Negative axes count from the end; false if out of range. */
bool assay__shape_axis(int64_t axis, int rank, int *out);
/** The same for attribute `name`; reports an axis out of range. */
bool assay__shape_axis_attr(struct assay__shape_call *call, const char *name, int64_t otherwise,
                            int rank, int *out);
/** NumPy's broadcast of b into a (in place, *rank grows); false if they cannot match. */
bool assay__shape_broadcast(int64_t *a, int *a_rank, const int64_t *b, int b_rank);
/** Broadcasts `count` inputs, at the positions `which` (NULL: the first ones), to output 0 by
 * NumPy's rules. */
void assay__shape_broadcast_inputs(struct assay__shape_call *call, const size_t *which,
                                   size_t count, enum assay__dtype dtype);
/** Product; ASSAY__SHAPE_ANY if a dimension is unknown or it overflows. */
int64_t assay__shape_product(const struct assay__shape_call *call, const int64_t *dims, int from,
                             int to);
/** NumPy's matmul of input a and input b into output 0; transposed swaps the last two axes. */
void assay__shape_matmul(struct assay__shape_call *call, size_t a, size_t b, bool trans_a,
                         bool trans_b, enum assay__dtype dtype);

/* Rows that several tables share. */
assay__shape_fn assay__shape_row_same;      /* output 0 is like input 0 */
assay__shape_fn assay__shape_row_same_bool; /* as bool */
assay__shape_fn assay__shape_row_to;        /* of the type in the attribute `to` */
assay__shape_fn assay__shape_row_sequence;  /* outputs are sequences or maps, not tensors */

#endif
