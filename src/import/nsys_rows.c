/* nsys_rows.c - the wanted columns of a table's rows. */
#include "import/nsys_rows.h"

#include <stdio.h>
#include <string.h>

/* What a row takes at least: its place in the page (2 bytes), its length and its number. */
#define LEAST_ROW_BYTES 4

static void find_columns(struct assay__nsys_rows *rows, const char *const *wanted)
{
    int count = sqlite3_column_count(rows->statement);
    for (int i = 0; i < ASSAY__NSYS_COLUMNS; i++)
        rows->columns[i] = -1;
    for (int i = 0; wanted[i] && i < ASSAY__NSYS_COLUMNS; i++)
        for (int k = 0; k < count && rows->columns[i] < 0; k++) {
            const char *name = sqlite3_column_name(rows->statement, k);
            if (name && strcmp(name, wanted[i]) == 0) rows->columns[i] = k;
        }
}

void assay__nsys_rows_begin(struct assay__nsys_rows *rows, const struct assay__db *db,
                            const char *table, const char *const *wanted)
{
    char sql[128];
    sqlite3 *sqlite = db->sqlite;
    *rows = (struct assay__nsys_rows){
        .sqlite = sqlite, .most = db->bytes / LEAST_ROW_BYTES, .code = SQLITE_DONE};
    snprintf(sql, sizeof sql, "SELECT * FROM main.\"%s\"", table); /* our own names */
    if (sqlite3_prepare_v2(sqlite, sql, -1, &rows->statement, NULL) != SQLITE_OK) {
        if (sqlite3_errcode(sqlite) != SQLITE_ERROR) rows->code = sqlite3_errcode(sqlite);
        rows->statement = NULL;
        return;
    }
    find_columns(rows, wanted);
}

bool assay__nsys_rows_next(struct assay__nsys_rows *rows)
{
    if (!rows->statement) return false;
    rows->code = sqlite3_step(rows->statement);
    if (rows->code == SQLITE_ROW && !rows->most--) rows->code = SQLITE_FULL;
    return rows->code == SQLITE_ROW;
}

void assay__nsys_rows_end(struct assay__nsys_rows *rows)
{
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
}

bool assay__nsys_integer(const struct assay__nsys_rows *rows, int column, int64_t *value)
{
    int at = rows->columns[column];
    if (at < 0 || sqlite3_column_type(rows->statement, at) != SQLITE_INTEGER) return false;
    *value = sqlite3_column_int64(rows->statement, at);
    return true;
}

int64_t assay__nsys_integer_or(const struct assay__nsys_rows *rows, int column, int64_t otherwise)
{
    int64_t value;
    return assay__nsys_integer(rows, column, &value) ? value : otherwise;
}

const char *assay__nsys_text(const struct assay__nsys_rows *rows, int column)
{
    int at = rows->columns[column];
    if (at < 0 || sqlite3_column_type(rows->statement, at) != SQLITE_TEXT) return NULL;
    return (const char *)sqlite3_column_text(rows->statement, at);
}
