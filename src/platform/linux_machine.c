/* linux_machine.c - what this machine is, from /proc, /sys and /etc (below $ASSAY_FSROOT), with
 * uname and CPUID only if it is the real machine. What cannot be found stays unknown: "" or 0. */
#include "base/cpu_list.h"
#include "base/stats.h"
#include "base/text.h"
#include "platform/platform.h"
#include "platform/posix_fs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define CPU "/sys/devices/system/cpu/"

/* A short file's text; NULL when it cannot be read or is empty. */
static const char *file_text(struct assay__arena *arena, const char *path)
{
    char text[256];
    return assay__fs_read(text, sizeof text, "%s", path) > 0 ? assay__arena_text(arena, "%s", text)
                                                             : NULL;
}

uint64_t assay__suspended_ns(void)
{
    struct timespec all, awake;
    if (clock_gettime(CLOCK_BOOTTIME, &all) || clock_gettime(CLOCK_MONOTONIC, &awake)) return 0;
    int64_t seconds = (int64_t)all.tv_sec - (int64_t)awake.tv_sec;
    int64_t ns = seconds * 1000000000 + all.tv_nsec - awake.tv_nsec;
    return ns > 0 ? (uint64_t)ns : 0;
}

/* --- names ------------------------------------------------------------------------------------ */

static void read_names(struct assay__arena *arena, struct assay__machine *machine,
                       const char *cpuinfo)
{
    char text[4096];
    struct utsname real = {.machine = ""};
    bool have = !assay__fs_replaced() && uname(&real) == 0;
    const char *host = file_text(arena, "/proc/sys/kernel/hostname");
    const char *release = file_text(arena, "/proc/sys/kernel/osrelease");
    const char *architecture = have ? NULL : file_text(arena, "/proc/sys/kernel/arch");
    machine->host = host ? host : assay__arena_text(arena, "%s", real.nodename);
    if (release || have)
        machine->kernel = assay__arena_text(arena, "Linux %s", release ? release : real.release);
    machine->architecture = have           ? assay__arena_text(arena, "%s", real.machine)
                            : architecture ? architecture
                            : strstr(cpuinfo, "CPU implementer") ? "aarch64"
                            : strstr(cpuinfo, "vendor_id")       ? "x86_64"
                                                                 : "";
    if (assay__fs_read(text, sizeof text, "/etc/os-release") <= 0)
        assay__fs_read(text, sizeof text, "/usr/lib/os-release");
    const char *name = assay__fs_field(text, "PRETTY_NAME");
    if (!name) return;
    const char *end = *name == '"' ? "\"" : *name == '\'' ? "'" : "\n";
    if (*end != '\n') name++;
    machine->os = assay__arena_text(arena, "%.*s", (int)strcspn(name, end), name);
}

/* Main ID register values, from Arm's technical reference manuals. */
static const struct {
    unsigned implementer, part;
    const char *name;
} arm_parts[] = {
    {0x41, 0xd03, "Arm Cortex-A53"},   {0x41, 0xd04, "Arm Cortex-A35"},
    {0x41, 0xd05, "Arm Cortex-A55"},   {0x41, 0xd07, "Arm Cortex-A57"},
    {0x41, 0xd08, "Arm Cortex-A72"},   {0x41, 0xd09, "Arm Cortex-A73"},
    {0x41, 0xd0a, "Arm Cortex-A75"},   {0x41, 0xd0b, "Arm Cortex-A76"},
    {0x41, 0xd0c, "Arm Neoverse-N1"},  {0x41, 0xd0d, "Arm Cortex-A77"},
    {0x41, 0xd40, "Arm Neoverse-V1"},  {0x41, 0xd41, "Arm Cortex-A78"},
    {0x41, 0xd42, "Arm Cortex-A78AE"}, {0x41, 0xd44, "Arm Cortex-X1"},
    {0x41, 0xd46, "Arm Cortex-A510"},  {0x41, 0xd47, "Arm Cortex-A710"},
    {0x41, 0xd48, "Arm Cortex-X2"},    {0x41, 0xd49, "Arm Neoverse-N2"},
    {0x41, 0xd4b, "Arm Cortex-A78C"},  {0x41, 0xd4d, "Arm Cortex-A715"},
    {0x41, 0xd4e, "Arm Cortex-X3"},    {0x41, 0xd4f, "Arm Neoverse-V2"},
    {0x41, 0xd80, "Arm Cortex-A520"},  {0x41, 0xd81, "Arm Cortex-A720"},
    {0x41, 0xd82, "Arm Cortex-X4"},    {0x41, 0xd83, "Arm Neoverse-V3AE"},
    {0x41, 0xd84, "Arm Neoverse-V3"},  {0x41, 0xd85, "Arm Cortex-X925"},
    {0x41, 0xd87, "Arm Cortex-A725"},  {0x41, 0xd8e, "Arm Neoverse-N3"},
    {0x43, 0x0a1, "Cavium ThunderX"},  {0x43, 0x0af, "Marvell ThunderX2"},
    {0x46, 0x001, "Fujitsu A64FX"},    {0x48, 0xd01, "HiSilicon TaiShan v110"},
    {0x4e, 0x004, "NVIDIA Carmel"},    {0x51, 0x001, "Qualcomm Oryon"},
    {0x6d, 0xd49, "Azure Cobalt 100"}, {0xc0, 0xac3, "Ampere-1"},
    {0xc0, 0xac4, "Ampere-1A"},
};

/* The model's name; on Arm "Arm Cortex-A55 + Arm Cortex-A76": the name of each kind of core, or its
 * numbers, in the order of their first CPUs, at most four. */
static void read_cpu_model(struct assay__arena *arena, struct assay__machine *machine,
                           const char *cpuinfo)
{
    static const char key[] = "CPU implementer";
    char text[256], part_text[32];
    unsigned seen[4][2];
    size_t count = 0;
    /* Some Arm kernels write "ARMv8 Processor rev 1 (v8l)" for every processor. */
    if (assay__fs_field_text(cpuinfo, "model name", text, sizeof text) &&
        strncmp(text, "ARMv", 4) != 0) {
        machine->cpu_model = assay__arena_text(arena, "%s", text);
        return;
    }
    for (const char *at = cpuinfo; count < 4 && (at = strstr(at, key)); at++) {
        if (!assay__fs_field_text(at, key, text, sizeof text) ||
            !assay__fs_field_text(at, "CPU part", part_text, sizeof part_text))
            break;
        unsigned implementer = (unsigned)strtoul(text, NULL, 16);
        unsigned part = (unsigned)strtoul(part_text, NULL, 16);
        size_t before = 0;
        while (before < count && (seen[before][0] != implementer || seen[before][1] != part))
            before++;
        if (before < count) continue;
        seen[count][0] = implementer, seen[count][1] = part;
        const char *name = NULL;
        for (size_t k = 0; k < sizeof arm_parts / sizeof arm_parts[0]; k++)
            if (arm_parts[k].implementer == implementer && arm_parts[k].part == part)
                name = arm_parts[k].name;
        if (!name)
            name = assay__arena_text(arena, "Arm implementer 0x%02x part 0x%03x", implementer,
                                     part);
        machine->cpu_model = count++ ? assay__arena_text(arena, "%s + %s", machine->cpu_model, name)
                                     : name;
    }
}

static void read_simd(struct assay__arena *arena, struct assay__machine *machine,
                      const char *cpuinfo)
{
    /* widest first; x86 names of "flags", Arm names of "Features" */
    static const char *const wanted[] = {
        "amx_bf16", "amx_int8", "amx_tile", "avx512_fp16", "avx512_bf16", "avx512_vnni",
        "avx512vl", "avx512bw", "avx512f",  "avx_vnni",    "avx2",        "fma",
        "f16c",     "avx",      "sse4_2",   "sme",         "sve2",        "sve",
        "i8mm",     "bf16",     "asimddp",  "asimdhp",     "asimd"};
    char found[512] = "", flags[8192];
    if (!assay__fs_field_text(cpuinfo, "flags", flags, sizeof flags) &&
        !assay__fs_field_text(cpuinfo, "Features", flags, sizeof flags))
        return;
    size_t length = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (assay__text_is_one_of(wanted[i], flags))
            length += (size_t)snprintf(found + length, sizeof found - length, "%s%s",
                                       length ? " " : "", wanted[i]);
    machine->simd = assay__arena_text(arena, "%s", found);
}

/* --- topology --------------------------------------------------------------------------------- */

#define TOPOLOGY_MOST 4096

static int count_unique(uint64_t *values, size_t count)
{
    int unique = 0;
    assay__stats_sort_u64(values, count);
    for (size_t i = 0; i < count; i++)
        unique += i == 0 || values[i] != values[i - 1];
    return unique;
}

static void read_topology(struct assay__machine *machine, const char *cpuinfo)
{
    char list[4096] = "";
    uint64_t *cores = calloc(TOPOLOGY_MOST, sizeof *cores); /* package, cluster, core in a number */
    uint64_t *packages = calloc(TOPOLOGY_MOST, sizeof *packages);
    size_t threads = 0, known = 0;
    assay__fs_read(list, sizeof list, CPU "online");
    struct assay__cpu_walk walk = {.at = list};
    for (; cores && packages && assay__cpu_next(&walk); threads++) {
        uint64_t package, cluster = 0, core, khz;
        unsigned cpu = walk.cpu;
        if (assay__fs_u64(&khz, CPU "cpu%u/cpufreq/cpuinfo_max_freq", cpu))
            machine->cpu_max_hz = fmax(machine->cpu_max_hz, (double)khz * 1000);
        if (known >= TOPOLOGY_MOST ||
            !assay__fs_u64(&package, CPU "cpu%u/topology/physical_package_id", cpu) ||
            !assay__fs_u64(&core, CPU "cpu%u/topology/core_id", cpu))
            continue; /* a negative id (some virtual Arm machines) is unknown too */
        /* If a device tree lists clusters, the cores of each are numbered from 0. */
        assay__fs_u64(&cluster, CPU "cpu%u/topology/cluster_id", cpu);
        cores[known] = package << 48 | (cluster & 0xffffu) << 32 | (core & 0xffffffffu);
        packages[known++] = package;
    }
    machine->threads = (int)threads;
    if (known == threads && known > 0) {
        machine->cores = count_unique(cores, known);
        machine->packages = count_unique(packages, known);
    }
    if (threads == 0)
        for (const char *line = cpuinfo; (line = strstr(line, "processor\t")); line++)
            machine->threads += line == cpuinfo || line[-1] == '\n';
    free(cores);
    free(packages);
}

static void read_caches(struct assay__machine *machine)
{
    for (unsigned index = 0; index < 8; index++) {
        uint64_t level;
        char type[32], size[32];
        if (!assay__fs_u64(&level, CPU "cpu0/cache/index%u/level", index)) break;
        if (assay__fs_read(type, sizeof type, CPU "cpu0/cache/index%u/type", index) < 0 ||
            assay__fs_read(size, sizeof size, CPU "cpu0/cache/index%u/size", index) <= 0)
            continue;
        char *unit;
        uint64_t bytes = strtoull(size, &unit, 10);
        bytes *= *unit == 'K' ? 1024u : *unit == 'M' ? 1024u * 1024u : 1u;
        if (level == 1 && strcmp(type, "Instruction") != 0) machine->l1d_bytes = bytes;
        if (level == 2) machine->l2_bytes = bytes;
        if (level == 3) machine->l3_bytes = bytes;
    }
}

/* --- virtual machines and containers ---------------------------------------------------------- */

struct mark {
    const char *text, *name;
};

/* What the firmware of virtual machines calls itself in DMI. */
static const struct mark vendors[] = {
    {"VMware", "vmware"},
    {"VirtualBox", "virtualbox"},
    {"innotek", "virtualbox"},
    {"Parallels", "parallels"},
    {"Xen", "xen"},
    {"Virtual Machine", "hyperv"},
    {"bhyve", "bhyve"},
    {"BHYVE", "bhyve"},
    {"KVM", "kvm"},
    {"QEMU", "kvm"},
    {"Google Compute Engine", "kvm"},
    {"Amazon EC2", "kvm"},
    {"Apple Virtualization", "apple"},
    {"OpenStack", "kvm"},
    {"Alibaba Cloud", "kvm"},
};

static const char *find_mark(const struct mark *marks, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(text, marks[i].text)) return marks[i].name;
    return NULL;
}

/* CPUID leaf 0x40000000 names the hypervisor; only when leaf 1 says that there is one. */
static const char *cpuid_hypervisor(void)
{
#if defined(__x86_64__) || defined(__i386__)
    static const struct mark names[] = {{"KVMKVMKVM", "kvm"},          {"Microsoft Hv", "hyperv"},
                                        {"VMwareVMware", "vmware"},    {"XenVMMXenVMM", "xen"},
                                        {"TCGTCGTCGTCG", "qemu"},      {"bhyve bhyve", "bhyve"},
                                        {"VBoxVBoxVBox", "virtualbox"}};
    unsigned a, b, c, d;
    if (assay__fs_replaced() || !__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31)) return NULL;
    unsigned words[4] = {0};
    __cpuid(0x40000000, a, words[0], words[1], words[2]);
    char text[sizeof words];
    memcpy(text, words, sizeof text);
    return find_mark(names, sizeof names / sizeof names[0], text);
#else
    return NULL;
#endif
}

static void read_virtualized(struct assay__arena *arena, struct assay__machine *machine,
                             const char *cpuinfo)
{
    static const char *const files[] = {"/sys/class/dmi/id/product_name",
                                        "/sys/class/dmi/id/sys_vendor"};
    char flags[8192];
    bool dmi = false, bare_metal = false;
    const char *text, *name = file_text(arena, "/sys/hypervisor/type");
    if (!name && assay__fs_replaced())
        name = file_text(arena, "/assay/virtualized"); /* what CPUID said there */
    if (!name) name = cpuid_hypervisor();
    for (size_t i = 0; i < 2; i++) {
        if (!(text = file_text(arena, files[i]))) continue;
        dmi = true;
        bare_metal = bare_metal || strstr(text, ".metal") != NULL; /* EC2's bare instances */
        if (!name && !bare_metal)
            name = find_mark(vendors, sizeof vendors / sizeof vendors[0], text);
    }
    if (!name && (text = file_text(arena, "/proc/device-tree/hypervisor/compatible")))
        name = strstr(text, "xen") ? "xen" : "kvm";
    bool has_flags = assay__fs_field_text(cpuinfo, "flags", flags, sizeof flags);
    if (!name && has_flags && strstr(flags, "hypervisor")) name = "unnamed hypervisor";
    if (!name && (has_flags || dmi))
        name = "none"; /* x86 guests have the flag; Arm servers have DMI */
    if (!name && (text = file_text(arena, "/proc/device-tree/compatible")))
        name = strstr(text, "dummy-virt") ? "kvm" : "none"; /* a board, unless QEMU's */
    machine->virtualized = name ? name : "";
}

static void read_container(struct assay__machine *machine)
{
    static const struct mark marks[] = {
        {"kubepods", "kubernetes"},   {"docker", "docker"}, {"libpod", "podman"}, {"lxc", "lxc"},
        {"containerd", "containerd"},
    };
    char text[4096];
    if (assay__fs_exists("/.dockerenv")) {
        machine->container = "docker";
    } else if (assay__fs_exists("/run/.containerenv")) {
        machine->container = "podman";
    } else if (assay__fs_read(text, sizeof text, "/proc/1/cgroup") > 0) {
        const char *name = find_mark(marks, sizeof marks / sizeof marks[0], text);
        if (name) machine->container = name;
    }
}

int assay__machine_read(struct assay__arena *arena, struct assay__machine *machine)
{
    char text[8192];
    uint64_t kib;
    char *slurped = assay__fs_slurp("/proc/cpuinfo");
    const char *cpuinfo = slurped ? slurped : "";
    const char *governor = file_text(arena, CPU "cpu0/cpufreq/scaling_governor");
    *machine = (struct assay__machine){.host = "",
                                       .os = "",
                                       .kernel = "",
                                       .architecture = "",
                                       .cpu_model = "",
                                       .virtualized = "",
                                       .simd = "",
                                       .governor = governor ? governor : "",
                                       .container = ""};
    read_names(arena, machine, cpuinfo);
    read_cpu_model(arena, machine, cpuinfo);
    read_simd(arena, machine, cpuinfo);
    read_topology(machine, cpuinfo);
    read_caches(machine);
    if (assay__fs_read(text, sizeof text, "/proc/meminfo") > 0 &&
        assay__fs_field_u64(text, "MemTotal", &kib))
        machine->memory_bytes = kib * 1024;
    read_virtualized(arena, machine, cpuinfo);
    read_container(machine);
    free(slurped);
    return 0;
}
