/* import_cpu.c - what the CPU recorder wrote (base/cpu_trace.h): samples of the program's threads,
 * each with its stack. Names of functions come last, so that samples are kept until the end: 24
 * bytes each. A stack's text is made once. */
#include "base/buf.h"
#include "base/checked.h"
#include "base/cpu_trace.h"
#include "base/vec.h"
#include "import/import_window.h"
#include "import/importers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TEXT ((size_t)1 << 30) /* bytes of all stacks */
#define SHALLOW 0.5                 /* of the samples: from here on it is said */

struct frame {
    uint64_t offset;
    uint32_t module, name; /* strings */
};
struct node {
    uint32_t parent, frame, depth;
    uint32_t args; /* of the store, + 2; 0: not made yet */
};
struct thread {
    uint32_t pid, tid, name; /* string */
    uint32_t track;          /* of the store, + 2; 0: not made yet */
    int64_t end_ns;          /* of its sample before */
};

struct list { /* by number: they come in order, the first is 1 */
    void *items;
    size_t capacity;
    uint32_t last;
};

struct reader {
    struct assay__events *events;
    struct assay__trace_source *source;
    struct assay__import_window window;
    struct list strings, frames, nodes, threads; /* strings: numbers of the store, + 1 */
    struct thread *processes;                    /* their first threads, by pid */
    size_t process_count;
    struct assay__cpu_sample *samples;
    size_t sample_count, sample_capacity, text_bytes;
    struct assay__cpu_begin begin;
    struct assay__cpu_end end;
    bool has_begin, has_end, failed;
    struct assay__buf text;
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

/* The item of that number, which has come before or is the next; NULL: neither, or out of memory.
 */
static void *item(struct reader *reader, struct list *list, uint32_t number, size_t bytes)
{
    if (!number || number - 1 > list->last || number == UINT32_MAX) {
        skip(reader, "a record of an impossible number");
        return NULL;
    }
    if (assay__vec_grow(&list->items, &list->capacity, (size_t)number + 1, bytes)) {
        reader->failed = true;
        return NULL;
    }
    if (number > list->last) list->last = number;
    return (char *)list->items + number * bytes;
}

/* The same of one that must have come; NULL: it has not. */
static void *known(const struct list *list, uint32_t number, size_t bytes)
{
    return number && number <= list->last ? (char *)list->items + number * bytes : NULL;
}

static const char *string(const struct reader *reader, uint32_t number)
{
    const uint32_t *text = known(&reader->strings, number, sizeof *text);
    return text && *text ? assay__events_text(reader->events, *text - 1) : "";
}

/* --- records ---------------------------------------------------------------------------------- */

static void take_string(struct reader *reader, const char *data, size_t bytes)
{
    struct assay__cpu_string record;
    memcpy(&record, data, sizeof record);
    if (record.length > bytes - sizeof record) {
        skip(reader, "a string of an impossible length");
        return;
    }
    uint32_t *text = item(reader, &reader->strings, record.number, sizeof *text);
    if (text) *text = 1 + assay__events_intern(reader->events, data + sizeof record, record.length);
}

static void take_begin(struct reader *reader, const void *data)
{
    memcpy(&reader->begin, data, sizeof reader->begin);
    reader->has_begin = true;
}

static void take_thread(struct reader *reader, const void *data)
{
    const struct assay__cpu_thread *record = data;
    struct thread *thread = item(reader, &reader->threads, record->number, sizeof *thread);
    if (!thread) return;
    thread->pid = record->pid;
    thread->tid = record->tid;
    if (record->name) thread->name = record->name;
}

static void take_frame(struct reader *reader, const void *data)
{
    const struct assay__cpu_frame *record = data;
    struct frame *frame = item(reader, &reader->frames, record->number, sizeof *frame);
    if (frame) *frame = (struct frame){record->offset, record->module, 0};
}

static void take_node(struct reader *reader, const void *data)
{
    const struct assay__cpu_node *record = data;
    const struct node *parent = known(&reader->nodes, record->parent, sizeof *parent);
    uint32_t depth = parent ? parent->depth + 1 : 1;
    if (depth > ASSAY__CPU_DEPTH_MOST || (record->parent && (!parent || !parent->depth)) ||
        record->parent >= record->number) {
        skip(reader, "a stack that cannot be");
        return;
    }
    struct node *node = item(reader, &reader->nodes, record->number, sizeof *node);
    if (node) *node = (struct node){record->parent, record->frame, depth, 0};
}

static void take_samples(struct reader *reader, const char *data, size_t bytes)
{
    size_t size = sizeof *reader->samples;
    size_t count = (bytes - sizeof(struct assay__cpu_samples)) / size;
    if (assay__vec_grow((void **)&reader->samples, &reader->sample_capacity,
                        reader->sample_count + count, size)) {
        reader->failed = true;
        return;
    }
    memcpy(reader->samples + reader->sample_count, data + sizeof(struct assay__cpu_samples),
           count * size);
    reader->sample_count += count;
}

static void take_name(struct reader *reader, const void *data)
{
    const struct assay__cpu_name *record = data;
    struct frame *frame = known(&reader->frames, record->frame, sizeof *frame);
    if (frame) frame->name = record->name;
}

static void take_end(struct reader *reader, const void *data)
{
    memcpy(&reader->end, data, sizeof reader->end);
    reader->has_end = true;
}

/* A record of a struct, as long as this reader knows it; shorter ones are refused. */
static const struct {
    size_t bytes;
    void (*take)(struct reader *reader, const void *data);
} takers[] = {
    [ASSAY__CPU_BEGIN] = {sizeof(struct assay__cpu_begin), take_begin},
    [ASSAY__CPU_THREAD] = {sizeof(struct assay__cpu_thread), take_thread},
    [ASSAY__CPU_FRAME] = {sizeof(struct assay__cpu_frame), take_frame},
    [ASSAY__CPU_NODE] = {sizeof(struct assay__cpu_node), take_node},
    [ASSAY__CPU_NAME] = {sizeof(struct assay__cpu_name), take_name},
    [ASSAY__CPU_END] = {sizeof(struct assay__cpu_end), take_end},
};

static void take_record(struct reader *reader, const struct assay__cpu_record *head,
                        const char *data)
{
    _Alignas(8) char copy[256];
    if (head->type == ASSAY__CPU_STRING && head->bytes >= sizeof(struct assay__cpu_string)) {
        take_string(reader, data, head->bytes);
    } else if (head->type == ASSAY__CPU_SAMPLES) {
        take_samples(reader, data, head->bytes);
    } else if (head->type < sizeof takers / sizeof *takers && takers[head->type].take) {
        if (head->bytes < takers[head->type].bytes) {
            skip(reader, "a record that is too short");
            return;
        }
        memcpy(copy, data, takers[head->type].bytes);
        takers[head->type].take(reader, copy);
    } /* else of a later version */
}

/* --- the stream ------------------------------------------------------------------------------- */

static bool have(struct reader *reader, size_t bytes)
{
    while (assay__import_window_left(&reader->window) < bytes)
        if (!assay__import_window_more(&reader->window)) return false;
    return true;
}

static void cut_short(struct reader *reader)
{
    reader->source->truncated = true;
    complain(reader, "it ends within a record");
}

/* False: there is no further record that can be read. */
static bool take_next(struct reader *reader)
{
    struct assay__cpu_record head;
    if (!have(reader, sizeof head)) {
        if (assay__import_window_left(&reader->window)) cut_short(reader);
        return false;
    }
    memcpy(&head, assay__import_window_at(&reader->window), sizeof head);
    if (head.bytes < sizeof head || head.bytes % 8 || head.bytes > ASSAY__CPU_RECORD_BYTES) {
        reader->source->truncated = true;
        complain(reader, "a record of an impossible length");
        return false;
    }
    if (!have(reader, head.bytes)) {
        cut_short(reader);
        return false;
    }
    take_record(reader, &head, assay__import_window_at(&reader->window));
    assay__import_window_use(&reader->window, head.bytes);
    return !reader->failed;
}

static int read_head(struct reader *reader, struct assay_error *error)
{
    struct assay__cpu_file_head head;
    if (!have(reader, sizeof head))
        return assay_error_set(error, ASSAY_EFORMAT, "%s: shorter than its head",
                               reader->source->path);
    memcpy(&head, assay__import_window_at(&reader->window), sizeof head);
    if (head.version != ASSAY__CPU_FILE_VERSION || head.head_bytes < sizeof head ||
        head.head_bytes > 4096 || !have(reader, head.head_bytes))
        return assay_error_set(error, ASSAY_EFORMAT,
                               "%s: recorded by another version of assay (format %u; this one "
                               "reads %u)",
                               reader->source->path, (unsigned)head.version,
                               ASSAY__CPU_FILE_VERSION);
    assay__import_window_use(&reader->window, head.head_bytes);
    return 0;
}

/* --- events ----------------------------------------------------------------------------------- */

/* "libx.so+0x1234" where the function is not known. */
static const char *frame_name(const struct reader *reader, uint32_t number, char *room,
                              size_t bytes)
{
    const struct frame *frame = known(&reader->frames, number, sizeof *frame);
    const char *name = frame ? string(reader, frame->name) : "";
    if (*name || !frame) return *name ? name : "[unknown]";
    const char *module = string(reader, frame->module), *slash = strrchr(module, '/');
    snprintf(room, bytes, "%s+0x%llx", slash ? slash + 1 : module,
             (unsigned long long)frame->offset);
    return room;
}

/* A ";" within a name would be taken for two. */
static void put_frame(struct assay__buf *text, const char *name)
{
    if (text->length) assay__buf_putc(text, ';');
    for (; *name; name++)
        assay__buf_putc(text, *name == ';' ? ',' : *name);
}

/* Arguments with the node's stack. */
static uint32_t args_of(struct reader *reader, uint32_t number)
{
    uint32_t path[ASSAY__CPU_DEPTH_MOST], count = 0;
    char room[512];
    struct node *node = known(&reader->nodes, number, sizeof *node);
    if (!node || !node->depth) return ASSAY__EVENT_UNKNOWN;
    if (node->args) return node->args - 2;
    if (reader->text_bytes > MOST_TEXT) {
        complain(reader, "stacks of more than 1 GiB of text: the others are left out");
        return ASSAY__EVENT_UNKNOWN;
    }
    for (const struct node *at = node; at && at->depth && count < ASSAY__CPU_DEPTH_MOST;
         at = known(&reader->nodes, at->parent, sizeof *at))
        path[count++] = at->frame;
    assay__buf_clear(&reader->text);
    while (count-- > 0)
        put_frame(&reader->text, frame_name(reader, path[count], room, sizeof room));
    reader->failed |= reader->text.failed;
    reader->text_bytes += reader->text.length;
    struct assay__event_args args = {.stack = assay__buf_text(&reader->text)};
    node->args = assay__events_args(reader->events, &args) + 2;
    return node->args - 2;
}

static int by_process(const void *a, const void *b)
{
    const struct thread *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* First threads have the names of their processes. */
static void list_processes(struct reader *reader)
{
    reader->processes = malloc(((size_t)reader->threads.last + 1) * sizeof *reader->processes);
    reader->failed |= !reader->processes;
    for (uint32_t i = 1; i <= reader->threads.last && reader->processes; i++) {
        const struct thread *thread = known(&reader->threads, i, sizeof *thread);
        if (thread->pid == thread->tid && thread->name)
            reader->processes[reader->process_count++] = *thread;
    }
    if (reader->process_count)
        qsort(reader->processes, reader->process_count, sizeof *reader->processes, by_process);
}

static void put_name(const struct reader *reader, uint32_t pid, char *text, size_t room)
{
    struct thread wanted = {.pid = pid};
    const struct thread *found = reader->process_count
                                     ? bsearch(&wanted, reader->processes, reader->process_count,
                                               sizeof wanted, by_process)
                                     : NULL;
    if (found)
        snprintf(text, room, "%.64s (%u)", string(reader, found->name), (unsigned)pid);
    else
        snprintf(text, room, "process %u", (unsigned)pid);
}

static uint32_t track_of(struct reader *reader, uint32_t number)
{
    char name[80], group[96];
    struct thread *thread = known(&reader->threads, number, sizeof *thread);
    if (thread && thread->track) return thread->track - 2;
    uint32_t pid = thread ? thread->pid : 0, tid = thread ? thread->tid : 0;
    const char *own = thread ? string(reader, thread->name) : "further threads";
    if (*own)
        snprintf(name, sizeof name, "%.64s", own);
    else
        snprintf(name, sizeof name, "thread %u", (unsigned)tid);
    put_name(reader, pid, group, sizeof group);
    uint32_t track = assay__events_track(reader->events,
                                         &(struct assay__track){.kind = ASSAY__TRACK_THREAD,
                                                                .pid = thread ? (int64_t)pid : -1,
                                                                .tid = thread ? (int64_t)tid : -1,
                                                                .device = -1,
                                                                .stream = -1,
                                                                .name = name,
                                                                .group = thread ? group : NULL});
    if (thread) thread->track = track + 2;
    return track;
}

/* All samples together stand for the processor time that was measured: timers may be late, and
 * cycles have no length of their own. Where it is not known, a clock's sample stands for its
 * period, and also where time in the kernel is part of the measured time but not of the samples. */
static int64_t duration_of(const struct reader *reader, uint64_t weight)
{
    const struct assay__cpu_end *end = &reader->end;
    bool is_clock = reader->begin.event == ASSAY__CPU_CLOCK;
    double ns_per_weight = is_clock ? 1 : 0;
    if (end->running_ns > 0 && end->weight && (reader->begin.has_kernel || !is_clock))
        ns_per_weight = (double)end->running_ns / (double)end->weight;
    double ns = (double)weight * ns_per_weight;
    return ns > 0 && ns < 1e15 ? (int64_t)(ns + 0.5) : 0;
}

/* A sample stands for the time before it. It begins where the one before it ends rather than within
 * that, as it would where a timer was early, but not after its own time. */
static int64_t start_of(struct reader *reader, const struct assay__cpu_sample *sample,
                        int64_t duration_ns)
{
    struct thread *thread = known(&reader->threads, sample->thread, sizeof *thread);
    int64_t start_ns, time_ns = sample->time_ns;
    if (__builtin_sub_overflow(time_ns, duration_ns, &start_ns)) start_ns = time_ns;
    if (!thread) return start_ns;
    int64_t before_ns = thread->end_ns < time_ns ? thread->end_ns : time_ns;
    if (thread->track && start_ns < before_ns) start_ns = before_ns;
    if (assay__add_i64_overflows(start_ns, duration_ns, &thread->end_ns)) thread->end_ns = time_ns;
    return start_ns;
}

static void add_sample(struct reader *reader, const struct assay__cpu_sample *sample)
{
    char room[512];
    int64_t duration_ns = duration_of(reader, sample->weight);
    struct assay__event event = {.start_ns = start_of(reader, sample, duration_ns),
                                 .duration_ns = duration_ns,
                                 .kind = ASSAY__EVENT_SAMPLE,
                                 .track = track_of(reader, sample->thread),
                                 .args = args_of(reader, sample->node)};
    const struct node *node = known(&reader->nodes, sample->node, sizeof *node);
    if (node && node->depth) {
        event.name = frame_name(reader, node->frame, room, sizeof room);
        event.name_length = SIZE_MAX;
    }
    assay__events_add(reader->events, &event);
}

/* --- the importer ----------------------------------------------------------------------------- */

static void describe(struct reader *reader)
{
    char text[200] = "assay";
    const struct assay__cpu_end *end = &reader->end;
    const char *event = reader->begin.event == ASSAY__CPU_CYCLES ? "cycles" : "processor time";
    if (reader->has_begin && reader->has_end && end->elapsed_ns > 0 && end->running_ns > 0)
        snprintf(text, sizeof text,
                 "assay (%s: %.0f samples per second of it%s, taken with %.2f %% of a processor)",
                 event, (double)end->samples * 1e9 / (double)end->running_ns,
                 reader->begin.has_kernel ? "" : ", none of them in the kernel",
                 (double)end->cost_ns * 100 / (double)end->elapsed_ns);
    reader->source->producer = assay__events_keep(reader->events, text);
    if (__builtin_sub_overflow(reader->begin.unix_ns, reader->begin.monotonic_ns,
                               &reader->source->offset_ns))
        reader->source->offset_ns = 0;
}

/* What is missing, and why. */
static void conclude(struct reader *reader)
{
    const struct assay__cpu_end *end = &reader->end;
    char text[200];
    reader->source->skipped += end->lost + end->cut;
    if (!reader->has_end) {
        reader->source->truncated = true;
        complain(reader, "the recorder did not leave in order: functions have no names");
    } else if (end->lost) {
        snprintf(text, sizeof text, "the kernel could not hand over %llu samples",
                 (unsigned long long)end->lost);
        complain(reader, assay__events_keep(reader->events, text));
    } else if (end->cut) {
        complain(reader, "there was no room for all of the different stacks");
    } else if ((double)end->shallow > SHALLOW * (double)end->kept) {
        snprintf(text, sizeof text,
                 "of %.0f %% of the samples only one function is known, not who called it: that "
                 "code was built without frame pointers",
                 100.0 * (double)end->shallow / (double)end->kept);
        complain(reader, assay__events_keep(reader->events, text));
    }
}

static enum assay__import_match match(const char *head, size_t size)
{
    bool is_ours = size >= 8 && !memcmp(head, ASSAY__CPU_FILE_MAGIC, 8);
    return is_ours ? ASSAY__IMPORT_YES : ASSAY__IMPORT_NO;
}

static void free_reader(struct reader *reader)
{
    assay__import_window_free(&reader->window);
    assay__buf_free(&reader->text);
    free(reader->strings.items);
    free(reader->frames.items);
    free(reader->nodes.items);
    free(reader->threads.items);
    free(reader->processes);
    free(reader->samples);
    free(reader);
}

static int read_trace(struct assay__import_stream *stream, struct assay__events *events,
                      struct assay__trace_source *source, struct assay_error *error)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    reader->events = events;
    reader->source = source;
    reader->window = assay__import_window_over(stream, error);
    source->producer = "assay";
    source->clock = ASSAY__IMPORT_CLOCK_UNIX;
    int code = read_head(reader, error);
    while (!code && take_next(reader))
        continue;
    if (!code) code = reader->window.code;
    if (!code) describe(reader);
    if (!code) list_processes(reader);
    for (size_t i = 0; i < reader->sample_count && !code && !reader->failed; i++)
        add_sample(reader, &reader->samples[i]);
    if (!code) conclude(reader);
    if (!code && reader->failed) code = assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    free_reader(reader);
    return code;
}

const struct assay__importer assay__importer_cpu = {
    .name = "cpu",
    .title = "assay's own recording of a program's threads",
    .match = match,
    .read = read_trace,
};
