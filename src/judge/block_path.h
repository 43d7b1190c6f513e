/* block_path.h - where a layer is in its model, by its name: "/layer1/layer1.0/conv1/Conv" is in
 * layer1, 0, conv1. Exporters write module paths with slashes and dots, Keras with underscores
 * after a number; the operator at the end, and whatever an engine appended to it, is not a
 * place. */
#ifndef ASSAY_JUDGE_BLOCK_PATH_H
#define ASSAY_JUDGE_BLOCK_PATH_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>

#define ASSAY__BLOCK_DEPTH 16 /* parts of a name that are looked at */

struct assay__block_path {
    struct assay__block_part {
        const char *text; /* inside the name */
        size_t length;
    } parts[ASSAY__BLOCK_DEPTH];
    size_t count; /* 0: the name tells no place */
};

/** operators: the names of those that the model has, which end a path. */
void assay__block_path(const char *name, const struct assay__map *operators,
                       struct assay__block_path *out);
/** Digits only: an index into a list of modules. */
bool assay__block_part_is_index(const char *text, size_t length);

#endif
