/* chunk.c - the two encodings of a column chunk.
 *
 * "delta-varint": whole numbers of magnitude up to 2^53 (durations in ns are such). With v[-1] = 0,
 * each value is the difference d = v[i] - v[i-1], folded to an unsigned number z = (d << 1) ^ (d >>
 * 63), written as base-128 digits, least significant first, the top bit set on all but the last. A
 * latency of 20 µs that jitters by 100 ns takes 2 bytes. "f64": IEEE 754 doubles, little-endian,
 * for everything else (fractions, infinities, NaN with its payload, -0). Both are exact: decoding
 * gives the bits that were encoded. */
#include "profile/chunk.h"

#include <assay/error.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* 2^53: every whole number up to here is exact in a double */
#define EXACT_LIMIT 9007199254740992.0
#define VARINT_BYTES 10

static bool is_whole(double value)
{
    if (!(value >= -EXACT_LIMIT && value <= EXACT_LIMIT)) return false; /* NaN too */
    return value == trunc(value) && !(value == 0 && signbit(value));
}

static size_t varint_write(uint64_t value, uint8_t *out)
{
    size_t n = 0;
    while (value >= 0x80) {
        out[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    out[n++] = (uint8_t)value;
    return n;
}

/* Bytes used, or 0 when the number is truncated or exceeds 64 bits. */
static size_t varint_read(const uint8_t *data, size_t size, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t n = 0; n < size && n < VARINT_BYTES; n++) {
        uint64_t digit = data[n] & 0x7fu;
        if (n == VARINT_BYTES - 1 && digit > 1) return 0;
        sum |= digit << (7 * n);
        if (!(data[n] & 0x80)) {
            *value = sum;
            return n + 1;
        }
    }
    return 0;
}

/* A run of numbers on its way into a buffer. */
struct deltas {
    struct assay__buf *out;
    uint64_t previous; /* unsigned: a difference beyond 63 bits wraps, and back again */
    size_t used;
    uint8_t bytes[512 * VARINT_BYTES];
};

static void put_delta(struct deltas *deltas, int64_t value)
{
    uint64_t delta = (uint64_t)value - deltas->previous;
    uint64_t folded = (delta << 1) ^ (delta >> 63 ? UINT64_MAX : 0);
    deltas->previous = (uint64_t)value;
    deltas->used += varint_write(folded, deltas->bytes + deltas->used);
    if (deltas->used <= sizeof deltas->bytes - VARINT_BYTES) return;
    assay__buf_add(deltas->out, deltas->bytes, deltas->used);
    deltas->used = 0;
}

static void encode_delta(const double *values, size_t count, struct assay__buf *out)
{
    struct deltas deltas = {.out = out};
    for (size_t i = 0; i < count; i++)
        put_delta(&deltas, (int64_t)values[i]);
    assay__buf_add(out, deltas.bytes, deltas.used);
}

void assay__chunk_encode_integers(const int64_t *values, size_t count, struct assay__buf *out)
{
    struct deltas deltas = {.out = out};
    for (size_t i = 0; i < count; i++)
        put_delta(&deltas, values[i]);
    assay__buf_add(out, deltas.bytes, deltas.used);
}

int assay__chunk_decode_integers(const void *data, size_t size, size_t count, int64_t *out)
{
    const uint8_t *at = data;
    uint64_t previous = 0;
    if (count > ASSAY__CHUNK_VALUES || (size > 0 && !data)) return ASSAY_EFORMAT;
    for (size_t i = 0; i < count; i++) {
        uint64_t folded;
        size_t used = varint_read(at, size, &folded);
        if (!used) return ASSAY_EFORMAT;
        at += used;
        size -= used;
        previous += (folded >> 1) ^ (folded & 1 ? UINT64_MAX : 0);
        out[i] = (int64_t)previous;
    }
    return size == 0 ? 0 : ASSAY_EFORMAT;
}

const char *assay__chunk_encode(const double *values, size_t count, struct assay__buf *out)
{
    bool whole = true;
    for (size_t i = 0; i < count && whole; i++)
        whole = is_whole(values[i]);
    if (whole) {
        encode_delta(values, count, out);
        return ASSAY__CHUNK_DELTA;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        uint8_t bytes[8];
        memcpy(&bits, &values[i], sizeof bits);
        for (int b = 0; b < 8; b++)
            bytes[b] = (uint8_t)(bits >> (8 * b));
        assay__buf_add(out, bytes, sizeof bytes);
    }
    return ASSAY__CHUNK_F64;
}

static int decode_delta(const uint8_t *data, size_t size, size_t count, double *out)
{
    uint64_t previous = 0; /* unsigned: a crafted sum wraps instead of overflowing */
    for (size_t i = 0; i < count; i++) {
        uint64_t folded;
        size_t used = varint_read(data, size, &folded);
        if (!used) return ASSAY_EFORMAT;
        data += used;
        size -= used;
        previous += (folded >> 1) ^ (folded & 1 ? UINT64_MAX : 0);
        double value = (double)(int64_t)previous;
        if (!(fabs(value) <= EXACT_LIMIT)) return ASSAY_EFORMAT;
        out[i] = value;
    }
    return size == 0 ? 0 : ASSAY_EFORMAT;
}

static int decode_f64(const uint8_t *data, size_t size, size_t count, double *out)
{
    if (size != count * 8) return ASSAY_EFORMAT; /* count <= 65,536 */
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        for (int b = 7; b >= 0; b--)
            bits = bits << 8 | data[i * 8 + (size_t)b];
        memcpy(&out[i], &bits, sizeof bits);
    }
    return 0;
}

int assay__chunk_decode(const char *encoding, const void *data, size_t size, size_t count,
                        double *out)
{
    if (!encoding || count > ASSAY__CHUNK_VALUES || (size > 0 && !data)) return ASSAY_EFORMAT;
    if (strcmp(encoding, ASSAY__CHUNK_DELTA) == 0) return decode_delta(data, size, count, out);
    if (strcmp(encoding, ASSAY__CHUNK_F64) == 0) return decode_f64(data, size, count, out);
    return ASSAY_EFORMAT;
}
