/* import_perfetto.c - a Perfetto trace: protobuf, one Trace message whose field 1 is repeated, a
 * TracePacket each. Packets are read one by one; each is complete in memory.
 *
 * TracePacket: 8 timestamp, 58 timestamp_clock_id, 10 trusted_packet_sequence_id,
 * 13 sequence_flags, 41 incremental_state_cleared, 42 previous_packet_dropped, 12 interned_data,
 * 59 trace_packet_defaults, 6 clock_snapshot, 60 track_descriptor, 11 track_event,
 * 53 gpu_render_stage_event, 1 ftrace_events, 50 compressed_packets (deflate).
 * Read: track events and stages of the GPU. Counted: the kernel's events (ftrace). Everything else
 * is not an event of a timeline, or not one that is read. */
#include "base/vec.h"
#include "import/import_window.h"
#include "import/importers.h"
#include "import/perfetto_state.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MOST_PACKET ((size_t)64 << 20) /* bytes, also of what a compressed one becomes */
#define MOST_TEXT 4096
#define SEQUENCE_SPACE (UINT64_MAX - 2)
#define BOOTTIME 6
enum { CLEARED = 1, NEEDS_STATE = 2 }; /* sequence_flags */

void assay__perfetto_skip(struct assay__perfetto *perfetto, uint64_t events, const char *reason)
{
    perfetto->source->skipped += events;
    if (!perfetto->source->complaint[0]) perfetto->source->complaint = reason;
}

/* --- names ------------------------------------------------------------------------------------ */

static uint64_t name_space(const struct assay__perfetto_sequence *sequence,
                           enum assay__perfetto_names kind)
{
    return (uint64_t)sequence->id << 32 | (uint64_t)(sequence->generation & 0xffffff) << 8 | kind;
}

uint32_t assay__perfetto_name(const struct assay__perfetto *perfetto,
                              const struct assay__perfetto_sequence *sequence,
                              enum assay__perfetto_names kind, uint64_t iid)
{
    uint32_t name = assay__perfetto_get(&perfetto->table, name_space(sequence, kind), iid);
    return name == ASSAY__PERFETTO_NONE ? ASSAY__EVENT_UNKNOWN : name;
}

uint32_t assay__perfetto_text(struct assay__perfetto *perfetto,
                              const struct assay__wire_field *field)
{
    size_t size = field->size < MOST_TEXT ? field->size : MOST_TEXT;
    return assay__events_intern(perfetto->events, size ? (const char *)field->data : "",
                                strnlen((const char *)field->data, size));
}

/* {1 iid, 2 name} */
static void take_name(struct assay__perfetto *perfetto,
                      const struct assay__perfetto_sequence *sequence,
                      enum assay__perfetto_names kind, const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    uint64_t iid = 0;
    uint32_t name = ASSAY__EVENT_UNKNOWN;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number == 1 && field.type == ASSAY__WIRE_VARINT) iid = field.value;
        if (field.number == 2 && field.type == ASSAY__WIRE_BYTES)
            name = assay__perfetto_text(perfetto, &field);
    }
    if (iid && name != ASSAY__EVENT_UNKNOWN &&
        !assay__perfetto_set(&perfetto->table, name_space(sequence, kind), iid, name))
        perfetto->failed = true;
}

static void take_interned(struct assay__perfetto *perfetto,
                          const struct assay__perfetto_sequence *sequence,
                          const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.type != ASSAY__WIRE_BYTES) continue;
        if (field.number == 1) take_name(perfetto, sequence, ASSAY__PERFETTO_CATEGORY, &field);
        if (field.number == 2) take_name(perfetto, sequence, ASSAY__PERFETTO_EVENT_NAME, &field);
        if (field.number == 3) take_name(perfetto, sequence, ASSAY__PERFETTO_ANNOTATION, &field);
        if (field.number == 24) take_name(perfetto, sequence, ASSAY__PERFETTO_GPU_STAGE, &field);
    }
}

/* --- sequences -------------------------------------------------------------------------------- */

static struct assay__perfetto_sequence *sequence_of(struct assay__perfetto *perfetto, uint32_t id)
{
    uint32_t number = assay__perfetto_get(&perfetto->table, SEQUENCE_SPACE, id);
    size_t count = perfetto->sequence_count;
    if (number != ASSAY__PERFETTO_NONE) return &perfetto->sequences[number];
    if (assay__vec_grow((void **)&perfetto->sequences, &perfetto->sequence_capacity, count + 1,
                        sizeof *perfetto->sequences) ||
        !assay__perfetto_set(&perfetto->table, SEQUENCE_SPACE, id, (uint32_t)count)) {
        perfetto->failed = true;
        return NULL;
    }
    perfetto->sequences[count] = (struct assay__perfetto_sequence){.id = id};
    perfetto->sequence_count++;
    return &perfetto->sequences[count];
}

/* TracePacketDefaults: 58 timestamp_clock_id, 11 track_event_defaults {11 track_uuid} */
static void take_defaults(struct assay__perfetto_sequence *sequence,
                          const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message), inner;
    struct assay__wire_field field, value;
    sequence->default_clock = 0;
    sequence->has_track = false;
    sequence->default_track = 0;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number == 58 && field.type == ASSAY__WIRE_VARINT)
            sequence->default_clock = (uint32_t)field.value;
        if (field.number != 11 || field.type != ASSAY__WIRE_BYTES) continue;
        inner = assay__wire_in(&field);
        while (assay__wire_next(&inner, &value) == ASSAY__WIRE_FIELD)
            if (value.number == 11 && value.type == ASSAY__WIRE_VARINT) {
                sequence->default_track = value.value;
                sequence->has_track = true;
            }
    }
}

static void begin_anew(struct assay__perfetto_sequence *sequence)
{
    sequence->generation++;
    sequence->is_known = true;
    sequence->has_track = false;
    sequence->default_track = 0;
    sequence->default_clock = 0;
}

/* --- packets ---------------------------------------------------------------------------------- */

/* The messages within a packet that are looked at, and their fields. */
enum { FTRACE, SNAPSHOT, EVENT, INTERNED, COMPRESSED, STAGE, DEFAULTS, DESCRIPTOR, PARTS };
static const uint32_t part_fields[PARTS] = {
    [FTRACE] = 1,      [SNAPSHOT] = 6, [EVENT] = 11,    [INTERNED] = 12,
    [COMPRESSED] = 50, [STAGE] = 53,   [DEFAULTS] = 59, [DESCRIPTOR] = 60,
};

struct fields {
    struct assay__wire_field parts[PARTS];
    bool has[PARTS];
    uint32_t sequence;
    bool is_cleared, is_dropped;
};

static void take_number(const struct assay__wire_field *field, struct fields *fields,
                        struct assay__perfetto_packet *packet)
{
    switch (field->number) {
    case 8:
        packet->timestamp = field->value;
        packet->has_time = true;
        break;
    case 10: fields->sequence = (uint32_t)field->value; break;
    case 13: packet->flags = (uint32_t)field->value; break;
    case 41: fields->is_cleared = field->value != 0; break;
    case 42: fields->is_dropped = field->value != 0; break;
    case 58: packet->clock = (uint32_t)field->value; break;
    default: break;
    }
}

static bool parse_packet(const uint8_t *data, size_t size, struct fields *fields,
                         struct assay__perfetto_packet *packet)
{
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    enum assay__wire_status status;
    *fields = (struct fields){0};
    *packet = (struct assay__perfetto_packet){0};
    while ((status = assay__wire_next(&wire, &field)) == ASSAY__WIRE_FIELD) {
        if (field.type == ASSAY__WIRE_VARINT) take_number(&field, fields, packet);
        for (int i = 0; i < PARTS && field.type == ASSAY__WIRE_BYTES; i++)
            if (field.number == part_fields[i]) {
                fields->parts[i] = field;
                fields->has[i] = true;
            }
    }
    return status == ASSAY__WIRE_END;
}

/* FtraceEventBundle: 2 event */
static void count_ftrace(struct assay__perfetto *perfetto, const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    uint64_t events = 0;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        events += field.number == 2;
    if (events)
        assay__perfetto_skip(perfetto, events, "events of the kernel (ftrace), which are not read");
}

static void take_events(struct assay__perfetto *perfetto, const struct fields *fields,
                        const struct assay__perfetto_packet *packet)
{
    bool has_event = fields->has[EVENT] || fields->has[STAGE];
    if (has_event && (packet->flags & NEEDS_STATE) && !packet->sequence->is_known) {
        assay__perfetto_skip(perfetto, 1, "events that depend on lost packets");
        return;
    }
    if (fields->has[EVENT]) assay__perfetto_event(perfetto, packet, &fields->parts[EVENT]);
    if (fields->has[STAGE]) assay__perfetto_gpu_stage(perfetto, packet, &fields->parts[STAGE]);
    if (fields->has[FTRACE]) count_ftrace(perfetto, &fields->parts[FTRACE]);
}

static void take_compressed(struct assay__perfetto *perfetto,
                            const struct assay__wire_field *message);

static void take_packet(struct assay__perfetto *perfetto, const uint8_t *data, size_t size,
                        bool is_inner)
{
    struct fields fields;
    struct assay__perfetto_packet packet;
    perfetto->packets++;
    if (!parse_packet(data, size, &fields, &packet)) {
        assay__perfetto_skip(perfetto, 1, "a damaged packet");
        return;
    }
    packet.sequence = sequence_of(perfetto, fields.sequence);
    if (!packet.sequence) return;
    if (fields.is_dropped) packet.sequence->is_known = false;
    if (fields.is_cleared || (packet.flags & CLEARED)) begin_anew(packet.sequence);
    if (fields.has[DEFAULTS]) take_defaults(packet.sequence, &fields.parts[DEFAULTS]);
    if (fields.has[INTERNED]) take_interned(perfetto, packet.sequence, &fields.parts[INTERNED]);
    if (fields.has[SNAPSHOT]) assay__perfetto_snapshot(perfetto, &packet, &fields.parts[SNAPSHOT]);
    if (fields.has[DESCRIPTOR]) assay__perfetto_describe(perfetto, &fields.parts[DESCRIPTOR]);
    take_events(perfetto, &fields, &packet);
    if (fields.has[COMPRESSED] && !is_inner) take_compressed(perfetto, &fields.parts[COMPRESSED]);
}

/* --- compressed packets ----------------------------------------------------------------------- */

/* Inflates into *out, at most MOST_PACKET bytes. False: damaged, or more than that. */
static bool inflate_all(const struct assay__wire_field *message, uint8_t **out, size_t *size)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)message->data,
                       .avail_in = (uInt)message->size};
    size_t capacity = 0;
    int code = inflateInit(&stream);
    bool has_stream = code == Z_OK;
    while (code == Z_OK && *size < MOST_PACKET) {
        if (assay__vec_grow((void **)out, &capacity, *size + 65536, 1)) break;
        stream.next_out = *out + *size;
        stream.avail_out = 65536;
        code = inflate(&stream, Z_NO_FLUSH);
        *size += 65536 - stream.avail_out;
        if (stream.avail_out == 65536 && code == Z_OK) break; /* no progress: cut short */
    }
    if (has_stream) inflateEnd(&stream);
    return code == Z_STREAM_END;
}

static void take_compressed(struct assay__perfetto *perfetto,
                            const struct assay__wire_field *message)
{
    uint8_t *data = NULL;
    size_t size = 0;
    if (!inflate_all(message, &data, &size))
        assay__perfetto_skip(perfetto, 1, "compressed packets that are damaged or too large");
    struct assay__wire wire = assay__wire_over(data, size);
    struct assay__wire_field field;
    while (size && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number == 1 && field.type == ASSAY__WIRE_BYTES)
            take_packet(perfetto, field.data, field.size, true);
    free(data);
}

/* --- the stream ------------------------------------------------------------------------------- */

/* Skips a field that is not to be kept: the part that is not in the window yet is dropped as it
 * comes. */
static void pass_over(struct assay__import_window *window, const struct assay__wire_field *field)
{
    const uint8_t *data = (const uint8_t *)assay__import_window_at(window);
    uint64_t total = (uint64_t)(field->data - data) + field->size;
    do {
        size_t left = assay__import_window_left(window);
        size_t part = left < total ? left : (size_t)total;
        assay__import_window_use(window, part);
        total -= part;
    } while (total && assay__import_window_more(window));
}

/* The next field of the trace. CUT: the stream ended within it, or it is too large to be kept. */
static enum assay__wire_status next_field(struct assay__import_window *window,
                                          struct assay__wire_field *field)
{
    for (;;) {
        size_t left = assay__import_window_left(window);
        if (!left && !assay__import_window_more(window)) return ASSAY__WIRE_END;
        if (!left) continue;
        struct assay__wire wire = assay__wire_over((const uint8_t *)assay__import_window_at(window),
                                                   left);
        enum assay__wire_status status = assay__wire_next(&wire, field);
        bool is_large = field->data && field->size > MOST_PACKET;
        if (status != ASSAY__WIRE_CUT || is_large || !assay__import_window_more(window))
            return status;
    }
}

static void read_packets(struct assay__perfetto *perfetto, struct assay__import_window *window)
{
    struct assay__wire_field field;
    enum assay__wire_status status = ASSAY__WIRE_FIELD;
    while (!perfetto->failed && (status = next_field(window, &field)) != ASSAY__WIRE_END) {
        bool is_large = field.data && field.size > MOST_PACKET && field.size < SIZE_MAX / 2;
        if (status == ASSAY__WIRE_FIELD) {
            if (field.number == 1 && field.type == ASSAY__WIRE_BYTES)
                take_packet(perfetto, field.data, field.size, false);
            assay__import_window_use(window, field.total);
        } else if (status == ASSAY__WIRE_CUT && is_large && !window->at_end) {
            assay__perfetto_skip(perfetto, 1, "a packet of more than 64 MiB");
            pass_over(window, &field);
        } else {
            break;
        }
    }
    if (status == ASSAY__WIRE_FIELD || status == ASSAY__WIRE_END) return;
    perfetto->source->truncated = true;
    assay__perfetto_skip(perfetto, 1,
                         status == ASSAY__WIRE_CUT ? "the last packet is cut short"
                                                   : "bytes that are not packets");
}

/* --- the importer ----------------------------------------------------------------------------- */

/* Packets at the beginning, one of which has a time, a sequence or a track. */
static enum assay__import_match match(const char *head, size_t size)
{
    struct assay__wire wire = assay__wire_over((const uint8_t *)head, size);
    struct assay__wire_field field;
    struct fields fields;
    struct assay__perfetto_packet packet;
    if (!size || head[0] != 0x0a) return ASSAY__IMPORT_NO;
    for (int i = 0; i < 16; i++) {
        enum assay__wire_status status = assay__wire_next(&wire, &field);
        if (status !=
            ASSAY__WIRE_FIELD) { /* one that is longer than the head: compressed ones are */
            bool is_compressed = status == ASSAY__WIRE_CUT && field.number == 1 && field.data &&
                                 (const uint8_t *)head + size - field.data > 2 &&
                                 memcmp(field.data, "\x92\x03", 2) == 0;
            return is_compressed ? ASSAY__IMPORT_YES : ASSAY__IMPORT_NO;
        }
        if (field.number != 1 || field.type != ASSAY__WIRE_BYTES ||
            !parse_packet(field.data, field.size, &fields, &packet))
            return ASSAY__IMPORT_NO;
        if (packet.has_time || fields.sequence || fields.has[DESCRIPTOR]) return ASSAY__IMPORT_YES;
    }
    return ASSAY__IMPORT_NO;
}

static void perfetto_free(struct assay__perfetto *perfetto)
{
    free(perfetto->table.slots);
    free(perfetto->sequences);
    free(perfetto->clocks);
    free(perfetto->tracks);
    free(perfetto->slices);
}

static int read_trace(struct assay__import_stream *stream, struct assay__events *events,
                      struct assay__trace_source *source, struct assay_error *error)
{
    struct assay__perfetto perfetto = {.events = events,
                                       .source = source,
                                       .free_slice = ASSAY__PERFETTO_NONE,
                                       .last_category = ASSAY__EVENT_UNKNOWN,
                                       .trace_clock = BOOTTIME};
    struct assay__import_window window = assay__import_window_over(stream, error);
    read_packets(&perfetto, &window);
    assay__perfetto_finish(&perfetto);
    source->producer = "Perfetto";
    source->clock = perfetto.has_unix       ? ASSAY__IMPORT_CLOCK_UNIX
                    : perfetto.has_snapshot ? ASSAY__IMPORT_CLOCK_BOOT
                                            : ASSAY__IMPORT_CLOCK_OWN;
    source->offset_ns = perfetto.has_unix ? perfetto.unix_offset_ns : 0;
    int code = window.code;
    if (!code && perfetto.failed) code = assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (!code && !perfetto.packets)
        code = assay_error_set(error, ASSAY_EFORMAT, "%s: no packet could be read", source->path);
    assay__import_window_free(&window);
    perfetto_free(&perfetto);
    return code;
}

const struct assay__importer assay__importer_perfetto = {
    .name = "perfetto",
    .title = "Perfetto, protobuf",
    .caveat = "tested only on traces that the perfetto package wrote",
    .match = match,
    .read = read_trace,
};
