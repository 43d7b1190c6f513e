/* text_lines.h - no line of a text is wider than the columns that were asked for; a text without
 * its line breaks. */
#ifndef ASSAY_TESTS_TEXT_LINES_H
#define ASSAY_TESTS_TEXT_LINES_H

#include "harness.h"

#include "base/buf.h"
#include "base/text.h"

#include <stdlib.h>

/* what: named beside a line that is too wide. */
static inline void check_line_widths(const char *text, int columns, const char *what)
{
    struct assay__buf line = {0};
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n");
        assay__buf_clear(&line);
        assay__buf_add(&line, at, length);
        const char *shown = line.length ? line.data : "";
        if ((int)assay__text_width(shown) > columns)
            printf("  %s, %d columns: %s\n", what, columns, shown);
        CHECK((int)assay__text_width(shown) <= columns);
        at += length;
        at += *at == '\n';
    }
    assay__buf_free(&line);
}

/* Words with one blank between them, whatever the lines were. */
static inline char *flat(const char *text)
{
    char *copy = malloc(strlen(text) + 1), *to = copy;
    CHECK(copy != NULL);
    for (const char *c = text; *c; c++) {
        bool blank = *c == ' ' || *c == '\n';
        if (blank && (to == copy || to[-1] == ' ')) continue;
        *to++ = blank ? ' ' : *c;
    }
    *to = '\0';
    return copy;
}

#endif
