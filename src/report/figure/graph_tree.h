/* graph_tree.h - the network of a trial as nested boxes: groups (graph_groups.h) and layers, each
 * group with the layout of its inside. A group is drawn closed, as one box, or open, with what is
 * in it. Lines that enter an open group end at its top and continue from there; those that leave it
 * go through its bottom. */
#ifndef ASSAY_REPORT_FIGURE_GRAPH_TREE_H
#define ASSAY_REPORT_FIGURE_GRAPH_TREE_H

#include "judge/study.h"
#include "report/figure/graph_layout.h"

/* Sizes that the drawing and the page's script share. */
#define ASSAY__GRAPH_WIDTH 172.0 /* of a box */
#define ASSAY__GRAPH_LAYER 22.0  /* height of a layer */
#define ASSAY__GRAPH_GROUP 38.0  /* height of a closed group */
/* the line above or below a box with inputs, outputs of the model */
#define ASSAY__GRAPH_CHIP 15.0
#define ASSAY__GRAPH_HEAD 20.0 /* of an open group */
#define ASSAY__GRAPH_PAD 12.0  /* between its sides and its contents */
#define ASSAY__GRAPH_PORT 8.0  /* width of the place where a line enters or leaves */
#define ASSAY__GRAPH_LANE 10.0 /* between two lines that lead to the next column */

/** The contents of a group. Boxes of the layout: its children, then where lines enter, then where
 * they leave. */
struct assay__graph_inside {
    struct assay__graph_layout layout;
    size_t port_count; /* boxes that are no kids */
    double *bytes;     /* by net: total bytes of its tensors; NaN unknown */
    size_t net_count;
    size_t lanes;        /* lines between two columns at most */
    bool enters, leaves; /* lines enter at its top, leave through its bottom */
};

struct assay__graph_node {
    int parent;        /* the group it is in; -1: it is the root, node 0 */
    int layer;         /* index in the trial's layers; -1: a group */
    int block;         /* for a group, id of its first block; -1 none */
    const char *name;  /* for a group, that of the blocks; for a layer, its title */
    const char *label; /* the part that the enclosing groups do not have */
    int first, count;  /* kids: tree->kids[first] … */
    int layers;        /* in it, it itself included */
    double time_ns;    /* of them; NaN: none is timed */
    double share;      /* of the inference; NaN as well */
    /* time that their roofs allow, and the time of these layers; 0, 0: unknown */
    double least_ns, least_of_ns;
    /* inputs of the model that it reads and outputs that it writes; "" none */
    const char *in, *out;
    int color; /* colour of the palette: bin of the scale, or series of its operator; -1: none */
    bool open;
    struct assay__graph_inside *inside; /* of a group */
};

#define ASSAY__GRAPH_OPERATORS 6 /* that have a colour */

struct assay__graph_tree {
    const struct assay__trial *trial;
    /* colours show the operator that takes most of a box's time; 0: the share of the peak */
    size_t operator_count;
    const char *operators[ASSAY__GRAPH_OPERATORS];
    struct assay__graph_node *nodes; /* the root, groups, then the layers in their order */
    size_t count, group_count; /* layer i is nodes[group_count + i]; groups: including the root */
    int *kids;
    double largest;   /* bytes of the widest line that is shown initially; 0: unknown */
    double most_ns;   /* of a box that is shown at first */
    size_t far, back; /* lines left out, of all groups, … */
    size_t small;     /* … and those with a few bytes next to others */
};

/** The graph of a trial whose layers have edges, laid out for a page; everything is in the arena. 0
 * or ASSAY_ENOMEM. */
int assay__graph_tree(struct assay__study *study, const struct assay__trial *trial,
                      struct assay__arena *arena, struct assay__graph_tree *out);
/** Why there is no graph of a trial; NULL: there is one. */
const char *assay__graph_missing(const struct assay__trial *trial);

/** The size of a node as drawn, open or closed as it is now. */
struct assay__graph_size assay__graph_node_size(const struct assay__graph_tree *tree, int node,
                                                struct assay__arena *arena);
/** The sizes of all boxes inside a group. NULL: out of memory. */
struct assay__graph_size *assay__graph_inside_sizes(const struct assay__graph_tree *tree, int group,
                                                    struct assay__arena *arena);
/** Space above, or below, the contents of a group. */
double assay__graph_margin(const struct assay__graph_inside *inside, bool below);
/** The share of their roofs that its layers reach, weighted by time; NaN: unknown for layers that
 * take most of its time. */
double assay__graph_node_peak(const struct assay__graph_node *node);

#endif
