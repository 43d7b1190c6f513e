/* export_chrome.c - Chrome trace JSON with the categories and arguments of the PyTorch profiler
 * (Kineto), so that whatever reads those can read this: chrome://tracing, Perfetto, HTA, and our
 * importer, which gets the same events back. Times are microseconds with three decimals, exact;
 * they count from baseTimeNanoseconds where the trace's clock counts from 1970.
 *
 * Where Kineto has no category, or would take the event for another kind, the category is our own
 * name of the kind. Of several ranks in one file processes and devices are numbered, because their
 * own numbers repeat. */
#include "base/json.h"
#include "trace/event_words.h"
#include "trace/exporters.h"
#include "trace/track_groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SINCE_1970_NS 1000000000000000000 /* 2001: a time above it counts from 1970 */

struct chrome {
    struct assay__export *to;
    struct assay__track_groups groups;
    struct assay__buf name;
    int64_t base_ns; /* taken from every time */
    bool any;        /* the list has an element */
};

static void put_string(struct assay__buf *out, const char *text)
{
    struct assay__json_writer writer;
    assay__json_start(&writer, out, false);
    assay__json_string(&writer, text);
}

static void put_double(struct assay__buf *out, double value)
{
    struct assay__json_writer writer;
    assay__json_start(&writer, out, false);
    assay__json_number(&writer, value);
}

/* ns as µs, exactly. */
static void put_us(struct assay__buf *out, int64_t time_ns)
{
    uint64_t size = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns;
    assay__buf_printf(out, "%s%" PRIu64 ".%03u", time_ns < 0 ? "-" : "", size / 1000,
                      (unsigned)(size % 1000));
}

static void begin(struct chrome *c)
{
    assay__buf_puts(&c->to->out, c->any ? ",\n{" : "\n{");
    c->any = true;
}

/* --- what an event is called ------------------------------------------------------------------ */

static const char *const kineto_categories[ASSAY__EVENT_KINDS] = {
    [ASSAY__EVENT_KERNEL] = "kernel",
    [ASSAY__EVENT_COPY] = "gpu_memcpy",
    [ASSAY__EVENT_MEMSET] = "gpu_memset",
    [ASSAY__EVENT_DEVICE_WAIT] = "cuda_sync",
    [ASSAY__EVENT_DEVICE_RANGE] = "gpu_user_annotation",
    [ASSAY__EVENT_LAUNCH] = "cuda_runtime",
    [ASSAY__EVENT_SYNC] = "cuda_runtime",
    [ASSAY__EVENT_RUNTIME] = "cuda_runtime",
    [ASSAY__EVENT_OPERATOR] = "cpu_op",
    [ASSAY__EVENT_PYTHON] = "python_function",
    [ASSAY__EVENT_RANGE] = "user_annotation",
};

static bool has_one(const char *name, const char *const *parts)
{
    for (; *parts; parts++)
        if (strstr(name, *parts)) return true;
    return false;
}

/* Readers of Kineto decide by the name what a call of the runtime does: whether they would decide
 * so, without any doubt. */
static bool name_says(const char *name, enum assay__event_kind kind)
{
    static const char *const waiting[] = {"Synchronize", NULL};
    static const char *const launching[] = {"LaunchKernel", "GraphLaunch", "Memcpy", "Memset",
                                            NULL};
    static const char *const others[] = {"Attribute",    "Occupancy", "GraphInstantiate",
                                         "LaunchConfig", "MemcpyGet", "Launch",
                                         "Mem",          "Enqueue",   NULL};
    bool waits = has_one(name, waiting), launches = has_one(name, launching);
    if (kind == ASSAY__EVENT_RUNTIME) return !waits && !has_one(name, others);
    for (size_t i = 0; i < 5; i++)
        if (strstr(name, others[i])) return false;
    return kind == ASSAY__EVENT_SYNC ? waits : launches && !waits;
}

static const char *category_of(const struct chrome *c, size_t event)
{
    const struct assay__events *events = c->to->events;
    enum assay__event_kind kind = events->kind[event];
    const char *category = kind < ASSAY__EVENT_KINDS ? kineto_categories[kind] : NULL;
    if (kind >= ASSAY__EVENT_LAUNCH && kind <= ASSAY__EVENT_RUNTIME &&
        !name_says(assay__event_name(events, event), kind))
        category = NULL;
    return category ? category : assay__event_kind_name(kind);
}

/* --- where it is ------------------------------------------------------------------------------ */

static void put_process(struct chrome *c, uint32_t track)
{
    const struct assay__track *t = &c->to->events->tracks[track];
    struct assay__buf *out = &c->to->out;
    assay__buf_puts(out, "\"pid\":");
    if (c->to->ranks)
        assay__buf_printf(out, "%" PRIu32, c->groups.of[track]);
    else if (t->kind == ASSAY__TRACK_STREAM)
        assay__buf_printf(out, "%" PRId32, t->device);
    else if (t->pid >= -1 && t->kind == ASSAY__TRACK_THREAD)
        assay__buf_printf(out, "%" PRId64, t->pid);
    else /* no process: its name stands for it */
        put_string(out, t->group ? t->group : "other");
}

static void put_place(struct chrome *c, uint32_t track)
{
    struct assay__buf *out = &c->to->out;
    if (track >= c->to->events->track_count) {
        assay__buf_puts(out, "\"pid\":-1,\"tid\":-1");
        return;
    }
    const struct assay__track *t = &c->to->events->tracks[track];
    put_process(c, track);
    assay__buf_puts(out, ",\"tid\":");
    if (t->kind == ASSAY__TRACK_STREAM)
        assay__buf_printf(out, "%" PRId64, t->stream);
    else if (t->tid >= -1)
        assay__buf_printf(out, "%" PRId64, t->tid);
    else
        put_string(out, t->name ? t->name : "other");
}

/* --- arguments -------------------------------------------------------------------------------- */

struct args {
    struct assay__buf *out;
    bool any;
};

static void put_key(struct args *args, const char *key)
{
    assay__buf_printf(args->out, "%s\"%s\":", args->any ? "," : "", key);
    args->any = true;
}

static void put_integer(struct args *args, const char *key, int64_t value)
{
    if (!value) return;
    put_key(args, key);
    assay__buf_printf(args->out, "%" PRId64, value);
}

static void put_text(struct args *args, const char *key, const char *text)
{
    if (!text) return;
    put_key(args, key);
    put_string(args->out, text);
}

static void put_sizes(struct args *args, const char *key, const uint32_t sizes[3])
{
    if (!sizes[0] && !sizes[1] && !sizes[2]) return;
    put_key(args, key);
    assay__buf_printf(args->out, "[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", sizes[0], sizes[1],
                      sizes[2]);
}

static void put_details(struct args *args, const struct assay__event_args *a)
{
    put_sizes(args, "grid", a->grid);
    put_sizes(args, "block", a->block);
    if (a->flops > 0) {
        put_key(args, "flops");
        put_double(args->out, a->flops);
    }
    put_text(args, "direction", assay__copy_direction_name(a->direction));
    put_text(args, "op_type", a->operator_type);
    put_text(args, "provider", a->provider);
    put_text(args, "Input Dims", a->shapes);
    put_text(args, a->collective ? "dtype" : "Input type", a->types);
    put_text(args, "Collective name", a->collective);
    put_integer(args, "Group size", a->group_size);
    put_text(args, "stack", a->stack);
    put_text(args, "state", a->state);
}

static void put_args(struct chrome *c, size_t event)
{
    const struct assay__events *events = c->to->events;
    struct args args = {.out = &c->to->out};
    uint32_t track = events->track[event];
    assay__buf_puts(args.out, ",\"args\":{");
    if (track < events->track_count && events->tracks[track].kind == ASSAY__TRACK_STREAM) {
        put_key(&args, "device");
        assay__buf_printf(args.out, "%" PRId32, events->tracks[track].device);
        put_key(&args, "stream");
        assay__buf_printf(args.out, "%" PRId64, events->tracks[track].stream);
    }
    if (events->correlation[event]) {
        put_key(&args, "correlation");
        assay__buf_printf(args.out, "%" PRIu64, events->correlation[event]);
    }
    if (events->kind[event] == ASSAY__EVENT_ALLOCATION) {
        put_key(&args, "Bytes");
        assay__buf_printf(args.out, "%" PRId64, events->bytes[event]);
    } else
        put_integer(&args, "bytes", events->bytes[event]);
    if (events->args[event] != ASSAY__EVENT_UNKNOWN)
        put_details(&args, assay__event_args(events, event));
    assay__buf_putc(args.out, '}');
}

/* --- events ----------------------------------------------------------------------------------- */

/* Arrows from a call to what it launched. */
static void put_flow(struct chrome *c, size_t event)
{
    const struct assay__events *events = c->to->events;
    bool ends = assay__event_is_work(events, event);
    if (!events->correlation[event] || (!ends && events->kind[event] != ASSAY__EVENT_LAUNCH))
        return;
    begin(c);
    assay__buf_printf(&c->to->out,
                      "\"ph\":\"%s,\"id\":%" PRIu64 ",\"cat\":\"ac2g\",\"name\":"
                      "\"ac2g\",\"ts\":",
                      ends ? "f\",\"bp\":\"e\"" : "s\"", events->correlation[event]);
    put_us(&c->to->out, events->start_ns[event] - c->base_ns);
    assay__buf_putc(&c->to->out, ',');
    put_place(c, events->track[event]);
    assay__buf_putc(&c->to->out, '}');
}

static void put_event(struct chrome *c, size_t event)
{
    const struct assay__events *events = c->to->events;
    struct assay__buf *out = &c->to->out;
    bool instant = events->kind[event] == ASSAY__EVENT_ALLOCATION;
    begin(c);
    assay__buf_printf(out, "\"ph\":\"%s\",\"cat\":\"%s\"", instant ? "i\",\"s\":\"t" : "X",
                      category_of(c, event));
    if (events->name[event] != ASSAY__EVENT_UNKNOWN) {
        assay__buf_puts(out, ",\"name\":");
        put_string(out, assay__event_name(events, event));
    }
    assay__buf_puts(out, ",\"ts\":");
    put_us(out, events->start_ns[event] - c->base_ns);
    if (!instant) {
        assay__buf_puts(out, ",\"dur\":");
        put_us(out, events->duration_ns[event]);
    }
    assay__buf_putc(out, ',');
    put_place(c, events->track[event]);
    put_args(c, event);
    assay__buf_putc(out, '}');
    put_flow(c, event);
    assay__export_flush(c->to);
}

static void put_counters(struct chrome *c)
{
    struct assay__buf *out = &c->to->out;
    for (size_t i = 0; i < c->to->events->counter_count; i++) {
        const struct assay__trace_counter *of = &c->to->events->counters[i];
        for (size_t k = 0; k < of->count && !assay__export_failed(c->to); k++) {
            begin(c);
            assay__buf_puts(out, "\"ph\":\"C\",\"name\":");
            put_string(out, of->name);
            assay__buf_puts(out, ",\"ts\":");
            put_us(out, of->times_ns[k] - c->base_ns);
            assay__buf_putc(out, ',');
            put_place(c, of->track);
            assay__buf_puts(out, ",\"args\":{\"value\":");
            put_double(out, of->values[k]);
            assay__buf_puts(out, "}}");
            assay__export_flush(c->to);
        }
    }
}

/* --- names ------------------------------------------------------------------------------------ */

/* Readers add the process' number themselves. */
static void cut_number(struct assay__buf *name, int64_t pid)
{
    char number[32];
    size_t length = (size_t)snprintf(number, sizeof number, " (%" PRId64 ")", pid);
    if (name->length > length && !strcmp(name->data + name->length - length, number))
        name->data[name->length -= length] = 0;
}

static void put_label(struct chrome *c, const char *what, uint32_t track)
{
    begin(c);
    assay__buf_printf(&c->to->out, "\"ph\":\"M\",\"name\":\"%s\",", what);
    put_place(c, track);
    assay__buf_puts(&c->to->out, ",\"args\":{\"name\":");
    put_string(&c->to->out, assay__buf_text(&c->name));
    assay__buf_puts(&c->to->out, "}}");
    assay__export_flush(c->to);
}

static void put_labels(struct chrome *c)
{
    for (size_t i = 0; i < c->groups.count; i++) {
        uint32_t first = c->groups.first[i];
        assay__export_group_name(c->to, first, &c->name);
        if (!c->to->ranks && c->to->events->tracks[first].kind == ASSAY__TRACK_THREAD)
            cut_number(&c->name, c->to->events->tracks[first].pid);
        put_label(c, "process_name", first);
    }
    for (size_t i = 0; i < c->to->events->track_count && !assay__export_failed(c->to); i++) {
        assay__export_track_name(c->to, (uint32_t)i, &c->name);
        put_label(c, "thread_name", (uint32_t)i);
    }
}

static void put_devices(struct chrome *c)
{
    struct assay__buf *out = &c->to->out;
    const struct assay__track *tracks = c->to->events->tracks;
    bool any = false;
    for (size_t i = 0; i < c->groups.count; i++) {
        const struct assay__track *track = &tracks[c->groups.first[i]];
        if (track->kind != ASSAY__TRACK_STREAM || !track->group) continue;
        assay__buf_printf(out, "%s{\"id\":%" PRId32 ",\"name\":", any ? "," : "", track->device);
        put_string(out, track->group);
        assay__buf_putc(out, '}');
        any = true;
    }
}

static void put_header(struct chrome *c)
{
    const struct assay__events *events = c->to->events;
    struct assay__buf *out = &c->to->out;
    assay__buf_puts(out, "{\"displayTimeUnit\":\"ns\",\n");
    if (c->base_ns) assay__buf_printf(out, "\"baseTimeNanoseconds\":%" PRId64 ",\n", c->base_ns);
    if (events->source_count) {
        assay__buf_puts(out, "\"producer\":");
        put_string(out, events->sources[0].producer);
        assay__buf_puts(out, ",\n");
    }
    if (events->source_count == 1 && events->sources[0].rank >= 0)
        assay__buf_printf(
            out, "\"distributedInfo\":{\"rank\":%" PRId32 ",\"world_size\":%" PRId32 "},\n",
            events->sources[0].rank, events->sources[0].world_size);
    if (!c->to->ranks) {
        assay__buf_puts(out, "\"deviceProperties\":[");
        put_devices(c);
        assay__buf_puts(out, "],\n");
    }
    assay__buf_puts(out, "\"traceEvents\":[");
}

static void run(struct assay__export *to)
{
    struct chrome c = {.to = to};
    if (to->begin_ns > SINCE_1970_NS) c.base_ns = to->begin_ns;
    if (!assay__track_groups_make(&c.groups, to->events, &to->error)) {
        put_header(&c);
        put_labels(&c);
        for (size_t i = 0; i < to->events->count && !assay__export_failed(to); i++)
            put_event(&c, i);
        put_counters(&c);
        assay__buf_puts(&to->out, "\n]}\n");
    }
    assay__track_groups_free(&c.groups);
    assay__buf_drop(&c.name, &to->out);
}

const struct assay__exporter assay__exporter_chrome = {
    .name = "chrome",
    .title = "Chrome trace JSON as the PyTorch profiler writes it",
    .extension = "json",
    .run = run,
};
