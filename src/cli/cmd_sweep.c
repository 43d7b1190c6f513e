/* cmd_sweep.c - assay sweep: one model at every point of a grid (device, precision, optimisation,
 * threads, spinning, sequence, batch), launches alternating between the points; what is best for a
 * goal, and where the knee is. A point that fails is a row with its reason. An interrupted sweep
 * goes on with --resume. */
#include "judge/comparison.h"
#include "judge/require.h"
#include "judge/sweep.h"
#include "experiment/sweep_run.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/device_selection.h"
#include "cli/run_ceilings.h"
#include "cli/run_command.h"
#include "engine/engine.h"
#include "model/rewrite/rewrites.h"
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES 3
#define TIME_S 0.5 /* with its loading a launch stays near 1 s */
#define POINTS_MOST 400

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
    {"preset", 0, ASSAY__OPTION_CHOICE, AT(preset), "CHIP",
     "Batch size, and backbone units of the model 'cfc', from the requirement table of a chip.",
     "m1|m1-pro|m1-max|m1-ultra", NULL, 0, 0, false},
    {"goal", 0, ASSAY__OPTION_CHOICE, AT(goal), "GOAL", "What is best (default throughput).",
     "throughput|latency|energy", NULL, 0, 0, false},
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

struct sweep_work {
    struct assay__arena *arena;
    struct assay__config_space space;
    struct assay__device_selection words;
    struct assay__sweep_device devices[ASSAY__SELECTED_DEVICES];
    struct assay_profile *kept;
    bool software; /* the one device is emulated, when none varies */
    const char *model;
    struct assay__plan plan;
};

static int usage(const struct assay_error *error)
{
    if (error->code == ASSAY_ENOMEM) return assay__fail(ASSAY_ENOMEM, NULL);
    assay__say("sweep: %s", error->message);
    return ASSAY__EXIT_USAGE;
}

/* --- the grid --------------------------------------------------------------------------------- */

/* What the words of the list, or the one device, are. */
static int read_devices(const struct sweep_options *o, struct sweep_work *work)
{
    struct assay__devices_flags flags = {
        .engine = o->run.engine, .library = o->run.library, .quiet = o->run.quiet || !o->devices};
    struct assay__found found = {.count = 0};
    struct assay__device_selection one = {.count = 0}, *words = o->devices ? &work->words : &one;
    struct assay_error error = {0};
    const char *engine = o->run.engine ? o->run.engine : "ort",
               *device = o->run.device ? assay__device_bare(o->run.device) : "cpu";
    if (!o->devices && assay__engine_device_class(engine, device) == ASSAY__CLASS_CPU) return 0;
    int status = assay__devices_find(&flags, &found);
    if (!status && assay__device_selection_read(o->devices ? o->devices : o->run.device, &found,
                                                work->arena, words, &error))
        status = usage(&error);
    assay__devices_free(&found);
    work->software = one.count == 1 && one.items[0].software;
    for (size_t i = 0; i < work->words.count; i++)
        work->devices[i] = (struct assay__sweep_device){
            assay__device_class_parse(work->words.items[i].kind), work->words.items[i].software,
            work->words.items[i].refusal};
    return status;
}

/* Its batch where none is asked for; its backbone when the model is a bare 'cfc'. Alone it compares
 * compiled with not. */
static int apply_preset(struct sweep_options *o, struct sweep_work *work)
{
    const struct assay__require_table *table = o->preset ? assay__require_preset(o->preset) : NULL;
    if (!table) return 0;
    bool varies = o->batch || o->seq || o->threads || o->opt || o->precision || o->spinning ||
                  o->devices;
    if (!varies) o->opt = "none,all";
    if (!o->batch) o->batch = assay__arena_printf(work->arena, "%lld", (long long)table->batch);
    if (!o->batch) return assay__fail(ASSAY_ENOMEM, NULL);
    if (strcmp(work->model, "cfc") != 0 || assay__file_exists(work->model)) return 0;
    work->model = assay__arena_printf(work->arena, "cfc:backbone_units=%lld",
                                      (long long)table->backbone_units);
    return work->model ? 0 : assay__fail(ASSAY_ENOMEM, NULL);
}

static int read_grid(const struct sweep_options *o, struct sweep_work *work)
{
    const char *const lists[ASSAY__AXIS_COUNT] = {
        [ASSAY__AXIS_DEVICE] = o->devices ? assay__device_selection_list(&work->words, work->arena)
                                          : NULL,
        [ASSAY__AXIS_PRECISION] = o->precision,
        [ASSAY__AXIS_OPT] = o->opt,
        [ASSAY__AXIS_THREADS] = o->threads,
        [ASSAY__AXIS_SPINNING] = o->spinning,
        [ASSAY__AXIS_SEQ] = o->seq,
        [ASSAY__AXIS_BATCH] = o->batch,
    };
    struct assay_error error = {0};
    int code = 0;
    for (size_t a = 0; a < ASSAY__AXIS_COUNT && !code; a++)
        if (lists[a])
            code = assay__config_read(&work->space, (enum assay__axis)a, lists[a], &error);
    if (!code) code = assay__config_check_threads(&work->space, &error);
    if (!code) code = assay__config_count(&work->space, POINTS_MOST, &error);
    if (!code && work->space.points < 2)
        code = assay_error_set(
            &error, ASSAY_EINVAL,
            "nothing varies: give an axis at least two values, such as --batch 1,2,4,8");
    return code ? usage(&error) : 0;
}

static int check_options(const struct sweep_options *o, struct sweep_work *work)
{
    uint64_t bytes = 0;
    struct assay_error e = {0};
    if (o->slo && assay__sweep_slo_check(o->slo, &e))
        ; /* said */
    else if (o->memory && assay__sweep_memory_read(o->memory, &bytes, &e))
        ; /* said */
    else if (o->devices && o->run.device)
        assay_error_set(&e, ASSAY_EINVAL, "--device and --devices exclude each other");
    else if (o->spinning && o->run.no_spinning)
        assay_error_set(&e, ASSAY_EINVAL, "--spinning and --no-spinning exclude each other");
    else if (o->resume && !o->run.output)
        assay_error_set(&e, ASSAY_EINVAL,
                        "--resume goes on with a file: name it with -o, as the sweep before did");
    if (e.code) return usage(&e);
    work->plan = assay__plan_unknown();
    work->plan.asked = true;
    work->plan.goal = assay__plan_goal_parse(o->goal);
    assay__plan_set_slo(&work->plan, o->slo);
    if (o->memory) work->plan.memory_bytes = (double)bytes;
    if (!o->allow_drift) work->plan.drift_limit = ASSAY__DRIFT_LIMIT;
    return 0;
}

/* --- an earlier part -------------------------------------------------------------------------- */

static const char *version_now(const struct assay__found *found, const struct assay__trial *trial)
{
    for (size_t i = 0; i < found->build_count; i++) {
        const struct assay__found_build *build = &found->builds[i];
        if (strcmp(build->engine, trial->target.engine) == 0 &&
            strcmp(build->name, trial->target.build) == 0)
            return build->version ? build->version : "";
    }
    return "";
}

/* Points of two versions of ONNX Runtime are no points of one sweep. (The fake engine has none but
 * ours.) */
static int check_versions(const struct sweep_options *o, const struct assay_profile *kept)
{
    struct assay__devices_flags flags = {
        .engine = o->run.engine, .library = o->run.library, .quiet = true};
    struct assay__found found = {.count = 0};
    int status = assay__devices_find(&flags, &found);
    for (size_t i = 0; i < kept->trial_count && !status; i++) {
        const struct assay__trial *trial = &kept->trials[i];
        const char *now = version_now(&found, trial);
        if (strcmp(trial->target.engine, "ort") != 0 || !trial->target.engine_version[0] || !*now ||
            strcmp(now, trial->target.engine_version) == 0)
            continue;
        assay__say("sweep: --resume: %s was measured with %s %s, here it is %s", kept->path,
                   trial->target.engine, trial->target.engine_version, now);
        status = ASSAY__EXIT_USAGE;
    }
    assay__devices_free(&found);
    return status;
}

static int open_kept(const struct sweep_options *o, struct sweep_work *work)
{
    struct assay_error error = {0};
    if (!o->resume) return 0;
    if (!assay__file_exists(o->run.output)) {
        if (!o->run.quiet)
            assay__say("sweep: --resume: there is no %s yet: the sweep begins", o->run.output);
        return 0;
    }
    int code = assay_profile_open(o->run.output, &work->kept, &error);
    if (code) return assay__fail(code, &error);
    return check_versions(o, work->kept);
}

/* --- measuring -------------------------------------------------------------------------------- */

/* What every device of the grid can do at most, as far as it is known. */
static int add_ceilings(const struct sweep_options *o, const struct sweep_work *work,
                        struct assay__bar *bar, struct assay_run_options *whole)
{
    const char *devices[ASSAY__SELECTED_DEVICES] = {whole->device};
    size_t count = work->words.count ? 0 : 1;
    for (size_t d = 0; d < work->words.count; d++)
        if (!*work->words.items[d].refusal) devices[count++] = work->words.items[d].name;
    return assay__run_ceilings_of(work->arena, o->run.ceilings, bar, devices, count, whole);
}

static struct assay_run_options whole_options(struct assay__invocation *invocation,
                                              const struct sweep_work *work, struct assay__bar *bar)
{
    const struct sweep_options *o = invocation->options;
    struct assay_run_options whole = assay__run_options_of(invocation);
    whole.command = "sweep";
    whole.model = work->model;
    whole.launches = o->run.launches ? (int)o->run.launches : LAUNCHES;
    if (!o->run.iters && !(o->run.time_s > 0)) whole.time_s = TIME_S;
    if (!assay__option_given(invocation, "layers")) whole.layers = ASSAY_LAYERS_OFF;
    whole.power = o->power || (o->goal && strcmp(o->goal, "energy") == 0);
    whole.progress = assay__bar_update;
    whole.progress_context = bar;
    return whole;
}

static void say_kept(const struct sweep_options *o, const struct sweep_work *work,
                     const struct assay__sweep_tally *tally)
{
    char failed[64] = "";
    if (tally->points_failed)
        snprintf(failed, sizeof failed, ", %zu had failed", tally->points_failed);
    if (work->kept && !o->run.quiet)
        assay__say("sweep: %zu of %zu points were complete%s; %zu launches were taken over from %s",
                   tally->points_kept, work->space.points, failed, tally->launches_kept,
                   o->run.output);
    if (o->confirm && !tally->confirmed && !assay__interrupted)
        assay__say("sweep: --confirm: fewer than two points can be ranked: nothing to confirm");
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

static int measure(struct assay__invocation *invocation, struct sweep_work *work, uint64_t start_ns)
{
    const struct sweep_options *o = invocation->options;
    struct assay__arms arms = {.count = 0};
    struct assay_profile *profile = NULL;
    struct assay__sweep_tally tally = {0};
    struct assay_error error = {0};
    struct assay__bar bar;
    assay__bar_start(&bar, o->run.quiet);
    struct assay_run_options whole = whole_options(invocation, work, &bar);
    int status = add_ceilings(o, work, &bar, &whole);
    if (status) return status;
    struct assay__sweep_plan plan = {
        .space = &work->space,
        .whole = &whole,
        .devices = work->words.count ? work->devices : NULL,
        .software = work->software,
        .kept = work->kept,
        .confirm = o->confirm,
        .start_ns = start_ns,
    };
    int code = assay__config_rewrite(&work->space, work->model, &error);
    if (!code) code = assay__arms_begin(&arms, &whole, &work->plan, &error);
    if (!code) code = assay__sweep_run(&arms, &plan, &tally, &error);
    if (!code) code = assay__arms_finish(&arms, &profile, &error);
    assay__bar_erase(&bar);
    if (profile) say_kept(o, work, &tally);
    status = show_sweep(o, profile, code, &error);
    assay_profile_close(profile);
    assay__arms_end(&arms);
    return status;
}

static int sweep_model(struct assay__invocation *invocation)
{
    struct sweep_options *o = invocation->options;
    uint64_t start_ns = assay__now_ns();
    struct sweep_work *work = calloc(1, sizeof *work);
    int status = work ? 0 : assay__fail(ASSAY_ENOMEM, NULL);
    if (work) work->arena = work->space.arena = assay__arena_new();
    if (work && !work->arena) status = assay__fail(ASSAY_ENOMEM, NULL);
    if (!status) work->model = invocation->arguments[0];
    if (!status) status = assay__run_check(invocation);
    if (!status) status = check_options(o, work);
    if (!status) status = apply_preset(o, work);
    if (!status) assay__catch_interrupts();
    if (!status) status = read_devices(o, work);
    if (!status) status = read_grid(o, work);
    if (!status) status = open_kept(o, work);
    if (!status) status = measure(invocation, work, start_ns);
    if (work) {
        assay_profile_close(work->kept);
        assay__config_end(&work->space);
        assay__arena_free(work->arena);
    }
    free(work);
    return status;
}

const struct assay__command assay__command_sweep = {
    .name = "sweep",
    .summary = "run a model over batch sizes, threads, precisions …; the knee and the optimum",
    .arguments = "MODEL",
    .min_arguments = 1,
    .max_arguments = 1,
    .description = "Runs MODEL at every point of a grid and says which point is best for a goal, "
                   "which others could not be told from it, and where "
                   "a larger batch stops paying. Each point has three launches that measure for "
                   "0.5 s, alternating with those of the other "
                   "points; a point that fails (out of memory, a provider that refuses it) is a "
                   "row with its reason, and the status is 3.\n\n"
                   "An interrupted sweep with --output goes on when the same command is given with "
                   "--resume: only the launches that are missing are "
                   "measured.",
    .examples = "  assay sweep resnet50 --batch 1,2,4,8,16\n"
                "  assay sweep model.onnx --threads 1,2,4 --opt none,all --goal latency\n"
                "  assay sweep cfc:units=64,outputs=16 --batch 1,8,64 --slo p99=1ms -o s.assay\n"
                "  assay sweep cfc --preset m1-max --opt none,all --devices cpu,gpu,npu\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct sweep_options),
    .run = sweep_model,
};
