/* sweep_matrix.c - what the configuration matrix of the NCP guides asks of a point: was the graph
 * optimised, is the device an accelerator. */
#include "judge/sweep.h"

#include "run/builds.h"

#include <stdint.h>
#include <string.h>

const char *assay__sweep_compiled(const struct assay__sweep *sweep, size_t point)
{
    size_t axis = assay__sweep_axis(sweep, "opt");
    if (axis == SIZE_MAX) return "yes";
    return strcmp(sweep->points[point].values[axis], "none") == 0 ? "no" : "yes";
}

const char *assay__sweep_accelerated(const struct assay__sweep_point *point)
{
    if (!*point->device_class)
        return !*point->device || !point->judged.usable ? "?"
               : assay__build_on_cpu(point->device)     ? "no"
                                                        : "yes";
    return strcmp(point->device_class, "cpu") == 0 ? "no" : "yes";
}
