/* cmd_sweep.c - assay sweep: the options of a sweep, presets, and its messages. */
#include "base/file.h"
#include "cli/run_command.h"
#include "experiment/experiment.h"
#include "judge/require.h"
#include "judge/sweep.h"
#include "model/rewrite/rewrites.h"

#include <string.h>

struct sweep_options {
    struct assay__run_flags run; /* first: the shared option rows write to it */
    struct assay_sweep_options sweep;
    const char *preset;
    bool power;
};

#define AT(member) offsetof(struct sweep_options, member)
/* Lists and limits take one value: if given twice, the first would be silently lost. */
#define LIST(name, member, help) ASSAY__ONCE_ROW(name, sweep.grid.member, "LIST", help)

static const struct assay__option options[] = {
    LIST("batch", batch, "Batch sizes, such as 1,2,4,8,16,32."),
    LIST("seq", sequence, "Lengths of the sequence axis."),
    LIST("threads", threads, "Threads of the engine."),
    LIST("opt", optimization, "Graph optimisation: none, basic, extended, all."),
    LIST("precision", precision, ASSAY__PRECISION_NAMES "; all but float32 are rewritten copies."),
    LIST("spinning", spinning, "on, off: whether the engine's idle threads spin."),
    LIST("devices", devices,
         "Devices: names ('assay devices') or the classes cpu, gpu, npu; with --opt, the "
         "configuration matrix."),
    ASSAY__INTEGER_ROW("launches", run.launches, "N",
                       "Worker processes per point, alternating (default 3).", 1, 1000),
    ASSAY__DURATION_ROW(
        "time", run.time_s,
        "Measure for TIME per launch, such as 2s (default 500ms); without it, longer "
        "where loading takes long.",
        1e-3, 86400),
    ASSAY__CHOICE_ROW(
        "preset", 0, preset, "CHIP",
        "Batch size, and backbone units of the model 'cfc', from the requirement table of a chip.",
        "m1|m1-pro|m1-max|m1-ultra"),
    ASSAY__CHOICE_ROW("goal", 0, sweep.goal.goal, "GOAL", "What to optimise (default throughput).",
                      "throughput|latency|energy"),
    ASSAY__ONCE_ROW("slo", sweep.goal.slo, "PERCENTILE=TIME",
                    "Only points within a latency limit, such as p99=20ms."),
    ASSAY__ONCE_ROW("memory-budget", sweep.goal.memory_budget, "SIZE",
                    "Only points whose worker uses at most this much memory, such as 500MB."),
    ASSAY__FLAG_ROW(
        "allow-drift", 0, sweep.goal.allow_drift,
        "Also consider points whose outputs differ by more than 1 % from float32 on the CPU."),
    ASSAY__FLAG_ROW("confirm", 0, sweep.confirm,
                    "Run the best two again with 10 launches each and test the difference."),
    ASSAY__FLAG_ROW("resume", 0, sweep.resume,
                    "Continue the interrupted sweep in the --output file."),
    ASSAY__FLAG_ROW("power", 0, power,
                    "Also read power and energy during the run (implied by --goal energy)."),
    {0},
};

/* The batch of the chip if none is given, and its backbone if the model is a bare 'cfc'. On its own
 * a preset compares compiled with not compiled. */
static int apply_preset(struct sweep_options *o, struct assay__arena *arena, const char **model)
{
    const struct assay__require_table *table = o->preset ? assay__require_preset(o->preset) : NULL;
    struct assay_grid_options *grid = &o->sweep.grid;
    if (!table) return 0;
    bool varies = grid->batch || grid->sequence || grid->threads || grid->optimization ||
                  grid->precision || grid->spinning || grid->devices;
    if (!varies) grid->optimization = "none,all";
    if (!grid->batch) grid->batch = assay__arena_printf(arena, "%lld", (long long)table->batch);
    if (strcmp(*model, "cfc") == 0 && !assay__file_exists(*model))
        *model = assay__arena_printf(arena, "cfc:backbone_units=%lld",
                                     (long long)table->backbone_units);
    return grid->batch && *model ? 0 : assay__fail(ASSAY_ENOMEM, NULL);
}

static int show_sweep(const struct sweep_options *o, struct assay_profile *profile, int code,
                      const struct assay_error *error)
{
    size_t usable = 0, lost = 0; /* points that ran, and those of them that lost a launch */
    int status = assay__run_show(&o->run, profile, code, error);
    if (status) return status;
    for (size_t i = 0; i < profile->trial_count; i++) {
        const struct assay__trial *trial = &profile->trials[i];
        bool went_on = trial->state == ASSAY__TRIAL_FAILED &&
                       assay__trial_went_on(trial, ASSAY__SWEEP_LAUNCHES);
        usable += trial->state == ASSAY__TRIAL_OK || went_on;
        lost += went_on;
    }
    if (lost && !o->run.quiet)
        assay__say("sweep: %zu of %zu points lost a launch: judged by the remaining ones%s", lost,
                   profile->trial_count, o->run.output ? "; --resume measures it again" : "");
    if (usable < profile->trial_count) { /* but the rest is reported */
        assay__say(usable ? "sweep: %zu of %zu points could not be measured; the report says why"
                          : "sweep: no point could be measured; the report says why",
                   profile->trial_count - usable, profile->trial_count);
        status = ASSAY__EXIT_FAILED;
    }
    if (usable && o->run.output && !o->run.quiet) assay__say("profile saved to %s", o->run.output);
    return status;
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
    assay__catch_interrupts();
    int code = assay__sweep_model(&run, &o->sweep, &profile, &error);
    assay__bar_erase(&bar);
    status = show_sweep(o, profile, code, &error);
    assay_profile_close(profile);
out:
    assay__arena_free(arena);
    return status;
}

const struct assay__command assay__command_sweep = {
    .name = "sweep",
    .summary = "run a model over batch sizes, threads, precisions …; find the knee and the optimum",
    .arguments = "MODEL",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "Runs MODEL at every point of a grid and says which point is best for a goal, which others "
        "are tied with it, and where a larger batch stops paying off. Each point gets three "
        "launches, alternating with those of the other points, which measure for 0.5 s or longer "
        "than they took to load; a point that fails (out of memory, refused by a provider) is "
        "shown with the reason, and the exit status is 3.\n\nTo continue an interrupted sweep with "
        "--output, repeat the command with --resume: only the missing launches are measured.",
    .examples = "  assay sweep resnet50 --batch 1,2,4,8,16\n"
                "  assay sweep model.onnx --threads 1,2,4 --opt none,all --goal latency\n"
                "  assay sweep cfc:units=64,outputs=16 --batch 1,8,64 --slo p99=1ms -o s.assay\n"
                "  assay sweep cfc --preset m1-max --opt none,all --devices cpu,gpu,npu\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct sweep_options),
    .run = sweep_model,
};
