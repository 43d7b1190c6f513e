/* chunk_tables.c - the tables over column chunks, as eponymous virtual tables of SQLite:
 *   samples(trial, launch, stream, seq, ns)               over sample_chunks
 *   layer_times(trial, launch, layer, time_ns)            over layer_time_chunks
 *   series(trial, launch, name, seq, time_ns, value)      over series_info and series_chunks
 * Rows are made from one decoded chunk at a time, so that a million of them take half a megabyte
 * (series: one) to scan. Equality on the columns before `seq` and `layer` is passed down to the
 * chunks' index. `seq` counts from 0 within a stream or a series, in time order; the first
 * launches.warmup samples are warm-up. `ns` is always a floating-point number. `layer` is
 * layers.position; a layer without a time in a launch is NULL, as is a reading without a value.
 * `time_ns` of a series is since the run began. In a profile older than layer times or series,
 * those tables are empty. */
#include "profile/chunk.h"
#include "profile/sql.h"

#include <stdlib.h>

#define KEYS_MOST 3
#define VALUES_MOST 2
/* Columns of a row of chunks: its key, then first, count, and encoding and data of each value. */
#define FIRST_COLUMN 3

/* What a table shows of which chunks: the key's columns, then the position, then the values. */
struct kind {
    const char *name, *declaration;
    const char *chunks;         /* the start of the statement, up to its conditions */
    const char *key[KEYS_MOST]; /* the columns that conditions refer to */
    const char *order;
    const char *what;         /* in words */
    const char *needed[2][2]; /* tables and a column of each that an older profile lacks */
    int keys, values;         /* columns of the key that are shown; value columns */
    bool numbers;             /* the key consists of integers; otherwise it is shown as stored */
    bool sorted;              /* in the order of the columns shown, for ORDER BY */
};

static const struct kind kinds[] = {
    {.name = "samples",
     .declaration = "CREATE TABLE samples(trial INTEGER, launch INTEGER, stream INTEGER,"
                    " seq INTEGER, ns REAL)",
     .chunks = "SELECT trial,launch,stream,first,count,encoding,data FROM main.sample_chunks",
     .key = {"trial", "launch", "stream"},
     .order = "trial,launch,stream,chunk",
     .what = "samples",
     .keys = 3,
     .values = 1,
     .numbers = true,
     .sorted = true},
    {.name = "layer_times",
     .declaration = "CREATE TABLE layer_times(trial INTEGER, launch INTEGER, layer INTEGER,"
                    " time_ns REAL)",
     .chunks = "SELECT trial,launch,0,first,count,encoding,data FROM main.layer_time_chunks",
     .key = {"trial", "launch"},
     .order = "trial,launch,chunk",
     .what = "layer times",
     .needed = {{"layer_time_chunks", "data"}},
     .keys = 2,
     .values = 1,
     .numbers = true,
     .sorted = true},
    {.name = "series",
     .declaration = "CREATE TABLE series(trial INTEGER, launch INTEGER, name TEXT, seq INTEGER,"
                    " time_ns REAL, value REAL)",
     .chunks = "SELECT i.trial,i.launch,i.name,c.first,c.count,c.time_encoding,c.time_data,"
               "c.value_encoding,c.value_data FROM main.series_info AS i"
               " CROSS JOIN main.series_chunks AS c ON c.trial=i.trial AND c.series=i.position",
     .key = {"i.trial", "i.launch", "i.name"},
     .order = "i.trial,i.position,c.chunk",
     .what = "series",
     .needed = {{"series_chunks", "value_data"}, {"series_info", "name"}},
     .keys = 3,
     .values = 2},
};

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
    const struct kind *kind;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_stmt *chunks;   /* its row provides the key while the chunk is shown */
    int64_t key[KEYS_MOST]; /* the key as numbers, read once per chunk */
    int64_t first, rowid;
    size_t count, position;
    double *values[VALUES_MOST]; /* ASSAY__CHUNK_VALUES each */
    bool end;
};

static const struct kind *kind_of(const struct cursor *cursor)
{
    return ((const struct table *)cursor->base.pVtab)->kind;
}

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

/* idxNum has bit c set when the arguments contain `column c = value`, in column order. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    int use[KEYS_MOST] = {-1, -1, -1}, argument = 0;
    const struct kind *kind = ((const struct table *)base)->kind;
    for (int i = 0; i < info->nConstraint; i++) {
        int column = info->aConstraint[i].iColumn;
        if (info->aConstraint[i].usable && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
            column >= 0 && column < kind->keys)
            use[column] = i;
    }
    info->estimatedCost = 1e6;
    for (int column = 0; column < KEYS_MOST; column++) {
        if (use[column] < 0) continue;
        info->aConstraintUsage[use[column]].argvIndex = ++argument;
        info->idxNum |= 1 << column;
        info->estimatedCost /= 4;
    }
    info->estimatedRows = (sqlite3_int64)info->estimatedCost;
    bool ordered = kind->sorted && info->nOrderBy > 0;
    for (int i = 0; i < info->nOrderBy; i++)
        ordered = ordered && info->aOrderBy[i].iColumn == i && i <= kind->keys &&
                  !info->aOrderBy[i].desc;
    info->orderByConsumed = ordered;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    sqlite3_finalize(cursor->chunks);
    for (int i = 0; i < VALUES_MOST; i++)
        free(cursor->values[i]);
    free(cursor);
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    const struct kind *kind = ((const struct table *)base)->kind;
    struct cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    for (int i = 0; i < kind->values; i++) {
        cursor->values[i] = malloc(ASSAY__CHUNK_VALUES * sizeof *cursor->values[i]);
        if (!cursor->values[i]) {
            close_cursor(&cursor->base);
            return SQLITE_NOMEM;
        }
    }
    *out = &cursor->base;
    return SQLITE_OK;
}

static int damaged(struct cursor *cursor)
{
    sqlite3_vtab *table = cursor->base.pVtab;
    const struct kind *kind = kind_of(cursor);
    sqlite3_free(table->zErrMsg);
    if (kind->numbers)
        table->zErrMsg = sqlite3_mprintf(
            "damaged %s: a chunk of trial %lld, launch %lld, stream %lld", kind->what,
            cursor->key[0], cursor->key[1], cursor->key[2]);
    else
        table->zErrMsg = sqlite3_mprintf("damaged %s: a chunk of trial %lld, launch %lld, '%.64s'",
                                         kind->what, cursor->key[0], cursor->key[1],
                                         sqlite3_column_text(cursor->chunks, 2));
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
        for (int i = 0; i < KEYS_MOST; i++)
            cursor->key[i] = sqlite3_column_int64(chunks, i);
        cursor->first = sqlite3_column_int64(chunks, FIRST_COLUMN);
        int64_t count = sqlite3_column_int64(chunks, FIRST_COLUMN + 1);
        if (count < 0 || count > (int64_t)ASSAY__CHUNK_VALUES || cursor->first < 0)
            return damaged(cursor);
        for (int i = 0; i < kind_of(cursor)->values; i++)
            if (assay__sql_chunk(chunks, FIRST_COLUMN + 2 + 2 * i, (size_t)count,
                                 cursor->values[i]))
                return damaged(cursor);
        cursor->count = (size_t)count;
    }
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int argc,
                  sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    const struct kind *kind = table->kind;
    char sql[512];
    (void)name;
    sqlite3_finalize(cursor->chunks);
    cursor->chunks = NULL;
    cursor->rowid = 0;
    /* Every version has samples: in a profile without them, the statement fails. */
    cursor->end = false;
    for (int i = 0; i < 2 && kind->needed[i][0]; i++)
        cursor->end |= sqlite3_table_column_metadata(table->db, "main", kind->needed[i][0],
                                                     kind->needed[i][1], NULL, NULL, NULL, NULL,
                                                     NULL) != SQLITE_OK;
    if (cursor->end) return SQLITE_OK;
    const char *where[KEYS_MOST], *equals[KEYS_MOST];
    for (int i = 0; i < KEYS_MOST; i++) {
        bool wanted = index & 1 << i;
        where[i] = wanted ? kind->key[i] : "1";
        equals[i] = wanted ? "=?" : "";
    }
    sqlite3_snprintf(sizeof sql, sql, "%s WHERE %s%s AND %s%s AND %s%s ORDER BY %s", kind->chunks,
                     where[0], equals[0], where[1], equals[1], where[2], equals[2], kind->order);
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
    const struct kind *kind = kind_of(cursor);
    if (index < kind->keys && kind->numbers)
        sqlite3_result_int64(context, cursor->key[index]);
    else if (index < kind->keys)
        sqlite3_result_value(context, sqlite3_column_value(cursor->chunks, index));
    else if (index == kind->keys)
        sqlite3_result_int64(context, (int64_t)((uint64_t)cursor->first + cursor->position));
    else /* NaN becomes NULL */
        sqlite3_result_double(context, cursor->values[index - kind->keys - 1][cursor->position]);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = ((struct cursor *)base)->rowid;
    return SQLITE_OK;
}

int assay__sql_table(sqlite3 *db, const char *name, const sqlite3_module *module, void *kind)
{
    sqlite3_stmt *first = NULL;
    char sql[64];
    int code = sqlite3_create_module(db, name, module, kind);
    /* The first use declares the table, which an authorizer set later would see as a write. */
    sqlite3_snprintf(sizeof sql, sql, "SELECT 1 FROM %s", name);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, sql, -1, &first, NULL);
    sqlite3_finalize(first);
    return code;
}

int assay__chunk_tables(sqlite3 *db)
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
    int code = SQLITE_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && code == SQLITE_OK; i++)
        code = assay__sql_table(db, kinds[i].name, &module, (void *)&kinds[i]);
    return code;
}
