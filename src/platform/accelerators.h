/* accelerators.h - GPUs and NPUs that only the system's own calls list, not files: those of a Mac.
 * Implementations: darwin_accelerators.c (IOKit's registry); linux_accelerators.c (none: they are
 * in /sys, see probe/hardware.h). */
#ifndef ASSAY_PLATFORM_ACCELERATORS_H
#define ASSAY_PLATFORM_ACCELERATORS_H

#include "base/arena.h"

#include <stddef.h>

struct assay__os_accelerator {
    const char *kind;   /* "gpu", "npu" */
    const char *name;   /* "Apple M2"; "" unknown */
    const char *driver; /* class of the registry's entry: "AGXAcceleratorG14G"; "" unknown */
    int cores;          /* 0 unknown */
};

/** Fills at most `most` items (texts in the arena) and returns how many. Below $ASSAY_FSROOT:
 *  none. */
size_t assay__accelerators(struct assay__arena *arena, struct assay__os_accelerator *items,
                           size_t most);

#endif
