/* engines.h - the list of engines. Adding one means a file that defines assay__engine_NAME
 * (fake/fake.c is the smallest one) and a row here. */
#ifndef ASSAY_ENGINE_ENGINES_H
#define ASSAY_ENGINE_ENGINES_H

#include "engine/engine.h"

/* X(NAME), in the order they are offered. */
#define ASSAY__ENGINES(X) \
    X(ort)                \
    X(fake)

#define ASSAY__ENGINE_DECLARE(NAME) extern const struct assay__engine_ops assay__engine_##NAME;
ASSAY__ENGINES(ASSAY__ENGINE_DECLARE)

#endif
