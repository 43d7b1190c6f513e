/* cost.h - what a node computes and moves: a table, one row per operator, formula in the row's
 * comment. Unknown is NaN. */
#ifndef ASSAY_COST_H
#define ASSAY_COST_H

#include "model/graph.h"
#include "model/shapes.h"

struct assay__cost {
    double macs;  /* multiply-adds (a bias addition counts as one); NaN unknown */
    double flops; /* 2 x multiply-adds + other floating-point operations; NaN unknown */
    double bytes_read, bytes_written, bytes_weights; /* bytes_read includes weights; NaN unknown */
};

/** Costs of every node of the main graph, in file order: costs has node_count entries. Never
 *  fails on an unknown operator: NaN. */
int assay__cost_graph(const struct assay__model *model, const struct assay__shapes *shapes,
                      struct assay__cost *costs, struct assay_error *error);

#endif
