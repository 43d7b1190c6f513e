/* cmd_report.c - assay report: render a kept profile. The same text on every machine. */
#include "base/file.h"
#include "cli/cli.h"
#include "cli/report_diff.h"
#include "cli/report_figure.h"
#include "cli/require.h"
#include "run/recover.h"

#include <assay/profile.h>
#include <assay/report.h>
#include <string.h>
#include <strings.h>

struct report_options {
    const char *output, *require, *svg, *chart;
    struct assay__option_list trials;
    struct assay__render_options render;
};

#define AT(member) offsetof(struct report_options, member)

static const struct assay__option options[] = {
    {"output", 'o', ASSAY__OPTION_STRING, AT(output), "FILE",
     "Write the report to FILE instead of stdout; a FILE that ends in .html is an HTML page.", NULL, NULL, 0, 0, false},
    {"format", 'f', ASSAY__OPTION_CHOICE, AT(render.format), "FORMAT",
     "Format of the report (default text).", "text|json|csv|markdown|junit|html", NULL, 0, 0, false},
    {"json", 0, ASSAY__OPTION_FLAG, AT(render.json), NULL, "Print JSON; the same as --format json.",
     NULL, NULL, 0, 0, false},
    {"table", 0, ASSAY__OPTION_CHOICE, AT(render.table), "TABLE",
     "Table of the CSV format (default metrics).",
     "metrics|layers|steps|groups|launches|samples|series|spans|allocations|counters|ceilings|sweep|"
     "comparison",
     NULL, 0, 0, false},
    {"top", 0, ASSAY__OPTION_INTEGER, AT(render.top), "N",
     "Layers shown in text and Markdown (default 20; 0 shows all).", NULL, NULL, 0, 1e6, false},
    {"columns", 0, ASSAY__OPTION_INTEGER, AT(render.columns), "N",
     "Width of the text report (default: the terminal's, else 80).", NULL, NULL, 40, 200, false},
    {"ascii", 0, ASSAY__OPTION_FLAG, AT(render.ascii), NULL, "Draw with ASCII characters only.",
     NULL, NULL, 0, 0, false},
    {"no-color", 0, ASSAY__OPTION_FLAG, AT(render.no_color), NULL,
     "No colours (NO_COLOR does the same).", NULL, NULL, 0, 0, false},
    {"require", 0, ASSAY__OPTION_STRING, AT(require), "NAME|FILE",
     "Judge the profile by this requirement table instead of the one it was run with; status 1 when a minimum is not met.",
     NULL, NULL, 0, 0, false},
    {"detail", 0, ASSAY__OPTION_CHOICE, AT(render.detail), "DETAIL",
     "Instead of the whole report: verdicts, score and three recommendations; or also bottlenecks, opportunities and environment.",
     "basic|detailed", NULL, 0, 0, false},
    {"svg", 0, ASSAY__OPTION_CHOICE, AT(svg), "FIGURE", "Write one figure of the profile as SVG.",
     ASSAY__FIGURE_NAMES, NULL, 0, 0, false},
    {"chart", 0, ASSAY__OPTION_CHOICE, AT(chart), "FIGURE",
     "Draw one figure of the profile as text.", ASSAY__FIGURE_NAMES, NULL, 0, 0, false},
    {"trial", 0, ASSAY__OPTION_LIST, AT(trials), "LABEL",
     "Of several profiles: the trial that is compared, by label or number; once for all, or once for each.",
     NULL, NULL, 0, 0, false},
    {0},
};

/* A mistyped -o must not cost a profile, least of all the one that is being read. */
static bool would_replace_database(const char *path)
{
    static const char mark[] = "SQLite format 3"; /* its NUL is part of it */
    struct assay__mapping file;
    if (assay__file_map(path, &file, NULL)) return false;
    bool database = file.size >= sizeof mark && memcmp(file.data, mark, sizeof mark) == 0;
    assay__file_unmap(&file);
    return database;
}

/* A file that is called page.html is one. */
static bool ends_in_html(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    return dot && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0);
}

/* What was asked for: the report, or one figure. */
static int produce(const struct assay_profile *profile, const struct report_options *o,
                   struct assay__buf *out, struct assay_error *error)
{
    bool to_file = o->output != NULL;
    if (o->svg) return assay__report_figure(profile, o->svg, NULL, to_file, out, error);
    if (o->chart) return assay__report_figure(profile, o->chart, &o->render, to_file, out, error);
    return assay__render(profile, &o->render, to_file, out, error);
}

/* A figure is of one profile and a format of its own. True after one line about what does not go together. */
static bool conflicts(const struct assay__invocation *invocation, const struct report_options *o)
{
    const char *name = o->svg ? "--svg" : "--chart";
    if (!o->svg && !o->chart) return false;
    if (o->svg && o->chart)
        assay__say("report: --svg and --chart exclude each other");
    else if (o->render.json || o->render.format || o->render.table || o->render.detail)
        assay__say("report: %s draws one figure: no --json, --format, --table or --detail", name);
    else if (invocation->argument_count > 1)
        assay__say("report: %s draws a figure of one profile", name);
    else
        return false;
    return true;
}

static int run(struct assay__invocation *invocation)
{
    struct report_options *o = invocation->options;
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    struct assay__arena *arena = NULL;
    const struct assay__require_table *table = NULL;
    int status;
    if (o->render.json && o->render.format && strcmp(o->render.format, "json") != 0) {
        assay__say("report: --json and --format %s exclude each other", o->render.format);
        return ASSAY__EXIT_USAGE;
    }
    if (conflicts(invocation, o)) return ASSAY__EXIT_USAGE;
    if (!o->render.format && !o->render.json && !o->svg && !o->chart && ends_in_html(o->output))
        o->render.format = "html";
    if (o->output && would_replace_database(o->output)) {
        assay__say(
            "report: '%s' is a profile or another database, so the report does not replace it; "
            "give another name",
            o->output);
        return ASSAY__EXIT_USAGE;
    }
    if (assay__option_given(invocation, "top") && o->render.top == 0) o->render.top = -1;
    if (invocation->argument_count > 1 && !o->require)
        return assay__report_diff(invocation, &o->render, &o->trials, o->output);
    if (invocation->argument_count > 1 || o->trials.count) {
        assay__say("report: %s", o->require ? "--require judges one profile"
                                            : "--trial chooses what is compared of several profiles");
        return ASSAY__EXIT_USAGE;
    }
    if (o->require && (status = assay__require_option("report", o->require, &arena, &table)) != 0)
        return status;
    int code = assay_profile_open(invocation->arguments[0], &profile, &error);
    if (code) {
        assay__arena_free(arena);
        assay__fail(code, &error);
        return ASSAY__EXIT_FAILED;
    }
    code = assay__profile_recover(
        profile); /* a capture that was killed has samples, but no statistics yet */
    for (size_t i = 0; table && i < assay_profile_trials(profile) && !code; i++)
        code = assay__require_conclude((void *)(uintptr_t)table, profile, i);
    if (code) assay_error_set(&error, code, "out of memory");
    if (!code) code = produce(profile, o, &out, &error);
    bool absent = code == ASSAY_ENOTFOUND && (o->svg || o->chart); /* of no such figure */
    if (!code && o->output) code = assay__file_write(o->output, out.data, out.length, &error);
    if (code)
        status = assay__fail(code, &error);
    else
        status = o->output ? ASSAY__EXIT_DONE : assay__write_stdout(out.data, out.length);
    if (absent) status = ASSAY__EXIT_NO;
    if (table && !status) status = assay__require_status(profile);
    assay__arena_free(arena);
    assay__buf_free(&out);
    assay_profile_close(profile);
    return status;
}

const struct assay__command assay__command_report = {
    .name = "report",
    .summary = "show a kept profile as a page, text, JSON, CSV or Markdown",
    .arguments = "PROFILE...",
    .min_arguments = 1,
    .max_arguments = 16,
    .description =
        "Renders PROFILE, a file that 'assay run -o' (or power, memory, counters) kept. The profile is only read, and is treated as "
        "untrusted: one that someone else made is safe to open. A profile of a capture that was killed is "
        "shown as far as it got and called incomplete.\n\n"
        "Several profiles are shown side by side, the first is the base: what is faster or slower with its interval, layers matched by what they "
        "came from, and what else differs.",
    .examples = "  assay report resnet50.assay\n"
                "  assay report resnet50.assay -o resnet50.html\n"
                "  assay report before.assay after.assay -o diff.html\n"
                "  assay report resnet50.assay --format markdown -o resnet50.md\n"
                "  assay report resnet50.assay --format csv --table layers\n",
    .options = options,
    .options_size = sizeof(struct report_options),
    .run = run,
};
