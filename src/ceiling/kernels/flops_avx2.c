/* flops_avx2.c - arithmetic kernels of AVX2 with FMA: vfmadd for float64 and float32; for int8 the
 * three instructions that quantised matrix products use where there is no dot product: vpmaddubsw
 * (bytes to 16-bit pairs), vpmaddwd with ones (to 32-bit), vpaddd. vpmaddubsw saturates at 16 bits,
 * so operands must keep a[2k] b[2k] + a[2k+1] b[2k+1] within ±32767. */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__)

#include "ceiling/kernels/flops_list.h"
#include "platform/posix_cpu.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define EACH ASSAY__EACH_12

#define NAME avx2_float64
#define ELEMENT double
#define VECTOR __m256d
#define LANES 4
#define OPERAND __m256d
#define FIRST(o) _mm256_set1_pd((o)->multiplier)
#define SECOND(o) _mm256_set1_pd((o)->addend)
#define LOAD _mm256_loadu_pd
#define STORE _mm256_storeu_pd
#define STEP(r, x, y) (r) = _mm256_fmadd_pd(r, x, y);
#include "ceiling/kernels/flops_body.h"

#define NAME avx2_float32
#define ELEMENT float
#define VECTOR __m256
#define LANES 8
#define OPERAND __m256
#define FIRST(o) _mm256_set1_ps((float)(o)->multiplier)
#define SECOND(o) _mm256_set1_ps((float)(o)->addend)
#define LOAD _mm256_loadu_ps
#define STORE _mm256_storeu_ps
#define STEP(r, x, y) (r) = _mm256_fmadd_ps(r, x, y);
#include "ceiling/kernels/flops_body.h"

#undef EACH
#define EACH ASSAY__EACH_8

/* The asm statement (no instruction) makes the operand look new each time: products of unchanged
 * operands would be moved out of the loop. */
#define NAME avx2_int8
#define ELEMENT int32_t
#define VECTOR __m256i
#define LANES 8
#define OPERAND __m256i
#define FIRST(o) _mm256_loadu_si256((const void *)(o)->a)
#define SECOND(o) _mm256_loadu_si256((const void *)(o)->b)
#define LOAD(at) _mm256_loadu_si256((const void *)(at))
#define STORE(at, r) _mm256_storeu_si256((void *)(at), r)
#define STEP(r, x, y)                                                              \
    {                                                                              \
        __asm__ volatile("" : "+x"(x));                                            \
        __m256i pairs = _mm256_maddubs_epi16(x, y);                                \
        (r) = _mm256_add_epi32(r, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))); \
    }
#include "ceiling/kernels/flops_body.h"

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

#else
const struct assay__flops_kernel assay__flops_avx2[] = {{0}};
#endif
