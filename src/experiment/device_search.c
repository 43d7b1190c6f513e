/* device_search.c - which builds of the engines exist, what each offers (queried in child
 * processes), and the ceilings. An interrupt ends it immediately; what was found so far is kept. */
#include "experiment/device_search.h"

#include "base/clock.h"
#include "base/no_memory.h"
#include "base/options_read.h"
#include "base/vec.h"
#include "ceiling/accelerator/accelerator.h"
#include "engine/engine.h"
#include "profile/facts.h"
#include "run/builds.h"
#include "run/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_EXPECTED_NS 17e9 /* of the whole measurement (doc/ceilings.md) */
#define ACCELERATOR_BUDGET_S 60.0

struct finding {
    const struct assay__device_search *search;
    struct assay__found *found;
    struct assay_error *error;
    struct assay__found_build *build; /* being queried */
    const char *only; /* the engine's own name for the requested device; NULL: all */
    uint64_t begin_ns;
    double expected_ns;
    const char *subject; /* of the progress: a device's name */
    bool refused;        /* a device could not be measured at all */
};

static const char *copy(struct assay__found *found, const char *text)
{
    return assay__arena_text(found->arena, "%s", text ? text : "");
}

/* --- devices of one build --------------------------------------------------------------------- */

static int on_device(void *context, const struct assay__device *device)
{
    struct finding *finding = context;
    struct assay__found *found = finding->found;
    struct assay__found_build *build = finding->build;
    if (assay__vec_grow((void **)&found->items, &found->capacity, found->count + 1,
                        sizeof *found->items))
        return ASSAY_ENOMEM;
    struct assay__found_device *item = &found->items[found->count];
    *item = (struct assay__found_device){
        .device = {.name = copy(found, device->name),
                   .kind = copy(found, device->kind),
                   .engine = copy(found, device->engine),
                   .library = copy(found, device->library),
                   .available = device->available,
                   .reason = copy(found, device->reason),
                   .version = copy(found, device->version),
                   .hardware = copy(found, device->hardware),
                   .software = device->software,
                   .note = copy(found, device->note),
                   .offered = device->offered},
        .why = "",
    };
    const struct assay__device *d = &item->device;
    item->name = *build->name ? assay__arena_text(found->arena, "%s/%s", build->name, d->name)
                              : d->name;
    if (assay__arena_failed(found->arena)) return ASSAY_ENOMEM;
    if (!*build->path) build->path = d->library;
    if (!*build->version) build->version = d->version;
    found->count++;
    build->count++;
    return 0;
}

static void on_trying(void *context, const char *name)
{
    struct finding *finding = context;
    char phase[128];
    snprintf(phase, sizeof phase, "trying %s%s%s", finding->build->name,
             *finding->build->name ? "/" : "", name);
    assay__progress(&finding->search->callbacks, phase, -1);
}

/* The build and its devices; an engine that cannot even be queried is itself a reason. */
static int add_build(struct finding *finding, const char *name, const char *engine,
                     const char *library)
{
    struct assay__found *found = finding->found;
    struct assay_error error = {0};
    if (found->interrupted) return 0;
    if (assay__vec_grow((void **)&found->builds, &found->build_capacity, found->build_count + 1,
                        sizeof *found->builds))
        return assay__no_memory(finding->error);
    struct assay__found_build *build = finding->build = &found->builds[found->build_count++];
    *build = (struct assay__found_build){.name = name,
                                         .engine = engine,
                                         .library = library,
                                         .path = "",
                                         .version = "",
                                         .reason = "",
                                         .first = found->count};
    struct assay__devices_options options = {.engine = engine,
                                             .library = library,
                                             .only = finding->only,
                                             .timeout_s = finding->search->timeout_s,
                                             .interrupt = finding->search->callbacks.interrupt,
                                             .trying = on_trying,
                                             .trying_context = finding};
    int code = assay__devices_list(&options, on_device, finding, &error);
    if (code == ASSAY_ENOMEM) return assay__no_memory(finding->error);
    if (code == ASSAY_EINTERRUPTED) {
        found->interrupted = true;
        build->reason = "interrupted";
    } else if (code) {
        build->reason = copy(found, error.message[0] ? error.message : assay_error_text(code));
        struct assay__device missing = {.name = finding->only ? finding->only : "cpu",
                                        .kind = "cpu",
                                        .engine = engine,
                                        .library = "",
                                        .reason = build->reason,
                                        .offered = true};
        if (build->count == 0 && on_device(finding, &missing))
            return assay__no_memory(finding->error);
    }
    return 0;
}

/* --- all builds ------------------------------------------------------------------------------- */

/* Every engine's own build, then those on the user's list and those added for this search. */
static int find_devices(struct finding *finding)
{
    const struct assay__device_search *search = finding->search;
    struct assay__arena *arena = finding->found->arena;
    const char *slash = search->device ? strchr(search->device, '/') : NULL;
    struct assay__builds builds;
    struct assay_error error = {0};
    int code = assay__builds_read(arena, &builds, &error);
    if (code) assay__remark(&search->callbacks, "the list of builds is ignored: %s", error.message);
    for (size_t i = 0; i < builds.complaint_count; i++)
        assay__remark(&search->callbacks, "%s", builds.complaints[i]);
    struct assay__build *all = assay__arena_array(arena, builds.count + search->ort_count + 1,
                                                  sizeof *all);
    if (!all) return assay__no_memory(finding->error);
    if (builds.count) memcpy(all, builds.items, builds.count * sizeof *all);
    builds.items = all;
    code = 0;
    for (size_t i = 0; i < search->ort_count && !code; i++)
        code = assay__build_take(arena, search->ort[i], &builds, finding->error);
    finding->only = assay__device_bare(search->device);
    for (size_t i = 0; assay__engine_at(i) && !code && !slash; i++) {
        const char *name = assay__engine_at(i)->name;
        if (search->engine ? strcmp(search->engine, name) == 0 : strcmp(name, "fake") != 0)
            code = add_build(finding, "", name, search->library);
    }
    bool others = !search->engine || strcmp(search->engine, "ort") == 0;
    for (size_t i = 0; i < builds.count && others && !code; i++) {
        const struct assay__build *build = &builds.items[i];
        size_t length = strlen(build->name);
        bool wanted = !search->device || (slash && (size_t)(slash - search->device) == length &&
                                          strncmp(search->device, build->name, length) == 0);
        if (wanted) code = add_build(finding, build->name, "ort", build->library);
    }
    if (code || finding->found->interrupted || !search->device || finding->found->count)
        return code;
    return assay__refuse_option(finding->error, "device", "there is no device '%s' here",
                                search->device);
}

/* --- ceilings --------------------------------------------------------------------------------- */

static bool on_row(void *context, const char *name)
{
    struct finding *finding = context;
    char phase[128];
    double done = (double)(assay__now_ns() - finding->begin_ns) / finding->expected_ns;
    snprintf(phase, sizeof phase, "%s%s%s", finding->subject, *finding->subject ? ": " : "", name);
    return assay__progress(&finding->search->callbacks, phase, done < 1 ? done : 1);
}

static struct assay__ceiling_options ceiling_options(struct finding *finding, const char *subject,
                                                     double expected_ns)
{
    finding->subject = subject;
    finding->begin_ns = assay__now_ns();
    finding->expected_ns = expected_ns;
    return (struct assay__ceiling_options){.budget_s = finding->search->ceilings_s,
                                           .remeasure = finding->search->remeasure,
                                           .only = finding->search->only,
                                           .progress = on_row,
                                           .context = finding,
                                           .interrupt = finding->search->callbacks.interrupt};
}

/* What was measured, even if interrupted; an empty set counts as none, and *why says so. */
static int take(struct finding *finding, int code, const struct assay_error *error,
                const struct assay__ceilings *set, const struct assay__ceilings **kept,
                const char **why)
{
    struct assay__found *found = finding->found;
    const char *only = finding->search->only;
    const volatile int *interrupt = finding->search->callbacks.interrupt;
    found->interrupted |= code == ASSAY_EINTERRUPTED || (interrupt && *interrupt);
    finding->refused |= code != 0;
    if (set && set->count)
        *kept = set;
    else if (found->interrupted)
        *why = "interrupted before anything was measured";
    else if (!code && only)
        *why = assay__arena_text(found->arena, "it has no ceiling whose name starts with '%s'",
                                 only);
    else
        *why = copy(found, error->message[0] ? error->message : assay_error_text(code));
    return code == ASSAY_ENOMEM ? assay__no_memory(finding->error) : 0;
}

static int find_cpu(struct finding *finding)
{
    struct assay__found *found = finding->found;
    struct assay_error error = {0};
    struct assay__ceilings *set = NULL;
    struct assay__ceiling_options wanted = ceiling_options(finding, "", CPU_EXPECTED_NS);
    int code = assay__ceilings_get(found->arena, &found->machine, &wanted, &set, &error);
    if (code && code != ASSAY_EUNSUPPORTED && code != ASSAY_EINTERRUPTED)
        return assay_error_set(finding->error, code, "%s",
                               error.message[0] ? error.message : assay_error_text(code));
    return take(finding, code, &error, set, &found->cpu, &found->why);
}

static int find_accelerator(struct finding *finding, struct assay__found_device *item,
                            const struct assay__found_build *build)
{
    struct assay__found *found = finding->found;
    const struct assay__device *d = &item->device;
    struct assay_error error = {0};
    struct assay__ceilings *set = NULL;
    struct assay__accelerator accelerator = {
        .engine = d->engine,
        .device = d->name,
        .library = build->library,
        .hardware = *d->hardware ? d->hardware : NULL,
        .identity = assay__arena_text(found->arena, "%s %s\n%s\n%s", d->engine, d->version,
                                      d->library, d->hardware),
    };
    struct assay__ceiling_options wanted = ceiling_options(finding, item->name,
                                                           ACCELERATOR_BUDGET_S * 1e9);
    wanted.budget_s = ACCELERATOR_BUDGET_S;
    int code = assay__accelerator_ceilings_get(found->arena, &found->machine, &accelerator, &wanted,
                                               &set, &error);
    return take(finding, code, &error, set, &item->ceilings, &item->why);
}

static int find_ceilings(struct finding *finding)
{
    struct assay__found *found = finding->found;
    const struct assay__device_search *search = finding->search;
    const char *root = getenv("ASSAY_FSROOT"); /* advice that would not work is omitted */
    const char *not_asked = root && *root
                                ? "ASSAY_FSROOT describes another machine, which cannot be measured"
                                : "not requested";
    bool cpu = !search->device;
    int code = 0;
    found->asked = search->ceilings;
    found->why = not_asked;
    for (size_t i = 0; i < found->count; i++)
        cpu |= strcmp(found->items[i].device.kind, "cpu") == 0;
    if (search->ceilings && found->interrupted) found->why = "interrupted";
    if (search->ceilings && cpu && !found->interrupted) code = find_cpu(finding);
    found->cpu_asked = search->ceilings && cpu;
    size_t rows = found->cpu ? found->cpu->count : 0;
    for (size_t b = 0; b < found->build_count && !code; b++)
        for (size_t i = 0; i < found->builds[b].count && !code; i++) {
            struct assay__found_device *item = &found->items[found->builds[b].first + i];
            item->ceilings = NULL;
            if (strcmp(item->device.kind, "cpu") == 0) {
                item->ceilings = found->cpu;
                item->why = found->why;
            } else if (!item->device.available) {
                item->why = "the device cannot be used";
            } else if (!search->ceilings) {
                item->why = not_asked;
            } else if (found->interrupted) {
                item->why = "interrupted";
            } else {
                code = find_accelerator(finding, item, &found->builds[b]);
                rows += item->ceilings ? item->ceilings->count : 0;
            }
        }
    if (!code && found->cpu_asked && search->only && !rows && !found->interrupted &&
        !finding->refused)
        return assay__refuse_option(finding->error, "only",
                                    "no ceiling has a name that starts with '%s'", search->only);
    return code;
}

/* --- all of it -------------------------------------------------------------------------------- */

int assay__devices_find(const struct assay__device_search *search, struct assay__found *found,
                        struct assay_error *error)
{
    struct finding finding = {.search = search, .found = found, .error = error, .subject = ""};
    *found = (struct assay__found){.arena = assay__arena_new()};
    int code = found->arena ? assay__machine_read(found->arena, &found->machine) : ASSAY_ENOMEM;
    if (code) return assay_error_set(error, code, "%s", assay_error_text(code));
    code = assay__topology_read(found->arena, &found->topology, error);
    if (code == 0)
        code = assay__hardware_list(found->arena, &found->hardware, &found->hardware_count, error);
    if (code == 0) code = find_devices(&finding);
    if (code == 0) code = find_ceilings(&finding);
    return !code && assay__arena_failed(found->arena) ? assay__no_memory(error) : code;
}

void assay__devices_free(struct assay__found *found)
{
    free(found->items);
    free(found->builds);
    assay__arena_free(found->arena);
}

const struct assay__found_device *assay__found_named(const struct assay__found *found,
                                                     const char *name)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->items[i].name, name) == 0) return &found->items[i];
    return NULL;
}

/* --- public ----------------------------------------------------------------------------------- */

struct assay_devices {
    struct assay__found found;
};

int assay_devices(const struct assay_devices_options *given, struct assay_devices **devices,
                  struct assay_error *error)
{
    struct assay_devices_options options;
    if (!devices) return assay_error_set(error, ASSAY_EINVAL, "nowhere to put the devices");
    *devices = NULL;
    int code = assay__options_read(given, &options, sizeof options, "devices", error);
    if (code) return code;
    struct assay_devices *made = calloc(1, sizeof *made);
    if (!made) return assay__no_memory(error);
    const struct assay__device_search search = {.engine = options.engine,
                                                .library = options.library,
                                                .device = options.device,
                                                .timeout_s = options.timeout_s,
                                                .callbacks = options.callbacks};
    code = assay__devices_find(&search, &made->found, error);
    if (code)
        assay_devices_free(made);
    else
        *devices = made;
    return code || !made->found.interrupted
               ? code
               : assay_error_set(error, ASSAY_EINTERRUPTED, "interrupted");
}

bool assay_devices_at(const struct assay_devices *devices, size_t index,
                      struct assay_device *device)
{
    if (!devices || index >= devices->found.count) return false;
    const struct assay__found_device *item = &devices->found.items[index];
    const struct assay__device *d = &item->device;
    const struct assay_device own = {.name = item->name,
                                     .kind = d->kind,
                                     .engine = d->engine,
                                     .library = d->library,
                                     .version = d->version,
                                     .hardware = d->hardware,
                                     .software = d->software,
                                     .available = d->available,
                                     .reason = d->reason};
    return assay__info_write(&own, sizeof own, device);
}

void assay_devices_free(struct assay_devices *devices)
{
    if (!devices) return;
    assay__devices_free(&devices->found);
    free(devices);
}
