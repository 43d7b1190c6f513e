/* run_ceilings.h - the ceilings of a run's device, for its profile: from the user's file, or
 * measured if the options request it. */
#ifndef ASSAY_EXPERIMENT_RUN_CEILINGS_H
#define ASSAY_EXPERIMENT_RUN_CEILINGS_H

#include "base/arena.h"
#include "run/run_options.h"

/** Sets options->ceilings (in the arena) for these devices: the saved ones and, with
 * keeping.ceilings, those that can be measured. NULL among the devices is the default one; no
 * devices at all: that of the options. A device without ceilings is not a failure: the profile says
 * so, and so does a message if measuring was requested. 0, ASSAY_ENOMEM or ASSAY_EINTERRUPTED. */
int assay__run_ceilings(struct assay__arena *arena, const char *const *devices, size_t count,
                        struct assay__run_options *options, struct assay_error *error);

#endif
