/* kernels.h - the tables of measuring kernels. A kernel is a short loop of instructions of one
 * instruction set whose result is stored, so that nothing can be optimised away and a test can
 * compare it with plain C. The kernels of an instruction set end with a table, and flops.c lists
 * the tables; those for memory are in bandwidth.c. */
#ifndef ASSAY_CEILING_KERNELS_KERNELS_H
#define ASSAY_CEILING_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- arithmetic ------------------------------------------------------------------------------- */

/* What one step does to the results r (accumulators × lanes elements):
 *   FUSED, SPLIT  r[i] = r[i] · multiplier + addend, rounded once or twice
 *   SUM           r[i] = r[i] + multiplier · addend, rounded once
 *                 (Arm's fmla)
 *   DOT           r[i] += Σ_{k < depth} a[(i mod lanes) depth + k] · b[(i mod lanes) depth + k]
 *   PAIRS         2 × 2 blocks: r[2 m + n] += Σ_{k < depth} a[m depth + k] · b[n depth + k]
 *                 (Arm's mmla)
 *   TILES         16 × 16 blocks: r[m][n] += Σ_k Σ_j a[m][k depth + j] · b[k][n depth + j], k < 16
 *                 (Intel's AMX) */
enum assay__flops_form {
    ASSAY__FLOPS_FUSED,
    ASSAY__FLOPS_SPLIT,
    ASSAY__FLOPS_SUM,
    ASSAY__FLOPS_DOT,
    ASSAY__FLOPS_PAIRS,
    ASSAY__FLOPS_TILES,
};

#define ASSAY__TILE_BYTES 1024
#define ASSAY__FLOPS_RESULT_BYTES 4096 /* the largest: four AMX tiles */

struct assay__flops_operands {
    double multiplier, addend;                       /* float64, float32 */
    uint16_t half_multiplier, half_addend;           /* the same as float16 bits */
    _Alignas(64) unsigned char a[ASSAY__TILE_BYTES]; /* DOT: 64 bytes; TILES: 16 rows of 64 */
    _Alignas(64) unsigned char b[ASSAY__TILE_BYTES];
};

struct assay__flops_kernel {
    const char *type;        /* "float64", "float32", "float16", "bfloat16", "int8" */
    const char *simd;        /* "avx512f": as shown in a report */
    const char *instruction; /* "vfmadd" */
    unsigned features;       /* all of these are required (platform/posix_cpu.h) */
    enum assay__flops_form form;
    unsigned accumulators;
    unsigned lanes, depth; /* lanes: elements of one accumulator; depth: see the form */
    bool a_unsigned;       /* int8: a is unsigned, b signed */
    double operations;     /* per step: a multiply-add is two */
    void (*run)(uint64_t steps, const struct assay__flops_operands *operands, void *results);
};

/** All kernels in this build, whatever the processor: NULL past the end. */
const struct assay__flops_kernel *assay__flops_at(size_t index);
/** Operands with no zeros or extremes: bit patterns affect power, and power affects the clock. */
void assay__flops_operands_fill(struct assay__flops_operands *operands, const char *type);

/* --- memory ----------------------------------------------------------------------------------- */

struct assay__stream {
    const unsigned char *a, *b; /* read */
    unsigned char *to;          /* written */
    size_t bytes; /* of each array: a multiple of ASSAY__STREAM_BLOCK; aligned to 64 */
    double scale; /* triad: to = a + scale · b, float64; write: the value */
};
#define ASSAY__STREAM_BLOCK 1024

enum assay__stream_pattern {
    ASSAY__STREAM_READ,
    ASSAY__STREAM_WRITE,
    ASSAY__STREAM_COPY,
    ASSAY__STREAM_TRIAD,
    ASSAY__STREAM_PATTERNS,
};

struct assay__stream_kernel {
    enum assay__stream_pattern pattern;
    const char *simd;
    unsigned features;
    bool non_temporal; /* stores bypass the caches */
    /** Traverses the arrays `passes` times. READ returns the sum of all 64-bit words, modulo 2^64;
     *  the others 0. */
    uint64_t (*run)(const struct assay__stream *stream, uint64_t passes);
};

/** Widest instruction sets first. NULL past the end. */
const struct assay__stream_kernel *assay__stream_at(size_t index);
/** "read", "write", "copy", "triad". */
const char *assay__stream_pattern_name(enum assay__stream_pattern pattern);
/** Number of arrays that a pass reads and writes: 1, 1, 2, 3. Bytes moved are counted this way, as
 *  in STREAM. */
unsigned assay__stream_arrays(enum assay__stream_pattern pattern);

/* --- lists of accumulators, or of vectors of a round ------------------------------------------ */

/* clang-format off */
#define ASSAY__EACH_8(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define ASSAY__EACH_12(X) ASSAY__EACH_8(X) X(8) X(9) X(10) X(11)
#define ASSAY__EACH_24(X) ASSAY__EACH_12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) \
    X(19) X(20) X(21) X(22) X(23)
/* clang-format on */

/* An arithmetic kernel over vectors. EACH lists the accumulators (ASSAY__EACH_12 and so on); first
 * and second make the operands a and b from `o`; STEP(i) is one statement, what a step does to
 * r##i. Each accumulator is a named variable, so that it stays in a register. There are more of
 * them than the instruction's latency times its throughput: 4 cycles × 2 per cycle where there are
 * 16 registers, 4 × 4 where there are 32. */
#define ASSAY__FLOPS_LOAD(i) accumulator r##i = out[i];
#define ASSAY__FLOPS_STORE(i) out[i] = r##i;
#define ASSAY__FLOPS_KERNEL(name, attributes, EACH, vector, first, second, STEP)       \
    attributes static void name(uint64_t steps, const struct assay__flops_operands *o, \
                                void *results)                                         \
    {                                                                                  \
        typedef vector accumulator;                                                    \
        typedef vector __attribute__((aligned(1), may_alias)) unaligned;               \
        unaligned *out = results;                                                      \
        __typeof__(first) a = first;                                                   \
        __typeof__(second) b = second;                                                 \
        EACH(ASSAY__FLOPS_LOAD)                                                        \
        for (; steps; steps--) {                                                       \
            EACH(STEP)                                                                 \
        }                                                                              \
        EACH(ASSAY__FLOPS_STORE)                                                       \
    }

/* --- tables of the files ---------------------------------------------------------------------- */

extern const struct assay__flops_kernel assay__flops_sse2[], assay__flops_avx2[],
    assay__flops_avx_vnni[], assay__flops_avx512[], assay__flops_avx512_fp16[], assay__flops_amx[],
    assay__flops_neon[]; /* each ends with a row without `run` */

#endif
