/* waterfall.h - from the base's latency to another run's, step by step: what the layers of each
 * operator contribute, the engine's fixed cost, and what neither explains. The steps sum to the
 * difference of the two latencies. A pure function of a difference (diff.h). */
#ifndef ASSAY_JUDGE_WATERFALL_H
#define ASSAY_JUDGE_WATERFALL_H

#include "judge/diff.h"

#define ASSAY__WATERFALL_STEPS 6 /* operators by name; the rest is one step */

struct assay__waterfall_step {
    const char *name; /* "Conv", "Conv + Relu → FusedConv", "other operators", "engine" */
    double change_ns; /* of the latency; signed */
    size_t layers;    /* rows of layers in it; 0: not of layers */
};

struct assay__waterfall {
    double from_ns, to_ns; /* the latencies that the difference compares */
    /* operators, the largest change first; then the others together, the engine, the rest. A step
     * that is 0 is left out, but for the rest. */
    struct assay__waterfall_step *steps;
    size_t count;
    const char *reason; /* why there is none; "" */
};

/** Of one side against the base. Everything lives in the arena, to which running out of memory
 *  sticks. */
struct assay__waterfall assay__waterfall(const struct assay__diff *diff, size_t side,
                                         struct assay__arena *arena);
/** The operators' step that changed most; NULL: none. */
const struct assay__waterfall_step *assay__waterfall_largest(const struct assay__waterfall *all);

#endif
