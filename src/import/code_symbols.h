/* code_symbols.h - which function a place in code belongs to: from the symbol tables of an ELF
 * file, or from the text file that a program writes about code that it generates (perf-PID.map). */
#ifndef ASSAY_IMPORT_CODE_SYMBOLS_H
#define ASSAY_IMPORT_CODE_SYMBOLS_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct assay__code_symbols;

/** Of an ELF file in memory (64 bits, little-endian): places are offsets in the file. Both tables
 *  are read, .symtab and .dynsym; a file may have neither, and then no place has a name. */
int assay__code_symbols_elf(const void *bytes, size_t size, struct assay__code_symbols **symbols,
                            struct assay_error *error);
/** Of the text "7f2a10 40 py::f:/x.py\n…" (start and length, hexadecimal, and a name): places are
 *  addresses. Lines that are none are passed over. */
int assay__code_symbols_map(const char *text, size_t length, struct assay__code_symbols **symbols,
                            struct assay_error *error);
void assay__code_symbols_free(struct assay__code_symbols *symbols);

/** How many there are. */
size_t assay__code_symbols_count(const struct assay__code_symbols *symbols);
/** Where the function begins that the place is in, or the last one before it, as far as tables for
 *  unwinding say: a stripped file still has them. False: they say nothing. */
bool assay__code_symbols_start(const struct assay__code_symbols *symbols, uint64_t place,
                               uint64_t *start);
/** The function's name; NULL: the place is in none. */
const char *assay__code_symbols_find(const struct assay__code_symbols *symbols, uint64_t place);

#endif
