/* xml_scan.c - finds tags and texts in a window over the stream. A token that does not end within
 * the window is looked for again once there is more. */
#include "import/xml_scan.h"

#include "base/utf8.h"

#include <string.h>
#include <strings.h>

enum found { FOUND, CUT, BAD }; /* CUT: the token continues beyond the window */

struct cursor {
    const char *at, *end;
};

static void fault(struct assay__xml *xml, const char *reason)
{
    xml->faults++;
    if (!xml->complaint) xml->complaint = reason;
}

static enum assay__xml_kind stop(struct assay__xml *xml, const char *reason)
{
    fault(xml, reason);
    xml->stopped = true;
    return ASSAY__XML_NOTHING;
}

enum { BLANK = 1, ENDS_NAME = 2 };
static const uint8_t classes[256] = {
    [' '] = BLANK | ENDS_NAME,  ['\n'] = BLANK | ENDS_NAME, ['\t'] = BLANK | ENDS_NAME,
    ['\r'] = BLANK | ENDS_NAME, ['>'] = ENDS_NAME,          ['/'] = ENDS_NAME,
    ['='] = ENDS_NAME,          ['<'] = ENDS_NAME,          ['"'] = ENDS_NAME,
    ['\''] = ENDS_NAME,
};

static inline bool is_blank(char c)
{
    return classes[(unsigned char)c] & BLANK;
}

static bool begins(struct cursor cursor, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(cursor.end - cursor.at) >= length && memcmp(cursor.at, word, length) == 0;
}

/* Of the length, the first and the last eight bytes: two tags that it mistakes for each other are
 * only taken as well nested where they are not. */
static uint32_t hash(struct assay__xml_text name)
{
    uint64_t head = 0, tail = 0;
    if (name.length >= 8) {
        memcpy(&head, name.at, 8);
        memcpy(&tail, name.at + name.length - 8, 8);
    } else {
        for (size_t i = 0; i < name.length; i++)
            head = head << 8 | (unsigned char)name.at[i];
    }
    uint64_t value = (head ^ (tail * 0x9e3779b97f4a7c15u) ^ name.length) * 0xff51afd7ed558ccdu;
    return (uint32_t)(value >> 32);
}

/* --- within a tag ----------------------------------------------------------------------------- */

static inline void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && is_blank(*cursor->at))
        cursor->at++;
}

static inline struct assay__xml_text scan_name(struct cursor *cursor)
{
    const char *begin = cursor->at, *at = begin;
    while (at < cursor->end && !(classes[(unsigned char)*at] & ENDS_NAME))
        at++;
    cursor->at = at;
    return (struct assay__xml_text){begin, (size_t)(at - begin)};
}

static enum found scan_attribute(struct assay__xml *xml, struct cursor *cursor)
{
    struct assay__xml_text name = scan_name(cursor), value;
    if (cursor->at == cursor->end) return CUT;
    if (!name.length) return BAD;
    skip_blanks(cursor);
    if (cursor->at == cursor->end) return CUT;
    if (*cursor->at++ != '=') return BAD;
    skip_blanks(cursor);
    if (cursor->at == cursor->end) return CUT;
    char quote = *cursor->at++;
    if (quote != '"' && quote != '\'') return BAD;
    value.at = cursor->at;
    const char *close = memchr(value.at, quote, (size_t)(cursor->end - value.at));
    if (!close) return CUT;
    value.length = (size_t)(close - value.at);
    cursor->at = close + 1;
    if (xml->attribute_count < ASSAY__XML_ATTRIBUTES) {
        xml->attributes[xml->attribute_count].name = name;
        xml->attributes[xml->attribute_count++].value = value;
    }
    return FOUND;
}

/* "<name a='b'/>" */
static enum found scan_begin(struct assay__xml *xml, struct cursor *cursor, bool *is_empty)
{
    cursor->at++;
    xml->name = scan_name(cursor);
    xml->attribute_count = 0;
    if (cursor->at == cursor->end) return CUT;
    if (!xml->name.length) return BAD;
    for (;;) {
        skip_blanks(cursor);
        if (cursor->end - cursor->at < 2 && !(cursor->at < cursor->end && *cursor->at == '>'))
            return CUT;
        *is_empty = cursor->at[0] == '/' && cursor->at[1] == '>';
        if (*is_empty || *cursor->at == '>') {
            cursor->at += *is_empty ? 2 : 1;
            return FOUND;
        }
        enum found found = scan_attribute(xml, cursor);
        if (found != FOUND) return found;
    }
}

/* "</name>" */
static enum found scan_end(struct cursor *cursor, struct assay__xml_text *name)
{
    cursor->at += 2;
    *name = scan_name(cursor);
    skip_blanks(cursor);
    if (cursor->at == cursor->end) return CUT;
    if (!name->length || *cursor->at != '>') return BAD;
    cursor->at++;
    return FOUND;
}

/* --- tokens ----------------------------------------------------------------------------------- */

static enum assay__xml_kind begin_element(struct assay__xml *xml, bool is_empty)
{
    if (xml->depth == ASSAY__XML_DEPTH) return stop(xml, "elements nested more than 128 deep");
    xml->open[xml->depth++] = hash(xml->name);
    xml->closing = is_empty;
    return ASSAY__XML_BEGIN;
}

/* An end tag closes the nearest open element of its name, and what is open within it. */
static void close_element(struct assay__xml *xml, struct assay__xml_text name)
{
    uint32_t wanted = hash(name);
    size_t level = xml->depth;
    while (level && xml->open[level - 1] != wanted)
        level--;
    if (!level) {
        fault(xml, "an end tag without a start tag");
        return;
    }
    xml->closing = xml->depth - level + 1;
    if (xml->closing > 1) fault(xml, "an element that was not closed");
}

/* Just past the end of "<!-- … -->", "<![CDATA[ … ]]>" or "<? … ?>"; NULL: not in the window. */
static const char *behind(struct cursor cursor, size_t opening, const char *closing)
{
    size_t left = (size_t)(cursor.end - cursor.at);
    if (left < opening) return NULL;
    const char *found = memmem(cursor.at + opening, left - opening, closing, strlen(closing));
    return found ? found + strlen(closing) : NULL;
}

static bool is_foreign_encoding(struct cursor head)
{
    const char *word = memmem(head.at, (size_t)(head.end - head.at), "encoding=", 9);
    if (!word || head.end - word < 18) return false;
    word += 10;
    return strncasecmp(word, "utf-8", 5) != 0 && strncasecmp(word, "us-ascii", 8) != 0 &&
           strncasecmp(word, "ascii", 5) != 0;
}

/* "<?xml version='1.0' encoding='…'?>" and other instructions. */
static enum found pass_instruction(struct assay__xml *xml, struct cursor *cursor)
{
    const char *close = behind(*cursor, 2, "?>");
    if (!close) return CUT;
    if (begins(*cursor, "<?xml") && is_foreign_encoding((struct cursor){cursor->at, close}))
        fault(xml, "an encoding other than UTF-8: names may be wrong");
    cursor->at = close;
    return FOUND;
}

/* "<!-- … -->" or "<![CDATA[ … ]]>". */
static enum found scan_mark(struct assay__xml *xml, struct cursor *cursor,
                            enum assay__xml_kind *kind)
{
    const char *close = NULL;
    if (cursor->end - cursor->at < 9 && !xml->window.at_end) return CUT;
    if (begins(*cursor, "<!--")) {
        close = behind(*cursor, 4, "-->");
    } else if (begins(*cursor, "<![CDATA[")) {
        close = behind(*cursor, 9, "]]>");
        xml->plain = true;
        xml->text = (struct assay__xml_text){cursor->at + 9,
                                             close ? (size_t)(close - cursor->at) - 12 : 0};
        if (xml->depth && xml->text.length) *kind = ASSAY__XML_TEXT;
    } else {
        stop(xml, "a document type declaration, which is refused");
        return FOUND;
    }
    if (!close) return CUT;
    cursor->at = close;
    return FOUND;
}

/* One token at "<". NOTHING: it was skipped. */
static enum found scan_tag(struct assay__xml *xml, struct cursor *cursor,
                           enum assay__xml_kind *kind)
{
    struct assay__xml_text name;
    bool is_empty = false;
    enum found found = FOUND;
    if (cursor->end - cursor->at < 2) return CUT;
    switch (cursor->at[1]) {
    case '?': return pass_instruction(xml, cursor);
    case '!': return scan_mark(xml, cursor, kind);
    case '/':
        found = scan_end(cursor, &name);
        if (found == FOUND) close_element(xml, name);
        return found;
    default:
        found = scan_begin(xml, cursor, &is_empty);
        if (found == FOUND) *kind = begin_element(xml, is_empty);
        return found;
    }
}

/* Up to the next "<". NOTHING: only white space, or outside of all elements. */
static enum found scan_text(struct assay__xml *xml, struct cursor *cursor,
                            enum assay__xml_kind *kind)
{
    const char *begin = cursor->at;
    const char *close = memchr(begin, '<', (size_t)(cursor->end - begin));
    if (!close && !xml->window.at_end) return CUT;
    cursor->at = close ? close : cursor->end;
    while (begin < cursor->at && is_blank(*begin))
        begin++;
    xml->text = (struct assay__xml_text){begin, (size_t)(cursor->at - begin)};
    xml->plain = false;
    if (xml->text.length && xml->depth) *kind = ASSAY__XML_TEXT;
    return FOUND;
}

/* The marks of other encodings; a mark of UTF-8 is skipped. */
static void check_encoding(struct assay__xml *xml)
{
    while (assay__import_window_left(&xml->window) < 4 && assay__import_window_more(&xml->window))
        ;
    size_t left = assay__import_window_left(&xml->window);
    if (!left) return;
    const unsigned char *head = (const unsigned char *)assay__import_window_at(&xml->window);
    if (left >= 2 &&
        ((head[0] == 0xff && head[1] == 0xfe) || (head[0] == 0xfe && head[1] == 0xff) ||
         (head[0] == 0 && head[1] == '<') || (head[0] == '<' && head[1] == 0))) {
        stop(xml, "the text is UTF-16; only UTF-8 is read");
    } else if (left >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
        assay__import_window_use(&xml->window, 3);
    }
}

static enum assay__xml_kind finish(struct assay__xml *xml)
{
    xml->truncated = xml->depth || assay__import_window_left(&xml->window);
    if (xml->truncated) fault(xml, "the text ends within an element");
    xml->stopped = true;
    return ASSAY__XML_NOTHING;
}

static enum assay__xml_kind report_end(struct assay__xml *xml)
{
    xml->closing--;
    xml->depth--;
    return ASSAY__XML_END;
}

enum assay__xml_kind assay__xml_next(struct assay__xml *xml)
{
    struct assay__import_window *window = &xml->window;
    if (!xml->began && !xml->stopped) {
        xml->began = true;
        check_encoding(xml);
    }
    while (!xml->stopped && !window->code) {
        if (xml->closing) return report_end(xml);
        enum assay__xml_kind kind = ASSAY__XML_NOTHING;
        size_t left = assay__import_window_left(window);
        const char *begin = assay__import_window_at(window);
        struct cursor cursor = {begin, begin + left};
        enum found found = !left           ? CUT
                           : *begin == '<' ? scan_tag(xml, &cursor, &kind)
                                           : scan_text(xml, &cursor, &kind);
        if (found == FOUND) {
            assay__import_window_use(window, (size_t)(cursor.at - begin));
            if (kind != ASSAY__XML_NOTHING) return kind;
        } else if (found == BAD) {
            fault(xml, "a \"<\" that does not begin a tag");
            assay__import_window_use(window, 1);
        } else if (left > ASSAY__XML_TOKEN_BYTES) {
            return stop(xml, "a tag or text of more than 4 MiB");
        } else if (window->at_end) {
            return finish(xml);
        } else {
            assay__import_window_more(window);
        }
    }
    return ASSAY__XML_NOTHING;
}

void assay__xml_skip(struct assay__xml *xml)
{
    size_t outside = xml->depth - 1;
    while (xml->depth > outside && assay__xml_next(xml) != ASSAY__XML_NOTHING)
        ;
}

/* --- references ------------------------------------------------------------------------------- */

/* "#65" or "#x41", between "&" and ";". */
static bool decode_number(struct assay__xml_text digits, uint32_t *code)
{
    uint32_t base = digits.length > 1 && digits.at[1] == 'x' ? 16 : 10;
    size_t i = base == 16 ? 2 : 1;
    *code = 0;
    if (i == digits.length) return false;
    for (; i < digits.length; i++) {
        char c = digits.at[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : 99;
        if (digit >= base) return false;
        if (*code <= 0x10ffff) *code = *code * base + digit;
    }
    return true;
}

static bool decode_one(struct assay__buf *out, struct assay__xml_text word)
{
    static const struct {
        const char *name;
        char c;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    char encoded[4];
    uint32_t code;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (assay__xml_is(word, known[i].name)) {
            assay__buf_putc(out, known[i].c);
            return true;
        }
    if (!word.length || word.at[0] != '#' || !decode_number(word, &code)) return false;
    if (!code) code = 0xfffd; /* a NUL is not an XML character */
    assay__buf_add(out, encoded, assay__utf8_encode(code, encoded));
    return true;
}

void assay__xml_decode(struct assay__buf *out, struct assay__xml_text text)
{
    if (!text.length) return;
    const char *end = text.at + text.length;
    while (text.at < end) {
        const char *mark = memchr(text.at, '&', (size_t)(end - text.at));
        if (!mark) mark = end;
        assay__buf_add(out, text.at, (size_t)(mark - text.at));
        if (mark == end) return;
        size_t most = (size_t)(end - mark) < 12 ? (size_t)(end - mark) : 12;
        const char *close = memchr(mark, ';', most);
        if (close &&
            decode_one(out, (struct assay__xml_text){mark + 1, (size_t)(close - mark) - 1})) {
            text.at = close + 1;
        } else {
            assay__buf_putc(out, '&');
            text.at = mark + 1;
        }
    }
}
