/* flops_x86.c - arithmetic kernels of x86-64: AMX, AVX512-FP16, AVX-512, AVX-VNNI, AVX2 with FMA
 * and SSE2. */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__)

#include "platform/posix_cpu.h"

#include <immintrin.h>
#include <string.h>

#define TARGET(instructions) __attribute__((target(instructions)))

/* Matrix products of Intel AMX: tdpbusd (int8) and tdpbf16ps (bfloat16) on tiles of 16 rows of 64
 * bytes. Four accumulator tiles and two of each operand: all eight, arranged as in a real matrix
 * product. An instruction occupies the unit for 16 cycles and has a latency of about 52, so four in
 * flight keep it busy. */
#if (defined(__clang__) && __clang_major__ >= 12) || (!defined(__clang__) && __GNUC__ >= 11)
#define ROW_BYTES 64
#define TILES 4

/* The palette's layout, Intel's manual volume 1, chapter on AMX: 64 bytes. */
struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

static void configure(struct tile_configuration *configuration)
{
    memset(configuration, 0, sizeof *configuration);
    configuration->palette = 1;
    for (int tile = 0; tile < 8; tile++) {
        configuration->row_bytes[tile] = ROW_BYTES;
        configuration->rows[tile] = 16;
    }
}

/* Tiles 0-3 accumulate, 4 and 5 are a, 6 and 7 are b. */
#define TILE_KERNEL(name, isa, product)                                              \
    __attribute__((target("amx-tile," isa))) static void name(                       \
        uint64_t steps, const struct assay__flops_operands *operands, void *results) \
    {                                                                                \
        struct tile_configuration configuration;                                     \
        unsigned char *out = results;                                                \
        configure(&configuration);                                                   \
        _tile_loadconfig(&configuration);                                            \
        _tile_loadd(0, out, ROW_BYTES);                                              \
        _tile_loadd(1, out + ASSAY__TILE_BYTES, ROW_BYTES);                          \
        _tile_loadd(2, out + 2 * ASSAY__TILE_BYTES, ROW_BYTES);                      \
        _tile_loadd(3, out + 3 * ASSAY__TILE_BYTES, ROW_BYTES);                      \
        _tile_loadd(4, operands->a, ROW_BYTES);                                      \
        _tile_loadd(5, operands->a, ROW_BYTES);                                      \
        _tile_loadd(6, operands->b, ROW_BYTES);                                      \
        _tile_loadd(7, operands->b, ROW_BYTES);                                      \
        for (; steps; steps--) {                                                     \
            product(0, 4, 6);                                                        \
            product(1, 4, 7);                                                        \
            product(2, 5, 6);                                                        \
            product(3, 5, 7);                                                        \
        }                                                                            \
        _tile_stored(0, out, ROW_BYTES);                                             \
        _tile_stored(1, out + ASSAY__TILE_BYTES, ROW_BYTES);                         \
        _tile_stored(2, out + 2 * ASSAY__TILE_BYTES, ROW_BYTES);                     \
        _tile_stored(3, out + 3 * ASSAY__TILE_BYTES, ROW_BYTES);                     \
        _tile_release();                                                             \
    }

TILE_KERNEL(amx_int8, "amx-int8", _tile_dpbusd)
TILE_KERNEL(amx_bfloat16, "amx-bf16", _tile_dpbf16ps)

const struct assay__flops_kernel assay__flops_amx[] = {
    {"bfloat16", "amx_bf16", "tdpbf16ps", ASSAY__CPU_AMX_BF16, ASSAY__FLOPS_TILES, TILES, 256, 2,
     false, TILES * 16.0 * 16 * 32 * 2, amx_bfloat16},
    {"int8", "amx_int8", "tdpbusd", ASSAY__CPU_AMX_INT8, ASSAY__FLOPS_TILES, TILES, 256, 4, true,
     TILES * 16.0 * 16 * 64 * 2, amx_int8},
    {0},
};
#else
const struct assay__flops_kernel assay__flops_amx[] = {{0}};
#endif

/* Float16 multiply-add of AVX512-FP16: vfmadd on 32 halves, accumulated as float16. Values are
 * handled as bits and the instruction is written as asm: compilers differ in when their headers
 * provide its type. */
#if (defined(__clang__) && __clang_major__ >= 14) || (!defined(__clang__) && __GNUC__ >= 12)
#define AVX512_FLOAT16_STEP(i) __asm__("vfmadd213ph %2, %1, %0" : "+v"(r##i) : "v"(a), "v"(b));
ASSAY__FLOPS_KERNEL(avx512_float16, TARGET("avx512f,avx512bw,avx512fp16"), ASSAY__EACH_24, __m512i,
                    _mm512_set1_epi16((short)o->half_multiplier),
                    _mm512_set1_epi16((short)o->half_addend), AVX512_FLOAT16_STEP)

const struct assay__flops_kernel assay__flops_avx512_fp16[] = {
    {"float16", "avx512_fp16", "vfmaddph",
     ASSAY__CPU_AVX512F | ASSAY__CPU_AVX512BW | ASSAY__CPU_AVX512_FP16, ASSAY__FLOPS_FUSED, 24, 32,
     1, false, 24 * 32 * 2, avx512_float16},
    {0},
};
#else
const struct assay__flops_kernel assay__flops_avx512_fp16[] = {{0}};
#endif

/* Arithmetic kernels of AVX-512: vfmadd (F) for float64 and float32, vdpbf16ps (BF16: two products
 * of bfloat16 added to a float32), vpdpbusd (VNNI: four products of int8 added to an int32). */
#if defined(__clang__) || __GNUC__ >= 10
#define AVX512_FLOAT64_STEP(i) r##i = _mm512_fmadd_pd(r##i, a, b);
ASSAY__FLOPS_KERNEL(avx512_float64, TARGET("avx512f"), ASSAY__EACH_24, __m512d,
                    _mm512_set1_pd(o->multiplier), _mm512_set1_pd(o->addend), AVX512_FLOAT64_STEP)

#define AVX512_FLOAT32_STEP(i) r##i = _mm512_fmadd_ps(r##i, a, b);
ASSAY__FLOPS_KERNEL(avx512_float32, TARGET("avx512f"), ASSAY__EACH_24, __m512,
                    _mm512_set1_ps((float)o->multiplier), _mm512_set1_ps((float)o->addend),
                    AVX512_FLOAT32_STEP)

#define AVX512_BFLOAT16_STEP(i) r##i = _mm512_dpbf16_ps(r##i, (__m512bh)(a), (__m512bh)(b));
ASSAY__FLOPS_KERNEL(avx512_bfloat16, TARGET("avx512f,avx512bw,avx512bf16"), ASSAY__EACH_24, __m512,
                    _mm512_loadu_si512(o->a), _mm512_loadu_si512(o->b), AVX512_BFLOAT16_STEP)

#define AVX512_INT8_STEP(i) r##i = _mm512_dpbusd_epi32(r##i, a, b);
ASSAY__FLOPS_KERNEL(avx512_int8, TARGET("avx512f,avx512bw,avx512vnni"), ASSAY__EACH_24, __m512i,
                    _mm512_loadu_si512(o->a), _mm512_loadu_si512(o->b), AVX512_INT8_STEP)

#define WIDE (ASSAY__CPU_AVX512F | ASSAY__CPU_AVX512BW)
const struct assay__flops_kernel assay__flops_avx512[] = {
    {"float64", "avx512f", "vfmadd", ASSAY__CPU_AVX512F, ASSAY__FLOPS_FUSED, 24, 8, 1, false,
     24 * 8 * 2, avx512_float64},
    {"float32", "avx512f", "vfmadd", ASSAY__CPU_AVX512F, ASSAY__FLOPS_FUSED, 24, 16, 1, false,
     24 * 16 * 2, avx512_float32},
    {"bfloat16", "avx512_bf16", "vdpbf16ps", WIDE | ASSAY__CPU_AVX512_BF16, ASSAY__FLOPS_DOT, 24,
     16, 2, false, 24 * 32 * 2, avx512_bfloat16},
    {"int8", "avx512_vnni", "vpdpbusd", WIDE | ASSAY__CPU_AVX512_VNNI, ASSAY__FLOPS_DOT, 24, 16, 4,
     true, 24 * 64 * 2, avx512_int8},
    {0},
};
#else
const struct assay__flops_kernel assay__flops_avx512[] = {{0}};
#endif

/* Int8 dot products of AVX-VNNI: vpdpbusd on 256 bits, for processors without AVX-512. */
#if (defined(__clang__) && __clang_major__ >= 12) || (!defined(__clang__) && __GNUC__ >= 11)
#define AVX_VNNI_INT8_STEP(i) r##i = _mm256_dpbusd_avx_epi32(r##i, a, b);
ASSAY__FLOPS_KERNEL(avx_vnni_int8, TARGET("avx2,avxvnni"), ASSAY__EACH_12, __m256i,
                    _mm256_loadu_si256((const void *)o->a), _mm256_loadu_si256((const void *)o->b),
                    AVX_VNNI_INT8_STEP)

const struct assay__flops_kernel assay__flops_avx_vnni[] = {
    {"int8", "avx_vnni", "vpdpbusd", ASSAY__CPU_AVX2 | ASSAY__CPU_AVX_VNNI, ASSAY__FLOPS_DOT, 12, 8,
     4, true, 12 * 32 * 2, avx_vnni_int8},
    {0},
};
#else
const struct assay__flops_kernel assay__flops_avx_vnni[] = {{0}};
#endif

/* Arithmetic kernels of AVX2 with FMA: vfmadd for float64 and float32; for int8 the three
 * instructions that quantised matrix products use where there is no dot product: vpmaddubsw (bytes
 * to 16-bit pairs), vpmaddwd with ones (to 32-bit), vpaddd. vpmaddubsw saturates at 16 bits, so
 * operands must keep a[2k] b[2k] + a[2k+1] b[2k+1] within ±32767. */
#define AVX2_FLOAT64_STEP(i) r##i = _mm256_fmadd_pd(r##i, a, b);
ASSAY__FLOPS_KERNEL(avx2_float64, TARGET("avx2,fma"), ASSAY__EACH_12, __m256d,
                    _mm256_set1_pd(o->multiplier), _mm256_set1_pd(o->addend), AVX2_FLOAT64_STEP)

#define AVX2_FLOAT32_STEP(i) r##i = _mm256_fmadd_ps(r##i, a, b);
ASSAY__FLOPS_KERNEL(avx2_float32, TARGET("avx2,fma"), ASSAY__EACH_12, __m256,
                    _mm256_set1_ps((float)o->multiplier), _mm256_set1_ps((float)o->addend),
                    AVX2_FLOAT32_STEP)

/* The asm statement (no instruction) makes the operand look new each time: products of unchanged
 * operands would be moved out of the loop. */
#define AVX2_INT8_STEP(i)                                                              \
    {                                                                                  \
        __asm__ volatile("" : "+x"(a));                                                \
        __m256i pairs = _mm256_maddubs_epi16(a, b);                                    \
        r##i = _mm256_add_epi32(r##i, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))); \
    }
ASSAY__FLOPS_KERNEL(avx2_int8, TARGET("avx2,fma"), ASSAY__EACH_8, __m256i,
                    _mm256_loadu_si256((const void *)o->a), _mm256_loadu_si256((const void *)o->b),
                    AVX2_INT8_STEP)

#define FEATURES (ASSAY__CPU_AVX2 | ASSAY__CPU_FMA)
const struct assay__flops_kernel assay__flops_avx2[] = {
    {"float64", "avx2+fma", "vfmadd", FEATURES, ASSAY__FLOPS_FUSED, 12, 4, 1, false, 12 * 4 * 2,
     avx2_float64},
    {"float32", "avx2+fma", "vfmadd", FEATURES, ASSAY__FLOPS_FUSED, 12, 8, 1, false, 12 * 8 * 2,
     avx2_float32},
    {"int8", "avx2", "vpmaddubsw, vpmaddwd, vpaddd", FEATURES, ASSAY__FLOPS_DOT, 8, 8, 4, true,
     8 * 32 * 2, avx2_int8},
    {0},
};

/* Arithmetic kernels of SSE2, which every x86-64 has: no fused multiply-add, so a multiplication
 * and an addition alternate on every accumulator, and no instruction for int8. */
#define SSE2_FLOAT64_STEP(i) r##i = _mm_add_pd(_mm_mul_pd(r##i, a), b);
ASSAY__FLOPS_KERNEL(sse2_float64, TARGET("sse2"), ASSAY__EACH_12, __m128d,
                    _mm_set1_pd(o->multiplier), _mm_set1_pd(o->addend), SSE2_FLOAT64_STEP)

#define SSE2_FLOAT32_STEP(i) r##i = _mm_add_ps(_mm_mul_ps(r##i, a), b);
ASSAY__FLOPS_KERNEL(sse2_float32, TARGET("sse2"), ASSAY__EACH_12, __m128,
                    _mm_set1_ps((float)o->multiplier), _mm_set1_ps((float)o->addend),
                    SSE2_FLOAT32_STEP)

const struct assay__flops_kernel assay__flops_sse2[] = {
    {"float64", "sse2", "mulpd, addpd", ASSAY__CPU_SSE2, ASSAY__FLOPS_SPLIT, 12, 2, 1, false,
     12 * 2 * 2, sse2_float64},
    {"float32", "sse2", "mulps, addps", ASSAY__CPU_SSE2, ASSAY__FLOPS_SPLIT, 12, 4, 1, false,
     12 * 4 * 2, sse2_float32},
    {0},
};

#else
const struct assay__flops_kernel assay__flops_amx[] = {{0}};
const struct assay__flops_kernel assay__flops_avx512_fp16[] = {{0}};
const struct assay__flops_kernel assay__flops_avx512[] = {{0}};
const struct assay__flops_kernel assay__flops_avx_vnni[] = {{0}};
const struct assay__flops_kernel assay__flops_avx2[] = {{0}};
const struct assay__flops_kernel assay__flops_sse2[] = {{0}};
#endif
