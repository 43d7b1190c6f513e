/* figure_svg_path.c - the paths of a drawing in their shortest form: of each step the absolute or
 * the relative one, letters and blanks only where they are needed (SVG 1.1, 8.3). Coordinates
 * have at most one decimal, so that differences are exact. Paths with other commands than M, L, H,
 * V and Z, in either case, stay as they are. */
#include "report/figure/figure_svg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct path {
    const char *at;
    struct assay__buf *out;      /* NULL: it is only read */
    long x, y, start_x, start_y; /* the current point, the start of its piece; in tenths */
    char letter, given;          /* the last command written, and the one that is read */
    bool fraction;               /* the last number written has a "." */
    bool exact;                  /* so far only what this file knows */
};

/* Tenths of the next number. */
static long take(struct path *p)
{
    long value = 0;
    bool negative = false, any = false;
    p->at += strspn(p->at, " ,");
    if (*p->at == '-') negative = true, p->at++;
    for (; *p->at >= '0' && *p->at <= '9' && value < 100000000; p->at++, any = true)
        value = 10 * value + (*p->at - '0');
    value *= 10;
    if (*p->at == '.' && p->at[1] >= '0' && p->at[1] <= '9') {
        value += p->at[1] - '0';
        p->at += 2;
        any = true;
    }
    if (!any || (*p->at && strchr("0123456789.e", *p->at))) p->exact = false;
    return negative ? -value : value;
}

struct text {
    char bytes[64];
    size_t length;
    bool fraction;
};

/* Adds a number to a step; `joined`: directly behind a number. */
static void add_number(struct text *out, long tenths, bool joined)
{
    long size = labs(tenths), whole = size / 10, rest = size % 10;
    bool bare = tenths >= 0 && !(rest && !whole && out->fraction);
    const char *before = tenths < 0 ? "-" : joined && bare ? " " : "";
    size_t room = sizeof out->bytes - out->length;
    int written = rest && !whole ? snprintf(out->bytes + out->length, room, "%s.%ld", before, rest)
                  : rest
                      ? snprintf(out->bytes + out->length, room, "%s%ld.%ld", before, whole, rest)
                      : snprintf(out->bytes + out->length, room, "%s%ld", before, whole);
    out->length += (size_t)written;
    out->fraction = rest != 0;
}

/* The step as it would be written. */
static struct text form(const struct path *p, char letter, const long *numbers, size_t count)
{
    struct text out = {.fraction = p->fraction};
    bool same = letter == p->letter && letter != 'M' && letter != 'm';
    if (!same) {
        out.bytes[out.length++] = letter;
        out.fraction = false;
    }
    for (size_t i = 0; i < count; i++)
        add_number(&out, numbers[i], same || i);
    return out;
}

static void put_step(struct path *p, char letter, const long *absolute, const long *relative,
                     size_t count)
{
    char upper = letter, lower = (char)(letter - 'A' + 'a');
    if (!p->out) return;
    struct text far = form(p, upper, absolute, count), near = form(p, lower, relative, count);
    bool shorter = letter == 'M' ? near.length < far.length : near.length <= far.length;
    const struct text *best = shorter ? &near : &far;
    assay__buf_add(p->out, best->bytes, best->length);
    p->letter = shorter ? lower : upper;
    p->fraction = best->fraction;
}

/* One step; false at the end, or at what is not known. */
static bool step(struct path *p)
{
    p->at += strspn(p->at, " ,");
    char c = *p->at;
    if (c == '"' || !c) return false;
    if (strchr("MmLlHhVvZz", c)) {
        p->given = c;
        p->at++;
    } else if (!p->given || !strchr("LlHhVv", p->given) || !strchr("-.0123456789", c)) {
        p->exact = false;
        return false;
    }
    bool relative = p->given >= 'a';
    char upper = (char)(relative ? p->given - 'a' + 'A' : p->given);
    if (upper == 'Z') {
        if (p->out) assay__buf_putc(p->out, 'z');
        p->x = p->start_x, p->y = p->start_y;
        p->letter = 'z', p->fraction = false;
        return true;
    }
    long x = p->x, y = p->y;
    if (upper != 'V') x = take(p) + (relative ? p->x : 0);
    if (upper != 'H') y = take(p) + (relative ? p->y : 0);
    const long to[] = {x, y}, by[] = {x - p->x, y - p->y};
    if (upper == 'L' && (!by[0] || !by[1])) upper = by[1] ? 'V' : 'H';
    size_t skip = upper == 'V', count = upper == 'H' || upper == 'V' ? 1 : 2;
    put_step(p, upper, to + skip, by + skip, count);
    p->x = x, p->y = y;
    if (upper == 'M') p->start_x = x, p->start_y = y;
    return p->exact;
}

void assay__svg_tightened(struct assay__buf *out, const char *text)
{
    static const char open[] = " d=\"";
    for (const char *at; (at = strstr(text, open)); text = at) {
        at += strlen(open);
        assay__buf_add(out, text, (size_t)(at - text));
        struct path known = {.at = at, .exact = true};
        while (step(&known)) {
        }
        if (!known.exact || *known.at != '"') continue;
        struct path path = {.at = at, .out = out, .exact = true};
        while (step(&path)) {
        }
        at = path.at;
    }
    assay__buf_puts(out, text);
}
