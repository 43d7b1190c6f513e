/* fuzz_import.h - any bytes as a trace, for the fuzzers of importers. Whatever comes out must be a
 * sound store: sorted, its numbers within its tables, times that do not overflow, and everything
 * that was not read counted with a reason. Read in small pieces it must be the same as at once. */
#ifndef ASSAY_TESTS_FUZZ_IMPORT_H
#define ASSAY_TESTS_FUZZ_IMPORT_H

#include "import/import_stream.h"

#include <stdlib.h>
#include <string.h>

static inline void fuzz_check(int condition)
{
    if (!condition) abort();
}

static inline void fuzz_check_event(const struct assay__events *events, size_t i)
{
    fuzz_check(events->duration_ns[i] >= 0 && events->kind[i] < ASSAY__EVENT_KINDS);
    fuzz_check(events->duration_ns[i] <=
               INT64_MAX - (events->start_ns[i] > 0 ? events->start_ns[i] : 0));
    fuzz_check(events->track[i] == ASSAY__EVENT_UNKNOWN || events->track[i] < events->track_count);
    fuzz_check(events->name[i] == ASSAY__EVENT_UNKNOWN ||
               events->name[i] < assay__events_text_count(events));
    fuzz_check(strlen(assay__event_name(events, i)) < 1u << 30);
    fuzz_check(assay__event_args(events, i) != NULL);
    if (!i) return;
    fuzz_check(events->start_ns[i - 1] <= events->start_ns[i]);
    if (events->start_ns[i - 1] == events->start_ns[i])
        fuzz_check(events->duration_ns[i - 1] >= events->duration_ns[i]);
}

static inline void fuzz_check_events(const struct assay__events *events)
{
    fuzz_check(events->sealed && events->source_count == 1);
    const struct assay__trace_source *source = &events->sources[0];
    fuzz_check(source->events == events->count);
    if (source->skipped || source->truncated) fuzz_check(source->complaint[0]);
    for (size_t i = 0; i < events->count; i++)
        fuzz_check_event(events, i);
    for (size_t i = 0; i < events->counter_count; i++)
        for (size_t j = 1; j < events->counters[i].count; j++)
            fuzz_check(events->counters[i].times_ns[j - 1] <= events->counters[i].times_ns[j]);
}

static inline void fuzz_check_same(const struct assay__events *a, const struct assay__events *b)
{
    fuzz_check(a->count == b->count && a->track_count == b->track_count &&
               a->counter_count == b->counter_count);
    fuzz_check(a->sources[0].skipped == b->sources[0].skipped);
    for (size_t i = 0; i < a->count; i++)
        fuzz_check(a->start_ns[i] == b->start_ns[i] && a->duration_ns[i] == b->duration_ns[i] &&
                   a->kind[i] == b->kind[i] && a->bytes[i] == b->bytes[i] &&
                   a->correlation[i] == b->correlation[i] &&
                   !strcmp(assay__event_name(a, i), assay__event_name(b, i)));
}

/* importer NULL: by content. */
static inline void fuzz_import(const struct assay__importer *importer, const uint8_t *data,
                               size_t size)
{
    struct assay__events *whole = NULL, *pieces = NULL;
    struct assay_error error = {0};
    size_t piece = size ? 1 + data[size - 1] % 31u : 1;
    int code = assay__import_bytes(data, size, 0, importer, &whole, &error);
    fuzz_check(code == 0 || error.message[0]);
    fuzz_check(assay__import_bytes(data, size, piece, importer, &pieces, NULL) == code);
    if (!code) {
        fuzz_check_events(whole);
        fuzz_check_same(whole, pieces);
    }
    assay__events_free(whole);
    assay__events_free(pieces);
}

#endif
