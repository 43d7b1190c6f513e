/* json_pack.c - see json_pack.h. Works on slices of the text: a value is never parsed, only found.
 */
#include "report/json/json_pack.h"

#include "base/checked.h"
#include "base/json.h"
#include "base/map.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROWS = 4, FEW = 4 /* rows per distinct value, at least */ };

struct slice {
    const char *text;
    size_t length;
};

struct pack {
    struct assay__buf *out;
    struct assay__arena *arena;
    int depth;
};

/* --- finding values --------------------------------------------------------------------------- */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* Past the string that begins at `at`. */
static const char *past_string(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        if (!quote) return end;
        size_t escapes = 0;
        while (quote - escapes > at && quote[-1 - (ptrdiff_t)escapes] == '\\')
            escapes++;
        if (escapes % 2 == 0) return quote + 1;
        at = quote;
    }
    return end;
}

/* Past the value that begins at `at`; `end` where there is none. */
static const char *past_value(const char *at, const char *end)
{
    int depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = past_string(at, end);
            if (!depth) return at;
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        else if (*at == '}' || *at == ']') {
            if (!depth) return at; /* the end of what is around a number */
            if (!--depth) return at + 1;
        } else if (!depth && (*at == ',' || *at == ' ' || *at == '\n'))
            return at;
        at++;
    }
    return end;
}

/* The element, or the member's key and value, at *at; false at the end. Moves past the comma. */
static bool next(const char **at, const char *end, struct slice *key, struct slice *value)
{
    const char *from = skip_space(*at, end);
    if (from < end && *from == ',') from = skip_space(from + 1, end);
    if (from >= end || *from == '}' || *from == ']') return false;
    if (key) {
        const char *past = past_value(from, end);
        *key = (struct slice){from, (size_t)(past - from)};
        from = skip_space(past, end);
        if (from < end && *from == ':') from = skip_space(from + 1, end);
    }
    *at = past_value(from, end);
    *value = (struct slice){from, (size_t)(*at - from)};
    return value->length > 0;
}

static bool same(struct slice a, struct slice b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static size_t count_of(struct slice list, bool members)
{
    const char *at = list.text + 1, *end = list.text + list.length;
    struct slice key, value;
    size_t count = 0;
    while (next(&at, end, members ? &key : NULL, &value))
        count++;
    return count;
}

/* --- columns ---------------------------------------------------------------------------------- */

static void put_value(struct pack *p, struct slice value);

static void put_cells(struct pack *p, const struct slice *cells, size_t count)
{
    assay__buf_putc(p->out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i) assay__buf_putc(p->out, ',');
        put_value(p, cells[i]);
    }
    assay__buf_putc(p->out, ']');
}

static size_t digits(size_t number)
{
    size_t count = 1;
    for (; number > 9; number /= 10)
        count++;
    return count;
}

/* {"~of", "~at"}; SIZE_MAX when there are too many distinct values. */
struct choice {
    struct slice *distinct;
    size_t *at;
    size_t count, bytes;
};

static void find_distinct(struct pack *p, const struct slice *cells, size_t count,
                          struct choice *made)
{
    struct assay__map *map = assay__map_new();
    size_t most = count / FEW;
    made->bytes = 16;
    made->distinct = assay__arena_array(p->arena, most + 1, sizeof *made->distinct);
    made->at = assay__arena_array(p->arena, count, sizeof *made->at);
    if (!map || !made->distinct || !made->at) {
        p->out->failed = true;
        made->bytes = SIZE_MAX;
    }
    for (size_t i = 0; i < count && made->bytes != SIZE_MAX; i++) {
        char *key = assay__arena_strndup(p->arena, cells[i].text, cells[i].length);
        size_t at = key ? assay__map_get(map, key) : 0;
        if (key && at == ASSAY__MAP_NONE) {
            at = made->count;
            if (made->count == most || assay__map_set(map, key, at)) {
                made->bytes = SIZE_MAX;
                break;
            }
            made->distinct[made->count++] = cells[i];
            made->bytes += cells[i].length + 1;
        }
        made->at[i] = at;
        made->bytes += digits(at) + 1;
    }
    assay__map_free(map);
}

static void put_choice(struct pack *p, const struct choice *choice, size_t count)
{
    assay__buf_puts(p->out, "{\"~of\":");
    put_cells(p, choice->distinct, choice->count);
    assay__buf_puts(p->out, ",\"~at\":[");
    for (size_t i = 0; i < count; i++)
        assay__buf_printf(p->out, "%s%zu", i ? "," : "", choice->at[i]);
    assay__buf_puts(p->out, "]}");
}

/* A string of printable ASCII without escapes: its characters are its bytes. */
static bool is_plain(struct slice cell)
{
    if (cell.length < 2 || cell.text[0] != '"') return false;
    for (size_t i = 1; i + 1 < cell.length; i++)
        if (cell.text[i] < ' ' || cell.text[i] > '~' || cell.text[i] == '\\') return false;
    return true;
}

static size_t shared(struct slice a, struct slice b)
{
    size_t i = 1;
    while (i + 1 < a.length && i + 1 < b.length && a.text[i] == b.text[i])
        i++;
    return i - 1;
}

/* SIZE_MAX when not all are plain strings. */
static size_t front_bytes(const struct slice *cells, size_t count)
{
    size_t bytes = 12;
    for (size_t i = 0; i < count; i++) {
        if (!is_plain(cells[i])) return SIZE_MAX;
        size_t same_bytes = i ? shared(cells[i - 1], cells[i]) : 0;
        bytes += digits(same_bytes) + cells[i].length - same_bytes + 2;
    }
    return bytes;
}

static void put_front(struct pack *p, const struct slice *cells, size_t count)
{
    assay__buf_puts(p->out, "{\"~front\":[");
    for (size_t i = 0; i < count; i++) {
        size_t same_bytes = i ? shared(cells[i - 1], cells[i]) : 0;
        assay__buf_printf(p->out, "%s%zu,\"", i ? "," : "", same_bytes);
        assay__buf_add(p->out, cells[i].text + 1 + same_bytes, cells[i].length - 1 - same_bytes);
    }
    assay__buf_puts(p->out, "]}");
}

static void put_column(struct pack *p, const struct slice *cells, size_t count);

static bool all_lists(const struct slice *cells, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cells[i].text[0] != '[') return false;
    return true;
}

static void put_lists(struct pack *p, const struct slice *cells, size_t count)
{
    size_t total = 0, made = 0;
    assay__buf_puts(p->out, "{\"~list\":[");
    for (size_t i = 0; i < count; i++) {
        size_t length = count_of(cells[i], false);
        total += length;
        assay__buf_printf(p->out, "%s%zu", i ? "," : "", length);
    }
    struct slice *items = assay__arena_array(p->arena, total + 1, sizeof *items);
    for (size_t i = 0; items && i < count; i++) {
        const char *at = cells[i].text + 1, *end = cells[i].text + cells[i].length;
        while (made < total && next(&at, end, NULL, &items[made]))
            made++;
    }
    assay__buf_puts(p->out, "],\"~items\":");
    if (!items) p->out->failed = true;
    if (items) put_column(p, items, made);
    assay__buf_putc(p->out, '}');
}

static void put_column(struct pack *p, const struct slice *cells, size_t count)
{
    size_t plain = 2, equal = 0;
    for (size_t i = 0; i < count; i++) {
        plain += cells[i].length + 1;
        equal += same(cells[i], cells[0]);
    }
    if (count > 1 && equal == count) {
        assay__buf_puts(p->out, "{\"~all\":");
        put_value(p, cells[0]);
        assay__buf_putc(p->out, '}');
        return;
    }
    struct choice choice = {0};
    find_distinct(p, cells, count, &choice);
    size_t front = front_bytes(cells, count);
    if (choice.bytes < plain && choice.bytes <= front)
        put_choice(p, &choice, count);
    else if (count && all_lists(cells, count))
        put_lists(p, cells, count);
    else if (front < plain)
        put_front(p, cells, count);
    else
        put_cells(p, cells, count);
}

/* --- values ----------------------------------------------------------------------------------- */

/* The keys of the rows of a list of objects, if all have the same; NULL: they differ. */
static struct slice *common_keys(struct pack *p, struct slice list, size_t rows, size_t *count)
{
    const char *at = list.text + 1, *end = list.text + list.length;
    struct slice row, key, value, *keys = NULL;
    *count = 0;
    for (size_t r = 0; r < rows && next(&at, end, NULL, &row); r++) {
        const char *member = row.text + 1, *past = row.text + row.length;
        size_t column = 0;
        if (row.text[0] != '{') return NULL;
        if (!r) {
            *count = count_of(row, true);
            keys = assay__arena_array(p->arena, *count + 1, sizeof *keys);
            if (!keys) p->out->failed = true;
            if (!keys || !*count) return NULL;
        }
        for (; next(&member, past, &key, &value); column++) {
            if (!r) keys[column] = key;
            if (column >= *count || !same(keys[column], key)) return NULL;
        }
        if (column != *count) return NULL;
    }
    return keys;
}

static void put_rows(struct pack *p, struct slice list, size_t rows, const struct slice *keys,
                     size_t count)
{
    size_t cells_count;
    struct slice *cells = NULL, row, key, value;
    if (!assay__mul_overflows(rows, count, &cells_count))
        cells = assay__arena_array(p->arena, cells_count, sizeof *cells);
    if (!cells) {
        p->out->failed = true;
        return;
    }
    const char *at = list.text + 1, *end = list.text + list.length;
    for (size_t r = 0; r < rows && next(&at, end, NULL, &row); r++) {
        const char *member = row.text + 1, *past = row.text + row.length;
        for (size_t c = 0; c < count && next(&member, past, &key, &value); c++)
            cells[c * rows + r] = value;
    }
    assay__buf_printf(p->out, "{\"~rows\":%zu", rows);
    for (size_t c = 0; c < count; c++) {
        assay__buf_putc(p->out, ',');
        assay__buf_add(p->out, keys[c].text, keys[c].length);
        assay__buf_putc(p->out, ':');
        put_column(p, cells + c * rows, rows);
    }
    assay__buf_putc(p->out, '}');
}

static void put_members(struct pack *p, struct slice value, bool object)
{
    const char *at = value.text + 1, *end = value.text + value.length;
    struct slice key, item;
    bool first = true;
    assay__buf_putc(p->out, value.text[0]);
    while (next(&at, end, object ? &key : NULL, &item)) {
        if (!first) assay__buf_putc(p->out, ',');
        first = false;
        if (object) {
            assay__buf_add(p->out, key.text, key.length);
            assay__buf_putc(p->out, ':');
        }
        put_value(p, item);
    }
    assay__buf_putc(p->out, object ? '}' : ']');
}

static void put_value(struct pack *p, struct slice value)
{
    size_t rows, count = 0;
    struct slice *keys = NULL;
    if (++p->depth > ASSAY__JSON_DEPTH) p->out->failed = true;
    if (p->out->failed) {
        p->depth--;
        return;
    }
    if (value.text[0] == '[' && (rows = count_of(value, false)) >= LEAST_ROWS)
        keys = common_keys(p, value, rows, &count);
    if (keys)
        put_rows(p, value, rows, keys, count);
    else if (value.text[0] == '{' || value.text[0] == '[')
        put_members(p, value, value.text[0] == '{');
    else
        assay__buf_add(p->out, value.text, value.length);
    p->depth--;
}

void assay__json_pack(struct assay__buf *out, const char *json, size_t length)
{
    struct pack p = {.out = out, .arena = assay__arena_new()};
    const char *from = json, *end = json + length;
    struct slice value;
    if (!p.arena || !next(&from, end, NULL, &value))
        out->failed = true;
    else
        put_value(&p, value);
    assay__arena_free(p.arena);
}
