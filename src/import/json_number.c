/* json_number.c - numbers and texts of values found by json_scan.h. Times of traces have more
 * digits than a double holds (microseconds since 1970 with three decimals are 19 digits): they are
 * read as integers of a power of ten. */
#include "base/utf8.h"
#include "import/chrome_reader.h"

#include <math.h>
#include <stdlib.h>

static const uint64_t powers[] = {1u,
                                  10u,
                                  100u,
                                  1000u,
                                  10000u,
                                  100000u,
                                  1000000u,
                                  10000000u,
                                  100000000u,
                                  1000000000u,
                                  10000000000u,
                                  100000000000u,
                                  1000000000000u,
                                  10000000000000u,
                                  100000000000000u,
                                  1000000000000000u,
                                  10000000000000000u,
                                  100000000000000000u,
                                  1000000000000000000u,
                                  10000000000000000000u};
enum { MOST_POWER = 19 };

struct decimal { /* digits x 10^exponent */
    uint64_t digits;
    int exponent;
    bool negative;
};

/* Digits up to what 64 bits hold; further ones only count as zeros. */
static const char *read_digits(const char *at, const char *end, struct decimal *number, bool dotted)
{
    for (; at < end; at++) {
        unsigned digit = (unsigned)(unsigned char)*at - '0';
        if (digit > 9) break;
        if (number->digits < UINT64_MAX / 10 - 1) {
            number->digits = number->digits * 10 + digit;
            number->exponent -= dotted;
        } else {
            number->exponent += !dotted;
        }
        if (number->exponent > 1000) return at;
    }
    return at;
}

static bool read_exponent(const char *at, const char *end, struct decimal *number)
{
    bool negative = at < end && *at == '-';
    int exponent = 0;
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9') return false;
        if (exponent < 10000) exponent = exponent * 10 + (*at - '0');
    }
    number->exponent += negative ? -exponent : exponent;
    return true;
}

static bool read_decimal(const char *at, const char *end, struct decimal *number)
{
    *number = (struct decimal){.negative = at < end && *at == '-'};
    at += number->negative;
    const char *first = at;
    at = read_digits(at, end, number, false);
    size_t digits = (size_t)(at - first);
    if (at < end && *at == '.') {
        first = at + 1;
        at = read_digits(first, end, number, true);
        digits += (size_t)(at - first);
    }
    if (!digits) return false;
    if (at == end) return true;
    return (*at == 'e' || *at == 'E') && read_exponent(at + 1, end, number);
}

bool assay__scan_decimal(const struct assay__scan_value *value, int scale, int64_t *out)
{
    struct decimal number;
    if (!value || (value->kind != 'w' && value->kind != '"')) return false;
    if (!read_decimal(value->text, value->text + value->length, &number)) return false;
    int exponent = number.exponent + scale;
    uint64_t size = number.digits;
    if (exponent > 0 && size) {
        if (exponent > MOST_POWER || __builtin_mul_overflow(size, powers[exponent], &size))
            return false;
    } else if (exponent < -MOST_POWER) {
        size = 0;
    } else if (exponent < 0) {
        uint64_t unit = powers[-exponent];
        size = size / unit + (size % unit >= unit / 2 + unit % 2);
    }
    if (size > INT64_MAX) return false;
    *out = number.negative ? -(int64_t)size : (int64_t)size;
    return true;
}

bool assay__scan_double(const struct assay__scan_value *value, double *out)
{
    char text[64];
    if (!value || (value->kind != 'w' && value->kind != '"') || !value->length ||
        value->length >= sizeof text)
        return false;
    memcpy(text, value->text, value->length);
    text[value->length] = 0;
    char *end;
    *out = strtod(text, &end);
    return *end == 0 && isfinite(*out);
}

size_t assay__scan_numbers(const struct assay__scan_value *value, int64_t *out, size_t count)
{
    size_t found = 0;
    if (!value || value->kind != '[') return 0;
    const char *at = value->text + 1, *end = value->text + value->length - 1;
    while (at < end && found < count) {
        at = assay__scan_space(at);
        const char *behind = assay__scan_word(at);
        struct assay__scan_value number = {at, (size_t)(behind - at), 'w', false};
        if (behind > end || !assay__scan_decimal(&number, 0, &out[found])) break;
        found++;
        at = assay__scan_space(behind);
        if (*at == ',') at++;
    }
    return found;
}

/* --- texts ------------------------------------------------------------------------------------ */

static bool read_hex4(const char *at, const char *end, uint32_t *code)
{
    *code = 0;
    if (end - at < 4) return false;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;
        if (digit > 15) return false;
        *code = *code << 4 | digit;
    }
    return true;
}

/* The character of \uXXXX (after the u), of two of them for those above U+FFFF. */
static const char *read_unicode(const char *at, const char *end, uint32_t *code)
{
    uint32_t low;
    if (!read_hex4(at, end, code)) return NULL;
    at += 4;
    bool is_pair = *code >= 0xd800 && *code < 0xdc00 && end - at >= 6 && at[0] == '\\' &&
                   at[1] == 'u' && read_hex4(at + 2, end, &low) && low >= 0xdc00 && low < 0xe000;
    if (is_pair) {
        *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
        at += 6;
    }
    if (*code == 0) *code = 0xfffd; /* a NUL would end the text */
    return at;
}

/* Decodes the escape at `at` (after the backslash) into out[4]; *size 0: it is not an escape. */
static const char *read_escape(const char *at, const char *end, char out[4], size_t *size)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *known = *at ? strchr(from, *at) : NULL;
    uint32_t code;
    *size = 0;
    if (known) {
        out[0] = to[known - from];
        *size = 1;
        return at + 1;
    }
    if (*at != 'u') return at;
    const char *behind = read_unicode(at + 1, end, &code);
    if (!behind) return at;
    *size = assay__utf8_encode(code, out);
    return behind;
}

size_t assay__scan_text(const struct assay__scan_value *value, char *out, size_t room)
{
    const char *at = value->text, *end = at + value->length;
    size_t used = 0, size;
    while (at < end && used + 5 < room) {
        size = 0;
        const char *behind = at + 1;
        if (*at == '\\' && value->escaped && behind < end)
            behind = read_escape(behind, end, out + used, &size);
        if (!size) out[used] = *at; /* also a backslash that begins no escape */
        used += size ? size : 1;
        at = size ? behind : at + 1;
    }
    out[used] = 0;
    return used;
}

bool assay__scan_is(const struct assay__scan_value *value, const char *text)
{
    return value && value->length == strlen(text) && !memcmp(value->text, text, value->length);
}

uint32_t assay__chrome_intern(struct assay__events *events, struct assay__buf *scratch,
                              const struct assay__scan_value *value)
{
    if (!value) return ASSAY__EVENT_UNKNOWN;
    if (!value->escaped) return assay__events_intern(events, value->text, value->length);
    size_t room = value->length + 8; /* an escape is never shorter than what it stands for */
    assay__buf_clear(scratch);
    assay__buf_repeat(scratch, " ", room);
    if (scratch->failed) return ASSAY__EVENT_UNKNOWN;
    size_t length = assay__scan_text(value, scratch->data, room);
    return assay__events_intern(events, scratch->data, length);
}

const char *assay__chrome_keep(struct assay__events *events, struct assay__buf *scratch,
                               const struct assay__scan_value *value)
{
    if (!value) return NULL;
    return assay__events_text(events, assay__chrome_intern(events, scratch, value));
}
