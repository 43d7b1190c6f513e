/* flops.c - the list of arithmetic kernels, the values they work on, and the scalar kernels for
 * processors whose instruction sets have no kernels here. */
#include "ceiling/kernels/kernels.h"

#include <string.h>

/* The asm statement (no instruction) hides each value from the compiler, which would otherwise
 * vectorise them. */
#if defined(__x86_64__)
#define HIDE(v) __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define HIDE(v) __asm__("" : "+w"(v))
#else
#define HIDE(v) __asm__("" : "+m"(v))
#endif
#define STEP(i)                              \
    {                                        \
        __typeof__(r##i) product = r##i * a; \
        HIDE(product);                       \
        r##i = product + b;                  \
    }
ASSAY__FLOPS_KERNEL(scalar_float64, , ASSAY__EACH_12, double, o->multiplier, o->addend, STEP)
ASSAY__FLOPS_KERNEL(scalar_float32, , ASSAY__EACH_12, float, (float)o->multiplier, (float)o->addend,
                    STEP)

static const struct assay__flops_kernel scalar[] = {
    {"float64", "scalar", "multiply, add", 0, ASSAY__FLOPS_SPLIT, 12, 1, 1, false, 24,
     scalar_float64},
    {"float32", "scalar", "multiply, add", 0, ASSAY__FLOPS_SPLIT, 12, 1, 1, false, 24,
     scalar_float32},
    {0},
};

static const struct assay__flops_kernel *const tables[] = {
    assay__flops_amx,  assay__flops_avx512_fp16, assay__flops_avx512, assay__flops_avx_vnni,
    assay__flops_avx2, assay__flops_sse2,        assay__flops_neon,   scalar,
};

const struct assay__flops_kernel *assay__flops_at(size_t index)
{
    for (size_t table = 0; table < sizeof tables / sizeof tables[0]; table++)
        for (const struct assay__flops_kernel *row = tables[table]; row->run; row++)
            if (index-- == 0) return row;
    return NULL;
}

/* r · 0.75 + 0.3125 settles at 1.25. int8: 1 … 15, far from vpmaddubsw's saturation, with both
 * signs in b. bfloat16: the bits of ±1 … ±1.9. */
void assay__flops_operands_fill(struct assay__flops_operands *operands, const char *type)
{
    memset(operands, 0, sizeof *operands);
    operands->multiplier = 0.75;
    operands->addend = 0.3125;
    operands->half_multiplier = 0x3a00;
    operands->half_addend = 0x3500;
    bool bytes = strcmp(type, "int8") == 0;
    for (size_t i = 0; i < ASSAY__TILE_BYTES; i++) {
        uint16_t sign = i / 2 % 2 ? 0x8000 : 0;
        uint16_t first = (uint16_t)(0x3f80 + i / 2 * 7 % 0x70);
        uint16_t second = (uint16_t)(sign | (0x3f80 + i / 2 * 5 % 0x70));
        operands->a[i] = bytes ? (unsigned char)(1 + i * 7 % 15)
                               : (unsigned char)(first >> i % 2 * 8);
        operands->b[i] = bytes ? (unsigned char)((i % 2 ? -1 : 1) * (int)(1 + i * 5 % 15))
                               : (unsigned char)(second >> i % 2 * 8);
    }
}
