/* linux_accelerators.c - returns nothing: on Linux, GPUs and NPUs are found in /sys. */
#include "platform/accelerators.h"

size_t assay__accelerators(struct assay__arena *arena, struct assay__os_accelerator *items,
                           size_t most)
{
    (void)arena, (void)items, (void)most;
    return 0;
}
