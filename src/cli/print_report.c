/* print_report.c - a profile on stdout or into a file, for the commands that end in a report. */
#include "cli/render_options.h"

#include <assay/report.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The character set according to the locale variables, in their order of precedence; none set is
 * the POSIX locale. Read here rather than through setlocale: a locale that is not installed may
 * still be what the terminal uses. */
static bool locale_is_utf8(void)
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

int assay__render_check(const char *command, const struct assay__render_options *options)
{
    const char *format = options->json ? "json" : options->format ? options->format : "text";
    if (options->json && options->format && strcmp(options->format, "json") != 0)
        assay__say("%s: --json and --format %s cannot be used together", command, options->format);
    else if (options->table && strcmp(format, "csv") != 0)
        assay__say("%s: --table requires --format csv", command);
    else if (options->detail && !assay__format_find(format)->walk && strcmp(format, "json") != 0)
        assay__say(
            "%s: --detail applies to text, pages, Markdown and JSON; %s is always the full report",
            command, format);
    else
        return 0;
    return ASSAY__EXIT_USAGE;
}

void assay__render_top(const struct assay__invocation *invocation,
                       struct assay__render_options *options)
{
    if (assay__option_given(invocation, "top") && options->top == 0) options->top = -1;
}

struct assay_report_options assay__report_options_of(const struct assay__render_options *options,
                                                     bool to_file)
{
    int columns = to_file ? 80 : assay__stdout_columns();
    if (columns > 120) columns = 120; /* longer lines are harder to read */
    if (options->columns) columns = (int)options->columns;
    return (struct assay_report_options){.size = sizeof(struct assay_report_options),
                                         .format = options->json ? "json" : options->format,
                                         .table = options->table,
                                         .detail = options->detail,
                                         .ascii = options->ascii || (!to_file && !locale_is_utf8()),
                                         .color = !to_file && !options->no_color &&
                                                  assay__stdout_color(),
                                         .columns = columns,
                                         .top = (int)options->top,
                                         .full = options->full,
                                         .hint = assay__metric_hint,
                                         .unfold = "details are folded: --full shows them"};
}

bool assay__wants_json(const struct assay__render_options *options)
{
    return options->json || (options->format && strcmp(options->format, "json") == 0);
}

void assay__say_assumed(const char *format, const char *assumed)
{
    if (format && strcmp(format, "text") != 0 && assumed && *assumed)
        assay__say("assumed %s; to change it: %s", assumed, assay__metric_hint("assumed"));
}

int assay__print_document(const struct assay__render_options *options, struct assay__doc *doc,
                          struct assay__buf *out)
{
    struct assay_report_options wanted = assay__report_options_of(options, false);
    struct assay_error error = {0};
    int code = doc ? assay__doc_view(doc, &wanted, out, &error) : 0;
    assay__doc_free(doc);
    if (!code) return assay__print(out);
    assay__buf_free(out);
    return assay__fail(code, &error);
}

int assay__print_list(const char *command, const struct assay__render_options *options,
                      void (*json)(struct assay__buf *out),
                      int (*document)(struct assay__doc **doc))
{
    struct assay__buf out = {0};
    struct assay__doc *doc = NULL;
    int status = assay__render_check(command, options);
    if (status) return status;
    if (assay__wants_json(options))
        json(&out);
    else if (document(&doc))
        out.failed = true;
    return assay__print_document(options, doc, &out);
}

int assay__render(const struct assay_profile *profile, const struct assay__render_options *options,
                  bool to_file, struct assay__buf *out, struct assay_error *error)
{
    struct assay_report_options report = assay__report_options_of(options, to_file);
    char *text = NULL;
    size_t length = 0;
    int code = assay_report(profile, &report, &text, &length, error);
    if (code) return code;
    assay__buf_add(out, text, length);
    assay_free(text);
    return out->failed ? assay_error_set(error, ASSAY_ENOMEM, "out of memory") : 0;
}
