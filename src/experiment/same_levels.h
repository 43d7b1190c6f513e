/* same_levels.h - which levels of graph optimisation give the same graph and so are one setting. */
#ifndef ASSAY_EXPERIMENT_SAME_LEVELS_H
#define ASSAY_EXPERIMENT_SAME_LEVELS_H

#include "experiment/config_space.h"

struct assay__same_levels {
    /* by precision and level: the level that represents it, which is itself if its graph is unique
     * or unknown */
    size_t as[ASSAY__CONFIG_VALUES][ASSAY__CONFIG_VALUES];
};

/** Every level stands for itself. */
void assay__same_levels_start(struct assay__same_levels *same);
/** Asks the engine, in separate processes, for the optimised graph of `path` at every level of the
 * space, starting with value `first`, and compares fingerprints; a level that fails represents
 * itself. Stops when `budget_s` is spent. 0 or ASSAY_EINTERRUPTED. */
int assay__same_levels_find(struct assay__same_levels *same,
                            const struct assay__config_space *space, size_t precision,
                            const char *path, const struct assay__run_options *run, size_t first,
                            double budget_s);

#endif
