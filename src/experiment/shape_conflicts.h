/* shape_conflicts.h - given shapes that contradict a batch, a sequence or a model are refused
 * before anything runs: by sweep and tune at every point, by compare for every model. */
#ifndef ASSAY_EXPERIMENT_SHAPE_CONFLICTS_H
#define ASSAY_EXPERIMENT_SHAPE_CONFLICTS_H

#include "experiment/config_space.h"

/** Checks every batch and sequence of the space with the run's shapes. ASSAY_EINVAL for "shapes"
 * names the point. */
int assay__space_shapes_check(const struct assay__config_space *space,
                              const struct assay__run_options *run, struct assay_error *error);
/** Checks the run's shapes with one model; a model that cannot be read is left to the run.
 * ASSAY_EINVAL for "shapes" names `label`. */
int assay__model_shapes_check(const struct assay__run_options *run, const char *model,
                              const char *label, struct assay_error *error);

#endif
