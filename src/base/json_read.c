/* json_read.c - JSON (RFC 8259) as a stream of tokens over memory, in constant space.
 *
 * A small state machine: what may come next, and one bit per nesting level (object or array).
 * Tokens point into the input; nothing is copied. Escapes and numbers are checked by their grammar
 * here; UTF-8 is checked when a string is decoded (assay__json_unescape), where bad bytes, lone
 * surrogates and U+0000 (which a C string cannot hold) become U+FFFD. Limits: depth 64, 400
 * characters per number, numbers that a finite double holds. A byte order mark is skipped. Exactly
 * one value; anything after it is an error. */
#include "base/json.h"
#include "base/utf8.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_LIMIT 400

enum expects {
    VALUE,        /* a value */
    VALUE_OR_END, /* just after '[' */
    KEY,          /* after a comma in an object */
    KEY_OR_END,   /* just after '{' */
    COMMA_OR_END, /* after a value */
};

struct assay__json_reader {
    const char *text;
    size_t length, at;
    uint64_t is_object; /* bit per level */
    int depth;
    enum expects expects;
    const char *fault; /* what was wrong, and where; NULL nothing yet */
    size_t fault_at;
};

struct assay__json_reader *assay__json_reader_new(const char *text, size_t length)
{
    struct assay__json_reader *reader = malloc(sizeof *reader);
    bool marked = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    if (reader)
        *reader = (struct assay__json_reader){
            .text = text, .length = length, .at = marked ? 3 : 0, .expects = VALUE};
    return reader;
}

void assay__json_reader_free(struct assay__json_reader *reader)
{
    free(reader);
}

const char *assay__json_reader_fault(const struct assay__json_reader *reader, size_t *at)
{
    *at = reader->fault_at;
    return reader->fault ? reader->fault : "";
}

static int bad(struct assay__json_reader *reader, size_t at, const char *what,
               struct assay_error *error)
{
    reader->fault = what;
    reader->fault_at = at;
    return assay_error_set(error, ASSAY_EFORMAT, "JSON, byte %zu: %s", at, what);
}

static void skip_space(struct assay__json_reader *reader)
{
    while (reader->at < reader->length) {
        char c = reader->text[reader->at];
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') break;
        reader->at++;
    }
}

static bool in_object(const struct assay__json_reader *reader)
{
    return reader->depth > 0 && (reader->is_object >> (reader->depth - 1) & 1);
}

/* The next byte that ends or interrupts a plain run: a quote, a backslash or a control character.
 * Eight bytes at a time by the has-zero-byte trick: (x - 0x01…) & ~x & 0x80… is non-zero
 * when a byte of x is zero. */
static size_t plain_run(const char *text, size_t at, size_t length)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    for (; at + 8 <= length; at += 8) {
        uint64_t word;
        memcpy(&word, text + at, 8);
        uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
        uint64_t hit = ((quote - ones) & ~quote) | ((slash - ones) & ~slash) |
                       ((word - ones * 0x20) & ~word);
        if (hit & tops) break;
    }
    while (at < length && text[at] != '"' && text[at] != '\\' && (unsigned char)text[at] >= 0x20)
        at++;
    return at;
}

static int read_string(struct assay__json_reader *reader, struct assay__json_token *token,
                       struct assay_error *error)
{
    size_t begin = ++reader->at, at = begin;
    token->escaped = false;
    for (;;) {
        at = plain_run(reader->text, at, reader->length);
        if (at >= reader->length) return bad(reader, begin - 1, "an unterminated string", error);
        if (reader->text[at] == '"') break;
        if (reader->text[at] != '\\')
            return bad(reader, at, "a control character in a string", error);
        token->escaped = true;
        if (++at >= reader->length) return bad(reader, begin - 1, "an unterminated string", error);
        if (reader->text[at] == 'u') {
            for (int i = 1; i <= 4; i++)
                if (at + (size_t)i >= reader->length ||
                    !isxdigit((unsigned char)reader->text[at + (size_t)i]))
                    return bad(reader, at, "\\u needs four hexadecimal digits", error);
            at += 5;
        } else if (reader->text[at] && strchr("\"\\/bfnrt", reader->text[at])) {
            at++;
        } else {
            return bad(reader, at, "an unknown escape", error);
        }
    }
    token->text = reader->text + begin;
    token->length = at - begin;
    reader->at = at + 1;
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(const struct assay__json_reader *reader, size_t at)
{
    while (at < reader->length && is_digit(reader->text[at]))
        at++;
    return at;
}

/* The end of the number that starts at `at` by the grammar; 0 when it is not one. */
static size_t number_end(const struct assay__json_reader *reader, size_t at)
{
    const char *text = reader->text;
    if (at < reader->length && text[at] == '-') at++;
    if (at >= reader->length || !is_digit(text[at])) return 0;
    size_t end = text[at] == '0' ? at + 1 : digits(reader, at);
    if (end < reader->length && is_digit(text[end])) return 0; /* 01 */
    if (end < reader->length && text[end] == '.') {
        size_t fraction = digits(reader, end + 1);
        if (fraction == end + 1) return 0;
        end = fraction;
    }
    if (end < reader->length && (text[end] == 'e' || text[end] == 'E')) {
        size_t exponent = end + 1;
        if (exponent < reader->length && (text[exponent] == '+' || text[exponent] == '-'))
            exponent++;
        size_t stop = digits(reader, exponent);
        if (stop == exponent) return 0;
        end = stop;
    }
    return end;
}

/* Exact fast path: at most 15 digits and a power of ten that a double holds exactly, so that one
 * correctly rounded division gives the correctly rounded value (Clinger 1990). False when strtod
 * must do it. */
static bool simple_number(const char *text, size_t length, double *value)
{
    static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    size_t at = text[0] == '-';
    if (length - at > 16) return false;
    int64_t whole = 0;
    size_t behind_point = 0;
    bool point = false;
    for (; at < length; at++) {
        if (text[at] == '.') {
            point = true;
        } else if (is_digit(text[at])) {
            whole = whole * 10 + (text[at] - '0');
            behind_point += point;
        } else {
            return false;
        }
    }
    if (whole >= 1000000000000000 || (whole == 0 && text[0] == '-'))
        return false; /* 16 digits; -0 */
    *value = (double)whole / powers[behind_point];
    if (text[0] == '-') *value = -*value;
    return true;
}

static int read_number(struct assay__json_reader *reader, struct assay__json_token *token,
                       struct assay_error *error)
{
    size_t end = number_end(reader, reader->at);
    if (end == 0) return bad(reader, reader->at, "not a number", error);
    token->text = reader->text + reader->at;
    token->length = end - reader->at;
    if (token->length > NUMBER_LIMIT)
        return bad(reader, reader->at, "a number longer than 400 characters", error);
    if (!simple_number(token->text, token->length, &token->number)) {
        char copy[NUMBER_LIMIT + 1];
        memcpy(copy, token->text, token->length);
        copy[token->length] = '\0';
        const char *decimal = localeconv()->decimal_point;
        char *point = strchr(copy, '.');
        if (point && decimal && decimal[0] && decimal[1] == '\0') *point = decimal[0];
        token->number = strtod(copy, NULL);
    }
    if (!isfinite(token->number)) return bad(reader, reader->at, "a number out of range", error);
    reader->at = end;
    return 0;
}

static int read_value(struct assay__json_reader *reader, struct assay__json_token *token,
                      struct assay_error *error)
{
    static const struct {
        const char *text;
        enum assay__json_kind kind;
    } words[] = {
        {"true", ASSAY__JSON_TRUE}, {"false", ASSAY__JSON_FALSE}, {"null", ASSAY__JSON_NULL}};
    const char *at = reader->text + reader->at;
    if (*at == '{' || *at == '[') {
        if (reader->depth >= ASSAY__JSON_DEPTH) {
            bad(reader, reader->at, "nested too deeply", NULL);
            return assay_error_set(error, ASSAY_ELIMIT,
                                   "JSON, byte %zu: nested deeper than %d levels", reader->at,
                                   ASSAY__JSON_DEPTH);
        }
        bool object = *at == '{';
        uint64_t bit = (uint64_t)1 << reader->depth++;
        reader->is_object = object ? reader->is_object | bit : reader->is_object & ~bit;
        reader->expects = object ? KEY_OR_END : VALUE_OR_END;
        token->kind = object ? ASSAY__JSON_OBJECT : ASSAY__JSON_ARRAY;
        reader->at++;
        return 0;
    }
    reader->expects = COMMA_OR_END;
    if (*at == '"') {
        token->kind = ASSAY__JSON_STRING;
        return read_string(reader, token, error);
    }
    if (*at == '-' || is_digit(*at)) {
        token->kind = ASSAY__JSON_NUMBER;
        return read_number(reader, token, error);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i].text);
        if (reader->length - reader->at < length || memcmp(at, words[i].text, length) != 0)
            continue;
        token->kind = words[i].kind;
        reader->at += length;
        return 0;
    }
    return bad(reader, reader->at, "not a JSON value", error);
}

static int read_key(struct assay__json_reader *reader, struct assay__json_token *token,
                    struct assay_error *error)
{
    if (reader->text[reader->at] != '"') return bad(reader, reader->at, "expected a key", error);
    token->kind = ASSAY__JSON_KEY;
    int code = read_string(reader, token, error);
    if (code) return code;
    skip_space(reader);
    if (reader->at >= reader->length || reader->text[reader->at] != ':')
        return bad(reader, reader->at, "expected a colon", error);
    reader->at++;
    reader->expects = VALUE;
    return 0;
}

int assay__json_next(struct assay__json_reader *reader, struct assay__json_token *token,
                     struct assay_error *error)
{
    memset(token, 0, sizeof *token);
    token->kind = ASSAY__JSON_END;
    skip_space(reader);
    bool done = reader->depth == 0 && reader->expects == COMMA_OR_END;
    if (reader->at >= reader->length)
        return done ? 0 : bad(reader, reader->at, "the text ends unexpectedly", error);
    if (done) return bad(reader, reader->at, "unexpected text after the value", error);
    char c = reader->text[reader->at], end = in_object(reader) ? '}' : ']';
    if (c == end && reader->expects != VALUE && reader->expects != KEY) {
        token->kind = in_object(reader) ? ASSAY__JSON_OBJECT_END : ASSAY__JSON_ARRAY_END;
        reader->depth--;
        reader->expects = COMMA_OR_END;
        reader->at++;
        return 0;
    }
    if (reader->expects == COMMA_OR_END) {
        if (c != ',')
            return bad(reader, reader->at, "expected a comma or a closing bracket", error);
        reader->at++;
        reader->expects = in_object(reader) ? KEY : VALUE;
        skip_space(reader);
        if (reader->at >= reader->length)
            return bad(reader, reader->at, "the text ends unexpectedly", error);
    }
    if (reader->expects == KEY || reader->expects == KEY_OR_END)
        return read_key(reader, token, error);
    return read_value(reader, token, error);
}

int assay__json_skip(struct assay__json_reader *reader, const struct assay__json_token *opened,
                     struct assay_error *error)
{
    struct assay__json_token token;
    int level = reader->depth, code = 0;
    if (opened && (opened->kind == ASSAY__JSON_OBJECT || opened->kind == ASSAY__JSON_ARRAY)) {
        level--;
    } else if (opened && opened->kind != ASSAY__JSON_KEY) {
        return 0; /* a scalar: it has already been read */
    } else {
        code = assay__json_next(reader, &token, error);
        if (!code && token.kind == ASSAY__JSON_KEY) /* a member was next: skip its value too */
            code = assay__json_next(reader, &token, error);
    }
    while (!code && reader->depth > level)
        code = assay__json_next(reader, &token, error);
    return code;
}

static uint32_t hex4(const char *text)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++)
        code = code << 4 | (uint32_t)(text[i] <= '9' ? text[i] - '0' : (text[i] | 0x20) - 'a' + 10);
    return code;
}

/* Decodes the escape at text[0] == '\\'; returns the bytes it took. The reader has checked its
 * grammar. */
static size_t decode_escape(const char *text, size_t length, char out[4], size_t *written)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    *written = 1;
    if (text[1] != 'u') {
        const char *at = strchr(from, text[1]);
        out[0] = at ? to[at - from] : text[1];
        return 2;
    }
    uint32_t code = hex4(text + 2);
    size_t taken = 6;
    if (code >= 0xd800 && code < 0xdc00 && length >= 12 && text[6] == '\\' && text[7] == 'u') {
        uint32_t low = hex4(text + 8);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            taken = 12;
        }
    }
    /* A lone surrogate becomes U+FFFD. */
    *written = assay__utf8_encode(code ? code : 0xfffd, out);
    return taken;
}

char *assay__json_unescape(struct assay__arena *arena, const struct assay__json_token *token)
{
    /* A bad byte (1) becomes U+FFFD (3); every escape gets shorter or stays the same. */
    size_t bad_bytes = 0, size;
    for (size_t i = 0; i < token->length; i += size)
        bad_bytes += assay__utf8_decode(token->text + i, token->length - i, &size) ==
                     ASSAY__UTF8_INVALID;
    char *out = assay__arena_alloc(arena, token->length + 2 * bad_bytes + 1);
    if (!out) return NULL;
    size_t length = 0;
    for (size_t i = 0; i < token->length;) {
        const char *at = token->text + i;
        if (*at == '\\' && token->length - i >= 2) {
            size_t written;
            i += decode_escape(at, token->length - i, out + length, &written);
            length += written;
        } else if (assay__utf8_decode(at, token->length - i, &size) == ASSAY__UTF8_INVALID) {
            memcpy(out + length, ASSAY__UTF8_REPLACEMENT, 3);
            length += 3;
            i++;
        } else {
            memcpy(out + length, at, size);
            length += size;
            i += size;
        }
    }
    out[length] = '\0';
    return out;
}
