/* cmd_devices.c - assay devices: what every engine offers here, what is missing and why, the CPU's facts and, when asked,
 * its measured ceilings. Devices of class "cpu" share the ceilings of the one processor; those of other devices need
 * the engine that reaches them and are not measured here. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "ceiling/ceiling.h"
#include "cli/cli.h"
#include "platform/platform.h"
#include "report/ceilings.h"
#include "report/page.h"

#include <assay/engine.h>
#include <assay/run.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct devices_options {
    bool json, ceilings, remeasure, quiet;
    const char *engine, *library, *only;
};

struct found {
    struct assay__arena *arena;
    struct assay_device *items;
    size_t count, capacity;
};

static int on_device(void *context, const struct assay_device *device)
{
    struct found *found = context;
    if (assay__vec_grow((void **)&found->items, &found->capacity, found->count + 1,
                        sizeof *found->items))
        return 1;
    struct assay_device *copy = &found->items[found->count];
    copy->name = assay__arena_strdup(found->arena, device->name ? device->name : "");
    copy->kind = assay__arena_strdup(found->arena, device->kind ? device->kind : "");
    copy->engine = assay__arena_strdup(found->arena, device->engine ? device->engine : "");
    copy->library = assay__arena_strdup(found->arena, device->library ? device->library : "");
    copy->reason = assay__arena_strdup(found->arena, device->reason ? device->reason : "");
    copy->available = device->available;
    if (!copy->name || !copy->kind || !copy->engine || !copy->library || !copy->reason) return 1;
    found->count++;
    return 0;
}

/* An engine that cannot even be asked is itself a reason. */
static void ask(const struct assay_engine_ops *engine, const char *library, struct found *found)
{
    struct assay_error error = {0};
    if (!engine->devices) return;
    size_t before = found->count;
    int code = engine->devices(library, on_device, found, &error);
    if (!code || found->count > before) return;
    struct assay_device missing = {
        .name = "cpu", .kind = "cpu", .engine = engine->name, .library = ""};
    missing.reason = error.message[0] ? error.message : assay_error_text(code);
    on_device(found, &missing);
}

/* --- the machine ------------------------------------------------------------------------------ */

static void put_bytes(struct assay__json_writer *w, const char *key, uint64_t bytes)
{
    if (bytes)
        assay__json_put_number(w, key, (double)bytes);
    else
        assay__json_put_null(w, key);
}

static void put_count(struct assay__json_writer *w, const char *key, int count)
{
    if (count > 0)
        assay__json_put_integer(w, key, count);
    else
        assay__json_put_null(w, key);
}

static void cpu_json(struct assay__json_writer *w, const struct assay__machine *m)
{
    assay__json_key(w, "cpu");
    assay__json_object(w);
    assay__json_put_text(w, "model", m->cpu_model);
    assay__json_put_text(w, "architecture", m->architecture);
    put_count(w, "packages", m->packages);
    put_count(w, "cores", m->cores);
    put_count(w, "threads", m->threads);
    assay__json_key(w, "max_hz");
    if (m->cpu_max_hz > 0)
        assay__json_number(w, m->cpu_max_hz);
    else
        assay__json_null(w);
    put_bytes(w, "l1d_bytes", m->l1d_bytes);
    put_bytes(w, "l2_bytes", m->l2_bytes);
    put_bytes(w, "l3_bytes", m->l3_bytes);
    assay__json_put_text(w, "simd", m->simd);
    assay__json_put_text(w, "governor", m->governor);
    assay__json_object_end(w);
    put_bytes(w, "memory_bytes", m->memory_bytes);
    assay__json_put_text(w, "virtualized", m->virtualized);
    assay__json_put_text(w, "container", m->container);
}

/* --- ceilings --------------------------------------------------------------------------------- */

#define EXPECTED_NS 17e9 /* of the whole measurement (doc/ceilings.md) */

struct ceilings {
    const struct assay__ceilings *set; /* NULL: none */
    const char *why;                   /* there are none */
    struct assay__bar bar;
    uint64_t begin_ns;
};

static bool on_row(void *context, const char *name)
{
    struct ceilings *ceilings = context;
    double done = (double)(assay__now_ns() - ceilings->begin_ns) / EXPECTED_NS;
    assay__bar_update(&ceilings->bar,
                      &(struct assay_progress){.phase = name, .done = done < 1 ? done : 1});
    return assay__interrupted != 0;
}

/* 0, or an exit status after it was said. A machine that cannot be measured is a reason, not a failure. */
static int get_ceilings(const struct devices_options *o, struct assay__arena *arena,
                        const struct assay__machine *machine, struct ceilings *ceilings)
{
    struct assay_error error = {0};
    struct assay__ceilings *set = NULL;
    struct assay__ceiling_options wanted = {
        .remeasure = o->remeasure, .only = o->only, .progress = on_row, .context = ceilings};
    if (!o->ceilings) {
        ceilings->why = "not asked for: assay devices --ceilings measures them";
        return 0;
    }
    assay__catch_interrupts();
    assay__bar_start(&ceilings->bar, o->quiet);
    ceilings->begin_ns = assay__now_ns();
    int code = assay__ceilings_get(arena, machine, &wanted, &set, &error);
    assay__bar_erase(&ceilings->bar);
    if (assay__interrupted) code = ASSAY_EINTERRUPTED;
    if (code && code != ASSAY_EUNSUPPORTED)
        return assay__fail(code, error.message[0] ? &error : NULL);
    if (code) {
        const char *why = assay__arena_strdup(arena, error.message);
        ceilings->why = why && *why ? why : assay_error_text(code);
    }
    if (set && o->only && !set->count) {
        assay__say("devices: --only: no ceiling's name begins with '%s'", o->only);
        return ASSAY__EXIT_USAGE;
    }
    ceilings->set = set;
    return 0;
}

static void render_json(struct assay__buf *out, const struct found *found,
                        const struct assay__machine *machine, const struct ceilings *ceilings)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__render_json_head(w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(w, "command", "devices");
    assay__json_key(w, "devices");
    assay__json_array(w);
    for (size_t i = 0; i < found->count; i++) {
        const struct assay_device *d = &found->items[i];
        assay__json_object(w);
        assay__json_put_string(w, "name", d->name);
        assay__json_put_string(w, "class", d->kind);
        assay__json_put_string(w, "engine", d->engine);
        assay__json_put_text(w, "library", d->library);
        assay__json_put_bool(w, "available", d->available);
        assay__json_put_text(w, "reason", d->reason);
        bool cpu = strcmp(d->kind, "cpu") == 0;
        assay__ceilings_json(w, cpu ? ceilings->set : NULL,
                             cpu || ceilings->why ? ceilings->why
                                                  : "only the CPU's ceilings are measured");
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
    cpu_json(w, machine);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}

/* --- text ------------------------------------------------------------------------------------- */

static void machine_text(struct assay__buf *out, const struct assay__machine *m)
{
    char scaled[64];
    struct assay__buf line = {0};
    assay__buf_puts(&line, *m->cpu_model ? m->cpu_model : "CPU of unknown model");
    if (m->cores > 0) assay__buf_printf(&line, ", %d core%s", m->cores, m->cores > 1 ? "s" : "");
    if (m->threads > 0)
        assay__buf_printf(&line, ", %d hardware thread%s", m->threads, m->threads > 1 ? "s" : "");
    if (m->memory_bytes) {
        assay__text_scaled(scaled, sizeof scaled, (double)m->memory_bytes, "B");
        assay__buf_printf(&line, ", %s of memory", scaled);
    }
    assay__text_safe(out, line.data ? line.data : "");
    assay__buf_putc(out, '\n');
    const struct {
        const char *name;
        uint64_t bytes;
    } caches[] = {{"L1d", m->l1d_bytes}, {"L2", m->l2_bytes}, {"L3", m->l3_bytes}};
    bool any = false;
    for (size_t i = 0; i < 3; i++) {
        if (!caches[i].bytes) continue;
        assay__text_scaled(scaled, sizeof scaled, (double)caches[i].bytes, "B");
        assay__buf_printf(out, "%s%s %s", any ? ", " : "", caches[i].name, scaled);
        any = true;
    }
    if (*m->simd) assay__buf_puts(out, any ? "; " : "");
    assay__text_safe(out, m->simd);
    assay__buf_puts(out, any || *m->simd ? "\n\n" : "\n");
    assay__buf_free(&line);
}

static void render_text(struct assay__buf *out, const struct found *found,
                        const struct assay__machine *machine, const struct ceilings *ceilings)
{
    /* one line per device when a program reads it, wrapped for people */
    struct assay__page page = {.out = out, .columns = assay__terminal_columns(STDOUT_FILENO)};
    if (page.columns <= 0) page.columns = 10000;
    machine_text(out, machine);
    assay__buf_puts(out, "device           class  engine  usable\n");
    for (size_t i = 0; i < found->count; i++) {
        const struct assay_device *d = &found->items[i];
        struct assay__buf safe = {0}, first = {0};
        assay__text_safe(&safe, d->name);
        assay__text_fit(&first, safe.data ? safe.data : "", 16, 0);
        assay__buf_printf(&first, " %-6s %-7s %-7s ", d->kind, d->engine,
                          d->available ? "yes" : "no");
        assay__page_wrap(&page, ASSAY__STYLE_PLAIN, first.data ? first.data : "",
                         d->available ? d->library : d->reason);
        assay__buf_free(&safe);
        assay__buf_free(&first);
    }
    if (!found->count) assay__buf_puts(out, "(none)\n");
    assay__buf_putc(out, '\n');
    page.color = assay__stdout_color();
    if (ceilings->set)
        assay__ceilings_text(&page, ceilings->set);
    else
        assay__page_wrap(&page, ASSAY__STYLE_PLAIN, "ceilings: — ", ceilings->why);
}

static int run(struct assay__invocation *invocation)
{
    const struct devices_options *o = invocation->options;
    struct found found = {.arena = assay__arena_new()};
    struct assay__machine machine;
    struct assay__buf out = {0};
    struct ceilings ceilings = {0};
    int status = ASSAY__EXIT_FAILED;
    memset(&machine, 0, sizeof machine);
    if (!o->ceilings && (o->remeasure || o->only)) {
        assay__say("devices: --%s needs --ceilings", o->remeasure ? "remeasure" : "only");
        assay__arena_free(found.arena);
        return ASSAY__EXIT_USAGE;
    }
    if (o->engine && !assay_engine_find(o->engine)) {
        assay__say("devices: --engine: there is no engine '%s'", o->engine);
        assay__arena_free(found.arena);
        return ASSAY__EXIT_USAGE;
    }
    int code = found.arena ? assay__machine_read(found.arena, &machine) : ASSAY_ENOMEM;
    if (code) {
        status = assay__fail(code, NULL);
        goto out;
    }
    for (size_t i = 0; assay_engine_at(i); i++) {
        const struct assay_engine_ops *engine = assay_engine_at(i);
        bool wanted = o->engine ? strcmp(o->engine, engine->name) == 0
                                : strcmp(engine->name, "fake") != 0;
        if (wanted) ask(engine, o->library, &found);
    }
    status = get_ceilings(o, found.arena, &machine, &ceilings);
    if (status) goto out;
    if (o->json)
        render_json(&out, &found, &machine, &ceilings);
    else
        render_text(&out, &found, &machine, &ceilings);
    status = assay__print(&out);
out:
    free(found.items);
    assay__arena_free(found.arena);
    return status;
}

static const struct assay__option options[] = {
    {"engine", 0, ASSAY__OPTION_STRING, offsetof(struct devices_options, engine), "NAME",
     "Only devices of this engine.", NULL, NULL, 0, 0, false},
    {"library", 0, ASSAY__OPTION_STRING, offsetof(struct devices_options, library), "FILE",
     "The engine's library (default: $ASSAY_ORT_LIBRARY, else the one set up here).", NULL, NULL, 0,
     0, false},
    {"ceilings", 0, ASSAY__OPTION_FLAG, offsetof(struct devices_options, ceilings), NULL,
     "Show what the CPU can do at most: measured in about 17 s, then kept for this machine.", NULL,
     NULL, 0, 0, false},
    {"remeasure", 0, ASSAY__OPTION_FLAG, offsetof(struct devices_options, remeasure), NULL,
     "Measure the ceilings again, although they are kept.", NULL, NULL, 0, 0, false},
    {"only", 0, ASSAY__OPTION_STRING, offsetof(struct devices_options, only), "NAME",
     "Only ceilings whose names begin so, such as compute.float32 or bandwidth.dram.", NULL, NULL,
     0, 0, false},
    {"quiet", 'q', ASSAY__OPTION_FLAG, offsetof(struct devices_options, quiet), NULL,
     "No progress on stderr; errors are still said.", NULL, NULL, 0, 0, false},
    {"json", 0, ASSAY__OPTION_FLAG, offsetof(struct devices_options, json), NULL, "Print JSON.",
     NULL, NULL, 0, 0, false},
    {0},
};

const struct assay__command assay__command_devices = {
    .name = "devices",
    .summary = "list the devices a model can run on, and why others cannot",
    .arguments = "",
    .description =
        "Asks every engine which devices it can reach on this machine. A device that cannot be used is "
        "listed with the reason.\n\n"
        "With --ceilings it also measures what the CPU can do at most: arithmetic per data type, bandwidth "
        "and latency per cache level and memory. The result is kept for this machine and measured again when the "
        "machine changes.",
    .examples = "  assay devices\n  assay devices --ceilings\n"
                "  assay devices --ceilings --only compute --json\n",
    .options = options,
    .options_size = sizeof(struct devices_options),
    .run = run,
};
