/* several.c - the report of several profiles: a view of its document, or JSON. */
#include "report/report_diff.h"

#include "report/formats.h"

#include <string.h>

/* The page carries the JSON for its script and for the download. */
static int attach(struct assay__doc *doc, const struct assay__diff *diff,
                  const struct assay_report_options *options, struct assay_error *error)
{
    struct assay__attachment *data = &doc->attachments[doc->attachment_count++];
    data->id = "assay-data";
    return assay__diff_json(diff, options, &data->json, error);
}

int assay__diff_report(const struct assay__diff *diff, const struct assay_report_options *options,
                       struct assay__buf *out, struct assay_error *error)
{
    const char *name = options->format ? options->format : "text";
    const struct assay__format *format = assay__format_find(name);
    struct assay__doc *doc = NULL;
    int code = 0;
    if (strcmp(name, "json") == 0) return assay__diff_json(diff, options, out, error);
    if (!format || !format->walk)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the format '%s' is not available for several profiles", name);
    code = assay__diff_document(diff, &doc);
    if (!code && strcmp(name, "html") == 0) code = attach(doc, diff, options, error);
    if (!code) code = format->walk(doc, options, out, error);
    if (code == ASSAY_ENOMEM || (!code && (out->failed || doc->failed)))
        code = assay_error_set(error, ASSAY_ENOMEM, "out of memory while writing the report");
    assay__doc_free(doc);
    return code;
}
