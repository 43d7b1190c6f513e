/* render_options.h - the options of every command that ends in a report, and its report on stdout
 * or in a file. */
#ifndef ASSAY_CLI_RENDER_OPTIONS_H
#define ASSAY_CLI_RENDER_OPTIONS_H

#include "cli/cli.h"
#include "report/formats.h"

/** Rows for struct assay__render_options; AT(member) is the offset of a member of `render`. */
/* clang-format off */
#define ASSAY__RENDER_ROWS(formats, tables)                                                       \
    ASSAY__FORMAT_ROWS(formats),                                                                  \
    ASSAY__CHOICE_ROW("table", 0, render.table, "TABLE", "Table to write as CSV.", tables),       \
    ASSAY__TEXT_ROWS

#define ASSAY__FORMAT_ROWS(formats)                                                               \
    ASSAY__CHOICE_ROW("format", 'f', render.format, "FORMAT",                                     \
                      "Format of the report (default text).", formats),                           \
    ASSAY__FLAG_ROW("json", 0, render.json, "Print JSON; the same as --format json.")

/** The same for a command without a choice of formats. */
#define ASSAY__TEXT_ROWS                                                                          \
    ASSAY__INTEGER_ROW("top", render.top, "N",                                                    \
                       "Rows of long tables in text and Markdown (default 20; 0 shows all).", 0,  \
                       1e6),                                                                      \
    ASSAY__FLAG_ROW("full", 0, render.full, "Show every detail and every row in the text."),      \
    ASSAY__LOOK_ROWS

/** The same for a command that always shows every row. */
#define ASSAY__LOOK_ROWS                                                                          \
    ASSAY__INTEGER_ROW("columns", render.columns, "N",                                            \
                       "Width of the text (default: width of the terminal, or 80).", 40, 1000),   \
    ASSAY__FLAG_ROW("ascii", 0, render.ascii,                                                     \
                    "Use only ASCII characters (the default without a UTF-8 locale)."),           \
    ASSAY__FLAG_ROW("no-color", 0, render.no_color, "Do not use colours (NO_COLOR does the same).")
/* clang-format on */

/** --top 0 shows every row; without it the default of the format applies. */
void assay__render_top(const struct assay__invocation *invocation,
                       struct assay__render_options *options);
/** Options for a walker or writer. to_file: not for a terminal. */
struct assay_report_options assay__report_options_of(const struct assay__render_options *options,
                                                     bool to_file);
bool assay__wants_json(const struct assay__render_options *options);
/** Says on stderr which sizes were assumed (NULL or "": none) and how to specify them, unless the
 * format (NULL: text) already does: JSON is read by programs, stderr by people. */
void assay__say_assumed(const char *format, const char *assumed);
/** The document on stdout; NULL: what a JSON writer has put into `out`. Both are freed. The exit
 *  status. */
int assay__print_document(const struct assay__render_options *options, struct assay__doc *doc,
                          struct assay__buf *out);
/** The result of a command, as a document or as JSON, on stdout. The exit status. */
int assay__print_list(const char *command, const struct assay__render_options *options,
                      void (*json)(struct assay__buf *out),
                      int (*document)(struct assay__doc **doc));

#endif
