/* compare.c - one model on several devices, or several models on one, launches alternating. Devices
 * are those of every build of ONNX Runtime that run a tiny model; each build's own CPU provider
 * takes part as a control, so that a difference between versions is not mistaken for one between
 * devices. */
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "experiment/device_selection.h"
#include "experiment/experiment.h"
#include "experiment/quiet.h"
#include "experiment/run_ceilings.h"
#include "experiment/shape_conflicts.h"
#include "judge/comparison.h"
#include "judge/placement.h"
#include "run/arm/arms.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LAUNCHES 10
#define TIME_S 0.5
#define LAUNCH_LIMIT_S 120.0

/* A planned arm: what differs from the others. */
struct entry {
    const char *model, *device, *label;
    enum assay__trial_role role;
    bool software;
    const char *refused; /* why it cannot run; NULL */
};

/* Running out of memory is recorded in the arena. */
struct plan {
    struct assay__arena *arena;
    struct entry *items;
    size_t count;
};

/* `refused`: why it cannot run; NULL: it can. */
static void add(struct plan *plan, const char *model, const char *device, const char *label,
                enum assay__trial_role role, const char *refused)
{
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->items[i].label, label) == 0) return;
    struct entry *items = assay__arena_grow(plan->arena, plan->items, plan->count, sizeof *items);
    if (!items) return;
    plan->items = items;
    items[plan->count++] = (struct entry){
        .model = model,
        .device = device ? assay__arena_text(plan->arena, "%s", device) : NULL,
        .label = assay__arena_text(plan->arena, "%s", label),
        .role = role,
        .software = role == ASSAY__ROLE_SOFTWARE,
        .refused = refused ? assay__arena_text(plan->arena, "%s", refused) : NULL,
    };
}

/* --- devices ---------------------------------------------------------------------------------- */

/* For every word that occurs twice: a device that also belongs to a class in the list is not a
 * mistake. */
static void remark_duplicates(const struct assay_callbacks *callbacks, const char *list)
{
    size_t length;
    for (const char *at = list; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        for (const char *seen = list; seen < at; seen += strcspn(seen, ",") + 1) {
            if (strcspn(seen, ",") != length || strncmp(seen, at, length) != 0) continue;
            assay__remark(callbacks, "'%.*s' is listed twice; it is measured once", (int)length,
                          at);
            break;
        }
    }
}

static int plan_devices(struct plan *plan, const char *list, const struct assay__found *found,
                        const struct assay__run_options *run, struct assay_error *error)
{
    const char *model = run->workload.model;
    struct assay__device_selection selection;
    if (!list[strspn(list, ", ")])
        return assay__refuse_option(error, "devices",
                                    "the device list is empty: give names, or cpu, gpu, npu");
    int code = assay__device_selection_read(list, found, plan->arena, &selection, error);
    if (code) return code;
    remark_duplicates(&run->callbacks, list);
    for (size_t i = 0; i < selection.count; i++) {
        const struct assay__selected_device *word = &selection.items[i];
        const struct assay__found_device *item = assay__found_named(found, word->name);
        if (!item && !*word->kind)
            return assay__refuse_option(error, "devices", "there is no device '%s' here",
                                        word->name);
        const char *why = item && item->device.reason ? item->device.reason : word->refusal;
        add(plan, model, word->name, word->name,
            word->software ? ASSAY__ROLE_SOFTWARE : ASSAY__ROLE_NONE,
            !*word->refusal ? NULL
            : *why          ? why
                            : "not usable"); /* a row with the reason */
    }
    /* the CPU of another build, if another device of that build takes part */
    for (size_t i = 0, count = plan->count; i < count; i++) {
        const char *device = plan->items[i].device, *slash = strchr(device, '/');
        if (!slash || plan->items[i].refused) continue;
        const char *name = assay__arena_text(plan->arena, "%.*s/cpu", (int)(slash - device),
                                             device);
        const struct assay__found_device *cpu = assay__found_named(found, name);
        if (cpu && cpu->device.available) add(plan, model, name, name, ASSAY__ROLE_CONTROL, NULL);
    }
    return 0;
}

/* Labels omit the folder that all of them start with. */
static void plan_models(struct plan *plan, const struct assay_compare_options *options,
                        const char *device)
{
    const char *const *models = options->models;
    size_t skip = strlen(models[0]);
    for (size_t i = 1; i < options->model_count; i++) {
        size_t same = 0;
        while (same < skip && models[i][same] == models[0][same])
            same++;
        skip = same;
    }
    while (skip && models[0][skip - 1] != '/')
        skip--;
    for (size_t i = 0; i < options->model_count; i++)
        add(plan, models[i], device,
            assay__arena_text(plan->arena, "%zu: %s", i + 1, models[i] + skip), ASSAY__ROLE_NONE,
            NULL);
}

/* Every device that can be used. */
static void plan_found(struct plan *plan, const struct assay__found *found, const char *model)
{
    for (size_t i = 0; i < found->count; i++) {
        const struct assay__found_device *item = &found->items[i];
        enum assay__trial_role role = ASSAY__ROLE_NONE;
        if (!item->device.available) continue;
        if (item->device.software)
            role = ASSAY__ROLE_SOFTWARE;
        else if (strchr(item->name, '/') && strcmp(item->device.name, "cpu") == 0)
            role = ASSAY__ROLE_CONTROL; /* the CPU of a further build */
        add(plan, model, item->name, item->name, role, NULL);
    }
}

static int make_plan(struct plan *plan, const struct assay__run_options *run,
                     const struct assay_compare_options *options, struct assay_error *error)
{
    const char *device = run->target.device;
    bool several = options->model_count > 1,
         look = !several || (device && strcmp(device, "cpu") != 0);
    struct assay__found found = {.count = 0};
    if (options->devices && (several || device))
        return assay__refuse_option(
            error, "devices",
            several ? "a list of devices requires a single model; several models run on one device"
                    : "one device and a list of them cannot be used together");
    const struct assay__device_search search = {
        .engine = run->target.engine, .library = run->target.library, .callbacks = run->callbacks};
    int code = look ? assay__devices_find(&search, &found, error) : 0;
    if (code) goto out;
    if (several && look && !assay__found_named(&found, device))
        code = assay__refuse_option(error, "device", "there is no device '%s' here", device);
    else if (several)
        plan_models(plan, options, device);
    else if (options->devices)
        code = plan_devices(plan, options->devices, &found, run, error);
    else
        plan_found(plan, &found, run->workload.model);
    /* the reference is the default build's CPU, wherever it is in the list, else the first */
    for (size_t i = 0; i < plan->count && !several; i++)
        if (plan->items[i].device && strcmp(plan->items[i].device, "cpu") == 0) {
            struct entry kept = plan->items[i];
            memmove(&plan->items[1], &plan->items[0], i * sizeof kept);
            plan->items[0] = kept;
        }
    if (plan->count) plan->items[0].role = ASSAY__ROLE_REFERENCE;
out:
    assay__devices_free(&found);
    return code;
}

/* --- measuring -------------------------------------------------------------------------------- */

/* Repeats all rows if others used the machine and are done. */
static int again_when_quiet(struct assay__arms *arms, struct assay__arena *arena, uint64_t begin_ns,
                            struct assay_error *error)
{
    const struct assay__quiet quiet = {.spent_s = (double)(assay__now_ns() - begin_ns) / 1e9,
                                       .left_s = INFINITY,
                                       .launches = arms->whole.measuring.launches};
    size_t *all = assay__arena_array(arena, arms->count, sizeof *all);
    bool repeated;
    for (size_t i = 0; all && i < arms->count; i++)
        all[i] = i;
    return all ? assay__arms_when_quiet(arms, all, arms->count, &quiet, &repeated, error)
               : assay__no_memory(error);
}

static int measure(struct assay__arms *arms, const struct plan *plan,
                   const struct assay_compare_options *o, const struct assay__run_options *whole,
                   struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < plan->count && !code; i++) {
        const struct entry *entry = &plan->items[i];
        struct assay__run_options one = *whole;
        one.workload.model = entry->model;
        one.target.device = entry->device;
        const struct assay__arm_identity identity = {
            .label = entry->label, .role = entry->role, .software = entry->software};
        if (entry->device && strchr(entry->device, '/')) one.target.library = NULL;
        code = entry->refused
                   ? assay__arms_add_refused(arms, &one, &identity, entry->refused, NULL, error)
                   : assay__arms_add(arms, &one, &identity, NULL, error);
    }
    if (!code) code = assay__arms_start(arms, error);
    uint64_t begin_ns = assay__now_ns();
    if (!code) code = assay__arms_launch(arms, 0, arms->count, whole->measuring.launches, error);
    if (!code) code = again_when_quiet(arms, plan->arena, begin_ns, error);
    for (size_t i = 0; i < arms->count && !code; i++)
        code = assay__arms_conclude(arms, i, error);
    /* outputs are compared with those of the same row as the speed */
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all = {.reference = SIZE_MAX};
    if (!code && !o->no_drift &&
        (!arena || assay__comparison(arms->recording.profile, arena, &all)))
        code = assay__no_memory(error);
    for (size_t i = 0; i < arms->count && !code && all.reference != SIZE_MAX; i++) {
        code = assay__arms_nonfinite(arms, i, error);
        if (!code && arms->trials[i] == all.reference) code = assay__arms_drift(arms, i, error);
    }
    assay__arena_free(arena);
    for (size_t i = 0; i < arms->count && !code && !o->no_placement; i++) {
        if (!arms->items[i] || assay__arms_interrupted(arms)) continue;
        assay__progress(&arms->whole.callbacks, "querying the placement", -1);
        code = assay__placement_put(&arms->items[i]->options, arms->items[i]->model_path,
                                    arms->recording.profile, assay__arms_trial(arms, i), error);
        if (code == ASSAY_EINTERRUPTED) return 0; /* what exists is kept */
    }
    return code;
}

int assay__compare(const struct assay__run_options *given,
                   const struct assay_compare_options *options, struct assay_profile **profile,
                   struct assay_error *error)
{
    struct assay__run_options run = *given;
    struct assay_measuring_options *m = &run.measuring;
    struct plan plan = {.arena = assay__arena_new()};
    struct assay__arms arms = {.count = 0};
    *profile = NULL;
    run.command = "compare";
    if (!m->launches) m->launches = LAUNCHES;
    if (!m->iterations && m->time_s == 0) m->time_s = TIME_S;
    if (m->launch_limit_s == 0) m->launch_limit_s = LAUNCH_LIMIT_S;
    int code = make_plan(&plan, &run, options, error);
    const char **devices = assay__arena_array(plan.arena, plan.count, sizeof *devices);
    size_t usable = 0;
    for (size_t i = 0; devices && i < plan.count; i++)
        if (!plan.items[i].refused) devices[usable++] = plan.items[i].device;
    if (!code && assay__arena_failed(plan.arena)) code = assay__no_memory(error);
    if (!code && plan.count == 0)
        code = assay_error_set(error, ASSAY_EUNSUPPORTED, "no device can run it");
    for (size_t i = 0; i < plan.count && !code; i++)
        code = assay__model_shapes_check(&run, plan.items[i].model, plan.items[i].label, error);
    if (!code) code = assay__run_ceilings(plan.arena, devices, usable, &run, error);
    if (code) goto out;
    code = assay__arms_begin(&arms, &run, NULL, error);
    if (!code) code = measure(&arms, &plan, options, &run, error);
    if (!code) code = assay__arms_finish(&arms, profile, error);
    assay__arms_end(&arms);
out:
    assay__arena_free(plan.arena);
    return code;
}

int assay_compare(const struct assay_run_options *run, const struct assay_compare_options *options,
                  struct assay_profile **profile, struct assay_error *error)
{
    struct assay__run_options own;
    struct assay_compare_options read;
    int code = assay__experiment_read(run, options, &read, sizeof read, "compare", &own, profile,
                                      error);
    for (size_t i = 0; !code && i < read.model_count; i++)
        if (!read.models || !read.models[i])
            code = assay_error_set(error, ASSAY_EINVAL, "model %zu of the list is missing", i + 1);
    if (!code && !read.model_count && !own.workload.model)
        code = assay_error_set(error, ASSAY_EINVAL, "no model to compare on devices");
    return code ? code : assay__compare(&own, &read, profile, error);
}
