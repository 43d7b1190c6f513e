/* grid.h - the lists and goals of a caller (assay/sweep.h) as a space of configurations and a plan:
 * shared by sweep and tune before they measure. */
#ifndef ASSAY_EXPERIMENT_GRID_H
#define ASSAY_EXPERIMENT_GRID_H

#include "experiment/config_space.h"
#include "experiment/device_selection.h"

#include <assay/sweep.h>

#define ASSAY__GRID_POINTS 400 /* at most */

/** The goal as a plan; `otherwise`: used if none is given. ASSAY_EINVAL: an invalid limit. */
int assay__goal_read(const struct assay_goal_options *goal, const char *otherwise,
                     struct assay__plan *plan, struct assay_error *error);
/** The devices in the list, or without one the run's own device: searched for unless that is a CPU.
 *  *words is empty without a list; *software: the only device is emulated. */
int assay__grid_devices(const struct assay__run_options *run, const char *list,
                        struct assay__arena *arena, struct assay__device_selection *words,
                        bool *software, struct assay_error *error);
/** Reads the lists into the space; `devices`: in place of those of the grid. */
int assay__grid_read(struct assay__config_space *space, const struct assay_grid_options *grid,
                     const char *devices, struct assay_error *error);
/** Puts the known ceilings of every device of the space that is not refused (by value; NULL or "":
 *  it can be used) into the run options. */
int assay__grid_ceilings(const struct assay__config_space *space, const char *const *refusals,
                         struct assay__run_options *run, struct assay_error *error);

#endif
