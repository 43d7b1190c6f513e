/* track.h - the interface of the allocation tracker (src/track, a separate library that is loaded
 * before all others into a worker). Both sides are built together; `abi` and `size` guard against a
 * mixed installation. */
#ifndef ASSAY_BASE_TRACK_H
#define ASSAY_BASE_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__TRACK_ABI 2
#define ASSAY__TRACK_SYMBOL "assay_track"
/* In a program that does not know of it the tracker counts from the beginning, if this variable
 * names a file: when a process ends, FILE.PID.N gets what it recorded, as JSON with the members of
 * the worker's message (run/worker). The file is there, and empty, from the beginning. */
#define ASSAY__TRACK_VARIABLE "ASSAY_TRACK_FILE"
#define ASSAY__TRACK_PHASE_OF_PROGRAM "program"
/* class c: 2^c <= size < 2^(c+1); size 0 is in class 0; the last one has no end */
#define ASSAY__TRACK_CLASSES 48
#define ASSAY__TRACK_SITE_TEXT 512

enum assay__track_phase {
    ASSAY__TRACK_LOAD,
    ASSAY__TRACK_FIRST,
    ASSAY__TRACK_PRERUN,
    ASSAY__TRACK_WARM,
    ASSAY__TRACK_PHASES,
    ASSAY__TRACK_NONE = ASSAY__TRACK_PHASES, /* live memory is tracked, nothing is counted */
};

struct assay__track_totals {
    uint64_t count, bytes, freed_count, freed_bytes;
    int64_t live_bytes, peak_live_bytes; /* at the end of the phase; peak during it */
    uint64_t inferences;
};

struct assay__track_class {
    uint64_t count, bytes;
};

struct assay__track_site {
    uint64_t count, bytes;
    int64_t live_bytes; /* of that site, at the end of the phase */
    char text[ASSAY__TRACK_SITE_TEXT];
};

struct assay__track_heap {
    bool known;
    double held_bytes, used_bytes; /* held by the C library's allocator; in use */
};

struct assay__track_api {
    uint32_t abi;
    size_t size;
    /** What follows belongs to this phase. */
    void (*phase)(enum assay__track_phase phase);
    /** Allocations of all threads count from the first enter to the last leave. mark: an inference
     *  ended; its live bytes are recorded. */
    void (*enter)(void);
    void (*leave)(bool mark);
    void (*totals)(enum assay__track_phase phase, struct assay__track_totals *totals);
    void (*classes)(enum assay__track_phase phase,
                    struct assay__track_class classes[ASSAY__TRACK_CLASSES]);
    /** The sites of a phase that requested the most bytes, largest first; returns how many were
     *  written. */
    size_t (*sites)(enum assay__track_phase phase, struct assay__track_site *sites, size_t room);
    /** Live bytes at the end of each inference of the warm phase, in order. */
    size_t (*marks)(const int64_t **live_bytes);
    /** The allocator's own account, taken when the warm phase ended. */
    void (*heap)(struct assay__track_heap *heap);
    /** Allocations that did not fit in the table of live memory: their release is not seen. */
    uint64_t (*dropped)(void);
};

typedef const struct assay__track_api *assay__track_fn(void);

#endif
