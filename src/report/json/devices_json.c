/* devices_json.c - what `assay devices` found, as JSON. */
#include "report/report_machine.h"

#include "base/json.h"
#include "report/json/json_head.h"

#include <assay/profile.h>
#include <math.h>

static void cpu_json(struct assay__json_writer *w, const struct assay__machine *m)
{
    assay__json_put_object(w, "cpu");
    assay__json_put_text(w, "model", m->cpu_model);
    assay__json_put_text(w, "architecture", m->architecture);
    assay__json_put_count(w, "packages", m->packages, 1);
    assay__json_put_count(w, "cores", m->cores, 1);
    assay__json_put_count(w, "threads", m->threads, 1);
    assay__json_put_number(w, "max_hz", m->cpu_max_hz > 0 ? m->cpu_max_hz : (double)NAN);
    assay__json_put_count(w, "l1d_bytes", (int64_t)m->l1d_bytes, 1);
    assay__json_put_count(w, "l2_bytes", (int64_t)m->l2_bytes, 1);
    assay__json_put_count(w, "l3_bytes", (int64_t)m->l3_bytes, 1);
    assay__json_put_text(w, "simd", m->simd);
    assay__json_put_text(w, "governor", m->governor);
    assay__json_object_end(w);
    assay__json_put_count(w, "memory_bytes", (int64_t)m->memory_bytes, 1);
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
    assay__json_put_array(w, "builds");
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
    assay__json_put_array(w, "devices");
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
