/* report.h - rendering a profile. A pure function of the profile: the same text on every
 * machine. */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include <assay/error.h>
#include <assay/profile.h>
#include <stdbool.h>
#include <stddef.h>

struct assay_report_options {
    size_t size;
    /* "text" | "json" | "csv" | "markdown" | "junit" | "html" | "model-explorer"; NULL: text */
    const char *format;
    int columns; /* text: width; 0: 80 */
    bool color, ascii;
    int top; /* layers shown in text and Markdown; 0: 20; -1: all */
    /* csv: "metrics", "layers", "operators", "launches", "samples", …: an unknown name is refused
     * with the list of all; NULL: the table that the profile's kind is about */
    const char *table;
    /* "basic": verdicts, score, three recommendations; "detailed": and bottlenecks, opportunities,
     * environment. Text, Markdown and HTML then show only this, JSON adds it, and the other formats
     * do not change. NULL: the whole profile */
    const char *detail;
    bool full;          /* text: also folded details and every row of every table */
    const char *unfold; /* text: last line if details were left out; NULL: none */
    /* What would provide a metric ("measure power"), appended to the reason why it is unavailable,
     * in text, Markdown and HTML; NULL, or NULL returned: nothing. */
    const char *(*hint)(const char *metric);
    const char *sort; /* for an inspection: "flops" | "bytes" | "memory"; NULL: flops */
    bool strict;      /* for a check, junit: warnings fail */
};

/** A new NUL-terminated string; assay_free it. */
ASSAY_API int assay_report(const struct assay_profile *profile,
                           const struct assay_report_options *options, char **text, size_t *length,
                           struct assay_error *error);
ASSAY_API void assay_free(void *memory);
/** One figure as SVG: "layers", "latency", "roofline", … (doc/charts.md); NULL: the main one of
 *  this kind of profile. ASSAY_ENOTFOUND with the reason when the profile has no data for it. *text
 *  is a new string: assay_free it. */
ASSAY_API int assay_report_figure(const struct assay_profile *profile, const char *name,
                                  char **text, size_t *length, struct assay_error *error);
/** Names of the formats; NULL past the end. */
ASSAY_API const char *assay_report_format(size_t index);

#endif
