/* fuzz_trace_json.c - any bytes as Chrome trace JSON: with the importer of Kineto, with that of
 * ONNX Runtime where they begin as an array, and as a file whose format has to be recognised where
 * they begin as a compressed one. */
#include "fuzz_import.h"

#include "import/importers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool packed = size && (data[0] == 0x1f || data[0] == 0x28);
    if (packed)
        fuzz_import(NULL, data, size);
    else
        fuzz_import(&assay__importer_kineto, data, size);
    if (size && data[0] == '[') fuzz_import(&assay__importer_ort, data, size);
    return 0;
}
