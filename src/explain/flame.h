/* flame.h - stack samples as one tree: at the root all of them, below it the threads' names, then
 * functions, each below the one that called it. */
#ifndef ASSAY_EXPLAIN_FLAME_H
#define ASSAY_EXPLAIN_FLAME_H

#include "base/arena.h"
#include "trace/events.h"

struct assay__flame_node {
    const char *name;
    uint32_t parent, first, next; /* a child, and the next one of the same parent; 0: none */
    uint32_t depth;               /* of the root: 0 */
    int64_t total, self;          /* with what is below, and itself: ns, or samples */
};

struct assay__flame {
    struct assay__flame_node *nodes; /* the first is the root; children: the largest first */
    size_t count;
    uint32_t depth; /* the greatest */
    size_t samples;
    bool is_time; /* total and self are ns, else samples: how long they stand for is not known */
    size_t stackless; /* samples without a stack: not in it */
};

/** NULL: there are no samples with stacks, or (the arena has failed) no memory. */
struct assay__flame *assay__flame_new(const struct assay__events *events,
                                      struct assay__arena *arena);

#endif
