/* tune_public.c - a tuning from a caller's options to a profile: the space of configurations, the
 * goal, the measurement (tune_session.c). */
#include "base/clock.h"
#include "base/cpu_list.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "experiment/course.h"
#include "experiment/experiment.h"
#include "experiment/grid.h"
#include "experiment/shape_conflicts.h"
#include "experiment/tune_session.h"
#include "model/inputs/inputs.h"
#include "model/rewrite/rewrites.h"
#include "platform/platform.h"
#include "zoo/model_open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_S 60.0
#define BUDGET_LEAST_S 0.5     /* a launch starts a process, loads the model, warms up */
#define BUDGET_MOST_S 604800.0 /* as for other durations */
#define TIME_S 0.15            /* of a short launch */
#define TIME_ENERGY_S 1.0      /* sensors are slow */

struct work {
    struct assay__run_options run;
    const struct assay_tune_options *options;
    struct assay__arena *arena;
    struct assay__config_space space;
    struct assay__tune_job job;
    struct assay__plan plan;
    struct assay__course course;
};

/* --- the space -------------------------------------------------------------------------------- */

/* "1,2,4,…" up to the number of cores that the worker may use. */
static const char *default_threads(struct work *work)
{
    struct assay__machine machine = {0};
    const char *cpus = work->run.target.cpus, *list = "1";
    int cores = cpus ? assay__cpu_list_count(cpus) : 0;
    if (cores < 1) cores = assay__machine_read(work->arena, &machine) == 0 ? machine.cores : 1;
    for (int n = 2; n < cores; n *= 2)
        list = assay__arena_text(work->arena, "%s,%d", list, n);
    return cores > 1 ? assay__arena_text(work->arena, "%s,%d", list, cores) : list;
}

/* Whether the model could also be run with two samples. */
static bool batch_is_free(const struct assay_workload_options *w, const struct assay__model *model)
{
    struct assay__workload *workload = NULL;
    struct assay__workload_options two = {.batch = 2,
                                          .sequence = w->sequence,
                                          .dims = w->dims,
                                          .dim_count = w->dim_count,
                                          .shapes = w->shapes,
                                          .shape_count = w->shape_count,
                                          .shapes_only = true,
                                          .any_size = true};
    bool is_free = assay__workload_plan(model, &two, &workload, NULL) == 0 && workload->batch == 2;
    assay__workload_free(workload);
    return is_free;
}

static int read_space(struct work *work, const struct assay__model *model,
                      struct assay_error *error)
{
    struct assay_grid_options grid = work->options->grid;
    const struct assay_target_options *target = &work->run.target;
    struct assay__tune_job *job = &work->job;
    struct assay__device_selection words;
    bool named = target->device && strcmp(target->device, "cpu") != 0;
    const char *devices = NULL;
    int code = assay__grid_devices(&work->run, grid.devices, work->arena, &words, &job->software[0],
                                   error);
    if (code) return code;
    for (size_t i = 0; i < words.count && i < ASSAY__CONFIG_VALUES; i++) {
        job->software[i] = words.items[i].software;
        job->refusals[i] = *words.items[i].refusal ? words.items[i].refusal : NULL;
    }
    if (grid.devices) devices = assay__device_selection_list(&words, work->arena);
    if (!grid.precision) grid.precision = ASSAY__PRECISION_LIST;
    if (!grid.optimization) grid.optimization = "none,basic,extended,all";
    if (!grid.threads && !named) grid.threads = default_threads(work);
    bool one = grid.threads ? strcmp(grid.threads, "1") == 0 : target->threads == 1;
    if (!grid.spinning && one)
        assay__remark(&work->run.callbacks, "spinning is not varied: there is one thread");
    if (!grid.spinning && !named && !target->spinning_off && !one) grid.spinning = "on,off";
    if (!grid.batch && work->plan.goal == ASSAY__PLAN_THROUGHPUT &&
        batch_is_free(&work->run.workload, model))
        grid.batch = "1,2,4,8,16,32";
    if (assay__arena_failed(work->arena)) return assay__no_memory(error);
    return assay__grid_read(&work->space, &grid, devices, error);
}

static int make_space(struct work *work, struct assay_error *error)
{
    const char *name = work->run.workload.model;
    struct assay__config_space *space = &work->space;
    struct assay__config_values *precisions = &space->axes[ASSAY__AXIS_PRECISION];
    struct assay__model *model = NULL;
    int code = assay__model_open(name, &model, NULL, error);
    if (!code) code = read_space(work, model, error);
    if (!code) code = assay__space_shapes_check(space, &work->run, error);
    assay__model_free(model);
    if (!code) code = assay__config_rewrite(space, name, error);
    if (code) return code;
    if (!work->options->grid.precision) { /* a default that cannot be produced is not worth a row */
        size_t kept = 0;
        for (size_t i = 0; i < precisions->count; i++) {
            if (space->refusals[i]) continue;
            precisions->values[kept] = precisions->values[i];
            space->models[kept++] = space->models[i];
        }
        memset(space->refusals, 0, sizeof space->refusals);
        precisions->count = kept;
    }
    code = assay__config_count(space, ASSAY__GRID_POINTS, error);
    if (code) return code;
    if (space->points < 2)
        return assay__refuse_option(error, "grid",
                                    "nothing varies: there is only one configuration; give an axis "
                                    "more values, such as threads 1,2,4");
    work->plan.configurations = (int64_t)space->points;
    return 0;
}

/* --- running ---------------------------------------------------------------------------------- */

static int check(struct work *work, struct assay_error *error)
{
    const struct assay_tune_options *o = work->options;
    int code = assay__goal_read(&o->goal, "latency", &work->plan, error);
    if (code) return code;
    work->plan.budget_s = o->budget_s == 0 ? BUDGET_S : o->budget_s;
    if (!(work->plan.budget_s >= BUDGET_LEAST_S))
        return assay__refuse_option(error, "budget_s",
                                    "%.3g s is too short for one launch; use 30 s or more",
                                    work->plan.budget_s);
    if (work->plan.budget_s > BUDGET_MOST_S)
        return assay__refuse_option(error, "budget_s",
                                    "%.3g s is more than the limit of %g s (a week)",
                                    work->plan.budget_s, BUDGET_MOST_S);
    if (o->grid.spinning && work->run.target.spinning_off)
        return assay__refuse_option(
            error, "spinning",
            "disabled spinning and a list of spinning values cannot be used together");
    if (o->grid.batch && strchr(o->grid.batch, ',') && work->plan.goal == ASSAY__PLAN_LATENCY)
        return assay__refuse_option(error, "batch",
                                    "minimising the latency of several batch sizes (%s) would only "
                                    "find the smallest: give one size, or the goal throughput",
                                    o->grid.batch);
    return 0;
}

int assay__tune_model(const struct assay__run_options *run,
                      const struct assay_tune_options *options, struct assay_profile **profile,
                      struct assay_error *error)
{
    struct work *work = calloc(1, sizeof *work);
    struct assay__arms arms = {.count = 0};
    *profile = NULL;
    if (!work) return assay__no_memory(error);
    work->run = *run;
    work->options = options;
    work->arena = work->space.arena = assay__arena_new();
    work->job = (struct assay__tune_job){.space = &work->space,
                                         .whole = &work->run,
                                         .plan = &work->plan,
                                         .begin_ns = assay__now_ns(),
                                         .configurations = options->configurations,
                                         .seed = run->workload.seed,
                                         .course = &work->course};
    int code = work->arena ? check(work, error) : assay__no_memory(error);
    assay__course_begin(&work->course, &work->run.callbacks, work->plan.goal);
    struct assay_measuring_options *m = &work->run.measuring;
    bool energy = work->plan.goal == ASSAY__PLAN_ENERGY;
    work->run.command = "tune";
    work->run.watching.power = energy;
    m->launches = 1;
    if (!m->iterations && m->time_s == 0) m->time_s = energy ? TIME_ENERGY_S : TIME_S;
    if (m->timeout_s == 0) m->timeout_s = fmin(300, fmax(work->plan.budget_s, 1));
    m->launch_limit_s = fmax(work->plan.budget_s / 3, 2);
    if (!code) code = make_space(work, error);
    uint64_t ceilings_ns = assay__now_ns();
    if (!code) code = assay__grid_ceilings(&work->space, work->job.refusals, &work->run, error);
    if (run->keeping.ceilings) /* measuring them is not part of the budget */
        work->job.begin_ns += assay__now_ns() - ceilings_ns;
    work->course.begin_ns = work->job.begin_ns;
    if (work->plan.budget_s < 1e9) work->course.budget_ns = (uint64_t)(work->plan.budget_s * 1e9);
    if (!code) {
        code = assay__tune_measure(&arms, &work->job, error);
        if (!code) code = assay__arms_finish(&arms, profile, error);
        assay__arms_end(&arms);
    }
    assay__config_end(&work->space);
    assay__arena_free(work->arena);
    free(work);
    return code;
}

int assay_tune(const struct assay_run_options *run, const struct assay_tune_options *options,
               struct assay_profile **profile, struct assay_error *error)
{
    struct assay__run_options own;
    struct assay_tune_options read;
    int code = assay__experiment_read(run, options, &read, sizeof read, "tune", &own, profile,
                                      error);
    if (!code && !own.workload.model)
        code = assay_error_set(error, ASSAY_EINVAL, "no model to tune");
    return code ? code : assay__tune_model(&own, &read, profile, error);
}
