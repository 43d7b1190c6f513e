/* cmd_sweep.c - assay sweep: the options of a sweep, presets, and its messages. */
#include "base/file.h"
#include "cli/run_command.h"
#include "experiment/experiment.h"
#include "judge/require.h"
#include "judge/sweep.h"
#include "model/rewrite/rewrites.h"

#include <string.h>

struct sweep_options {
    struct assay__run_flags run; /* first: the shared rows write it */
    const char *batch, *seq, *threads, *opt, *precision, *spinning, *devices, *goal, *slo, *memory,
        *preset;
    bool power, resume, confirm, allow_drift;
};

#define AT(member) offsetof(struct sweep_options, member)
/* Lists and limits take one value: given twice, the first were lost unsaid. */
#define ONCE(name, member, argument, help)                                               \
    {                                                                                    \
        name, 0, ASSAY__OPTION_ONCE, AT(member), argument, help, NULL, NULL, 0, 0, false \
    }
#define FLAG(name, member, help)                                                     \
    {                                                                                \
        name, 0, ASSAY__OPTION_FLAG, AT(member), NULL, help, NULL, NULL, 0, 0, false \
    }

static const struct assay__option options[] = {
    ONCE("batch", batch, "LIST", "Batch sizes, such as 1,2,4,8,16,32."),
    ONCE("seq", seq, "LIST", "Lengths of the sequence axis."),
    ONCE("threads", threads, "LIST", "Threads of the engine."),
    ONCE("opt", opt, "LIST", "Graph optimisation: none, basic, extended, all."),
    ONCE("precision", precision, "LIST",
         ASSAY__PRECISION_NAMES "; others than float32 are rewritten copies."),
    ONCE("spinning", spinning, "LIST", "on, off: whether the engine's idle threads spin."),
    ONCE("devices", devices, "LIST",
         "Devices: names ('assay devices') or the classes cpu, gpu, npu; with --opt the "
         "configuration matrix."),
    ASSAY__CHOICE_ROW(
        "preset", 0, preset, "CHIP",
        "Batch size, and backbone units of the model 'cfc', from the requirement table of a chip.",
        "m1|m1-pro|m1-max|m1-ultra"),
    ASSAY__CHOICE_ROW("goal", 0, goal, "GOAL", "What is best (default throughput).",
                      "throughput|latency|energy"),
    ONCE("slo", slo, "PERCENTILE=TIME", "Only points within a latency, such as p99=20ms."),
    ONCE("memory-budget", memory, "SIZE",
         "Only points whose worker takes at most so much, such as 500MB."),
    FLAG("allow-drift", allow_drift,
         "Points whose outputs differ by more than 1 % from the CPU's at float32 may be the best."),
    FLAG("confirm", confirm, "Run the best two again with 10 launches each and test them."),
    FLAG("resume", resume, "Go on with the interrupted sweep in the file of --output."),
    FLAG("power", power, "Also read power and energy while it runs (--goal energy does)."),
    {0},
};

/* Its batch where none is asked for; its backbone when the model is a bare 'cfc'. Alone it compares
 * compiled with not. */
static int apply_preset(struct sweep_options *o, struct assay__arena *arena, const char **model)
{
    const struct assay__require_table *table = o->preset ? assay__require_preset(o->preset) : NULL;
    if (!table) return 0;
    bool varies = o->batch || o->seq || o->threads || o->opt || o->precision || o->spinning ||
                  o->devices;
    if (!varies) o->opt = "none,all";
    if (!o->batch) o->batch = assay__arena_printf(arena, "%lld", (long long)table->batch);
    if (strcmp(*model, "cfc") == 0 && !assay__file_exists(*model))
        *model = assay__arena_printf(arena, "cfc:backbone_units=%lld",
                                     (long long)table->backbone_units);
    return o->batch && *model ? 0 : assay__fail(ASSAY_ENOMEM, NULL);
}

/* Points that ran, and of them those that lost a launch. */
static size_t measured(const struct assay_profile *profile, size_t *lost)
{
    size_t good = 0;
    *lost = 0;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        good += trial->state == ASSAY__TRIAL_OK;
        *lost += trial->state == ASSAY__TRIAL_FAILED &&
                 assay__trial_went_on(trial, ASSAY__SWEEP_LAUNCHES);
    }
    return good + *lost;
}

static int show_sweep(const struct sweep_options *o, struct assay_profile *profile, int code,
                      const struct assay_error *error)
{
    size_t usable = 0, lost = 0;
    int status = assay__run_show(&o->run, profile, code, error, &usable);
    if (status) return status;
    usable = measured(profile, &lost);
    if (lost && !o->run.quiet)
        assay__say("sweep: %zu of %zu points lost a launch: judged by what is left%s", lost,
                   profile->trial_count, o->run.output ? "; --resume measures it again" : "");
    if (usable < profile->trial_count) { /* with the rest reported */
        assay__say(usable ? "sweep: %zu of %zu points could not be measured; the report says why"
                          : "sweep: no point could be measured; the report says why",
                   profile->trial_count - usable, profile->trial_count);
        status = ASSAY__EXIT_FAILED;
    }
    if (usable && o->run.output && !o->run.quiet) assay__say("profile kept in %s", o->run.output);
    return status;
}

static struct assay_sweep_options sweep_options_of(const struct sweep_options *o)
{
    return (struct assay_sweep_options){
        .grid = {.devices = o->devices,
                 .precision = o->precision,
                 .optimization = o->opt,
                 .threads = o->threads,
                 .sequence = o->seq,
                 .batch = o->batch,
                 .spinning = o->spinning},
        .goal = {.goal = o->goal,
                 .slo = o->slo,
                 .memory_budget = o->memory,
                 .allow_drift = o->allow_drift},
        .confirm = o->confirm,
        .resume = o->resume,
    };
}

static int sweep_model(struct assay__invocation *invocation)
{
    struct sweep_options *o = invocation->options;
    struct assay__arena *arena = assay__arena_new();
    const char *model = invocation->arguments[0];
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    int status = arena ? assay__run_check(invocation) : assay__fail(ASSAY_ENOMEM, NULL);
    if (!status) status = apply_preset(o, arena, &model);
    if (status) goto out;
    struct assay__run_options run = assay__run_options_of(invocation);
    run.workload.model = model;
    run.watching.power = o->power;
    if (!assay__option_given(invocation, "layers")) run.measuring.layers = ASSAY_LAYERS_OFF;
    run.callbacks = assay__bar_start(&bar, "sweep", o->run.quiet);
    const struct assay_sweep_options sweep = sweep_options_of(o);
    assay__catch_interrupts();
    int code = assay__sweep_model(&run, &sweep, &profile, &error);
    assay__bar_erase(&bar);
    status = show_sweep(o, profile, code, &error);
    assay_profile_close(profile);
out:
    assay__arena_free(arena);
    return status;
}

const struct assay__command assay__command_sweep = {
    .name = "sweep",
    .summary = "run a model over batch sizes, threads, precisions …; the knee and the optimum",
    .arguments = "MODEL",
    .min_arguments = 1,
    .max_arguments = 1,
    .description = "Runs MODEL at every point of a grid and says which point is best for a goal, "
                   "which others are tied with it, and where a larger batch stops paying. "
                   "Each point has three launches that measure for 0.5 s, alternating with those "
                   "of the other points; a point that fails (out of memory, a provider that "
                   "refuses it) is a row with its reason, and the status is 3.\n\n"
                   "An interrupted sweep with --output goes on when the same command is given with "
                   "--resume: only the launches that are missing are measured.",
    .examples = "  assay sweep resnet50 --batch 1,2,4,8,16\n"
                "  assay sweep model.onnx --threads 1,2,4 --opt none,all --goal latency\n"
                "  assay sweep cfc:units=64,outputs=16 --batch 1,8,64 --slo p99=1ms -o s.assay\n"
                "  assay sweep cfc --preset m1-max --opt none,all --devices cpu,gpu,npu\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct sweep_options),
    .run = sweep_model,
};
