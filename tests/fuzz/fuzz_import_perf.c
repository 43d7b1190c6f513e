/* fuzz_import_perf.c - any bytes as what the importer "perf" reads, and as a file whose format has
 * to be recognised. */
#include "fuzz_import.h"

#include "import/importers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(&assay__importer_perf, data, size);
    fuzz_import(NULL, data, size);
    return 0;
}
