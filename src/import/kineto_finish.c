/* kineto_finish.c - what is said once in a Kineto trace, before or after its events: devices, rank,
 * clock, names of processes and threads. When all is read the tracks get their names, and where
 * events have no category (TensorFlow, JAX) the tracks of a device become streams. */
#include "import/kineto_state.h"

#include "import/runtime_calls.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEVICES = 1024 };
#define SINCE_1970_NS 1000000000000000000 /* 2001: a time above it counts from 1970 */

void assay__kineto_free(struct assay__kineto *kineto)
{
    assay__buf_free(&kineto->text);
    free(kineto->facts);
    free(kineto->labels);
    free(kineto->open);
    free(kineto->tops);
    free(kineto->devices);
}

/* --- members of the outermost object ---------------------------------------------------------- */

/* One member of an object by its key. */
static bool find_member(const struct assay__scan_value *object, const char *wanted,
                        struct assay__scan_value *value)
{
    struct assay__scan_value key;
    if (object->kind != '{') return false;
    for (const char *at = object->text + 1;
         assay__scan_member(&at, object->text + object->length, &key, value);)
        if (assay__scan_is(&key, wanted)) return true;
    return false;
}

static void read_rank(struct assay__kineto *kineto, const struct assay__scan_value *about)
{
    struct assay__scan_value value;
    int64_t number;
    if (find_member(about, "rank", &value) && assay__scan_decimal(&value, 0, &number) &&
        number >= 0 && number < INT32_MAX)
        kineto->source->rank = (int32_t)number;
    if (find_member(about, "world_size", &value) && assay__scan_decimal(&value, 0, &number) &&
        number > 0 && number < INT32_MAX)
        kineto->source->world_size = (int32_t)number;
    if (kineto->source->rank < 0 || kineto->source->rank == kineto->rank) return;
    kineto->rank = kineto->source->rank;
    for (size_t i = kineto->first_track; i < kineto->events->track_count; i++) {
        struct assay__track moved = kineto->events->tracks[i];
        moved.rank = kineto->rank;
        assay__events_change_track(kineto->events, (uint32_t)i, &moved);
    }
}

static void read_device(struct assay__kineto *kineto, const struct assay__scan_value *about)
{
    struct assay__scan_value value;
    int64_t id;
    if (!find_member(about, "id", &value) || !assay__scan_decimal(&value, 0, &id) || id < 0 ||
        id >= MOST_DEVICES || !find_member(about, "name", &value))
        return;
    if (assay__vec_grow((void **)&kineto->devices, &kineto->device_capacity, (size_t)id + 1,
                        sizeof *kineto->devices))
        return;
    kineto->devices[id] = assay__kineto_keep(kineto, &value);
}

static void read_devices(struct assay__kineto *kineto, const struct assay__scan_value *list)
{
    const char *at = list->text + 1, *end = list->text + list->length;
    while (list->kind == '[' && at < end) {
        struct assay__scan_value device;
        at = assay__scan_space(at);
        if (*at == ',') at = assay__scan_space(at + 1);
        const char *behind = *at == '{' ? assay__scan_value(at, end, &device) : NULL;
        if (!behind || behind > end) return;
        read_device(kineto, &device);
        at = behind;
    }
}

void assay__kineto_member(void *data, const struct assay__scan_value *key,
                          const struct assay__scan_value *value)
{
    struct assay__kineto *kineto = data;
    int64_t number;
    if (assay__scan_is(key, "deviceProperties")) {
        kineto->is_pytorch = true;
        read_devices(kineto, value);
    } else if (assay__scan_is(key, "schemaVersion")) {
        kineto->is_pytorch = true;
    } else if (assay__scan_is(key, "distributedInfo")) {
        read_rank(kineto, value);
    } else if (assay__scan_is(key, "producer")) { /* our own export says it */
        kineto->producer = assay__kineto_keep(kineto, value);
    } else if (assay__scan_is(key, "baseTimeNanoseconds")) {
        kineto->has_base = assay__scan_decimal(value, 0, &kineto->base_ns);
    } else if (assay__scan_is(key, "cuda_runtime_version") &&
               assay__scan_decimal(value, 0, &number) && number > 0 && number < 1000000) {
        kineto->cuda_version = (int)number;
    }
}

/* --- names ------------------------------------------------------------------------------------ */

void assay__kineto_name(struct assay__kineto *kineto, const struct assay__chrome_event *event)
{
    const struct assay__scan_value *what = assay__chrome_get(event, ASSAY__CHROME_NAME);
    struct assay__kineto_label label = {.tid = -1, .order = kineto->label_count};
    bool is_thread = assay__scan_is(what, "thread_name");
    const struct assay__scan_value *name = assay__chrome_get(event, ASSAY__CHROME_LABEL);
    if ((!is_thread && !assay__scan_is(what, "process_name")) || !name) return;
    label.pid = assay__kineto_identity(kineto, assay__chrome_get(event, ASSAY__CHROME_PID));
    if (is_thread)
        label.tid = assay__kineto_identity(kineto, assay__chrome_get(event, ASSAY__CHROME_TID));
    label.is_process = !is_thread;
    label.name = assay__kineto_keep(kineto, name);
    if (assay__vec_grow((void **)&kineto->labels, &kineto->label_capacity, kineto->label_count + 1,
                        sizeof *kineto->labels))
        return;
    kineto->labels[kineto->label_count++] = label;
}

static int compare_labels(const struct assay__kineto_label *a, const struct assay__kineto_label *b)
{
    if (a->is_process != b->is_process) return a->is_process ? -1 : 1;
    if (a->pid != b->pid) return a->pid < b->pid ? -1 : 1;
    if (a->tid != b->tid) return a->tid < b->tid ? -1 : 1;
    return 0;
}

static int by_label(const void *left, const void *right)
{
    const struct assay__kineto_label *a = left, *b = right;
    int order = compare_labels(a, b);
    if (order) return order;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* The last name that was given to it; NULL: none. */
static const char *label_of(const struct assay__kineto *kineto, bool is_process, int64_t pid,
                            int64_t tid)
{
    struct assay__kineto_label wanted = {.is_process = is_process, .pid = pid, .tid = tid};
    size_t low = 0, high = kineto->label_count;
    while (low < high) { /* the first that is above it */
        size_t middle = low + (high - low) / 2;
        if (compare_labels(&kineto->labels[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || compare_labels(&kineto->labels[low - 1], &wanted)) return NULL;
    return kineto->labels[low - 1].name;
}

static const char *text_of_identity(const struct assay__kineto *kineto, int64_t identity)
{
    return identity < -1 ? assay__events_text(kineto->events, (uint32_t)(-2 - identity)) : "";
}

static void name_stream(struct assay__kineto *kineto, struct assay__track *track)
{
    char text[64];
    const char *device = NULL;
    if (track->device >= 0 && (size_t)track->device < kineto->device_capacity)
        device = kineto->devices[track->device];
    if (!track->name) {
        if (track->stream < 0)
            snprintf(text, sizeof text, "all streams");
        else
            snprintf(text, sizeof text, "stream %lld", (long long)track->stream);
        track->name = assay__events_keep(kineto->events, text);
    }
    snprintf(text, sizeof text, "device %d", (int)track->device);
    if (!track->group) track->group = assay__events_keep(kineto->events, device ? device : text);
}

static void name_thread(struct assay__kineto *kineto, struct assay__track *track)
{
    char text[256];
    const char *process = label_of(kineto, true, track->pid, -1);
    const char *thread = label_of(kineto, false, track->pid, track->tid);
    if (!thread && track->tid < -1) thread = text_of_identity(kineto, track->tid);
    snprintf(text, sizeof text, "thread %lld", (long long)track->tid);
    if (!track->name) track->name = assay__events_keep(kineto->events, thread ? thread : text);
    if (track->pid < -1)
        snprintf(text, sizeof text, "%s", text_of_identity(kineto, track->pid));
    else if (process)
        snprintf(text, sizeof text, "%s (%lld)", process, (long long)track->pid);
    else
        snprintf(text, sizeof text, "process %lld", (long long)track->pid);
    if (!track->group) track->group = assay__events_keep(kineto->events, text);
}

/* --- devices of traces without categories ----------------------------------------------------- */

/* "/device:GPU:0" is the process of a device; *ordinal is its number. "… Compute" of TensorFlow 1
 * is the host's side of it, unless it names streams. */
static bool is_device_process(const char *name, int32_t *ordinal)
{
    const char *at = name ? strstr(name, "device:") : NULL;
    if (!at || (strstr(at, " Compute") && !strstr(at, "/stream:"))) return false;
    at += strlen("device:");
    if (strncmp(at, "GPU:", 4) && strncmp(at, "TPU:", 4)) return false;
    long number = strtol(at + 4, NULL, 10);
    *ordinal = number >= 0 && number < MOST_DEVICES ? (int32_t)number : -1;
    return true;
}

enum lane { LANE_NONE, LANE_WORK, LANE_RANGE };

/* A stream's lane is the device's work. Of a device without streams (a TPU) it is "XLA Ops". The
 * other lanes of a device repeat it by module, operator, step. In TensorFlow 1 each stream is a
 * process, and one that is called "all" holds the work of all. */
static enum lane lane_of(const struct assay__kineto *kineto, struct assay__track *track)
{
    const char *thread = label_of(kineto, false, track->pid, track->tid);
    const char *process = label_of(kineto, true, track->pid, -1);
    if (!is_device_process(process, &track->device)) return LANE_NONE;
    track->stream = track->tid >= 0 ? track->tid : -1;
    if (strstr(process, "/stream:")) return strstr(process, "/stream:all") ? LANE_WORK : LANE_RANGE;
    if (thread && !strncmp(thread, "Stream #", 8)) {
        track->stream = strtol(thread + 8, NULL, 10);
        return LANE_WORK;
    }
    return thread && !strcmp(thread, "XLA Ops") && !kineto->has_streams ? LANE_WORK : LANE_RANGE;
}

static enum assay__event_kind work_kind(const char *name)
{
    if (!strncmp(name, "Memcpy", 6)) return ASSAY__EVENT_COPY;
    return strncmp(name, "Memset", 6) ? ASSAY__EVENT_KERNEL : ASSAY__EVENT_MEMSET;
}

static void settle_events(struct assay__kineto *kineto, const enum lane *lanes)
{
    struct assay__events *events = kineto->events;
    for (size_t i = kineto->first_event; i < events->count; i++) {
        uint32_t track = events->track[i];
        enum lane lane = track >= kineto->first_track && track < events->track_count
                             ? lanes[track - kineto->first_track]
                             : LANE_NONE;
        if (lane == LANE_NONE) continue;
        const char *name = assay__event_name(events, i);
        events->kind[i] = (uint8_t)(lane == LANE_WORK ? work_kind(name)
                                                      : ASSAY__EVENT_DEVICE_RANGE);
        if (events->kind[i] != ASSAY__EVENT_COPY) continue;
        struct assay__event_args args = *assay__event_args(events, i);
        assay__copy_of_name(name, &args);
        events->args[i] = assay__events_args(events, &args);
    }
}

static bool is_stream_label(const struct assay__kineto_label *label)
{
    return !label->is_process && label->name && !strncmp(label->name, "Stream #", 8);
}

/* "GPU:0", unless the trace has a better one. */
static const char *device_name(struct assay__kineto *kineto, const struct assay__track *track)
{
    const char *process = label_of(kineto, true, track->pid, -1);
    const char *at = strstr(process, "device:") + strlen("device:");
    char text[64];
    if (track->device >= 0 && (size_t)track->device < kineto->device_capacity &&
        kineto->devices[track->device])
        return NULL;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "/ "), at);
    return assay__events_keep(kineto->events, text);
}

static int settle_devices(struct assay__kineto *kineto)
{
    struct assay__events *events = kineto->events;
    size_t count = events->track_count - kineto->first_track, found = 0;
    enum lane *lanes = calloc(count + 1, sizeof *lanes);
    if (!lanes) return ASSAY_ENOMEM;
    for (size_t i = 0; i < kineto->label_count; i++)
        kineto->has_streams |= is_stream_label(&kineto->labels[i]);
    for (size_t i = 0; i < count; i++) {
        struct assay__track track = events->tracks[kineto->first_track + i];
        if (track.kind != ASSAY__TRACK_THREAD) continue;
        lanes[i] = lane_of(kineto, &track);
        if (lanes[i] == LANE_NONE) continue;
        found++;
        track.kind = ASSAY__TRACK_STREAM;
        track.group = device_name(kineto, &track);
        track.name = label_of(kineto, false, track.pid, track.tid);
        track.pid = track.tid = -1;
        assay__events_change_track(events, (uint32_t)(kineto->first_track + i), &track);
    }
    kineto->has_lanes = found > 0;
    if (found) settle_events(kineto, lanes);
    free(lanes);
    return 0;
}

/* A trace of another program, whose categories are its own: what its threads did is work. There a
 * process may be a text, too; in Kineto's traces such ones hold the profiler's marks. */
static void settle_unknown(struct assay__kineto *kineto)
{
    struct assay__events *events = kineto->events;
    for (size_t i = kineto->first_event; i < events->count; i++)
        if (events->kind[i] != ASSAY__EVENT_OTHER) return;
    for (size_t i = kineto->first_track; i < events->track_count && !kineto->is_pytorch; i++) {
        struct assay__track track = events->tracks[i];
        if (track.kind != ASSAY__TRACK_OTHER || track.pid >= -1) continue;
        track.kind = ASSAY__TRACK_THREAD;
        assay__events_change_track(events, (uint32_t)i, &track);
    }
    for (size_t i = kineto->first_event; i < events->count; i++)
        if (events->track[i] < events->track_count && events->duration_ns[i] > 0 &&
            events->tracks[events->track[i]].kind == ASSAY__TRACK_THREAD)
            events->kind[i] = ASSAY__EVENT_CPU;
}

/* --- bytes of HIP's copies: the call has them, the copy has not ------------------------------- */

struct copied {
    uint64_t correlation;
    int64_t bytes;
};

static int by_correlation(const void *left, const void *right)
{
    const struct copied *a = left, *b = right;
    return a->correlation < b->correlation ? -1 : a->correlation > b->correlation;
}

static bool lacks_bytes(const struct assay__events *events, size_t event)
{
    return (events->kind[event] == ASSAY__EVENT_COPY ||
            events->kind[event] == ASSAY__EVENT_MEMSET) &&
           !events->bytes[event] && events->correlation[event];
}

static bool has_bytes(const struct assay__events *events, size_t event)
{
    return events->kind[event] == ASSAY__EVENT_LAUNCH && events->bytes[event] &&
           events->correlation[event];
}

static int fill_bytes(struct assay__kineto *kineto)
{
    struct assay__events *events = kineto->events;
    size_t lacking = 0, count = 0;
    for (size_t i = kineto->first_event; i < events->count; i++) {
        lacking += lacks_bytes(events, i);
        count += has_bytes(events, i);
    }
    if (!lacking || !count) return 0;
    struct copied *copied = malloc(count * sizeof *copied);
    if (!copied) return ASSAY_ENOMEM;
    count = 0;
    for (size_t i = kineto->first_event; i < events->count; i++)
        if (has_bytes(events, i))
            copied[count++] = (struct copied){events->correlation[i], events->bytes[i]};
    if (count) qsort(copied, count, sizeof *copied, by_correlation);
    for (size_t i = kineto->first_event; i < events->count; i++) {
        if (!lacks_bytes(events, i)) continue;
        struct copied wanted = {.correlation = events->correlation[i]};
        const struct copied *found = bsearch(&wanted, copied, count, sizeof *copied,
                                             by_correlation);
        if (found) events->bytes[i] = found->bytes;
    }
    free(copied);
    return 0;
}

/* --- the source ------------------------------------------------------------------------------- */

static const char *producer_of(struct assay__kineto *kineto)
{
    char text[96];
    if (kineto->producer) return kineto->producer;
    if (!kineto->is_pytorch) return kineto->has_lanes ? "TensorFlow or JAX profiler" : "";
    if (!kineto->cuda_version) return "PyTorch profiler";
    snprintf(text, sizeof text, "PyTorch profiler (CUDA %d.%d)", kineto->cuda_version / 1000,
             kineto->cuda_version % 1000 / 10);
    return assay__events_keep(kineto->events, text);
}

static const char *clock_of(const struct assay__kineto *kineto)
{
    const struct assay__events *events = kineto->events;
    if (kineto->has_base) return ASSAY__IMPORT_CLOCK_UNIX;
    for (size_t i = kineto->first_event; i < events->count; i++)
        if (events->start_ns[i] < SINCE_1970_NS) return ASSAY__IMPORT_CLOCK_OWN;
    return ASSAY__IMPORT_CLOCK_UNIX;
}

static void fill_source(struct assay__kineto *kineto)
{
    struct assay__trace_source *source = kineto->source;
    if (kineto->unfinished) {
        assay__chrome_complain(&kineto->reader, "events that began and did not end");
        kineto->reader.skipped += kineto->unfinished;
    }
    source->producer = producer_of(kineto);
    source->clock = clock_of(kineto);
    source->offset_ns = kineto->has_base ? kineto->base_ns : 0;
    source->skipped += kineto->reader.skipped;
    source->truncated |= kineto->reader.truncated;
    if (kineto->reader.complaint[0])
        source->complaint = assay__events_keep(kineto->events, kineto->reader.complaint);
}

int assay__kineto_finish(struct assay__kineto *kineto, struct assay_error *error)
{
    struct assay__events *events = kineto->events;
    if (kineto->label_count)
        qsort(kineto->labels, kineto->label_count, sizeof *kineto->labels, by_label);
    int code = settle_devices(kineto);
    settle_unknown(kineto);
    if (!code) code = fill_bytes(kineto);
    if (code) return assay_error_set(error, code, "out of memory");
    for (size_t i = kineto->first_track; i < events->track_count; i++) {
        struct assay__track *track = &events->tracks[i];
        if (track->kind == ASSAY__TRACK_STREAM)
            name_stream(kineto, track);
        else
            name_thread(kineto, track);
    }
    fill_source(kineto);
    if (events->count == kineto->first_event && !events->counter_count)
        return assay_error_set(error, ASSAY_EFORMAT, "%s: no event could be read%s%s",
                               kineto->source->path, kineto->reader.complaint[0] ? ": " : "",
                               kineto->reader.complaint);
    return 0;
}
