/* test_probe_uncore.c - counters of the memory controllers: the files that describe them, in a
 * folder of our own, and system calls of our own: the words that are opened, exact bytes, and every
 * way in which there are none. */
#include "live_fixture.h"

#include "base/file.h"
#include "probe/perf_event.h"
#include "scratch.h"

#include <errno.h>
#include <sys/stat.h>

#define FIRST_FD 500
#define IMC "/sys/bus/event_source/devices/uncore_imc"

static struct opened {
    uint32_t type;
    uint64_t config;
    int cpu;
    bool closed;
} opened[64];
static size_t open_count;
static int refuse; /* errno of the opens after `allowed` of them */
static size_t allowed;
static struct assay__perf_count counts[64];
static bool read_fails;

static int fake_open(uint32_t type, uint64_t config, int cpu)
{
    errno = refuse;
    if (refuse && open_count >= allowed) return -1;
    CHECK(open_count < 64);
    opened[open_count] = (struct opened){type, config, cpu, false};
    return FIRST_FD + (int)open_count++;
}

static bool fake_read(int fd, struct assay__perf_count *count)
{
    CHECK(!opened[fd - FIRST_FD].closed);
    *count = counts[fd - FIRST_FD];
    errno = EIO;
    return !read_fails;
}

static void fake_close(int fd)
{
    CHECK(!opened[fd - FIRST_FD].closed);
    opened[fd - FIRST_FD].closed = true;
}

static void put(const char *path, const char *text)
{
    char full[600];
    snprintf(full, sizeof full, "%s", scratch(path + 1));
    for (char *slash = strchr(full + strlen(scratch_folder) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0777);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    CHECK(file && fprintf(file, "%s\n", text) > 0 && fclose(file) == 0);
}

static void use_fakes(void)
{
    static const struct assay__perf_calls calls = {
        .read = fake_read, .close = fake_close, .open_system = fake_open};
    scratch("");
    setenv("ASSAY_FSROOT", scratch_folder, 1);
    assay__perf_event_calls_set(&calls);
    open_count = 0;
}

/* A server of two packages with two channels each, as the kernel shows it. */
static void make_server(void)
{
    static const char *const devices[] = {"_0", "_1"};
    use_fakes();
    for (size_t i = 0; i < 2; i++) {
        static const char *const rows[][2] = {
            {"cpumask", "0,28"},
            {"format/event", "config:0-7"},
            {"format/umask", "config:8-15"},
            {"format/edge", "config:18"},
            {"events/cas_count_read", "event=0x04,umask=0x03"},
            {"events/cas_count_read.scale", "6.103515625e-5"},
            {"events/cas_count_read.unit", "MiB"},
            {"events/cas_count_write", "event=0x04,umask=0x0c"},
            {"events/cas_count_write.scale", "6.103515625e-5"},
            {"events/cas_count_write.unit", "MiB"},
        };
        char path[256];
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
            snprintf(path, sizeof path, IMC "%s/%s", devices[i], rows[r][0]);
            put(path, rows[r][1]);
        }
        snprintf(path, sizeof path, IMC "%s/type", devices[i]);
        put(path, i ? "14" : "13");
    }
}

static void test_server(void)
{
    make_server();
    for (size_t i = 0; i < 8;
         i++) /* reads first, then writes; each: device 0 on 0 and 28, device 1 */
        counts[i] = (struct assay__perf_count){i < 4 ? 1000 + i : 10, 500, 500};
    open_probe("uncore");
    CHECK_STR(ops->reason(probe), "");
    CHECK_INT(open_count, 8);
    CHECK_INT(opened[0].type, 13);
    CHECK_INT(opened[0].config, 0x0304);
    CHECK_INT(opened[0].cpu, 0);
    CHECK_INT(opened[1].cpu, 28);
    CHECK_INT(opened[2].type, 14);
    CHECK_INT(opened[7].config, 0x0c04);
    CHECK_NEAR(value("memory.read"), (1000 + 1001 + 1002 + 1003) * 64, 1e-6); /* lines of 64 B */
    CHECK_NEAR(value("memory.write"), 40 * 64, 1e-6);
    CHECK_INT(channels[0].kind, ASSAY__CHANNEL_COUNTER);
    counts[4].running_ns = 250; /* had to share its counter: twice as much */
    ops->read(probe, readings);
    CHECK_NEAR(value("memory.write"), 50 * 64, 1e-6);
    counts[4].running_ns = 0;
    ops->read(probe, readings);
    check_missing("memory.write", true, "is using the counters");
    read_fails = true;
    ops->read(probe, readings);
    check_missing("memory.read", true, "can no longer be read");
    close_probe();
    for (size_t i = 0; i < open_count; i++)
        CHECK(opened[i].closed);
}

/* A client processor: one device, other names, bits in two pieces. */
static void test_client(void)
{
    use_fakes();
    put(IMC "_free_running_0/type", "30");
    put(IMC "_free_running_0/cpumask", "0");
    put(IMC "_free_running_0/format/event", "config:0-7,32-35");
    put(IMC "_free_running_0/format/umask", "config:8-15");
    put(IMC "_free_running_0/events/data_read", "event=0x1ff,umask=0x20");
    put(IMC "_free_running_0/events/data_read.scale", "2");
    put(IMC "_free_running_0/events/data_read.unit", "KiB");
    counts[0] = (struct assay__perf_count){3, 0, 0};
    open_probe("uncore");
    CHECK_INT(open_count, 1);
    CHECK(opened[0].config == (0x20ffULL | 1ULL << 32));
    CHECK_NEAR(value("memory.read"), 3 * 2048, 0);
    check_missing("memory.write", false, "describe no counters of bytes");
    close_probe();
}

static void test_refused(void)
{
    make_server();
    put("/proc/sys/kernel/perf_event_paranoid", "2");
    refuse = EACCES;
    check_none("uncore", "sudo sysctl kernel.perf_event_paranoid=0");
    allowed = 3; /* the fourth of four: a part of a sum is no sum, and what was open is closed */
    open_count = 0;
    open_probe("uncore");
    check_missing("memory.read", false, "it is 2");
    for (size_t i = 0; i < open_count; i++)
        CHECK(opened[i].closed);
    close_probe();
    refuse = ENODEV;
    allowed = open_count = 0;
    check_none("uncore", "perf_event_open of a memory controller: ");
}

static void test_bad_files(void)
{
    static const char *const rows[][2] = {
        {"events/cas_count_read", "event=4,umask=zz"},
        {"events/cas_count_read", "event=0x104"}, /* more bits than there is room for */
        {"events/cas_count_read", "other=1"},
        {"events/cas_count_read", "../type=1"},
        {"format/umask", "config1:0-7"},
        {"format/umask", "config:8-99"},
        {"format/umask", "config:x"},
        {"events/cas_count_read.scale", "much"},
        {"events/cas_count_read.scale", "-1"},
        {"events/cas_count_read.unit", "furlongs"},
        {"cpumask", ""},
        {"cpumask", "a"},
        {"type", "text"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[256];
        make_server();
        snprintf(path, sizeof path, IMC "_0/%s", rows[i][0]);
        put(path, rows[i][1]);
        open_probe("uncore");
        check_missing("memory.read", false, "could not be parsed");
        close_probe();
    }
}

static void test_none(void)
{
    use_fakes();
    check_none("uncore", "no memory-controller counters");
    make_server();
    assay__perf_event_calls_set(NULL); /* this machine is not asked about another one */
    check_none("uncore", "ASSAY_FSROOT describes");
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"server", test_server},       {"client", test_client}, {"refused", test_refused},
        {"bad_files", test_bad_files}, {"none", test_none},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
