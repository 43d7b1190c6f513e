/* test_probe_bad.c - probes when things go wrong: refused permissions and failing reads (through
 * the reader's table of system calls), files that vanish or change in mid-run, and trees made to be
 * wrong. */
#include "live_fixture.h"

#include "base/file.h"
#include "probe/sampler/sampler.h"
#include "probe/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define FIXTURES ASSAY_TEST_ROOT "/tests/fixtures/"

static char folder[256];

static void open_in(const char *tree, const char *name)
{
    char root[1024];
    snprintf(root, sizeof root, FIXTURES "fsroot-%s", tree);
    setenv("ASSAY_FSROOT", root, 1);
    open_probe(name);
}

/* --- a tree of one's own ---------------------------------------------------------------------- */

static void drop_folder(void)
{
    assay__folder_remove(folder);
}

static void new_tree(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/assay-probe.XXXXXX", base && *base ? base : "/tmp");
    CHECK(mkdtemp(folder) != NULL);
    atexit(drop_folder);
    setenv("ASSAY_FSROOT", folder, 1);
}

static void put(const char *path, const char *text)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s", folder, path);
    for (char *slash = full + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        CHECK(mkdir(full, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0);
    CHECK_INT(fclose(file), 0);
}

/* --- system calls that fail ------------------------------------------------------------------- */

static const char *denied = "", *failing = ""; /* parts of paths */
static int failure, failing_fd = -1;
static const char *other_text; /* what the failing file reads instead of an error */
static int interruptions;

static int odd_open(const char *path)
{
    if (*denied && strstr(path, denied)) {
        errno = EACCES;
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*failing && strstr(path, failing)) failing_fd = fd;
    return fd;
}

static ssize_t odd_pread(int fd, void *out, size_t size, off_t offset)
{
    if (interruptions > 0) {
        interruptions--;
        errno = EINTR;
        return -1;
    }
    if (fd == failing_fd && failure) {
        errno = failure;
        return -1;
    }
    if (fd == failing_fd && other_text) {
        size_t length = strlen(other_text), from = (size_t)offset;
        if (from >= length) return 0;
        size_t part = length - from < size ? length - from : size;
        memcpy(out, other_text + from, part);
        return (ssize_t)part;
    }
    return pread(fd, out, size, offset);
}

static void odd_close(int fd)
{
    close(fd);
}

static const struct assay__sysfs_calls odd_calls = {odd_open, odd_pread, odd_close};

static void test_permission_denied(void)
{
    assay__sysfs_calls_set(&odd_calls);
    denied = "energy_uj";
    open_in("intel-laptop", "rapl");
    CHECK_INT(channel_count, 4);
    for (size_t i = 0; i < channel_count; i++) {
        CHECK(!channels[i].available && isnan(readings[i].value));
        CHECK_HAS(channels[i].reason, "permission denied");
        CHECK_HAS(channels[i].reason, "sudo chmod a+r /sys/class/powercap/*/energy_uj");
    }
    CHECK_HAS(ops->reason(probe), "sudo chmod a+r /sys/class/powercap/*/energy_uj");
    close_probe();

    denied = "hwmon1/temp1_input";
    open_in("intel-laptop", "hwmon");
    CHECK_HAS(channels[find("temperature.nvme.composite")].reason,
              "sudo chmod a+r /sys/class/hwmon/hwmon1/temp1_input");
    CHECK_NEAR(readings[find("temperature.nvme.composite#2")].value, 41, 1e-12);
    CHECK_STR(ops->reason(probe), ""); /* the others work */
    close_probe();
}

/* Each error in mid-run: this channel says why, the others go on, and it comes back. */
static void test_errors_in_mid_run(void)
{
    static const struct {
        int failure;
        const char *text, *reason;
    } rows[] = {
        {ENODEV, NULL, "the file is gone"},
        {ENOENT, NULL, "the file is gone"},
        {EIO, NULL, "input/output error"},
        {EAGAIN, NULL, "no value now"},
        {EACCES, NULL, "permission denied"},
        {ETIMEDOUT, NULL, "did not answer in time"},
        {ENOTCONN, NULL, "the read failed"},
        {0, "", "the file is empty"},
        {0, "\n", "the file is empty"},
        {0, "n/a\n", "text instead of a number"},
        {0, "12 34\n", "text instead of a number"},
        {0, "12.5\n", "text instead of a number"},
        {0, "-\n", "text instead of a number"},
        {0, "-273151\n", "below absolute zero"},
        {0, "184467440737095516160\n", "does not fit 64 bits"},
    };
    assay__sysfs_calls_set(&odd_calls);
    failing = "hwmon1/temp1_input";
    open_in("intel-laptop", "hwmon");
    size_t bad = find("temperature.nvme.composite"), good = find("fan.thinkpad.fan1");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        failure = rows[i].failure;
        other_text = rows[i].text;
        ops->read(probe, readings);
        CHECK(isnan(readings[bad].value));
        CHECK_HAS(readings[bad].reason, rows[i].reason);
        CHECK_NEAR(readings[good].value, 50, 1e-12);
        failure = 0;
        other_text = NULL;
        interruptions = 3; /* and a signal in between is no error */
        ops->read(probe, readings);
        CHECK_NEAR(readings[bad].value, 38.85, 1e-12);
        CHECK_STR(readings[bad].reason, "");
    }
    close_probe();
}

/* The RAPL counter of the laptop is 0.33 J below its range: it wraps on the way. */
static void test_rapl_wraps(void)
{
    static const char *const texts[] = {"262143100000\n", "262143300000\n", "171150\n",
                                        "5171150\n"};
    struct assay__sampler *sampler;
    struct assay__series series;
    assay__sysfs_calls_set(&odd_calls);
    failing = "intel-rapl:0/energy_uj";
    setenv("ASSAY_FSROOT", FIXTURES "fsroot-intel-laptop", 1);
    CHECK_INT(assay__sampler_new(NULL, &sampler, NULL), 0);
    CHECK_INT(assay__sampler_add(sampler, assay__probe_find("rapl"), NULL, NULL, NULL), 0);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        other_text = texts[i];
        assay__sampler_tick(sampler);
    }
    assay__sampler_series(sampler, 0, &series);
    CHECK(series.available);
    CHECK_INT(series.count, 4);
    CHECK_NEAR(series.values[1], 0.2, 1e-7);
    CHECK_NEAR(series.values[2], 0.4, 1e-7); /* 0.02885 J to the top, 0.17115 J after */
    CHECK_NEAR(series.values[3], 5.4, 1e-7);
    assay__sampler_free(sampler);
}

/* --- trees that are wrong --------------------------------------------------------------------- */

static void check_reason(const char *name, const char *reason)
{
    open_probe(name);
    for (size_t i = 0; i < channel_count; i++)
        CHECK(!channels[i].available && isnan(readings[i].value) && channels[i].reason[0]);
    CHECK_HAS(ops->reason(probe), reason);
    close_probe();
}

static void test_batteries(void)
{
    new_tree();
    put("/sys/class/power_supply/BAT0/type", "Battery\n");
    check_reason("battery", "neither power_now nor current_now");
    put("/sys/class/power_supply/BAT0/power_now", "9000000\n");
    check_reason("battery", "status does not exist");
    put("/sys/class/power_supply/BAT0/status", "Charging\n");
    check_reason("battery", "a battery is charging");
    put("/sys/class/power_supply/BAT0/status", "Full\n");
    check_reason("battery", "no battery is discharging");
    put("/sys/class/power_supply/BAT0/status", "Discharging\n");
    open_probe("battery");
    CHECK_NEAR(readings[0].value, 9, 1e-12);
    put("/sys/class/power_supply/BAT0/status", "Charging\n"); /* plugged in on the way */
    ops->read(probe, readings);
    CHECK(isnan(readings[0].value));
    CHECK_HAS(readings[0].reason, "charging");
    close_probe();
    put("/sys/class/power_supply/BAT0/status", "Discharging\n");
    put("/sys/class/power_supply/BAT1/type", "Battery\n");
    put("/sys/class/power_supply/BAT1/status", "Discharging\n");
    check_reason("battery", "one of the batteries");
    put("/sys/class/power_supply/BAT1/current_now", "-500000\n");
    put("/sys/class/power_supply/BAT1/voltage_now", "12000000\n");
    open_probe("battery");
    CHECK_NEAR(readings[0].value, 15, 1e-12);
    close_probe();
    put("/sys/class/power_supply/BAT1/present", "0\n");
    open_probe("battery");
    CHECK_NEAR(readings[0].value, 9, 1e-12);
    close_probe();
}

static void test_cpufreq_trees(void)
{
    static const char *const lists[] = {"", "x", "0-", "3-1", "0,", "0,,1", "0-99999999", "0 1"};
    new_tree();
    check_reason("cpufreq", "no list of CPUs");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(lists[i], "0,") == 0) continue; /* a trailing comma is harmless */
        put("/sys/devices/system/cpu/online", lists[i]);
        check_reason("cpufreq", "no list of CPUs");
    }
    put("/sys/devices/system/cpu/online", "0-1\n");
    check_reason("cpufreq", "does not control the clock");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "0\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "turbo\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors", "powersave \n");
    put("/sys/devices/system/cpu/cpufreq/boost", "2\n");
    open_probe("cpufreq");
    CHECK_HAS(channels[find("clock.mean")].reason, "every file reads zero");
    CHECK_HAS(channels[find("governor")].reason, "does not name");
    CHECK_HAS(channels[find("boost")].reason, "neither 0 nor 1");
    close_probe();
    put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "-5\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "mixed\n"); /* no governor */
    open_probe("cpufreq");
    CHECK_HAS(channels[find("clock.mean")].reason, "a negative number");
    CHECK_HAS(channels[find("governor")].reason, "does not name");
    close_probe();
}

/* Files that hardly change are looked at in turn: a change is seen, if not at once. */
static void test_governor_changes(void)
{
    new_tree();
    put("/sys/devices/system/cpu/online", "0-7\n");
    for (int cpu = 0; cpu < 8; cpu++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
        put(path, "1000000\n");
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
        put(path, "powersave\n");
    }
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors",
        "performance powersave\n");
    open_probe("cpufreq");
    CHECK_NEAR(readings[find("governor")].value, 1, 0);
    put("/sys/devices/system/cpu/cpu6/cpufreq/scaling_governor", "performance\n");
    put("/sys/devices/system/cpu/cpu6/cpufreq/scaling_cur_freq", "1800000\n");
    ops->read(probe, readings);
    CHECK_NEAR(readings[find("clock.mean")].value, 1.1e9, 1e-3); /* clocks: at once */
    ops->read(probe, readings); /* eight governors, four at each read */
    CHECK_NEAR(readings[find("governor")].value, 2, 0);
    CHECK_STR(channels[find("governor")].states[2], "mixed");
    close_probe();
}

static void test_system_trees(void)
{
    new_tree();
    check_reason("procstat", "/proc/stat does not exist");
    put("/proc/stat", "intr 1 2 3\n");
    check_reason("procstat", "not the CPU line");
    put("/proc/stat", "cpu  1 2 x 4\n");
    check_reason("procstat", "text instead of a number");
    put("/proc/stat", "cpu  1 2 3 4\n"); /* a very old kernel */
    open_probe("procstat");
    CHECK_NEAR(readings[find("time.busy")].value, 0.06, 1e-15);
    CHECK_HAS(channels[find("time.steal")].reason, "does not count it");
    close_probe();

    put("/proc/pressure/cpu",
        "some avg10=0.00\nfull total=3\n"); /* another line's total is not ours */
    put("/proc/pressure/io", "some total=x\n");
    open_probe("pressure");
    CHECK_HAS(channels[find("time.cpu.some")].reason, "the line has no total");
    CHECK_HAS(channels[find("time.io.some")].reason, "text instead of a number");
    CHECK_HAS(channels[find("time.io.full")].reason, "no such line");
    CHECK_HAS(ops->reason(probe), "psi=1");
    close_probe();

    put("/proc/self/cgroup", "0::/../../other\n");
    check_reason("cgroup", "outside its namespace");
    put("/proc/self/cgroup", "0::x/y\n");
    check_reason("cgroup", "/proc/self/cgroup");
    put("/proc/self/cgroup", "");
    check_reason("cgroup", "version 1 are available");
    put("/proc/self/cgroup", "0::/a\n");
    put("/proc/self/mountinfo", " - cgroup2 \n30 - cgroup2 x\n");
    put("/sys/fs/cgroup/a/cpu.max", "100 0\n");
    put("/sys/fs/cgroup/a/memory.max", "lots\n");
    put("/sys/fs/cgroup/a/memory.current", "77\n");
    open_probe("cgroup");
    CHECK_HAS(channels[find("limit.cpus")].reason, "a period of zero");
    CHECK_HAS(channels[find("memory.limit")].reason, "text instead of a number");
    CHECK_NEAR(readings[find("memory.current")].value, 77, 0);
    close_probe();
}

static void test_rapl_trees(void)
{
    new_tree();
    put("/sys/class/powercap/intel-rapl/enabled", "1\n");
    check_reason("rapl", "no RAPL zone");
    put("/sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n");
    put("/sys/class/powercap/intel-rapl-mmio:0/energy_uj", "3000000\n");
    open_probe("rapl"); /* only MMIO: used; without a range */
    CHECK_INT(channel_count, 1);
    CHECK_STR(channels[0].name, "energy.package-0");
    CHECK_NEAR(readings[0].value, 3, 1e-12);
    CHECK(isnan(channels[0].range));
    close_probe();
    put("/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    check_reason("rapl", "energy_uj does not exist"); /* the MSR zone is there and broken */
}

/* --- the reader ------------------------------------------------------------------------------- */

static void test_reader(void)
{
    const char *reason, *text = "cpu 1\ncpuset 2\nkey=v w\nlast:\t5";
    double value = 0;
    CHECK(assay__sysfs_integer("-12 \n", &value, &reason));
    CHECK_NEAR(value, -12, 0);
    CHECK(assay__sysfs_integer("18446744073709551615", &value, &reason));
    CHECK(!assay__sysfs_integer("0x10", &value, &reason));
    CHECK(!assay__sysfs_integer(" 1", &value, &reason));
    CHECK(assay__sysfs_leading("12 rest", &value, &reason));
    CHECK_NEAR(value, 12, 0);
    CHECK(!assay__sysfs_leading("12rest", &value, &reason));
    CHECK_STR(assay__fs_field(text, "cpuset"), "2\nkey=v w\nlast:\t5");
    CHECK_STR(assay__fs_field(text, "last"), "5");
    CHECK(strncmp(assay__fs_field(text, "key"), "v w", 3) == 0);
    CHECK(assay__fs_field(text, "cp") == NULL);
    CHECK(assay__fs_field("", "cpu") == NULL);

    new_tree();
    arena = assay__arena_new();
    put("/d/hwmon10", "");
    put("/d/hwmon9", "");
    put("/d/hwmon009", "");
    put("/d/other", "");
    put("/d/.hidden", "");
    const char **names = assay__sysfs_list(arena, "/d", "hwmon");
    CHECK(names != NULL);
    CHECK_STR(names[0], "hwmon009");
    CHECK_STR(names[1], "hwmon9");
    CHECK_STR(names[2], "hwmon10");
    CHECK(names[3] == NULL);
    CHECK(assay__sysfs_list(arena, "/none", "") == NULL);
    CHECK_STR(assay__sysfs_slug(arena, "Core 0\n/\x1b[31m"), "core-0----31m");

    char long_path[PATH_MAX + 16];
    memset(long_path, 'a', sizeof long_path - 1);
    long_path[0] = '/';
    long_path[sizeof long_path - 1] = '\0';
    struct assay__sysfs_file file;
    CHECK(!assay__sysfs_open(arena, &file, long_path, 64));
    CHECK_HAS(file.open_reason, "too long");
    CHECK(!assay__sysfs_refresh(&file));
    CHECK(assay__sysfs_text(arena, "%s", long_path) == NULL);
    /* Longer than the buffer: cut, never overrun. */
    put("/d/long", "1234567890");
    CHECK(assay__sysfs_open(arena, &file, "/d/long", 5));
    CHECK(assay__sysfs_refresh(&file));
    CHECK_STR(file.text, "1234");
    assay__sysfs_close(&file);
    assay__arena_free(arena);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"permission_denied", test_permission_denied},
        {"errors_in_mid_run", test_errors_in_mid_run},
        {"rapl_wraps", test_rapl_wraps},
        {"batteries", test_batteries},
        {"cpufreq_trees", test_cpufreq_trees},
        {"governor_changes", test_governor_changes},
        {"system_trees", test_system_trees},
        {"rapl_trees", test_rapl_trees},
        {"reader", test_reader},
    };
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
