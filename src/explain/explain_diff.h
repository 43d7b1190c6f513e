/* explain_diff.h - two timelines of one program: what changed, and why. Traces rarely hold the same
 * number of steps; where both have steps, everything is per step. */
#ifndef ASSAY_EXPLAIN_EXPLAIN_DIFF_H
#define ASSAY_EXPLAIN_EXPLAIN_DIFF_H

#include "explain/explain.h"

/** A part of the devices' time; the parts add up to the span. */
struct assay__diff_part {
    const char *id, *title;
    double before_s, after_s;
};
#define ASSAY__DIFF_PARTS (ASSAY__LOSSES + 1) /* computing, and each loss */

struct assay__diff_kernel {
    const char *name;
    double before_count, after_count, before_s, after_s; /* per step or in total */
};

struct assay__explain_diff {
    struct assay__arena *arena;
    const struct assay__explain *before, *after;
    bool per_step;
    double before_s, after_s; /* the devices' spans */
    struct assay__diff_part parts[ASSAY__DIFF_PARTS];
    struct assay__diff_kernel *kernels; /* the largest change first */
    size_t kernel_count;
    const char *verdict, *why;
};

/** Both must outlive it. 0 or ASSAY_ENOMEM. */
int assay__explain_diff_new(const struct assay__explain *before, const struct assay__explain *after,
                            struct assay__explain_diff **diff, struct assay_error *error);
void assay__explain_diff_free(struct assay__explain_diff *diff); /* NULL legal */

#endif
