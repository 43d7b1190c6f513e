/* transition.c - helpers of renderers that are not documents yet; gone with the last of them. */
#include "report/render.h"
#include "report/walk/csv_text.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void assay__csv_next_text(struct assay__buf *out, const char *text)
{
    assay__buf_putc(out, ',');
    assay__csv_text(out, text);
}

void assay__csv_next_number(struct assay__buf *out, double value)
{
    assay__buf_putc(out, ',');
    assay__print_number(out, value);
}

/* Would a forge read a mention or a reference from this sign on? `start` is where the text
 * begins. */
static bool is_reference(const char *start, const char *c)
{
    unsigned char next = (unsigned char)c[1];
    if (*c == '@') return isalnum(next) || next == '_';
    if (*c == '#' || *c == '!') return isdigit(next) != 0; /* an issue, a merge request */
    if (*c == '%') return isalnum(next) != 0;              /* a milestone */
    if (*c != '-' || !isdigit(next) || c - start < 2 || strncasecmp(c - 2, "GH", 2) != 0)
        return false;
    return c - start == 2 || !isalnum((unsigned char)c[-3]);
}

void assay__markdown_text(struct assay__buf *out, const char *text)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "");
    const char *start = safe.data ? safe.data : "";
    for (const char *c = start; *c; c++) {
        bool inside = c > start && isalnum((unsigned char)c[-1]) && isalnum((unsigned char)c[1]);
        if (*c == '&')
            assay__buf_puts(out, "&amp;");
        else if (*c == '<')
            assay__buf_puts(out, "&lt;");
        else if (*c == '>')
            assay__buf_puts(out, "&gt;");
        else if (*c == ':' && c[1] == '/' && c[2] == '/')
            assay__buf_puts(out, "&#58;");
        else if (*c == '.' && c - start >= 3 && strncasecmp(c - 3, "www", 3) == 0)
            assay__buf_puts(out, "&#46;");
        else if (is_reference(start, c))
            assay__buf_printf(out, "`%c`", *c);
        else if (strchr("\\`*[]|#~", *c) || (*c == '_' && !inside))
            assay__buf_printf(out, "\\%c", *c);
        else
            assay__buf_putc(out, *c);
    }
    if (safe.failed) out->failed = true;
    assay__buf_free(&safe);
}
