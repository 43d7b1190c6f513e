/* several.c - the report of several profiles. */
#include "report/report_diff.h"

#include <string.h>

int assay__diff_report(const struct assay__diff *diff, const struct assay_report_options *options,
                       struct assay__buf *out, struct assay_error *error)
{
    if (options->format && strcmp(options->format, "json") == 0)
        return assay__diff_json(diff, options, out, error);
    return assay_error_set(error, ASSAY_EUNSUPPORTED, "not a document yet");
}
