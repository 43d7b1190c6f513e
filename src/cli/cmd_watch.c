/* cmd_watch.c - assay watch: this machine as it runs, one process with its children, or a model
 * that runs without end, line by line. What is shown is the monitor's view (monitor/view.h); this
 * file has the options, the loop and the end. */
#include "cli/require_option.h"
#include "cli/run_command.h"
#include "cli/watch_model.h"
#include "monitor/live_record.h"

#include "base/clock.h"

#include <math.h>

#define WAIT_NS 200000000u /* how long Ctrl-C waits at most */
#define COUNT_MOST 1e9
#define DURATION_MOST_S 31536000.0 /* a year */
#define PID_MOST 4194304.0         /* the kernel's limit */

struct watch_options {
    struct assay__run_flags run; /* first: what runs a model reads it */
    double interval_s, duration_s;
    int64_t count, pid;
    const char *require;
    bool plain, json;
};

#define AT(member) offsetof(struct watch_options, member)

static const struct assay__option options[] = {
    ASSAY__DURATION_ROW("interval", interval_s,
                        "Time between two readings, from 100ms to 10s (default 1s).",
                        ASSAY__MONITOR_LEAST_S, ASSAY__MONITOR_MOST_S),
    ASSAY__INTEGER_ROW("count", count, "N", "End after N lines.", 1, COUNT_MOST),
    ASSAY__DURATION_ROW("duration", duration_s, "End after TIME, such as 30s or 10m.",
                        ASSAY__MONITOR_LEAST_S, DURATION_MOST_S),
    ASSAY__INTEGER_ROW("pid", pid, "N",
                       "Also show the process N and its children; the rest of the machine is "
                       "\"other\". Ends when they have ended.",
                       1, PID_MOST),
    ASSAY__STRING_ROW("output", 'o', run.output, "FILE",
                      "Record to FILE (*.assay) for `assay report`: every reading of the last "
                      "hour, 10 s for a day, then 1 min."),
    ASSAY__FLAG_ROW("plain", 0, plain, "Print one line of text per interval (the default)."),
    ASSAY__FLAG_ROW("json", 0, json,
                    "Print one JSON object per line, in base units with the state of every "
                    "number; the last one is the summary."),
    ASSAY__FLAG_ROW("quiet", 'q', run.quiet, "No summary at the end."),
    ASSAY__STRING_ROW("device", 0, run.device, "NAME",
                      "With MODEL: the device to run on (default cpu)."),
    ASSAY__STRING_ROW("engine", 0, run.engine, "NAME",
                      "With MODEL: the engine that runs it (default ort: ONNX Runtime)."),
    ASSAY__STRING_ROW("require", 0, require, "NAME|FILE",
                      "With MODEL: say in each line which minimum of this requirement table is not "
                      "met."),
    ASSAY__INTEGER_ROW("threads", run.threads, "N", "With MODEL: number of engine threads.", 1,
                       ASSAY__THREADS_MOST),
    ASSAY__INTEGER_ROW("streams", run.streams, "N", "With MODEL: requests in flight (default 1).",
                       1, 1024),
    ASSAY__INTEGER_ROW("batch", run.batch, "N", "With MODEL: batch size of every input.", 1, 1e9),
    ASSAY__INTEGER_ROW("seq", run.seq, "N",
                       "With MODEL: length of the sequence axis, where the model has one.", 1, 1e9),
    {"script", 0, ASSAY__OPTION_STRING, AT(run.script), "SCRIPT", "Script of the fake engine.",
     NULL, NULL, 0, 0, true},
    {0},
};

struct watching {
    const struct watch_options *options;
    struct assay__monitor *monitor;
    struct assay__model_thread *model; /* NULL: none */
    struct assay__record *record;      /* NULL: none, or it has failed */
    const char *command_line;
    const struct assay__require_table *table; /* NULL: none */
    struct assay__view view;
    struct assay__buf out;
    int64_t lines;
    bool failed_record;
    int status;
};

/* Prints what the walker makes of the view; false: stdout is gone, or memory. */
static bool show(struct watching *watching,
                 void (*walk)(const struct assay__view *view, struct assay__buf *out))
{
    assay__buf_clear(&watching->out);
    walk(&watching->view, &watching->out);
    if (watching->out.failed)
        watching->status = assay__fail(ASSAY_ENOMEM, NULL);
    else
        watching->status = assay__write_stdout(watching->out.data, watching->out.length);
    return watching->status == ASSAY__EXIT_DONE;
}

static bool look(struct watching *watching)
{
    if (assay__monitor_look(watching->monitor, &watching->view) == 0) return true;
    watching->status = assay__fail(ASSAY_ENOMEM, NULL);
    return false;
}

/* A record that fails ends; the watching goes on. */
static void record(struct watching *watching)
{
    struct assay_error error = {0};
    if (!watching->record ||
        !assay__record_add(watching->record, watching->monitor, &watching->view, &error))
        return;
    assay__say("watch: %s; nothing more is recorded", error.message);
    assay__record_abandon(watching->record);
    watching->record = NULL;
    watching->failed_record = true;
}

static int open_record(struct watching *watching, struct assay_error *error)
{
    const struct watch_options *o = watching->options;
    double interval_s = o->interval_s > 0 ? o->interval_s : ASSAY__MONITOR_DEFAULT_S;
    if (!o->run.output) return 0;
    while (assay__monitor_wait(watching->monitor, 0, WAIT_NS) == 0)
        if (assay__interrupted)
            return assay_error_set(error, ASSAY_EINTERRUPTED,
                                   "interrupted before the first reading");
    int code = assay__monitor_look(watching->monitor, &watching->view);
    return code ? assay_error_set(error, code, "out of memory")
                : assay__record_open(o->run.output, &watching->view, interval_s,
                                     watching->command_line, &watching->record, error);
}

static bool is_over(const struct watching *watching)
{
    const struct watch_options *o = watching->options;
    const struct assay__view *view = &watching->view;
    double elapsed_s = (double)(view->now_ns - view->began_ns) * 1e-9;
    double interval_s = o->interval_s > 0 ? o->interval_s : ASSAY__MONITOR_DEFAULT_S;
    return (o->count && watching->lines >= o->count) ||
           (o->duration_s > 0 && elapsed_s >= o->duration_s - interval_s / 2) ||
           (o->pid && !view->process_count);
}

/* False: the model cannot be run. */
static bool show_model(struct watching *watching)
{
    struct assay_error error = {0};
    if (!watching->model) return true;
    if (!assay__model_thread_show(watching->model, &watching->view, &error)) {
        watching->status = assay__fail(error.code, &error);
        return false;
    }
    if (watching->table)
        assay__view_require(&watching->view, watching->table,
                            assay__model_thread_power(watching->model));
    return true;
}

static int open_model(struct watching *watching, const struct assay__invocation *invocation,
                      struct assay_error *error)
{
    const struct watch_options *o = watching->options;
    double interval_s = o->interval_s > 0 ? o->interval_s : ASSAY__MONITOR_DEFAULT_S;
    if (!invocation->argument_count && !o->run.script) return 0;
    struct assay__run_options run = assay__run_options_of(invocation);
    /* several windows in an interval, so that each interval has whole ones */
    return assay__model_thread_new(&run, interval_s / 4, &watching->model, error);
}

/* The first tick has no interval: counters have nothing to be compared with. */
static void watch(struct watching *watching)
{
    uint64_t seen = 1;
    while (!assay__interrupted) {
        uint64_t ticks = assay__monitor_wait(watching->monitor, seen, WAIT_NS);
        if (ticks <= seen) continue;
        seen = ticks;
        if (!look(watching) || !show_model(watching)) return;
        record(watching);
        if (!show(watching, watching->options->json ? assay__view_json : assay__view_plain)) return;
        watching->lines++;
        if (is_over(watching)) return;
    }
}

static int finish(struct watching *watching)
{
    const struct watch_options *o = watching->options;
    bool limited = o->count || o->duration_s > 0;
    struct assay_error error = {0};
    assay__monitor_end(watching->monitor);
    if (watching->record && assay__record_close(watching->record, &error)) {
        assay__say("watch: %s", error.message);
        watching->failed_record = true;
    }
    watching->record = NULL;
    if (watching->status) return watching->status;
    if (!o->run.quiet && look(watching))
        show(watching, o->json ? assay__view_json_summary : assay__view_plain_summary);
    /* without a limit, Ctrl-C is how it ends */
    return watching->status                ? watching->status
           : watching->failed_record       ? ASSAY__EXIT_FAILED
           : assay__interrupted && limited ? ASSAY__EXIT_INTERRUPTED
                                           : ASSAY__EXIT_DONE;
}

static int run_watch(struct assay__invocation *invocation)
{
    const struct watch_options *o = invocation->options;
    struct watching watching = {.options = o, .command_line = invocation->command_line};
    struct assay_error error = {0};
    if (o->plain && o->json)
        return assay__refuse("watch: --plain and --json cannot be used together");
    int status = assay__run_check(invocation);
    if (status) return status;
    struct assay__arena *arena = NULL; /* of the table */
    if (o->require && !invocation->argument_count && !o->run.script)
        return assay__refuse("watch: --require needs a MODEL");
    if (o->require) status = assay__require_option("watch", o->require, &arena, &watching.table);
    if (status) return status;
    assay__catch_interrupts();
    int code = open_model(&watching, invocation, &error);
    const struct assay__monitor_options monitor = {
        .interval_s = o->interval_s,
        .root = (pid_t)o->pid,
        .given = assay__model_thread_rows(watching.model)};
    if (code == 0) code = assay__monitor_new(&monitor, &watching.monitor, &error);
    if (code == 0) code = assay__monitor_begin(watching.monitor, &error);
    if (code == 0) code = open_record(&watching, &error);
    if (code == 0 && watching.model) code = assay__model_thread_start(watching.model, &error);
    if (code) {
        assay__record_abandon(watching.record);
        status = assay__fail(code, &error);
    } else {
        watch(&watching);
        status = finish(&watching);
    }
    assay__view_free(&watching.view);
    assay__buf_free(&watching.out);
    assay__monitor_free(watching.monitor); /* uses the model's rows until then */
    assay__model_thread_stop(watching.model);
    assay__arena_free(arena);
    return status;
}

const struct assay__command assay__command_watch = {
    .name = "watch",
    .summary = "watch this machine, a process or a model as it runs: load, memory, power",
    .arguments = "[MODEL]",
    .max_arguments = 1,
    .description =
        "Reads everything that this machine reports, at an interval, until Ctrl-C: how busy the "
        "CPUs are and their clocks, memory, pressure, GPUs and NPUs, power, temperature and "
        "throttling. Ends with a summary, and with what could not be read and why.\n\nWith MODEL, "
        "runs "
        "it back to back meanwhile and shows its latency, throughput and energy per inference; if "
        "it fails, it is started again.\n\nA share "
        "always names what it counts (utilization.active, utilization.memory): there is no bare "
        "percentage. Power is the growth of an energy counter over the measured time where there "
        "is such a counter. A value that is not plausible is shown as unavailable, with the "
        "reason.",
    .examples = "  assay watch\n"
                "  assay watch --interval 100ms --count 20\n"
                "  assay watch resnet50 --device cuda:0\n"
                "  assay watch --pid 4321 --duration 1m --json >live.jsonl\n",
    .options = options,
    .options_size = sizeof(struct watch_options),
    .run = run_watch,
};
