/* html.c - see html.h: escaping and the small pieces of a page. Every string that reaches these
 * functions may come from a file that someone else made, so all of them escape; only section ids
 * and titles, headings of tables and classes are ours. */
#include "report/html.h"

#include "base/text.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MOST = 160, NAME_HALF = 78 }; /* characters of a name that are shown */

/* --- escaping --------------------------------------------------------------------------------- */

/* Explicit directional formatting can make a text read as another; a name needs none, its letters
 * have their own direction. */
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

/* A long name may break behind a separator, rather than in a word; "batch=1" among other settings
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

/* What stands behind a number as its unit, so that no line ends between the two; longer than any is
 * no unit. */
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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "--launches" at the start of a word: how long it is; 0 none. */
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
        bool unit = text[i] == ' ' && i && is_digit(text[i - 1]) && is_unit(text + i + 1);
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

/* Where the last `count` characters begin; of bytes that are no UTF-8 not more than four go as
 * one. */
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

/* --- sections and text ------------------------------------------------------------------------ */

void assay__html_section(struct assay__html *page, const char *id, const char *title,
                         unsigned views)
{
    struct assay__buf *out = &page->body;
    if (page->link_count < ASSAY__HTML_SECTIONS)
        page->links[page->link_count++] = (struct assay__html_link){id, title, views};
    assay__buf_printf(out, "<section id=\"%s\" data-views=\"%u\" aria-labelledby=\"h-%s\">\n", id,
                      views, id);
    assay__buf_printf(out, "<h2 id=\"h-%s\"><a href=\"#%s\">", id, id);
    assay__html_text(out, title);
    assay__buf_puts(out, "</a></h2>\n");
}

void assay__html_section_end(struct assay__html *page)
{
    assay__buf_puts(&page->body, "</section>\n");
}

void assay__html_heading(struct assay__html *page, const char *title)
{
    assay__buf_puts(&page->body, "<h3>");
    assay__html_text(&page->body, title);
    assay__buf_puts(&page->body, "</h3>\n");
}

void assay__html_paragraph(struct assay__html *page, const char *css, const char *text)
{
    if (!text || !*text) return;
    if (css)
        assay__buf_printf(&page->body, "<p class=\"%s\">", css);
    else
        assay__buf_puts(&page->body, "<p>");
    assay__html_prose(&page->body, text);
    assay__buf_puts(&page->body, "</p>\n");
}

void assay__html_list(struct assay__html *page, const char *const *items, size_t count)
{
    if (!count) return;
    assay__buf_puts(&page->body, "<ul>\n");
    for (size_t i = 0; i < count; i++) {
        assay__buf_puts(&page->body, "<li>");
        assay__html_prose(&page->body, items[i]);
        assay__buf_puts(&page->body, "</li>\n");
    }
    assay__buf_puts(&page->body, "</ul>\n");
}

void assay__html_facts(struct assay__html *page)
{
    assay__buf_puts(&page->body, "<dl class=\"facts\">\n");
}

void assay__html_fact(struct assay__html *page, const char *term, const char *text)
{
    if (!text || !*text) return;
    assay__buf_puts(&page->body, "<div><dt>");
    assay__html_text(&page->body, term);
    assay__buf_puts(&page->body, "</dt><dd>");
    assay__html_prose(&page->body, text);
    assay__buf_puts(&page->body, "</dd></div>\n");
}

void assay__html_facts_end(struct assay__html *page)
{
    assay__buf_puts(&page->body, "</dl>\n");
}

/* --- tables ----------------------------------------------------------------------------------- */

void assay__html_table(struct assay__html *page, const char *id, const char *css,
                       const char *caption, const char *headings)
{
    struct assay__buf *out = &page->body;
    assay__buf_puts(out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"");
    assay__html_text(out, caption);
    assay__buf_puts(out, "\">\n<table");
    if (id && *id) assay__buf_printf(out, " id=\"%s\"", id);
    if (css) assay__buf_printf(out, " class=\"%s\"", css);
    assay__buf_puts(out, ">\n<caption class=\"hidden\">");
    assay__html_text(out, caption);
    assay__buf_puts(out, "</caption>\n<thead><tr>");
    for (const char *at = headings; *at;) {
        size_t length = strcspn(at, "|");
        bool right = *at == '>';
        assay__buf_puts(out, right ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">");
        put_escaped(out, at + right, length - right);
        assay__buf_puts(out, "</th>");
        at += length;
        if (*at) at++;
    }
    assay__buf_puts(out, "</tr></thead>\n<tbody>\n");
}

void assay__html_table_end(struct assay__html *page)
{
    assay__buf_puts(&page->body, "</tbody>\n</table>\n</div>\n");
}

void assay__html_row(struct assay__html *page, const char *id)
{
    if (id && *id)
        assay__buf_printf(&page->body, "<tr id=\"%s\">", id);
    else
        assay__buf_puts(&page->body, "<tr>");
}

void assay__html_row_end(struct assay__html *page)
{
    assay__buf_puts(&page->body, "</tr>\n");
}

void assay__html_cell_name(struct assay__html *page, const char *name)
{
    assay__buf_puts(&page->body, "<th scope=\"row\">");
    assay__html_name(&page->body, name);
    assay__buf_puts(&page->body, "</th>");
}

/* A word that is longer than any may break (WORD bytes), so that paper does not cut the table. */
void assay__html_cell_text(struct assay__html *page, const char *text)
{
    enum { WORD = 40 };
    size_t from = 0, run = 0, length = text ? strlen(text) : 0;
    assay__buf_puts(&page->body, "<td>");
    for (size_t i = 0; i < length; i++) {
        bool begins = ((unsigned char)text[i] & 0xc0) != 0x80;
        run = text[i] == ' ' ? 0 : run + 1;
        if (run <= WORD || !begins) continue;
        put_escaped(&page->body, text + from, i - from);
        assay__buf_puts(&page->body, "<wbr>");
        from = i, run = 1;
    }
    if (length > from) put_escaped(&page->body, text + from, length - from);
    assay__buf_puts(&page->body, "</td>");
}

void assay__html_cell_number(struct assay__html *page, double value, const char *unit,
                             const char *mark)
{
    char scaled[64];
    if (!isfinite(value)) {
        assay__buf_puts(&page->body, "<td class=\"n\">—</td>");
        return;
    }
    assay__text_scaled(scaled, sizeof scaled, value, unit);
    assay__buf_printf(&page->body, "<td class=\"n\" data-v=\"%.9g\">%s", value, mark);
    assay__html_text(&page->body, scaled);
    assay__buf_puts(&page->body, "</td>");
}

/* --- numbers with where they come from -------------------------------------------------------- */

static void open_tip(struct assay__html *page, const char *css)
{
    assay__buf_printf(
        &page->body,
        "<span class=\"tipped\"><span class=\"num%s\" tabindex=\"0\" aria-describedby=\"tip-%u\">",
        css, ++page->tips);
}

static void between_tip(struct assay__html *page)
{
    assay__buf_printf(&page->body, "</span><span class=\"tip\" role=\"tooltip\" id=\"tip-%u\">",
                      page->tips);
}

static void tip_line(struct assay__buf *out, const char *term, const char *text)
{
    if (!text || !*text) return;
    assay__buf_printf(out, "<span><b>%s</b> ", term);
    assay__html_text(out, text);
    assay__buf_puts(out, "</span>");
}

void assay__html_metric(struct assay__html *page, const struct assay_metric *metric,
                        const char *interval)
{
    struct assay__buf text = {0};
    bool known = metric && metric->state != ASSAY_UNAVAILABLE && isfinite(metric->value);
    assay__render_metric(&text, known ? metric : NULL);
    if (text.failed) page->body.failed = true;
    if (!metric) {
        assay__html_text(&page->body, text.data);
        assay__buf_free(&text);
        return;
    }
    const struct assay_metric_info *info = assay_metric_lookup(metric->name);
    open_tip(page, known ? "" : " gone");
    assay__html_text(&page->body, text.data);
    between_tip(page);
    tip_line(&page->body, "what", info ? info->summary : metric->name);
    tip_line(&page->body, "state", assay_state_name(known ? metric->state : ASSAY_UNAVAILABLE));
    if (known) tip_line(&page->body, "source", metric->source);
    tip_line(&page->body,
             !known                           ? "why"
             : metric->state == ASSAY_DERIVED ? "formula"
                                              : "note",
             metric->note);
    tip_line(&page->body, "interval", interval);
    assay__buf_puts(&page->body, "</span></span>");
    assay__buf_free(&text);
}

void assay__html_tip(struct assay__html *page, const char *text, const char *tip)
{
    open_tip(page, "");
    assay__html_text(&page->body, text);
    between_tip(page);
    assay__html_text(&page->body, tip);
    assay__buf_puts(&page->body, "</span></span>");
}
