/* rewrite_int8.h - weights as the int8 rewrites see them. */
#ifndef ASSAY_MODEL_REWRITE_REWRITE_INT8_H
#define ASSAY_MODEL_REWRITE_REWRITE_INT8_H

#include "model/rewrite/rewrite_graph.h"

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
 *  reads any more, when `replaced` has their name. */
int assay__weights_sweep(struct assay__graph *graph, const struct assay__map *replaced);

#endif
