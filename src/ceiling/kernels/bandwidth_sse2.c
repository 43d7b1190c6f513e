/* bandwidth_sse2.c - loops over memory with SSE2: 128-bit loads and stores, and movntdq around the
 * caches. */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__)

#include "platform/posix_cpu.h"

#include <immintrin.h>

#define TARGET __attribute__((target("sse2")))
#define VECTOR __m128i
#define WIDTH 16
#define LOAD(at) _mm_load_si128((const void *)(at))
#define STORE_ANYWHERE(at, v) _mm_storeu_si128((void *)(at), v)
#define ADD _mm_add_epi64
#define SAME(value) _mm_castpd_si128(_mm_set1_pd(value))
#define REAL _mm_castsi128_pd
#define TRIAD(v, w, s) _mm_castpd_si128(_mm_add_pd(REAL(v), _mm_mul_pd(REAL(s), REAL(w))))

#define NAME(pattern) sse2_##pattern
#define STORE(at, v) _mm_store_si128((void *)(at), v)
#define FENCE (void)0
#include "ceiling/kernels/bandwidth_body.h"

#undef NAME
#undef STORE
#undef FENCE
#define STORES_ONLY
#define NAME(pattern) sse2_##pattern##_non_temporal
#define STORE(at, v) _mm_stream_si128((void *)(at), v)
#define FENCE _mm_sfence()
#include "ceiling/kernels/bandwidth_body.h"

const struct assay__stream_kernel assay__stream_sse2[] = {
    {ASSAY__STREAM_READ, "sse2", ASSAY__CPU_SSE2, false, sse2_read},
    {ASSAY__STREAM_WRITE, "sse2", ASSAY__CPU_SSE2, false, sse2_write},
    {ASSAY__STREAM_COPY, "sse2", ASSAY__CPU_SSE2, false, sse2_copy},
    {ASSAY__STREAM_TRIAD, "sse2", ASSAY__CPU_SSE2, false, sse2_triad},
    {ASSAY__STREAM_WRITE, "sse2", ASSAY__CPU_SSE2, true, sse2_write_non_temporal},
    {ASSAY__STREAM_COPY, "sse2", ASSAY__CPU_SSE2, true, sse2_copy_non_temporal},
    {ASSAY__STREAM_TRIAD, "sse2", ASSAY__CPU_SSE2, true, sse2_triad_non_temporal},
    {0},
};

#else
const struct assay__stream_kernel assay__stream_sse2[] = {{0}};
#endif
