/* fold.h - groups of nodes that fewer nodes can replace: found here for the rules of `advise`,
 * which report their cost, and for the rewrites that replace them (rewrite_hardswish.c,
 * rewrite_affine.c). A finder works on one graph; a value that is also read elsewhere, or is an
 * output, ends a group. Constants are float32 and not inputs of the graph. */
#ifndef ASSAY_MODEL_REWRITE_FOLD_H
#define ASSAY_MODEL_REWRITE_FOLD_H

#include "model/rewrite/rewrite_graph.h"

#define ASSAY__FOLD_MOST 12 /* nodes of a group */

struct assay__fold_graph {
    const struct assay__graph *graph;
    struct assay__map *producer; /* value -> node that makes it */
    size_t *readers; /* by node: how often its outputs are read, including as graph outputs … */
    size_t *reader;  /* … and the node that read them last; SIZE_MAX none */
    bool *gone;      /* by node: it was replaced; finders skip it */
    struct assay__weights weights;
};
int assay__fold_open(struct assay__fold_graph *fold, const struct assay__graph *graph);
void assay__fold_close(struct assay__fold_graph *fold); /* also of a zeroed one */
/** SIZE_MAX: no node makes it. */
size_t assay__fold_producer(const struct assay__fold_graph *fold, const char *value);
/** The only node that reads the output of this one; SIZE_MAX: none, several, or it is an output. */
size_t assay__fold_only_reader(const struct assay__fold_graph *fold, size_t node);
/** The constant of that name; NULL: there is none, or a caller could replace it. */
const struct assay__tensor *assay__fold_constant(const struct assay__fold_graph *fold,
                                                 const char *name);
/** The only non-constant operand of a node with two; NULL: both or neither are constant. *constant:
 * the other. */
const char *assay__fold_operand(const struct assay__fold_graph *fold,
                                const struct assay__node *node,
                                const struct assay__tensor **constant);

/* The nodes of a group, in the order in which they run. */
struct assay__fold_group {
    size_t nodes[ASSAY__FOLD_MOST];
    size_t count;
};

/** Removes the nodes of a group; what they read, including constants, is added to `read`. 0 or
 * ASSAY_ENOMEM. */
int assay__fold_take(struct assay__fold_graph *fold, const struct assay__fold_group *group,
                     struct assay__map *read);

/** clip(alpha x + beta, 0, 1), times x if it is a swish. */
struct assay__fold_hard {
    struct assay__fold_group group;
    const char *x;
    float alpha, beta;
    bool swish;
};
/** Found from the Clip: Add, Clip and a division by the upper bound (or a product with its inverse)
 * are HardSigmoid; with a product by x before or after that division, HardSwish. */
bool assay__fold_find_hard(const struct assay__fold_graph *fold, size_t node,
                           struct assay__fold_hard *hard);

/** Mul, Add, Sub and Div by a constant per channel, or by one number, around a convolution. */
struct assay__fold_affine {
    struct assay__fold_group group;
    size_t before; /* nodes of the group before the convolution */
    int64_t channels_in, channels_out;
};
/** Found from the Conv or ConvTranspose; its weights and bias are constants. Before a Conv with
 * padding only products are included: a shift would not affect the padding. */
bool assay__fold_find_affine(const struct assay__fold_graph *fold, size_t node,
                             struct assay__fold_affine *affine);

#endif
