/* linux_machine.c - what this machine is, from /proc, /sys and /etc (below $ASSAY_FSROOT), with
 * uname and CPUID only where the machine is the real one. What cannot be found stays unknown: "" or
 * 0. */
#include "base/cpu_list.h"
#include "base/stats.h"
#include "base/text.h"
#include "platform/linux_fs.h"
#include "platform/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static const char *text_in_arena(struct assay__arena *arena, const char *text)
{
    const char *copy = assay__arena_strdup(arena, text);
    return copy ? copy : "";
}

/* The value of "name : value" in cpuinfo, first occurrence, into out. */
static bool cpuinfo_value(const char *cpuinfo, const char *name, char *out, size_t out_size)
{
    size_t length = strlen(name);
    out[0] = '\0';
    for (const char *line = cpuinfo; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strncmp(line, name, length) != 0) continue;
        const char *at = line + length + strspn(line + length, " \t");
        if (*at != ':') continue;
        at += 1 + strspn(at + 1, " \t");
        snprintf(out, out_size, "%.*s", (int)strcspn(at, "\n"), at);
        return out[0] != '\0';
    }
    return false;
}

/* --- names ------------------------------------------------------------------------------------ */

static void read_os(struct assay__arena *arena, struct assay__machine *machine)
{
    char text[4096], name[256];
    if (assay__fs_read("/etc/os-release", text, sizeof text) <= 0 &&
        assay__fs_read("/usr/lib/os-release", text, sizeof text) <= 0)
        return;
    const char *at = strncmp(text, "PRETTY_NAME=", 12) == 0 ? text : strstr(text, "\nPRETTY_NAME=");
    if (!at) return;
    at = strchr(at, '=') + 1;
    char quote = *at == '"' || *at == '\'' ? *at++ : '\n';
    snprintf(name, sizeof name, "%.*s",
             (int)strcspn(at, quote == '\n'  ? "\n"
                              : quote == '"' ? "\""
                                             : "'"),
             at);
    machine->os = text_in_arena(arena, name);
}

static void read_kernel(struct assay__arena *arena, struct assay__machine *machine,
                        const char *cpuinfo)
{
    char text[256];
    struct utsname real;
    bool have = !assay__fs_replaced() && uname(&real) == 0;
    if (assay__fs_read("/proc/sys/kernel/hostname", text, sizeof text) > 0)
        machine->host = text_in_arena(arena, text);
    else if (have)
        machine->host = text_in_arena(arena, real.nodename);
    if (assay__fs_read("/proc/sys/kernel/osrelease", text, sizeof text) > 0)
        machine->kernel = assay__arena_printf(arena, "Linux %s", text);
    else if (have)
        machine->kernel = assay__arena_printf(arena, "Linux %s", real.release);
    if (!machine->kernel) machine->kernel = "";
    if (have)
        machine->architecture = text_in_arena(arena, real.machine);
    else if (assay__fs_read("/proc/sys/kernel/arch", text, sizeof text) > 0)
        machine->architecture = text_in_arena(arena, text);
    else if (cpuinfo && strstr(cpuinfo, "CPU implementer"))
        machine->architecture = "aarch64";
    else if (cpuinfo && strstr(cpuinfo, "vendor_id"))
        machine->architecture = "x86_64";
}

struct arm_part {
    unsigned implementer, part;
    const char *name;
};

/* Main ID register values, from Arm's technical reference manuals. */
static const struct arm_part arm_parts[] = {
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

static bool same_part(const struct arm_part *a, const struct arm_part *b)
{
    return a->implementer == b->implementer && a->part == b->part;
}

/* The kinds of cores in the order of their first CPUs. */
static size_t read_arm_parts(const char *cpuinfo, struct arm_part *parts, size_t most)
{
    static const char key[] = "CPU implementer";
    char implementer[32], part[32];
    size_t count = 0;
    for (const char *at = cpuinfo; count < most && (at = strstr(at, key)); at++) {
        if (!cpuinfo_value(at, key, implementer, sizeof implementer) ||
            !cpuinfo_value(at, "CPU part", part, sizeof part))
            break;
        parts[count] = (struct arm_part){(unsigned)strtoul(implementer, NULL, 16),
                                         (unsigned)strtoul(part, NULL, 16), NULL};
        size_t before = 0;
        while (before < count && !same_part(&parts[before], &parts[count]))
            before++;
        if (before == count) count++;
    }
    return count;
}

/* "Arm Cortex-A55 + Arm Cortex-A76": what each kind of core is called, or its numbers. */
static void read_arm_model(struct assay__arena *arena, struct assay__machine *machine,
                           const char *cpuinfo)
{
    struct arm_part parts[4];
    size_t count = read_arm_parts(cpuinfo, parts, sizeof parts / sizeof parts[0]);
    for (size_t i = 0; i < count; i++) {
        const char *name = NULL;
        for (size_t k = 0; k < sizeof arm_parts / sizeof arm_parts[0]; k++)
            if (same_part(&arm_parts[k], &parts[i])) name = arm_parts[k].name;
        if (!name)
            name = assay__arena_printf(arena, "Arm implementer 0x%02x part 0x%03x",
                                       parts[i].implementer, parts[i].part);
        const char *all = i ? assay__arena_printf(arena, "%s + %s", machine->cpu_model, name)
                            : name;
        if (name && all) machine->cpu_model = all;
    }
}

static void read_cpu_model(struct assay__arena *arena, struct assay__machine *machine,
                           const char *cpuinfo)
{
    char text[256];
    /* Some Arm kernels write "ARMv8 Processor rev 1 (v8l)" for every processor. */
    if (cpuinfo_value(cpuinfo, "model name", text, sizeof text) && strncmp(text, "ARMv", 4) != 0)
        machine->cpu_model = text_in_arena(arena, text);
    else
        read_arm_model(arena, machine, cpuinfo);
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
    if (!cpuinfo_value(cpuinfo, "flags", flags, sizeof flags) &&
        !cpuinfo_value(cpuinfo, "Features", flags, sizeof flags))
        return;
    size_t length = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (assay__text_is_one_of(wanted[i], flags))
            length += (size_t)snprintf(found + length, sizeof found - length, "%s%s",
                                       length ? " " : "", wanted[i]);
    machine->simd = text_in_arena(arena, found);
}

/* --- topology --------------------------------------------------------------------------------- */

#define TOPOLOGY_MOST 4096

struct topology {
    uint64_t cores[TOPOLOGY_MOST]; /* package, cluster and core in one number */
    uint64_t packages[TOPOLOGY_MOST];
    size_t threads, known;
    uint64_t max_khz;
};

static void add_thread(void *context, unsigned cpu)
{
    struct topology *topology = context;
    uint64_t package, cluster = 0, core, khz;
    topology->threads++;
    if (assay__fs_u64f(&khz, "/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq", cpu) &&
        khz > topology->max_khz)
        topology->max_khz = khz;
    if (topology->known >= TOPOLOGY_MOST) return;
    if (!assay__fs_u64f(&package, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
                        cpu) ||
        !assay__fs_u64f(&core, "/sys/devices/system/cpu/cpu%u/topology/core_id", cpu))
        return; /* a negative id (some virtual Arm machines) is not known either */
    /* Where a device tree lists clusters, each counts its cores from 0. */
    assay__fs_u64f(&cluster, "/sys/devices/system/cpu/cpu%u/topology/cluster_id", cpu);
    topology->cores[topology->known] = package << 48 | (cluster & 0xffffu) << 32 |
                                       (core & 0xffffffffu);
    topology->packages[topology->known++] = package;
}

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
    char list[4096];
    struct topology *topology = calloc(1, sizeof *topology);
    if (!topology) return;
    if (assay__fs_read("/sys/devices/system/cpu/online", list, sizeof list) > 0)
        assay__cpu_list_each(list, add_thread, topology);
    machine->threads = (int)topology->threads;
    if (topology->known == topology->threads && topology->known > 0) {
        machine->cores = count_unique(topology->cores, topology->known);
        machine->packages = count_unique(topology->packages, topology->known);
    }
    machine->cpu_max_hz = (double)topology->max_khz * 1000;
    if (machine->threads == 0 && cpuinfo)
        for (const char *line = cpuinfo; (line = strstr(line, "processor\t")); line++)
            machine->threads += line == cpuinfo || line[-1] == '\n';
    free(topology);
}

static void read_caches(struct assay__machine *machine)
{
    for (unsigned index = 0; index < 8; index++) {
        uint64_t level;
        char type[32], size[32];
        if (!assay__fs_u64f(&level, "/sys/devices/system/cpu/cpu0/cache/index%u/level", index))
            break;
        if (assay__fs_readf(type, sizeof type, "/sys/devices/system/cpu/cpu0/cache/index%u/type",
                            index) < 0 ||
            assay__fs_readf(size, sizeof size, "/sys/devices/system/cpu/cpu0/cache/index%u/size",
                            index) <= 0)
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

/* What firmware of virtual machines calls itself in DMI. */
static const struct mark vendors[] = {{"VMware", "vmware"},
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
                                      {"Alibaba Cloud", "kvm"}};

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
    char text[256], flags[8192];
    const char *name = NULL;
    bool dmi = false, bare_metal = false;
    if (assay__fs_read("/sys/hypervisor/type", text, sizeof text) > 0)
        name = text_in_arena(arena, text);
    if (!name && assay__fs_replaced() &&
        assay__fs_read("/assay/virtualized", text, sizeof text) > 0) /* what CPUID said there */
        name = text_in_arena(arena, text);
    if (!name) name = cpuid_hypervisor();
    static const char *const files[] = {"/sys/class/dmi/id/product_name",
                                        "/sys/class/dmi/id/sys_vendor"};
    for (size_t i = 0; i < 2; i++) {
        if (assay__fs_read(files[i], text, sizeof text) <= 0) continue;
        dmi = true;
        bare_metal = bare_metal || strstr(text, ".metal") != NULL; /* EC2's bare instances */
        if (!name && !bare_metal)
            name = find_mark(vendors, sizeof vendors / sizeof vendors[0], text);
    }
    if (!name && assay__fs_read("/proc/device-tree/hypervisor/compatible", text, sizeof text) > 0)
        name = strstr(text, "xen") ? "xen" : "kvm";
    bool has_flags = cpuinfo && cpuinfo_value(cpuinfo, "flags", flags, sizeof flags);
    if (!name && has_flags && strstr(flags, "hypervisor")) name = "unnamed hypervisor";
    if (!name && (has_flags || dmi))
        name = "none"; /* x86 guests carry the flag; Arm servers have DMI */
    if (!name && assay__fs_read("/proc/device-tree/compatible", text, sizeof text) > 0)
        name = strstr(text, "dummy-virt") ? "kvm" : "none"; /* a board, unless QEMU's */
    machine->virtualized = name ? name : "";
}

static void read_container(struct assay__machine *machine)
{
    static const struct mark marks[] = {{"kubepods", "kubernetes"},
                                        {"docker", "docker"},
                                        {"libpod", "podman"},
                                        {"lxc", "lxc"},
                                        {"containerd", "containerd"}};
    char text[4096];
    if (assay__fs_exists("/.dockerenv")) {
        machine->container = "docker";
    } else if (assay__fs_exists("/run/.containerenv")) {
        machine->container = "podman";
    } else if (assay__fs_read("/proc/1/cgroup", text, sizeof text) > 0) {
        const char *name = find_mark(marks, sizeof marks / sizeof marks[0], text);
        if (name) machine->container = name;
    }
}

int assay__machine_read(struct assay__arena *arena, struct assay__machine *machine)
{
    char text[8192];
    uint64_t kib;
    *machine = (struct assay__machine){.host = "", .os = "", .kernel = ""};
    machine->architecture = machine->cpu_model = machine->virtualized = "";
    machine->simd = machine->governor = machine->container = "";
    char *cpuinfo = assay__fs_slurp("/proc/cpuinfo");
    read_os(arena, machine);
    read_kernel(arena, machine, cpuinfo);
    if (cpuinfo) read_cpu_model(arena, machine, cpuinfo);
    if (cpuinfo) read_simd(arena, machine, cpuinfo);
    read_topology(machine, cpuinfo);
    read_caches(machine);
    if (assay__fs_read("/proc/meminfo", text, sizeof text) > 0 &&
        assay__fs_field(text, "MemTotal", &kib))
        machine->memory_bytes = kib * 1024;
    if (assay__fs_read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text, sizeof text) >
        0)
        machine->governor = text_in_arena(arena, text);
    read_virtualized(arena, machine, cpuinfo);
    read_container(machine);
    free(cpuinfo);
    return 0;
}
