/* weight_formula.c - computes the elements of a weight from its seed. Element i comes from
 * splitmix64 of seed + i (Steele, Lea, Flood: "Fast splittable pseudorandom number generators"): 64
 * bits give four 16-bit uniforms, whose sum is near enough to normal (variance of one uniform on
 * [0, 1): 1/12). A pure function of the index, so that blocks can be made in any order and by any
 * thread. */
#include "model/weight_formula.h"

static inline uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void assay__weights_fill(const struct assay__generator *generator, uint64_t first, float *out,
                         size_t count)
{
    const uint64_t step = 0x9e3779b97f4a7c15u, start = mix(generator->seed + step) + first * step;
    const float mean = generator->mean;
    const float scale = generator->deviation * (float)(1.7320508075688772 / 65536.0);
    if (generator->deviation == 0) {
        for (size_t i = 0; i < count; i++)
            out[i] = mean;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = mix(start + (uint64_t)i * step);
        /* two lanes at a time: the sums of 16-bit halves cannot carry into each other */
        uint64_t pairs = (bits & 0x0000ffff0000ffffu) + (bits >> 16 & 0x0000ffff0000ffffu);
        int sum = (int)(uint32_t)pairs + (int)(pairs >> 32);
        /* + 0.5: never zero. Two statements, which no compiler fuses into one rounding: the same
         * numbers on every machine. */
        float away = ((float)(sum - 2 * 65535) + 0.5f) * scale;
        out[i] = mean + away;
    }
}
