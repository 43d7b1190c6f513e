/* page_fixture.h - a page with what its first script inflates (src/report/html/unpack.js): its data
 * and its script in plain text. */
#ifndef ASSAY_TESTS_PAGE_FIXTURE_H
#define ASSAY_TESTS_PAGE_FIXTURE_H

#include "harness.h"

#include "base/buf.h"

#include <string.h>
#include <zlib.h>

/* Bytes of base64 up to its end or padding; fails on anything else, and beyond `room`. */
static inline size_t page_bytes(const char *text, size_t length, unsigned char *out, size_t room)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned value = 0, bits = 0;
    size_t size = 0;
    for (size_t i = 0; i < length && text[i] != '='; i++) {
        const char *at = memchr(digits, text[i], 64);
        CHECK(at != NULL);
        value = value << 6 | (unsigned)(at - digits);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        CHECK(size < room);
        out[size++] = (unsigned char)(value >> bits);
    }
    return size;
}

/* The text of the next block from `page` on, whose id is stored; *end: behind it. NULL: no more.
 * Fresh; free() it. */
static inline char *page_block(const char *page, char id[64], const char **begin, const char **end)
{
    static const char open[] = "<script type=\"application/zlib\" id=\"", close[] = "</script>";
    unsigned long bytes = 0;
    *begin = strstr(page, open);
    if (!*begin) return NULL;
    CHECK_INT(sscanf(*begin + strlen(open), "%63[a-z-]\" data-bytes=\"%lu\"", id, &bytes), 2);
    const char *from = strchr(*begin, '>') + 1;
    *end = strstr(from, close);
    CHECK(*end != NULL);
    size_t length = (size_t)(*end - from);
    unsigned char *packed = malloc(length + 1), *text = calloc(bytes + 1, 1);
    CHECK(packed && text);
    uLongf made = (uLongf)bytes;
    size_t size = page_bytes(from, length, packed, length);
    CHECK_INT(uncompress(text, &made, packed, (uLong)size), Z_OK);
    CHECK_INT(made, bytes);
    free(packed);
    *end += strlen(close);
    return (char *)text;
}

/* The text of that block; fresh, free() it. */
static inline char *page_text(const char *page, const char *wanted)
{
    char id[64] = "", *text = NULL;
    const char *begin, *end = page;
    while ((text = page_block(end, id, &begin, &end)) && strcmp(id, wanted) != 0)
        free(text);
    CHECK(text != NULL);
    return text;
}

/* The page with the text of its data in place of the blocks, but without its script; fresh. */
static inline char *page_unpacked(const char *page)
{
    struct assay__buf out = {0};
    char id[64], *text;
    const char *from = page, *begin, *end;
    while ((text = page_block(from, id, &begin, &end))) {
        assay__buf_add(&out, from, (size_t)(begin - from));
        assay__buf_printf(&out, "<script type=\"application/json\" id=\"%s\">%s</script>", id,
                          strcmp(id, "assay-script") ? text : "");
        free(text);
        from = end;
    }
    assay__buf_puts(&out, from);
    CHECK(!out.failed);
    return out.data;
}

#endif
