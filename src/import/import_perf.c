/* import_perf.c - what `perf script` prints: samples with their stacks, and context switches.
 *
 *   name 123/124 [001]  5406.896142:    5000000 cpu-clock:ppp:
 *           1172 leaf+0x19 (/tmp/program)
 *           11ce main+0x19 (/tmp/program)
 *   (an empty line)
 *
 * A sample stands for its period where that is a time (cpu-clock, task-clock); how long one of
 * cycles or another count stands for is unknown. A context switch (sched:sched_switch,
 * PERF_RECORD_SWITCH) takes a thread off its processor until the one that brings it back. Other
 * records of perf.data (mmap, comm, fork …) are not events. Times are the kernel's clock. */
#include "base/buf.h"
#include "base/vec.h"
#include "import/import_window.h"
#include "import/importers.h"
#include "import/perf_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINE ((size_t)1 << 20)
#define MOST_FRAMES 1024

struct thread {
    int64_t tid; /* -1: a free slot */
    uint32_t track;
    bool is_off;
    int64_t off_ns;
    char state[8];
};

struct frame {
    size_t at, length; /* in `symbols` */
};

struct reader {
    struct assay__events *events;
    struct assay__trace_source *source;
    struct assay__import_window window;
    struct thread *threads; /* a table by tid, of a power of two */
    size_t thread_count, thread_slots;
    /* the sample that is being read */
    bool has_sample;
    struct assay__event sample;
    struct assay__buf symbols, folded;
    struct frame frames[MOST_FRAMES];
    size_t frame_count;
    uint64_t heads;
    bool in_long_line; /* the rest of a line that is too long is skipped */
    bool failed;       /* out of memory */
};

static void skip_line(struct reader *reader, const char *reason)
{
    reader->source->skipped++;
    if (!reader->source->complaint[0]) reader->source->complaint = reason;
}

/* --- threads ---------------------------------------------------------------------------------- */

static size_t slot_of(const struct thread *threads, size_t slots, int64_t tid)
{
    size_t slot = (size_t)(((uint64_t)tid * 0x9e3779b97f4a7c15u) >> 20) & (slots - 1);
    while (threads[slot].tid >= 0 && threads[slot].tid != tid)
        slot = (slot + 1) & (slots - 1);
    return slot;
}

static bool grow_threads(struct reader *reader)
{
    size_t slots = reader->thread_slots ? reader->thread_slots * 2 : 64;
    struct thread *threads = calloc(slots, sizeof *threads);
    if (!threads) return false;
    for (size_t i = 0; i < slots; i++)
        threads[i].tid = -1;
    for (size_t i = 0; i < reader->thread_slots; i++)
        if (reader->threads[i].tid >= 0)
            threads[slot_of(threads, slots, reader->threads[i].tid)] = reader->threads[i];
    free(reader->threads);
    reader->threads = threads;
    reader->thread_slots = slots;
    return true;
}

static uint32_t thread_track(struct reader *reader, int64_t pid, int64_t tid,
                             struct assay__perf_text comm)
{
    char name[64], group[96];
    snprintf(name, sizeof name, "%.*s", (int)(comm.length < 63 ? comm.length : 63), comm.at);
    snprintf(group, sizeof group, "process %lld", (long long)pid);
    return assay__events_track(reader->events,
                               &(struct assay__track){.kind = ASSAY__TRACK_THREAD,
                                                      .pid = pid,
                                                      .tid = tid,
                                                      .device = -1,
                                                      .stream = -1,
                                                      .name = name[0] ? name : NULL,
                                                      .group = pid >= 0 ? group : NULL});
}

/* The thread of that id; NULL: out of memory. */
static struct thread *thread_of(struct reader *reader, int64_t pid, int64_t tid,
                                struct assay__perf_text comm)
{
    if (reader->thread_count * 2 >= reader->thread_slots && !grow_threads(reader)) {
        reader->failed = true;
        return NULL;
    }
    struct thread *thread = &reader->threads[slot_of(reader->threads, reader->thread_slots, tid)];
    if (thread->tid < 0) {
        *thread = (struct thread){.tid = tid, .track = thread_track(reader, pid, tid, comm)};
        reader->thread_count++;
    }
    return thread;
}

/* --- samples ---------------------------------------------------------------------------------- */

/* "main;run;leaf": the frames came innermost first. A ";" within a name would be taken for two. */
static const char *fold(struct reader *reader)
{
    assay__buf_clear(&reader->folded);
    for (size_t i = reader->frame_count; i-- > 0;) {
        const struct frame *frame = &reader->frames[i];
        if (reader->folded.length) assay__buf_putc(&reader->folded, ';');
        for (size_t k = 0; k < frame->length; k++) {
            char c = reader->symbols.data[frame->at + k];
            assay__buf_putc(&reader->folded, c == ';' ? ',' : c);
        }
    }
    reader->failed |= reader->folded.failed;
    return reader->frame_count ? assay__buf_text(&reader->folded) : NULL;
}

static void end_sample(struct reader *reader)
{
    if (!reader->has_sample) return;
    struct assay__event_args args = {.stack = fold(reader)};
    reader->sample.args = assay__events_args(reader->events, &args);
    if (reader->frame_count) {
        reader->sample.name = reader->symbols.data + reader->frames[0].at;
        reader->sample.name_length = reader->frames[0].length;
    }
    assay__events_add(reader->events, &reader->sample);
    reader->has_sample = false;
}

static void add_frame(struct reader *reader, const char *line, size_t length)
{
    struct assay__perf_text symbol;
    if (reader->frame_count == MOST_FRAMES) return;
    if (!assay__perf_frame(line, length, &symbol)) {
        skip_line(reader, "a stack line that cannot be parsed");
        return;
    }
    reader->frames[reader->frame_count++] = (struct frame){reader->symbols.length, symbol.length};
    assay__buf_add(&reader->symbols, symbol.at, symbol.length);
    reader->failed |= reader->symbols.failed;
}

static void begin_sample(struct reader *reader, const struct assay__perf_head *head,
                         const struct thread *thread)
{
    bool is_time = assay__perf_begins(head->event, "cpu-clock") ||
                   assay__perf_begins(head->event, "task-clock");
    reader->sample = (struct assay__event){.start_ns = head->time_ns,
                                           .duration_ns = is_time ? head->period : 0,
                                           .kind = ASSAY__EVENT_SAMPLE,
                                           .track = thread->track};
    reader->has_sample = true;
    assay__buf_clear(&reader->symbols);
    reader->frame_count = 0;
    if (head->rest.length) add_frame(reader, head->rest.at, head->rest.length);
}

/* --- context switches ------------------------------------------------------------------------- */

static void switch_out(struct thread *thread, int64_t time_ns, struct assay__perf_text state)
{
    thread->is_off = true;
    thread->off_ns = time_ns;
    snprintf(thread->state, sizeof thread->state, "%.*s",
             (int)(state.length < 7 ? state.length : 7), state.at);
}

static void switch_in(struct reader *reader, struct thread *thread, int64_t time_ns)
{
    if (!thread->is_off) return; /* it was off before the recording began */
    struct assay__event_args args = {.state = thread->state[0] ? thread->state : NULL};
    struct assay__event event = {.start_ns = thread->off_ns,
                                 .duration_ns = time_ns - thread->off_ns,
                                 .name = "off CPU",
                                 .name_length = SIZE_MAX,
                                 .kind = ASSAY__EVENT_OTHER,
                                 .track = thread->track,
                                 .args = assay__events_args(reader->events, &args)};
    thread->is_off = false;
    assay__events_add(reader->events, &event);
}

/* "prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=8 next_prio=120" */
static void take_sched_switch(struct reader *reader, const struct assay__perf_head *head)
{
    static const struct assay__perf_text unknown = {"", 0};
    struct assay__perf_text state = unknown;
    int64_t from, to;
    if (!assay__perf_argument(head->rest, "prev_pid=", &from) ||
        !assay__perf_argument(head->rest, "next_pid=", &to)) {
        skip_line(reader, "a context switch without its threads");
        return;
    }
    const char *word = memmem(head->rest.at, head->rest.length, "prev_state=", 11);
    const char *end = head->rest.at + head->rest.length;
    if (word) state.at = word + 11;
    while (word && state.at + state.length < end && state.at[state.length] != ' ')
        state.length++;
    bool is_own = from == head->tid; /* process 0 idles: it has a thread on each processor */
    struct thread *thread = from ? thread_of(reader, is_own ? head->pid : -1, from,
                                             is_own ? head->comm : unknown)
                                 : NULL;
    if (thread) switch_out(thread, head->time_ns, state);
    thread = to ? thread_of(reader, -1, to, unknown) : NULL;
    if (thread) switch_in(reader, thread, head->time_ns);
}

/* "PERF_RECORD_SWITCH_CPU_WIDE OUT …" */
static void take_record(struct reader *reader, const struct assay__perf_head *head)
{
    if (!assay__perf_begins(head->event, "PERF_RECORD_SWITCH") || head->tid <= 0) return;
    struct thread *thread = thread_of(reader, head->pid, head->tid, head->comm);
    if (!thread) return;
    if (assay__perf_begins(head->rest, "OUT"))
        switch_out(thread, head->time_ns, (struct assay__perf_text){"", 0});
    else if (assay__perf_begins(head->rest, "IN"))
        switch_in(reader, thread, head->time_ns);
}

/* --- lines ------------------------------------------------------------------------------------ */

static void take_head(struct reader *reader, const struct assay__perf_head *head)
{
    reader->heads++;
    if (assay__perf_begins(head->event, "PERF_")) {
        take_record(reader, head);
    } else if (assay__perf_is(head->event, "sched:sched_switch")) {
        take_sched_switch(reader, head);
    } else {
        const struct thread *thread = thread_of(reader, head->pid, head->tid < 0 ? 0 : head->tid,
                                                head->comm);
        if (thread) begin_sample(reader, head, thread);
    }
}

/* "# perf version : 6.1.192" */
static void take_comment(struct reader *reader, const char *line, size_t length)
{
    static const char word[] = "# perf version :";
    char text[64];
    if (length <= sizeof word || memcmp(line, word, sizeof word - 1) != 0) return;
    snprintf(text, sizeof text, "perf %.*s",
             (int)(length - sizeof word < 40 ? length - sizeof word : 40), line + sizeof word);
    reader->source->producer = assay__events_keep(reader->events, text);
}

static void take_line(struct reader *reader, const char *line, size_t length)
{
    struct assay__perf_head head;
    if (length && line[length - 1] == '\r') length--;
    if (!length) {
        end_sample(reader);
    } else if (line[0] == '#') {
        take_comment(reader, line, length);
    } else if (reader->has_sample && line[0] == '\t') {
        add_frame(reader, line, length);
    } else if (assay__perf_head(line, length, &head)) {
        end_sample(reader);
        take_head(reader, &head);
    } else if (reader->has_sample && line[0] == ' ') {
        add_frame(reader, line, length);
    } else if (line[0] != '\t') { /* the stack of an event that is not a sample */
        skip_line(reader, "a line that is neither a sample nor a stack, or has no time");
    }
}

/* A whole line, the last one, or a part of one that is too long. */
static void take_part(struct reader *reader, const char *line, size_t length, bool is_end)
{
    if (length > MOST_LINE && !reader->in_long_line)
        skip_line(reader, "a line of more than 1 MiB");
    else if (!reader->in_long_line)
        take_line(reader, line, length);
    reader->in_long_line = !is_end && (length > MOST_LINE || reader->in_long_line);
}

static void read_lines(struct reader *reader)
{
    struct assay__import_window *window = &reader->window;
    while (!reader->failed && !window->code) {
        size_t left = assay__import_window_left(window);
        const char *line = left ? assay__import_window_at(window) : "";
        const char *end = left ? memchr(line, '\n', left) : NULL;
        if (!end && left <= MOST_LINE && !window->at_end) {
            assay__import_window_more(window); /* moves the line, also where nothing comes */
            continue;
        }
        if (!left) return;
        size_t length = end ? (size_t)(end - line) : left;
        take_part(reader, line, length, end != NULL);
        assay__import_window_use(window, end ? length + 1 : length);
    }
}

/* --- the importer ----------------------------------------------------------------------------- */

/* The first line that is not a comment is a head, and its event has a name. */
static enum assay__import_match match(const char *head, size_t size)
{
    struct assay__perf_head parsed;
    for (const char *line = head, *end = head + size, *next; line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((stop ? stop : end) - line);
        next = stop ? stop + 1 : end;
        if (!length || line[0] == '#') continue;
        if (memchr(line, '\0', length) || line[0] == '{' || line[0] == '<' || line[0] == '[')
            return ASSAY__IMPORT_NO;
        bool is_head = length < MOST_LINE && assay__perf_head(line, length, &parsed) &&
                       parsed.comm.length > 0 && parsed.event.length > 0;
        return is_head ? ASSAY__IMPORT_YES : ASSAY__IMPORT_NO;
    }
    return ASSAY__IMPORT_NO;
}

static int read_script(struct assay__import_stream *stream, struct assay__events *events,
                       struct assay__trace_source *source, struct assay_error *error)
{
    struct reader *reader = calloc(1, sizeof *reader);
    if (!reader) return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    reader->events = events;
    reader->source = source;
    reader->window = assay__import_window_over(stream, error);
    source->producer = "perf";
    source->clock = ASSAY__IMPORT_CLOCK_BOOT;
    read_lines(reader);
    end_sample(reader);
    int code = reader->window.code;
    if (!code && reader->failed) code = assay_error_set(error, ASSAY_ENOMEM, "out of memory");
    if (!code && !reader->heads)
        code = assay_error_set(
            error, ASSAY_EFORMAT,
            "%s: no sample could be read; perf script must print times (-F +time)", source->path);
    assay__import_window_free(&reader->window);
    assay__buf_free(&reader->symbols);
    assay__buf_free(&reader->folded);
    free(reader->threads);
    free(reader);
    return code;
}

const struct assay__importer assay__importer_perf = {
    .name = "perf",
    .title = "perf script, text",
    .match = match,
    .read = read_script,
};
