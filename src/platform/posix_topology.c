/* posix_topology.c - the layout of the processors through hwloc, 2.4 or newer. Objects that are not
 * processors (devices, misc, groups) are filtered out, plug-ins are not loaded and the processor
 * itself is not queried (hwloc's x86 component would move this thread to every CPU in turn), so
 * that a read takes about 1 ms and disturbs nothing.
 *
 * hwloc takes its settings from the environment, which belongs to the caller and is not changed: a
 * setting that describes another machine becomes a reason. Below $ASSAY_FSROOT, hwloc's own root
 * must be that folder (the command line sets it for its own process); components that only know
 * this machine are switched off, so that a tree with too little information becomes a reason.
 *
 * Limits: kinds of cores get the names "performance" and "efficiency" where the processor or the
 * kernel says which is which, not from clocks alone. */
#include "platform/topology.h"

#include "base/cpu_list.h"
#include "base/no_memory.h"
#include "platform/platform.h"
#include "platform/posix_fs.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#define CACHES_MOST 64 /* that differ */

/* --- hwloc's environment ---------------------------------------------------------------------- */

/* Why hwloc would describe another machine than the rest of the program; NULL: it would not. */
static const char *misled(const char *root)
{
    static const char *const others[][2] = {
        {"HWLOC_XMLFILE", "$HWLOC_XMLFILE is set: hwloc would describe another machine"},
        {"HWLOC_SYNTHETIC", "$HWLOC_SYNTHETIC is set: hwloc would describe another machine"},
        {"HWLOC_CPUID_PATH", "$HWLOC_CPUID_PATH is set: hwloc would describe another machine"},
        {"HWLOC_COMPONENTS", "$HWLOC_COMPONENTS is set: hwloc may leave out requested data"},
    };
    const char *own = getenv("HWLOC_FSROOT");
    if (root && (!own || strcmp(own, root) != 0))
        return "hwloc reads another tree than $ASSAY_FSROOT: set $HWLOC_FSROOT to the same folder";
    if (!root && own) return "$HWLOC_FSROOT is set: hwloc would describe another machine";
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (getenv(others[i][0])) return others[i][1];
    return NULL;
}

/* --- small things ----------------------------------------------------------------------------- */

/* A set as "0-3,8"; "" when empty or infinite. */
static const char *list_of(struct assay__arena *arena, hwloc_const_bitmap_t set)
{
    char *text = NULL;
    if (!set || hwloc_bitmap_iszero(set) || hwloc_bitmap_weight(set) < 0) return "";
    if (hwloc_bitmap_list_asprintf(&text, set) < 0) assay__arena_fail(arena);
    const char *kept = text ? assay__arena_text(arena, "%s", text) : "";
    free(text);
    return kept;
}

static int count_of(hwloc_topology_t found, hwloc_obj_type_t type)
{
    int count = hwloc_get_nbobjs_by_type(found, type);
    return count > 0 ? count : 0;
}

/* --- processors ------------------------------------------------------------------------------- */

static void read_counts(struct assay__topology *topology, hwloc_topology_t found)
{
    topology->packages = count_of(found, HWLOC_OBJ_PACKAGE);
    topology->dies = count_of(found, HWLOC_OBJ_DIE);
    topology->cores = count_of(found, HWLOC_OBJ_CORE);
    topology->threads = count_of(found, HWLOC_OBJ_PU);
    hwloc_obj_t core = NULL;
    while ((core = hwloc_get_next_obj_by_type(found, HWLOC_OBJ_CORE, core))) {
        int threads = core->cpuset ? hwloc_bitmap_weight(core->cpuset) : 0;
        if (threads <= 0) continue;
        if (threads > topology->threads_per_core) topology->threads_per_core = threads;
        if (!topology->least_threads_per_core || threads < topology->least_threads_per_core)
            topology->least_threads_per_core = threads;
    }
}

/* --- kinds of cores --------------------------------------------------------------------------- */

/* Which cores of a hybrid Intel processor are which: Linux lists them as two PMUs. hwloc itself
 * would query the processor, one CPU after the other. */
static void register_intel(hwloc_topology_t found)
{
    static char type[] = "CoreType", atom[] = "IntelAtom", core[] = "IntelCore";
    static const struct {
        const char *path;
        char *value;
    } units[] = {{"/sys/devices/cpu_atom/cpus", atom}, {"/sys/devices/cpu_core/cpus", core}};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        struct hwloc_info_s info = {.name = type, .value = units[i].value};
        char *list = assay__fs_slurp(units[i].path);
        hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
        if (list && cpus && hwloc_bitmap_list_sscanf(cpus, list) == 0 && !hwloc_bitmap_iszero(cpus))
            hwloc_cpukinds_register(found, cpus, -1, 1, &info, 0);
        hwloc_bitmap_free(cpus);
        free(list);
    }
}

static const char *info_of(const struct hwloc_info_s *infos, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(infos[i].name, name) == 0) return infos[i].value;
    return NULL;
}

/* The kinds are known if the processor reports them (Intel), the kernel reports capacities (Arm) or
 * the system reports levels (macOS). Different maximum clocks alone also occur among equal
 * cores. */
static const char *kind_name(const struct hwloc_info_s *infos, unsigned count, int rank, int kinds)
{
    const char *type = info_of(infos, count, "CoreType");
    if (type && strcmp(type, "IntelAtom") == 0) return "efficiency";
    if (type && strcmp(type, "IntelCore") == 0) return "performance";
    if (type) return type;
    bool built = info_of(infos, count, "LinuxCapacity") ||
                 info_of(infos, count, "DarwinCompatible");
    if (!built || kinds != 2 || rank < 0) return "";
    return rank == 0 ? "efficiency" : "performance";
}

static void read_kinds(struct assay__arena *arena, struct assay__topology *topology,
                       hwloc_topology_t found)
{
    int count = hwloc_cpukinds_get_nr(found, 0);
    if (count < 2) return; /* all alike, or unknown */
    struct assay__core_kind *kinds = assay__arena_array(arena, (size_t)count, sizeof *kinds);
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    if (!cpus) assay__arena_fail(arena);
    for (int i = 0; kinds && cpus && i < count; i++) {
        struct hwloc_info_s *infos = NULL;
        unsigned info_count = 0;
        int rank = -1;
        if (hwloc_cpukinds_get_info(found, (unsigned)i, cpus, &rank, &info_count, &infos, 0)) {
            assay__arena_fail(arena);
            break;
        }
        const char *megahertz = info_of(infos, info_count, "FrequencyMaxMHz");
        int cores = hwloc_get_nbobjs_inside_cpuset_by_type(found, cpus, HWLOC_OBJ_CORE);
        kinds[i] = (struct assay__core_kind){
            .name = assay__arena_text(arena, "%s", kind_name(infos, info_count, rank, count)),
            .cores = cores > 0 ? cores : 0,
            .threads = hwloc_bitmap_weight(cpus),
            .cpus = list_of(arena, cpus),
            .max_hz = megahertz ? strtod(megahertz, NULL) * 1e6 : 0};
    }
    hwloc_bitmap_free(cpus);
    topology->kinds = kinds;
    topology->kind_count = (size_t)count;
}

/* --- caches ----------------------------------------------------------------------------------- */

static bool same_cache(const struct assay__cache *a, const struct assay__cache *b)
{
    return a->level == b->level && strcmp(a->kind, b->kind) == 0 &&
           a->size_bytes == b->size_bytes && a->line_bytes == b->line_bytes && a->ways == b->ways &&
           a->threads == b->threads;
}

static void read_caches(struct assay__arena *arena, struct assay__topology *topology,
                        hwloc_topology_t found)
{
    static const hwloc_obj_type_t types[] = {
        HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L1ICACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L2ICACHE,
        HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L3ICACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
    hwloc_obj_t object = NULL;
    struct assay__cache *caches = assay__arena_array(arena, CACHES_MOST, sizeof *caches);
    size_t count = 0;
    for (size_t i = 0; caches && i < sizeof types / sizeof types[0]; i++)
        while ((object = hwloc_get_next_obj_by_type(found, types[i], object))) {
            const struct hwloc_cache_attr_s *cache = &object->attr->cache;
            struct assay__cache one = {
                .level = (int)cache->depth,
                .kind = cache->type == HWLOC_OBJ_CACHE_DATA          ? "data"
                        : cache->type == HWLOC_OBJ_CACHE_INSTRUCTION ? "instruction"
                                                                     : "unified",
                .size_bytes = cache->size,
                .line_bytes = cache->linesize,
                .ways = cache->associativity,
                .threads = object->cpuset ? hwloc_bitmap_weight(object->cpuset) : 0,
            };
            size_t at = 0;
            while (at < count && !same_cache(&caches[at], &one))
                at++;
            if (at == CACHES_MOST) continue;
            if (at == count) caches[count++] = one;
            caches[at].count++;
        }
    topology->caches = caches;
    topology->cache_count = count;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* If the system reports no node, hwloc makes one up: that one is kept only if it has memory. */
static void read_nodes(struct assay__arena *arena, struct assay__topology *topology,
                       hwloc_topology_t found)
{
    int count = count_of(found, HWLOC_OBJ_NUMANODE);
    bool reported = hwloc_topology_get_support(found)->discovery->numa != 0;
    struct assay__memory_node *nodes = assay__arena_array(arena, (size_t)count + 1, sizeof *nodes);
    for (int i = 0; nodes && i < count; i++) {
        hwloc_obj_t object = hwloc_get_obj_by_type(found, HWLOC_OBJ_NUMANODE, (unsigned)i);
        if (!object || (!reported && !object->attr->numanode.local_memory)) continue;
        nodes[topology->node_count++] = (struct assay__memory_node){
            .number = (int)object->os_index,
            .memory_bytes = object->attr->numanode.local_memory,
            .cpus = list_of(arena, object->cpuset)};
    }
    topology->nodes = nodes;
}

/* --- the whole -------------------------------------------------------------------------------- */

static int load(hwloc_topology_t found, const char *root)
{
    /* unknown names are rejected, which is as good as switching them off */
    static const char *const elsewhere[] = {"no_os", "darwin", "freebsd", "netbsd"};
    const unsigned long off = HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST;
    hwloc_topology_set_components(found, off, "x86");
    for (size_t i = 0; root && i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        hwloc_topology_set_components(found, off, elsewhere[i]);
    if (hwloc_topology_set_icache_types_filter(found, HWLOC_TYPE_FILTER_KEEP_ALL) ||
        hwloc_topology_set_io_types_filter(found, HWLOC_TYPE_FILTER_KEEP_NONE) ||
        hwloc_topology_set_type_filter(found, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE) ||
        hwloc_topology_set_type_filter(found, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_NONE) ||
        hwloc_topology_set_flags(found, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED))
        return -1;
    return hwloc_topology_load(found);
}

int assay__topology_read(struct assay__arena *arena, struct assay__topology *topology,
                         struct assay_error *error)
{
    const char *root = assay__fs_replaced() ? assay__fs_root() : NULL;
    hwloc_topology_t found = NULL;
    char allowed[4096];
    const char *reason = misled(root);
    *topology = (struct assay__topology){.reason = reason ? reason : "", .allowed = ""};
    if (reason) return 0;
    if (hwloc_topology_init(&found) != 0) {
        topology->reason = "hwloc could not be started";
        return 0;
    }
    if (load(found, root) != 0) {
        topology->reason =
            root ? "the tree is incomplete: hwloc needs /sys/devices/system/cpu/cpu*/topology with "
                   "the files core_cpus (or thread_siblings)"
                 : "hwloc could not read this machine";
    } else {
        read_counts(topology, found);
        register_intel(found);
        read_kinds(arena, topology, found);
        read_caches(arena, topology, found);
        read_nodes(arena, topology, found);
        if (!root) {
            assay__cpus_allowed(allowed, sizeof allowed);
            topology->allowed = assay__arena_text(arena, "%s", allowed);
            topology->allowed_count = assay__cpu_list_count(allowed);
        }
    }
    hwloc_topology_destroy(found);
    return assay__arena_failed(arena) ? assay__no_memory(error) : 0;
}
