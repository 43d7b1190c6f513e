/* buf.c - the growable buffer: capacity doubles, one byte is always reserved for the terminating
 * NUL, errors are sticky. */
#include "base/buf.h"

#include "base/checked.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void assay__buf_free(struct assay__buf *buf)
{
    free(buf->data);
    memset(buf, 0, sizeof *buf);
}

void assay__buf_clear(struct assay__buf *buf)
{
    buf->length = 0;
    buf->failed = false;
    if (buf->data) buf->data[0] = '\0';
}

const char *assay__buf_text(const struct assay__buf *buf)
{
    return buf->data ? buf->data : "";
}

char *assay__buf_keep(struct assay__buf *buf, struct assay__arena *arena)
{
    char *text = buf->failed ? NULL : assay__arena_strdup(arena, assay__buf_text(buf));
    assay__buf_free(buf);
    return text;
}

/* Room for `extra` more bytes and the NUL. */
static bool reserve(struct assay__buf *buf, size_t extra)
{
    size_t needed, capacity = buf->capacity ? buf->capacity : 128;
    if (buf->failed) return false;
    buf->failed = assay__add_overflows(buf->length, extra, &needed) ||
                  assay__add_overflows(needed, 1, &needed) || needed > SIZE_MAX / 4;
    if (buf->failed) return false;
    if (needed <= buf->capacity) return true;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(buf->data, capacity);
    buf->failed = !data;
    if (!data) return false;
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void assay__buf_drop(struct assay__buf *part, struct assay__buf *whole)
{
    if (part->failed) whole->failed = true;
    assay__buf_free(part);
}

void assay__buf_add(struct assay__buf *buf, const void *bytes, size_t length)
{
    if (!reserve(buf, length)) return;
    if (length) memcpy(buf->data + buf->length, bytes, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void assay__buf_puts(struct assay__buf *buf, const char *text)
{
    assay__buf_add(buf, text, strlen(text));
}

void assay__buf_putc(struct assay__buf *buf, char c)
{
    assay__buf_add(buf, &c, 1);
}

void assay__buf_join(struct assay__buf *buf, const char *text)
{
    if (buf->length) assay__buf_puts(buf, ", ");
    assay__buf_puts(buf, text);
}

void assay__buf_repeat(struct assay__buf *buf, const char *text, size_t count)
{
    size_t length = strlen(text), total;
    if (assay__mul_overflows(length, count, &total)) buf->failed = true;
    if (buf->failed || !total || !reserve(buf, total))
        return; /* reserving room alone would leave it without its NUL */
    for (size_t i = 0; i < count; i++)
        assay__buf_add(buf, text, length);
}

void assay__buf_vprintf(struct assay__buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) buf->failed = true;
    if (buf->failed || !reserve(buf, (size_t)length)) return;
    vsnprintf(buf->data + buf->length, (size_t)length + 1, format, args);
    buf->length += (size_t)length;
}

void assay__buf_printf(struct assay__buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    assay__buf_vprintf(buf, format, args);
    va_end(args);
}
