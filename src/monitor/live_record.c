/* live_record.c - see live_record.h. All series of a resolution have the same times, so that they
 * share the number of the chunk being filled, its first position and its count; a row without a
 * value then is NaN. The buckets come from the monitor's own history: nothing is averaged twice. */
#include "monitor/live_record.h"

#include "base/clock.h"
#include "base/no_memory.h"
#include "profile/store.h"
#include "profile/writer.h"
#include "run/trial/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_NS 10000000000u
#define BUCKETS_READ 64 /* of the history at a time: more than end between two flushes */

static const struct resolution {
    const char *label;
    int history; /* level of the monitor's history; -1: every reading */
    double chunk_s, kept_s;
} resolutions[ASSAY__RECORD_LEVELS] = {
    {"every reading of the last hour", -1, 60, 3600},
    {"10 s, the last day", 1, 600, 86400},
    {"1 min", 2, 3600, INFINITY},
};

struct level {
    size_t series_count;
    size_t capacity;       /* of a chunk */
    double *times_ns;      /* of the chunk being filled, since the record began */
    double *values;        /* series x capacity */
    bool *read;            /* which series have values at all */
    size_t count;          /* in it */
    int64_t chunk, oldest; /* its number; the first that is kept */
    int64_t first;         /* position of its first value */
    int64_t dropped;       /* values in deleted chunks */
    size_t *counts;        /* of the chunks that are kept, oldest first, the current one left out */
    uint64_t next_ns;      /* the bucket to come */
    bool changed;          /* since it was written */
};

struct assay__record {
    struct assay__store *store;
    struct assay_profile *profile;
    size_t row_count;
    size_t *ranges; /* of each row: its series of min, that of max follows; 0: it has none */
    uint64_t origin_ns, flushed_ns;
    struct level levels[ASSAY__RECORD_LEVELS];
};

/* --- the document ----------------------------------------------------------------------------- */

static int add_series(struct assay_profile *profile, struct assay__trial *trial,
                      const struct assay__shown *shown, const char *tail)
{
    static const char *const quantities[][2] = {
        {"W", "power"},           {"°C", "temperature"}, {"Hz", "clock"}, {"B", "memory"},
        {"ratio", "utilization"}, {"s", "time"},         {"J", "energy"},
    };
    const struct assay__row *row = shown->row;
    struct assay__series_info info = {
        .name = assay__arena_text(profile->arena, "%s%s", row->name, tail),
        .quantity = "",
        .rail = assay__arena_text(profile->arena, "%s", row->device),
        .unit = assay__arena_text(profile->arena, "%s", row->unit),
        .probe = "",
        .source = assay__arena_text(profile->arena, "%s", row->source),
        .state = !row->sensor_count && !row->given ? ASSAY_UNAVAILABLE
                 : *row->formula                   ? ASSAY_DERIVED
                                                   : ASSAY_MEASURED,
        .note = assay__arena_text(profile->arena, "%s",
                                  row->sensor_count || row->given ? row->formula : row->reason),
        .period_s = NAN};
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++)
        if (strcmp(row->unit, quantities[i][0]) == 0) info.quantity = quantities[i][1];
    return assay__trial_add_series(profile, trial, &info);
}

static int add_trial(struct assay__record *record, size_t index, const struct assay__view *view)
{
    struct assay_profile *profile = record->profile;
    struct assay__trial *trial = assay__profile_trial(profile);
    if (!trial) return ASSAY_ENOMEM;
    trial->state = ASSAY__TRIAL_OK;
    trial->label = resolutions[index].label;
    int code = assay_metrics_unavailable(trial->metrics, "latency.p50",
                                         "a record of the machine: no inference was timed");
    for (size_t r = 0; r < view->row_count && code == 0; r++)
        code = add_series(profile, trial, &view->rows[r], "");
    for (size_t r = 0; r < view->row_count && resolutions[index].history >= 0; r++) {
        if (view->rows[r].row->rank == ASSAY__ROW_DETAIL) continue;
        record->ranges[r] = trial->series_count;
        if (code == 0) code = add_series(profile, trial, &view->rows[r], ".min");
        if (code == 0) code = add_series(profile, trial, &view->rows[r], ".max");
    }
    record->levels[index].series_count = trial->series_count;
    return code;
}

static int make_document(struct assay__record *record, const struct assay__view *view,
                         const char *path, const char *command_line, struct assay_error *error)
{
    struct assay_profile *profile = record->profile = assay__profile_new();
    if (!profile) return assay__no_memory(error);
    struct assay__utc now = assay__utc_now();
    profile->path = assay__arena_text(profile->arena, "%s", path);
    profile->command_line = assay__arena_text(profile->arena, "%s", command_line);
    profile->created = assay__arena_text(profile->arena, "%s", now.text);
    assay__profile_set_command(profile, "watch");
    int code = assay__describe_machine(profile, error);
    if (code) return code;
    for (size_t i = 0; i < ASSAY__RECORD_LEVELS && code == 0; i++)
        code = add_trial(record, i, view);
    return code || assay__arena_failed(profile->arena) ? assay__no_memory(error) : 0;
}

/* --- opening and closing ---------------------------------------------------------------------- */

static int make_level(struct level *level, const struct resolution *resolution, double interval_s,
                      struct assay_error *error)
{
    double step_s = resolution->history < 0
                        ? interval_s
                        : (double)assay__history_span_ns[resolution->history] * 1e-9;
    /* room for readings that come early */
    level->capacity = (size_t)ceil(resolution->chunk_s / step_s) + 2;
    level->times_ns = calloc(level->capacity, sizeof *level->times_ns);
    level->values = calloc(level->capacity * (level->series_count + 1), sizeof *level->values);
    size_t chunks = isfinite(resolution->kept_s)
                        ? (size_t)(resolution->kept_s / resolution->chunk_s) + 2
                        : 1;
    level->counts = calloc(chunks, sizeof *level->counts);
    level->read = calloc(level->series_count + 1, sizeof *level->read);
    return level->times_ns && level->values && level->counts && level->read
               ? 0
               : assay__no_memory(error);
}

static void free_record(struct assay__record *record)
{
    for (size_t i = 0; i < ASSAY__RECORD_LEVELS; i++) {
        free(record->levels[i].times_ns);
        free(record->levels[i].values);
        free(record->levels[i].counts);
        free(record->levels[i].read);
    }
    assay_profile_close(record->profile);
    free(record->ranges);
    free(record);
}

int assay__record_open(const char *path, const struct assay__view *view, double interval_s,
                       const char *command_line, struct assay__record **record,
                       struct assay_error *error)
{
    *record = NULL;
    struct assay__record *made = calloc(1, sizeof *made);
    if (!made) return assay__no_memory(error);
    made->row_count = view->row_count;
    made->ranges = calloc(view->row_count + 1, sizeof *made->ranges);
    made->origin_ns = made->flushed_ns = view->began_ns;
    int code = made->ranges ? make_document(made, view, path, command_line, error)
                            : assay__no_memory(error);
    for (size_t i = 0; i < ASSAY__RECORD_LEVELS && code == 0; i++)
        code = make_level(&made->levels[i], &resolutions[i], interval_s, error);
    for (size_t i = 0; i < ASSAY__RECORD_LEVELS && code == 0; i++)
        for (size_t s = 0; s < made->levels[i].series_count; s++)
            made->levels[i].read[s] = made->profile->trials[i].series[s].state != ASSAY_UNAVAILABLE;
    if (code == 0) code = assay__store_create(path, &made->store, error);
    if (code == 0) code = assay__store_put_profile(made->store, made->profile, error);
    for (size_t i = 0; i < ASSAY__RECORD_LEVELS && code == 0; i++)
        code = assay__store_put_trial(made->store, &made->profile->trials[i], error);
    if (code) {
        assay__store_abandon(made->store);
        free_record(made);
    } else {
        *record = made;
    }
    return code;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_level(struct assay__writer *writer, const struct level *level, int64_t trial)
{
    sqlite3_stmt *statement = assay__writer_prepare(
        writer, "INSERT OR REPLACE INTO series_chunks(trial,series,chunk,first,count,time_encoding,"
                "time_data,value_encoding,value_data) VALUES(?,?,?,?,?,?,?,?,?)");
    for (size_t s = 0; s < level->series_count && writer->code == SQLITE_OK; s++) {
        if (!level->read[s]) continue;
        const double *const columns[] = {level->times_ns, level->values + s * level->capacity};
        const int64_t keys[] = {trial, (int64_t)s, level->chunk, level->first,
                                (int64_t)level->count};
        assay__writer_chunk(writer, statement, keys, 5, columns, 2, level->count);
    }
    sqlite3_finalize(statement);
    const struct assay__key bounds[] = {{.number = trial}, {.number = level->oldest}};
    assay__writer_run(writer, "DELETE FROM series_chunks WHERE trial=?1 AND chunk<?2", bounds, 2);
    const struct assay__key kept[] = {
        {.number = trial}, {.number = level->first + (int64_t)level->count - level->dropped}};
    assay__writer_run(
        writer, "UPDATE series_info SET count=?2 WHERE trial=?1 AND state<>'unavailable'", kept, 2);
}

static void write_levels(struct assay__writer *writer, const void *data)
{
    const struct assay__record *record = data;
    for (size_t i = 0; i < ASSAY__RECORD_LEVELS; i++) {
        const struct level *level = &record->levels[i];
        if (level->changed && level->count) write_level(writer, level, (int64_t)i + 1);
    }
}

static int flush(struct assay__record *record, struct assay_error *error)
{
    int code = assay__store_write(record->store, write_levels, record, error);
    for (size_t i = 0; i < ASSAY__RECORD_LEVELS; i++)
        record->levels[i].changed = false;
    return code;
}

/* Ends the chunk that is full, which is written first; drops the oldest one if enough are kept. */
static int next_chunk(struct assay__record *record, size_t index, struct assay_error *error)
{
    struct level *level = &record->levels[index];
    const struct resolution *resolution = &resolutions[index];
    int code = flush(record, error);
    level->first += (int64_t)level->count;
    if (isfinite(resolution->kept_s)) {
        size_t most = (size_t)(resolution->kept_s / resolution->chunk_s);
        size_t have = (size_t)(level->chunk - level->oldest);
        level->counts[have] = level->count;
        if (have + 1 > most) {
            level->dropped += (int64_t)level->counts[0];
            memmove(level->counts, level->counts + 1, have * sizeof *level->counts);
            level->oldest++;
        }
    }
    level->chunk++;
    level->count = 0;
    return code;
}

/* Room for one more moment, which becomes the last of the chunk. */
static int begin_moment(struct assay__record *record, size_t index, uint64_t time_ns,
                        struct assay_error *error)
{
    struct level *level = &record->levels[index];
    double at_ns = (double)(time_ns - record->origin_ns);
    bool full = level->count == level->capacity ||
                (level->count &&
                 at_ns - level->times_ns[0] >= resolutions[index].chunk_s * 1e9 - 1);
    int code = full ? next_chunk(record, index, error) : 0;
    level->times_ns[level->count++] = at_ns;
    level->changed = true;
    return code;
}

static void put(struct level *level, size_t series, double value)
{
    level->values[series * level->capacity + level->count - 1] = value;
}

/* Buckets of the history that have ended since the last call. */
static int add_buckets(struct assay__record *record, size_t index, struct assay__monitor *monitor,
                       struct assay_error *error)
{
    struct level *level = &record->levels[index];
    size_t source = (size_t)resolutions[index].history;
    uint64_t span_ns = assay__history_span_ns[source], first_ns = 0;
    struct assay__bucket *buckets = calloc(BUCKETS_READ * (record->row_count + 1), sizeof *buckets);
    size_t count = 0;
    int code = buckets ? 0 : assay__no_memory(error);
    for (size_t r = 0; buckets && r < record->row_count; r++)
        count = assay__monitor_history(monitor, source, r, buckets + r * BUCKETS_READ, BUCKETS_READ,
                                       &first_ns);
    for (size_t i = 0; i + 1 < count && code == 0; i++) { /* the last one is not finished */
        uint64_t begin_ns = first_ns + i * span_ns;
        if (begin_ns < level->next_ns || begin_ns + span_ns <= record->origin_ns) continue;
        level->next_ns = begin_ns + span_ns;
        code = begin_moment(record, index,
                            begin_ns < record->origin_ns ? record->origin_ns : begin_ns, error);
        for (size_t r = 0; r < record->row_count; r++) {
            const struct assay__bucket *bucket = &buckets[r * BUCKETS_READ + i];
            put(level, r, bucket->mean);
            if (!record->ranges[r]) continue;
            put(level, record->ranges[r], bucket->least);
            put(level, record->ranges[r] + 1, bucket->greatest);
        }
    }
    free(buckets);
    return code;
}

int assay__record_add(struct assay__record *record, struct assay__monitor *monitor,
                      const struct assay__view *view, struct assay_error *error)
{
    struct level *level = &record->levels[0];
    if (view->now_ns < record->origin_ns) return 0;
    int code = begin_moment(record, 0, view->now_ns, error);
    for (size_t r = 0; r < record->row_count; r++)
        put(level, r, view->rows[r].value);
    if (code || view->now_ns - record->flushed_ns < FLUSH_NS) return code;
    record->flushed_ns = view->now_ns;
    for (size_t i = 1; i < ASSAY__RECORD_LEVELS && code == 0; i++)
        code = add_buckets(record, i, monitor, error);
    return code ? code : flush(record, error);
}

int assay__record_close(struct assay__record *record, struct assay_error *error)
{
    if (!record) return 0;
    int code = flush(record, error);
    if (code == 0)
        code = assay__store_finish(record->store, true, false, error);
    else
        assay__store_abandon(record->store);
    free_record(record);
    return code;
}

void assay__record_abandon(struct assay__record *record)
{
    if (!record) return;
    assay__store_abandon(record->store);
    free_record(record);
}
