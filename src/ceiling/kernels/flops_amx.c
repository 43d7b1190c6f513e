/* flops_amx.c - matrix products of Intel AMX: tdpbusd (int8) and tdpbf16ps (bfloat16) on tiles of
 * 16 rows of 64 bytes. Four accumulating tiles, two of each operand: the eight there are, and the
 * arrangement of a real matrix product. An instruction takes 16 cycles of the unit and about 52
 * until its result is there, so four in flight keep it busy. */
#include "ceiling/kernels/kernels.h"

#if defined(__x86_64__) && \
    ((defined(__clang__) && __clang_major__ >= 12) || (!defined(__clang__) && __GNUC__ >= 11))

#include "platform/posix_cpu.h"

#include <immintrin.h>
#include <string.h>

#define ROW_BYTES 64
#define TILES 4

/* The palette's layout, Intel's manual volume 1, chapter on AMX: 64 bytes. */
struct tile_configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

static void configure(struct tile_configuration *configuration)
{
    memset(configuration, 0, sizeof *configuration);
    configuration->palette = 1;
    for (int tile = 0; tile < 8; tile++) {
        configuration->row_bytes[tile] = ROW_BYTES;
        configuration->rows[tile] = 16;
    }
}

/* Tiles 0-3 accumulate, 4 and 5 are a, 6 and 7 are b. */
#define TILE_KERNEL(name, isa, product)                                              \
    __attribute__((target("amx-tile," isa))) static void name(                       \
        uint64_t steps, const struct assay__flops_operands *operands, void *results) \
    {                                                                                \
        struct tile_configuration configuration;                                     \
        unsigned char *out = results;                                                \
        configure(&configuration);                                                   \
        _tile_loadconfig(&configuration);                                            \
        _tile_loadd(0, out, ROW_BYTES);                                              \
        _tile_loadd(1, out + ASSAY__TILE_BYTES, ROW_BYTES);                          \
        _tile_loadd(2, out + 2 * ASSAY__TILE_BYTES, ROW_BYTES);                      \
        _tile_loadd(3, out + 3 * ASSAY__TILE_BYTES, ROW_BYTES);                      \
        _tile_loadd(4, operands->a, ROW_BYTES);                                      \
        _tile_loadd(5, operands->a, ROW_BYTES);                                      \
        _tile_loadd(6, operands->b, ROW_BYTES);                                      \
        _tile_loadd(7, operands->b, ROW_BYTES);                                      \
        for (; steps; steps--) {                                                     \
            product(0, 4, 6);                                                        \
            product(1, 4, 7);                                                        \
            product(2, 5, 6);                                                        \
            product(3, 5, 7);                                                        \
        }                                                                            \
        _tile_stored(0, out, ROW_BYTES);                                             \
        _tile_stored(1, out + ASSAY__TILE_BYTES, ROW_BYTES);                         \
        _tile_stored(2, out + 2 * ASSAY__TILE_BYTES, ROW_BYTES);                     \
        _tile_stored(3, out + 3 * ASSAY__TILE_BYTES, ROW_BYTES);                     \
        _tile_release();                                                             \
    }

TILE_KERNEL(amx_int8, "amx-int8", _tile_dpbusd)
TILE_KERNEL(amx_bfloat16, "amx-bf16", _tile_dpbf16ps)

const struct assay__flops_kernel assay__flops_amx[] = {
    {"bfloat16", "amx_bf16", "tdpbf16ps", ASSAY__CPU_AMX_BF16, ASSAY__FLOPS_TILES, TILES, 256, 2,
     false, TILES * 16.0 * 16 * 32 * 2, amx_bfloat16},
    {"int8", "amx_int8", "tdpbusd", ASSAY__CPU_AMX_INT8, ASSAY__FLOPS_TILES, TILES, 256, 4, true,
     TILES * 16.0 * 16 * 64 * 2, amx_int8},
    {0},
};

#else
const struct assay__flops_kernel assay__flops_amx[] = {{0}};
#endif
