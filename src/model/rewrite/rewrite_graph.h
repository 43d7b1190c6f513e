/* rewrite_graph.h - shared by the rewrites: unused names, rebuilt lists of nodes, tensors as
 * attributes, numbers of constants, types of values, weights as int8, operators of float16. */
#ifndef ASSAY_MODEL_REWRITE_REWRITE_GRAPH_H
#define ASSAY_MODEL_REWRITE_REWRITE_GRAPH_H

#include "model/graph.h"
#include "model/rewrite/rewrite.h"
#include "model/shapes/shapes.h"

int assay__rewrite_no_memory(struct assay_error *error);

/* --- names ------------------------------------------------------------------------------------ */

/** Every name of a value or node in any graph of the model: ONNX requires them to differ even
 * between a body and its outer graph. */
struct assay__namer {
    struct assay__model *model;
    struct assay__map *taken;
};
int assay__namer_open(struct assay__namer *namer, struct assay__model *model,
                      struct assay_error *error);
void assay__namer_close(struct assay__namer *namer);
/** base + suffix, with a number if that is taken; in the arena, and reserved from now on. When out
 * of memory it is "", and the model's `failed` is set. */
const char *assay__namer_make(struct assay__namer *namer, const char *base, const char *suffix);

/* --- walking and building --------------------------------------------------------------------- */

/** Calls back for the main graph and every body, outer ones first, until a non-zero result, which
 * is returned. */
int assay__rewrite_each_graph(struct assay__graph *graph,
                              int (*visit)(void *context, struct assay__graph *graph),
                              void *context);
/** Every name a node reads: its inputs and what its bodies capture. */
int assay__rewrite_reads(const struct assay__node *node,
                         int (*found)(void *context, const char *name), void *context);
/** Appends a copy of `node` to a graph. */
struct assay__node *assay__graph_push_node(struct assay__model *model, struct assay__graph *graph,
                                           const struct assay__node *node);
/** Appends a copy of `tensor` to a graph's initializers. */
struct assay__tensor *assay__graph_push_tensor(struct assay__model *model,
                                               struct assay__graph *graph,
                                               const struct assay__tensor *tensor);
int assay__rewrite_set_tensor(struct assay__model *model, struct assay__node *node,
                              const char *name, enum assay__dtype dtype, int rank,
                              const int64_t *dims, const void *data, size_t data_size);
void assay__node_remove_attr(struct assay__node *node, const char *name);
/** Replaces input i, extending the list with missing inputs if it is shorter. */
void assay__node_set_input(struct assay__model *model, struct assay__node *node, size_t i,
                           const char *name);
bool assay__node_is(const struct assay__node *node, const char *op); /* of ai.onnx */
/** Whether it is one of several operators of ai.onnx, separated by blanks. */
bool assay__node_is_any(const struct assay__node *node, const char *ops);
/** An initializer whose data is copied into the arena; returns its name. */
const char *assay__rewrite_constant(struct assay__graph *graph, struct assay__namer *namer,
                                    const char *base, const char *suffix, enum assay__dtype dtype,
                                    int rank, const int64_t *dims, const void *data);
/** A node with one or two inputs (b NULL) whose name and result are base + suffix; returns that
 * name. */
const char *assay__rewrite_emit(struct assay__namer *namer, struct assay__graph *graph,
                                const char *op, const char *base, const char *suffix, const char *a,
                                const char *b);
/** Replaces the graph's nodes with those of `fresh`. */
void assay__graph_take_nodes(struct assay__graph *graph, const struct assay__graph *fresh);
/** The end of every rewrite: the code, or that an edit of the model failed. */
int assay__rewrite_end(const struct assay__model *model, int code, struct assay_error *error);
/** The tensor of a Constant node with a `value`; NULL for other nodes. */
const struct assay__tensor *assay__node_constant(const struct assay__node *node);

/** The start of every rewrite: local functions are inlined, value_info is dropped (unless
 * keep_values), and a model of IR 3 becomes IR 4, in which an initializer need not be an input: an
 * initializer that is also an input would otherwise only be a default, which no engine folds. */
int assay__rewrite_begin(struct assay__model *model, bool keep_values,
                         struct assay__rewrite_notes *notes, struct assay_error *error);
void assay__rewrite_drop_values(struct assay__model *model);
/** Gives the outputs their inferred dimensions; only the open ones, or all. */
void assay__rewrite_settle_outputs(struct assay__graph *graph, const struct assay__shapes *shapes,
                                   bool only_open);
/** Removes a graph input that was the overridable form of an initializer that has changed. */
void assay__graph_drop_input(struct assay__graph *graph, const char *name);

/** Raises the ai.onnx operator set to `version` (at most 13) by changing the operators that have a
 * different form there. ASSAY_EUNSUPPORTED, before anything is changed, names an operator that
 * cannot be converted with certainty. */
int assay__rewrite_opset(struct assay__model *model, int64_t version,
                         struct assay__rewrite_notes *notes, struct assay_error *error);

/** Changes the first dimension of the inputs to `batch` if it can be shown that every value that
 * depends on them grows along one axis and nothing else changes; ASSAY_EUNSUPPORTED names what does
 * not. */
int assay__rewrite_batch(struct assay__model *model, int64_t batch,
                         struct assay__rewrite_notes *notes, struct assay_error *error);

/* --- int8 ------------------------------------------------------------------------------------- */

/** Symmetric int8 along `axis`: scale = max|w| / 127 per index of that axis (1 if all are 0), q =
 * round(w / scale) to nearest even, within -127 … 127. axis -1: one scale for all. scales has
 * dims[axis] (or 1) entries. False if a number is not finite. */
bool assay__quantize(const float *weights, int rank, const int64_t *dims, int axis, int8_t *out,
                     float *scales);

/** Constant float32 tensors by name, of one graph: initializers and Constant nodes. */
struct assay__weights {
    struct assay__map *names;
    const struct assay__tensor **tensors;
    size_t count, capacity;
};
int assay__weights_open(struct assay__weights *weights, const struct assay__graph *graph);
void assay__weights_close(struct assay__weights *weights);
const struct assay__tensor *assay__weights_find(const struct assay__weights *weights,
                                                const char *name);

/** Removes initializers (and their inputs) and Constant nodes that no node or output of the graph
 * reads any longer, if `replaced` has their name. */
int assay__weights_sweep(struct assay__graph *graph, const struct assay__map *replaced);

/* --- float16 ---------------------------------------------------------------------------------- */

/** An operator that may be computed in float16 (rewrite_half.c). */
struct assay__half_row {
    const char *ops;          /* one or several, separated by blanks */
    const char *domain;       /* "" ai.onnx, "ms" com.microsoft */
    int opset;                /* the first that takes float16 */
    unsigned inputs, outputs; /* bit i: has the type that becomes float16 */
    /* its result is small however large its input is: what follows may be float16 again */
    bool bounded;
};

/** NULL: stays float32. */
const struct assay__half_row *assay__half_find(const struct assay__node *node, int64_t opset);

#endif
