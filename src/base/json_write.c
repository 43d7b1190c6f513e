/* json_write.c - the JSON writer: into a buffer, optionally indented by two spaces.
 *
 * Numbers are the shortest of %.15g, %.16g and %.17g that reads back to the same double; integers
 * that a double holds exactly are written without exponent up to 2^53; non-finite values are null
 * (JSON has no NaN). Strings are escaped and bytes that are not UTF-8 become U+FFFD, so the output
 * is always valid JSON. Characters that control a terminal or change the text direction are escaped
 * too, so that a document can be displayed safely. Nesting deeper than ASSAY__JSON_DEPTH marks the
 * buffer as failed. */
#include "base/json.h"
#include "base/text.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void assay__json_start(struct assay__json_writer *writer, struct assay__buf *out, bool pretty)
{
    *writer = (struct assay__json_writer){.out = out, .first = {true}, .pretty = pretty};
}

static void indent(struct assay__json_writer *writer)
{
    if (!writer->pretty) return;
    assay__buf_putc(writer->out, '\n');
    assay__buf_repeat(writer->out, "  ", (size_t)writer->depth);
}

/* Before a value or a key: nothing after a key, else a comma unless it is the first. */
static void separate(struct assay__json_writer *writer)
{
    if (writer->after_key) {
        writer->after_key = false;
        return;
    }
    if (!writer->first[writer->depth]) assay__buf_putc(writer->out, ',');
    writer->first[writer->depth] = false;
    if (writer->depth > 0) indent(writer);
}

static void open_container(struct assay__json_writer *writer, char bracket)
{
    separate(writer);
    if (writer->depth + 1 >= ASSAY__JSON_DEPTH) {
        writer->out->failed = true;
        return;
    }
    writer->first[++writer->depth] = true;
    assay__buf_putc(writer->out, bracket);
}

static void close_container(struct assay__json_writer *writer, char bracket)
{
    if (writer->depth == 0) {
        writer->out->failed = true; /* one end too many: a bug in the caller, never silent */
        return;
    }
    bool empty = writer->first[writer->depth--];
    if (!empty) indent(writer);
    assay__buf_putc(writer->out, bracket);
}

void assay__json_object(struct assay__json_writer *writer)
{
    open_container(writer, '{');
}

void assay__json_object_end(struct assay__json_writer *writer)
{
    close_container(writer, '}');
}

void assay__json_array(struct assay__json_writer *writer)
{
    open_container(writer, '[');
}

void assay__json_array_end(struct assay__json_writer *writer)
{
    close_container(writer, ']');
}

static void put_quoted(struct assay__buf *out, const char *text)
{
    static const char from[] = "\"\\\n\r\t", to[] = "\"\\nrt";
    size_t length = strlen(text);
    assay__buf_putc(out, '"');
    for (size_t i = 0; i < length;) {
        size_t plain = i;
        while (plain < length && (unsigned char)text[plain] >= 0x20 &&
               (unsigned char)text[plain] < 0x7f && text[plain] != '"' && text[plain] != '\\')
            plain++;
        if (plain > i) {
            assay__buf_add(out, text + i, plain - i);
            i = plain;
            continue;
        }
        size_t size;
        uint32_t code = assay__utf8_decode(text + i, length - i, &size);
        if (code == ASSAY__UTF8_INVALID)
            assay__buf_puts(out, ASSAY__UTF8_REPLACEMENT);
        else if (code < 0x80 && strchr(from, text[i]))
            assay__buf_printf(out, "\\%c", to[strchr(from, text[i]) - from]);
        else if (assay__text_drives_terminal(code)) /* none is above U+FFFF */
            assay__buf_printf(out, "\\u%04x", (unsigned)code);
        else
            assay__buf_add(out, text + i, size);
        i += size;
    }
    assay__buf_putc(out, '"');
}

void assay__json_key(struct assay__json_writer *writer, const char *key)
{
    separate(writer);
    put_quoted(writer->out, key);
    assay__buf_puts(writer->out, writer->pretty ? ": " : ":");
    writer->after_key = true;
}

void assay__json_string(struct assay__json_writer *writer, const char *text)
{
    separate(writer);
    if (text)
        put_quoted(writer->out, text);
    else
        assay__buf_puts(writer->out, "null");
}

/* Most numbers in a document are whole: avoiding printf is several times as fast. */
static void put_digits(struct assay__buf *out, uint64_t magnitude, bool negative)
{
    char text[24];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude);
    if (negative) text[--at] = '-';
    assay__buf_add(out, text + at, sizeof text - at);
}

void assay__json_number(struct assay__json_writer *writer, double value)
{
    if (!isfinite(value)) {
        assay__json_null(writer);
        return;
    }
    separate(writer);
    char text[40];
    if (value == floor(value) && fabs(value) <= 9007199254740992.0) {
        put_digits(writer->out, (uint64_t)fabs(value), value < 0);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.'; /* a caller's locale must not break JSON */
    assay__buf_puts(writer->out, text);
}

void assay__json_integer(struct assay__json_writer *writer, int64_t value)
{
    separate(writer);
    put_digits(writer->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

void assay__json_unsigned(struct assay__json_writer *writer, uint64_t value)
{
    separate(writer);
    put_digits(writer->out, value, false);
}

void assay__json_bool(struct assay__json_writer *writer, bool value)
{
    separate(writer);
    assay__buf_puts(writer->out, value ? "true" : "false");
}

void assay__json_null(struct assay__json_writer *writer)
{
    separate(writer);
    assay__buf_puts(writer->out, "null");
}

void assay__json_put_object(struct assay__json_writer *writer, const char *key)
{
    assay__json_key(writer, key);
    assay__json_object(writer);
}

void assay__json_put_array(struct assay__json_writer *writer, const char *key)
{
    assay__json_key(writer, key);
    assay__json_array(writer);
}

void assay__json_put_string(struct assay__json_writer *writer, const char *key, const char *text)
{
    assay__json_key(writer, key);
    assay__json_string(writer, text);
}

void assay__json_put_text(struct assay__json_writer *writer, const char *key, const char *text)
{
    assay__json_put_string(writer, key, text && *text ? text : NULL);
}

void assay__json_put_strings(struct assay__json_writer *writer, const char *key,
                             const char *const *items, size_t count)
{
    assay__json_put_array(writer, key);
    for (size_t i = 0; i < count; i++)
        assay__json_string(writer, items[i]);
    assay__json_array_end(writer);
}

void assay__json_put_number(struct assay__json_writer *writer, const char *key, double value)
{
    assay__json_key(writer, key);
    assay__json_number(writer, value);
}

void assay__json_put_integer(struct assay__json_writer *writer, const char *key, int64_t value)
{
    assay__json_key(writer, key);
    assay__json_integer(writer, value);
}

void assay__json_put_count(struct assay__json_writer *writer, const char *key, int64_t value,
                           int64_t least)
{
    if (value < least)
        assay__json_put_null(writer, key);
    else
        assay__json_put_integer(writer, key, value);
}

void assay__json_put_bool(struct assay__json_writer *writer, const char *key, bool value)
{
    assay__json_key(writer, key);
    assay__json_bool(writer, value);
}

void assay__json_put_null(struct assay__json_writer *writer, const char *key)
{
    assay__json_key(writer, key);
    assay__json_null(writer);
}
