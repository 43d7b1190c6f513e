/* report_several.h - `assay report` with several profiles: what differs between them
 * (doc/report-diff.md). */
#ifndef ASSAY_CLI_REPORT_SEVERAL_H
#define ASSAY_CLI_REPORT_SEVERAL_H

#include "cli/cli.h"

/** Reads the invocation's profiles and writes their difference to `output`, or to stdout when NULL.
 *  `trials`: of --trial, none, one for all, or one for each. The exit status, after one line on
 *  stderr when it is not 0. */
int assay__report_diff(const struct assay__invocation *invocation,
                       const struct assay__render_options *render,
                       const struct assay__option_list *trials, const char *output);

#endif
