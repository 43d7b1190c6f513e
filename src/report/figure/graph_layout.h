/* graph_layout.h - where the boxes of a directed graph go. Boxes are in rows so that every line
 * leads downward; a line that crosses rows has a bend in each of them. The order within rows is
 * chosen for few crossings, the positions for straight chains, and the rows are split into columns
 * if the screen is wide and the graph is long.
 *
 * The result is rows, order and centres, which do not depend on how large a box is drawn: opening
 * a box makes its row higher and moves its neighbours aside (assay__graph_arrange; the page's
 * script does the same).
 *
 * Lines are nets: a tensor has one source and all its readers as targets, and is one line as long
 * as the paths coincide. Time is linear except for sorting, with a limit on bends: targets that are
 * too far away are left out and counted, as are those that lead back (a cycle). */
#ifndef ASSAY_REPORT_FIGURE_GRAPH_LAYOUT_H
#define ASSAY_REPORT_FIGURE_GRAPH_LAYOUT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

#define ASSAY__GRAPH_GAP 16.0     /* between two boxes of a row */
#define ASSAY__GRAPH_ROW_GAP 18.0 /* between rows */
#define ASSAY__GRAPH_GUTTER 48.0  /* between columns */
#define ASSAY__GRAPH_BEND 6.0     /* width of a bend */

struct assay__graph_size {
    double width, height;
};

/** From one box to others. Sources and targets that are not boxes, and the box itself, are
 * ignored. */
struct assay__graph_net {
    int source;
    const int *targets;
    size_t target_count;
};

enum assay__graph_end {
    ASSAY__GRAPH_INSIDE,
    ASSAY__GRAPH_FIRST, /* in a row above all others: where lines come in */
    ASSAY__GRAPH_LAST,  /* below all others: where they leave */
};

struct assay__graph_boxes {
    const struct assay__graph_size *sizes; /* sizes of the boxes, in the order of execution */
    const unsigned char *ends;             /* enum assay__graph_end; NULL: all are inside */
    size_t box_count;
    const struct assay__graph_net *nets;
    size_t net_count;
};

struct assay__graph_place {
    int row;
    int net;      /* of a bend; -1: a box */
    double x;     /* its centre */
    double width; /* as it was laid out */
};

struct assay__graph_segment { /* from one row to the next */
    int from, to;             /* places */
    int net;
};

struct assay__graph_layout {
    struct assay__graph_place *places; /* the boxes, then the bends */
    size_t box_count, count;
    struct assay__graph_segment *segments; /* by the row where they begin */
    size_t segment_count;
    int row_count;
    int *row_first; /* row r: order[row_first[r]] … order[row_first[r + 1] - 1] */
    int *order;     /* places from left to right */
    int *columns;   /* by row: its column, never falling */
    int column_count;
    size_t far, back; /* targets left out: too far away, leading back */
};

/** Everything is in the arena. `view` is the space for the drawing: rows are split into the number
 * of columns that can be shown largest in it; width 0: one column. 0 or ASSAY_ENOMEM. */
int assay__graph_layout(const struct assay__graph_boxes *graph, struct assay__graph_size view,
                        struct assay__arena *arena, struct assay__graph_layout *out);

/** The positions for boxes of these sizes: centre and top of every place, the height of its row,
 * and the left of every column. There are no overlaps, whatever the sizes. */
struct assay__graph_geometry {
    double *x, *y;                   /* by place: centre, top */
    double *row_y, *row_height;      /* by row */
    double *column_x, *column_width; /* by column */
    struct assay__graph_size size;   /* of all of it */
};
int assay__graph_arrange(const struct assay__graph_layout *layout,
                         const struct assay__graph_size *sizes, struct assay__arena *arena,
                         struct assay__graph_geometry *out);

/** How often lines cross each other; SIZE_MAX: out of memory. */
size_t assay__graph_crossings(const struct assay__graph_layout *layout);

#endif
