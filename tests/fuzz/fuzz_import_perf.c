/* fuzz_import_perf.c - see fuzz_import.h. */
#include "fuzz/fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_import(data, size, "perf");
}
