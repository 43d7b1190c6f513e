/* cost_walk.h - the costs of a model's nodes, including those in bodies (If, Loop, Scan). */
#ifndef ASSAY_COST_WALK_H
#define ASSAY_COST_WALK_H

#include "cost/cost.h"

#define ASSAY__COST_DEPTH 32 /* bodies nested deeper are unknown */

/** One node of the main graph or of a body. */
struct assay__cost_visited {
    const struct assay__node *node;
    const struct assay__shapes *shapes; /* of its graph; NULL: the body was not entered */
    struct assay__cost own; /* what it does itself when it runs once (a Loop itself does nothing:
                               the nodes of its body do) */
    double
        times; /* how often it runs in one run of the model (a branch not taken: 0); NaN unknown */
    const char *why; /* then */
    size_t depth;    /* of the bodies it is in; 0: the main graph */
};
/** Return 0 to continue. */
typedef int assay__cost_visit(void *context, const struct assay__cost_visited *visited);

/** Costs as in assay__cost_graph; visit (may be NULL) is then called for every node. If it is
 *  unknown which of two branches is taken but they cost the same, the first counts as taken. */
int assay__cost_walk(const struct assay__model *model, const struct assay__shapes *shapes,
                     struct assay__cost *costs, assay__cost_visit *visit, void *context,
                     struct assay_error *error);

/** Marks what does not change between runs: initializers, and what depends only on them, except
 *  unpacked weights, which are produced at each run. Values of the map: 0 changes (in bodies: hides
 *  an outer name), 1 is computed, 2 + i is initializer i, with the sparse ones after the dense.
 *  outer may be NULL. */
struct assay__cost_index;
struct assay__cost_names {
    const struct assay__cost_names *outer;
    const struct assay__graph *graph;
    struct assay__map *map;
};
int assay__cost_names_fill(struct assay__cost_names *names, const struct assay__cost_index *index,
                           const size_t *order);
bool assay__cost_is_constant(const struct assay__cost_names *names, const char *name);
/** The initializer with that name, here or in an outer graph; NULL if there is none. */
const struct assay__tensor *assay__cost_stored(const struct assay__cost_names *names,
                                               const char *name);
/** Bytes of a sparse tensor as stored; NaN for a dense one. */
double assay__cost_sparse_bytes(const struct assay__tensor *tensor);

/** The execution order of the shapes, or one created in the arena if a body was not entered. */
int assay__cost_order(const struct assay__graph *graph, const struct assay__shapes *shapes,
                      struct assay__arena *arena, const size_t **order, struct assay_error *error);

#endif
