/* bandwidth_body.h - the loops over memory that every instruction set has: read, write, copy,
 * triad. bandwidth.c defines the names below and includes this once per instruction set (hence no
 * guard):
 *
 *   SET, TARGET          prefix of the functions' names, and their attributes
 *   VECTOR               an integer vector
 *   LOAD(address), STORE(address, v), ADD(v, w) on 64-bit words
 *   SAME(value)          the vector that holds a double in each 64 bits
 *   TRIAD(a, b, scale)   a + scale · b in float64, on such vectors
 *   STREAM(address, v)   stores that bypass the caches: with it the file includes itself again, for
 *                        loops with such stores, whose passes are separated by a fence
 *
 * A round of a loop is eight vectors, which makes the loop overhead negligible. The asm statement
 * (no instruction) means "memory may have changed", so that neither a pass nor a loop is recognised
 * as something else (memset, memcpy, nothing). */
#ifdef NON_TEMPORAL
#define NAME(pattern) NAME_OF(SET, stream_##pattern)
#define PUT STREAM
#define FENCE _mm_sfence()
#else
#define NAME(pattern) NAME_OF(SET, pattern)
#define PUT STORE
#define FENCE (void)0
#endif
#define FORGET __asm__ volatile("" : : : "memory")
#define WIDTH sizeof(VECTOR)

#ifndef NON_TEMPORAL
TARGET static uint64_t NAME(read)(const struct assay__stream *stream, uint64_t passes)
{
    VECTOR zero = SAME(0.0), s0 = zero, s1 = zero, s2 = zero, s3 = zero;
    VECTOR s4 = zero, s5 = zero, s6 = zero, s7 = zero;
    for (; passes; passes--) {
        const unsigned char *at = stream->a, *end = at + stream->bytes;
        for (; at < end; at += 8 * WIDTH) {
#define READ(n) s##n = ADD(s##n, LOAD(at + (n)*WIDTH));
            ASSAY__EACH_8(READ)
#undef READ
        }
        FORGET;
    }
    uint64_t words[WIDTH / 8], sum = 0;
    s0 = ADD(ADD(ADD(s0, s1), ADD(s2, s3)), ADD(ADD(s4, s5), ADD(s6, s7)));
    memcpy(words, &s0, sizeof words);
    for (size_t i = 0; i < WIDTH / 8; i++)
        sum += words[i];
    return sum;
}
#endif

TARGET static uint64_t NAME(write)(const struct assay__stream *stream, uint64_t passes)
{
    VECTOR value = SAME(stream->scale);
    for (; passes; passes--) {
        unsigned char *to = stream->to, *end = to + stream->bytes;
        for (; to < end; to += 8 * WIDTH) {
#define WRITE(n) PUT(to + (n)*WIDTH, value);
            ASSAY__EACH_8(WRITE)
#undef WRITE
            FORGET;
        }
        FENCE;
    }
    return 0;
}

TARGET static uint64_t NAME(copy)(const struct assay__stream *stream, uint64_t passes)
{
    for (; passes; passes--) {
        const unsigned char *at = stream->a, *end = at + stream->bytes;
        unsigned char *to = stream->to;
        for (; at < end; at += 8 * WIDTH, to += 8 * WIDTH) {
#define COPY(n) PUT(to + (n)*WIDTH, LOAD(at + (n)*WIDTH));
            ASSAY__EACH_8(COPY)
#undef COPY
            FORGET;
        }
        FENCE;
    }
    return 0;
}

TARGET static uint64_t NAME(triad)(const struct assay__stream *stream, uint64_t passes)
{
    VECTOR scale = SAME(stream->scale);
    for (; passes; passes--) {
        size_t bytes = stream->bytes;
        const unsigned char *a = stream->a, *b = stream->b;
        unsigned char *to = stream->to;
        for (size_t i = 0; i < bytes; i += 8 * WIDTH) {
#define ADD_SCALED(n) \
    PUT(to + i + (n)*WIDTH, TRIAD(LOAD(a + i + (n)*WIDTH), LOAD(b + i + (n)*WIDTH), scale));
            ASSAY__EACH_8(ADD_SCALED)
#undef ADD_SCALED
            FORGET;
        }
        FENCE;
    }
    return 0;
}

#undef NAME
#undef PUT
#undef FENCE
#undef FORGET
#undef WIDTH

#ifndef NON_TEMPORAL
#ifdef STREAM
#define NON_TEMPORAL
#include "ceiling/kernels/bandwidth_body.h"
#undef NON_TEMPORAL
#undef STREAM
#endif
#undef SET
#undef TARGET
#undef VECTOR
#undef LOAD
#undef STORE
#undef ADD
#undef SAME
#undef REAL
#undef TRIAD
#endif
