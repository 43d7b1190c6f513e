/* bandwidth_scalar.c - loops over memory with 64-bit words, for processors whose vectors have no
 * kernels here. */
#include "ceiling/kernels/kernels.h"

#include <string.h>

static inline uint64_t load_word(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline void store_word(void *at, uint64_t word)
{
    memcpy(at, &word, sizeof word);
}

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double value_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define TARGET
#define NAME(pattern) scalar_##pattern
#define VECTOR uint64_t
#define WIDTH 8
#define LOAD load_word
#define STORE store_word
#define STORE_ANYWHERE store_word
#define ADD(v, w) ((v) + (w))
#define SAME bits_of
#define TRIAD(v, w, s) bits_of(value_of(v) + value_of(s) * value_of(w))
#define FENCE (void)0
#include "ceiling/kernels/bandwidth_body.h"

const struct assay__stream_kernel assay__stream_scalar[] = {
    {ASSAY__STREAM_READ, "scalar", 0, false, scalar_read},
    {ASSAY__STREAM_WRITE, "scalar", 0, false, scalar_write},
    {ASSAY__STREAM_COPY, "scalar", 0, false, scalar_copy},
    {ASSAY__STREAM_TRIAD, "scalar", 0, false, scalar_triad},
    {0},
};
