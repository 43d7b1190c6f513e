/* series_table.c - the table series(trial, launch, name, seq, time_ns, value) over series_info and series_chunks, as an
 * eponymous virtual table of SQLite (samples_table.c is its sibling). Rows are made from one decoded chunk at a time,
 * so that a million values take a megabyte to scan. Equality on trial, launch and name is passed down. `seq` counts
 * from 0 within a series, in time order; `time_ns` is since the run began; a reading without a value is NULL. In a
 * profile from before there were series the table is empty. */
#include "profile/chunk.h"
#include "profile/sql.h"

#include <stdlib.h>

enum { COLUMN_TRIAL, COLUMN_LAUNCH, COLUMN_NAME, COLUMN_SEQ, COLUMN_TIME, COLUMN_VALUE };
#define KEY_COLUMNS 3

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_stmt *chunks; /* its row holds the key while the chunk is shown */
    int64_t first, rowid;
    size_t count, position;
    double *times_ns, *values; /* ASSAY__CHUNK_VALUES each */
    bool end;
};

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message)
{
    (void)aux, (void)argc, (void)argv, (void)message;
    int code = sqlite3_declare_vtab(
        db, "CREATE TABLE series(trial INTEGER, launch INTEGER, name TEXT, seq INTEGER,"
            " time_ns REAL, value REAL)");
    if (code != SQLITE_OK) return code;
    struct table *table = calloc(1, sizeof *table);
    if (!table) return SQLITE_NOMEM;
    table->db = db;
    *out = &table->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base)
{
    free((struct table *)base);
    return SQLITE_OK;
}

/* idxNum has bit c set when argument values hold `column c = value`, in column order. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    int use[KEY_COLUMNS] = {-1, -1, -1}, argument = 0;
    (void)base;
    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;
        if (info->aConstraint[i].usable && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
            column >= 0 && column < KEY_COLUMNS)
            use[column] = i;
    }
    info->estimatedCost = 1e6;
    for (int column = 0; column < KEY_COLUMNS; column++) {
        if (use[column] < 0) continue;
        info->aConstraintUsage[use[column]].argvIndex = ++argument;
        info->idxNum |= 1 << column;
        info->estimatedCost /= 4;
    }
    info->estimatedRows = (sqlite3_int64)info->estimatedCost;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    struct cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    cursor->times_ns = malloc(ASSAY__CHUNK_VALUES * sizeof *cursor->times_ns);
    cursor->values = malloc(ASSAY__CHUNK_VALUES * sizeof *cursor->values);
    if (!cursor->times_ns || !cursor->values) {
        free(cursor->times_ns);
        free(cursor->values);
        free(cursor);
        return SQLITE_NOMEM;
    }
    *out = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    sqlite3_finalize(cursor->chunks);
    free(cursor->times_ns);
    free(cursor->values);
    free(cursor);
    return SQLITE_OK;
}

static int damaged(struct cursor *cursor)
{
    sqlite3_vtab *table = cursor->base.pVtab;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("damaged series: a chunk of trial %lld, launch %lld, '%.64s'",
                                     sqlite3_column_int64(cursor->chunks, COLUMN_TRIAL),
                                     sqlite3_column_int64(cursor->chunks, COLUMN_LAUNCH),
                                     sqlite3_column_text(cursor->chunks, COLUMN_NAME));
    return SQLITE_ERROR;
}

/* Decodes the columns `encoding` and the one behind it. */
static int decode(sqlite3_stmt *chunks, int encoding, size_t count, double *out)
{
    if (sqlite3_column_type(chunks, encoding + 1) != SQLITE_BLOB) return ASSAY_EFORMAT;
    const char *name = (const char *)sqlite3_column_text(chunks, encoding);
    const void *data = sqlite3_column_blob(chunks, encoding + 1);
    size_t size = (size_t)sqlite3_column_bytes(chunks, encoding + 1);
    return assay__chunk_decode(name, data, size, count, out);
}

/* Decodes the next chunk that is not empty. */
static int next_chunk(struct cursor *cursor)
{
    sqlite3_stmt *chunks = cursor->chunks;
    cursor->position = cursor->count = 0;
    while (cursor->count == 0) {
        int code = sqlite3_step(chunks);
        if (code == SQLITE_DONE) {
            cursor->end = true;
            return SQLITE_OK;
        }
        if (code != SQLITE_ROW) return sqlite3_reset(chunks);
        cursor->first = sqlite3_column_int64(chunks, 3);
        int64_t count = sqlite3_column_int64(chunks, 4);
        if (count < 0 || count > (int64_t)ASSAY__CHUNK_VALUES || cursor->first < 0 ||
            decode(chunks, 5, (size_t)count, cursor->times_ns) ||
            decode(chunks, 7, (size_t)count, cursor->values))
            return damaged(cursor);
        cursor->count = (size_t)count;
    }
    return SQLITE_OK;
}

static bool has_series(sqlite3 *db)
{
    return sqlite3_table_column_metadata(db, "main", "series_chunks", "value_data", NULL, NULL,
                                         NULL, NULL, NULL) == SQLITE_OK &&
           sqlite3_table_column_metadata(db, "main", "series_info", "name", NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int argc,
                  sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    char sql[512];
    (void)name;
    sqlite3_finalize(cursor->chunks);
    cursor->chunks = NULL;
    cursor->rowid = 0;
    cursor->end = !has_series(table->db);
    if (cursor->end) return SQLITE_OK;
    sqlite3_snprintf(sizeof sql, sql,
                     "SELECT i.trial,i.launch,i.name,c.first,c.count,c.time_encoding,c.time_data,"
                     "c.value_encoding,c.value_data FROM main.series_info AS i"
                     " CROSS JOIN main.series_chunks AS c ON c.trial=i.trial AND"
                     " c.series=i.position WHERE %s AND %s AND %s"
                     " ORDER BY i.trial,i.position,c.chunk",
                     index & 1 ? "i.trial=?" : "1", index & 2 ? "i.launch=?" : "1",
                     index & 4 ? "i.name=?" : "1");
    int code = sqlite3_prepare_v2(table->db, sql, -1, &cursor->chunks, NULL);
    for (int i = 0; i < argc && code == SQLITE_OK; i++)
        code = sqlite3_bind_value(cursor->chunks, i + 1, argv[i]);
    return code == SQLITE_OK ? next_chunk(cursor) : code;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor->rowid++;
    if (++cursor->position < cursor->count) return SQLITE_OK;
    return next_chunk(cursor);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->end;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index)
{
    struct cursor *cursor = (struct cursor *)base;
    switch (index) {
    case COLUMN_SEQ:
        sqlite3_result_int64(context, (int64_t)((uint64_t)cursor->first + cursor->position));
        break;
    case COLUMN_TIME: sqlite3_result_double(context, cursor->times_ns[cursor->position]); break;
    case COLUMN_VALUE: /* NaN becomes NULL */
        sqlite3_result_double(context, cursor->values[cursor->position]);
        break;
    default: sqlite3_result_value(context, sqlite3_column_value(cursor->chunks, index)); break;
    }
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = ((struct cursor *)base)->rowid;
    return SQLITE_OK;
}

int assay__series_table(sqlite3 *db)
{
    static const sqlite3_module module = {
        .iVersion = 0,
        .xConnect = connect_table,
        .xBestIndex = best_index,
        .xDisconnect = disconnect_table,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = at_end,
        .xColumn = column,
        .xRowid = row_id,
    };
    sqlite3_stmt *first = NULL;
    int code = sqlite3_create_module(db, "series", &module, NULL);
    /* As for samples: the first use declares the table, before an authorizer looks. */
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, "SELECT 1 FROM series", -1, &first, NULL);
    sqlite3_finalize(first);
    return code;
}
