/* doctor_system.c - checks of assay doctor for settings and limits of the kernel: each names the
 * command that would change it. Files are read below $ASSAY_FSROOT; if a system does not have them,
 * the finding is "unknown". */
#include "base/text.h"
#include "cli/doctor.h"
#include "probe/sysfs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU "/sys/devices/system/cpu"
#define GROUP_1 "/sys/fs/cgroup"
#define LIST_MOST 256 /* CPUs examined for the advice on --cpus */

/* --- limits of the control group -------------------------------------------------------------- */

/* The command that lifts a limit: by the runtime that set it, else the file. */
static void lift(const struct assay__patient *p, struct assay__diagnosis *d, const char *option,
                 const char *source)
{
    const char *container = p->machine.container;
    if (d->advice.length) assay__buf_puts(&d->advice, "; ");
    if (strcmp(container, "docker") == 0 || strcmp(container, "podman") == 0)
        assay__buf_printf(&d->advice, "on the host: %s update %s CONTAINER", container, option);
    else if (strcmp(container, "kubernetes") == 0)
        assay__buf_printf(&d->advice, "raise resources.limits of the pod (%s)", source);
    else
        assay__buf_printf(
            &d->advice, "echo %s | sudo tee %s",
            strncmp(source, GROUP_1 "/", sizeof GROUP_1) == 0 && !strstr(source, ".max") ? "-1"
                                                                                         : "max",
            source);
}

void assay__check_limits(const struct assay__patient *p, struct assay__diagnosis *d)
{
    const char *cpu_file, *memory_file;
    bool cpu_known, memory_known;
    double cpus = assay__doctor_limit(p, "limit.cpus", &cpu_file, &cpu_known);
    double bytes = assay__doctor_limit(p, "memory.limit", &memory_file, &memory_known);
    if (!cpu_known && !memory_known) { /* version 1 keeps its limits in other files: microseconds of
                                          each period, -1 for none; bytes, about 2^63 for none */
        double quota, period;
        cpu_file = GROUP_1 "/cpu/cpu.cfs_quota_us";
        memory_file = GROUP_1 "/memory/memory.limit_in_bytes";
        cpu_known = assay__sysfs_value(&quota, "%s", cpu_file) &&
                    assay__sysfs_value(&period, GROUP_1 "/cpu/cpu.cfs_period_us") && period > 0;
        cpus = cpu_known && quota > 0 ? quota / period : NAN;
        memory_known = assay__sysfs_value(&bytes, "%s", memory_file);
        if (!memory_known || bytes >= 4e18) bytes = NAN;
    }
    if (!isnan(cpus)) {
        assay__buf_printf(&d->says, "limited to %.3g CPUs", cpus);
        lift(p, d, "--cpus 0", cpu_file);
    }
    if (!isnan(bytes)) {
        assay__buf_printf(&d->says, "%s %s of memory", d->says.length ? " and" : "limited to",
                          assay__scaled(bytes, "B").text);
        lift(p, d, "--memory 0 --memory-swap 0", memory_file);
    }
    if (d->says.length)
        assay__diagnose(d, ASSAY__HEALTH_WARNING, NULL, " by the control group");
    else if (cpu_known && memory_known)
        ASSAY__GOOD(d, "no CPU or memory limit of a control group applies");
    else
        ASSAY__UNKNOWN(d, "%s limit of the control group cannot be read",
                       cpu_known      ? "no CPU limit applies; the memory"
                       : memory_known ? "no memory limit applies; the CPU"
                                      : "the CPU and memory");
}

/* --- hardware threads, turbo ------------------------------------------------------------------ */

/* The first hardware thread of each core, as a list for --cpus; "" if the cores are unknown. */
static void first_threads(const struct assay__patient *p, struct assay__buf *list)
{
    for (int cpu = 0, found = 0; found < p->machine.threads && cpu < LIST_MOST; cpu++) {
        const char *siblings = assay__sysfs_text(p->arena,
                                                 CPU "/cpu%d/topology/thread_siblings_list", cpu);
        if (!siblings) continue;
        found++;
        if (strtol(siblings, NULL, 10) == cpu)
            assay__buf_printf(list, "%s%d", list->length ? "," : "", cpu);
    }
}

void assay__check_smt(const struct assay__patient *p, struct assay__diagnosis *d)
{
    double active;
    int threads = p->machine.threads, cores = p->machine.cores;
    if (!assay__sysfs_value(&active, CPU "/smt/active")) {
        if (threads <= 0 || cores <= 0) {
            ASSAY__UNKNOWN(d, "it is unknown whether cores have several hardware threads (SMT)");
            return;
        }
        active = threads > cores;
    }
    if (active == 0) {
        ASSAY__GOOD(d, "one hardware thread per core (SMT is off or absent)");
        return;
    }
    struct assay__buf list = {0};
    first_threads(p, &list);
    if (list.length) assay__buf_printf(&d->advice, "assay run --cpus %s; or ", list.data);
    assay__buf_free(&list);
    assay__diagnose(d, ASSAY__HEALTH_WARNING,
                    "echo off | sudo tee " CPU "/smt/control (until the next boot)",
                    "SMT is on: two busy threads on one core slow each other down, so times depend "
                    "on where threads are scheduled");
}

void assay__check_turbo(const struct assay__patient *p, struct assay__diagnosis *d)
{
    static const char *const commands[] = {
        "echo 1 | sudo tee " CPU "/intel_pstate/no_turbo (until the next boot)",
        "echo 0 | sudo tee " CPU "/cpufreq/boost (until the next boot)"};
    double off = 0, boost = 0;
    bool intel = assay__sysfs_value(&off, CPU "/intel_pstate/no_turbo"),
         known = intel || assay__sysfs_value(&boost, CPU "/cpufreq/boost");
    (void)p;
    if (!known)
        assay__diagnose(
            d, ASSAY__HEALTH_UNKNOWN,
            "on a virtual machine the host decides; else load the driver: sudo modprobe "
            "acpi-cpufreq",
            "it is unknown whether the clock may rise above its nominal rate (turbo, boost)");
    else if (intel ? off != 0 : boost == 0)
        ASSAY__GOOD(d, "turbo (boost) is off: the clock stays at its nominal rate");
    else
        assay__diagnose(
            d, ASSAY__HEALTH_WARNING, commands[!intel],
            "turbo (boost) is on: the clock depends on temperature and on how many cores are busy");
}

/* --- swap ------------------------------------------------------------------------------------- */

static bool kib_of(const char *text, const char *key, double *kib)
{
    const char *reason, *at = text ? assay__fs_field(text, key) : NULL;
    return at && assay__sysfs_leading(at, kib, &reason);
}

void assay__check_swap(const struct assay__patient *p, struct assay__diagnosis *d)
{
    const char *text = assay__sysfs_text(p->arena, "/proc/meminfo");
    double total, unused;
    if (!kib_of(text, "SwapTotal", &total) || !kib_of(text, "SwapFree", &unused)) {
        ASSAY__UNKNOWN(d, "swap usage cannot be read");
        return;
    }
    struct assay__digits size = assay__scaled(total * 1024, "B"),
                         used = assay__scaled((total - unused) * 1024, "B");
    if (total == 0)
        ASSAY__GOOD(d, "there is no swap");
    else if (total - unused <= 0)
        ASSAY__GOOD(d, "%s of swap, none in use", size.text);
    else
        assay__diagnose(
            d, ASSAY__HEALTH_WARNING,
            "sudo swapoff -a (if the swapped-out pages fit in free memory)",
            "%s of swap, %s in use: memory was short, and pages may have to be read back",
            size.text, used.text);
}

/* --- counters of the processor ---------------------------------------------------------------- */

void assay__check_perf_events(const struct assay__patient *p, struct assay__diagnosis *d)
{
    double level;
    (void)p;
    if (!assay__sysfs_value(&level, "/proc/sys/kernel/perf_event_paranoid"))
        ASSAY__UNKNOWN(d, "no perf_event_paranoid: this system has no perf events, or hides them");
    else if (level <= 2)
        ASSAY__GOOD(d, "perf_event_paranoid is %.0f: processes may read their own counters", level);
    else
        assay__diagnose(d, ASSAY__HEALTH_MISSING, "sudo sysctl kernel.perf_event_paranoid=2",
                        "perf_event_paranoid is %.0f: only root may read counters", level);
}

void assay__check_pmu(const struct assay__patient *p, struct assay__diagnosis *d)
{
    /* the kernel's name for the counters of the cores themselves */
    static const char *const cores[] = {"cpu", "arm", "apple"};
    const char **units = assay__sysfs_list(p->arena, "/sys/bus/event_source/devices", "");
    if (!units) {
        ASSAY__UNKNOWN(d, "hardware counters (PMU) cannot be listed");
        return;
    }
    for (const char **unit = units; *unit; unit++)
        for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
            bool core = i == 0 ? strcmp(*unit, "cpu") == 0 || strncmp(*unit, "cpu_", 4) == 0
                               : strncmp(*unit, cores[i], strlen(cores[i])) == 0 &&
                                     strstr(*unit, "pmu") != NULL;
            if (!core) continue;
            ASSAY__GOOD(d, "hardware counters are available (PMU '%s')", *unit);
            return;
        }
    const char *virtualized = p->machine.virtualized;
    assay__diagnose(d, ASSAY__HEALTH_MISSING,
                    *virtualized && strcmp(virtualized, "none") != 0
                        ? "the host must pass them on (QEMU: -cpu host,pmu=on; VMware: vpmc.enable "
                          "= \"TRUE\"; clouds: a bare-metal size)"
                        : "enable the PMU in the firmware settings",
                    "hardware counters are missing (no PMU): cycles, instructions and cache misses "
                    "will be unavailable");
}
