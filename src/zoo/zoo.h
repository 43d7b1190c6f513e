/* zoo.h - our own builders of models. Adding one: one file with a builder, one row in zoo.c. */
#ifndef ASSAY_ZOO_H
#define ASSAY_ZOO_H

#include "model/graph.h"

struct assay__zoo_params; /* k=v pairs of "name:k=v,…" */
/** Value of an integer parameter, its default, with range check; records that the key is known. */
int assay__zoo_param_int(struct assay__zoo_params *params, const char *key, int64_t otherwise,
                         int64_t low, int64_t high, int64_t *value, struct assay_error *error);

typedef int assay__zoo_fn(struct assay__zoo_params *params, struct assay__model *model,
                          struct assay_error *error);

struct assay__zoo_entry {
    const char *name, *summary, *parameters; /* "batch=1,classes=1000" as help text */
    assay__zoo_fn *build;
};
const struct assay__zoo_entry *assay__zoo_at(size_t index); /* NULL past the end */
bool assay__zoo_knows(const char *name);                    /* "resnet50" or "resnet50:batch=8" */
/** Builds "name[:k=v,…]". Unknown name or key: one line with the nearest. */
int assay__zoo_build(const char *name, struct assay__model **model, struct assay_error *error);

#endif
