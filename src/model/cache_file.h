/* cache_file.h - files that assay keeps for itself between runs: what it measured of this machine.
 * Each is named by its kind and a digest of the text that says what it is about. */
#ifndef ASSAY_MODEL_CACHE_FILE_H
#define ASSAY_MODEL_CACHE_FILE_H

#include <assay/error.h>
#include <stddef.h>

/** $XDG_CACHE_HOME/assay/<kind>-<first 16 hex digits of SHA-256 of the key>.json, else below
 * ~/.cache. Callers also keep the key in the file and compare it. */
int assay__cache_path(const char *kind, const char *key, char *out, size_t out_size,
                      struct assay_error *error);

#endif
