/* fuzz_trace_json.c - any bytes as Chrome trace JSON: with both importers of it, and as a file
 * whose format has to be recognised, which may be compressed. */
#include "fuzz_events.h"

#include "import/importers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(&assay__importer_kineto, data, size);
    fuzz_import(&assay__importer_ort, data, size);
    fuzz_import(NULL, data, size);
    return 0;
}
