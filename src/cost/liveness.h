/* liveness.h - memory over time: which tensors are alive while each node runs, in execution order.
 *
 * Rules: an activation lives from the node that produces it (graph inputs: from the start) to its
 * last reader (graph outputs: to the end). Weights and what depends only on weights are counted
 * separately; but weights unpacked at each run (DequantizeLinear, Core ML's constexpr_*) are
 * activations, as in the traffic. Views (Reshape, Squeeze, …) share their input's bytes: they are
 * not separate tensors, and extend its life. A node's output and its inputs are alive together (no
 * in-place reuse assumed): this is the memory that the graph needs, not what an engine's allocator
 * takes. While a subgraph runs, its own peak is added (of two branches the larger, unless the taken
 * one is known). Tensors of unknown size are counted, never treated as 0. */
#ifndef ASSAY_COST_LIVENESS_H
#define ASSAY_COST_LIVENESS_H

#include "model/graph.h"
#include "model/shapes/shapes.h"

struct assay__live_tensor {
    const char *name;
    double bytes;       /* NaN unknown */
    size_t first, last; /* positions in execution order */
    size_t producer;    /* node index (file order), SIZE_MAX: a graph input */
};

struct assay__liveness {
    double *live_bytes; /* per position in execution order: alive while that node runs; NaN if a
                           live one is unknown */
    double *node_bytes; /* per node in file order: its own inputs, outputs and weights (per-layer
                           memory), and its bodies' peak */
    double peak_bytes;  /* NaN when unknown */
    /* the largest known sum: a lower bound if the peak is unknown */
    double known_bytes;
    double peak_body_bytes; /* part of the peak: what the bodies of the node at the peak need */
    size_t peak_position, peak_node;    /* where known_bytes occurs; node: file order. SIZE_MAX in a
                                           graph without nodes */
    struct assay__live_tensor *tensors; /* all activations but views, by first */
    size_t tensor_count;
    size_t *peak_tensors; /* indices alive at the peak, largest first, unknown ones before */
    size_t peak_tensor_count;
    size_t unknown_count; /* activations of unknown size, including those of bodies */
};

/** order: from assay__graph_order. Everything is in the arena. */
int assay__liveness(const struct assay__model *model, const struct assay__shapes *shapes,
                    const size_t *order, struct assay__arena *arena,
                    struct assay__liveness *liveness, struct assay_error *error);

#endif
