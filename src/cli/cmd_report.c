/* cmd_report.c - assay report: render a kept profile. The same text on every machine. */
#include "base/file.h"
#include "cli/cli.h"
#include "cli/require.h"
#include "run/recover.h"

#include <assay/profile.h>
#include <assay/report.h>
#include <string.h>

struct report_options {
    const char *output, *require;
    struct assay__render_options render;
};

#define AT(member) offsetof(struct report_options, member)

static const struct assay__option options[] = {
    {"output", 'o', ASSAY__OPTION_STRING, AT(output), "FILE",
     "Write the report to FILE instead of stdout.", NULL, NULL, 0, 0, false},
    {"format", 'f', ASSAY__OPTION_CHOICE, AT(render.format), "FORMAT",
     "Format of the report (default text).", "text|json|csv|markdown|junit", NULL, 0, 0, false},
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
    if (o->output && would_replace_database(o->output)) {
        assay__say(
            "report: '%s' is a profile or another database, so the report does not replace it; "
            "give another name",
            o->output);
        return ASSAY__EXIT_USAGE;
    }
    if (assay__option_given(invocation, "top") && o->render.top == 0) o->render.top = -1;
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
    if (!code) code = assay__render(profile, &o->render, o->output != NULL, &out, &error);
    if (!code && o->output) code = assay__file_write(o->output, out.data, out.length, &error);
    if (code)
        status = assay__fail(code, &error);
    else
        status = o->output ? ASSAY__EXIT_DONE : assay__write_stdout(out.data, out.length);
    if (table && !status) status = assay__require_status(profile);
    assay__arena_free(arena);
    assay__buf_free(&out);
    assay_profile_close(profile);
    return status;
}

const struct assay__command assay__command_report = {
    .name = "report",
    .summary = "show a kept profile as text, JSON, CSV or Markdown",
    .arguments = "PROFILE",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "Renders PROFILE, a file that 'assay run -o' (or power, memory, counters) kept. The profile is only read, and is treated as "
        "untrusted: one that someone else made is safe to open. A profile of a capture that was killed is "
        "shown as far as it got and called incomplete.",
    .examples = "  assay report resnet50.assay\n"
                "  assay report resnet50.assay --format markdown -o resnet50.md\n"
                "  assay report resnet50.assay --format csv --table layers\n",
    .options = options,
    .options_size = sizeof(struct report_options),
    .run = run,
};
