/* fuzz_import_nsys.c - see fuzz_import.h. */
#include "fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[256];
    const char *folder = getenv("TMPDIR");
    if (!path[0])
        snprintf(path, sizeof path, "%s/assay-fuzz-nsys-%ld", folder && folder[0] ? folder : "/tmp",
                 (long)getpid());
    FILE *file = fopen(path, "wb");
    fuzz_check(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    fuzz_import_path(path, "nsys");
    unlink(path);
    return 0;
}
