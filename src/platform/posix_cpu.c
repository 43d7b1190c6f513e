/* posix_cpu.c - the real processor's instruction sets (CPUID with XCR0 on x86, hwcap or sysctl on
 * Arm), one place per core for threads that measure, the size of a cache line, and the microcode's
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

struct feature_bit {
    unsigned bit;
    unsigned feature;
};

#if defined(__x86_64__)

/* XCR0: which registers the system saves. Only called when CPUID says OSXSAVE. */
static uint64_t enabled_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* Linux hands out the 8 KiB of AMX tiles only to processes that asked (arch_prctl
 * ARCH_REQ_XCOMP_PERM, feature 18). */
static bool tiles_permitted(void)
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    return syscall(SYS_arch_prctl, 0x1023, 18) == 0;
#else
    return false;
#endif
}

static unsigned pick(uint32_t word, const struct feature_bit *bits, size_t count)
{
    unsigned found = 0;
    for (size_t i = 0; i < count; i++)
        if (word >> bits[i].bit & 1u) found |= bits[i].feature;
    return found;
}

/* Intel's manual, volume 2, CPUID: leaf 7, sub-leaves 0 and 1. */
static unsigned leaf_seven(bool wide, bool tiles)
{
    static const struct feature_bit zero_b[] = {{16, ASSAY__CPU_AVX512F},
                                                {30, ASSAY__CPU_AVX512BW}};
    static const struct feature_bit zero_c[] = {{11, ASSAY__CPU_AVX512_VNNI}};
    static const struct feature_bit zero_d[] = {{23, ASSAY__CPU_AVX512_FP16}};
    static const struct feature_bit tile_d[] = {{22, ASSAY__CPU_AMX_BF16},
                                                {25, ASSAY__CPU_AMX_INT8}};
    static const struct feature_bit one_a[] = {{5, ASSAY__CPU_AVX512_BF16}};
    unsigned a, b, c, d, found = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    unsigned last = a;
    if (b >> 5 & 1u) found |= ASSAY__CPU_AVX2;
    if (wide) found |= pick(b, zero_b, 2) | pick(c, zero_c, 1) | pick(d, zero_d, 1);
    if (tiles && (d >> 24 & 1u)) found |= pick(d, tile_d, 2);
    if (last >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) {
        if (a >> 4 & 1u) found |= ASSAY__CPU_AVX_VNNI;
        if (wide) found |= pick(a, one_a, 1);
    }
    if (!(found & ASSAY__CPU_AVX512F))
        found &= ~(unsigned)(ASSAY__CPU_AVX512BW | ASSAY__CPU_AVX512_VNNI | ASSAY__CPU_AVX512_FP16 |
                             ASSAY__CPU_AVX512_BF16);
    return found;
}

unsigned assay__cpu_features(void)
{
    unsigned a, b, c, d, found = ASSAY__CPU_SSE2;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1u)) return found; /* no OSXSAVE */
    uint64_t registers = enabled_registers();
    if ((registers & 6) != 6) return found; /* xmm and ymm */
    if (c >> 12 & 1u) found |= ASSAY__CPU_FMA;
    bool wide = (registers & 0xe6) == 0xe6; /* with opmask and both parts of zmm */
    bool tiles = (registers & 0x60000) == 0x60000;
    unsigned seven = leaf_seven(wide, tiles);
    const unsigned amx = ASSAY__CPU_AMX_INT8 | ASSAY__CPU_AMX_BF16;
    if ((seven & amx) && !tiles_permitted()) seven &= ~amx;
    return found | seven;
}

#elif defined(__aarch64__) && defined(__linux__)

unsigned assay__cpu_features(void)
{
    /* arch/arm64/include/uapi/asm/hwcap.h */
    static const struct feature_bit first[] = {
        {1, ASSAY__CPU_NEON}, {10, ASSAY__CPU_NEON_FP16}, {20, ASSAY__CPU_NEON_DOT}};
    static const struct feature_bit second[] = {{13, ASSAY__CPU_NEON_I8MM},
                                                {14, ASSAY__CPU_NEON_BF16}};
    unsigned long one = getauxval(AT_HWCAP), two = getauxval(AT_HWCAP2);
    unsigned found = 0;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        if (one >> first[i].bit & 1u) found |= first[i].feature;
    for (size_t i = 0; i < sizeof second / sizeof second[0]; i++)
        if (two >> second[i].bit & 1u) found |= second[i].feature;
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
    static const struct {
        unsigned feature;
        const char *name;
    } names[] = {{ASSAY__CPU_SSE2, "sse2"},
                 {ASSAY__CPU_AVX2, "avx2"},
                 {ASSAY__CPU_FMA, "fma"},
                 {ASSAY__CPU_AVX512F, "avx512f"},
                 {ASSAY__CPU_AVX512BW, "avx512bw"},
                 {ASSAY__CPU_AVX512_BF16, "avx512_bf16"},
                 {ASSAY__CPU_AVX512_FP16, "avx512_fp16"},
                 {ASSAY__CPU_AVX512_VNNI, "avx512_vnni"},
                 {ASSAY__CPU_AVX_VNNI, "avx_vnni"},
                 {ASSAY__CPU_AMX_INT8, "amx_int8"},
                 {ASSAY__CPU_AMX_BF16, "amx_bf16"},
                 {ASSAY__CPU_NEON, "asimd"},
                 {ASSAY__CPU_NEON_FP16, "asimdhp"},
                 {ASSAY__CPU_NEON_DOT, "asimddp"},
                 {ASSAY__CPU_NEON_I8MM, "i8mm"},
                 {ASSAY__CPU_NEON_BF16, "bf16"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].feature == feature) return names[i].name;
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
