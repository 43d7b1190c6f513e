/* flops_scalar.c - multiply and add without vectors: what is left on a processor whose instruction
 * sets have no kernels here. The asm statement (no instruction) hides each value from the compiler,
 * which would otherwise make vectors of them. */
#include "ceiling/kernels/kernels.h"

#define TARGET
#define EACH ASSAY__EACH_12

#define NAME scalar_float64
#define VECTOR double
#define FIRST(o) (o)->multiplier
#define SECOND(o) (o)->addend
#define STEP(r, x, y)               \
    {                               \
        double product = (r) * (x); \
        HIDE(product);              \
        (r) = product + (y);        \
    }
#if defined(__x86_64__)
#define HIDE(v) __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define HIDE(v) __asm__("" : "+w"(v))
#else
#define HIDE(v) __asm__("" : "+m"(v))
#endif
#include "ceiling/kernels/flops_body.h"

#define NAME scalar_float32
#define VECTOR float
#define FIRST(o) (float)(o)->multiplier
#define SECOND(o) (float)(o)->addend
#define STEP(r, x, y)              \
    {                              \
        float product = (r) * (x); \
        HIDE(product);             \
        (r) = product + (y);       \
    }
#include "ceiling/kernels/flops_body.h"

const struct assay__flops_kernel assay__flops_scalar[] = {
    {"float64", "scalar", "multiply, add", 0, ASSAY__FLOPS_SPLIT, 12, 1, 1, false, 24,
     scalar_float64},
    {"float32", "scalar", "multiply, add", 0, ASSAY__FLOPS_SPLIT, 12, 1, 1, false, 24,
     scalar_float32},
    {0},
};
