/* blocks.h - the layers of a trial in the blocks of the model: stage → block → layer, from the
 * structure of the layers' names (block_path.h), in execution order. A block is a run of
 * neighbouring layers, so a part of the model that runs in two pieces is two blocks of one name. It
 * is a pure function of names and order: every run of a model has the same blocks and ids.
 *
 * Uninformative levels are left out: a part that contains everything ("features", "encoder") is
 * replaced by its parts, and a level at which every second layer would be a block is dropped. A
 * model whose names have no structure has no levels. */
#ifndef ASSAY_JUDGE_BLOCKS_H
#define ASSAY_JUDGE_BLOCKS_H

#include "profile/profile.h"

enum { ASSAY__LEVEL_STAGE, ASSAY__LEVEL_BLOCK, ASSAY__BLOCK_LEVELS };

struct assay__layer_block {
    int id;           /* its place in `items` */
    int level;        /* ASSAY__LEVEL_STAGE | ASSAY__LEVEL_BLOCK */
    int parent;       /* id of the stage it is in; -1: it is a stage */
    const char *name; /* "encoder/layer.3/attention"; "": these layers' names show no place */
    /* the end of it: "attention", "layer.3"; "" for layers that are in the stage but in none of its
     * blocks */
    const char *label;
    size_t first, count; /* of the trial's layers */
    size_t timed;        /* of these */
    double time_ns;      /* their sum; NaN: none is timed */
};

struct assay__blocks {
    struct assay__layer_block *items; /* stages, then blocks, each in execution order */
    size_t count;
    int level_count; /* 0: none; 1: stages; 2: stages and blocks */
    /* level l: items[level_first[l]] … items[level_first[l + 1] - 1]; together all layers */
    size_t level_first[ASSAY__BLOCK_LEVELS + 1];
    const int *of_layer[ASSAY__BLOCK_LEVELS]; /* id by layer; NULL: no such level */
};

/** For the trial's layers; everything is in the arena, including names. 0 or ASSAY_ENOMEM. */
int assay__blocks(const struct assay__trial *trial, struct assay__arena *arena,
                  struct assay__blocks *out);

#endif
