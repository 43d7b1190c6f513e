/* bandwidth_body.h - the loops over memory that every instruction set has: read, write, copy,
 * triad. A file defines the names below and includes this once for ordinary stores (all four
 * functions) and, with STORES_ONLY, once more for non-temporal ones.
 *
 *   TARGET               function attributes
 *   NAME(pattern)        name of each function
 *   VECTOR, WIDTH        an integer vector, and its bytes
 *   LOAD(address), STORE(address, v), STORE_ANYWHERE (no alignment), ADD(v, w) on 64-bit words
 *   SAME(value)          the vector that holds a double in each 64 bits
 *   TRIAD(a, b, scale)   a + scale · b in float64, on such vectors
 *   FENCE                after a pass: orders non-temporal stores, else nothing
 *
 * A round of a loop is eight vectors: the loop's own instructions then vanish. The asm statement
 * (no instruction) stands for "memory may have changed", so that neither a pass nor a loop is
 * recognised as something else (memset, memcpy, nothing). */
#define FORGET __asm__ volatile("" : : : "memory")
#define ROUND (8 * WIDTH)

#ifndef STORES_ONLY
TARGET static uint64_t NAME(read)(const struct assay__stream *stream, uint64_t passes)
{
    VECTOR zero = SAME(0.0), s0 = zero, s1 = zero, s2 = zero, s3 = zero;
    VECTOR s4 = zero, s5 = zero, s6 = zero, s7 = zero;
    for (; passes; passes--) {
        const unsigned char *at = stream->a, *end = at + stream->bytes;
        for (; at < end; at += ROUND) {
            s0 = ADD(s0, LOAD(at));
            s1 = ADD(s1, LOAD(at + WIDTH));
            s2 = ADD(s2, LOAD(at + 2 * WIDTH));
            s3 = ADD(s3, LOAD(at + 3 * WIDTH));
            s4 = ADD(s4, LOAD(at + 4 * WIDTH));
            s5 = ADD(s5, LOAD(at + 5 * WIDTH));
            s6 = ADD(s6, LOAD(at + 6 * WIDTH));
            s7 = ADD(s7, LOAD(at + 7 * WIDTH));
        }
        FORGET;
    }
    uint64_t words[WIDTH / 8], sum = 0;
    s0 = ADD(ADD(ADD(s0, s1), ADD(s2, s3)), ADD(ADD(s4, s5), ADD(s6, s7)));
    STORE_ANYWHERE(words, s0);
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
        for (; to < end; to += ROUND) {
            STORE(to, value);
            STORE(to + WIDTH, value);
            STORE(to + 2 * WIDTH, value);
            STORE(to + 3 * WIDTH, value);
            STORE(to + 4 * WIDTH, value);
            STORE(to + 5 * WIDTH, value);
            STORE(to + 6 * WIDTH, value);
            STORE(to + 7 * WIDTH, value);
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
        for (; at < end; at += ROUND, to += ROUND) {
            STORE(to, LOAD(at));
            STORE(to + WIDTH, LOAD(at + WIDTH));
            STORE(to + 2 * WIDTH, LOAD(at + 2 * WIDTH));
            STORE(to + 3 * WIDTH, LOAD(at + 3 * WIDTH));
            STORE(to + 4 * WIDTH, LOAD(at + 4 * WIDTH));
            STORE(to + 5 * WIDTH, LOAD(at + 5 * WIDTH));
            STORE(to + 6 * WIDTH, LOAD(at + 6 * WIDTH));
            STORE(to + 7 * WIDTH, LOAD(at + 7 * WIDTH));
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
        for (size_t i = 0; i < bytes; i += ROUND) {
#define TRIAD_ONE(n) \
    STORE(to + i + (n)*WIDTH, TRIAD(LOAD(a + i + (n)*WIDTH), LOAD(b + i + (n)*WIDTH), scale))
            TRIAD_ONE(0);
            TRIAD_ONE(1);
            TRIAD_ONE(2);
            TRIAD_ONE(3);
            TRIAD_ONE(4);
            TRIAD_ONE(5);
            TRIAD_ONE(6);
            TRIAD_ONE(7);
#undef TRIAD_ONE
            FORGET;
        }
        FENCE;
    }
    return 0;
}

#undef FORGET
#undef ROUND
