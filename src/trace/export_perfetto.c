/* export_perfetto.c - Perfetto's trace format (protos/perfetto/trace): a file is a message with one
 * field, packets. Processes, threads, devices, streams and counters are tracks (TrackDescriptor);
 * an event is a packet that begins a slice and one that ends it, an event without a duration an
 * instant. Names and categories are numbers whose texts come with the first packet that uses them
 * (InternedData), in one sequence of packets. A launch and what it launched are joined by a flow.
 *
 * A viewer sorts packets by time and keeps the order of those at the same time: ends are written
 * before the next event of their lane begins. Lanes of a track (nesting.h) beyond the first are
 * tracks below it of the same name, which viewers show as one. */
#include "trace/event_words.h"
#include "trace/exporters.h"
#include "trace/track_groups.h"

#include <stdlib.h>
#include <string.h>

/* Fields of the messages, as Perfetto numbers them. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DESCRIPTOR = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    COUNTER_UNIT_NAME = 6,
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_NUMBER = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_ANNOTATION = 3,
    ENTRY_NUMBER = 1, /* of all interned entries */
    ENTRY_TEXT = 2,
    ANNOTATION_NAME = 1,
    ANNOTATION_UNSIGNED = 3,
    ANNOTATION_SIGNED = 4,
    ANNOTATION_NUMBER = 5,
    ANNOTATION_TEXT = 6,
    ANNOTATION_ARRAY = 12,
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 };
enum { SEQUENCE = 1 };

/* What is said of an event besides its name, as debug annotations. */
enum note {
    NOTE_BYTES,
    NOTE_CORRELATION,
    NOTE_DIRECTION,
    NOTE_FROM,
    NOTE_TO,
    NOTE_GRID,
    NOTE_BLOCK,
    NOTE_FLOPS,
    NOTE_OPERATOR,
    NOTE_PROVIDER,
    NOTE_SHAPES,
    NOTE_TYPES,
    NOTE_COLLECTIVE,
    NOTE_GROUP_SIZE,
    NOTE_STACK,
    NOTE_STATE,
    NOTES
};
static const char *const note_names[NOTES] = {
    "bytes", "correlation", "direction", "from",  "to",         "grid",       "block", "flops",
    "type",  "provider",    "shapes",    "types", "collective", "group_size", "stack", "state"};

struct perfetto {
    struct assay__export *to;
    struct assay__track_groups groups;
    struct assay__open_events open;
    unsigned char *named;    /* a bit for each text that is interned */
    uint32_t *lane_of_track; /* the first of each that has events */
    uint64_t origin_ns;      /* taken from all times: none may be negative */
    struct assay__buf packet, inner, part, name, interned;
};

/* --- the wire --------------------------------------------------------------------------------- */

enum { VARINT_MOST = 10 };

/* Most of the bytes come through here: straight into the buffer while it has room. */
static inline void put_varint(struct assay__buf *out, uint64_t value)
{
    char bytes[VARINT_MOST];
    bool room = !out->failed && out->capacity - out->length > VARINT_MOST;
    char *begin = room ? out->data + out->length : bytes, *at = begin;
    for (; value >= 0x80; value >>= 7)
        *at++ = (char)(value | 0x80);
    *at++ = (char)value;
    if (room)
        out->length += (size_t)(at - begin), *at = 0;
    else
        assay__buf_add(out, bytes, (size_t)(at - begin));
}

static void put_number(struct assay__buf *out, unsigned field, uint64_t value)
{
    put_varint(out, (uint64_t)field << 3);
    put_varint(out, value);
}

static void put_fixed(struct assay__buf *out, unsigned field, uint64_t value)
{
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(value >> 8 * i);
    put_varint(out, (uint64_t)field << 3 | 1);
    assay__buf_add(out, bytes, sizeof bytes);
}

static void put_double(struct assay__buf *out, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_fixed(out, field, bits);
}

static void put_bytes(struct assay__buf *out, unsigned field, const char *bytes, size_t length)
{
    put_varint(out, (uint64_t)field << 3 | 2);
    put_varint(out, length);
    assay__buf_add(out, bytes, length);
}

static void put_text(struct assay__buf *out, unsigned field, const char *text)
{
    put_bytes(out, field, text, strlen(text));
}

/* A message inside another; the part is cleared for the next. */
static void put_message(struct assay__buf *out, unsigned field, struct assay__buf *part)
{
    put_bytes(out, field, assay__buf_text(part), part->length);
    if (part->failed) out->failed = true;
    assay__buf_clear(part);
}

static void end_packet(struct perfetto *p)
{
    put_message(&p->to->out, TRACE_PACKET, &p->packet);
    assay__export_flush(p->to);
}

/* --- tracks ----------------------------------------------------------------------------------- */

/* Numbers of tracks: groups, then lanes, then counters; 0 is Perfetto's own. */
static uint64_t group_uuid(uint32_t group)
{
    return 1 + (uint64_t)group;
}

static uint64_t lane_uuid(const struct perfetto *p, size_t lane)
{
    return 1 + p->groups.count + lane;
}

static uint64_t counter_uuid(const struct perfetto *p, size_t counter)
{
    return 1 + p->groups.count + p->to->nesting.lane_count + counter;
}

static bool is_id(int64_t id)
{
    return id >= 0 && id <= INT32_MAX;
}

/* Processes and threads as such only where their numbers are those of one machine. */
static bool is_process(const struct perfetto *p, const struct assay__track *track)
{
    return track->kind != ASSAY__TRACK_STREAM && !p->to->ranks && is_id(track->pid);
}

static void end_descriptor(struct perfetto *p)
{
    put_message(&p->packet, PACKET_DESCRIPTOR, &p->inner);
    put_number(&p->packet, PACKET_SEQUENCE, SEQUENCE);
    end_packet(p);
}

static void put_group(struct perfetto *p, uint32_t group)
{
    uint32_t first = p->groups.first[group];
    const struct assay__track *track = &p->to->events->tracks[first];
    assay__export_group_name(p->to, first, &p->name);
    put_number(&p->inner, TRACK_UUID, group_uuid(group));
    if (is_process(p, track)) {
        put_number(&p->part, PROCESS_PID, (uint64_t)track->pid);
        put_text(&p->part, PROCESS_NAME, assay__buf_text(&p->name));
        put_message(&p->inner, TRACK_PROCESS, &p->part);
    } else
        put_text(&p->inner, TRACK_NAME, assay__buf_text(&p->name));
    end_descriptor(p);
}

static void put_thread(struct perfetto *p, const struct assay__track *track)
{
    put_number(&p->part, THREAD_PID, (uint64_t)track->pid);
    put_number(&p->part, THREAD_TID, (uint64_t)track->tid);
    put_text(&p->part, THREAD_NAME, assay__buf_text(&p->name));
    put_message(&p->inner, TRACK_THREAD, &p->part);
}

static void put_lane(struct perfetto *p, size_t lane)
{
    uint32_t number = p->to->nesting.lanes[lane].track;
    bool known = number < p->to->events->track_count;
    const struct assay__track *track = known ? &p->to->events->tracks[number] : NULL;
    uint32_t first = known ? p->lane_of_track[number] : (uint32_t)lane;
    bool thread = known && track->kind == ASSAY__TRACK_THREAD && is_process(p, track) &&
                  is_id(track->tid);
    assay__export_track_name(p->to, number, &p->name);
    put_number(&p->inner, TRACK_UUID, lane_uuid(p, lane));
    if (first != lane)
        put_number(&p->inner, TRACK_PARENT, lane_uuid(p, first));
    else if (known && !thread)
        put_number(&p->inner, TRACK_PARENT, group_uuid(p->groups.of[number]));
    if (thread && first == lane)
        put_thread(p, track);
    else
        put_text(&p->inner, TRACK_NAME, assay__buf_text(&p->name));
    end_descriptor(p);
}

static void put_counter_track(struct perfetto *p, size_t counter)
{
    const struct assay__trace_counter *c = &p->to->events->counters[counter];
    put_number(&p->inner, TRACK_UUID, counter_uuid(p, counter));
    put_text(&p->inner, TRACK_NAME, c->name);
    if (c->track < p->to->events->track_count)
        put_number(&p->inner, TRACK_PARENT, group_uuid(p->groups.of[c->track]));
    if (c->unit && *c->unit) put_text(&p->part, COUNTER_UNIT_NAME, c->unit);
    put_message(&p->inner, TRACK_COUNTER, &p->part);
    end_descriptor(p);
}

static void put_tracks(struct perfetto *p)
{
    const struct assay__nesting *nesting = &p->to->nesting;
    for (size_t i = 0; i < nesting->lane_count; i++)
        if (!nesting->lanes[i].index && nesting->lanes[i].track < p->to->events->track_count)
            p->lane_of_track[nesting->lanes[i].track] = (uint32_t)i;
    for (size_t i = 0; i < p->groups.count; i++)
        put_group(p, (uint32_t)i);
    for (size_t i = 0; i < nesting->lane_count; i++)
        put_lane(p, i);
    for (size_t i = 0; i < p->to->events->counter_count; i++)
        put_counter_track(p, i);
}

/* --- interned texts --------------------------------------------------------------------------- */

static void put_entry(struct perfetto *p, unsigned field, uint64_t number, const char *text)
{
    put_number(&p->part, ENTRY_NUMBER, number);
    put_text(&p->part, ENTRY_TEXT, text);
    put_message(&p->interned, field, &p->part);
}

/* The packet that begins the sequence, with the words that do not come from the trace. */
static void put_words(struct perfetto *p)
{
    for (int i = 0; i < ASSAY__EVENT_KINDS; i++)
        put_entry(p, INTERNED_CATEGORY, (uint64_t)i + 1, assay__event_kind_name(i));
    for (int i = 0; i < NOTES; i++)
        put_entry(p, INTERNED_ANNOTATION, (uint64_t)i + 1, note_names[i]);
    put_number(&p->packet, PACKET_SEQUENCE, SEQUENCE);
    put_number(&p->packet, PACKET_FLAGS, STATE_CLEARED | STATE_NEEDED);
    put_message(&p->packet, PACKET_INTERNED, &p->interned);
    end_packet(p);
}

/* The number of an event's name; its text comes with this packet if it is new. */
static uint64_t name_of(struct perfetto *p, uint32_t name)
{
    size_t count = assay__events_text_count(p->to->events);
    size_t number = name < count ? name : count; /* all without a name are one */
    if (!(p->named[number / 8] & 1u << number % 8)) {
        p->named[number / 8] |= (unsigned char)(1u << number % 8);
        put_entry(p, INTERNED_NAME, number + 1, assay__events_text(p->to->events, name));
    }
    return number + 1;
}

/* --- what is written about an event
 * ----------------------------------------------------------------- */

static void end_note(struct perfetto *p)
{
    put_message(&p->inner, EVENT_ANNOTATION, &p->part);
}

static void note_unsigned(struct perfetto *p, enum note note, uint64_t value)
{
    if (!value) return;
    put_number(&p->part, ANNOTATION_NAME, note + 1);
    put_number(&p->part, ANNOTATION_UNSIGNED, value);
    end_note(p);
}

static void note_signed(struct perfetto *p, enum note note, int64_t value)
{
    if (!value) return;
    put_number(&p->part, ANNOTATION_NAME, note + 1);
    put_number(&p->part, ANNOTATION_SIGNED, (uint64_t)value);
    end_note(p);
}

static void note_text(struct perfetto *p, enum note note, const char *text)
{
    if (!text) return;
    put_number(&p->part, ANNOTATION_NAME, note + 1);
    put_text(&p->part, ANNOTATION_TEXT, text);
    end_note(p);
}

static void note_sizes(struct perfetto *p, enum note note, const uint32_t sizes[3])
{
    if (!sizes[0] && !sizes[1] && !sizes[2]) return;
    put_number(&p->part, ANNOTATION_NAME, note + 1);
    for (int i = 0; i < 3; i++) {
        assay__buf_clear(&p->name);
        put_number(&p->name, ANNOTATION_UNSIGNED, sizes[i]);
        put_message(&p->part, ANNOTATION_ARRAY, &p->name);
    }
    end_note(p);
}

static void put_args(struct perfetto *p, size_t event)
{
    const struct assay__event_args *a = assay__event_args(p->to->events, event);
    note_text(p, NOTE_DIRECTION, assay__copy_direction_name(a->direction));
    note_text(p, NOTE_FROM, assay__memory_kind_name(a->from));
    note_text(p, NOTE_TO, assay__memory_kind_name(a->to));
    note_sizes(p, NOTE_GRID, a->grid);
    note_sizes(p, NOTE_BLOCK, a->block);
    if (a->flops > 0) {
        put_number(&p->part, ANNOTATION_NAME, NOTE_FLOPS + 1);
        put_double(&p->part, ANNOTATION_NUMBER, a->flops);
        end_note(p);
    }
    note_text(p, NOTE_OPERATOR, a->operator_type);
    note_text(p, NOTE_PROVIDER, a->provider);
    note_text(p, NOTE_SHAPES, a->shapes);
    note_text(p, NOTE_TYPES, a->types);
    note_text(p, NOTE_COLLECTIVE, a->collective);
    note_signed(p, NOTE_GROUP_SIZE, a->group_size);
    note_text(p, NOTE_STACK, a->stack);
    note_text(p, NOTE_STATE, a->state);
}

/* A launch and its work have the same flow; correlations count within a rank. */
static void put_flow(struct perfetto *p, size_t event)
{
    const struct assay__events *events = p->to->events;
    uint64_t flow = events->correlation[event];
    uint32_t track = events->track[event];
    if (!flow) return;
    if (p->to->ranks && track < events->track_count)
        flow ^= (uint64_t)(uint32_t)events->tracks[track].rank << 40;
    put_fixed(&p->inner, assay__event_is_work(events, event) ? EVENT_FLOW_END : EVENT_FLOW, flow);
}

/* --- events ----------------------------------------------------------------------------------- */

static void end_event(struct perfetto *p, uint64_t type, uint64_t track, int64_t time_ns)
{
    put_number(&p->inner, EVENT_TYPE, type);
    put_number(&p->inner, EVENT_TRACK, track);
    put_number(&p->packet, PACKET_TIMESTAMP, (uint64_t)time_ns - p->origin_ns);
    put_number(&p->packet, PACKET_SEQUENCE, SEQUENCE);
    put_number(&p->packet, PACKET_FLAGS, STATE_NEEDED);
    if (p->interned.length) put_message(&p->packet, PACKET_INTERNED, &p->interned);
    put_message(&p->packet, PACKET_TRACK_EVENT, &p->inner);
    end_packet(p);
}

static void close_slice(void *context, size_t event)
{
    struct perfetto *p = context;
    end_event(p, SLICE_END, lane_uuid(p, p->to->nesting.lane[event]),
              assay__event_end_ns(p->to->events, event));
}

static void put_event(struct perfetto *p, size_t event)
{
    const struct assay__events *events = p->to->events;
    uint32_t lane = p->to->nesting.lane[event];
    assay__open_events_end(&p->open, lane, p->to->nesting.depth[event], close_slice, p);
    put_number(&p->inner, EVENT_CATEGORY, (uint64_t)events->kind[event] + 1);
    put_number(&p->inner, EVENT_NAME, name_of(p, events->name[event]));
    note_signed(p, NOTE_BYTES, events->bytes[event]);
    note_unsigned(p, NOTE_CORRELATION, events->correlation[event]);
    if (events->args[event] != ASSAY__EVENT_UNKNOWN) put_args(p, event);
    put_flow(p, event);
    bool slice = events->duration_ns[event] > 0;
    end_event(p, slice ? SLICE_BEGIN : INSTANT, lane_uuid(p, lane), events->start_ns[event]);
    if (slice) assay__open_events_begin(&p->open, &p->to->nesting, event);
}

static void put_counters(struct perfetto *p)
{
    for (size_t i = 0; i < p->to->events->counter_count; i++) {
        const struct assay__trace_counter *c = &p->to->events->counters[i];
        for (size_t k = 0; k < c->count && !assay__export_failed(p->to); k++) {
            put_double(&p->inner, EVENT_NUMBER, c->values[k]);
            end_event(p, COUNTER, counter_uuid(p, i), c->times_ns[k]);
        }
    }
}

static void run_with(struct perfetto *p)
{
    const struct assay__events *events = p->to->events;
    p->origin_ns = p->to->begin_ns < 0 ? (uint64_t)p->to->begin_ns : 0;
    put_tracks(p);
    put_words(p);
    for (size_t i = 0; i < events->count && !assay__export_failed(p->to); i++)
        put_event(p, i);
    for (size_t i = 0; i < p->to->nesting.lane_count; i++)
        assay__open_events_end(&p->open, i, 0, close_slice, p);
    put_counters(p);
}

static void run(struct assay__export *to)
{
    struct perfetto p = {.to = to};
    struct assay__buf *parts[] = {&p.packet, &p.inner, &p.part, &p.name, &p.interned};
    p.named = calloc(assay__events_text_count(to->events) / 8 + 1, 1);
    p.lane_of_track = calloc(to->events->track_count + 1, sizeof *p.lane_of_track);
    if (p.named && p.lane_of_track &&
        !assay__track_groups_make(&p.groups, to->events, &to->error) &&
        !assay__open_events_make(&p.open, &to->nesting, &to->error))
        run_with(&p);
    else
        assay__export_no_memory(to);
    assay__track_groups_free(&p.groups);
    assay__open_events_free(&p.open);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assay__buf_drop(parts[i], &to->out);
    free(p.named);
    free(p.lane_of_track);
}

const struct assay__exporter assay__exporter_perfetto = {
    .name = "perfetto",
    .title = "Perfetto protobuf, for ui.perfetto.dev",
    .extension = "perfetto-trace",
    .run = run,
};
