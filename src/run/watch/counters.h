/* counters.h - a worker's counters in one launch, as the parent keeps them. */
#ifndef ASSAY_RUN_WATCH_COUNTERS_H
#define ASSAY_RUN_WATCH_COUNTERS_H

#include "base/arena.h"

#include <assay/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY__COUNTERS_MOST 32u

struct assay__counted_event {
    const char *name, *source; /* "cycles", "perf_event" */
    const char *reason;        /* why `grown` is unknown; "" */
    bool user_only;            /* what the kernel does is not in it */
    double grown;              /* growth in `completions` inferences and wall_ns; NaN unknown */
    double share; /* share of the time during which it was really counting; NaN unknown */
    double wall_ns;
    int64_t completions;
};

struct assay__counted {
    bool known; /* the worker sent them */
    struct assay__counted_event *events;
    size_t event_count;
    int64_t slices;
    double on_ns, off_ns;                      /* medians with and without counting; NaN unknown */
    size_t layer_events[ASSAY__COUNTERS_MOST]; /* which events layers were counted with */
    size_t layer_event_count;
    const char *layer_note; /* how layers were counted, or why not; "" */
};

struct assay__json;

/** The "counters" message of job.h. Strings go into the arena. */
int assay__counted_hear(const struct assay__json *json, struct assay__arena *arena,
                        struct assay__counted *counted, struct assay_error *error);
/** The "counters" of a layer: *values has layer_event_count entries, or is NULL when there are
 *  none. */
int assay__counted_hear_layer(const struct assay__json *list, struct assay__arena *arena,
                              const struct assay__counted *counted, double **values,
                              struct assay_error *error);

#endif
