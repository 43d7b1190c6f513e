/* topology_facts.c - how the processors are laid out: packages, cores, kinds of cores, caches,
 * memory. Sizes of caches are powers of two and are shown as such (KiB, MiB); memory is decimal as
 * everywhere else. */
#include "report/report_machine.h"

#include "base/text.h"

#include <string.h>

#define MEMORY_WITHIN 0.1 /* the kernel's own memory is counted by some and not by others */
#define UNKNOWN "not reported"

/* "4 cores"; nothing when there are none. */
static void add_count(struct assay__doc *doc, int count, const char *what)
{
    if (count > 0) assay__doc_item_count(doc, count, what);
}

static void add_processors(struct assay__doc *doc, const struct assay__topology *t)
{
    if (!t->packages && !t->dies && !t->cores && !t->threads) {
        assay__doc_fact_unknown(doc, "processors", UNKNOWN);
    } else {
        assay__doc_fact(doc, "processors");
        add_count(doc, t->packages, "package");
        add_count(doc, t->dies, "die");
        add_count(doc, t->cores, "core");
        add_count(doc, t->threads, "hardware thread");
        if (t->threads_per_core > t->least_threads_per_core)
            assay__doc_item_text(doc, "%d to %d threads per core (SMT)", t->least_threads_per_core,
                                 t->threads_per_core);
        else if (t->threads_per_core > 1)
            assay__doc_item_text(doc, "%d threads per core (SMT)", t->threads_per_core);
        else if (t->threads_per_core == 1)
            assay__doc_item_text(doc, "no SMT");
    }
    if (!*t->allowed) {
        assay__doc_fact_unknown(doc, "allowed", UNKNOWN);
        return;
    }
    assay__doc_fact(doc, "allowed");
    assay__doc_item_text(doc, "CPU %s", t->allowed);
    if (t->allowed_count > 0 && t->threads > 0)
        assay__doc_item_text(doc, "%d of %d", t->allowed_count, t->threads);
}

/* "32 KiB" if it is a whole number of them, else scaled as usual. */
static const char *size_of(struct assay__doc *doc, uint64_t bytes)
{
    if (!bytes) return "size " UNKNOWN;
    if (bytes % (1u << 20) == 0)
        return assay__doc_printf(doc, "%llu MiB", (unsigned long long)(bytes >> 20));
    if (bytes % 1024 == 0)
        return assay__doc_printf(doc, "%llu KiB", (unsigned long long)(bytes >> 10));
    return assay__doc_printf(doc, "%s", assay__scaled((double)bytes, "B").text);
}

static void add_memory(struct assay__doc *doc, const struct assay__topology *t)
{
    bool several = t->node_count > 1;
    for (size_t i = 0; i < t->node_count; i++) {
        const struct assay__memory_node *node = &t->nodes[i];
        assay__doc_fact(doc,
                        several ? assay__doc_printf(doc, "memory %d", node->number) : "memory");
        if (node->memory_bytes)
            assay__doc_item(doc, NULL, assay__measured((double)node->memory_bytes, "B"));
        else
            assay__doc_item_text(doc, "size " UNKNOWN);
        if (!several) assay__doc_item_text(doc, "one NUMA node");
        if (several && *node->cpus) assay__doc_item_text(doc, "near CPU %s", node->cpus);
        if (several && !*node->cpus) assay__doc_item_text(doc, "without processors");
    }
    if (!t->node_count) assay__doc_fact_unknown(doc, "memory", UNKNOWN);
}

/* Memory that was added while the machine ran may belong to no node: then the nodes do not add up
 * to the total. */
static void add_memory_remark(struct assay__doc *doc, const struct assay__topology *t,
                              uint64_t memory_bytes)
{
    double nodes = 0, whole = (double)memory_bytes;
    for (size_t i = 0; i < t->node_count; i++) {
        if (!t->nodes[i].memory_bytes) return; /* its fact shows that */
        nodes += (double)t->nodes[i].memory_bytes;
    }
    if (!(nodes > 0) || !(whole > 0)) return;
    if (nodes >= (1 - MEMORY_WITHIN) * whole && nodes <= (1 + MEMORY_WITHIN) * whole) return;
    assay__doc_note(doc, "The NUMA node%s %s of the machine's %s.",
                    t->node_count == 1 ? " reports" : "s report", assay__scaled(nodes, "B").text,
                    assay__scaled(whole, "B").text);
}

void assay__add_topology(struct assay__doc *doc, const struct assay__topology *topology,
                         uint64_t memory_bytes)
{
    assay__doc_section(doc, "topology", "Topology", NULL, 0);
    if (*topology->reason) {
        assay__doc_plain(doc, "— %s", topology->reason);
    } else {
        add_processors(doc, topology);
        /* The fastest kind first. */
        for (size_t k = topology->kind_count; k-- > 0;) {
            const struct assay__core_kind *kind = &topology->kinds[k];
            assay__doc_fact(doc, assay__doc_printf(doc, "kind %zu", topology->kind_count - k));
            assay__doc_item_text(doc, "%s", kind->name);
            add_count(doc, kind->cores, "core");
            if (*kind->cpus) assay__doc_item_text(doc, "CPU %s", kind->cpus);
            if (kind->max_hz > 0) assay__doc_item(doc, "max", assay__measured(kind->max_hz, "Hz"));
        }
        for (size_t i = 0; i < topology->cache_count; i++) {
            const struct assay__cache *c = &topology->caches[i];
            const char *side = strcmp(c->kind, "data") == 0          ? "d"
                               : strcmp(c->kind, "instruction") == 0 ? "i"
                                                                     : "";
            assay__doc_fact(doc, assay__doc_printf(doc, "L%d%s", c->level, side));
            const char *size = size_of(doc, c->size_bytes);
            if (c->count > 1) size = assay__doc_printf(doc, "%d × %s", c->count, size);
            assay__doc_item_text(doc, "%s", size);
            if (c->threads > 1)
                assay__doc_item_text(doc, "shared by %d hardware threads", c->threads);
            else if (c->threads == 1)
                assay__doc_item_text(doc, "private to one hardware thread");
            if (c->ways > 0) assay__doc_item_text(doc, "%d-way", c->ways);
            if (c->ways < 0) assay__doc_item_text(doc, "fully associative");
            if (c->line_bytes) assay__doc_item_text(doc, "%u B lines", c->line_bytes);
        }
        if (!topology->cache_count) assay__doc_fact_unknown(doc, "caches", UNKNOWN);
        add_memory(doc, topology);
        add_memory_remark(doc, topology, memory_bytes);
    }
    assay__doc_end(doc);
}
