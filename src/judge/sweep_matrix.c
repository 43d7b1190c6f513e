/* sweep_matrix.c - what the configuration matrix of the NCP guides asks of a point: was the graph
 * optimised, is the device an accelerator. */
#include "judge/sweep.h"

#include <stdint.h>
#include <string.h>

const char *assay__sweep_compiled(const struct assay__sweep *sweep, size_t point)
{
    size_t axis = assay__sweep_axis(sweep, ASSAY__AXIS_OPT);
    if (axis == SIZE_MAX) return "yes";
    return strcmp(sweep->points[point].values[axis], "none") == 0 ? "no" : "yes";
}

const char *assay__sweep_accelerated(const struct assay__sweep_point *point)
{
    if (point->device_class == ASSAY__CLASS_UNKNOWN) return "?";
    return point->device_class == ASSAY__CLASS_CPU ? "no" : "yes";
}
