/* inspect.h - the contents of a model, without running it: its analysis with everything that the
 * views need, the layers in execution order, the metrics with their states, the wiring of a Neural
 * Circuit Policy, and counts of functions, bodies and external tensors.
 *
 * Everything follows from the graph and its shapes: nothing is run, and no weights are read. Names
 * come from files and are untrusted. */
#ifndef ASSAY_INSPECT_INSPECT_H
#define ASSAY_INSPECT_INSPECT_H

#include "base/buf.h"
#include "cost/analysis.h"
#include "cost/ncp.h"

#include <assay/inspect.h>

/* A node of the main graph, in execution order. */
struct assay__inspect_layer {
    const struct assay__node *node;
    const char *name; /* the node's, else its first output's */
    const struct assay__cost *cost;
    double bytes;        /* read and written; NaN unknown */
    double intensity;    /* FLOP per byte; NaN unknown */
    double memory_bytes; /* its own inputs, outputs and weights */
    double live_bytes;   /* all activations alive while it runs */
};

struct assay__inspect {
    struct assay__arena *arena;
    const char *name, *path; /* path "" when built */
    bool zoo;
    struct assay__model *model;       /* owned; its functions are inlined */
    struct assay__workload *workload; /* owned unless it is in the arena */
    bool planned;                     /* the workload could be planned; else why not: */
    const char *unplanned;
    const char *version_note; /* ONNX versions that are not known; NULL: all are */
    const char *missing;      /* what running it would need and does not exist; NULL: nothing */
    struct assay__analysis *analysis;
    struct assay__shapes *symbolic; /* result of assay__inspect_symbolic; NULL: nothing yet */
    bool symbolic_tried;
    struct assay_metrics *metrics;
    struct assay__map *weights; /* initializers of the main graph, including sparse ones */
    char fingerprint[17];       /* before inlining, as in `run` */
    struct assay__inspect_layer *layers;
    size_t layer_count;
    size_t functions, subgraphs, inner_nodes;
    size_t external_tensors;
    double external_bytes;
    bool has_ncp;
    struct assay__ncp ncp;
    const char
        *ncp_fault; /* why the facts about the wiring are unavailable; NULL: nothing is wrong */
};

enum assay__inspect_sort { ASSAY__SORT_FLOPS, ASSAY__SORT_BYTES, ASSAY__SORT_MEMORY };

/** Takes ownership of the model, even on failure. name is what the user wrote. */
int assay__inspect_new(struct assay__model *model, const char *name, bool zoo,
                       const struct assay__workload_options *options, struct assay__inspect **out,
                       struct assay_error *error);
/** Opens the model of the options and inspects it. Something that exists but cannot be read (a
 *  folder, a device) is ASSAY_EIO, not a wrong name. */
int assay__inspect_model(const struct assay_workload_options *options, struct assay__inspect **out,
                         struct assay_error *error);
void assay__inspect_free(struct assay__inspect *inspect);

/** Layers by what they cost, largest first, unknown last. NULL when out of memory. */
size_t *assay__inspect_order(const struct assay__inspect *inspect, enum assay__inspect_sort sort,
                             struct assay__arena *arena);
/** What the layer costs in that respect. */
double assay__inspect_weight(const struct assay__inspect_layer *layer,
                             enum assay__inspect_sort sort);
/** Shapes with the file's symbols, computed when first requested; NULL: it has none. */
const struct assay__shapes *assay__inspect_symbolic(const struct assay__inspect *inspect);
/** True if the caller provides the value: it is not an initializer. */
bool assay__inspect_is_input(const struct assay__inspect *inspect,
                             const struct assay__value *value);

enum assay__inspect_lack { ASSAY__LACK_ANY, ASSAY__LACK_FLOPS, ASSAY__LACK_BYTES };
/** Nodes whose FLOPs, bytes, or either are unknown. */
size_t assay__inspect_left(const struct assay__analysis *a, enum assay__inspect_lack lack);

/* --- words, unescaped ------------------------------------------------------------------------- */

/** "3 of 12 nodes have no known cost (Frob × 3: no cost formula)", or FLOPs, or bytes, for totals
 *  that leave nodes out; nothing otherwise. */
void assay__inspect_left_out(struct assay__buf *out, const struct assay__inspect *inspect,
                             enum assay__inspect_lack lack);
/** "com.microsoft.Gelu"; "Conv" for the standard domain. */
void assay__inspect_op(struct assay__buf *out, const char *domain, const char *op);
/** "1×3×224×224", symbols by name, "?" unknown, "scalar", "unknown shape". */
void assay__inspect_shape(struct assay__buf *out, const struct assay__shapes *shapes,
                          const struct assay__shape_entry *entry);
/** The shape in the file: "batch×3×224×224". */
void assay__inspect_value_shape(struct assay__buf *out, const struct assay__value *value);
/** The shape of a layer's first output. */
void assay__inspect_output_shape(struct assay__buf *out, const struct assay__inspect *inspect,
                                 const struct assay__inspect_layer *layer);

#endif
