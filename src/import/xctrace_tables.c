/* xctrace_tables.c - rows of Instruments' tables as events.
 *
 * On Apple's GPUs memory is shared: a Blit is a copy whose direction is unknown. Work of the GPU is
 * that of the whole machine; each process has tracks of its own. A command buffer's number joins
 * its submission with the intervals that it became. */
#include "import/xctrace_tables.h"

#include <stdio.h>
#include <string.h>

#define GPU_NAME "GPU"
#define ANE_NAME "Apple Neural Engine"

/* Streams of a device: the channels of the GPU, then what is only shown. */
enum { COMPUTE, BLIT, VERTEX, FRAGMENT, OTHER_CHANNEL, MPS, SHADERS, POWER_STATE, CLOCK_STATE };

struct field {
    const char *name; /* a column's mnemonic, or the type of its cells */
    enum assay__xctrace_field field;
    enum assay__xctrace_role role;
};

static const struct field by_mnemonic[] = {
    {"start", ASSAY__XCTRACE_START, ASSAY__XCTRACE_IS_NUMBER},
    {"time", ASSAY__XCTRACE_START, ASSAY__XCTRACE_IS_NUMBER},
    {"timestamp", ASSAY__XCTRACE_START, ASSAY__XCTRACE_IS_NUMBER},
    {"duration", ASSAY__XCTRACE_DURATION, ASSAY__XCTRACE_IS_NUMBER},
    {"weight", ASSAY__XCTRACE_WEIGHT, ASSAY__XCTRACE_IS_NUMBER},
    {"channel-name", ASSAY__XCTRACE_CHANNEL, ASSAY__XCTRACE_IS_TEXT},
    {"event-label", ASSAY__XCTRACE_LABEL, ASSAY__XCTRACE_IS_LABEL},
    {"encoder-label", ASSAY__XCTRACE_LABEL, ASSAY__XCTRACE_IS_TEXT},
    {"state", ASSAY__XCTRACE_STATE, ASSAY__XCTRACE_IS_TEXT},
    {"thread-state", ASSAY__XCTRACE_STATE, ASSAY__XCTRACE_IS_TEXT},
    {"process", ASSAY__XCTRACE_PROCESS, ASSAY__XCTRACE_IS_PROCESS},
    {"thread", ASSAY__XCTRACE_THREAD, ASSAY__XCTRACE_IS_THREAD},
    {"start-thread", ASSAY__XCTRACE_THREAD, ASSAY__XCTRACE_IS_THREAD},
    {"gpu", ASSAY__XCTRACE_GPU, ASSAY__XCTRACE_IS_TEXT},
    {"bytes", ASSAY__XCTRACE_BYTES, ASSAY__XCTRACE_IS_NUMBER},
    {"cmdbuffer-id", ASSAY__XCTRACE_COMMAND_BUFFER, ASSAY__XCTRACE_IS_NUMBER},
    {"start-latency", ASSAY__XCTRACE_LATENCY, ASSAY__XCTRACE_IS_NUMBER},
    {"stack", ASSAY__XCTRACE_BACKTRACE, ASSAY__XCTRACE_IS_STACK},
    {"backtrace", ASSAY__XCTRACE_BACKTRACE, ASSAY__XCTRACE_IS_STACK},
    {"cp-user-callstack", ASSAY__XCTRACE_BACKTRACE, ASSAY__XCTRACE_IS_STACK},
    {"name", ASSAY__XCTRACE_NAME, ASSAY__XCTRACE_IS_TEXT},
    {"subsystem", ASSAY__XCTRACE_SUBSYSTEM, ASSAY__XCTRACE_IS_TEXT},
    {"event-type", ASSAY__XCTRACE_EVENT_TYPE, ASSAY__XCTRACE_IS_TEXT},
    {NULL, ASSAY__XCTRACE_FIELDS, ASSAY__XCTRACE_ANY},
};
static const struct field by_type[] = {
    {"coreml-model-name", ASSAY__XCTRACE_MODEL, ASSAY__XCTRACE_IS_TEXT},
    {"coreml-model-event", ASSAY__XCTRACE_EVENT_TYPE, ASSAY__XCTRACE_IS_TEXT},
    {NULL, ASSAY__XCTRACE_FIELDS, ASSAY__XCTRACE_ANY},
};

static const struct field *find(const struct field *fields, struct assay__xml_text name)
{
    while (fields->name && !assay__xml_is(name, fields->name))
        fields++;
    return fields;
}

enum assay__xctrace_field assay__xctrace_field_of(struct assay__xml_text mnemonic,
                                                  struct assay__xml_text type,
                                                  enum assay__xctrace_role *role)
{
    const struct field *found = find(by_mnemonic, mnemonic);
    if (!found->name) found = find(by_type, type);
    *role = found->role;
    return found->field;
}

/* --- cells ------------------------------------------------------------------------------------ */

static int64_t number_or(const struct assay__xctrace_row *row, enum assay__xctrace_field field,
                         int64_t otherwise)
{
    const struct assay__xctrace_value *cell = &row->cells[field];
    return cell->kind == ASSAY__XCTRACE_NUMBER ? cell->number : otherwise;
}

/* NULL: unknown, empty, or "n/a". */
static const char *text_or_null(const struct assay__xctrace_values *values,
                                const struct assay__xctrace_row *row,
                                enum assay__xctrace_field field)
{
    const struct assay__xctrace_value *cell = &row->cells[field];
    if (cell->kind != ASSAY__XCTRACE_TEXT) return NULL;
    const char *text = assay__events_text(values->events, cell->text);
    return text[0] && strcmp(text, "n/a") != 0 ? text : NULL;
}

/* An event with the row's times; false: it has no start, or an impossible time. */
static bool begin_event(const struct assay__xctrace_row *row, enum assay__event_kind kind,
                        struct assay__event *event)
{
    *event = (struct assay__event){.start_ns = number_or(row, ASSAY__XCTRACE_START, -1),
                                   .duration_ns = number_or(row, ASSAY__XCTRACE_DURATION, 0),
                                   .name_length = SIZE_MAX,
                                   .kind = kind,
                                   .args = ASSAY__EVENT_UNKNOWN};
    int64_t buffer = number_or(row, ASSAY__XCTRACE_COMMAND_BUFFER, 0);
    event->correlation = buffer > 0 ? (uint64_t)buffer : 0;
    return row->cells[ASSAY__XCTRACE_START].kind == ASSAY__XCTRACE_NUMBER && event->start_ns >= 0 &&
           event->duration_ns >= 0;
}

static uint32_t state_args(struct assay__xctrace_values *values, const char *state)
{
    return assay__events_args(values->events, &(struct assay__event_args){.state = state});
}

/* --- tracks ----------------------------------------------------------------------------------- */

/* "Main Thread 0x1aa38f3 (app, pid: 45472)" -> "Main Thread". */
static void thread_name(const char *text, char *out, size_t size)
{
    const char *end = strstr(text, " 0x"), *open = strstr(text, " (");
    if (!end || (open && open < end)) end = open;
    snprintf(out, size, "%.*s", (int)(end ? end - text : (ptrdiff_t)strlen(text)), text);
}

static uint32_t host_track(struct assay__xctrace_values *values,
                           const struct assay__xctrace_row *row)
{
    const struct assay__xctrace_owner *thread, *process;
    struct assay__track track = {
        .kind = ASSAY__TRACK_OTHER, .pid = -1, .tid = -1, .device = -1, .stream = -1};
    char name[128];
    thread = assay__xctrace_owner(values, &row->cells[ASSAY__XCTRACE_THREAD]);
    process = assay__xctrace_owner(values, &row->cells[ASSAY__XCTRACE_PROCESS]);
    if (process) {
        track.pid = process->pid;
        track.group = assay__events_text(values->events, process->process);
    }
    if (thread) {
        track.kind = ASSAY__TRACK_THREAD;
        track.tid = thread->tid;
        if (thread->pid >= 0) track.pid = thread->pid;
        if (thread->process != ASSAY__EVENT_UNKNOWN)
            track.group = assay__events_text(values->events, thread->process);
        thread_name(assay__events_text(values->events, thread->name), name, sizeof name);
        track.name = name;
    }
    if (track.name && !track.name[0]) track.name = NULL;
    if (track.group && !track.group[0]) track.group = NULL;
    return assay__events_track(values->events, &track);
}

/* The number of the device of that name, also if another table of the same recording named it. */
static int32_t device_of(const struct assay__events *events, const char *name)
{
    int32_t most = -1;
    for (size_t i = 0; i < events->track_count; i++) {
        const struct assay__track *track = &events->tracks[i];
        if (track->kind != ASSAY__TRACK_STREAM) continue;
        if (track->group && strcmp(track->group, name) == 0) return track->device;
        if (track->device > most) most = track->device;
    }
    return most + 1;
}

/* A table without a column for the GPU is of the only one. */
static const char *gpu_name(const struct assay__xctrace_values *values,
                            const struct assay__xctrace_row *row)
{
    const char *name = text_or_null(values, row, ASSAY__XCTRACE_GPU);
    const struct assay__events *events = values->events;
    for (size_t i = 0; !name && i < events->track_count; i++)
        if (events->tracks[i].kind == ASSAY__TRACK_STREAM && events->tracks[i].group &&
            strcmp(events->tracks[i].group, ANE_NAME) != 0)
            name = events->tracks[i].group;
    return name ? name : GPU_NAME;
}

static uint32_t device_track(struct assay__xctrace_values *values, const char *device,
                             int64_t stream, const char *name,
                             const struct assay__xctrace_owner *process)
{
    char full[192];
    const char *owner = process ? assay__events_text(values->events, process->process) : "";
    snprintf(full, sizeof full, "%s%s%s", name, owner[0] ? ", " : "", owner);
    return assay__events_track(values->events,
                               &(struct assay__track){.kind = ASSAY__TRACK_STREAM,
                                                      .pid = process ? process->pid : -1,
                                                      .tid = -1,
                                                      .device = device_of(values->events, device),
                                                      .stream = stream,
                                                      .name = full,
                                                      .group = device});
}

static int64_t channel_stream(const char *channel)
{
    static const char *const names[] = {"Compute", "Blit", "Vertex", "Fragment"};
    for (int i = 0; i < OTHER_CHANNEL; i++)
        if (strcmp(channel, names[i]) == 0) return i;
    return OTHER_CHANNEL;
}

static uint32_t gpu_track(struct assay__xctrace_values *values,
                          const struct assay__xctrace_row *row, int64_t stream, const char *name)
{
    return device_track(values, gpu_name(values, row), stream, name,
                        assay__xctrace_owner(values, &row->cells[ASSAY__XCTRACE_PROCESS]));
}

/* --- rows of the device ----------------------------------------------------------------------- */

static void add_latency(struct assay__xctrace_values *values, const struct assay__event *event,
                        const struct assay__xctrace_row *row)
{
    int64_t latency_ns = number_or(row, ASSAY__XCTRACE_LATENCY, -1);
    if (latency_ns < 0) return;
    size_t counter = assay__events_counter(values->events, "start latency", "s", event->track);
    assay__events_sample(values->events, counter, event->start_ns, (double)latency_ns * 1e-9);
}

static bool add_gpu_interval(struct assay__xctrace_values *values,
                             const struct assay__xctrace_row *row)
{
    struct assay__event event;
    const char *channel = text_or_null(values, row, ASSAY__XCTRACE_CHANNEL);
    const char *state = text_or_null(values, row, ASSAY__XCTRACE_STATE);
    if (!begin_event(row, ASSAY__EVENT_KERNEL, &event)) return false;
    if (!channel) channel = "other";
    int64_t stream = channel_stream(channel), bytes = number_or(row, ASSAY__XCTRACE_BYTES, 0);
    if (stream == BLIT) event.kind = ASSAY__EVENT_COPY;
    if (state && strcmp(state, "Active") != 0) {
        event.kind = ASSAY__EVENT_DEVICE_STATE;
        event.args = state_args(values, state);
    }
    event.bytes = bytes > 0 ? bytes : 0;
    event.name = text_or_null(values, row, ASSAY__XCTRACE_LABEL);
    if (!event.name) event.name = channel;
    event.track = gpu_track(values, row, stream, channel);
    assay__events_add(values->events, &event);
    add_latency(values, &event, row);
    return true;
}

/* Annotations over the GPU's work: they say what it was for. */
static bool add_gpu_range(struct assay__xctrace_values *values,
                          const struct assay__xctrace_row *row, int64_t stream, const char *name)
{
    struct assay__event event;
    if (!begin_event(row, ASSAY__EVENT_DEVICE_RANGE, &event)) return false;
    event.name = text_or_null(values, row, ASSAY__XCTRACE_LABEL);
    if (!event.name) event.name = text_or_null(values, row, ASSAY__XCTRACE_NAME);
    if (!event.name) event.name = name;
    event.track = gpu_track(values, row, stream, name);
    assay__events_add(values->events, &event);
    return true;
}

static bool add_mps(struct assay__xctrace_values *values, const struct assay__xctrace_row *row)
{
    return add_gpu_range(values, row, MPS, "Metal Performance Shaders");
}

static bool add_shader(struct assay__xctrace_values *values, const struct assay__xctrace_row *row)
{
    return add_gpu_range(values, row, SHADERS, "shaders");
}

static bool add_state(struct assay__xctrace_values *values, const struct assay__xctrace_row *row,
                      int64_t stream, const char *name)
{
    struct assay__event event;
    char numbered[32];
    const char *state = text_or_null(values, row, ASSAY__XCTRACE_STATE);
    if (!begin_event(row, ASSAY__EVENT_DEVICE_STATE, &event)) return false;
    if (!state) {
        snprintf(numbered, sizeof numbered, "%lld",
                 (long long)number_or(row, ASSAY__XCTRACE_STATE, -1));
        state = row->cells[ASSAY__XCTRACE_STATE].kind == ASSAY__XCTRACE_NUMBER ? numbered : NULL;
    }
    event.name = name;
    event.args = state_args(values, state);
    event.track = device_track(values, gpu_name(values, row), stream, name, NULL);
    assay__events_add(values->events, &event);
    return true;
}

static bool add_gpu_state(struct assay__xctrace_values *values,
                          const struct assay__xctrace_row *row)
{
    return add_state(values, row, POWER_STATE, "GPU state");
}

static bool add_performance_state(struct assay__xctrace_values *values,
                                  const struct assay__xctrace_row *row)
{
    return add_state(values, row, CLOCK_STATE, "GPU performance state");
}

/* Loading and compiling a program occupies the engine and is not an inference: it is shown. */
static bool add_ane(struct assay__xctrace_values *values, const struct assay__xctrace_row *row)
{
    struct assay__event event;
    if (!begin_event(row, ASSAY__EVENT_KERNEL, &event)) return false;
    event.name = text_or_null(values, row, ASSAY__XCTRACE_LABEL);
    if (!event.name) event.name = text_or_null(values, row, ASSAY__XCTRACE_CHANNEL);
    if (!event.name) event.name = ANE_NAME;
    if (strstr(event.name, "Load") || strstr(event.name, "Compile"))
        event.kind = ASSAY__EVENT_DEVICE_RANGE;
    event.track = device_track(values, ANE_NAME, 0, ANE_NAME, NULL);
    assay__events_add(values->events, &event);
    return true;
}

/* --- rows of the host ------------------------------------------------------------------------- */

static bool add_host(struct assay__xctrace_values *values, const struct assay__xctrace_row *row,
                     enum assay__event_kind kind, const char *name)
{
    struct assay__event event;
    if (!begin_event(row, kind, &event)) return false;
    if (kind == ASSAY__EVENT_RUNTIME) event.correlation = 0; /* only a submission launches */
    event.name = text_or_null(values, row, ASSAY__XCTRACE_LABEL);
    if (!event.name) event.name = text_or_null(values, row, ASSAY__XCTRACE_EVENT_TYPE);
    if (!event.name) event.name = name;
    event.track = host_track(values, row);
    assay__events_add(values->events, &event);
    return true;
}

static bool add_submission(struct assay__xctrace_values *values,
                           const struct assay__xctrace_row *row)
{
    const char *type = text_or_null(values, row, ASSAY__XCTRACE_EVENT_TYPE);
    bool is_launch = !type || strstr(type, "Submission");
    return add_host(values, row, is_launch ? ASSAY__EVENT_LAUNCH : ASSAY__EVENT_RUNTIME,
                    "command buffer submission");
}

static bool add_encoder(struct assay__xctrace_values *values, const struct assay__xctrace_row *row)
{
    return add_host(values, row, ASSAY__EVENT_RUNTIME, "encoder");
}

static bool add_completed(struct assay__xctrace_values *values,
                          const struct assay__xctrace_row *row)
{
    return add_host(values, row, ASSAY__EVENT_OTHER, "command buffer completed");
}

static bool add_sample(struct assay__xctrace_values *values, const struct assay__xctrace_row *row)
{
    struct assay__event event;
    struct assay__event_args args = {.state = text_or_null(values, row, ASSAY__XCTRACE_STATE)};
    const struct assay__xctrace_value *stack = &row->cells[ASSAY__XCTRACE_BACKTRACE];
    int64_t weight_ns = number_or(row, ASSAY__XCTRACE_WEIGHT, 0);
    if (!begin_event(row, ASSAY__EVENT_SAMPLE, &event)) return false;
    event.duration_ns = weight_ns > 0 ? weight_ns : 0;
    if (stack->kind == ASSAY__XCTRACE_STACK) {
        args.stack = assay__events_text(values->events, stack->text);
        event.name = assay__events_text(values->events, stack->other);
    }
    event.args = assay__events_args(values->events, &args);
    event.track = host_track(values, row);
    assay__events_add(values->events, &event);
    return true;
}

static bool add_signpost(struct assay__xctrace_values *values, const struct assay__xctrace_row *row)
{
    struct assay__event event;
    char name[256];
    const char *what = text_or_null(values, row, ASSAY__XCTRACE_NAME);
    const char *model = text_or_null(values, row, ASSAY__XCTRACE_MODEL);
    if (!begin_event(row, ASSAY__EVENT_RANGE, &event)) return false;
    if (!what) what = text_or_null(values, row, ASSAY__XCTRACE_EVENT_TYPE);
    if (!what) what = text_or_null(values, row, ASSAY__XCTRACE_LABEL);
    snprintf(name, sizeof name, "%s%s%s", what ? what : "signpost", model ? ", " : "",
             model ? model : "");
    event.name = name;
    event.args = state_args(values, text_or_null(values, row, ASSAY__XCTRACE_SUBSYSTEM));
    event.track = host_track(values, row);
    assay__events_add(values->events, &event);
    return true;
}

/* --- allocations ------------------------------------------------------------------------------ */

/* "00:01.500.000": minutes, seconds, then thousandths of what is before; hours may come first. */
static bool parse_clock(struct assay__xml_text text, int64_t *time_ns)
{
    int64_t whole_s = 0, part = 0, fraction_ns = 0, unit_ns = 1000000000;
    size_t digits = 0;
    bool is_fraction = false;
    for (size_t i = 0; i <= text.length; i++) {
        char c = i < text.length ? text.at[i] : '.';
        if (c >= '0' && c <= '9' && digits < 6) {
            part = part * 10 + (c - '0');
            digits++;
            continue;
        }
        if ((c != ':' && c != '.') || !digits || (is_fraction && (c == ':' || digits != 3)))
            return false;
        if (!is_fraction) {
            if (whole_s > INT32_MAX) return false;
            whole_s = whole_s * 60 + part;
        } else if (unit_ns >= 1000) {
            fraction_ns += part * (unit_ns /= 1000);
        } else {
            return false;
        }
        is_fraction |= c == '.';
        part = 0;
        digits = 0;
    }
    *time_ns = whole_s * 1000000000 + fraction_ns;
    return true;
}

bool assay__xctrace_allocation(struct assay__xctrace_values *values, struct assay__xml *xml)
{
    struct assay__event event = {.kind = ASSAY__EVENT_ALLOCATION, .name_length = SIZE_MAX};
    struct assay__event_args args = {0};
    struct assay__buf name = {0};
    size_t outside = xml->depth - 1;
    bool is_placed = parse_clock(assay__xml_attribute(xml, "timestamp"), &event.start_ns) &&
                     assay__xctrace_integer(assay__xml_attribute(xml, "size"), &event.bytes) &&
                     event.bytes >= 0;
    assay__xml_decode(&name, assay__xml_attribute(xml, "category"));
    args.state = assay__xml_is(assay__xml_attribute(xml, "live"), "true") ? "live" : "freed";
    while (xml->depth > outside) {
        enum assay__xml_kind kind = assay__xml_next(xml);
        if (kind == ASSAY__XML_NOTHING) break;
        if (kind != ASSAY__XML_BEGIN) continue;
        struct assay__xctrace_value cell = assay__xctrace_read(values, xml, ASSAY__XCTRACE_ANY);
        if (cell.kind == ASSAY__XCTRACE_STACK)
            args.stack = assay__events_text(values->events, cell.text);
    }
    if (is_placed) {
        event.name = name.length ? assay__buf_text(&name) : NULL;
        event.args = assay__events_args(values->events, &args);
        event.track = assay__events_track(values->events,
                                          &(struct assay__track){.kind = ASSAY__TRACK_OTHER,
                                                                 .pid = -1,
                                                                 .tid = -1,
                                                                 .device = -1,
                                                                 .stream = -1,
                                                                 .name = "allocations"});
        assay__events_add(values->events, &event);
    }
    values->failed |= name.failed;
    assay__buf_free(&name);
    return is_placed;
}

/* --- which table ------------------------------------------------------------------------------ */

static const struct assay__xctrace_table tables[] = {
    {"metal-gpu-intervals", add_gpu_interval},
    {"metal-application-command-buffer-submissions", add_submission},
    {"metal-application-encoders-list", add_encoder},
    {"metal-application-intervals", add_encoder},
    {"metal-driver-intervals", add_encoder},
    {"metal-driver-event-intervals", add_encoder},
    {"metal-command-buffer-completed", add_completed},
    {"metal-gpu-state-intervals", add_gpu_state},
    {"gpu-performance-state-intervals", add_performance_state},
    {"gpu-performance-device-state-intervals", add_performance_state},
    {"metal-shader-profiler-intervals", add_shader},
    {"mps-hw-intervals", add_mps},
    {"ane-hw-intervals*", add_ane},
    {"time-profile", add_sample},
    {"time-sample", add_sample},
    {"cpu-profile", add_sample},
    {"os-signpost-interval*", add_signpost},
    {"OSSignpostIntervals", add_signpost},
    {"PointsOfInterestEvents", add_signpost},
    {"coreml-os-signpost*", add_signpost},
};

const struct assay__xctrace_table *assay__xctrace_table_find(const char *schema)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        size_t length = strlen(tables[i].schema);
        bool is_open = tables[i].schema[length - 1] == '*';
        if (is_open ? strncmp(schema, tables[i].schema, length - 1) == 0
                    : strcmp(schema, tables[i].schema) == 0)
            return &tables[i];
    }
    return NULL;
}
