/* import_kineto.c - Chrome trace JSON as the PyTorch profiler (Kineto) writes it, and TensorFlow,
 * JAX and others in their own ways. Times are microseconds with decimals; Kineto's "ts" counts from
 * baseTimeNanoseconds (Unix time) if there is one, else from 1970 itself.
 *
 * What an event is follows from its category; where there is none (TensorFlow, JAX) from the names
 * of its process and thread, which may come after it. Phases: X (complete), B and E (begin, end),
 * i (instant), C (counter), M (names); flows (s, t, f) repeat the correlation and are not kept; any
 * other is counted as skipped. */
#include "import/kineto_state.h"

#include "base/buf.h"
#include "import/importers.h"
#include "import/runtime_calls.h"

#include <stdio.h>
#include <stdlib.h>

/* --- categories ------------------------------------------------------------------------------- */

enum place { ON_THREAD, ON_STREAM, ELSEWHERE };

struct category {
    const char *name;
    enum assay__event_kind kind;
    enum place place;
};

/* RUNTIME: the call's name decides whether it launches or waits. */
static const struct category categories[] = {
    {"cpu_op", ASSAY__EVENT_OPERATOR, ON_THREAD},
    {"cuda_runtime", ASSAY__EVENT_RUNTIME, ON_THREAD},
    {"kernel", ASSAY__EVENT_KERNEL, ON_STREAM},
    {"python_function", ASSAY__EVENT_PYTHON, ON_THREAD},
    {"cuda_driver", ASSAY__EVENT_RUNTIME, ON_THREAD},
    {"gpu_memcpy", ASSAY__EVENT_COPY, ON_STREAM},
    {"gpu_memset", ASSAY__EVENT_MEMSET, ON_STREAM},
    {"user_annotation", ASSAY__EVENT_RANGE, ON_THREAD},
    {"gpu_user_annotation", ASSAY__EVENT_DEVICE_RANGE, ON_STREAM},
    {"cuda_sync", ASSAY__EVENT_DEVICE_WAIT, ON_STREAM},
    {"cuda_profiler_range", ASSAY__EVENT_DEVICE_RANGE, ON_STREAM},
    {"collective_comm", ASSAY__EVENT_DEVICE_RANGE, ON_STREAM},
    {"overhead", ASSAY__EVENT_CPU, ON_THREAD},
    {"cpu_instant_event", ASSAY__EVENT_OTHER, ON_THREAD},
    {"Trace", ASSAY__EVENT_OTHER, ELSEWHERE},
    {"concurrent_kernel", ASSAY__EVENT_KERNEL, ON_STREAM},
    {"hip_runtime", ASSAY__EVENT_RUNTIME, ON_THREAD},
    {"xpu_runtime", ASSAY__EVENT_RUNTIME, ON_THREAD},
    {"xpu_driver", ASSAY__EVENT_RUNTIME, ON_THREAD},
    {"mtia_runtime", ASSAY__EVENT_RUNTIME, ON_THREAD},
    {"privateuse1_runtime", ASSAY__EVENT_RUNTIME, ON_THREAD},
    {"privateuse1_driver", ASSAY__EVENT_RUNTIME, ON_THREAD},
    {"mtia_ccp_events", ASSAY__EVENT_KERNEL, ON_STREAM},
    /* PyTorch before 1.12 */
    {"Operator", ASSAY__EVENT_OPERATOR, ON_THREAD},
    {"Runtime", ASSAY__EVENT_RUNTIME, ON_THREAD},
    {"Kernel", ASSAY__EVENT_KERNEL, ON_STREAM},
    {"Memcpy", ASSAY__EVENT_COPY, ON_STREAM},
    {"Memset", ASSAY__EVENT_MEMSET, ON_STREAM},
    {"Python", ASSAY__EVENT_PYTHON, ON_THREAD},
    {"PythonFunction", ASSAY__EVENT_PYTHON, ON_THREAD},
    {"Op", ASSAY__EVENT_OPERATOR, ON_THREAD}, /* TensorFlow 1 */
};
/* Of our own export (trace/export_chrome.c) where Kineto has none: they say it all, whatever the
 * name. */
static const struct category own_categories[] = {
    {"launch", ASSAY__EVENT_LAUNCH, ON_THREAD},
    {"sync", ASSAY__EVENT_SYNC, ON_THREAD},
    {"runtime", ASSAY__EVENT_RUNTIME, ON_THREAD},
    {"cpu", ASSAY__EVENT_CPU, ON_THREAD},
    {"sample", ASSAY__EVENT_SAMPLE, ON_THREAD},
    {"device-state", ASSAY__EVENT_DEVICE_STATE, ON_STREAM},
};
static const struct category uncategorised = {"", ASSAY__EVENT_CPU, ON_THREAD};
static const struct category unknown_category = {"", ASSAY__EVENT_OTHER, ON_THREAD};

static const struct category *category_of(const struct assay__chrome_event *event)
{
    const struct assay__scan_value *name = assay__chrome_get(event, ASSAY__CHROME_CATEGORY);
    if (!name || !name->length) return &uncategorised;
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (assay__scan_is(name, categories[i].name)) return &categories[i];
    for (size_t i = 0; i < sizeof own_categories / sizeof *own_categories; i++)
        if (assay__scan_is(name, own_categories[i].name)) return &own_categories[i];
    return &unknown_category;
}

static bool is_own(const struct category *category)
{
    return category >= own_categories &&
           category < own_categories + sizeof own_categories / sizeof *own_categories;
}

/* --- names and what follows from them --------------------------------------------------------- */

static uint32_t intern(struct assay__kineto *kineto, const struct assay__scan_value *value)
{
    return assay__chrome_intern(kineto->events, &kineto->text, value);
}

const char *assay__kineto_keep(struct assay__kineto *kineto, const struct assay__scan_value *value)
{
    return assay__chrome_keep(kineto->events, &kineto->text, value);
}

/* The kind of a runtime call and the arguments of a copy, worked out once for each name. */
static const struct assay__name_facts *facts_of(struct assay__kineto *kineto, uint32_t name)
{
    static const struct assay__name_facts none = {.call = ASSAY__EVENT_RUNTIME,
                                                  .copy = ASSAY__EVENT_UNKNOWN};
    if (name == ASSAY__EVENT_UNKNOWN) return &none;
    if (assay__vec_grow((void **)&kineto->facts, &kineto->facts_capacity, (size_t)name + 1,
                        sizeof *kineto->facts))
        return &none;
    struct assay__name_facts *facts = &kineto->facts[name];
    if (facts->known) return facts;
    struct assay__event_args copy = {0};
    const char *text = assay__events_text(kineto->events, name);
    assay__copy_of_name(text, &copy);
    facts->known = true;
    facts->call = assay__runtime_call_kind(text);
    facts->copy = assay__events_args(kineto->events, &copy);
    return facts;
}

/* --- tracks ----------------------------------------------------------------------------------- */

int64_t assay__kineto_identity(struct assay__kineto *kineto, const struct assay__scan_value *value)
{
    int64_t number;
    if (!value) return -1;
    if (assay__scan_decimal(value, 0, &number)) return number;
    uint32_t name = intern(kineto, value);
    return name == ASSAY__EVENT_UNKNOWN ? -1 : -2 - (int64_t)name;
}

static uint32_t track_of(struct assay__kineto *kineto, const struct assay__chrome_event *event,
                         enum place place)
{
    int64_t pid = assay__kineto_identity(kineto, assay__chrome_get(event, ASSAY__CHROME_PID));
    int64_t tid = assay__kineto_identity(kineto, assay__chrome_get(event, ASSAY__CHROME_TID));
    struct assay__track track = {
        .rank = kineto->rank, .pid = -1, .tid = -1, .device = -1, .stream = -1};
    if (place == ON_STREAM) {
        int64_t device = assay__scan_integer(assay__chrome_get(event, ASSAY__CHROME_DEVICE), pid);
        track.kind = ASSAY__TRACK_STREAM;
        track.device = device >= 0 && device <= INT32_MAX ? (int32_t)device : -1;
        track.stream = assay__scan_integer(assay__chrome_get(event, ASSAY__CHROME_STREAM), tid);
        if (track.stream < 0 || track.stream >= UINT32_MAX) track.stream = -1;
    } else {
        /* A process that is called by a text ("Spans") is not a process. */
        track.kind = place == ELSEWHERE || pid < -1 ? ASSAY__TRACK_OTHER : ASSAY__TRACK_THREAD;
        track.pid = pid;
        track.tid = tid;
    }
    return assay__events_track(kineto->events, &track);
}

/* --- arguments -------------------------------------------------------------------------------- */

static void read_dim3(const struct assay__scan_value *value, uint32_t out[3])
{
    int64_t numbers[3] = {0};
    size_t count = assay__scan_numbers(value, numbers, 3);
    for (size_t i = 0; i < count; i++)
        out[i] = numbers[i] > 0 && numbers[i] <= UINT32_MAX ? (uint32_t)numbers[i] : 0;
}

static void read_collective(struct assay__kineto *kineto, const struct assay__chrome_event *event,
                            struct assay__event_args *args)
{
    const struct assay__scan_value *collective = assay__chrome_get(event, ASSAY__CHROME_COLLECTIVE);
    if (!collective) return;
    args->collective = assay__kineto_keep(kineto, collective);
    args->types = assay__kineto_keep(kineto, assay__chrome_get(event, ASSAY__CHROME_DTYPE));
    args->group_size = assay__scan_integer(assay__chrome_get(event, ASSAY__CHROME_GROUP_SIZE), 0);
}

static uint32_t kernel_args(struct assay__kineto *kineto, const struct assay__chrome_event *event)
{
    struct assay__event_args args = {0};
    read_dim3(assay__chrome_get(event, ASSAY__CHROME_GRID), args.grid);
    read_dim3(assay__chrome_get(event, ASSAY__CHROME_BLOCK), args.block);
    read_collective(kineto, event, &args);
    return assay__events_args(kineto->events, &args);
}

/* Of operators and annotations. */
static uint32_t host_args(struct assay__kineto *kineto, const struct assay__chrome_event *event)
{
    const struct assay__scan_value *dims = assay__chrome_get(event, ASSAY__CHROME_DIMS);
    const struct assay__scan_value *flops = assay__chrome_get(event, ASSAY__CHROME_FLOPS);
    const struct assay__scan_value *collective = assay__chrome_get(event, ASSAY__CHROME_COLLECTIVE);
    if (!dims && !flops && !collective) return ASSAY__EVENT_UNKNOWN;
    struct assay__event_args args = {0};
    if (!assay__scan_double(flops, &args.flops) || args.flops < 0) args.flops = 0;
    args.shapes = assay__kineto_keep(kineto, dims);
    args.types = assay__kineto_keep(kineto, assay__chrome_get(event, ASSAY__CHROME_TYPES));
    read_collective(kineto, event, &args);
    return assay__events_args(kineto->events, &args);
}

static int64_t element_bytes(const struct assay__scan_value *type)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"Float", 4}, {"BFloat16", 2}, {"Half", 2},          {"Double", 8},
                 {"Int", 4},   {"Long", 8},     {"Byte", 1},          {"Char", 1},
                 {"Short", 2}, {"Bool", 1},     {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (assay__scan_is(type, types[i].name)) return types[i].bytes;
    return 0;
}

static int64_t bytes_of(const struct assay__chrome_event *event)
{
    int64_t bytes = assay__scan_integer(assay__chrome_get(event, ASSAY__CHROME_BYTES), 0), elements;
    if (!bytes) bytes = assay__scan_integer(assay__chrome_get(event, ASSAY__CHROME_SIZE), 0);
    if (!bytes &&
        assay__scan_decimal(assay__chrome_get(event, ASSAY__CHROME_IN_ELEMENTS), 0, &elements) &&
        __builtin_mul_overflow(
            elements, element_bytes(assay__chrome_get(event, ASSAY__CHROME_DTYPE)), &bytes))
        bytes = 0;
    return bytes < 0 ? 0 : bytes;
}

/* --- events ----------------------------------------------------------------------------------- */

static void skip(struct assay__kineto *kineto, const char *reason)
{
    kineto->reader.skipped++;
    assay__chrome_complain(&kineto->reader, "%s", reason);
}

static void fill_device(struct assay__kineto *kineto, const struct assay__chrome_event *event,
                        uint32_t name, struct assay__event *row)
{
    if (row->kind == ASSAY__EVENT_KERNEL) row->args = kernel_args(kineto, event);
    if (row->kind == ASSAY__EVENT_COPY) row->args = facts_of(kineto, name)->copy;
    if (row->kind <= ASSAY__EVENT_MEMSET) row->bytes = bytes_of(event);
}

static bool is_elsewhere(const struct assay__kineto *kineto, uint32_t track)
{
    return track != ASSAY__EVENT_UNKNOWN &&
           kineto->events->tracks[track].kind == ASSAY__TRACK_OTHER;
}

/* What the category and the name say; the times are the caller's. */
static uint32_t describe(struct assay__kineto *kineto, const struct assay__chrome_event *event,
                         struct assay__event *row)
{
    const struct category *category = category_of(event);
    uint32_t name = intern(kineto, assay__chrome_get(event, ASSAY__CHROME_NAME));
    row->kind = category->kind;
    row->args = ASSAY__EVENT_UNKNOWN;
    row->track = track_of(kineto, event, category->place);
    if (is_elsewhere(kineto, row->track)) row->kind = ASSAY__EVENT_OTHER;
    row->correlation = (uint64_t)assay__scan_integer(
        assay__chrome_get(event, ASSAY__CHROME_CORRELATION), 0);
    if (category->place == ON_STREAM) {
        fill_device(kineto, event, name, row);
    } else if (category == &uncategorised) {
        if (row->kind == ASSAY__EVENT_CPU) assay__kineto_describe_xla(kineto, event, name, row);
    } else if (category->kind == ASSAY__EVENT_RUNTIME && !is_own(category)) {
        row->kind = facts_of(kineto, name)->call;
        if (row->kind == ASSAY__EVENT_LAUNCH) row->bytes = bytes_of(event);
    } else {
        row->args = host_args(kineto, event);
        if (row->args != ASSAY__EVENT_UNKNOWN || is_own(category)) row->bytes = bytes_of(event);
    }
    return name;
}

static void on_complete(struct assay__kineto *kineto, const struct assay__chrome_event *event,
                        bool instant)
{
    const struct assay__scan_value *duration = assay__chrome_get(event, ASSAY__CHROME_DURATION);
    struct assay__event row = {0};
    if (!assay__scan_decimal(assay__chrome_get(event, ASSAY__CHROME_START), 3, &row.start_ns)) {
        skip(kineto, "an event whose start is missing, not a number or too large");
        return;
    }
    if (!instant && duration && !assay__scan_decimal(duration, 3, &row.duration_ns)) {
        skip(kineto, "a duration that is not a number, or too large");
        return;
    }
    if (row.duration_ns < 0) {
        skip(kineto, "a negative duration");
        return;
    }
    uint32_t name = describe(kineto, event, &row);
    assay__events_add_named(kineto->events, &row, name);
}

/* [memory]: an allocation (Bytes > 0) or a release, and how much is allocated then. */
static bool on_memory(struct assay__kineto *kineto, const struct assay__chrome_event *event)
{
    struct assay__event row = {.kind = ASSAY__EVENT_ALLOCATION, .args = ASSAY__EVENT_UNKNOWN};
    int64_t total, device;
    if (!assay__scan_decimal(assay__chrome_get(event, ASSAY__CHROME_MEMORY_BYTES), 0, &row.bytes) ||
        !assay__scan_decimal(assay__chrome_get(event, ASSAY__CHROME_START), 3, &row.start_ns))
        return false;
    device = assay__scan_integer(assay__chrome_get(event, ASSAY__CHROME_MEMORY_DEVICE), -1);
    row.track = track_of(kineto, event, ON_THREAD);
    uint32_t name = intern(kineto, assay__chrome_get(event, ASSAY__CHROME_NAME));
    assay__events_add_named(kineto->events, &row, name);
    if (!assay__scan_decimal(assay__chrome_get(event, ASSAY__CHROME_MEMORY_TOTAL), 0, &total))
        return true;
    struct assay__track memory = {.kind = ASSAY__TRACK_OTHER,
                                  .rank = kineto->rank,
                                  .pid = -1,
                                  .tid = -1,
                                  .device = device >= 0 && device < INT32_MAX ? (int32_t)device
                                                                              : -1,
                                  .stream = -1,
                                  .name = "memory"};
    size_t counter = assay__events_counter(kineto->events, "memory allocated", "B",
                                           assay__events_track(kineto->events, &memory));
    assay__events_sample(kineto->events, counter, row.start_ns, (double)total);
    return true;
}

/* C: every member of args is a series of that name. */
static void on_counter(struct assay__kineto *kineto, const struct assay__chrome_event *event)
{
    const struct assay__scan_value *args = assay__chrome_get(event, ASSAY__CHROME_ARGS);
    const struct assay__scan_value *name = assay__chrome_get(event, ASSAY__CHROME_NAME);
    struct assay__scan_value key, value;
    int64_t time_ns;
    if (!args || args->kind != '{' || !name ||
        !assay__scan_decimal(assay__chrome_get(event, ASSAY__CHROME_START), 3, &time_ns)) {
        skip(kineto, "a counter without name, time or values");
        return;
    }
    uint32_t track = track_of(kineto, event, ON_THREAD);
    char text[256];
    for (const char *at = args->text + 1;
         assay__scan_member(&at, args->text + args->length, &key, &value);) {
        double number;
        if (!assay__scan_double(&value, &number)) continue;
        size_t used = assay__scan_text(name, text, sizeof text / 2);
        if (!assay__scan_is(&key, "value") && used < sizeof text / 2) {
            text[used++] = '.';
            assay__scan_text(&key, text + used, sizeof text / 2 - 1);
        }
        assay__events_sample(kineto->events, assay__events_counter(kineto->events, text, "", track),
                             time_ns, number);
    }
}

static void on_instant(struct assay__kineto *kineto, const struct assay__chrome_event *event)
{
    if (assay__chrome_get(event, ASSAY__CHROME_MEMORY_BYTES) && on_memory(kineto, event)) return;
    on_complete(kineto, event, true);
}

static void on_event(void *data, const struct assay__chrome_event *event)
{
    struct assay__kineto *kineto = data;
    const struct assay__scan_value *phase = assay__chrome_get(event, ASSAY__CHROME_PHASE);
    switch (phase && phase->length == 1 ? phase->text[0] : 0) {
    case 'X': on_complete(kineto, event, false); break;
    case 'i':
    case 'I':
    case 'R': on_instant(kineto, event); break;
    case 'M': assay__kineto_name(kineto, event); break;
    case 'C': on_counter(kineto, event); break;
    case 'B': {
        struct assay__event row = {0};
        uint32_t name = describe(kineto, event, &row);
        assay__kineto_begin(kineto, event, &row, name, track_of(kineto, event, ON_THREAD));
        break;
    }
    case 'E': assay__kineto_end(kineto, event, track_of(kineto, event, ON_THREAD)); break;
    case 's':
    case 't':
    case 'f': break; /* flows */
    case 0: skip(kineto, "an object without a phase"); break;
    default:
        kineto->reader.skipped++;
        assay__chrome_complain(&kineto->reader, "events of phase '%c' are not read",
                               phase->text[0] > ' ' && phase->text[0] < 127 ? phase->text[0] : '?');
    }
}

/* --- the importer ----------------------------------------------------------------------------- */

static bool contains(const char *head, size_t size, const char *text)
{
    return memmem(head, size, text, strlen(text)) != NULL;
}

static enum assay__import_match match_kineto(const char *head, size_t size)
{
    size_t at = size >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < size && (unsigned char)head[at] <= ' ')
        at++;
    if (at == size || (head[at] != '{' && head[at] != '[')) return ASSAY__IMPORT_NO;
    if (head[at] == '{' && contains(head, size, "\"traceEvents\"")) return ASSAY__IMPORT_YES;
    if (contains(head, size, "\"deviceProperties\"")) return ASSAY__IMPORT_YES;
    bool events = contains(head, size, "\"ph\"") && contains(head, size, "\"ts\"");
    return events ? ASSAY__IMPORT_MAYBE : ASSAY__IMPORT_NO;
}

static int read_kineto(struct assay__import_stream *stream, struct assay__events *events,
                       struct assay__trace_source *source, struct assay_error *error)
{
    struct assay__kineto kineto = {.events = events, .source = source};
    kineto.reader = (struct assay__chrome_reader){
        .data = &kineto, .event = on_event, .member = assay__kineto_member};
    kineto.first_event = events->count;
    kineto.first_track = events->track_count;
    kineto.rank = (int32_t)events->source_count - 1; /* unless the trace says it */
    int code = assay__chrome_read(stream, &kineto.reader, error);
    if (!code) code = assay__kineto_finish(&kineto, error);
    assay__kineto_free(&kineto);
    return code;
}

const struct assay__importer assay__importer_kineto = {
    .name = "kineto",
    .title = "Chrome trace JSON: PyTorch profiler (Kineto), TensorFlow, JAX, vLLM",
    .match = match_kineto,
    .read = read_kineto,
};
