/* published.h - what vendors say their cards can do: dense arithmetic (no structured
 * sparsity) and memory bandwidth, each with its source. Only cards whose figures are public and
 * unambiguous. They are never used instead of a measured ceiling, only beside it. */
#ifndef ASSAY_CEILING_PUBLISHED_H
#define ASSAY_CEILING_PUBLISHED_H

#include "ceiling/ceiling.h"

struct assay__published {
    double value; /* in the row's unit */
    const char *source;
};

/** The published peak that a row of an accelerator's ceilings is compared with. hardware: as the
 *  driver names the card. false: none is known. */
bool assay__published_find(const char *hardware, const char *row, struct assay__published *out);

#endif
