/* cmd_compare.c - assay compare: one model on several devices, or several models on one, launches
 * alternating. Devices are those of every build of ONNX Runtime that run a tiny model; each build's
 * own CPU provider takes part as a control, so that a difference of versions is not taken for one
 * of devices. */
#include "judge/comparison.h"
#include "judge/placement.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/commands.h"
#include "cli/device_selection.h"
#include "cli/device_list.h"
#include "cli/run_ceilings.h"
#include "cli/run_command.h"
#include "profile/profile.h"
#include "run/arm/arms.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAUNCHES 10
#define TIME_S 0.5
#define LAUNCH_LIMIT_S 120.0

struct compare_options {
    struct assay__run_flags run; /* first: the shared rows write it */
    const char *devices;
    double launch_limit_s;
    bool no_power, no_drift, no_placement, memory;
};

#define AT(member) offsetof(struct compare_options, member)

static const struct assay__option options[] = {
    {"devices", 0, ASSAY__OPTION_STRING, AT(devices), "LIST",
     "Devices, separated by commas: names ('assay devices') or the classes cpu, gpu, npu (default: "
     "all that are usable).",
     NULL, NULL, 0, 0, false},
    {"no-power", 0, ASSAY__OPTION_FLAG, AT(no_power), NULL, "Do not read the sensors.", NULL, NULL,
     0, 0, false},
    {"no-drift", 0, ASSAY__OPTION_FLAG, AT(no_drift), NULL, "Do not compare the outputs.", NULL,
     NULL, 0, 0, false},
    {"no-placement", 0, ASSAY__OPTION_FLAG, AT(no_placement), NULL,
     "Do not ask the engines which nodes run where.", NULL, NULL, 0, 0, false},
    {"launches", 0, ASSAY__OPTION_INTEGER, AT(run.launches), "N",
     "Worker processes of each row, taking turns (default 10; 5 or more give a verdict).", NULL,
     NULL, 1, 1000, false},
    {"time", 0, ASSAY__OPTION_DURATION, AT(run.time_s), "TIME",
     "Measure for TIME per launch, such as 2s (default 500ms).", NULL, NULL, 1e-3, 86400, false},
    {"memory", 0, ASSAY__OPTION_FLAG, AT(memory), NULL,
     "Follow the worker's and the device's memory too: one launch more of each.", NULL, NULL, 0, 0,
     false},
    {"launch-limit", 0, ASSAY__OPTION_DURATION, AT(launch_limit_s), "TIME",
     "End a launch that takes longer, and leave that row out of later rounds; what it measured by "
     "then is shown (default 120s).",
     NULL, NULL, 0.1, 604800, false},
    {0},
};

/* One arm to be: what differs from the others. */
struct entry {
    const char *model, *device, *label;
    enum assay__trial_role role;
    bool software;
    const char *refused; /* why it cannot run; NULL */
};

struct plan {
    struct assay__arena *arena;
    struct entry *items;
    size_t count, capacity;
};

static int add(struct plan *plan, const char *model, const char *device, const char *label,
               enum assay__trial_role role)
{
    for (size_t i = 0; i < plan->count; i++)
        if (strcmp(plan->items[i].label, label) == 0) return 0;
    if (assay__vec_grow((void **)&plan->items, &plan->capacity, plan->count + 1,
                        sizeof *plan->items))
        return assay__fail(ASSAY_ENOMEM, NULL);
    struct entry made = {.model = model,
                         .label = assay__arena_strdup(plan->arena, label),
                         .role = role,
                         .software = role == ASSAY__ROLE_SOFTWARE};
    if (device) made.device = assay__arena_strdup(plan->arena, device);
    if (!made.label || (device && !made.device)) return assay__fail(ASSAY_ENOMEM, NULL);
    plan->items[plan->count++] = made;
    return 0;
}

/* The entry that was added last cannot run. */
static int refuse(struct plan *plan, const char *reason)
{
    const char *kept = assay__arena_strdup(plan->arena, reason && *reason ? reason : "not usable");
    plan->items[plan->count - 1].refused = kept;
    return kept ? 0 : assay__fail(ASSAY_ENOMEM, NULL);
}

/* --- devices ---------------------------------------------------------------------------------- */

static enum assay__trial_role role_of(const struct assay__found_device *item)
{
    bool prefixed = strchr(item->name, '/') != NULL;
    if (item->device.software) return ASSAY__ROLE_SOFTWARE;
    if (prefixed && strcmp(item->device.name, "cpu") == 0) return ASSAY__ROLE_CONTROL;
    return ASSAY__ROLE_NONE;
}

static int add_all(struct plan *plan, const struct assay__found *found, const char *model)
{
    int status = 0;
    for (size_t i = 0; i < found->count && !status; i++) {
        const struct assay__found_device *item = &found->items[i];
        if (item->device.available)
            status = add(plan, model, item->name, item->name, role_of(item));
    }
    return status;
}

/* Of every word that stands there twice: a device that also belongs to a class of the list is no
 * mistake. */
static int say_duplicates(struct assay__arena *arena, const char *list)
{
    size_t length;
    for (const char *at = list; *at; at += length + (at[length] == ',')) {
        length = strcspn(at, ",");
        for (const char *seen = list; seen < at; seen += strcspn(seen, ",") + 1) {
            if (strcspn(seen, ",") != length || strncmp(seen, at, length) != 0) continue;
            const char *word = assay__arena_strndup(arena, at, length);
            if (!word) return assay__fail(ASSAY_ENOMEM, NULL);
            assay__say("compare: '%s' is named twice; it is measured once", word);
            break;
        }
    }
    return 0;
}

static const struct assay__found_device *find_device(const struct assay__found *found,
                                                     const char *name)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->items[i].name, name) == 0) return &found->items[i];
    return NULL;
}

static int say_unknown(const char *name)
{
    assay__say("compare: there is no device '%s'; 'assay devices' lists them", name);
    return ASSAY__EXIT_USAGE;
}

/* The CPU of a further build, when another device of that build takes part. */
static int add_controls(struct plan *plan, const struct assay__found *found, const char *model)
{
    int status = 0;
    for (size_t i = 0, count = plan->count; i < count && !status; i++) {
        const char *slash = strchr(plan->items[i].device, '/');
        if (!slash || plan->items[i].refused) continue;
        const char *name = assay__arena_printf(
            plan->arena, "%.*s/cpu", (int)(slash - plan->items[i].device), plan->items[i].device);
        if (!name) return assay__fail(ASSAY_ENOMEM, NULL);
        const struct assay__found_device *cpu = find_device(found, name);
        if (cpu && cpu->device.available)
            status = add(plan, model, name, name, ASSAY__ROLE_CONTROL);
    }
    return status;
}

static int plan_devices(struct plan *plan, const char *list, const struct assay__found *found,
                        const char *model)
{
    struct assay__device_selection selection;
    struct assay_error error = {0};
    if (!list[strspn(list, ", ")]) {
        assay__say("compare: --devices names none: give names ('assay devices') or cpu, gpu, npu");
        return ASSAY__EXIT_USAGE;
    }
    int code = assay__device_selection_read(list, found, plan->arena, &selection, &error);
    if (code) return assay__fail(code, &error);
    int status = say_duplicates(plan->arena, list);
    for (size_t i = 0; i < selection.count && !status; i++) {
        const struct assay__selected_device *word = &selection.items[i];
        const struct assay__found_device *item = find_device(found, word->name);
        if (!item && !*word->kind) return say_unknown(word->name);
        status = add(plan, model, word->name, word->name,
                     word->software ? ASSAY__ROLE_SOFTWARE : ASSAY__ROLE_NONE);
        if (!status && *word->refusal) /* a row that says so */
            status = refuse(plan, item ? item->device.reason : word->refusal);
    }
    return status ? status : add_controls(plan, found, model);
}

/* The default build's CPU, wherever it stands, else the first. */
static void choose_reference(struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->items[i].device && strcmp(plan->items[i].device, "cpu") == 0) {
            struct entry kept = plan->items[i];
            memmove(&plan->items[1], &plan->items[0], i * sizeof kept);
            plan->items[0] = kept;
        }
    if (plan->count) plan->items[0].role = ASSAY__ROLE_REFERENCE;
}

/* Characters of the folder that all of them begin with. */
static size_t common_folder(const struct assay__invocation *invocation)
{
    const char *first = invocation->arguments[0];
    size_t common = strlen(first);
    for (size_t i = 1; i < invocation->argument_count; i++) {
        size_t same = 0;
        while (same < common && invocation->arguments[i][same] == first[same])
            same++;
        common = same;
    }
    while (common && first[common - 1] != '/')
        common--;
    return common;
}

static int plan_models(const struct assay__invocation *invocation, struct plan *plan)
{
    const struct compare_options *o = invocation->options;
    size_t skip = common_folder(invocation);
    int status = 0;
    for (size_t i = 0; i < invocation->argument_count && !status; i++) {
        const char *label = assay__arena_printf(plan->arena, "%zu: %s", i + 1,
                                                invocation->arguments[i] + skip);
        if (!label) return assay__fail(ASSAY_ENOMEM, NULL);
        status = add(plan, invocation->arguments[i], o->run.device, label, ASSAY__ROLE_NONE);
    }
    if (plan->count) plan->items[0].role = ASSAY__ROLE_REFERENCE;
    return status;
}

static int make_plan(struct assay__invocation *invocation, struct plan *plan)
{
    const struct compare_options *o = invocation->options;
    if (o->run.device && o->devices) {
        assay__say("compare: --device and --devices exclude each other");
        return ASSAY__EXIT_USAGE;
    }
    if (invocation->argument_count > 1 && o->devices) {
        assay__say("compare: --devices is for one model; several run on one --device");
        return ASSAY__EXIT_USAGE;
    }
    bool several = invocation->argument_count > 1;
    if (several && (!o->run.device || strcmp(o->run.device, "cpu") == 0))
        return plan_models(invocation, plan);
    struct assay__devices_flags flags = {
        .engine = o->run.engine, .library = o->run.library, .quiet = o->run.quiet};
    struct assay__found found = {.count = 0};
    int status = assay__devices_find(&flags, &found);
    if (!status && several) {
        status = find_device(&found, o->run.device) ? plan_models(invocation, plan)
                                                    : say_unknown(o->run.device);
    } else if (!status) {
        status = o->devices ? plan_devices(plan, o->devices, &found, invocation->arguments[0])
                            : add_all(plan, &found, invocation->arguments[0]);
        if (!status) choose_reference(plan);
    }
    assay__devices_free(&found);
    return status;
}

/* --- measuring -------------------------------------------------------------------------------- */

/* What every device that takes part can do at most, as far as it is known. */
static int add_ceilings(const struct compare_options *o, const struct plan *plan,
                        struct assay__bar *bar, struct assay_run_options *whole)
{
    const char **devices = assay__arena_array(plan->arena, plan->count, sizeof *devices);
    size_t count = 0;
    if (!devices) return assay__fail(ASSAY_ENOMEM, NULL);
    for (size_t i = 0; i < plan->count; i++)
        if (!plan->items[i].refused) devices[count++] = plan->items[i].device;
    return assay__run_ceilings_of(plan->arena, o->run.ceilings, bar, devices, count, whole);
}

/* Who ran the nodes; an interrupt keeps what is there. */
static int put_placements(struct assay__arms *arms, struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < arms->count && !code; i++) {
        if (!arms->items[i] || assay__arms_interrupted(arms)) continue;
        const struct assay_progress progress = {"asking who runs the nodes", 0, 0, -1};
        if (arms->whole.progress) arms->whole.progress(arms->whole.progress_context, &progress);
        code = assay__placement_put(assay__arm_options(arms->items[i]),
                                    assay__arm_model_path(arms->items[i]), arms->recording.profile,
                                    assay__arms_trial(arms, i), error);
    }
    return code == ASSAY_EINTERRUPTED ? 0 : code;
}

/* Outputs are compared with those of the row that speed is compared with. */
static int drift(struct assay__arms *arms, struct assay_error *error)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all = {.reference = SIZE_MAX};
    int code = arena ? assay__comparison(arms->recording.profile, arena, &all) : ASSAY_ENOMEM;
    if (code) assay_error_set(error, code, "out of memory");
    for (size_t i = 0; i < arms->count && !code && all.reference != SIZE_MAX; i++) {
        code = assay__arms_nonfinite(arms, i, error);
        if (!code && arms->trials[i] == all.reference) code = assay__arms_drift(arms, i, error);
    }
    assay__arena_free(arena);
    return code;
}

static int measure(struct assay__arms *arms, const struct plan *plan,
                   const struct compare_options *o, const struct assay_run_options *whole,
                   struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < plan->count && !code; i++) {
        const struct entry *entry = &plan->items[i];
        struct assay_run_options one = *whole;
        one.model = entry->model;
        one.device = entry->device;
        const struct assay__arm_identity identity = {
            .label = entry->label, .role = entry->role, .software = entry->software};
        if (entry->device && strchr(entry->device, '/')) one.library = NULL;
        code = entry->refused
                   ? assay__arms_add_refused(arms, &one, &identity, entry->refused, NULL, error)
                   : assay__arms_add(arms, &one, &identity, NULL, error);
    }
    if (!code) code = assay__arms_start(arms, error);
    if (!code) code = assay__arms_launch(arms, 0, arms->count, whole->launches, error);
    for (size_t i = 0; i < arms->count && !code; i++)
        code = assay__arms_conclude(arms, i, error);
    if (!code && !o->no_drift) code = drift(arms, error);
    return code || o->no_placement ? code : put_placements(arms, error);
}

/* Rows that could be judged, and of them those that lost a launch. */
static int count_rows(const struct assay_profile *profile, size_t *usable, size_t *lost)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__comparison all = {.count = 0};
    int code = arena ? assay__comparison(profile, arena, &all) : ASSAY_ENOMEM;
    *usable = *lost = 0;
    for (size_t i = 0; i < all.count && !code; i++) {
        *usable += all.rows[i].judged.usable;
        *lost += all.rows[i].judged.usable && profile->trials[i].state == ASSAY__TRIAL_FAILED;
    }
    assay__arena_free(arena);
    return code ? assay__fail(code, NULL) : 0;
}

static int show_comparison(const struct compare_options *o, struct assay_profile *profile, int code,
                           const struct assay_error *error)
{
    size_t usable = 0, lost = 0;
    int status = assay__run_show(&o->run, profile, code, error, &usable);
    if (!status) status = count_rows(profile, &usable, &lost);
    if (!status && usable < profile->trial_count) {
        assay__say("compare: %zu of %zu could not be measured; the report says why",
                   profile->trial_count - usable, profile->trial_count);
        return ASSAY__EXIT_FAILED;
    }
    if (!status && lost)
        assay__say("compare: %zu of %zu lost a launch; the report says which", lost,
                   profile->trial_count);
    if (!status && o->run.output && !o->run.quiet) assay__say("profile kept in %s", o->run.output);
    return status;
}

static struct assay_run_options whole_of(const struct assay__invocation *invocation,
                                         struct assay__bar *bar)
{
    const struct compare_options *o = invocation->options;
    struct assay_run_options whole = assay__run_options_of(invocation);
    whole.command = "compare";
    whole.launches = o->run.launches ? (int)o->run.launches : LAUNCHES;
    if (!o->run.iters && !(o->run.time_s > 0)) whole.time_s = TIME_S;
    if (!assay__option_given(invocation, "layers")) whole.layers = ASSAY_LAYERS_OFF;
    whole.power = !o->no_power;
    whole.memory = o->memory;
    whole.launch_limit_s = o->launch_limit_s > 0 ? o->launch_limit_s : LAUNCH_LIMIT_S;
    whole.progress = assay__bar_update;
    whole.progress_context = bar;
    return whole;
}

static int compare_devices(struct assay__invocation *invocation)
{
    struct compare_options *o = invocation->options;
    struct plan plan = {.arena = assay__arena_new()};
    struct assay__arms arms = {.count = 0};
    struct assay_profile *profile = NULL;
    struct assay_error error = {0};
    struct assay__bar bar;
    int status = assay__run_check(invocation);
    if (!status && !plan.arena) status = assay__fail(ASSAY_ENOMEM, NULL);
    if (status) goto out;
    assay__catch_interrupts();
    status = make_plan(invocation, &plan);
    if (!status && plan.count == 0) {
        assay__say("compare: nothing here can run it; 'assay devices' says why");
        status = ASSAY__EXIT_FAILED;
    }
    if (status) goto out;
    struct assay_run_options whole = whole_of(invocation, &bar);
    assay__bar_start(&bar, o->run.quiet);
    status = add_ceilings(o, &plan, &bar, &whole);
    if (status) goto out;
    int code = assay__arms_begin(&arms, &whole, NULL, &error);
    if (!code) code = measure(&arms, &plan, o, &whole, &error);
    if (!code) code = assay__arms_finish(&arms, &profile, &error);
    assay__bar_erase(&bar);
    status = show_comparison(o, profile, code, &error);
    assay_profile_close(profile);
    assay__arms_end(&arms);
out:
    free(plan.items);
    assay__arena_free(plan.arena);
    return status;
}

const struct assay__command assay__command_compare = {
    .name = "compare",
    .summary = "run a model on every device here, or several models on one, and say which is best",
    .arguments = "MODEL [MODEL …]",
    .min_arguments = 1,
    .max_arguments = 16,
    .description = "Runs MODEL on every usable device, launches alternating, and compares latency, "
                   "throughput, energy, memory and the "
                   "numbers that come out. With several models it compares those on one device.\n\n"
                   "The process is the unit of replication: a difference is claimed only when the "
                   "95 % interval of the ratio of the "
                   "launches' medians excludes 1; otherwise the smallest difference that could "
                   "have been shown is given. The CPU provider "
                   "of every further build of ONNX Runtime takes part as a control.\n\n"
                   "A device that is very slow cannot hold the others: a launch ends after 120 s "
                   "(--launch-limit), and no row gets more than "
                   "two and a half times that altogether. Nodes that the engine ran elsewhere than "
                   "on the device are named.",
    .examples = "  assay compare resnet50\n"
                "  assay compare model.onnx --devices cpu,ovn/openvino:cpu\n"
                "  assay compare old.onnx new.onnx --launches 10 -o compared.assay\n",
    .options = options,
    .shared = assay__run_rows,
    .options_size = sizeof(struct compare_options),
    .run = compare_devices,
};
