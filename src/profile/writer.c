/* writer.c - see writer.h. Statements are generated from the tables: INSERT OR REPLACE with the
 * columns key, position, fields, in that order. */
#include "profile/writer.h"

#include "base/buf.h"
#include "profile/chunk.h"

#include <string.h>

sqlite3_stmt *assay__writer_prepare(struct assay__writer *writer, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (writer->code == SQLITE_OK)
        writer->code = sqlite3_prepare_v2(writer->db, sql, -1, &statement, NULL);
    return statement;
}

/* Runs a bound statement for its effect and makes it ready for the next row. */
static void step(struct assay__writer *writer, sqlite3_stmt *statement)
{
    if (writer->code == SQLITE_OK) {
        int code = sqlite3_step(statement);
        if (code != SQLITE_DONE && code != SQLITE_ROW) writer->code = code;
    }
    sqlite3_reset(statement);
}

/* --- statements from tables ------------------------------------------------------------------- */

static bool is_stored(const struct assay__field *field)
{
    return field->type != ASSAY__FIELD_TEXTS;
}

/* The table's columns in the order of their parameters; returns how many. */
static int columns_of(const struct assay__field_table *table, const char **columns)
{
    int count = 0;
    size_t offset;
    for (size_t i = 0; i < assay__keys_count(table); i++)
        columns[count++] = table->keys[i];
    if (table->position) columns[count++] = table->position;
    for (size_t i = 0; i < assay__fields_count(table) && count < ASSAY__COLUMNS_MOST; i++) {
        const struct assay__field *field = assay__fields_at(table, i, &offset);
        if (is_stored(field)) columns[count++] = field->column;
    }
    return count;
}

/* Frees the text. */
static sqlite3_stmt *prepare_text(struct assay__writer *writer, struct assay__buf *sql)
{
    if (sql->failed && writer->code == SQLITE_OK) writer->code = SQLITE_NOMEM;
    sqlite3_stmt *statement = assay__writer_prepare(writer, sql->data);
    assay__buf_free(sql);
    return statement;
}

static sqlite3_stmt *prepare_insert(struct assay__writer *writer,
                                    const struct assay__field_table *table)
{
    const char *columns[ASSAY__COLUMNS_MOST];
    struct assay__buf sql = {0};
    int count = columns_of(table, columns);
    assay__buf_printf(&sql, "INSERT OR REPLACE INTO %s(", table->name);
    for (int i = 0; i < count; i++)
        assay__buf_printf(&sql, "%s%s", i ? "," : "", columns[i]);
    assay__buf_puts(&sql, ") VALUES(?");
    assay__buf_repeat(&sql, ",?", (size_t)count - 1);
    assay__buf_puts(&sql, ")");
    return prepare_text(writer, &sql);
}

/* The table's statements; NULL after a failure. */
static struct assay__statements *statements_of(struct assay__writer *writer,
                                               const struct assay__field_table *table)
{
    if (writer->code != SQLITE_OK) return NULL;
    for (size_t i = 0; i < writer->kept_count; i++)
        if (writer->kept[i].table == table) return &writer->kept[i];
    if (writer->kept_count == ASSAY__STATEMENTS_MOST) {
        writer->code = SQLITE_TOOBIG;
        return NULL;
    }
    struct assay__statements *kept = &writer->kept[writer->kept_count++];
    *kept = (struct assay__statements){.table = table};
    return kept;
}

static sqlite3_stmt *insert_of(struct assay__writer *writer, const struct assay__field_table *table)
{
    struct assay__statements *kept = statements_of(writer, table);
    if (kept && !kept->insert) kept->insert = prepare_insert(writer, table);
    return kept ? kept->insert : NULL;
}

void assay__writer_close(struct assay__writer *writer)
{
    for (size_t i = 0; i < writer->kept_count; i++) {
        sqlite3_finalize(writer->kept[i].insert);
        sqlite3_finalize(writer->kept[i].clear);
    }
    writer->kept_count = 0;
}

/* --- the check -------------------------------------------------------------------------------- */

/* A column of the schema that the table does not have; "" none. False: the schema cannot be read.
 */
static bool find_unwritten(sqlite3 *db, const struct assay__field_table *table,
                           const char **columns, int count, char *missing, size_t size)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?1)", -1, &statement,
                                  NULL);
    if (code == SQLITE_OK) code = sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
    *missing = '\0';
    while (code == SQLITE_OK && !*missing && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        bool found = false;
        for (int i = 0; name && i < count; i++)
            found = found || strcmp(name, columns[i]) == 0;
        if (!found) sqlite3_snprintf((int)size, missing, "%s", name ? name : "?");
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return code == SQLITE_OK || code == SQLITE_DONE;
}

static int check_table(struct assay__writer *writer, const struct assay__field_table *table,
                       struct assay_error *error)
{
    const char *columns[ASSAY__COLUMNS_MOST];
    char missing[64];
    if (assay__keys_count(table) + 1 + assay__fields_count(table) > ASSAY__COLUMNS_MOST)
        return assay_error_set(error, ASSAY_EINVAL, "the field table of '%s' is too long",
                               table->name);
    int count = columns_of(table, columns);
    sqlite3_stmt *insert = insert_of(writer, table);
    if (!insert)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the field table of '%s' does not match the schema: %s", table->name,
                               sqlite3_errmsg(writer->db));
    if (!find_unwritten(writer->db, table, columns, count, missing, sizeof missing))
        return assay_error_set(error, ASSAY_EIO, "the schema cannot be read: %s",
                               sqlite3_errmsg(writer->db));
    if (missing[0])
        return assay_error_set(error, ASSAY_EINVAL,
                               "column '%s' of '%s' is in the schema but in no field table",
                               missing, table->name);
    if (sqlite3_bind_parameter_count(insert) != count)
        return assay_error_set(error, ASSAY_EINVAL,
                               "the statement for '%s' takes %d values, its field table has %d",
                               table->name, sqlite3_bind_parameter_count(insert), count);
    return 0;
}

int assay__writer_check(struct assay__writer *writer,
                        const struct assay__field_table *const *tables, size_t count,
                        struct assay_error *error)
{
    int code = 0;
    for (size_t i = 0; i < count && code == 0; i++)
        code = check_table(writer, tables[i], error);
    return code;
}

/* --- rows ------------------------------------------------------------------------------------- */

int assay__keys_bind(sqlite3_stmt *statement, const struct assay__key *keys, size_t count)
{
    int code = SQLITE_OK;
    for (size_t i = 0; i < count && code == SQLITE_OK; i++)
        code = keys[i].text
                   ? sqlite3_bind_text(statement, (int)i + 1, keys[i].text, -1, SQLITE_STATIC)
                   : sqlite3_bind_int64(statement, (int)i + 1, keys[i].number);
    return code;
}

void assay__writer_run(struct assay__writer *writer, const char *sql, const struct assay__key *keys,
                       size_t count)
{
    sqlite3_stmt *statement = assay__writer_prepare(writer, sql);
    if (!statement) return;
    writer->code = assay__keys_bind(statement, keys, count);
    step(writer, statement);
    sqlite3_finalize(statement);
}

void assay__writer_row(struct assay__writer *writer, const struct assay__field_table *table,
                       const struct assay__key *keys, int64_t position, const void *element)
{
    sqlite3_stmt *insert = insert_of(writer, table);
    if (!insert) return;
    size_t offset;
    int index = (int)assay__keys_count(table);
    int code = assay__keys_bind(insert, keys, (size_t)index);
    if (table->position && code == SQLITE_OK) code = sqlite3_bind_int64(insert, ++index, position);
    for (size_t i = 0; i < assay__fields_count(table) && code == SQLITE_OK; i++) {
        const struct assay__field *field = assay__fields_at(table, i, &offset);
        if (!is_stored(field)) continue;
        struct assay__field_value value = assay__field_get(field, (const char *)element + offset);
        index++;
        switch (value.kind) {
        case ASSAY__VALUE_INTEGER: code = sqlite3_bind_int64(insert, index, value.integer); break;
        case ASSAY__VALUE_REAL: code = sqlite3_bind_double(insert, index, value.real); break;
        case ASSAY__VALUE_TEXT:
            code = sqlite3_bind_text(insert, index, value.text, -1, SQLITE_STATIC);
            break;
        default: code = sqlite3_bind_null(insert, index);
        }
    }
    writer->code = code;
    step(writer, insert);
}

void assay__writer_clear(struct assay__writer *writer, const struct assay__field_table *table,
                         const struct assay__key *keys, size_t count)
{
    struct assay__statements *kept = statements_of(writer, table);
    if (!kept) return;
    if (!kept->clear || kept->clear_keys != count) {
        struct assay__buf sql = {0};
        assay__buf_printf(&sql, "DELETE FROM %s", table->name);
        for (size_t i = 0; i < count; i++)
            assay__buf_printf(&sql, "%s%s=?", i ? " AND " : " WHERE ", table->keys[i]);
        sqlite3_finalize(kept->clear);
        kept->clear = prepare_text(writer, &sql);
        kept->clear_keys = count;
    }
    if (!kept->clear) return;
    writer->code = assay__keys_bind(kept->clear, keys, count);
    step(writer, kept->clear);
}

void assay__writer_rows(struct assay__writer *writer, const struct assay__field_table *table,
                        const struct assay__key *keys, const void *elements, size_t count)
{
    assay__writer_clear(writer, table, keys, assay__keys_count(table));
    for (size_t i = 0; i < count && writer->code == SQLITE_OK; i++)
        assay__writer_row(writer, table, keys, (int64_t)i,
                          (const char *)elements + i * table->size);
}

/* --- column chunks ---------------------------------------------------------------------------- */

void assay__writer_chunk(struct assay__writer *writer, sqlite3_stmt *statement, const int64_t *keys,
                         int key_count, const double *const *columns, int column_count,
                         size_t count)
{
    struct assay__buf bytes[2] = {{0}, {0}};
    int code = writer->code;
    for (int i = 0; i < key_count && code == SQLITE_OK; i++)
        code = sqlite3_bind_int64(statement, i + 1, keys[i]);
    for (int i = 0; i < column_count && code == SQLITE_OK; i++) {
        int index = key_count + 1 + 2 * i;
        const char *encoding = assay__chunk_encode(columns[i], count, &bytes[i]);
        code = bytes[i].failed ? SQLITE_NOMEM
                               : sqlite3_bind_text(statement, index, encoding, -1, SQLITE_STATIC);
        if (code == SQLITE_OK)
            code = sqlite3_bind_blob64(statement, index + 1, bytes[i].data, bytes[i].length,
                                       SQLITE_STATIC);
    }
    writer->code = code;
    step(writer, statement);
    assay__buf_free(&bytes[0]);
    assay__buf_free(&bytes[1]);
}
