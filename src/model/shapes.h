/* shapes.h - shapes of every value once the inputs are fixed. Knows the common operators (one
 * table row each); a value it cannot infer stays unknown. value_info in the file is used where
 * it is concrete. */
#ifndef ASSAY_MODEL_SHAPES_H
#define ASSAY_MODEL_SHAPES_H

#include "model/graph.h"

struct assay__shape_entry {
    enum assay__dtype dtype;
    int rank;      /* -1 unknown */
    int64_t *dims; /* -1 unknown */
};
struct assay__shapes; /* name -> entry, for the main graph */

/** inputs: fixed shapes of graph inputs by name. */
int assay__shapes_infer(const struct assay__model *model, const struct assay__value *inputs,
                        size_t input_count, struct assay__shapes **shapes,
                        struct assay_error *error);
void assay__shapes_free(struct assay__shapes *shapes);
const struct assay__shape_entry *assay__shapes_get(const struct assay__shapes *shapes,
                                                   const char *name); /* NULL unknown */

#endif
