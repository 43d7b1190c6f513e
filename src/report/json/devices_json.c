/* devices_json.c - what `assay devices` found, as JSON. */
#include "report/report_machine.h"

#include "base/json.h"
#include "report/json/json_head.h"

#include <assay/profile.h>

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

static void device_json(struct assay__json_writer *w, const struct assay__found *found,
                        const struct assay__found_build *build,
                        const struct assay__found_device *item)
{
    const struct assay_device *d = &item->device;
    assay__json_object(w);
    assay__json_put_string(w, "name", item->name);
    assay__json_put_string(w, "class", d->kind);
    assay__json_put_string(w, "engine", d->engine);
    assay__json_put_text(w, "build", build->name);
    assay__json_put_text(w, "library", d->library);
    assay__json_put_text(w, "version", d->version);
    assay__json_put_bool(w, "available", d->available);
    assay__json_put_bool(w, "offered", d->offered);
    assay__json_put_text(w, "reason", d->reason);
    assay__json_put_text(w, "hardware", assay__found_hardware(found, d));
    assay__json_put_bool(w, "software", d->software);
    assay__json_put_text(w, "note", d->note);
    assay__ceilings_json(w, item->ceilings, item->why);
    assay__json_object_end(w);
}

static void builds_json(struct assay__json_writer *w, const struct assay__found *found)
{
    assay__json_key(w, "builds");
    assay__json_array(w);
    for (size_t i = 0; i < found->build_count; i++) {
        const struct assay__found_build *build = &found->builds[i];
        assay__json_object(w);
        assay__json_put_text(w, "name", build->name);
        assay__json_put_string(w, "engine", build->engine);
        assay__json_put_text(w, "library", build->path);
        assay__json_put_text(w, "version", build->version);
        assay__json_put_text(w, "reason", build->reason);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

void assay__devices_json(struct assay__buf *out, const struct assay__found *found)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_start(w, out, true);
    assay__json_head(w, assay_version(), ASSAY_SCHEMA_VERSION);
    assay__json_put_string(w, "command", "devices");
    assay__json_put_bool(w, "interrupted", found->interrupted);
    assay__json_key(w, "devices");
    assay__json_array(w);
    for (size_t b = 0; b < found->build_count; b++)
        for (size_t i = 0; i < found->builds[b].count; i++)
            device_json(w, found, &found->builds[b], &found->items[found->builds[b].first + i]);
    assay__json_array_end(w);
    builds_json(w, found);
    cpu_json(w, &found->machine);
    assay__topology_json(w, &found->topology);
    assay__hardware_json(w, found->hardware, found->hardware_count);
    assay__json_object_end(w);
    assay__buf_putc(out, '\n');
}
