/* sha256_x86.c - SHA-256's compression with the SHA instructions of x86 processors (about ten times
 * as fast as plain C), where the processor has them; elsewhere nothing.
 *
 * An instruction does two rounds. It wants the eight words of the state as (A B E F) and (C D G H),
 * highest lane first, and the message, with the round constants added, four words at a time. */
#include "model/sha256.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

enum { UNASKED, ABSENT, PRESENT };

static bool processor_has_sha(void)
{
    static atomic_int known; /* asking is slow in a virtual machine */
    int state = atomic_load_explicit(&known, memory_order_relaxed);
    if (state == UNASKED) {
        unsigned a, b, c, d;
        bool has = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) &&
                   __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_1) && (c & bit_SSSE3);
        state = has ? PRESENT : ABSENT;
        atomic_store_explicit(&known, state, memory_order_relaxed);
    }
    return state == PRESENT;
}

__attribute__((target("sha,sse4.1,ssse3"))) static void compress(uint32_t state[8],
                                                                 const uint8_t *data, size_t blocks)
{
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    const __m128i *constants = (const __m128i *)(const void *)assay__sha256_constants;
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)state), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(const void *)(state + 4)),
                                     0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; blocks > 0; blocks--, data += 64) {
        __m128i w[16], first = abef, second = cdgh;
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i)),
                                    big_endian);
        for (int i = 4; i < 16; i++) /* four words each: the schedule of FIPS 180-4, 6.2.2 */
            w[i] = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w[i - 4], w[i - 3]),
                                                      _mm_alignr_epi8(w[i - 1], w[i - 2], 4)),
                                        w[i - 1]);
        for (int i = 0; i < 16; i++) {
            __m128i added = _mm_add_epi32(w[i], _mm_loadu_si128(constants + i));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, added);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(added, 0x0e));
        }
        abef = _mm_add_epi32(abef, first);
        cdgh = _mm_add_epi32(cdgh, second);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

bool assay__sha256_fast(uint32_t state[8], const uint8_t *data, size_t blocks)
{
    if (!processor_has_sha()) return false;
    compress(state, data, blocks);
    return true;
}

#else

bool assay__sha256_fast(uint32_t state[8], const uint8_t *data, size_t blocks)
{
    (void)state, (void)data, (void)blocks;
    return false;
}

#endif
