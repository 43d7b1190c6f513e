/* graph_groups.h - the groups that the graph of a network is drawn in: the stages and blocks of
 * judge/blocks.h, with changes that a graph needs. A part of the model that runs in several pieces
 * is one group, unless that would make a cycle. A group of one layer becomes that layer, and a few
 * layers whose names show no place stay ungrouped. If too many boxes would be side by side,
 * neighbours are bundled. */
#ifndef ASSAY_REPORT_FIGURE_GRAPH_GROUPS_H
#define ASSAY_REPORT_FIGURE_GRAPH_GROUPS_H

#include "judge/blocks.h"

struct assay__graph_group {
    const char *name, *label; /* that of the block; for a bundle "layers 0 to 99" */
    int block;                /* id of its first block; -1: a bundle */
    int parent;               /* the enclosing group, which comes before it; -1: none */
    size_t layers;
};

struct assay__graph_groups {
    struct assay__graph_group *items;
    size_t count;
    int *of_layer; /* the innermost group of each layer; -1: none */
};

/** Everything is in the arena. 0 or ASSAY_ENOMEM. */
int assay__graph_groups(const struct assay__blocks *blocks, const struct assay__layers *layers,
                        struct assay__arena *arena, struct assay__graph_groups *out);

#endif
