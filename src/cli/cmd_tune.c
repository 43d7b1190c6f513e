/* cmd_tune.c - assay tune: the best configuration of one model for a goal, within a budget of time.
 * A search chooses what to try (experiment/tune.h); what it finds is judged by launches of its
 * own. */
#include "judge/comparison.h"
#include "judge/tune_report.h"
#include "experiment/tune_session.h"
#include "base/clock.h"
#include "base/cpu_list.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/device_selection.h"
#include "cli/render_options.h"
#include "cli/run_ceilings.h"
#include "cli/run_command.h"
#include "model/inputs/inputs.h"
#include "model/rewrite/rewrites.h"
#include "platform/platform.h"
#include "engine/engine.h"
#include "profile/profile.h"
#include "run/builds.h"
#include "zoo/model_open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MOST 400
#define BUDGET_S 60.0
#define BUDGET_LEAST_S 0.5 /* a launch starts a process, loads the model, warms up */
#define TIME_S 0.15        /* of a short launch */
#define TIME_ENERGY_S 1.0  /* sensors are slow */

struct tune_options {
    struct assay__run_flags run; /* first: the shared rows write it */
    const char *batch, *threads, *opt, *precision, *spinning, *devices, *goal, *slo, *memory,
        *budget;
    int64_t trials;
    bool allow_drift;
};

#define AT(member) offsetof(struct tune_options, member)
/* Lists and limits take one value: given twice, the first were lost unsaid. */
#define ONCE(name, member, argument, help)                                               \
    {                                                                                    \
        name, 0, ASSAY__OPTION_ONCE, AT(member), argument, help, NULL, NULL, 0, 0, false \
    }

static const struct assay__option options[] = {
    {"goal", 0, ASSAY__OPTION_CHOICE, AT(goal), "GOAL", "What is best (default latency).",
     "latency|throughput|energy", NULL, 0, 0, false},
    ONCE("budget", budget, "TIME", "How long it may take in all, such as 60s (default)."),
    ONCE("slo", slo, "PERCENTILE=TIME", "Advise only what is within a latency, such as p99=20ms."),
    ONCE("memory-budget", memory, "SIZE", "Advise only what takes at most so much, such as 500MB."),
    ONCE("devices", devices, "LIST",
         "Devices: names ('assay devices') or the classes cpu, gpu, npu (default: cpu)."),
    ONCE("batch", batch, "LIST",
         "Batch sizes (default with --goal throughput: 1 to 32, where the model leaves it free)."),
    ONCE("threads", threads, "LIST", "Threads (default: 1, 2, 4 … to the cores)."),
    ONCE("opt", opt, "LIST", "Graph optimisation: none, basic, extended, all (default: all four)."),
    ONCE("precision", precision, "LIST",
         ASSAY__PRECISION_NAMES " (default: those that can be made)."),
    ONCE("spinning", spinning, "LIST",
         "Whether idle threads spin: on, off (default: both on the CPU)."),
    {"trials", 0, ASSAY__OPTION_INTEGER, AT(trials), "N",
     "Configurations to try at most (default: a quarter of them, 16 at least).", NULL, NULL, 1,
     POINTS_MOST, false},
    {"allow-drift", 0, ASSAY__OPTION_FLAG, AT(allow_drift), NULL,
     "Advise a precision or a device whatever it does to the outputs.", NULL, NULL, 0, 0, false},
    {0},
};

struct work {
    struct assay__arena *arena;
    struct assay__config_space space;
    struct assay__tune_job job;
    struct assay__plan plan;
};

/* --- what is asked for ------------------------------------------------------------------------ */

static int usage(const char *format, const char *text)
{
    assay__say(format, text);
    return ASSAY__EXIT_USAGE;
}

static int check_conflicts(const struct assay__invocation *invocation, const struct tune_options *o)
{
    if (assay__option_given(invocation, "launches"))
        return usage("tune: it decides by itself how many launches; give %s instead", "--budget");
    if (o->spinning && o->run.no_spinning)
        return usage("tune: --spinning and %s exclude each other", "--no-spinning");
    if (o->devices && o->run.device)
        return usage("tune: --devices and %s exclude each other", "--device");
    if (o->batch && strchr(o->batch, ',') && (!o->goal || strcmp(o->goal, "latency") == 0))
        return usage("tune: --goal latency with several batch sizes (%s) would only find the "
                     "smallest: give one, or --goal throughput",
                     o->batch);
    return 0;
}

static int check_limits(const struct tune_options *o, struct work *work)
{
    double budget = BUDGET_S;
    uint64_t bytes = 0;
    struct assay_error error = {0};
    struct assay__plan *plan = &work->plan;
    *plan = assay__plan_unknown();
    plan->asked = true;
    plan->goal = assay__plan_goal_parse(o->goal ? o->goal : "latency");
    if (o->slo && assay__sweep_slo_check(o->slo, &error)) return usage("tune: %s", error.message);
    assay__plan_set_slo(plan, o->slo);
    if (o->memory && assay__sweep_memory_read(o->memory, &bytes, &error))
        return usage("tune: %s", error.message);
    if (o->memory) plan->memory_bytes = (double)bytes;
    if (!o->allow_drift) plan->drift_limit = ASSAY__DRIFT_LIMIT;
    if (o->budget && (assay__text_duration_s(o->budget, &budget) || !(budget > 0)))
        return usage("tune: --budget: '%s' is not a time such as 60s", o->budget);
    if (budget < BUDGET_LEAST_S)
        return usage("tune: --budget %s is too short for one launch; 30s or more is sensible",
                     o->budget);
    plan->budget_s = budget;
    return 0;
}

/* --- the space -------------------------------------------------------------------------------- */

static void count_cpu(void *context, unsigned cpu)
{
    (void)cpu;
    ++*(int *)context;
}

/* Of those that the worker may use. */
static int cores_of(const struct tune_options *o, struct work *work)
{
    struct assay__machine machine = {0};
    int cores = 0;
    if (o->run.cpus && assay__cpu_list_each(o->run.cpus, count_cpu, &cores) && cores > 0)
        return cores;
    if (assay__machine_read(work->arena, &machine) == 0 && machine.cores > 0) return machine.cores;
    return 1;
}

static const char *default_threads(const struct tune_options *o, struct work *work)
{
    int cores = cores_of(o, work);
    const char *list = "1";
    for (int n = 2; n < cores && list; n *= 2)
        list = assay__arena_printf(work->arena, "%s,%d", list, n);
    return cores > 1 && list ? assay__arena_printf(work->arena, "%s,%d", list, cores) : list;
}

/* Could the model be run with two samples as well as with one? */
static bool batch_is_free(const struct tune_options *o, const struct assay__model *model)
{
    struct assay__workload *workload = NULL;
    struct assay__workload_options two = {.batch = 2,
                                          .sequence = o->run.seq,
                                          .dims = o->run.dims.items,
                                          .dim_count = o->run.dims.count,
                                          .shapes = o->run.shapes.items,
                                          .shape_count = o->run.shapes.count,
                                          .shapes_only = true};
    bool is_free = assay__workload_plan(model, &two, &workload, NULL) == 0 && workload->batch == 2;
    assay__workload_free(workload);
    return is_free;
}

static int read_devices(const struct tune_options *o, struct work *work, const char **list)
{
    struct assay__devices_flags flags = {
        .engine = o->run.engine, .library = o->run.library, .quiet = o->run.quiet};
    struct assay__device_selection words = {.count = 0};
    struct assay__found found = {.count = 0};
    struct assay_error error = {0};
    *list = NULL;
    const char *engine = o->run.engine ? o->run.engine : "ort",
               *device = o->run.device ? assay__device_bare(o->run.device) : "cpu";
    if (!o->devices && assay__engine_device_class(engine, device) == ASSAY__CLASS_CPU) return 0;
    flags.quiet = flags.quiet || !o->devices;
    int status = assay__devices_find(&flags, &found);
    if (!status && assay__device_selection_read(o->devices ? o->devices : o->run.device, &found,
                                                work->arena, &words, &error))
        status = usage("tune: --devices: %s", error.message);
    if (!o->devices) { /* one device that is named: whether it is emulated */
        work->job.software[0] = words.count == 1 && words.items[0].software;
        assay__devices_free(&found);
        return status;
    }
    for (size_t i = 0; i < words.count && i < ASSAY__CONFIG_VALUES && !status; i++) {
        work->job.software[i] = words.items[i].software;
        work->job.refusals[i] = *words.items[i].refusal ? words.items[i].refusal : NULL;
    }
    if (!status) *list = assay__device_selection_list(&words, work->arena);
    if (!status && !*list) status = assay__fail(ASSAY_ENOMEM, NULL);
    assay__devices_free(&found);
    return status;
}

static int read_space(const struct tune_options *o, struct work *work,
                      const struct assay__model *model)
{
    struct assay_error error = {0};
    const char *lists[ASSAY__AXIS_COUNT] = {NULL};
    bool named = o->run.device != NULL && strcmp(o->run.device, "cpu") != 0;
    int code = 0, status = read_devices(o, work, &lists[ASSAY__AXIS_DEVICE]);
    if (status) return status;
    lists[ASSAY__AXIS_PRECISION] = o->precision ? o->precision : ASSAY__PRECISION_LIST;
    lists[ASSAY__AXIS_OPT] = o->opt ? o->opt : "none,basic,extended,all";
    lists[ASSAY__AXIS_THREADS] = o->threads ? o->threads : named ? NULL : default_threads(o, work);
    lists[ASSAY__AXIS_SPINNING] = o->spinning                   ? o->spinning
                                  : named || o->run.no_spinning ? NULL
                                                                : "on,off";
    lists[ASSAY__AXIS_BATCH] = o->batch ? o->batch
                               : work->plan.goal == ASSAY__PLAN_THROUGHPUT &&
                                       batch_is_free(o, model)
                                   ? "1,2,4,8,16,32"
                                   : NULL;
    for (size_t a = 0; a < ASSAY__AXIS_COUNT && !code; a++)
        if (lists[a])
            code = assay__config_read(&work->space, (enum assay__axis)a, lists[a], &error);
    if (!code) code = assay__config_check_threads(&work->space, &error);
    if (code) return usage("tune: %s", error.message);
    return 0;
}

/* A precision nobody asked for and that cannot be made is not worth a row. */
static void drop_refused(struct assay__config_space *space)
{
    struct assay__config_values *values = &space->axes[ASSAY__AXIS_PRECISION];
    size_t kept = 0;
    for (size_t i = 0; i < values->count; i++) {
        if (space->refusals[i]) continue;
        values->values[kept] = values->values[i];
        space->models[kept] = space->models[i];
        kept++;
    }
    for (size_t i = 0; i < values->count; i++)
        if (i >= kept || kept) space->refusals[i] = NULL;
    values->count = kept;
}

static int make_space(const struct tune_options *o, struct work *work, const char *model)
{
    struct assay_error error = {0};
    struct assay__model *opened = NULL;
    int code = assay__model_open(model, &opened, NULL, &error);
    if (code) return assay__fail(code, &error);
    int status = read_space(o, work, opened);
    assay__model_free(opened);
    if (status) return status;
    code = assay__config_rewrite(&work->space, model, &error);
    if (code) return assay__fail(code, &error);
    if (!o->precision) drop_refused(&work->space);
    if (assay__config_count(&work->space, POINTS_MOST, &error))
        return usage("tune: %s: leave values out", error.message);
    if (work->space.points < 2)
        return usage("tune: nothing varies: %s", "there is one configuration only; give an axis "
                                                 "more values, such as --threads 1,2,4");
    work->plan.configurations = (int64_t)work->space.points;
    return 0;
}

/* --- running ---------------------------------------------------------------------------------- */

static struct assay_run_options whole_of(const struct assay__invocation *invocation,
                                         const struct work *work, struct assay__bar *bar)
{
    const struct tune_options *o = invocation->options;
    struct assay_run_options whole = assay__run_options_of(invocation);
    bool energy = work->plan.goal == ASSAY__PLAN_ENERGY;
    whole.command = "tune";
    whole.launches = 1;
    if (!o->run.iters && !(o->run.time_s > 0)) whole.time_s = energy ? TIME_ENERGY_S : TIME_S;
    if (!assay__option_given(invocation, "layers")) whole.layers = ASSAY_LAYERS_OFF;
    if (!(o->run.timeout_s > 0)) whole.timeout_s = fmin(300, fmax(work->plan.budget_s, 1));
    whole.launch_limit_s = fmax(work->plan.budget_s / 3, 2);
    whole.power = energy;
    whole.progress = assay__bar_update;
    whole.progress_context = bar;
    return whole;
}

/* What every device of the space can do at most, as far as it is known. Measuring that is not part
 * of the budget. */
static int add_ceilings(const struct tune_options *o, struct work *work, struct assay__bar *bar,
                        struct assay_run_options *whole)
{
    const struct assay__config_values *axis = &work->space.axes[ASSAY__AXIS_DEVICE];
    const char *devices[ASSAY__CONFIG_VALUES] = {whole->device};
    size_t count = axis->count ? 0 : 1;
    uint64_t begin_ns = assay__now_ns();
    for (size_t d = 0; d < axis->count && d < ASSAY__CONFIG_VALUES; d++)
        if (!work->job.refusals[d]) devices[count++] = axis->values[d];
    int status = assay__run_ceilings_of(work->arena, o->run.ceilings, bar, devices, count, whole);
    if (o->run.ceilings) work->job.begin_ns += assay__now_ns() - begin_ns;
    return status;
}

static size_t measured(const struct assay_profile *profile)
{
    size_t good = 0;
    for (size_t t = 0; t < profile->trial_count; t++)
        for (size_t i = 0; i < profile->trials[t].launch_count; i++)
            good += profile->trials[t].launches[i].state == ASSAY__TRIAL_OK;
    return good;
}

static bool knows_energy(const struct assay_profile *profile)
{
    for (size_t t = 0; t < profile->trial_count; t++)
        if (isfinite(assay__trial_value(&profile->trials[t], "energy.inference.gross")))
            return true;
    return false;
}

/* What was tried and did not run, be the rest found: how many, and the first of them, the usual
 * settings before others. */
static void say_failed(const struct work *work, const struct assay_profile *profile)
{
    struct assay__tune_result result;
    if (assay__tune_result(profile, work->arena, &result) || !result.failed) return;
    const struct assay__tune_row *first = NULL;
    for (size_t i = 0; i < result.count; i++)
        if (result.rows[i].searched && result.rows[i].fate == ASSAY__FATE_FAILED &&
            (!first || result.rows[i].start))
            first = &result.rows[i];
    if (first)
        assay__say("%zu of %zu configurations could not be measured: %s%s: %s%s", result.failed,
                   result.configurations, first->judged.label,
                   first->start ? " (the usual settings)" : "", first->judged.reason,
                   result.failed > 1 ? "; the report has the others" : "");
}

static int show_tune(const struct tune_options *o, const struct work *work,
                     const struct assay_profile *profile, int code, const struct assay_error *error)
{
    size_t usable = 0;
    int status = assay__run_show(&o->run, profile, code, error, &usable);
    if (status) return status;
    if (!measured(profile)) {
        assay__say("tune: no configuration could be measured; the report says why");
        return ASSAY__EXIT_FAILED;
    }
    if (measured(profile) < 2) {
        bool late = (double)(assay__now_ns() - work->job.begin_ns) / 1e9 > work->plan.budget_s / 2;
        assay__say(late ? "tune: the budget of %.3g s was spent on one launch: there is nothing to "
                          "choose from; give more"
                        : "tune: one launch went well within %.3g s, no other: there is nothing to "
                          "choose from",
                   work->plan.budget_s);
        return ASSAY__EXIT_FAILED;
    }
    say_failed(work, profile);
    if (work->plan.goal == ASSAY__PLAN_ENERGY && !knows_energy(profile)) {
        assay__say("tune: energy per inference cannot be measured here ('assay doctor' says what "
                   "would); try --goal latency");
        return ASSAY__EXIT_FAILED;
    }
    if (o->run.output && !o->run.quiet) assay__say("profile kept in %s", o->run.output);
    return 0;
}

static int measure(struct assay__invocation *invocation, struct work *work)
{
    const struct tune_options *o = invocation->options;
    struct assay__arms arms = {.count = 0};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    struct assay_run_options whole = whole_of(invocation, work, &bar);
    work->job.space = &work->space;
    work->job.whole = &whole;
    work->job.plan = &work->plan;
    work->job.configurations = (size_t)o->trials;
    work->job.seed = (uint64_t)o->run.seed;
    assay__bar_start(&bar, o->run.quiet);
    int status = add_ceilings(o, work, &bar, &whole);
    if (status) return status;
    int code = assay__tune_measure(&arms, &work->job, &error);
    if (!code) code = assay__arms_finish(&arms, &profile, &error);
    assay__bar_erase(&bar);
    status = show_tune(o, work, profile, code, &error);
    assay_profile_close(profile);
    assay__arms_end(&arms);
    return status;
}

static int tune_model(struct assay__invocation *invocation)
{
    struct tune_options *o = invocation->options;
    struct work *work = calloc(1, sizeof *work);
    if (!work) return assay__fail(ASSAY_ENOMEM, NULL);
    int status = 0;
    work->job.begin_ns = assay__now_ns();
    work->arena = work->space.arena = assay__arena_new();
    if (!work->arena) status = assay__fail(ASSAY_ENOMEM, NULL);
    if (!status) status = assay__run_check(invocation);
    if (!status) status = check_conflicts(invocation, o);
    if (!status) status = check_limits(o, work);
    assay__render_top(invocation, &o->run.render);
    if (!status) assay__catch_interrupts();
    if (!status) status = make_space(o, work, invocation->arguments[0]);
    if (!status) status = measure(invocation, work);
    assay__config_end(&work->space);
    assay__arena_free(work->arena);
    free(work);
    return status;
}

const struct assay__command assay__command_tune = {
    .name = "tune",
    .summary = "search for the best configuration of a model within a budget of time",
    .arguments = "MODEL",
    .min_arguments = 1,
    .max_arguments = 1,
    .description =
        "Tries configurations of MODEL (device, precision, graph optimisation, threads, spinning, "
        "batch) in short launches until the budget is spent, "
        "and says which is best for the goal. A model of what was seen proposes what to try next; "
        "the likeliest ones are run again, half as many each "
        "time; the finalists are judged by five launches of their own with an exact rank test.\n\n"
        "Prints the Pareto front, the configurations that cannot be told from the best one, what "
        "each setting contributes, and the best as "
        "Python, C and JSON. A precision or a device whose outputs drift beyond 1 %, or are NaN or "
        "infinite, is not advised.",
    .examples = "  assay tune model.onnx --goal latency --budget 60s\n"
                "  assay tune resnet50 --goal throughput --slo p99=50ms --budget 2m\n"
                "  assay tune cfc --threads 1,2,4 --precision float32,float16 -o t.assay\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct tune_options),
    .run = tune_model,
};
