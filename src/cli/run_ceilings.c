/* run_ceilings.c - finds or measures the ceilings of a run's devices. Nothing is measured unless
 * asked: a run must not take longer than it was told to. The CPU's ceilings hold for every device
 * of class "cpu". Those of another device have a file of their own, named by what the engine says
 * of it, so it is asked first (in a child process, as `assay devices` does). The fake engine's
 * times are scripted: no ceiling holds for them. */
#include "cli/run_ceilings.h"

#include "base/clock.h"
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
    struct assay__bar *bar;
    bool measure;
    uint64_t begin_ns;
    double expected_ns;
    struct assay__machine machine;
    struct assay__accelerator accelerator;
    bool cpu;   /* of that class */
    bool found; /* and it can be used */
    struct assay__ceilings *set;
};

/* True ends the measurement before it begins: when it was not asked for, only what is kept is
 * wanted. */
static bool on_row(void *context, const char *name)
{
    const struct getting *getting = context;
    double done = (double)(assay__now_ns() - getting->begin_ns) / getting->expected_ns;
    if (!getting->measure) return true;
    assay__bar_update(getting->bar,
                      &(struct assay_progress){.phase = name, .done = done < 1 ? done : 1});
    return assay__interrupted != 0;
}

/* --- the device ------------------------------------------------------------------------------- */

static int on_device(void *context, const struct assay_device *device)
{
    struct getting *getting = context;
    struct assay__accelerator *a = &getting->accelerator;
    if (!device->available) return 0;
    getting->found = true;
    getting->cpu = strcmp(device->kind, "cpu") == 0;
    a->engine = assay__arena_strdup(getting->arena, device->engine);
    a->device = assay__arena_strdup(getting->arena, device->name);
    /* the same words as of `assay devices`: the file is found by them */
    a->identity = assay__arena_printf(getting->arena, "%s %s\n%s\n%s", device->engine,
                                      device->version, device->library, device->hardware);
    return a->engine && a->device && a->identity ? 0 : ASSAY_ENOMEM;
}

/* A device that cannot be asked or used has no ceilings; the run will say what is wrong with it. */
static int ask(struct getting *getting, const struct assay_run_options *options)
{
    struct assay_error error = {0};
    struct assay__devices_options wanted = {.engine = options->engine ? options->engine : "ort",
                                            .library = options->library,
                                            .interrupt = &assay__interrupted};
    const char *device = options->device ? options->device : "cpu";
    if (strcmp(assay__device_bare(device), "cpu") == 0) { /* it is always here */
        getting->cpu = getting->found = true;
        return 0;
    }
    int code = assay__build_of_run(getting->arena, wanted.engine, device, &wanted.library,
                                   &wanted.only, &error);
    if (code) return code == ASSAY_ENOMEM ? code : 0;
    getting->accelerator.library = wanted.library;
    code = assay__devices_list(&wanted, on_device, getting, &error);
    return code == ASSAY_ENOMEM || code == ASSAY_EINTERRUPTED ? code : 0;
}

/* --- its ceilings ----------------------------------------------------------------------------- */

static int get(struct getting *getting, const struct assay_run_options *options,
               struct assay_error *error)
{
    struct assay__ceiling_options wanted = {.progress = on_row, .context = getting};
    int code = assay__machine_read(getting->arena, &getting->machine);
    if (code == 0) code = ask(getting, options);
    if (code || !getting->found) return code;
    getting->begin_ns = assay__now_ns();
    getting->expected_ns = getting->cpu ? CPU_NS : ACCELERATOR_NS;
    if (getting->cpu && !getting->measure)
        code = assay__ceilings_kept(getting->arena, &getting->machine, &getting->set, error);
    else if (getting->cpu)
        code = assay__ceilings_get(getting->arena, &getting->machine, &wanted, &getting->set,
                                   error);
    else
        code = assay__accelerator_ceilings_get(getting->arena, &getting->machine,
                                               &getting->accelerator, &wanted, &getting->set,
                                               error);
    if (assay__interrupted) return ASSAY_EINTERRUPTED;
    return code == ASSAY_EINTERRUPTED ? ASSAY_ENOTFOUND : code; /* we ended it: none is kept */
}

static int copy(struct assay__arena *arena, const struct assay__ceilings *set,
                struct assay_run_options *options)
{
    struct assay_ceiling *rows = assay__arena_array(arena, set->count, sizeof *rows);
    if (!rows) return ASSAY_ENOMEM;
    for (size_t i = 0; i < set->count; i++) {
        const struct assay__ceiling *from = &set->rows[i];
        rows[i] = (struct assay_ceiling){
            .device = options->device ? options->device : "cpu",
            .name = from->name,
            .value = from->value,
            .unit = from->unit,
            .low = from->low,
            .high = from->high,
            .source = from->source,
            .note = from->note,
            .measured_at = set->measured_at,
        };
    }
    options->ceilings = rows;
    options->ceiling_count = set->count;
    return 0;
}

int assay__run_ceilings(struct assay__arena *arena, bool measure, struct assay__bar *bar,
                        struct assay_run_options *options)
{
    struct getting getting = {.arena = arena, .bar = bar, .measure = measure};
    struct assay_error error = {0};
    if (options->script || (options->engine && strcmp(options->engine, "fake") == 0)) return 0;
    int code = arena ? get(&getting, options, &error) : ASSAY_ENOMEM;
    assay__bar_erase(bar);
    if (code == ASSAY_EINTERRUPTED || code == ASSAY_ENOMEM)
        return assay__fail(code, error.message[0] ? &error : NULL);
    if (code && measure) /* asked for: said, and the run goes on without them */
        assay__say("--ceilings: %s", error.message[0] ? error.message : assay_error_text(code));
    if (code || !getting.set) return 0;
    code = copy(arena, getting.set, options);
    return code ? assay__fail(code, NULL) : 0;
}

static bool named_before(const char *const *devices, size_t index)
{
    const char *name = devices[index] ? devices[index] : "cpu";
    for (size_t i = 0; i < index; i++)
        if (strcmp(devices[i] ? devices[i] : "cpu", name) == 0) return true;
    return false;
}

int assay__run_ceilings_of(struct assay__arena *arena, bool measure, struct assay__bar *bar,
                           const char *const *devices, size_t count,
                           struct assay_run_options *options)
{
    struct assay_ceiling *all = NULL;
    size_t have = 0;
    int status = 0;
    for (size_t d = 0; d < count && !status; d++) {
        struct assay_run_options one = *options;
        if (named_before(devices, d)) continue;
        one.device = devices[d];
        if (one.device && strchr(one.device, '/')) one.library = NULL; /* its build's own */
        one.ceilings = NULL;
        one.ceiling_count = 0;
        status = assay__run_ceilings(arena, measure, bar, &one);
        if (status || !one.ceiling_count) continue;
        struct assay_ceiling *more = assay__arena_array(arena, have + one.ceiling_count,
                                                        sizeof *more);
        if (!more) return assay__fail(ASSAY_ENOMEM, NULL);
        if (have) memcpy(more, all, have * sizeof *more);
        memcpy(more + have, one.ceilings, one.ceiling_count * sizeof *more);
        all = more;
        have += one.ceiling_count;
    }
    options->ceilings = all;
    options->ceiling_count = have;
    return status;
}
