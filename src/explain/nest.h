/* nest.h - the events of one host thread as nested calls: what is open when the next one begins. An
 * event that outlives the one it began in is cut at that one's end, so that the ends on the stack
 * never grow towards the top. */
#ifndef ASSAY_EXPLAIN_NEST_H
#define ASSAY_EXPLAIN_NEST_H

#include "explain/timeline.h"

struct assay__open_event {
    uint32_t event;
    uint32_t outer_op; /* the outermost operator up to here; ASSAY__NO_EVENT: none */
    uint32_t inner_op; /* the innermost */
    int64_t end_ns;
};

struct assay__nest {
    struct assay__open_event *open;
    size_t depth, capacity;
    bool failed; /* out of memory */
};

/** Opens an event on top of what is open; its caller has closed what ended before. */
void assay__nest_open(struct assay__nest *nest, const struct assay__events *events, uint32_t event);
static inline const struct assay__open_event *assay__nest_top(const struct assay__nest *nest)
{
    return nest->depth ? &nest->open[nest->depth - 1] : NULL;
}
/** Closes what ended at that time or before. */
static inline void assay__nest_close(struct assay__nest *nest, int64_t now_ns)
{
    while (nest->depth && nest->open[nest->depth - 1].end_ns <= now_ns)
        nest->depth--;
}
void assay__nest_free(struct assay__nest *nest);

/** A stretch of a thread's time in which the innermost event stays the same; top NULL: nothing is
 *  recorded then. */
typedef void assay__stretch_fn(void *context, int64_t start_ns, int64_t end_ns,
                               const struct assay__open_event *top);
/** Calls back for all stretches of a track between two times, in order. False: out of memory. */
bool assay__nest_walk(const struct assay__timeline *timeline, uint32_t track, int64_t from_ns,
                      int64_t to_ns, assay__stretch_fn *stretch, void *context);

#endif
