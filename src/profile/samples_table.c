/* samples_table.c - the tables samples(trial, launch, stream, seq, ns) and layer_times(trial, launch, layer, time_ns) over
 * their column chunks, as eponymous virtual tables of SQLite. Rows are made from one decoded chunk at a time, so that a
 * million samples take half a megabyte to scan. Equality on trial, launch and stream is passed down
 * to the chunks' index. `seq` counts from 0 within a stream, in time order; the first
 * launches.warmup of them are warm-up. `ns` is always a floating-point number. `layer` is layers.position; a layer that
 * a launch has no time of is NULL. In a profile from before there were layer times that table is empty. */
#include "profile/chunk.h"
#include "profile/sql.h"

#include <stdlib.h>
#include <string.h>

#define KEY_COLUMNS 3 /* trial, launch, stream: as the chunks are read, whatever is shown */

/* What is shown of which chunks: the key's columns, then the position and the value. */
struct kind {
    const char *name, *declaration;
    const char *chunks; /* their table */
    const char *stream; /* the third column of the key, or a number in its place */
    const char *what;   /* in words */
    int keys;           /* columns of the key that are shown */
};

static const struct kind samples = {
    "samples",
    "CREATE TABLE samples(trial INTEGER, launch INTEGER, stream INTEGER, seq INTEGER, ns REAL)",
    "sample_chunks",
    "stream",
    "samples",
    3};
static const struct kind layer_times = {
    "layer_times",
    "CREATE TABLE layer_times(trial INTEGER, launch INTEGER, layer INTEGER, time_ns REAL)",
    "layer_time_chunks",
    "0",
    "layer times",
    2};

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
    const struct kind *kind;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_stmt *chunks;
    int64_t key[KEY_COLUMNS];
    int64_t first, rowid;
    size_t count, position;
    double *values; /* ASSAY__CHUNK_VALUES of them */
    bool end;
};

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message)
{
    (void)argc, (void)argv, (void)message;
    const struct kind *kind = aux;
    int code = sqlite3_declare_vtab(db, kind->declaration);
    if (code != SQLITE_OK) return code;
    struct table *table = calloc(1, sizeof *table);
    if (!table) return SQLITE_NOMEM;
    table->db = db;
    table->kind = kind;
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
    const int keys = ((const struct table *)base)->kind->keys;
    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;
        if (info->aConstraint[i].usable && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
            column >= 0 && column < keys)
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
    bool ordered = info->nOrderBy > 0;
    for (int i = 0; i < info->nOrderBy; i++)
        ordered = ordered && info->aOrderBy[i].iColumn == i && i <= keys && !info->aOrderBy[i].desc;
    info->orderByConsumed = ordered;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    struct cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    cursor->values = malloc(ASSAY__CHUNK_VALUES * sizeof *cursor->values);
    if (!cursor->values) {
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
    free(cursor->values);
    free(cursor);
    return SQLITE_OK;
}

static int damaged(struct cursor *cursor)
{
    sqlite3_vtab *table = cursor->base.pVtab;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("damaged %s: a chunk of trial %lld, launch %lld, stream %lld",
                                     ((struct table *)table)->kind->what, cursor->key[0],
                                     cursor->key[1], cursor->key[2]);
    return SQLITE_ERROR;
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
        for (int i = 0; i < KEY_COLUMNS; i++)
            cursor->key[i] = sqlite3_column_int64(chunks, i);
        cursor->first = sqlite3_column_int64(chunks, 3);
        int64_t count = sqlite3_column_int64(chunks, 4);
        if (count < 0 || cursor->first < 0 || sqlite3_column_type(chunks, 6) != SQLITE_BLOB)
            return damaged(cursor);
        const char *encoding = (const char *)sqlite3_column_text(chunks, 5);
        const void *data = sqlite3_column_blob(chunks, 6);
        size_t size = (size_t)sqlite3_column_bytes(chunks, 6);
        if (assay__chunk_decode(encoding, data, size, (size_t)count, cursor->values))
            return damaged(cursor);
        cursor->count = (size_t)count;
    }
    return SQLITE_OK;
}

/* Samples have always been there; of a profile without them the statement fails. */
static bool has_chunks(sqlite3 *db, const struct kind *kind)
{
    return kind == &samples || sqlite3_table_column_metadata(db, "main", kind->chunks, "data", NULL,
                                                             NULL, NULL, NULL, NULL) == SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int argc,
                  sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    char sql[320];
    (void)name;
    sqlite3_finalize(cursor->chunks);
    cursor->chunks = NULL;
    cursor->rowid = 0;
    cursor->end = !has_chunks(table->db, table->kind);
    if (cursor->end) return SQLITE_OK;
    sqlite3_snprintf(sizeof sql, sql,
                     "SELECT trial,launch,%s,first,count,encoding,data FROM main.%s"
                     " WHERE %s AND %s AND %s ORDER BY trial,launch,%schunk",
                     table->kind->stream, table->kind->chunks, index & 1 ? "trial=?" : "1",
                     index & 2 ? "launch=?" : "1", index & 4 ? "stream=?" : "1",
                     table->kind == &samples ? "stream," : "");
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
    const int keys = ((const struct table *)base->pVtab)->kind->keys;
    if (index < keys)
        sqlite3_result_int64(context, cursor->key[index]);
    else if (index == keys)
        sqlite3_result_int64(context, (int64_t)((uint64_t)cursor->first + cursor->position));
    else /* NaN becomes NULL */
        sqlite3_result_double(context, cursor->values[cursor->position]);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = ((struct cursor *)base)->rowid;
    return SQLITE_OK;
}

static int declare(sqlite3 *db, const struct kind *kind)
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
    char sql[64];
    int code = sqlite3_create_module(db, kind->name, &module, (void *)kind);
    /* The first use declares the table, which an authorizer set later would see as a write. */
    sqlite3_snprintf(sizeof sql, sql, "SELECT 1 FROM %s", kind->name);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, sql, -1, &first, NULL);
    sqlite3_finalize(first);
    return code;
}

int assay__samples_table(sqlite3 *db)
{
    int code = declare(db, &samples);
    return code == SQLITE_OK ? declare(db, &layer_times) : code;
}
