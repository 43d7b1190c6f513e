/* text_page.c - laying out text in columns. Widths are display columns (base/text.h), styles are
 * ANSI sequences that take none: bold, faint, cyan bars, yellow warnings and red faults, chosen so
 * that nobody has to distinguish red from green; warnings and faults are also named in words. */
#include "report/walk/text_page.h"

#include "base/text.h"

#include <string.h>

void assay__page_style(struct assay__page *page, enum assay__style style)
{
    static const char *const codes[] = {"\033[0m",  "\033[1m",    "\033[2m",
                                        "\033[36m", "\033[1;33m", "\033[1;31m"};
    if (page->color) assay__buf_puts(page->out, codes[style]);
}

static void styled(struct assay__page *page, enum assay__style style, const char *text)
{
    if (style != ASSAY__STYLE_PLAIN) assay__page_style(page, style);
    assay__buf_puts(page->out, text);
    if (style != ASSAY__STYLE_PLAIN) assay__page_style(page, ASSAY__STYLE_PLAIN);
}

void assay__page_title(struct assay__page *page, const char *title, const char *right)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, right ? right : "");
    int width = (int)assay__text_width(assay__buf_text(&safe)), most = page->columns - 1 - 20;
    if (width > most) width = most; /* at least 20 columns for the name */
    assay__page_style(page, ASSAY__STYLE_BOLD);
    assay__page_fit(page, title, page->columns - 1 - width, 1);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, ' ');
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__text_fit(page->out, assay__buf_text(&safe), (size_t)width, 0);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    assay__page_style(page, ASSAY__STYLE_DIM);
    assay__buf_repeat(page->out, "─", (size_t)page->columns);
    assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    assay__buf_drop(&safe, page->out);
}

static size_t character_bytes(const char *text)
{
    size_t n = 1;
    while (((unsigned char)text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* "39.1 ms": the space between a number and its unit does not break. */
static bool unit_follows(const char *word, size_t length, const char *next)
{
    static const char *const units[] = {"%",  "ns", "µs", "ms", "s",  "min", "B",
                                        "kB", "MB", "GB", "TB", "Hz", "MHz", "GHz"};
    if (!length || word[length - 1] < '0' || word[length - 1] > '9') return false;
    size_t n = strcspn(next, " ");
    while (n && strchr(".,;:)]", next[n - 1]))
        n--;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i]) == n && memcmp(next, units[i], n) == 0) return true;
    return false;
}

static size_t word_end(const char *text)
{
    size_t end = strcspn(text, " ");
    while (text[end] && unit_follows(text, end, text + end + 1))
        end += 1 + strcspn(text + end + 1, " ");
    return end;
}

struct line {
    struct assay__page *page;
    size_t hang, used, room; /* columns */
    bool empty;
    bool separator; /* a "·" that is printed only if the next word fits after it */
};

static void line_break(struct line *line)
{
    assay__buf_putc(line->page->out, '\n');
    assay__buf_repeat(line->page->out, " ", line->hang);
    line->used = 0;
    line->empty = true;
}

/* Columns of the text up to the next held space. */
static size_t width_until_held(const char *text)
{
    struct assay__buf part = {0};
    const char *end = strstr(text, ASSAY__PAGE_NBSP);
    assay__buf_add(&part, text, end ? (size_t)(end - text) : strlen(text));
    size_t width = part.data ? assay__text_width(part.data) : 0;
    assay__buf_free(&part);
    return width;
}

static void put_word(struct line *line, const char *word, size_t length)
{
    struct assay__buf copy = {0};
    assay__buf_add(&copy, word, length);
    size_t width = copy.data ? assay__text_width(copy.data) : 0;
    size_t gap = line->empty ? 0 : line->separator ? 3 : 1;
    if (gap && line->used + gap + width > line->room)
        line_break(line);
    else if (gap)
        assay__buf_puts(line->page->out, gap == 3 ? " · " : " ");
    if (!line->empty) line->used += gap;
    line->separator = false;
    const char *at = assay__buf_text(&copy);
    while (*at) {
        char one[8] = {0};
        size_t bytes = character_bytes(at);
        if (bytes >= sizeof one) bytes = 1;
        memcpy(one, at, bytes);
        size_t columns = assay__text_width(one);
        bool held = strcmp(one, ASSAY__PAGE_NBSP) == 0;
        /* words that belong together stay together only if they fit on a line at all */
        if (held && line->used + 1 + width_until_held(at + bytes) > line->room) {
            line_break(line);
            at += bytes;
            continue;
        }
        if (line->used && line->used + columns > line->room) line_break(line);
        assay__buf_puts(line->page->out, held ? " " : one);
        line->used += columns;
        at += bytes;
    }
    line->empty = false;
    assay__buf_free(&copy);
}

/* Characters that are longer in ASCII are replaced before lines are broken, or a line would exceed
 * the page. */
static void put_safe(struct assay__buf *out, const char *text, bool ascii)
{
    static const char *const longer[][2] = {{"±", "+-"}, {"≥", ">="}, {"≤", "<="}, {"→", "->"}};
    struct assay__buf safe = {0};
    assay__text_safe(ascii ? &safe : out, text);
    for (const char *at = assay__buf_text(&safe); *at;) {
        size_t sign = 0, signs = sizeof longer / sizeof longer[0];
        while (sign < signs && strncmp(at, longer[sign][0], strlen(longer[sign][0])) != 0)
            sign++;
        if (sign < signs) {
            assay__buf_puts(out, longer[sign][1]);
            at += strlen(longer[sign][0]);
        } else {
            assay__buf_putc(out, *at++);
        }
    }
    assay__buf_drop(&safe, out);
}

void assay__page_wrap(struct assay__page *page, enum assay__style style, const char *first,
                      const char *text)
{
    struct assay__buf safe = {0};
    put_safe(&safe, text, page->ascii);
    struct line line = {.page = page, .hang = assay__text_width(first), .empty = true};
    line.room = (size_t)page->columns > line.hang + 10 ? (size_t)page->columns - line.hang : 10;
    if (style != ASSAY__STYLE_PLAIN) assay__page_style(page, style);
    assay__buf_puts(page->out, first);
    for (const char *at = assay__buf_text(&safe); *at;) {
        size_t length = word_end(at);
        if (length == strlen("·") && memcmp(at, "·", length) == 0)
            line.separator = true;
        else
            put_word(&line, at, length);
        at += length;
        while (*at == ' ')
            at++;
    }
    if (style != ASSAY__STYLE_PLAIN) assay__page_style(page, ASSAY__STYLE_PLAIN);
    assay__buf_putc(page->out, '\n');
    assay__buf_drop(&safe, page->out);
}

void assay__page_print(struct assay__page *page, enum assay__style style, const char *first,
                       const char *format, ...)
{
    struct assay__buf text = {0};
    va_list args;
    va_start(args, format);
    assay__buf_vprintf(&text, format, args);
    va_end(args);
    assay__page_wrap(page, style, first, assay__buf_text(&text));
    assay__buf_drop(&text, page->out);
}

void assay__page_wrap_lines(struct assay__page *page, enum assay__style style, const char *first,
                            const char *text, size_t lines)
{
    struct assay__buf safe = {0}, cut = {0};
    put_safe(&safe, text, page->ascii);
    size_t hang = assay__text_width(first), width = assay__text_width(assay__buf_text(&safe)),
           most = lines * ((size_t)page->columns > hang + 10 ? (size_t)page->columns - hang : 10);
    assay__text_fit(&cut, assay__buf_text(&safe), width < most ? width : most, 0);
    assay__page_wrap(page, style, first, assay__buf_text(&cut));
    assay__buf_drop(&safe, page->out);
    assay__buf_drop(&cut, page->out);
}

#define HEADING_LINES 4 /* a name in a heading can have any length */

void assay__page_heading(struct assay__page *page, const char *title, const char *remark)
{
    struct assay__buf head = {0}, words = {0};
    put_safe(&head, title, page->ascii);
    put_safe(&words, remark ? remark : "", page->ascii);
    bool beside = words.length &&
                  assay__text_width(assay__buf_text(&head)) + 2 + assay__text_width(words.data) <=
                      (size_t)page->columns;
    assay__buf_putc(page->out, '\n');
    if (beside) {
        styled(page, ASSAY__STYLE_BOLD, assay__buf_text(&head));
        assay__buf_puts(page->out, "  ");
        styled(page, ASSAY__STYLE_DIM, words.data);
        assay__buf_putc(page->out, '\n');
    } else {
        assay__page_wrap_lines(page, ASSAY__STYLE_BOLD, "", title, HEADING_LINES);
        if (words.length)
            assay__page_wrap_lines(page, ASSAY__STYLE_DIM, "  ", remark, HEADING_LINES);
    }
    assay__buf_drop(&head, page->out);
    assay__buf_drop(&words, page->out);
}

void assay__page_item(struct assay__buf *items, const char *format, ...)
{
    struct assay__buf item = {0};
    va_list args;
    va_start(args, format);
    assay__buf_vprintf(&item, format, args);
    va_end(args);
    if (items->length) assay__buf_puts(items, " · ");
    for (const char *c = assay__buf_text(&item); *c; c++) {
        if (*c == ' ')
            assay__buf_puts(items, ASSAY__PAGE_NBSP);
        else
            assay__buf_putc(items, *c);
    }
    assay__buf_drop(&item, items);
}

void assay__page_bar(struct assay__page *page, double share, int columns)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!(share > 0) || columns <= 0) return;
    if (share > 1) share = 1;
    assay__page_style(page, ASSAY__STYLE_BAR);
    if (page->ascii) {
        assay__buf_repeat(page->out, "#", (size_t)(share * columns + 0.5));
    } else {
        int units = (int)(share * columns * 8 + 0.5);
        assay__buf_repeat(page->out, "█", (size_t)(units / 8));
        assay__buf_puts(page->out, units ? eighths[units % 8] : "▏");
    }
    assay__page_style(page, ASSAY__STYLE_PLAIN);
}

void assay__page_right_fit(struct assay__page *page, const char *text, int columns)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "");
    size_t width = assay__text_width(assay__buf_text(&safe)), room = (size_t)columns;
    if (width < room) assay__buf_repeat(page->out, " ", room - width);
    assay__text_fit(page->out, assay__buf_text(&safe), width < room ? width : room, 0);
    assay__buf_drop(&safe, page->out);
}

void assay__page_cut_middle(struct assay__buf *out, const char *text, size_t columns, size_t head)
{
    struct assay__buf start = {0}, end = {0};
    assay__text_fit(&start, text, head, 0); /* ends with the ellipsis */
    assay__text_fit(&end, text, columns - head + 1, 1);
    const char *tail = assay__buf_text(&end);
    size_t mark = strncmp(tail, "…", strlen("…")) == 0 ? strlen("…") : 0; /* one is enough */
    assay__buf_puts(out, assay__buf_text(&start));
    assay__buf_puts(out, tail + mark);
    assay__buf_drop(&start, out);
    assay__buf_drop(&end, out);
}

void assay__page_fit(struct assay__page *page, const char *text, int columns, int keep_end)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text ? text : "");
    assay__text_fit(page->out, assay__buf_text(&safe), (size_t)columns, keep_end);
    assay__buf_drop(&safe, page->out);
}

void assay__page_fit_middle(struct assay__page *page, const char *text, int columns)
{
    struct assay__buf safe = {0}, cut = {0};
    size_t room = (size_t)columns;
    assay__text_safe(&safe, text ? text : "");
    if (assay__text_width(assay__buf_text(&safe)) > room && columns >= 8)
        assay__page_cut_middle(&cut, assay__buf_text(&safe), room, room / 2);
    assay__text_fit(page->out, assay__buf_text(cut.length ? &cut : &safe), room, 0);
    assay__buf_drop(&safe, page->out);
    assay__buf_drop(&cut, page->out);
}

/* In aligned columns (bars, tables, cut names) every replacement is as wide as what it replaces. */
void assay__page_to_ascii(struct assay__buf *out, size_t start)
{
    static const char *const pairs[][2] = {
        {"—", "-"},  {"–", "-"},  {"−", "-"},  {"·", "|"}, {"µ", "u"},  {"…", ">"}, {"×", "x"},
        {"±", "+-"}, {"≥", ">="}, {"≤", "<="}, {"°", ""},  {"─", "-"},  {"│", "|"}, {"└", "+"},
        {"┘", "+"},  {"┬", "+"},  {"█", "#"},  {"•", "*"}, {"→", "->"}, {"↑", "^"}, {"²", "2"},
        {"▁", "."},  {"▂", ":"},  {"▃", "-"},  {"▄", "="}, {"▅", "+"},  {"▆", "*"}, {"▇", "%"},
    };
    struct assay__buf result = {0};
    if (out->failed || start >= out->length) return;
    for (const char *at = out->data + start; *at;) {
        size_t bytes = character_bytes(at);
        if (bytes == 1) {
            assay__buf_putc(&result, *at++);
            continue;
        }
        char one[8] = {0};
        memcpy(one, at, bytes < sizeof one ? bytes : sizeof one - 1);
        const char *ascii = NULL;
        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0] && !ascii; i++)
            if (strcmp(one, pairs[i][0]) == 0) ascii = pairs[i][1];
        if (ascii)
            assay__buf_puts(&result, ascii);
        else
            assay__buf_repeat(&result, "?", assay__text_width(one));
        at += bytes;
    }
    out->length = start;
    assay__buf_puts(out, assay__buf_text(&result));
    assay__buf_drop(&result, out);
}
