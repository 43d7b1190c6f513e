/* report.c - the table of report formats (formats.h has the rows) and the public call. */
#include "base/options_read.h"
#include "report/formats.h"
#include "report/require.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ROW(name, function, extensions, summary) {name, extensions, summary, function},
static const struct assay__format formats[] = {ASSAY__FORMATS(ROW)};
#undef ROW

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

const struct assay__format *assay__format_at(size_t index)
{
    return index < FORMAT_COUNT ? &formats[index] : NULL;
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

void assay_free(void *memory)
{
    free(memory);
}

int assay_report(const struct assay_profile *profile, const struct assay_report_options *options,
                 char **text, size_t *length, struct assay_error *error)
{
    struct assay_report_options taken;
    if (!profile || !text) return assay_error_set(error, ASSAY_EINVAL, "no profile to report on");
    *text = NULL;
    int code = assay__options_read(options, &taken, sizeof taken, "report", error);
    if (code) return code;
    if (!assay__detail_is_known(taken.detail))
        return assay_error_set(error, ASSAY_EINVAL, "unknown detail '%s' of a report",
                               taken.detail);
    const char *format = taken.format ? taken.format : "text";
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        if (strcmp(format, formats[i].name) != 0) continue;
        struct assay__buf out = {0};
        assay__buf_puts(&out, ""); /* an empty report is still a string */
        code = formats[i].render(profile, &taken, &out, error);
        if (!code && out.failed)
            code = assay_error_set(error, ASSAY_ENOMEM, "out of memory while writing the report");
        if (code) {
            assay__buf_free(&out);
            return code;
        }
        if (length) *length = out.length;
        *text = out.data;
        return 0;
    }
    return assay_error_set(error, ASSAY_EINVAL, "unknown report format '%s'", format);
}
