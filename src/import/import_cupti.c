/* import_cupti.c - what the CUDA recorder wrote (base/cuda_trace.h): kernels, copies, memsets,
 * waits, calls and NVTX ranges of one process. A block whose checksum is wrong, and what follows
 * it, is not read: the program ended while it was written. */
#include "base/cuda_trace.h"
#include "base/vec.h"
#include "import/cupti_host.h"
#include "import/import_window.h"
#include "import/importers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MOST_STRINGS ((size_t)1 << 24)
#define MOST_DEVICES 1024u
#define SAME_CLOCK_NS 1000000000 /* further apart: CUPTI's clock is another one */

struct reader {
    struct assay__events *events;
    struct assay__trace_source *source;
    struct assay__import_window window;
    struct assay__cupti_host host;
    uint32_t *strings; /* of the store, by number */
    size_t string_capacity;
    uint32_t *device_names; /* of the store + 1, by device */
    size_t device_capacity;
    size_t first_track; /* of this source */
    int64_t last_ns;
    uint64_t records, dropped, paused_ns;
    bool has_end, failed;
    const char *failure; /* the recorder's; NULL: none */
};

static void complain(struct reader *reader, const char *text)
{
    if (!reader->source->complaint[0]) reader->source->complaint = text;
}

static void skip(struct reader *reader, const char *reason)
{
    reader->source->skipped++;
    complain(reader, reason);
}

static uint32_t text_of(const struct reader *reader, uint32_t number)
{
    if (!number || number >= reader->string_capacity) return ASSAY__EVENT_UNKNOWN;
    return reader->strings[number] - 1; /* not seen: 0 becomes unknown */
}

/* --- records ---------------------------------------------------------------------------------- */

static void take_string(struct reader *reader, const void *data, size_t bytes)
{
    struct assay__cuda_string record;
    memcpy(&record, data, sizeof record);
    if (record.length > bytes - sizeof record || !record.number || record.number >= MOST_STRINGS) {
        skip(reader, "a string with an impossible length or number");
        return;
    }
    if (record.number >= reader->string_capacity &&
        assay__vec_grow((void **)&reader->strings, &reader->string_capacity,
                        (size_t)record.number + 1, sizeof *reader->strings)) {
        reader->failed = true;
        return;
    }
    reader->strings[record.number] =
        1 + assay__events_intern(reader->events, (const char *)data + sizeof record, record.length);
}

static void take_process(struct reader *reader, const void *data)
{
    const struct assay__cuda_process *record = data;
    char text[160];
    int64_t apart_ns = record->unix_ns - record->cupti_ns;
    reader->host.pid = record->pid;
    if (record->cupti_ns > 0 && record->unix_ns > 0 &&
        (apart_ns > SAME_CLOCK_NS || apart_ns < -SAME_CLOCK_NS))
        reader->source->offset_ns = apart_ns;
    if (!record->cupti_version) return; /* a worker's layers, which CUPTI knows nothing of */
    snprintf(text, sizeof text, "assay (CUPTI %u, driver of CUDA %u.%u)",
             (unsigned)record->cupti_version, (unsigned)record->driver_version / 1000,
             (unsigned)record->driver_version % 1000 / 10);
    reader->source->producer = assay__events_keep(reader->events, text);
}

static void take_device(struct reader *reader, const void *data)
{
    const struct assay__cuda_device *record = data;
    if (record->number >= MOST_DEVICES) return;
    if (record->number >= reader->device_capacity &&
        assay__vec_grow((void **)&reader->device_names, &reader->device_capacity,
                        (size_t)record->number + 1, sizeof *reader->device_names)) {
        reader->failed = true;
        return;
    }
    reader->device_names[record->number] = text_of(reader, record->name) + 1;
}

/* An event with times; false: they are impossible. */
static bool place(struct reader *reader, uint64_t start_ns, uint64_t end_ns,
                  struct assay__event *event)
{
    if (end_ns < start_ns || end_ns > INT64_MAX || !start_ns) {
        /* CUPTI gives 0 where it could not read the device's clock */
        skip(reader, "records without times, or that end before they start");
        return false;
    }
    *event = (struct assay__event){.start_ns = (int64_t)start_ns,
                                   .duration_ns = (int64_t)(end_ns - start_ns),
                                   .args = ASSAY__EVENT_UNKNOWN};
    if ((int64_t)end_ns > reader->last_ns) reader->last_ns = (int64_t)end_ns;
    return true;
}

static const char *graph_remark(uint32_t graph, char *text, size_t room)
{
    if (!graph) return NULL;
    snprintf(text, room, "CUDA graph %u", (unsigned)graph);
    return text;
}

static void take_kernel(struct reader *reader, const void *data)
{
    const struct assay__cuda_kernel *record = data;
    struct assay__event event;
    char text[32];
    if (!place(reader, record->start_ns, record->end_ns, &event)) return;
    struct assay__event_args args = {.state = graph_remark(record->graph, text, sizeof text)};
    memcpy(args.grid, record->grid, sizeof args.grid);
    memcpy(args.block, record->block, sizeof args.block);
    event.kind = ASSAY__EVENT_KERNEL;
    event.track = assay__cupti_stream(&reader->host, record->device, record->stream);
    event.correlation = assay__cupti_correlation(&reader->host, record->correlation);
    event.args = assay__events_args(reader->events, &args);
    assay__cupti_context(&reader->host, record->context, record->device);
    assay__events_add_named(reader->events, &event, text_of(reader, record->name));
}

/* CUpti_ActivityMemcpyKind: HtoD 1, DtoH 2, HtoA 3, AtoH 4, AtoA 5, AtoD 6, DtoA 7, DtoD 8, HtoH 9,
 * PtoP 10 */
static enum assay__copy_direction direction_of(unsigned kind)
{
    switch (kind) {
    case 1:
    case 3: return ASSAY__COPY_TO_DEVICE;
    case 2:
    case 4: return ASSAY__COPY_TO_HOST;
    case 5:
    case 6:
    case 7:
    case 8: return ASSAY__COPY_ON_DEVICE;
    case 9: return ASSAY__COPY_ON_HOST;
    case 10: return ASSAY__COPY_PEER;
    default: return ASSAY__COPY_UNKNOWN;
    }
}

/* CUpti_ActivityMemoryKind */
static enum assay__memory_kind memory_of(unsigned kind)
{
    static const uint8_t kinds[] = {
        ASSAY__MEMORY_UNKNOWN, ASSAY__MEMORY_PAGEABLE, ASSAY__MEMORY_PINNED, ASSAY__MEMORY_DEVICE,
        ASSAY__MEMORY_DEVICE,  ASSAY__MEMORY_MANAGED,  ASSAY__MEMORY_DEVICE, ASSAY__MEMORY_MANAGED};
    return kind < sizeof kinds ? kinds[kind] : ASSAY__MEMORY_UNKNOWN;
}

static void take_copy(struct reader *reader, const void *data)
{
    static const char *const names[] = {"Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
                                        "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
                                        "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP"};
    const struct assay__cuda_copy *record = data;
    struct assay__event event;
    char text[32];
    if (!place(reader, record->start_ns, record->end_ns, &event)) return;
    struct assay__event_args args = {.direction = (uint8_t)direction_of(record->kind),
                                     .from = (uint8_t)memory_of(record->from),
                                     .to = (uint8_t)memory_of(record->to),
                                     .state = graph_remark(record->graph, text, sizeof text)};
    event.name = names[record->kind < sizeof names / sizeof *names ? record->kind : 0];
    event.name_length = SIZE_MAX;
    event.kind = ASSAY__EVENT_COPY;
    event.bytes = record->bytes <= INT64_MAX ? (int64_t)record->bytes : 0;
    event.track = assay__cupti_stream(&reader->host, record->device, record->stream);
    event.correlation = assay__cupti_correlation(&reader->host, record->correlation);
    event.args = assay__events_args(reader->events, &args);
    assay__cupti_context(&reader->host, record->context, record->device);
    assay__events_add(reader->events, &event);
}

static void take_memset(struct reader *reader, const void *data)
{
    const struct assay__cuda_memset *record = data;
    struct assay__event event;
    char text[32];
    if (!place(reader, record->start_ns, record->end_ns, &event)) return;
    struct assay__event_args args = {.state = graph_remark(record->graph, text, sizeof text)};
    event.name = "Memset";
    event.name_length = SIZE_MAX;
    event.kind = ASSAY__EVENT_MEMSET;
    event.bytes = record->bytes <= INT64_MAX ? (int64_t)record->bytes : 0;
    event.track = assay__cupti_stream(&reader->host, record->device, record->stream);
    event.correlation = assay__cupti_correlation(&reader->host, record->correlation);
    event.args = assay__events_args(reader->events, &args);
    assay__cupti_context(&reader->host, record->context, record->device);
    assay__events_add(reader->events, &event);
}

static void take_wait(struct reader *reader, const void *data)
{
    const struct assay__cuda_wait *record = data;
    if (record->end_ns <= INT64_MAX) assay__cupti_wait(&reader->host, record);
}

static void take_call(struct reader *reader, const void *data)
{
    const struct assay__cuda_call *record = data;
    if (record->end_ns > INT64_MAX) return;
    if ((int64_t)record->end_ns > reader->last_ns) reader->last_ns = (int64_t)record->end_ns;
    assay__cupti_call(&reader->host, record, text_of(reader, record->name));
}

static void take_mark(struct reader *reader, const void *data)
{
    const struct assay__cuda_mark *record = data;
    if (record->time_ns > INT64_MAX) return;
    if ((int64_t)record->time_ns > reader->last_ns) reader->last_ns = (int64_t)record->time_ns;
    assay__cupti_mark(&reader->host, record, text_of(reader, record->name));
}

/* NULL: unknown, as arguments have it. */
static const char *known_text(const struct reader *reader, uint32_t number)
{
    const char *text = assay__events_text(reader->events, text_of(reader, number));
    return *text ? text : NULL;
}

static void take_span(struct reader *reader, const void *data)
{
    const struct assay__cuda_span *record = data;
    struct assay__event event;
    if (!place(reader, record->start_ns, record->end_ns, &event)) return;
    struct assay__event_args args = {.operator_type = known_text(reader, record->op),
                                     .provider = known_text(reader, record->provider)};
    bool is_step = record->kind == ASSAY__CUDA_SPAN_STEP;
    event.kind = is_step ? ASSAY__EVENT_RANGE : ASSAY__EVENT_OPERATOR;
    event.track = assay__cupti_thread(&reader->host, record->thread);
    event.args = assay__events_args(reader->events, &args);
    assay__events_add_named(reader->events, &event, text_of(reader, record->name));
}

static void take_state(struct reader *reader, const void *data)
{
    const struct assay__cuda_state *record = data;
    reader->has_end |= record->state == ASSAY__CUDA_STATE_END;
}

static void take_dropped(struct reader *reader, const void *data)
{
    const struct assay__cuda_dropped *record = data;
    reader->dropped += record->by_cupti + record->by_writer + record->marks;
}

static void take_failure(struct reader *reader, const void *data)
{
    const struct assay__cuda_failure *record = data;
    reader->failure = assay__events_text(reader->events, text_of(reader, record->text));
}

/* A record of a struct, as long as this reader knows it; shorter ones are refused. */
static const struct {
    size_t bytes;
    void (*take)(struct reader *reader, const void *data);
} takers[] = {
    [ASSAY__CUDA_PROCESS] = {sizeof(struct assay__cuda_process), take_process},
    [ASSAY__CUDA_DEVICE] = {sizeof(struct assay__cuda_device), take_device},
    [ASSAY__CUDA_KERNEL] = {sizeof(struct assay__cuda_kernel), take_kernel},
    [ASSAY__CUDA_COPY] = {sizeof(struct assay__cuda_copy), take_copy},
    [ASSAY__CUDA_MEMSET] = {sizeof(struct assay__cuda_memset), take_memset},
    [ASSAY__CUDA_WAIT] = {sizeof(struct assay__cuda_wait), take_wait},
    [ASSAY__CUDA_CALL] = {sizeof(struct assay__cuda_call), take_call},
    [ASSAY__CUDA_MARK] = {sizeof(struct assay__cuda_mark), take_mark},
    [ASSAY__CUDA_STATE] = {sizeof(struct assay__cuda_state), take_state},
    [ASSAY__CUDA_DROPPED] = {sizeof(struct assay__cuda_dropped), take_dropped},
    [ASSAY__CUDA_FAILURE] = {sizeof(struct assay__cuda_failure), take_failure},
    [ASSAY__CUDA_SPAN] = {sizeof(struct assay__cuda_span), take_span},
};
#define TAKERS (sizeof takers / sizeof *takers)

static void take_record(struct reader *reader, const struct assay__cuda_record *head,
                        const char *data)
{
    _Alignas(8) char copy[256];
    reader->records++;
    if (head->type == ASSAY__CUDA_STRING && head->bytes >= sizeof(struct assay__cuda_string)) {
        take_string(reader, data, head->bytes);
        return;
    }
    if (head->type >= TAKERS || !takers[head->type].take) return; /* of a later version */
    if (head->bytes < takers[head->type].bytes) {
        skip(reader, "a record that is too short");
        return;
    }
    memcpy(copy, data, takers[head->type].bytes);
    takers[head->type].take(reader, copy);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static bool have(struct reader *reader, size_t bytes)
{
    while (assay__import_window_left(&reader->window) < bytes)
        if (!assay__import_window_more(&reader->window)) return false;
    return true;
}

static void take_records(struct reader *reader, const char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes && !reader->failed;) {
        struct assay__cuda_record head;
        if (bytes - at < sizeof head) {
            skip(reader, "a block whose records do not fill it");
            return;
        }
        memcpy(&head, data + at, sizeof head);
        if (head.bytes < sizeof head || head.bytes % 8 || head.bytes > bytes - at) {
            skip(reader, "a record with an impossible length");
            return;
        }
        take_record(reader, &head, data + at);
        at += head.bytes;
    }
}

/* False: there is no further block that can be read. */
static bool take_block(struct reader *reader)
{
    struct assay__cuda_block_head head;
    if (!have(reader, sizeof head)) {
        reader->source->truncated |= assay__import_window_left(&reader->window) > 0;
        return false;
    }
    memcpy(&head, assay__import_window_at(&reader->window), sizeof head);
    if (head.mark != ASSAY__CUDA_BLOCK_MARK || head.bytes > ASSAY__CUDA_BLOCK_BYTES) {
        reader->source->truncated = true;
        complain(reader, "a block without its magic number");
        return false;
    }
    if (!have(reader, sizeof head + head.bytes)) {
        reader->source->truncated = true;
        return false;
    }
    const char *data = assay__import_window_at(&reader->window) + sizeof head;
    if (crc32(0, (const Bytef *)data, head.bytes) != head.crc) {
        reader->source->truncated = true;
        complain(reader, "a block whose checksum is wrong");
        return false;
    }
    take_records(reader, data, head.bytes);
    assay__import_window_use(&reader->window, sizeof head + head.bytes);
    return !reader->failed;
}

/* --- the importer ----------------------------------------------------------------------------- */

static enum assay__import_match match(const char *head, size_t size)
{
    bool is_ours = size >= 8 && !memcmp(head, ASSAY__CUDA_FILE_MAGIC, 8);
    return is_ours ? ASSAY__IMPORT_YES : ASSAY__IMPORT_NO;
}

static int read_head(struct reader *reader, struct assay_error *error)
{
    struct assay__cuda_file_head head;
    if (!have(reader, sizeof head))
        return assay_error_set(error, ASSAY_EFORMAT, "%s: shorter than its header",
                               reader->source->path);
    memcpy(&head, assay__import_window_at(&reader->window), sizeof head);
    if (head.version != ASSAY__CUDA_FILE_VERSION || head.head_bytes < sizeof head ||
        head.head_bytes > 4096 || !have(reader, head.head_bytes))
        return assay_error_set(error, ASSAY_EFORMAT,
                               "%s: recorded by another version of assay (format %u; this one "
                               "reads %u)",
                               reader->source->path, (unsigned)head.version,
                               ASSAY__CUDA_FILE_VERSION);
    assay__import_window_use(&reader->window, head.head_bytes);
    return 0;
}

/* Devices are described after the first kernels, perhaps. */
static void name_devices(struct reader *reader)
{
    struct assay__events *events = reader->events;
    for (size_t i = reader->first_track; i < events->track_count; i++) {
        struct assay__track track = events->tracks[i];
        size_t device = (size_t)track.device;
        if (track.kind != ASSAY__TRACK_STREAM || device >= reader->device_capacity ||
            !reader->device_names[device])
            continue;
        track.group = assay__events_text(events, reader->device_names[device] - 1);
        assay__events_track(events, &track);
    }
}

static void conclude(struct reader *reader)
{
    char text[200];
    assay__cupti_host_finish(&reader->host, reader->last_ns);
    name_devices(reader);
    reader->source->skipped += reader->dropped;
    if (reader->failure) {
        complain(reader, reader->failure);
    } else if (reader->dropped) {
        snprintf(text, sizeof text,
                 "%llu records were dropped: the program made them faster than they were written",
                 (unsigned long long)reader->dropped);
        complain(reader, assay__events_keep(reader->events, text));
    }
    if (reader->has_end) return;
    reader->source->truncated = true;
    complain(reader,
             "the process was still running, crashed or was killed: its last moments are missing");
}

static int read_trace(struct assay__import_stream *stream, struct assay__events *events,
                      struct assay__trace_source *source, struct assay_error *error)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    size_t first_event = events->count;
    reader->events = events;
    reader->source = source;
    reader->host.events = events;
    reader->first_track = events->track_count;
    reader->window = assay__import_window_over(stream, error);
    source->producer = "assay";
    source->clock = ASSAY__IMPORT_CLOCK_UNIX;
    int code = read_head(reader, error);
    while (!code && take_block(reader))
        continue;
    if (!code) code = reader->window.code;
    if (!code) conclude(reader);
    if (!code && (reader->failed || reader->host.failed))
        code = assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (!code && events->count == first_event && reader->failure)
        code = assay_error_set(error, ASSAY_EFORMAT, "%s", reader->failure);
    assay__import_window_free(&reader->window);
    assay__cupti_host_free(&reader->host);
    free(reader->strings);
    free(reader->device_names);
    free(reader);
    return code;
}

const struct assay__importer assay__importer_cupti = {
    .name = "cupti",
    .title = "assay's own recording of a CUDA program",
    .match = match,
    .read = read_trace,
};
