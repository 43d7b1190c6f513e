/* topology_json.c - the layout of the processors, and the GPUs and NPUs that the operating system
 * lists, as JSON. What is unknown is null, never 0. */
#include "report/report_machine.h"

#include "base/json.h"

static void put_count(struct assay__json_writer *w, const char *key, int count)
{
    if (count > 0)
        assay__json_put_integer(w, key, count);
    else
        assay__json_put_null(w, key);
}

static void put_bytes(struct assay__json_writer *w, const char *key, uint64_t bytes)
{
    assay__json_key(w, key);
    if (bytes)
        assay__json_unsigned(w, bytes);
    else
        assay__json_null(w);
}

static void kinds_json(struct assay__json_writer *w, const struct assay__topology *t)
{
    assay__json_key(w, "core_kinds");
    assay__json_array(w);
    for (size_t i = 0; i < t->kind_count; i++) {
        const struct assay__core_kind *kind = &t->kinds[i];
        assay__json_object(w);
        assay__json_put_text(w, "name", kind->name);
        put_count(w, "cores", kind->cores);
        put_count(w, "threads", kind->threads);
        assay__json_put_text(w, "cpus", kind->cpus);
        if (kind->max_hz > 0)
            assay__json_put_number(w, "max_hz", kind->max_hz);
        else
            assay__json_put_null(w, "max_hz");
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void caches_json(struct assay__json_writer *w, const struct assay__topology *t)
{
    assay__json_key(w, "caches");
    assay__json_array(w);
    for (size_t i = 0; i < t->cache_count; i++) {
        const struct assay__cache *c = &t->caches[i];
        assay__json_object(w);
        assay__json_put_integer(w, "level", c->level);
        assay__json_put_string(w, "kind", c->kind);
        put_bytes(w, "size_bytes", c->size_bytes);
        put_bytes(w, "line_bytes", c->line_bytes);
        put_count(w, "ways", c->ways);
        if (c->ways != 0)
            assay__json_put_bool(w, "fully_associative", c->ways < 0);
        else
            assay__json_put_null(w, "fully_associative");
        put_count(w, "shared_by_threads", c->threads);
        put_count(w, "count", c->count);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

static void nodes_json(struct assay__json_writer *w, const struct assay__topology *t)
{
    assay__json_key(w, "numa_nodes");
    assay__json_array(w);
    for (size_t i = 0; i < t->node_count; i++) {
        assay__json_object(w);
        assay__json_put_integer(w, "node", t->nodes[i].number);
        put_bytes(w, "memory_bytes", t->nodes[i].memory_bytes);
        assay__json_put_text(w, "cpus", t->nodes[i].cpus);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}

void assay__topology_json(struct assay__json_writer *w, const struct assay__topology *topology)
{
    const struct assay__topology *t = topology;
    assay__json_key(w, "topology");
    assay__json_object(w);
    assay__json_put_text(w, "reason", t->reason);
    put_count(w, "packages", t->packages);
    put_count(w, "dies", t->dies);
    put_count(w, "cores", t->cores);
    put_count(w, "threads", t->threads);
    put_count(w, "threads_per_core_min", t->least_threads_per_core);
    put_count(w, "threads_per_core", t->threads_per_core);
    assay__json_put_text(w, "allowed_cpus", t->allowed);
    put_count(w, "allowed_count", t->allowed_count);
    kinds_json(w, t);
    caches_json(w, t);
    nodes_json(w, t);
    assay__json_object_end(w);
}

void assay__hardware_json(struct assay__json_writer *w, const struct assay__hardware *items,
                          size_t count)
{
    assay__json_key(w, "hardware");
    assay__json_array(w);
    for (size_t i = 0; i < count; i++) {
        const struct assay__hardware *item = &items[i];
        assay__json_object(w);
        assay__json_put_string(w, "class", item->kind);
        assay__json_put_text(w, "name", item->name);
        assay__json_put_text(w, "vendor", item->vendor);
        assay__json_put_text(w, "driver", item->driver);
        assay__json_put_text(w, "driver_version", item->driver_version);
        put_bytes(w, "memory_bytes", item->memory_bytes);
        assay__json_put_text(w, "pci", item->pci);
        assay__json_put_text(w, "uuid", item->uuid);
        assay__json_put_text(w, "source", item->source);
        assay__json_put_text(w, "note", item->note);
        assay__json_put_text(w, "help", item->help);
        assay__json_object_end(w);
    }
    assay__json_array_end(w);
}
