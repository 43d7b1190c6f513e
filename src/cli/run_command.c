/* run_command.c - the options, checks and output of the commands that run a model. */
#include "cli/run_command.h"

#include "engine/engine.h"
#include "experiment/config_space.h"
#include "experiment/experiment.h"
#include "cli/model_command.h"
#include "cli/report_file.h"
#include "cli/require_option.h"
#include "profile/profile.h"
#include "cli/render_options.h"
#include "report/subject/subjects.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

#define AT(member) offsetof(struct assay__run_flags, member)
#define INTEGER(name, member, argument, low, high, help)                                         \
    {                                                                                            \
        name, 0, ASSAY__OPTION_INTEGER, AT(member), argument, help, NULL, NULL, low, high, false \
    }
#define STRING(name, letter, member, argument, help)                                            \
    {                                                                                           \
        name, letter, ASSAY__OPTION_STRING, AT(member), argument, help, NULL, NULL, 0, 0, false \
    }
#define FLAG(name, letter, member, help)                                                  \
    {                                                                                     \
        name, letter, ASSAY__OPTION_FLAG, AT(member), NULL, help, NULL, NULL, 0, 0, false \
    }
#define LIST(name, member, argument, help)                                               \
    {                                                                                    \
        name, 0, ASSAY__OPTION_LIST, AT(member), argument, help, NULL, NULL, 0, 0, false \
    }

const struct assay__option assay__run_rows[] = {
    STRING("output", 'o', output, "FILE", "Keep the profile as FILE (*.assay)."),
    STRING("report", 0, report, "FILE",
           "Also write the report to FILE: an HTML page, or what its name ends in (.md, .csv, "
           ".json, .xml, .txt, .svg)."),
    ASSAY__SHAPE_ROWS,
    LIST("input", inputs, "INPUT=FILE.npy", "Use real values for an input; may be given again."),
    INTEGER("generate", generate, "N", 1, 1e6,
            "An inference is a whole generation of N tokens: the prompt, then token by token with "
            "the model's cache."),
    INTEGER("prompt", prompt, "N", 1, 1e9,
            "Tokens of the prompt of --generate (default 32); --seq is the same."),
    INTEGER("seed", seed, "N", 0, 9e18, "Seed of the synthetic inputs (default 0)."),
    INTEGER("warmup", warmup, "N", 0, 1e9,
            "Iterations dropped as warm-up (default: found in the data, at least 10)."),
    INTEGER("iters", iters, "N", 1, 1e9, "Exactly N iterations per launch."),
    ASSAY__DURATION_ROW("time", time_s,
                        "Measure for TIME per launch, such as 5s or 500ms (default: 1 s and 1,000 "
                        "iterations, until the median is known to 1 %, at most 10 s).",
                        1e-3, 86400),
    INTEGER("launches", launches, "N", 1, 1000,
            "Worker processes, one after the other (default 1; 5 or more give an interval between "
            "runs)."),
    INTEGER("streams", streams, "N", 1, 1024, "Requests in flight (default 1)."),
    INTEGER("threads", threads, "N", 1, 4096, "Threads of the engine (default: the engine's)."),
    STRING("cpus", 0, cpus, "LIST", "Pin the worker to these CPUs, such as 0-3,8."),
    ASSAY__CHOICE_ROW("opt", 0, opt, "LEVEL", "Graph optimisation of the engine (default all).",
                      "none|basic|extended|all"),
    STRING("device", 0, device, "NAME",
           "Device to run on (default cpu); 'assay devices' lists them."),
    STRING("engine", 0, engine, "NAME", "Engine that runs the model (default ort: ONNX Runtime)."),
    STRING("library", 0, library, "FILE",
           "The engine's library (default: $ASSAY_ORT_LIBRARY, else the one set up here)."),
    FLAG("no-spinning", 0, no_spinning, "Do not let the engine's idle threads spin."),
    {"layers", 0, ASSAY__OPTION_CHOICE, AT(layers), "METHOD",
     "How layers are timed (default auto).", "auto|markers|isolated|engine|off", "auto", 0, 0,
     false},
    ASSAY__DURATION_ROW("timeout", timeout_s,
                        "Kill a worker that is silent for longer (default 300s).", 0.1, 604800),
    FLAG("ceilings", 0, ceilings,
         "Measure the device's ceilings first, unless they are kept already (the CPU: about "
         "17 s)."),
    FLAG("hash", 0, hash, "Record the SHA-256 of the model file."),
    ASSAY__RENDER_ROWS(ASSAY__FORMAT_NAMES, ASSAY__TABLE_NAMES),
    FLAG("quiet", 'q', quiet, "No progress and no remarks on stderr; errors are still printed."),
    {"script", 0, ASSAY__OPTION_STRING, AT(script), "SCRIPT", "Script of the fake engine.", NULL,
     NULL, 0, 0, true},
    {0},
};

static int usage(const char *command, const char *option, const char *value, const char *expected)
{
    return assay__refuse("%s: --%s: '%s' is not %s", command, option, value, expected);
}

static int check_output(const char *command, const char *path)
{
    struct stat status;
    if (path && stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        assay__say("%s: cannot write '%s': it is a folder; give the name of a file", command, path);
        return ASSAY__EXIT_FAILED; /* as any path that cannot be written */
    }
    if (!assay__format_of_path(path) && !assay__path_is_svg(path)) return 0;
    return assay__refuse(
        "%s: --output keeps the profile (*.assay), not a report; for a report use --report %s",
        command, path);
}

static int check_engine(const char *command, const char *name)
{
    if (!name || assay__engine_find(name)) return 0;
    struct assay__nearest nearest = {.word = name};
    for (size_t i = 0; assay__engine_at(i); i++)
        assay__nearest_try(&nearest, assay__engine_at(i)->name);
    const char *best = assay__nearest_get(&nearest);
    return assay__refuse(best ? "%s: --engine: there is no engine '%s'; did you mean '%s'?"
                              : "%s: --engine: there is no engine '%s'",
                         command, name, best);
}

static int check_generation(const char *command, const struct assay__run_flags *o,
                            bool layers_given)
{
    const char *wrong = NULL;
    if (o->prompt && !o->generate)
        wrong = "--prompt belongs to --generate N; without it, --seq sets the sequence";
    else if (o->prompt && o->seq)
        wrong = "--prompt and --seq are the same and exclude each other";
    else if (o->generate && o->streams > 1)
        wrong = "--generate runs one stream; --batch N makes N sequences at once";
    else if (o->generate && layers_given && strcmp(o->layers, "off") != 0)
        wrong = "--layers and --generate exclude each other: profile the layers of one step, such "
                "as gpt2:phase=decode,past=32";
    if (wrong) assay__say("%s: %s", command, wrong);
    return wrong ? ASSAY__EXIT_USAGE : 0;
}

int assay__run_check(const struct assay__invocation *invocation)
{
    const struct assay__run_flags *o = invocation->options;
    const char *command = invocation->command->name;
    bool layers_given = assay__option_given(invocation, "layers");
    int status = assay__shape_check(command, &o->dims, &o->shapes);
    if (!status)
        status = assay__option_pairs(command, "input", &o->inputs, "of the form INPUT=FILE.npy");
    if (!status) status = check_output(command, o->output);
    if (!status) status = check_engine(command, o->engine);
    if (!status && o->cpus &&
        (!isdigit((unsigned char)o->cpus[0]) || o->cpus[strspn(o->cpus, "0123456789,-")]))
        status = usage(command, "cpus", o->cpus, "a list of CPUs such as 0-3,8");
    if (!status && o->iters && o->time_s > 0) {
        assay__say("%s: --iters and --time exclude each other", command);
        status = ASSAY__EXIT_USAGE;
    }
    struct assay_error error = {0};
    if (!status && assay__config_check_thread_count((long)o->threads, &error))
        status = assay__fail(error.code, &error);
    if (!status) status = check_generation(command, o, layers_given);
    if (!status) status = assay__render_check(command, &o->render);
    if (!status) status = assay__report_file_check(command, o->report, o->output);
    if (!status) status = assay__report_file_ending(command, "--report", o->report);
    return status;
}

static enum assay_layer_method layer_method(const char *name)
{
    static const struct {
        const char *name;
        enum assay_layer_method method;
    } methods[] = {{"off", ASSAY_LAYERS_OFF},
                   {"markers", ASSAY_LAYERS_MARKERS},
                   {"isolated", ASSAY_LAYERS_ISOLATED},
                   {"engine", ASSAY_LAYERS_ENGINE}};
    for (size_t i = 0; name && i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i].name, name) == 0) return methods[i].method;
    return ASSAY_LAYERS_AUTO;
}

struct assay__run_options assay__run_options_of(const struct assay__invocation *invocation)
{
    const struct assay__run_flags *o = invocation->options;
    return (struct assay__run_options){
        .workload = {.model = invocation->argument_count ? invocation->arguments[0] : NULL,
                     .batch = o->batch,
                     .sequence = o->seq,
                     .dims = o->dims.items,
                     .dim_count = o->dims.count,
                     .shapes = o->shapes.items,
                     .shape_count = o->shapes.count,
                     .inputs = o->inputs.items,
                     .input_count = o->inputs.count,
                     .seed = (uint64_t)o->seed,
                     .generate = o->generate,
                     .prompt = o->prompt},
        .target = {.engine = o->engine,
                   .device = o->device,
                   .library = o->library,
                   .optimization = o->opt,
                   .cpus = o->cpus,
                   .threads = (int)o->threads,
                   .streams = (int)o->streams,
                   .spinning_off = o->no_spinning},
        .measuring = {.launches = (int)o->launches,
                      .warmup_given = assay__option_given(invocation, "warmup"),
                      .warmup = o->warmup,
                      .iterations = o->iters,
                      .time_s = o->time_s,
                      .timeout_s = o->timeout_s,
                      .layers = o->generate ? ASSAY_LAYERS_OFF : layer_method(o->layers)},
        .keeping = {.output = o->output, .hash = o->hash, .ceilings = o->ceilings},
        .callbacks = {.interrupt = &assay__interrupted},
        .command_line = invocation->command_line,
        .script = o->script,
    };
}

static bool has_samples(const struct assay_profile *profile)
{
    for (size_t t = 0; profile && t < profile->trial_count; t++)
        for (size_t i = 0; i < profile->trials[t].launch_count; i++)
            if (profile->trials[t].launches[i].sample_count) return true;
    return false;
}

/* The report is printed even of a failed or interrupted run: what was measured is there, and says
 * so. */
static int show_run(const struct assay__run_flags *o, int code, struct assay_profile *profile,
                    const struct assay_error *run_error)
{
    struct assay__buf out = {0};
    struct assay_error error = {0};
    int status = ASSAY__EXIT_DONE;
    if (profile) {
        int rendered = assay__render(profile, &o->render, false, &out, &error);
        status = rendered ? assay__fail(rendered, &error) : assay__print(&out);
        int written = assay__report_file_write(profile, &o->render, o->report, o->quiet);
        if (!status) status = written;
        for (size_t i = 0; i < profile->trial_count && !code; i++)
            if (profile->trials[i].state == ASSAY__TRIAL_FAILED) code = ASSAY_EENGINE;
    }
    bool sampled = has_samples(profile);
    if (code == ASSAY_EINTERRUPTED) {
        assay__say(sampled && o->output ? "interrupted; what was measured is kept in %s"
                                        : "interrupted before anything was measured",
                   o->output);
        return ASSAY__EXIT_INTERRUPTED;
    }
    if (code) {
        int failed = assay__fail(code, run_error);
        return profile ? ASSAY__EXIT_FAILED
                       : failed; /* what was wrong once the run had begun is no wrong usage */
    }
    if (!status && o->output && !o->quiet) assay__say("profile kept in %s", o->output);
    return status || !o->table ? status : assay__require_status(profile);
}

int assay__run_go(struct assay__invocation *invocation, const struct assay__run_options *library)
{
    struct assay__run_flags *o = invocation->options;
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    if (!invocation->argument_count && !o->script)
        return assay__refuse("%s: MODEL is missing: assay %s [options] MODEL",
                             invocation->command->name, invocation->command->name);
    assay__render_top(invocation, &o->render);
    assay__catch_interrupts();
    struct assay__run_options asked = *library;
    asked.callbacks = assay__bar_start(&bar, invocation->command->name, o->quiet);
    if (o->table) {
        asked.conclude = assay__require_conclude;
        asked.conclude_context = (void *)(uintptr_t)o->table;
    }
    int code = assay__run_with_ceilings(&asked, &profile, &error);
    assay__bar_erase(&bar);
    int status = show_run(o, code, profile, &error);
    assay_profile_close(profile);
    return status;
}

int assay__run_show(const struct assay__run_flags *flags, const struct assay_profile *profile,
                    int code, const struct assay_error *error, size_t *usable)
{
    struct assay__buf out = {0};
    struct assay_error failed = {0};
    *usable = 0;
    if (!profile) return assay__fail(code, error);
    int rendered = assay__render(profile, &flags->render, false, &out, &failed);
    int status = rendered ? assay__fail(rendered, &failed) : assay__print(&out);
    int written = assay__report_file_write(profile, &flags->render, flags->report, flags->quiet);
    if (!status) status = written;
    for (size_t i = 0; i < profile->trial_count; i++)
        *usable += profile->trials[i].state == ASSAY__TRIAL_OK;
    if (code == ASSAY_EINTERRUPTED) {
        assay__say(flags->output ? "interrupted; what was measured is kept in %s" : "interrupted",
                   flags->output);
        return ASSAY__EXIT_INTERRUPTED;
    }
    return code ? assay__fail(code, error) : status;
}
