/* run_ceilings.h - the ceilings of a run's device, for its profile: from the user's file, or
 * measured when the options ask for it. */
#ifndef ASSAY_EXPERIMENT_RUN_CEILINGS_H
#define ASSAY_EXPERIMENT_RUN_CEILINGS_H

#include "base/arena.h"
#include "run/run_options.h"

/** Sets options->ceilings (in the arena) of these devices: those that are kept and, with
 *  keeping.ceilings, those that can be measured. NULL among the devices is the default one; no
 *  devices at all: that of the options. A device without them is no failure: the profile says so,
 *  and a remark when measuring was asked for. 0, ASSAY_ENOMEM or ASSAY_EINTERRUPTED. */
int assay__run_ceilings(struct assay__arena *arena, const char *const *devices, size_t count,
                        struct assay__run_options *options, struct assay_error *error);

#endif
