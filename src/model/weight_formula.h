/* weight_formula.h - weights by formula: what a generator's elements are, in blocks, in any
 * order. */
#ifndef ASSAY_MODEL_WEIGHT_FORMULA_H
#define ASSAY_MODEL_WEIGHT_FORMULA_H

#include "model/graph.h"

/** Elements first … first + count - 1: about normal (a sum of four uniforms), never exactly zero
 *  unless the mean is the constant 0, within mean ± 3.5 deviations. */
void assay__weights_fill(const struct assay__generator *generator, uint64_t first, float *out,
                         size_t count);

#endif
