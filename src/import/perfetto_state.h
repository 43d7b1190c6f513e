/* perfetto_state.h - what the files of the Perfetto importer share.
 *
 * A trace is a row of packets. Packets of one writer form a sequence: what one of them defines
 * (names by number, defaults, clocks) holds for the later ones of the same sequence, until the
 * writer says that it begins anew or packets were lost. Tracks are known by 64-bit ids and may be
 * described before or after their events. */
#ifndef ASSAY_IMPORT_PERFETTO_STATE_H
#define ASSAY_IMPORT_PERFETTO_STATE_H

#include "import/import.h"
#include "model/wire.h"

#define ASSAY__PERFETTO_NONE UINT32_MAX

/** Numbers by a key of two parts; what a file defines is what it takes. */
struct assay__perfetto_table {
    struct assay__perfetto_slot {
        uint64_t space, key;
        uint32_t value; /* 1 + the number; 0: free */
    } * slots;
    size_t count, mask;
};

/** The number of a key, or ASSAY__PERFETTO_NONE. */
uint32_t assay__perfetto_get(const struct assay__perfetto_table *table, uint64_t space,
                             uint64_t key);
/** Sets or replaces; false: out of memory. */
bool assay__perfetto_set(struct assay__perfetto_table *table, uint64_t space, uint64_t key,
                         uint32_t value);

struct assay__perfetto_sequence {
    uint32_t id, generation; /* numbers of names are those of the generation */
    bool is_known;           /* since its last beginning no packet was lost */
    bool has_track;
    uint64_t default_track;
    uint32_t default_clock;
};

struct assay__perfetto_clock {
    int64_t offset_ns; /* to the clock of the trace */
    int64_t multiplier, last_ns;
    bool is_incremental;
};

struct assay__perfetto_track {
    uint64_t uuid, parent;
    int64_t pid, tid; /* -1: unknown */
    uint32_t name, process;
    bool is_described, is_thread, is_process, is_counter, is_incremental;
    int64_t multiplier; /* of a counter */
    const char *unit;
    double value;          /* of an incremental counter, so far */
    uint32_t host, device; /* numbers of the store's tracks; NONE: not made yet */
    size_t counter;        /* of the store; SIZE_MAX: not made yet */
    uint32_t open;         /* the slice that began last; NONE: none */
};

struct assay__perfetto_slice { /* that has begun */
    struct assay__event event;
    uint32_t name;
    uint32_t outer; /* the one around it, or the next free one; NONE: none */
};

struct assay__perfetto {
    struct assay__events *events;
    struct assay__trace_source *source;
    struct assay__perfetto_table table;
    struct assay__perfetto_sequence *sequences;
    size_t sequence_count, sequence_capacity;
    struct assay__perfetto_clock *clocks;
    size_t clock_count, clock_capacity;
    struct assay__perfetto_track *tracks;
    size_t track_count, track_capacity;
    struct assay__perfetto_slice *slices;
    size_t slice_count, slice_capacity, open_count;
    uint32_t free_slice;
    uint32_t trace_clock;
    bool has_unix;
    int64_t unix_offset_ns; /* from the trace's clock to Unix time */
    bool has_snapshot;
    uint32_t last_category;
    enum assay__event_kind last_kind;
    uint64_t packets;
    bool failed; /* out of memory */
};

/** A packet's own fields. */
struct assay__perfetto_packet {
    struct assay__perfetto_sequence *sequence;
    bool has_time;
    uint64_t timestamp;
    uint32_t clock; /* 0: the default */
    uint32_t flags;
};

/* what is numbered within a sequence's generation */
enum assay__perfetto_names {
    ASSAY__PERFETTO_EVENT_NAME,
    ASSAY__PERFETTO_CATEGORY,
    ASSAY__PERFETTO_GPU_STAGE,
    ASSAY__PERFETTO_ANNOTATION
};

/** Counts what could not be read, with the first reason (static). */
void assay__perfetto_skip(struct assay__perfetto *perfetto, uint64_t events, const char *reason);
/** A name that is numbered; ASSAY__EVENT_UNKNOWN: it was not defined. */
uint32_t assay__perfetto_name(const struct assay__perfetto *perfetto,
                              const struct assay__perfetto_sequence *sequence,
                              enum assay__perfetto_names kind, uint64_t iid);
/** The number of a text of a message. */
uint32_t assay__perfetto_text(struct assay__perfetto *perfetto,
                              const struct assay__wire_field *field);

/** The packet's time on the trace's clock; false: it has none, or its clock is unknown. */
bool assay__perfetto_time(struct assay__perfetto *perfetto,
                          const struct assay__perfetto_packet *packet, int64_t *time_ns);
void assay__perfetto_snapshot(struct assay__perfetto *perfetto,
                              const struct assay__perfetto_packet *packet,
                              const struct assay__wire_field *message);

/** The track of a uuid, made if need be; NULL: out of memory. Valid until the next call. */
struct assay__perfetto_track *assay__perfetto_track(struct assay__perfetto *perfetto,
                                                    uint64_t uuid);
void assay__perfetto_describe(struct assay__perfetto *perfetto,
                              const struct assay__wire_field *message);
/** The store's track for events of that kind. */
uint32_t assay__perfetto_place(struct assay__perfetto *perfetto, uint64_t uuid,
                               enum assay__event_kind kind);
/** The store's counter of a counter's track. */
size_t assay__perfetto_counter(struct assay__perfetto *perfetto, uint64_t uuid);

void assay__perfetto_event(struct assay__perfetto *perfetto,
                           const struct assay__perfetto_packet *packet,
                           const struct assay__wire_field *message);
void assay__perfetto_gpu_stage(struct assay__perfetto *perfetto,
                               const struct assay__perfetto_packet *packet,
                               const struct assay__wire_field *message);
/** Slices that never ended. */
void assay__perfetto_finish(struct assay__perfetto *perfetto);

#endif
