/* flops_scalar.c - multiply and add without vectors: what is left on a processor whose instruction
 * sets have no kernels here. The asm statement (no instruction) hides each value from the compiler,
 * which would otherwise make vectors of them. */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__)
#define HIDE(v) __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define HIDE(v) __asm__("" : "+w"(v))
#else
#define HIDE(v) __asm__("" : "+m"(v))
#endif
#define SCALAR_FLOAT64_STEP(i)     \
    {                              \
        double product = r##i * a; \
        HIDE(product);             \
        r##i = product + b;        \
    }
ASSAY__FLOPS_KERNEL(scalar_float64, , ASSAY__EACH_12, double, o->multiplier, o->addend,
                    SCALAR_FLOAT64_STEP)

#define SCALAR_FLOAT32_STEP(i)    \
    {                             \
        float product = r##i * a; \
        HIDE(product);            \
        r##i = product + b;       \
    }
ASSAY__FLOPS_KERNEL(scalar_float32, , ASSAY__EACH_12, float, (float)o->multiplier, (float)o->addend,
                    SCALAR_FLOAT32_STEP)

const struct assay__flops_kernel assay__flops_scalar[] = {
    {"float64", "scalar", "multiply, add", 0, ASSAY__FLOPS_SPLIT, 12, 1, 1, false, 24,
     scalar_float64},
    {"float32", "scalar", "multiply, add", 0, ASSAY__FLOPS_SPLIT, 12, 1, 1, false, 24,
     scalar_float32},
    {0},
};
