/* event_table.c - the events of a timeline as an eponymous virtual table of SQLite, over
 * event_chunks with the names of trace_texts, trace_kinds and trace_tracks:
 *   events(event, start_ns, duration_ns, kind, name, track, device, stream, correlation, bytes,
 * args) One chunk is decoded at a time (4 MB); names are looked up when they are asked for. `event`
 * counts from 0 in the order of starts. Equality on `event` is passed down to the chunks. NULL: no
 * name, no device, no stream, no correlation (0 is stored), bytes unknown, no args. A profile
 * without a timeline has no events. */
#include "profile/chunk.h"
#include "profile/sql.h"

#include <stdlib.h>

enum column {
    EVENT,
    START_NS,
    DURATION_NS,
    KIND,
    NAME,
    TRACK,
    DEVICE,
    STREAM,
    CORRELATION,
    BYTES,
    ARGS
};
static const char declaration[] = "CREATE TABLE events(event INTEGER, start_ns INTEGER, "
                                  "duration_ns INTEGER, kind TEXT, name TEXT,"
                                  " track TEXT, device INTEGER, stream INTEGER, correlation "
                                  "INTEGER, bytes INTEGER, args INTEGER)";

/* Columns of a chunk. */
enum stored {
    S_START,
    S_DURATION,
    S_KIND,
    S_NAME,
    S_TRACK,
    S_ARGS,
    S_CORRELATION,
    S_BYTES,
    S_COUNT
};
#define FIRST_DATA 2 /* column of the statement, after first and count */

struct table {
    sqlite3_vtab base;
    sqlite3 *db;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_stmt *chunks, *name, *kind, *track;
    int64_t *values[S_COUNT];
    int64_t first; /* event of the chunk */
    size_t count, position;
    bool end;
};

static int connect_table(sqlite3 *db, void *aux, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **message)
{
    (void)aux, (void)argc, (void)argv, (void)message;
    int code = sqlite3_declare_vtab(db, declaration);
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

/* idxNum 1: the argument is the event that is wanted. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    info->estimatedCost = 1e6;
    info->estimatedRows = 1000000;
    for (int i = 0; i < info->nConstraint; i++) {
        if (!info->aConstraint[i].usable || info->aConstraint[i].iColumn != EVENT ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->idxNum = 1;
        info->estimatedCost = 10;
        info->estimatedRows = 1;
        break;
    }
    info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn == EVENT &&
                            !info->aOrderBy[0].desc;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    sqlite3_stmt *statements[] = {cursor->chunks, cursor->name, cursor->kind, cursor->track};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        sqlite3_finalize(statements[i]);
    for (int i = 0; i < S_COUNT; i++)
        free(cursor->values[i]);
    free(cursor);
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    struct cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) return SQLITE_NOMEM;
    for (int i = 0; i < S_COUNT; i++) {
        cursor->values[i] = malloc(ASSAY__CHUNK_VALUES * sizeof *cursor->values[i]);
        if (cursor->values[i]) continue;
        close_cursor(&cursor->base);
        return SQLITE_NOMEM;
    }
    *out = &cursor->base;
    return SQLITE_OK;
}

static int damaged(struct cursor *cursor)
{
    sqlite3_vtab *table = cursor->base.pVtab;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("damaged events: the chunk from event %lld on", cursor->first);
    return SQLITE_ERROR;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int next_chunk(struct cursor *cursor)
{
    sqlite3_stmt *chunks = cursor->chunks;
    int code = sqlite3_step(chunks);
    cursor->position = cursor->count = 0;
    cursor->end = code == SQLITE_DONE;
    if (cursor->end) return SQLITE_OK;
    if (code != SQLITE_ROW) return sqlite3_reset(chunks);
    cursor->first = sqlite3_column_int64(chunks, 0);
    int64_t count = sqlite3_column_int64(chunks, 1);
    if (count <= 0 || count > (int64_t)ASSAY__CHUNK_VALUES || cursor->first < 0)
        return damaged(cursor);
    for (int i = 0; i < S_COUNT; i++) {
        const void *data = sqlite3_column_blob(chunks, FIRST_DATA + i);
        size_t size = (size_t)sqlite3_column_bytes(chunks, FIRST_DATA + i);
        if (sqlite3_column_type(chunks, FIRST_DATA + i) != SQLITE_BLOB ||
            assay__chunk_decode_integers(data, size, (size_t)count, cursor->values[i]))
            return damaged(cursor);
    }
    cursor->count = (size_t)count;
    return SQLITE_OK;
}

static int prepare(sqlite3 *db, sqlite3_stmt **statement, const char *sql)
{
    sqlite3_finalize(*statement);
    *statement = NULL;
    return sqlite3_prepare_v2(db, sql, -1, statement, NULL);
}

static int prepare_all(struct cursor *cursor, sqlite3 *db, bool one)
{
    static const char single[] =
        "SELECT first,count,start_ns,duration_ns,kind,name,track,args,correlation,bytes"
        " FROM main.event_chunks WHERE profile=1 AND first<=? AND first+count>? ORDER BY chunk";
    static const char every[] =
        "SELECT first,count,start_ns,duration_ns,kind,name,track,args,correlation,bytes"
        " FROM main.event_chunks WHERE profile=1 ORDER BY chunk";
    int code = prepare(db, &cursor->chunks, one ? single : every);
    if (code == SQLITE_OK)
        code = prepare(db, &cursor->name,
                       "SELECT text FROM main.trace_texts WHERE profile=1 AND position=?");
    if (code == SQLITE_OK)
        code = prepare(db, &cursor->kind,
                       "SELECT name FROM main.trace_kinds WHERE profile=1 AND position=?");
    if (code == SQLITE_OK)
        code = prepare(db, &cursor->track,
                       "SELECT name,device,stream FROM main.trace_tracks"
                       " WHERE profile=1 AND position=?");
    return code;
}

static int filter(sqlite3_vtab_cursor *base, int index, const char *name, int argc,
                  sqlite3_value **argv)
{
    struct cursor *cursor = (struct cursor *)base;
    sqlite3 *db = ((struct table *)base->pVtab)->db;
    (void)name, (void)argc;
    cursor->end = sqlite3_table_column_metadata(db, "main", "event_chunks", "start_ns", NULL, NULL,
                                                NULL, NULL, NULL) != SQLITE_OK;
    if (cursor->end) return SQLITE_OK; /* a profile from before there were timelines */
    int code = prepare_all(cursor, db, index == 1);
    if (code != SQLITE_OK) return code;
    if (index == 1) {
        code = sqlite3_bind_value(cursor->chunks, 1, argv[0]);
        if (code == SQLITE_OK) code = sqlite3_bind_value(cursor->chunks, 2, argv[0]);
        if (code != SQLITE_OK) return code;
    }
    code = next_chunk(cursor);
    if (code != SQLITE_OK || cursor->end || index != 1) return code;
    int64_t wanted = sqlite3_value_int64(argv[0]) - cursor->first;
    if (wanted >= 0 && wanted < (int64_t)cursor->count) cursor->position = (size_t)wanted;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    if (++cursor->position < cursor->count) return SQLITE_OK;
    return next_chunk(cursor);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    return ((struct cursor *)base)->end;
}

/* --- columns ---------------------------------------------------------------------------------- */

/* A column of the row with that position in a table of names; NULL if there is none. */
static void look_up(sqlite3_context *context, sqlite3_stmt *statement, int64_t position, int column)
{
    if (position < 0) return;
    sqlite3_bind_int64(statement, 1, position);
    if (sqlite3_step(statement) == SQLITE_ROW)
        sqlite3_result_value(context, sqlite3_column_value(statement, column));
    sqlite3_reset(statement);
}

static void known(sqlite3_context *context, int64_t value, int64_t unknown)
{
    if (value != unknown) sqlite3_result_int64(context, value);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int index)
{
    struct cursor *cursor = (struct cursor *)base;
    int64_t *const *values = cursor->values;
    size_t at = cursor->position;
    switch ((enum column)index) {
    case EVENT: sqlite3_result_int64(context, cursor->first + (int64_t)at); break;
    case START_NS: sqlite3_result_int64(context, values[S_START][at]); break;
    case DURATION_NS: sqlite3_result_int64(context, values[S_DURATION][at]); break;
    case KIND: look_up(context, cursor->kind, values[S_KIND][at], 0); break;
    case NAME: look_up(context, cursor->name, values[S_NAME][at], 0); break;
    case TRACK: look_up(context, cursor->track, values[S_TRACK][at], 0); break;
    case DEVICE: look_up(context, cursor->track, values[S_TRACK][at], 1); break;
    case STREAM: look_up(context, cursor->track, values[S_TRACK][at], 2); break;
    case CORRELATION: known(context, values[S_CORRELATION][at], 0); break;
    case BYTES: known(context, values[S_BYTES][at], 0); break;
    case ARGS: known(context, values[S_ARGS][at], -1); break;
    }
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    struct cursor *cursor = (struct cursor *)base;
    *id = cursor->first + (int64_t)cursor->position;
    return SQLITE_OK;
}

int assay__event_table(sqlite3 *db)
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
    return assay__sql_table(db, "events", &module, NULL);
}
