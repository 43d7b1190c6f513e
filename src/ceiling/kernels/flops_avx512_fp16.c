/* flops_avx512_fp16.c - float16 multiply-add of AVX512-FP16: vfmadd on 32 halves, accumulated as
 * float16. Values are handled as bits and the instruction is written as asm: compilers differ in
 * when their headers offer its type. */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__) && \
    ((defined(__clang__) && __clang_major__ >= 14) || (!defined(__clang__) && __GNUC__ >= 12))

#include "ceiling/kernels/flops_list.h"
#include "platform/posix_cpu.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512fp16")))
#define EACH ASSAY__EACH_24

#define NAME avx512_float16
#define ELEMENT uint16_t
#define VECTOR __m512i
#define LANES 32
#define OPERAND __m512i
#define FIRST(o) _mm512_set1_epi16((short)(o)->half_multiplier)
#define SECOND(o) _mm512_set1_epi16((short)(o)->half_addend)
#define LOAD _mm512_loadu_si512
#define STORE _mm512_storeu_si512
#define STEP(r, x, y) __asm__("vfmadd213ph %2, %1, %0" : "+v"(r) : "v"(x), "v"(y));
#include "ceiling/kernels/flops_body.h"

const struct assay__flops_kernel assay__flops_avx512_fp16[] = {
    {"float16", "avx512_fp16", "vfmaddph",
     ASSAY__CPU_AVX512F | ASSAY__CPU_AVX512BW | ASSAY__CPU_AVX512_FP16, ASSAY__FLOPS_FUSED, 24, 32,
     1, false, 24 * 32 * 2, avx512_float16},
    {0},
};

#else
const struct assay__flops_kernel assay__flops_avx512_fp16[] = {{0}};
#endif
