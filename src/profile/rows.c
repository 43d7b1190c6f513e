/* rows.c - see rows.h. Guards against crafted files: every row and every text is charged against
 * the size of the file, because a b-tree can be tied so that it yields more rows than bytes. */
#include "profile/rows.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

bool assay__load_failed(struct assay__loader *loader, int code, const char *why)
{
    if (!loader->code)
        loader->code = assay_error_set(loader->error, code, "%s: %s", loader->path, why);
    return false;
}

static bool sql_failed(struct assay__loader *loader)
{
    if (loader->code) return false;
    if ((sqlite3_errcode(loader->db->sqlite) & 0xff) == SQLITE_INTERRUPT)
        return assay__load_failed(loader, ASSAY_EFORMAT,
                                  "damaged profile: reading it does not end");
    loader->code = assay__sql_error(loader->db->sqlite, loader->path, "damaged profile",
                                    loader->error);
    return false;
}

struct assay__rows assay__rows_start(struct assay__loader *loader, const char *sql,
                                     const char *types, ...)
{
    struct assay__rows rows = {.loader = loader};
    if (loader->code) return rows;
    int code = sqlite3_prepare_v2(loader->db->sqlite, sql, -1, &rows.statement, NULL);
    if (code == SQLITE_ERROR) return rows; /* no such table or key column: nothing recorded */
    if (code != SQLITE_OK) {
        sql_failed(loader);
        return rows;
    }
    va_list args;
    va_start(args, types);
    for (int i = 0; types[i]; i++) {
        if (types[i] == 'i')
            sqlite3_bind_int64(rows.statement, i + 1, va_arg(args, int64_t));
        else
            sqlite3_bind_text(rows.statement, i + 1, va_arg(args, const char *), -1,
                              SQLITE_TRANSIENT);
    }
    va_end(args);
    return rows;
}

void assay__rows_stop(struct assay__rows *rows)
{
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
}

bool assay__rows_charge(struct assay__loader *loader, uint64_t bytes)
{
    uint64_t left = loader->db->bytes - loader->used_bytes; /* never below 0: see the last line */
    if (bytes <= left) {
        loader->used_bytes += bytes;
        return true;
    }
    loader->used_bytes = loader->db->bytes;
    return assay__load_failed(loader, ASSAY_EFORMAT,
                              "damaged profile: it holds more rows than bytes");
}

bool assay__rows_next(struct assay__rows *rows)
{
    struct assay__loader *loader = rows->loader;
    if (!rows->statement) return false;
    int code = loader->code ? SQLITE_DONE : sqlite3_step(rows->statement);
    if (code == SQLITE_ROW && assay__rows_charge(loader, 1)) return true;
    if (code != SQLITE_ROW && code != SQLITE_DONE) sql_failed(loader);
    assay__rows_stop(rows);
    return false;
}

int assay__rows_column(struct assay__rows *rows, const char *column)
{
    int count = sqlite3_column_count(rows->statement);
    for (int i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(rows->statement, i);
        if (name && strcmp(name, column) == 0) return i;
    }
    return -1;
}

/* Cuts at a limit without splitting a UTF-8 sequence. */
static size_t cut_length(const char *text, size_t length)
{
    if (length <= ASSAY__TEXT_BYTES) return length;
    length = ASSAY__TEXT_BYTES;
    while (length > ASSAY__TEXT_BYTES - 4 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

const char *assay__rows_text(struct assay__rows *rows, const char *column)
{
    struct assay__loader *loader = rows->loader;
    int index = assay__rows_column(rows, column);
    if (loader->code || index < 0 || sqlite3_column_type(rows->statement, index) != SQLITE_TEXT)
        return "";
    const char *text = (const char *)sqlite3_column_text(rows->statement, index);
    if (!text) {
        assay__load_failed(loader, ASSAY_ENOMEM, "out of memory");
        return "";
    }
    size_t length = cut_length(text, strlen(text));
    if (length == 0 || !assay__rows_charge(loader, length)) return "";
    const char *copy = assay__arena_strndup(loader->profile->arena, text, length);
    if (!copy) assay__load_failed(loader, ASSAY_ENOMEM, "out of memory");
    return copy ? copy : "";
}

double assay__rows_real(struct assay__rows *rows, const char *column)
{
    int index = assay__rows_column(rows, column);
    if (index < 0) return NAN;
    int type = sqlite3_column_type(rows->statement, index);
    if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) return NAN;
    double value = sqlite3_column_double(rows->statement, index);
    return isfinite(value) ? value : NAN;
}

int64_t assay__rows_int(struct assay__rows *rows, const char *column, int64_t low, int64_t high,
                        int64_t unknown)
{
    int index = assay__rows_column(rows, column);
    if (index < 0 || sqlite3_column_type(rows->statement, index) != SQLITE_INTEGER) return unknown;
    int64_t value = sqlite3_column_int64(rows->statement, index);
    return value >= low && value <= high ? value : unknown;
}

enum assay_state assay__rows_state(struct assay__rows *rows, const char *column)
{
    int index = assay__rows_column(rows, column);
    if (index < 0 || sqlite3_column_type(rows->statement, index) != SQLITE_TEXT)
        return ASSAY_UNAVAILABLE;
    int state = assay_state_parse((const char *)sqlite3_column_text(rows->statement, index));
    return state < 0 ? ASSAY_UNAVAILABLE : (enum assay_state)state;
}

void *assay__rows_grow(struct assay__loader *loader, void *items, size_t count, size_t size)
{
    if (count & (count - 1)) return items; /* the array doubles at every power of two */
    void *bigger = assay__arena_array(loader->profile->arena, count ? count * 2 : 1, size);
    if (!bigger) assay__load_failed(loader, ASSAY_ENOMEM, "out of memory");
    if (bigger && count) memcpy(bigger, items, count * size);
    return bigger;
}
