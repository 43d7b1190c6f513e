/* test_topology.c - the layout of processors: exact values of a fixture and of machines made here
 * (two packages with two memory nodes; two kinds of cores), what a poor tree gives, and that
 * neither this machine nor the environment shines through. */
#include "platform/topology.h"
#include "base/json.h"
#include "platform/platform.h"
#include "report/report_machine.h"
#include "subject_fixture.h"
#include "scratch.h"

#include <sys/stat.h>

static struct assay__arena *arena;

static struct assay__topology look(const char *root)
{
    struct assay__topology topology;
    struct assay_error error = {0};
    if (!arena) arena = assay__arena_new();
    CHECK(arena != NULL);
    if (root) {
        setenv("ASSAY_FSROOT", root, 1);
        setenv("HWLOC_FSROOT", root, 1);
    } else {
        unsetenv("ASSAY_FSROOT");
        unsetenv("HWLOC_FSROOT");
    }
    CHECK_INT(assay__topology_read(arena, &topology, &error), 0);
    return topology;
}

/* A file of the machine that is made here, one line. */
static void put(const char *format, int cpu, int index, const char *text)
{
    char full[700], path[256], line[256];
    int length = snprintf(path, sizeof path, format, cpu, index);
    CHECK(length > 0 && (size_t)length < sizeof path);
    snprintf(full, sizeof full, "%s/%s", scratch("machine"), path);
    for (char *slash = full + strlen(scratch_folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    snprintf(line, sizeof line, "%s\n", text);
    CHECK_INT(assay__file_write(full, line, strlen(line), NULL), 0);
}

static void put_hex(const char *format, int cpu, int index, unsigned mask)
{
    char text[16];
    snprintf(text, sizeof text, "%x", mask);
    put(format, cpu, index, text);
}

static void put_number(const char *format, int cpu, int index, unsigned number)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    put(format, cpu, index, text);
}

#define CPU "sys/devices/system/cpu/cpu%d/"
#define CACHE CPU "cache/index%d/"

static void put_cpu(int cpu, unsigned core, unsigned package, unsigned core_mask,
                    unsigned package_mask)
{
    put_number(CPU "topology/core_id", cpu, 0, core);
    put_number(CPU "topology/physical_package_id", cpu, 0, package);
    put_hex(CPU "topology/core_cpus", cpu, 0, core_mask);
    put_hex(CPU "topology/package_cpus", cpu, 0, package_mask);
}

static void put_cache(int cpu, int index, unsigned level, const char *type, const char *size,
                      unsigned sets, unsigned mask)
{
    put_number(CACHE "level", cpu, index, level);
    put(CACHE "type", cpu, index, type);
    put(CACHE "size", cpu, index, size);
    put_hex(CACHE "shared_cpu_map", cpu, index, mask);
    if (!sets) return; /* a machine that tells less */
    put_number(CACHE "coherency_line_size", cpu, index, 64);
    put_number(CACHE "number_of_sets", cpu, index, sets);
    put_number(CACHE "physical_line_partition", cpu, index, 1);
}

static void check_cache(const struct assay__topology *t, size_t index, int level, const char *kind,
                        uint64_t size, int ways, int threads, int count)
{
    CHECK(index < t->cache_count);
    const struct assay__cache *c = &t->caches[index];
    CHECK_INT(c->level, level);
    CHECK_STR(c->kind, kind);
    CHECK_INT(c->size_bytes, size);
    CHECK_INT(c->ways, ways);
    CHECK_INT(c->line_bytes, ways ? 64 : 0);
    CHECK_INT(c->threads, threads);
    CHECK_INT(c->count, count);
}

/* hwloc reads such trees on Linux only. */
static bool linux_only(void)
{
    struct assay__topology t = look(ASSAY_TEST_ROOT "/tests/fixtures/fsroot-laptop");
    return !*t.reason;
}
#define NEEDS_FILES() \
    if (!linux_only()) SKIP("hwloc reads captured trees on Linux only")

static void test_laptop(void)
{
    NEEDS_FILES();
    struct assay__topology t = look(ASSAY_TEST_ROOT "/tests/fixtures/fsroot-laptop");
    CHECK_INT(t.packages, 1);
    CHECK_INT(t.cores, 4);
    CHECK_INT(t.threads, 8);
    CHECK_INT(t.least_threads_per_core, 2);
    CHECK_INT(t.threads_per_core, 2);
    CHECK_INT(t.kind_count, 0);
    CHECK_STR(t.allowed, ""); /* this process does not run there */
    CHECK_INT(t.cache_count, 4);
    check_cache(&t, 0, 1, "data", 48 << 10, 12, 2, 4);
    check_cache(&t, 1, 1, "instruction", 32 << 10, 8, 2, 4);
    check_cache(&t, 2, 2, "unified", 1280 << 10, 10, 2, 4);
    check_cache(&t, 3, 3, "unified", 12 << 20, 12, 8, 1);
    CHECK_INT(t.node_count, 1);
    CHECK_INT(t.nodes[0].memory_bytes, 16106127ull << 10);
    CHECK_STR(t.nodes[0].cpus, "0-7");
}

/* Two packages of two cores with two threads each; a memory node each and one without
 * processors. */
static void test_server(void)
{
    NEEDS_FILES();
    put("sys/devices/system/cpu/online", 0, 0, "0-7");
    for (int cpu = 0; cpu < 8; cpu++) {
        unsigned package = (unsigned)cpu % 4 / 2;
        put_cpu(cpu, (unsigned)cpu % 4, package, 0x11u << cpu % 4, package ? 0xcc : 0x33);
        put_cache(cpu, 0, 1, "Data", "32K", 64, 0x11u << cpu % 4);
        put_cache(cpu, 1, 3, "Unified", "16384K", 0, package ? 0xcc : 0x33);
    }
    put("sys/devices/system/node/online", 0, 0, "0-2");
    put_hex("sys/devices/system/node/node%d/cpumap", 0, 0, 0x33);
    put_hex("sys/devices/system/node/node%d/cpumap", 1, 0, 0xcc);
    put_hex("sys/devices/system/node/node%d/cpumap", 2, 0, 0);
    put("sys/devices/system/node/node%d/meminfo", 0, 0, "Node 0 MemTotal:  4194304 kB");
    put("sys/devices/system/node/node%d/meminfo", 1, 0, "Node 1 MemTotal:  2097152 kB");
    put("sys/devices/system/node/node%d/meminfo", 2, 0, "Node 2 MemTotal:  1048576 kB");
    struct assay__topology t = look(scratch("machine"));
    CHECK_STR(t.reason, "");
    CHECK_INT(t.packages, 2);
    CHECK_INT(t.dies, 0); /* not told */
    CHECK_INT(t.cores, 4);
    CHECK_INT(t.threads, 8);
    CHECK_INT(t.threads_per_core, 2);
    CHECK_INT(t.cache_count, 2);
    check_cache(&t, 0, 1, "data", 32 << 10, 8, 2, 4);
    check_cache(&t, 1, 3, "unified", 16 << 20, 0, 4, 2); /* line and ways: not told */
    CHECK_INT(t.node_count, 3);
    CHECK_INT(t.nodes[0].memory_bytes, 4ull << 30);
    CHECK_STR(t.nodes[0].cpus, "0-1,4-5");
    CHECK_INT(t.nodes[1].memory_bytes, 2ull << 30);
    CHECK_STR(t.nodes[1].cpus, "2-3,6-7");
    CHECK_INT(t.nodes[2].number, 2);
    CHECK_INT(t.nodes[2].memory_bytes, 1ull << 30);
    CHECK_STR(t.nodes[2].cpus, "0-7"); /* as near to all */
}

/* One core with two threads at 5 GHz, two without SMT at 3.5 GHz, as the kernel describes a hybrid
 * processor. */
static void put_hybrid(void)
{
    put("sys/devices/system/cpu/online", 0, 0, "0-3");
    for (int cpu = 0; cpu < 4; cpu++) {
        unsigned core_mask = cpu < 2 ? 3u : 1u << cpu;
        put_cpu(cpu, cpu < 2 ? 0 : (unsigned)cpu, 0, core_mask, 0xf);
        put_cache(cpu, 0, 1, "Data", cpu < 2 ? "48K" : "32K", 64, core_mask);
        put_number(CPU "cpufreq/cpuinfo_max_freq", cpu, 0, cpu < 2 ? 5000000 : 3500000);
    }
}

static void test_hybrid(void)
{
    NEEDS_FILES();
    put_hybrid();
    put("sys/devices/cpu_core/cpus", 0, 0, "0-1");
    put("sys/devices/cpu_atom/cpus", 0, 0, "2-3");
    struct assay__topology t = look(scratch("machine"));
    CHECK_INT(t.cores, 3);
    CHECK_INT(t.threads, 4);
    CHECK_INT(t.least_threads_per_core, 1);
    CHECK_INT(t.threads_per_core, 2);
    check_cache(&t, 0, 1, "data", 48 << 10, 12, 2, 1);
    check_cache(&t, 1, 1, "data", 32 << 10, 8, 1, 2);
    CHECK_INT(t.kind_count, 2);
    CHECK_STR(t.kinds[0].name, "efficiency");
    CHECK_INT(t.kinds[0].cores, 2);
    CHECK_INT(t.kinds[0].threads, 2);
    CHECK_STR(t.kinds[0].cpus, "2-3");
    CHECK_NEAR(t.kinds[0].max_hz, 3.5e9, 0);
    CHECK_STR(t.kinds[1].name, "performance");
    CHECK_INT(t.kinds[1].cores, 1);
    CHECK_STR(t.kinds[1].cpus, "0-1");
    CHECK_NEAR(t.kinds[1].max_hz, 5e9, 0);
    CHECK_INT(t.node_count, 0); /* no memory is told, and none is made up */
}

/* Clocks alone tell kinds apart, not what they were built for. */
static void test_unnamed_kinds(void)
{
    NEEDS_FILES();
    put_hybrid();
    struct assay__topology t = look(scratch("machine"));
    CHECK_INT(t.kind_count, 2);
    CHECK_STR(t.kinds[0].name, "");
    CHECK_STR(t.kinds[1].name, "");
    CHECK_NEAR(t.kinds[1].max_hz, 5e9, 0);
}

static void test_capacities(void)
{
    NEEDS_FILES();
    put_hybrid();
    for (int cpu = 0; cpu < 4; cpu++)
        put_number(CPU "cpu_capacity", cpu, 0, cpu < 2 ? 1024 : 400);
    struct assay__topology t = look(scratch("machine"));
    CHECK_INT(t.kind_count, 2);
    CHECK_STR(t.kinds[0].name, "efficiency");
    CHECK_STR(t.kinds[1].name, "performance");
}

/* --- trees that say little -------------------------------------------------------------------- */

static void check_nothing(const char *root)
{
    struct assay__topology t = look(root);
    CHECK_HAS(t.reason, "/sys/devices/system/cpu");
    CHECK_INT(t.packages, 0);
    CHECK_INT(t.cores, 0);
    CHECK_INT(t.threads, 0); /* not those of the machine that runs this */
    CHECK_INT(t.threads_per_core, 0);
    CHECK_INT(t.cache_count, 0);
    CHECK_INT(t.node_count, 0);
    CHECK_INT(t.allowed_count, 0);
}

static void test_poor_trees(void)
{
    CHECK_INT(mkdir(scratch("bare"), 0755), 0);
    check_nothing(scratch("bare"));
    check_nothing(scratch("none"));
    put("sys/devices/system/cpu/online", 0, 0, "0-3"); /* how many, but not how */
    check_nothing(scratch("machine"));
}

/* Texts instead of numbers and masks: no crash, nothing of this machine. */
static void test_bad_files(void)
{
    NEEDS_FILES();
    put("sys/devices/system/cpu/online", 0, 0, "zero to three");
    put_cpu(0, 0, 0, 1, 1);
    put(CPU "topology/core_cpus", 0, 0, "xyz");
    put(CPU "topology/package_cpus", 0, 0, "");
    put(CPU "topology/core_id", 0, 0, "none");
    put_cache(0, 0, 77, "Odd", "huge", 0, 1);
    struct assay__topology t = look(scratch("machine"));
    CHECK(t.threads <= 1);
    CHECK_INT(t.allowed_count, 0);
}

/* --- this machine, and its environment -------------------------------------------------------- */

static void test_this_machine(void)
{
    struct assay__machine machine; /* by another way */
    struct assay__topology t = look(NULL);
    CHECK_STR(t.reason, "");
    CHECK(t.threads >= 1);
    CHECK_INT(assay__machine_read(arena, &machine), 0);
    if (machine.threads > 0) CHECK_INT(t.threads, machine.threads);
    CHECK(t.cores <= t.threads);
    CHECK(t.packages <= t.threads);
    CHECK(t.allowed_count <= t.threads);
    for (size_t i = 0; i < t.cache_count; i++) {
        CHECK(t.caches[i].level >= 1 && t.caches[i].level <= 5);
        CHECK(t.caches[i].count >= 1 && t.caches[i].count <= t.threads);
        CHECK(t.caches[i].threads >= 1 && t.caches[i].threads <= t.threads);
    }
}

/* What a user set for hwloc describes no other machine to us: it is a reason, and stays set. */
static void test_environment(void)
{
    CHECK_STR(look(NULL).reason, "");
    setenv("HWLOC_SYNTHETIC", "pack:3 core:5 pu:7", 1);
    struct assay__topology other = look(NULL);
    CHECK_HAS(other.reason, "HWLOC_SYNTHETIC");
    CHECK_INT(other.threads, 0);
    CHECK_STR(getenv("HWLOC_SYNTHETIC"), "pack:3 core:5 pu:7");
    unsetenv("HWLOC_SYNTHETIC");
    setenv("ASSAY_FSROOT", ASSAY_TEST_ROOT "/tests/fixtures/fsroot-laptop", 1);
    CHECK_INT(assay__topology_read(arena, &other, NULL), 0);
    CHECK_HAS(other.reason, "HWLOC_FSROOT");
    CHECK_INT(other.threads, 0);
    CHECK(!getenv("HWLOC_FSROOT"));
}

/* --- shown ------------------------------------------------------------------------------------ */

static const char *text_in(const struct assay__topology *t, uint64_t memory_bytes)
{
    static char *text;
    struct assay__doc *doc = NULL;
    free(text);
    CHECK_INT(assay__doc_new(&doc), 0);
    assay__add_topology(doc, t, memory_bytes);
    return text = document_text(doc, (struct assay_report_options){.columns = 80});
}

static const char *text_of(const struct assay__topology *t)
{
    return text_in(t, 0);
}

static const char *json_of(const struct assay__topology *t)
{
    static struct assay__buf out;
    struct assay__json_writer w;
    assay__buf_clear(&out);
    assay__json_start(&w, &out, false);
    assay__json_object(&w);
    assay__topology_json(&w, t);
    assay__json_object_end(&w);
    CHECK(!out.failed);
    return out.data;
}

static void test_shown(void)
{
    static const struct assay__cache caches[] = {{1, "data", 48 << 10, 64, 12, 2, 4},
                                                 {2, "unified", 0, 0, 0, 2, 4},
                                                 {3, "unified", 1 << 20, 64, -1, 8, 1}};
    static const struct assay__memory_node nodes[] = {{0, 4000000000, "0-7"}, {1, 0, ""}};
    static const struct assay__core_kind kinds[] = {{"efficiency", 2, 2, "6-7", 0},
                                                    {"performance", 3, 6, "0-5", 5e9}};
    struct assay__topology t = {.reason = "",
                                .packages = 1,
                                .cores = 5,
                                .threads = 8,
                                .least_threads_per_core = 1,
                                .threads_per_core = 2,
                                .allowed = "0-3",
                                .allowed_count = 4,
                                .kinds = kinds,
                                .kind_count = 2,
                                .caches = caches,
                                .cache_count = 3,
                                .nodes = nodes,
                                .node_count = 2};
    CHECK_STR(text_of(&t),
              "\nTopology\n"
              "  processors  1 package · 5 cores · 8 hardware threads\n"
              "              1 to 2 threads per core (SMT)\n"
              "  allowed     CPU 0-3 · 4 of 8\n"
              "  kind 1      performance · 3 cores · CPU 0-5 · max 5.00 GHz\n"
              "  kind 2      efficiency · 2 cores · CPU 6-7\n"
              "  L1d         4 × 48 KiB · shared by 2 hardware threads · 12-way · 64 B lines\n"
              "  L2          4 × size not reported · shared by 2 hardware threads\n"
              "  L3          1 MiB · shared by 8 hardware threads · fully associative\n"
              "              64 B lines\n"
              "  memory 0    4.00 GB · near CPU 0-7\n"
              "  memory 1    size not reported · without processors\n");
    const char *json = json_of(&t);
    CHECK_HAS(json, "\"packages\":1,\"dies\":null,\"cores\":5,\"threads\":8");
    CHECK_HAS(json,
              "\"size_bytes\":null,\"line_bytes\":null,\"ways\":null,\"fully_associative\":null");
    CHECK_HAS(json, "\"ways\":null,\"fully_associative\":true");
    CHECK_HAS(json, "{\"node\":1,\"memory_bytes\":null,\"cpus\":null}");
    CHECK_HAS(
        json,
        "{\"name\":\"efficiency\",\"cores\":2,\"threads\":2,\"cpus\":\"6-7\",\"max_hz\":null}");
}

/* Memory that was added later belongs to no node: within a tenth nothing is said. */
static void test_memory_remark(void)
{
    static const struct assay__memory_node nodes[] = {{0, 4000000000, "0-3"}, {1, 660000000, "4"}};
    struct assay__topology t = {
        .reason = "", .allowed = "", .nodes = nodes, .node_count = 2, .threads = 8};
    CHECK_HAS(text_in(&t, 135000000000), "report 4.66 GB of the machine's 135 GB.\n");
    CHECK(!strstr(text_in(&t, 0), "of the machine's"));
    CHECK(!strstr(text_in(&t, 5100000000), "of the machine's"));
    CHECK_HAS(text_in(&t, 5200000000), "4.66 GB of the machine's 5.20 GB");
    CHECK_HAS(text_in(&t, 4000000000), "4.66 GB of the machine's 4.00 GB");
    t.node_count = 1;
    CHECK_HAS(text_in(&t, 135000000000), "reports 4.00 GB of the machine's 135 GB.\n");
}

static void test_shown_unknown(void)
{
    struct assay__topology t = {.reason = "nobody knows", .allowed = ""};
    CHECK_STR(text_of(&t), "\nTopology\n  — nobody knows\n");
    CHECK_STR(json_of(&t),
              "{\"topology\":{\"reason\":\"nobody knows\",\"packages\":null,\"dies\":null,"
              "\"cores\":null,\"threads\":null,\"threads_per_core_min\":null,"
              "\"threads_per_core\":null,\"allowed_cpus\":null,\"allowed_count\":null,"
              "\"core_kinds\":[],\"caches\":[],\"numa_nodes\":[]}}");
    t.reason = "";
    CHECK_STR(text_of(&t),
              "\nTopology\n  processors  — not reported\n  allowed     — not reported\n"
              "  caches      — not reported\n  memory      — not reported\n");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"laptop", test_laptop},
        {"server", test_server},
        {"hybrid", test_hybrid},
        {"unnamed_kinds", test_unnamed_kinds},
        {"capacities", test_capacities},
        {"poor_trees", test_poor_trees},
        {"bad_files", test_bad_files},
        {"this_machine", test_this_machine},
        {"environment", test_environment},
        {"shown", test_shown},
        {"memory_remark", test_memory_remark},
        {"shown_unknown", test_shown_unknown},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
