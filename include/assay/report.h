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
    /* csv: "metrics" | "operators" | "layers" | "layer-times" | "peak" | "steps" | "groups" |
     * "launches" | "samples" | "series" | "spans" | "allocations" | "counters" | "ceilings" |
     * "sweep" | "comparison" | "tune" | "findings" | "requirements" | "bench"; NULL: metrics */
    const char *table;
    /* "basic": verdicts, score, three recommendations; "detailed": and bottlenecks, opportunities,
     * environment. Text, Markdown and HTML then show only this, JSON adds it, the other formats
     * have one form. NULL: the whole profile */
    const char *detail;
    bool full;          /* text: folded details and every row of every table too */
    const char *unfold; /* text: the last line where details were left out; NULL: none */
    /* What would make a metric known ("measure power"), appended to the reason where it is not, in
     * the formats for people; NULL, or NULL returned: nothing. */
    const char *(*hint)(const char *metric);
    const char *sort; /* of an inspection: "flops" | "bytes" | "memory"; NULL: flops */
    bool strict;      /* of a check, junit: a warning fails */
};

/** A fresh NUL-terminated string; assay_free it. */
ASSAY_API int assay_report(const struct assay_profile *profile,
                           const struct assay_report_options *options, char **text, size_t *length,
                           struct assay_error *error);
ASSAY_API void assay_free(void *memory);
/** Names of the formats; NULL past the end. */
ASSAY_API const char *assay_report_format(size_t index);

#endif
