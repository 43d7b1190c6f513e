/* rows.c - see rows.h. Guards against crafted files: every row and every text is charged against
 * the size of the file, because the pages of a b-tree can be linked so that it yields more rows
 * than bytes. */
#include "profile/rows.h"

#include "base/buf.h"

#include <string.h>

bool assay__load_failed(struct assay__loader *loader, int code, const char *why)
{
    if (!loader->code)
        loader->code = assay_error_set(loader->error, code, "%s: %s", loader->path, why);
    return false;
}

bool assay__load_no_memory(struct assay__loader *loader)
{
    return assay__load_failed(loader, ASSAY_ENOMEM, "out of memory");
}

static bool sql_failed(struct assay__loader *loader)
{
    if (loader->code) return false;
    if ((sqlite3_errcode(loader->db->sqlite) & 0xff) == SQLITE_INTERRUPT)
        return assay__load_failed(loader, ASSAY_EFORMAT,
                                  "damaged profile: it takes too long to read");
    loader->code = assay__sql_error(loader->db->sqlite, loader->path, "damaged profile",
                                    loader->error);
    return false;
}

/* NULL: there is no such table or key column, so nothing was recorded; or it failed. */
static sqlite3_stmt *prepare(struct assay__loader *loader, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (loader->code) return NULL;
    int code = sqlite3_prepare_v2(loader->db->sqlite, sql, -1, &statement, NULL);
    if (code != SQLITE_OK && code != SQLITE_ERROR) sql_failed(loader);
    return statement;
}

struct assay__rows assay__rows_start(struct assay__loader *loader, const char *sql, int64_t first,
                                     int64_t second)
{
    struct assay__rows rows = {.loader = loader, .statement = prepare(loader, sql)};
    if (!rows.statement) return rows;
    sqlite3_bind_int64(rows.statement, 1, first);
    sqlite3_bind_int64(rows.statement, 2, second);
    return rows;
}

/* The name of a key or of the position in the file: a file of schema 1 has one model, whose rows
 * are keyed by the profile. */
static const char *column_of(const struct assay__loader *loader,
                             const struct assay__field_table *table, const char *column)
{
    bool models = strcmp(column, "model") == 0 ||
                  (table == &assay__stored_model && strcmp(column, "id") == 0);
    return loader->db->schema == 1 && models ? "profile" : column;
}

struct assay__rows assay__rows_of(struct assay__loader *loader,
                                  const struct assay__field_table *table,
                                  const struct assay__key *keys, size_t count,
                                  struct assay__trial *trial)
{
    struct assay__rows rows = {.loader = loader, .table = table, .trial = trial};
    struct assay__buf sql = {0};
    size_t offset;
    assay__buf_puts(&sql, "SELECT ");
    /* All columns: a missing one is unknown. If a row must be complete, each column is named. */
    if (!table->whole) {
        assay__buf_puts(&sql, "*");
    } else {
        for (size_t i = 0; i < assay__keys_count(table); i++)
            assay__buf_printf(&sql, "%s,", column_of(loader, table, table->keys[i]));
        assay__buf_puts(&sql, table->position);
        for (size_t i = 0; i < assay__fields_count(table); i++)
            assay__buf_printf(&sql, ",%s", assay__fields_at(table, i, &offset)->column);
    }
    assay__buf_printf(&sql, " FROM %s", table->name);
    for (size_t i = 0; i < count; i++)
        assay__buf_printf(&sql, "%s%s=?", i ? " AND " : " WHERE ",
                          column_of(loader, table, table->keys[i]));
    if (table->position) assay__buf_puts(&sql, " ORDER BY ");
    for (size_t i = count; table->position && i < assay__keys_count(table); i++)
        assay__buf_printf(&sql, "%s,", column_of(loader, table, table->keys[i]));
    if (table->position) assay__buf_puts(&sql, column_of(loader, table, table->position));
    if (sql.failed) assay__load_no_memory(loader);
    rows.statement = prepare(loader, sql.data);
    assay__buf_free(&sql);
    if (!rows.statement) return rows;
    assay__keys_bind(rows.statement, keys, count);
    for (size_t i = 0; i < assay__fields_count(table); i++) {
        const struct assay__field *field = assay__fields_at(table, i, &offset);
        bool stored = field->type != ASSAY__FIELD_TEXTS;
        rows.index[i] = (short)(stored ? assay__rows_column(&rows, field->column) : -1);
    }
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
                              "damaged profile: it has more rows than bytes");
}

bool assay__rows_next(struct assay__rows *rows)
{
    struct assay__loader *loader = rows->loader;
    size_t limit = rows->table ? rows->table->limit : 0;
    if (!rows->statement) return false;
    int code = loader->code ? SQLITE_DONE : sqlite3_step(rows->statement);
    bool full = code == SQLITE_ROW && limit && rows->taken == limit;
    if (full && rows->trial && rows->table->what)
        assay__load_note(
            loader, rows->trial,
            assay__arena_printf(loader->profile->arena,
                                "damaged profile: more than %zu %s; the rest is left out", limit,
                                rows->table->what));
    if (code == SQLITE_ROW && !full && assay__rows_charge(loader, 1)) {
        rows->taken++;
        return true;
    }
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

/* The column's text in the document's arena, "" when unknown; it may be invalid UTF-8, but it is
 * only ever cut between two characters. */
static const char *copy_text(struct assay__loader *loader, sqlite3_stmt *statement, int index)
{
    if (loader->code) return "";
    const char *text = (const char *)sqlite3_column_text(statement, index);
    if (!text) {
        assay__load_no_memory(loader);
        return "";
    }
    size_t length = strlen(text);
    if (length > ASSAY__TEXT_BYTES) {
        length = ASSAY__TEXT_BYTES;
        while (length > ASSAY__TEXT_BYTES - 4 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    if (length == 0 || !assay__rows_charge(loader, length)) return "";
    const char *copy = assay__arena_strndup(loader->profile->arena, text, length);
    if (!copy) assay__load_no_memory(loader);
    return copy ? copy : "";
}

static struct assay__field_value value_at(struct assay__rows *rows,
                                          const struct assay__field *field, int index)
{
    sqlite3_stmt *statement = rows->statement;
    switch (index < 0 ? SQLITE_NULL : sqlite3_column_type(statement, index)) {
    case SQLITE_INTEGER:
        return (struct assay__field_value){.kind = ASSAY__VALUE_INTEGER,
                                           .integer = sqlite3_column_int64(statement, index)};
    case SQLITE_FLOAT:
        return (struct assay__field_value){.kind = ASSAY__VALUE_REAL,
                                           .real = sqlite3_column_double(statement, index)};
    case SQLITE_TEXT:
        if (field->type == ASSAY__FIELD_TEXT)
            return (struct assay__field_value){.kind = ASSAY__VALUE_TEXT,
                                               .text = copy_text(rows->loader, statement, index)};
        return (struct assay__field_value){
            .kind = ASSAY__VALUE_TEXT, .text = (const char *)sqlite3_column_text(statement, index)};
    default: return (struct assay__field_value){.kind = ASSAY__VALUE_UNKNOWN};
    }
}

void assay__rows_fill(struct assay__rows *rows, void *element)
{
    size_t offset;
    for (size_t i = 0; i < assay__fields_count(rows->table); i++) {
        const struct assay__field *field = assay__fields_at(rows->table, i, &offset);
        if (field->type == ASSAY__FIELD_TEXTS) continue;
        assay__field_set(field, (char *)element + offset, value_at(rows, field, rows->index[i]));
    }
}

bool assay__rows_read(struct assay__rows *rows, void *element)
{
    if (!assay__rows_next(rows)) return false;
    memset(element, 0, rows->table->size);
    assay__rows_fill(rows, element);
    return true;
}

void *assay__rows_append(struct assay__rows *rows, void *items, size_t *count)
{
    void *array;
    size_t size = rows->table->size;
    if (!assay__rows_next(rows)) return NULL;
    memcpy(&array, items, sizeof array);
    array = assay__rows_grow(rows->loader, array, *count, size);
    if (!array) {
        assay__rows_stop(rows);
        return NULL;
    }
    memcpy(items, &array, sizeof array);
    void *element = (char *)array + (*count)++ * size;
    assay__rows_fill(rows, element);
    return element;
}

void assay__load_list(struct assay__loader *loader, const struct assay__field_table *table,
                      const struct assay__key *keys, struct assay__trial *trial, void *items,
                      size_t *count)
{
    struct assay__rows rows = assay__rows_of(loader, table, keys, assay__keys_count(table), trial);
    while (assay__rows_append(&rows, items, count)) {
    }
}

bool assay__load_one(struct assay__loader *loader, const struct assay__field_table *table,
                     const struct assay__key *keys, void *element)
{
    struct assay__rows rows = assay__rows_of(loader, table, keys, assay__keys_count(table), NULL);
    if (!assay__rows_next(&rows)) return false;
    assay__rows_fill(&rows, element);
    assay__rows_stop(&rows);
    return true;
}

int64_t assay__rows_int(struct assay__rows *rows, const char *column, int64_t low, int64_t high,
                        int64_t unknown)
{
    int index = assay__rows_column(rows, column);
    if (index < 0 || sqlite3_column_type(rows->statement, index) != SQLITE_INTEGER) return unknown;
    int64_t value = sqlite3_column_int64(rows->statement, index);
    return value >= low && value <= high ? value : unknown;
}

int64_t assay__rows_position(struct assay__rows *rows)
{
    return assay__rows_int(rows, rows->table->position, 0, INT64_MAX, -1);
}

void *assay__load_array(struct assay__loader *loader, size_t count, size_t size)
{
    void *items = loader->code ? NULL : assay__arena_array(loader->profile->arena, count, size);
    if (!items) assay__load_no_memory(loader);
    return items;
}

void *assay__rows_grow(struct assay__loader *loader, void *items, size_t count, size_t size)
{
    void *bigger = assay__arena_grow(loader->profile->arena, items, count, size);
    if (!bigger) assay__load_no_memory(loader);
    return bigger;
}
