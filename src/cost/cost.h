/* cost.h - what a node computes and moves: tables with one row per operator, and the formula in the
 * row's comment. Unknown is NaN. */
#ifndef ASSAY_COST_H
#define ASSAY_COST_H

#include "model/graph.h"
#include "model/shapes/shapes.h"

struct assay__cost {
    double macs;  /* multiply-adds (a bias addition counts as one); NaN unknown */
    double flops; /* 2 x multiply-adds + other floating-point operations; NaN unknown */
    double bytes_read, bytes_written, bytes_weights; /* bytes_read includes weights; NaN unknown */
    const char *why; /* why one of the above is NaN ("no cost formula", "shape unknown", …); NULL if
                        all are known */
    bool constant;   /* depends only on constants: computed once, when the model is loaded, not at
                        each run. All of the above are then 0 */
};

/** Costs of every node of the main graph, in file order: costs has node_count entries. A node with
 *  bodies (If, Loop, Scan) has the whole cost of what runs in them. Never fails on an unknown
 *  operator: NaN. */
int assay__cost_graph(const struct assay__model *model, const struct assay__shapes *shapes,
                      struct assay__cost *costs, struct assay_error *error);

#endif
