/* shapes.h - shapes of every value. Inputs may be fixed (numbers follow) or left as the file has
 * them (symbolic dimensions stay symbolic and are calculated with: "past + seq", "2*batch"). A
 * value it cannot infer stays unknown. value_info in the file is used where inference says nothing.
 * Bodies of If, Loop and Scan are entered. Local functions are not: inline first. The model must
 * outlive the shapes, which borrow its names. */
#ifndef ASSAY_MODEL_SHAPES_SHAPES_H
#define ASSAY_MODEL_SHAPES_SHAPES_H

#include "model/graph.h"

struct assay__shape_entry {
    enum assay__dtype dtype;
    int rank; /* -1 unknown */
    /* >= 0 known; -1 unknown; <= -2 an expression over symbols: assay__shapes_symbol */
    int64_t *dims;
};
struct assay__shapes; /* name -> entry, for the main graph */

/** inputs: shapes of graph inputs by name that replace the file's; their dims may be symbolic
 *  (value -1 and a symbol), and what they hold may be known (contents): a branch or a number of
 *  trips that depends on it is then known. */
int assay__shapes_infer(const struct assay__model *model, const struct assay__value *inputs,
                        size_t input_count, struct assay__shapes **shapes,
                        struct assay_error *error);
void assay__shapes_free(struct assay__shapes *shapes);
const struct assay__shape_entry *assay__shapes_get(const struct assay__shapes *shapes,
                                                   const char *name); /* NULL unknown */

/** The order of execution of the graph these are the shapes of (a body's, too), as
 *  assay__graph_order gives it. Lives as long as the shapes. */
const size_t *assay__shapes_order(const struct assay__shapes *shapes);
/** Text of a symbolic dimension; "" for an unknown one. Lives as long as the shapes. */
const char *assay__shapes_symbol(const struct assay__shapes *shapes, int64_t dim);
/** Known small integer contents of a value (shape arithmetic), all elements known; NULL
 *  otherwise. */
const int64_t *assay__shapes_values(const struct assay__shapes *shapes, const char *name,
                                    size_t *count);

/* Subgraphs. */
/** Shapes inside a body of this node (a graph attribute); names of the outer graph are found too.
 *  NULL: not entered. */
const struct assay__shapes *assay__shapes_body(const struct assay__shapes *shapes,
                                               const struct assay__graph *body);
/** How often the body of a Loop or Scan runs; -1 unknown. */
int64_t assay__shapes_trips(const struct assay__shapes *shapes, const struct assay__node *node);
/** Which branch an If takes: 1 then, 0 else, -1 unknown. */
int assay__shapes_branch(const struct assay__shapes *shapes, const struct assay__node *node);

/** Is the shape known, and its size in bytes more than can be counted (2^62 × 2^62)? */
bool assay__shapes_overflows(const struct assay__shape_entry *entry);
/** The same question for the inputs and outputs of a node: true if any of them does. */
bool assay__shapes_node_overflows(const struct assay__shapes *shapes,
                                  const struct assay__node *node);

/** Shapes or types that contradict each other: what one node makes and what another needs. Each is
 *  there once. */
struct assay__shape_conflict {
    const char *node, *op; /* the one that cannot work */
    /* the other side: a node, an input, an initializer, or a value that the file states */
    const char *producer;
    const char *producer_op; /* of a node; "" for the others */
    /* the other side in words: "'relu1' (Relu)", "input 'z' (2×4)", "initializer 'w' (64×10)", "the
     * file's own statement of 'y'" */
    const char *other;
    const char *message; /* one line with both shapes */
    bool by_size;        /* a window larger than what it slides over */
};
size_t assay__shapes_conflicts(const struct assay__shapes *shapes,
                               const struct assay__shape_conflict **conflicts);
/** How many windows are larger than what they slide over with the sizes that the caller chose: no
 *  conflicts of the file, but these sizes do not run. */
size_t assay__shapes_misfits(const struct assay__shapes *shapes);

#endif
