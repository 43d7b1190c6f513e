/* shapes_scope.h - the inside of struct assay__shapes: one scope per graph, one state for all of a
 * model's scopes. */
#ifndef ASSAY_MODEL_SHAPES_SHAPES_SCOPE_H
#define ASSAY_MODEL_SHAPES_SHAPES_SCOPE_H

#include "model/shapes/shape_call.h"

struct assay__shape_body {
    const struct assay__graph *graph;
    struct assay__shapes *scope;
};

struct assay__shape_control {
    const struct assay__node *node;
    int64_t trips;
    int branch;
};

struct assay__shape_binding { /* a symbol that the caller's inputs fix */
    int64_t symbol, num;
};

struct assay__shape_state {
    const struct assay__model *model;
    int64_t opset;
    struct assay__arena *arena;
    struct assay__symbols *symbols;
    struct assay__shape_body *bodies; /* by graph when all is done */
    size_t body_count, body_capacity;
    struct assay__shape_control *controls; /* by node when all is done */
    size_t control_count, control_capacity;
    struct assay__shape_conflict *conflicts;
    size_t conflict_count, conflict_capacity;
    size_t misfits;          /* windows that do not fit the sizes that the caller chose */
    struct assay__map *said; /* contradictions by their text */
    struct assay__shape_binding *bindings;
    size_t binding_count, binding_capacity;
    bool stale;    /* inputs replace numbers of the file: its stated shapes may not apply */
    size_t quiet;  /* > 0: inside what may never run */
    size_t depth;  /* of bodies */
    size_t budget; /* nodes that may still be visited again in loops */
};

struct assay__shapes {
    struct assay__shape_state *state;
    const struct assay__shapes *parent; /* NULL: the main graph, which owns the state */
    const struct assay__graph *graph;
    struct assay__map *names; /* -> index into facts */
    struct assay__fact **facts;
    size_t count, capacity;
    struct assay__fact nothing; /* for absent inputs */
    struct assay__fact lost;    /* for an entry that could not be allocated */
    size_t *order;              /* order of execution, in the state's arena; NULL before the walk */
};

struct assay__shapes *assay__scope_new(struct assay__shape_state *state,
                                       const struct assay__shapes *parent,
                                       const struct assay__graph *graph);
void assay__scope_free(struct assay__shapes *scope);
/** In this scope or an enclosing one; NULL. */
struct assay__fact *assay__scope_find(const struct assay__shapes *scope, const char *name);
/** In this scope; created if it does not exist. Never NULL. If memory runs out, here and below, the
 * state's arena is marked as failed. */
struct assay__fact *assay__scope_add(struct assay__shapes *scope, const char *name);
/** Nodes in order, preceded by the initializers of a body. The caller fills inputs (and the main
 * graph's initializers) before. */
int assay__scope_walk(struct assay__shapes *scope, struct assay_error *error);
/** Sets the shape of a fact from nums. */
void assay__fact_set(struct assay__shape_state *state, struct assay__fact *fact,
                     enum assay__dtype dtype, int rank, const int64_t *nums);
/** Fills what inference left open with what the file states. */
void assay__fact_complete(struct assay__shapes *scope, const struct assay__value *value,
                          struct assay__fact *fact);
/** Adds a contradiction at `node` unless it is already there. `name` is the other side: the value
 * that `other` describes or, without one, a value stated in the file. */
void assay__state_conflict(struct assay__shape_state *state, const struct assay__node *node,
                           const struct assay__fact *other, const char *name, const char *message);

#endif
