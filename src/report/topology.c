/* topology.c - the layout of the processors, and GPUs and NPUs of the operating system, as text and
 * JSON. What is unknown is null in JSON and "not told" in text, never 0. Sizes of caches are powers
 * of two and are shown as such (KiB, MiB); memory is decimal as everywhere else. */
#include "report/topology.h"

#include "base/json.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define MEMORY_WITHIN 0.1 /* the kernel's own memory is counted by some and not by others */

/* --- text ------------------------------------------------------------------------------------- */

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static void put_row(struct assay__page *page, const char *label, struct assay__buf *items)
{
    assay__page_row(page, label, items->data ? items->data : "not told");
    assay__buf_free(items);
}

/* "32 KiB"; what is no whole number of them by the general rule. */
static void cache_size(char *out, size_t out_size, uint64_t bytes)
{
    if (!bytes)
        snprintf(out, out_size, "size not told");
    else if (bytes % (1u << 20) == 0)
        snprintf(out, out_size, "%llu MiB", (unsigned long long)(bytes >> 20));
    else if (bytes % 1024 == 0)
        snprintf(out, out_size, "%llu KiB", (unsigned long long)(bytes >> 10));
    else
        assay__text_scaled(out, out_size, (double)bytes, "B");
}

static void processors_text(struct assay__page *page, const struct assay__topology *t)
{
    struct assay__buf items = {0};
    if (t->packages > 0) assay__page_item(&items, "%d package%s", t->packages, plural(t->packages));
    if (t->dies > 0) assay__page_item(&items, "%d die%s", t->dies, plural(t->dies));
    if (t->cores > 0) assay__page_item(&items, "%d core%s", t->cores, plural(t->cores));
    if (t->threads > 0)
        assay__page_item(&items, "%d hardware thread%s", t->threads, plural(t->threads));
    if (t->threads_per_core > t->least_threads_per_core)
        assay__page_item(&items, "%d to %d threads a core (SMT)", t->least_threads_per_core,
                         t->threads_per_core);
    else if (t->threads_per_core > 1)
        assay__page_item(&items, "%d threads a core (SMT)", t->threads_per_core);
    else if (t->threads_per_core == 1)
        assay__page_item(&items, "no SMT");
    put_row(page, "processors", &items);
    if (*t->allowed) assay__page_item(&items, "CPU %s", t->allowed);
    if (*t->allowed && t->allowed_count > 0 && t->threads > 0)
        assay__page_item(&items, "%d of %d", t->allowed_count, t->threads);
    put_row(page, "may use", &items);
}

static void kinds_text(struct assay__page *page, const struct assay__topology *t)
{
    for (size_t i = t->kind_count; i-- > 0;) {
        const struct assay__core_kind *kind = &t->kinds[i];
        struct assay__buf items = {0};
        char label[32], clock[32];
        snprintf(label, sizeof label, "kind %zu", t->kind_count - i);
        if (*kind->name) assay__page_item(&items, "%s", kind->name);
        if (kind->cores > 0)
            assay__page_item(&items, "%d core%s", kind->cores, plural(kind->cores));
        if (*kind->cpus) assay__page_item(&items, "CPU %s", kind->cpus);
        assay__text_scaled(clock, sizeof clock, kind->max_hz, "Hz");
        if (kind->max_hz > 0) assay__page_item(&items, "at most %s", clock);
        put_row(page, label, &items);
    }
}

static void caches_text(struct assay__page *page, const struct assay__topology *t)
{
    for (size_t i = 0; i < t->cache_count; i++) {
        const struct assay__cache *c = &t->caches[i];
        struct assay__buf items = {0};
        char label[16], size[32];
        const char *side = strcmp(c->kind, "data") == 0          ? "d"
                           : strcmp(c->kind, "instruction") == 0 ? "i"
                                                                 : "";
        snprintf(label, sizeof label, "L%d%s", c->level, side);
        cache_size(size, sizeof size, c->size_bytes);
        if (c->count > 1)
            assay__page_item(&items, "%d × %s", c->count, size);
        else
            assay__page_item(&items, "%s", size);
        if (c->threads > 0)
            assay__page_item(&items, "%s %d hardware thread%s", c->threads > 1 ? "shared by" : "of",
                             c->threads, plural(c->threads));
        if (c->ways > 0) assay__page_item(&items, "%d-way", c->ways);
        if (c->ways < 0) assay__page_item(&items, "fully associative");
        if (c->line_bytes) assay__page_item(&items, "%u B lines", c->line_bytes);
        put_row(page, label, &items);
    }
    if (!t->cache_count) assay__page_row(page, "caches", "not told");
}

static void memory_text(struct assay__page *page, const struct assay__topology *t)
{
    for (size_t i = 0; i < t->node_count; i++) {
        const struct assay__memory_node *node = &t->nodes[i];
        struct assay__buf items = {0};
        char label[32], size[32];
        snprintf(label, sizeof label, t->node_count > 1 ? "memory %d" : "memory", node->number);
        assay__text_scaled(size, sizeof size, (double)node->memory_bytes, "B");
        assay__page_item(&items, "%s", node->memory_bytes ? size : "size not told");
        if (t->node_count == 1) assay__page_item(&items, "one NUMA node");
        if (t->node_count > 1 && *node->cpus) assay__page_item(&items, "near CPU %s", node->cpus);
        if (t->node_count > 1 && !*node->cpus) assay__page_item(&items, "without processors");
        put_row(page, label, &items);
    }
    if (!t->node_count) assay__page_row(page, "memory", "not told");
}

/* Memory that was added while the machine ran may belong to no node: then what is told of the nodes
 * is not the whole. */
static void memory_remark(struct assay__page *page, const struct assay__topology *t,
                          uint64_t memory_bytes)
{
    double told = 0, whole = (double)memory_bytes;
    char part[32], all[32], remark[160];
    for (size_t i = 0; i < t->node_count; i++) {
        if (!t->nodes[i].memory_bytes) return; /* not told at all: the row says so */
        told += (double)t->nodes[i].memory_bytes;
    }
    if (!(told > 0) || !(whole > 0)) return;
    if (told >= (1 - MEMORY_WITHIN) * whole && told <= (1 + MEMORY_WITHIN) * whole) return;
    assay__text_scaled(part, sizeof part, told, "B");
    assay__text_scaled(all, sizeof all, whole, "B");
    snprintf(remark, sizeof remark, "%s %s of the machine's %s",
             t->node_count == 1 ? "the node tells" : "the nodes tell", part, all);
    assay__page_wrap(page, ASSAY__STYLE_PLAIN, "              ", remark);
}

void assay__topology_text(struct assay__page *page, const struct assay__topology *topology,
                          uint64_t memory_bytes)
{
    assay__page_heading(page, "Topology", "");
    if (*topology->reason) {
        assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  — ", topology->reason);
        return;
    }
    processors_text(page, topology);
    kinds_text(page, topology);
    caches_text(page, topology);
    memory_text(page, topology);
    memory_remark(page, topology, memory_bytes);
}

static void item_text(struct assay__page *page, const struct assay__hardware *item)
{
    struct assay__buf items = {0};
    char memory[32];
    bool named = *item->vendor && strncmp(item->name, item->vendor, strlen(item->vendor)) == 0;
    if (*item->name)
        assay__page_item(&items, "%s%s%s", named ? "" : item->vendor,
                         named || !*item->vendor ? "" : " ", item->name);
    else
        assay__page_item(&items, "%s%smodel not told", item->vendor, *item->vendor ? ", " : "");
    assay__text_scaled(memory, sizeof memory, (double)item->memory_bytes, "B");
    if (item->memory_bytes) assay__page_item(&items, "%s", memory);
    if (*item->driver)
        assay__page_item(&items, "driver %s%s%s", item->driver, *item->driver_version ? " " : "",
                         item->driver_version);
    if (*item->pci) assay__page_item(&items, "PCI %s", item->pci);
    assay__page_item(&items, "by %s", item->source);
    put_row(page, item->kind, &items);
    if (*item->note) assay__page_wrap(page, ASSAY__STYLE_PLAIN, "              ", item->note);
    if (*item->help) assay__page_wrap(page, ASSAY__STYLE_PLAIN, "              → ", item->help);
}

void assay__hardware_text(struct assay__page *page, const struct assay__hardware *items,
                          size_t count)
{
    assay__page_heading(page, "GPUs and NPUs", "as the operating system shows them");
    for (size_t i = 0; i < count; i++)
        item_text(page, &items[i]);
    if (!count) assay__page_wrap(page, ASSAY__STYLE_PLAIN, "  ", "none is shown");
}

/* --- JSON ------------------------------------------------------------------------------------- */

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
