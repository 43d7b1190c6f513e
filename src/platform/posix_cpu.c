/* posix_cpu.c - the real processor's instruction sets (CPUID with XCR0 on x86, hwcap or sysctl on
 * Arm), one place per core for measuring threads, the size of a cache line, and the microcode's
 * version. */
#include "platform/posix_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__linux__)
#include "platform/posix_fs.h"

#include <sched.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

/* --- instruction sets ------------------------------------------------------------------------- */

#if defined(__x86_64__)

/* XCR0: which registers the system saves. Only called when CPUID says OSXSAVE. */
static uint64_t enabled_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* Linux gives the 8 KiB of AMX tiles only to processes that requested them (arch_prctl
 * ARCH_REQ_XCOMP_PERM, feature 18). */
static bool tiles_permitted(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    return syscall(SYS_arch_prctl, 0x1023, 18) == 0;
#else
    return false;
#endif
}

/* Intel's manual, volume 2, CPUID: leaf 7, sub-leaves 0 and 1. */
static const struct {
    int sub_leaf, word, bit;            /* word: eax, ebx, ecx, edx */
    enum { YMM, ZMM, TILES } registers; /* that the system must save */
    unsigned feature;
} leaf_seven[] = {
    {0, 1, 5, YMM, ASSAY__CPU_AVX2},         {0, 1, 16, ZMM, ASSAY__CPU_AVX512F},
    {0, 1, 30, ZMM, ASSAY__CPU_AVX512BW},    {0, 2, 11, ZMM, ASSAY__CPU_AVX512_VNNI},
    {0, 3, 23, ZMM, ASSAY__CPU_AVX512_FP16}, {0, 3, 22, TILES, ASSAY__CPU_AMX_BF16},
    {0, 3, 25, TILES, ASSAY__CPU_AMX_INT8},  {1, 0, 4, YMM, ASSAY__CPU_AVX_VNNI},
    {1, 0, 5, ZMM, ASSAY__CPU_AVX512_BF16},
};

unsigned assay__cpu_features(void)
{
    unsigned a, b, c, d, words[2][4] = {{0}}, found = ASSAY__CPU_SSE2;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1u)) return found; /* no OSXSAVE */
    uint64_t registers = enabled_registers();
    if ((registers & 6) != 6) return found; /* xmm and ymm */
    if (c >> 12 & 1u) found |= ASSAY__CPU_FMA;
    unsigned *w = words[0];
    if (__get_cpuid_count(7, 0, &w[0], &w[1], &w[2], &w[3]) && w[0] >= 1) {
        w = words[1];
        __get_cpuid_count(7, 1, &w[0], &w[1], &w[2], &w[3]);
    }
    const bool saved[] = {
        [YMM] = true,
        [ZMM] = (registers & 0xe6) == 0xe6, /* with opmask and both parts of zmm */
        [TILES] = (registers & 0x60000) == 0x60000 && (words[0][3] >> 24 & 1u),
    };
    for (size_t i = 0; i < sizeof leaf_seven / sizeof leaf_seven[0]; i++)
        if (saved[leaf_seven[i].registers] &&
            words[leaf_seven[i].sub_leaf][leaf_seven[i].word] >> leaf_seven[i].bit & 1u)
            found |= leaf_seven[i].feature;
    if (!(found & ASSAY__CPU_AVX512F))
        found &= ~(unsigned)(ASSAY__CPU_AVX512BW | ASSAY__CPU_AVX512_VNNI | ASSAY__CPU_AVX512_FP16 |
                             ASSAY__CPU_AVX512_BF16);
    const unsigned amx = ASSAY__CPU_AMX_INT8 | ASSAY__CPU_AMX_BF16;
    if ((found & amx) && !tiles_permitted()) found &= ~amx;
    return found;
}

#elif defined(__aarch64__) && defined(__linux__)

unsigned assay__cpu_features(void)
{
    /* arch/arm64/include/uapi/asm/hwcap.h */
    static const struct {
        unsigned long type;
        unsigned bit, feature;
    } rows[] = {{AT_HWCAP, 1, ASSAY__CPU_NEON},
                {AT_HWCAP, 10, ASSAY__CPU_NEON_FP16},
                {AT_HWCAP, 20, ASSAY__CPU_NEON_DOT},
                {AT_HWCAP2, 13, ASSAY__CPU_NEON_I8MM},
                {AT_HWCAP2, 14, ASSAY__CPU_NEON_BF16}};
    unsigned found = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (getauxval(rows[i].type) >> rows[i].bit & 1u) found |= rows[i].feature;
    return found;
}

#elif defined(__aarch64__) && defined(__APPLE__)

unsigned assay__cpu_features(void)
{
    static const struct {
        const char *name;
        unsigned feature;
    } wanted[] = {{"hw.optional.arm.FEAT_FP16", ASSAY__CPU_NEON_FP16},
                  {"hw.optional.arm.FEAT_DotProd", ASSAY__CPU_NEON_DOT},
                  {"hw.optional.arm.FEAT_I8MM", ASSAY__CPU_NEON_I8MM},
                  {"hw.optional.arm.FEAT_BF16", ASSAY__CPU_NEON_BF16}};
    unsigned found = ASSAY__CPU_NEON;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        int value = 0;
        size_t size = sizeof value;
        if (sysctlbyname(wanted[i].name, &value, &size, NULL, 0) == 0 && value == 1)
            found |= wanted[i].feature;
    }
    return found;
}

#else

unsigned assay__cpu_features(void)
{
    return 0;
}

#endif

const char *assay__cpu_feature_name(unsigned feature)
{
    /* by bit */
    static const char *const names[] = {"sse2",     "avx2",        "fma",         "avx512f",
                                        "avx512bw", "avx512_bf16", "avx512_fp16", "avx512_vnni",
                                        "avx_vnni", "amx_int8",    "amx_bf16",    [16] = "asimd",
                                        "asimdhp",  "asimddp",     "i8mm",        "bf16"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (feature == 1u << i && names[i]) return names[i];
    return "";
}

/* --- places ----------------------------------------------------------------------------------- */

#if defined(__linux__)

/* The lowest number of a list such as "3,7" or "0-1"; `otherwise` when it cannot be read. */
static int list_first(int cpu, const char *file, int otherwise)
{
    char text[256];
    if (assay__fs_read(text, sizeof text, "/sys/devices/system/cpu/cpu%d/%s", cpu, file) <= 0 ||
        text[0] < '0' || text[0] > '9')
        return otherwise;
    return (int)strtol(text, NULL, 10);
}

static bool add_unique(int *values, size_t *count, int value)
{
    for (size_t i = 0; i < *count; i++)
        if (values[i] == value) return false;
    values[(*count)++] = value;
    return true;
}

size_t assay__cpu_places(struct assay__cpu_place *places, size_t most, size_t *l3_count)
{
    static const char siblings[] = "topology/thread_siblings_list";
    static const char sharing[] = "cache/index3/shared_cpu_list";
    int cores[ASSAY__CPU_PLACES], caches[ASSAY__CPU_PLACES];
    size_t count = 0, cache_count = 0, limit = most < ASSAY__CPU_PLACES ? most : ASSAY__CPU_PLACES;
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    *l3_count = 0;
    if (limit > 0 && sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE && count < limit; cpu++) {
            if (!CPU_ISSET(cpu, &allowed)) continue;
            if (!add_unique(cores, &count, list_first(cpu, siblings, cpu))) continue;
            places[count - 1].cpu = cpu;
            int cache = list_first(cpu, sharing, -1);
            if (cache >= 0) add_unique(caches, &cache_count, cache);
        }
    *l3_count = cache_count;
    if (count == 0 && most > 0) places[count++].cpu = -1;
    return count;
}

bool assay__thread_place(const struct assay__cpu_place *place)
{
    cpu_set_t set;
    if (place->cpu < 0 || place->cpu >= CPU_SETSIZE) return false;
    CPU_ZERO(&set);
    CPU_SET(place->cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

#else

size_t assay__cpu_places(struct assay__cpu_place *places, size_t most, size_t *l3_count)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = online > 0 ? (size_t)online : 1;
    *l3_count = 0;
#if defined(__APPLE__)
    int physical = 0;
    size_t size = sizeof physical;
    if (sysctlbyname("hw.physicalcpu", &physical, &size, NULL, 0) == 0 && physical > 0)
        count = (size_t)physical;
#endif
    if (count > most) count = most;
    for (size_t i = 0; i < count; i++)
        places[i].cpu = -1;
    return count;
}

bool assay__thread_place(const struct assay__cpu_place *place)
{
    (void)place;
    return false;
}

#endif

size_t assay__cache_line_bytes(void)
{
    long bytes = 0;
#if defined(__APPLE__)
    size_t size = sizeof bytes;
    if (sysctlbyname("hw.cachelinesize", &bytes, &size, NULL, 0) != 0) bytes = 0;
#elif defined(_SC_LEVEL1_DCACHE_LINESIZE)
    bytes = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
#endif
    bool plausible = bytes >= 16 && bytes <= 1024 && (bytes & (bytes - 1)) == 0;
    return plausible ? (size_t)bytes : 64;
}

void assay__cpu_microcode(char *out, size_t out_size)
{
    if (out_size == 0) return;
    out[0] = '\0';
#if defined(__linux__)
    char *text = assay__fs_slurp("/proc/cpuinfo");
    if (text) assay__fs_field_text(text, "microcode", out, out_size);
    free(text);
#endif
}
