/* events_rows.c - the field tables of a timeline in a profile. */
#include "trace/events_rows.h"

static const char *const track_kinds[] = {"thread", "stream", "other"};
static const char *const directions[] = {"",          "to-device", "to-host",
                                         "on-device", "peer",      "on-host"};
static const char *const memories[] = {"", "pageable", "pinned", "device", "managed"};

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))
#define ANY .least = INT64_MIN /* no number is unknown, or -1 is */

static const struct assay__enum_names track_kind_names = {track_kinds, COUNT_OF(track_kinds)};
static const struct assay__enum_names direction_names = {directions, COUNT_OF(directions)};
static const struct assay__enum_names memory_names = {memories, COUNT_OF(memories)};

#define TEXT(tag, member, column) ASSAY__FIELD(tag, member, column, .empty = ASSAY__EMPTY_NULL)
#define WHOLE(tag, member, column, ...) ASSAY__FIELD(tag, member, column, __VA_ARGS__)
#define TABLE(variable, tag, table, rows)                                \
    const struct assay__field_table variable = {.name = (table),         \
                                                .keys = {"profile"},     \
                                                .position = "position",  \
                                                .fields = (rows),        \
                                                .count = COUNT_OF(rows), \
                                                .size = sizeof(struct tag)}

static const struct assay__field source_fields[] = {
    TEXT(assay__source_row, path, "path"),
    TEXT(assay__source_row, title, "title"),
    TEXT(assay__source_row, format, "format"),
    TEXT(assay__source_row, producer, "producer"),
    WHOLE(assay__source_row, rank, "rank", .unknown = -1),
    WHOLE(assay__source_row, world_size, "world_size", .unknown = -1),
    WHOLE(assay__source_row, offset_ns, "offset_ns", ANY),
    TEXT(assay__source_row, clock, "clock"),
    WHOLE(assay__source_row, bytes, "bytes", .least = 0),
    WHOLE(assay__source_row, events, "events", .least = 0),
    WHOLE(assay__source_row, skipped, "skipped", .least = 0),
    TEXT(assay__source_row, complaint, "complaint"),
    ASSAY__FIELD(assay__source_row, truncated, "truncated"),
};
TABLE(assay__stored_trace_source, assay__source_row, "trace_sources", source_fields);

static const struct assay__field track_fields[] = {
    WHOLE(assay__track_row, kind, "kind", .names = &track_kind_names,
          .unknown = ASSAY__TRACK_OTHER),
    WHOLE(assay__track_row, rank, "rank", ANY),
    WHOLE(assay__track_row, pid, "pid", ANY, .unknown = -1),
    WHOLE(assay__track_row, tid, "tid", ANY, .unknown = -1),
    WHOLE(assay__track_row, device, "device", .unknown = -1),
    WHOLE(assay__track_row, stream, "stream", .unknown = -1),
    TEXT(assay__track_row, name, "name"),
    TEXT(assay__track_row, owner, "owner"),
};
TABLE(assay__stored_trace_track, assay__track_row, "trace_tracks", track_fields);

static const struct assay__field args_fields[] = {
    WHOLE(assay__args_row, direction, "direction", .names = &direction_names),
    WHOLE(assay__args_row, from, "from_memory", .names = &memory_names),
    WHOLE(assay__args_row, to, "to_memory", .names = &memory_names),
    WHOLE(assay__args_row, grid_x, "grid_x", .least = 1, .most = UINT32_MAX),
    WHOLE(assay__args_row, grid_y, "grid_y", .least = 1, .most = UINT32_MAX),
    WHOLE(assay__args_row, grid_z, "grid_z", .least = 1, .most = UINT32_MAX),
    WHOLE(assay__args_row, block_x, "block_x", .least = 1, .most = UINT32_MAX),
    WHOLE(assay__args_row, block_y, "block_y", .least = 1, .most = UINT32_MAX),
    WHOLE(assay__args_row, block_z, "block_z", .least = 1, .most = UINT32_MAX),
    ASSAY__FIELD(assay__args_row, flops, "flops"),
    TEXT(assay__args_row, operator_type, "operator"),
    TEXT(assay__args_row, provider, "provider"),
    TEXT(assay__args_row, shapes, "shapes"),
    TEXT(assay__args_row, types, "types"),
    TEXT(assay__args_row, collective, "collective"),
    WHOLE(assay__args_row, group_size, "group_size", .least = 1),
    TEXT(assay__args_row, stack, "stack"),
    TEXT(assay__args_row, state, "state"),
};
TABLE(assay__stored_trace_args, assay__args_row, "trace_args", args_fields);

static const struct assay__field counter_fields[] = {
    TEXT(assay__counter_row, name, "name"),
    TEXT(assay__counter_row, unit, "unit"),
    WHOLE(assay__counter_row, track, "track", .unknown = -1),
    WHOLE(assay__counter_row, count, "count", .least = 0),
};
TABLE(assay__stored_trace_counter, assay__counter_row, "trace_counters", counter_fields);

static const struct assay__field text_fields[] = {TEXT(assay__text_row, text, "text")};
TABLE(assay__stored_trace_text, assay__text_row, "trace_texts", text_fields);
static const struct assay__field kind_fields[] = {TEXT(assay__text_row, text, "name")};
TABLE(assay__stored_trace_kind, assay__text_row, "trace_kinds", kind_fields);
