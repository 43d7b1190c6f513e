/* devices_json.c - what `assay devices` found, as JSON. What is unknown is null, never 0. */
#include "report/report_machine.h"

#include "report/json/json_members.h"

#include <assay/profile.h>
#include <math.h>

static void device_json(struct assay__json_writer *w, const struct assay__found *found,
                        const struct assay__found_build *build,
                        const struct assay__found_device *item)
{
    const struct assay__device *d = &item->device;
    assay__json_object(w);
    assay__json_members(w, json_string("name", item->name), json_string("class", d->kind),
                        json_string("engine", d->engine), json_text("build", build->name),
                        json_text("library", d->library), json_text("version", d->version),
                        json_bool("available", d->available), json_bool("offered", d->offered),
                        json_text("reason", d->reason),
                        json_text("hardware", assay__found_hardware(found, d)),
                        json_bool("software", d->software), json_text("note", d->note));
    assay__ceilings_json(w, item->ceilings, item->why);
    assay__json_object_end(w);
}

void assay__topology_json(struct assay__json_writer *w, const struct assay__topology *t)
{
    assay__json_put_object(w, "topology");
    assay__json_members(w, json_text("reason", t->reason), json_count("packages", t->packages, 1),
                        json_count("dies", t->dies, 1), json_count("cores", t->cores, 1),
                        json_count("threads", t->threads, 1),
                        json_count("threads_per_core_min", t->least_threads_per_core, 1),
                        json_count("threads_per_core", t->threads_per_core, 1),
                        json_text("allowed_cpus", t->allowed),
                        json_count("allowed_count", t->allowed_count, 1));
    for (ASSAY__JSON_EACH(i, w, "core_kinds", t->kind_count)) {
        const struct assay__core_kind *kind = &t->kinds[i];
        assay__json_record(w, NULL, json_text("name", kind->name),
                           json_count("cores", kind->cores, 1),
                           json_count("threads", kind->threads, 1), json_text("cpus", kind->cpus),
                           json_number("max_hz", kind->max_hz > 0 ? kind->max_hz : NAN));
    }
    for (ASSAY__JSON_EACH(i, w, "caches", t->cache_count)) {
        const struct assay__cache *c = &t->caches[i];
        assay__json_record(
            w, NULL, json_integer("level", c->level), json_string("kind", c->kind),
            json_count("size_bytes", c->size_bytes, 1), json_count("line_bytes", c->line_bytes, 1),
            json_count("ways", c->ways, 1),
            c->ways ? json_bool("fully_associative", c->ways < 0) : json_null("fully_associative"),
            json_count("shared_by_threads", c->threads, 1), json_count("count", c->count, 1));
    }
    for (ASSAY__JSON_EACH(i, w, "numa_nodes", t->node_count)) {
        assay__json_record(w, NULL, json_integer("node", t->nodes[i].number),
                           json_count("memory_bytes", t->nodes[i].memory_bytes, 1),
                           json_text("cpus", t->nodes[i].cpus));
    }
    assay__json_object_end(w);
}

void assay__hardware_json(struct assay__json_writer *w, const struct assay__hardware *items,
                          size_t count)
{
    for (ASSAY__JSON_EACH(i, w, "hardware", count)) {
        const struct assay__hardware *item = &items[i];
        assay__json_record(w, NULL, json_string("class", item->kind), json_text("name", item->name),
                           json_text("vendor", item->vendor), json_text("driver", item->driver),
                           json_text("driver_version", item->driver_version),
                           json_count("memory_bytes", item->memory_bytes, 1),
                           json_text("pci", item->pci), json_text("uuid", item->uuid),
                           json_text("source", item->source), json_text("note", item->note),
                           json_text("help", item->help));
    }
}

void assay__devices_json(struct assay__buf *out, const struct assay__found *found)
{
    struct assay__json_writer writer, *w = &writer;
    assay__json_head(w, out, "devices");
    assay__json_members(w, json_bool("interrupted", found->interrupted));
    for (ASSAY__JSON_EACH(b, w, "devices", found->build_count))
        for (size_t i = 0; i < found->builds[b].count; i++)
            device_json(w, found, &found->builds[b], &found->items[found->builds[b].first + i]);
    for (ASSAY__JSON_EACH(i, w, "builds", found->build_count)) {
        const struct assay__found_build *build = &found->builds[i];
        assay__json_record(w, NULL, json_text("name", build->name),
                           json_string("engine", build->engine), json_text("library", build->path),
                           json_text("version", build->version),
                           json_text("reason", build->reason));
    }
    const struct assay__machine *m = &found->machine;
    assay__json_record(
        w, "cpu", json_text("model", m->cpu_model), json_text("architecture", m->architecture),
        json_count("packages", m->packages, 1), json_count("cores", m->cores, 1),
        json_count("threads", m->threads, 1),
        json_number("max_hz", m->cpu_max_hz > 0 ? m->cpu_max_hz : NAN),
        json_count("l1d_bytes", m->l1d_bytes, 1), json_count("l2_bytes", m->l2_bytes, 1),
        json_count("l3_bytes", m->l3_bytes, 1), json_text("simd", m->simd),
        json_text("governor", m->governor));
    assay__json_members(w, json_count("memory_bytes", m->memory_bytes, 1),
                        json_text("virtualized", m->virtualized),
                        json_text("container", m->container));
    assay__topology_json(w, &found->topology);
    assay__hardware_json(w, found->hardware, found->hardware_count);
    assay__json_tail(w);
}
