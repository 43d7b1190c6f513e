/* sentences.h - a list of sentences in an arena, for reasons, disturbances and what could not be
 * observed. */
#ifndef ASSAY_RUN_SENTENCES_H
#define ASSAY_RUN_SENTENCES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct assay__sentences {
    struct assay__arena *arena;
    const char **items;   /* in the arena */
    unsigned char *kinds; /* kind of each, as defined by the owner; 0 none */
    size_t count;
    bool failed; /* out of memory */
};

void assay__sentences_add(struct assay__sentences *list, const char *format, ...)
    ASSAY_PRINTF(2, 3);
/** Sets the kind of the one added last. */
void assay__sentences_kind(struct assay__sentences *list, unsigned char kind);

#endif
