/* import_ort.c - ONNX Runtime's profile: an array of complete events in whole microseconds since
 * the profiler began. Categories: Session (loading, initialisation, a range around every run), Node
 * (NAME_kernel_time is the node's operator on the host: on a device that is enqueueing; _fence_…
 * are waits around it), Kernel (a kernel of a GPU, where the build records them), Api (kernels of
 * WebGPU, which belong to no process; of others calls of the device's runtime). */
#include "base/buf.h"
#include "import/chrome_reader.h"
#include "import/importers.h"
#include "import/runtime_calls.h"

#include <stdio.h>

struct ort {
    struct assay__events *events;
    struct assay__chrome_reader reader;
    struct assay__buf text;
    int32_t rank;
};

static const struct assay__scan_value *get(const struct assay__chrome_event *event,
                                           enum assay__chrome_slot slot)
{
    return assay__chrome_get(event, slot);
}

/* --- tracks ----------------------------------------------------------------------------------- */

static uint32_t thread_of(struct ort *ort, const struct assay__chrome_event *event)
{
    char name[48], group[64];
    struct assay__track track = {.kind = ASSAY__TRACK_THREAD,
                                 .rank = ort->rank,
                                 .pid = assay__scan_integer(get(event, ASSAY__CHROME_PID), -1),
                                 .tid = assay__scan_integer(get(event, ASSAY__CHROME_TID), -1),
                                 .device = -1,
                                 .stream = -1,
                                 .name = name,
                                 .group = group};
    snprintf(name, sizeof name, "thread %lld", (long long)track.tid);
    snprintf(group, sizeof group, "ONNX Runtime (%lld)", (long long)track.pid);
    return assay__events_track(ort->events, &track);
}

static uint32_t stream_of(struct ort *ort, const struct assay__chrome_event *event)
{
    char name[48];
    struct assay__track track = {.kind = ASSAY__TRACK_STREAM,
                                 .rank = ort->rank,
                                 .pid = -1,
                                 .tid = -1,
                                 .device = 0,
                                 .name = name,
                                 .group = "device 0"};
    track.stream = assay__scan_integer(get(event, ASSAY__CHROME_STREAM), 0);
    snprintf(name, sizeof name, "stream %lld", (long long)track.stream);
    return assay__events_track(ort->events, &track);
}

/* --- events ----------------------------------------------------------------------------------- */

static void skip(struct ort *ort, const char *reason)
{
    ort->reader.skipped++;
    assay__chrome_complain(&ort->reader, "%s", reason);
}

static bool ends_with(const struct assay__scan_value *name, const char *ending)
{
    size_t length = strlen(ending);
    return name && name->length > length &&
           !memcmp(name->text + name->length - length, ending, length);
}

static uint32_t dim(const struct assay__chrome_event *event, enum assay__chrome_slot slot)
{
    int64_t number = assay__scan_integer(get(event, slot), 0);
    return number > 0 && number <= UINT32_MAX ? (uint32_t)number : 0;
}

static void fill_kernel(struct ort *ort, const struct assay__chrome_event *event,
                        struct assay__event_args *args, struct assay__event *row)
{
    row->kind = ASSAY__EVENT_KERNEL;
    row->track = stream_of(ort, event);
    for (int i = 0; i < 3; i++) {
        args->grid[i] = dim(event, (enum assay__chrome_slot)(ASSAY__CHROME_GRID_X + i));
        args->block[i] = dim(event, (enum assay__chrome_slot)(ASSAY__CHROME_BLOCK_X + i));
    }
}

/* Kind, track and arguments by category. *name is cut where the node's name ends. */
static void describe(struct ort *ort, const struct assay__chrome_event *event,
                     struct assay__scan_value *name, struct assay__event *row)
{
    static const char node_ending[] = "_kernel_time";
    const struct assay__scan_value *category = get(event, ASSAY__CHROME_CATEGORY);
    struct assay__event_args args = {0};
    row->track = ASSAY__EVENT_UNKNOWN;
    args.operator_type = assay__chrome_keep(ort->events, &ort->text,
                                            get(event, ASSAY__CHROME_OP_NAME));
    args.provider = assay__chrome_keep(ort->events, &ort->text, get(event, ASSAY__CHROME_PROVIDER));
    args.shapes = assay__chrome_keep(ort->events, &ort->text,
                                     get(event, ASSAY__CHROME_TYPE_SHAPES));
    bool no_process = assay__scan_integer(get(event, ASSAY__CHROME_PID), 0) < 0;
    if (assay__scan_is(category, "Kernel") || (assay__scan_is(category, "Api") && no_process)) {
        fill_kernel(ort, event, &args, row);
    } else if (assay__scan_is(category, "Node") && ends_with(name, node_ending)) {
        row->kind = ASSAY__EVENT_OPERATOR;
        name->length -= sizeof node_ending - 1;
    } else if (assay__scan_is(category, "Api")) {
        row->kind = ASSAY__EVENT_RUNTIME;
    } else {
        row->kind = assay__scan_is(category, "Session") ? ASSAY__EVENT_RANGE : ASSAY__EVENT_CPU;
    }
    if (row->track == ASSAY__EVENT_UNKNOWN) row->track = thread_of(ort, event);
    row->args = assay__events_args(ort->events, &args);
}

static void on_event(void *data, const struct assay__chrome_event *event)
{
    struct ort *ort = data;
    const struct assay__scan_value *name = get(event, ASSAY__CHROME_NAME);
    struct assay__scan_value shown = name ? *name : (struct assay__scan_value){.text = ""};
    struct assay__event row = {0};
    if (!assay__scan_is(get(event, ASSAY__CHROME_PHASE), "X")) {
        skip(ort, "an event that is not complete (phase X)");
        return;
    }
    if (!assay__scan_decimal(get(event, ASSAY__CHROME_START), 3, &row.start_ns) ||
        !assay__scan_decimal(get(event, ASSAY__CHROME_DURATION), 3, &row.duration_ns) ||
        row.duration_ns < 0) {
        skip(ort, "an event whose start or duration is not a number, negative or too large");
        return;
    }
    describe(ort, event, &shown, &row);
    uint32_t number = assay__chrome_intern(ort->events, &ort->text, &shown);
    if (row.kind == ASSAY__EVENT_RUNTIME && number != ASSAY__EVENT_UNKNOWN)
        row.kind = assay__runtime_call_kind(assay__events_text(ort->events, number));
    assay__events_add_named(ort->events, &row, number);
}

/* --- the importer ----------------------------------------------------------------------------- */

static bool contains(const char *head, size_t size, const char *text)
{
    return memmem(head, size, text, strlen(text)) != NULL;
}

static enum assay__import_match match_ort(const char *head, size_t size)
{
    size_t at = 0;
    while (at < size && (unsigned char)head[at] <= ' ')
        at++;
    if (at == size || head[at] != '[' || !contains(head, size, "\"cat\"")) return ASSAY__IMPORT_NO;
    bool session = contains(head, size, "\"Session\"") &&
                   (contains(head, size, "\"model_loading") ||
                    contains(head, size, "\"session_initialization\"") ||
                    contains(head, size, "\"model_run\""));
    return session || contains(head, size, "_kernel_time\"") ? ASSAY__IMPORT_YES : ASSAY__IMPORT_NO;
}

static int read_ort(struct assay__import_stream *stream, struct assay__events *events,
                    struct assay__trace_source *source, struct assay_error *error)
{
    struct ort ort = {.events = events, .rank = (int32_t)events->source_count - 1};
    ort.reader = (struct assay__chrome_reader){.data = &ort, .event = on_event};
    int code = assay__chrome_read(stream, &ort.reader, error);
    assay__buf_free(&ort.text);
    source->producer = "ONNX Runtime";
    source->clock = ASSAY__IMPORT_CLOCK_OWN;
    source->skipped += ort.reader.skipped;
    source->truncated |= ort.reader.truncated;
    if (ort.reader.complaint[0])
        source->complaint = assay__events_keep(events, ort.reader.complaint);
    if (!code && !ort.reader.seen)
        code = assay_error_set(error, ASSAY_EFORMAT, "%s: no event could be read", source->path);
    return code;
}

const struct assay__importer assay__importer_ort = {
    .name = "ort",
    .title = "ONNX Runtime profile, JSON",
    .match = match_ort,
    .read = read_ort,
};
