/* sweep_public.c - a sweep from a caller's options to a profile: the grid, the earlier part that it
 * goes on with, the measurement (sweep_run.c). */
#include "base/clock.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "experiment/course.h"
#include "experiment/experiment.h"
#include "experiment/grid.h"
#include "experiment/sweep_run.h"
#include "zoo/model_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES 3
#define TIME_S 0.5 /* at least: the longer a launch takes to load, the longer it measures */

struct work {
    struct assay__run_options run;
    const struct assay_sweep_options *options;
    struct assay__arena *arena;
    struct assay__config_space space;
    struct assay__device_selection words;
    const char *refusals[ASSAY__SELECTED_DEVICES];
    struct assay_profile *kept;
    bool software; /* the one device is emulated, when none varies */
    struct assay__plan plan;
    uint64_t start_ns;
    struct assay__course course;
};

static int read_grid(struct work *work, struct assay_error *error)
{
    const struct assay_grid_options *grid = &work->options->grid;
    const char *list = NULL;
    if (grid->spinning && work->run.target.spinning_off)
        return assay__refuse_option(error, "spinning",
                                    "spinning that is off and a list of it exclude each other");
    int code = assay__grid_devices(&work->run, grid->devices, work->arena, &work->words,
                                   &work->software, error);
    for (size_t i = 0; i < work->words.count; i++)
        work->refusals[i] = work->words.items[i].refusal;
    if (!code && grid->devices) {
        list = assay__device_selection_list(&work->words, work->arena);
        if (!list) return assay__no_memory(error);
    }
    if (!code) code = assay__grid_read(&work->space, grid, list, error);
    if (!code) code = assay__config_count(&work->space, ASSAY__GRID_POINTS, error);
    if (!code && work->space.points < 2)
        code = assay__refuse_option(error, "grid",
                                    "nothing varies: give an axis at least two values");
    return code;
}

/* A shape that is given and a batch or a sequence that varies must agree at every point: what
 * contradicts itself is refused before anything runs. */
static int check_shapes(struct work *work, struct assay_error *error)
{
    const struct assay__config_space *space = &work->space;
    bool varies = space->axes[ASSAY__AXIS_BATCH].count || space->axes[ASSAY__AXIS_SEQ].count;
    struct assay__model *model = NULL;
    struct assay_error why = {0};
    bool zoo = false;
    if (!varies || !work->run.workload.shape_count) return 0;
    int code = assay__model_named(work->run.workload.model, &model, &zoo, error);
    for (size_t point = 0; point < space->points && !code; point++) {
        struct assay__run_options one = work->run;
        struct assay__arm_identity identity = {0};
        struct assay__workload *workload = NULL;
        if (assay__config_apply(space, point, &one, &identity, &why)) continue;
        struct assay__workload_options plan = assay__workload_options_of(&one.workload);
        plan.shapes_only = plan.any_size = true;
        if (assay__workload_plan(model, &plan, &workload, &why) == ASSAY_EINVAL)
            code = assay__refuse_option(error, "shapes",
                                        "%s: %s; write ? for what varies, such as x=?x3x224x224",
                                        identity.label, why.message);
        assay__workload_free(workload);
    }
    assay__model_free(model);
    return code;
}

/* --- an earlier part -------------------------------------------------------------------------- */

/* Points of two versions of ONNX Runtime are no points of one sweep. (The fake engine has none but
 * ours.) */
static int check_versions(const struct work *work, struct assay_error *error)
{
    const struct assay__device_search search = {.engine = work->run.target.engine,
                                                .library = work->run.target.library};
    struct assay__found found = {.count = 0};
    int code = assay__devices_find(&search, &found, error);
    for (size_t i = 0; i < work->kept->trial_count && !code; i++) {
        const struct assay__target *target = &work->kept->trials[i].target;
        const char *now = NULL;
        for (size_t b = 0; b < found.build_count && !now; b++)
            if (strcmp(found.builds[b].engine, target->engine) == 0 &&
                strcmp(found.builds[b].name, target->build) == 0)
                now = found.builds[b].version;
        if (strcmp(target->engine, "ort") == 0 && target->engine_version[0] && now && *now &&
            strcmp(now, target->engine_version) != 0)
            code = assay__refuse_option(
                error, "resume", "%s was measured with %s %s, here it is %s", work->kept->path,
                target->engine, target->engine_version, now);
    }
    assay__devices_free(&found);
    return code;
}

/* --- measuring -------------------------------------------------------------------------------- */

static int measure(struct work *work, struct assay_profile **profile, struct assay_error *error)
{
    const struct assay_callbacks *callbacks = &work->run.callbacks;
    struct assay__arms arms = {.count = 0};
    struct assay__sweep_tally tally = {0};
    struct assay__sweep_plan plan = {
        .space = &work->space,
        .whole = &work->run,
        .devices = &work->words,
        .software = work->software,
        .kept = work->kept,
        .confirm = work->options->confirm,
        .start_ns = work->start_ns,
        .course = &work->course,
    };
    int code = assay__config_rewrite(&work->space, work->run.workload.model, error);
    if (!code) code = assay__arms_begin(&arms, &work->run, &work->plan, error);
    if (!code) code = assay__sweep_run(&arms, &plan, &tally, error);
    if (!code) code = assay__arms_finish(&arms, profile, error);
    char failed[64] = "";
    if (tally.points_failed)
        snprintf(failed, sizeof failed, ", %zu had failed", tally.points_failed);
    if (*profile && work->kept)
        assay__remark(callbacks,
                      "%zu of %zu points were complete%s; %zu launches were taken over from %s",
                      tally.points_kept, work->space.points, failed, tally.launches_kept,
                      work->run.keeping.output);
    if (*profile && plan.confirm && !tally.confirmed && !assay__arms_interrupted(&arms))
        assay__remark(callbacks, "fewer than two points can be ranked: nothing to confirm");
    if (*profile) { /* which borrows from it */
        (*profile)->earlier = work->kept;
        work->kept = NULL;
    }
    assay__arms_end(&arms);
    return code;
}

/* The fake engine's times are scripted: how long its loading really took says nothing. */
static bool is_scripted(const struct assay__run_options *run)
{
    return run->script || (run->target.engine && strcmp(run->target.engine, "fake") == 0);
}

int assay__sweep_model(const struct assay__run_options *run,
                       const struct assay_sweep_options *options, struct assay_profile **profile,
                       struct assay_error *error)
{
    struct work *work = calloc(1, sizeof *work);
    const char *output = run->keeping.output;
    *profile = NULL;
    if (!work) return assay__no_memory(error);
    work->run = *run;
    work->options = options;
    work->start_ns = assay__now_ns();
    work->arena = work->space.arena = assay__arena_new();
    int code = work->arena ? assay__goal_read(&options->goal, "throughput", &work->plan, error)
                           : assay__no_memory(error);
    if (!code && options->resume && !output)
        code = assay__refuse_option(
            error, "resume", "to resume, name the profile of the earlier sweep as the output");
    assay__course_begin(&work->course, &work->run.callbacks, work->plan.goal);
    struct assay_measuring_options *m = &work->run.measuring;
    work->run.command = "sweep";
    if (!m->launches) m->launches = LAUNCHES;
    if (!m->iterations && m->time_s == 0) {
        m->time_s = TIME_S;
        work->run.amortise = !is_scripted(&work->run);
    }
    work->run.watching.power |= work->plan.goal == ASSAY__PLAN_ENERGY;
    if (!code) code = read_grid(work, error);
    if (!code) code = check_shapes(work, error);
    bool earlier = !code && options->resume && assay__file_exists(output);
    if (!code && options->resume && !earlier)
        assay__remark(&run->callbacks, "there is no %s to resume yet: the sweep begins", output);
    if (earlier) code = assay_profile_open(output, &work->kept, error);
    if (earlier && !code) code = check_versions(work, error);
    if (!code) code = assay__grid_ceilings(&work->space, work->refusals, &work->run, error);
    if (!code) code = measure(work, profile, error);
    assay_profile_close(work->kept);
    assay__config_end(&work->space);
    assay__arena_free(work->arena);
    free(work);
    return code;
}

int assay_sweep(const struct assay_run_options *run, const struct assay_sweep_options *options,
                struct assay_profile **profile, struct assay_error *error)
{
    struct assay__run_options own;
    struct assay_sweep_options read;
    int code = assay__experiment_read(run, options, &read, sizeof read, "sweep", &own, profile,
                                      error);
    if (!code && !own.workload.model)
        code = assay_error_set(error, ASSAY_EINVAL, "no model to sweep");
    return code ? code : assay__sweep_model(&own, &read, profile, error);
}
