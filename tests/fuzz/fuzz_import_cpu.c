/* fuzz_import_cpu.c - any bytes as a file of the CPU recorder, behind a head that is right. */
#include "fuzz_import.h"

#include "base/cpu_trace.h"
#include "import/importers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay__cpu_file_head head = {.version = ASSAY__CPU_FILE_VERSION,
                                        .head_bytes = sizeof head};
    memcpy(head.magic, ASSAY__CPU_FILE_MAGIC, sizeof head.magic);
    fuzz_import(&assay__importer_cpu, data, size);
    uint8_t *whole = malloc(sizeof head + size);
    if (!whole) return 0;
    memcpy(whole, &head, sizeof head);
    if (size) memcpy(whole + sizeof head, data, size);
    fuzz_import(&assay__importer_cpu, whole, sizeof head + size);
    free(whole);
    return 0;
}
