/* accelerator_models.h - the small models whose times give an accelerator's ceilings. Large
 * operands are generated on the device from small constants times an input that is 1: they can
 * neither be computed when the model is loaded, nor are they transferred to the device during the
 * measured time. What comes back is one number (TRANSFER_OUT: the tensor). */
#ifndef ASSAY_CEILING_ACCELERATOR_ACCELERATOR_MODELS_H
#define ASSAY_CEILING_ACCELERATOR_ACCELERATOR_MODELS_H

#include "base/arena.h"
#include "model/inputs/inputs.h"

enum assay__accelerator_shape {
    ASSAY__SHAPE_LAUNCH,         /* y = x + 1, one element */
    ASSAY__SHAPE_MATMUL,         /* X ← X W, `length` times, N × N */
    ASSAY__SHAPE_MATMUL_INTEGER, /* `length` products of int8 matrices into int32 */
    ASSAY__SHAPE_COPY_NEGATE,    /* x ← −x, `length` times */
    ASSAY__SHAPE_COPY_ROLL,      /* x's rows shifted by a third of them, `length` times */
    ASSAY__SHAPE_TRANSFER_IN,    /* one element of a large input */
    ASSAY__SHAPE_TRANSFER_OUT,   /* a large output made of one element */
};

struct assay__accelerator_model {
    enum assay__accelerator_shape shape;
    enum assay__dtype dtype; /* of the matrices; else float32 */
    int64_t size;            /* matrices: N; copies and transfers: elements */
    int64_t length;          /* of the chain; else 1 */
    const char *options;     /* option of the provider: "use_tf32=0"; NULL: none */
};

/** Writes the model to `path` and describes its inputs (in the arena). Copies need a size divisible
 *  by 1024. */
int assay__accelerator_model_write(const struct assay__accelerator_model *model,
                                   struct assay__arena *arena, const char *path,
                                   struct assay__input_plan *input, struct assay_error *error);

#endif
