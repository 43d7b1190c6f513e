/* report_figure.h - one figure of a profile, or of several side by side, by itself: as SVG or as
 * text. */
#ifndef ASSAY_REPORT_REPORT_FIGURE_H
#define ASSAY_REPORT_REPORT_FIGURE_H

#include "base/buf.h"
#include "judge/diff.h"

#include <assay/report.h>

/** The figure that a file *.svg shows if none was requested: the one it is named after, else the
 *  main figure of that kind of profile. path NULL: the main one. */
const char *assay__report_figure_of(const struct assay_profile *profile, const char *path);
/** The figure into `out`: as SVG, or as text if `view` is given. *left_out: trials that have one,
 *  too, but are not drawn. 0, or a negative code: ASSAY_ENOTFOUND with the reason if the profile
 *  has no data for it. */
int assay__report_figure(const struct assay_profile *profile, const char *name,
                         const struct assay_report_options *view, struct assay__buf *out,
                         size_t *left_out, struct assay_error *error);
/** The same for several profiles side by side. */
int assay__report_diff_figure(const struct assay__diff *diff, const char *name,
                              const struct assay_report_options *view, struct assay__buf *out,
                              struct assay_error *error);

#endif
