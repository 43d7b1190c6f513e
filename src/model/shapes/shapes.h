/* shapes.h - shapes of every value. Inputs may be fixed (numbers follow) or left as in the file
 * (symbolic dimensions stay symbolic and take part in arithmetic: "past + seq", "2*batch"). A value
 * that cannot be inferred stays unknown. value_info in the file is used if inference has no result.
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
 * (value -1 and a symbol), and their values may be known (contents): a branch or a trip count that
 * depends on them is then known. */
int assay__shapes_infer(const struct assay__model *model, const struct assay__value *inputs,
                        size_t input_count, struct assay__shapes **shapes,
                        struct assay_error *error);
void assay__shapes_free(struct assay__shapes *shapes);
const struct assay__shape_entry *assay__shapes_get(const struct assay__shapes *shapes,
                                                   const char *name); /* NULL unknown */

/** The order of execution of the graph that these shapes belong to (or of a body), as from
 * assay__graph_order. Lives as long as the shapes. */
const size_t *assay__shapes_order(const struct assay__shapes *shapes);
/** Text of a symbolic dimension; "" for an unknown one. Lives as long as the shapes. */
const char *assay__shapes_symbol(const struct assay__shapes *shapes, int64_t dim);
/** Known small integer contents of a value (shape arithmetic), all elements known; NULL
 *  otherwise. */
const int64_t *assay__shapes_values(const struct assay__shapes *shapes, const char *name,
                                    size_t *count);

/* Subgraphs. */
/** Shapes inside a body of this node (a graph attribute); including names of the outer graph. NULL:
 * not entered. */
const struct assay__shapes *assay__shapes_body(const struct assay__shapes *shapes,
                                               const struct assay__graph *body);
/** How often the body of a Loop or Scan runs; -1 unknown. */
int64_t assay__shapes_trips(const struct assay__shapes *shapes, const struct assay__node *node);
/** Which branch an If takes: 1 then, 0 else, -1 unknown. */
int assay__shapes_branch(const struct assay__shapes *shapes, const struct assay__node *node);

/** Whether the shape is known and its size in bytes overflows (2^62 × 2^62). */
bool assay__shapes_overflows(const struct assay__shape_entry *entry);
/** The same for the inputs and outputs of a node: true if any of them overflows. */
bool assay__shapes_node_overflows(const struct assay__shapes *shapes,
                                  const struct assay__node *node);

/** Shapes or types that contradict each other: what one node produces and what another needs. Each
 * is listed once. */
struct assay__shape_conflict {
    const char *node, *op; /* the one that cannot work */
    /* the other side: a node, an input, an initializer, or a value stated in the file */
    const char *producer;
    const char *producer_op; /* of a node; "" for the others */
    /* the other side as text: "'relu1' (Relu)", "input 'z' (2×4)", "initializer 'w' (64×10)", "the
     * file's own statement of 'y'" */
    const char *other;
    const char *message; /* one line with both shapes */
    bool by_size;        /* a window larger than its input */
};
size_t assay__shapes_conflicts(const struct assay__shapes *shapes,
                               const struct assay__shape_conflict **conflicts);
/** How many windows are larger than their input with the sizes that the caller chose: these are not
 * conflicts of the file, but such sizes do not run. */
size_t assay__shapes_misfits(const struct assay__shapes *shapes);

#endif
