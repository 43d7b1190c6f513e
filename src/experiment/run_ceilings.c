/* run_ceilings.c - finds or measures the ceilings of a run's devices. Nothing is measured unless
 * requested: a run must not take longer than expected. The CPU's ceilings apply to every device of
 * class "cpu". Those of another device are in a separate file, named after the engine's description
 * of the device, so the engine is queried first, in a child process. The fake engine's times are
 * scripted: no ceiling applies to them. */
#include "experiment/run_ceilings.h"

#include "base/clock.h"
#include "base/no_memory.h"
#include "ceiling/accelerator/accelerator.h"
#include "platform/platform.h"
#include "profile/facts.h"
#include "run/builds.h"
#include "run/devices.h"

#include <string.h>

#define CPU_NS 17e9         /* of the CPU's measurement (doc/ceilings.md) */
#define ACCELERATOR_NS 60e9 /* at most */

struct getting {
    struct assay__arena *arena;
    const struct assay__run_options *options;
    const char *device;
    uint64_t begin_ns;
    double expected_ns;
    struct assay__machine machine;
    struct assay__accelerator accelerator;
    bool cpu;   /* of that class */
    bool found; /* and it can be used */
    struct assay__ceilings *set;
};

/* True stops the measurement before it starts: if it was not requested, only saved ceilings are
 * used. */
static bool on_row(void *context, const char *name)
{
    const struct getting *getting = context;
    double done = (double)(assay__now_ns() - getting->begin_ns) / getting->expected_ns;
    if (!getting->options->keeping.ceilings) return true;
    return assay__progress(&getting->options->callbacks, name, done < 1 ? done : 1);
}

/* --- the device ------------------------------------------------------------------------------- */

static int on_device(void *context, const struct assay__device *device)
{
    struct getting *getting = context;
    struct assay__accelerator *a = &getting->accelerator;
    if (!device->available) return 0;
    getting->found = true;
    getting->cpu = strcmp(device->kind, "cpu") == 0;
    a->engine = assay__arena_text(getting->arena, "%s", device->engine);
    a->device = assay__arena_text(getting->arena, "%s", device->name);
    /* same text as in a device search: it names the file */
    a->identity = assay__arena_text(getting->arena, "%s %s\n%s\n%s", device->engine,
                                    device->version, device->library, device->hardware);
    return assay__arena_failed(getting->arena) ? ASSAY_ENOMEM : 0;
}

/* A device that cannot be queried or used has no ceilings; the run will report what is wrong with
 * it. */
static int get(struct getting *getting, struct assay_error *error)
{
    const struct assay_target_options *target = &getting->options->target;
    const volatile int *interrupt = getting->options->callbacks.interrupt;
    bool named_build = strchr(getting->device, '/') != NULL; /* with its own library */
    struct assay_error lost = {0};
    struct assay__devices_options asked = {.engine = target->engine ? target->engine : "ort",
                                           .library = named_build ? NULL : target->library,
                                           .interrupt = interrupt};
    struct assay__ceiling_options wanted = {.progress = on_row, .context = getting};
    int code = assay__machine_read(getting->arena, &getting->machine);
    if (code) return code;
    getting->cpu = getting->found = strcmp(assay__device_bare(getting->device), "cpu") == 0;
    if (!getting->cpu) { /* which always exists */
        code = assay__build_of_run(getting->arena, asked.engine, getting->device, &asked.library,
                                   &asked.only, &lost);
        getting->accelerator.library = asked.library;
        if (!code) code = assay__devices_list(&asked, on_device, getting, &lost);
        if (code == ASSAY_ENOMEM || code == ASSAY_EINTERRUPTED) return code;
    }
    if (!getting->found) return 0;
    getting->begin_ns = assay__now_ns();
    getting->expected_ns = getting->cpu ? CPU_NS : ACCELERATOR_NS;
    if (!getting->cpu)
        code = assay__accelerator_ceilings_get(getting->arena, &getting->machine,
                                               &getting->accelerator, &wanted, &getting->set,
                                               error);
    else if (getting->options->keeping.ceilings)
        code = assay__ceilings_get(getting->arena, &getting->machine, &wanted, &getting->set,
                                   error);
    else
        code = assay__ceilings_kept(getting->arena, &getting->machine, &getting->set, error);
    if (interrupt && *interrupt) return ASSAY_EINTERRUPTED;
    return code == ASSAY_EINTERRUPTED ? ASSAY_ENOTFOUND : code; /* stopped by us: none are saved */
}

static int add_device(struct assay__arena *arena, const char *device,
                      struct assay__run_options *options, struct assay_error *error)
{
    struct getting getting = {.arena = arena, .options = options, .device = device};
    struct assay_error own = {0};
    int code = get(&getting, &own);
    const char *why = own.message[0] ? own.message : assay_error_text(code);
    if (code == ASSAY_EINTERRUPTED || code == ASSAY_ENOMEM)
        return assay_error_set(error, code, "%s", why);
    if (code && options->keeping.ceilings) /* requested: report it and continue without them */
        assay__remark(&options->callbacks, "no ceilings of %s: %s", device, why);
    if (code || !getting.set) return 0;
    size_t have = options->ceiling_count, count = have + getting.set->count;
    struct assay__ceiling_info *rows = assay__arena_array(arena, count, sizeof *rows);
    if (!rows) return assay__no_memory(error);
    if (have) memcpy(rows, options->ceilings, have * sizeof *rows);
    assay__ceilings_describe(arena, getting.set, device, rows + have);
    options->ceilings = rows;
    options->ceiling_count = count;
    return 0;
}

int assay__run_ceilings(struct assay__arena *arena, const char *const *devices, size_t count,
                        struct assay__run_options *options, struct assay_error *error)
{
    const char *engine = options->target.engine, *own = options->target.device;
    int code = 0;
    if (options->script || (engine && strcmp(engine, "fake") == 0)) return 0;
    if (!devices) devices = &own, count = 1;
    for (size_t d = 0; d < count && !code; d++) {
        const char *name = devices[d] ? devices[d] : "cpu";
        bool before = false;
        for (size_t i = 0; i < d; i++)
            before |= strcmp(devices[i] ? devices[i] : "cpu", name) == 0;
        if (!before) code = add_device(arena, name, options, error);
    }
    return code;
}
