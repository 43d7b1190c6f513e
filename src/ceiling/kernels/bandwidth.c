/* bandwidth.c - the loops over memory (bandwidth_body.h) of each instruction set, and their list.
 * On x86 there are also loops whose stores bypass the caches (movntdq). Arm's hint for that (stnp)
 * may be ignored, and its cores recognise whole-line stores by themselves. 64-bit words are used on
 * processors without vector kernels here. */
#include "ceiling/kernels/kernels.h"
#include "platform/posix_cpu.h"

#include <string.h>

#define JOIN(set, pattern) set##_##pattern
#define NAME_OF(set, pattern) JOIN(set, pattern)

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__) || __GNUC__ >= 10
#define HAS_AVX512
#define SET avx512
#define TARGET __attribute__((target("avx512f")))
#define VECTOR __m512i
#define LOAD(at) _mm512_load_si512((const void *)(at))
#define STORE(at, v) _mm512_store_si512((void *)(at), v)
#define STREAM(at, v) _mm512_stream_si512((void *)(at), v)
#define ADD _mm512_add_epi64
#define SAME(value) _mm512_castpd_si512(_mm512_set1_pd(value))
#define REAL _mm512_castsi512_pd
#define TRIAD(v, w, s) _mm512_castpd_si512(_mm512_fmadd_pd(REAL(s), REAL(w), REAL(v)))
#include "ceiling/kernels/bandwidth_body.h"
#endif

#define SET avx2
#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR __m256i
#define LOAD(at) _mm256_load_si256((const void *)(at))
#define STORE(at, v) _mm256_store_si256((void *)(at), v)
#define STREAM(at, v) _mm256_stream_si256((void *)(at), v)
#define ADD _mm256_add_epi64
#define SAME(value) _mm256_castpd_si256(_mm256_set1_pd(value))
#define REAL _mm256_castsi256_pd
#define TRIAD(v, w, s) _mm256_castpd_si256(_mm256_fmadd_pd(REAL(s), REAL(w), REAL(v)))
#include "ceiling/kernels/bandwidth_body.h"

#define SET sse2
#define TARGET __attribute__((target("sse2")))
#define VECTOR __m128i
#define LOAD(at) _mm_load_si128((const void *)(at))
#define STORE(at, v) _mm_store_si128((void *)(at), v)
#define STREAM(at, v) _mm_stream_si128((void *)(at), v)
#define ADD _mm_add_epi64
#define SAME(value) _mm_castpd_si128(_mm_set1_pd(value))
#define REAL _mm_castsi128_pd
#define TRIAD(v, w, s) _mm_castpd_si128(_mm_add_pd(REAL(v), _mm_mul_pd(REAL(s), REAL(w))))
#include "ceiling/kernels/bandwidth_body.h"

#elif defined(__aarch64__)
#include <arm_neon.h>

#define SET neon
#define TARGET
#define VECTOR uint64x2_t
#define LOAD(at) vreinterpretq_u64_u8(vld1q_u8(at))
#define STORE(at, v) vst1q_u8(at, vreinterpretq_u8_u64(v))
#define ADD vaddq_u64
#define SAME(value) vreinterpretq_u64_f64(vdupq_n_f64(value))
#define REAL vreinterpretq_f64_u64
#define TRIAD(v, w, s) vreinterpretq_u64_f64(vfmaq_f64(REAL(v), REAL(s), REAL(w)))
#include "ceiling/kernels/bandwidth_body.h"
#endif

static inline uint64_t load_word(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
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

#define SET scalar
#define TARGET
#define VECTOR uint64_t
#define LOAD load_word
#define STORE(at, v) memcpy(at, &(uint64_t){v}, sizeof(uint64_t))
#define ADD(v, w) ((v) + (w))
#define SAME bits_of
#define TRIAD(v, w, s) bits_of(value_of(v) + value_of(s) * value_of(w))
#include "ceiling/kernels/bandwidth_body.h"

/* clang-format off */
#define LOOPS(set, simd, features)                                  \
    {ASSAY__STREAM_READ, simd, features, false, set##_read},        \
    {ASSAY__STREAM_WRITE, simd, features, false, set##_write},      \
    {ASSAY__STREAM_COPY, simd, features, false, set##_copy},        \
    {ASSAY__STREAM_TRIAD, simd, features, false, set##_triad}
#define STREAMING_LOOPS(set, simd, features)                        \
    {ASSAY__STREAM_WRITE, simd, features, true, set##_stream_write}, \
    {ASSAY__STREAM_COPY, simd, features, true, set##_stream_copy},  \
    {ASSAY__STREAM_TRIAD, simd, features, true, set##_stream_triad}
/* clang-format on */

static const struct assay__stream_kernel kernels[] = {
#ifdef HAS_AVX512
    LOOPS(avx512, "avx512f", ASSAY__CPU_AVX512F),
    STREAMING_LOOPS(avx512, "avx512f", ASSAY__CPU_AVX512F),
#endif
#if defined(__x86_64__)
    LOOPS(avx2, "avx2", ASSAY__CPU_AVX2 | ASSAY__CPU_FMA),
    STREAMING_LOOPS(avx2, "avx2", ASSAY__CPU_AVX2 | ASSAY__CPU_FMA),
    LOOPS(sse2, "sse2", ASSAY__CPU_SSE2),
    STREAMING_LOOPS(sse2, "sse2", ASSAY__CPU_SSE2),
#elif defined(__aarch64__)
    LOOPS(neon, "neon", ASSAY__CPU_NEON),
#endif
    LOOPS(scalar, "scalar", 0),
};

const struct assay__stream_kernel *assay__stream_at(size_t index)
{
    return index < sizeof kernels / sizeof kernels[0] ? &kernels[index] : NULL;
}

const char *assay__stream_pattern_name(enum assay__stream_pattern pattern)
{
    static const char *const names[ASSAY__STREAM_PATTERNS] = {"read", "write", "copy", "triad"};
    return pattern < ASSAY__STREAM_PATTERNS ? names[pattern] : "";
}

unsigned assay__stream_arrays(enum assay__stream_pattern pattern)
{
    static const unsigned counts[ASSAY__STREAM_PATTERNS] = {1, 1, 2, 3};
    return pattern < ASSAY__STREAM_PATTERNS ? counts[pattern] : 0;
}
