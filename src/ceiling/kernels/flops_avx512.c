/* flops_avx512.c - arithmetic kernels of AVX-512: vfmadd (F) for float64 and float32, vdpbf16ps
 * (BF16: two products of bfloat16 added to a float32), vpdpbusd (VNNI: four products of int8 added
 * to an int32). */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__) && (defined(__clang__) || __GNUC__ >= 10)

#include "ceiling/kernels/flops_list.h"
#include "platform/posix_cpu.h"

#include <immintrin.h>

#define EACH ASSAY__EACH_24
#define TARGET __attribute__((target("avx512f")))

#define NAME avx512_float64
#define ELEMENT double
#define VECTOR __m512d
#define LANES 8
#define OPERAND __m512d
#define FIRST(o) _mm512_set1_pd((o)->multiplier)
#define SECOND(o) _mm512_set1_pd((o)->addend)
#define LOAD _mm512_loadu_pd
#define STORE _mm512_storeu_pd
#define STEP(r, x, y) (r) = _mm512_fmadd_pd(r, x, y);
#include "ceiling/kernels/flops_body.h"

#define NAME avx512_float32
#define ELEMENT float
#define VECTOR __m512
#define LANES 16
#define OPERAND __m512
#define FIRST(o) _mm512_set1_ps((float)(o)->multiplier)
#define SECOND(o) _mm512_set1_ps((float)(o)->addend)
#define LOAD _mm512_loadu_ps
#define STORE _mm512_storeu_ps
#define STEP(r, x, y) (r) = _mm512_fmadd_ps(r, x, y);
#include "ceiling/kernels/flops_body.h"

#undef TARGET
#define TARGET __attribute__((target("avx512f,avx512bw,avx512bf16")))

#define NAME avx512_bfloat16
#define ELEMENT float
#define VECTOR __m512
#define LANES 16
#define OPERAND __m512i
#define FIRST(o) _mm512_loadu_si512((o)->a)
#define SECOND(o) _mm512_loadu_si512((o)->b)
#define LOAD _mm512_loadu_ps
#define STORE _mm512_storeu_ps
#define STEP(r, x, y) (r) = _mm512_dpbf16_ps(r, (__m512bh)(x), (__m512bh)(y));
#include "ceiling/kernels/flops_body.h"

#undef TARGET
#define TARGET __attribute__((target("avx512f,avx512bw,avx512vnni")))

#define NAME avx512_int8
#define ELEMENT int32_t
#define VECTOR __m512i
#define LANES 16
#define OPERAND __m512i
#define FIRST(o) _mm512_loadu_si512((o)->a)
#define SECOND(o) _mm512_loadu_si512((o)->b)
#define LOAD _mm512_loadu_si512
#define STORE _mm512_storeu_si512
#define STEP(r, x, y) (r) = _mm512_dpbusd_epi32(r, x, y);
#include "ceiling/kernels/flops_body.h"

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
