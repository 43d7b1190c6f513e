/* test_code_symbols.c - symbols of an ELF file that is written here: names, lengths, several names
 * of one place, functions known only from the table for unwinding; the file cut everywhere and
 * damaged everywhere; maps of generated code. */
#include "harness.h"

#include "import/code_symbols.h"

#include <string.h>

/* Offsets in the file: code at 0x1000 is mapped at 0x401000. */
enum { SEGMENTS = 64, SECTIONS = 256, SYMBOLS = 512, NAMES = 1024, UNWIND = 1536, SIZE = 0x2000 };

struct symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, bytes;
};

static char elf[SIZE];

static void put16(size_t at, uint16_t value)
{
    memcpy(elf + at, &value, sizeof value);
}
static void put32(size_t at, uint32_t value)
{
    memcpy(elf + at, &value, sizeof value);
}
static void put64(size_t at, uint64_t value)
{
    memcpy(elf + at, &value, sizeof value);
}

static void put_segment(size_t at, uint32_t type, uint64_t offset, uint64_t address, uint64_t bytes)
{
    put32(at, type);
    put64(at + 8, offset);
    put64(at + 16, address);
    put64(at + 32, bytes);
    put64(at + 40, bytes);
}

static void put_section(size_t at, uint32_t type, uint64_t offset, uint64_t bytes, uint32_t link,
                        uint64_t entry_bytes)
{
    put32(at + 4, type);
    put64(at + 24, offset);
    put64(at + 32, bytes);
    put32(at + 40, link);
    put64(at + 56, entry_bytes);
}

static void write_elf(void)
{
    static const char names[] = "\0main\0__alias\0alias\0early\0data\0outside";
    static const struct symbol symbols[] = {
        {0},
        {1, 2, 0, 1, 0x401100, 0x40},   /* main */
        {6, 2, 0, 1, 0x401200, 0x10},   /* __alias */
        {14, 18, 0, 1, 0x401200, 0x20}, /* alias: global, of the same place */
        {20, 2, 0, 1, 0x401000, 0},     /* early: without a length */
        {26, 1, 0, 1, 0x401180, 0x40},  /* data: no function */
        {31, 2, 0, 1, 0x901000, 0x40},  /* outside of all segments */
    };
    memset(elf, 0, sizeof elf);
    memcpy(elf,
           "\x7f"
           "ELF\2\1\1",
           7);
    put64(32, SEGMENTS);
    put64(40, SECTIONS);
    put16(54, 56);
    put16(56, 2);
    put16(58, 64);
    put16(60, 3);
    put_segment(SEGMENTS, 1, 0x1000, 0x401000, 0x1000);
    put_segment(SEGMENTS + 56, 0x6474e550, UNWIND, 0x402000, 64);
    put_section(SECTIONS + 64, 2, SYMBOLS, sizeof symbols, 2, sizeof symbols[0]);
    put_section(SECTIONS + 128, 3, NAMES, sizeof names, 0, 0);
    memcpy(elf + SYMBOLS, symbols, sizeof symbols);
    memcpy(elf + NAMES, names, sizeof names);
    memcpy(elf + UNWIND, "\1\x1b\3\x3b", 4);
    put32(UNWIND + 8, 2); /* two functions, at 0x401800 and 0x401400 */
    put32(UNWIND + 12, (uint32_t)-0x800);
    put32(UNWIND + 20, (uint32_t)-0xc00);
}

static void check_name(const struct assay__code_symbols *symbols, uint64_t place, const char *name)
{
    const char *found = assay__code_symbols_find(symbols, place);
    CHECK_STR(found ? found : "none", name);
}

static void test_elf(void)
{
    struct assay__code_symbols *symbols;
    uint64_t start;
    write_elf();
    CHECK_INT(assay__code_symbols_elf(elf, sizeof elf, &symbols, NULL), 0);
    CHECK_INT(assay__code_symbols_count(symbols), 3);
    check_name(symbols, 0xfff, "none");
    check_name(symbols, 0x1000, "early"); /* up to the next function */
    check_name(symbols, 0x10ff, "early");
    check_name(symbols, 0x1100, "main");
    check_name(symbols, 0x113f, "main");
    check_name(symbols, 0x1140, "none");
    check_name(symbols, 0x121f, "alias"); /* the longer of the two lengths */
    check_name(symbols, 0x1220, "none");
    CHECK(!assay__code_symbols_start(symbols, 0x13ff, &start));
    CHECK(assay__code_symbols_start(symbols, 0x1400, &start));
    CHECK_INT(start, 0x1400);
    CHECK(assay__code_symbols_start(symbols, 0x1fff, &start));
    CHECK_INT(start, 0x1800);
    assay__code_symbols_free(symbols);
}

/* Nothing is read beyond the end, which the sanitizers see. */
static void test_damaged(void)
{
    struct assay__code_symbols *symbols;
    for (size_t size = 0; size < sizeof elf; size += size < 2048 ? 1 : 64) {
        write_elf();
        char *copy = malloc(size + 1);
        CHECK(copy != NULL);
        memcpy(copy, elf, size);
        int code = assay__code_symbols_elf(copy, size, &symbols, NULL);
        CHECK(code == 0 || (code < 0 && size < 64));
        if (!code) assay__code_symbols_find(symbols, 0x1100);
        assay__code_symbols_free(symbols);
        free(copy);
    }
    for (size_t at = 6; at < 2048; at++) {
        write_elf();
        elf[at] = (char)0xff;
        CHECK_INT(assay__code_symbols_elf(elf, sizeof elf, &symbols, NULL), 0);
        CHECK(assay__code_symbols_count(symbols) <= 6);
        assay__code_symbols_free(symbols);
    }
}

static void test_no_elf(void)
{
    struct assay__code_symbols *symbols;
    struct assay_error error = {0};
    write_elf();
    elf[4] = 1; /* 32 bits */
    CHECK_INT(assay__code_symbols_elf(elf, sizeof elf, &symbols, &error), ASSAY_EFORMAT);
    CHECK(symbols == NULL && error.message[0]);
}

static void test_map(void)
{
    static const char text[] = "10 10 first one\n"
                               "0x30 8 second\r\n"
                               "zz 8 no number\n"
                               "40 0 no length\n"
                               "11112222333344445 8 too long a number\n"
                               "50\n\n"
                               "60 1 last";
    struct assay__code_symbols *symbols;
    CHECK_INT(assay__code_symbols_map(text, sizeof text - 1, &symbols, NULL), 0);
    CHECK_INT(assay__code_symbols_count(symbols), 3);
    check_name(symbols, 0x1f, "first one");
    check_name(symbols, 0x20, "none");
    check_name(symbols, 0x37, "second\r");
    check_name(symbols, 0x60, "last");
    check_name(symbols, 0x61, "none");
    assay__code_symbols_free(symbols);
}

int main(int argc, char **argv)
{
    static const struct harness_test tests[] = {
        {"elf", test_elf}, {"damaged", test_damaged}, {"no_elf", test_no_elf}, {"map", test_map}};
    return harness_main(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
