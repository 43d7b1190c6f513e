/* memory_track.h - the parent's side of the allocation tracker: where its library is, the launch
 * that has it loaded, and what it recorded. The tracked launch comes after the measured ones and is
 * never one of them. */
#ifndef ASSAY_RUN_WATCH_MEMORY_TRACK_H
#define ASSAY_RUN_WATCH_MEMORY_TRACK_H

#include "base/json.h"
#include "run/arm/launch.h"

/** What the tracker recorded, as sent by the worker. NaN: unknown. */
struct assay__tracked {
    struct assay__allocations seen; /* slowdown is not filled here */
    double growth_smallest;         /* B per inference that would have been detected */
    double growth_every; /* inferences: a block lost in this many or fewer would be detected */
    double growth_total; /* of live bytes, from the first mark to the last */
    bool growth_flat, growth_settled; /* see run/watch/memory_growth.h */
    int64_t marks;                    /* inferences the growth rests on */
    double dropped;                   /* allocations without room in the tracker's table */
    double arena_allocations, arena_extensions, arena_held; /* the engine's own arena, warm phase */
};

/** Reads the message "allocations". Impossible numbers are an error. */
int assay__tracked_read(const struct assay__json *json, struct assay__arena *arena,
                        struct assay__tracked **tracked, struct assay_error *error);

/** "LD_PRELOAD=…" that loads the tracker into the worker at `worker`. ASSAY_EUNSUPPORTED or
 *  ASSAY_ENOTFOUND say why not. */
int assay__track_preload(const char *worker, struct assay__arena *arena, const char **preload,
                         struct assay_error *error);

/** Runs a launch like `request`, but with one request in flight, with the tracker loaded: about 2 s
 * if an inference takes p50_ns. *tracked NULL: `reason` says why (arena or static). *latency_ns:
 * median of this launch; NaN. Only running out of memory is an error. */
int assay__track_launch(const struct assay__request *request, double p50_ns,
                        struct assay__tracked **tracked, double *latency_ns, const char **reason);

#endif
