/* test_capture.c - the capture of a machine is that machine: every fixture is captured, and each
 * probe and the platform's reader say of the copy what they say of the original. And: what must not
 * be in a capture is not, limits hold, bad folders are refused. */
#include "base/file.h"
#include "base/json.h"
#include "harness.h"
#include "platform/platform.h"
#include "probe/capture.h"
#include "probe/probe.h"
#include "report/report_machine.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>

#define FIXTURES ASSAY_TEST_ROOT "/tests/fixtures"

static char scratch[256];

static int drop(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static void drop_scratch(void)
{
    if (scratch[0]) nftw(scratch, drop, 16, FTW_DEPTH | FTW_PHYS);
}

/* A path in a folder of the test's own. */
static const char *below(const char *name)
{
    static char paths[4][600];
    static int next;
    if (!scratch[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(scratch, sizeof scratch, "%s/assay-capture-XXXXXX", base ? base : "/tmp");
        CHECK(mkdtemp(scratch) != NULL);
        atexit(drop_scratch);
    }
    next = (next + 1) % 4;
    snprintf(paths[next], sizeof paths[next], "%s/%s", scratch, name);
    return paths[next];
}

static void make(const char *path, const char *text, size_t size)
{
    char full[600];
    snprintf(full, sizeof full, "%s", below(path));
    for (char *slash = full + strlen(scratch) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    CHECK_INT(assay__file_write(full, text, size, NULL), 0);
}

static void put(const char *path, const char *text)
{
    make(path, text, strlen(text));
}

/* A small file of the test's folder, until the next call; NULL when there is none. */
static const char *text_of(const char *path)
{
    static char kept[4096];
    char *text = NULL;
    if (assay__file_read(below(path), sizeof kept - 1, &text, NULL, NULL)) return NULL;
    snprintf(kept, sizeof kept, "%s", text);
    free(text);
    return kept;
}

static struct assay__capture capture(struct assay__arena *arena, const char *root,
                                     const char *folder)
{
    struct assay__capture result;
    struct assay_error error = {0};
    setenv("ASSAY_FSROOT", root, 1);
    int code = assay__capture_write(arena, folder, &result, &error);
    if (code) printf("  %s: %s\n", root, error.message);
    CHECK_INT(code, 0);
    return result;
}

/* --- the same answers ------------------------------------------------------------------------- */

struct seen {
    struct assay__arena *arena;
    struct assay__probe *probe;
    const struct assay__channel *channels;
    struct assay__probe_reading *readings;
    size_t count;
};

static struct seen look(const struct assay__probe_ops *ops, const char *root)
{
    struct seen seen = {.arena = assay__arena_new()};
    setenv("ASSAY_FSROOT", root, 1);
    CHECK_INT(ops->open(seen.arena, &seen.probe, NULL), 0);
    seen.count = ops->channels(seen.probe, &seen.channels);
    seen.readings = assay__arena_array(seen.arena, seen.count + 1, sizeof *seen.readings);
    CHECK(seen.readings != NULL);
    ops->read(seen.probe, seen.readings);
    return seen;
}

static size_t compare_probe(const struct assay__probe_ops *ops, const char *root, const char *copy)
{
    size_t values = 0;
    struct seen a = look(ops, root), b = look(ops, copy);
    if (a.count != b.count) printf("  %s: probe %s\n", root, ops->name);
    CHECK_INT(b.count, a.count);
    CHECK_STR(ops->reason(b.probe), ops->reason(a.probe));
    for (size_t i = 0; i < a.count; i++) {
        CHECK_STR(b.channels[i].name, a.channels[i].name);
        if (a.channels[i].available != b.channels[i].available)
            printf("  %s: %s: '%s', of the copy '%s'\n", root, a.channels[i].name,
                   a.channels[i].reason, b.channels[i].reason);
        CHECK_INT(b.channels[i].available, a.channels[i].available);
        CHECK_STR(b.channels[i].reason, a.channels[i].reason);
        if (a.channels[i].source[0] != '/')
            continue; /* not of a file: the machine that runs this */
        CHECK_STR(b.channels[i].source, a.channels[i].source);
        if (!a.channels[i].available) continue;
        CHECK(isnan(a.readings[i].value) == isnan(b.readings[i].value));
        if (!isnan(a.readings[i].value)) {
            CHECK_NEAR(b.readings[i].value, a.readings[i].value, 0);
            values++;
        }
    }
    ops->close(a.probe);
    ops->close(b.probe);
    assay__arena_free(a.arena);
    assay__arena_free(b.arena);
    return values;
}

/* False where the platform does not read files (macOS): it says the same host of both. */
static bool compare_machine(const char *root, const char *copy)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__machine a, b;
    setenv("ASSAY_FSROOT", root, 1);
    CHECK_INT(assay__machine_read(arena, &a), 0);
    setenv("ASSAY_FSROOT", copy, 1);
    CHECK_INT(assay__machine_read(arena, &b), 0);
    if (*a.host && strcmp(a.host, b.host) == 0) {
        assay__arena_free(arena);
        return false;
    }
    CHECK_STR(b.host, *a.host ? "captured" : "");
    CHECK_STR(b.os, a.os);
    CHECK_STR(b.kernel, a.kernel);
    CHECK_STR(b.architecture, a.architecture);
    CHECK_STR(b.cpu_model, a.cpu_model);
    CHECK_INT(b.packages, a.packages);
    CHECK_INT(b.cores, a.cores);
    CHECK_INT(b.threads, a.threads);
    CHECK_INT(b.memory_bytes, a.memory_bytes);
    CHECK_STR(b.virtualized, a.virtualized);
    CHECK_INT(b.l1d_bytes, a.l1d_bytes);
    CHECK_INT(b.l2_bytes, a.l2_bytes);
    CHECK_INT(b.l3_bytes, a.l3_bytes);
    CHECK_STR(b.simd, a.simd);
    CHECK_STR(b.governor, a.governor);
    CHECK_STR(b.container, a.container);
    CHECK_NEAR(b.cpu_max_hz, a.cpu_max_hz, 0);
    assay__arena_free(arena);
    return true;
}

static void compare_disturbance(const char *root, const char *copy)
{
    struct assay__disturbance a, b;
    setenv("ASSAY_FSROOT", root, 1);
    assay__disturbance_read(&a);
    setenv("ASSAY_FSROOT", copy, 1);
    assay__disturbance_read(&b);
    CHECK_NEAR(b.cpu_busy_s, a.cpu_busy_s, 0);
    CHECK_NEAR(b.cpu_steal_s, a.cpu_steal_s, 0);
    CHECK_NEAR(b.frequency_hz, a.frequency_hz, 0);
    CHECK_INT(b.throttle_count, a.throttle_count);
    CHECK_INT(b.cgroup_known, a.cgroup_known);
    CHECK_INT(b.cgroup_throttled_ns, a.cgroup_throttled_ns);
    CHECK_NEAR(b.load_1min, a.load_1min, 0);
    CHECK_NEAR(b.temperature_c, a.temperature_c, 0);
    CHECK_NEAR(b.pressure_cpu_s, a.pressure_cpu_s, 0);
}

/* Topology and hardware as JSON: whatever they tell must be the same. */
static char *layout_of(const char *root)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__topology topology;
    const struct assay__hardware *hardware;
    size_t count;
    struct assay__buf out = {0};
    struct assay__json_writer w;
    setenv("ASSAY_FSROOT", root, 1);
    CHECK_INT(assay__topology_read(arena, &topology, NULL), 0);
    CHECK_INT(assay__hardware_list(arena, &hardware, &count, NULL), 0);
    assay__json_start(&w, &out, true);
    assay__json_object(&w);
    assay__topology_json(&w, &topology);
    assay__hardware_json(&w, hardware, count);
    assay__json_object_end(&w);
    CHECK(!out.failed);
    assay__arena_free(arena);
    return out.data;
}

static void compare_layout(const char *root, const char *copy)
{
    char *a = layout_of(root), *b = layout_of(copy);
    CHECK_STR(b, a);
    free(a);
    free(b);
}

static void test_fixtures(void)
{
    size_t trees = 0, values = 0;
    struct dirent *entry;
    DIR *dir = opendir(FIXTURES);
    CHECK(dir != NULL);
    while ((entry = readdir(dir))) {
        char root[512], copy[512];
        if (strncmp(entry->d_name, "fsroot-", 7) != 0 || strchr(entry->d_name, '.')) continue;
        snprintf(root, sizeof root, "%s/%s", FIXTURES, entry->d_name);
        snprintf(copy, sizeof copy, "%s", below(entry->d_name));
        struct assay__arena *arena = assay__arena_new();
        struct assay__capture result = capture(arena, root, copy);
        CHECK(result.files > 0);
        for (size_t i = 0; assay__probe_at(i); i++)
            values += compare_probe(assay__probe_at(i), root, copy);
        if (compare_machine(root, copy)) compare_disturbance(root, copy);
        compare_layout(root, copy);
        assay__arena_free(arena);
        trees++;
    }
    closedir(dir);
    CHECK(trees >= 8);
    CHECK(values >= 100); /* so that the comparison compared */
}

/* --- what is left out ------------------------------------------------------------------------- */

static void test_private(void)
{
    struct assay__arena *arena = assay__arena_new();
    put("m/proc/sys/kernel/hostname", "anns-laptop\n");
    put("m/proc/self/environ", "SECRET=1");
    put("m/proc/self/cmdline", "assay");
    put("m/proc/self/mountinfo", "1 2 0:3 / / rw - ext4 /dev/sda1 rw\n"
                                 "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                                 "31 23 0:27 / /home/ann rw - nfs server:/home/ann rw\n");
    put("m/sys/class/dmi/id/product_serial", "XYZ123\n");
    put("m/sys/class/dmi/id/product_name", "Box\n");
    put("m/.dockerenv", "something\n");
    put("m/sys/class/power_supply/hid-aa:bb:cc:dd:ee:0f-battery/type", "Battery\n");
    put("m/sys/class/hwmon/hwmon0/name", "mouse_aa_bb_cc_dd_ee_0f\n");
    put("m/sys/class/hwmon/hwmon1/name", "coretemp\n");
    put("m/proc/driver/nvidia/gpus/0000:01:00.0/information",
        "Model: \t\t NVIDIA H200\nGPU UUID: GPU-1234\nModelless\n");
    struct assay__capture result = capture(arena, below("m"), below("copy"));
    CHECK_STR(text_of("copy/proc/sys/kernel/hostname"), "captured\n");
    CHECK(!text_of("copy/proc/self/environ"));
    CHECK(!text_of("copy/proc/self/cmdline"));
    CHECK_STR(text_of("copy/proc/self/mountinfo"),
              "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    CHECK(!text_of("copy/sys/class/dmi/id/product_serial"));
    CHECK_STR(text_of("copy/sys/class/dmi/id/product_name"), "Box\n");
    CHECK_STR(text_of("copy/.dockerenv"), "");
    CHECK(!assay__file_exists(below("copy/sys/class/power_supply")));
    CHECK(!text_of("copy/sys/class/hwmon/hwmon0/name"));
    CHECK_STR(text_of("copy/sys/class/hwmon/hwmon1/name"), "coretemp\n");
    CHECK_STR(text_of("copy/proc/driver/nvidia/gpus/0000:01:00.0/information"),
              "Model: \t\t NVIDIA H200\n");
    CHECK_INT(result.files, 6);
    CHECK_INT(result.fault_count, 2); /* the two addresses, without their text */
    for (size_t i = 0; i < 2; i++) {
        CHECK_HAS(result.faults[i].reason, "hardware address");
        CHECK(!strstr(result.faults[i].path, "aa:bb"));
    }
    assay__arena_free(arena);
}

/* --- limits and bad folders ------------------------------------------------------------------- */

static void test_limits(void)
{
    size_t size = (1 << 20) + 5, length = 0;
    char *big = malloc(size), *copied = NULL;
    struct assay__arena *arena = assay__arena_new();
    CHECK(big != NULL);
    memset(big, 'x', size);
    make("m/proc/cpuinfo", big, size);
    free(big);
    put("m/proc/stat/folder", "");
    put("m/proc/loadavg", "");
    CHECK_INT(mkfifo(below("m/proc/meminfo"), 0644), 0); /* must not hang */
    struct assay__capture result = capture(arena, below("m"), below("copy"));
    CHECK_INT(assay__file_read(below("copy/proc/cpuinfo"), 4 << 20, &copied, &length, NULL), 0);
    CHECK_INT(length, 1 << 20);
    free(copied);
    CHECK_INT(result.files, 2);
    CHECK_INT(result.fault_count, 1);
    CHECK_STR(result.faults[0].path, "/proc/cpuinfo");
    CHECK_HAS(result.faults[0].reason, "truncated");
    CHECK(assay__file_exists(below("copy/proc/stat"))); /* a folder, as it was */
    assay__arena_free(arena);
}

static void test_refused(void)
{
    struct assay__arena *arena = assay__arena_new();
    struct assay__capture result;
    struct assay_error error = {0};
    put("full/file", "x");
    put("m/proc/stat", "cpu 1 2 3 4\n");
    setenv("ASSAY_FSROOT", below("m"), 1);
    CHECK_INT(assay__capture_write(arena, below("full"), &result, &error), ASSAY_EINVAL);
    CHECK_HAS(error.message, "not empty");
    CHECK_INT(assay__capture_write(arena, below("full/file"), &result, &error), ASSAY_EINVAL);
    CHECK_INT(assay__capture_write(arena, below("none/deep"), &result, &error), ASSAY_EINVAL);
    CHECK_INT(assay__capture_write(arena, "", &result, &error), ASSAY_EINVAL);
    CHECK_INT(mkdir(below("bare"), 0755), 0);
    setenv("ASSAY_FSROOT", below("bare"), 1);
    CHECK_INT(assay__capture_write(arena, below("copy"), &result, &error), ASSAY_EUNSUPPORTED);
    CHECK_HAS(error.message, "nothing to capture");
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"fixtures", test_fixtures},
        {"private", test_private},
        {"limits", test_limits},
        {"refused", test_refused},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
