/* held_tensors.h - the tensors that pass between the layers of a trial, and how long each is held:
 * from the layer that makes it (an input of the model: from the first) to the last that reads it
 * (an output: to the end), in the order in which the engine ran them. A pure function of the
 * trial's edges. Weights and what stays inside a fused layer are no edges and are not counted. A
 * layer that moves no bytes and hands on as many as it reads (Reshape, …) makes a view: it
 * lengthens the life of what it reads. */
#ifndef ASSAY_JUDGE_HELD_TENSORS_H
#define ASSAY_JUDGE_HELD_TENSORS_H

#include "profile/profile.h"

struct assay__held_tensor {
    const char *name;
    int producer;       /* place in the trial's layers; -1: an input of the model */
    size_t first, last; /* places of the layers while it is held, both included */
    double bytes;       /* NaN unknown */
};

struct assay__held_tensors {
    struct assay__held_tensor *items; /* no views; in the order in which they are first read */
    size_t count;
    double *bytes;  /* by layer: held while it runs, of those whose size is known */
    size_t peak;    /* the layer where that is most; the first of several */
    size_t unknown; /* tensors of unknown size */
};

/** In the arena; count 0: the edges are not known. 0 or ASSAY_ENOMEM. */
int assay__held_tensors(const struct assay__layers *layers, struct assay__arena *arena,
                        struct assay__held_tensors *out);

#endif
