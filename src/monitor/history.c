/* history.c - the rings: see history.h. All rows share the times, so a level is one table of
 * buckets, row by row, and one number: the bucket that is being filled. */
#include "monitor/history.h"

#include "base/checked.h"
#include "base/no_memory.h"

#include <math.h>
#include <stdlib.h>

#define SECOND_NS 1000000000u
#define LEAST 30 /* buckets of a level, whatever the budget */

const uint64_t assay__history_span_ns[ASSAY__HISTORY_LEVELS] = {SECOND_NS, 10ull * SECOND_NS,
                                                                60ull * SECOND_NS};
static const size_t wanted[ASSAY__HISTORY_LEVELS] = {600, 360, 1440};

struct filling { /* the bucket of one row that is not finished */
    double sum;
    uint64_t count;
};

struct level {
    struct assay__bucket *buckets; /* rows x capacity */
    struct filling *filling;       /* one per row */
    size_t capacity;
    uint64_t current; /* number of the bucket being filled, from the origin */
    uint64_t begun;   /* buckets that exist, at most capacity; 0: nothing was put */
};

struct assay__history {
    size_t rows;
    uint64_t origin_ns, last_ns;
    size_t bytes;
    struct level levels[ASSAY__HISTORY_LEVELS];
};

int assay__history_new(size_t rows, size_t budget_bytes, uint64_t origin_ns,
                       struct assay__history **history, struct assay_error *error)
{
    size_t all = 0, row_bytes, table_bytes;
    struct assay__history *made = *history = NULL;
    for (size_t i = 0; i < ASSAY__HISTORY_LEVELS; i++)
        all += wanted[i];
    if (assay__mul_overflows(all, sizeof(struct assay__bucket), &row_bytes) ||
        assay__mul_overflows(rows, row_bytes, &table_bytes))
        return assay_error_set(error, ASSAY_ELIMIT, "a history of %zu rows", rows);
    made = calloc(1, sizeof *made);
    if (!made) return assay__no_memory(error);
    made->rows = rows;
    made->origin_ns = made->last_ns = origin_ns;
    double scale = table_bytes > budget_bytes ? (double)budget_bytes / (double)table_bytes : 1;
    for (size_t i = 0; i < ASSAY__HISTORY_LEVELS; i++) {
        struct level *level = &made->levels[i];
        level->capacity = (size_t)((double)wanted[i] * scale);
        if (level->capacity < LEAST) level->capacity = LEAST;
        level->buckets = calloc(rows ? rows * level->capacity : 1, sizeof *level->buckets);
        level->filling = calloc(rows ? rows : 1, sizeof *level->filling);
        if (!level->buckets || !level->filling) {
            assay__history_free(made);
            return assay__no_memory(error);
        }
        made->bytes += rows * level->capacity * sizeof *level->buckets;
    }
    *history = made;
    return 0;
}

void assay__history_free(struct assay__history *history)
{
    for (size_t i = 0; history && i < ASSAY__HISTORY_LEVELS; i++) {
        free(history->levels[i].buckets);
        free(history->levels[i].filling);
    }
    free(history);
}

static struct assay__bucket *bucket_at(const struct level *level, size_t row, uint64_t number)
{
    return &level->buckets[row * level->capacity + number % level->capacity];
}

/* Begins the bucket `number` and those that were skipped before it: nothing is known of them. */
static void advance(struct assay__history *history, struct level *level, uint64_t number)
{
    uint64_t skipped = level->begun ? number - level->current : 1;
    uint64_t first = skipped > level->capacity ? number - level->capacity + 1
                                               : number - skipped + 1;
    for (uint64_t at = first; at <= number; at++)
        for (size_t row = 0; row < history->rows; row++)
            *bucket_at(level, row, at) = (struct assay__bucket){NAN, NAN, NAN};
    for (size_t row = 0; row < history->rows; row++)
        level->filling[row] = (struct filling){0, 0};
    level->begun += skipped;
    if (level->begun > level->capacity) level->begun = level->capacity;
    level->current = number;
}

void assay__history_put(struct assay__history *history, uint64_t time_ns, const double *values)
{
    if (time_ns < history->last_ns) return;
    history->last_ns = time_ns;
    for (size_t i = 0; i < ASSAY__HISTORY_LEVELS; i++) {
        struct level *level = &history->levels[i];
        uint64_t number = (time_ns - history->origin_ns) / assay__history_span_ns[i];
        if (!level->begun || number > level->current) advance(history, level, number);
        for (size_t row = 0; row < history->rows; row++) {
            if (!isfinite(values[row])) continue;
            struct assay__bucket *bucket = bucket_at(level, row, number);
            struct filling *filling = &level->filling[row];
            filling->sum += values[row];
            filling->count++;
            bucket->least = fminf(bucket->least, (float)values[row]); /* ignores the NaN */
            bucket->greatest = fmaxf(bucket->greatest, (float)values[row]);
            bucket->mean = (float)(filling->sum / (double)filling->count);
        }
    }
}

size_t assay__history_read(const struct assay__history *history, size_t level_index, size_t row,
                           struct assay__bucket *out, size_t most, uint64_t *first_ns)
{
    const struct level *level = &history->levels[level_index];
    size_t count = level->begun < most ? (size_t)level->begun : most;
    uint64_t first = level->current + 1 - count;
    *first_ns = history->origin_ns + first * assay__history_span_ns[level_index];
    for (size_t i = 0; i < count; i++)
        out[i] = *bucket_at(level, row, first + i);
    return count;
}

size_t assay__history_capacity(const struct assay__history *history, size_t level)
{
    return history->levels[level].capacity;
}

size_t assay__history_bytes(const struct assay__history *history)
{
    return history->bytes;
}
