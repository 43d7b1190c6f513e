/* require_option.h - shared by `run` and `report` to check against a requirement table
 * (doc/requirements.md). */
#ifndef ASSAY_CLI_REQUIRE_OPTION_H
#define ASSAY_CLI_REQUIRE_OPTION_H

#include "judge/require.h"
#include "cli/cli.h"

/** The table given by --require, in a new *arena. 0, or the exit status after one line on stderr
 *  (then there is no arena). */
int assay__require_option(const char *command, const char *name, struct assay__arena **arena,
                          const struct assay__require_table **table);
/** An assay_conclude_fn; context is the table. */
int assay__require_conclude(void *context, struct assay_profile *profile, size_t trial);
/** The exit status according to the tables of the trials, with a message on stderr if it is not 0:
 *  a minimum that is not met is ASSAY__EXIT_NO, one that cannot be judged
 *  ASSAY__EXIT_NO_VERDICT. */
int assay__require_status(const struct assay_profile *profile);

#endif
