/* sweep_public.c - a sweep from a caller's options to a profile: the grid, the earlier part that it
 * resumes, the measurement (sweep_run.c). */
#include "base/clock.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "experiment/course.h"
#include "experiment/experiment.h"
#include "experiment/grid.h"
#include "experiment/shape_conflicts.h"
#include "experiment/sweep_run.h"

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
    bool software; /* the only device is emulated, if the device does not vary */
    struct assay__plan plan;
    uint64_t start_ns;
    struct assay__course course;
};

static int read_grid(struct work *work, struct assay_error *error)
{
    const struct assay_grid_options *grid = &work->options->grid;
    const char *list = NULL;
    if (grid->spinning && work->run.target.spinning_off)
        return assay__refuse_option(
            error, "spinning",
            "disabled spinning and a list of spinning values cannot be used together");
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
                                    "nothing varies: give at least one axis two or more values");
    return code;
}

/* --- an earlier part -------------------------------------------------------------------------- */

/* Points from two versions of ONNX Runtime do not belong to one sweep. (The fake engine has only
 * our own version.) */
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
            code = assay__refuse_option(error, "resume", "%s was measured with %s %s, now it is %s",
                                        work->kept->path, target->engine, target->engine_version,
                                        now);
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
                      "%zu of %zu points were complete%s; %zu launches were reused from %s",
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

/* The fake engine's times are scripted: how long its loading took is irrelevant. */
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
    if (!code) code = assay__space_shapes_check(&work->space, &work->run, error);
    bool earlier = !code && options->resume && assay__file_exists(output);
    if (!code && options->resume && !earlier)
        assay__remark(&run->callbacks, "there is no %s to resume yet: starting a new sweep",
                      output);
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
