/* events_rows.h - the parts of an event store that are rows of a profile: what saving and loading
 * share. Private to src/trace. */
#ifndef ASSAY_TRACE_EVENTS_ROWS_H
#define ASSAY_TRACE_EVENTS_ROWS_H

#include "profile/fields.h"
#include "trace/events.h"

struct assay__source_row {
    const char *path, *title, *format, *producer, *clock, *complaint;
    int64_t rank, world_size, offset_ns, bytes, events, skipped;
    bool truncated;
};

struct assay__track_row {
    int64_t kind, rank, pid, tid, device, stream;
    const char *name, *owner;
};

struct assay__args_row {
    int64_t direction, from, to;
    int64_t grid_x, grid_y, grid_z, block_x, block_y, block_z;
    double flops;
    const char *operator_type, *provider, *shapes, *types, *collective, *stack, *state;
    int64_t group_size;
};

struct assay__counter_row {
    const char *name, *unit;
    int64_t track, count;
};

/** A text or a kind. */
struct assay__text_row {
    const char *text;
};

extern const struct assay__field_table assay__stored_trace_source, assay__stored_trace_track,
    assay__stored_trace_args, assay__stored_trace_counter, assay__stored_trace_text,
    assay__stored_trace_kind;

#define ASSAY__EVENT_COLUMNS 8 /* of event_chunks, in the order of the schema */

#endif
