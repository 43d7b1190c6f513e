/* events_sort.c - puts the columns in order: a merge sort of 32-bit numbers that takes the runs it
 * finds (a trace is a few sorted sequences one after another), then each column is gathered through
 * one scratch column. At most 12 bytes an event beside the columns; nothing is moved if they
 * are in order already. Events that are equal keep their order. */
#include "base/vec.h"
#include "trace/events_private.h"

#include <assay/error.h>
#include <stdlib.h>
#include <string.h>

struct keys {
    const int64_t *first;  /* ascending */
    const int64_t *second; /* then descending; NULL: none */
};

static inline bool precedes_or_equal(const struct keys *keys, uint32_t a, uint32_t b)
{
    if (keys->first[a] != keys->first[b]) return keys->first[a] < keys->first[b];
    return !keys->second || keys->second[a] >= keys->second[b];
}

static bool is_sorted(const struct keys *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!precedes_or_equal(keys, (uint32_t)(i - 1), (uint32_t)i)) return false;
    return true;
}

enum { SHORT_RUN = 16 };

/* Sorts blocks by insertion, so that input in disorder has no run shorter than that. */
static void sort_blocks(const struct keys *keys, uint32_t *order, size_t count)
{
    for (size_t begin = 0; begin < count; begin += SHORT_RUN) {
        size_t end = count - begin < SHORT_RUN ? count : begin + SHORT_RUN;
        for (size_t i = begin + 1; i < end; i++) {
            uint32_t moved = order[i];
            size_t at = i;
            for (; at > begin && !precedes_or_equal(keys, order[at - 1], moved); at--)
                order[at] = order[at - 1];
            order[at] = moved;
        }
    }
}

static size_t run_end(const struct keys *keys, const uint32_t *order, size_t begin, size_t count)
{
    size_t at = begin + 1;
    while (at < count && precedes_or_equal(keys, order[at - 1], order[at]))
        at++;
    return at < count ? at : count;
}

static void merge_runs(const struct keys *keys, const uint32_t *from, size_t begin, size_t middle,
                       size_t end, uint32_t *to)
{
    size_t a = begin, b = middle, out = begin;
    while (a < middle && b < end)
        to[out++] = precedes_or_equal(keys, from[a], from[b]) ? from[a++] : from[b++];
    memcpy(to + out, from + a, (middle - a) * sizeof *to);
    memcpy(to + out + (middle - a), from + b, (end - b) * sizeof *to);
}

/* One pass over pairs of runs; how many runs it left. */
static size_t merge_pass(const struct keys *keys, const uint32_t *from, uint32_t *to, size_t count)
{
    size_t runs = 0;
    for (size_t begin = 0; begin < count; runs++) {
        size_t middle = run_end(keys, from, begin, count);
        size_t end = middle < count ? run_end(keys, from, middle, count) : count;
        merge_runs(keys, from, begin, middle, end, to);
        begin = end;
    }
    return runs;
}

/* order (count long) and scratch (as long) hold the result in one of them, which is returned. */
static uint32_t *sort_order(const struct keys *keys, uint32_t *order, uint32_t *scratch,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    sort_blocks(keys, order, count);
    for (size_t runs = 2; runs > 1;) {
        runs = merge_pass(keys, order, scratch, count);
        uint32_t *swap = order;
        order = scratch;
        scratch = swap;
    }
    return order;
}

/* Of integers and of doubles: as bytes. */
static void gather8(void *column, const uint32_t *order, size_t count, uint64_t *scratch)
{
    const char *values = column;
    for (size_t i = 0; i < count; i++)
        memcpy(&scratch[i], values + order[i] * sizeof *scratch, sizeof *scratch);
    memcpy(column, scratch, count * sizeof *scratch);
}

static void gather4(uint32_t *values, const uint32_t *order, size_t count, uint64_t *scratch)
{
    uint32_t *to = (uint32_t *)scratch;
    for (size_t i = 0; i < count; i++)
        to[i] = values[order[i]];
    memcpy(values, to, count * sizeof *values);
}

static void gather1(uint8_t *values, const uint32_t *order, size_t count, uint64_t *scratch)
{
    uint8_t *to = (uint8_t *)scratch;
    for (size_t i = 0; i < count; i++)
        to[i] = values[order[i]];
    memcpy(values, to, count);
}

static void apply(struct assay__events *events, const uint32_t *order, uint64_t *scratch)
{
    size_t count = events->count;
    gather8(events->duration_ns, order, count, scratch);
    gather8(events->correlation, order, count, scratch);
    gather8(events->bytes, order, count, scratch);
    gather4(events->name, order, count, scratch);
    gather4(events->track, order, count, scratch);
    gather4(events->args, order, count, scratch);
    gather1(events->kind, order, count, scratch);
    gather8(events->start_ns, order, count, scratch);
}

/* The scratch column (8 bytes an event) is first the second half of the merge. */
static int sort_columns(struct assay__events *events)
{
    struct keys keys = {events->start_ns, events->duration_ns};
    size_t count = events->count;
    if (is_sorted(&keys, count)) return 0;
    uint32_t *order = malloc(count * sizeof *order);
    uint64_t *scratch = malloc(count * sizeof *scratch);
    int code = order && scratch ? 0 : ASSAY_ENOMEM;
    if (!code) {
        const uint32_t *sorted = sort_order(&keys, order, (uint32_t *)scratch, count);
        if (sorted != order) memcpy(order, sorted, count * sizeof *order);
        apply(events, order, scratch);
    }
    free(order);
    free(scratch);
    return code;
}

static int sort_counter(struct assay__trace_counter *counter)
{
    struct keys keys = {counter->times_ns, NULL};
    size_t count = counter->count;
    if (is_sorted(&keys, count)) return 0;
    uint32_t *order = malloc(count * sizeof *order);
    uint64_t *scratch = malloc(count * sizeof *scratch);
    int code = order && scratch && count < UINT32_MAX ? 0 : ASSAY_ENOMEM;
    if (!code) {
        const uint32_t *sorted = sort_order(&keys, order, (uint32_t *)scratch, count);
        if (sorted != order) memcpy(order, sorted, count * sizeof *order);
        gather8(counter->values, order, count, scratch);
        gather8(counter->times_ns, order, count, scratch);
    }
    free(order);
    free(scratch);
    return code;
}

int assay__events_sort(struct assay__events *events)
{
    int code = sort_columns(events);
    for (size_t i = 0; i < events->counter_count && !code; i++)
        code = sort_counter(&events->counters[i]);
    return code;
}
