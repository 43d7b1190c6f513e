/* events_load.c - the timeline of a profile, which is an untrusted file. Rows are read first: their
 * numbers become those of a new store, which are the same ones unless the file was tampered with.
 * Then the chunks are decoded one after the other; a chunk that is missing, out of place or does
 * not decode is an error, because a timeline with a hole would be explained wrongly. */
#include "base/no_memory.h"
#include "base/vec.h"
#include "profile/chunk.h"
#include "profile/sql.h"
#include "trace/events_profile.h"
#include "trace/events_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the file to numbers of the store. */
struct numbers {
    uint32_t *items;
    size_t count, capacity;
};

struct loading {
    struct assay__db *db;
    const char *path;
    struct assay__events *events;
    struct numbers texts, tracks, args;
    uint8_t kinds[256];
    int64_t *columns; /* ASSAY__EVENT_COLUMNS of ASSAY__CHUNK_VALUES */
    double *values;   /* of a counter: ASSAY__CHUNK_VALUES */
    struct assay_error *error;
    int code;
};

static void fail(struct loading *loading, int code, const char *why)
{
    if (loading->code) return;
    loading->code = assay_error_set(loading->error, code, "%s: %s", loading->path, why);
}

static void damaged(struct loading *loading, const char *why)
{
    if (loading->code) return;
    loading->code = assay_error_set(loading->error, ASSAY_EFORMAT, "%s: damaged timeline: %s",
                                    loading->path, why);
}

/* --- rows ------------------------------------------------------------------------------------- */

static sqlite3_stmt *prepare(struct loading *loading, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (loading->code) return NULL;
    if (sqlite3_prepare_v2(loading->db->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
        damaged(loading, "a table is missing or not readable");
    return statement;
}

/* The next row; false at the end and on an error, which is noted. Finalises at the end. */
static bool next_row(struct loading *loading, sqlite3_stmt *statement)
{
    int code = statement && !loading->code ? sqlite3_step(statement) : SQLITE_DONE;
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE && !loading->code)
        loading->code = assay__sql_error(loading->db->sqlite, loading->path,
                                         "its timeline cannot be read", loading->error);
    sqlite3_finalize(statement);
    return false;
}

static bool has_column(const struct loading *loading, const struct assay__field_table *table,
                       const char *column)
{
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("SELECT %s FROM %s LIMIT 0", column, table->name);
    bool has = sql &&
               sqlite3_prepare_v2(loading->db->sqlite, sql, -1, &statement, NULL) == SQLITE_OK;
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return has;
}

/* The rows of a field table in their order, its fields as columns. A text that profiles did not
 * have at first is unknown. */
static sqlite3_stmt *rows_of(struct loading *loading, const struct assay__field_table *table)
{
    struct assay__buf sql = {0};
    for (size_t i = 0; i < table->count; i++) {
        const struct assay__field *field = &table->fields[i];
        bool is_later = field->type == ASSAY__FIELD_TEXT &&
                        !has_column(loading, table, field->column);
        assay__buf_printf(&sql, "%s%s", i ? "," : "SELECT ", is_later ? "NULL" : field->column);
    }
    assay__buf_printf(&sql, " FROM %s WHERE profile=1 ORDER BY position", table->name);
    sqlite3_stmt *statement = NULL;
    if (sql.failed)
        fail(loading, ASSAY_ENOMEM, "out of memory");
    else
        statement = prepare(loading, sql.data);
    assay__buf_free(&sql);
    return statement;
}

static struct assay__field_value value_of(sqlite3_stmt *statement, int column)
{
    struct assay__field_value value = {.kind = ASSAY__VALUE_UNKNOWN};
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        value.kind = ASSAY__VALUE_INTEGER;
        value.integer = sqlite3_column_int64(statement, column);
        break;
    case SQLITE_FLOAT:
        value.kind = ASSAY__VALUE_REAL;
        value.real = sqlite3_column_double(statement, column);
        break;
    case SQLITE_TEXT:
        value.text = (const char *)sqlite3_column_text(statement, column);
        if (value.text) value.kind = ASSAY__VALUE_TEXT;
        break;
    default: break;
    }
    return value;
}

/* The current row; its texts are valid until the next one. */
static void read_row(sqlite3_stmt *statement, const struct assay__field_table *table, void *row)
{
    for (size_t i = 0; i < table->count; i++)
        assay__field_set(&table->fields[i], (char *)row + table->fields[i].offset,
                         value_of(statement, (int)i));
}

static void add_number(struct loading *loading, struct numbers *numbers, uint32_t number)
{
    if (assay__vec_grow((void **)&numbers->items, &numbers->capacity, numbers->count + 1,
                        sizeof *numbers->items))
        fail(loading, ASSAY_ENOMEM, "out of memory");
    else
        numbers->items[numbers->count++] = number;
}

static uint32_t number_of(const struct numbers *numbers, int64_t stored)
{
    bool known = stored >= 0 && (uint64_t)stored < numbers->count;
    return known ? numbers->items[stored] : ASSAY__EVENT_UNKNOWN;
}

static void load_texts(struct loading *loading)
{
    struct assay__text_row row;
    sqlite3_stmt *rows = rows_of(loading, &assay__stored_trace_text);
    while (next_row(loading, rows)) {
        read_row(rows, &assay__stored_trace_text, &row);
        const char *text = row.text ? row.text : "";
        add_number(loading, &loading->texts,
                   assay__events_intern(loading->events, text, strlen(text)));
    }
}

/* A kind that this program does not know is shown and not counted. */
static uint8_t kind_named(const char *name)
{
    for (int i = 0; i < ASSAY__EVENT_KINDS; i++)
        if (name && !strcmp(name, assay__event_kind_name((enum assay__event_kind)i)))
            return (uint8_t)i;
    return ASSAY__EVENT_OTHER;
}

static void load_kinds(struct loading *loading)
{
    struct assay__text_row row;
    size_t count = 0;
    memset(loading->kinds, ASSAY__EVENT_OTHER, sizeof loading->kinds);
    sqlite3_stmt *rows = rows_of(loading, &assay__stored_trace_kind);
    while (next_row(loading, rows)) {
        read_row(rows, &assay__stored_trace_kind, &row);
        if (count < sizeof loading->kinds) loading->kinds[count++] = kind_named(row.text);
    }
}

static void load_tracks(struct loading *loading)
{
    struct assay__track_row row;
    sqlite3_stmt *rows = rows_of(loading, &assay__stored_trace_track);
    while (next_row(loading, rows)) {
        read_row(rows, &assay__stored_trace_track, &row);
        struct assay__track track = {.kind = (enum assay__track_kind)row.kind,
                                     .rank = (int32_t)row.rank,
                                     .pid = row.pid,
                                     .tid = row.tid,
                                     .device = (int32_t)row.device,
                                     .stream = row.stream,
                                     .name = row.name,
                                     .group = row.owner};
        add_number(loading, &loading->tracks, assay__events_track(loading->events, &track));
    }
}

static void load_args(struct loading *loading)
{
    struct assay__args_row row;
    sqlite3_stmt *rows = rows_of(loading, &assay__stored_trace_args);
    while (next_row(loading, rows)) {
        read_row(rows, &assay__stored_trace_args, &row);
        struct assay__event_args args = {
            .direction = (uint8_t)row.direction,
            .from = (uint8_t)row.from,
            .to = (uint8_t)row.to,
            .grid = {(uint32_t)row.grid_x, (uint32_t)row.grid_y, (uint32_t)row.grid_z},
            .block = {(uint32_t)row.block_x, (uint32_t)row.block_y, (uint32_t)row.block_z},
            .flops = isnan(row.flops) ? 0 : row.flops,
            .operator_type = row.operator_type,
            .provider = row.provider,
            .shapes = row.shapes,
            .types = row.types,
            .collective = row.collective,
            .group_size = row.group_size,
            .stack = row.stack,
            .state = row.state};
        add_number(loading, &loading->args, assay__events_args(loading->events, &args));
    }
}

static const char *keep(struct loading *loading, const char *text)
{
    return assay__events_keep(loading->events, text);
}

/* After the events: a source that is there while they are added would count them. */
static void load_sources(struct loading *loading)
{
    struct assay__source_row row;
    sqlite3_stmt *rows = rows_of(loading, &assay__stored_trace_source);
    while (next_row(loading, rows)) {
        read_row(rows, &assay__stored_trace_source, &row);
        struct assay__trace_source *source = assay__events_source(loading->events);
        if (!source) continue; /* the store has the error */
        *source = (struct assay__trace_source){.path = keep(loading, row.path),
                                               .title = keep(loading, row.title),
                                               .format = keep(loading, row.format),
                                               .producer = keep(loading, row.producer),
                                               .clock = keep(loading, row.clock),
                                               .complaint = keep(loading, row.complaint),
                                               .rank = (int32_t)row.rank,
                                               .world_size = (int32_t)row.world_size,
                                               .offset_ns = row.offset_ns,
                                               .bytes = (uint64_t)row.bytes,
                                               .events = (uint64_t)row.events,
                                               .skipped = (uint64_t)row.skipped,
                                               .truncated = row.truncated};
    }
}

/* --- chunks ----------------------------------------------------------------------------------- */

/* Checks chunk, first and count of the row, which are in these columns; the count, or -1. */
static int64_t chunk_count(struct loading *loading, sqlite3_stmt *row, int column, int64_t chunk,
                           uint64_t have)
{
    int64_t count = sqlite3_column_int64(row, column + 2);
    if (sqlite3_column_int64(row, column) == chunk &&
        sqlite3_column_int64(row, column + 1) == (int64_t)have && count > 0 &&
        count <= (int64_t)ASSAY__CHUNK_VALUES)
        return count;
    damaged(loading, "a chunk is missing, or its count is wrong");
    return -1;
}

static bool decode(struct loading *loading, sqlite3_stmt *row, int column, size_t count,
                   int64_t *out)
{
    const void *data = sqlite3_column_blob(row, column);
    size_t size = (size_t)sqlite3_column_bytes(row, column);
    if (sqlite3_column_type(row, column) == SQLITE_BLOB &&
        !assay__chunk_decode_integers(data, size, count, out))
        return true;
    damaged(loading, "a chunk does not decode to its count");
    return false;
}

static void add_events(struct loading *loading, size_t count)
{
    const int64_t *column[ASSAY__EVENT_COLUMNS];
    for (size_t i = 0; i < ASSAY__EVENT_COLUMNS; i++)
        column[i] = loading->columns + i * ASSAY__CHUNK_VALUES;
    for (size_t i = 0; i < count; i++) {
        struct assay__event event = {
            .start_ns = column[0][i],
            .duration_ns = column[1][i],
            .kind = loading->kinds[(uint64_t)column[2][i] < 256 ? column[2][i] : 255],
            .track = number_of(&loading->tracks, column[4][i]),
            .args = number_of(&loading->args, column[5][i]),
            .correlation = (uint64_t)column[6][i],
            .bytes = column[7][i]};
        assay__events_add_named(loading->events, &event, number_of(&loading->texts, column[3][i]));
    }
}

static void load_events(struct loading *loading)
{
    uint64_t have = 0;
    sqlite3_stmt *rows = prepare(
        loading, "SELECT chunk,first,count,start_ns,duration_ns,kind,name,track,args,correlation,"
                 "bytes FROM event_chunks WHERE profile=1 ORDER BY chunk");
    for (int64_t chunk = 0; next_row(loading, rows); chunk++) {
        int64_t count = chunk_count(loading, rows, 0, chunk, have);
        bool sound = count > 0;
        for (size_t i = 0; i < ASSAY__EVENT_COLUMNS && sound; i++)
            sound = decode(loading, rows, 3 + (int)i, (size_t)count,
                           loading->columns + i * ASSAY__CHUNK_VALUES);
        if (!sound) continue; /* the error ends the loop */
        add_events(loading, (size_t)count);
        have += (uint64_t)count;
    }
    if (have != loading->events->count) damaged(loading, "impossible events");
}

static void load_samples(struct loading *loading, int64_t position, size_t counter)
{
    uint64_t have = 0;
    sqlite3_stmt *rows = prepare(loading, "SELECT chunk,first,count,time_ns,encoding,data FROM"
                                          " trace_counter_chunks WHERE profile=1 AND counter=?"
                                          " ORDER BY chunk");
    if (rows) sqlite3_bind_int64(rows, 1, position);
    for (int64_t chunk = 0; next_row(loading, rows); chunk++) {
        int64_t count = chunk_count(loading, rows, 0, chunk, have);
        if (count <= 0 || !decode(loading, rows, 3, (size_t)count, loading->columns)) continue;
        if (assay__sql_chunk(rows, 4, (size_t)count, loading->values)) {
            damaged(loading, "a counter's values do not decode to their count");
            continue;
        }
        for (int64_t i = 0; i < count; i++)
            assay__events_sample(loading->events, counter, loading->columns[i], loading->values[i]);
        have += (uint64_t)count;
    }
}

static void load_counters(struct loading *loading)
{
    struct assay__counter_row row;
    sqlite3_stmt *rows = rows_of(loading, &assay__stored_trace_counter);
    for (int64_t position = 0; next_row(loading, rows); position++) {
        read_row(rows, &assay__stored_trace_counter, &row);
        size_t counter = assay__events_counter(loading->events, row.name ? row.name : "",
                                               row.unit ? row.unit : "",
                                               number_of(&loading->tracks, row.track));
        load_samples(loading, position, counter);
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool has_timeline(struct assay__db *db)
{
    sqlite3_stmt *statement = NULL;
    bool found = sqlite3_prepare_v2(db->sqlite, "SELECT 1 FROM trace_sources LIMIT 1", -1,
                                    &statement, NULL) == SQLITE_OK &&
                 sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

static void load_all(struct loading *loading)
{
    load_texts(loading);
    load_kinds(loading);
    load_tracks(loading);
    load_args(loading);
    load_events(loading);
    load_counters(loading);
    load_sources(loading);
    if (!loading->code) loading->code = assay__events_seal(loading->events, loading->error);
}

int assay__events_load(const char *path, struct assay__events **events, struct assay_error *error)
{
    struct loading loading = {.path = path, .error = error};
    *events = NULL;
    int code = assay__db_open(path, &loading.db, error);
    if (code) return code;
    if (!has_timeline(loading.db)) {
        assay__db_close(loading.db);
        return assay_error_set(error, ASSAY_ENOTFOUND, "%s: the profile contains no timeline",
                               path);
    }
    loading.events = assay__events_new();
    loading.columns = malloc(ASSAY__EVENT_COLUMNS * ASSAY__CHUNK_VALUES * sizeof *loading.columns);
    loading.values = malloc(ASSAY__CHUNK_VALUES * sizeof *loading.values);
    if (!loading.events || !loading.columns || !loading.values)
        fail(&loading, ASSAY_ENOMEM, "out of memory");
    else
        load_all(&loading);
    assay__db_close(loading.db);
    free(loading.columns);
    free(loading.values);
    free(loading.texts.items);
    free(loading.tracks.items);
    free(loading.args.items);
    if (loading.code)
        assay__events_free(loading.events);
    else
        *events = loading.events;
    return loading.code;
}
