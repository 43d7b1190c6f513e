/* events_private.h - what the files of the event store share. */
#ifndef ASSAY_TRACE_EVENTS_PRIVATE_H
#define ASSAY_TRACE_EVENTS_PRIVATE_H

#include "trace/events.h"
#include "trace/texts.h"

/** Numbers of items by their content: open addressing, number + 1, 0 is free. */
struct assay__events_index {
    uint32_t *slots;
    size_t mask, used;
    bool stale; /* an item has changed: to be made anew */
};

struct assay__events_private {
    struct assay__texts *texts;
    struct assay__event_args *args;
    size_t args_count, args_capacity;
    struct assay__events_index args_index, track_index;
    size_t capacity; /* of the columns */
    size_t track_capacity, counter_capacity, source_capacity;
    uint64_t seed;
    struct assay_error error; /* the first; code 0: none */
};

/** Records the first error; returns its code. */
int assay__events_fail(struct assay__events *events, int code, const char *text);
/** Sorts the columns and the counters. 0 or ASSAY_ENOMEM. */
int assay__events_sort(struct assay__events *events);

#endif
