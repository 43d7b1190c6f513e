/* formats.h - the formats of a report. Adding one is a file with its function and a row here: the
 * choices of --format, help, completion, the manual, `assay report --list` and what a file's name
 * means follow from it. */
#ifndef ASSAY_REPORT_FORMATS_H
#define ASSAY_REPORT_FORMATS_H

#include "report/render.h"

/* X(name, function, extensions separated by blanks, what it is). Where two formats share an
 * extension it stands for the first. */
#define ASSAY__FORMATS(X)                                                               \
    X("text", assay__report_text, "txt", "for the terminal")                            \
    X("json", assay__report_json, "json", "everything, for programs")                   \
    X("csv", assay__report_csv, "csv", "one table, a row per metric (--table: others)") \
    X("markdown", assay__report_markdown, "md markdown", "for pull requests and notes") \
    X("junit", assay__report_junit, "xml", "trials and requirements, for CI servers")   \
    X("html", assay__report_html, "html htm", "one page with figures, nothing fetched") \
    X("model-explorer", assay__report_model_explorer, "json",                           \
      "layer times for the Model Explorer viewer")

#define ASSAY__FORMAT_DECLARE(name, function, extensions, summary) assay__report_fn function;
ASSAY__FORMATS(ASSAY__FORMAT_DECLARE)

#define ASSAY__FORMAT_BAR(name, function, extensions, summary) "|" name
/* "text|json|…": a constant expression, for tables of options */
#define ASSAY__FORMAT_NAMES (&(ASSAY__FORMATS(ASSAY__FORMAT_BAR))[1])

/* Tables of the CSV format. */
#define ASSAY__TABLE_NAMES                                                                    \
    "metrics|layers|layer-times|peak|steps|groups|launches|samples|series|spans|allocations|" \
    "counters|"                                                                               \
    "ceilings|sweep|comparison|tune"

struct assay__format {
    const char *name, *extensions, *summary;
    assay__report_fn *render;
};

/** NULL past the end. */
const struct assay__format *assay__format_at(size_t index);
/** What a file of that name is, by what it ends in, in capitals or not; NULL: nothing of ours. */
const struct assay__format *assay__format_of_path(const char *path);
/** What follows the last dot of the last part of a path; NULL: none, or the name is only that
 *  (".json"). */
const char *assay__path_extension(const char *path);
/** A figure: its name ends in .svg. */
bool assay__path_is_svg(const char *path);

#endif
