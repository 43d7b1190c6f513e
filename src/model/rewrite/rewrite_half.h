/* rewrite_half.h - which operators may be calculated in float16. */
#ifndef ASSAY_MODEL_REWRITE_REWRITE_HALF_H
#define ASSAY_MODEL_REWRITE_REWRITE_HALF_H

#include "model/graph.h"

struct assay__half_row {
    const char *ops;          /* one or several, separated by blanks */
    const char *domain;       /* "" ai.onnx, "ms" com.microsoft */
    int opset;                /* the first that takes float16 */
    unsigned inputs, outputs; /* bit i: of the type that becomes float16 */
    /* its result is small however large its input was: what follows may be float16 again */
    bool bounded;
};

/** NULL: stays float32. */
const struct assay__half_row *assay__half_find(const struct assay__node *node, int64_t opset);

#endif
