/* cmd_report.c - assay report: render a saved profile, or what differs between several
 * (doc/report-diff.md). Each is opened as untrusted input. */
#include "judge/diff.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/report_file.h"
#include "cli/require_option.h"
#include "cli/render_options.h"
#include "report/figure/figure.h"
#include "report/report_diff.h"
#include "report/report_explain.h"
#include "report/report_figure.h"
#include "report/subject/subjects.h"
#include "run/arm/recover.h"

#include <assay/profile.h>
#include <assay/report.h>
#include <string.h>

struct report_options {
    const char *output, *require, *svg, *chart;
    struct assay__option_list trials;
    struct assay__render_options render;
    bool list;
};

#define AT(member) offsetof(struct report_options, member)

/* Those of a profile's subjects, of several profiles, and of a timeline. */
#define ASSAY__REPORT_TABLES \
    ("runs|differences" ASSAY__SUBJECTS(ASSAY__SUBJECT_TABLES_OF) "|" ASSAY__EXPLAIN_OWN_TABLES)

static const struct assay__option options[] = {
    ASSAY__STRING_ROW(
        "output", 'o', output, "FILE",
        "Write the report to FILE instead of stdout; without --format, its extension chooses the "
        "format: .html, .md, .csv, .json, .xml (JUnit), .txt, .svg (a figure)."),
    ASSAY__RENDER_ROWS(ASSAY__FORMAT_NAMES, ASSAY__REPORT_TABLES),
    ASSAY__STRING_ROW("require", 0, require, "NAME|FILE",
                      "Check the profile against this requirement table instead of the one it was "
                      "run with; exit status 1 if a minimum is not met."),
    ASSAY__CHOICE_ROW("detail", 0, render.detail, "DETAIL",
                      "Instead of the whole report: verdicts, score and three recommendations; or "
                      "also bottlenecks, opportunities and environment.",
                      "basic|detailed"),
    ASSAY__CHOICE_ROW("svg", 0, svg, "FIGURE", "Write one figure of the profile as SVG.",
                      ASSAY__FIGURE_NAMES),
    ASSAY__CHOICE_ROW("chart", 0, chart, "FIGURE", "Draw one figure of the profile as text.",
                      ASSAY__FIGURE_NAMES),
    ASSAY__LIST_ROW("trial", trials, "LABEL",
                    "With several profiles: the trial to compare, by label or number; give it once "
                    "for all, or once for each."),
    ASSAY__FLAG_ROW("list", 0, list, "List the formats, and the figures of --svg and --chart."),
    {0},
};

/* --- one profile ------------------------------------------------------------------------------ */

/* -o x.svg without --svg: the main figure of the profile. */
static bool is_figure_file(const struct report_options *o)
{
    return !o->render.format && !o->render.json && !o->svg && !o->chart &&
           assay__path_is_svg(o->output);
}

/* One profile; `table`: requirement table to check against, or NULL. */
static int show(const char *path, struct report_options *o,
                const struct assay__require_table *table)
{
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int status, code = assay_profile_open(path, &profile, &error);
    if (code) {
        assay__fail(code, &error);
        return ASSAY__EXIT_FAILED;
    }
    code = assay__profile_recover(
        profile); /* a capture that was killed has samples, but no statistics yet */
    for (size_t i = 0; table && i < assay_profile_trials(profile) && !code; i++)
        code = assay__require_conclude((void *)(uintptr_t)table, profile, i);
    if (code) assay_error_set(&error, code, "out of memory");
    if (!code && is_figure_file(o)) o->svg = assay__report_figure_of(profile, o->output);
    bool to_file = o->output != NULL;
    if (!code && (o->svg || o->chart))
        code = assay__report_figure_show(profile, o->svg ? o->svg : o->chart,
                                         o->svg ? NULL : &o->render, to_file, &out, &error);
    else if (!code)
        code = assay__render(profile, &o->render, to_file, &out, &error);
    bool absent = code ==
                  ASSAY_ENOTFOUND; /* ASSAY_ENOTFOUND: no such figure, nothing to show on a graph */
    bool made = !code;
    if (!code && o->output) code = assay__file_write(o->output, out.data, out.length, &error);
    if (code) {
        status = assay__fail(code, &error);
        if (made) status = ASSAY__EXIT_FAILED; /* a failure to write is not wrong usage */
    } else
        status = o->output ? ASSAY__EXIT_DONE : assay__write_stdout(out.data, out.length);
    if (absent) status = ASSAY__EXIT_NO;
    if (table && !status) status = assay__require_status(profile);
    assay__buf_free(&out);
    assay_profile_close(profile);
    return status;
}

/* --- several profiles ------------------------------------------------------------------------- */

static const char *trial_of(const struct assay__option_list *trials, size_t index)
{
    return trials->count == 0 ? NULL : trials->items[trials->count == 1 ? 0 : index];
}

static int check_several(const struct assay__invocation *invocation,
                         const struct assay__render_options *render,
                         const struct assay__option_list *trials)
{
    size_t count = invocation->argument_count;
    if (count > ASSAY__DIFF_MOST)
        return assay__refuse("report: at most %d profiles can be compared, not %zu",
                             ASSAY__DIFF_MOST, count);
    const char *format = render->json ? "json" : render->format ? render->format : "text";
    const struct assay__format *row = assay__format_find(format);
    if ((!row->walk && strcmp(format, "json") != 0) || render->detail)
        return assay__refuse(
            "report: --detail and the formats junit and model-explorer take one profile");
    if (trials->count > 1 && trials->count != count)
        return assay__refuse(
            "report: --trial is given %zu times for %zu profiles; give it once, or once for each",
            trials->count, count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            const char *one = trial_of(trials, k), *two = trial_of(trials, i);
            bool same_trial = (!one && !two) || (one && two && strcmp(one, two) == 0);
            if (!same_trial ||
                !assay__same_file(invocation->arguments[k], invocation->arguments[i]))
                continue;
            return assay__refuse("report: '%s' is given twice: a profile does not differ from "
                                 "itself (--trial once for each compares its trials)",
                                 invocation->arguments[i]);
        }
    return 0;
}

static bool are_timelines(struct assay_profile *const *profiles, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (profiles[i]->kind != ASSAY__PROFILE_EXPLAIN) return false;
    return true;
}

static int report_diff(const struct assay__invocation *invocation, const struct report_options *o)
{
    struct assay_profile *profiles[ASSAY__DIFF_MOST] = {0};
    struct assay__diff_input inputs[ASSAY__DIFF_MOST] = {{0}};
    struct assay_report_options view = assay__report_options_of(&o->render, o->output != NULL);
    struct assay_error error = {0};
    struct assay__buf out = {0};
    struct assay__diff diff;
    size_t count = invocation->argument_count;
    int status = check_several(invocation, &o->render, &o->trials);
    if (status) return status;
    struct assay__arena *arena = assay__arena_new();
    int code = arena ? 0 : assay_error_set(&error, ASSAY_ENOMEM, "out of memory");
    for (size_t i = 0; i < count && !code; i++) {
        const char *path = invocation->arguments[i];
        code = assay_profile_open(path, &profiles[i], &error);
        if (!code && assay__profile_recover(profiles[i]))
            code = assay_error_set(&error, ASSAY_ENOMEM, "out of memory");
        inputs[i] = (struct assay__diff_input){profiles[i], path, trial_of(&o->trials, i)};
    }
    bool timelines = !code && count == 2 && are_timelines(profiles, count);
    if (!code && !timelines) code = assay__diff(inputs, count, arena, &diff, &error);
    if (timelines)
        code = assay__explain_profiles_report(inputs[0].name, inputs[1].name, &view, &out, &error);
    else if (!code && (o->svg || o->chart))
        code = assay__report_diff_figure_show(&diff, o->svg ? o->svg : o->chart,
                                              o->svg ? NULL : &o->render, o->output != NULL, &out,
                                              &error);
    else if (!code)
        code = assay__diff_report(&diff, &view, &out, &error);
    if (!code && o->output) code = assay__file_write(o->output, out.data, out.length, &error);
    if (code) {
        assay__fail(code, &error);
        status = (o->svg || o->chart) && code == ASSAY_ENOTFOUND ? ASSAY__EXIT_NO
                                                                 : ASSAY__EXIT_FAILED;
    } else if (!o->output) {
        status = assay__write_stdout(out.data, out.length);
    }
    assay__arena_free(arena);
    assay__buf_free(&out);
    for (size_t i = 0; i < ASSAY__DIFF_MOST; i++)
        assay_profile_close(profiles[i]);
    return status;
}

/* --- the command ------------------------------------------------------------------------------ */

static int usage(const char *what)
{
    return assay__refuse("report: %s", what);
}

static int report_profile(struct assay__invocation *invocation)
{
    struct report_options *o = invocation->options;
    struct assay__arena *arena = NULL;
    const struct assay__require_table *table = NULL;
    bool several = invocation->argument_count > 1;
    int status = 0;
    if (o->list && (invocation->argument_count || o->output || o->svg || o->chart || o->require ||
                    o->trials.count || o->render.table || o->render.detail))
        return usage(
            "--list can only be combined with --format, --json and the text layout options");
    if (o->list)
        return assay__print_list("report", &o->render, assay__formats_json,
                                 assay__formats_document);
    /* a figure shows one profile and is a separate format */
    const char *figure = o->svg ? "--svg" : o->chart ? "--chart" : NULL;
    if (o->svg && o->chart) return usage("--svg and --chart cannot be used together");
    if (figure && (o->render.json || o->render.format || o->render.table || o->render.detail))
        return assay__refuse(
            "report: %s draws one figure and takes no --json, --format, --table or --detail",
            figure);
    const struct assay__figure_row *row = figure
                                              ? assay__figure_row_find(o->svg ? o->svg : o->chart)
                                              : NULL;
    if (figure && several && row && !assay__figure_is_of_several(row))
        return assay__refuse("report: %s %s draws a figure of one profile", figure, row->name);
    if (!invocation->argument_count)
        return usage("PROFILE is missing: assay report [options] PROFILE...");
    bool named = o->render.format || o->render.json || figure; /* the intended format */
    const struct assay__format *format = named ? NULL : assay__format_of_path(o->output);
    if (format) o->render.format = format->name;
    if (several && is_figure_file(o)) return usage("a figure (*.svg) takes one profile");
    if (is_figure_file(o) && (o->render.table || o->render.detail))
        return usage("a figure (*.svg) takes no --table and no --detail");
    status = assay__render_check("report", &o->render);
    if (!status) status = assay__report_file_check("report", o->output, NULL);
    if (!status && !o->render.format && !o->render.json && !o->svg && !o->chart)
        status = assay__report_file_ending("report", "--output", o->output);
    if (status) return status;
    assay__render_top(invocation, &o->render);
    if (several && !o->require) return report_diff(invocation, o);
    if (several) return usage("--require takes one profile");
    if (o->trials.count) return usage("--trial only applies when several profiles are compared");
    if (o->require) status = assay__require_option("report", o->require, &arena, &table);
    if (!status) status = show(invocation->arguments[0], o, table);
    assay__arena_free(arena);
    return status;
}

const struct assay__command assay__command_report = {
    .name = "report",
    .summary = "render a saved profile as a page, text, JSON, CSV or Markdown",
    .arguments = "PROFILE...",
    .min_arguments = 0, /* --list needs none; otherwise report_profile() requires it */
    .max_arguments = ASSAY__DIFF_MOST,
    .description = "Renders PROFILE, a file saved by 'assay run -o' (or power, memory, counters). "
                   "The profile is opened read-only and treated as untrusted: one made by someone "
                   "else is safe to open. A profile whose capture was killed is shown up to that "
                   "point and marked incomplete.\n\nSeveral profiles are compared side by side, "
                   "with the first as the base: what is faster or slower, with intervals, layers "
                   "matched by their origin, and what else differs.",
    .examples = "  assay report resnet50.assay\n"
                "  assay report resnet50.assay -o resnet50.html\n"
                "  assay report before.assay after.assay -o diff.html\n"
                "  assay report resnet50.assay -o resnet50.md\n"
                "  assay report resnet50.assay --format csv --table layers\n"
                "  assay report --list\n",
    .options = options,
    .options_size = sizeof(struct report_options),
    .run = report_profile,
};
