/* ort_instrument.h - inserts markers (ort_marker.c) into a graph. Works only on the model in
 * memory: no engine is needed. */
#ifndef ASSAY_ENGINE_ORT_ORT_INSTRUMENT_H
#define ASSAY_ENGINE_ORT_ORT_INSTRUMENT_H

#include "base/arena.h"
#include "model/graph.h"

#include <stdbool.h>
#include <stddef.h>

#define ASSAY__MARKER_DOMAIN "assay.marker"
#define ASSAY__MARKER_OP "Marker"
/* its value is known to be a scalar (ort_marker.c) */
#define ASSAY__MARKER_OP_SCALAR "MarkerScalar"

/** A graph and the bodies of its nodes as one list (ort_flat.c). */
struct assay__flat {
    struct assay__graph graph; /* its nodes and their bodies' */
    size_t *parent;            /* by node: the node whose body it is in; SIZE_MAX: none */
    size_t *body;              /* by node: which body, counted from 1; 0: the graph itself */
    size_t body_count;
};
/** bodies false: only the graph. Everything is in the arena; nodes share what those of the graph
 *  hold. */
int assay__flat_make(const struct assay__graph *graph, bool bodies, struct assay__arena *arena,
                     struct assay__flat *flat);
/** How many nodes the bodies of a node have, at the given depth of nesting. */
size_t assay__flat_bodies(const struct assay__node *node, int depth);

/** What a marker id refers to. */
struct assay__mark {
    bool input;   /* on a graph input; else after a node */
    bool enters;  /* on an input of that node's body: an iteration of a Loop or Scan begins */
    size_t index; /* of that input or node, as assay__flat numbers them */
};

struct assay__mark_plan {
    struct assay__mark *marks; /* by marker id */
    size_t mark_count;
    bool *node_marked; /* by node: false if no output can have a marker */
    size_t node_count; /* of the flat list */
    bool loops;        /* a marker may run several times */
};

struct assay__mark_options {
    const bool *nodes;   /* which nodes get markers, by node index; NULL: all of them */
    const bool *scalars; /* by marker id: its value is a scalar; NULL: unknown */
    bool flat;           /* nodes of bodies are numbered too, as in the flat list with bodies */
    bool bodies;         /* and get markers */
    bool strict;         /* leave out values that may not be tensors */
    bool no_inputs;      /* none on inputs of the graph */
};

/** Adds markers to `model` (edited in place; everything new, including the plan, is in its arena).
 *  Each marked node gets one marker per consumed tensor output, or a dangling one if nothing
 *  consumes it; each consumed input of the graph, and of the body of a marked Loop or Scan, gets
 *  one. Graph outputs keep their names. */
int assay__markers_insert(struct assay__model *model, const struct assay__mark_options *options,
                          struct assay__mark_plan *plan, struct assay_error *error);

/** A separate model: a chain of `length` markers after a scalar float input "x", to measure the
 *  cost of a marker. */
struct assay__model *assay__marker_chain(size_t length);

/** True if the operator uses random numbers: its outputs differ from run to run. */
bool assay__op_is_random(const struct assay__node *node);
/** The same for a graph with everything inside it. */
bool assay__graph_is_random(const struct assay__graph *graph);

#endif
