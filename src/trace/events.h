/* events.h - the timeline of a trace as columns: one row per event, strings interned, sorted once.
 * Importers and live capture fill it, analysis reads it, exporters write it. At most 64 bytes an
 * event while it is filled and sorted, strings and arguments not counted.
 *
 *   struct assay__events *events = assay__events_new();
 *   uint32_t track = assay__events_track(events, &(struct assay__track){.kind = …, .pid = …});
 *   assay__events_add(events, &(struct assay__event){.start_ns = …, .track = track, …});
 *   code = assay__events_seal(events, error);
 *
 * Errors are sticky (memory, too many events): seal reports the first. After it the columns are
 * sorted by start; of events that start together the longest comes first, so that what surrounds
 * another event precedes it. Nothing can be added any more. */
#ifndef ASSAY_TRACE_EVENTS_H
#define ASSAY_TRACE_EVENTS_H

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__EVENT_UNKNOWN UINT32_MAX /* no name, no track, no arguments */

/** What an event is: this alone decides what analysis counts it as. */
enum assay__event_kind {
    ASSAY__EVENT_KERNEL,       /* device: a computation */
    ASSAY__EVENT_COPY,         /* device: a transfer (args: direction and memory, bytes) */
    ASSAY__EVENT_MEMSET,       /* device */
    ASSAY__EVENT_DEVICE_WAIT,  /* device: a stream waits, as the profiler recorded it; not work */
    ASSAY__EVENT_DEVICE_RANGE, /* device: an annotation over other events; not work */
    ASSAY__EVENT_DEVICE_STATE, /* device: a power or performance state; not work */
    ASSAY__EVENT_LAUNCH,       /* host: a runtime call that enqueues work; correlated with it */
    ASSAY__EVENT_SYNC,         /* host: a runtime call that waits for the device */
    ASSAY__EVENT_RUNTIME,      /* host: any other call of the device's runtime or driver */
    ASSAY__EVENT_OPERATOR,     /* host: an operator of a framework or a node of a graph */
    ASSAY__EVENT_PYTHON,       /* host: a Python function */
    ASSAY__EVENT_RANGE,        /* host: an annotation: a step, an NVTX range, a signpost */
    ASSAY__EVENT_CPU,          /* host: any other work */
    ASSAY__EVENT_SAMPLE,       /* host: a stack sample; its duration is what it stands for */
    ASSAY__EVENT_ALLOCATION,   /* memory taken (bytes > 0) or given back (bytes < 0) */
    ASSAY__EVENT_OTHER,        /* a kind the importer does not know: shown, never counted */
    ASSAY__EVENT_KINDS
};

enum assay__track_kind {
    ASSAY__TRACK_THREAD, /* a host thread */
    ASSAY__TRACK_STREAM, /* a device's stream or queue: kernels, copies, memsets */
    ASSAY__TRACK_OTHER   /* what belongs to neither: process-wide marks, memory */
};

/** Where events lie. Two tracks are the same if kind, rank, pid, tid, device and stream are. */
struct assay__track {
    enum assay__track_kind kind;
    int32_t rank;      /* of a distributed program; 0 if there is only one */
    int64_t pid, tid;  /* of a thread; -1: unknown */
    int32_t device;    /* ordinal of the device; -1: none */
    int64_t stream;    /* of a stream; -1: none */
    const char *name;  /* shown to people; interned on adding; NULL: unknown */
    const char *group; /* the process or device: "python3 (1234)", "NVIDIA H200"; NULL: unknown */
};

enum assay__copy_direction {
    ASSAY__COPY_UNKNOWN,
    ASSAY__COPY_TO_DEVICE,
    ASSAY__COPY_TO_HOST,
    ASSAY__COPY_ON_DEVICE,
    ASSAY__COPY_PEER,
    ASSAY__COPY_ON_HOST
};
enum assay__memory_kind {
    ASSAY__MEMORY_UNKNOWN,
    ASSAY__MEMORY_PAGEABLE,
    ASSAY__MEMORY_PINNED,
    ASSAY__MEMORY_DEVICE,
    ASSAY__MEMORY_MANAGED
};

/** What else is known of an event and explains something; equal ones are stored once. Zero or NULL:
 *  unknown. Strings are interned on adding. */
struct assay__event_args {
    uint8_t direction, from, to; /* of a copy: enum assay__copy_direction, assay__memory_kind */
    uint32_t grid[3], block[3];  /* of a kernel */
    double flops;                /* of a kernel or an operator */
    const char *operator_type;   /* "Conv", "aten::mm" when the name is an instance's */
    const char *provider;        /* which engine's part ran it */
    const char *shapes;          /* of the inputs, as the trace has them */
    const char *types;           /* of the inputs: "float, float"; of a collective its type */
    const char *collective;      /* "allreduce" */
    int64_t group_size;          /* ranks of a collective */
    const char *stack;           /* of a sample: "main;run;work", outermost first */
    const char *state;           /* of a device state; of anything else a short remark */
};

/** One row, as it is added. */
struct assay__event {
    int64_t start_ns, duration_ns; /* of the aligned clock; duration >= 0 */
    const char *name;              /* interned on adding; NULL: unknown */
    size_t name_length;            /* bytes of name, which need not end; SIZE_MAX: it ends */
    enum assay__event_kind kind;
    uint32_t track;       /* of assay__events_track */
    uint64_t correlation; /* joins a launch and what it launched, within a rank; 0: none */
    int64_t bytes;        /* copied, set or allocated; 0: unknown */
    uint32_t args;        /* of assay__events_args; ASSAY__EVENT_UNKNOWN: none */
};

/** A number over time: power, clocks, memory. */
struct assay__trace_counter {
    const char *name, *unit; /* "power", "W"; unit "": unknown */
    uint32_t track;          /* or ASSAY__EVENT_UNKNOWN */
    int64_t *times_ns;       /* ascending after sealing */
    double *values;
    size_t count, capacity;
};

/** What was read of a source and what was not; counted, never dropped silently. */
struct assay__trace_source {
    const char *path;         /* as the user named it */
    const char *title;        /* what was traced: "train.py", "resnet50 on cuda:0"; "": unknown */
    const char *format;       /* the importer's name */
    const char *producer;     /* "PyTorch 2.11 (CUDA 13.0)", "ONNX Runtime 1.31.1"; "": unknown */
    int32_t rank, world_size; /* -1: unknown */
    int64_t offset_ns;        /* added to its times to align the clocks; see clock */
    const char *clock;        /* what its times count from, and how it was aligned */
    /* events: counted by the store while they are added; skipped: events that could not be read or
     * placed */
    uint64_t bytes, events, skipped;
    const char *complaint; /* the first reason why something was not read; "": none */
    bool truncated;        /* the input ended early */
};

struct assay__events {
    /* columns, `count` long; read-only once sealed */
    size_t count;
    int64_t *start_ns, *duration_ns;
    uint32_t *name, *track, *args;
    uint64_t *correlation;
    int64_t *bytes;
    uint8_t *kind; /* enum assay__event_kind */

    struct assay__track *tracks;
    size_t track_count;
    struct assay__trace_counter *counters;
    size_t counter_count;
    struct assay__trace_source *sources;
    size_t source_count;
    bool sealed;
    struct assay__events_private *own;
};

struct assay__events *assay__events_new(void); /* NULL: out of memory */
void assay__events_free(struct assay__events *events);

/** The number of that track: an earlier one if it is the same (then a name or group that was
 *  unknown is taken over), else a new one. ASSAY__EVENT_UNKNOWN on an error, which stays. */
uint32_t assay__events_track(struct assay__events *events, const struct assay__track *track);
/** Makes that track another one (a stream that was taken for a thread, another rank); its events
 *  stay. Name and group are interned; NULL: unknown. */
void assay__events_change_track(struct assay__events *events, uint32_t number,
                                const struct assay__track *track);
/** The number of these arguments; all unknown: ASSAY__EVENT_UNKNOWN, which is not an error. */
uint32_t assay__events_args(struct assay__events *events, const struct assay__event_args *args);
/** The number of that string. */
uint32_t assay__events_intern(struct assay__events *events, const char *text, size_t length);
void assay__events_add(struct assay__events *events, const struct assay__event *event);
/** The same of a name that is interned already; event->name is not looked at. */
void assay__events_add_named(struct assay__events *events, const struct assay__event *event,
                             uint32_t name);
/** The counter of that name and track, made if there is none; SIZE_MAX on an error. */
size_t assay__events_counter(struct assay__events *events, const char *name, const char *unit,
                             uint32_t track);
void assay__events_sample(struct assay__events *events, size_t counter, int64_t time_ns,
                          double value);
/** A source that the events added from now on come from; valid until the next call. Its strings
 *  are the caller's to intern (assay__events_keep). NULL on an error. */
struct assay__trace_source *assay__events_source(struct assay__events *events);
/** A copy of the text that lives as long as the store; "" on an error. */
const char *assay__events_keep(struct assay__events *events, const char *text);
/** Sorts; events that end before they start or would end beyond INT64_MAX were left out and are
 *  counted in their source. 0, or the first error of all that was added. */
int assay__events_seal(struct assay__events *events, struct assay_error *error);

/** Names are never NULL: "" where a number is ASSAY__EVENT_UNKNOWN. */
const char *assay__event_name(const struct assay__events *events, size_t event);
const char *assay__events_text(const struct assay__events *events, uint32_t number);
size_t assay__events_text_count(const struct assay__events *events);
/** Arguments of an event; all unknown if it has none. Never NULL. */
const struct assay__event_args *assay__event_args(const struct assay__events *events, size_t event);
static inline int64_t assay__event_end_ns(const struct assay__events *events, size_t event)
{
    return events->start_ns[event] + events->duration_ns[event];
}
/** Work of a device: kernels, copies, memsets. Everything else on a stream is an annotation. */
static inline bool assay__event_is_work(const struct assay__events *events, size_t event)
{
    return events->kind[event] <= ASSAY__EVENT_MEMSET;
}
/** What the program did; the profiler's own marks, states of the machine and allocations may lie
 * far outside of it. */
static inline bool assay__event_kind_is_program(uint8_t kind)
{
    return kind != ASSAY__EVENT_OTHER && kind != ASSAY__EVENT_ALLOCATION &&
           kind != ASSAY__EVENT_DEVICE_STATE;
}
/** "kernel", "copy", …: what `assay query` and JSON call a kind. */
const char *assay__event_kind_name(enum assay__event_kind kind);

#endif
