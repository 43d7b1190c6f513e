/* devices_find.c - the work of `assay devices`: which builds there are, what each offers (asked in
 * child processes), and the ceilings. Ctrl-C ends it where it is; what was found until then is
 * kept. */
#include "base/clock.h"
#include "base/vec.h"
#include "ceiling/accelerator/accelerator.h"
#include "cli/device_list.h"
#include "profile/facts.h"
#include "run/devices.h"

#include <assay/run.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_EXPECTED_NS 17e9 /* of the whole measurement (doc/ceilings.md) */
#define ACCELERATOR_BUDGET_S 60.0

struct finding {
    const struct assay__devices_flags *flags;
    struct assay__found *found;
    struct assay__bar bar;
    struct assay__found_build *build; /* that is being asked */
    const char *only;                 /* the engine's own name of the device asked for; NULL: all */
    uint64_t begin_ns;
    double expected_ns;
    const char *subject; /* of the progress: a device's name */
    bool refused;        /* a device could not be measured at all */
};

static const char *copy(struct assay__found *found, const char *text)
{
    return assay__arena_strdup(found->arena, text ? text : "");
}

static int no_memory(void)
{
    struct assay_error error = {0};
    assay_error_set(&error, ASSAY_ENOMEM, "out of memory");
    return assay__fail(ASSAY_ENOMEM, &error);
}

/* --- devices of one build --------------------------------------------------------------------- */

static int on_device(void *context, const struct assay_device *device)
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
    const struct assay_device *d = &item->device;
    item->name = *build->name ? assay__arena_printf(found->arena, "%s/%s", build->name, d->name)
                              : d->name;
    if (!item->name || !d->name || !d->kind || !d->engine || !d->library || !d->reason ||
        !d->version || !d->hardware || !d->note)
        return ASSAY_ENOMEM;
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
    assay__bar_update(&finding->bar, &(struct assay_progress){.phase = phase, .done = -1});
}

/* An engine that cannot even be asked is itself a reason. 0, or an exit status. */
static int ask(struct finding *finding, const char *only)
{
    struct assay__found_build *build = finding->build;
    struct assay_error error = {0};
    struct assay__devices_options options = {
        .engine = build->engine,
        .library = build->library,
        .only = only,
        .timeout_s = finding->flags->timeout_s,
        .interrupt = &assay__interrupted,
        .trying = on_trying,
        .trying_context = finding,
    };
    int code = assay__devices_list(&options, on_device, finding, &error);
    if (code == ASSAY_ENOMEM) return no_memory();
    if (code == ASSAY_EINTERRUPTED) {
        finding->found->interrupted = true;
        build->reason = "interrupted";
    } else if (code) {
        build->reason = copy(finding->found,
                             error.message[0] ? error.message : assay_error_text(code));
        if (!build->reason) return no_memory();
        struct assay_device missing = {.name = only ? only : "cpu",
                                       .kind = "cpu",
                                       .engine = build->engine,
                                       .library = "",
                                       .reason = build->reason,
                                       .offered = true};
        if (build->count == 0 && on_device(finding, &missing)) return no_memory();
    }
    return 0;
}

static int add_build(struct finding *finding, const char *name, const char *engine,
                     const char *library)
{
    struct assay__found *found = finding->found;
    if (found->interrupted) return 0;
    if (assay__vec_grow((void **)&found->builds, &found->build_capacity, found->build_count + 1,
                        sizeof *found->builds))
        return no_memory();
    finding->build = &found->builds[found->build_count++];
    *finding->build = (struct assay__found_build){
        .name = name,
        .engine = engine,
        .library = library,
        .path = "",
        .version = "",
        .reason = "",
        .first = found->count,
    };
    return ask(finding, finding->only);
}

/* --- all builds ------------------------------------------------------------------------------- */

/* --ort [NAME=]PATH. A '=' belongs to a name only when what stands before it can be one. */
static int take_ort(const char *text, struct assay__arena *arena, struct assay__builds *builds,
                    const char *option)
{
    struct assay_error error = {0};
    const char *equals = strchr(text, '='), *path = NULL, *name = NULL;
    if (equals && !memchr(text, '/', (size_t)(equals - text))) {
        name = assay__arena_strndup(arena, text, (size_t)(equals - text));
        if (!name) return no_memory();
        if (assay__build_name_check(name, &error)) {
            assay__say("devices: --%s: %s", option, error.message);
            return ASSAY__EXIT_USAGE;
        }
    }
    if (assay__build_path_check(arena, name ? equals + 1 : text, &path, &error)) {
        assay__say("devices: --%s: %s", option, error.message);
        return ASSAY__EXIT_USAGE;
    }
    if (!name) name = assay__build_name_for(arena, path, builds);
    if (!name) return no_memory();
    if (assay__builds_find(builds, name)) {
        assay__say("devices: --%s: a build is called '%s' already", option, name);
        return ASSAY__EXIT_USAGE;
    }
    builds->items[builds->count++] = (struct assay__build){name, path};
    return 0;
}

/* The user's list and what this call adds to it. */
static int read_builds(const struct assay__devices_flags *flags, struct assay__arena *arena,
                       struct assay__builds *builds)
{
    struct assay_error error = {0};
    int status = 0, code = assay__builds_read(arena, builds, &error);
    if (code) assay__say("devices: the list of builds is left out: %s", error.message);
    for (size_t i = 0; i < builds->complaint_count; i++)
        assay__say("devices: %s", builds->complaints[i]);
    struct assay__build *all = assay__arena_array(arena, builds->count + flags->ort.count + 1,
                                                  sizeof *all);
    if (!all) return no_memory();
    if (builds->count) memcpy(all, builds->items, builds->count * sizeof *all);
    builds->items = all;
    for (size_t i = 0; i < flags->ort.count && !status; i++)
        status = take_ort(flags->ort.items[i], arena, builds, "ort");
    return status;
}

static int find_devices(struct finding *finding)
{
    const struct assay__devices_flags *flags = finding->flags;
    struct assay__found *found = finding->found;
    const char *slash = flags->device ? strchr(flags->device, '/') : NULL;
    struct assay__builds builds;
    int status = read_builds(flags, found->arena, &builds);
    finding->only = assay__device_bare(flags->device);
    for (size_t i = 0; assay_engine_at(i) && !status && !slash; i++) {
        const struct assay_engine_ops *engine = assay_engine_at(i);
        bool wanted = flags->engine ? strcmp(flags->engine, engine->name) == 0
                                    : strcmp(engine->name, "fake") != 0;
        if (wanted) status = add_build(finding, "", engine->name, flags->library);
    }
    bool others = !flags->engine || strcmp(flags->engine, "ort") == 0;
    for (size_t i = 0; i < builds.count && others && !status; i++) {
        const struct assay__build *build = &builds.items[i];
        size_t length = strlen(build->name);
        bool wanted = !flags->device || (slash && (size_t)(slash - flags->device) == length &&
                                         strncmp(flags->device, build->name, length) == 0);
        if (wanted) status = add_build(finding, build->name, "ort", build->library);
    }
    if (status || found->interrupted || !flags->device || found->count) return status;
    assay__say("devices: --device: there is no device '%s'; `assay devices` lists them",
               flags->device);
    return ASSAY__EXIT_USAGE;
}

/* --- ceilings --------------------------------------------------------------------------------- */

static bool on_row(void *context, const char *name)
{
    struct finding *finding = context;
    char phase[128];
    double done = (double)(assay__now_ns() - finding->begin_ns) / finding->expected_ns;
    snprintf(phase, sizeof phase, "%s%s%s", finding->subject, *finding->subject ? ": " : "", name);
    assay__bar_update(&finding->bar,
                      &(struct assay_progress){.phase = phase, .done = done < 1 ? done : 1});
    return assay__interrupted != 0;
}

static struct assay__ceiling_options ceiling_options(struct finding *finding, const char *subject,
                                                     double expected_ns)
{
    finding->subject = subject;
    finding->begin_ns = assay__now_ns();
    finding->expected_ns = expected_ns;
    return (struct assay__ceiling_options){.remeasure = finding->flags->remeasure,
                                           .only = finding->flags->only,
                                           .progress = on_row,
                                           .context = finding,
                                           .interrupt = &assay__interrupted};
}

/* What was measured, also when it was interrupted; a set without a row is none, and *why says so.
 * 0, or an exit status after it was said. */
static int take(struct finding *finding, int code, const struct assay_error *error,
                const struct assay__ceilings *set, const struct assay__ceilings **kept,
                const char **why)
{
    struct assay__found *found = finding->found;
    const char *only = finding->flags->only;
    found->interrupted |= code == ASSAY_EINTERRUPTED || assay__interrupted;
    finding->refused |= code != 0;
    if (set && set->count) {
        *kept = set;
        return 0;
    }
    if (found->interrupted) {
        *why = "interrupted before a row was measured";
        return 0;
    }
    if (!code && only) {
        *why = assay__arena_printf(found->arena, "it has no ceiling whose name begins with '%s'",
                                   only);
        return *why ? 0 : no_memory();
    }
    *why = copy(found, error->message[0] ? error->message : assay_error_text(code));
    if (!*why || code == ASSAY_ENOMEM) return no_memory();
    return 0;
}

static int find_cpu(struct finding *finding)
{
    struct assay__found *found = finding->found;
    struct assay_error error = {0};
    struct assay__ceilings *set = NULL;
    struct assay__ceiling_options wanted = ceiling_options(finding, "", CPU_EXPECTED_NS);
    int code = assay__ceilings_get(found->arena, &found->machine, &wanted, &set, &error);
    if (code && code != ASSAY_EUNSUPPORTED && code != ASSAY_EINTERRUPTED)
        return assay__fail(code, error.message[0] ? &error : NULL);
    return take(finding, code, &error, set, &found->cpu, &found->why);
}

static int find_accelerator(struct finding *finding, struct assay__found_device *item,
                            const struct assay__found_build *build)
{
    struct assay__found *found = finding->found;
    const struct assay_device *d = &item->device;
    struct assay_error error = {0};
    struct assay__ceilings *set = NULL;
    struct assay__accelerator accelerator = {
        .engine = d->engine,
        .device = d->name,
        .library = build->library,
        .hardware = *d->hardware ? d->hardware : NULL,
        .identity = assay__arena_printf(found->arena, "%s %s\n%s\n%s", d->engine, d->version,
                                        d->library, d->hardware),
    };
    struct assay__ceiling_options wanted = ceiling_options(finding, item->name,
                                                           ACCELERATOR_BUDGET_S * 1e9);
    wanted.budget_s = ACCELERATOR_BUDGET_S;
    if (!accelerator.identity) return no_memory();
    int code = assay__accelerator_ceilings_get(found->arena, &found->machine, &accelerator, &wanted,
                                               &set, &error);
    return take(finding, code, &error, set, &item->ceilings, &item->why);
}

static int find_ceilings(struct finding *finding)
{
    struct assay__found *found = finding->found;
    const struct assay__devices_flags *flags = finding->flags;
    const char *root = getenv("ASSAY_FSROOT"); /* advice that would not work is none */
    const char *not_asked = root && *root ? "ASSAY_FSROOT stands for another machine, which cannot "
                                            "be measured"
                                          : "not asked for: assay devices --ceilings measures them";
    bool cpu = !flags->device;
    int status = 0;
    found->asked = flags->ceilings;
    found->why = not_asked;
    for (size_t i = 0; i < found->count; i++)
        cpu |= strcmp(found->items[i].device.kind, "cpu") == 0;
    if (flags->ceilings && found->interrupted) found->why = "interrupted";
    if (flags->ceilings && cpu && !found->interrupted) status = find_cpu(finding);
    found->cpu_asked = flags->ceilings && cpu;
    size_t rows = found->cpu ? found->cpu->count : 0;
    for (size_t b = 0; b < found->build_count && !status; b++)
        for (size_t i = 0; i < found->builds[b].count && !status; i++) {
            struct assay__found_device *item = &found->items[found->builds[b].first + i];
            item->ceilings = NULL;
            if (strcmp(item->device.kind, "cpu") == 0) {
                item->ceilings = found->cpu;
                item->why = found->why;
            } else if (!item->device.available) {
                item->why = "the device cannot be used";
            } else if (!flags->ceilings) {
                item->why = not_asked;
            } else if (found->interrupted) {
                item->why = "interrupted";
            } else {
                status = find_accelerator(finding, item, &found->builds[b]);
                rows += item->ceilings ? item->ceilings->count : 0;
            }
        }
    if (!status && found->cpu_asked && flags->only && !rows && !found->interrupted &&
        !finding->refused) {
        assay__say("devices: --only: no ceiling's name begins with '%s'", flags->only);
        return ASSAY__EXIT_USAGE;
    }
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

int assay__devices_find(const struct assay__devices_flags *flags, struct assay__found *found)
{
    struct finding finding = {.flags = flags, .found = found, .subject = ""};
    struct assay_error error = {0};
    *found = (struct assay__found){.arena = assay__arena_new()};
    int code = found->arena ? assay__machine_read(found->arena, &found->machine) : ASSAY_ENOMEM;
    if (code == 0) code = assay__topology_read(found->arena, &found->topology, &error);
    if (code == 0)
        code = assay__hardware_list(found->arena, &found->hardware, &found->hardware_count, &error);
    if (code) return assay__fail(code, error.message[0] ? &error : NULL);
    assay__catch_interrupts();
    assay__bar_start(&finding.bar, flags->quiet);
    int status = find_devices(&finding);
    if (!status) status = find_ceilings(&finding);
    assay__bar_erase(&finding.bar);
    return status;
}

void assay__devices_free(struct assay__found *found)
{
    free(found->items);
    free(found->builds);
    assay__arena_free(found->arena);
}

/* --- the list --------------------------------------------------------------------------------- */

struct loaded {
    bool works;
    char version[64], reason[256];
};

static int on_cpu(void *context, const struct assay_device *device)
{
    struct loaded *loaded = context;
    loaded->works = device->available;
    snprintf(loaded->version, sizeof loaded->version, "%s", device->version);
    snprintf(loaded->reason, sizeof loaded->reason, "%s", device->reason);
    return 0;
}

/* A build that cannot be loaded is not worth a line in the list. */
static int add_one(const char *text, const struct assay__devices_flags *flags,
                   struct assay__arena *arena, struct assay__buf *out)
{
    struct assay__build item[1];
    struct assay__builds builds = {.items = item};
    struct assay_error error = {0};
    struct loaded loaded = {.works = false};
    if (!strchr(text, '=')) {
        assay__say("devices: --add-ort: '%s' is not of the form NAME=PATH", text);
        return ASSAY__EXIT_USAGE;
    }
    int status = take_ort(text, arena, &builds, "add-ort");
    if (status) return status;
    struct assay__devices_options options = {.engine = "ort",
                                             .library = item[0].library,
                                             .only = "cpu",
                                             .timeout_s = flags->timeout_s,
                                             .interrupt = &assay__interrupted};
    int code = assay__devices_list(&options, on_cpu, &loaded, &error);
    if (code == ASSAY_EINTERRUPTED) return ASSAY__EXIT_INTERRUPTED;
    if (code || !loaded.works) {
        assay__say("devices: --add-ort: '%s' was not added: %s", item[0].name,
                   code ? error.message : loaded.reason);
        return ASSAY__EXIT_FAILED;
    }
    code = assay__builds_add(item[0].name, item[0].library, &error);
    if (code) return assay__fail(code, &error);
    assay__buf_printf(out, "added %s: ONNX Runtime %s, %s\n", item[0].name, loaded.version,
                      item[0].library);
    return 0;
}

int assay__devices_edit(const struct assay__devices_flags *flags)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__buf out = {0};
    int status = arena ? 0 : no_memory();
    assay__catch_interrupts();
    for (size_t i = 0; i < flags->remove.count && !status; i++) {
        struct assay_error error = {0};
        int code = assay__builds_remove(flags->remove.items[i], &error);
        if (code)
            status = assay__fail(code, &error);
        else
            assay__buf_printf(&out, "removed %s\n", flags->remove.items[i]);
    }
    for (size_t i = 0; i < flags->add.count && !status; i++)
        status = add_one(flags->add.items[i], flags, arena, &out);
    int printed = out.length ? assay__print(&out) : 0;
    assay__buf_free(&out);
    assay__arena_free(arena);
    return status ? status : printed;
}
