/* open.h - a model by what the user wrote: a file of any format, or a name of the zoo. */
#ifndef ASSAY_ZOO_OPEN_H
#define ASSAY_ZOO_OPEN_H

#include "model/graph.h"

/** A path that exists is read; else a name of the zoo is built in memory (its weights are made only
 *  when they are asked for). Unknown: both reasons and the nearest name. *zoo may be NULL. */
int assay__model_open(const char *name, struct assay__model **model, bool *zoo,
                      struct assay_error *error);

#endif
