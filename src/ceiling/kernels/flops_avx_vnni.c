/* flops_avx_vnni.c - int8 dot products of AVX-VNNI: vpdpbusd on 256 bits, for processors without
 * AVX-512. */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__) && \
    ((defined(__clang__) && __clang_major__ >= 12) || (!defined(__clang__) && __GNUC__ >= 11))

#include "ceiling/kernels/flops_list.h"
#include "platform/posix_cpu.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,avxvnni")))
#define EACH ASSAY__EACH_12

#define NAME avx_vnni_int8
#define ELEMENT int32_t
#define VECTOR __m256i
#define LANES 8
#define OPERAND __m256i
#define FIRST(o) _mm256_loadu_si256((const void *)(o)->a)
#define SECOND(o) _mm256_loadu_si256((const void *)(o)->b)
#define LOAD(at) _mm256_loadu_si256((const void *)(at))
#define STORE(at, r) _mm256_storeu_si256((void *)(at), r)
#define STEP(r, x, y) (r) = _mm256_dpbusd_avx_epi32(r, x, y);
#include "ceiling/kernels/flops_body.h"

const struct assay__flops_kernel assay__flops_avx_vnni[] = {
    {"int8", "avx_vnni", "vpdpbusd", ASSAY__CPU_AVX2 | ASSAY__CPU_AVX_VNNI, ASSAY__FLOPS_DOT, 12, 8,
     4, true, 12 * 32 * 2, avx_vnni_int8},
    {0},
};

#else
const struct assay__flops_kernel assay__flops_avx_vnni[] = {{0}};
#endif
