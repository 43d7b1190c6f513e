/* builders.h - the builders of zoo.c's table, one file each, and what they share. */
#ifndef ASSAY_ZOO_BUILDERS_H
#define ASSAY_ZOO_BUILDERS_H

#include "zoo/zoo.h"

/** After the last assay__zoo_param_int: an error for a key that was not asked for, before any
 *  work is done. */
int assay__zoo_params_done(const struct assay__zoo_params *params, struct assay_error *error);

int assay__zoo_resnet50(struct assay__zoo_params *params, struct assay__model *model,
                        struct assay_error *error);

#endif
