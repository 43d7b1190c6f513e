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
    unsigned char *kinds; /* of each, as its owner counts them; 0 nothing special */
    size_t count;
    bool failed; /* out of memory */
};

void assay__sentences_add(struct assay__sentences *list, const char *format, ...)
    ASSAY_PRINTF(2, 3);
/** The one that was added last is of that kind. */
void assay__sentences_kind(struct assay__sentences *list, unsigned char kind);

#endif
