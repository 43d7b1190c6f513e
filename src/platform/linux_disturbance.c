/* linux_disturbance.c - counters that show what disturbed a run, from /proc and /sys. A file that
 * is not there, or that shows what cannot be (all zero CPU times), makes its field unknown, never
 * zero. One reading takes well under a millisecond on a small machine: at most 64 CPUs are asked
 * for their clock. */
#include "base/cpu_list.h"
#include "base/clock.h"
#include "platform/linux_fs.h"
#include "platform/platform.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_ASKED 64

/* proc(5): cpu user nice system idle iowait irq softirq steal guest guest_nice, in ticks; guest is
 * within user. */
static void read_cpu_times(struct assay__disturbance *reading)
{
    char text[512];
    unsigned long long t[8] = {0};
    if (assay__fs_read("/proc/stat", text, sizeof text) <= 0) return;
    int fields = sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
                        &t[3], &t[4], &t[5], &t[6], &t[7]);
    long ticks = assay__fs_replaced() ? 100 : sysconf(_SC_CLK_TCK);
    if (fields < 4 || ticks <= 0) return;
    double busy = (double)(t[0] + t[1] + t[2] + t[5] + t[6]), idle = (double)(t[3] + t[4]);
    if (busy + idle <= 0) return; /* a sandbox that does not count */
    reading->cpu_busy_s = busy / (double)ticks;
    reading->cpu_idle_s = idle / (double)ticks;
    reading->cpu_known = true;
    reading->steal_known = fields >= 8;
    if (reading->steal_known) reading->cpu_steal_s = (double)t[7] / (double)ticks;
}

struct frequency_sum {
    double hz;
    uint64_t throttles;
    unsigned asked, answered, throttle_files;
};

static void add_cpu(void *context, unsigned cpu)
{
    struct frequency_sum *sum = context;
    uint64_t value;
    if (sum->asked++ >= CPUS_ASKED) return;
    if (assay__fs_u64f(&value, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu) &&
        value > 0) {
        sum->hz += (double)value * 1000; /* kHz */
        sum->answered++;
    }
    /* Every CPU of a package shows the package's count: what matters is whether the sum grows. */
    static const char *const counts[] = {"core_throttle_count", "package_throttle_count"};
    for (int i = 0; i < 2; i++) {
        if (!assay__fs_u64f(&value, "/sys/devices/system/cpu/cpu%u/thermal_throttle/%s", cpu,
                            counts[i]))
            continue;
        sum->throttles += value;
        sum->throttle_files++;
    }
}

/* Bare x86 shows the real clock in cpuinfo too; a guest shows the nominal one there, which is no
 * measurement. */
static void frequency_from_cpuinfo(struct frequency_sum *sum)
{
    char *text = assay__fs_slurp("/proc/cpuinfo");
    if (text && !strstr(text, " hypervisor")) {
        for (const char *line = text; (line = strstr(line, "cpu MHz")); line++) {
            const char *colon = strchr(line, ':');
            double mhz = colon ? strtod(colon + 1, NULL) : 0;
            if (mhz <= 0) continue;
            sum->hz += mhz * 1e6;
            sum->answered++;
        }
    }
    free(text);
}

static void read_cpus(struct assay__disturbance *reading)
{
    char list[1024];
    struct frequency_sum sum = {0};
    if (assay__fs_read("/sys/devices/system/cpu/online", list, sizeof list) > 0)
        assay__cpu_list_each(list, add_cpu, &sum);
    if (sum.answered == 0) frequency_from_cpuinfo(&sum);
    reading->frequency_known = sum.answered > 0;
    if (sum.answered) reading->frequency_hz = sum.hz / sum.answered;
    reading->throttle_known = sum.throttle_files > 0;
    reading->throttle_count = sum.throttles;
}

/* --- control group ---------------------------------------------------------------------------- */

static bool throttled_in(const char *point, const char *group, uint64_t *ns)
{
    char text[2048];
    uint64_t value;
    if (assay__fs_readf(text, sizeof text, "%s%s/cpu.stat", point, group) <= 0 ||
        !assay__fs_field(text, "throttled_usec", &value))
        return false;
    *ns = value * 1000;
    return true;
}

/* CPUs that cpu.max of the group allows: "150000 100000" -> 1.5; 0: no limit. */
static double limit_of(const char *point, const char *group)
{
    char text[128];
    double quota, period;
    if (assay__fs_readf(text, sizeof text, "%s%s/cpu.max", point, group) <= 0 ||
        sscanf(text, "%lf %lf", &quota, &period) != 2 || !(quota > 0) || !(period > 0))
        return 0;
    return quota / period;
}

/* A group is held back by its own limit and by those above it, and the kernel counts it where the
 * limit is. So it is read in the group with the tightest one, as the cgroup probe does; without any
 * in the process's own, which then counts 0. */
static bool read_group(struct assay__disturbance *reading)
{
    char groups[2048], point[ASSAY__CGROUP_PATH], group[ASSAY__CGROUP_PATH];
    uint64_t ns;
    double least = 0;
    if (assay__fs_read("/proc/self/cgroup", groups, sizeof groups) <= 0) return false;
    char *mounts = assay__fs_slurp("/proc/self/mountinfo");
    const char *why = assay__cgroup_locate(groups, mounts, point, group);
    free(mounts);
    if (why) return false;
    for (;;) {
        double limit = limit_of(point, group);
        bool better = !reading->cgroup_known || (limit > 0 && (least == 0 || limit < least));
        if (better && throttled_in(point, group, &ns)) {
            reading->cgroup_throttled_ns = ns;
            reading->cgroup_known = true;
            least = limit;
        }
        if (!*group) return reading->cgroup_known;
        *strrchr(group, '/') = '\0'; /* begins with '/': there is one */
    }
}

static void read_cgroup(struct assay__disturbance *reading)
{
    char text[2048];
    uint64_t value;
    if (read_group(reading)) return;
    /* a container with its own view of groups sees its own as the top one */
    if (throttled_in("/sys/fs/cgroup", "", &reading->cgroup_throttled_ns)) {
        reading->cgroup_known = true;
    } else if (assay__fs_read("/sys/fs/cgroup/cpu/cpu.stat", text, sizeof text) > 0 &&
               assay__fs_field(text, "throttled_time", &value)) { /* version 1: nanoseconds */
        reading->cgroup_throttled_ns = value;
        reading->cgroup_known = true;
    }
}

static void read_load(struct assay__disturbance *reading)
{
    char text[128];
    double one, five, fifteen;
    int running;
    if (assay__fs_read("/proc/loadavg", text, sizeof text) <= 0) return;
    if (sscanf(text, "%lf %lf %lf %d/", &one, &five, &fifteen, &running) != 4) return;
    reading->load_1min = one;
    reading->running = running;
    reading->load_known = true;
}

static bool plausible(double celsius)
{
    return celsius > 0 && celsius < 150;
}

/* The processor's own zone; acpitz is often a constant and is not used. The hottest of several
 * counts. */
static void read_temperature(struct assay__disturbance *reading)
{
    static const char *const zones[] = {"x86_pkg_temp", "cpu", "soc", "CPU"};
    char type[64];
    uint64_t value;
    double hottest = 0;
    for (unsigned zone = 0; zone < 32; zone++) {
        if (assay__fs_readf(type, sizeof type, "/sys/class/thermal/thermal_zone%u/type", zone) < 0)
            break;
        bool ours = false;
        for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++)
            ours = ours || strstr(type, zones[i]) != NULL;
        if (!ours || !assay__fs_u64f(&value, "/sys/class/thermal/thermal_zone%u/temp", zone))
            continue;
        double celsius = (double)value / 1000;
        if (plausible(celsius) && celsius > hottest) hottest = celsius;
    }
    for (unsigned chip = 0; chip < 16 && hottest == 0; chip++) {
        if (assay__fs_readf(type, sizeof type, "/sys/class/hwmon/hwmon%u/name", chip) < 0) break;
        if (strcmp(type, "coretemp") != 0 && strcmp(type, "k10temp") != 0) continue;
        if (!assay__fs_u64f(&value, "/sys/class/hwmon/hwmon%u/temp1_input", chip)) continue;
        if (plausible((double)value / 1000)) hottest = (double)value / 1000;
    }
    reading->temperature_known = hottest > 0;
    reading->temperature_c = hottest;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345" in microseconds */
static void read_pressure(struct assay__disturbance *reading)
{
    char text[256];
    if (assay__fs_read("/proc/pressure/cpu", text, sizeof text) <= 0) return;
    const char *total = strstr(text, "total=");
    if (strncmp(text, "some ", 5) != 0 || !total) return;
    reading->pressure_cpu_s = (double)strtoull(total + 6, NULL, 10) * 1e-6;
    reading->pressure_known = true;
}

/* proc(5), schedstat: time on a CPU, time waiting for one, slices. */
bool assay__process_waited_ns(int64_t pid, uint64_t *waited_ns)
{
    char path[64];
    bool known = false;
    snprintf(path, sizeof path, "/proc/%lld/task", (long long)pid);
    DIR *tasks = assay__fs_replaced() ? NULL : opendir(path);
    *waited_ns = 0;
    for (const struct dirent *task; tasks && (task = readdir(tasks));) {
        char text[128];
        unsigned long long ran, waited;
        if (task->d_name[0] == '.' ||
            assay__fs_readf(text, sizeof text, "%s/%s/schedstat", path, task->d_name) <= 0 ||
            sscanf(text, "%llu %llu", &ran, &waited) != 2)
            continue;
        *waited_ns += waited;
        known = true;
    }
    if (tasks) closedir(tasks);
    return known;
}

void assay__disturbance_read(struct assay__disturbance *reading)
{
    memset(reading, 0, sizeof *reading);
    reading->at_ns = assay__now_ns();
    read_cpu_times(reading);
    read_cpus(reading);
    read_cgroup(reading);
    read_load(reading);
    read_temperature(reading);
    read_pressure(reading);
}
