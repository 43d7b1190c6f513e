/* report.c - the table of report formats (formats.h has the rows), the public call, and the report
 * of several profiles. */
#include "base/options_read.h"
#include "report/formats.h"
#include "report/report_diff.h"
#include "report/report_explain.h"
#include "report/report_record.h"
#include "report/subject/subject.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WALK_ROW(function) .walk = assay__walk_##function
#define WRITE_ROW(function) .write = assay__write_##function
#define ROW(kind, name_, function, extensions_, summary_) \
    {.name = name_, .extensions = extensions_, .summary = summary_, kind##_ROW(function)},
static const struct assay__format formats[] = {ASSAY__FORMATS(ROW)};
#undef ROW
#undef WALK_ROW
#undef WRITE_ROW

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

const struct assay__format *assay__format_at(size_t index)
{
    return index < FORMAT_COUNT ? &formats[index] : NULL;
}

const struct assay__format *assay__format_find(const char *name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (strcmp(name, formats[i].name) == 0) return &formats[i];
    return NULL;
}

const char *assay_report_format(size_t index)
{
    return index < FORMAT_COUNT ? formats[index].name : NULL;
}

const char *assay__path_extension(const char *path)
{
    const char *name = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && dot > name && dot[1] ? dot + 1 : NULL;
}

bool assay__path_is_svg(const char *path)
{
    const char *extension = assay__path_extension(path);
    return extension && strcasecmp(extension, "svg") == 0;
}

const struct assay__format *assay__format_of_path(const char *path)
{
    const char *wanted = assay__path_extension(path);
    for (size_t i = 0; wanted && i < FORMAT_COUNT; i++)
        for (const char *at = formats[i].extensions; *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            if (strlen(wanted) == length && strncasecmp(at, wanted, length) == 0)
                return &formats[i];
            at += length;
        }
    return NULL;
}

int assay__doc_view(const struct assay__doc *doc, const struct assay_report_options *options,
                    struct assay__buf *out, struct assay_error *error)
{
    const char *name = options->format ? options->format : "text";
    const struct assay__format *format = assay__format_find(name);
    if (!format || !format->walk)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the format '%s' is not available for this report", name);
    int code = doc->failed ? ASSAY_ENOMEM : format->walk(doc, options, out, error);
    if (code == ASSAY_ENOMEM || out->failed)
        return assay_error_set(error, ASSAY_ENOMEM, "out of memory while writing the report");
    return code;
}

void assay_free(void *memory)
{
    free(memory);
}

int assay_report(const struct assay_profile *profile, const struct assay_report_options *options,
                 char **text, size_t *length, struct assay_error *error)
{
    struct assay_report_options taken;
    struct assay__study *study = NULL;
    struct assay__buf out = {0};
    if (!profile || !text) return assay_error_set(error, ASSAY_EINVAL, "no profile to report on");
    *text = NULL;
    int code = assay__options_read(options, &taken, sizeof taken, "report", error);
    if (code) return code;
    if (!assay__detail_is_known(taken.detail))
        return assay__refuse_option(error, "detail", "unknown level of detail '%s'", taken.detail);
    if (!taken.format) taken.format = "text";
    const struct assay__format *format = assay__format_find(taken.format);
    if (!format)
        return assay__refuse_option(error, "format", "unknown report format '%s'", taken.format);
    assay__buf_puts(&out, ""); /* an empty report is still a string */
    bool timeline = profile->kind == ASSAY__PROFILE_EXPLAIN;
    code = timeline ? assay__explain_profile_report(profile->path, &taken, &out, error)
                    : assay__study_new(profile, &study);
    if (timeline) {
        /* it has a document of its own */
    } else if (!code && format->walk) {
        struct assay__doc *doc;
        code = profile->kind == ASSAY__PROFILE_WATCH
                   ? assay__record_document(study, &doc)
                   : assay__report_document(study, &taken, &doc, error);
        if (!code) code = assay__doc_view(doc, &taken, &out, error);
        assay__doc_free(doc);
    } else if (!code) {
        code = format->write(study, &taken, &out, error);
    }
    if (code == ASSAY_ENOMEM || (!code && (out.failed || (study && study->failed))))
        code = assay_error_set(error, ASSAY_ENOMEM, "out of memory while writing the report");
    assay__study_free(study);
    if (code) {
        assay__buf_free(&out);
        return code;
    }
    if (length) *length = out.length;
    *text = out.data;
    return 0;
}

int assay__diff_report(const struct assay__diff *diff, const struct assay_report_options *options,
                       struct assay__buf *out, struct assay_error *error)
{
    const char *name = options->format ? options->format : "text";
    const struct assay__format *format = assay__format_find(name);
    struct assay__doc *doc = NULL;
    if (strcmp(name, "json") == 0) return assay__diff_json(diff, options, out, error);
    if (!format || !format->walk)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the format '%s' is not available for several profiles", name);
    int code = assay__diff_document(diff, &doc);
    if (!code && strcmp(name, "html") == 0) { /* the page carries the JSON for its script */
        struct assay__attachment *data = &doc->attachments[doc->attachment_count++];
        data->id = "assay-data";
        code = assay__diff_json(diff, options, &data->json, error);
    }
    if (!code) code = format->walk(doc, options, out, error);
    if (code == ASSAY_ENOMEM || (!code && (out->failed || doc->failed)))
        code = assay_error_set(error, ASSAY_ENOMEM, "out of memory while writing the report");
    assay__doc_free(doc);
    return code;
}
