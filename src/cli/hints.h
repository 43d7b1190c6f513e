/* hints.h - what the library names by concept, in the words of the command line: the flag of an
 * option that was refused, and what would make a metric known. */
#ifndef ASSAY_CLI_HINTS_H
#define ASSAY_CLI_HINTS_H

struct assay__option_hint {
    const char *option; /* member of the library's options (error.option) */
    const char *flag;   /* "--warmup" */
    const char *hint;   /* what else to say; NULL: nothing */
};

/** NULL: no flag sets it. option NULL legal. */
const struct assay__option_hint *assay__option_hint(const char *option);
/** What would make the metric known: "--power reads it"; NULL: nothing on the command line. For
 *  struct assay_report_options. */
const char *assay__metric_hint(const char *metric);

#endif
