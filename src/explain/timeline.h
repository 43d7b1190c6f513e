/* timeline.h - an index of a sealed event store: what belongs to which device and stream, which
 * call launched it, which operator made that call. Built once, in O(n log n); every part of the
 * analysis reads it.
 *
 * Indices of events are 32 bits: the store refuses more than UINT32_MAX - 1 of them. */
#ifndef ASSAY_EXPLAIN_TIMELINE_H
#define ASSAY_EXPLAIN_TIMELINE_H

#include "base/arena.h"
#include "trace/events.h"

#define ASSAY__NO_EVENT UINT32_MAX

/** A device of a rank, and its work in order of start. */
struct assay__timeline_device {
    int32_t rank, device;
    const char *name; /* "NVIDIA H200"; "" unknown */
    uint32_t *work;   /* events: kernels, copies, memsets; by start */
    uint32_t *launch; /* of each: the place of its call in `calls`, or ASSAY__NO_EVENT */
    size_t count;
    uint32_t *tracks; /* its streams, with work, by number */
    size_t track_count;
};

/** What is remembered of a call. */
enum assay__call_flag {
    ASSAY__CALL_COPIES = 1, /* it enqueued a copy between host and device */
    ASSAY__CALL_SYNC = 2,   /* it waits for the device; also a copy that reads a number back */
    ASSAY__CALL_WORKS = 4,  /* it has work on a device */
};

/** A call of the runtime that launches or waits, in order of start. */
struct assay__call {
    uint32_t event, op;     /* op: the innermost operator around it, or ASSAY__NO_EVENT */
    uint32_t work;          /* the first event it launched, or ASSAY__NO_EVENT */
    uint32_t previous;      /* place of the rank's call before it, or ASSAY__NO_EVENT */
    uint16_t flags;         /* enum assay__call_flag */
    uint16_t pause_cause;   /* enum assay__host_cause: of the pause before it, if it was long */
    int64_t idle_before_ns; /* since the last call of its rank ended; 0 if that one still runs;
                               INT64_MAX: it is the first */
};

struct assay__timeline {
    const struct assay__events *events;
    struct assay__arena *arena;
    uint32_t *by_track;   /* events grouped by track, each in order of start */
    size_t *track_begin;  /* track_count + 1 */
    int32_t *ranks;       /* that the tracks belong to, ascending */
    uint32_t *track_rank; /* of each track: its place in `ranks` */
    size_t rank_count;
    struct assay__timeline_device *devices;
    size_t device_count;
    struct assay__call *calls;
    size_t call_count;
    uint8_t *launches_op;   /* bit of an event: an operator that launches something */
    int64_t call_ns, op_ns; /* medians: of a launching call, of the operator around it; 0: none */
    int64_t patience_ns;    /* host time between two launches that is still their overhead */
    int64_t first_ns, last_ns; /* of what the program did */
    size_t kind_count[ASSAY__EVENT_KINDS];
};

/** In the arena, whose failure is the only error. The store must outlive it. */
struct assay__timeline *assay__timeline_new(const struct assay__events *events,
                                            struct assay__arena *arena);

/** The number of the device in `devices` that a track belongs to; SIZE_MAX: none. */
size_t assay__timeline_device_of(const struct assay__timeline *timeline, uint32_t track);

/** The kind of an event; of one that lies on no track OTHER, which nothing counts. */
static inline uint8_t assay__placed_kind(const struct assay__events *events, size_t event)
{
    return events->track[event] < events->track_count ? events->kind[event]
                                                      : (uint8_t)ASSAY__EVENT_OTHER;
}
/** Bytes, added; the sum stays at the largest number there is. */
static inline int64_t assay__add_bytes(int64_t sum, int64_t bytes)
{
    return bytes > INT64_MAX - sum ? INT64_MAX : sum + bytes;
}
/** The place of an event in `calls`, or ASSAY__NO_EVENT. */
uint32_t assay__timeline_call(const struct assay__timeline *timeline, uint32_t event);

static inline bool assay__timeline_launches(const struct assay__timeline *timeline, uint32_t event)
{
    return timeline->launches_op[event / 8] >> (event % 8) & 1;
}
static inline int32_t assay__timeline_rank(const struct assay__timeline *timeline, uint32_t event)
{
    return timeline->events->tracks[timeline->events->track[event]].rank;
}
/** A copy between host and device. */
bool assay__is_host_copy(const struct assay__events *events, uint32_t event);
/** A value that the program reads back: a copy to the host of at most a few numbers. */
bool assay__is_scalar_read(const struct assay__events *events, uint32_t event);

/** What would be at that place if the values were sorted; they are reordered. 0: there are none. */
int64_t assay__nth_ns(int64_t *values, size_t count, size_t place);
/** Median of the values, which are reordered; 0 if there are none. */
int64_t assay__median_ns(int64_t *values, size_t count);

#endif
