/* cache_file.c - where files are that assay keeps for itself, by the XDG Base Directory
 * Specification. */
#include "model/cache_file.h"

#include "model/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int assay__cache_path(const char *kind, const char *key, char *out, size_t out_size,
                      struct assay_error *error)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct assay__sha256 sha;
    uint8_t digest[32];
    char hex[17] = "";
    assay__sha256_start(&sha);
    assay__sha256_add(&sha, key, strlen(key));
    assay__sha256_end(&sha, digest);
    for (size_t i = 0; i < 8; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    int length;
    if (cache && cache[0] == '/') /* XDG: a relative path is ignored */
        length = snprintf(out, out_size, "%s/assay/%s-%s.json", cache, kind, hex);
    else if (home && home[0] == '/')
        length = snprintf(out, out_size, "%s/.cache/assay/%s-%s.json", home, kind, hex);
    else
        return assay_error_set(
            error, ASSAY_ENOTFOUND,
            "no folder to save %s in: neither XDG_CACHE_HOME nor HOME is an absolute path", kind);
    if (length < 0 || (size_t)length >= out_size)
        return assay_error_set(error, ASSAY_ELIMIT, "the path of the cache folder is too long");
    return 0;
}
