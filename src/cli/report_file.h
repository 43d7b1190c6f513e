/* report_file.h - a report as a file: `--report FILE` of the commands that measure, and -o of
 * `assay report`; and one figure of a profile (`--svg`, `--chart`). */
#ifndef ASSAY_CLI_REPORT_FILE_H
#define ASSAY_CLI_REPORT_FILE_H

#include "cli/cli.h"
#include "judge/diff.h"

/** Whether the report can and may be written there; checked before anything is measured. `kept`:
 * path of the profile, or NULL. 0, or an exit status after one line on stderr. path NULL: nothing
 * is checked, 0. */
int assay__report_file_check(const char *command, const char *path, const char *kept);
/** Refuses a file name with an unknown extension: "page.pdf" would contain something else. 0, or
 *  ASSAY__EXIT_USAGE after one line on stderr; 0 for a name without an extension, and for NULL. */
int assay__report_file_ending(const char *command, const char *option, const char *path);
/** Writes the report of the profile: the extension chooses the format, else HTML; *.svg is a
 *  figure. All or nothing: an old file is replaced only when the new one is complete. Reports the
 *  path, unless quiet. 0, or an exit status after one line on stderr. path NULL: does nothing,
 *  0. */
int assay__report_file_write(const struct assay_profile *profile,
                             const struct assay__render_options *options, const char *path,
                             bool quiet);
/** True if the file exists and is a profile or another database. */
bool assay__report_file_is_database(const char *path);

/** Both exist and are the same file. */
bool assay__same_file(const char *a, const char *b);
/** Also files that do not exist yet: "x" and "./x". */
bool assay__same_place(const char *a, const char *b);

#define ASSAY__FIGURE_NAMES                                                                     \
    "strip|card|layers|treemap|graph|roofline|latency|cdf|samples|tokens|memory|power|compare|" \
    "devices|sweep|heat|pareto|spread|waterfall|strips|flame"

/** The figure into `out`: as SVG, or as text if `render` is given (its width and characters). 0, or
 *  a negative code: ASSAY_ENOTFOUND with the reason if the profile has no data for it. */
int assay__report_figure_show(const struct assay_profile *profile, const char *name,
                              const struct assay__render_options *render, bool to_file,
                              struct assay__buf *out, struct assay_error *error);
/** The same for several profiles side by side. */
int assay__report_diff_figure_show(const struct assay__diff *diff, const char *name,
                                   const struct assay__render_options *render, bool to_file,
                                   struct assay__buf *out, struct assay_error *error);

#endif
