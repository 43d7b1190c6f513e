/* perf_line.c - a head is taken apart around its time, the only part that has a form of its own:
 * " 5406.896142:". What comes before it is read from the right, because a thread's name may hold
 * blanks and digits. */
#include "import/perf_line.h"

#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct assay__perf_text trim(struct assay__perf_text text)
{
    while (text.length && is_blank(text.at[0])) {
        text.at++;
        text.length--;
    }
    while (text.length && (is_blank(text.at[text.length - 1]) || text.at[text.length - 1] == '\r'))
        text.length--;
    return text;
}

bool assay__perf_begins(struct assay__perf_text text, const char *word)
{
    size_t length = strlen(word);
    return text.length >= length && memcmp(text.at, word, length) == 0;
}

bool assay__perf_is(struct assay__perf_text text, const char *word)
{
    return text.length == strlen(word) && assay__perf_begins(text, word);
}

static bool parse_integer(struct assay__perf_text text, int64_t *number)
{
    int64_t value = 0;
    if (!text.length) return false;
    for (size_t i = 0; i < text.length; i++) {
        if (!is_digit(text.at[i]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text.at[i] - '0', &value))
            return false;
    }
    *number = value;
    return true;
}

/* "5406.896142" in seconds, with 3 to 9 decimals. */
static bool parse_time(struct assay__perf_text text, int64_t *time_ns)
{
    const char *point = text.length ? memchr(text.at, '.', text.length) : NULL;
    int64_t seconds, fraction;
    if (!point) return false;
    struct assay__perf_text whole = {text.at, (size_t)(point - text.at)};
    struct assay__perf_text decimals = {point + 1, text.length - whole.length - 1};
    if (decimals.length < 3 || decimals.length > 9 || !parse_integer(whole, &seconds) ||
        !parse_integer(decimals, &fraction))
        return false;
    for (size_t i = decimals.length; i < 9; i++)
        fraction *= 10;
    return !__builtin_mul_overflow(seconds, 1000000000, time_ns) &&
           !__builtin_add_overflow(*time_ns, fraction, time_ns);
}

/* The last word of the text, which loses it. */
static struct assay__perf_text last_word(struct assay__perf_text *text)
{
    *text = trim(*text);
    size_t begin = text->length;
    while (begin && !is_blank(text->at[begin - 1]))
        begin--;
    struct assay__perf_text word = {text->at + begin, text->length - begin};
    text->length = begin;
    return word;
}

static struct assay__perf_text first_word(struct assay__perf_text *text)
{
    size_t length = 0;
    *text = trim(*text);
    while (length < text->length && !is_blank(text->at[length]))
        length++;
    struct assay__perf_text word = {text->at, length};
    text->at += length;
    text->length -= length;
    return word;
}

/* "124" or "123/124"; some versions print -1. */
static bool parse_ids(struct assay__perf_text word, struct assay__perf_head *head)
{
    const char *slash = word.length ? memchr(word.at, '/', word.length) : NULL;
    struct assay__perf_text tid = word;
    if (slash) {
        struct assay__perf_text pid = {word.at, (size_t)(slash - word.at)};
        if (!assay__perf_is(pid, "-1") && !parse_integer(pid, &head->pid)) return false;
        tid = (struct assay__perf_text){slash + 1, word.length - pid.length - 1};
    }
    return assay__perf_is(tid, "-1") || parse_integer(tid, &head->tid);
}

/* "comm 123/124 [001]" */
static bool parse_owner(struct assay__perf_text text, struct assay__perf_head *head)
{
    struct assay__perf_text word = last_word(&text);
    while (word.length && word.at[0] == '[' && word.at[word.length - 1] == ']')
        word = last_word(&text);
    head->pid = head->tid = -1;
    if (!parse_ids(word, head)) return false;
    head->comm = trim(text);
    return true;
}

/* "5000000 cpu-clock:ppp: …" or "PERF_RECORD_SWITCH OUT" */
static void parse_event(struct assay__perf_text text, struct assay__perf_head *head)
{
    struct assay__perf_text left = text, word = first_word(&left);
    head->period = 0;
    head->event = (struct assay__perf_text){text.at, 0};
    if (parse_integer(word, &head->period)) {
        text = left;
        word = first_word(&left);
    } else {
        head->period = 0;
    }
    if (word.length && (word.at[word.length - 1] == ':' || assay__perf_begins(word, "PERF_"))) {
        head->event = word;
        if (word.at[word.length - 1] == ':') head->event.length--;
        text = left;
    }
    head->rest = trim(text);
}

bool assay__perf_head(const char *line, size_t length, struct assay__perf_head *head)
{
    const char *end = line + length;
    for (const char *colon = line; (colon = memchr(colon, ':', (size_t)(end - colon))); colon++) {
        const char *begin = colon;
        while (begin > line && (is_digit(begin[-1]) || begin[-1] == '.'))
            begin--;
        struct assay__perf_text time = {begin, (size_t)(colon - begin)};
        struct assay__perf_text owner = {line, (size_t)(begin - line)};
        if (begin == line || !is_blank(begin[-1]) || !parse_time(time, &head->time_ns)) continue;
        if (!parse_owner(owner, head)) return false;
        parse_event((struct assay__perf_text){colon + 1, (size_t)(end - colon) - 1}, head);
        return true;
    }
    return false;
}

/* --- frames ----------------------------------------------------------------------------------- */

static bool is_address(struct assay__perf_text word)
{
    if (assay__perf_begins(word, "0x")) {
        word.at += 2;
        word.length -= 2;
    }
    if (!word.length || word.length > 16) return false;
    for (size_t i = 0; i < word.length; i++)
        if (!is_hex(word.at[i])) return false;
    return true;
}

/* Without " (/usr/lib/x.so)", " ([kernel.kallsyms])" and " (inlined)" at the end: other brackets
 * are a symbol's of C++. */
static struct assay__perf_text cut_object(struct assay__perf_text text)
{
    text = trim(text);
    if (!text.length || text.at[text.length - 1] != ')') return text;
    for (size_t open = text.length - 1; open-- > 1;) {
        struct assay__perf_text inside = {text.at + open + 1, text.length - open - 1};
        if (text.at[open] != '(' || !is_blank(text.at[open - 1])) continue;
        if (inside.at[0] != '/' && inside.at[0] != '[' && !assay__perf_is(inside, "inlined)"))
            continue;
        text.length = open;
        break;
    }
    return trim(text);
}

/* Without "+0x1e9" at the end. */
static struct assay__perf_text cut_offset(struct assay__perf_text text)
{
    size_t end = text.length;
    while (end && is_hex(text.at[end - 1]))
        end--;
    if (end >= 4 && end < text.length && memcmp(text.at + end - 3, "+0x", 3) == 0)
        text.length = end - 3;
    return text;
}

bool assay__perf_frame(const char *line, size_t length, struct assay__perf_text *symbol)
{
    struct assay__perf_text left = trim((struct assay__perf_text){line, length}), whole = left;
    struct assay__perf_text address = first_word(&left);
    bool has_address = is_address(address);
    *symbol = cut_offset(cut_object(has_address ? left : whole));
    if (!symbol->length && has_address) *symbol = address;
    return symbol->length > 0;
}

bool assay__perf_argument(struct assay__perf_text rest, const char *key, int64_t *number)
{
    size_t length = strlen(key);
    const char *end = rest.at + rest.length;
    for (const char *at = rest.at;
         rest.length && (at = memmem(at, (size_t)(end - at), key, length)); at++) {
        struct assay__perf_text digits = {at + length, 0};
        if (at > rest.at && !is_blank(at[-1])) continue;
        while (digits.at + digits.length < end && is_digit(digits.at[digits.length]))
            digits.length++;
        return parse_integer(digits, number);
    }
    return false;
}
