/* held_tensors.h - the tensors that pass between the layers of a trial, and how long each is held:
 * from the layer that produces it (an input of the model: from the first) to the last that reads it
 * (an output: to the end), in the order in which the engine ran them. A pure function of the
 * trial's edges. Weights and values inside a fused layer are not edges and are not counted. A layer
 * that moves no bytes and has as many output as input bytes (Reshape, …) creates a view: it extends
 * the life of its input. */
#ifndef ASSAY_JUDGE_HELD_TENSORS_H
#define ASSAY_JUDGE_HELD_TENSORS_H

#include "profile/profile.h"

struct assay__held_tensor {
    const char *name;
    int producer;       /* index in the trial's layers; -1: an input of the model */
    size_t first, last; /* first and last layer while it is held */
    double bytes;       /* NaN unknown */
};

struct assay__held_tensors {
    struct assay__held_tensor *items; /* without views; in the order in which they are first read */
    size_t count;
    double *bytes;  /* by layer: bytes held while it runs, of tensors with known size */
    size_t peak;    /* the layer with the most; the first of several */
    size_t unknown; /* tensors of unknown size */
};

/** In the arena; count 0: the edges are unknown. 0 or ASSAY_ENOMEM. */
int assay__held_tensors(const struct assay__layers *layers, struct assay__arena *arena,
                        struct assay__held_tensors *out);

#endif
