/* recorders.h - what can record a program. Adding one is a file recorder_NAME.c with its
 * `const struct assay__recorder assay__recorder_NAME` and a row here. */
#ifndef ASSAY_RUN_TRACING_RECORDERS_H
#define ASSAY_RUN_TRACING_RECORDERS_H

#include "run/tracing/tracing.h"

/* X(name) */
#define ASSAY__RECORDERS(X) \
    X(cuda)                 \
    X(cpu)                  \
    X(allocations)          \
    X(xctrace)

#define ASSAY__RECORDER_DECLARE(name) extern const struct assay__recorder assay__recorder_##name;
ASSAY__RECORDERS(ASSAY__RECORDER_DECLARE)

#endif
