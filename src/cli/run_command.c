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

const struct assay__option assay__run_rows[] = {
    ASSAY__STRING_ROW("output", 'o', output, "FILE", "Save the profile to FILE (*.assay)."),
    ASSAY__STRING_ROW("report", 0, report, "FILE",
                      "Also write the report to FILE: an HTML page, or the format of its extension "
                      "(.md, .csv, .json, .xml, .txt, .svg)."),
    ASSAY__SHAPE_ROWS,
    ASSAY__LIST_ROW("input", inputs, "INPUT=FILE.npy",
                    "Use real values for an input; may be repeated. A number, as in sr=16000, is "
                    "the value of every element."),
    ASSAY__LIST_ROW("state", states, "OUTPUT=INPUT",
                    "Feed an output back as an input of the next inference; may be repeated. "
                    "Default: where names or recurrent cells leave no doubt; none: nothing "
                    "is fed back."),
    ASSAY__DURATION_ROW("seconds-per-inference", seconds_per_inference,
                        "Duration of the audio or video that one inference covers, such as 32ms: "
                        "adds the real-time factor.",
                        1e-9, 1e9),
    ASSAY__INTEGER_ROW("generate", generate, "N",
                       "Make each inference a generation of N tokens: the prompt, then one token "
                       "at a time with the model's cache.",
                       1, 1e6),
    ASSAY__INTEGER_ROW("prompt", prompt, "N",
                       "Prompt tokens for --generate (default 32); same as --seq.", 1, 1e9),
    ASSAY__INTEGER_ROW("seed", seed, "N", "Seed of the synthetic inputs (default 0).", 0, 9e18),
    ASSAY__INTEGER_ROW(
        "warmup", warmup, "N",
        "Iterations discarded as warm-up (default: detected from the data, at least 10).", 0, 1e9),
    ASSAY__INTEGER_ROW("iters", iters, "N", "Exactly N iterations per launch.", 1, 1e9),
    ASSAY__DURATION_ROW("time", time_s,
                        "Measure for TIME per launch, such as 5s or 500ms (default: launches of "
                        "0.1 to 0.4 s).",
                        1e-3, 86400),
    ASSAY__INTEGER_ROW("launches", launches, "N",
                       "Worker processes, one after the other (default: 5 to 15 short ones, until "
                       "their medians agree; 1 with --time, --iters or --generate, or when power, "
                       "memory or counters are measured). With 5 or more, the report has an "
                       "interval between launches.",
                       1, 1000),
    ASSAY__INTEGER_ROW("streams", streams, "N", "Requests in flight (default 1).", 1, 1024),
    ASSAY__INTEGER_ROW("threads", threads, "N",
                       "Number of engine threads (default: chosen by the engine).", 1,
                       ASSAY__THREADS_MOST),
    ASSAY__STRING_ROW("cpus", 0, cpus, "LIST", "Pin the worker to these CPUs, such as 0-3,8."),
    ASSAY__CHOICE_ROW("opt", 0, opt, "LEVEL", "Graph optimisation of the engine (default all).",
                      "none|basic|extended|all"),
    ASSAY__STRING_ROW("device", 0, device, "NAME",
                      "Device to run on (default cpu), or gpu or npu: the first usable one of that "
                      "class; 'assay devices' lists them."),
    ASSAY__STRING_ROW("engine", 0, engine, "NAME",
                      "Engine that runs the model (default ort: ONNX Runtime)."),
    ASSAY__STRING_ROW(
        "library", 0, library, "FILE",
        "The engine's library (default: $ASSAY_ORT_LIBRARY, else the one set up here)."),
    ASSAY__STRING_ROW("provider-options", 0, provider_options, "LIST",
                      "Options of the device's execution provider, KEY=VALUE;KEY=VALUE, such as "
                      "cudnn_conv_algo_search=HEURISTIC (not for cpu)."),
    ASSAY__FLAG_ROW("no-spinning", 0, no_spinning, "Do not let the engine's idle threads spin."),
    {"layers", 0, ASSAY__OPTION_CHOICE, AT(layers), "METHOD",
     "How layers are timed (default auto).", "auto|markers|isolated|engine|off", "auto", 0, 0,
     false},
    ASSAY__DURATION_ROW("timeout", timeout_s,
                        "Kill a worker that does not respond for this long (default 300s).", 0.1,
                        604800),
    ASSAY__FLAG_ROW("ceilings", 0, ceilings,
                    "Measure the device's ceilings first, unless they are already saved (about 17 "
                    "s for the CPU)."),
    ASSAY__FLAG_ROW("hash", 0, hash, "Record the SHA-256 of the model file."),
    ASSAY__RENDER_ROWS(ASSAY__FORMAT_NAMES, ASSAY__TABLE_NAMES),
    ASSAY__FLAG_ROW("quiet", 'q', quiet,
                    "No progress or notes on stderr; errors are still printed."),
    {"script", 0, ASSAY__OPTION_STRING, AT(script), "SCRIPT", "Script of the fake engine.", NULL,
     NULL, 0, 0, true},
    {0},
};

static int check_generation(const char *command, const struct assay__run_flags *o,
                            bool layers_given)
{
    const char *wrong = NULL;
    if (o->prompt && !o->generate)
        wrong = "--prompt requires --generate N; without it, --seq sets the sequence length";
    else if (o->prompt && o->seq)
        wrong = "--prompt and --seq mean the same and cannot be used together";
    else if (o->generate && o->streams > 1)
        wrong = "--generate runs one stream; --batch N generates N sequences at once";
    else if (o->generate && layers_given && strcmp(o->layers, "off") != 0)
        wrong = "--layers and --generate cannot be used together: profile the layers of one step, "
                "such as gpt2:phase=decode,past=32";
    if (wrong) assay__say("%s: %s", command, wrong);
    return wrong ? ASSAY__EXIT_USAGE : 0;
}

static int check_states(const char *command, const struct assay__run_flags *o)
{
    if (o->generate && o->states.count)
        return assay__refuse(
            "%s: --state and --generate exclude each other: a generation feeds its "
            "own cache back",
            command);
    for (size_t i = 0; i < o->states.count; i++)
        if (!strchr(o->states.items[i], '=') && strcmp(o->states.items[i], "none") != 0)
            return assay__refuse("%s: --state: '%s' is not of the form OUTPUT=INPUT, or none",
                                 command, o->states.items[i]);
    return 0;
}

int assay__run_check(const struct assay__invocation *invocation)
{
    const struct assay__run_flags *o = invocation->options;
    const char *command = invocation->command->name;
    struct assay_error error = {0};
    struct stat file;
    int status = assay__shape_check(command, &o->dims, &o->shapes);
    if (!status)
        status = assay__option_pairs(command, "input", &o->inputs,
                                     "of the form INPUT=FILE.npy or INPUT=NUMBER");
    if (!status) status = check_states(command, o);
    if (status) return status;
    if (o->output && stat(o->output, &file) == 0 && S_ISDIR(file.st_mode)) {
        assay__say("%s: cannot write '%s': it is a folder; give the name of a file", command,
                   o->output);
        return ASSAY__EXIT_FAILED; /* like any path that cannot be written */
    }
    if (assay__format_of_path(o->output) || assay__path_is_svg(o->output))
        return assay__refuse(
            "%s: --output saves the profile (*.assay), not a report; for a report use --report %s",
            command, o->output);
    if (o->engine && !assay__engine_find(o->engine)) {
        struct assay__nearest nearest = {.word = o->engine};
        for (size_t i = 0; assay__engine_at(i); i++)
            assay__nearest_try(&nearest, assay__engine_at(i)->name);
        const char *best = assay__nearest_get(&nearest);
        return assay__refuse(best ? "%s: --engine: there is no engine '%s'; did you mean '%s'?"
                                  : "%s: --engine: there is no engine '%s'",
                             command, o->engine, best);
    }
    if (o->script && (!o->engine || strcmp(o->engine, "fake") != 0))
        return assay__refuse("%s: --script requires --engine fake", command);
    if (o->cpus &&
        (!isdigit((unsigned char)o->cpus[0]) || o->cpus[strspn(o->cpus, "0123456789,-")]))
        return assay__refuse("%s: --cpus: '%s' is not a list of CPUs such as 0-3,8", command,
                             o->cpus);
    if (o->iters && o->time_s > 0)
        return assay__refuse("%s: --iters and --time cannot be used together", command);
    if (assay__config_check_thread_count((long)o->threads, &error))
        return assay__fail(error.code, &error);
    status = check_generation(command, o, assay__option_given(invocation, "layers"));
    if (!status) status = assay__render_check(command, &o->render);
    if (!status) status = assay__report_file_check(command, o->report, o->output);
    return status ? status : assay__report_file_ending(command, "--report", o->report);
}

static enum assay_layer_method layer_method(const char *name)
{
    static const char *const names[] = {[ASSAY_LAYERS_AUTO] = "auto",
                                        [ASSAY_LAYERS_OFF] = "off",
                                        [ASSAY_LAYERS_MARKERS] = "markers",
                                        [ASSAY_LAYERS_ISOLATED] = "isolated",
                                        [ASSAY_LAYERS_ENGINE] = "engine"};
    for (size_t i = 0; name && i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0) return (enum assay_layer_method)i;
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
        .feedback = {.states = o->states.items,
                     .state_count = o->states.count,
                     .seconds_per_inference = o->seconds_per_inference},
        .command_line = invocation->command_line,
        .script = o->script,
        .provider_options = o->provider_options,
    };
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
    for (size_t i = 0; profile && i < profile->trial_count && !code; i++)
        if (profile->trials[i].state == ASSAY__TRIAL_FAILED) code = ASSAY_EENGINE;
    int status = assay__run_show(o, profile, code, &error);
    if (!status && o->output && !o->quiet) assay__say("profile saved to %s", o->output);
    if (!status && o->table) status = assay__require_status(profile);
    assay_profile_close(profile);
    return status;
}

int assay__run_interrupted(const struct assay__run_flags *flags,
                           const struct assay_profile *profile)
{
    bool sampled = false, sweep = profile && profile->kind == ASSAY__PROFILE_SWEEP;
    for (size_t t = 0; profile && t < profile->trial_count; t++)
        for (size_t i = 0; i < profile->trials[t].launch_count; i++)
            sampled |= profile->trials[t].launches[i].sample_count > 0;
    if (!sampled)
        assay__say("interrupted before anything was measured");
    else if (!flags->output)
        assay__say("interrupted; nothing is saved without -o FILE");
    else
        assay__say("interrupted; what was measured is saved in %s%s", flags->output,
                   sweep ? "; repeat the command with --resume to continue" : "");
    return ASSAY__EXIT_INTERRUPTED;
}

void assay__run_say_assumed(const struct assay__run_flags *flags,
                            const struct assay_profile *profile)
{
    if (!flags->quiet && profile->trial_count && profile->trials[0].assumed_count)
        assay__say_assumed(flags->render.json ? "json" : flags->render.format,
                           profile->trials[0].assumed[0]);
}

int assay__run_show(const struct assay__run_flags *flags, const struct assay_profile *profile,
                    int code, const struct assay_error *error)
{
    struct assay__buf out = {0};
    struct assay_error failed = {0};
    int status = ASSAY__EXIT_DONE;
    if (profile) {
        int rendered = assay__render(profile, &flags->render, false, &out, &failed);
        status = rendered ? assay__fail(rendered, &failed) : assay__print(&out);
        int written = assay__report_file_write(profile, &flags->render, flags->report,
                                               flags->quiet);
        if (!status) status = written;
        assay__run_say_assumed(flags, profile);
    }
    if (code == ASSAY_EINTERRUPTED) return assay__run_interrupted(flags, profile);
    if (!code) return status;
    status = assay__fail(code, error);
    return profile ? ASSAY__EXIT_FAILED : status; /* a failure of the run is not wrong usage */
}
