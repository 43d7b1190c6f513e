/* nesting.h - which events of a track lie inside which. Viewers draw a track as rows of nested
 * events, and formats of nested intervals cannot hold two that overlap but do not nest: a track is
 * therefore split into lanes. An event goes to the first lane of its track where what is still open
 * surrounds it; its depth is how many do. Within a lane and a depth no two events overlap. */
#ifndef ASSAY_TRACE_NESTING_H
#define ASSAY_TRACE_NESTING_H

#include "trace/events.h"

#define ASSAY__NESTING_DEPTH 256 /* deeper ones begin another lane */

struct assay__lane {
    uint32_t track;  /* or ASSAY__EVENT_UNKNOWN */
    uint32_t depths; /* the greatest depth in it, and one */
    uint32_t index;  /* among the lanes of its track */
    bool aside;      /* of annotations of a stream, not of its work (see assay__nesting_make) */
};

struct assay__nesting {
    uint32_t *lane;  /* of each event */
    uint16_t *depth; /* of each event in its lane */
    struct assay__lane *lanes;
    size_t lane_count;
};

/** Of a sealed store. apart: annotations, waits and states of a stream have lanes of their own, so
 *  that its work does not lie inside of them. 0 or ASSAY_ENOMEM; free it in any case. */
int assay__nesting_make(struct assay__nesting *nesting, const struct assay__events *events,
                        bool apart, struct assay_error *error);
void assay__nesting_free(struct assay__nesting *nesting);

/** The events of each lane that are open while a reader goes through the store in order. */
struct assay__open_events {
    size_t *stack; /* of all lanes, one after the other */
    size_t *first; /* of a lane in it */
    uint16_t *count;
};
int assay__open_events_make(struct assay__open_events *open, const struct assay__nesting *nesting,
                            struct assay_error *error);
void assay__open_events_free(struct assay__open_events *open);
/** Ends what is open in the lane at that depth and deeper, innermost first: closed(context, event)
 *  for each. */
typedef void assay__closed_fn(void *context, size_t event);
void assay__open_events_end(struct assay__open_events *open, size_t lane, uint16_t depth,
                            assay__closed_fn *closed, void *context);
void assay__open_events_begin(struct assay__open_events *open, const struct assay__nesting *nesting,
                              size_t event);

#endif
