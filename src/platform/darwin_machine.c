/* darwin_machine.c - what this Mac is, and what disturbs a run on it, from sysctl and mach. What
 * macOS does not report without privileges (clock, throttling, temperature) stays unknown. */
#include "base/clock.h"
#include "platform/platform.h"

#include <mach/mach.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Here CLOCK_MONOTONIC goes on while the machine sleeps. */
uint64_t assay__suspended_ns(void)
{
    return 0;
}

static const char *text_in_arena(struct assay__arena *arena, const char *text)
{
    const char *copy = assay__arena_strdup(arena, text);
    return copy ? copy : "";
}

static bool sysctl_text(const char *name, char *out, size_t out_size)
{
    size_t size = out_size;
    if (sysctlbyname(name, out, &size, NULL, 0) != 0 || size == 0) {
        out[0] = '\0';
        return false;
    }
    out[size < out_size ? size : out_size - 1] = '\0';
    return out[0] != '\0';
}

/* Some are 32-bit, some 64-bit. */
static bool sysctl_u64(const char *name, uint64_t *value)
{
    unsigned char bytes[8] = {0};
    size_t size = sizeof bytes;
    if (sysctlbyname(name, bytes, &size, NULL, 0) != 0) return false;
    if (size == sizeof(uint32_t)) {
        uint32_t narrow;
        memcpy(&narrow, bytes, sizeof narrow);
        *value = narrow;
        return true;
    }
    memcpy(value, bytes, sizeof *value);
    return size == sizeof *value;
}

static uint64_t sysctl_or_zero(const char *name)
{
    uint64_t value;
    return sysctl_u64(name, &value) ? value : 0;
}

/* Performance cores are "level 0" on Apple silicon; Intel Macs have only the plain names. */
static void read_caches(struct assay__machine *machine)
{
    machine->l1d_bytes = sysctl_or_zero("hw.perflevel0.l1dcachesize");
    machine->l2_bytes = sysctl_or_zero("hw.perflevel0.l2cachesize");
    if (!machine->l1d_bytes) machine->l1d_bytes = sysctl_or_zero("hw.l1dcachesize");
    if (!machine->l2_bytes) machine->l2_bytes = sysctl_or_zero("hw.l2cachesize");
    machine->l3_bytes = sysctl_or_zero("hw.l3cachesize");
}

static void read_simd(struct assay__arena *arena, struct assay__machine *machine)
{
    static const struct {
        const char *name, *flag;
    } wanted[] = {
        {"hw.optional.arm.FEAT_SME2", "sme2"},
        {"hw.optional.arm.FEAT_SME", "sme"},
        {"hw.optional.arm.FEAT_I8MM", "i8mm"},
        {"hw.optional.arm.FEAT_BF16", "bf16"},
        {"hw.optional.arm.FEAT_DotProd", "asimddp"},
        {"hw.optional.arm.FEAT_FP16", "asimdhp"},
        {"hw.optional.neon", "asimd"},
        {"hw.optional.avx512f", "avx512f"},
        {"hw.optional.avx2_0", "avx2"},
        {"hw.optional.fma", "fma"},
    };
    char found[256] = "";
    size_t length = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        if (sysctl_or_zero(wanted[i].name) != 1) continue;
        int added = snprintf(found + length, sizeof found - length, "%s%s", length ? " " : "",
                             wanted[i].flag);
        length += (size_t)added;
    }
    machine->simd = text_in_arena(arena, found);
}

int assay__machine_read(struct assay__arena *arena, struct assay__machine *machine)
{
    char text[256];
    uint64_t value;
    struct utsname real;
    *machine = (struct assay__machine){.host = "", .os = "", .kernel = ""};
    machine->architecture = machine->cpu_model = machine->virtualized = "";
    machine->simd = machine->governor = machine->container = "";
    if (uname(&real) == 0) {
        machine->host = text_in_arena(arena, real.nodename);
        machine->architecture = text_in_arena(arena, real.machine);
        snprintf(text, sizeof text, "%.100s %.100s", real.sysname, real.release);
        machine->kernel = text_in_arena(arena, text);
    }
    if (sysctl_text("kern.osproductversion", text, sizeof text)) {
        const char *os = assay__arena_printf(arena, "macOS %s", text);
        machine->os = os ? os : "";
    }
    if (sysctl_text("machdep.cpu.brand_string", text, sizeof text))
        machine->cpu_model = text_in_arena(arena, text);
    machine->packages = (int)sysctl_or_zero("hw.packages");
    machine->cores = (int)sysctl_or_zero("hw.physicalcpu");
    machine->threads = (int)sysctl_or_zero("hw.logicalcpu");
    machine->memory_bytes = sysctl_or_zero("hw.memsize");
    machine->cpu_max_hz = (double)sysctl_or_zero("hw.cpufrequency_max"); /* Intel only */
    if (sysctl_u64("kern.hv_vmm_present", &value)) machine->virtualized = value ? "apple" : "none";
    read_caches(machine);
    read_simd(arena, machine);
    return 0;
}

void assay__disturbance_read(struct assay__disturbance *reading)
{
    memset(reading, 0, sizeof *reading);
    reading->at_ns = assay__now_ns();
    host_cpu_load_info_data_t load = {0};
    mach_msg_type_number_t count = HOST_CPU_LOAD_INFO_COUNT;
    mach_port_t host = mach_host_self();
    long ticks = sysconf(_SC_CLK_TCK);
    if (ticks > 0 &&
        host_statistics(host, HOST_CPU_LOAD_INFO, (host_info_t)&load, &count) == KERN_SUCCESS) {
        reading->cpu_busy_s = (double)(load.cpu_ticks[CPU_STATE_USER] +
                                       load.cpu_ticks[CPU_STATE_SYSTEM] +
                                       load.cpu_ticks[CPU_STATE_NICE]) /
                              (double)ticks;
        reading->cpu_idle_s = (double)load.cpu_ticks[CPU_STATE_IDLE] / (double)ticks;
        reading->cpu_known = true;
    }
    mach_port_deallocate(mach_task_self(), host);
    double average;
    if (getloadavg(&average, 1) == 1) {
        reading->load_1min = average;
        reading->running = -1; /* not reported */
        reading->load_known = true;
    }
}

bool assay__process_waited_ns(int64_t pid, uint64_t *waited_ns)
{
    (void)pid;
    *waited_ns = 0;
    return false; /* no public interface counts it */
}

size_t assay__process_cpus(int64_t pid, int *cpus, size_t most)
{
    (void)pid;
    (void)cpus;
    (void)most;
    return 0;
}
