/* buf.h - a growable text or byte buffer. Errors are sticky: after a failed allocation `failed` is
 * set, later calls do nothing, and the caller checks once at the end. Always NUL-terminated when
 * not failed. */
#ifndef ASSAY_BASE_BUF_H
#define ASSAY_BASE_BUF_H

#include "base/arena.h"

#include <assay/api.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct assay__buf {
    char *data;
    size_t length;
    size_t capacity;
    bool failed;
};

void assay__buf_free(struct assay__buf *buf); /* and resets to empty */
void assay__buf_clear(struct assay__buf *buf);
/** The text so far; "" if there is none, never NULL. */
const char *assay__buf_text(const struct assay__buf *buf);
/** The text in the arena, NULL when it or the copy failed; the buffer is freed. */
char *assay__buf_keep(struct assay__buf *buf, struct assay__arena *arena);
/** Frees a part whose text was added to the whole; if the part failed, so did the whole. */
void assay__buf_drop(struct assay__buf *part, struct assay__buf *whole);
void assay__buf_add(struct assay__buf *buf, const void *bytes, size_t length);
void assay__buf_puts(struct assay__buf *buf, const char *text);
void assay__buf_putc(struct assay__buf *buf, char c);
/** Appends the text, after ", " unless it is the first. */
void assay__buf_join(struct assay__buf *buf, const char *text);
void assay__buf_repeat(struct assay__buf *buf, const char *text, size_t count);
void assay__buf_printf(struct assay__buf *buf, const char *format, ...) ASSAY_PRINTF(2, 3);
void assay__buf_vprintf(struct assay__buf *buf, const char *format, va_list args);

#endif
