/* html_text.c - text made safe for a page: every string that reaches these functions may come from
 * an untrusted file. */
#include "report/walk/html_text.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

enum { NAME_MOST = 160, NAME_HALF = 78 }; /* characters of a name that are shown */

/* Explicit directional formatting can make a text look like another; a name needs none, because its
 * letters have their own direction. */
static bool is_unsafe(uint32_t code)
{
    return code == ASSAY__UTF8_INVALID || (code < 0x20 && code != '\t' && code != '\n') ||
           (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f ||
           code == 0x061c || code == 0x2028 || code == 0x2029 || code == 0xfeff ||
           (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
}

static void put_escaped(struct assay__buf *out, const char *text, size_t length)
{
    size_t from = 0, size = 1;
    for (size_t i = 0; i < length; i += size) {
        unsigned char c = (unsigned char)text[i];
        const char *instead = NULL;
        size = 1;
        if (c == '&')
            instead = "&amp;";
        else if (c == '<')
            instead = "&lt;";
        else if (c == '>')
            instead = "&gt;";
        else if (c == '"')
            instead = "&quot;";
        else if (c == '\'')
            instead = "&#39;";
        else if (c < 0x20 || c >= 0x7f)
            instead = is_unsafe(assay__utf8_decode(text + i, length - i, &size))
                          ? ASSAY__UTF8_REPLACEMENT
                          : NULL;
        if (!instead) continue;
        assay__buf_add(out, text + from, i - from);
        assay__buf_puts(out, instead);
        from = i + size;
    }
    assay__buf_add(out, text + from, length - from);
}

/* A long name may break after a separator, but not within a word; "batch=1" among other settings
 * stays whole. */
static void put_breaking(struct assay__buf *out, const char *text, size_t length)
{
    enum { LEAST = 14 };
    size_t from = 0, begin = 0, end = 0; /* of the word that i is in */
    for (size_t i = 0; i + 1 < length; i++) {
        if (i >= end) {
            for (begin = end = i; end < length && text[end] != ' ';)
                end++;
            end += end == i; /* the blank itself */
        }
        if (end - begin <= LEAST || i == begin || i + 1 == end) continue;
        if (!strchr("/._:=", text[i]) || strchr("/._:=", text[i + 1])) continue;
        put_escaped(out, text + from, i + 1 - from);
        assay__buf_puts(out, "<wbr>");
        from = i + 1;
    }
    put_escaped(out, text + from, length - from);
}

void assay__html_text(struct assay__buf *out, const char *text)
{
    if (text) put_escaped(out, text, strlen(text));
}

/* Is the next word a unit? No line breaks between a number and its unit. */
static bool is_unit(const char *word)
{
    static const char *const units[] = {"s",  "ms",  "µs",  "ns", "B",   "kB",  "MB", "GB",
                                        "TB", "J",   "mJ",  "µJ", "kJ",  "W",   "mW", "kW",
                                        "Hz", "MHz", "GHz", "/s", "k/s", "M/s", "°C"};
    size_t length = strcspn(word, " ,;:.)");
    if (*word == '%' || strncmp(word, "×", sizeof "×" - 1) == 0) return true;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i]) == length && strncmp(units[i], word, length) == 0) return true;
    return false;
}

/* Length of an option (--launches) at the start of a word; 0 none. */
static size_t option_at(const char *text, size_t i)
{
    enum { MOST = 40 };
    bool begins = i == 0 || text[i - 1] == ' ' || text[i - 1] == '(';
    if (!begins || text[i] != '-' || text[i + 1] != '-') return 0;
    size_t length = 2 + strspn(text + i + 2, "abcdefghijklmnopqrstuvwxyz-");
    return length > 2 && length <= MOST ? length : 0;
}

void assay__html_prose(struct assay__buf *out, const char *text)
{
    size_t from = 0, length = text ? strlen(text) : 0;
    for (size_t i = 0; i < length; i++) {
        size_t option = text[i] == '-' ? option_at(text, i) : 0;
        bool unit = text[i] == ' ' && i && text[i - 1] >= '0' && text[i - 1] <= '9' &&
                    is_unit(text + i + 1);
        if (!option && !unit) continue;
        put_escaped(out, text + from, i - from);
        if (unit) {
            assay__buf_puts(out, "\xc2\xa0");
            from = i + 1;
            continue;
        }
        assay__buf_puts(out, "<span class=\"o\">");
        assay__buf_add(out, text + i, option); /* letters and hyphens only */
        assay__buf_puts(out, "</span>");
        from = i + option;
        i = from - 1;
    }
    if (length > from) put_escaped(out, text + from, length - from);
}

/* Bytes of the first `count` characters. */
static size_t bytes_of(const char *text, size_t length, size_t count)
{
    size_t at = 0, size;
    for (; count && at < length; count--, at += size)
        assay__utf8_decode(text + at, length - at, &size);
    return at;
}

/* Where the last `count` characters begin; in invalid UTF-8, at most four bytes count as one. */
static size_t tail_of(const char *text, size_t length, size_t count)
{
    size_t at = length;
    for (; count && at; count--) {
        at--;
        for (int i = 0; i < 3 && at && ((unsigned char)text[at] & 0xc0) == 0x80; i++)
            at--;
    }
    return at;
}

void assay__html_name(struct assay__buf *out, const char *name)
{
    const char *text = name ? name : "";
    size_t length = strlen(text);
    assay__buf_puts(out, "<bdi>");
    if (length > NAME_MOST && bytes_of(text, length, NAME_MOST) < length) {
        size_t head = bytes_of(text, length, NAME_HALF), tail = tail_of(text, length, NAME_HALF);
        put_breaking(out, text, head);
        assay__buf_puts(out, "…");
        put_breaking(out, text + (tail > head ? tail : head), length - (tail > head ? tail : head));
    } else {
        put_breaking(out, text, length);
    }
    assay__buf_puts(out, "</bdi>");
}

void assay__html_json(struct assay__buf *out, const char *json, size_t length)
{
    bool inside = false;
    size_t from = 0, skip = 1;
    for (size_t i = 0; i < length; i += skip) {
        char c = json[i];
        const char *instead = NULL;
        skip = 1;
        if (inside && c == '\\') {
            skip = i + 1 < length ? 2 : 1;
            continue;
        }
        if (c == '"')
            inside = !inside;
        else if (!inside && (c == ' ' || c == '\n' || c == '\t' || c == '\r'))
            instead = "";
        else if (c == '<')
            instead = "\\u003c";
        else if (c == '>')
            instead = "\\u003e";
        else if (c == '&')
            instead = "\\u0026";
        else if (c == '\xe2' && length - i > 2 && json[i + 1] == '\x80' &&
                 (json[i + 2] == '\xa8' || json[i + 2] == '\xa9')) {
            instead = json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
            skip = 3;
        }
        if (!instead) continue;
        assay__buf_add(out, json + from, i - from);
        assay__buf_puts(out, instead);
        from = i + skip;
    }
    assay__buf_add(out, json + from, length - from);
}

void assay__html_base64(struct assay__buf *out, const void *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = bytes;
    char block[1024];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        unsigned value = (unsigned)from[i] << 16 | (left > 1 ? (unsigned)from[i + 1] << 8 : 0) |
                         (left > 2 ? (unsigned)from[i + 2] : 0);
        block[used++] = digits[value >> 18];
        block[used++] = digits[value >> 12 & 63];
        block[used++] = left > 1 ? digits[value >> 6 & 63] : '=';
        block[used++] = left > 2 ? digits[value & 63] : '=';
        if (used < sizeof block) continue;
        assay__buf_add(out, block, used);
        used = 0;
    }
    assay__buf_add(out, block, used);
}

/* A line may break after at most WORD bytes. */
void assay__html_breaking(struct assay__buf *out, const char *text)
{
    enum { WORD = 40 };
    size_t from = 0, run = 0, length = text ? strlen(text) : 0;
    for (size_t i = 0; i < length; i++) {
        bool begins = ((unsigned char)text[i] & 0xc0) != 0x80;
        run = text[i] == ' ' ? 0 : run + 1;
        if (run <= WORD || !begins) continue;
        put_escaped(out, text + from, i - from);
        assay__buf_puts(out, "<wbr>");
        from = i, run = 1;
    }
    if (length > from) put_escaped(out, text + from, length - from);
}
