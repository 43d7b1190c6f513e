/* perfetto_tracks.c - descriptors of tracks, and the store's tracks and counters for them.
 *
 * TrackDescriptor: 1 uuid, 5 parent_uuid, 2 / 10 / 13 name, 3 process {1 pid, 2 cmdline,
 * 6 process_name}, 4 thread {1 pid, 2 tid, 5 thread_name}, 8 counter {3 unit, 4 unit_multiplier,
 * 5 is_incremental, 6 unit_name}. */
#include "base/vec.h"
#include "import/perfetto_state.h"

#include <stdio.h>
#include <string.h>

#define TRACK_SPACE UINT64_MAX
#define MOST_PARENTS 16 /* also ends a ring of parents */

struct assay__perfetto_track *assay__perfetto_track(struct assay__perfetto *perfetto, uint64_t uuid)
{
    uint32_t number = assay__perfetto_get(&perfetto->table, TRACK_SPACE, uuid);
    if (number != ASSAY__PERFETTO_NONE) return &perfetto->tracks[number];
    size_t count = perfetto->track_count;
    if (count >= ASSAY__PERFETTO_NONE - 1 ||
        assay__vec_grow((void **)&perfetto->tracks, &perfetto->track_capacity, count + 1,
                        sizeof *perfetto->tracks) ||
        !assay__perfetto_set(&perfetto->table, TRACK_SPACE, uuid, (uint32_t)count)) {
        perfetto->failed = true;
        return NULL;
    }
    perfetto->tracks[count] = (struct assay__perfetto_track){.uuid = uuid,
                                                             .pid = -1,
                                                             .tid = -1,
                                                             .name = ASSAY__EVENT_UNKNOWN,
                                                             .process = ASSAY__EVENT_UNKNOWN,
                                                             .multiplier = 1,
                                                             .unit = "",
                                                             .host = ASSAY__PERFETTO_NONE,
                                                             .device = ASSAY__PERFETTO_NONE,
                                                             .counter = SIZE_MAX,
                                                             .open = ASSAY__PERFETTO_NONE};
    perfetto->track_count++;
    return &perfetto->tracks[count];
}

/* --- descriptors ------------------------------------------------------------------------------ */

static void take_process(struct assay__perfetto *perfetto, struct assay__perfetto_track *track,
                         const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    track->is_process = true;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number == 1 && field.type == ASSAY__WIRE_VARINT)
            track->pid = (int32_t)field.value;
        bool is_name = field.number == 6 ||
                       (field.number == 2 && track->process == ASSAY__EVENT_UNKNOWN);
        if (is_name && field.type == ASSAY__WIRE_BYTES && field.size)
            track->process = assay__perfetto_text(perfetto, &field);
    }
}

static void take_thread(struct assay__perfetto *perfetto, struct assay__perfetto_track *track,
                        const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    track->is_thread = true;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number == 1 && field.type == ASSAY__WIRE_VARINT)
            track->pid = (int32_t)field.value;
        if (field.number == 2 && field.type == ASSAY__WIRE_VARINT)
            track->tid = (int64_t)field.value;
        if (field.number == 5 && field.type == ASSAY__WIRE_BYTES && field.size)
            track->name = assay__perfetto_text(perfetto, &field);
    }
}

static void take_counter(struct assay__perfetto *perfetto, struct assay__perfetto_track *track,
                         const struct assay__wire_field *message)
{
    static const char *const units[] = {"", "ns", "", "B"};
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    track->is_counter = true;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        bool is_number = field.type == ASSAY__WIRE_VARINT;
        if (field.number == 3 && is_number && field.value < 4) track->unit = units[field.value];
        if (field.number == 4 && is_number && field.value) track->multiplier = (int64_t)field.value;
        if (field.number == 5 && is_number) track->is_incremental = field.value != 0;
        if (field.number == 6 && field.type == ASSAY__WIRE_BYTES)
            track->unit = assay__events_text(perfetto->events,
                                             assay__perfetto_text(perfetto, &field));
    }
}

static bool find_uuid(const struct assay__wire_field *message, uint64_t *uuid)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        if (field.number == 1 && field.type == ASSAY__WIRE_VARINT) {
            *uuid = field.value;
            return true;
        }
    return false;
}

void assay__perfetto_describe(struct assay__perfetto *perfetto,
                              const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    uint64_t uuid = 0;
    if (!find_uuid(message, &uuid)) {
        assay__perfetto_skip(perfetto, 1, "a track without a number");
        return;
    }
    struct assay__perfetto_track *track = assay__perfetto_track(perfetto, uuid);
    if (!track) return;
    track->is_described = true;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        if (field.number == 5 && field.type == ASSAY__WIRE_VARINT) track->parent = field.value;
        if (field.type != ASSAY__WIRE_BYTES) continue;
        switch (field.number) {
        case 2:
        case 10:
        case 13: track->name = assay__perfetto_text(perfetto, &field); break;
        case 3: take_process(perfetto, track, &field); break;
        case 4: take_thread(perfetto, track, &field); break;
        case 8: take_counter(perfetto, track, &field); break;
        default: break;
        }
    }
}

/* --- the store's tracks ----------------------------------------------------------------------- */

/* The nearest track upward, itself included, that is a process or a thread; NULL: none. */
static const struct assay__perfetto_track *owner_of(const struct assay__perfetto *perfetto,
                                                    const struct assay__perfetto_track *track)
{
    for (int i = 0; i < MOST_PARENTS; i++) {
        if (track->is_process || track->is_thread) return track;
        uint32_t parent = assay__perfetto_get(&perfetto->table, TRACK_SPACE, track->parent);
        if (!track->parent || parent == ASSAY__PERFETTO_NONE) return NULL;
        track = &perfetto->tracks[parent];
    }
    return NULL;
}

/* "python3 (1234)": the name is the process's, wherever it was described. */
static void group_name(const struct assay__perfetto *perfetto,
                       const struct assay__perfetto_track *owner, char *out, size_t size)
{
    uint32_t name = owner->process;
    for (size_t i = 0; name == ASSAY__EVENT_UNKNOWN && i < perfetto->track_count; i++)
        if (perfetto->tracks[i].is_process && perfetto->tracks[i].pid == owner->pid)
            name = perfetto->tracks[i].process;
    const char *text = assay__events_text(perfetto->events, name);
    snprintf(out, size, "%.120s (%lld)", text[0] ? text : "process", (long long)owner->pid);
}

static uint32_t host_track(struct assay__perfetto *perfetto,
                           const struct assay__perfetto_track *track)
{
    const struct assay__perfetto_track *owner = owner_of(perfetto, track);
    const char *name = assay__events_text(perfetto->events, track->name);
    char group[160];
    if (owner) group_name(perfetto, owner, group, sizeof group);
    bool is_thread = track->is_thread;
    return assay__events_track(
        perfetto->events,
        &(struct assay__track){.kind = is_thread ? ASSAY__TRACK_THREAD : ASSAY__TRACK_OTHER,
                               .pid = owner ? owner->pid : -1,
                               .tid = is_thread ? track->tid : -1,
                               .device = -1,
                               .stream = is_thread ? -1
                                                   : (int64_t)track->uuid, /* tells them apart */
                               .name = name[0] ? name : NULL,
                               .group = owner ? group : NULL});
}

/* "stream 7" -> 7; else the track's own number. */
static int64_t stream_number(const struct assay__perfetto_track *track, const char *name)
{
    size_t end = strlen(name), begin = end;
    int64_t number = 0;
    while (begin && name[begin - 1] >= '0' && name[begin - 1] <= '9' && end - begin < 9)
        begin--;
    for (size_t i = begin; i < end; i++)
        number = number * 10 + (name[i] - '0');
    return begin < end ? number : (int64_t)(track->uuid >> 1);
}

/* Device events on a track: whatever is above it is the device. */
static uint32_t device_track(struct assay__perfetto *perfetto,
                             const struct assay__perfetto_track *track)
{
    const struct assay__perfetto_track *owner = owner_of(perfetto, track);
    const char *name = assay__events_text(perfetto->events, track->name);
    uint32_t process = owner ? owner->process : ASSAY__EVENT_UNKNOWN;
    const char *group = assay__events_text(perfetto->events, process);
    int32_t device = 0;
    for (size_t i = 0; i < perfetto->events->track_count; i++) {
        const struct assay__track *other = &perfetto->events->tracks[i];
        if (other->kind != ASSAY__TRACK_STREAM) continue;
        if (other->group && strcmp(other->group, group) == 0) {
            device = other->device;
            break;
        }
        if (other->device >= device) device = other->device + 1;
    }
    return assay__events_track(perfetto->events,
                               &(struct assay__track){.kind = ASSAY__TRACK_STREAM,
                                                      .pid = owner ? owner->pid : -1,
                                                      .tid = -1,
                                                      .device = device,
                                                      .stream = stream_number(track, name),
                                                      .name = name[0] ? name : NULL,
                                                      .group = group});
}

uint32_t assay__perfetto_place(struct assay__perfetto *perfetto, uint64_t uuid,
                               enum assay__event_kind kind)
{
    struct assay__perfetto_track *track = assay__perfetto_track(perfetto, uuid);
    if (!track) return ASSAY__EVENT_UNKNOWN;
    if (kind <= ASSAY__EVENT_DEVICE_STATE) {
        if (track->device == ASSAY__PERFETTO_NONE) track->device = device_track(perfetto, track);
        return track->device;
    }
    if (track->host == ASSAY__PERFETTO_NONE) track->host = host_track(perfetto, track);
    return track->host;
}

size_t assay__perfetto_counter(struct assay__perfetto *perfetto, uint64_t uuid)
{
    struct assay__perfetto_track *track = assay__perfetto_track(perfetto, uuid);
    if (!track || track->counter != SIZE_MAX) return track ? track->counter : SIZE_MAX;
    const char *name = assay__events_text(perfetto->events, track->name), *unit = track->unit;
    uint32_t parent = assay__perfetto_get(&perfetto->table, TRACK_SPACE, track->parent);
    uint32_t place = ASSAY__EVENT_UNKNOWN;
    if (track->parent && parent != ASSAY__PERFETTO_NONE)
        place = assay__perfetto_place(perfetto, track->parent, ASSAY__EVENT_CPU);
    size_t counter = assay__events_counter(perfetto->events, name[0] ? name : "counter", unit,
                                           place);
    assay__perfetto_track(perfetto, uuid)->counter = counter;
    return counter;
}
