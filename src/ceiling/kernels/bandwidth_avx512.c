/* bandwidth_avx512.c - loops over memory with AVX-512: 512-bit loads and stores, one cache line
 * each, and vmovntdq around the caches. */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 10)

#include "platform/posix_cpu.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f")))
#define VECTOR __m512i
#define WIDTH 64
#define LOAD(at) _mm512_load_si512((const void *)(at))
#define STORE_ANYWHERE(at, v) _mm512_storeu_si512((void *)(at), v)
#define ADD _mm512_add_epi64
#define SAME(value) _mm512_castpd_si512(_mm512_set1_pd(value))
#define REAL _mm512_castsi512_pd
#define TRIAD(v, w, s) _mm512_castpd_si512(_mm512_fmadd_pd(REAL(s), REAL(w), REAL(v)))

#define NAME(pattern) avx512_##pattern
#define STORE(at, v) _mm512_store_si512((void *)(at), v)
#define FENCE (void)0
#include "ceiling/kernels/bandwidth_body.h"

#undef NAME
#undef STORE
#undef FENCE
#define STORES_ONLY
#define NAME(pattern) avx512_##pattern##_non_temporal
#define STORE(at, v) _mm512_stream_si512((void *)(at), v)
#define FENCE _mm_sfence()
#include "ceiling/kernels/bandwidth_body.h"

const struct assay__stream_kernel assay__stream_avx512[] = {
    {ASSAY__STREAM_READ, "avx512f", ASSAY__CPU_AVX512F, false, avx512_read},
    {ASSAY__STREAM_WRITE, "avx512f", ASSAY__CPU_AVX512F, false, avx512_write},
    {ASSAY__STREAM_COPY, "avx512f", ASSAY__CPU_AVX512F, false, avx512_copy},
    {ASSAY__STREAM_TRIAD, "avx512f", ASSAY__CPU_AVX512F, false, avx512_triad},
    {ASSAY__STREAM_WRITE, "avx512f", ASSAY__CPU_AVX512F, true, avx512_write_non_temporal},
    {ASSAY__STREAM_COPY, "avx512f", ASSAY__CPU_AVX512F, true, avx512_copy_non_temporal},
    {ASSAY__STREAM_TRIAD, "avx512f", ASSAY__CPU_AVX512F, true, avx512_triad_non_temporal},
    {0},
};

#else
const struct assay__stream_kernel assay__stream_avx512[] = {{0}};
#endif
