/* inputs_plan.h - between inputs.c (shapes) and inputs_values.c (values). */
#ifndef ASSAY_MODEL_INPUTS_PLAN_H
#define ASSAY_MODEL_INPUTS_PLAN_H

#include "model/inputs.h"

/** Decides the fill of every input of the workload whose shapes are fixed already (those with a
 *  file are left alone), and has_tokens, has_images, and batch and sequence where no symbol said
 *  them. */
int assay__inputs_values(const struct assay__model *model, struct assay__workload *workload,
                         uint64_t seed, struct assay_error *error);

/** Case-blind search; `word` is lower case. */
bool assay__name_has(const char *name, const char *word);

/** May an .npy of type `file` feed an input of type `model`? (bfloat16 as uint16 bits, float8 as
 *  uint8 bits) */
bool assay__inputs_npy_fits(enum assay__dtype file, enum assay__dtype model);

#endif
