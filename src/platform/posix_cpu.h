/* posix_cpu.h - what this very processor can execute and how its threads are laid out. Unlike
 * struct assay__machine, which may describe a captured machine, this queries the real one: the
 * answers decide which code runs. */
#ifndef ASSAY_PLATFORM_POSIX_CPU_H
#define ASSAY_PLATFORM_POSIX_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set only when the processor has the instructions and the operating system saves their
 * registers. */
enum assay__cpu_feature {
    ASSAY__CPU_SSE2 = 1u << 0,
    ASSAY__CPU_AVX2 = 1u << 1,
    ASSAY__CPU_FMA = 1u << 2,
    ASSAY__CPU_AVX512F = 1u << 3,
    ASSAY__CPU_AVX512BW = 1u << 4,
    ASSAY__CPU_AVX512_BF16 = 1u << 5,
    ASSAY__CPU_AVX512_FP16 = 1u << 6,
    ASSAY__CPU_AVX512_VNNI = 1u << 7,
    ASSAY__CPU_AVX_VNNI = 1u << 8,
    ASSAY__CPU_AMX_INT8 = 1u << 9, /* with AMX_TILE, and the kernel's permission to use it */
    ASSAY__CPU_AMX_BF16 = 1u << 10,
    ASSAY__CPU_NEON = 1u << 16,
    ASSAY__CPU_NEON_FP16 = 1u << 17,
    ASSAY__CPU_NEON_DOT = 1u << 18,
    ASSAY__CPU_NEON_I8MM = 1u << 19,
    ASSAY__CPU_NEON_BF16 = 1u << 20,
};

/** The set of the above. Also requests the AMX registers from the kernel (threads started later may
 * use them too). */
unsigned assay__cpu_features(void);
/** The name of one feature as /proc/cpuinfo spells it ("avx512_vnni"); "" for none. */
const char *assay__cpu_feature_name(unsigned feature);

#define ASSAY__CPU_PLACES 1024

struct assay__cpu_place {
    int cpu; /* the system's number; -1: threads cannot be placed here (macOS) */
};

/** One place for each core that this process may use (its first hardware thread), at most `most`.
 *  Returns how many, at least 1. *l3_count: the L3 caches these cores use together, 0 unknown. */
size_t assay__cpu_places(struct assay__cpu_place *places, size_t most, size_t *l3_count);
/** Moves the calling thread there. False: it stays where the system puts it. */
bool assay__thread_place(const struct assay__cpu_place *place);
/** Bytes of a cache line; 64 when the system does not report it. */
size_t assay__cache_line_bytes(void);
/** The microcode's version; "" unknown. */
void assay__cpu_microcode(char *out, size_t out_size);

#endif
