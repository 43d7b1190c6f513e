/* linux_disturbance.c - counters that show what disturbed a run, from /proc and /sys. A file that
 * is missing or implausible (all CPU times zero) makes its field unknown, never zero. One reading
 * takes well under a millisecond on a small machine: the clocks of at most 64 CPUs are read. */
#include "base/cpu_list.h"
#include "base/clock.h"
#include "platform/platform.h"
#include "platform/posix_fs.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_ASKED 64
#define CPU "/sys/devices/system/cpu/"

/* proc(5): cpu user nice system idle iowait irq softirq steal guest guest_nice, in ticks; guest is
 * part of user. */
static void read_cpu_times(struct assay__disturbance *reading)
{
    char text[512];
    unsigned long long t[8] = {0};
    if (assay__fs_read(text, sizeof text, "/proc/stat") <= 0) return;
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

/* The clocks of the CPUs, and how often the hardware slowed them down because of heat. */
static void read_cpus(struct assay__disturbance *reading)
{
    static const char *const counts[] = {"core_throttle_count", "package_throttle_count"};
    char list[1024] = "";
    double hz = 0;
    unsigned asked = 0, answered = 0;
    uint64_t value;
    assay__fs_read(list, sizeof list, CPU "online");
    struct assay__cpu_walk walk = {.at = list};
    while (asked++ < CPUS_ASKED && assay__cpu_next(&walk)) {
        if (assay__fs_u64(&value, CPU "cpu%u/cpufreq/scaling_cur_freq", walk.cpu) && value > 0) {
            hz += (double)value * 1000; /* kHz */
            answered++;
        }
        /* Every CPU of a package reports the package's count: what matters is whether the sum
         * grows. */
        for (int i = 0; i < 2; i++) {
            if (!assay__fs_u64(&value, CPU "cpu%u/thermal_throttle/%s", walk.cpu, counts[i]))
                continue;
            reading->throttle_count += value;
            reading->throttle_known = true;
        }
    }
    /* Without a hypervisor, x86 also shows the real clock in cpuinfo; a guest shows the nominal one
     * there, which is not a measurement. */
    char *text = answered ? NULL : assay__fs_slurp("/proc/cpuinfo");
    if (text && !strstr(text, " hypervisor"))
        for (const char *line = text; (line = strstr(line, "cpu MHz")); line++) {
            const char *colon = strchr(line, ':');
            double mhz = colon ? strtod(colon + 1, NULL) : 0;
            if (mhz <= 0) continue;
            hz += mhz * 1e6;
            answered++;
        }
    free(text);
    reading->frequency_known = answered > 0;
    if (answered) reading->frequency_hz = hz / answered;
}

/* --- control group ---------------------------------------------------------------------------- */

static bool throttled_in(const char *point, const char *group, uint64_t *ns)
{
    char text[2048];
    uint64_t value;
    if (assay__fs_read(text, sizeof text, "%s%s/cpu.stat", point, group) <= 0 ||
        !assay__fs_field_u64(text, "throttled_usec", &value))
        return false;
    *ns = value * 1000;
    return true;
}

/* A group is held back by its own limit and by those above it, and the kernel counts it where the
 * limit is. So it is read in the group with the tightest cpu.max ("150000 100000": 1.5 CPUs), as
 * the cgroup probe does; without any limit it is read in the process's own group, which then counts
 * 0. */
static void read_cgroup(struct assay__disturbance *reading)
{
    char text[2048], point[ASSAY__CGROUP_PATH], group[ASSAY__CGROUP_PATH];
    uint64_t ns;
    double least = INFINITY;
    bool listed = assay__fs_read(text, sizeof text, "/proc/self/cgroup") > 0;
    char *mounts = listed ? assay__fs_slurp("/proc/self/mountinfo") : NULL;
    bool more = listed && !assay__cgroup_locate(text, mounts, point, group);
    free(mounts);
    while (more) {
        double quota, period, limit = INFINITY;
        if (assay__fs_read(text, sizeof text, "%s%s/cpu.max", point, group) > 0 &&
            sscanf(text, "%lf %lf", &quota, &period) == 2 && quota > 0 && period > 0)
            limit = quota / period;
        if ((!reading->cgroup_known || limit < least) && throttled_in(point, group, &ns)) {
            reading->cgroup_throttled_ns = ns;
            reading->cgroup_known = true;
            least = limit;
        }
        more = *group != '\0';
        if (more) *strrchr(group, '/') = '\0'; /* begins with '/': there is one */
    }
    if (reading->cgroup_known) return;
    /* A container with a cgroup namespace of its own sees its group as the top one; version 1
     * counts nanoseconds. */
    reading->cgroup_known = throttled_in("/sys/fs/cgroup", "", &reading->cgroup_throttled_ns) ||
                            (assay__fs_read(text, sizeof text, "/sys/fs/cgroup/cpu/cpu.stat") > 0 &&
                             assay__fs_field_u64(text, "throttled_time",
                                                 &reading->cgroup_throttled_ns));
}

/* The processor's own zone; acpitz is often a constant and is not used. Of several, the hottest
 * plausible one (below 150 °C) counts. */
static void read_temperature(struct assay__disturbance *reading)
{
    static const char *const zones[] = {"x86_pkg_temp", "cpu", "soc", "CPU"};
    char type[64];
    uint64_t value, hottest = 0; /* thousandths of a degree */
    for (unsigned zone = 0; zone < 32; zone++) {
        if (assay__fs_read(type, sizeof type, "/sys/class/thermal/thermal_zone%u/type", zone) < 0)
            break;
        bool ours = false;
        for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++)
            ours = ours || strstr(type, zones[i]) != NULL;
        if (!ours || !assay__fs_u64(&value, "/sys/class/thermal/thermal_zone%u/temp", zone))
            continue;
        if (value < 150000 && value > hottest) hottest = value;
    }
    for (unsigned chip = 0; chip < 16 && hottest == 0; chip++) {
        if (assay__fs_read(type, sizeof type, "/sys/class/hwmon/hwmon%u/name", chip) < 0) break;
        if (strcmp(type, "coretemp") != 0 && strcmp(type, "k10temp") != 0) continue;
        if (assay__fs_u64(&value, "/sys/class/hwmon/hwmon%u/temp1_input", chip) && value < 150000)
            hottest = value;
    }
    reading->temperature_known = hottest > 0;
    reading->temperature_c = (double)hottest / 1000;
}

typedef void thread_fn(const char *text, void *context);

/* Calls `each` with the text of a file of every thread of a process. */
static void each_thread(int64_t pid, const char *file, thread_fn *each, void *context)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/task", (long long)pid);
    DIR *tasks = assay__fs_replaced() ? NULL : opendir(path);
    for (const struct dirent *task; tasks && (task = readdir(tasks));) {
        char text[512];
        if (task->d_name[0] != '.' &&
            assay__fs_read(text, sizeof text, "%s/%s/%s", path, task->d_name, file) > 0)
            each(text, context);
    }
    if (tasks) closedir(tasks);
}

struct waited {
    uint64_t ns;
    bool known;
};

/* proc(5), schedstat: time on a CPU, time waiting for one, slices. */
static void add_waited(const char *text, void *context)
{
    struct waited *sum = context;
    unsigned long long ran, waited;
    if (sscanf(text, "%llu %llu", &ran, &waited) != 2) return;
    sum->ns += waited;
    sum->known = true;
}

bool assay__process_waited_ns(int64_t pid, uint64_t *waited_ns)
{
    struct waited sum = {0};
    each_thread(pid, "schedstat", add_waited, &sum);
    *waited_ns = sum.ns;
    return sum.known;
}

struct cpu_set {
    int *cpus;
    size_t count, most;
};

/* proc(5), stat: field 39, "processor"; field 3 is the first after the name, which may contain
 * anything. */
static void add_cpu(const char *text, void *context)
{
    struct cpu_set *set = context;
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 39; field++)
        at = strchr(at + 1, ' ');
    int cpu;
    if (!at || sscanf(at, "%d", &cpu) != 1) return;
    for (size_t i = 0; i < set->count; i++)
        if (set->cpus[i] == cpu) return;
    if (cpu >= 0 && set->count < set->most) set->cpus[set->count++] = cpu;
}

size_t assay__process_cpus(int64_t pid, int *cpus, size_t most)
{
    struct cpu_set set = {.cpus = cpus, .most = most};
    each_thread(pid, "stat", add_cpu, &set);
    return set.count;
}

void assay__disturbance_read(struct assay__disturbance *reading)
{
    char text[256];
    double one;
    int running;
    *reading = (struct assay__disturbance){.at_ns = assay__now_ns()};
    read_cpu_times(reading);
    read_cpus(reading);
    read_cgroup(reading);
    if (assay__fs_read(text, sizeof text, "/proc/loadavg") > 0 &&
        sscanf(text, "%lf %*f %*f %d/", &one, &running) == 2) {
        reading->load_1min = one;
        reading->running = running;
        reading->load_known = true;
    }
    read_temperature(reading);
    /* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345" in microseconds */
    const char *total = assay__fs_read(text, sizeof text, "/proc/pressure/cpu") > 0 &&
                                strncmp(text, "some ", 5) == 0
                            ? strstr(text, "total=")
                            : NULL;
    if (total) reading->pressure_cpu_s = (double)strtoull(total + 6, NULL, 10) * 1e-6;
    reading->pressure_known = total != NULL;
}
