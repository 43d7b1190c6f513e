/* chunk.h - column chunks: up to 65,536 numbers as one blob. See chunk.c for the two encodings. */
#ifndef ASSAY_PROFILE_CHUNK_H
#define ASSAY_PROFILE_CHUNK_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

#define ASSAY__CHUNK_VALUES ((size_t)65536)
#define ASSAY__CHUNK_DELTA "delta-varint"
#define ASSAY__CHUNK_F64 "f64"

/** Appends the values to `out` in the smaller encoding that keeps every bit, and returns its name
 * (static storage). At most ASSAY__CHUNK_VALUES values. When out of memory, out->failed is set. */
const char *assay__chunk_encode(const double *values, size_t count, struct assay__buf *out);

/** Decodes exactly `count` values that must use up all of `data`. ASSAY_EFORMAT when they do not,
 * when the encoding is unknown or when count is over the limit; `out` (room for count) then has an
 * unspecified part of them. */
int assay__chunk_decode(const char *encoding, const void *data, size_t size, size_t count,
                        double *out);

/** The same for any 64-bit integers, always as ASSAY__CHUNK_DELTA; differences wrap. */
void assay__chunk_encode_integers(const int64_t *values, size_t count, struct assay__buf *out);
int assay__chunk_decode_integers(const void *data, size_t size, size_t count, int64_t *out);

#endif
