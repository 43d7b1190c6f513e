/* text_code.c - code on a page that is too narrow for it. A line is broken where its language
 * allows it; Python outside of brackets, and the shell everywhere, need a backslash at the end of
 * the line. Never inside a string: a line that cannot be broken stays long. */
#include "report/doc/doc.h"
#include "report/walk/text_page.h"

#include "base/text.h"

#include <string.h>

enum { INDENT = 2 };

static const struct language {
    const char *name;
    const char *comment; /* begins a line that is one */
    const char *after;   /* a line may end after one of these … */
    bool members;        /* … and before "." or "->" */
    bool backslash;      /* a continued line ends with one … */
    bool brackets;       /* … but not inside of brackets */
} languages[] = {{"python", "# ", " ([:", true, true, true},
                 {"sh", "# ", " ", false, true, false},
                 {"", "// ", " ([:", true, false, false}}; /* C, JSON */

static bool needs_backslash(const struct language *language, int open)
{
    return language->backslash && !(language->brackets && open > 0);
}

static bool may_break(const struct language *language, const char *line, size_t at)
{
    bool member = line[at] == '.' || strncmp(&line[at], "->", 2) == 0;
    return line[at] != ' ' &&
           (strchr(language->after, line[at - 1]) || (language->members && member));
}

/* Where a line that is too long may be broken; 0: nowhere within `room`. *open counts the brackets,
 * before and after. */
static size_t break_at(const char *line, size_t room, const struct language *language, int *open)
{
    enum { LEAST = 5 };
    size_t found = 0;
    int now = *open, then = *open;
    char quote = '\0';
    for (size_t i = 0; i <= room + 1 && line[i]; i++) {
        size_t used = i - (i && line[i - 1] == ' ') + (needs_backslash(language, now) ? 2 : 0);
        if (!quote && i >= LEAST && used <= room && may_break(language, line, i)) {
            found = i;
            then = now;
        }
        if (quote && line[i] == '\\' && line[i + 1])
            i++;
        else if (line[i] == quote)
            quote = '\0';
        else if (!quote && (line[i] == '"' || line[i] == '\''))
            quote = line[i];
        else if (!quote)
            now += (line[i] == '(' || line[i] == '[') - (line[i] == ')' || line[i] == ']');
    }
    *open = then;
    return found;
}

/* Every line of a broken comment starts as a comment. */
static void put_comment(struct assay__page *page, const char *sign, char *text)
{
    size_t room = (size_t)page->columns - INDENT - strlen(sign);
    for (char *end = text; *text; text = end) {
        size_t used = 0;
        while (*text == ' ')
            text++;
        for (end = text; *end; used = (size_t)(end - text)) {
            size_t word = strspn(end, " ") + strcspn(end + strspn(end, " "), " ");
            if (used && used + word > room) break;
            end += word;
        }
        char kept = *end;
        *end = '\0';
        assay__buf_printf(page->out, "%*s%s", INDENT, "", sign);
        assay__text_safe(page->out, text);
        assay__buf_putc(page->out, '\n');
        *end = kept;
    }
}

static void put_line(struct assay__page *page, char *line, const struct language *language)
{
    size_t own = strspn(line, " "), indent = INDENT;
    int open = language->brackets && own; /* the code's own continuation */
    for (size_t cut = 1; cut; line += cut) {
        size_t room = (size_t)page->columns - indent, end = 0;
        cut = assay__text_width(line) > room ? break_at(line, room, language, &open) : 0;
        for (end = cut; end && line[end - 1] == ' ';)
            end--;
        char kept = line[end];
        if (cut) line[end] = '\0';
        assay__buf_repeat(page->out, " ", indent);
        assay__text_safe(page->out, line);
        assay__buf_puts(page->out, cut && needs_backslash(language, open) ? " \\\n" : "\n");
        if (cut) line[end] = kept;
        indent = INDENT + own + 2;
    }
}

void assay__text_code(struct assay__page *page, const struct assay__code *code)
{
    const struct language *language = languages;
    while (*language->name && strcmp(code->language ? code->language : "", language->name) != 0)
        language++;
    size_t sign = strlen(language->comment);
    for (const char *at = code->text; *at;) {
        size_t length = strcspn(at, "\n");
        struct assay__buf line = {0};
        assay__buf_add(&line, at, length);
        if (!line.data)
            assay__buf_putc(page->out, '\n');
        else if (strncmp(line.data, language->comment, sign) == 0)
            put_comment(page, language->comment, line.data + sign);
        else
            put_line(page, line.data, language);
        assay__buf_drop(&line, page->out);
        at += length + (at[length] == '\n');
    }
}
