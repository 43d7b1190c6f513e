/* report_figure.h - `assay report --svg NAME` and `--chart NAME`: one figure of a profile. */
#ifndef ASSAY_CLI_REPORT_FIGURE_H
#define ASSAY_CLI_REPORT_FIGURE_H

#include "cli/cli.h"

#define ASSAY__FIGURE_NAMES \
    "layers|treemap|roofline|latency|samples|memory|power|compare|devices|sweep|pareto"

/** The figure into `out`: as SVG, or as text when `render` is given (its width and characters). 0,
 *  or a negative code: ASSAY_ENOTFOUND with the reason when the profile does not have it. */
int assay__report_figure(const struct assay_profile *profile, const char *name,
                         const struct assay__render_options *render, bool to_file,
                         struct assay__buf *out, struct assay_error *error);

#endif
