/* bandwidth_avx2.c - loops over memory with AVX2 and FMA: 256-bit loads and stores, and vmovntdq
 * around the caches. */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__)

#include "platform/posix_cpu.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR __m256i
#define WIDTH 32
#define LOAD(at) _mm256_load_si256((const void *)(at))
#define STORE_ANYWHERE(at, v) _mm256_storeu_si256((void *)(at), v)
#define ADD _mm256_add_epi64
#define SAME(value) _mm256_castpd_si256(_mm256_set1_pd(value))
#define REAL _mm256_castsi256_pd
#define TRIAD(v, w, s) _mm256_castpd_si256(_mm256_fmadd_pd(REAL(s), REAL(w), REAL(v)))

#define NAME(pattern) avx2_##pattern
#define STORE(at, v) _mm256_store_si256((void *)(at), v)
#define FENCE (void)0
#include "ceiling/kernels/bandwidth_body.h"

#undef NAME
#undef STORE
#undef FENCE
#define STORES_ONLY
#define NAME(pattern) avx2_##pattern##_non_temporal
#define STORE(at, v) _mm256_stream_si256((void *)(at), v)
#define FENCE _mm_sfence()
#include "ceiling/kernels/bandwidth_body.h"

const struct assay__stream_kernel assay__stream_avx2[] = {
    {ASSAY__STREAM_READ, "avx2", ASSAY__CPU_AVX2 | ASSAY__CPU_FMA, false, avx2_read},
    {ASSAY__STREAM_WRITE, "avx2", ASSAY__CPU_AVX2 | ASSAY__CPU_FMA, false, avx2_write},
    {ASSAY__STREAM_COPY, "avx2", ASSAY__CPU_AVX2 | ASSAY__CPU_FMA, false, avx2_copy},
    {ASSAY__STREAM_TRIAD, "avx2", ASSAY__CPU_AVX2 | ASSAY__CPU_FMA, false, avx2_triad},
    {ASSAY__STREAM_WRITE, "avx2", ASSAY__CPU_AVX2 | ASSAY__CPU_FMA, true, avx2_write_non_temporal},
    {ASSAY__STREAM_COPY, "avx2", ASSAY__CPU_AVX2 | ASSAY__CPU_FMA, true, avx2_copy_non_temporal},
    {ASSAY__STREAM_TRIAD, "avx2", ASSAY__CPU_AVX2 | ASSAY__CPU_FMA, true, avx2_triad_non_temporal},
    {0},
};

#else
const struct assay__stream_kernel assay__stream_avx2[] = {{0}};
#endif
