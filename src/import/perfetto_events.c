/* perfetto_events.c - slices, instants, counters and stages of the GPU.
 *
 * TrackEvent: 9 type (1 begin, 2 end, 3 instant, 4 counter), 10 name_iid, 23 name, 3 category_iids,
 * 4 debug_annotations (1 name_iid, 10 name, 3 uint_value, 4 int_value), 22 categories, 11
 * track_uuid, 30 counter_value, 44 double_counter_value, 47 flow_ids, 48 terminating_flow_ids.
 * GpuRenderStageEvent: 2 duration, 13 hw_queue_iid, 14 stage_iid, 3 hw_queue_id, 4 stage_id,
 * 11 gpu_id, 10 submission_id, 17 name, 20 name_iid.
 *
 * A category that is the name of one of our kinds, or one of PyTorch's, says what an event is;
 * others are work of the host. */
#include "base/vec.h"
#include "import/perfetto_state.h"
#include "import/runtime_calls.h"

#include <stdio.h>
#include <string.h>

#define MOST_OPEN ((size_t)1 << 22)

struct track_event {
    uint64_t type, track, flow;
    uint32_t name, category;
    bool has_value;
    double value;
};

/* --- what an event is ------------------------------------------------------------------------- */

/* ASSAY__EVENT_KINDS: nothing. */
static enum assay__event_kind kind_of(const char *category)
{
    static const struct {
        const char *category;
        enum assay__event_kind kind;
    } known[] = {
        {"gpu_memcpy", ASSAY__EVENT_COPY},       {"gpu_memset", ASSAY__EVENT_MEMSET},
        {"cuda_runtime", ASSAY__EVENT_RUNTIME},  {"cuda_driver", ASSAY__EVENT_RUNTIME},
        {"cpu_op", ASSAY__EVENT_OPERATOR},       {"python_function", ASSAY__EVENT_PYTHON},
        {"user_annotation", ASSAY__EVENT_RANGE}, {"gpu_user_annotation", ASSAY__EVENT_DEVICE_RANGE},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(category, known[i].category) == 0) return known[i].kind;
    for (int i = 0; i < ASSAY__EVENT_KINDS; i++)
        if (strcmp(category, assay__event_kind_name((enum assay__event_kind)i)) == 0)
            return (enum assay__event_kind)i;
    return ASSAY__EVENT_KINDS;
}

/* Most events have the category of the one before, or none. */
static enum assay__event_kind cached_kind(struct assay__perfetto *perfetto, uint32_t category,
                                          enum assay__event_kind otherwise)
{
    if (category == ASSAY__EVENT_UNKNOWN) return otherwise;
    if (category != perfetto->last_category) {
        perfetto->last_category = category;
        perfetto->last_kind = kind_of(assay__events_text(perfetto->events, category));
    }
    return perfetto->last_kind == ASSAY__EVENT_KINDS ? otherwise : perfetto->last_kind;
}

static double bits_to_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void take_number(struct assay__perfetto *perfetto,
                        const struct assay__perfetto_sequence *sequence,
                        const struct assay__wire_field *field, struct track_event *event)
{
    switch (field->number) {
    case 9: event->type = field->value; break;
    case 10:
        event->name = assay__perfetto_name(perfetto, sequence, ASSAY__PERFETTO_EVENT_NAME,
                                           field->value);
        if (event->name == ASSAY__EVENT_UNKNOWN)
            assay__perfetto_skip(perfetto, 0, "a reference to a name that was not defined");
        break;
    case 11: event->track = field->value; break;
    case 30:
        event->value = (double)(int64_t)field->value;
        event->has_value = true;
        break;
    default: break;
    }
}

/* Of several categories the first counts; numbered ones may be packed. */
static void take_category(struct assay__perfetto *perfetto,
                          const struct assay__perfetto_sequence *sequence,
                          const struct assay__wire_field *field, struct track_event *event)
{
    uint64_t number = field->value;
    if (event->category != ASSAY__EVENT_UNKNOWN) return;
    if (field->number == 22 && field->type == ASSAY__WIRE_BYTES) {
        event->category = assay__perfetto_text(perfetto, field);
        return;
    }
    if (field->type == ASSAY__WIRE_BYTES) {
        struct assay__wire packed = assay__wire_in(field);
        if (!field->size || !assay__wire_varint(&packed, &number)) return;
    }
    event->category = assay__perfetto_name(perfetto, sequence, ASSAY__PERFETTO_CATEGORY, number);
}

static void parse_event(struct assay__perfetto *perfetto,
                        const struct assay__perfetto_packet *packet,
                        const struct assay__wire_field *message, struct track_event *event)
{
    const struct assay__perfetto_sequence *sequence = packet->sequence;
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    *event = (struct track_event){.name = ASSAY__EVENT_UNKNOWN,
                                  .category = ASSAY__EVENT_UNKNOWN,
                                  .track = sequence->has_track ? sequence->default_track
                                                               : ~(uint64_t)sequence->id};
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD) {
        bool is_fixed = field.type == ASSAY__WIRE_FIXED64;
        if (field.type == ASSAY__WIRE_VARINT) take_number(perfetto, sequence, &field, event);
        if (field.number == 3 || field.number == 22)
            take_category(perfetto, sequence, &field, event);
        if (field.number == 23 && field.type == ASSAY__WIRE_BYTES)
            event->name = assay__perfetto_text(perfetto, &field);
        if (field.number == 44 && is_fixed) {
            event->value = bits_to_double(field.value);
            event->has_value = true;
        }
        if ((field.number == 47 || field.number == 48) && is_fixed && !event->flow)
            event->flow = field.value;
    }
}

/* --- slices ----------------------------------------------------------------------------------- */

static uint32_t new_slice(struct assay__perfetto *perfetto)
{
    uint32_t number = perfetto->free_slice;
    if (number != ASSAY__PERFETTO_NONE) {
        perfetto->free_slice = perfetto->slices[number].outer;
        return number;
    }
    if (perfetto->slice_count >= MOST_OPEN) return ASSAY__PERFETTO_NONE;
    if (assay__vec_grow((void **)&perfetto->slices, &perfetto->slice_capacity,
                        perfetto->slice_count + 1, sizeof *perfetto->slices)) {
        perfetto->failed = true;
        return ASSAY__PERFETTO_NONE;
    }
    return (uint32_t)perfetto->slice_count++;
}

static void begin_slice(struct assay__perfetto *perfetto, uint64_t uuid,
                        const struct assay__event *event, uint32_t name)
{
    struct assay__perfetto_track *track = assay__perfetto_track(perfetto, uuid);
    uint32_t number = track ? new_slice(perfetto) : ASSAY__PERFETTO_NONE;
    if (number == ASSAY__PERFETTO_NONE) {
        assay__perfetto_skip(perfetto, 1, "too many slices are open at once");
        return;
    }
    perfetto->slices[number] = (struct assay__perfetto_slice){*event, name, track->open};
    track->open = number;
    perfetto->open_count++;
}

static void end_slice(struct assay__perfetto *perfetto, uint64_t uuid, int64_t time_ns)
{
    struct assay__perfetto_track *track = assay__perfetto_track(perfetto, uuid);
    if (!track || track->open == ASSAY__PERFETTO_NONE) {
        assay__perfetto_skip(perfetto, 1, "the end of a slice that did not begin");
        return;
    }
    uint32_t number = track->open;
    struct assay__perfetto_slice *slice = &perfetto->slices[number];
    track->open = slice->outer;
    slice->outer = perfetto->free_slice;
    perfetto->free_slice = number;
    perfetto->open_count--;
    if (__builtin_sub_overflow(time_ns, slice->event.start_ns, &slice->event.duration_ns) ||
        slice->event.duration_ns < 0) {
        assay__perfetto_skip(perfetto, 1, "a slice that ends before it begins");
        return;
    }
    slice->event.track = assay__perfetto_place(perfetto, uuid, slice->event.kind);
    assay__events_add_named(perfetto->events, &slice->event, slice->name);
}

void assay__perfetto_finish(struct assay__perfetto *perfetto)
{
    if (perfetto->open_count)
        assay__perfetto_skip(perfetto, perfetto->open_count, "slices that do not end");
}

/* --- counters --------------------------------------------------------------------------------- */

static void add_value(struct assay__perfetto *perfetto, const struct track_event *event,
                      int64_t time_ns)
{
    struct assay__perfetto_track *track = assay__perfetto_track(perfetto, event->track);
    if (!track || !event->has_value || event->value - event->value != 0) {
        assay__perfetto_skip(perfetto, 1, "a counter without a finite value");
        return;
    }
    double value = event->value * (double)track->multiplier;
    if (track->is_incremental) value = track->value += value;
    size_t counter = assay__perfetto_counter(perfetto, event->track);
    assay__events_sample(perfetto->events, counter, time_ns, value);
}

/* --- events ----------------------------------------------------------------------------------- */

/* The annotation "bytes"; 0: there is none. */
static int64_t bytes_of(struct assay__perfetto *perfetto,
                        const struct assay__perfetto_sequence *sequence,
                        const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field note, field;
    while (assay__wire_next(&wire, &note) == ASSAY__WIRE_FIELD) {
        if (note.number != 4 || note.type != ASSAY__WIRE_BYTES) continue;
        struct assay__wire inner = assay__wire_in(&note);
        uint32_t name = ASSAY__EVENT_UNKNOWN;
        uint64_t value = 0;
        while (assay__wire_next(&inner, &field) == ASSAY__WIRE_FIELD) {
            bool number = field.type == ASSAY__WIRE_VARINT;
            if (number && (field.number == 3 || field.number == 4)) value = field.value;
            if (number && field.number == 1)
                name = assay__perfetto_name(perfetto, sequence, ASSAY__PERFETTO_ANNOTATION,
                                            field.value);
            if (field.number == 10 && field.type == ASSAY__WIRE_BYTES)
                name = assay__perfetto_text(perfetto, &field);
        }
        if (value <= INT64_MAX && name != ASSAY__EVENT_UNKNOWN &&
            strcmp(assay__events_text(perfetto->events, name), "bytes") == 0)
            return (int64_t)value;
    }
    return 0;
}

/* What PyTorch's categories leave to the name: which call it is, where a copy goes. */
static void refine(struct assay__perfetto *perfetto, const struct assay__perfetto_packet *packet,
                   const struct assay__wire_field *message, const struct track_event *parsed,
                   struct assay__event *event)
{
    struct assay__event_args args = {0};
    if (event->kind != ASSAY__EVENT_RUNTIME && event->kind != ASSAY__EVENT_COPY) return;
    const char *name = assay__events_text(perfetto->events, parsed->name);
    const char *category = assay__events_text(perfetto->events, parsed->category);
    if (event->kind == ASSAY__EVENT_RUNTIME) {
        if (strncmp(category, "cuda_", 5) == 0) event->kind = assay__runtime_call_kind(name);
        return;
    }
    assay__copy_of_name(name, &args);
    event->bytes = bytes_of(perfetto, packet->sequence, message);
    event->args = assay__events_args(perfetto->events, &args);
}

static struct assay__event make_event(struct assay__perfetto *perfetto,
                                      const struct track_event *parsed, int64_t time_ns)
{
    enum assay__event_kind otherwise = parsed->type == 1 ? ASSAY__EVENT_CPU : ASSAY__EVENT_RANGE;
    struct assay__event event = {.start_ns = time_ns,
                                 .kind = cached_kind(perfetto, parsed->category, otherwise),
                                 .args = ASSAY__EVENT_UNKNOWN};
    bool is_joined = event.kind <= ASSAY__EVENT_MEMSET || event.kind == ASSAY__EVENT_LAUNCH ||
                     event.kind == ASSAY__EVENT_SYNC || event.kind == ASSAY__EVENT_RUNTIME;
    event.correlation = is_joined ? parsed->flow : 0;
    return event;
}

void assay__perfetto_event(struct assay__perfetto *perfetto,
                           const struct assay__perfetto_packet *packet,
                           const struct assay__wire_field *message)
{
    struct track_event parsed;
    int64_t time_ns;
    parse_event(perfetto, packet, message, &parsed);
    if (!assay__perfetto_time(perfetto, packet, &time_ns)) return;
    struct assay__event event = make_event(perfetto, &parsed, time_ns);
    if (parsed.type == 1) refine(perfetto, packet, message, &parsed, &event);
    switch (parsed.type) {
    case 1: begin_slice(perfetto, parsed.track, &event, parsed.name); break;
    case 2: end_slice(perfetto, parsed.track, time_ns); break;
    case 3:
        event.track = assay__perfetto_place(perfetto, parsed.track, event.kind);
        assay__events_add_named(perfetto->events, &event, parsed.name);
        break;
    case 4: add_value(perfetto, &parsed, time_ns); break;
    default: assay__perfetto_skip(perfetto, 1, "events of an older or unknown type");
    }
}

/* --- the GPU ---------------------------------------------------------------------------------- */

struct stage {
    uint64_t duration, gpu, queue, submission;
    uint32_t queue_name, name, stage_name;
};

static void take_stage(struct assay__perfetto *perfetto,
                       const struct assay__perfetto_packet *packet,
                       const struct assay__wire_field *field, struct stage *stage)
{
    const struct assay__perfetto_sequence *sequence = packet->sequence;
    if (field->number == 17 && field->type == ASSAY__WIRE_BYTES)
        stage->name = assay__perfetto_text(perfetto, field);
    if (field->type != ASSAY__WIRE_VARINT) return;
    switch (field->number) {
    case 2: stage->duration = field->value; break;
    case 3: stage->queue = field->value; break;
    case 10: stage->submission = field->value; break;
    case 11: stage->gpu = field->value; break;
    case 13:
        stage->queue = field->value;
        stage->queue_name = assay__perfetto_name(perfetto, sequence, ASSAY__PERFETTO_GPU_STAGE,
                                                 field->value);
        break;
    case 14:
        stage->stage_name = assay__perfetto_name(perfetto, sequence, ASSAY__PERFETTO_GPU_STAGE,
                                                 field->value);
        break;
    case 20:
        stage->name = assay__perfetto_name(perfetto, sequence, ASSAY__PERFETTO_EVENT_NAME,
                                           field->value);
        break;
    default: break;
    }
}

static uint32_t stage_track(struct assay__perfetto *perfetto, const struct stage *stage)
{
    char group[32];
    const char *name = assay__events_text(perfetto->events, stage->queue_name);
    int32_t gpu = stage->gpu <= INT32_MAX ? (int32_t)stage->gpu : -1;
    snprintf(group, sizeof group, "GPU %d", gpu);
    return assay__events_track(perfetto->events,
                               &(struct assay__track){.kind = ASSAY__TRACK_STREAM,
                                                      .pid = -1,
                                                      .tid = -1,
                                                      .device = gpu,
                                                      .stream = (int64_t)stage->queue,
                                                      .name = name[0] ? name : NULL,
                                                      .group = group});
}

void assay__perfetto_gpu_stage(struct assay__perfetto *perfetto,
                               const struct assay__perfetto_packet *packet,
                               const struct assay__wire_field *message)
{
    struct assay__wire wire = assay__wire_in(message);
    struct assay__wire_field field;
    struct stage stage = {.queue_name = ASSAY__EVENT_UNKNOWN,
                          .name = ASSAY__EVENT_UNKNOWN,
                          .stage_name = ASSAY__EVENT_UNKNOWN};
    int64_t time_ns;
    while (assay__wire_next(&wire, &field) == ASSAY__WIRE_FIELD)
        take_stage(perfetto, packet, &field, &stage);
    if (!assay__perfetto_time(perfetto, packet, &time_ns)) return;
    if (stage.duration > INT64_MAX) {
        assay__perfetto_skip(perfetto, 1, "a GPU stage with an impossible duration");
        return;
    }
    struct assay__event event = {.start_ns = time_ns,
                                 .duration_ns = (int64_t)stage.duration,
                                 .kind = ASSAY__EVENT_KERNEL,
                                 .track = stage_track(perfetto, &stage),
                                 .correlation = stage.submission,
                                 .args = ASSAY__EVENT_UNKNOWN};
    bool is_named = stage.name != ASSAY__EVENT_UNKNOWN;
    assay__events_add_named(perfetto->events, &event, is_named ? stage.name : stage.stage_name);
}
