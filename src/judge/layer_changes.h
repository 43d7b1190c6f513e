/* layer_changes.h - why trials of a comparison differ: which operators and layers take more or less
 * time than the reference's, if layers were timed. A pure function of the profile, over the layers
 * of diff.h: those of several models are matched by the nodes they came from. */
#ifndef ASSAY_JUDGE_LAYER_CHANGES_H
#define ASSAY_JUDGE_LAYER_CHANGES_H

#include "judge/comparison.h"
#include "judge/diff.h"

/* All layers of one operator. */
struct assay__operator_change {
    const char *op;
    size_t *layers;                   /* by side: how many */
    double *times_ns;                 /* by side; NaN: no layer of it, or one without a time */
    struct assay__diff_delta *deltas; /* by side; that of the base is empty. An operator that one
                                         side does not have takes no time there */
    bool by_launch;                   /* judged launch by launch: times are then medians */
};

struct assay__layer_changes {
    struct assay__diff diff; /* sides, metrics and layers; the reference is the base */
    const size_t *trials;    /* by side: its trial's place in the profile */
    struct assay__operator_change *operators; /* the largest change first */
    size_t operator_count;
    const char *reason; /* why nothing can be said; "" */
};

/** Everything is in the arena; 0 or ASSAY_ENOMEM. */
int assay__layer_changes(const struct assay_profile *profile,
                         const struct assay__comparison *comparison, struct assay__arena *arena,
                         struct assay__layer_changes *out);

#endif
