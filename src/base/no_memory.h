/* no_memory.h - the one way to report that memory ran out. */
#ifndef ASSAY_BASE_NO_MEMORY_H
#define ASSAY_BASE_NO_MEMORY_H

#include <assay/error.h>

/** Fills *error (may be NULL) and returns ASSAY_ENOMEM. */
static inline int assay__no_memory(struct assay_error *error)
{
    return assay_error_set(error, ASSAY_ENOMEM, "out of memory");
}

#endif
