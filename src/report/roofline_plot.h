/* roofline_plot.h - the picture of a roofline: operations per byte to the right, operations per second upwards, both by
 * decades; the roofs as lines, layers as letters. */
#ifndef ASSAY_REPORT_ROOFLINE_PLOT_H
#define ASSAY_REPORT_ROOFLINE_PLOT_H

#include "cost/roofline.h"
#include "report/page.h"

struct assay__roofline_point {
    char letter;
    const struct assay__roofline_layer *layer;
};

/** Whether a layer has a place in the picture: it computes and moves something, in numbers that a machine could have. */
bool assay__roofline_placeable(const struct assay__roofline_layer *layer);
/** Draws nothing when there are no points or no roofs. */
void assay__page_roofline(struct assay__page *page, const struct assay__roofline *roofline,
                          const struct assay__roofline_point *points, size_t count);

#endif
