/* sha256.h - SHA-256 (FIPS 180-4), for `--hash` and for fingerprints. */
#ifndef ASSAY_MODEL_SHA256_H
#define ASSAY_MODEL_SHA256_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    uint8_t block[64];
};

void assay__sha256_start(struct assay__sha256 *sha);
void assay__sha256_add(struct assay__sha256 *sha, const void *bytes, size_t size);
void assay__sha256_end(struct assay__sha256 *sha, uint8_t digest[32]);
/** Lower-case hex of the file's digest; reads in blocks, so any size. */
int assay__sha256_file(const char *path, char out[65], struct assay_error *error);

#endif
