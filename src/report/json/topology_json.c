/* topology_json.c - the layout of the processors, and the GPUs and NPUs that the operating system
 * lists, as JSON. What is unknown is null, never 0. */
#include "report/report_machine.h"

#include "base/json.h"

#include <math.h>

static void kinds_json(struct assay__json_writer *w, const struct assay__topology *t)
{
    assay__json_put_array(w, "core_kinds");
    for (size_t i = 0; i < t->kind_count; i++) {
        const struct assay__core_kind *kind = &t->kinds[i];
        assay__json_object(w);
        assay__json_put_text(w, "name", kind->name);
        assay__json_put_count(w, "cores", kind->cores, 1);
        assay__json_put_count(w, "threads", kind->threads, 1);
        assay__json_put_text(w, "cpus", kind->cpus);
        assay__json_put_number(w, "max_hz", kind->max_hz > 0 ? kind->max_hz : (double)NAN);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void caches_json(struct assay__json_writer *w, const struct assay__topology *t)
{
    assay__json_put_array(w, "caches");
    for (size_t i = 0; i < t->cache_count; i++) {
        const struct assay__cache *c = &t->caches[i];
        assay__json_object(w);
        assay__json_put_integer(w, "level", c->level);
        assay__json_put_string(w, "kind", c->kind);
        assay__json_put_count(w, "size_bytes", (int64_t)c->size_bytes, 1);
        assay__json_put_count(w, "line_bytes", (int64_t)c->line_bytes, 1);
        assay__json_put_count(w, "ways", c->ways, 1);
        if (c->ways != 0)
            assay__json_put_bool(w, "fully_associative", c->ways < 0);
        else
            assay__json_put_null(w, "fully_associative");
        assay__json_put_count(w, "shared_by_threads", c->threads, 1);
        assay__json_put_count(w, "count", c->count, 1);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void nodes_json(struct assay__json_writer *w, const struct assay__topology *t)
{
    assay__json_put_array(w, "numa_nodes");
    for (size_t i = 0; i < t->node_count; i++) {
        assay__json_object(w);
        assay__json_put_integer(w, "node", t->nodes[i].number);
        assay__json_put_count(w, "memory_bytes", (int64_t)t->nodes[i].memory_bytes, 1);
        assay__json_put_text(w, "cpus", t->nodes[i].cpus);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

void assay__topology_json(struct assay__json_writer *w, const struct assay__topology *topology)
{
    const struct assay__topology *t = topology;
    assay__json_put_object(w, "topology");
    assay__json_put_text(w, "reason", t->reason);
    assay__json_put_count(w, "packages", t->packages, 1);
    assay__json_put_count(w, "dies", t->dies, 1);
    assay__json_put_count(w, "cores", t->cores, 1);
    assay__json_put_count(w, "threads", t->threads, 1);
    assay__json_put_count(w, "threads_per_core_min", t->least_threads_per_core, 1);
    assay__json_put_count(w, "threads_per_core", t->threads_per_core, 1);
    assay__json_put_text(w, "allowed_cpus", t->allowed);
    assay__json_put_count(w, "allowed_count", t->allowed_count, 1);
    kinds_json(w, t);
    caches_json(w, t);
    nodes_json(w, t);
    assay__json_object_end(w);
}

void assay__hardware_json(struct assay__json_writer *w, const struct assay__hardware *items,
                          size_t count)
{
    assay__json_put_array(w, "hardware");
    for (size_t i = 0; i < count; i++) {
        const struct assay__hardware *item = &items[i];
        assay__json_object(w);
        assay__json_put_string(w, "class", item->kind);
        assay__json_put_text(w, "name", item->name);
        assay__json_put_text(w, "vendor", item->vendor);
        assay__json_put_text(w, "driver", item->driver);
        assay__json_put_text(w, "driver_version", item->driver_version);
        assay__json_put_count(w, "memory_bytes", (int64_t)item->memory_bytes, 1);
        assay__json_put_text(w, "pci", item->pci);
        assay__json_put_text(w, "uuid", item->uuid);
        assay__json_put_text(w, "source", item->source);
        assay__json_put_text(w, "note", item->note);
        assay__json_put_text(w, "help", item->help);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}
