/* cmd_explain.c - assay explain: reads a timeline that another profiler wrote, says what is wrong
 * and shows why; two timelines: what changed. */
#include "cli/commands.h"
#include "cli/render_options.h"
#include "cli/report_file.h"

#include "base/file.h"
#include "explain/explain_save.h"
#include "import/import.h"
#include "report/formats.h"
#include "report/report_explain.h"
#include "trace/exporters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FORMATS ASSAY__VIEW_NAMES_AND("|json")

struct explain_options {
    const char *output, *results, *from, *export;
    struct assay__render_options render;
    bool merge, quiet;
};

#define AT(member) offsetof(struct explain_options, member)

static const struct assay__option options[] = {
    ASSAY__STRING_ROW("output", 'o', output, "FILE",
                      "Write the report to FILE instead of stdout; without --format, its extension "
                      "chooses the format: .html, .md, .csv, .json, .txt. FILE.assay saves the "
                      "timeline as a profile; the report is still printed."),
    ASSAY__RENDER_ROWS(FORMATS, ASSAY__EXPLAIN_TABLES),
    ASSAY__STRING_ROW("results", 0, results, "FILE",
                      "Also write a summary in Markdown (PROFILING_RESULTS.md): key findings, "
                      "opportunities, key numbers with their targets."),
    ASSAY__CHOICE_ROW("export", 0, export, "FORMAT",
                      "Write the timeline itself for another viewer, to --output or stdout.",
                      ASSAY__EXPORTER_NAMES),
    ASSAY__STRING_ROW("from", 0, from, "FORMAT",
                      "Format of the trace (default: recognised by its content)."),
    ASSAY__FLAG_ROW("merge", 0, merge,
                    "The traces are parts of one, whatever they say (default: ranks of one job "
                    "are; two others are compared, more are refused)."),
    ASSAY__FLAG_ROW("quiet", 'q', quiet, "No progress on stderr."),
    {0},
};

/* --- reading ---------------------------------------------------------------------------------- */

/* A timeline and what it says. */
struct reading {
    struct assay__events *events;
    struct assay__explain *explain;
    const char *path; /* of one of two */
};

static void free_reading(struct reading *r)
{
    assay__explain_free(r->explain);
    assay__events_free(r->events);
    *r = (struct reading){0};
}

static bool on_progress(void *data, uint64_t done, uint64_t total)
{
    struct assay_progress progress = {.phase = "reading",
                                      .done = total ? (double)done / (double)total : -1};
    assay__bar_update(data, &progress);
    return assay__interrupted;
}

static int read_events(const struct explain_options *o, const char *const *paths, size_t count,
                       struct reading *r, struct assay_error *error)
{
    struct assay__bar bar;
    assay__bar_start(&bar, "explain", o->quiet);
    struct assay__import_options import = {o->from, on_progress, &bar};
    int code = assay__import(paths, count, &import, &r->events, error);
    assay__bar_erase(&bar);
    return code;
}

/* A recording beside another one, of the host or of power: it has no ranks. */
static bool is_beside(const struct assay__trace_source *of)
{
    return strcmp(of->format, "perf") == 0 || strcmp(of->format, "powermetrics") == 0 ||
           strcmp(of->format, "cpu") == 0;
}

/* Different ranks of one job, tables of one capture, or recordings of different kinds: the traces
 * say so, file names do not. */
static bool are_parts(const struct assay__trace_source *x, const struct assay__trace_source *y)
{
    bool same_format = strcmp(x->format, y->format) == 0;
    if (!same_format && (is_beside(x) || is_beside(y))) return true;
    if (same_format && strcmp(x->format, "xctrace") == 0) return true;
    bool worlds = x->world_size < 0 || y->world_size < 0 || x->world_size == y->world_size;
    return x->rank >= 0 && y->rank >= 0 && x->rank != y->rank && worlds;
}

/* The first two sources with events that are no parts of one trace; false: there are none. */
static bool find_strangers(const struct assay__events *events,
                           const struct assay__trace_source *found[2])
{
    for (size_t i = 0; i < events->source_count; i++)
        for (size_t k = i + 1; k < events->source_count && events->sources[i].events; k++) {
            found[0] = &events->sources[i];
            found[1] = &events->sources[k];
            if (found[1]->events && !are_parts(found[0], found[1])) return true;
        }
    return false;
}

/* What was read from several files must be parts of one trace. A saved timeline was asked already:
 * it is one file, whatever it was made of. */
static int refuse_strangers(const struct explain_options *o, const char *const *paths, size_t count,
                            const struct assay__events *events, struct assay_error *error)
{
    const struct assay__trace_source *found[2];
    bool one_file = count == 1 && !assay__is_folder(paths[0]);
    if (o->merge || one_file || !find_strangers(events, found)) return 0;
    return assay_error_set(error, ASSAY_EINVAL,
                           "'%s' and '%s' do not say that they are different ranks of one job; "
                           "explain them one by one, or --merge reads them as parts of one",
                           found[0]->path, found[1]->path);
}

static int read_parts(const struct explain_options *o, const char *const *paths, size_t count,
                      struct reading *r, struct assay_error *error)
{
    int code = read_events(o, paths, count, r, error);
    return code ? code : refuse_strangers(o, paths, count, r->events, error);
}

static bool is_one_trace(const struct assay__events *a, const struct assay__events *b)
{
    return a->source_count && b->source_count && are_parts(&a->sources[0], &b->sources[0]);
}

/* One timeline into r[0], or two into both; *two says which. */
static int read_all(const struct assay__invocation *invocation, const struct explain_options *o,
                    struct reading r[2], bool *two, struct assay_error *error)
{
    const char *const *paths = invocation->arguments;
    size_t count = invocation->argument_count;
    *two = count == 2 && !o->merge;
    if (!*two) return read_parts(o, paths, count, &r[0], error);
    int code = read_parts(o, paths, 1, &r[0], error);
    if (!code) code = read_parts(o, paths + 1, 1, &r[1], error);
    r[0].path = paths[0];
    r[1].path = paths[1];
    if (code || !is_one_trace(r[0].events, r[1].events)) return code;
    *two = false;
    free_reading(&r[0]);
    free_reading(&r[1]);
    return read_parts(o, paths, count, &r[0], error);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* What is written must not replace what was read, whether it was named or found in a folder. */
static int refuse_to_replace(const char *path, const struct reading *r)
{
    for (size_t i = 0; path && r->events && i < r->events->source_count; i++)
        if (assay__same_file(path, r->events->sources[i].path))
            return assay__refuse("explain: '%s' is the trace, which is not replaced; give another "
                                 "name",
                                 path);
    return 0;
}

static int check_places(const struct explain_options *o, const struct reading r[2])
{
    int status = 0;
    for (int i = 0; i < 2 && !status; i++) {
        status = refuse_to_replace(o->output, &r[i]);
        if (!status) status = refuse_to_replace(o->results, &r[i]);
    }
    return status;
}

static bool is_profile_path(const char *path)
{
    const char *extension = path ? assay__path_extension(path) : NULL;
    return extension && strcmp(extension, "assay") == 0;
}

/* A part of a timeline is of no use; a device or a pipe stays. */
static void remove_part(const char *path)
{
    struct stat about;
    if (!lstat(path, &about) && S_ISREG(about.st_mode)) remove(path);
}

static int export_timeline(const struct explain_options *o, const struct assay__events *events)
{
    struct assay_error error = {0}, named = {0};
    FILE *file = o->output ? fopen(o->output, "wb") : stdout;
    if (!file) {
        assay__say("explain: cannot write '%s': %s", o->output, strerror(errno));
        return ASSAY__EXIT_FAILED;
    }
    int code = assay__export(events, o->export, assay__export_to_file, file, &error);
    bool lost = fflush(file) != 0;
    if (lost && !code)
        code = assay_error_set(&error, ASSAY_EIO, "cannot write: %s", strerror(errno));
    if (o->output && fclose(file) && !code)
        code = assay_error_set(&error, ASSAY_EIO, "cannot write: %s", strerror(errno));
    if (!code) return ASSAY__EXIT_DONE;
    if (o->output) remove_part(o->output);
    assay_error_set(&named, code, "explain: %s: %s", o->output ? o->output : "standard output",
                    error.message);
    return assay__fail(code, &named);
}

static int write_results(const struct explain_options *o, const struct assay__explain *explain)
{
    struct assay_error error = {0};
    struct assay__buf out = {0};
    struct tm parts;
    char today[16] = "";
    time_t now = time(NULL);
    if (gmtime_r(&now, &parts)) strftime(today, sizeof today, "%Y-%m-%d", &parts);
    assay__explain_results(explain, today, &out);
    int code = out.failed ? assay_error_set(&error, ASSAY_ENOMEM, "out of memory")
                          : assay__file_write(o->results, out.data, out.length, &error);
    assay__buf_free(&out);
    return code ? assay__fail(code, &error) : 0;
}

/* The report of one, or of what changed between two. */
static int report(const struct reading r[2], bool two, const struct assay_report_options *view,
                  struct assay__buf *out, struct assay_error *error)
{
    struct assay__explain_diff *diff = NULL;
    if (!two) return assay__explain_report(r[0].explain, view, out, error);
    r[0].explain->file = r[0].path;
    r[1].explain->file = r[1].path;
    int code = assay__explain_diff_new(r[0].explain, r[1].explain, &diff, error);
    if (!code) code = assay__explain_diff_report(diff, view, out, error);
    assay__explain_diff_free(diff);
    return code;
}

static int show(const struct explain_options *o, const struct reading r[2], bool two,
                const struct assay_report_options *view)
{
    struct assay_error error = {0};
    struct assay__buf out = {0};
    bool to_file = o->output && !is_profile_path(o->output);
    int code = report(r, two, view, &out, &error), status;
    if (!code && to_file) code = assay__file_write(o->output, out.data, out.length, &error);
    if (code)
        status = assay__fail(code, &error);
    else
        status = to_file ? ASSAY__EXIT_DONE : assay__write_stdout(out.data, out.length);
    assay__buf_free(&out);
    return status;
}

static int conclude(const struct assay__invocation *invocation, const struct explain_options *o,
                    struct reading r[2], bool two, const struct assay_report_options *view)
{
    struct assay_error error = {0};
    int code = 0, status = 0;
    if (o->export) return export_timeline(o, r[0].events);
    for (int i = 0; i < 1 + two && !code; i++)
        code = assay__explain_new(r[i].events, &r[i].explain, &error);
    if (!code && assay__interrupted)
        code = assay_error_set(&error, ASSAY_EINTERRUPTED, "interrupted");
    if (!code && is_profile_path(o->output))
        code = assay__explain_save(r[0].events, NULL, 0, o->output, invocation->command_line,
                                   &error);
    if (code) return assay__fail(code, &error);
    if (o->results) status = write_results(o, r[0].explain);
    return status ? status : show(o, r, two, view);
}

/* --- the command ------------------------------------------------------------------------------ */

static int check(struct explain_options *o, size_t traces)
{
    bool named = o->render.format || o->render.json;
    const struct assay__format *format = named ? NULL : assay__format_of_path(o->output);
    bool svg = !named && !o->export && o->output && assay__path_is_svg(o->output);
    bool shown = !format || assay__is_choice(FORMATS, format->name);
    if (format && shown) o->render.format = format->name;
    if (svg || (!shown && !o->export))
        return assay__refuse("explain: --output: a timeline has no format %s, but: %s",
                             svg ? "svg" : format->name, FORMATS);
    if (o->export && (named || o->results || o->render.table))
        return assay__refuse("explain: --export writes the timeline itself and takes no --format, "
                             "--json, --table or --results");
    if ((o->results || is_profile_path(o->output)) && traces == 2 && !o->merge)
        return assay__refuse("explain: --results and a saved profile take one trace; --merge reads "
                             "two as parts of one");
    int status = assay__render_check("explain", &o->render);
    if (!status && !o->export && !named && !is_profile_path(o->output))
        status = assay__report_file_ending("explain", "--output", o->output);
    if (!status && !is_profile_path(o->output))
        status = assay__report_file_check("explain", o->output, NULL);
    if (!status) status = assay__report_file_check("explain", o->results, NULL);
    if (!status && o->output && o->results && assay__same_place(o->output, o->results) &&
        strncmp(o->output, "/dev/", 5) != 0)
        return assay__refuse("explain: --output and --results name the same file '%s'", o->output);
    return status;
}

static int explain_trace(struct assay__invocation *invocation)
{
    struct explain_options *o = invocation->options;
    struct reading r[2] = {{0}};
    struct assay_error error = {0};
    bool two = false;
    int status = check(o, invocation->argument_count);
    if (status) return status;
    assay__render_top(invocation, &o->render);
    bool to_file = o->output && !is_profile_path(o->output);
    struct assay_report_options view = assay__report_options_of(&o->render, to_file);
    assay__catch_interrupts();
    int code = read_all(invocation, o, r, &two, &error);
    if (!code && two && o->export)
        status = assay__refuse("explain: --export takes one trace; --merge reads two as one");
    else
        status = code ? assay__fail(code, &error) : check_places(o, r);
    if (!code && !status) status = conclude(invocation, o, r, two, &view);
    free_reading(&r[0]);
    free_reading(&r[1]);
    return status;
}

const struct assay__command assay__command_explain = {
    .name = "explain",
    .summary = "read a timeline of another profiler and say what is wrong",
    .arguments = "TRACE...",
    .min_arguments = 1,
    .max_arguments = 4096,
    .description =
        "Reads TRACE, a timeline that another profiler wrote (PyTorch's profiler, ONNX Runtime, "
        "Xcode Instruments, …; compressed or not), and explains it: how busy each device was, why "
        "it was idle and what the host did meanwhile, what copies and synchronisations cost, which "
        "kernels take the time, and the one thing that is wrong, with the evidence.\n\nSeveral "
        "traces, or a folder of them, must be the ranks of one job, and say so. Two traces that "
        "are not are compared: what changed, and why. A timeline that was saved with -o FILE.assay "
        "can be "
        "explained again.",
    .examples = "  assay explain trace.json.gz\n"
                "  assay explain trace.json --full\n"
                "  assay explain trace.json -o trace.html\n"
                "  assay explain before.json after.json\n"
                "  assay explain rank0.json rank1.json rank2.json rank3.json\n"
                "  assay explain trace.json --results PROFILING_RESULTS.md\n"
                "  assay explain trace.json --format csv --table idle\n"
                "  assay explain trace.json --export perfetto -o trace.perfetto-trace\n",
    .options = options,
    .options_size = sizeof(struct explain_options),
    .run = explain_trace,
};
