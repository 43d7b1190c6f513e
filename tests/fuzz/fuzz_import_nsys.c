/* fuzz_import_nsys.c - any bytes as an export of Nsight Systems. SQLite wants a file: the bytes go
 * through one in $TMPDIR. */
#include "fuzz_import.h"

#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char name[256];
    const char *folder = getenv("TMPDIR"), *path = name;
    if (!name[0])
        snprintf(name, sizeof name, "%s/assay-fuzz-nsys-%ld", folder && folder[0] ? folder : "/tmp",
                 (long)getpid());
    FILE *file = fopen(path, "wb");
    fuzz_check(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    struct assay__import_options options = {.format = "nsys"};
    struct assay__events *events = NULL;
    struct assay_error error = {0};
    int code = assay__import(&path, 1, &options, &events, &error);
    fuzz_check(code == 0 || error.message[0]);
    if (events) fuzz_check_events(events);
    assay__events_free(events);
    unlink(path);
    return 0;
}
