/* text.c - human-readable text: safe for a terminal, measured in columns, shortened to fit, nearest
 * word.
 *
 * Width follows the usual wcwidth rules (East Asian wide and emoji 2, combining 0) by two short
 * range tables; it is independent of the locale, because a report must be the same on every
 * machine. The tables cover whole blocks, so a rare unassigned character may be off by one
 * column. */
#include "base/text.h"

#include "base/utf8.h"

#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6" /* … , one column */

struct range {
    uint32_t first, last;
};

static const struct range zero_width[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489},   {0x0591, 0x05bd}, {0x0610, 0x061a}, {0x064b, 0x065f},
    {0x06d6, 0x06dc}, {0x0900, 0x0902},   {0x093c, 0x093c}, {0x0941, 0x0948}, {0x0e31, 0x0e31},
    {0x0e34, 0x0e3a}, {0x0e47, 0x0e4e},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
    {0x20d0, 0x20ff}, {0x302a, 0x302d},   {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};

static const struct range double_width[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x2614, 0x2615},
    {0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2e80, 0x303e},
    {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},
    {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
    {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static bool within(const struct range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count && ranges[i].first <= code; i++)
        if (code <= ranges[i].last) return true;
    return false;
}

static size_t columns_of(uint32_t code)
{
    if (code < 0x300) return 1;
    if (within(zero_width, sizeof zero_width / sizeof zero_width[0], code)) return 0;
    if (within(double_width, sizeof double_width / sizeof double_width[0], code)) return 2;
    return 1;
}

/* C0, DEL, C1; line and paragraph separators; direction overrides and isolates, which can make one
 * name look like another. */
bool assay__text_drives_terminal(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0x061c || code == 0xfeff;
}

void assay__text_safe(struct assay__buf *out, const char *text)
{
    size_t length = strlen(text), size;
    for (size_t i = 0; i < length; i += size) {
        uint32_t code = assay__utf8_decode(text + i, length - i, &size);
        if (code == ASSAY__UTF8_INVALID || assay__text_drives_terminal(code))
            assay__buf_putc(out, '?');
        else
            assay__buf_add(out, text + i, size);
    }
}

size_t assay__text_width(const char *text)
{
    size_t length = strlen(text), columns = 0, size;
    for (size_t i = 0; i < length; i += size) {
        uint32_t code = assay__utf8_decode(text + i, length - i, &size);
        columns += code == ASSAY__UTF8_INVALID ? 1 : columns_of(code);
    }
    return columns;
}

void assay__text_fit(struct assay__buf *out, const char *text, size_t columns, int keep_end)
{
    struct assay__buf safe = {0};
    assay__text_safe(&safe, text);
    if (safe.failed) out->failed = true;
    const char *from = assay__buf_text(&safe);
    size_t used = assay__text_width(from), at = 0, end = safe.length, size;
    bool cut = used > columns;
    if (cut && columns > 0 && !keep_end) { /* the longest head that leaves room for the ellipsis */
        for (used = end = 0;; end += size) {
            size_t wide = columns_of(assay__utf8_decode(from + end, safe.length - end, &size));
            if (used + wide > columns - 1) break;
            used += wide;
        }
    } else if (cut && columns > 0) { /* the longest tail */
        for (; used > columns - 1; at += size)
            used -= columns_of(assay__utf8_decode(from + at, safe.length - at, &size));
    } else if (cut) {
        used = end = 0;
    }
    bool marked = cut && columns > 0;
    if (marked && keep_end) assay__buf_puts(out, ELLIPSIS);
    assay__buf_add(out, from + at, end - at);
    if (marked && !keep_end) assay__buf_puts(out, ELLIPSIS);
    used += marked;
    if (used < columns) assay__buf_repeat(out, " ", columns - used);
    assay__buf_free(&safe);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void assay__text_nearest_try(struct assay__text_nearest *nearest, const char *written,
                             const char *candidate)
{
    size_t distance = *candidate ? assay__text_distance(written, candidate) : SIZE_MAX;
    if (distance < nearest->distance) *nearest = (struct assay__text_nearest){candidate, distance};
}

bool assay__text_near(const char *written, size_t distance)
{
    size_t most = strlen(written) / 3;
    return distance <= (most ? most : 1);
}

/* Optimal string alignment: insert, delete, replace, swap of neighbours; each 1. Three rows
 * suffice. Words longer than the rows are not typing errors: their distance is the longer
 * length. */
size_t assay__text_distance(const char *a, const char *b)
{
    enum { LONGEST = 128 };
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > LONGEST || b_length > LONGEST) return a_length > b_length ? a_length : b_length;
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = least(best, above[j] + 1);
            best = least(best, row[j - 1] + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, above2[j - 2] + 1);
            row[j] = best;
        }
    }
    return rows[a_length % 3][b_length];
}

bool assay__text_is_one_of(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (list += strspn(list, " "); *list; list += strspn(list, " ")) {
        size_t own = strcspn(list, " ");
        bool prefix = list[own - 1] == '*';
        size_t compared = prefix ? own - 1 : own;
        if ((prefix ? length >= compared : length == compared) &&
            strncmp(list, word, compared) == 0)
            return true;
        list += own;
    }
    return false;
}
