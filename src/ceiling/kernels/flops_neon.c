/* flops_neon.c - arithmetic kernels of 64-bit Arm: fmla for float64, float32 and float16 (FP16),
 * sdot and smmla for int8 (dot product, I8MM), bfdot and bfmmla for bfloat16 (BF16). The optional
 * ones are written as asm, because compilers differ in what their header provides to a function
 * with more target features than the file. SVE and SME have no kernels yet. */
#include "ceiling/kernels/kernels.h"

#if defined(__aarch64__)

#include "platform/posix_cpu.h"

#include <arm_neon.h>

/* Each extension needs Armv8.2, and assemblers before binutils 2.41 require it to be stated. */
#if !defined(__clang__)
#define WITH(name, clang_name) __attribute__((target("arch=armv8.2-a+" name)))
#elif __clang_major__ < 16
#define WITH(name, clang_name) __attribute__((target(clang_name)))
#else
#define WITH(name, clang_name) __attribute__((target("+" name)))
#endif

#define NEON_FLOAT64_STEP(i) __asm__("fmla %0.2d, %1.2d, %2.2d" : "+w"(r##i) : "w"(a), "w"(b));
ASSAY__FLOPS_KERNEL(neon_float64, , ASSAY__EACH_24, float64x2_t, vdupq_n_f64(o->multiplier),
                    vdupq_n_f64(o->addend), NEON_FLOAT64_STEP)

#define NEON_FLOAT32_STEP(i) __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(r##i) : "w"(a), "w"(b));
ASSAY__FLOPS_KERNEL(neon_float32, , ASSAY__EACH_24, float32x4_t, vdupq_n_f32((float)o->multiplier),
                    vdupq_n_f32((float)o->addend), NEON_FLOAT32_STEP)

#define NEON_FLOAT16_STEP(i) __asm__("fmla %0.8h, %1.8h, %2.8h" : "+w"(r##i) : "w"(a), "w"(b));
ASSAY__FLOPS_KERNEL(neon_float16, WITH("fp16", "fullfp16"), ASSAY__EACH_24, uint16x8_t,
                    vdupq_n_u16(o->half_multiplier), vdupq_n_u16(o->half_addend), NEON_FLOAT16_STEP)

/* The four that accumulate products of the 16 bytes of two operands. */
#define NEON_INT8_STEP(i) __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(r##i) : "w"(a), "w"(b));
ASSAY__FLOPS_KERNEL(neon_int8, WITH("dotprod", "dotprod"), ASSAY__EACH_24, int32x4_t,
                    vld1q_u8(o->a), vld1q_u8(o->b), NEON_INT8_STEP)

#define NEON_INT8_MATRIX_STEP(i) \
    __asm__("smmla %0.4s, %1.16b, %2.16b" : "+w"(r##i) : "w"(a), "w"(b));
ASSAY__FLOPS_KERNEL(neon_int8_matrix, WITH("i8mm", "i8mm"), ASSAY__EACH_24, int32x4_t,
                    vld1q_u8(o->a), vld1q_u8(o->b), NEON_INT8_MATRIX_STEP)

#define NEON_BFLOAT16_STEP(i) __asm__("bfdot %0.4s, %1.8h, %2.8h" : "+w"(r##i) : "w"(a), "w"(b));
ASSAY__FLOPS_KERNEL(neon_bfloat16, WITH("bf16", "bf16"), ASSAY__EACH_24, float32x4_t,
                    vld1q_u8(o->a), vld1q_u8(o->b), NEON_BFLOAT16_STEP)

#define NEON_BFLOAT16_MATRIX_STEP(i) \
    __asm__("bfmmla %0.4s, %1.8h, %2.8h" : "+w"(r##i) : "w"(a), "w"(b));
ASSAY__FLOPS_KERNEL(neon_bfloat16_matrix, WITH("bf16", "bf16"), ASSAY__EACH_24, float32x4_t,
                    vld1q_u8(o->a), vld1q_u8(o->b), NEON_BFLOAT16_MATRIX_STEP)

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
