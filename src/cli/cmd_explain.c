/* cmd_explain.c - assay explain: reads a timeline that another profiler wrote, says what is wrong,
 * and shows why. */
#include "cli/commands.h"
#include "cli/render_options.h"
#include "cli/report_file.h"

#include "base/file.h"
#include "import/import.h"
#include "report/formats.h"
#include "report/report_explain.h"

#include <string.h>

#define FORMATS ASSAY__VIEW_NAMES_AND("|json")

struct explain_options {
    const char *output, *from;
    struct assay__render_options render;
    bool quiet;
};

#define AT(member) offsetof(struct explain_options, member)

static const struct assay__option options[] = {
    ASSAY__STRING_ROW("output", 'o', output, "FILE",
                      "Write the report to FILE instead of stdout; without --format, its extension "
                      "chooses the format: .html, .md, .csv, .json, .txt."),
    ASSAY__RENDER_ROWS(FORMATS, ASSAY__EXPLAIN_TABLES),
    ASSAY__STRING_ROW("from", 0, from, "FORMAT",
                      "Format of the trace (default: recognised by its content)."),
    ASSAY__FLAG_ROW("quiet", 'q', quiet, "No progress on stderr."),
    {0},
};

static bool on_progress(void *data, uint64_t done, uint64_t total)
{
    struct assay_progress progress = {.phase = "reading",
                                      .done = total ? (double)done / (double)total : -1};
    assay__bar_update(data, &progress);
    return assay__interrupted;
}

static int show(const struct explain_options *o, const struct assay__explain *explain,
                const struct assay_report_options *view)
{
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int status, code = assay__explain_report(explain, view, &out, &error);
    if (!code && o->output) code = assay__file_write(o->output, out.data, out.length, &error);
    if (code)
        status = assay__fail(code, &error);
    else
        status = o->output ? ASSAY__EXIT_DONE : assay__write_stdout(out.data, out.length);
    assay__buf_free(&out);
    return status;
}

static int explain_trace(struct assay__invocation *invocation)
{
    struct explain_options *o = invocation->options;
    struct assay__events *events = NULL;
    struct assay__explain *explain = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    const struct assay__format *format = o->render.format || o->render.json
                                             ? NULL
                                             : assay__format_of_path(o->output);
    if (format && assay__is_choice(FORMATS, format->name)) o->render.format = format->name;
    int status = assay__render_check("explain", &o->render);
    if (!status) status = assay__report_file_check("explain", o->output, NULL);
    if (status) return status;
    assay__render_top(invocation, &o->render);
    struct assay_report_options view = assay__report_options_of(&o->render, o->output != NULL);
    assay__catch_interrupts();
    assay__bar_start(&bar, "explain", o->quiet);
    struct assay__import_options import = {o->from, on_progress, &bar};
    int code = assay__import(invocation->arguments, invocation->argument_count, &import, &events,
                             &error);
    assay__bar_erase(&bar);
    if (!code) code = assay__explain_new(events, &explain, &error);
    status = code ? assay__fail(code, &error) : show(o, explain, &view);
    assay__explain_free(explain);
    assay__events_free(events);
    return status;
}

const struct assay__command assay__command_explain = {
    .name = "explain",
    .summary = "read a timeline of another profiler and say what is wrong",
    .arguments = "TRACE...",
    .min_arguments = 1,
    .max_arguments = 4096,
    .description =
        "Reads TRACE, a timeline that another profiler wrote (PyTorch's profiler, ONNX Runtime, …; "
        "compressed or not; several ranks of one job together), and explains it: how busy each "
        "device was, why it was idle and what the host did meanwhile, what copies and "
        "synchronisations cost, which kernels take the time, and the one thing that is wrong.",
    .examples = "  assay explain trace.json.gz\n"
                "  assay explain trace.json --full\n"
                "  assay explain trace.json -o trace.html\n"
                "  assay explain trace.json --format csv --table idle\n",
    .options = options,
    .options_size = sizeof(struct explain_options),
    .run = explain_trace,
};
