/* code_symbols.c - symbols sorted by their start. Where several names are of one place, that with
 * the fewest underscores in front is taken, of those the first in the alphabet: "memcpy", not
 * "__memcpy_avx". A function without a length (of assembly) ends where the next one begins.
 *
 * ELF: System V ABI, chapters 4 and 5. A symbol has a virtual address; segments (PT_LOAD) say where
 * in the file that is. Everything in the file is untrusted: tables that do not fit into it are not
 * read. Neither compressed (.gnu_debugdata) nor separate tables of symbols are. */
#include "import/code_symbols.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/no_memory.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOLS_MOST ((size_t)1 << 24)
#define NAME_MOST 4096u
#define NAMES_MOST ((size_t)1 << 30) /* bytes */
#define LOADS_MOST 32u

struct symbol {
    uint64_t start, length;
    const char *name; /* in the arena */
};

struct assay__code_symbols {
    struct assay__arena *arena;
    struct symbol *items;
    size_t count, capacity;
    uint64_t *starts; /* of functions that need not have a name, sorted */
    size_t start_count;
};

static struct assay__code_symbols *make(void)
{
    struct assay__code_symbols *symbols = calloc(1, sizeof *symbols);
    if (symbols && !(symbols->arena = assay__arena_new())) {
        free(symbols);
        return NULL;
    }
    return symbols;
}

void assay__code_symbols_free(struct assay__code_symbols *symbols)
{
    if (!symbols) return;
    assay__arena_free(symbols->arena);
    free(symbols->items);
    free(symbols->starts);
    free(symbols);
}

size_t assay__code_symbols_count(const struct assay__code_symbols *symbols)
{
    return symbols->count;
}

/* False: out of memory. */
static bool add(struct assay__code_symbols *symbols, uint64_t start, uint64_t length,
                const char *name, size_t name_length)
{
    if (symbols->count >= SYMBOLS_MOST || !name_length ||
        assay__arena_used(symbols->arena) > NAMES_MOST)
        return true;
    if (name_length > NAME_MOST) name_length = NAME_MOST;
    if (assay__vec_grow((void **)&symbols->items, &symbols->capacity, symbols->count + 1,
                        sizeof *symbols->items))
        return false;
    char *kept = assay__arena_strndup(symbols->arena, name, name_length);
    symbols->items[symbols->count++] = (struct symbol){start, length, kept};
    return kept != NULL;
}

static int compare(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    size_t x_bars = strspn(x->name, "_"), y_bars = strspn(y->name, "_");
    if (x_bars != y_bars) return x_bars < y_bars ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* One symbol for each start, with a length. */
static void settle(struct assay__code_symbols *symbols)
{
    struct symbol *items = symbols->items;
    size_t kept = 0;
    if (symbols->count) qsort(items, symbols->count, sizeof *items, compare);
    for (size_t i = 0; i < symbols->count; i++) {
        if (kept && items[kept - 1].start == items[i].start) {
            if (items[kept - 1].length < items[i].length) items[kept - 1].length = items[i].length;
            continue;
        }
        items[kept++] = items[i];
    }
    symbols->count = kept;
    for (size_t i = 0; i + 1 < kept; i++)
        if (!items[i].length) items[i].length = items[i + 1].start - items[i].start;
}

const char *assay__code_symbols_find(const struct assay__code_symbols *symbols, uint64_t place)
{
    size_t low = 0, high = symbols->count; /* the last symbol that starts at the place or before */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->items[middle].start <= place)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    const struct symbol *found = &symbols->items[low - 1];
    return place - found->start < found->length ? found->name : NULL;
}

/* --- ELF -------------------------------------------------------------------------------------- */

struct elf_head {
    uint8_t magic[4], class, order, version, rest[9];
    uint16_t type, machine;
    uint32_t file_version;
    uint64_t entry, segments, sections;
    uint32_t flags;
    uint16_t head_bytes, segment_bytes, segment_count, section_bytes, section_count, names;
};
struct elf_segment {
    uint32_t type, flags;
    uint64_t offset, address, physical, file_bytes, memory_bytes, alignment;
};
struct elf_section {
    uint32_t name, type;
    uint64_t flags, address, offset, bytes;
    uint32_t link, info;
    uint64_t alignment, entry_bytes;
};
struct elf_symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, bytes;
};
#define SEGMENT_UNWIND 0x6474e550u /* PT_GNU_EH_FRAME */
enum { SEGMENT_LOAD = 1, SECTION_SYMBOLS = 2, SECTION_DYNAMIC_SYMBOLS = 11 };
enum { SYMBOL_FUNCTION = 2, SYMBOL_INDIRECT_FUNCTION = 10 };

struct elf {
    const char *bytes;
    size_t size;
    struct elf_head head;
    struct elf_segment loads[LOADS_MOST], unwind; /* unwind: type 0 if there is none */
    size_t load_count;
};

/* An entry of a table; false: it does not lie in the file. */
static bool read_entry(const struct elf *elf, uint64_t table, size_t entry_bytes, size_t index,
                       void *out, size_t bytes)
{
    size_t at;
    if (entry_bytes < bytes || table > elf->size || assay__mul_overflows(index, entry_bytes, &at) ||
        assay__add_overflows(at, (size_t)table, &at) || at > elf->size || elf->size - at < bytes)
        return false;
    memcpy(out, elf->bytes + at, bytes);
    return true;
}

static bool read_section(const struct elf *elf, size_t index, struct elf_section *section)
{
    return index < elf->head.section_count &&
           read_entry(elf, elf->head.sections, elf->head.section_bytes, index, section,
                      sizeof *section) &&
           section->offset <= elf->size && section->bytes <= elf->size - section->offset;
}

static void read_loads(struct elf *elf)
{
    struct elf_segment segment;
    for (size_t i = 0; i < elf->head.segment_count && elf->load_count < LOADS_MOST; i++) {
        if (!read_entry(elf, elf->head.segments, elf->head.segment_bytes, i, &segment,
                        sizeof segment))
            return;
        if (segment.type == SEGMENT_LOAD) elf->loads[elf->load_count++] = segment;
        if (segment.type == SEGMENT_UNWIND) elf->unwind = segment;
    }
}

/* Where in the file the address is; false: in none of its segments. */
static bool offset_of(const struct elf *elf, uint64_t address, uint64_t *offset)
{
    for (size_t i = 0; i < elf->load_count; i++) {
        const struct elf_segment *load = &elf->loads[i];
        if (address < load->address || address - load->address >= load->file_bytes) continue;
        if (load->offset > UINT64_MAX - (address - load->address)) continue;
        *offset = address - load->address + load->offset;
        return true;
    }
    return false;
}

/* False: out of memory. */
static bool add_symbol(const struct elf *elf, const struct elf_symbol *symbol,
                       const struct elf_section *texts, struct assay__code_symbols *symbols)
{
    unsigned type = symbol->info & 15u;
    uint64_t offset;
    if ((type != SYMBOL_FUNCTION && type != SYMBOL_INDIRECT_FUNCTION) || !symbol->section ||
        symbol->name >= texts->bytes || !offset_of(elf, symbol->value, &offset))
        return true;
    const char *name = elf->bytes + texts->offset + symbol->name;
    const char *end = memchr(name, '\0', (size_t)texts->bytes - symbol->name);
    return !end || add(symbols, offset, symbol->bytes, name, (size_t)(end - name));
}

static bool add_table(const struct elf *elf, const struct elf_section *table,
                      struct assay__code_symbols *symbols)
{
    struct elf_section texts;
    struct elf_symbol symbol;
    if (table->entry_bytes < sizeof symbol || !read_section(elf, table->link, &texts)) return true;
    size_t count = (size_t)(table->bytes / table->entry_bytes);
    for (size_t i = 0; i < count; i++) {
        if (!read_entry(elf, table->offset, (size_t)table->entry_bytes, i, &symbol, sizeof symbol))
            return true;
        if (!add_symbol(elf, &symbol, &texts, symbols)) return false;
    }
    return true;
}

/* --- tables for unwinding --------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* .eh_frame_hdr (Linux Standard Base, chapter 10): version 1, three encodings, the place of
 * .eh_frame, how many entries, and for each where its function begins, relative to the table, and
 * something else. Linkers write the encodings that are read here: 4 bytes each. False: out of
 * memory. */
static bool read_starts(const struct elf *elf, struct assay__code_symbols *symbols)
{
    enum { HEAD = 12, ENTRY = 8, COUNT_U32 = 0x03, TABLE_RELATIVE_S32 = 0x3b };
    const struct elf_segment *unwind = &elf->unwind;
    uint32_t count;
    if (unwind->type != SEGMENT_UNWIND || unwind->offset > elf->size ||
        elf->size - unwind->offset < HEAD)
        return true;
    const unsigned char *table = (const unsigned char *)elf->bytes + unwind->offset;
    if (table[0] != 1 || (table[1] & 7) != 3 || table[2] != COUNT_U32 ||
        table[3] != TABLE_RELATIVE_S32)
        return true;
    memcpy(&count, table + 8, sizeof count);
    size_t room = (size_t)(elf->size - unwind->offset - HEAD) / ENTRY;
    if (count > room) count = (uint32_t)room;
    symbols->starts = malloc(((size_t)count + 1) * sizeof *symbols->starts);
    if (!symbols->starts) return false;
    for (uint32_t i = 0; i < count; i++) {
        int32_t from;
        memcpy(&from, table + HEAD + (size_t)i * ENTRY, sizeof from);
        uint64_t address = unwind->address + (uint64_t)(int64_t)from;
        if (offset_of(elf, address, &symbols->starts[symbols->start_count])) symbols->start_count++;
    }
    if (symbols->start_count)
        qsort(symbols->starts, symbols->start_count, sizeof *symbols->starts, by_number);
    return true;
}

bool assay__code_symbols_start(const struct assay__code_symbols *symbols, uint64_t place,
                               uint64_t *start)
{
    size_t low = 0, high = symbols->start_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->starts[middle] <= place)
            low = middle + 1;
        else
            high = middle;
    }
    if (low) *start = symbols->starts[low - 1];
    return low > 0;
}

int assay__code_symbols_elf(const void *bytes, size_t size, struct assay__code_symbols **symbols,
                            struct assay_error *error)
{
    static const uint8_t begin[] = {0x7f, 'E', 'L', 'F', 2 /* 64 bits */, 1 /* little-endian */};
    struct elf elf = {.bytes = bytes, .size = size};
    struct elf_section section;
    unsigned seen = 0; /* of each kind of table a file has one */
    *symbols = NULL;
    if (size < sizeof elf.head || memcmp(bytes, begin, sizeof begin) != 0)
        return assay_error_set(error, ASSAY_EFORMAT, "no ELF file of 64 bits, little-endian");
    memcpy(&elf.head, bytes, sizeof elf.head);
    struct assay__code_symbols *made = make();
    bool done = made != NULL;
    read_loads(&elf);
    for (size_t i = 0; done && i < elf.head.section_count; i++) {
        if (!read_section(&elf, i, &section)) continue;
        unsigned kind = section.type == SECTION_SYMBOLS           ? 1
                        : section.type == SECTION_DYNAMIC_SYMBOLS ? 2
                                                                  : 0;
        if (kind & ~seen) done = add_table(&elf, &section, made);
        seen |= kind;
    }
    done = done && read_starts(&elf, made);
    if (!done) {
        assay__code_symbols_free(made);
        return assay__no_memory(error);
    }
    settle(made);
    *symbols = made;
    return 0;
}

/* --- maps of generated code ------------------------------------------------------------------- */

/* A hexadecimal number and the blank behind it; false: there is none. */
static bool take_number(const char **at, const char *end, uint64_t *number)
{
    size_t digits = 0;
    *number = 0;
    if (end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x') *at += 2;
    for (; *at < end && digits <= 16; (*at)++, digits++) {
        char c = **at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 16;
        if (digit == 16) break;
        *number = *number << 4 | digit;
    }
    if (!digits || digits > 16 || *at == end || **at != ' ') return false;
    ++*at;
    return true;
}

int assay__code_symbols_map(const char *text, size_t length, struct assay__code_symbols **symbols,
                            struct assay_error *error)
{
    struct assay__code_symbols *made = make();
    bool done = made != NULL;
    *symbols = NULL;
    for (const char *line = text, *last = text + length; done && line < last;) {
        const char *end = memchr(line, '\n', (size_t)(last - line));
        const char *next = end ? end + 1 : last;
        uint64_t start, bytes;
        if (!end) end = last;
        if (take_number(&line, end, &start) && take_number(&line, end, &bytes) && bytes &&
            !memchr(line, '\0', (size_t)(end - line)))
            done = add(made, start, bytes, line, (size_t)(end - line));
        line = next;
    }
    if (!done) {
        assay__code_symbols_free(made);
        return assay__no_memory(error);
    }
    settle(made);
    *symbols = made;
    return 0;
}
