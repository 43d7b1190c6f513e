/* bench_run.c - the standard benchmarks (zoo/benchmarks.h) on one device or several, launches of
 * all of them alternating, so that drift of the machine affects all equally. */
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "base/text.h"
#include "experiment/bench_baseline.h"
#include "experiment/course.h"
#include "experiment/experiment.h"
#include "experiment/grid.h"
#include "experiment/quiet.h"
#include "experiment/run_ceilings.h"
#include "zoo/benchmarks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES 5
#define ITERATIONS 1000
#define CHOSEN_MOST 64

struct work {
    struct assay__run_options run;
    struct assay__arena *arena;
    struct assay__device_selection devices;
    const struct assay__benchmark *chosen[CHOSEN_MOST];
    size_t count;
    bool software; /* the only device is emulated */
    struct assay_profile *baseline;
    struct assay__course course;
};

/* --- what is measured ------------------------------------------------------------------------- */

/* The benchmarks have fixed sizes: with others, two profiles could not be compared. */
static int check_workload(const struct assay__run_options *run, struct assay_error *error)
{
    const struct assay_workload_options *w = &run->workload;
    const struct {
        const char *option;
        bool given;
    } fixed[] = {
        {"model", w->model != NULL},
        {"batch", w->batch != 0},
        {"sequence", w->sequence != 0},
        {"dims", w->dim_count != 0},
        {"shapes", w->shape_count != 0},
        {"inputs", w->input_count != 0},
        {"generate", w->generate != 0},
        {"prompt", w->prompt != 0},
        {"states", run->feedback.state_count != 0},
        {"seconds_per_inference", run->feedback.seconds_per_inference > 0},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (fixed[i].given)
            return assay__refuse_option(error, fixed[i].option,
                                        "the benchmarks have fixed models and inputs");
    return 0;
}

static int choose(struct work *work, const char *word, struct assay_error *error)
{
    const struct assay__benchmark *found = assay__benchmark_find(word);
    struct assay__text_nearest nearest = ASSAY__TEXT_NEAREST;
    for (size_t i = 0; !found && assay__benchmark_at(i); i++)
        assay__text_nearest_try(&nearest, word, assay__benchmark_at(i)->name);
    if (!found && *word && assay__text_near(word, nearest.distance))
        return assay__refuse_option(error, "only", "there is no benchmark '%s'; did you mean '%s'?",
                                    word, nearest.word);
    if (!found) return assay__refuse_option(error, "only", "there is no benchmark '%s'", word);
    for (size_t i = 0; i < work->count; i++)
        if (work->chosen[i] == found) return 0;
    if (work->count == CHOSEN_MOST)
        return assay__refuse_option(error, "only", "more than %d benchmarks", CHOSEN_MOST);
    work->chosen[work->count++] = found;
    return 0;
}

static int choose_all(struct work *work, const char *only, struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; !only && !code && assay__benchmark_at(i); i++)
        code = choose(work, assay__benchmark_at(i)->name, error);
    for (const char *at = only; at && !code; at++) {
        size_t length = strcspn(at, ",");
        const char *word = assay__arena_strndup(work->arena, at, length);
        code = word ? choose(work, word, error) : assay__no_memory(error);
        at += length;
        if (!*at) break;
    }
    return code;
}

static int choose_devices(struct work *work, const char *list, struct assay_error *error)
{
    struct assay_target_options *target = &work->run.target;
    int code = list ? 0 : assay__device_of_class(&work->run, work->arena, &target->device, error);
    if (!code)
        code = assay__grid_devices(&work->run, list, work->arena, &work->devices, &work->software,
                                   error);
    if (code || list) return code;
    const char *device = target->device ? target->device : "cpu";
    work->devices.items[work->devices.count++] = (struct assay__selected_device){
        .name = device, .kind = "", .software = work->software, .refusal = ""};
    return 0;
}

static int find_ceilings(struct work *work, struct assay_error *error)
{
    const char *devices[ASSAY__SELECTED_DEVICES];
    size_t count = 0;
    for (size_t i = 0; i < work->devices.count; i++)
        if (!*work->devices.items[i].refusal) devices[count++] = work->devices.items[i].name;
    return count ? assay__run_ceilings(work->arena, devices, count, &work->run, error) : 0;
}

/* --- measuring -------------------------------------------------------------------------------- */

static int add_arm(struct assay__arms *arms, struct work *work,
                   const struct assay__benchmark *benchmark,
                   const struct assay__selected_device *device, struct assay_error *error)
{
    struct assay__run_options one = work->run;
    const struct assay__axis_value axes[] = {{ASSAY__AXIS_BENCHMARK, benchmark->name},
                                             {ASSAY__AXIS_DEVICE, device->name}};
    const char *label = work->devices.count == 1 ? benchmark->name
                                                 : assay__arena_text(work->arena, "%s on %s",
                                                                     benchmark->name, device->name);
    const struct assay__arm_identity identity = {
        .label = label,
        .role = device->software ? ASSAY__ROLE_SOFTWARE : ASSAY__ROLE_NONE,
        .device_class = assay__device_class_parse(device->kind),
        .software = device->software,
        .axes = axes,
        .axis_count = 2};
    one.workload.model = benchmark->model;
    one.target.device = device->name;
    if (strchr(device->name, '/')) one.target.library = NULL; /* its build is named: "ovn/cpu" */
    return *device->refusal
               ? assay__arms_add_refused(arms, &one, &identity, device->refusal, NULL, error)
               : assay__arms_add(arms, &one, &identity, NULL, error);
}

/* Layers are timed after the latency, and only until they add up to it. */
static void time_layers_once(struct assay__arms *arms)
{
    for (size_t i = 0; i < arms->count; i++)
        if (arms->items[i] && arms->items[i]->outcome_count)
            arms->items[i]->without_layers = assay__arm_layers_fit(arms->items[i]);
}

static int launch_all(struct assay__arms *arms, struct work *work, struct assay_error *error)
{
    size_t *members = assay__arena_array(work->arena, arms->count + 1, sizeof *members), count = 0;
    int code = members ? 0 : assay__no_memory(error), launches = work->run.measuring.launches;
    for (size_t i = 0; i < arms->count && !code; i++)
        if (arms->items[i]) members[count++] = i;
    work->course.points = (int)arms->count;
    work->course.planned = count * (size_t)launches;
    work->course.begin_ns = assay__now_ns();
    for (int r = 0; r < launches && !code && !assay__arms_interrupted(arms); r++) {
        time_layers_once(arms);
        code = assay__course_round(&work->course, arms, members, count, r % 2 != 0, error);
    }
    const struct assay__quiet quiet = {
        .spent_s = (double)(assay__now_ns() - work->course.begin_ns) / 1e9,
        .left_s = INFINITY,
        .launches = launches};
    bool repeated;
    return code ? code : assay__arms_when_quiet(arms, members, count, &quiet, &repeated, error);
}

/* With several devices: do they compute the same? Compared with the first one. */
static int compare_outputs(struct assay__arms *arms, size_t devices, struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < arms->count && !code; i++) {
        code = assay__arms_nonfinite(arms, i, error);
        if (!code && i % devices) code = assay__arms_drift_one(arms, i - i % devices, i, error);
    }
    return code;
}

static int measure(struct work *work, struct assay_profile **profile, struct assay_error *error)
{
    struct assay__arms arms = {.count = 0};
    int code = assay__arms_begin(&arms, &work->run, NULL, error);
    for (size_t b = 0; b < work->count && !code; b++)
        for (size_t d = 0; d < work->devices.count && !code; d++)
            code = add_arm(&arms, work, work->chosen[b], &work->devices.items[d], error);
    if (!code) code = assay__arms_start(&arms, error);
    if (!code) code = launch_all(&arms, work, error);
    for (size_t i = 0; i < arms.count && !code; i++)
        code = assay__arms_conclude(&arms, i, error);
    if (!code) code = compare_outputs(&arms, work->devices.count, error);
    if (!code && work->baseline)
        code = assay__bench_baseline_put(arms.recording.profile, work->baseline, error);
    if (!code) code = assay__arms_finish(&arms, profile, error);
    assay__arms_end(&arms);
    return code;
}

int assay__bench(const struct assay__run_options *run, const struct assay_bench_options *options,
                 struct assay_profile **profile, struct assay_error *error)
{
    struct work *work = calloc(1, sizeof *work);
    *profile = NULL;
    if (!work) return assay__no_memory(error);
    work->run = *run;
    work->run.command = "bench";
    struct assay_measuring_options *m = &work->run.measuring;
    if (!m->launches) m->launches = LAUNCHES;
    if (!m->iterations && m->time_s == 0) m->iterations = ITERATIONS;
    assay__course_begin(&work->course, &work->run.callbacks, ASSAY__PLAN_LATENCY);
    work->course.cost = 0; /* none of them is the best: they are different models */
    work->arena = assay__arena_new();
    int code = work->arena ? check_workload(run, error) : assay__no_memory(error);
    if (!code) code = choose_all(work, options->only, error);
    if (!code && options->against)
        code = assay__bench_baseline_open(options->against, &work->baseline, error);
    if (!code) code = choose_devices(work, options->devices, error);
    if (!code) code = find_ceilings(work, error);
    if (!code) code = measure(work, profile, error);
    assay_profile_close(work->baseline);
    assay__arena_free(work->arena);
    free(work);
    return code;
}

int assay_bench(const struct assay_run_options *run, const struct assay_bench_options *options,
                struct assay_profile **profile, struct assay_error *error)
{
    struct assay__run_options own;
    struct assay_bench_options read;
    int code = assay__experiment_read(run, options, &read, sizeof read, "bench", &own, profile,
                                      error);
    return code ? code : assay__bench(&own, &read, profile, error);
}
