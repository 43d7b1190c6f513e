/* graph_wires.h - between graph_tree.c (groups and layers) and graph_wires.c (the lines inside
 * groups, their layouts, and the names of the model's inputs and outputs next to a box). */
#ifndef ASSAY_REPORT_FIGURE_GRAPH_WIRES_H
#define ASSAY_REPORT_FIGURE_GRAPH_WIRES_H

#include "report/figure/graph_tree.h"

/** The contents of all groups, innermost first, each open or closed as it is. 0 or ASSAY_ENOMEM. */
int assay__graph_wires(struct assay__graph_tree *tree, struct assay__arena *arena);

#endif
