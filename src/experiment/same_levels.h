/* same_levels.h - which levels of graph optimisation give the same graph: these are one setting. */
#ifndef ASSAY_EXPERIMENT_SAME_LEVELS_H
#define ASSAY_EXPERIMENT_SAME_LEVELS_H

#include "experiment/config_space.h"

struct assay__same_levels {
    /* by precision, by level: the level that stands for it, which is itself where its graph is its
     * own or is not known */
    size_t as[ASSAY__CONFIG_VALUES][ASSAY__CONFIG_VALUES];
};

/** Every level stands for itself. */
void assay__same_levels_start(struct assay__same_levels *same);
/** Asks the engine, in processes of their own, for the optimised graph of `path` at every level of
 *  the space, that of value `first` first, and compares fingerprints; a level that it cannot make
 *  stands for itself. Stops when `budget_s` is spent. 0 or ASSAY_EINTERRUPTED. */
int assay__same_levels_find(struct assay__same_levels *same,
                            const struct assay__config_space *space, size_t precision,
                            const char *path, const struct assay__run_options *run, size_t first,
                            double budget_s);

#endif
