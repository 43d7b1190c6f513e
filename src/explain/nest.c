/* nest.c - a stack of open events, and the stretches of a thread's time between its changes. */
#include "explain/nest.h"

#include "base/vec.h"

#include <stdlib.h>

void assay__nest_open(struct assay__nest *nest, const struct assay__events *events, uint32_t event)
{
    if (nest->failed || assay__vec_grow((void **)&nest->open, &nest->capacity, nest->depth + 1,
                                        sizeof *nest->open)) {
        nest->failed = true;
        return;
    }
    const struct assay__open_event *below = assay__nest_top(nest);
    struct assay__open_event *top = &nest->open[nest->depth];
    *top = (struct assay__open_event){event, below ? below->outer_op : ASSAY__NO_EVENT,
                                      below ? below->inner_op : ASSAY__NO_EVENT,
                                      assay__event_end_ns(events, event)};
    if (below && top->end_ns > below->end_ns) top->end_ns = below->end_ns;
    if (events->kind[event] == ASSAY__EVENT_OPERATOR) {
        if (top->outer_op == ASSAY__NO_EVENT) top->outer_op = event;
        top->inner_op = event;
    }
    nest->depth++;
}

void assay__nest_free(struct assay__nest *nest)
{
    free(nest->open);
    *nest = (struct assay__nest){0};
}

struct walk {
    struct assay__nest nest;
    assay__stretch_fn *stretch;
    void *context;
    int64_t now_ns; /* everything before it was reported */
};

static void tell(struct walk *walk, int64_t until_ns, const struct assay__open_event *top)
{
    if (until_ns <= walk->now_ns) return;
    walk->stretch(walk->context, walk->now_ns, until_ns, top);
    walk->now_ns = until_ns;
}

/* Reports what happens until then, closing what ends on the way. */
static void advance(struct walk *walk, int64_t until_ns)
{
    const struct assay__open_event *top;
    while ((top = assay__nest_top(&walk->nest)) && top->end_ns <= until_ns) {
        tell(walk, top->end_ns, top);
        walk->nest.depth--;
    }
    tell(walk, until_ns, top);
}

bool assay__nest_walk(const struct assay__timeline *timeline, uint32_t track, int64_t from_ns,
                      int64_t to_ns, assay__stretch_fn *stretch, void *context)
{
    const struct assay__events *events = timeline->events;
    struct walk walk = {.stretch = stretch, .context = context, .now_ns = from_ns};
    for (size_t i = timeline->track_begin[track]; i < timeline->track_begin[track + 1]; i++) {
        uint32_t event = timeline->by_track[i];
        int64_t start_ns = events->start_ns[event];
        if (start_ns >= to_ns) break;
        if (events->kind[event] > ASSAY__EVENT_CPU || assay__event_end_ns(events, event) <= from_ns)
            continue;
        if (start_ns > from_ns)
            advance(&walk, start_ns);
        else
            assay__nest_close(&walk.nest, start_ns);
        assay__nest_open(&walk.nest, events, event);
    }
    advance(&walk, to_ns);
    bool done = !walk.nest.failed;
    assay__nest_free(&walk.nest);
    return done;
}
