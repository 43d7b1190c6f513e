/* events_save.c - an event store into a profile, in one transaction: rows for what is few, chunks
 * of columns for the events and the counters' samples. Times are stored as they were aligned. */
#include "profile/chunk.h"
#include "profile/writer.h"
#include "trace/events_private.h"
#include "trace/events_profile.h"
#include "trace/events_rows.h"

#include <stdlib.h>

static const struct assay__key of_profile[] = {{.number = 1}}; /* a file holds one */

/* --- rows ------------------------------------------------------------------------------------- */

static void put_sources(struct assay__writer *writer, const struct assay__events *events)
{
    for (size_t i = 0; i < events->source_count; i++) {
        const struct assay__trace_source *source = &events->sources[i];
        struct assay__source_row row = {.path = source->path,
                                        .title = source->title,
                                        .format = source->format,
                                        .producer = source->producer,
                                        .clock = source->clock,
                                        .complaint = source->complaint,
                                        .rank = source->rank,
                                        .world_size = source->world_size,
                                        .offset_ns = source->offset_ns,
                                        .bytes = (int64_t)source->bytes,
                                        .events = (int64_t)source->events,
                                        .skipped = (int64_t)source->skipped,
                                        .truncated = source->truncated};
        assay__writer_row(writer, &assay__stored_trace_source, of_profile, (int64_t)i, &row);
    }
}

static void put_tracks(struct assay__writer *writer, const struct assay__events *events)
{
    for (size_t i = 0; i < events->track_count; i++) {
        const struct assay__track *track = &events->tracks[i];
        struct assay__track_row row = {.kind = track->kind,
                                       .rank = track->rank,
                                       .pid = track->pid,
                                       .tid = track->tid,
                                       .device = track->device,
                                       .stream = track->stream,
                                       .name = track->name,
                                       .owner = track->group};
        assay__writer_row(writer, &assay__stored_trace_track, of_profile, (int64_t)i, &row);
    }
}

static void put_args(struct assay__writer *writer, const struct assay__events *events)
{
    for (size_t i = 0; i < events->own->args_count; i++) {
        const struct assay__event_args *args = &events->own->args[i];
        struct assay__args_row row = {.direction = args->direction,
                                      .from = args->from,
                                      .to = args->to,
                                      .grid_x = args->grid[0],
                                      .grid_y = args->grid[1],
                                      .grid_z = args->grid[2],
                                      .block_x = args->block[0],
                                      .block_y = args->block[1],
                                      .block_z = args->block[2],
                                      .flops = args->flops,
                                      .operator_type = args->operator_type,
                                      .provider = args->provider,
                                      .shapes = args->shapes,
                                      .types = args->types,
                                      .collective = args->collective,
                                      .group_size = args->group_size,
                                      .stack = args->stack,
                                      .state = args->state};
        assay__writer_row(writer, &assay__stored_trace_args, of_profile, (int64_t)i, &row);
    }
}

static void put_texts(struct assay__writer *writer, const struct assay__events *events)
{
    for (size_t i = 0; i < assay__events_text_count(events); i++) {
        struct assay__text_row row = {assay__events_text(events, (uint32_t)i)};
        assay__writer_row(writer, &assay__stored_trace_text, of_profile, (int64_t)i, &row);
    }
    for (int i = 0; i < ASSAY__EVENT_KINDS; i++) {
        struct assay__text_row row = {assay__event_kind_name((enum assay__event_kind)i)};
        assay__writer_row(writer, &assay__stored_trace_kind, of_profile, i, &row);
    }
}

/* --- chunks ----------------------------------------------------------------------------------- */

static void bind_numbers(struct assay__writer *writer, sqlite3_stmt *statement,
                         const int64_t *numbers, int count)
{
    for (int i = 0; i < count && writer->code == SQLITE_OK; i++)
        writer->code = sqlite3_bind_int64(statement, i + 1, numbers[i]);
}

/* SQLite keeps a copy until the statement is run. */
static void bind_integers(struct assay__writer *writer, sqlite3_stmt *statement, int index,
                          const int64_t *values, size_t count)
{
    struct assay__buf bytes = {0};
    assay__chunk_encode_integers(values, count, &bytes);
    if (writer->code == SQLITE_OK)
        writer->code = bytes.failed ? SQLITE_NOMEM
                                    : sqlite3_bind_blob64(statement, index, bytes.data,
                                                          bytes.length, SQLITE_TRANSIENT);
    assay__buf_free(&bytes);
}

static void bind_values(struct assay__writer *writer, sqlite3_stmt *statement, int index,
                        const double *values, size_t count)
{
    struct assay__buf bytes = {0};
    const char *encoding = assay__chunk_encode(values, count, &bytes);
    if (bytes.failed && writer->code == SQLITE_OK) writer->code = SQLITE_NOMEM;
    if (writer->code == SQLITE_OK)
        writer->code = sqlite3_bind_text(statement, index, encoding, -1, SQLITE_STATIC);
    if (writer->code == SQLITE_OK)
        writer->code = sqlite3_bind_blob64(statement, index + 1, bytes.data, bytes.length,
                                           SQLITE_TRANSIENT);
    assay__buf_free(&bytes);
}

static void run(struct assay__writer *writer, sqlite3_stmt *statement)
{
    if (writer->code == SQLITE_OK && sqlite3_step(statement) != SQLITE_DONE)
        writer->code = sqlite3_reset(statement);
    else
        sqlite3_reset(statement);
}

/* A number of a text, a track or arguments; none is -1. */
static int64_t widen(uint32_t number)
{
    return number == ASSAY__EVENT_UNKNOWN ? -1 : (int64_t)number;
}

/* Value of a column of the schema, counted from 0. */
static int64_t value_at(const struct assay__events *events, int column, size_t event)
{
    switch (column) {
    case 0: return events->start_ns[event];
    case 1: return events->duration_ns[event];
    case 2: return events->kind[event];
    case 3: return widen(events->name[event]);
    case 4: return widen(events->track[event]);
    case 5: return widen(events->args[event]);
    case 6: return (int64_t)events->correlation[event];
    default: return events->bytes[event];
    }
}

static void put_events(struct assay__writer *writer, const struct assay__events *events,
                       int64_t *scratch)
{
    sqlite3_stmt *statement = assay__writer_prepare(
        writer, "INSERT INTO event_chunks(profile,chunk,first,count,start_ns,duration_ns,kind,name,"
                "track,args,correlation,bytes) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)");
    int64_t chunk = 0;
    for (size_t first = 0; first < events->count && writer->code == SQLITE_OK; chunk++) {
        size_t left = events->count - first;
        size_t count = left < ASSAY__CHUNK_VALUES ? left : ASSAY__CHUNK_VALUES;
        bind_numbers(writer, statement, (int64_t[]){1, chunk, (int64_t)first, (int64_t)count}, 4);
        for (int column = 0; column < ASSAY__EVENT_COLUMNS; column++) {
            for (size_t i = 0; i < count; i++)
                scratch[i] = value_at(events, column, first + i);
            bind_integers(writer, statement, 5 + column, scratch, count);
        }
        run(writer, statement);
        first += count;
    }
    sqlite3_finalize(statement);
}

static void put_samples(struct assay__writer *writer, sqlite3_stmt *statement,
                        const struct assay__trace_counter *counter, int64_t position)
{
    int64_t chunk = 0;
    for (size_t first = 0; first < counter->count && writer->code == SQLITE_OK; chunk++) {
        size_t left = counter->count - first;
        size_t count = left < ASSAY__CHUNK_VALUES ? left : ASSAY__CHUNK_VALUES;
        int64_t keys[] = {1, position, chunk, (int64_t)first, (int64_t)count};
        bind_numbers(writer, statement, keys, 5);
        bind_integers(writer, statement, 6, counter->times_ns + first, count);
        bind_values(writer, statement, 7, counter->values + first, count);
        run(writer, statement);
        first += count;
    }
}

static void put_counters(struct assay__writer *writer, const struct assay__events *events)
{
    sqlite3_stmt *statement = assay__writer_prepare(
        writer, "INSERT INTO trace_counter_chunks(profile,counter,chunk,first,count,time_ns,"
                "encoding,data) VALUES(?,?,?,?,?,?,?,?)");
    for (size_t i = 0; i < events->counter_count; i++) {
        const struct assay__trace_counter *counter = &events->counters[i];
        struct assay__counter_row row = {.name = counter->name,
                                         .unit = counter->unit,
                                         .track = widen(counter->track),
                                         .count = (int64_t)counter->count};
        assay__writer_row(writer, &assay__stored_trace_counter, of_profile, (int64_t)i, &row);
        put_samples(writer, statement, counter, (int64_t)i);
    }
    sqlite3_finalize(statement);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void put_all(struct assay__writer *writer, const void *data)
{
    const struct assay__events *events = data;
    static const char *const tables[] = {"trace_sources",  "trace_tracks",        "trace_texts",
                                         "trace_kinds",    "trace_args",          "event_chunks",
                                         "trace_counters", "trace_counter_chunks"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[64];
        sqlite3_snprintf(sizeof sql, sql, "DELETE FROM %s", tables[i]);
        assay__writer_run(writer, sql, NULL, 0);
    }
    int64_t *scratch = malloc(ASSAY__CHUNK_VALUES * sizeof *scratch);
    if (!scratch && writer->code == SQLITE_OK) writer->code = SQLITE_NOMEM;
    if (writer->code == SQLITE_OK) {
        put_sources(writer, events);
        put_tracks(writer, events);
        put_texts(writer, events);
        put_args(writer, events);
        put_events(writer, events, scratch);
        put_counters(writer, events);
    }
    free(scratch);
}

int assay__events_save(const struct assay__events *events, struct assay__store *store,
                       struct assay_error *error)
{
    if (!events->sealed)
        return assay_error_set(error, ASSAY_EINVAL, "the timeline is still being filled");
    return assay__store_write(store, put_all, events, error);
}
