/* graph_wires.h - between graph_tree.c (groups and layers) and graph_wires.c (the lines inside of
 * groups, their layouts, and what the model's inputs and outputs are called beside a box). */
#ifndef ASSAY_REPORT_FIGURE_GRAPH_WIRES_H
#define ASSAY_REPORT_FIGURE_GRAPH_WIRES_H

#include "report/figure/graph_tree.h"

/** The insides of all groups, innermost first, as open as they are. 0 or ASSAY_ENOMEM. */
int assay__graph_wires(struct assay__graph_tree *tree, struct assay__arena *arena);

#endif
