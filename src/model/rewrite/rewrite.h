/* rewrite.h - changes to a model, in place; each in its own file rewrite_<what>.c, each leaves a
 * valid model, or fails with one line and may leave the model half changed (then discard it). New
 * data is in the model's arena. All of them drop value_info that no longer applies. To add one,
 * write a file and add a row in rewrites.h. */
#ifndef ASSAY_MODEL_REWRITE_REWRITE_H
#define ASSAY_MODEL_REWRITE_REWRITE_H

#include "model/graph.h"

struct assay__rewrite_notes { /* what was done, for people: "12 of 14 weights to float16; …" */
    const char **lines;
    size_t count;
    struct assay__arena *arena;
};
int assay__rewrite_note(struct assay__rewrite_notes *notes, const char *format, ...)
    ASSAY_PRINTF(2, 3);

/** Fixes symbolic dimensions: "batch=8". With allow_fixed, a fixed first dimension (a batch of 1)
 * is changed too, if shapes can still be inferred: Reshape targets that contain the old batch are
 * corrected, or it fails. */
int assay__rewrite_fix_dims(struct assay__model *model, const char *const *dims, size_t dim_count,
                            int64_t batch, struct assay__rewrite_notes *notes,
                            struct assay_error *error);
/** float32 to float16: inputs and outputs stay float32 (a Cast each), weights beyond float16's
 *  range and operators that need float32 keep it, with Casts around; subgraphs too. */
int assay__rewrite_float16(struct assay__model *model, struct assay__rewrite_notes *notes,
                           struct assay_error *error);
/** The same, but nodes that write or read one of these values of the main graph stay float32: they
 * were seen to exceed float16's range, up to `largest`. NULL: none did. */
int assay__rewrite_float16_within(struct assay__model *model, const struct assay__map *large,
                                  double largest, struct assay__rewrite_notes *notes,
                                  struct assay_error *error);
#define ASSAY__HALF_LARGEST 65504.0 /* float16's largest number */
/** Weights of MatMul, Gemm, Conv (and Gather tables) as int8 with a scale per output channel,
 *  DequantizeLinear before use. */
int assay__rewrite_weights_int8(struct assay__model *model, struct assay__rewrite_notes *notes,
                                struct assay_error *error);
/** MatMul, Gemm and Conv with constant weights by DynamicQuantizeLinear + MatMulInteger /
 *  ConvInteger + scaling. */
int assay__rewrite_dynamic_int8(struct assay__model *model, struct assay__rewrite_notes *notes,
                                struct assay_error *error);
/** Keeps the part between these tensors (new inputs; count 0: the graph's) and those (new
 * outputs). */
int assay__rewrite_extract(struct assay__model *model, const char *const *from, size_t from_count,
                           const char *const *to, size_t to_count,
                           struct assay__rewrite_notes *notes, struct assay_error *error);
/** Runs one node `times` times: copies whose results are all read (summed, or in series if the
 * shapes allow), so that no optimiser may drop one. */
int assay__rewrite_repeat(struct assay__model *model, const char *node, int64_t times,
                          struct assay__rewrite_notes *notes, struct assay_error *error);
/** Removes the numbers from large float weights: they become ConstantOfShape nodes of one value
 * (`keep_small`: tensors of at most that many elements stay), so that shapes, cost and run time
 * stay the same and the weights are not disclosed. */
int assay__rewrite_strip(struct assay__model *model, int64_t keep_small,
                         struct assay__rewrite_notes *notes, struct assay_error *error);

/* --- one way to call them all ----------------------------------------------------------------- */

/** What is asked of a rewrite. */
struct assay__rewrite_request {
    const char *const *arguments; /* of its option, as text */
    size_t argument_count;
    int64_t batch; /* the batch to be fixed besides the dimensions; 0: none */
    /* values that were seen to exceed float16, and the largest number among them; NULL: none */
    const struct assay__map *large;
    double largest;
};

struct assay__rewriter {
    const char *step; /* "fix": its name in the list of steps */
    /* (optional) Why its outputs cannot be compared with the original's. */
    const char *no_drift;
    /* (optional) What a drift measured on a CPU does not show. */
    const char *drift_note;
    bool needs_ranges; /* it needs to know which values exceed float16 */
    /** (optional) What is wrong with the arguments: ASSAY_EINVAL with a message. */
    int (*check)(const char *const *arguments, size_t count, struct assay_error *error);
    int (*apply)(struct assay__model *model, const struct assay__rewrite_request *request,
                 struct assay__rewrite_notes *notes, struct assay_error *error);
};

#endif
