/* waterfall.h - from the base's latency to another run's, step by step: what the layers of each
 * operator contribute, the engine's fixed cost, and what neither explains. The steps sum to the
 * difference of the two latencies. A pure function of a difference (diff.h). */
#ifndef ASSAY_JUDGE_WATERFALL_H
#define ASSAY_JUDGE_WATERFALL_H

#include "judge/diff.h"

#define ASSAY__WATERFALL_STEPS 6 /* operators named; the rest is one step */

struct assay__waterfall_step {
    const char *name; /* "Conv", "Conv + Relu → FusedConv", "other operators", "engine" */
    double change_ns; /* of the latency; signed */
    size_t layers;    /* rows of layers in it; 0: not layers */
};

struct assay__waterfall {
    double from_ns, to_ns; /* the latencies that the difference compares */
    /* operators, the largest change first; then the others together, the engine, the rest. A step
     * of 0 is left out, except the rest. */
    struct assay__waterfall_step *steps;
    size_t count;
    const char *reason; /* why there is none; "" */
};

/** For one side compared with the base. Everything is in the arena, which also records running out
 * of memory. */
struct assay__waterfall assay__waterfall(const struct assay__diff *diff, size_t side,
                                         struct assay__arena *arena);
/** The operator step that changed the most; NULL: none. */
const struct assay__waterfall_step *assay__waterfall_largest(const struct assay__waterfall *all);

#endif
