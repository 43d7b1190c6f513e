/* flops_neon.c - arithmetic kernels of 64-bit Arm: fmla for float64, float32 and float16 (FP16),
 * sdot and smmla for int8 (dot product, I8MM), bfdot and bfmmla for bfloat16 (BF16). The optional
 * ones are written as asm, because compilers differ in what their header offers to a function whose
 * target has more than the file's. SVE and SME have no kernels yet. */
#include "ceiling/kernels/kernels.h"

#if defined(__aarch64__)

#include "platform/posix_cpu.h"

#include <arm_neon.h>

/* Each extension needs Armv8.2, and assemblers before binutils 2.41 need it stated. */
#if !defined(__clang__)
#define WITH(name, clang_name) __attribute__((target("arch=armv8.2-a+" name)))
#elif __clang_major__ < 16
#define WITH(name, clang_name) __attribute__((target(clang_name)))
#else
#define WITH(name, clang_name) __attribute__((target("+" name)))
#endif

#define EACH ASSAY__EACH_24
#define TARGET

#define NAME neon_float64
#define VECTOR float64x2_t
#define FIRST(o) vdupq_n_f64((o)->multiplier)
#define SECOND(o) vdupq_n_f64((o)->addend)
#define STEP(r, x, y) __asm__("fmla %0.2d, %1.2d, %2.2d" : "+w"(r) : "w"(x), "w"(y));
#include "ceiling/kernels/flops_body.h"

#define NAME neon_float32
#define VECTOR float32x4_t
#define FIRST(o) vdupq_n_f32((float)(o)->multiplier)
#define SECOND(o) vdupq_n_f32((float)(o)->addend)
#define STEP(r, x, y) __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(r) : "w"(x), "w"(y));
#include "ceiling/kernels/flops_body.h"

#undef TARGET
#define TARGET WITH("fp16", "fullfp16")

#define NAME neon_float16
#define VECTOR uint16x8_t
#define FIRST(o) vdupq_n_u16((o)->half_multiplier)
#define SECOND(o) vdupq_n_u16((o)->half_addend)
#define STEP(r, x, y) __asm__("fmla %0.8h, %1.8h, %2.8h" : "+w"(r) : "w"(x), "w"(y));
#include "ceiling/kernels/flops_body.h"

/* The four that add products of the two operands' 16 bytes. */
#define FIRST_BYTES(o) vld1q_u8((o)->a)
#define SECOND_BYTES(o) vld1q_u8((o)->b)

#undef TARGET
#define TARGET WITH("dotprod", "dotprod")

#define NAME neon_int8
#define VECTOR int32x4_t
#define OPERAND uint8x16_t
#define FIRST FIRST_BYTES
#define SECOND SECOND_BYTES
#define STEP(r, x, y) __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(r) : "w"(x), "w"(y));
#include "ceiling/kernels/flops_body.h"

#undef TARGET
#define TARGET WITH("i8mm", "i8mm")

#define NAME neon_int8_matrix
#define VECTOR int32x4_t
#define OPERAND uint8x16_t
#define FIRST FIRST_BYTES
#define SECOND SECOND_BYTES
#define STEP(r, x, y) __asm__("smmla %0.4s, %1.16b, %2.16b" : "+w"(r) : "w"(x), "w"(y));
#include "ceiling/kernels/flops_body.h"

#undef TARGET
#define TARGET WITH("bf16", "bf16")

#define NAME neon_bfloat16
#define VECTOR float32x4_t
#define OPERAND uint8x16_t
#define FIRST FIRST_BYTES
#define SECOND SECOND_BYTES
#define STEP(r, x, y) __asm__("bfdot %0.4s, %1.8h, %2.8h" : "+w"(r) : "w"(x), "w"(y));
#include "ceiling/kernels/flops_body.h"

#define NAME neon_bfloat16_matrix
#define VECTOR float32x4_t
#define OPERAND uint8x16_t
#define FIRST FIRST_BYTES
#define SECOND SECOND_BYTES
#define STEP(r, x, y) __asm__("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(r) : "w"(x), "w"(y));
#include "ceiling/kernels/flops_body.h"

/* fmla adds into its accumulator: r = r + multiplier · addend (form SUM). */
const struct assay__flops_kernel assay__flops_neon[] = {
    {"float64", "neon", "fmla", ASSAY__CPU_NEON, ASSAY__FLOPS_SUM, 24, 2, 1, false, 24 * 2 * 2,
     neon_float64},
    {"float32", "neon", "fmla", ASSAY__CPU_NEON, ASSAY__FLOPS_SUM, 24, 4, 1, false, 24 * 4 * 2,
     neon_float32},
    {"float16", "neon_fp16", "fmla", ASSAY__CPU_NEON_FP16, ASSAY__FLOPS_SUM, 24, 8, 1, false,
     24 * 8 * 2, neon_float16},
    {"bfloat16", "neon_bf16", "bfdot", ASSAY__CPU_NEON_BF16, ASSAY__FLOPS_DOT, 24, 4, 2, false,
     24 * 8 * 2, neon_bfloat16},
    {"bfloat16", "neon_bf16", "bfmmla", ASSAY__CPU_NEON_BF16, ASSAY__FLOPS_PAIRS, 24, 4, 4, false,
     24 * 16 * 2, neon_bfloat16_matrix},
    {"int8", "neon_dotprod", "sdot", ASSAY__CPU_NEON_DOT, ASSAY__FLOPS_DOT, 24, 4, 4, false,
     24 * 16 * 2, neon_int8},
    {"int8", "neon_i8mm", "smmla", ASSAY__CPU_NEON_I8MM, ASSAY__FLOPS_PAIRS, 24, 4, 8, false,
     24 * 32 * 2, neon_int8_matrix},
    {0},
};

#else
const struct assay__flops_kernel assay__flops_neon[] = {{0}};
#endif
