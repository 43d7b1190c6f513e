/* rewrite_fix.h - the batch of a model that was exported with a fixed one. */
#ifndef ASSAY_MODEL_REWRITE_REWRITE_FIX_H
#define ASSAY_MODEL_REWRITE_REWRITE_FIX_H

#include "model/rewrite/rewrite_graph.h"

/** Changes the first dimension of the inputs to `batch` when it can be shown that every value that
 *  follows from them grows along one axis and nothing else changes; ASSAY_EUNSUPPORTED names what
 *  does not. */
int assay__rewrite_batch(struct assay__model *model, int64_t batch,
                         struct assay__rewrite_notes *notes, struct assay_error *error);

#endif
