/* report_file.h - a report as a file: `--report FILE` of the commands that measure, and -o of
 * `assay report`; and one figure of a profile (`--svg`, `--chart`). */
#ifndef ASSAY_CLI_REPORT_FILE_H
#define ASSAY_CLI_REPORT_FILE_H

#include "cli/cli.h"

/** Can the report be written there, and may it? Asked before anything is measured. `kept`: where
 *  the profile goes, or NULL. 0, or an exit status after one line on stderr. path NULL: nothing is
 *  asked, 0. */
int assay__report_file_check(const char *command, const char *path, const char *kept);
/** Refuses a file name whose ending names no format: "page.pdf" would hold something
 *  else. 0, or ASSAY__EXIT_USAGE after one line on stderr; a name without an ending, and NULL:
 *  0. */
int assay__report_file_ending(const char *command, const char *option, const char *path);
/** Writes the report of the profile: the format is what the file's name ends in, else HTML; *.svg
 *  is a figure. All or nothing: an old file is replaced only when the new one is complete. Says
 * where it is, unless quiet. 0, or an exit status after one line on stderr. path NULL: does
 * nothing, 0. */
int assay__report_file_write(const struct assay_profile *profile,
                             const struct assay__render_options *options, const char *path,
                             bool quiet);
/** The figure that a file *.svg shows when none was named: the one it is called after, else what
 *  the command is about. */
const char *assay__report_figure_of(const struct assay_profile *profile, const char *path);
/** True when a file is there that is a profile or another database. */
bool assay__report_file_is_database(const char *path);

/** Both exist and are one file. */
bool assay__same_file(const char *a, const char *b);

#define ASSAY__FIGURE_NAMES \
    "layers|treemap|roofline|latency|samples|memory|power|compare|devices|sweep|pareto"

/** The figure into `out`: as SVG, or as text when `render` is given (its width and characters). 0,
 *  or a negative code: ASSAY_ENOTFOUND with the reason when the profile does not have it. */
int assay__report_figure(const struct assay_profile *profile, const char *name,
                         const struct assay__render_options *render, bool to_file,
                         struct assay__buf *out, struct assay_error *error);

#endif
