/* model_open.h - opens what the user named: a file of any format, or a model of the zoo. */
#ifndef ASSAY_ZOO_MODEL_OPEN_H
#define ASSAY_ZOO_MODEL_OPEN_H

#include "model/graph.h"

/** A path that exists is read; else a model of the zoo is built in memory (its weights are
 * generated only when needed). Unknown: both reasons and the nearest name. *zoo may be NULL. */
int assay__model_open(const char *name, struct assay__model **model, bool *zoo,
                      struct assay_error *error);

/** The same for a command that reads a model: something that exists but cannot be read (a folder, a
 * device) is ASSAY_EIO, not a misspelled name. name NULL: ASSAY_EINVAL. */
int assay__model_named(const char *name, struct assay__model **model, bool *zoo,
                       struct assay_error *error);

/** Whether writing `path` would destroy a part of a model: its own file, a file of external data,
 * anything in its package, the weights= of a zoo model. Returns how, as text that follows the path;
 * NULL: it would not. model: as opened from `name`, before it is changed; NULL: only the name is
 * checked. */
const char *assay__model_owns(const struct assay__model *model, const char *name, bool zoo,
                              const char *path);

#endif
