/* render.c - a profile on stdout or into a file, for the commands that end in a report. */
#include "cli/cli.h"

#include <assay/report.h>
#include <stdlib.h>
#include <strings.h>

/* What the locale's variables say of the character set, in their order of precedence; none set is the POSIX locale. Read
 * here rather than through setlocale: a locale that is not installed may still be what the terminal shows. */
bool assay__locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value) continue;
        for (const char *c = value; *c; c++)
            if (strncasecmp(c, "utf-8", 5) == 0 || strncasecmp(c, "utf8", 4) == 0) return true;
        return false;
    }
    return false;
}

int assay__render(const struct assay_profile *profile, const struct assay__render_options *options,
                  bool to_file, struct assay__buf *out, struct assay_error *error)
{
    struct assay_report_options report = {.size = sizeof report};
    report.format = options->json ? "json" : options->format;
    report.table = options->table;
    report.detail = options->detail;
    report.ascii = options->ascii || (!to_file && !assay__locale_is_utf8());
    report.color = !to_file && !options->no_color && assay__stdout_color();
    report.columns = options->columns ? (int)options->columns
                     : to_file        ? 80
                                      : assay__stdout_columns();
    if (!options->columns && report.columns > 120)
        report.columns = 120; /* longer lines read worse */
    report.top = (int)options->top;
    char *text = NULL;
    size_t length = 0;
    int code = assay_report(profile, &report, &text, &length, error);
    if (code) return code;
    assay__buf_add(out, text, length);
    assay_free(text);
    return out->failed ? assay_error_set(error, ASSAY_ENOMEM, "out of memory") : 0;
}
