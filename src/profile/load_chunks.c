/* load_chunks.c - column chunks of an untrusted file: the samples of a launch, the series of a
 * trial, the times of its layers by launch. Two passes each: the first adds up what the chunks can
 * hold (a value takes at least one byte of its column, so a false count cannot make us allocate
 * more than the file justifies), the second decodes in place. A missing table means that nothing
 * was kept, as in profiles from before the table existed. */
#include "base/checked.h"
#include "profile/chunk.h"
#include "profile/rows.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* --- samples: one array, by stream then time -------------------------------------------------- */

#define STREAM_LIMIT 65536
#define ENCODING 4 /* its column in the statement */

struct target {
    struct assay__launch *launch;
    size_t capacity, used;
    int stream;    /* being filled */
    int64_t chunk; /* expected next in it */
    size_t stream_first;
};

/* The number of samples that all chunks together can contain; raises launch->streams to the streams
 * seen. */
static size_t measure_samples(struct assay__loader *loader, int64_t trial,
                              struct assay__launch *launch)
{
    size_t total = 0;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT stream, count, length(data) AS size FROM sample_chunks"
        " WHERE trial=?1 AND launch=?2",
        trial, launch->id);
    while (assay__rows_next(&rows)) {
        int64_t stream = assay__rows_int(&rows, "stream", 0, STREAM_LIMIT - 1, -1);
        int64_t count = assay__rows_int(&rows, "count", 0, (int64_t)ASSAY__CHUNK_VALUES, 0);
        int64_t size = assay__rows_int(&rows, "size", 0, INT64_MAX, 0);
        if (stream >= launch->streams) launch->streams = (int)stream + 1;
        if (assay__add_overflows(total, (size_t)(count < size ? count : size), &total) ||
            total > loader->db->bytes) {
            assay__load_failed(loader, ASSAY_EFORMAT,
                               "damaged profile: it claims more samples than bytes");
            assay__rows_stop(&rows);
            return 0;
        }
    }
    return total;
}

/* Decodes the current row and appends it. NULL, or what is wrong with it. */
static const char *add_samples(struct assay__rows *rows, struct target *target)
{
    struct assay__launch *launch = target->launch;
    int64_t stream = assay__rows_int(rows, "stream", 0, launch->streams - 1, -1);
    if (stream < target->stream) return "its stream is out of order";
    while (target->stream < stream) {
        launch->stream_offsets[++target->stream] = target->used;
        target->stream_first = target->used;
        target->chunk = 0;
    }
    if (assay__rows_int(rows, "chunk", 0, INT64_MAX, -1) != target->chunk++)
        return "a chunk is missing before it";
    int64_t have = (int64_t)(target->used - target->stream_first);
    if (assay__rows_int(rows, "first", 0, INT64_MAX, -1) != have)
        return "it does not follow the previous chunk";
    int64_t count = assay__rows_int(rows, "count", 0, (int64_t)ASSAY__CHUNK_VALUES, -1);
    if (count < 0 || (size_t)count > target->capacity - target->used) return "its count is wrong";
    if (assay__sql_chunk(rows->statement, ENCODING, (size_t)count,
                         launch->samples_ns + target->used))
        return "its bytes do not decode to its count";
    target->used += (size_t)count;
    return NULL;
}

void assay__load_samples(struct assay__loader *loader, int trial, struct assay__launch *launch,
                         const char **damage)
{
    struct target target = {.launch = launch};
    target.capacity = measure_samples(loader, trial, launch);
    launch->samples_ns = assay__load_array(loader, target.capacity, sizeof *launch->samples_ns);
    launch->stream_offsets = assay__load_array(loader, (size_t)launch->streams + 1,
                                               sizeof *launch->stream_offsets);
    if (loader->code) return;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT stream, chunk, first, count, encoding, data FROM sample_chunks"
        " WHERE trial=?1 AND launch=?2"
        " ORDER BY stream, chunk",
        trial, launch->id);
    while (assay__rows_next(&rows)) {
        const char *wrong = add_samples(&rows, &target);
        if (!wrong) continue;
        *damage = assay__arena_printf(
            loader->profile->arena,
            "damaged profile: launch %d has lost samples: chunk %lld of stream %d: %s", launch->id,
            (long long)(target.chunk ? target.chunk - 1 : 0), target.stream, wrong);
        assay__rows_stop(&rows);
        break;
    }
    launch->sample_count = target.used;
    while (target.stream < launch->streams)
        launch->stream_offsets[++target.stream] = target.used;
    if (launch->warmup > launch->sample_count) launch->warmup = launch->sample_count;
}

/* --- series ----------------------------------------------------------------------------------- */

/* The bytes of the chunks are counted against the file's size, so that chunks which share pages
 * cannot make us allocate more than sixteen times the file. What does not decode ends its series;
 * times that are not finite or run backwards do too, because everything that draws or integrates
 * relies on them. A value that is not finite counts as missing (NaN). */

/* columns of the statement */
#define TIME_ENCODING 3
#define VALUE_ENCODING 5

/* Values that the series' chunks can hold: each takes at least a byte in either column. */
static size_t measure_series(struct assay__loader *loader, int64_t trial, int64_t position)
{
    size_t total = 0;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT count, length(time_data) AS times, length(value_data) AS numbers FROM series_chunks"
        " WHERE trial=?1 AND series=?2",
        trial, position);
    while (assay__rows_next(&rows)) {
        int64_t count = assay__rows_int(&rows, "count", 0, (int64_t)ASSAY__CHUNK_VALUES, 0);
        int64_t times = assay__rows_int(&rows, "times", 0, INT_MAX, 0);
        int64_t numbers = assay__rows_int(&rows, "numbers", 0, INT_MAX, 0);
        if (!assay__rows_charge(loader, (uint64_t)times + (uint64_t)numbers)) continue;
        int64_t least = times < numbers ? times : numbers;
        total += (size_t)(count < least ? count : least); /* at most the bytes charged */
    }
    return total;
}

/* The chunk that comes next, and the position of its first value. */
struct place {
    int64_t chunk, first;
};

/* Decodes the current row and appends it. NULL, or what is wrong with it. */
static const char *add_readings(struct assay__rows *rows, struct assay__series_info *series,
                                size_t capacity, struct place *place)
{
    if (assay__rows_int(rows, "chunk", 0, INT64_MAX, -1) != place->chunk++)
        return "a chunk is missing before it";
    if (assay__rows_int(rows, "first", 0, INT64_MAX, -1) != place->first + (int64_t)series->count)
        return "it does not follow the previous chunk";
    int64_t count = assay__rows_int(rows, "count", 0, (int64_t)ASSAY__CHUNK_VALUES, -1);
    if (count < 0 || (size_t)count > capacity - series->count) return "its count is wrong";
    double *times_ns = series->times_ns + series->count, *values = series->values + series->count;
    double last_ns = series->count ? times_ns[-1] : -INFINITY;
    if (assay__sql_chunk(rows->statement, TIME_ENCODING, (size_t)count, times_ns))
        return "its times do not decode to its count";
    if (assay__sql_chunk(rows->statement, VALUE_ENCODING, (size_t)count, values))
        return "its values do not decode to its count";
    for (int64_t i = 0; i < count; i++, series->count++) {
        if (!isfinite(times_ns[i]) || times_ns[i] < last_ns)
            return "its times run backwards or are not numbers";
        last_ns = times_ns[i];
        if (!isfinite(values[i])) values[i] = NAN;
    }
    return NULL;
}

/* The stored count is only a claim; the real count is what the chunks contain. */
static void load_values(struct assay__loader *loader, struct assay__trial *trial, int64_t position,
                        struct assay__series_info *series)
{
    size_t promised = series->count;
    const char *wrong = NULL;
    struct place place = {0, 0};
    /* a record drops its oldest chunks while it grows: it begins where it begins */
    bool begins_later = loader->profile->kind == ASSAY__PROFILE_WATCH;
    series->count = 0;
    size_t capacity = measure_series(loader, trial->id, position);
    if (capacity == 0 && promised == 0) return;
    series->times_ns = assay__load_array(loader, capacity, sizeof *series->times_ns);
    series->values = assay__load_array(loader, capacity, sizeof *series->values);
    if (loader->code) return;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT chunk, first, count, time_encoding, time_data, value_encoding, value_data"
        " FROM series_chunks WHERE trial=?1 AND series=?2 ORDER BY chunk",
        trial->id, position);
    while (!wrong && assay__rows_next(&rows)) {
        if (begins_later) {
            place.chunk = assay__rows_int(&rows, "chunk", 0, INT64_MAX - 1, 0);
            place.first = assay__rows_int(&rows, "first", 0, INT64_MAX / 2, 0);
        }
        begins_later = false;
        wrong = add_readings(&rows, series, capacity, &place);
    }
    if (wrong) assay__rows_stop(&rows);
    if (loader->code || (!wrong && promised == series->count)) return;
    assay__load_note(
        loader, trial,
        assay__arena_printf(loader->profile->arena,
                            "damaged profile: the series '%.64s' has lost values: chunk %lld: %s",
                            series->name, (long long)(wrong ? place.chunk - 1 : place.chunk),
                            wrong ? wrong : "it is missing"));
}

void assay__load_series(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__series_info series;
    const struct assay__key of_trial[] = {{.number = trial->id}};
    struct assay__rows rows = assay__rows_of(loader, &assay__stored_series, of_trial, 1, trial);
    while (assay__rows_read(&rows, &series)) {
        if (!series.name[0]) {
            assay__load_note(loader, trial,
                             "damaged profile: a series has no name; it is left out");
            continue;
        }
        if (series.state == ASSAY_UNAVAILABLE && !series.note[0])
            series.note = "the profile has neither a value nor a reason";
        load_values(loader, trial, assay__rows_position(&rows), &series);
        if (assay__trial_add_series(loader->profile, trial, &series)) assay__load_no_memory(loader);
    }
}

/* --- layer times by launch -------------------------------------------------------------------- */

/* A launch counts if its chunks contain exactly one time for every layer; otherwise it is left out,
 * and a note says so. The bytes of the chunks are counted against the file before anything is
 * allocated. */

/* Whether the launch's chunks can contain `layers` times; *any: there are some. */
static bool measure_layers(struct assay__loader *loader, int64_t trial, int launch, size_t layers,
                           bool *any)
{
    size_t total = 0;
    bool sound = true;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT count, length(data) AS size FROM layer_time_chunks WHERE trial=?1 AND launch=?2",
        trial, launch);
    *any = false;
    while (assay__rows_next(&rows)) {
        int64_t count = assay__rows_int(&rows, "count", 1, (int64_t)ASSAY__CHUNK_VALUES, -1);
        int64_t size = assay__rows_int(&rows, "size", 0, INT_MAX, 0);
        *any = true;
        if (!assay__rows_charge(loader, (uint64_t)size)) continue;
        if (count < 0 || size < count || (size_t)count > layers - total)
            sound = false;
        else
            total += (size_t)count;
    }
    return sound && *any && total == layers;
}

/* Decodes the chunks into `column`; false when they are not one time for every layer. */
static bool decode_layers(struct assay__loader *loader, int64_t trial, int launch, size_t layers,
                          double *column)
{
    size_t have = 0;
    bool sound = true;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT first, count, encoding, data FROM layer_time_chunks WHERE trial=?1 AND launch=?2"
        " ORDER BY chunk",
        trial, launch);
    while (sound && assay__rows_next(&rows)) {
        int64_t first = assay__rows_int(&rows, "first", 0, INT64_MAX, -1);
        int64_t count = assay__rows_int(&rows, "count", 1, (int64_t)ASSAY__CHUNK_VALUES, -1);
        sound = first == (int64_t)have && count > 0 && (size_t)count <= layers - have &&
                assay__sql_chunk(rows.statement, 2, (size_t)count, column + have) == 0;
        have += sound ? (size_t)count : 0;
    }
    assay__rows_stop(&rows);
    return sound && have == layers;
}

static void note_lost(struct assay__loader *loader, struct assay__trial *trial, int launch)
{
    assay__load_note(loader, trial,
                     assay__arena_printf(loader->profile->arena,
                                         "damaged profile: the layer times of launch %d are lost",
                                         launch));
}

/* The ids of the launches that can have a time for every layer; free() them. */
static int *find_launches(struct assay__loader *loader, struct assay__trial *trial, size_t *count)
{
    int *ids = malloc((trial->launch_count + 1) * sizeof *ids);
    *count = 0;
    for (size_t i = 0; ids && i < trial->launch_count && !loader->code; i++) {
        bool any = false;
        if (measure_layers(loader, trial->id, trial->launches[i].id, trial->layers.count, &any))
            ids[(*count)++] = trial->launches[i].id;
        else if (any)
            note_lost(loader, trial, trial->launches[i].id);
    }
    if (!ids) assay__load_no_memory(loader);
    return ids;
}

void assay__load_layer_times(struct assay__loader *loader, struct assay__trial *trial)
{
    struct assay__layers *layers = &trial->layers;
    size_t found = 0, kept = 0;
    if (layers->count == 0 || trial->launch_count == 0) return;
    int *ids = find_launches(loader, trial, &found);
    if (!ids || found == 0 || loader->code) {
        free(ids);
        return;
    }
    double *column = malloc(layers->count * sizeof *column);
    int *kept_ids = assay__load_array(loader, found, sizeof *kept_ids);
    size_t cells = layers->count * found; /* each takes at least a byte of the file: no overflow */
    double *times_ns = assay__load_array(loader, cells, sizeof *times_ns);
    if (!column) assay__load_no_memory(loader);
    for (size_t l = 0; l < found && !loader->code; l++) {
        if (!decode_layers(loader, trial->id, ids[l], layers->count, column)) {
            if (!loader->code) note_lost(loader, trial, ids[l]);
            continue;
        }
        for (size_t i = 0; i < layers->count; i++) {
            bool sane = isfinite(column[i]) && column[i] >= 0; /* an impossible time is dropped */
            times_ns[i * found + kept] = sane ? column[i] : (double)NAN;
        }
        kept_ids[kept++] = ids[l];
    }
    layers->launch_count = kept;
    layers->launch_ids = kept_ids;
    for (size_t i = 0; kept && i < layers->count; i++)
        layers->items[i].launch_times_ns = times_ns + i * found;
    free(column);
    free(ids);
}
