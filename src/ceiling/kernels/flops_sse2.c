/* flops_sse2.c - arithmetic kernels of SSE2, which every x86-64 has: no fused multiply-add, so a
 * multiplication and an addition alternate on every accumulator, and no instruction for int8. */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__)

#include "ceiling/kernels/flops_list.h"
#include "platform/posix_cpu.h"

#include <emmintrin.h>

#define TARGET __attribute__((target("sse2")))
#define EACH ASSAY__EACH_12

#define NAME sse2_float64
#define ELEMENT double
#define VECTOR __m128d
#define LANES 2
#define OPERAND __m128d
#define FIRST(o) _mm_set1_pd((o)->multiplier)
#define SECOND(o) _mm_set1_pd((o)->addend)
#define LOAD _mm_loadu_pd
#define STORE _mm_storeu_pd
#define STEP(r, x, y) (r) = _mm_add_pd(_mm_mul_pd(r, x), y);
#include "ceiling/kernels/flops_body.h"

#define NAME sse2_float32
#define ELEMENT float
#define VECTOR __m128
#define LANES 4
#define OPERAND __m128
#define FIRST(o) _mm_set1_ps((float)(o)->multiplier)
#define SECOND(o) _mm_set1_ps((float)(o)->addend)
#define LOAD _mm_loadu_ps
#define STORE _mm_storeu_ps
#define STEP(r, x, y) (r) = _mm_add_ps(_mm_mul_ps(r, x), y);
#include "ceiling/kernels/flops_body.h"

const struct assay__flops_kernel assay__flops_sse2[] = {
    {"float64", "sse2", "mulpd, addpd", ASSAY__CPU_SSE2, ASSAY__FLOPS_SPLIT, 12, 2, 1, false,
     12 * 2 * 2, sse2_float64},
    {"float32", "sse2", "mulps, addps", ASSAY__CPU_SSE2, ASSAY__FLOPS_SPLIT, 12, 4, 1, false,
     12 * 4 * 2, sse2_float32},
    {0},
};

#else
const struct assay__flops_kernel assay__flops_sse2[] = {{0}};
#endif
