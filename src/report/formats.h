/* formats.h - the formats of a report. To add one, write a file with its function and add a row
 * here: the choices of --format, help, completion, the manual, `assay report --list` and the
 * meaning of a file's extension follow from it.
 *
 * A walker (report/walk) is a view of the document, whatever that is about. A writer is a contract
 * with programs and has its own shape. */
#ifndef ASSAY_REPORT_FORMATS_H
#define ASSAY_REPORT_FORMATS_H

#include "judge/study.h"
#include "report/walk/walk.h"

typedef int assay__write_fn(struct assay__study *study, const struct assay_report_options *options,
                            struct assay__buf *out, struct assay_error *error);

/* X(WALK or WRITE, name, the function's name after assay__walk_ or assay__write_, extensions
 * separated by blanks, what it is). An extension shared by two formats means the first. */
#define ASSAY__FORMATS(X)                                                       \
    X(WALK, "text", text, "txt", "for the terminal")                            \
    X(WRITE, "json", json, "json", "everything, for programs")                  \
    X(WALK, "csv", csv, "csv", "one table, by default a row per metric")        \
    X(WALK, "markdown", markdown, "md markdown", "for pull requests and notes") \
    X(WRITE, "junit", junit, "xml", "trials and requirements, for CI servers")  \
    X(WALK, "html", html, "html htm", "a self-contained page with figures")     \
    X(WRITE, "model-explorer", model_explorer, "json", "layer times for the Model Explorer viewer")

#define ASSAY__DECLARE_WALK(function) assay__walk_fn assay__walk_##function;
#define ASSAY__DECLARE_WRITE(function) assay__write_fn assay__write_##function;
#define ASSAY__FORMAT_DECLARE(kind, name, function, extensions, summary) \
    ASSAY__DECLARE_##kind(function)
ASSAY__FORMATS(ASSAY__FORMAT_DECLARE)

#define ASSAY__FORMAT_BAR(kind, name, function, extensions, summary) "|" name
/* "text|json|…": a constant expression, for tables of options */
#define ASSAY__FORMAT_NAMES (&(ASSAY__FORMATS(ASSAY__FORMAT_BAR))[1])

#define ASSAY__VIEW_BAR_WALK(name) "|" name
#define ASSAY__VIEW_BAR_WRITE(name) ""
#define ASSAY__VIEW_BAR(kind, name, function, extensions, summary) ASSAY__VIEW_BAR_##kind(name)
/* "text|csv|…": the views that any document has, with the writers of its command ("|json|dot") */
#define ASSAY__VIEW_NAMES_AND(writers) (&(ASSAY__FORMATS(ASSAY__VIEW_BAR) writers)[1])

struct assay__format {
    const char *name, *extensions, *summary;
    assay__walk_fn *walk;   /* NULL: it has a writer */
    assay__write_fn *write; /* NULL: it is a view of the document */
};

/** NULL past the end. */
const struct assay__format *assay__format_at(size_t index);
/** NULL: there is none of that name. */
const struct assay__format *assay__format_find(const char *name);
/** A document in the view options->format names (NULL: text). 0 or a negative code. */
int assay__doc_view(const struct assay__doc *doc, const struct assay_report_options *options,
                    struct assay__buf *out, struct assay_error *error);
/** The formats, and the figures of a profile: a document (0 or ASSAY_ENOMEM), and JSON. */
int assay__formats_document(struct assay__doc **doc);
void assay__formats_json(struct assay__buf *out);
/** The format of a file by its extension, ignoring case; NULL: none of ours. */
const struct assay__format *assay__format_of_path(const char *path);
/** What follows the last dot of the last part of a path; NULL: none, or the name is nothing else
 * (".json"). */
const char *assay__path_extension(const char *path);
/** A figure: its name ends in .svg. */
bool assay__path_is_svg(const char *path);

#endif
