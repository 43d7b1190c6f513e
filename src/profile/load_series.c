/* load_series.c - a trial's series from an untrusted file. As in load_samples.c the
 * chunks are measured first and decoded second; here their bytes are counted against the file's
 * size too, so that chunks which share pages cannot make us allocate more than sixteen times the
 * file. What does not decode ends its series; times that are not finite or run backwards do too,
 * because everything that draws or integrates relies on them. A value that is not finite is no
 * value (NaN). */
#include "profile/chunk.h"
#include "profile/rows.h"

#include <limits.h>
#include <math.h>

/* columns of the statement */
#define TIME_ENCODING 3
#define VALUE_ENCODING 5

/* Values that the series' chunks can hold: each takes at least a byte in either column. */
static size_t measure(struct assay__loader *loader, int64_t trial, int64_t position)
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

/* Decodes the current row behind what is there. NULL, or what is wrong with it. */
static const char *add_chunk(struct assay__rows *rows, struct assay__series_info *series,
                             size_t capacity, int64_t expected)
{
    if (assay__rows_int(rows, "chunk", 0, INT64_MAX, -1) != expected)
        return "a chunk is missing before it";
    if (assay__rows_int(rows, "first", 0, INT64_MAX, -1) != (int64_t)series->count)
        return "it does not join the chunk before it";
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
            return "its times run backwards or are no numbers";
        last_ns = times_ns[i];
        if (!isfinite(values[i])) values[i] = NAN;
    }
    return NULL;
}

/* The count as stored is a promise; what it becomes is what the chunks hold. */
static void load_values(struct assay__loader *loader, struct assay__trial *trial, int64_t position,
                        struct assay__series_info *series)
{
    size_t promised = series->count;
    const char *wrong = NULL;
    int64_t chunk = 0;
    series->count = 0;
    size_t capacity = measure(loader, trial->id, position);
    if (capacity == 0 && promised == 0) return;
    series->times_ns = assay__load_array(loader, capacity, sizeof *series->times_ns);
    series->values = assay__load_array(loader, capacity, sizeof *series->values);
    if (loader->code) return;
    struct assay__rows rows = assay__rows_start(
        loader,
        "SELECT chunk, first, count, time_encoding, time_data, value_encoding, value_data"
        " FROM series_chunks WHERE trial=?1 AND series=?2 ORDER BY chunk",
        trial->id, position);
    while (!wrong && assay__rows_next(&rows))
        wrong = add_chunk(&rows, series, capacity, chunk++);
    if (wrong) assay__rows_stop(&rows);
    if (loader->code || (!wrong && promised == series->count)) return;
    assay__load_note(
        loader, trial,
        assay__arena_printf(loader->profile->arena,
                            "damaged profile: the series '%.64s' has lost values: chunk %lld: %s",
                            series->name, (long long)(wrong ? chunk - 1 : chunk),
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
            series.note = "the profile holds no value and no reason";
        load_values(loader, trial, assay__rows_position(&rows), &series);
        if (assay__trial_add_series(loader->profile, trial, &series)) assay__load_no_memory(loader);
    }
}
