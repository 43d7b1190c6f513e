/* perfetto_clocks.c - times of packets on the one clock of the trace.
 *
 * ClockSnapshot: 1 clocks {1 clock_id, 2 timestamp, 3 is_incremental, 4 unit_multiplier_ns},
 * 2 primary_trace_clock: readings of several clocks at one moment. Clocks 1 to 63 are the system's,
 * 64 to 127 a sequence's own, 128 and above are agreed on within the trace. An incremental clock's
 * times are added up, beginning with the snapshot's. The clock of the trace is BOOTTIME unless a
 * snapshot says otherwise. */
#include "base/vec.h"
#include "import/perfetto_state.h"

#define CLOCK_SPACE (UINT64_MAX - 1)
#define REALTIME 1

struct reading {
    uint64_t id, timestamp, multiplier;
    bool is_incremental;
};

static uint64_t clock_key(const struct assay__perfetto_packet *packet, uint64_t id)
{
    bool is_own = id >= 64 && id < 128;
    return id << 32 | (is_own ? packet->sequence->id : 0);
}

static struct assay__perfetto_clock *clock_find(struct assay__perfetto *perfetto, uint64_t key)
{
    uint32_t number = assay__perfetto_get(&perfetto->table, CLOCK_SPACE, key);
    return number == ASSAY__PERFETTO_NONE ? NULL : &perfetto->clocks[number];
}

static struct assay__perfetto_clock *clock_make(struct assay__perfetto *perfetto, uint64_t key)
{
    struct assay__perfetto_clock *clock = clock_find(perfetto, key);
    size_t count = perfetto->clock_count;
    if (clock) return clock;
    if (assay__vec_grow((void **)&perfetto->clocks, &perfetto->clock_capacity, count + 1,
                        sizeof *perfetto->clocks) ||
        !assay__perfetto_set(&perfetto->table, CLOCK_SPACE, key, (uint32_t)count)) {
        perfetto->failed = true;
        return NULL;
    }
    perfetto->clock_count++;
    return &perfetto->clocks[count];
}

static bool scaled(uint64_t timestamp, int64_t multiplier, int64_t *time_ns)
{
    return timestamp <= INT64_MAX &&
           !__builtin_mul_overflow((int64_t)timestamp, multiplier, time_ns);
}

bool assay__perfetto_time(struct assay__perfetto *perfetto,
                          const struct assay__perfetto_packet *packet, int64_t *time_ns)
{
    uint32_t id = packet->clock ? packet->clock : packet->sequence->default_clock;
    struct assay__perfetto_clock *clock;
    if (!packet->has_time) {
        assay__perfetto_skip(perfetto, 1, "an event without a time");
        return false;
    }
    if (!id || id == perfetto->trace_clock) {
        *time_ns = (int64_t)packet->timestamp;
        if (packet->timestamp <= INT64_MAX) return true;
    } else if (!(clock = clock_find(perfetto, clock_key(packet, id)))) {
        assay__perfetto_skip(perfetto, 1, "an event on an undefined clock");
        return false;
    } else if (scaled(packet->timestamp, clock->multiplier, time_ns) &&
               (!clock->is_incremental ||
                !__builtin_add_overflow(clock->last_ns, *time_ns, &clock->last_ns))) {
        if (clock->is_incremental) *time_ns = clock->last_ns;
        if (!__builtin_add_overflow(*time_ns, clock->offset_ns, time_ns)) return true;
    }
    assay__perfetto_skip(perfetto, 1, "a time beyond 64 bits");
    return false;
}

/* --- snapshots -------------------------------------------------------------------------------- */

static struct reading parse_reading(const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct reading reading = {.multiplier = 1};
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.type != ASSAY__WIRE_VARINT) continue;
        if (field.number == 1) reading.id = field.value;
        if (field.number == 2) reading.timestamp = field.value;
        if (field.number == 3) reading.is_incremental = field.value != 0;
        if (field.number == 4 && field.value) reading.multiplier = field.value;
    }
    return reading;
}

static void take_reading(struct assay__perfetto *perfetto,
                         const struct assay__perfetto_packet *packet, const struct reading *reading,
                         int64_t trace_ns)
{
    int64_t time_ns, offset_ns;
    if (reading->id > UINT32_MAX || reading->multiplier > INT64_MAX ||
        !scaled(reading->timestamp, (int64_t)reading->multiplier, &time_ns) ||
        __builtin_sub_overflow(trace_ns, time_ns, &offset_ns))
        return;
    if (reading->id == REALTIME && !perfetto->has_unix)
        perfetto->has_unix = !__builtin_sub_overflow(0, offset_ns, &perfetto->unix_offset_ns);
    struct assay__perfetto_clock *clock = clock_make(perfetto, clock_key(packet, reading->id));
    if (!clock) return;
    *clock = (struct assay__perfetto_clock){.offset_ns = offset_ns,
                                            .multiplier = (int64_t)reading->multiplier,
                                            .last_ns = time_ns,
                                            .is_incremental = reading->is_incremental};
}

void assay__perfetto_snapshot(struct assay__perfetto *perfetto,
                              const struct assay__perfetto_packet *packet,
                              const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    bool has_trace = false;
    int64_t trace_ns = 0;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number == 2 && field.type == ASSAY__WIRE_VARINT && field.value &&
            field.value < 64 && !perfetto->has_snapshot)
            perfetto->trace_clock = (uint32_t)field.value;
    perfetto->has_snapshot = true;
    wire = assay__wire_in(message);
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != 1 || field.type != ASSAY__WIRE_BYTES) continue;
        struct reading reading = parse_reading(&field);
        if (reading.id == perfetto->trace_clock && !has_trace)
            has_trace = scaled(reading.timestamp, (int64_t)(reading.multiplier & INT64_MAX),
                               &trace_ns);
    }
    wire = assay__wire_in(message);
    while (has_trace && assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number != 1 || field.type != ASSAY__WIRE_BYTES) continue;
        struct reading reading = parse_reading(&field);
        take_reading(perfetto, packet, &reading, trace_ns);
    }
}
