/* fuzz_code_symbols.c - any bytes as an ELF file and as a map of generated code. A place is in a
 * function, or in none. */
#include "import/code_symbols.h"

#include <stdlib.h>
#include <string.h>

static void look(struct assay__code_symbols *symbols)
{
    for (uint64_t place = 0; place < 1 << 14; place += 61) {
        const char *name = assay__code_symbols_find(symbols, place);
        uint64_t start = 0;
        if (name && (!*name || strlen(name) > 4096)) abort();
        if (assay__code_symbols_start(symbols, place, &start) && start > place) abort();
    }
    assay__code_symbols_free(symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct assay__code_symbols *symbols = NULL;
    char *copy = malloc(size + 1); /* its end is noticed */
    if (!copy) return 0;
    if (size) memcpy(copy, data, size);
    if (!assay__code_symbols_elf(copy, size, &symbols, NULL)) look(symbols);
    if (!assay__code_symbols_map(copy, size, &symbols, NULL)) look(symbols);
    free(copy);
    return 0;
}
