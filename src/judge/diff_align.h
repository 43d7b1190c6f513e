/* diff_align.h - which layers of several runs are the same work. */
#ifndef ASSAY_JUDGE_DIFF_ALIGN_H
#define ASSAY_JUDGE_DIFF_ALIGN_H

#include "judge/diff.h"

struct assay__align_side {
    const struct assay__layer *layers;
    size_t count;
    bool same_model; /* as the first side's: names of nodes mean the same */
};

struct assay__align {
    size_t *offsets;        /* sides + 1: layer i of side s is number offsets[s] + i */
    size_t *groups;         /* by layer number: 0 … group_count - 1, in order of appearance */
    unsigned char *matches; /* by group: enum assay__diff_match */
    size_t group_count;
};

/** At most ASSAY__DIFF_MOST sides. The result lives in the arena. 0 or ASSAY_ENOMEM. */
int assay__align(const struct assay__align_side *sides, size_t count, struct assay__arena *arena,
                 struct assay__align *out);

#endif
