/* cmd_trace.c - assay trace: runs a program unchanged, records what it does on the GPU and where
 * its threads are, and explains it as `assay explain` would. Nothing of ours is on stdout, which is
 * the program's. Or a model in a worker of ours, with its layers on the timeline. */
#include "cli/commands.h"
#include "cli/render_options.h"
#include "cli/report_file.h"
#include "cli/run_command.h"

#include "base/file.h"
#include "base/no_memory.h"
#include "explain/explain_save.h"
#include "import/import.h"
#include "platform/program.h"
#include "profile/previous.h"
#include "report/formats.h"
#include "report/report_explain.h"
#include "run/tracing/tracing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As env, timeout and the shells have them. */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NO_PROGRAM 127
#define PATIENCE_S 30.0
#define FORMATS ASSAY__VIEW_NAMES_AND("|json")
#define CPU_RATE_HZ 1000u

struct trace_options {
    struct assay__run_flags run; /* first: the shared option rows write to it; of a model */
    const char *output, *range, *signal, *calls, *cpu;
    struct assay__option_list reports;
    double delay_s, duration_s, patience_s;
    int64_t buffers, buffer_kib, cpu_rate_hz;
    struct assay__render_options render;
    bool wait, quiet, allocations;
};

#define AT(member) offsetof(struct trace_options, member)

static const struct assay__option options[] = {
    ASSAY__STRING_ROW("output", 'o', output, "FILE",
                      "Save the profile to FILE (default: the program's name and .assay)."),
    ASSAY__LIST_ROW("report", reports, "FILE",
                    "Also write the explanation to FILE; its extension chooses the format: .html, "
                    ".md, .csv, .json, .txt, .svg (the flame graph). May be "
                    "repeated."),
    ASSAY__DURATION_ROW("delay", delay_s,
                        "Start recording this long after the program first uses the GPU.", 0, 4e6),
    ASSAY__DURATION_ROW("duration", duration_s, "Record this long (default: to the program's end).",
                        0, 4e6),
    ASSAY__STRING_ROW("range", 0, range, "NAME",
                      "Record only inside NVTX ranges of that name (torch.cuda.nvtx, …)."),
    ASSAY__STRING_ROW(
        "signal", 0, signal, "SIGNAL",
        "Start recording when the program gets SIGNAL, and end with the next one: USR2, …"),
    ASSAY__CHOICE_ROW("calls", 0, calls, "CALLS",
                      "Calls of CUDA to record: those that launch, copy, wait, allocate or load "
                      "(default), none, or all.",
                      "launches|none|all"),
    ASSAY__INTEGER_ROW("buffers", buffers, "N",
                       "Buffers for records that are not yet written (default 32).", 1, 1024),
    ASSAY__INTEGER_ROW("buffer-size", buffer_kib, "KIB",
                       "Size of each of these buffers in KiB (default 4096).", 4, 1 << 20),
    ASSAY__CHOICE_ROW("cpu", 0, cpu, "CPU",
                      "Whether to sample what the program's threads do: sample (default), none.",
                      "sample|none"),
    ASSAY__INTEGER_ROW("cpu-rate", cpu_rate_hz, "HZ",
                       "Samples per second of processor time (default 1000).", 1, 20000),
    ASSAY__FLAG_ROW("allocations", 0, allocations,
                    "Count what the program allocates, by size and by caller. It runs slower."),
    ASSAY__DURATION_ROW("patience", patience_s,
                        "How long the program may take to end after Ctrl-C before it is sent "
                        "SIGTERM, then SIGKILL (default 30s; 0: for ever).",
                        0, 1e6),
    ASSAY__FLAG_ROW("wait", 0, wait,
                    "Wait for processes that the program leaves in the background."),
    ASSAY__FLAG_ROW("quiet", 'q', quiet, "No explanation on stderr; only what went wrong."),
    ASSAY__TEXT_ROWS,
    {0},
};

/* --- the profile's name ----------------------------------------------------------------------- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* The program, or the script that an interpreter runs. */
static const char *name_of(const char *const *argv)
{
    static const char *const interpreters[] = {"python", "bash", "sh", "node", "julia", "perl"};
    const char *program = base_of(argv[0]);
    for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++) {
        if (strncmp(program, interpreters[i], strlen(interpreters[i]))) continue;
        if (argv[1] && argv[1][0] != '-' && assay__file_exists(argv[1])) return base_of(argv[1]);
    }
    return program;
}

/* A profile that is there is never replaced unless it is named: "train-2.assay". */
static void default_output(const char *const *argv, char *out, size_t room)
{
    const char *name = name_of(argv), *extension = assay__path_extension(name);
    int length = (int)(extension ? (size_t)(extension - 1 - name) : strlen(name));
    snprintf(out, room, "%.*s.assay", length, name);
    for (int i = 2; access(out, F_OK) == 0 && i < 10000; i++)
        snprintf(out, room, "%.*s-%d.assay", length, name, i);
}

/* --- the explanation -------------------------------------------------------------------------- */

static bool on_progress(void *data, uint64_t done, uint64_t total)
{
    struct assay_progress progress = {.phase = "reading",
                                      .done = total ? (double)done / (double)total : -1};
    assay__bar_update(data, &progress);
    return assay__interrupted;
}

/* What the explanation is of: the script or program, or the model and its device. */
static void title_of(const struct assay__invocation *invocation, char *out, size_t room)
{
    const struct trace_options *o = invocation->options;
    const char *const *argv = (const char *const *)invocation->arguments;
    const char *device = o->run.device ? o->run.device : "cpu";
    if (invocation->dashed)
        snprintf(out, room, "%s", name_of(argv));
    else
        snprintf(out, room, "%s on %s", invocation->argument_count ? base_of(argv[0]) : "a script",
                 device);
}

static int read_records(const struct assay__tracing *tracing, const char *title, bool quiet,
                        struct assay__events **events, struct assay_error *error)
{
    struct assay__bar bar;
    const char *folder = tracing->folder;
    assay__bar_start(&bar, "trace", quiet);
    struct assay__import_options import = {NULL, on_progress, &bar};
    int code = assay__import(&folder, 1, &import, events, error);
    assay__bar_erase(&bar);
    for (size_t i = 0; !code && i < (*events)->source_count; i++) {
        struct assay__trace_source *source = &(*events)->sources[i];
        bool is_whole = strcmp(source->format, "cpu") == 0; /* of all processes together */
        source->path = assay__events_keep(*events, is_whole ? name_of(tracing->options->argv)
                                                            : base_of(source->path));
        source->title = assay__events_keep(*events, title);
    }
    return code;
}

/* Allocations were counted, and nothing else happened that is recorded. */
static int no_records(const char *title, struct assay__events **events, struct assay_error *error)
{
    struct assay__trace_source *source;
    *events = assay__events_new();
    if (!*events || !(source = assay__events_source(*events))) return assay__no_memory(error);
    source->title = assay__events_keep(*events, title);
    source->path = source->title;
    source->format = "cpu";
    source->producer = "assay";
    return assay__events_seal(*events, error);
}

static int write_report(const struct assay__explain *explain, const char *path, bool quiet)
{
    const struct assay__format *format = assay__format_of_path(path);
    struct assay__render_options render = {.format = format ? format->name : "html"};
    struct assay_report_options view = assay__report_options_of(&render, true);
    struct assay_error error = {0};
    struct assay__buf out = {0};
    int code = assay__explain_report(explain, &view, &out, &error);
    if (!code) code = assay__file_write(path, out.data, out.length, &error);
    assay__buf_free(&out);
    if (code) assay__fail(code, &error);
    if (!code && !quiet) assay__say("report written to %s", path);
    return code;
}

/* A figure is of the profile, which is saved by now. */
static int write_figure(const char *saved, const char *path, bool quiet)
{
    struct assay__render_options render = {0};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    int code = assay_profile_open(saved, &profile, &error);
    if (code) return assay__fail(code, &error);
    code = assay__report_file_write(profile, &render, path, quiet);
    assay_profile_close(profile);
    return code;
}

static void write_all(const char *data, size_t size)
{
    while (size) {
        ssize_t written = write(STDERR_FILENO, data, size);
        if (written <= 0) return; /* nowhere to report this failure */
        data += written;
        size -= (size_t)written;
    }
}

static int show(const struct trace_options *o, const struct assay__explain *explain,
                struct assay_error *error)
{
    struct assay_report_options view = assay__report_options_of(&o->render, !isatty(STDERR_FILENO));
    struct assay__buf out = {0};
    int code = o->quiet ? 0 : assay__explain_report(explain, &view, &out, error);
    if (!code) write_all(assay__buf_text(&out), out.length);
    assay__buf_free(&out);
    return code;
}

/* Saves before it explains: the profile is what matters. `left`: there is none, so the records are
 * all there is. */
static int keep(const struct assay__invocation *invocation, const char *path,
                const struct assay__tracing *tracing, const struct assay__events *events,
                bool *left)
{
    const struct trace_options *o = invocation->options;
    struct assay__explain *explain = NULL;
    struct assay_error error = {0};
    int failed = 0;
    int code = assay__explain_save(events, tracing->allocations, tracing->allocation_count, path,
                                   invocation->command_line, &error);
    *left = code != 0;
    if (code) {
        assay__fail(code, &error);
        return code;
    }
    code = assay__explain_new(events, &explain, &error);
    if (!code) {
        explain->allocations = tracing->allocations;
        explain->allocation_count = tracing->allocation_count;
        code = show(o, explain, &error);
    }
    if (code) assay__fail(code, &error);
    assay__say("profile saved to %s", path);
    for (size_t i = 0; i < o->reports.count && !code; i++)
        failed |= assay__path_is_svg(o->reports.items[i])
                      ? write_figure(path, o->reports.items[i], o->quiet)
                      : write_report(explain, o->reports.items[i], o->quiet);
    assay__explain_free(explain);
    return code ? code : failed;
}

static unsigned cpu_rate_of(const struct trace_options *o)
{
    if (o->cpu && strcmp(o->cpu, "none") == 0) return 0;
    return o->cpu_rate_hz ? (unsigned)o->cpu_rate_hz : CPU_RATE_HZ;
}

/* Why a recorder recorded nothing, where others did record something. */
static void say_failures(const struct assay__events *events)
{
    for (size_t i = 0; i < events->source_count; i++)
        if (!events->sources[i].events && *events->sources[i].complaint)
            assay__say("trace: %s: %s", events->sources[i].path, events->sources[i].complaint);
}

static bool ended_early(const struct assay__events *events)
{
    bool early = false;
    for (size_t i = 0; i < events->source_count; i++)
        early |= events->sources[i].truncated;
    return early;
}

/* Why there are no events though a process recorded. */
static void say_empty(const struct trace_options *o, const struct assay__events *events)
{
    bool sampled = cpu_rate_of(o) && !o->range && !o->signal;
    const char *reason = ended_early(events)
                             ? "the program crashed, left without its exit handlers or is still "
                               "running: records are written ten times a second"
                         : sampled   ? "the program ended, or the delay was not over, before a "
                                       "sample of it was taken, and it did nothing on the GPU"
                         : o->range  ? "no NVTX range of that name was entered"
                         : o->signal ? "the program did not get the signal, or did nothing on the "
                                       "GPU between two of them"
                         : o->delay_s > 0 ? "the program ended before the delay was over, or did "
                                            "nothing on the GPU after it"
                                          : "the program opened the GPU and did nothing on it";
    assay__say("trace: nothing was recorded: %s; no profile is written", reason);
}

/* What was recorded becomes the profile. 0, or a code whose reason was said; *left: the records
 * are to be kept. */
static int conclude(const struct assay__invocation *invocation, const char *path,
                    const struct assay__tracing *tracing, bool *left)
{
    const struct trace_options *o = invocation->options;
    struct assay__events *events = NULL;
    struct assay_error error = {0};
    char title[256];
    bool any = assay__tracing_files(tracing) > 0;
    if (!any && !tracing->allocation_count) {
        assay__say("trace: the program did not use CUDA: there is nothing to explain, and no "
                   "profile is written");
        return 0;
    }
    title_of(invocation, title, sizeof title);
    int code = any ? read_records(tracing, title, o->quiet, &events, &error)
                   : no_records(title, &events, &error);
    if (code) {
        *left = code != ASSAY_EFORMAT; /* that reason is the recorder's: nothing was recorded */
        assay__say("trace: nothing was recorded: %s", error.message);
        return code;
    }
    say_failures(events);
    if (!events->count && !tracing->allocation_count) {
        say_empty(o, events);
    } else {
        code = keep(invocation, path, tracing, events, left);
    }
    assay__events_free(events);
    return code;
}

/* --- the command ------------------------------------------------------------------------------ */

static bool is_among(const struct assay__option *rows, const char *name)
{
    while (rows->name && strcmp(rows->name, name) != 0)
        rows++;
    return rows->name != NULL;
}

/* Options of a model mean nothing to a program, and the other way round. */
static int check_form(const struct assay__invocation *invocation)
{
    static const char *const of_programs[] = {"delay",    "duration", "range",       "signal",
                                              "calls",    "buffers",  "buffer-size", "wait",
                                              "patience", "cpu-rate", "cpu",         "allocations"};
    static const char *const not_here[] = {"launches", "streams", "layers", "ceilings", "hash",
                                           "generate", "prompt",  "format", "json",     "table"};
    if (invocation->dashed && invocation->before_dashes)
        return assay__refuse("trace: name either a model or, behind '--', a program");
    if (!invocation->argument_count && invocation->dashed)
        return assay__refuse("trace: no program is named behind '--'");
    for (const struct assay__option *row = assay__run_rows; invocation->dashed && row->name; row++)
        if (!is_among(options, row->name) && assay__option_given(invocation, row->name))
            return assay__refuse("trace: --%s is for a model, not for a program", row->name);
    if (invocation->dashed) return 0;
    if (invocation->argument_count > 1)
        return assay__refuse("trace: one model at a time; for a program write '--' before it: "
                             "assay trace [options] -- PROGRAM [ARGUMENT...]");
    for (size_t i = 0; i < sizeof of_programs / sizeof *of_programs; i++)
        if (assay__option_given(invocation, of_programs[i]))
            return assay__refuse("trace: --%s is for a program, not for a model", of_programs[i]);
    for (size_t i = 0; i < sizeof not_here / sizeof *not_here; i++)
        if (assay__option_given(invocation, not_here[i]))
            return assay__refuse("trace: --%s cannot be used with a timeline", not_here[i]);
    return assay__run_check(invocation);
}

static int check(const struct assay__invocation *invocation, const char *path)
{
    const struct trace_options *o = invocation->options;
    struct assay_error error = {0};
    int form = check_form(invocation);
    if (form) return form;
    if (assay__format_of_path(path) || assay__path_is_svg(path))
        return assay__refuse("trace: --output saves the profile (*.assay), not a report; for a "
                             "report use --report %s",
                             path);
    if (o->signal && !assay__signal_number(o->signal))
        return assay__refuse("trace: --signal: '%s' is not the name or number of a signal "
                             "that a program can catch",
                             o->signal);
    if ((o->range != NULL) + (o->signal != NULL) + (o->delay_s > 0) > 1)
        return assay__refuse("trace: --range, --signal and --delay each say when to begin: give "
                             "one of them");
    for (size_t i = 0; i < o->reports.count; i++) {
        int status = assay__report_file_ending("trace", "--report", o->reports.items[i]);
        const struct assay__format *format = assay__format_of_path(o->reports.items[i]);
        if (!status && format && !assay__is_choice(FORMATS, format->name))
            status = assay__refuse("trace: --report: a timeline has no format %s, but: %s|svg",
                                   format->name, FORMATS);
        if (!status) status = assay__report_file_check("trace", o->reports.items[i], path);
        if (status) return status;
    }
    int code = assay__previous_check(path, &error); /* now, not when the program has ended */
    if (!code) code = assay__file_writable(path, &error);
    return code ? assay__fail(code, &error) : 0;
}

static void say(void *context, const char *text)
{
    (void)context;
    assay__say("trace: %s", text);
}

static enum assay__traced_calls calls_of(const char *word)
{
    if (word && strcmp(word, "none") == 0) return ASSAY__TRACED_CALLS_NONE;
    if (word && strcmp(word, "all") == 0) return ASSAY__TRACED_CALLS_ALL;
    return ASSAY__TRACED_CALLS_LAUNCHES;
}

/* The program's own end is ours: its status, or its signal. */
static int end_like(const struct assay__exit *exit, int code)
{
    if (!exit->exited) {
        assay__program_die(exit->signal);
        return 128 + exit->signal; /* one that does not end us */
    }
    return exit->status || !code ? exit->status : ASSAY__EXIT_FAILED;
}

static int trace_program(struct assay__invocation *invocation, const char **argv, const char *path)
{
    const struct trace_options *o = invocation->options;
    struct assay__tracing *tracing = NULL;
    struct assay_error error = {0};
    struct assay__exit end = {.exited = true};
    bool left = false;
    struct assay__tracing_options run = {
        .argv = argv,
        .environment = assay__origin.environment,
        .ignores_sigpipe = assay__origin.ignores_sigpipe,
        .beside = path,
        .delay_s = o->delay_s,
        .duration_s = o->duration_s,
        .range = o->range,
        .signal = o->signal ? assay__signal_number(o->signal) : 0,
        .calls = calls_of(o->calls),
        .buffers = o->buffers,
        .buffer_kib = o->buffer_kib,
        .cpu_rate_hz = cpu_rate_of(o),
        .allocations = o->allocations,
        .patience_s = assay__option_given(invocation, "patience") ? o->patience_s : PATIENCE_S,
        .wait_for_all = o->wait,
        .say = say};
    int code = assay__tracing_run(&run, &tracing, &error);
    if (code) {
        assay__say("trace: %s", error.message);
        end.status = code == ASSAY_ENOTFOUND ? EXIT_NO_PROGRAM : EXIT_NOT_EXECUTABLE;
    } else {
        end = tracing->exit;
        assay__catch_interrupts();
        code = conclude(invocation, path, tracing, &left);
    }
    if (left)
        assay__say("trace: the records are kept: 'assay explain %s' reads them", tracing->folder);
    assay__tracing_end(tracing, left);
    return end_like(&end, code);
}

/* The name of a built-in model may have parameters: "resnet50:batch=8". */
static void model_output(const struct assay__run_flags *flags, const char *model, char *out,
                         size_t room)
{
    const char *name[] = {model ? base_of(model) : flags->engine ? flags->engine : "model", NULL};
    char plain[256];
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name[0], ":"), name[0]);
    name[0] = plain;
    default_output(name, out, room);
}

static int trace_model(struct assay__invocation *invocation, const char *path)
{
    struct trace_options *o = invocation->options;
    struct assay__tracing *tracing = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    bool left = false;
    if (!invocation->argument_count && !o->run.script)
        return assay__refuse("trace: MODEL is missing: assay trace [options] MODEL, or assay trace "
                             "[options] -- PROGRAM [ARGUMENT...]");
    assay__catch_interrupts();
    struct assay__run_options run = assay__run_options_of(invocation);
    run.command = "trace";
    run.callbacks = assay__bar_start(&bar, "trace", o->quiet);
    int code = assay__tracing_model(&run, path, &tracing, &error);
    assay__bar_erase(&bar);
    int status = code ? assay__fail(code, &error) : 0;
    if (!code && conclude(invocation, path, tracing, &left)) status = ASSAY__EXIT_FAILED;
    assay__tracing_end(tracing, left);
    return status;
}

static int trace(struct assay__invocation *invocation)
{
    const struct trace_options *o = invocation->options;
    size_t count = invocation->argument_count;
    char named[4096] = "";
    const char **argv = calloc(count + 1, sizeof *argv);
    if (!argv) return assay__fail(ASSAY_ENOMEM, NULL);
    for (size_t i = 0; i < count; i++)
        argv[i] = invocation->arguments[i];
    if (!o->output && invocation->dashed && count) default_output(argv, named, sizeof named);
    if (!o->output && !invocation->dashed)
        model_output(&o->run, count ? argv[0] : NULL, named, sizeof named);
    const char *path = o->output ? o->output : named;
    assay__render_top(invocation, &((struct trace_options *)invocation->options)->render);
    int status = check(invocation, path);
    if (!status)
        status = invocation->dashed ? trace_program(invocation, argv, path)
                                    : trace_model(invocation, path);
    free(argv);
    return status;
}

const struct assay__command assay__command_trace = {
    .name = "trace",
    .summary = "record the timeline of a model or a program, and explain it",
    .arguments = "MODEL | -- PROGRAM [ARGUMENT...]",
    .min_arguments = 0,
    .max_arguments = SIZE_MAX,
    .description =
        "Runs MODEL as 'assay run' does and records some inferences with its layers on the "
        "timeline, and on CUDA its kernels, copies and waits.\n\n"
        "Or runs PROGRAM unchanged and records its kernels, copies, synchronisations, NVTX ranges "
        "and the calls that launch them, in every process that uses CUDA, and samples where its "
        "threads are. When it ends, the "
        "explanation is on stderr, as 'assay explain' gives it, and the profile is saved. The "
        "program's input, output, signals and exit status are its own.\n\nCtrl-C stops the program "
        "and keeps what was recorded; a program that crashes keeps it too. The profile can be "
        "explained, compared and exported again: 'assay explain FILE.assay'.",
    .examples = "  assay trace resnet50 --device cuda:0\n"
                "  assay trace -- python3 train.py --epochs 1\n"
                "  assay trace -o step.assay --range step -- python3 train.py\n"
                "  assay trace --allocations -- python3 load.py\n"
                "  assay trace --delay 30s --duration 5s --report trace.html -- ./server\n"
                "  assay explain train.assay --export perfetto -o train.perfetto-trace\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct trace_options),
    .run = trace,
};
