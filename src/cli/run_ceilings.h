/* run_ceilings.h - what the device of a run can do at most, for its profile: from the user's file,
 * or measured when --ceilings asks. */
#ifndef ASSAY_CLI_RUN_CEILINGS_H
#define ASSAY_CLI_RUN_CEILINGS_H

#include "base/arena.h"
#include "cli/cli.h"

#include <assay/run.h>

/** Sets options->ceilings (in the arena) when they are kept for the device, or `measure` and they
 *  could be measured. A device without them is no failure: the profile says so. 0, or an exit
 *  status after it was said. */
int assay__run_ceilings(struct assay__arena *arena, bool measure, struct assay__bar *bar,
                        struct assay_run_options *options);
/** The same of several devices, all in options->ceilings; a NULL among them is the default
 *  device. */
int assay__run_ceilings_of(struct assay__arena *arena, bool measure, struct assay__bar *bar,
                           const char *const *devices, size_t count,
                           struct assay_run_options *options);

#endif
