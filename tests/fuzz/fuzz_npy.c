/* fuzz_npy.c - the .npy reader. Beyond "no crash": what it accepts lies inside the file, is as
 * long as its shape says, and is read back the same after it was written. */
#include "model/inputs/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay_error error = {.code = 0};
    struct assay__npy npy, again;
    struct assay__mapping mapping;
    char path[64];
    if (assay__npy_parse(data, size, &npy, &error)) {
        if (!*error.message || strchr(error.message, '\n')) abort();
        return 0;
    }
    if (npy.data < data || npy.data + npy.data_size != data + size) abort();
    snprintf(path, sizeof path, "/tmp/assay-fuzz-%ld.npy", (long)getpid());
    if (assay__npy_write(path, npy.dtype, npy.rank, npy.dims, npy.data, npy.data_size, &error))
        abort();
    if (assay__file_map(path, &mapping, &error)) abort();
    if (assay__npy_parse(mapping.data, mapping.size, &again, &error)) abort();
    if (again.dtype != npy.dtype || again.rank != npy.rank || again.data_size != npy.data_size ||
        memcmp(again.dims, npy.dims, (size_t)npy.rank * sizeof npy.dims[0]) != 0 ||
        (npy.data_size && memcmp(again.data, npy.data, npy.data_size) != 0))
        abort();
    assay__file_unmap(&mapping);
    unlink(path);
    return 0;
}
