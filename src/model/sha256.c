/* sha256.c - SHA-256 according to FIPS 180-4: 64-byte blocks, 64 rounds, length in bits appended
 * big-endian. Plain C, about 0.4 GB/s; about ten times that if the processor has instructions for
 * it. */
#include "model/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define SHA_INSTRUCTIONS
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#endif

/* FIPS 180-4 section 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* One round; the caller rotates the roles of the eight words instead of moving them, so that they
 * stay in registers. */
static inline void turn(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                        uint32_t g, uint32_t *h, uint32_t added)
{
    uint32_t e1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    uint32_t e0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    uint32_t t1 = *h + e1 + (g ^ (e & (f ^ g))) + added;
    *d += t1;
    *h = t1 + e0 + ((a & b) | (c & (a | b)));
}

static void compress(struct assay__sha256 *sha, const uint8_t *block)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t x = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t y = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + x + w[i - 7] + y;
    }
    uint32_t a = sha->state[0], b = sha->state[1], c = sha->state[2], d = sha->state[3];
    uint32_t e = sha->state[4], f = sha->state[5], g = sha->state[6], h = sha->state[7];
    for (int i = 0; i < 64; i += 8) {
        const uint32_t *k = constants + i, *v = w + i;
        turn(a, b, c, &d, e, f, g, &h, k[0] + v[0]);
        turn(h, a, b, &c, d, e, f, &g, k[1] + v[1]);
        turn(g, h, a, &b, c, d, e, &f, k[2] + v[2]);
        turn(f, g, h, &a, b, c, d, &e, k[3] + v[3]);
        turn(e, f, g, &h, a, b, c, &d, k[4] + v[4]);
        turn(d, e, f, &g, h, a, b, &c, k[5] + v[5]);
        turn(c, d, e, &f, g, h, a, &b, k[6] + v[6]);
        turn(b, c, d, &e, f, g, h, &a, k[7] + v[7]);
    }
    const uint32_t done[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++)
        sha->state[i] += done[i];
}

#ifdef SHA_INSTRUCTIONS

/* An instruction does two rounds. It needs the eight words of the state as (A B E F) and (C D G H),
 * highest lane first, and the message, with the round constants added, four words at a time. */
enum { UNASKED, ABSENT, PRESENT };

static bool processor_has_sha(void)
{
    static atomic_int known; /* querying is slow in a virtual machine */
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

__attribute__((target("sha,sse4.1,ssse3"))) static void compress_fast(uint32_t state[8],
                                                                      const uint8_t *data,
                                                                      size_t blocks)
{
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    const __m128i *added_words = (const __m128i *)(const void *)constants;
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
            __m128i added = _mm_add_epi32(w[i], _mm_loadu_si128(added_words + i));
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

#endif

static void compress_all(struct assay__sha256 *sha, const uint8_t *data, size_t blocks)
{
#ifdef SHA_INSTRUCTIONS
    if (processor_has_sha()) {
        compress_fast(sha->state, data, blocks);
        return;
    }
#endif
    for (; blocks > 0; blocks--, data += 64)
        compress(sha, data);
}

void assay__sha256_start(struct assay__sha256 *sha)
{
    static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, initial, sizeof initial);
    sha->length = 0;
}

void assay__sha256_add(struct assay__sha256 *sha, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    size_t have = sha->length % 64;
    sha->length += size;
    while (size > 0) {
        if (have == 0 && size >= 64) {
            compress_all(sha, at, size / 64);
            at += size / 64 * 64;
            size %= 64;
            continue;
        }
        size_t take = 64 - have < size ? 64 - have : size;
        memcpy(sha->block + have, at, take);
        have += take;
        at += take;
        size -= take;
        if (have == 64) {
            compress_all(sha, sha->block, 1);
            have = 0;
        }
    }
}

void assay__sha256_end(struct assay__sha256 *sha, uint8_t digest[32])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = sha->length * 8;
    size_t have = sha->length % 64;
    assay__sha256_add(sha, padding, have < 56 ? 56 - have : 120 - have);
    uint8_t tail[8];
    for (int i = 0; i < 8; i++)
        tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    assay__sha256_add(sha, tail, 8);
    for (int i = 0; i < 32; i++)
        digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

int assay__sha256_file(const char *path, char out[65], struct assay_error *error)
{
    enum { BLOCK = 1 << 18 };
    struct assay__sha256 sha;
    uint8_t digest[32];
    int code = 0;
    uint8_t *buffer = malloc(BLOCK);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        code = assay_error_set(error, errno == ENOENT ? ASSAY_ENOTFOUND : ASSAY_EIO, "%s: %s", path,
                               strerror(errno));
        goto out;
    }
    if (!buffer) {
        code = assay_error_set(error, ASSAY_ENOMEM, "%s: out of memory", path);
        goto out;
    }
    assay__sha256_start(&sha);
    for (;;) {
        ssize_t got = read(fd, buffer, BLOCK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            code = assay_error_set(error, ASSAY_EIO, "%s: %s", path, strerror(errno));
            goto out;
        }
        if (got == 0) break;
        assay__sha256_add(&sha, buffer, (size_t)got);
    }
    assay__sha256_end(&sha, digest);
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
out:
    if (fd >= 0) close(fd);
    free(buffer);
    return code;
}
