/* graph_work.h - between graph_layout.c (rows and order) and graph_place.c (centres and columns).
 */
#ifndef ASSAY_REPORT_FIGURE_GRAPH_WORK_H
#define ASSAY_REPORT_FIGURE_GRAPH_WORK_H

#include "report/figure/graph_layout.h"

/** The places that a place is connected to: [0] in the row above, [1] in the row below; for place i
 * they are near[first[i]] … near[first[i + 1] - 1]. */
struct assay__graph_lists {
    size_t *first[2];
    int *near[2];
};

/** Centres of all places. False: out of memory. */
bool assay__graph_centre(struct assay__graph_layout *layout, const struct assay__graph_lists *lists,
                         struct assay__arena *scratch);
/** Breaks the rows into columns. False: out of memory. */
bool assay__graph_columns(struct assay__graph_layout *layout, const struct assay__graph_size *sizes,
                          struct assay__graph_size view, struct assay__arena *arena,
                          struct assay__arena *scratch);

#endif
