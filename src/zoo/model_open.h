/* model_open.h - a model by what the user wrote: a file of any format, or a name of the zoo. */
#ifndef ASSAY_ZOO_MODEL_OPEN_H
#define ASSAY_ZOO_MODEL_OPEN_H

#include "model/graph.h"

/** A path that exists is read; else a name of the zoo is built in memory (its weights are made only
 *  when they are asked for). Unknown: both reasons and the nearest name. *zoo may be NULL. */
int assay__model_open(const char *name, struct assay__model **model, bool *zoo,
                      struct assay_error *error);

/** The same for a command that reads a model: what is there and cannot be read (a folder, a device)
 *  is no misspelled name: ASSAY_EIO. name NULL: ASSAY_EINVAL. */
int assay__model_named(const char *name, struct assay__model **model, bool *zoo,
                       struct assay_error *error);

/** Would writing `path` destroy what a model is made of: its own file, a file of external data,
 *  anything in its package, the weights= of a name of the zoo? How, in words that follow the path's
 *  name; NULL: it would not. model: as it was opened from `name`, before it is changed; NULL: only
 *  the name is looked at. */
const char *assay__model_owns(const struct assay__model *model, const char *name, bool zoo,
                              const char *path);

#endif
